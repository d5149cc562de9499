"""Compare this library with the original as a black box: the same calls in both interpreters, NumPy operands, CPU execution.

    python compare_peer.py --peer /path/to/python [--count 2000] [--seed 0] [--table outcome.md]

A case is plain data. What is compared: values, strides, dtypes, keys, layouts, accepted resets, types of exceptions. The
outcome is a table of how often each relation came up; relations that break a promise are listed, and the exit status is 1.
"""

from __future__ import annotations

import collections
import random
import sys
from typing import Any

import both
import numpy as np
from both import Case, attempt, same_strides

# --- cases ------------------------------------------------------------------------------------------------------------

EXTENTS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16)


def draw_array(rng: random.Random, dtype: str, ndim: int | None = None) -> dict[str, Any]:
    """An operand as data."""
    shape = [rng.choice(EXTENTS) for _ in range(ndim or rng.choice([1, 1, 2, 2, 2, 3, 3, 3, 4, 5]))]
    order = list(range(len(shape)))[::-1]
    if rng.random() < 0.3:
        rng.shuffle(order)
    strides, step = [0] * len(shape), rng.choice([1, 1, 1, 1, 2])
    gaps = rng.random() < 0.25
    for axis in order:
        strides[axis] = step
        step *= shape[axis]
        if gaps and rng.random() < 0.5:
            step = strides[axis] * (shape[axis] + rng.choice([1, 2]))
    if rng.random() < 0.08:
        axis = rng.randrange(len(shape))
        strides[axis] = -strides[axis]
    if rng.random() < 0.04:
        strides[rng.randrange(len(shape))] = 0
    if rng.random() < 0.03:
        shape[rng.randrange(len(shape))] = 0
    offset = rng.choice([0, 0, 0, 1, 2]) * (2 if dtype.startswith("float") else 1)
    return {
        "shape": tuple(shape),
        "strides": tuple(strides),
        "dtype": dtype,
        "offset": offset,
        "seed": rng.randrange(1 << 30),
    }


def draw_axes(rng: random.Random, ndim: int) -> tuple[int, ...] | None:
    if rng.random() < 0.15:
        return None
    axes = rng.sample(range(ndim), rng.randint(1, min(ndim, 4)))
    if rng.random() < 0.7:
        axes.sort()
    if rng.random() < 0.2:
        axes = [axis - ndim for axis in axes]
    if rng.random() < 0.02:
        axes.append(rng.choice([ndim, -ndim - 1, axes[0]]))
    return tuple(axes)


def draw_options(rng: random.Random, kind: str) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if rng.random() < 0.4:
        options["result_layout"] = rng.choice(["natural", "optimized"])
    if kind == "C2R":
        options["last_axis_parity"] = rng.choice(["even", "odd", "odd"])
    if kind == "C2C" and rng.random() < 0.2:
        options["inplace"] = True
    if rng.random() < 0.1:
        options["blocking"] = rng.choice([True, "auto"])
    if rng.random() < 0.02:
        options["fft_type"] = rng.choice(["C2C", "R2C", "C2R"])
    return options


def draw(rng: random.Random) -> Case:
    """One call, one life of an object, or one reset."""
    kind = rng.choice(["C2C", "C2C", "R2C", "C2R"])
    dtype = rng.choice(["float32", "float64"] if kind == "R2C" else ["complex64", "complex128"])
    if rng.random() < 0.02:
        dtype = rng.choice(["int32", "float32", "complex64", "float16", "bool", "longdouble"])
    array = draw_array(rng, dtype)
    options = draw_options(rng, kind)
    axes = None if dtype == "float16" else draw_axes(rng, len(array["shape"]))  # one fault at a time
    case: Case = {"kind": kind, "array": array, "axes": axes, "options": options}
    if rng.random() < 0.3:
        case["execution"] = rng.choice(["cpu", "CPU", {"name": "cpu", "num_threads": 2}, {"num_threads": 1}, {}])
    if "C2R" in (kind, options.get("fft_type")):
        kind = case["kind"] = "C2R"
        array["half"] = (case["axes"], options.get("last_axis_parity", "even"))
    form = rng.choice(["call", "call", "object", "reset"])
    case["form"] = form
    if form == "call":
        asked = "C2C" if "fft_type" in options else kind
        case["function"] = {"C2C": rng.choice(["fft", "ifft"]), "R2C": "rfft", "C2R": "irfft"}[asked]
        if asked == "C2C" and rng.random() < 0.2:
            case["direction"] = rng.choice(["forward", "inverse", 1, -1, None])
        return case
    if kind == "C2R":
        options["fft_type"] = "C2R"
    if rng.random() < 0.3:
        case["planned"] = rng.choice([-1, 1])
    if rng.random() < 0.5:
        case["direction"] = rng.choice([-1, 1])
    if form == "reset":
        case["other"] = draw_other(rng, array)
    return case


def draw_other(rng: random.Random, array: dict[str, Any]) -> dict[str, Any]:
    """An operand for a reset: like the first one, or differing in one respect."""
    other = dict(array, seed=rng.randrange(1 << 30))
    change = rng.choice(["nothing", "nothing", "dtype", "shape", "strides", "split", "offset"])
    shape = list(array["shape"])
    if change == "dtype":
        other["dtype"] = rng.choice(["complex64", "complex128", "float32", "float64"])
    elif change == "shape":
        shape[rng.randrange(len(shape))] += 1
        other |= {"shape": tuple(shape), "strides": row_major(shape)}
    elif change == "strides":
        other["strides"] = tuple(reversed(row_major(shape[::-1])))
    elif change == "split" and len(shape) > 2:
        shape[0], shape[1] = shape[1], shape[0]
        other |= {"shape": tuple(shape), "strides": row_major(shape)}
    elif change == "offset":
        other["offset"] = array["offset"] + 2
    return other


def row_major(shape: Any) -> tuple[int, ...]:
    strides, step = [], 1
    for extent in reversed(list(shape)):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


MISUSE = [
    "f([1, 2])", "f(None)", "f(3)", "f(z, axes=1)", "f(z, axes=[0, 0])", "f(z, axes=[5])", "f(z, axes=[0.5])", "f(z, [0])",
    "f(operand=z)", "f(z, options=3)", "f(z, options={'x': 1})", "f(z, options={'fft_type': 'c2c'})",
    "f(z, options={'inplace': 1})", "f(z, options={'blocking': False})", "f(z, options={'result_layout': 'C'})",
    "irfft(z, options={'last_axis_parity': 'maybe'})", "f(z, execution='gpu')", "f(z, execution=3)", "f(z, execution={'name': 1})",
    "f(z, execution={'name': 'cpu', 'x': 1})", "f(z, execution={'num_threads': 0})", "f(z, execution={'num_threads': 2.0})",
    "f(z, execution=m.ExecutionCPU)", "m.ExecutionCPU(2)", "m.ExecutionCPU(num_threads=0)",
    "setattr(m.ExecutionCPU(), 'num_threads', 2)", "m.FFTOptions(device_id=0)", "m.FFTOptions(blocking=False)",
    "f(z, direction='fwd')", "f(z, direction=0)", "rfft(x, direction=-1)", "irfft(z, direction=1)", "f(x)", "m.ifft(x)", "irfft(x)",
    "rfft(z)", "rfft(h)", "f(z0)", "f(e)", "irfft(one)", "rfft(i)", "f(i)", "rfft(x, options={'inplace': True})",
    "irfft(z, options={'inplace': True})", "f(z, options={'fft_type': 'C2R'})", "m.FFT(x, options={'fft_type': 'C2C'}).plan()",
    "o().execute()", "o().get_key()", "p().execute('x')", "p().execute(direction=2)", "freed().execute()", "freed().plan()",
    "freed().reset_operand(z)", "freed().release_operand()", "freed().free()",
    "released().execute()", "released().release_operand()",
    "p().reset_operand(None)", "p().reset_operand([1])", "p().reset_operand()", "p().plan(direction='inverse')", "q().execute(1)",
    "r().execute(1)", "m.FFT(x).plan(direction=1)", "o().plan(direction='sideways')",
    "m.FFT.create_key(z0)", "m.FFT.create_key([1])",
    "m.FFT.create_key_from_metadata((4,), 'complex64', 'gpu')", "m.FFT.create_key_from_metadata((4,), 'c8', 'cpu')",
    "m.FFT.create_key_from_metadata((4, 4), 'complex64', 'cpu', strides=(1,))",
    "m.FFT.create_key_from_metadata((), 'complex64', 'cpu')",
    "m.estimate_workspace_size(m.FFT.create_key(z), technique='x')", "m.estimate_workspace_size((1, 2))",
    "m.estimate_workspace_size(((1,), None, ('cpu', 1)))", "m.estimate_workspace_size(m.FFT.create_key(z))",
    "m.DeviceCallable(ltoir='x', size=1)", "m.DeviceCallable(ltoir=1)", "m.DeviceCallable(ltoir=b'x', data=1.5)",
    "p().plan()", "m.UnsupportedLayoutError('a', (0,), (0,)).axes", "nvmath.MemoryPointer(1, 1, None).free()",
]  # fmt: skip


def generate(count: int, seed: int) -> list[Case]:
    rng = random.Random(seed)
    return [draw(rng) for _ in range(count)] + [{"form": "misuse", "text": text} for text in MISUSE]


# --- running, in either interpreter -----------------------------------------------------------------------------------


def array_of(spec: dict[str, Any]) -> np.ndarray:
    """Make an operand."""
    shape, strides = spec["shape"], spec["strides"]
    kind = np.dtype(spec["dtype"])
    low = high = 0
    if 0 not in shape:
        low = sum(s * (n - 1) for n, s in zip(shape, strides, strict=True) if s < 0)
        high = sum(s * (n - 1) for n, s in zip(shape, strides, strict=True) if s > 0)
    flat = np.zeros(high - low + 1 + spec["offset"], kind)
    view = np.ndarray(
        shape, kind, flat, (spec["offset"] - low) * kind.itemsize, tuple(s * kind.itemsize for s in strides)
    )
    rng = np.random.default_rng(spec["seed"])
    drawn = rng.standard_normal(shape)
    if spec.get("half") is not None and drawn.size and kind.kind == "c":
        view[...] = 1 if 0 in strides else half_spectrum(rng, shape, *spec["half"])
    else:
        view[...] = (drawn + 1j * rng.standard_normal(shape)) if kind.kind == "c" else drawn
    return view


def half_spectrum(rng: Any, shape: tuple[int, ...], axes: Any, parity: str) -> np.ndarray:
    """Values that some real signal has: what a C2R transform makes of others is not defined."""
    axes = range(len(shape)) if axes is None else [axis % len(shape) for axis in axes]
    signal = list(shape)
    signal[axes[-1]] = 2 * shape[axes[-1]] - (1 if parity == "odd" else 2)
    if signal[axes[-1]] == 0 or len(set(axes)) != len(axes):
        return np.ones(shape)
    return np.fft.rfftn(rng.standard_normal(signal), axes=axes)


def described(array: Any) -> tuple[Any, ...]:
    return "array", *both.described(array)


def plain(key: Any) -> Any:
    if isinstance(key, tuple | list):
        return tuple(plain(part) for part in key)
    return int(key) if isinstance(key, int) else key


def run(case: Case) -> dict[str, Any]:
    """Run one case; errors are part of the outcome."""
    import nvmath

    if case["form"] == "misuse":
        return {"result": attempt(lambda: misuse(case["text"]))}
    module = nvmath.fft
    outcome: dict[str, Any] = {}
    keywords = {"axes": case["axes"], "options": case["options"]}
    if "execution" in case:
        keywords["execution"] = case["execution"]
    operand = array_of(case["array"])
    keep = operand.copy()
    if case["form"] == "call":
        if "direction" in case:
            keywords["direction"] = case["direction"]
        outcome["result"] = attempt(lambda: described(getattr(module, case["function"])(operand, **keywords)))
        outcome["operand changed"] = not np.array_equal(operand, keep, equal_nan=True)
        outcome["same object"] = False
        return outcome
    outcome["key"] = attempt(lambda: plain(module.FFT.create_key(operand, **keywords)[0]))
    outcome["result"] = attempt(lambda: life(module, operand, keywords, case, outcome))
    return outcome


def life(module: Any, operand: Any, keywords: dict[str, Any], case: Case, outcome: dict[str, Any]) -> Any:
    with module.FFT(operand, **keywords) as transform:
        outcome["layouts"] = plain((transform.get_input_layout(), transform.get_output_layout()))
        transform.plan(**({"direction": case["planned"]} if "planned" in case else {}))
        outcome["planned key"] = attempt(lambda: plain(transform.get_key()[0]))
        if case["form"] == "reset":
            transform.reset_operand(array_of(case["other"]))
            if case["kind"] != "C2R":  # its first result may still have the layout of the operand before; C2R runs once
                transform.execute(case.get("direction"))
        return described(transform.execute(case.get("direction")))


def misuse(text: str) -> Any:
    import nvmath

    m = nvmath.fft
    z, x = np.ones((4, 8), complex), np.ones((4, 8))

    def planned(operand: Any = z, **keywords: Any) -> Any:
        transform = m.FFT(operand)
        transform.plan(**keywords)
        return transform

    def after(method: str) -> Any:
        transform = planned()
        getattr(transform, method)()
        return transform

    names = {
        "nvmath": nvmath, "m": m, "f": m.fft, "rfft": m.rfft, "irfft": m.irfft, "z": z, "x": x, "z0": np.array(1j),
        "e": np.ones((4, 0), complex), "one": np.ones(1, complex), "i": np.ones(4, int), "h": np.ones(4, np.float16),
        "o": lambda: m.FFT(z), "p": planned, "q": lambda: planned(direction=-1), "r": lambda: planned(x),
        "freed": lambda: after("free"), "released": lambda: after("release_operand"),
    }  # fmt: skip
    value = eval(text, names)
    return value if isinstance(value, int | str | tuple) or value is None else type(value).__name__


# --- comparing --------------------------------------------------------------------------------------------------------


def close(a: np.ndarray, b: np.ndarray) -> bool:
    tolerance = 2e-5 if a.dtype.itemsize // (2 if a.dtype.kind == "c" else 1) == 4 else 1e-12
    scale = float(np.linalg.norm(b.ravel())) if b.size else 0.0
    return bool(np.linalg.norm((a - b).ravel()) <= tolerance * scale + 1e-30)


# Texts of the original's errors whose rules do not exist here: the call is refused, if at all, by the next rule.
LIFTED = (
    "To convert to a supported layout",
    "Only up to 3D",
    "in stride order",
    "FFTs in number of dimensions > 3",
    "Planning failed",
    "overlaps in memory",
    "incompatible with that of the original operand",
    "Invalid plan handle",
)

# Type of the original's error -> why ours is of another type.
OTHER_TYPE = {
    "AssertionError": "an internal assertion of the original is a ValueError here",
    "KeyError": "an unknown dtype is a ValueError here",
}

# Misuse that only one of the two refuses.
STRICTER = {"m.ExecutionCPU(num_threads=0)": "refused when it is made, not when it is used"}


def relate(case: Case, peer: dict[str, Any], ours: dict[str, Any]) -> tuple[str, bool, str]:
    """Name the relation of two outcomes: (name, whether it keeps the promises, details)."""
    theirs, mine = peer["result"], ours["result"]
    if theirs[0] == "ok" and mine[0] == "ok":
        return relate_results(case, peer, ours)
    if theirs[0] == "ok":
        if case["form"] == "reset" and 1 in case["array"]["shape"] and "does not fit" in mine[3]:
            return "original accepts a reset that ours refuses (extent 1)", True, ""
        if explicit_none(case):
            return "direction=None: the default of the transform in the original, of the function here", True, ""
        return "original accepts, ours refuses: " + mine[1], case.get("text") in STRICTER, mine[3]
    if mine[0] == "ok":
        if case["form"] == "misuse":
            return "misuse refused by the original only", False, f"{theirs[1]}: {theirs[3]}"
        return f"superset: the original raises {theirs[1]}", True, ""
    if theirs[1] == mine[1] or theirs[1] in mine[2]:
        return f"both raise {theirs[1]}", True, ""
    if any(text in theirs[3] for text in LIFTED):
        return f"both refuse: the original a layout, ours by {mine[1]}", True, ""
    if theirs[1] in OTHER_TYPE:
        return f"original raises {theirs[1]}, ours {mine[1]}", True, OTHER_TYPE[theirs[1]]
    return f"original raises {theirs[1]}, ours {mine[1]}", False, f"{theirs[3]} / {mine[3]}"


def relate_results(case: Case, peer: dict[str, Any], ours: dict[str, Any]) -> tuple[str, bool, str]:
    theirs, mine = peer["result"][1], ours["result"][1]
    if not (isinstance(theirs, tuple) and theirs and theirs[0] == "array"):
        return ("equal values" if theirs == mine else "different values"), theirs == mine, f"{theirs} / {mine}"
    for name, index in (("type", 1), ("dtype", 2), ("shape", 3)):
        if theirs[index] != mine[index]:
            if name == "shape" and case["form"] == "reset" and theirs[3] != mine[3] == new_shape(case):
                return "after a reset the original returns the shape of the operand before", True, ""
            return f"different {name}", False, f"{theirs[index]} / {mine[index]}"
    if not same_strides(theirs[1:], mine[1:]):
        if case["form"] == "reset" and case["kind"] == "C2R" and case["other"]["strides"] != case["array"]["strides"]:
            return "after a reset the original returns the strides of the operand before", True, ""
        if case["kind"] == "C2R" and 1 in case["array"]["shape"]:
            return "different strides (C2R, extent 1)", True, ""
        return "different strides", False, f"{theirs[4]} / {mine[4]}"
    for name, changed in (("operand changed", False), ("layouts", None)):
        if peer.get(name, changed) != ours.get(name, changed) and not (
            name == "layouts" and equivalent(case, peer[name], ours[name])
        ):
            return f"different {name}", False, f"{peer.get(name)} / {ours.get(name)}"
    if not close(mine[5], theirs[5]):
        if explicit_none(case):
            return "direction=None: the default of the transform in the original, of the function here", True, ""
        return "different values", False, ""
    for name in ("key", "planned key"):
        if name in peer and peer["key"][0] == peer[name][0] == "ok" and peer[name] != ours[name]:
            usual = is_usual(case["array"], case["kind"])
            rare = "" if usual else " (extent 1, negative stride, or C2R with gaps)"
            return f"equal but for the numbers in the key{rare}", not usual, f"{peer[name]} / {ours[name]}"
    return "equal: values, strides, dtype, key, layouts", True, ""


def explicit_none(case: Case) -> bool:
    """Whether ``direction=None`` was passed where function and transform have different defaults."""
    return case.get("direction", 0) is None and (case.get("function") == "ifft" or case["kind"] == "C2R")


def is_usual(array: dict[str, Any], kind: str) -> bool:
    """Whether the key of an operand must hold the very numbers of the original's."""
    shape, strides = array["shape"], array["strides"]
    reach = 1 + sum(abs(s) * (n - 1) for n, s in zip(shape, strides, strict=True))
    return min(strides) > 0 and 1 not in shape and (kind != "C2R" or reach == np.prod(shape))


def new_shape(case: Case) -> tuple[int, ...]:
    """Shape of the result for the operand of a reset."""
    shape = list(case["other"]["shape"])
    last = (case["axes"] or range(len(shape)))[-1]
    if case["kind"] == "R2C":
        shape[last] = shape[last] // 2 + 1
    elif case["kind"] == "C2R":
        shape[last] = 2 * shape[last] - (1 if case["options"].get("last_axis_parity") == "odd" else 2)
    return tuple(shape)


def equivalent(case: Case, theirs: Any, mine: Any) -> bool:
    """Layouts that are equal but for axes of extent 1; the input of C2R is a copy in the original, and the operand here."""
    pairs = list(zip(theirs, mine, strict=True))
    return all(
        a[0] == b[0] and (0 in a[0] or all(s == t for n, s, t in zip(a[0], a[1], b[1], strict=True) if n != 1))
        for a, b in (pairs[1:] if case["kind"] == "C2R" else pairs)
    )


def compare(peer: str, count: int, seed: int) -> tuple[collections.Counter[str], list[str]]:
    """Run everything; return how often each relation came up, and the cases that break a promise."""
    return both.compare(__file__, peer, generate(count, seed), relate)


if __name__ == "__main__":
    sys.exit(both.command(__file__, __doc__, 2000, generate, run, relate))
