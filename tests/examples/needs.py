"""What an example or a snippet says that it needs, and whether that is here."""

from __future__ import annotations

import importlib.util

import pytest

from nvmath.bindings import _cuda, _load

NEEDS = "# needs: "


def needs_of(code: str) -> list[str] | None:
    """Return the words after ``# needs:`` in the first line, or None when it says nothing."""
    first = code.partition("\n")[0]
    return first.removeprefix(NEEDS).split() if first.startswith(NEEDS) else None


def require(words: list[str]) -> None:
    """Skip with the name of what is missing; `gpu` is a device, `library:x` a C library, `nothing` nothing, every other word a package."""
    for word in words:
        if word == "gpu":
            if _cuda.device_count() == 0:
                pytest.skip("no CUDA device")
        elif word.startswith("library:"):
            if _load.find_library(word.removeprefix("library:")) is None:
                pytest.skip(f"{_load.LIBRARIES[word.removeprefix('library:')].title} is not installed")
        elif word != "nothing" and importlib.util.find_spec(word) is None:
            pytest.skip(f"{word} is not installed")
