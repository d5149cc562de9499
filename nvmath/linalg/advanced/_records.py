"""Results of autotuning on disk: found again by other processes, read without executing anything.

One JSON file for each problem, device, driver and library, in the folder that ``NVMATH_AUTOTUNE_DIR`` names; without the variable
nothing is kept, since another algorithm may change the last bits of a result.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from ..._core.place import Cuda
from ...bindings import _cuda as driver
from ...bindings import cublasLt
from ._algorithm import Algorithm, matmul_heuristic_result_dtype
from ._options import MatmulOptions
from ._preferences import MatmulPlanPreferences
from ._problem import MatmulProblem

VARIABLE: Final = "NVMATH_AUTOTUNE_DIR"
_FORMAT: Final = 1


def folder() -> Path | None:
    """Where results are kept, or None."""
    chosen = os.environ.get(VARIABLE, "")
    return Path(chosen) if chosen else None


def key_of(problem: MatmulProblem, place: Cuda, options: MatmulOptions, preferences: MatmulPlanPreferences) -> str:
    """Everything that the choice of an algorithm depends on, as text."""
    layouts = [
        None if each is None else (each.dtype.name, each.rows, each.cols, each.row_stride, each.col_stride, each.batch_strides, each.conj,
                                   each.alignment)
        for each in (problem.a, problem.b, problem.c, problem.d, problem.bias, problem.auxiliary)
    ]  # fmt: skip
    epilog = problem.epilog.name if problem.epilog.function is None else "function"
    parts = (
        _FORMAT, problem.batch, layouts, epilog, problem.compute_type, problem.scale_type, problem.inplace, str(options.memory_limit),
        options.sm_count_target, options.fast_accumulation, preferences.key(),
        *(() if problem.narrow is None else (problem.narrow.key,)),
        driver.device_name(place.device_id), place.capability, driver.driver_get_version(), cublasLt.get_version(),
    )  # fmt: skip
    return json.dumps(parts, default=int)


def row_of(algorithm: Algorithm, times_ms: Sequence[float]) -> dict[str, Any]:
    """Return an algorithm as numbers."""
    return {"algorithm": algorithm.as_numpy().tobytes().hex(), "times_ms": list(times_ms)}


def algorithm_of(row: Any) -> tuple[Algorithm, tuple[float, ...]]:
    """Return the algorithm of such numbers, and its times.

    Raises
    ------
    ValueError, KeyError, TypeError
        They are something else.
    """
    raw = bytes.fromhex(row["algorithm"])
    if len(raw) != matmul_heuristic_result_dtype.itemsize:
        raise ValueError(f"an algorithm has {matmul_heuristic_result_dtype.itemsize} bytes, not {len(raw)}")
    times = tuple(float(each) for each in row["times_ms"])
    made = Algorithm(np.frombuffer(bytearray(raw), matmul_heuristic_result_dtype))
    made.score_ms = float(np.median(times)) if times else None
    return made, times


def _path(key: str, where: Path) -> Path:
    return where / f"matmul-{hashlib.sha256(key.encode()).hexdigest()}.json"


def keep(
    problem: MatmulProblem, place: Cuda, options: MatmulOptions, preferences: MatmulPlanPreferences, rows: Iterable[Any]
) -> None:
    """Store the candidates, fastest first; a folder that cannot be used only means that nothing is kept."""
    where = folder()
    if where is None:
        return
    key = key_of(problem, place, options, preferences)
    text = json.dumps({"key": key, "rows": [row_of(row.algorithm, row.times_ms) for row in rows]}, indent=1)
    with contextlib.suppress(OSError):
        where.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(".tmp", dir=where)
        with os.fdopen(handle, "w") as file:
            file.write(text)
        os.replace(temporary, _path(key, where))


def find(
    problem: MatmulProblem, place: Cuda, options: MatmulOptions, preferences: MatmulPlanPreferences
) -> tuple[Algorithm, ...] | None:
    """Return what was kept for a problem, or None; a damaged file counts as absent."""
    where = folder()
    if where is None:
        return None
    key = key_of(problem, place, options, preferences)
    try:
        found = json.loads(_path(key, where).read_text())
        if found["key"] != key:
            return None
        return tuple(algorithm_of(row)[0] for row in found["rows"][: preferences.limit]) or None
    except (OSError, KeyError, TypeError, ValueError):
        return None
