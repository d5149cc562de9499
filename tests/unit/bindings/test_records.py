"""Structures as NumPy arrays: fields, addresses, memory that is shared, presets, nesting."""

from __future__ import annotations

import ctypes
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from nvmath.bindings import _adapted, _records, cublasLt
from nvmath.bindings._bind import Bindings, substitute

TEXT = """
Record Inner: version=i32:7 data_=u64[2]
Record Outer: flag=byte inner=Inner size_=usize ratio=f32 address=ptr
"""


@pytest.fixture
def structures() -> dict[str, Any]:
    table, made = _records.records(TEXT), {}

    def resolve(name: str) -> Any:
        if name not in made:
            made[name] = _records.record_class(name, table[name], "toy", resolve)
        return made[name]

    for name in table:
        resolve(name)
    return made


class _Inner(ctypes.Structure):
    _fields_ = (("version", ctypes.c_int), ("data_", ctypes.c_uint64 * 2))


class _Outer(ctypes.Structure):
    _fields_ = (
        ("flag", ctypes.c_ubyte), ("inner", _Inner), ("size_", ctypes.c_size_t), ("ratio", ctypes.c_float),
        ("address", ctypes.c_void_p),
    )  # fmt: skip


def test_fields_lie_as_in_c(structures: dict[str, Any]) -> None:
    dtype = structures["Outer"].dtype_of
    assert dtype.itemsize == ctypes.sizeof(_Outer)
    assert {name: dtype.fields[name][1] for name in dtype.names} == {
        name: getattr(_Outer, name).offset for name, _ in _Outer._fields_
    }


def test_one_structure_has_numbers_and_several_have_arrays(structures: dict[str, Any]) -> None:
    one, three = structures["Outer"](), structures["Outer"](3)
    one.ratio = 1.5
    three.size_ = [1, 2, 3]
    assert (one.ratio, one.size_) == (1.5, 0)
    assert three.size_.tolist() == [1, 2, 3]
    assert three[1:].size_.tolist() == [2, 3]
    assert one.inner.version == 7
    assert three.inner.version.tolist() == [7, 7, 7]
    three.inner.data_[1, 0] = 5
    assert three["inner"]["data_"][1].tolist() == [5, 0]


def test_memory_is_shared(structures: dict[str, Any]) -> None:
    kind = structures["Outer"]
    first = kind(2)
    for other in (kind.from_ptr(first.ptr, 2), kind.from_data(np.asarray(first)), kind.from_buffer(first)):
        other.size_ = [4, 5]
        assert first.size_.tolist() == [4, 5]
        other.size_ = [0, 0]
    frozen = kind.from_ptr(first.ptr, 2, readonly=True)
    with pytest.raises(ValueError, match="read-only"):
        frozen.size_ = [1, 1]
    with pytest.raises(ValueError, match="the address is 0"):
        kind.from_ptr(0)
    with pytest.raises(ValueError, match="needs an array of dtype"):
        kind.from_data(np.zeros(2))


def test_a_structure_of_a_library() -> None:
    results = cublasLt.MatmulHeuristicResult(2)
    assert (results.itemsize, results.algo.itemsize) == (96, 64)
    assert isinstance(results.algo, cublasLt.MatmulAlgo)
    assert results.ptr == results.ctypes.data
    with pytest.raises(ValueError, match="not a field"):
        _records.record_class("Bad", [("a", "i32]")], "toy", lambda name: None)


# ------------------------------------------------------------------------------------------------ structures of C that we own


def test_structures_of_c_are_allocated_and_freed() -> None:
    """``new`` is allocated, filled by C and returned; ``end`` is passed and freed."""
    seen: list[tuple[Any, ...]] = []

    def init(a: int, made: int, b: int) -> None:
        ctypes.memset(made, 7, 512)
        seen.append((a, made, b))

    module: Any = ModuleType("toy")
    module._ROWS = "toyInit(a: ptr, made: new, b: i32)\ntoyEnd(made: end)\ntoyFail(made: new)\n"
    bindings = Bindings("cufft", module.__dict__, prefix="toy")
    library = SimpleNamespace(toyInit=init, toyEnd=lambda made: seen.append((made,)), toyFail=lambda made: 1 / 0)
    with substitute("cufft", library):
        address = bindings.init(1, b=2)
        assert seen == [(1, address, 2)]
        assert address % 16 == 0
        assert address in _adapted._memory
        assert ctypes.string_at(address, 512) == b"\7" * 512
        bindings.end(address)
        assert seen[-1] == (address,)
        assert address not in _adapted._memory
        held = len(_adapted._memory)
        with pytest.raises(ZeroDivisionError):
            bindings.fail()
        assert len(_adapted._memory) == held
