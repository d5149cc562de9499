"""Objects that hold what a library made, and are forgotten some day."""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Callable


class Closing:
    """Closes itself when it is forgotten; `close` may be called several times, and on an object that was never completed."""

    __slots__ = ()

    @abstractmethod
    def close(self) -> None:
        """Give up what the libraries hold."""

    def __del__(self, exiting: Callable[[], bool] = sys.is_finalizing) -> None:
        if not exiting():  # then modules are half gone, and everything goes with the process
            self.close()
