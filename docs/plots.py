"""Draw the pictures of the documentation from real runs: python docs/plots.py [NAME ...]."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
from matplotlib import pyplot as plt

import nvmath

IMAGES = Path(__file__).parent / "images"
RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"
OURS, PEER, FAINT = "#00796b", "#e65100", "#9e9e9e"


def denoise() -> Any:
    """Two tones in noise; the spectrum; the tones after weak frequencies were removed."""
    rng = np.random.default_rng(0)
    rate = 1000
    t = np.arange(rate) / rate
    tones = np.sin(2 * np.pi * 50 * t) + 0.5 * np.sin(2 * np.pi * 120 * t)
    noisy = tones + rng.standard_normal(rate)
    spectrum = nvmath.fft.rfft(noisy)
    kept = np.where(np.abs(spectrum) < 130, 0, spectrum)
    clean = nvmath.fft.irfft(kept, norm="backward")
    figure, axes = plt.subplots(1, 3, figsize=(11, 2.6), layout="constrained")
    part = slice(0, 150)
    axes[0].plot(1e3 * t[part], noisy[part], color=FAINT)
    axes[0].set(title="signal", xlabel="ms")
    axes[1].plot(np.abs(spectrum), color=OURS, linewidth=0.8)
    axes[1].axhline(130, color=PEER, linewidth=1)
    axes[1].set(title="|rfft|, threshold", xlabel="Hz", xlim=(0, 250))
    axes[2].plot(1e3 * t[part], tones[part], color=FAINT, linewidth=4, label="without noise")
    axes[2].plot(1e3 * t[part], clean[part], color=OURS, label="irfft")
    axes[2].set(title="after removing weak frequencies", xlabel="ms")
    axes[2].legend(frameon=False, loc="upper right", fontsize=8)
    return figure


def window() -> Any:
    """A tone between two frequencies, with and without a window in the prolog."""

    def apply_window(data_in, offset, window, reserved):  # type: ignore[no-untyped-def]
        return data_in[offset] * window[offset]

    count = 4096
    signal = np.sin(2 * np.pi * 400.5 * np.arange(count) / count)
    hann = np.hanning(count)
    plain = np.abs(nvmath.fft.rfft(signal))
    windowed = np.abs(nvmath.fft.rfft(signal, prolog={"function": apply_window, "data": hann}))
    figure, axes = plt.subplots(figsize=(7, 2.8), layout="constrained")
    axes.semilogy(plain / plain.max(), color=FAINT, label="no window")
    axes.semilogy(windowed / windowed.max(), color=OURS, label="window in the prolog")
    axes.set(xlim=(200, 600), ylim=(1e-9, 2), xlabel="frequency", ylabel="relative magnitude")
    axes.legend(frameon=False)
    return figure


def call_cost() -> Any:
    """Time of a call against the length."""
    lengths = [2**power for power in range(4, 17)]
    times: dict[str, list[float]] = {"numpy.fft.fft": [], "nvmath.fft.fft": [], "FFT.execute": []}
    for length in lengths:
        a = np.random.default_rng(0).standard_normal(length).astype("complex128")
        with nvmath.fft.FFT(a) as transform:
            transform.plan()
            calls = (lambda a=a: np.fft.fft(a), lambda a=a: nvmath.fft.fft(a), transform.execute)
            rounds = [[_time(call) for call in calls] for _ in range(21)]
        for name, median in zip(times, np.median(rounds, axis=0), strict=True):
            times[name].append(float(median))
    figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
    for (name, values), color, style in zip(times.items(), (PEER, OURS, OURS), ("-o", "-o", "--s"), strict=True):
        axes.loglog(lengths, np.array(values) * 1e6, style, color=color, label=name, markersize=4)
    axes.set_xscale("log", base=2)
    axes.set(xlabel="points (complex128)", ylabel="microseconds a call")
    axes.grid(alpha=0.25, which="both")
    axes.legend(frameon=False)
    return figure


def _time(call: Callable[[], Any]) -> float:
    call()
    begin = time.perf_counter()
    count = 0
    while (passed := time.perf_counter() - begin) < 1.5e-3:
        call()
        count += 1
    return passed / count


FIGURES = {figure.__name__: figure for figure in (denoise, window, call_cost)}


def main(names: list[str]) -> None:
    """Draw the figures that are named, or all; copy the plots of the benchmarks that are shown."""
    mpl.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "font.size": 9})
    IMAGES.mkdir(exist_ok=True)
    for name in names or FIGURES:
        FIGURES[name]().savefig(IMAGES / f"{name}.png", dpi=120)
    shown = (IMAGES.parent / "measurements.md").read_text(encoding="utf-8")
    for file in sorted(RESULTS.glob("*.png")):
        if f"images/{file.name}" in shown:
            shutil.copyfile(file, IMAGES / file.name)


if __name__ == "__main__":
    main(sys.argv[1:])
