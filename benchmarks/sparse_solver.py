"""Sparse direct solvers: from matrix to solution, and with the factors kept, on the CPU and, if there is one, on a GPU.

pypardiso, scipy.sparse.linalg.spsolve and cupyx.scipy.sparse.linalg.spsolve take part where they are installed; "PARDISO alone" and
"cuDSS alone" are the solve phases without anything around them. Results are compared before times are.

The rows of the CPU need MKL. What takes long runs in fewer rounds, at least three: spsolve takes half a minute for the cube.

    python -m benchmarks.sparse_solver [--only cpu|gpu] [--json FILE] [--markdown FILE] [--plot FILE] [--seconds S]
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve

import nvmath
from nvmath.bindings import mkl_pardiso
from nvmath.sparse.advanced import DirectSolver, direct_solver

from .harness import Case, Clock, Contenders, arguments, measure, report, wall
from .peers import gpu_cupy, gpu_torch, peer

SPD = {"sparse_system_type": "SPD"}
LONG = 0.2
"""Seconds from which on rounds are counted for each contender: as many calls as fit in twice the time of a case, within limits."""
FEW, MANY = 3, 12


def poisson(*sides: int) -> sp.csr_array:
    """Second differences on a grid."""
    made = sp.csr_array((1, 1))
    for n in sides:
        line = sp.diags_array([np.full(n - 1, -1.0), np.full(n, 2.0), np.full(n - 1, -1.0)], offsets=[-1, 0, 1])
        made = sp.csr_array(sp.kron(made, sp.eye_array(n)) + sp.kron(sp.eye_array(made.shape[0]), line))
    made.sort_indices()
    return made


def convection(n: int) -> sp.csr_array:
    """Second differences in the plane, and a flow: not symmetric."""
    flow = sp.diags_array([np.full(n - 1, -0.5), np.full(n, 0.5)], offsets=[-1, 0])
    return sp.csr_array(poisson(n, n) + sp.kron(flow, sp.eye_array(n)))


def small(n: int) -> sp.csr_array:
    """A random matrix with a strong diagonal."""
    return sp.csr_array(sp.random_array((n, n), density=3 / n, rng=np.random.default_rng(0)) + 5 * sp.eye_array(n))


CPU = {
    "Poisson 2-D 500 x 500": poisson(500, 500), "Poisson 3-D 40 x 40 x 40": poisson(40, 40, 40),
    "convection 2-D 500 x 500": convection(500), "random, n = 10": small(10), "random, n = 100": small(100),
    "random, n = 1000": small(1000),
}  # fmt: skip
GPU = {"Poisson 2-D 1000 x 1000": poisson(1000, 1000), "Poisson 2-D 100 x 100": poisson(100, 100)}
BATCHES = ((10, 1000), (32, 64))
"""Side of the grid, and number of systems."""


def fresh(function: Callable[[], Any]) -> Callable[[], Any]:
    """A call for a pattern that was never seen."""

    def call() -> Any:
        nvmath.plan_cache.clear()
        return function()

    return call


def again(solver: DirectSolver) -> Callable[[], Any]:
    """The same pattern, new values."""
    solver.plan()

    def call() -> Any:
        solver.factorize()
        return solver.solve()

    return call


# --- the CPU --------------------------------------------------------------------------------------------------------------------------


def from_matrix(a: sp.csr_array, b: np.ndarray) -> Contenders:
    """Everything from the matrix to the solution."""
    found: Contenders = {
        "nvmath": fresh(lambda: direct_solver(a, b, execution="cpu")),
        "nvmath, SPD": fresh(lambda: direct_solver(a, b, options=SPD, execution="cpu")),
        "scipy spsolve": lambda: spsolve(a, b),
    }
    if (a != a.T).nnz:
        del found["nvmath, SPD"]
    pypardiso = peer("pypardiso")
    if pypardiso is not None:
        solver, matrix = pypardiso.PyPardisoSolver(), sp.csr_matrix(a)  # it searches the disk for MKL: 0.3 s

        def solve() -> Any:
            x = solver.solve(matrix, b)
            solver.free_memory(everything=True)
            return x

        found["pypardiso"] = solve
    return found


def kept(solver: DirectSolver, a: sp.csr_array, b: np.ndarray) -> Contenders:
    """One more solution with the factors at hand."""
    solver.plan()
    solver.factorize()
    found: Contenders = {"nvmath": solver.solve}
    if mkl_pardiso.present():
        engine, x = solver._plan_object.plans[0]._engine, np.empty((1, b.size))
        found["PARDISO alone"] = lambda: (engine.solve(a.data, b[None], x, 0, "N"), x[0])[1]
    pypardiso = peer("pypardiso")
    if pypardiso is not None:
        other, matrix = pypardiso.PyPardisoSolver(), sp.csr_matrix(a)
        other.factorize(matrix)
        found["pypardiso"] = lambda: other.solve(matrix, b)
    return found


def on_cpu(seconds: float) -> Iterator[Case]:
    """All rows of the CPU."""
    for name, a in CPU.items() if mkl_pardiso.present() else ():
        b = right_side(a)
        yield row(f"CPU {name}, from the matrix", a, b, from_matrix(a, b), seconds)
        with DirectSolver(a, b, execution="cpu") as solver:
            known = {"nvmath": again(solver), "nvmath, one call": lambda a=a, b=b: direct_solver(a, b, execution="cpu")}
            yield row(f"CPU {name}, pattern known", a, b, known, seconds)
            yield row(f"CPU {name}, factors kept", a, b, kept(solver, a, b), seconds)


# --- a GPU ----------------------------------------------------------------------------------------------------------------------------


def on_gpu(seconds: float) -> Iterator[Case]:
    """All rows of a GPU: operands there; waiting is part of it unless the row says otherwise."""
    torch = gpu_torch()
    for name, a in GPU.items() if torch is not None else ():
        b = right_side(a)
        arrays = (torch.from_numpy(array).cuda() for array in (a.indptr, a.indices, a.data))
        operands = torch.sparse_csr_tensor(*arrays, size=a.shape, check_invariants=False), torch.from_numpy(b).cuda()
        yield row(f"GPU {name}, from the matrix", a, b, from_matrix_on_gpu(a, b, operands), seconds)
        with DirectSolver(*operands, options={"blocking": True}) as solver:
            yield row(f"GPU {name}, pattern known", a, b, {"nvmath": again(solver)}, seconds)
            yield row(
                f"GPU {name}, factors kept",
                a,
                b,
                {"nvmath": solver.solve, "cuDSS alone": alone(solver, wait=True)},
                seconds,
            )
        with DirectSolver(*operands) as solver:
            again(solver)()
            queued = {"nvmath": solver.solve, "cuDSS alone": alone(solver, wait=False)}
            yield row(f"GPU {name}, factors kept, host time of a call", a, b, queued, seconds, clock=queueing)
    yield from batches_on_gpu(torch, seconds)


def from_matrix_on_gpu(a: sp.csr_array, b: np.ndarray, operands: tuple[Any, Any]) -> Contenders:
    """Everything from the matrix to the solution."""
    options, cupy = {"blocking": True}, gpu_cupy()
    found: Contenders = {
        "nvmath": fresh(lambda: direct_solver(*operands, options=options)),
        "nvmath, SPD": fresh(lambda: direct_solver(*operands, options=SPD | options)),
    }
    if cupy is not None and a.shape[0] <= 10_000:
        from cupyx.scipy.sparse import csr_matrix
        from cupyx.scipy.sparse.linalg import spsolve as cupy_spsolve

        other, side = csr_matrix(sp.csr_matrix(a)), cupy.asarray(b)
        found["cupyx spsolve"] = lambda: (cupy_spsolve(other, side), cupy.cuda.Device().synchronize())[0]
    return found


def alone(solver: DirectSolver, *, wait: bool) -> Callable[[], Any]:
    """The solve phase of cuDSS, on the stream of the solver."""
    x = solver.solve()
    plan, (*_, right) = solver._plan_object.plans[0], solver._ptrs
    system = plan._system

    def call() -> Any:
        system.solve((x.data_ptr(), x.numel()), (right, x.numel()), 1)
        if wait:
            plan.place.wait(system.lease.order.stream)
        return x

    return call


def queueing(function: Callable[[], Any], count: int) -> float:
    """Time that passes for the caller until the work is queued; the queue must not be full."""
    seconds = 0.0
    for _ in range(count):
        seconds += wall(function, 1)
        gpu_torch().cuda.synchronize()
    return seconds


def batches_on_gpu(torch: Any, seconds: float) -> Iterator[Case]:
    """Many small systems of one pattern, at once and one by one."""
    for side, count in BATCHES if torch is not None else ():
        a = poisson(side, side)
        n = a.shape[0]
        many = sp.block_diag([a] * count, format="csr")
        b = right_side(many)
        values = torch.from_numpy(np.tile(a.data, (count, 1))).cuda()
        rows, columns = (
            torch.from_numpy(array).cuda().expand(count, -1).contiguous() for array in (a.indptr, a.indices)
        )
        stack = torch.sparse_csr_tensor(rows, columns, values, size=(count, n, n), check_invariants=False)
        sides, options = torch.from_numpy(b).cuda().view(count, n, 1), {"blocking": True}
        with ExitStack() as stack_of, DirectSolver(stack, sides, options=options) as solver:
            singles = []
            for i in range(min(count, 16)):
                parts = (torch.from_numpy(array).cuda() for array in (a.indptr, a.indices, a.data))
                one = torch.sparse_csr_tensor(*parts, size=(n, n), check_invariants=False)
                singles.append(again(stack_of.enter_context(DirectSolver(one, sides[i, :, 0], options=options))))
            found: Contenders = {"nvmath": again(solver)}
            check(f"a batch of {count}", many, b, found)
            found[f"{len(singles)} of {count}, one by one"] = lambda singles=singles: [solve() for solve in singles]
            yield measured(f"GPU {count} x Poisson 2-D {side} x {side}, pattern known", found, seconds, {})


# --- rows -----------------------------------------------------------------------------------------------------------------------------


def right_side(a: sp.csr_array) -> np.ndarray:
    """One with a known solution."""
    return a @ np.random.default_rng(0).standard_normal(a.shape[0])


def check(name: str, a: sp.csr_array, b: np.ndarray, found: Contenders) -> dict[str, float]:
    """Every contender solves the system; return the seconds of each."""
    took = {}
    for contender, function in found.items():
        begin = time.perf_counter()
        x = function()
        took[contender] = time.perf_counter() - begin
        if hasattr(x, "cpu") and x.is_cuda:  # it may be under way on a stream that nobody waits for
            gpu_torch().cuda.synchronize()
        x = x.get() if hasattr(x, "get") else x.cpu().numpy() if hasattr(x, "cpu") else np.asarray(x)
        if not np.linalg.norm(a @ x.ravel() - b) <= 1e-8 * np.linalg.norm(b):
            raise AssertionError(f"{name}: {contender} is wrong")
    return took


def measured(name: str, found: Contenders, seconds: float, took: dict[str, float], clock: Clock = wall) -> Case:
    """Measure a row; each contender has run before, for the seconds given."""
    if max(took.values(), default=0.0) < LONG:
        return measure(name, found, "nvmath", seconds=seconds, clock=clock, most=16 if clock is queueing else 10_000)
    counts = {contender: max(FEW, min(MANY, int(2 * seconds / once))) for contender, once in took.items()}
    counts["nvmath"] = max(counts.values())
    rounds: dict[str, list[float]] = {contender: [] for contender in found}
    for round_ in range(counts["nvmath"]):
        for contender, function in found.items():
            if round_ < counts[contender]:
                rounds[contender].append(clock(function, 1))
    return Case(name, "nvmath", rounds)


def row(name: str, a: sp.csr_array, b: np.ndarray, found: Contenders, seconds: float, clock: Clock = wall) -> Case:
    """Check the contenders and measure them."""
    return measured(name, found, seconds, check(name, a, b, found), clock)


if __name__ == "__main__":
    asked = arguments(__doc__, places=True)
    places = {"cpu": on_cpu, "gpu": on_gpu}
    cases = [case for place, rows in places.items() if asked.only in (None, place) for case in rows(asked.seconds)]
    report("Sparse direct solvers", cases, asked)
