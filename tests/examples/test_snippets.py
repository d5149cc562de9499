"""Every Python block of the README and the documentation runs; the blocks of a page share their names, in order.

A first line ``# needs: ...`` says what a block needs: `gpu`, `torch`, `numba`, ...
"""

import logging
from pathlib import Path

import pytest

import nvmath

from .needs import needs_of, require
from .snippets import snippets_of

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
ALL = [(page, index) for page in PAGES for index in range(len(snippets_of(page)))]
_names: dict[Path, dict] = {}


def test_the_readme_has_blocks():
    assert len(snippets_of(ROOT / "README.md")) >= 4


@pytest.fixture(autouse=True)
def clean(tmp_path, monkeypatch):
    """A folder of its own; what a block changes for the whole process is put back."""
    monkeypatch.chdir(tmp_path)
    root = logging.getLogger()
    level, handlers = root.level, root.handlers[:]
    yield
    root.setLevel(level)
    root.handlers[:] = handlers
    nvmath.plan_cache.configure(max_entries=256, max_nbytes=2**30, enabled=True)


@pytest.mark.parametrize(
    ("page", "index"), ALL, ids=[f"{page.relative_to(ROOT)}:{snippets_of(page)[index].line}" for page, index in ALL]
)
def test_it_runs(page, index):
    snippet = snippets_of(page)[index]
    require(needs_of(snippet.code) or [])
    names = _names.setdefault(page, {"__name__": "__main__"})
    code = compile("\n" * (snippet.line - 1) + snippet.code, str(page), "exec")
    exec(code, names)
