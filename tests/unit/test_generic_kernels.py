"""The device kernels of generic products: every variant compiles, and compiled for the host each computes what it should."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from frameworks import row_major
from generic_cases import Kind
from hypothesis import given, settings
from hypothesis import strategies as st
from matmul_cases import layouts

from nvmath._core.dtypes import DTYPES
from nvmath._core.layout import span
from nvmath.bindings import _load, _nvrtc
from nvmath.linalg._matrix import Matrix
from nvmath.linalg.generic import _kernels, _kernels_host
from nvmath.linalg.generic._lowering import Load
from nvmath.linalg.generic._qualifiers import Structure

sys.path.insert(0, str(Path(__file__).parent))
from kernels_on_host import kernels_on_host

DTYPES_HERE = ("float32", "complex128")


@pytest.fixture(scope="module")
def on_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with kernels_on_host(tmp_path_factory.mktemp("kernels")):
        yield


def structures() -> Any:
    return st.builds(Kind, st.sampled_from(("ge", "sy", "he", "tr", "dg")), *[st.booleans()] * 4)


@settings(max_examples=60)
@given(data=st.data(), kind=structures(), dtype=st.sampled_from(DTYPES_HERE), batch=st.sampled_from(((), (3,))))
def test_structure_written_out(on_host: None, data: Any, kind: Kind, dtype: str, batch: tuple[int, ...]) -> None:
    """The kernel gives what its twin on the host gives."""
    n = data.draw(st.integers(1, 5))
    conj = kind.conj and dtype.startswith("complex")
    shape, diagonal = (*batch, n, n), kind.kind == "dg"
    own = (*batch, n) if diagonal else shape
    strides = data.draw(layouts(own, True))
    row, col = (strides[-1], 0) if diagonal else strides[-2:]
    source = Matrix(n, n, row, col, strides[: len(batch)], DTYPES[dtype])
    order = row_major((*batch, n, n))
    if data.draw(st.booleans()):
        order = (*order[:-2], order[-1], order[-2])
    target = Matrix(n, n, *order[-2:], order[:-2], DTYPES[dtype])
    structure = Structure(kind.kind, kind.upper, kind.unit and kind.kind == "tr", kind.reverse and diagonal)
    load = Load("a", shape, source, target, structure, conj or kind.kind == "ge")
    low, high = span(own, strides)
    rng = np.random.default_rng(4)
    memory = (rng.random(high - low + 1) + 1j * rng.random(high - low + 1)).astype(
        dtype if "complex" in dtype else complex
    )
    memory = memory if "complex" in dtype else memory.real.astype(dtype)
    got, want = (np.full(shape, np.nan, dtype) for _ in range(2))
    start = memory.ctypes.data - low * memory.itemsize
    _kernels.loader(0, load)(start, got.ctypes.data, 0)
    _kernels_host.loader(load)(start, want.ctypes.data)
    np.testing.assert_array_equal(got, want)


@settings(max_examples=60)
@given(
    data=st.data(), dtype=st.sampled_from(DTYPES_HERE), has=st.tuples(*[st.booleans()] * 3), conj=st.tuples(*[st.booleans()] * 2),
    scalars=st.tuples(*[st.sampled_from((0.0, 1.0, -2.5))] * 2),
)  # fmt: skip
def test_sums(
    on_host: None, data: Any, dtype: str, has: tuple[bool, ...], conj: tuple[bool, ...], scalars: tuple[float, ...]
) -> None:
    """D = alpha * X * G + beta * C, in any layouts, without reading what is multiplied by zero."""
    shape = data.draw(st.sampled_from(((1, 1), (3, 4), (2, 3, 2))))
    rng = np.random.default_rng(5)
    terms, arrays, kept = [], [], []
    for present, conjugated in ((True, False), (has[0], conj[0]), (has[0] and has[1], conj[1]), (has[2], False)):
        strides = data.draw(layouts(shape, True))
        low, high = span(shape, strides)
        memory = rng.random(high - low + 1) + 1j * rng.random(high - low + 1)
        memory = memory.astype(dtype) if "complex" in dtype else memory.real.astype(dtype)
        view = np.ndarray(shape, dtype, memory, -low * memory.itemsize, [step * memory.itemsize for step in strides])
        conjugated = conjugated and "complex" in dtype
        terms.append(_kernels.Term(strides, conjugated) if present else None)
        arrays.append(view.conj() if conjugated else view)
        kept.append(view)
    values = np.array(scalars, dtype)
    combine = _kernels.Combine(
        0, DTYPES[dtype], shape, *terms, values.ctypes.data, values.ctypes.data + values.itemsize
    )
    d, g, x, c = arrays
    want = np.zeros(shape, complex)
    if terms[1]:
        want = want + values[0] * g * (x if terms[2] else 1)
    if terms[3]:
        want = want + values[1] * c
    if scalars[0] == 0:
        kept[1][...] = np.nan
    if scalars[1] == 0:
        kept[3][...] = np.nan
    pointers = [each.__array_interface__["data"][0] for each in kept]
    combine(pointers[1], pointers[0], pointers[2], pointers[3], 0)
    np.testing.assert_allclose(d, want if "complex" in dtype else want.real, rtol=1e-5)


@pytest.mark.skipif(_load.find_library("nvrtc") is None, reason="NVRTC is not installed")
@pytest.mark.parametrize("name", list(_kernels._TYPES))
def test_every_variant_compiles(name):
    for kind in _kernels._EXPRESSIONS:
        source = _kernels.expand_source(name, 3, False, 1, kind, True, kind == "tr", name.startswith("complex"))
        assert _nvrtc.compile(source, "expand.cu", ("-arch=sm_90",))
    for has in (
        (True, True, True),
        (True, False, True),
        (False, False, True),
        (False, False, False),
        (True, True, False),
    ):
        source = _kernels.combine_source(name, 2, True, has, (True, False))
        assert _nvrtc.compile(source, "combine.cu", ("-arch=sm_90",))
