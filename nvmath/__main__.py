"""``python -m nvmath info | demo``."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from ._version import __version__


def _parser() -> argparse.ArgumentParser:
    about = "What nvmath finds on this machine, and a demonstration of what it does with it."
    parser = argparse.ArgumentParser(prog="python -m nvmath", description=about)
    parser.add_argument("--version", action="version", version=f"nvmath-anywhere {__version__}")
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
    try:
        status = _run(asked)
        sys.stdout.flush()
    except ValueError as error:  # a wrong NVMATH_ variable, say
        print(f"python -m nvmath: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader, such as head, has seen enough; nothing may fail at exit either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return status


def _run(asked: argparse.Namespace) -> int:
    if asked.command == "info":
        from ._info import report

        report(as_json=asked.json)
        return 0
    from ._demo import run

    return run(asked.photo, asked.sigma, asked.output, asked.execution)


if __name__ == "__main__":
    sys.exit(main())
