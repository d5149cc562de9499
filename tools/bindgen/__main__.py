"""Command line of the tool."""

from __future__ import annotations

import argparse
import importlib
import re
import sys
from pathlib import Path

from tools.bindgen import stubs
from tools.bindgen.check import problems
from tools.bindgen.packages import editions
from tools.bindgen.targets import TARGETS
from tools.bindgen.write import Written, write


def main() -> int:
    """Runs a command; the exit status is 1 if a check found something."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.bindgen", description="rows from C headers, and checks of rows"
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, what in (("write", "write the rows and enum tables into the modules"), ("check", "compare them")):
        commands.add_parser(name, help=what).add_argument("libraries", nargs="*", default=sorted(TARGETS))
    commands.add_parser("stubs", help="write type stubs").add_argument("folder", type=Path)
    arguments = parser.parse_args()
    if arguments.command == "stubs":
        return print(f"{len(stubs.write(arguments.folder))} stubs in {arguments.folder}") or 0
    return _write(arguments.libraries) if arguments.command == "write" else _check(arguments.libraries)


def _write(names: list[str]) -> int:
    for name in names:
        target = TARGETS[name]
        found = editions(target)
        if not found:
            print(f"{name}: no {target.headers[0]}")
            continue
        module = importlib.import_module(target.module)
        written = write(target, found, module._library)
        for note in written.notes:
            print(f"{name}: {note}")
        _replace(Path(str(module.__file__)), written)
    return 0


def _replace(file: Path, written: Written) -> None:
    """Puts the tables between the quotes of ``_ROWS`` and ``_ENUMS``."""
    text = file.read_text(encoding="utf-8")
    for name, table in (("_ROWS", written.rows), ("_ENUMS", written.enums)):
        text = re.sub(
            rf'(?ms)^{name} = """\n.*?^"""', lambda _, name=name, table=table: f'{name} = """\n{table}\n"""', text
        )
    file.write_text(text, encoding="utf-8")


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
