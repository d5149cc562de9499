"""Every example runs, in a process and a folder of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .needs import needs_of, require

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").rglob("*.py"))


def test_there_are_examples_and_the_index_names_each():
    index = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert EXAMPLES
    assert [path.name for path in EXAMPLES if path.name not in index] == []


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_it_runs(example, tmp_path):
    needs = needs_of(example.read_text(encoding="utf-8"))
    assert needs is not None, "the first line of an example is '# needs: ...'"
    require(needs)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))}
    done = subprocess.run(
        [sys.executable, str(example)], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout, "an example says something"
