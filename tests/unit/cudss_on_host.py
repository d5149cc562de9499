"""cuDSS and a GPU in host memory: NumPy solves, a C++ compiler makes host functions of the kernels. Numbers are real, the place is not.

What is as on a GPU: which descriptors are made, what they point to, the order of phases, the sources of the kernels.
"""
# ruff: noqa: N802, the names of the C functions

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from copy import copy
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import solve_triangular
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from nvmath._core import kernels_host, place
from nvmath._core.dtypes import dtype
from nvmath._core.kernels_host import array_at
from nvmath.bindings import cudss
from nvmath.bindings._bind import substitute
from nvmath.bindings._cuda import CudaError
from nvmath.sparse.advanced import (
    _cuda_batch,
    _cuda_kernel,
    _cuda_matrix,
    _cuda_residual,
    _cudss,
    _cudss_factors,
    _cudss_graph,
    _cudss_handle,
    _cudss_system,
    _cudss_together,
    _order,
)

COMPILER = shutil.which("g++") or shutil.which("c++")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler (g++)")

NAMES = {0: "float32", 1: "float64", 4: "complex64", 5: "complex128", 10: "int32", 24: "int64"}
ANALYSIS, FACTORIZATION, SOLVE = 3, 4, 1008
FACTORIZED = [FACTORIZATION, SOLVE]
"""A factorization, and the solution that shows whether the matrix may be singular."""
PIVOT_EPSILON = 1e-13
MATCHING_IN_VAIN = False
"""Whether matching does nothing for symmetric matrices."""

_SHIM = """
#include <math.h>
#define __device__
#define __global__
#define __shared__
#define __syncthreads()
#define __shfl_xor_sync(mask, value, step) (value)
static void __threadfence() {}
template <class T> static T atomicAdd(T* to, T a) { T before = *to; *to += a; return before; }
template <class T> static T atomicExch(T* to, T a) { T before = *to; *to = a; return before; }
static void atomicMax(unsigned long long* to, unsigned long long a) { if (a > *to) *to = a; }
static long long __double_as_longlong(double a) { long long made; __builtin_memcpy(&made, &a, 8); return made; }
static double __longlong_as_double(long long a) { double made; __builtin_memcpy(&made, &a, 8); return made; }
namespace kernel {
static const struct { long long x, y; } threadIdx{0, 0}, blockDim{1, 1}, gridDim{3, 2};
static struct { long long x, y; } blockIdx;
"""
_BLOCKS = """
extern "C" void place(long long x, long long y) { kernel::blockIdx = {x, y}; }
"""


@cache
def compiled(source: str) -> Any:
    """A kernel as a host function of one thread, and the function that says of which block: of 3 times 2, one after the other."""
    folder = Path(tempfile.mkdtemp())
    (folder / "kernel.cpp").write_text(_SHIM + source + "}" + _BLOCKS)
    subprocess.run(
        [str(COMPILER), "-shared", "-fPIC", "-w", "-o", folder / "kernel.so", folder / "kernel.cpp"], check=True
    )
    library = ctypes.CDLL(str(folder / "kernel.so"))
    shutil.rmtree(folder)
    return library.run, library.place


class HostGraphs:
    """Captures of the driver: what is queued meanwhile is done when the graph is launched."""

    def __init__(self) -> None:
        self.under_way: list[Callable[[], None]] | None = None
        self.alive: dict[int, list[Callable[[], None]]] = {}
        self.launched = self.captured = self.next = 0
        self.fails = False

    def do(self, work: Callable[[], None]) -> None:
        if self.under_way is None:
            work()
        else:
            self.under_way.append(work)

    def _make(self, work: list[Callable[[], None]]) -> int:
        self.next += 1
        self.alive[self.next] = work
        return self.next

    def begin(self, stream: int, mode: int) -> None:
        assert (stream, mode) == (OWN_STREAM, 1)
        assert self.under_way is None
        self.under_way = []

    def end(self, stream: int) -> int:
        work, self.under_way = self.under_way, None
        assert work is not None
        if self.fails:
            raise cudss.cuDSSError(5)  # as of the driver, whose errors need a driver
        self.captured += 1
        return self._make(work)

    def instantiate(self, graph: int, flags: int) -> int:
        return self._make(self.alive[graph])

    def launch(self, executable: int, stream: int) -> None:
        self.launched += 1
        for work in self.alive[executable]:
            work()

    def destroy(self, number: int) -> None:
        del self.alive[number]


OWN_STREAM = 1
GRAPHS = HostGraphs()


class HostKernel:
    """In the place of `_cuda_kernel.Kernel`."""

    def __init__(self, device: int, name: str, count: int, *types: Any, **more: Any) -> None:
        self.count, (self.function, self.place) = count, compiled(_cuda_kernel.source(name, *types, **more))

    def __call__(self, stream: int, n: int, rows: int, *arguments: int) -> None:
        assert len(arguments) == self.count
        values = [ctypes.c_ulonglong(argument) for argument in arguments]

        def run() -> None:
            for x in range(3):
                for y in range(2 if rows > 1 else 1):
                    self.place(ctypes.c_longlong(x), ctypes.c_longlong(y))
                    self.function(*values)

        GRAPHS.do(run)


class Memory:
    """In the place of the package that gives device memory; what is given holds NaN, and nothing may be written behind it."""

    def __init__(self) -> None:
        self.alive = 0

    @staticmethod
    def current_stream(device: int) -> int:
        return 77

    def allocate(self, nbytes: int, device: int, stream: int) -> tuple[int, Any]:
        block = np.full(nbytes + 64, 0xFF, np.uint8)
        start = -block.ctypes.data % 64
        owner = _Owner(self, block, start + nbytes)
        return block.ctypes.data + start, owner


class _Owner:
    def __init__(self, memory: Memory, block: np.ndarray, end: int) -> None:
        self.memory, self.block, self.end = memory, block, end
        memory.alive += 1

    def __del__(self) -> None:
        self.memory.alive -= 1
        assert (self.block[self.end :] == 0xFF).all(), "something was written behind a block of memory"


class Pinned:
    """In the place of pinned memory."""

    def __init__(self, nbytes: int) -> None:
        self.block = np.full(nbytes, 0xFF, np.uint8)
        self.ptr = self.block.ctypes.data


class HostGpu:
    """In the place of `Cuda`."""

    device_id = 0
    current = staticmethod(nullcontext)
    wait = staticmethod(lambda stream: None)

    def __init__(self) -> None:
        self.captures = False

    def capturing(self, stream: int) -> bool:
        return self.captures


class HostCudss:
    """Attributes are named like the C functions; every call is remembered."""

    def __init__(self, version: tuple[int, int] = (0, 8), fails: str = "") -> None:
        self.version, self.fails = version, fails
        self.calls: list[tuple[str, tuple[Any, ...]]] = []
        self.objects: dict[int, Any] = {}
        self.next = 1000
        self.breaks: set[int] = set()  # members of batches whose factors are spoiled
        self.refuses = False  # batches
        self.straight = False  # never solves with the transpose

    def named(self, name: str) -> list[tuple[Any, ...]]:
        return [arguments for called, arguments in self.calls if called == name]

    @property
    def phases(self) -> list[int]:
        return [arguments[1] for arguments in self.named("Execute")]

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("cudss"):
            raise AttributeError(name)
        short = name.removeprefix("cudss")
        act = getattr(self, f"_{short}", None)

        def call(*arguments: Any) -> Any:
            self.calls.append((short, arguments))
            if short == self.fails:
                raise cudss.cuDSSError(5)
            return act(*arguments) if act else None

        return call

    def _make(self, made: Any) -> int:
        self.next += 1
        self.objects[self.next] = made
        return self.next

    def _destroy(self, number: int) -> None:
        del self.objects[number]

    def _GetProperty(self, part: int) -> int:
        return (*self.version, 0)[part]

    def _Create(self) -> int:
        return self._make("handle")

    _Destroy = _MatrixDestroy = _ConfigDestroy = _destroy

    def _ConfigCreate(self) -> int:
        return self._make({number: bytes(8) for number in range(26)})

    def _ConfigSet(self, config: int, number: int, buffer: int, size: int) -> None:
        self.objects[config][number] = ctypes.string_at(buffer, size)

    def _ConfigGet(self, config: int, number: int, buffer: int, size: int, written: Any) -> None:
        ctypes.memmove(buffer, self.objects[config][number], size)

    def steps(self, config: int) -> int:
        return int.from_bytes(self.objects[config][5][:4], "little")

    def matching(self, config: int) -> int:
        return int.from_bytes(self.objects[config][3][:4], "little")

    def turned(self, config: int) -> bool:
        """Whether the transpose is solved with."""
        mode = int.from_bytes(self.objects[config][4][:4], "little")
        if mode and (self.version < (1, 0) or self.straight):
            raise cudss.cuDSSError(4)
        return mode == 1

    def together(self, config: int) -> int:
        """How many systems lie one behind the other."""
        return int.from_bytes(self.objects[config][18][:4], "little") or 1

    def _DataCreate(self, handle: int) -> int:
        return self._make({"info": 0, "npivots": 0})

    def _DataDestroy(self, handle: int, data: int) -> None:
        self._destroy(data)

    def _DataGet(self, handle: int, data: int, number: int, buffer: int, size: int, written: Any) -> None:
        answers = self.objects[data]
        if number == 2 and size != answers["index"]:
            raise cudss.cuDSSError(3)  # seen on a GPU: with indices of 64 bits integers are answered in 64 bits
        value = {0: answers["info"], 1: 7, 2: answers["npivots"]}.get(number, 0)
        ctypes.memset(buffer, 0, size)
        ctypes.memmove(buffer, int(value).to_bytes(8, "little", signed=True), min(size, 8))

    def _MatrixCreateCsr(self, *arguments: int) -> int:
        return self._make(list(arguments))

    def _MatrixSetCsrPointers(self, matrix: int, starts: int, ends: int, columns: int, values: int) -> None:
        self.objects[matrix][3:7] = [starts, ends, columns, values]

    def _MatrixCreateDn(self, *arguments: int) -> int:
        return self._make(list(arguments))

    def _MatrixSetValues(self, matrix: int, values: int) -> None:
        self.objects[matrix][3] = values

    def _Execute(self, handle: int, phase: int, config: int, data: int, *descriptors: int) -> None:
        if GRAPHS.under_way is None:
            self._act(phase, config, data, *descriptors)
            return
        assert phase == SOLVE, "cuDSS waits in this phase"
        known = {number: copy(self.objects[number]) for number in (config, *descriptors)}  # as they are now

        def replay() -> None:
            before, self.objects = self.objects, self.objects | known
            try:
                self._act(phase, config, data, *descriptors)
            finally:
                self.objects = before

        GRAPHS.do(replay)

    def _act(self, phase: int, config: int, data: int, matrix: int, x: int, b: int) -> None:
        answers, count = self.objects[data], self.together(config)
        if count > 1 and (self.refuses or self.matching(config)):
            raise cudss.cuDSSError(4)
        if phase == ANALYSIS:
            answers.clear()
            size = dtype(NAMES[self.objects[matrix][8]]).itemsize
            answers.update(
                info=0, npivots=0, index=size, analysed=self._csr(matrix).nnz >= 0, matching=self.matching(config),
                members=[{"analysed": True, "matching": self.matching(config)} for _ in range(count)] if count > 1 else [answers],
            )  # fmt: skip
        for i, member in enumerate(answers["members"]):
            if phase == FACTORIZATION:
                self._factorize(member, self._csr(matrix, i), self.objects[matrix][10])
                if i in self.breaks:
                    member["factors"] = np.full_like(member["factors"], np.nan)
            elif phase != ANALYSIS:
                sides = (self._member(self.objects[side], i) for side in (x, b))
                self._solve(member, self._csr(matrix, i), self.steps(config), *sides, self.turned(config))

    @staticmethod
    def _member(side: list[int], i: int) -> list[int]:
        """The part of a descriptor that belongs to a system."""
        rows, columns, ld, values, kind, layout = side
        assert i == 0 or columns == 1, "cuDSS 0.8 solves the first columns of a batch only"
        return [rows, columns, ld, values + i * ld * columns * dtype(NAMES[kind]).itemsize, kind, layout]

    def _csr(self, number: int, member: int = 0) -> sp.csc_array:
        """The matrix that a descriptor stands for: a part of a symmetric one is completed."""
        rows, _, nnz, starts, ends, columns, values, offsets, indices, kind, mtype, view, base = self.objects[number]
        values += member * nnz * dtype(NAMES[kind]).itemsize
        assert (ends, base) == (0, 0)
        arrays = (
            array_at(values, (nnz,), (1,), dtype(NAMES[kind])), array_at(columns, (nnz,), (1,), dtype(NAMES[indices])),
            array_at(starts, (rows + 1,), (1,), dtype(NAMES[offsets])),
        )  # fmt: skip
        made = sp.csr_array(arrays, shape=(rows, rows))
        assert made.has_canonical_format, "cuDSS wants sorted indices without duplicates"
        if view == 0 or mtype == 0:
            return made.tocsc()
        part = sp.tril(made) if view == 1 else sp.triu(made)
        other = part.T.conj() if mtype in (2, 4) else part.T
        return sp.csc_array(part + other - sp.diags_array(part.diagonal()))

    @staticmethod
    def _factorize(answers: dict[str, Any], matrix: sp.csc_array, mtype: int) -> None:
        """Without leaving the diagonal unless there was matching; tiny pivots are replaced, as cuDSS does."""
        assert answers["analysed"]
        dense = matrix.toarray()
        if mtype in (3, 4) and np.linalg.eigvalsh(dense).min() <= 0:
            answers.update(info=1, npivots=0, order=np.arange(len(dense)), factors=np.full_like(dense, np.nan))
            return
        answers.update(info=0, npivots=0, order=np.arange(len(dense)))
        if answers["matching"] and not (mtype and MATCHING_IN_VAIN):
            sizes = abs(matrix).tocoo()
            sizes.eliminate_zeros()
            weights = sp.csr_array(
                (1 + np.log(sizes.data.max(initial=0) / sizes.data), (sizes.col, sizes.row)), shape=matrix.shape
            )
            with suppress(ValueError):  # structurally singular
                answers["order"] = min_weight_full_bipartite_matching(weights)[1]
        dense = dense[answers["order"]].copy()
        largest = abs(matrix.data).max(initial=0)
        least = PIVOT_EPSILON * largest or 1e-300
        for k in range(len(dense)):
            if abs(dense[k, k]) <= least:
                dense[k, k] = least
                answers["npivots"] += 1
            dense[k + 1 :, k] /= dense[k, k]
            dense[k + 1 :, k + 1 :] -= np.outer(dense[k + 1 :, k], dense[k, k + 1 :])
        answers["factors"] = dense

    @staticmethod
    def _solve(
        answers: dict[str, Any], matrix: sp.csc_array, steps: int, x: list[int], b: list[int], turned: bool = False
    ) -> None:
        views = []
        for rows, columns, ld, values, kind, layout in (x, b):
            assert layout == 0
            assert ld >= rows
            views.append(array_at(values, (rows, columns), (1, ld), dtype(NAMES[kind])))
        solution, right = views
        assert np.shares_memory(solution, right) is False
        lower, upper = np.tril(answers["factors"], -1) + np.eye(len(right)), np.triu(answers["factors"])

        matrix = matrix.T if turned else matrix

        def inverse(v: np.ndarray) -> np.ndarray:
            if turned:
                half = solve_triangular(upper, v, trans="T", check_finite=False)
                made = np.empty_like(half)
                made[answers["order"]] = solve_triangular(lower, half, trans="T", lower=True, check_finite=False)
                return made
            half = solve_triangular(lower, v[answers["order"]], lower=True, check_finite=False)
            return solve_triangular(upper, half, check_finite=False)

        solution[...] = inverse(right)
        for _ in range(steps):
            solution += inverse(right - matrix @ solution)


@contextmanager
def on_host(**keywords: Any) -> Iterator[tuple[HostCudss, Memory]]:
    """Put the host in the place of cuDSS and the GPU; at the end nothing may be left."""
    made, memory = HostCudss(**keywords), Memory()
    GRAPHS.__init__()  # type: ignore[misc]

    def move(source: int, target: int, nbytes: int, stream: int) -> None:
        ctypes.memmove(target, source, nbytes)

    class Driver:
        @staticmethod
        def memset_d8_async(address: int, value: int, count: int, stream: int) -> None:
            GRAPHS.do(lambda: ctypes.memset(address, value, count) and None)

        stream_begin_capture, stream_end_capture = GRAPHS.begin, GRAPHS.end
        graph_instantiate_with_flags, graph_launch = GRAPHS.instantiate, GRAPHS.launch
        graph_destroy = graph_exec_destroy = GRAPHS.destroy
        memcpy_device_to_device_async = staticmethod(
            lambda target, source, n, stream: ctypes.memmove(target, source, n)
        )
        CudaError = CudaError
        event_create = event_destroy = event_synchronize = staticmethod(lambda number: number)
        stream_is_capturing = staticmethod(lambda stream: 0)
        stream_create = stream_synchronize = stream_destroy = staticmethod(lambda number: number)
        event_record = staticmethod(lambda event, stream: None)
        stream_wait_event = staticmethod(lambda stream, event, flags: None)

    class Kernels:
        @staticmethod
        def move(device: int, *arguments: Any) -> Any:
            run = kernels_host.move(*arguments)
            return lambda source, target, stream: run(source, target)

    _cudss_handle._free.clear()
    with pytest.MonkeyPatch.context() as patch, substitute("cudss", made):
        for module in (_cudss, _cuda_matrix, _cuda_residual):
            patch.setattr(module, "Kernel", HostKernel)
        for module in (_cuda_batch, _cuda_matrix, _cuda_residual, _cudss_graph, _cudss_system, _order):
            patch.setattr(module, "driver", Driver)
        for module in (_cudss, _cuda_batch):
            patch.setattr(module, "kernels", Kernels)
        for module, names in (
            (_cudss_factors, ("upload",)),
            (_cudss_together, ("upload",)),
            (_cuda_matrix, ("upload", "download")),
        ):
            for name in names:
                patch.setattr(module, name, move)
        patch.setattr(_cuda_residual, "pinned_block", Pinned)
        try:
            yield made, memory
        finally:
            while place._garbage:  # the last to go are the events
                place.reap()
            _cudss_handle._free.clear()
    assert [one for one in made.objects.values() if one != "handle"] == []
    assert not GRAPHS.alive
    assert memory.alive == 0
