"""Products of int8 on the CPU: exact in float64, added up and stored as 32-bit integers that wrap around."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..._core import kernels_host
from ..._core.dtypes import DTYPES
from ..._core.layout import size
from ..._core.route import Launch
from ..._enums import CudaDataType
from .._matrix import Matrix, batch_order, packed
from ._algorithm import Algorithm
from ._blas import HostMatmulPlan
from ._options import MatmulComputeType
from ._problem import MatmulProblem
from ._scalars import Scalars


class IntegerHostPlan:
    """A product of int8 operands on the CPU."""

    workspace_nbytes = 0
    nbytes = 0

    def __init__(self, problem: MatmulProblem, names: tuple[str, ...], scalars: Scalars, num_threads: int) -> None:
        self.problem, self.names, self.scalars = problem, names, scalars
        self.output_ptrs: list[int] = []
        self.on_edit: Callable[[], None] | None = None
        axes = batch_order(problem.batch, problem.d.batch_strides)
        frame = replace(problem.d, batch_strides=(1,) * len(problem.batch))
        self.product = packed(frame, problem.d.order, problem.batch, axes, DTYPES["float64"])
        ordinary = replace(
            problem, c=None, d=self.product, inplace=False, compute_type=int(MatmulComputeType.COMPUTE_64F),
            scale_type=int(CudaDataType.CUDA_R_64F),
        )  # fmt: skip
        self.inner = HostMatmulPlan(ordinary, names[:2], Scalars(ordinary.scale_type), num_threads)
        self.algorithms = self.inner.algorithms

    def need_of(self, algorithm: Algorithm) -> int:
        """Return the bytes of workspace of an algorithm: none."""
        return 0

    def check_again(self) -> None:
        """There is nothing that could be edited."""

    def launch(self, algorithm: Algorithm | None = None) -> Launch:
        """Return the function that computes the product."""
        problem, values = self.problem, self.scalars.values
        if problem.empty:
            return lambda *pointers: None
        multiply, addend = self.inner.launch(), self.names.index("c") if "c" in self.names else None
        nbytes = size((*problem.batch, problem.m, problem.n)) * 8

        def run(*pointers: int) -> None:
            scratch, _owner = kernels_host.scratch(nbytes)
            multiply(pointers[0], pointers[1], scratch)
            sums = self._view(scratch, self.product).astype(np.int64)
            if values[0] != 1:
                sums *= values[0]
            if addend is not None and values[1] != 0:
                assert problem.c is not None
                sums += self._view(pointers[addend], problem.c).astype(np.int64) * values[1]
            self._view(pointers[-1], problem.d)[...] = sums.astype(np.int32)  # the low 32 bits

        return run

    def _view(self, ptr: int, matrix: Matrix) -> np.ndarray[Any, Any]:
        shape = (*self.problem.batch, matrix.rows, matrix.cols)
        return kernels_host.array_at(
            ptr, shape, (*matrix.batch_strides, matrix.row_stride, matrix.col_stride), matrix.dtype
        )

    def close(self) -> None:
        """Nothing is owned."""
