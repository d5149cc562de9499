"""``python -m nvmath info | demo``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def _parser() -> argparse.ArgumentParser:
    about = "What nvmath finds on this machine, and a demonstration of what it does with it."
    parser = argparse.ArgumentParser(prog="python -m nvmath", description=about)
    commands = parser.add_subparsers(dest="command", required=True)
    info = commands.add_parser("info", help="versions, devices, and which library serves what from where")
    info.add_argument("--json", action="store_true", help="the same for programs")
    demo = commands.add_parser("demo", help="blur a photograph in the frequency domain, check and time it")
    demo.add_argument("photo", nargs="?", type=Path, help="a JPEG or PNG file; by default one that scikit-image ships")
    demo.add_argument("--sigma", type=float, default=8.0, help="width of the Gaussian in pixels (default: 8)")
    demo.add_argument("--output", type=Path, default=Path("demo.png"), help="the picture to write (default: demo.png)")
    demo.add_argument("--execution", choices=("cpu", "cuda"), help="default: a GPU when there is one")
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return the exit status."""
    asked = _parser().parse_args(arguments)
    if asked.command == "info":
        from ._info import report

        report(as_json=asked.json)
        return 0
    from ._demo import run

    return run(asked.photo, asked.sigma, asked.output, asked.execution)


if __name__ == "__main__":
    sys.exit(main())
