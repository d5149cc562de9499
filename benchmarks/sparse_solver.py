"""Sparse direct solvers: from matrix to solution, and with the factors kept, on the CPU and, if there is one, on a GPU.

pypardiso, scipy.sparse.linalg.spsolve and cupyx.scipy.sparse.linalg.spsolve take part where they are installed; "PARDISO alone" is the
solve phase of MKL without anything around it. Results are compared before times are.

The rows of the CPU need MKL. spsolve takes most of a minute for the cube, so there it takes part from --seconds 10 on.

    python -m benchmarks.sparse_solver [--json FILE] [--markdown FILE] [--plot FILE] [--seconds S]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve

import nvmath
from nvmath.bindings import mkl_pardiso
from nvmath.sparse.advanced import DirectSolver, DirectSolverMatrixType, direct_solver

from .harness import Case, Contenders, arguments, measure, report
from .peers import gpu_cupy, gpu_torch, peer

SPD = {"sparse_system_type": DirectSolverMatrixType.SPD}


def poisson(*sides: int) -> sp.csr_array:
    """Second differences on a grid."""
    made = sp.csr_array((1, 1))
    for n in sides:
        line = sp.diags_array([np.full(n - 1, -1.0), np.full(n, 2.0), np.full(n - 1, -1.0)], offsets=[-1, 0, 1])
        made = sp.csr_array(sp.kron(made, sp.eye_array(n)) + sp.kron(sp.eye_array(made.shape[0]), line))
    made.sort_indices()
    return made


def small(n: int) -> sp.csr_array:
    """A random matrix with a strong diagonal."""
    return sp.csr_array(sp.random_array((n, n), density=3 / n, rng=np.random.default_rng(0)) + 5 * sp.eye_array(n))


CPU = {
    "Poisson 2-D 500 x 500": poisson(500, 500), "Poisson 3-D 40 x 40 x 40": poisson(40, 40, 40), "random, n = 10": small(10),
    "random, n = 100": small(100), "random, n = 1000": small(1000),
}  # fmt: skip
GPU = {"Poisson 2-D 1000 x 1000": poisson(1000, 1000), "Poisson 2-D 100 x 100": poisson(100, 100)}


def fresh(function: Callable[[], Any]) -> Callable[[], Any]:
    """A call for a pattern that was never seen."""

    def call() -> Any:
        nvmath.plan_cache.clear()
        return function()

    return call


def from_matrix(a: sp.csr_array, b: np.ndarray, *, slow: bool) -> Contenders:
    """Everything from the matrix to the solution; `slow` lets those take part that need a minute."""
    found: Contenders = {
        "nvmath": fresh(lambda: direct_solver(a, b, execution="cpu")),
        "nvmath, SPD": fresh(lambda: direct_solver(a, b, options=SPD, execution="cpu")),
        "nvmath, pattern known": lambda: direct_solver(a, b, execution="cpu"),
        "scipy spsolve": lambda: spsolve(a, b),
    }
    if (a != a.T).nnz:
        del found["nvmath, SPD"]
    if not slow and a.shape[0] == 40**3:
        del found["scipy spsolve"]
    pypardiso = peer("pypardiso")
    if pypardiso is not None:

        def solve() -> Any:
            solver = pypardiso.PyPardisoSolver()
            x = solver.solve(sp.csr_matrix(a), b)
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


def on_gpu(a: sp.csr_array, b: np.ndarray) -> Contenders:
    """Everything from the matrix to the solution, operands on the GPU; the waiting is part of it."""
    torch, cupy = gpu_torch(), gpu_cupy()
    found: Contenders = {}
    if torch is not None:
        arrays = (torch.from_numpy(array).cuda() for array in (a.indptr, a.indices, a.data))
        matrix = torch.sparse_csr_tensor(*arrays, size=a.shape, check_invariants=False)
        right, options = torch.from_numpy(b).cuda(), {"blocking": True}
        found["nvmath"] = fresh(lambda: direct_solver(matrix, right, options=options))
        found["nvmath, SPD"] = fresh(lambda: direct_solver(matrix, right, options=SPD | options))
        found["nvmath, pattern known"] = lambda: direct_solver(matrix, right, options=options)
    if cupy is not None and a.shape[0] <= 10_000:
        from cupyx.scipy.sparse import csr_matrix
        from cupyx.scipy.sparse.linalg import spsolve as cupy_spsolve

        other, side = csr_matrix(sp.csr_matrix(a)), cupy.asarray(b)
        found["cupyx spsolve"] = lambda: (cupy_spsolve(other, side), cupy.cuda.Device().synchronize())[0]
    return found


def host_overhead(a: sp.csr_array, b: np.ndarray) -> tuple[Contenders, DirectSolver] | None:
    """A solution that is not waited for, beside the call of cuDSS in it."""
    torch = gpu_torch()
    if torch is None:
        return None
    arrays = (torch.from_numpy(array).cuda() for array in (a.indptr, a.indices, a.data))
    solver = DirectSolver(
        torch.sparse_csr_tensor(*arrays, size=a.shape, check_invariants=False), torch.from_numpy(b).cuda()
    )
    solver.plan()
    solver.factorize()
    x = solver.solve()
    plan, (*_, right) = solver._plan_object.plans[0], solver._ptrs
    system = plan._system
    return {
        "nvmath": solver.solve,
        "cuDSS alone": lambda: (system.solve(0, (x.data_ptr(), b.size), (right, b.size), 1), x)[1],
    }, solver


def check(name: str, a: sp.csr_array, b: np.ndarray, found: Contenders) -> None:
    """Every contender solves the system."""
    for contender, function in found.items():
        x = function()
        x = x.get() if hasattr(x, "get") else x.cpu().numpy() if hasattr(x, "cpu") else np.asarray(x)
        if not np.linalg.norm(a @ x - b) <= 1e-8 * np.linalg.norm(b):
            raise AssertionError(f"{name}: {contender} is wrong")


def cases(seconds: float) -> list[Case]:
    """Measure all rows."""
    done = []

    def row(name: str, a: sp.csr_array, b: np.ndarray, found: Contenders) -> None:
        check(name, a, b, found)
        done.append(measure(name, found, "nvmath", seconds=seconds))

    for name, a in CPU.items() if mkl_pardiso.present() else ():
        b = a @ np.random.default_rng(0).standard_normal(a.shape[0])
        row(f"CPU {name}, from the matrix", a, b, from_matrix(a, b, slow=seconds >= 10))
        with DirectSolver(a, b, execution="cpu") as solver:
            row(f"CPU {name}, factors kept", a, b, kept(solver, a, b))
    for name, a in GPU.items():
        b = a @ np.random.default_rng(0).standard_normal(a.shape[0])
        found = on_gpu(a, b)
        if found:
            row(f"GPU {name}, from the matrix", a, b, found)
        again = host_overhead(a, b)
        if again is not None:
            row(f"GPU {name}, factors kept, not waited for", a, b, again[0])
            again[1].free()
    return done


if __name__ == "__main__":
    asked = arguments(__doc__)
    report("Sparse direct solvers", cases(asked.seconds), asked)
