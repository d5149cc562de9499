"""Compare generic products with the original as a black box: the same calls in both interpreters, NumPy operands, CPU execution.

    python compare_peer_generic.py --peer /path/to/python [--count 3000] [--seed 0]

A case is plain data. What is compared: values, strides, dtypes, in-placeness, types of exceptions. Where values differ, the dense
product in extended precision decides who is right. The outcome is a table of how often each relation came up; relations that
break a promise are listed, and the exit status is 1.
"""

from __future__ import annotations

import collections
import random
import sys
from typing import Any

import both
import numpy as np
from both import Case, attempt, described, same_strides

EXTENTS = (1, 1, 2, 3, 4, 5, 8)
BATCHES = ((), (), (), (3,), (2, 3), (1,), (2, 1))
KINDS = ("ge", "ge", "ge", "ge", "ge", "sy", "sy", "he", "he", "tr", "dg")


# --- cases ------------------------------------------------------------------------------------------------------------


def draw_layout(rng: random.Random, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides that the original often accepts: batches outside, rows or columns contiguous, sometimes gaps; rarely others."""
    order = list(range(len(shape)))[::-1]
    if len(shape) > 1 and rng.random() < 0.4:
        order[0], order[1] = order[1], order[0]
    if rng.random() < 0.05:
        rng.shuffle(order)
    strides, step = [0] * len(shape), 2 if rng.random() < 0.03 else 1
    for position, axis in enumerate(order):
        strides[axis] = step
        step = step * shape[axis] + (rng.choice([0, 0, 1, 3]) if position else 0)
    if shape and rng.random() < 0.03:
        axis = rng.randrange(len(shape))
        strides[axis] = rng.choice([-strides[axis], 0])
    return tuple(strides)


def draw_array(rng: random.Random, shape: tuple[int, ...], dtype: str) -> dict[str, Any]:
    return {"shape": shape, "strides": draw_layout(rng, shape), "dtype": dtype, "seed": rng.randrange(1 << 30)}


def draw_qualifier(rng: random.Random, kind: str) -> dict[str, Any]:
    made: dict[str, Any] = {"kind": kind}
    if rng.random() < 0.2:
        made["conjugate"] = True
    if kind in ("sy", "he", "tr"):
        made["uplo"] = rng.randrange(2)
    if kind == "tr":
        made["diag"] = rng.randrange(2)
    if kind == "dg":
        made["incx"] = rng.choice([1, -1])
    return made


def draw(rng: random.Random) -> Case:
    """One product: by a call, by an object, after a reset, or as an entry of sequences."""
    dtype = rng.choice(["float32", "float64", "complex64", "complex128"])
    kinds = ["ge", "ge"]
    if rng.random() < 0.45:
        kinds[rng.randrange(2)] = rng.choice(KINDS)
    m, n, k = (rng.choice(EXTENTS) for _ in range(3))
    if rng.random() > 0.03:  # a structured operand that is not square is a fault of its own
        m, n = (k if kinds[0] != "ge" else m), (k if kinds[1] != "ge" else n)
    batch = rng.choice(BATCHES) if kinds == ["ge", "ge"] or rng.random() < 0.05 else ()
    a = (k,) if kinds[0] == "dg" else (m, k)
    b = (k,) if kinds[1] == "dg" else (k, n)
    if kinds[0] == "ge" and rng.random() < 0.1:
        a, m = (k,), 1
    if kinds[1] == "ge" and rng.random() < 0.1:
        b, n = (k,), 1
    outer = (*(() if len(a) == 1 and kinds[0] == "ge" else (m,)), *(() if len(b) == 1 and kinds[1] == "ge" else (n,)))
    if rng.random() < 0.02:
        b = (b[0] + 1, *b[1:])
    which = rng.choice(["both", "a", "b"])
    shapes = [(*(batch if which in ("both", "a") else ()), *a), (*(batch if which in ("both", "b") else ()), *b)]
    case: Case = {"form": rng.choice(["call", "call", "object", "reset", "sequence"]), "options": {}, "scalars": {}}
    if rng.random() < 0.4:
        shapes.append((*(batch if rng.random() < 0.8 else ()), *outer))
        case["scalars"]["beta"] = rng.choice([0.0, 1.0, 2.0])
        case["options"]["inplace"] = rng.random() < 0.4
    if rng.random() < 0.4:
        case["scalars"]["alpha"] = rng.choice([1.0, -2.0, 0.5])
    case["arrays"] = [draw_array(rng, shape, dtype if rng.random() > 0.005 else "float16") for shape in shapes]
    if kinds != ["ge", "ge"] or rng.random() < 0.3:
        case["qualifiers"] = [draw_qualifier(rng, kind) for kind in [*kinds, "ge"][: len(shapes)]]
        if len(shapes) == 3:
            case["qualifiers"][2].pop("conjugate", None)
    return case


MISUSE = (
    "L.matmul(a, b, c)", "L.matmul(a, a)", "L.matmul(a, b.astype('f'))", "L.matmul(a.astype(int), b.astype(int))",
    "L.matmul(a, b, c.astype('f'), beta=1.0)", "L.matmul(a, b, options={'inplace': True})", "L.matmul(a, b, options=[1])",
    "L.matmul(a, b, options='x')", "L.matmul(a, b, execution=['cpu'])", "L.matmul(a, b, execution='gpu')", "L.matmul(a, b, stream=[1])",
    "L.matmul(a, b, alpha='x')", "L.matmul(a, b, alpha=1j)", "L.matmul(a, b, alpha=[1.0, 2.0])", "L.matmul(a, b, alpha=2).shape",
    "L.matmul(a, b, alpha=np.array(2.0)).shape", "L.matmul(a, b, c, beta=[1.0, 2.0])", "L.matmul(a, b, beta=2.0).shape",
    "L.matmul([a], b)", "L.matmul(a, [b])", "L.matmul([], [])", "L.matmul([[a]], [[b]])", "L.matmul([a, a], [b, b, b])",
    "L.matmul([a], [b], alpha=[])", "[r.shape for r in L.matmul([a], [b], alpha=[1.0, 2.0, 3.0])]",
    "[r.shape for r in L.matmul((a, a[:2]), (b,))]", "L.matmul([a, a.astype('f')], [b, b.astype('f')])",
    "L.matmul([a, a], [b], [c], beta=1.0, options={'inplace': True})", "L.matmul(a, b, qualifiers=[ge, ge])",
    "L.matmul(a, b, qualifiers=Q(ge))", "L.matmul(a, b, c, beta=1.0, qualifiers=Q(ge, ge))",
    "L.matmul(a, b, qualifiers=Q(ge, ge, ge)).shape",
    "L.matmul(a, b, qualifiers=Q(ge, ge, ge, ge))", "L.matmul(s, s, s, beta=1.0, qualifiers=Q(ge, ge, sy))",
    "L.matmul(z, z, z, beta=1.0, qualifiers=Q(ge, ge, L.GeneralMatrixQualifier.create(conjugate=True)))",
    "L.matmul(s, s, qualifiers=Q(L.DiagonalMatrixQualifier.create(), ge))", "L.matmul(np.array(2.0), np.array(3.0)).shape",
    "L.matmul(np.array(2.0), np.ones(3))", "L.matmul(a, 3.0)", "L.matmul(a, b, np.ones((3, 1, 1)), beta=1.0)",
    "L.GeneralMatrixQualifier()", "L.SymmetricMatrixQualifier.create(uplo=2)", "L.DiagonalMatrixQualifier.create(incx=2)",
    "L.TriangularMatrixQualifier.create(diag=5)", "L.TriangularMatrixQualifier.to_string(L.TriangularMatrixQualifier.create(diag=1))",
    "bool(L.SymmetricMatrixQualifier.is_valid(sy))", "bool(L.SymmetricMatrixQualifier.is_valid(ge))",
    "L.MatmulOptions(blocking=False)", "L.MatmulOptions(allocator=3)", "L.MatmulOptions(True)", "L.ExecutionCPU(2)",
    "new().execute()", "planned().reset_operands()", "planned().reset_operands(a=a[:2])", "planned().reset_operands(a=a.astype('f'))",
    "planned().reset_operands(c=c)", "planned().reset_operands(beta=2.0)", "planned().plan()", "released().execute()",
    "released().reset_operands(a=a)", "released().reset_operands(alpha=2.0)", "released().reset_operands()",
    "released().release_operands()", "freed().execute()", "freed().plan()", "freed().free()", "freed().release_operands()",
    "freed().reset_operands(a=a)", "planned().execute(b)", "group().reset_operands(a=[a])", "group().reset_operands(alpha=[1.0, 2.0, 3.0])",
    "group().reset_operands(c=[c])", "group().reset_operands(b=b)", "type(group().execute()).__name__",
)  # fmt: skip


def generate(count: int, seed: int) -> list[Case]:
    """The cases of a seed."""
    rng = random.Random(seed)
    return [draw(rng) for _ in range(count)] + [{"form": "misuse", "text": text} for text in MISUSE]


# --- running, in either interpreter -----------------------------------------------------------------------------------


def array_of(spec: dict[str, Any]) -> np.ndarray:
    kind, shape, strides = np.dtype(spec["dtype"]), spec["shape"], spec["strides"]
    low = sum(min(0, s * (n - 1)) for s, n in zip(strides, shape, strict=True))
    high = sum(max(0, s * (n - 1)) for s, n in zip(strides, shape, strict=True))
    memory = np.zeros(high - low + 1, kind)
    view = np.ndarray(shape, kind, memory, -low * kind.itemsize, tuple(s * kind.itemsize for s in strides))
    rng = np.random.default_rng(spec["seed"])
    values = rng.standard_normal(shape)
    view[...] = 1 if 0 in strides else values + 1j * rng.standard_normal(shape) if kind.kind == "c" else values
    return view


def qualifiers_of(case: Case) -> Any:
    import nvmath.linalg as linalg

    if "qualifiers" not in case:
        return None
    names = {"ge": "General", "sy": "Symmetric", "he": "Hermitian", "tr": "Triangular", "dg": "Diagonal"}
    made = np.empty(len(case["qualifiers"]), linalg.matrix_qualifiers_dtype)
    for index, fields in enumerate(case["qualifiers"]):
        fields = dict(fields)
        made[index] = getattr(linalg, names[fields.pop("kind")] + "MatrixQualifier").create(**fields)
    return made


def run(case: Case) -> tuple[Any, ...]:
    """Run one case; errors are part of the outcome."""
    return attempt(lambda: misuse(case["text"]) if case["form"] == "misuse" else product(case))


def product(case: Case) -> tuple[Any, ...]:
    from nvmath.linalg import Matmul, matmul

    arrays = [array_of(spec) for spec in case["arrays"]]
    keywords: dict[str, Any] = {"options": case["options"], "execution": "cpu", **case["scalars"]}
    qualifiers = qualifiers_of(case)
    if case["form"] == "sequence":
        if qualifiers is not None:
            keywords["qualifiers"] = [qualifiers]
        (result,) = matmul(*([each] for each in arrays), **keywords)
    elif case["form"] == "call":
        result = matmul(*arrays, qualifiers=qualifiers, **keywords)
    else:
        others = (
            [array_of({**spec, "seed": spec["seed"] + 1}) for spec in case["arrays"]]
            if case["form"] == "reset"
            else arrays
        )
        with Matmul(*others, qualifiers=qualifiers, **keywords) as planned:
            planned.plan()
            if case["form"] == "reset":
                planned.reset_operands(**dict(zip("abc", arrays, strict=False)))
            result = planned.execute()
    return (*described(result), len(arrays) > 2 and result is arrays[2])


def misuse(text: str) -> Any:
    import nvmath.linalg as linalg

    a, b, c, s = np.ones((3, 4)), np.ones((4, 5)), np.ones((3, 5)), np.ones((4, 4))

    def planned() -> Any:
        made = linalg.Matmul(a, b)
        made.plan()
        return made

    def after(method: str) -> Any:
        made = planned()
        getattr(made, method)()
        return made

    def group() -> Any:
        made = linalg.Matmul([a, a], [b])
        made.plan()
        return made

    names = {
        "np": np, "L": linalg, "a": a, "b": b, "c": c, "s": s, "z": s + 0j, "ge": linalg.GeneralMatrixQualifier.create(),
        "sy": linalg.SymmetricMatrixQualifier.create(), "Q": lambda *each: np.array([*each], linalg.matrix_qualifiers_dtype),
        "new": lambda: linalg.Matmul(a, b), "planned": planned, "released": lambda: after("release_operands"),
        "freed": lambda: after("free"), "group": group,
    }  # fmt: skip
    value = eval(text, names)
    return value if isinstance(value, int | str | tuple | list) or value is None else type(value).__name__


# --- comparing --------------------------------------------------------------------------------------------------------


def dense(values: np.ndarray, fields: dict[str, Any]) -> np.ndarray:
    """The matrix that is meant, in extended precision."""
    wide = values.astype(np.clongdouble if values.dtype.kind == "c" else np.longdouble)
    kind, upper = fields["kind"], fields.get("uplo", 0)
    if kind == "dg":
        wide = wide[..., :: fields["incx"]]
        wide = wide[..., None] * np.eye(wide.shape[-1])
    elif kind != "ge":
        rows, cols = np.indices(wide.shape[-2:])
        wide = np.where(rows <= cols if upper else rows >= cols, wide, 0)
        if fields.get("diag"):
            wide = np.where(rows == cols, 1, wide)
        if kind in ("sy", "he"):
            other = wide.swapaxes(-1, -2)
            wide = wide + np.where(rows == cols, 0, other.conj() if kind == "he" else other)
        if kind == "he":
            wide = np.where(rows == cols, wide.real, wide)
    return wide.conj() if fields.get("conjugate") else wide


def truth(case: Case) -> np.ndarray:
    arrays = [array_of(spec) for spec in case["arrays"]]
    fields = case.get("qualifiers", [{"kind": "ge"}] * 3)
    a, b = (dense(array, each) for array, each in zip(arrays[:2], fields, strict=False))
    value = case["scalars"].get("alpha", 1.0) * np.matmul(a, b)
    return value + case["scalars"]["beta"] * arrays[2] if len(arrays) == 3 else value


def close(a: np.ndarray, b: np.ndarray) -> bool:
    tolerance = 1e-4 if a.dtype.itemsize // (2 if a.dtype.kind == "c" else 1) == 4 else 1e-11
    return a.shape == b.shape and bool(np.all(np.abs(a - b) <= tolerance * (1 + np.max(np.abs(b), initial=0))))


# Texts of the original's errors whose rules do not exist here: the call is refused, if at all, by the next rule.
LIFTED = ("not supported", "unsupported", "compatible view", "not implemented", "is an unknown")

# Misuse that the original refuses and that works here.
WORKS_HERE = {
    "planned().reset_operands(b=b)", "group().reset_operands(alpha=[1.0, 2.0, 3.0])", "L.matmul(a, b, np.ones((3, 1, 1)), beta=1.0)",
}  # fmt: skip


def relate(case: Case, theirs: tuple[Any, ...], mine: tuple[Any, ...]) -> tuple[str, bool, str]:
    """Name the relation of two outcomes: (name, whether it keeps the promises, details)."""
    if theirs[0] == mine[0] == "ok":
        return (
            relate_values(theirs[1], mine[1]) if case["form"] == "misuse" else relate_results(case, theirs[1], mine[1])
        )
    if theirs[0] == "ok":
        return relate_stricter(case, mine)
    if mine[0] == "ok":
        if case["form"] == "misuse":
            return "misuse refused by the original only", case["text"] in WORKS_HERE, f"{theirs[1]}: {theirs[3]}"
        right = close(mine[1][4], truth(case))
        return f"superset: the original raises {theirs[1]}", right, "ours is wrong"
    if theirs[1] == mine[1] or theirs[1] in mine[2]:
        return f"both raise {theirs[1]}", True, ""
    if any(text in theirs[3] for text in LIFTED) or "dtype" in mine[3]:
        return f"both refuse: the original by {theirs[1]}, ours by {mine[1]}", True, ""
    return f"original raises {theirs[1]}, ours {mine[1]}", False, f"{theirs[3]} / {mine[3]}"


def relate_values(theirs: Any, mine: Any) -> tuple[str, bool, str]:
    return ("misuse: equal" if theirs == mine else "misuse: different"), theirs == mine, f"{theirs} / {mine}"


def relate_stricter(case: Case, mine: tuple[Any, ...]) -> tuple[str, bool, str]:
    """What the original accepts and ours does not: only what it computes wrong."""
    if "must be square" in mine[3]:
        return "original accepts a structured operand that is not square", True, ""
    if "cannot be inplace if operand C is broadcast" in mine[3]:
        return "original accepts one C for a batch in place", True, ""
    return "original accepts, ours refuses: " + mine[1], False, mine[3]


def relate_results(case: Case, theirs: tuple[Any, ...], mine: tuple[Any, ...]) -> tuple[str, bool, str]:
    for name, index in (("type", 0), ("dtype", 1), ("shape", 2)):
        if theirs[index] != mine[index]:
            return f"different {name}", False, f"{theirs[index]} / {mine[index]}"
    want = truth(case)
    if not close(mine[4], want):
        return "ours is wrong", False, ""
    if not close(theirs[4], want):
        return "the original is wrong", True, ""
    if theirs[5] != mine[5]:
        return "different object returned", False, ""
    if not same_strides(theirs, mine):
        return "different strides", False, f"{theirs[3]} / {mine[3]}"
    return "equal: values, strides, dtype, object", True, ""


def compare(peer: str, count: int, seed: int) -> tuple[collections.Counter[str], list[str]]:
    """Run everything; return how often each relation came up, and the cases that break a promise."""
    return both.compare(__file__, peer, generate(count, seed), relate)


if __name__ == "__main__":
    sys.exit(both.command(__file__, __doc__, 3000, generate, run, relate))
