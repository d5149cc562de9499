"""What can be asked of a generic matrix product."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any, Literal

from ..._core.keywords import explained_fields
from ...memory import BaseCUDAMemoryManager, BaseCUDAMemoryManagerAsync


@explained_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class MatmulOptions:
    """Options of a generic matrix product.

    Parameters
    ----------
    allocator : BaseCUDAMemoryManager or BaseCUDAMemoryManagerAsync, optional
        Source of workspace on a GPU; the products here need none.
    blocking : {"auto", True}, default "auto"
        ``"auto"`` returns as soon as the work is queued when operands and execution are both on a GPU.
    logger : logging.Logger, optional
        By default the root logger.
    inplace : bool, default False
        Write the result into C.

    Raises
    ------
    ValueError
        A field has a value that it may not have.
    TypeError
        The allocator has neither ``memalloc`` nor ``memalloc_async``.

    Examples
    --------
    >>> from nvmath.linalg import MatmulOptions
    >>> MatmulOptions(inplace=True).inplace
    True
    """

    allocator: BaseCUDAMemoryManager | BaseCUDAMemoryManagerAsync | None = None
    blocking: Literal[True, "auto"] = "auto"
    logger: logging.Logger = field(default_factory=logging.getLogger)
    inplace: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.inplace, bool):
            raise ValueError(f"MatmulOptions.inplace must be True or False, not {self.inplace!r}.")
        if self.blocking is not True and self.blocking != "auto":
            raise ValueError(f"MatmulOptions.blocking must be True or 'auto', not {self.blocking!r}.")
        if self.logger is not None and not isinstance(self.logger, logging.Logger | logging.LoggerAdapter):
            raise TypeError(f"MatmulOptions.logger must be a logging.Logger, not {type(self.logger).__name__}.")
        if self.allocator is not None and not isinstance(
            self.allocator, BaseCUDAMemoryManager | BaseCUDAMemoryManagerAsync
        ):
            raise TypeError(
                "MatmulOptions.allocator must have a method memalloc(size) or memalloc_async(size, stream) "
                f"(nvmath.BaseCUDAMemoryManager or nvmath.BaseCUDAMemoryManagerAsync); got {type(self.allocator).__name__}."
            )

    def key(self) -> tuple[Any, ...]:
        """Everything that a plan or a result depends on."""
        return self.inplace, self.blocking
