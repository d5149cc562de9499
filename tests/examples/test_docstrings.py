"""The examples of the docstrings."""

import doctest
import importlib
import pkgutil

import pytest

import nvmath

MODULES = sorted(
    module.name for module in pkgutil.walk_packages(nvmath.__path__, "nvmath.") if not module.name.endswith("__main__")
)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.parametrize("name", MODULES)
def test_they_run(name):
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "nvmath").startswith("nvmath"):
            raise
        pytest.skip(f"{error.name} is not installed")
    failed, _ = doctest.testmod(module, optionflags=FLAGS)
    assert failed == 0


def test_the_main_interface_has_examples():
    found = {test.name for test in doctest.DocTestFinder().find(nvmath.fft, globs={}) if test.examples}
    from nvmath.fft import _api

    found |= {test.name for test in doctest.DocTestFinder().find(_api) if test.examples}
    for name in ("fft", "ifft", "rfft", "irfft", "FFT"):
        assert any(entry.endswith("." + name) for entry in found)
