"""Compare contractions with the original as a black box, on a GPU: the same calls in both interpreters, CuPy operands.

    python compare_peer_tensor.py --peer /path/to/python [--count 400] [--seed 0]

A case is plain data: expression, extents, dtypes, layouts, addend, qualifiers, layout of the result. What is compared: values, strides and
dtypes of the result, and the types of exceptions. Where values differ, einsum in extended precision decides who is right.
"""

from __future__ import annotations

import random
import sys
from typing import Any

import both
import numpy as np
from both import Case, Relation, attempt, same_strides

BINARY = ("ij,jk->ik", "ij,jk", "a,a->", "ax,a->ax", "ac,bd->bcda", "ijk,jkl->il", "bij,bjk->bik", "pijkl,pjiab->lakbp", "...i,i...->...",
          "ii,ij->j", "ij,jk->iki", "ij,jk->ix", "ij,jk,kl->il", "ij->ij", "i j,jk->ik")  # fmt: skip
TERNARY = ("ijkl,klmn,mnp->ijp", "abc,bc,x->", "ij,jk,kl->il", "i,i,i->i", "...,...,ab->a", "ij,jk->ik")
TOLERANCE = {"float16": 2e-2, "float32": 1e-4, "float64": 1e-11, "complex64": 1e-4, "complex128": 1e-11}
CONJ, SAME = 9, 1


def draw(rng: random.Random) -> Case:
    """A contraction as data; not all of them are allowed."""
    ternary = rng.random() < 0.3
    expression = rng.choice(TERNARY if ternary else BINARY)
    sizes = {label: rng.choice((1, 2, 3, 4, 5, 8)) for label in "abcdefghijklmnopqrstuvwxyz"}
    terms = expression.split("->")[0].replace("...", "xy").replace(" ", "").split(",")
    dtype = rng.choice(("float16", "float32", "float64", "complex64", "complex128"))
    shapes = [tuple(sizes[label] for label in term) for term in terms]
    if rng.random() < 0.03 and shapes[0]:
        shapes[0] = (shapes[0][0] + 1, *shapes[0][1:])
    case: Case = {
        "expression": expression, "ternary": ternary, "dtype": dtype, "shapes": shapes, "orders": [rng.choice("CCF") for _ in shapes],
        "seed": rng.randrange(1 << 30),
        "alpha": rng.choice((1.0, 0.5, -2.0)), "layout": rng.choice(("auto", "auto", "C", "F", "optimized")),
        "addend": rng.random() < 0.25, "beta": 2.0, "stateful": rng.random() < 0.4,
    }  # fmt: skip
    if rng.random() < 0.2:
        case["qualifiers"] = [rng.choice((SAME, CONJ)) for _ in terms] + [SAME]
    return case


def spelled(case: Case) -> str:
    """The expression for NumPy, which sums no ellipsis: its axes have labels."""
    return str(case["expression"]).replace("...", "xy").replace("->ix", "->iz")


def operands(case: Case) -> list[np.ndarray]:
    """The operands, of small whole numbers, and the addend last where there is one."""
    rng = np.random.default_rng(case["seed"])

    def made(shape: tuple[int, ...], order: str) -> np.ndarray:
        values = rng.integers(-2, 3, shape) + (1j * rng.integers(-2, 3, shape) if case["dtype"][0] == "c" else 0)
        return np.array(values, case["dtype"], order=order)

    arrays = [made(shape, order) for shape, order in zip(case["shapes"], case["orders"], strict=True)]
    if case["addend"]:
        arrays.append(made(np.einsum(spelled(case), *arrays).shape, "C"))
    return arrays


def run(case: Case) -> tuple[Any, ...]:
    """Compute a case in this interpreter: what comes out, or an exception."""
    return attempt(lambda: contraction(case))


def contraction(case: Case) -> tuple[Any, ...]:
    import cupy

    from nvmath import tensor

    arrays = [cupy.array(each, order="K") for each in operands(case)]
    inputs = len(case["shapes"])
    addend = {"d" if case["ternary"] else "c": arrays[inputs]} if case["addend"] else {}
    scalars = {"alpha": case["alpha"]} | ({"beta": case["beta"]} if case["addend"] else {})
    more = {"options": {"result_layout": case["layout"]}, "qualifiers": case.get("qualifiers"), **addend}
    kind = "ternary" if case["ternary"] else "binary"
    if case["stateful"]:
        with getattr(tensor, f"{kind.capitalize()}Contraction")(
            case["expression"], *arrays[:inputs], **more
        ) as planned:
            planned.plan()
            result = planned.execute(**scalars)
    else:
        result = getattr(tensor, f"{kind}_contraction")(case["expression"], *arrays[:inputs], **scalars, **more)
    steps = tuple(step // result.itemsize for step in result.strides)
    return type(result).__name__, result.dtype.str, result.shape, steps, cupy.asnumpy(result)


def truth(case: Case) -> np.ndarray:
    """The result in extended precision."""
    arrays = [each.astype(np.clongdouble if case["dtype"][0] == "c" else np.longdouble) for each in operands(case)]
    inputs = len(case["shapes"])
    if "qualifiers" in case:
        arrays = [each.conj() if code == CONJ else each for each, code in zip(arrays, case["qualifiers"], strict=False)]
    value = case["alpha"] * np.einsum(spelled(case), *arrays[:inputs])
    return value + case["beta"] * arrays[inputs] if case["addend"] else value


def close(case: Case, value: np.ndarray, want: np.ndarray) -> bool:
    """Whether values are those of the truth, to some digits of its largest."""
    return bool(np.all(np.abs(value - want) <= TOLERANCE[case["dtype"]] * (1 + np.max(np.abs(want), initial=0))))


def relate(case: Case, theirs: tuple[Any, ...], mine: tuple[Any, ...]) -> Relation:
    """Name the relation of two outcomes: (name, whether it keeps the promises, details)."""
    if mine[0] == "ok" and (mine[1][2] != truth(case).shape or not close(case, mine[1][4], truth(case))):
        return "ours is wrong", False, str(mine[1][:4])
    if theirs[0] == "error" and mine[0] == "error" and theirs[1] != mine[1]:
        return f"both refuse: the original by {theirs[1]}, ours by {mine[1]}", theirs[1] == "cuTENSORError", theirs[3]
    if theirs[0] == "ok" != mine[0] and "names a label twice" in mine[3]:
        return "the original takes an output that names a label twice", True, ""
    relation = both.relate_errors(theirs, mine)
    if relation:
        return relation
    if theirs[1][:3] != mine[1][:3]:
        return "another type, dtype or shape", False, f"{theirs[1][:3]} / {mine[1][:3]}"
    if not close(case, theirs[1][4], truth(case)):
        return "the original is wrong", True, ""
    if not same_strides(theirs[1], mine[1]):
        return "other strides", False, f"{theirs[1][3]} / {mine[1][3]}"
    return "equal: values, strides, dtype", True, ""


if __name__ == "__main__":
    sys.exit(both.command(__file__, __doc__, 400, both.drawn(draw), run, relate))
