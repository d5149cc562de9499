"""Logging: the logger of an operation and the tests that keep texts off the hot path."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

ROOT: Final = logging.getLogger()
INFO: Final = logging.INFO
DEBUG: Final = logging.DEBUG

BLOCKING: Final = {
    True: "This call blocks until the result is ready.",
    False: "This call does not block: it returns when the work is queued.",
}


@contextmanager
def timed(logger: logging.Logger, what: str) -> Iterator[None]:
    """Log at info level how long a phase took, if anybody listens."""
    if not logger.isEnabledFor(INFO):
        yield
        return
    begin = time.perf_counter()
    yield
    logger.info("%s took %.3f ms.", what, (time.perf_counter() - begin) * 1e3)


def readable(nbytes: int) -> str:
    """Write a size with a binary unit."""
    size = float(nbytes)
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.2f} {unit}"
        size /= 1024
    return f"{size:.2f} GiB"
