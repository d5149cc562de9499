"""Command line of the tool."""

from __future__ import annotations

import argparse
import sys

from tools.bindgen import draft
from tools.bindgen.check import problems
from tools.bindgen.headers import read
from tools.bindgen.targets import TARGETS


def main() -> int:
    """Runs a command; the exit status is 1 if a check found something."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.bindgen", description="rows from C headers, and checks of rows"
    )
    commands = parser.add_subparsers(dest="command", required=True)
    write = commands.add_parser("write", help="print draft rows and enum tables")
    write.add_argument("library", choices=sorted(TARGETS))
    check = commands.add_parser("check", help="compare the committed rows with headers and libraries")
    check.add_argument("libraries", nargs="*", default=sorted(TARGETS))
    arguments = parser.parse_args()
    return _write(arguments.library) if arguments.command == "write" else _check(arguments.libraries)


def _write(name: str) -> int:
    target = TARGETS[name]
    headers = read(target.headers, target.prefix, target.defines)
    for line in (*draft.rows(headers, target.prefix), "", *draft.enums(headers, target.prefix)):
        print(line)
    return 0


def _check(names: list[str]) -> int:
    wrong = 0
    for name in names:
        for line in problems(name):
            print(f"{name}: {line}")
            wrong += not line.startswith("note:")
    print(f"{wrong} problem{'' if wrong == 1 else 's'} in {len(names)} libraries")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
