"""Compare `nvmath.linalg.advanced` with the original as a black box, on a GPU: the same calls in both interpreters, NumPy operands.

    python compare_peer_matmul.py --peer /path/to/python [--count 500] [--seed 0]

A case is plain data: dtype, shapes, strides, scalars, epilog. What is compared: values, strides and dtypes of the result and of the
auxiliary outputs, and the types of exceptions. The outcome is a table of how often each relation came up; where the original gives a
result, ours has to give one of the same shape, dtype, order and values, else the exit status is 1.
"""

from __future__ import annotations

import argparse
import collections
import pickle
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

Case = dict[str, Any]
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


def run(case: Case, own: bool) -> tuple[Any, ...]:
    """Compute a case in this interpreter: what comes out, or the name of an exception."""
    from nvmath.linalg.advanced import MatmulEpilog, matmul

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
    more = {"execution": "cuda"} if own else {}
    try:
        result = matmul(
            given["a"], given["b"], given["c"], alpha=case["alpha"], beta=case["beta"], options={"inplace": case["inplace"]},
            epilog=None if case["epilog"] is None else MatmulEpilog[case["epilog"]], epilog_inputs=inputs or None, **more,
        )  # fmt: skip
    except Exception as error:
        return "error", type(error).__name__, str(error)[:200]
    result, outputs = result if isinstance(result, tuple) else (result, {})
    return "done", described(result), {name: described(array) for name, array in outputs.items()}


def described(array: np.ndarray) -> tuple[Any, ...]:
    """Values, and everything else that a caller sees."""
    strides = tuple(step for step, extent in zip(array.strides, array.shape, strict=True) if extent > 1)
    return np.array(array), array.shape, strides, str(array.dtype)


def relation(case: Case, theirs: tuple[Any, ...], ours: tuple[Any, ...]) -> tuple[str, bool]:
    """Say how two outcomes differ, and whether that breaks a promise."""
    if theirs[0] == "error":
        if ours[0] == "done":
            return f"wider: refused there ({theirs[1]})", False
        same = theirs[1] == ours[1]
        return ("same exception" if same else f"another exception: {theirs[1]} there, {ours[1]} here"), False
    if ours[0] == "error":
        return f"refused here only ({ours[1]}: {ours[2]})", True
    pairs = [(theirs[1], ours[1]), *((theirs[2][name], ours[2].get(name)) for name in theirs[2])]
    for one, other in pairs:
        if other is None or one[1:] != other[1:]:
            return f"another layout: {one[1:]} there, {None if other is None else other[1:]} here", True
        if one[0].dtype == np.uint8:
            bits = [
                np.unpackbits(each, axis=-2, bitorder="little")[..., : case["extents"][0], :]
                for each in (one[0], other[0])
            ]
            if (bits[0] != bits[1]).any():
                return "another mask", True
        else:
            rows = case["extents"][0] if one[0].ndim > 1 and one[0].shape[-2] >= case["extents"][0] else None
            close = TOLERANCE[case["dtype"]] * 64
            first, second = (each[0] if rows is None else each[0][..., :rows, :] for each in (one, other))
            if not np.allclose(first, second, rtol=close, atol=close):
                return "other values", True
    return "the same", False


def main() -> int:
    """Draw, run in both, compare; or be the worker of one interpreter."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", help="Python of the original")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--worker", nargs=3, metavar=("CASES", "OUTCOMES", "OWN"))
    asked = parser.parse_args()
    if asked.worker:
        source, target, own = asked.worker
        outcomes = [run(case, own == "1") for case in pickle.loads(Path(source).read_bytes())]
        Path(target).write_bytes(pickle.dumps(outcomes))
        return 0
    rng = random.Random(asked.seed)
    cases = [draw(rng) for _ in range(asked.count)]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "cases"
        source.write_bytes(pickle.dumps(cases))
        outcomes = []
        for python, own in ((asked.peer, "0"), (sys.executable, "1")):
            target = Path(folder) / f"outcomes{own}"
            subprocess.run([python, __file__, "--worker", str(source), str(target), own], check=True)
            outcomes.append(pickle.loads(target.read_bytes()))
    counts: collections.Counter[str] = collections.Counter()
    broken = []
    for case, theirs, ours in zip(cases, *outcomes, strict=True):
        text, breaks = relation(case, theirs, ours)
        counts[text] += 1
        if breaks:
            broken.append((text, case))
    for text, count in counts.most_common():
        print(f"{count:6d}  {text}")
    for text, case in broken[:20]:
        print(f"BROKEN  {text}\n        {case}")
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
