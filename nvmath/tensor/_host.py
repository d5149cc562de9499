"""Who runs a contraction on the CPU: the OpenBLAS of NumPy, or NumPy itself."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from math import prod
from typing import Any, Final

import numpy as np

from .._core.dtypes import DTYPES, DType
from .._core.kernels_host import array_at, scratch
from .._core.layout import Ints, is_dense
from .._core.options import available_threads
from ..bindings import _openblas, _seam
from ._problem import ContractionProblem
from ._scalars import Scalars
from ._ttgt import OUT, Copy, Finish, Gemm, Matrix, Product, Program, Step, Sum, lower

Buffers = list[int]
Call = Callable[[Buffers], None]
_LETTERS: Final = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}
_GEMV_FROM: Final = 4096
_MANY_DOTS: Final = 200
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
        self.nbytes = 0

    def launch(self) -> Callable[..., None]:
        """Return the function that computes the problem: addresses of the operands and of the result."""
        run = self._run() if self.program is not None else self._trivial()
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

    def _trivial(self) -> Callable[..., None]:
        """A result without elements, or a sum over nothing: beta * addend, or zero."""
        problem, scalars = self.problem, self.scalars
        if problem.empty:
            return lambda *_: None

        def run(*ptrs: int) -> None:
            result = _full(ptrs[-1], problem, problem.output.strides)
            if problem.addend is None or scalars.beta == 0:
                result[...] = 0
            else:
                addend = _full(ptrs[-2], problem, problem.addend.strides)
                _store(_wide(addend, problem.dtype) * scalars.beta, result, problem.dtype)

        return run

    def _run(self) -> Callable[..., None]:
        program = self.program
        assert program is not None
        (only,) = program.steps[:1]
        if len(program.steps) == 1 and isinstance(only, Gemm) and self.blas and self.problem.addend is None and not _many_dots(only):
            product = self._blas(only, program)
            return product if only.a.buffer == 0 else lambda a, b, out: product(b, a, out)
        calls = [self._call(step, program) for step in program.steps]
        prepare = self._addend_first(program)
        if prepare is not None:
            calls.insert(-1, prepare)
        sizes = [count * program.work.itemsize for count in program.scratch]

        def run(*ptrs: int) -> None:
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
        if sum(sizes) <= _KEPT_NBYTES:
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
                np.copyto(_full(buffers[OUT], problem, problem.output.strides), _full(buffers[number], problem, strides))

        return run

    def _call(self, step: Step, program: Program) -> Call:
        match step:
            case Gemm():
                if not self.blas or _many_dots(step):
                    return self._matmul(step, program)
                product, a, b, c = self._blas(step, program), step.a.buffer, step.b.buffer, step.target.buffer
                return lambda buffers: product(buffers[a], buffers[b], buffers[c])
            case Product():
                return _product(step, program.work)
            case Copy():
                return _copy(step)
            case Sum():
                return _sum(step, program.work)
            case Finish():
                return self._finish(step, program)

    def _blas(self, step: Gemm, program: Program) -> Callable[[int, int, int], None]:
        """A matrix product in OpenBLAS."""
        name, by_value = program.work.name, program.work.kind == "f"
        final = step is _final(program)
        one = self.scalars if final else Scalars(name)
        other = self.scalars if final and program.direct and self.problem.addend is not None else Scalars(name)
        self.constants += [one, other]
        return _gemv(step, name, by_value, one, other) if _is_gemv(step) else _gemm(step, name, by_value, one, other)

    def _matmul(self, step: Gemm, program: Program) -> Call:
        """A matrix product in NumPy."""
        final = step is _final(program)
        scalars, adds = self.scalars, final and program.direct and self.problem.addend is not None
        dtype, (m, n, k) = program.work, (step.m, step.n, step.k)
        number = dtype_of(dtype).type

        def run(buffers: Buffers) -> None:
            a, b = _matrix(buffers, step.a, step.batch, m, k, dtype), _matrix(buffers, step.b, step.batch, k, n, dtype)
            c = _matrix(buffers, step.target, step.batch, m, n, dtype)
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

        def run(buffers: Buffers) -> None:
            adds = problem.addend is not None and scalars.beta != 0
            alpha = 1 if step.scaled else scalars.alpha
            if step.source == OUT and alpha == 1 and not adds:
                return
            values = array_at(buffers[step.source], extents, step.source_strides, program.work)
            with np.errstate(all="ignore"):
                if alpha != 1:
                    values *= kind.type(alpha)
                if adds:
                    assert problem.addend is not None
                    addend = _wide(_full(buffers[number], problem, problem.addend.strides), problem.dtype)
                    values += addend * kind.type(scalars.beta)
            if step.source != OUT:
                _store(values, _full(buffers[OUT], problem, problem.output.strides), problem.dtype)

        return run


# --- products in OpenBLAS -------------------------------------------------------------------------------------------------------


def _gemm(step: Gemm, name: str, by_value: bool, one: Scalars, other: Scalars) -> Callable[[int, int, int], None]:
    """C = alpha * A B + beta * C with alpha of one and beta of the other factors."""
    function, item = getattr(_openblas, f"{_LETTERS[name]}gemm"), DTYPES[name].itemsize
    head = (_openblas.ROW_MAJOR, _transposition(step.a), _transposition(step.b), step.m, step.n, step.k)
    lda, ldb, ldc = step.a.ld, step.b.ld, step.target.ld
    alpha_ptr, beta_ptr = one.alpha_ptr, other.beta_ptr
    batch = step.batch
    a_steps, b_steps, c_steps = (tuple(stride * item for stride in matrix.batch) for matrix in (step.a, step.b, step.target))
    none = (0,) * len(batch)
    strides = (*(none,) * 7, a_steps, none, b_steps, none, none, c_steps, none)

    def run(a: int, b: int, c: int) -> None:
        function(*head, one.alpha, a, lda, b, ldb, other.beta, c, ldc)

    def run_complex(a: int, b: int, c: int) -> None:
        function(*head, alpha_ptr, a, lda, b, ldb, beta_ptr, c, ldc)

    def run_batch(a: int, b: int, c: int) -> None:
        alpha, beta = (one.alpha, other.beta) if by_value else (alpha_ptr, beta_ptr)
        _seam.repeat(function, batch, strides, (*head, alpha, a, lda, b, ldb, beta, c, ldc))

    return run_batch if batch else run if by_value else run_complex


def _is_gemv(step: Gemm) -> bool:
    """A product with a vector that is large enough for the other function to pay, with a dense result."""
    lengths = (step.m, step.n)
    dense = step.target.ld == 1 if step.n == 1 else step.m == 1
    return 1 in lengths and dense and not step.batch and not step.a.conj and not step.b.conj and step.m * step.n * step.k > _GEMV_FROM


def _gemv(step: Gemm, name: str, by_value: bool, one: Scalars, other: Scalars) -> Callable[[int, int, int], None]:
    function, nbytes = getattr(_openblas, f"{_LETTERS[name]}gemv"), step.m * step.n * DTYPES[name].itemsize
    if step.n == 1:
        matrix, rows, columns = step.a, step.m, step.k
        step_of_x = 1 if step.b.transposed else step.b.ld
    else:  # the transposed equation
        matrix, rows, columns = Matrix(step.b.buffer, not step.b.transposed, step.b.ld, ()), step.n, step.k
        step_of_x = step.a.ld if step.a.transposed else 1
    transposed, ld = matrix.transposed, matrix.ld
    if rows == 1 and not transposed:  # a row is a column with steps of 1; OpenBLAS is faster on that
        transposed, ld = True, 1
    trans, shape = (_openblas.TRANS, (columns, rows)) if transposed else (_openblas.NO_TRANS, (rows, columns))
    head, vector_first = (_openblas.ROW_MAJOR, trans, *shape), step.n != 1

    def run(a: int, b: int, c: int) -> None:
        if vector_first:
            a, b = b, a
        if other.beta == 0:
            ctypes.memset(c, 0, nbytes)  # not every release overwrites what it is to multiply by 0
        alpha, beta = (one.alpha, other.beta) if by_value else (one.alpha_ptr, other.beta_ptr)
        function(*head, alpha, a, ld, b, step_of_x, beta, c, 1)

    return run


def _many_dots(step: Gemm) -> bool:
    """Many short scalar products: NumPy's loop is faster than as many calls."""
    return step.m == step.n == 1 and not step.a.conj and not step.b.conj and prod(step.batch) > _MANY_DOTS


def _final(program: Program) -> Step:
    """The step that makes the product: the last but a Finish."""
    return program.steps[-2] if isinstance(program.steps[-1], Finish) else program.steps[-1]


def _transposition(matrix: Matrix) -> int:
    if matrix.conj:
        return _openblas.CONJ_TRANS if matrix.transposed else _openblas.CONJ_NO_TRANS
    return _openblas.TRANS if matrix.transposed else _openblas.NO_TRANS


# --- arrays over addresses ------------------------------------------------------------------------------------------------------


def dtype_of(dtype: DType) -> np.dtype[Any]:
    """Return NumPy's dtype; bfloat16 is seen as its bits."""
    return np.dtype(np.uint16 if dtype.name == "bfloat16" else dtype.name)


def _array(ptr: int, extents: Ints, strides: Ints, dtype: DType) -> np.ndarray[Any, Any]:
    return array_at(ptr, extents, strides, DTYPES["uint16"] if dtype.name == "bfloat16" else dtype)


def _full(ptr: int, problem: ContractionProblem, strides: Ints) -> np.ndarray[Any, Any]:
    """The result, or the addend: the modes of the output."""
    return _array(ptr, tuple(problem.extents[mode] for mode in problem.output.modes), strides, problem.dtype)


def _matrix(buffers: Buffers, matrix: Matrix, batch: Ints, rows: int, columns: int, dtype: DType) -> np.ndarray[Any, Any]:
    strides = (1, matrix.ld) if matrix.transposed else (matrix.ld, 1)
    return array_at(buffers[matrix.buffer], (*batch, rows, columns), (*matrix.batch, *strides), dtype)


def _wide(values: np.ndarray[Any, Any], dtype: DType) -> np.ndarray[Any, Any]:
    """The values of half types in single precision."""
    if dtype.name == "bfloat16":
        return (values.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return values.astype(np.float32) if dtype.name == "float16" else values


def _store(values: np.ndarray[Any, Any], target: np.ndarray[Any, Any], dtype: DType) -> None:
    """Write values in single precision or better into an array of a dtype, rounded to nearest even."""
    if dtype.name == "bfloat16":
        bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
        rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
        np.copyto(target, np.where(np.isnan(values), np.uint32(0x7FC0), rounded), casting="unsafe")
        return
    with np.errstate(over="ignore"):
        np.copyto(target, values, casting="same_kind")


def _copy(step: Copy) -> Call:
    def run(buffers: Buffers) -> None:
        source = _array(buffers[step.source], step.extents, step.source_strides, step.source_dtype)
        target = array_at(buffers[step.target], step.extents, step.target_strides, step.target_dtype)
        if step.conj:
            np.conjugate(source, out=target)
        else:
            np.copyto(target, _wide(source, step.source_dtype) if step.source_dtype.name == "bfloat16" else source)

    return run


def _sum(step: Sum, dtype: DType) -> Call:
    rank = len(step.extents)
    axes = tuple(range(rank - step.count, rank))
    kept = step.extents[: rank - step.count]

    def run(buffers: Buffers) -> None:
        source = array_at(buffers[step.source], step.extents, step.source_strides, dtype)
        target = array_at(buffers[step.target], kept, step.target_strides, dtype)
        with np.errstate(all="ignore"):
            np.add.reduce(source, axis=axes, out=target)

    return run


def _product(step: Product, dtype: DType) -> Call:
    def run(buffers: Buffers) -> None:
        a = array_at(buffers[step.a], step.extents, step.a_strides, dtype)
        b = array_at(buffers[step.b], step.extents, step.b_strides, dtype)
        with np.errstate(all="ignore"):
            np.multiply(a, b, out=array_at(buffers[step.target], step.extents, step.target_strides, dtype))

    return run
