"""Compare `nvmath.linalg.advanced` with the original as a black box, on a GPU: the same calls in both interpreters, NumPy operands.

    python compare_peer_matmul.py --peer /path/to/python [--count 500] [--seed 0]

A case is plain data: dtype, shapes, strides, scalars, epilog. What is compared: values, strides and dtypes of the result and of the
auxiliary outputs, and the types of exceptions. The outcome is a table of how often each relation came up; where the original gives a
result, ours has to give one of the same shape, dtype, order and values, else the exit status is 1.

The original's derivatives of GELU in double precision are approximations of cuBLASLt; ours are not.
"""

from __future__ import annotations

import random
import sys
from typing import Any

import both
import numpy as np
from both import Case, Relation, attempt, described, same_strides

EXTENTS = (1, 2, 8, 16, 24, 33, 64)
EPILOGS = (
    None, None, "RELU", "GELU", "BIAS", "RELU_BIAS", "GELU_BIAS", "RELU_AUX", "RELU_AUX_BIAS", "GELU_AUX", "GELU_AUX_BIAS", "BGRADA",
    "BGRADB", "DRELU", "DRELU_BGRAD", "DGELU", "DGELU_BGRAD",
)  # fmt: skip
TOLERANCE = {"float16": 2e-3, "float32": 1e-5, "float64": 1e-11, "complex64": 1e-5, "complex128": 1e-11}


def draw(rng: random.Random) -> Case:
    """A product as data; not all of them are allowed."""
    m, n, k = (rng.choice(EXTENTS) for _ in range(3))
    batch = rng.choice(((), (), (3,), (2, 3)))
    dtype = rng.choice(("float16", "float32", "float32", "float64", "complex64"))
    epilog = rng.choice(EPILOGS) if dtype.startswith("float") else None
    shapes = {
        "a": (*rng.choice((batch, batch, ())), m, k),
        "b": (*rng.choice((batch, batch, ())), k, n),
        "c": rng.choice((None, None, (*batch, m, n), (m, n), (m, 1))),
    }
    orders = {name: rng.choice("CF") for name in shapes}
    return {
        "dtype": dtype, "shapes": shapes, "orders": orders, "epilog": epilog, "alpha": rng.choice((None, 0.5)), "extents": (m, n),
        "beta": rng.choice((1.0, -0.5)) if shapes["c"] else None, "inplace": bool(shapes["c"]) and rng.random() < 0.2,
        "seed": rng.randrange(1 << 30),
    }  # fmt: skip


def operand(rng: np.random.Generator, shape: tuple[int, ...], dtype: str, order: str) -> np.ndarray:
    """An array; `order` is that of its matrices."""
    values = rng.integers(-2, 3, shape).astype(dtype)  # exact sums: zeros are zeros for both
    return np.ascontiguousarray(values.swapaxes(-1, -2)).swapaxes(-1, -2) if order == "F" else values


def run(case: Case) -> tuple[Any, ...]:
    """Compute a case in this interpreter: what comes out, or an exception."""
    return attempt(lambda: product(case))


def product(case: Case) -> dict[str, Any]:
    import nvmath
    from nvmath.linalg.advanced import MatmulEpilog, matmul

    more = {"execution": "cuda"} if hasattr(nvmath, "plan_cache") else {}  # the original has no other place
    rng = np.random.default_rng(case["seed"])
    given = {
        name: None if shape is None else operand(rng, shape, case["dtype"], case["orders"][name])
        for name, shape in case["shapes"].items()
    }
    m, n = case["extents"]
    inputs = {}
    if "BIAS" in (case["epilog"] or ""):
        inputs["bias"] = rng.integers(-2, 3, m).astype(case["dtype"])
    if (case["epilog"] or "").startswith("DRELU"):
        inputs["relu_aux"] = np.asfortranarray(rng.integers(0, 256, (16 * -(-m // 128), n)).astype(np.uint8))
    if (case["epilog"] or "").startswith("DGELU"):
        inputs["gelu_aux"] = np.asfortranarray(rng.standard_normal((8 * -(-m // 8), n)).astype(case["dtype"]))
    result = matmul(
        given["a"], given["b"], given["c"], alpha=case["alpha"], beta=case["beta"], options={"inplace": case["inplace"]},
        epilog=None if case["epilog"] is None else MatmulEpilog[case["epilog"]], epilog_inputs=inputs or None, **more,
    )  # fmt: skip
    result, outputs = result if isinstance(result, tuple) else (result, {})
    return {"result": described(result)} | {name: described(array) for name, array in outputs.items()}


def relate(case: Case, theirs: tuple[Any, ...], mine: tuple[Any, ...]) -> Relation:
    """Name the relation of two outcomes: (name, whether it keeps the promises, details)."""
    if theirs[0] == "error" and mine[0] == "error" and theirs[1] != mine[1]:
        return f"both refuse: the original by {theirs[1]}, ours by {mine[1]}", True, ""
    return both.relate_errors(theirs, mine) or relate_results(case, theirs[1], mine[1])


def relate_results(case: Case, theirs: dict[str, Any], mine: dict[str, Any]) -> Relation:
    if theirs.keys() != mine.keys():
        return "other outputs", False, f"{list(theirs)} / {list(mine)}"
    for name in theirs:
        one, other = theirs[name], mine[name]
        if one[:3] != other[:3] or not same_strides(one, other):
            return "another layout", False, f"{name}: {one[:4]} / {other[:4]}"
        difference = distance(case, one[4], other[4])
        if difference > limit(case):
            return "other values", False, f"{name} by {difference:.1e}"
    return "equal: values, strides, dtype", True, ""


def limit(case: Case) -> float:
    approximate = case["dtype"] == "float64" and "GELU" in (case["epilog"] or "")
    return 1e-6 if approximate else 64 * TOLERANCE[case["dtype"]]


def distance(case: Case, first: np.ndarray, second: np.ndarray) -> float:
    """How far two outputs are apart; what pads a matrix to a multiple of the library's does not count."""
    m = case["extents"][0]
    if first.dtype == np.uint8:
        first, second = (np.unpackbits(each, axis=-2, bitorder="little") * 1.0 for each in (first, second))
    if first.ndim > 1 and first.shape[-2] >= m:
        first, second = first[..., :m, :], second[..., :m, :]
    return float(np.max(np.abs(first - second) / (1 + np.abs(first)), initial=0))


if __name__ == "__main__":
    sys.exit(both.command(__file__, __doc__, 500, both.drawn(draw), run, relate))
