"""Products in narrow precision on the CPU: operands are decoded, multiplied in float32, and the result is rounded as a GPU rounds it.

Decoding is exact; scales are multiplied in at once. Float64 is used instead where scales are so large or small that float32 could
overflow before the sum. The product, C and the epilog are an ordinary product of the decoded operands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._core import kernels_host
from ..._core.dtypes import DTYPES, DType
from ..._core.route import Launch
from .._matrix import COLUMN, ROW, Matrix, batch_order, packed
from ._algorithm import Algorithm
from ._blas import HostMatmulPlan
from ._integers import INT8
from ._integers_host import IntegerHostPlan
from ._narrow import AUX_SCALE, F32, FLAT, SCALES, is_narrow
from ._narrow_arrays import BlockScales, Factor, largest, store, store_blocks, values_at, wide
from ._narrow_formats import Array
from ._narrow_panels import offset_of, panel_rows, rows_of
from ._problem import MatmulProblem
from ._scalars import Scalars

Make = Callable[[MatmulProblem, tuple[str, ...]], HostMatmulPlan]


@dataclass(slots=True)
class _Inner:
    """An ordinary product of decoded operands."""

    plan: HostMatmulPlan
    launch: Launch
    part: MatmulProblem
    a: Matrix
    b: Matrix
    d: Matrix


class NarrowHostPlan:
    """A product of narrow operands on the CPU.

    Parameters
    ----------
    problem : MatmulProblem
        What is to be computed.
    names : tuple of str
        The operands, in the order of the launch.
    make : function
        Makes the plan of an ordinary product from a problem and the names of its operands.
    """

    workspace_nbytes = 0
    nbytes = 0

    def __init__(self, problem: MatmulProblem, names: tuple[str, ...], make: Make) -> None:
        assert problem.narrow is not None
        self.problem, self.narrow, self.names, self.make = problem, problem.narrow, names, make
        self.output_ptrs = [0] * len(problem.outputs)
        self.on_edit: Callable[[], None] | None = None
        self.inner: dict[tuple[bool, int], _Inner] = {}
        self.axes = batch_order(problem.batch, problem.d.batch_strides)
        self.rounds = is_narrow(problem.d.dtype)
        self.step = panel_rows(problem)
        self.first, self.second = (
            Factor(name, matrix, scale, problem.batch, self.axes)
            for name, matrix, scale in zip("ab", (problem.a, problem.b), self.narrow.scales, strict=False)
        )
        self.algorithms = self._inner(False, self.step).plan.algorithms

    def _inner(self, double: bool, rows: int) -> _Inner:
        """Return the ordinary product of some rows, in float32 or float64."""
        made = self.inner.get((double, rows))
        if made is None:
            part, dtype = rows_of(self.problem, rows), DTYPES["float64"] if double else F32
            a, b = self._dense(part.a, dtype, ROW), self._dense(part.b, dtype, COLUMN)
            d = self._dense(part.d, F32, part.d.order) if self.rounds else part.d
            outputs = tuple((name, self._output(name, each, rows)) for name, each in part.outputs if name not in FLAT)
            ordinary = replace(part, a=a, b=b, d=d, narrow=None, outputs=outputs)
            plan = self.make(ordinary, tuple(name for name in self.names if not _is_scale(name)))
            made = self.inner[double, rows] = _Inner(plan, plan.launch(), part, a, b, d)
        return made

    def _dense(self, matrix: Matrix, dtype: DType, order: str) -> Matrix:
        return packed(matrix, order, self.problem.batch, self.axes, dtype)

    def _output(self, name: str, part: Matrix, rows: int) -> Matrix:
        """Return an output as the product writes it: in scratch memory if it is to be rounded, or if a mask has others beside it."""
        if is_narrow(part.dtype):
            return self._dense(part, F32, COLUMN)
        scattered = rows != self.problem.m and name in ("relu_aux", "gelu_aux")
        return self._dense(part, part.dtype, COLUMN) if scattered else part

    def need_of(self, algorithm: Algorithm) -> int:
        """Return the bytes of workspace of an algorithm: none."""
        return 0

    def check_again(self) -> None:
        """There is nothing that could be edited."""

    def launch(self, algorithm: Algorithm | None = None) -> Launch:
        """Return the function that computes the product."""

        def run(*pointers: int) -> None:
            *operands, result = pointers
            named = dict(zip(self.names, operands, strict=True))
            scale_a, scale_b = self.first.scales(named[SCALES["a"]]), self.second.scales(named[SCALES["b"]])
            double, batch = wide(scale_a, scale_b), self.problem.batch
            whole = self._inner(double, self.step)
            a, _a = _scratch(whole.a, batch)
            b, _b = _scratch(whole.b, batch)
            d, _d = _scratch(whole.d, batch) if self.rounds else (result, None)
            self.second.load(named["b"], scale_b, values_at(b, whole.b, batch, last="rows"))
            rounding = Rounding(self.problem, self.output_ptrs, named)
            for start in range(0, self.problem.m, self.step):
                inner = self._inner(double, min(self.step, self.problem.m - start))
                self.first.load(named["a"], scale_a, values_at(a, inner.a, batch, last="cols"), start)
                at = result + offset_of("d", self.problem.d, start)
                held = self._outputs(inner, start)
                inner.launch(a, b, *self._others(named, start), d if self.rounds else at)
                if self.rounds:
                    rounding.result(values_at(d, inner.d, batch, last=_last(inner.d)), inner.part.d, start, at)
                for each in held:
                    rounding.auxiliary(*each)
            rounding.finish()

        return run

    def _others(self, named: dict[str, int], start: int) -> list[int]:
        """Return the addresses of the other operands of a panel."""
        problem = self.problem
        matrices = {"c": problem.c, "bias": problem.bias, problem.epilog.auxiliary: problem.auxiliary}
        return [
            ptr if (matrix := matrices.get(name)) is None else ptr + offset_of(name, matrix, start)
            for name, ptr in named.items()
            if name not in ("a", "b") and not _is_scale(name)
        ]

    def _outputs(self, inner: _Inner, start: int) -> list[tuple[Array, Matrix, int, Any]]:
        """Give the product of a panel the addresses of its outputs; return those that are to be stored elsewhere, and where."""
        held, parts, written = [], dict(inner.part.outputs), inner.plan.problem.outputs
        ptrs = {name: ptr for (name, _), ptr in zip(self.problem.outputs, self.output_ptrs, strict=True)}
        for position, (name, layout) in enumerate(written):
            part = parts[name]
            address = ptrs[name] + offset_of(name, part, start)
            if layout is not part:
                scratch, owner = _scratch(layout, self.problem.batch)
                held.append((values_at(scratch, layout, self.problem.batch, last="rows"), part, address, owner))
                address = scratch
            inner.plan.output_ptrs[position] = address
        return held

    def close(self) -> None:
        """Nothing is owned."""


class Rounding:
    """From float32 to narrow results, panel by panel, with what is returned besides: largest magnitudes and scales of blocks."""

    def __init__(self, problem: MatmulProblem, output_ptrs: list[int], named: dict[str, int]) -> None:
        self.problem, self.narrow, self.named = problem, problem.narrow, named
        self.at = {name: ptr for (name, _), ptr in zip(problem.outputs, output_ptrs, strict=True)}
        self.amax = {name: np.float32(0) for name in self.at if name.endswith("_amax")}
        kind = None if self.narrow is None else self.narrow.block_format
        self.blocks = (
            BlockScales(problem.d, problem.batch, kind) if kind is not None and "d_out_scale" in self.at else None
        )

    def result(self, values: Array, part: Matrix, start: int, ptr: int) -> None:
        """Write the rows of a panel."""
        self._note("result_amax", values)
        if self.blocks is None:
            store(values, part, self.problem.batch, ptr, _number_at(self.named[SCALES["d"]]))
            return
        kind = self.blocks.blocks.kind
        store_blocks(values, part, self.problem.batch, kind, ptr, self.blocks.part(start, part.rows))

    def auxiliary(self, values: Array, part: Matrix, ptr: int, owner: Any) -> None:
        """Write the rows of an auxiliary output."""
        if not is_narrow(part.dtype):
            values_at(ptr, part, self.problem.batch, last="rows")[...] = values
            return
        self._note("gelu_aux_amax", values)
        store(values, part, self.problem.batch, ptr, _number_at(self.named[AUX_SCALE]))

    def _note(self, name: str, values: Array) -> None:
        if name in self.amax:
            self.amax[name] = np.maximum(self.amax[name], largest(values))

    def finish(self) -> None:
        """Write what belongs to the whole result."""
        for name, value in self.amax.items():
            kernels_host.array_at(self.at[name], (1,), (1,), F32)[...] = value
        if self.blocks is not None:
            self.blocks.write(self.at["d_out_scale"])


def _last(matrix: Matrix) -> str:
    return "rows" if matrix.order == COLUMN else "cols"


def _is_scale(name: str) -> bool:
    return name == AUX_SCALE or name in SCALES.values()


def _number_at(ptr: int) -> float:
    return float(kernels_host.array_at(ptr, (1,), (1,), F32)[0])


def _scratch(matrix: Matrix, batch: tuple[int, ...]) -> tuple[int, Any]:
    """Take memory for a dense matrix, or a batch of them."""
    count = matrix.rows * matrix.cols
    if matrix.batched:
        for extent in batch:
            count *= extent
    return kernels_host.scratch(count * matrix.dtype.itemsize)


def host_plan(
    problem: MatmulProblem, names: tuple[str, ...], scalars: Scalars, num_threads: int
) -> HostMatmulPlan | IntegerHostPlan | NarrowHostPlan:
    """Return the plan of any product on the CPU."""

    def ordinary(product: MatmulProblem, mine: tuple[str, ...]) -> HostMatmulPlan:
        return HostMatmulPlan(product, mine, scalars, num_threads)

    if problem.a.dtype is INT8:
        return IntegerHostPlan(problem, names, scalars, num_threads)
    return ordinary(problem, names) if problem.narrow is None else NarrowHostPlan(problem, names, ordinary)
