"""The table of data types."""

import pickle

import pytest

import nvmath
from nvmath._core.dtypes import DTYPES, dtype

# name: (cudaDataType_t, bits), from the public documentation of CUDA
CODES = {
    "float16": (2, 16), "bfloat16": (14, 16), "float32": (0, 32), "float64": (1, 64), "complex32": (6, 32),
    "bcomplex32": (15, 32), "complex64": (4, 64), "complex128": (5, 128), "int4": (16, 4), "uint4": (18, 4), "int8": (3, 8),
    "uint8": (8, 8), "int16": (20, 16), "uint16": (22, 16), "int32": (10, 32), "uint32": (12, 32), "int64": (24, 64),
    "uint64": (26, 64), "float8_e4m3fn": (28, 8), "float8_e5m2": (29, 8), "float4_e2m1fn_x2": (33, 4),
}  # fmt: skip


def test_every_row():
    assert {name: (row.code, row.bits) for name, row in DTYPES.items()} == CODES


@pytest.mark.parametrize("name", CODES)
def test_codes_are_those_of_the_public_enumeration(name):
    member = nvmath.CudaDataType(DTYPES[name].code).name
    part = "C" if DTYPES[name].kind == "c" else "R"
    assert member.startswith(f"CUDA_{part}_")


@pytest.mark.parametrize(
    ("real", "complex_"),
    [("float16", "complex32"), ("bfloat16", "bcomplex32"), ("float32", "complex64"), ("float64", "complex128")],
)
def test_partners(real, complex_):
    assert dtype(real).complex is dtype(complex_)
    assert dtype(complex_).real is dtype(real)
    assert dtype(real).real is dtype(real)
    assert dtype(complex_).complex is dtype(complex_)
    assert dtype(complex_).itemsize == 2 * dtype(real).itemsize
    assert dtype(complex_).compute == dtype(real).compute


def test_compute_types():
    for name in ("float16", "bfloat16", "float32", "float64", "int8", "uint8", "int32", "uint32"):
        assert nvmath.ComputeType(DTYPES[name].compute)
    assert nvmath.ComputeType(DTYPES["complex64"].compute) is nvmath.ComputeType.COMPUTE_32F


def test_rows_are_interned_and_survive_pickling():
    for name, row in DTYPES.items():
        assert dtype(name) is row
        assert pickle.loads(pickle.dumps(row)) is row
        assert repr(row) == name
        assert row.itemsize >= 1


@pytest.mark.parametrize("name", ["c8", "complex256", "FLOAT32", "", "float"])
def test_an_unknown_name(name):
    with pytest.raises(ValueError, match=r"not supported.*float16, bfloat16"):
        dtype(name)


def test_integers_have_no_complex_type():
    with pytest.raises(ValueError, match="no complex type for int8"):
        _ = dtype("int8").complex
