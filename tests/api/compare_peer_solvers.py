"""Compare the dense and the sparse direct solver with the original as a black box, on a GPU: the same calls in both interpreters.

    python compare_peer_solvers.py --peer /path/to/python [--count 200] [--seed 0]

A case is plain data: kind of matrix, sizes, dtype, layouts, batches, phases. Operands are CuPy's, or of NumPy and SciPy, which both solve
on the GPU. What is compared: shapes, dtypes and strides of solutions, and types of exceptions; values by their residual in extended
precision.
"""

from __future__ import annotations

import random
import sys
from typing import Any

import both
import numpy as np
from both import Case, Relation, attempt, described, same_strides

LIMIT = {"float32": 2e-4, "float64": 1e-11, "complex64": 2e-4, "complex128": 1e-11}


def draw(rng: random.Random) -> Case:
    """A system as data; not all of them are allowed."""
    sparse = rng.random() < 0.5
    n, count = rng.choice((1, 2, 5, 16, 33)), rng.choice((0, 0, 1, 3))  # 0 columns: b is a vector
    batch = () if sparse or rng.random() < 0.5 else rng.choice(((2,), (2, 3)))
    return {
        "sparse": sparse, "n": n, "count": count or (1 if batch else 0), "batch": batch, "dtype": rng.choice(list(LIMIT)),
        "gpu": rng.random() < 0.5, "seed": rng.randrange(1 << 30), "order": rng.choice("FFC"), "matrix_order": rng.choice("CF"),
        "explicit": rng.random() < 0.2, "phases": rng.choice(("once", "planned", "again", "reset")), "type": rng.choice((0, 0, 1, 2, 3, 4)),
        "view": rng.choice((0, 0, 1, 2)), "fault": rng.choice((None,) * 12 + ("length", "dtype", "square", "singular")),
    }  # fmt: skip


def system(case: Case, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A matrix that is positive definite (a symmetric type says so), and a right-hand side."""
    rng = np.random.default_rng(seed)
    n, batch, dtype = case["n"], case["batch"], case["dtype"]
    complex_ = dtype.startswith("complex")

    def drawn(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if complex_ else 0)

    a = drawn(*batch, n, n) * (rng.random((*batch, n, n)) < 0.3 if case["sparse"] else 1)
    if case["sparse"] and case["type"]:
        other = a.swapaxes(-1, -2)
        a = a + (other.conj() if case["type"] in (2, 4) else other)
    a = a + 4 * n * np.eye(n)
    if case["fault"] == "singular":
        a[..., -1, :] = 0
        a[..., :, -1] = 0
    b = drawn(*batch, n, *((case["count"],) if case["count"] else ()))
    if case["fault"] == "length":
        b = drawn(*batch, n + 1, *((case["count"],) if case["count"] else ()))
    if case["fault"] == "square":
        a = a[..., :-1]
    other = {"float32": "float64", "float64": "float32", "complex64": "complex128", "complex128": "complex64"}[dtype]
    return a.astype(dtype), b.astype(other if case["fault"] == "dtype" else dtype)


def ordered(array: np.ndarray, order: str) -> np.ndarray:
    """The array with its last two axes in an order."""
    if order == "C" or array.ndim < 2:
        return np.ascontiguousarray(array)
    return np.ascontiguousarray(array.swapaxes(-1, -2)).swapaxes(-1, -2)


def given(case: Case, seed: int) -> tuple[Any, Any]:
    """The operands as the solver takes them."""
    import scipy.sparse as sp

    a, b = system(case, seed)
    b = ordered(b, case["order"])
    if case["sparse"]:
        part = {0: lambda m: m, 1: np.tril, 2: np.triu}[case["view"] if case["type"] else 0]
        a = sp.csr_array(part(a))
    else:
        a = ordered(a, case["matrix_order"])
    if case["gpu"]:
        import cupy
        import cupyx.scipy.sparse as cs

        b = cupy.array(b, order="K") if b.ndim < 3 else cupy.asarray(b.swapaxes(-1, -2).copy()).swapaxes(-1, -2)
        a = cs.csr_matrix(sp.csr_matrix(a)) if case["sparse"] else cupy.array(a, order="K")
    if case["explicit"]:
        return [a, a], [b, b]
    return a, b


def run(case: Case) -> tuple[Any, ...]:
    """Solve a case in this interpreter: what comes out, or an exception."""
    return attempt(lambda: solution(case))


def solution(case: Case) -> tuple[Any, ...]:
    import nvmath
    from nvmath.linalg import DirectSolver as Dense
    from nvmath.linalg import direct_solver as dense
    from nvmath.sparse.advanced import DirectSolver as Sparse
    from nvmath.sparse.advanced import direct_solver as sparse

    solver, once = (Sparse, sparse) if case["sparse"] else (Dense, dense)
    own = hasattr(nvmath, "plan_cache")
    more: dict[str, Any] = {"execution": "cuda"} if own or case["sparse"] else {}
    if case["sparse"]:
        more["options"] = {
            "sparse_system_type": case["type"],
            "sparse_system_view": case["view"] if case["type"] else 0,
        }
    a, b = given(case, case["seed"])
    if case["phases"] == "once":
        return plain(once(a, b, **more))
    with solver(*(given(case, case["seed"] + 1) if case["phases"] == "reset" else (a, b)), **more) as planned:
        planned.plan()
        if case["phases"] != "reset":
            planned.factorize()
            result = planned.solve()
            if case["phases"] == "again":
                planned.factorize()
                result = planned.solve()
            return plain(result)
        planned.reset_operands(a=a, b=b)
        planned.plan()
        planned.factorize()
        return plain(planned.solve())


def plain(result: Any) -> tuple[Any, ...]:
    """A solution, or several, as NumPy arrays with everything that a caller sees."""
    if isinstance(result, list | tuple):
        return type(result).__name__, *(plain(each) for each in result)
    kind = type(result).__module__.split(".")[0]
    if kind == "cupy":
        import cupy

        steps = tuple(step // result.itemsize for step in result.strides)
        return kind, result.dtype.str, result.shape, steps, cupy.asnumpy(result)
    return kind, *described(result)[1:]


def residual(case: Case, x: np.ndarray) -> float:
    """The largest residual of a solution, relative to its right-hand side."""
    a, b = system(case, case["seed"])
    wide = np.clongdouble if case["dtype"].startswith("complex") else np.longdouble
    vector = x.ndim == 1 + len(case["batch"]) and not case["count"]
    product = np.einsum("...ij,...jk->...ik", a.astype(wide), (x[..., None] if vector else x).astype(wide))
    difference = np.abs((product[..., 0] if vector else product) - b)
    return float(np.max(difference) / np.max(np.abs(b)))


def relate(case: Case, theirs: tuple[Any, ...], mine: tuple[Any, ...]) -> Relation:
    """Name the relation of two outcomes: (name, whether it keeps the promises, details)."""
    kind = "sparse" if case["sparse"] else "dense"
    singular = case["fault"] == "singular"
    if singular and mine[0] == "ok":
        return f"{kind}: ours calls a singular system solved", False, ""
    if singular and theirs[0] == "ok":
        return f"{kind}: the original calls a singular system solved", True, ""
    if theirs[0] == mine[0] == "error" and theirs[1] != mine[1] and theirs[1] not in mine[2]:
        return f"{kind}: the original by {theirs[1]}, ours by {mine[1]}", singular, f"{theirs[3]} / {mine[3]}"
    if theirs[0] == "ok" != mine[0] and "is for real matrices" in mine[3]:
        return "sparse: the original takes SPD for complex matrices, ours asks for HPD", True, ""
    relation = both.relate_errors(theirs, mine)
    if relation:
        return f"{kind}: {relation[0]}", relation[1] or singular, relation[2]
    return relate_solutions(case, kind, theirs[1], mine[1])


def relate_solutions(case: Case, kind: str, theirs: tuple[Any, ...], mine: tuple[Any, ...]) -> Relation:
    if case["explicit"]:
        if theirs[0] != mine[0] or len(theirs) != len(mine):
            return f"{kind}: another sequence", False, f"{theirs[0]} / {mine[0]}"
        relations = [relate_one(case, kind, one, other) for one, other in zip(theirs[1:], mine[1:], strict=True)]
        return next((each for each in relations if not each[1]), relations[0])
    return relate_one(case, kind, theirs, mine)


def relate_one(case: Case, kind: str, theirs: tuple[Any, ...], mine: tuple[Any, ...]) -> Relation:
    if theirs[:3] != mine[:3]:
        return f"{kind}: another package, dtype or shape", False, f"{theirs[:3]} / {mine[:3]}"
    if residual(case, mine[4]) > LIMIT[case["dtype"]]:
        return f"{kind}: ours is wrong", False, f"residual {residual(case, mine[4]):.1e}"
    if residual(case, theirs[4]) > LIMIT[case["dtype"]]:
        return f"{kind}: the original is wrong", True, ""
    if not same_strides(theirs, mine):
        as_b = kind == "dense" and same_strides(described(ordered(np.empty(mine[2]), case["order"])), mine)
        text = "the original's solution is by columns, ours as b" if as_b else "other strides"
        return f"{kind}: {text}", as_b, f"{theirs[3]} / {mine[3]}"
    return f"{kind}: equal", True, ""


if __name__ == "__main__":
    sys.exit(both.command(__file__, __doc__, 200, both.drawn(draw), run, relate))
