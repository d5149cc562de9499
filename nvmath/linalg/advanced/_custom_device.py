"""The arrays of users' epilogs on a GPU: as the compiled function reads them, row-major and of a dtype that it can compute with."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..._core import kernels
from ..._core.arrays import Adapter
from ..._core.layout import contiguous, size
from ..._core.place import Cuda
from .._buffers import Buffers
from .._matrix import Operand, matrix_of
from ._custom import value_type
from ._problem import MatmulProblem


class UserArrays:
    """The arrays of one function: those that it can read as they are, and copies of the others at each call."""

    def __init__(self, problem: MatmulProblem, names: tuple[str, ...], place: Cuda, adapter: Adapter) -> None:
        self.problem, self.device = problem, place.device_id
        self.positions = [names.index(name) for name in problem.epilog.inputs]
        self.movers = [self._mover(each) for each in problem.arrays]
        self.buffers = Buffers([mover[1] for mover in self.movers if mover is not None], place, adapter)

    def _mover(self, operand: Operand) -> tuple[Callable[[int, int, int], None], int] | None:
        """Return what copies an array, and the size of the copy; None when it is read as it is."""
        kind, dense = value_type(operand.dtype), contiguous(operand.shape)
        if kind is operand.dtype and tuple(operand.strides) == dense:
            return None
        move = kernels.move(self.device, operand.shape, operand.strides, dense, operand.dtype, kind)
        return move, size(operand.shape) * kind.itemsize

    def describe(self, arguments: Any, order: list[int]) -> None:
        """Fill in extents, and the bytes from one batch entry to the next along each axis of the kernel."""
        batch = self.problem.batch
        for index, each in enumerate(self.problem.arrays):
            kind = value_type(each.dtype)
            extents = (each.shape[0], 1) if len(each.shape) == 1 else each.shape[-2:]
            setattr(arguments, f"array{index}_extent", (ctypes.c_longlong * 2)(*extents))
            steps = (0,) * len(batch)
            if len(each.shape) > 2:
                dense = Operand(each.shape, contiguous(each.shape), kind)
                steps = matrix_of(dense, row_vector=False, batch=batch).batch_strides
            by_axis = [*(step * kind.itemsize for step in steps), 0, 0]
            setattr(
                arguments, f"array{index}_step", (ctypes.c_longlong * len(order))(*(by_axis[axis] for axis in order))
            )

    @contextmanager
    def read(self, arguments: Any, operands: list[int], stream: int) -> Iterator[None]:
        """Set the addresses for a kernel that is queued inside of the ``with`` statement, since copies live no longer."""
        with self.buffers.lent(stream) as lent:
            copies = iter(lent)
            for index, (position, mover) in enumerate(zip(self.positions, self.movers, strict=True)):
                address = operands[position]
                if mover is not None:
                    copy = next(copies)
                    mover[0](address, copy, stream)
                    address = copy
                setattr(arguments, f"array{index}", address)
            yield
