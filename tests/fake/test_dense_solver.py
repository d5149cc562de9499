"""Dense solvers over a recording driver: which memory is used where, that all is over when a call returns, and what stays behind."""

from __future__ import annotations

import ctypes
import gc
import weakref
from contextlib import suppress

import numpy as np
import pytest
from fake.solver import FakeCublas, FakeCusolver

import nvmath
from nvmath.bindings._bind import substitute
from nvmath.bindings._cuda import CudaError
from nvmath.linalg import DirectSolver, direct_solver
from nvmath.linalg._solver import _cuda, _handles

WAIT = "cuStreamSynchronize"


@pytest.fixture(autouse=True)
def libraries(gpu, monkeypatch):
    """Stand-ins for both libraries; what comes back from the device are zeros, so all is well with every matrix."""

    def read(source, target, nbytes, stream, real=_cuda.download):
        real(source, target, nbytes, stream)
        ctypes.memset(target, 0, nbytes)

    monkeypatch.setattr(_cuda, "download", read)
    solver, blas = FakeCusolver(gpu.trace, gpu.cuda), FakeCublas(gpu.trace, gpu.cuda)
    for pool in (_handles.SOLVERS, _handles.BLAS):
        pool._after_fork()
    with substitute("cusolver", solver), substitute("cublas", blas):
        yield solver, blas
        nvmath.plan_cache.clear()
    for pool in (_handles.SOLVERS, _handles.BLAS):
        pool._after_fork()


@pytest.fixture(params=["one", "batch", "sequence"])
def system(request, gpu):
    if request.param == "one":
        return gpu.array((8, 8), "float32"), gpu.array((8, 2), "float32")
    if request.param == "batch":
        return gpu.array((20, 8, 8), "float32"), gpu.array((20, 8, 2), "float32")
    return [gpu.array((8, 8), "float32") for _ in range(3)], [gpu.array((8,), "float32") for _ in range(3)]


FACTORIZE = ("cusolverDnXgetrf", "cublasSgetrfBatched")
SOLVE = ("cusolverDnXgetrs", "cublasSgetrsBatched")


def used(gpu):
    """Whether some memory of the library is in use by work that nobody has waited for."""
    return gpu.trace.names(*FACTORIZE, *SOLVE, WAIT)[-1] != WAIT


def test_every_phase_ends_with_a_wait(gpu, system):
    with DirectSolver(*system) as solver:
        solver.plan()
        solver.factorize()
        assert gpu.names(*FACTORIZE)
        assert not used(gpu)
        gpu.forget()
        solver.solve()
        assert gpu.names(*SOLVE)
        assert not gpu.names(*FACTORIZE)
        assert not used(gpu)


def test_work_is_queued_on_the_stream_of_each_call(gpu, system):
    first, second = gpu.stream(), gpu.stream()
    with DirectSolver(*system) as solver:
        solver.plan(first)
        solver.factorize(stream=first)
        assert set(gpu.streams_of(*FACTORIZE, *SOLVE, "cuLaunchKernel")) == {first}
        gpu.forget()
        solver.solve(stream=second)
        assert set(gpu.streams_of(*SOLVE, "cuLaunchKernel")) == {second}


def test_one_call_waits_once_and_keeps_no_memory(gpu, system):
    direct_solver(*system)
    gpu.forget()
    x = direct_solver(*system)
    assert gpu.count(WAIT) == 1
    if not isinstance(system[0], list):
        assert gpu.count("cuLaunchKernel") == 1  # our own, which does it all
        assert not gpu.names(*FACTORIZE, *SOLVE)
    else:
        assert len(gpu.names(*FACTORIZE)) == 1
        assert len(gpu.names(*SOLVE)) == 1
    taken = gpu.workspaces
    del x
    gc.collect()
    assert gpu.count("give_back_buffer") == taken


def test_one_call_leaves_no_reference(gpu):
    a, b = gpu.array((8, 8), "float32"), gpu.array((8,), "float32")
    for _ in range(2):
        direct_solver(a, b)
    references = [weakref.ref(a), weakref.ref(b)]
    del a, b
    gc.collect()
    assert [each() for each in references] == [None, None]


def test_handles_are_made_once(gpu, system):
    for _ in range(3):
        direct_solver(*system)
        with DirectSolver(*system) as solver:
            solver.plan()
            solver.factorize()
            solver.solve()
    assert gpu.count("cusolverDnCreate") + gpu.count("cublasCreate_v2") == 1


def test_in_place_uses_the_memory_of_the_operands(gpu):
    a, b = gpu.array((8, 8), "float32"), gpu.array((8,), "float32")
    x = direct_solver(a, b, options={"inplace_a": True, "inplace_b": True})
    assert x is b
    (factorization,) = gpu.trace.calls("cusolverDnXgetrf")
    assert factorization.args[5] == a.ptr
    assert b.ptr in [call.args[10] for call in gpu.trace.calls("cusolverDnXgetrs")]


def test_host_operands_are_uploaded_again_only_when_they_were_used(gpu):
    a, b = np.zeros((8, 8), "f"), np.zeros((8, 2), "f")

    def uploads(function):
        gpu.forget()
        function()
        sources = [call.args[1] for call in gpu.trace.calls("cuMemcpyHtoDAsync_v2")]
        return [name for name, array in (("a", a), ("b", b)) if array.ctypes.data in sources]

    made = []
    assert uploads(lambda: made.append(DirectSolver(a, b, execution="cuda"))) == ["a", "b"]
    with made[0] as solver:
        assert uploads(solver.plan) == []
        assert uploads(solver.factorize) == []
        assert uploads(solver.solve) == []
        assert uploads(solver.solve) == ["b"]
        assert uploads(solver.factorize) == ["a"]
        assert uploads(lambda: solver.reset_operands(b=b)) == ["b"]
        assert uploads(solver.solve) == []


@pytest.mark.parametrize("call", ["one", "plan", "factorize", "solve"])
def test_a_capture_is_refused(gpu, system, call):
    stream = gpu.stream()
    direct_solver(*system)
    with DirectSolver(*system) as solver:
        phases = {"plan": lambda: solver.plan(stream)}
        if call != "plan":
            solver.plan()
            solver.factorize()
        phases |= {
            "one": lambda: direct_solver(*system, stream=stream), "factorize": lambda: solver.factorize(stream=stream),
            "solve": lambda: solver.solve(stream=stream),
        }  # fmt: skip
        with gpu.capture(stream), pytest.raises(RuntimeError, match="captured"):
            phases[call]()


@pytest.mark.parametrize("at", range(1, 12))
@pytest.mark.parametrize("function", [
    "cuLaunchKernel", "cusolverDnXgetrf", "cusolverDnXgetrs", "cublasSgetrfBatched", "cublasSgetrsBatched", "take_buffer",
    "cuMemcpyDtoHAsync_v2", "cuMemcpyHtoDAsync_v2",
])  # fmt: skip
def test_a_failure_anywhere_leaves_nothing_behind_and_a_usable_library(gpu, system, function, at):
    gpu.fail(function, at)
    for _ in range(2):
        with suppress(CudaError):
            direct_solver(*system)
    gpu.trace.faults.clear()
    direct_solver(*system)
    with DirectSolver(*system) as solver:
        solver.plan()
        gpu.fail(function, at)
        for phase in (solver.factorize, solver.factorize, solver.solve, solver.solve):
            with suppress(CudaError, RuntimeError):
                phase()
        gpu.trace.faults.clear()
        solver.factorize()
        solver.solve()


def test_a_vector_for_the_condition_that_did_not_arrive_is_sent_again(gpu, system):
    upload = "cuMemcpyHtoDAsync_v2"
    with DirectSolver(*system) as untroubled:
        untroubled.plan()
        untroubled.factorize()
    uploads = gpu.count(upload)
    with DirectSolver(*system) as solver:
        solver.plan()
        gpu.fail(upload)
        with pytest.raises(CudaError):
            solver.factorize()
        gpu.forget()
        solver.factorize()
        assert gpu.count(upload) == uploads


@pytest.mark.parametrize("at", [1, 2])
def test_a_reset_that_fails_half_way_changes_nothing(gpu, monkeypatch, at):
    a, b, other = gpu.array((8, 8), "float32"), gpu.array((8, 2), "float32"), gpu.array((8, 2), "float32", strides=(6, 3))
    make, made = _cuda.Move, []

    def fail(*arguments):
        made.append(arguments)
        if len(made) == at:
            raise MemoryError
        return make(*arguments)

    def solve(solver):
        gpu.forget()
        results.append(solver.solve())
        return [(call.name, call.args[2:9]) for call in gpu.trace.calls("cusolverDnXgetrs", "cuLaunchKernel")]

    results = []
    with DirectSolver(a, b) as solver:
        solver.plan()
        solver.factorize()
        before = solve(solver)
        with monkeypatch.context() as patch:
            patch.setattr(_cuda, "Move", fail)
            with pytest.raises(MemoryError):
                solver.reset_operands(b=other)
        assert solve(solver) == before
        solver.reset_operands(b=other)
        solve(solver)


def test_operands_must_be_on_one_device(gpus):
    a, b = gpus.array((3, 3), "float32"), gpus.array((3,), "float32", device=1)
    with pytest.raises(ValueError, match="not on the same device"):
        DirectSolver(a, b)


def test_the_workspace_comes_from_the_allocator_and_goes_back(gpu):
    class Allocator:
        taken = 0

        def memalloc_async(self, size, stream):
            Allocator.taken += 1
            return gpu.package.buffer(size, int(stream.handle))

    a, b = gpu.array((8, 8), "float32"), gpu.array((8,), "float32")
    with DirectSolver(a, b, {"allocator": Allocator()}) as solver:
        solver.plan()
        for _ in range(3):
            solver.factorize()
            solver.solve()
    assert Allocator.taken == 1
