"""Every example runs, in a process and a folder of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .needs import require

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").rglob("*.py"))


def needs_of(example: Path) -> list[str]:
    """Return the words of the first line, ``# needs: ...``."""
    first = example.read_text(encoding="utf-8").partition("\n")[0]
    assert first.startswith("# needs: "), f"the first line of {example} must be '# needs: ...'"
    return first.removeprefix("# needs: ").split()


def test_there_are_examples_and_the_index_names_each():
    index = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert EXAMPLES
    assert [path.name for path in EXAMPLES if path.name not in index] == []


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_it_runs(example, tmp_path):
    require(needs_of(example))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))}
    done = subprocess.run(
        [sys.executable, str(example)], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout, "an example says something"
