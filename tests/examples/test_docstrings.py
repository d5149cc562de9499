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


@pytest.mark.parametrize("name", ["FFT", "FFTOptions", "fft", "ifft", "irfft", "rfft"])
def test_the_main_interface_has_examples(name):
    assert doctest.DocTestParser().get_examples(getattr(nvmath.fft, name).__doc__)
