"""What the pages of the documentation claim to list, they list."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMPATIBILITY = (ROOT / "docs" / "compatibility.md").read_text()
TABLES = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", COMPATIBILITY, re.MULTILINE | re.DOTALL))
MODULES = ["fft", "linalg.matmul", "linalg.advanced", "linalg.direct_solver", "sparse.advanced", "tensor"]


def rows_of(text):
    return [line.split(" | ") for line in text.splitlines() if re.match(r"\| (wider|corrected) ", line)]


def test_every_environment_variable_is_explained():
    sources = (ROOT / "nvmath").rglob("*.py")
    used = {name for file in sources for name in re.findall(r"NVMATH_[A-Z_]+[A-Z]", file.read_text())}
    explained = set(re.findall(r"^\| `(NVMATH_[A-Z_]+)", (ROOT / "docs" / "guide" / "errors.md").read_text(), re.MULTILINE))
    assert used - {"NVMATH_"} == explained


@pytest.mark.parametrize("module", MODULES)
def test_every_module_has_a_table_of_what_is_wider_and_corrected(module):
    (table,) = (text for title, text in TABLES.items() if f"`nvmath.{module}`" in title)
    assert table.strip().startswith("Same: ")
    assert {row[0] for row in rows_of(table)} == {"| wider", "| corrected"}
    assert all(len(row) == 4 for row in rows_of(table))


def test_every_difference_is_listed_once():
    for title, text in TABLES.items():
        subjects = [row[1] for row in rows_of(text)]
        assert len(subjects) == len(set(subjects)), title
    shared = {row[1] for row in rows_of(TABLES["All modules"])}
    others = {row[1] for title, text in TABLES.items() if title != "All modules" for row in rows_of(text)}
    assert not shared & others
