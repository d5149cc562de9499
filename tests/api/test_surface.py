"""The public surface that code written for nvmath-python 1.0 relies on: names, parameters, defaults, fields, enumeration members.

``surface.json`` records it. Ours may have more (parameters with defaults, members, names), never less.
"""

import dataclasses
import enum
import importlib
import inspect
import json
from pathlib import Path

import pytest

SURFACE = json.loads(Path(__file__).with_name("surface.json").read_text())
ENTRIES = [pytest.param(module, name, id=f"{module}.{name}") for module, names in SURFACE.items() for name in names]
KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "positional-only",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "positional or keyword",
    inspect.Parameter.KEYWORD_ONLY: "keyword-only",
}


def parameters(function, *, bound=False):
    """Name, kind and default of every parameter."""
    signature = inspect.signature(function)
    rows = {
        name: (KINDS[parameter.kind], None if parameter.default is parameter.empty else repr(parameter.default))
        for name, parameter in signature.parameters.items()
    }
    if bound:
        rows.pop("self", None)
    return rows


def compare(where, recorded, ours):
    recorded = [row for row in recorded if row[0] != "self"]
    order = [name for name in ours if name in {row[0] for row in recorded}]
    assert order == [row[0] for row in recorded], f"{where}: parameters {order}"
    for name, kind, default in recorded:
        assert ours[name] == (kind, default), f"{where}({name}): {ours[name]}, recorded {kind, default}"
    for name in ours.keys() - {row[0] for row in recorded}:
        kind, default = ours[name]
        assert kind == "keyword-only", f"{where}: our own parameter {name} must be keyword-only"
        assert default is not None, f"{where}: our own parameter {name} must have a default"


@pytest.mark.parametrize(("module", "name"), ENTRIES)
def test_it_is_there_and_takes_the_same(module, name):
    recorded = SURFACE[module][name]
    ours = getattr(importlib.import_module(module), name)
    where = f"{module}.{name}"
    if "function" in recorded:
        compare(where, recorded["function"], parameters(ours))
    elif "enum" in recorded:
        assert issubclass(ours, enum.IntEnum)
        assert {member.name: member.value for member in ours} == recorded["enum"]
    elif "class" in recorded:
        compare_class(where, recorded, ours)


def compare_class(where, recorded, ours):
    assert inspect.isclass(ours)
    fields = recorded.get("fields")
    compare(where, recorded["class"], parameters(ours.__init__, bound=True))
    if fields is not None:
        found = {field.name: repr(field.default) for field in dataclasses.fields(ours)}
        assert found == fields
        assert ours.__dataclass_params__.frozen == recorded["frozen"]
    for member, rows in recorded.get("members", {}).items():
        assert hasattr(ours, member), f"{where} has no {member}"
        if rows is not None and member not in ("__enter__", "__exit__"):
            compare(f"{where}.{member}", rows, parameters(getattr(ours, member), bound=True))


@pytest.mark.parametrize("module", SURFACE)
def test_all_lists_the_recorded_names(module):
    listed = set(importlib.import_module(module).__all__)
    assert set(SURFACE[module]) <= listed
    assert all(hasattr(importlib.import_module(module), name) for name in listed)


def test_names_of_the_top_level():
    nvmath = importlib.import_module("nvmath")
    assert {"bindings", "fft", "memory", "__version__", "plan_cache"} <= set(nvmath.__all__)
    assert isinstance(nvmath.__version__, str)


# type, and a type that it must not be
EXCEPTIONS = [
    ("nvmath.fft", "UnsupportedLayoutError", Exception, ValueError),
    ("nvmath.fft", "InvalidFFTState", Exception, RuntimeError),
    ("nvmath.bindings.nvpl.fft", "FFTWError", Exception, RuntimeError),
    ("nvmath.bindings.cufft", "cuFFTError", Exception, RuntimeError),
]


@pytest.mark.parametrize(("module", "name", "base", "other"), EXCEPTIONS)
def test_exceptions_have_their_bases(module, name, base, other):
    error = getattr(importlib.import_module(module), name)
    assert issubclass(error, base)
    assert not issubclass(error, other)


def test_unaligned_is_an_fftw_error():
    from nvmath.bindings.nvpl.fft import FFTWError, FFTWUnaligned

    assert issubclass(FFTWUnaligned, FFTWError)


@pytest.mark.parametrize("module", SURFACE)
def test_everything_public_is_documented(module):
    for name in importlib.import_module(module).__all__:
        value = getattr(importlib.import_module(module), name)
        if inspect.isfunction(value) or inspect.isclass(value):
            assert value.__doc__, f"{module}.{name} has no docstring"
            assert "Parameters" in value.__doc__ or not inspect.isfunction(value) or "parameters" in value.__doc__
