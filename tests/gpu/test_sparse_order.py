"""Sparse solvers on a GPU without waiting: calls on several streams, memory that is dropped while it is used, captures."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
from on_cudss import NEEDS_CUDSS
from sparse_cases import poisson_2d

from nvmath._core import place
from nvmath.bindings import cudss
from nvmath.sparse.advanced import DirectSolver, direct_solver

pytestmark = NEEDS_CUDSS
SIDE = 200


class System:
    """A system that takes a while, entries in order or not, and its right-hand sides with their solutions."""

    def __init__(self, cupy: Any, form: str) -> None:
        sparse = pytest.importorskip("cupyx.scipy.sparse", reason="CuPy is not installed")
        self.cupy, a = cupy, poisson_2d(SIDE)
        data, rows = cupy.asarray(a.data), cupy.asarray(a.tocoo().row)
        arrays = (data, cupy.asarray(a.indices), cupy.asarray(a.indptr))
        if form == "csr":
            self.a = sparse.csr_matrix(arrays, shape=a.shape)
        else:
            order = cupy.asarray(np.random.default_rng(0).permutation(a.nnz))
            self.a = sparse.coo_matrix((data[order], (rows[order], arrays[1][order])), shape=a.shape)
        self.n, self.host = a.shape[0], a
        self.exact = {columns: cupy.random.default_rng(columns).random((self.n, columns)) for columns in (1, 2, 7)}
        matrix = sparse.csr_matrix(arrays, shape=a.shape)
        self.b = {columns: cupy.asfortranarray(matrix @ exact) for columns, exact in self.exact.items()}
        self.streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(2)]
        cupy.cuda.Device().synchronize()

    def error(self, x: Any) -> float:
        self.cupy.cuda.Device().synchronize()
        return float(abs(x - self.exact[x.shape[1]]).max())


@pytest.mark.parametrize("form", ["csr", "coo"])
@pytest.mark.parametrize("trans", ["N", "T"])  # the matrix is symmetric, but the solver does not know
def test_solutions_on_two_streams(cupy: Any, form: str, trans: str) -> None:
    system = System(cupy, form)
    with DirectSolver(system.a, system.b[2], stream=system.streams[0]) as solver:
        solver.plan(stream=system.streams[0])
        solver.factorize(stream=system.streams[0])
        found = []
        for turn in range(20):
            columns = (1, 2, 7)[turn % 3]
            solver.reset_operands(b=system.b[columns])
            found.append(solver.solve(trans=trans, stream=system.streams[turn % 2]))
        assert max(map(system.error, found)) <= 1e-8
        assert solver.factorization_info.residual <= 1e-10


@pytest.mark.parametrize("form", ["csr", "coo"])
@pytest.mark.parametrize("trans", ["N", "T"])
@pytest.mark.parametrize("mixed", [False, True])
def test_solutions_on_the_default_stream_and_others(cupy: Any, form: str, trans: str, mixed: bool) -> None:
    system = System(cupy, form)
    default = cupy.cuda.Stream.null
    streams = (default, *system.streams) if mixed else (default,)
    with DirectSolver(system.a, system.b[2]) as solver:
        solver.plan()
        solver.factorize()
        found = []
        for turn in range(20):
            columns = (1, 2, 7)[turn % 3]
            solver.reset_operands(b=system.b[columns])
            found.append(solver.solve(trans=trans, stream=streams[turn * 2 % len(streams)]))
        assert max(map(system.error, found)) <= 1e-8
        assert solver.factorization_info.residual <= 1e-10


def test_what_is_added_on_the_default_stream_is_solved_for(cupy: Any) -> None:
    """No event orders such calls: the right-hand side is changed while solutions are under way, and all are told apart."""
    system = System(cupy, "csr")
    b = system.b[1].copy()
    with DirectSolver(system.a, b) as solver:
        solver.plan()
        solver.factorize()
        found = []
        for _ in range(10):
            found.append(solver.solve())
            b *= 2
        for turn, x in enumerate(found):
            assert system.error(x / 2**turn) <= 1e-8


def test_the_capture_of_a_stream_that_waits_for_the_default_stream_is_not_broken(cupy: Any) -> None:
    system = System(cupy, "csr")
    stream = cupy.cuda.Stream(non_blocking=False)
    counter = cupy.zeros(1)
    counter += 0
    gone = DirectSolver(system.a, system.b[2])
    for call in (gone.plan, gone.factorize, gone.solve):
        call()
    with DirectSolver(system.a, system.b[2]) as solver:
        solver.plan()
        solver.factorize()
        solver.solve()
        cupy.cuda.Device().synchronize()
        with stream:
            stream.begin_capture(cupy.cuda.runtime.streamCaptureModeRelaxed)
            with pytest.raises(RuntimeError, match=r"CUDA graph.*sparse solver"):
                solver.solve(stream=cupy.cuda.Stream.null)
            meanwhile = solver.solve(stream=system.streams[0])  # which the captured stream does not wait for
            gone.free()
            place.reap()
            counter += 1
            graph = stream.end_capture()
            graph.launch(stream)
        stream.synchronize()
        assert counter[0] == 1
        assert system.error(meanwhile) <= 1e-8
        assert system.error(solver.solve()) <= 1e-8


@pytest.mark.parametrize("form", ["csr", "coo"])
@pytest.mark.parametrize("end", ["plan", "free", "forget"])
def test_what_a_solution_uses_is_not_dropped(cupy: Any, form: str, end: str) -> None:
    system = System(cupy, form)
    one, other = system.streams
    for _ in range(5):
        solver: Any = DirectSolver(system.a, system.b[7], stream=one)
        solver.plan(stream=one)
        solver.factorize(stream=one)
        x = solver.solve(stream=other)
        if end == "plan":
            solver.plan(stream=one)
        elif end == "free":
            solver.free()
        solver = None
        gc.collect()
        place.reap()
        with one:  # whoever takes memory now gets what was dropped
            waste = [cupy.full(system.n * 8, np.nan) for _ in range(4)]
        assert system.error(x) <= 1e-8
        del waste


def test_information_after_the_stream_of_the_solution_was_destroyed(cupy: Any) -> None:
    system = System(cupy, "csr")
    with DirectSolver(system.a, system.b[1]) as solver:
        solver.plan()
        info = solver.factorize()
        stream = cupy.cuda.Stream(non_blocking=True)
        x = solver.solve(stream=stream)
        del stream
        gc.collect()
        assert info.residual <= 1e-10
        assert info.lu_nnz >= system.a.nnz
        assert system.error(x) <= 1e-8


def test_a_handle_of_the_caller_that_is_set_to_another_stream(cupy: Any) -> None:
    system = System(cupy, "csr")
    one, other = system.streams
    handle = cudss.create()
    try:
        with DirectSolver(system.a, system.b[2], options={"handle": handle}, stream=one) as solver:
            for call in (solver.plan, solver.factorize, solver.solve, solver.solve):
                cudss.set_stream(handle, other.ptr)
                x = call(stream=one)
            one.synchronize()
            assert float(abs(x - system.exact[2]).max()) <= 1e-8
        place.reap()
    finally:
        cudss.destroy(handle)


def test_captures_are_refused_and_not_broken(cupy: Any) -> None:
    system = System(cupy, "csr")
    stream = system.streams[0]
    counter = cupy.zeros(1)
    counter += 0  # a kernel cannot be compiled in a capture
    cupy.cuda.Device().synchronize()
    direct_solver(system.a, system.b[2], stream=stream)
    with DirectSolver(system.a, system.b[2], stream=stream) as solver:
        solver.plan(stream=stream)
        solver.factorize(stream=stream)
        solver.solve(stream=stream)
        stream.synchronize()
        with stream:
            stream.begin_capture()
            for call in (
                solver.plan,
                solver.factorize,
                solver.solve,
                lambda: solver.reset_operands(a=system.a),
                lambda: direct_solver(system.a, system.b[2]),
            ):
                with pytest.raises(RuntimeError, match=r"CUDA graph.*sparse solver"):
                    call()
            counter += 1
            graph = stream.end_capture()
            graph.launch(stream)
        stream.synchronize()
        assert counter[0] == 1
        assert system.error(solver.solve(stream=stream)) <= 1e-8
