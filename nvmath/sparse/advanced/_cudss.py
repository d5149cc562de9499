"""Sparse systems on a GPU through cuDSS."""

from __future__ import annotations

import os
import threading
from array import array
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..._core import kernels, memory_limit
from ..._core.arrays import Adapter
from ..._core.errors import warn
from ..._core.layout import dense
from ..._core.place import Cuda, discard
from ..._core.route import refuse_capture
from ...bindings import _cuda as driver
from ...bindings import cudss
from ._config import CudssConfig
from ._cuda_residual import Residual
from ._options import DirectSolverMatrixType as Kind
from ._options import DirectSolverOptions, HybridMemoryModeOptions, memory_estimates_dtype
from ._pattern import check, is_canonical
from ._problem import SystemProblem
from ._residual import IllConditionedWarning, Judgement, SingularSystemError, Verdict, doubt, explain

_ANALYSIS, _FACTORIZATION, _SOLVE = 3, 4, 1008
_COLUMN_MAJOR: Final = 0
_INFO, _LU_NNZ, _NPIVOTS, _INERTIA = 0, 1, 2, 3
_OLDEST: Final = (0, 8)
_MEMORY_MODE, _MEMORY_LIMIT, _REGISTER = (11, "i", 4), (12, "q", 8), (13, "i", 4)
_REFINEMENT: Final = (5, "i", 4)
#: name -> (cudssDataParam_t, what its elements are: values, their real type, or indices)
ARRAYS: Final = {
    "row_permutation": (4, "index"), "col_permutation": (5, "index"), "final_row_permutation": (6, "index"),
    "final_col_permutation": (7, "index"), "diag": (8, "value"), "matching_col_permutation": (14, "index"),
    "row_scale_factors": (15, "real"), "col_scale_factors": (16, "real"),
}  # fmt: skip

_free: dict[int, list[int]] = {}
_lock = threading.Lock()


def _take_handle(device: int) -> int:
    """Take a handle that nobody uses, or make one: making one takes longer than solving a small system."""
    with _lock:
        handles = _free.setdefault(device, [])
        return handles.pop() if handles else cudss.create()


def _give_handle(device: int, handle: int) -> None:
    with _lock:
        _free.setdefault(device, []).append(handle)


def require_version() -> None:
    """Raise that an installed cuDSS is too old, with its version and path.

    Raises
    ------
    RuntimeError
        It is older than 0.8, whose functions have other arguments.
    """
    from ...bindings import _load

    version = tuple(cudss.get_property(part) for part in range(2))
    if version < _OLDEST:
        library = _load.open_library("cudss")
        raise RuntimeError(
            f"cuDSS {library.version} at {library.path} is too old: version {_OLDEST[0]}.{_OLDEST[1]} or newer is needed. "
            "Install it with pip install -U nvidia-cudss-cu13 (or nvidia-cudss-cu12)."
        )


class CudssPlan:
    """A system on one GPU."""

    workspace_nbytes = 0
    nbytes = 0

    def __init__(
        self,
        problem: SystemProblem,
        place: Cuda,
        config: CudssConfig,
        options: DirectSolverOptions,
        hybrid: HybridMemoryModeOptions | None,
        adapter: Adapter,
        blocking: bool,
    ) -> None:
        self.problem, self.place, self.config, self.adapter = problem, place, config, adapter
        self.blocking = blocking
        self.stale = False  # whether the values may have changed since the factorization
        self.replaced = 0  # number of pivots that the factorization replaced
        self.residual: Residual | None = None
        self.own_handle = options.handle is None
        self.handle = self.data = self.matrix = 0
        self.sides: dict[tuple[int, int, int], int] = {}
        self.factorized = False
        self.stream = -1
        self.source: tuple[Any, ...] = ()
        with place.current():
            require_version()
            self.handle = _take_handle(place.device_id) if options.handle is None else int(options.handle)
            try:
                self._prepare(options, hybrid)
            except BaseException:
                self.close()
                raise

    def _prepare(self, options: DirectSolverOptions, hybrid: HybridMemoryModeOptions | None) -> None:
        self.data = cudss.data_create(self.handle)
        library = threading_library(options)
        if library:
            cudss.set_threading_layer(self.handle, library)
        if hybrid is not None and hybrid.hybrid_memory_mode:
            self.config.put(_MEMORY_MODE, 1)
            self.config.put(_REGISTER, int(hybrid.register_cuda_memory))
            if hybrid.hybrid_device_memory_limit is not None:
                total = driver.device_total_mem(driver.device_get(self.place.device_id))
                limit = memory_limit.bytes_of(hybrid.hybrid_device_memory_limit, total, "hybrid_device_memory_limit")
                self.config.put(_MEMORY_LIMIT, limit)

    # --- phases ---------------------------------------------------------------------------------------------------------------------

    def analyse(self, ptrs: tuple[int, ...], stream: int, pattern: tuple[Any, Any] | None) -> None:
        """Read the pattern and plan the factorization; `pattern` is it in host memory, where it is there."""
        problem = self.problem
        indptr, indices = self._download(ptrs, stream) if pattern is None else pattern
        check(indptr, indices, problem.n)
        if not is_canonical(indptr, indices):
            raise ValueError(
                "The column indices of a must rise within each row on a GPU, without duplicates. Call a.sum_duplicates() and "
                "a.sort_indices() first (SciPy, CuPy), or a.coalesce() before to_sparse_csr() (PyTorch)."
            )
        self.source = (indptr.copy(), indices.copy()) if pattern is not None else ptrs[:2]
        self.matrix = cudss.matrix_create_csr(
            problem.n, problem.n, problem.nnz, ptrs[0], 0, ptrs[1], ptrs[2], problem.offsets.code, problem.indices.code,
            problem.dtype.code, int(problem.kind), int(problem.part), 0,
        )  # fmt: skip
        self._execute(_ANALYSIS, stream, *self._placeholders(ptrs[3]))

    def _download(self, ptrs: tuple[int, ...], stream: int) -> tuple[Any, Any]:
        """Copy the pattern to the host."""
        from ..._core.staging import download

        problem = self.problem
        made = []
        for ptr, count, dtype in ((ptrs[0], problem.n + 1, problem.offsets), (ptrs[1], problem.nnz, problem.indices)):
            copy = np.empty(count, dtype.name)
            download(ptr, copy.ctypes.data, copy.nbytes, stream)
            made.append(copy)
        return made[0], made[1]

    def accepts(self, ptrs: tuple[int, ...], pattern: tuple[Any, Any] | None) -> bool:
        """Whether the matrix still has the pattern that was planned: compared in host memory, else by address."""
        if pattern is None:
            return self.source == ptrs[:2]
        return np.array_equal(self.source[0], pattern[0]) and np.array_equal(self.source[1], pattern[1])

    def factorize(self, ptrs: tuple[int, ...], stream: int) -> None:
        """Factorize the present values; blocks, since whether it succeeded is known only then."""
        self.factorized = False
        cudss.matrix_set_csr_pointers(self.matrix, ptrs[0], 0, ptrs[1], ptrs[2])
        self._execute(_FACTORIZATION, stream, *self._placeholders(ptrs[3]))
        self.place.wait(stream)
        error = self._scalar(_INFO)
        if error:
            definite = self.problem.kind in (Kind.SPD, Kind.HPD)
            what = "not positive definite, or singular" if definite else "singular"
            raise SingularSystemError(f"The matrix a is {what}: cuDSS reports error {error} of the factorization.")
        self.replaced, self.stale = self.pivots, False
        self.factorized = True

    def launch(self) -> Callable[..., None]:
        """Return the function that solves: addresses of the operands and of the result, and the stream."""
        problem = self.problem
        n, columns = problem.n, problem.columns
        if columns == 0:
            return lambda *_: None
        # cuDSS wants columns one behind the other: others go through a copy
        packed = dense(problem.shape, range(len(problem.shape)))
        device, dtype = self.place.device_id, problem.dtype
        nbytes = n * columns * dtype.itemsize
        b_ld, x_ld = problem.b_direct, problem.x_direct
        pack = None if b_ld else kernels.move(device, problem.shape, problem.b_strides, packed, dtype, dtype)
        unpack = None if x_ld else kernels.move(device, problem.shape, packed, problem.x_strides, dtype, dtype)

        def run(indptr: int, indices: int, data: int, b: int, x: int, stream: int) -> None:
            owners = []
            source, target = b, x
            if pack is not None:
                source, owner = self.adapter.allocate(nbytes, device, stream)
                owners.append(owner)
                pack(b, source, stream)
            if unpack is not None:
                target, owner = self.adapter.allocate(nbytes, device, stream)
                owners.append(owner)
            cudss.matrix_set_csr_pointers(self.matrix, indptr, 0, indices, data)
            side, solution = self._side(0, source, b_ld or n), self._side(1, target, x_ld or n)
            self._execute(_SOLVE, stream, solution, side)
            if self.blocking or self.replaced or self.stale:
                self._check((indptr, indices, data), (target, x_ld or n, source, b_ld or n), (solution, side), stream)
            if unpack is not None:
                unpack(target, x, stream)

        return run

    def _check(self, matrix: tuple[int, ...], columns: tuple[int, int, int, int], sides: tuple[int, int], stream: int) -> None:
        """Judge the solution; refine it once if it is not good, and raise if that does not help. Blocks."""
        refuse_capture(self.place, stream, "a solution that has to be checked")
        if self.residual is None:
            self.residual = Residual(self.problem, self.place, self.adapter)
        self.residual.problem = self.problem
        judgement = self.residual(matrix, *columns, stream)
        if self._refused(judgement):
            steps = self.config.get("ir_num_steps")
            self.config.put(_REFINEMENT, max(steps, 10))
            try:
                self._execute(_SOLVE, stream, *sides)
            finally:
                self.config.put(_REFINEMENT, steps)
            judgement = self.residual(matrix, *columns, stream)
        if self._refused(judgement):
            raise SingularSystemError(explain(judgement, self.replaced, "cuDSS"))
        if judgement.verdict is Verdict.DOUBTFUL:
            warn(doubt(judgement), IllConditionedWarning)

    def _refused(self, judgement: Judgement) -> bool:
        return judgement.verdict is Verdict.BAD or (judgement.verdict is Verdict.DOUBTFUL and self.replaced > 0)

    def _placeholders(self, ptr: int) -> tuple[int, int]:
        """Descriptors of x and b for the phases that do not touch them."""
        return self._side(1, ptr, self.problem.n), self._side(0, ptr, self.problem.n)

    def _side(self, which: int, ptr: int, ld: int) -> int:
        """The descriptor of b (0) or x (1) with some leading dimension, at an address."""
        problem = self.problem
        key = which, ld, problem.columns
        matrix = self.sides.get(key)
        if matrix is None:
            matrix = cudss.matrix_create_dn(problem.n, max(1, problem.columns), ld, ptr, problem.dtype.code, _COLUMN_MAJOR)
            self.sides[key] = matrix
        else:
            cudss.matrix_set_values(matrix, ptr)
        return matrix

    def _execute(self, phase: int, stream: int, x: int, b: int) -> None:
        if stream != self.stream:
            cudss.set_stream(self.handle, stream)
            self.stream = stream
        cudss.execute(self.handle, phase, self.config.handle, self.data, self.matrix, x, b)

    # --- what can be asked ------------------------------------------------------------------------------------------------------------

    @property
    def pivots(self) -> int:
        """Number of pivots that were replaced."""
        return self._scalar(_NPIVOTS)

    def _scalar(self, number: int) -> int:
        buffer, written = array("q", [0]), array("Q", [0])
        with self.place.current():
            size = {_INFO: 4, _NPIVOTS: 4}.get(number, 8)
            cudss.data_get(self.handle, self.data, number, buffer.buffer_info()[0], size, written)
        value = buffer[0]
        return value - 2**32 if size == 4 and value >= 2**31 else value

    def _array(self, number: int, kind: str, count: int) -> Any:
        problem = self.problem
        name = {"index": problem.indices.name, "value": problem.dtype.name, "real": problem.dtype.real.name}[kind]
        made, written = np.empty(count, name), array("Q", [0])
        with self.place.current():
            cudss.data_get(self.handle, self.data, number, made.ctypes.data, made.nbytes, written)
        return made

    def info(self, name: str) -> Any:
        """Return a piece of information."""
        if name in ARRAYS:
            return self._array(*ARRAYS[name], self.problem.n)
        match name:
            case "memory":
                made, written = np.zeros(1, memory_estimates_dtype), array("Q", [0])
                with self.place.current():
                    cudss.data_get(self.handle, self.data, 13, made.ctypes.data, made.nbytes, written)
                return {field: int(made[field][0]) for field in memory_estimates_dtype.names or () if field != "reserved"}
            case "info":
                return self._scalar(_INFO)
            case "lu_nnz":
                return self._scalar(_LU_NNZ)
            case "npivots":
                return self._scalar(_NPIVOTS)
            case "num_superpanels":
                return self._scalar(17)
            case "inertia":
                return self._array(_INERTIA, "index", 2)
        raise AssertionError(name)

    def close(self) -> None:
        """Queue everything for destruction, and give the handle back."""
        device, handle, own = self.place.device_id, self.handle, self.own_handle
        for matrix in (*self.sides.values(), self.matrix):
            if matrix:
                discard(cudss.matrix_destroy, matrix)
        self.sides.clear()
        data, self.data, self.handle, self.matrix = self.data, 0, 0, 0
        if handle:

            def finish(data: int) -> None:
                if data:
                    cudss.data_destroy(handle, data)
                if own:
                    _give_handle(device, handle)

            discard(finish, data)

    def __del__(self) -> None:
        self.close()


def threading_library(options: DirectSolverOptions) -> str:
    """Return the path of cuDSS's threading library that the caller names, or an empty text.

    Raises
    ------
    ValueError
        There is no such file.
    """
    path = options.multithreading_lib or os.environ.get("CUDSS_THREADING_LIB", "")
    if path and not os.path.isfile(path):
        where = "options.multithreading_lib" if options.multithreading_lib else "the environment variable CUDSS_THREADING_LIB"
        raise ValueError(f"There is no file {path!r}, which {where} names as cuDSS's threading library.")
    return path


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()
    _free.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
