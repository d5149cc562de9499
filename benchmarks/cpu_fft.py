"""Transforms on the CPU: planned execution beside numpy, scipy, mkl_fft and torch, all with the same number of threads.

numpy.fft has one thread. Results are compared before times are.

    python -m benchmarks.cpu_fft [--json FILE] [--markdown FILE] [--plot FILE] [--seconds S]
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nvmath._core.options import available_threads

THREADS = available_threads()
for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, str(THREADS))

import numpy as np  # noqa: E402

from nvmath.fft import FFT  # noqa: E402

from .harness import Case, Contenders, arguments, measure, report  # noqa: E402
from .peers import peer  # noqa: E402


@dataclass(frozen=True)
class Transform:
    """One row: the operand's shape, the axes and the kind; for c2r the shape is that of the real result."""

    kind: str
    shape: tuple[int, ...]
    axes: tuple[int, ...]
    dtype: str

    def __str__(self) -> str:
        shape = " x ".join(map(str, self.shape))
        axes = "" if len(self.axes) == len(self.shape) else f" axis {', '.join(map(str, self.axes))}"
        return f"{self.kind} {shape}{axes} {self.dtype}"

    def operand(self) -> Any:
        """Return random values."""
        rng = np.random.default_rng(0)
        real = rng.standard_normal(self.shape).astype("float32" if self.dtype == "f32" else "float64")
        if self.kind == "r2c":
            return real
        if self.kind == "c2r":
            return np.fft.rfftn(real, axes=self.axes).astype(np.result_type(real, np.complex64))
        return real + 1j * rng.standard_normal(self.shape).astype(real.dtype)


ROWS = (
    Transform("c2c", (2**20,), (0,), "f64"),
    Transform("c2c", (2**20,), (0,), "f32"),
    Transform("r2c", (2**20,), (0,), "f64"),
    Transform("c2c", (4096, 1024), (1,), "f64"),
    Transform("c2c", (4096, 1024), (0,), "f64"),
    Transform("c2c", (2048, 2048), (0, 1), "f64"),
    Transform("c2c", (2048, 2048), (0, 1), "f32"),
    Transform("r2c", (2048, 2048), (0, 1), "f32"),
    Transform("c2r", (2048, 2048), (0, 1), "f32"),
    Transform("c2c", (256, 256, 256), (0, 1, 2), "f32"),
    Transform("r2c", (256, 256, 256), (0, 1, 2), "f32"),
    Transform("c2c", (100, 10007), (1,), "f64"),
    Transform("c2c", (99225,), (0,), "f64"),
    Transform("c2c", (64, 1024, 64), (1,), "f64"),
    Transform("r2c", (10000, 64), (1,), "f64"),
)


def contenders(row: Transform, a: Any) -> Contenders:
    """Return everybody who can do a row."""
    transform = FFT(a, axes=row.axes, options={"fft_type": row.kind.upper()}, execution={"num_threads": THREADS})
    transform.plan()
    found: Contenders = {"nvmath": transform.execute}
    names = {"c2c": "fftn", "r2c": "rfftn", "c2r": "irfftn"}
    name, axes, norm = names[row.kind], row.axes, "forward" if row.kind == "c2r" else "backward"
    lengths = [row.shape[axis] for axis in row.axes]
    for package, label, extra in (
        ("scipy.fft", "scipy.fft", {"workers": THREADS}),
        ("mkl_fft", "mkl_fft", {}),
        ("numpy.fft", "numpy.fft", {}),
    ):
        module = peer(package)
        if module is not None:
            found[label] = _call(getattr(module, name), a, lengths, axes, norm, extra)
    torch = peer("torch")
    if torch is not None:
        torch.set_num_threads(THREADS)
        tensor, function = torch.from_numpy(a), getattr(torch.fft, name)
        found["torch.fft"] = lambda: function(tensor, s=lengths, dim=axes, norm=norm)
    return found


def _call(function: Any, a: Any, lengths: Sequence[int], axes: Sequence[int], norm: str, extra: dict[str, Any]) -> Any:
    return lambda: function(a, s=lengths, axes=axes, norm=norm, **extra)


def check(row: Transform, found: Contenders) -> None:
    """Compare all results with ours."""
    tolerance = 1e-5 if row.dtype == "f32" else 1e-12
    expected = np.asarray(found["nvmath"]())
    for name, function in found.items():
        difference = np.linalg.norm(np.asarray(function()) - expected) / np.linalg.norm(expected)
        if not difference < tolerance:
            raise AssertionError(f"{row}: {name} differs from nvmath by {difference:.1e}")


def cases(seconds: float) -> list[Case]:
    """Measure all rows."""
    done = []
    for row in ROWS:
        found = contenders(row, row.operand())
        check(row, found)
        done.append(measure(str(row), found, "nvmath", seconds=seconds))
    return done


if __name__ == "__main__":
    asked = arguments(__doc__)
    report(f"FFT on the CPU, {THREADS} thread{'s' if THREADS > 1 else ''}", cases(asked.seconds), asked)
