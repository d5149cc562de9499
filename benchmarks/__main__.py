"""Run every benchmark that can run here, each in a process of its own, and write tables and plots.

python -m benchmarks [--out FOLDER] [--seconds S]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from nvmath.bindings import _cuda

EVERYWHERE = ("host_overhead", "generic_matmul", "narrow_matmul", "dense_solver", "sparse_solver")
ON = {"cpu": ("cpu_fft", "cpu_matmul", "cpu_tensor", "bindings_call"), "gpu": ("gpu_fft", "gpu_matmul", "gpu_tensor")}


def stem_of(name: str, place: str) -> str:
    """The name of the files of the results."""
    return f"{place}_{name}" if name in EVERYWHERE else name


def main() -> int:
    """Run, and return the number of benchmarks that failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure nvmath beside its peers.")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"), help="folder of the results")
    parser.add_argument("--seconds", type=float, default=2.0, help="time for each case (default: 2)")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    place = "gpu" if _cuda.device_count() else "cpu"
    failed = 0
    for name in (*EVERYWHERE, *ON[place]):
        stem = asked.out / stem_of(name, place)
        files = [
            f"--{kind}={stem}.{ending}" for kind, ending in (("json", "json"), ("markdown", "md"), ("plot", "png"))
        ]
        program = [sys.executable, "-m", f"benchmarks.{name}", f"--seconds={asked.seconds}", *files]
        failed += subprocess.run(program).returncode != 0
    return failed


if __name__ == "__main__":
    sys.exit(main())
