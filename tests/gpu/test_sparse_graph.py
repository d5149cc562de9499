"""Solutions that come back are queued as a CUDA graph: they are those that cuDSS gives, whatever is changed in between."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from on_cudss import NEEDS_CUDSS
from sparse_cases import poisson_2d

from nvmath.bindings import _cuda, _load, cudss
from nvmath.sparse.advanced import DirectSolver, _cudss_graph

pytestmark = NEEDS_CUDSS
CAPTURES = _load.find_library("cudss") is not None and cudss.get_property(0) == 0
"""Whether every solution of this cuDSS can be captured: 1.0 waits in some of them."""
TYPES = {"float32": 2e-3, "float64": 1e-10, "complex64": 2e-3, "complex128": 1e-10}


@pytest.fixture
def launched() -> Iterator[list[int]]:
    """The streams on which graphs have been launched."""
    streams: list[int] = []

    class Driver:
        def __getattr__(self, name: str) -> Any:
            return getattr(_cuda, name)

        @staticmethod
        def graph_launch(executable: int, stream: int) -> None:
            streams.append(stream)
            _cuda.graph_launch(executable, stream)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_cudss_graph, "driver", Driver())
        yield streams


class System:
    """A system in GPU memory whose values may be changed, with the solutions by SciPy's product."""

    def __init__(self, cupy: Any, name: str, form: str = "csr", columns: int = 1, side: int = 30) -> None:
        sparse = pytest.importorskip("cupyx.scipy.sparse", reason="CuPy is not installed")
        self.cupy, host = cupy, sp.csr_matrix(poisson_2d(side)).astype(name)
        host.setdiag(host.diagonal() + 0.5)
        if name.startswith("complex"):
            host.data *= 1 + 0.25j
        self.a = sparse.csr_matrix(host) if form == "csr" else sparse.csr_matrix(host).asformat(form)
        self.rng = np.random.default_rng(0)
        shape = (host.shape[0], columns) if columns > 1 else host.shape[0]
        self.b = cupy.asarray(np.asfortranarray(self.numbers(shape, name)), order="F")
        self.limit = TYPES[name]

    def numbers(self, shape: Any, name: str) -> np.ndarray:
        made = self.rng.standard_normal(shape)
        return (made + 1j * self.rng.standard_normal(shape) if name.startswith("complex") else made).astype(name)

    def error(self, x: Any) -> float:
        self.cupy.cuda.Device().synchronize()
        left = (self.a @ x) - self.b
        return float(abs(left).max() / abs(self.b).max())


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("form", ["csr", "coo", "csc"])
@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("blocking", [False, True])
def test_right_hand_sides_that_change_in_place(
    cupy: Any, launched: list[int], name: str, form: str, columns: int, blocking: bool
) -> None:
    system = System(cupy, name, form, columns)
    with DirectSolver(system.a, system.b, options={"blocking": True if blocking else "auto"}) as solver:
        solver.plan()
        solver.factorize()
        for _ in range(8):
            system.b *= -1.5
            x = solver.solve()
            assert system.error(x) <= system.limit
            del x  # its memory comes again
        assert solver.factorization_info.residual <= system.limit
    assert len(launched) >= 4 * CAPTURES


@pytest.mark.parametrize("kind", ["general", "symmetric", "spd"])
@pytest.mark.parametrize("side", [3, 30, 200])
def test_everything_may_change_in_between(cupy: Any, launched: list[int], kind: str, side: int) -> None:
    system = System(cupy, "float64", side=side)
    wide = cupy.asfortranarray(cupy.random.default_rng(0).random((system.b.size, 5)))
    with DirectSolver(system.a, system.b, options={"sparse_system_type": kind}) as solver:
        solver.plan()
        solver.factorize()

        def several() -> None:
            for _ in range(4):
                x = solver.solve()
                assert system.error(x) <= 1e-10
                del x

        several()
        system.a.data *= 3
        solver.factorize()
        several()
        solver.solution_config.ir_num_steps = 2
        several()
        one = system.b
        solver.reset_operands(b=wide)
        system.b = wide
        several()
        system.b = one
        solver.reset_operands(b=one)
        several()
        solver.plan()
        solver.factorize()
        several()
    assert len(launched) >= 6 * CAPTURES


def test_values_that_changed_without_a_factorization(cupy: Any, launched: list[int]) -> None:
    system = System(cupy, "float64")
    with DirectSolver(system.a, system.b, options={"blocking": True}) as solver:
        solver.plan()
        solver.factorize()
        for turn in range(8):
            if turn == 5:
                system.a.data *= 2
            x = solver.solve()
            assert system.error(x) <= 1e-10
            del x
    assert len(launched) >= 3 * CAPTURES


@pytest.mark.parametrize("order", ["0011220012", "0120120120", "1112220001"])
def test_streams_that_take_turns(cupy: Any, launched: list[int], order: str) -> None:
    system = System(cupy, "float64", side=200)
    streams = [cupy.cuda.Stream.null, *(cupy.cuda.Stream(non_blocking=True) for _ in range(2))]
    with DirectSolver(system.a, system.b) as solver:
        solver.plan()
        solver.factorize()
        exact, found = solver.solve(), cupy.empty((30, system.b.size))
        done = cupy.cuda.Stream.null.record()
        for turn, number in enumerate(order * 3):
            with streams[int(number)] as stream:
                stream.wait_event(done)
                system.b *= -1.25
                found[turn] = solver.solve(stream=stream)
                done = stream.record()
        cupy.cuda.Device().synchronize()
        for turn in range(30):
            scale = (-1.25) ** (turn + 1)
            assert float(abs(found[turn] / scale - exact).max()) <= 1e-9 * float(abs(exact).max())
    assert len(launched) >= 6 * CAPTURES


def test_many_solutions_without_waiting(cupy: Any, launched: list[int]) -> None:
    """A time step after the other: each right-hand side is the solution before."""
    system = System(cupy, "float64", side=100)
    steps = 50
    host = system.a.get()
    b = system.b.copy()
    with DirectSolver(system.a, b) as solver:
        solver.plan()
        solver.factorize()
        for _ in range(steps):
            b[...] = solver.solve()
        cupy.cuda.Device().synchronize()
    lu = sp.linalg.splu(sp.csc_matrix(host))
    known = system.b.get()
    for _ in range(steps):
        known = lu.solve(known)
    assert np.abs(b.get() - known).max() <= 1e-9 * np.abs(known).max()
    assert len(launched) >= steps // 2 * CAPTURES
