"""Who runs a contraction on the CPU: the OpenBLAS of NumPy, or NumPy itself."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from math import prod
from typing import Any, Final

import numpy as np

from .._core.kernels_host import array_at, scratch
from .._core.layout import is_dense
from .._core.options import available_threads
from ..bindings import _openblas
from ._host_arrays import Buffers, Call, copy, dtype_of, full, matrix_at, product, reduce, store, wide
from ._host_blas import gemm, gemv, is_gemv, many_dots
from ._problem import ContractionProblem
from ._scalars import Scalars
from ._steps import OUT, Copy, Finish, Gemm, Product, Program, Step, Sum
from ._ttgt import lower

_KEPT_NBYTES: Final = 1 << 20
"""Scratch of up to this size stays with a plan; taking more from the system costs less than the work it is for."""


class HostPlan:
    """A contraction on the CPU."""

    workspace_nbytes = 0

    def __init__(self, problem: ContractionProblem, num_threads: int, scalars: Scalars) -> None:
        self.problem, self.scalars, self.num_threads = problem, scalars, num_threads
        self.blas = _openblas.present()
        if num_threads < available_threads() and not self.blas:
            raise ValueError(
                f"num_threads={num_threads} cannot be kept: this NumPy uses a BLAS whose threads nvmath cannot set. Leave num_threads "
                "out, and set the number of threads by the environment variable of that BLAS."
            )
        self.program = None if problem.empty or problem.vanishing else lower(problem, self.blas)
        self.kept: list[Any] = []
        self.constants: list[Scalars] = []  # what C reads by address for as long as the plan lives
        needed = self.program.scratch_nbytes if self.program is not None else 0
        self.nbytes = needed if needed <= _KEPT_NBYTES else 0

    @property
    def description(self) -> str:
        """Who computes it, in which steps."""
        steps = self.program.steps if self.program is not None else ()
        return f"{'OpenBLAS' if self.blas else 'NumPy'} on the CPU: {', '.join(type(step).__name__ for step in steps) or 'no product'}"

    def launch(self) -> Callable[..., None]:
        """Return the function that computes the problem: addresses of the operands and of the result."""
        run = self._run() if self.program is not None else self._without_product()
        if self.num_threads >= available_threads() or self.program is None:
            return run
        threads = self.num_threads

        def limited(*ptrs: int) -> None:
            with _openblas.at_most(threads):
                run(*ptrs)

        return limited

    def close(self) -> None:
        """Give scratch memory up."""
        self.kept.clear()

    # --- programs -----------------------------------------------------------------------------------------------------------------

    def _without_product(self) -> Callable[..., None]:
        """A result without elements; or beta * addend, or zero, since the sum is over nothing or alpha is 0."""
        problem, scalars = self.problem, self.scalars
        if problem.empty:
            return lambda *_: None

        def run(*ptrs: int) -> None:
            result = full(ptrs[-1], problem, problem.output.strides)
            if problem.addend is None or scalars.beta == 0:
                result[...] = 0
            else:
                addend = full(ptrs[-2], problem, problem.addend.strides)
                with np.errstate(all="ignore"):
                    store(wide(addend, problem.dtype) * scalars.beta, result, problem.dtype)

        return run

    def _run(self) -> Callable[..., None]:
        program = self.program
        assert program is not None
        (only,) = program.steps[:1]
        if len(program.steps) == 1 and isinstance(only, Gemm) and self.blas and self.problem.addend is None and not many_dots(only):
            multiply = self._blas(only, program)
            return multiply if only.a.buffer == 0 else lambda a, b, out: multiply(b, a, out)
        calls = [self._call(step, program) for step in program.steps]
        prepare = self._addend_first(program)
        if prepare is not None:
            calls.insert(-1, prepare)
        sizes = [count * program.work.itemsize for count in program.scratch]
        scalars, nothing = self.scalars, self._without_product()

        def run(*ptrs: int) -> None:
            if scalars.alpha == 0:
                nothing(*ptrs)
                return
            owners = self._take(sizes)
            # the result is addressed as the last buffer (OUT = -1), so scratch goes before it
            buffers = [*ptrs[:-1], *(owner[0] for owner in owners), ptrs[-1]]
            for call in calls:
                call(buffers)

        return run

    def _take(self, sizes: list[int]) -> list[tuple[int, Any]]:
        if self.kept:
            return self.kept
        taken = [scratch(max(1, nbytes)) for nbytes in sizes]
        if self.nbytes:
            self.kept = taken
        return taken

    def _addend_first(self, program: Program) -> Call | None:
        """Where the last matrix product adds to the result: put the addend there."""
        problem, scalars = self.problem, self.scalars
        if not program.direct or problem.addend is None:
            return None
        number, strides = len(problem.inputs), problem.addend.strides
        extents = tuple(problem.extents[mode] for mode in problem.output.modes)
        if strides == problem.output.strides and is_dense(extents, strides):
            nbytes = prod(extents) * problem.dtype.itemsize

            def run_dense(buffers: Buffers) -> None:
                if buffers[number] != buffers[OUT] and scalars.beta != 0:
                    ctypes.memmove(buffers[OUT], buffers[number], nbytes)

            return run_dense

        def run(buffers: Buffers) -> None:
            if buffers[number] != buffers[OUT] and scalars.beta != 0:
                np.copyto(full(buffers[OUT], problem, problem.output.strides), full(buffers[number], problem, strides))

        return run

    def _call(self, step: Step, program: Program) -> Call:
        match step:
            case Gemm():
                if not self.blas or many_dots(step):
                    return self._matmul(step, program)
                multiply, a, b, c = self._blas(step, program), step.a.buffer, step.b.buffer, step.target.buffer
                return lambda buffers: multiply(buffers[a], buffers[b], buffers[c])
            case Product():
                return product(step, program.work)
            case Copy():
                return copy(step)
            case Sum():
                return reduce(step, program.work)
            case Finish():
                return self._finish(step, program)

    def _blas(self, step: Gemm, program: Program) -> Callable[[int, int, int], None]:
        """A matrix product in OpenBLAS."""
        name, by_value = program.work.name, program.work.kind == "f"
        final = program.scaled and step is _final(program)
        one = self.scalars if final else Scalars(name)
        other = self.scalars if final and program.direct and self.problem.addend is not None else Scalars(name)
        self.constants += [one, other]
        make = gemv if is_gemv(step) else gemm
        return make(step, name, by_value, one, other, self._without_product())

    def _matmul(self, step: Gemm, program: Program) -> Call:
        """A matrix product in NumPy."""
        final = program.scaled and step is _final(program)
        scalars, adds = self.scalars, final and program.direct and self.problem.addend is not None
        dtype, (m, n, k) = program.work, (step.m, step.n, step.k)
        number = dtype_of(dtype).type

        def run(buffers: Buffers) -> None:
            a, b = matrix_at(buffers, step.a, step.batch, m, k, dtype), matrix_at(buffers, step.b, step.batch, k, n, dtype)
            c = matrix_at(buffers, step.target, step.batch, m, n, dtype)
            alpha, beta = (scalars.alpha, scalars.beta) if final else (1, 0)
            with np.errstate(all="ignore"):
                if adds and beta != 0:
                    c *= number(beta)
                    c += np.matmul(a, b) * number(alpha)
                    return
                np.matmul(a, b, out=c)
                if alpha != 1:
                    c *= number(alpha)

        return run

    def _finish(self, step: Finish, program: Program) -> Call:
        problem, scalars = self.problem, self.scalars
        extents = tuple(problem.extents[mode] for mode in problem.output.modes)
        number, kind = len(problem.inputs), dtype_of(program.work)
        if program.work.itemsize < problem.dtype.itemsize:  # factors are as wide as the operands
            kind = dtype_of(problem.dtype)
        ours = step.source == OUT or step.source >= program.first

        def run(buffers: Buffers) -> None:
            adds = problem.addend is not None and scalars.beta != 0
            alpha = 1 if step.scaled else scalars.alpha
            if step.source == OUT and alpha == 1 and not adds:
                return
            values = array_at(buffers[step.source], extents, step.source_strides, program.work)
            if (adds or alpha != 1) and not (ours and values.dtype == kind):
                values = values.astype(kind)
            with np.errstate(all="ignore"):
                if alpha != 1:
                    values *= kind.type(alpha)
                if adds:
                    assert problem.addend is not None
                    addend = wide(full(buffers[number], problem, problem.addend.strides), problem.dtype)
                    values += addend * kind.type(scalars.beta)
            if step.source != OUT:
                store(values, full(buffers[OUT], problem, problem.output.strides), problem.dtype)

        return run


def _final(program: Program) -> Step:
    """The step that makes the product: the last but a Finish."""
    return program.steps[-2] if isinstance(program.steps[-1], Finish) else program.steps[-1]


