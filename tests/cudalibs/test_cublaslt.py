"""cuBLASLt and cuBLAS without a GPU: symbols, versions, descriptors, layouts, attributes."""

from __future__ import annotations

import itertools
from array import array
from typing import Any

import numpy as np
import pytest

from nvmath._core.attributes import Cell, get, put
from nvmath.bindings import _load, cublas, cublasLt

pytestmark = pytest.mark.skipif(
    _load.find_library("cublasLt") is None, reason="cuBLASLt is not installed (pip install nvidia-cublas)"
)

LETTERS = {"int8": "b", "int32": "i", "uint16": "H", "uint32": "I", "int64": "q", "uint64": "Q", "float32": "f"}


def test_versions() -> None:
    major, minor, patch = (cublasLt.get_property(kind) for kind in range(3))
    assert cublasLt.get_version() == 10000 * major + 100 * minor + patch
    assert _load.open_library("cublasLt").version == f"{major}.{minor}.{patch}"


def test_statuses() -> None:
    assert cublasLt.get_status_name(15) == "CUBLAS_STATUS_NOT_SUPPORTED"
    with pytest.raises(cublasLt.cuBLASLtError, match="CUBLAS_STATUS_NOT_SUPPORTED") as caught:
        cublasLt.check_status(15)
    assert caught.value.status == cublas.Status.NOT_SUPPORTED
    assert str(cublas.cuBLASError(99)) == "unknown CUBLAS_STATUS status 99"
    assert [cublasLt.get_status_name(status).removeprefix("CUBLAS_STATUS_") for status in cublas.Status] == [
        s.name for s in cublas.Status
    ]


@pytest.fixture
def desc() -> Any:
    made = cublasLt.matmul_desc_create(cublas.ComputeType.COMPUTE_32F, 0)
    yield made
    cublasLt.matmul_desc_destroy(made)


@pytest.fixture
def layout() -> Any:
    made = cublasLt.matrix_layout_create(0, 5, 7, 6)
    yield made
    cublasLt.matrix_layout_destroy(made)


def test_a_layout(layout: int) -> None:
    getter = cublasLt.matrix_layout_get_attribute
    attributes = cublasLt.MatrixLayoutAttribute
    for name, letter, value in (
        ("TYPE", "I", 0),
        ("ROWS", "Q", 5),
        ("COLS", "Q", 7),
        ("LD", "q", 6),
        ("ORDER", "i", 0),
        ("BATCH_COUNT", "i", 1),
    ):
        assert get(getter, layout, attributes[name], letter) == value
    for name, letter, value in (("ORDER", "i", 1), ("BATCH_COUNT", "i", 9), ("STRIDED_BATCH_OFFSET", "q", 2**40)):
        put(cublasLt.matrix_layout_set_attribute, layout, attributes[name], letter, value)
        assert get(getter, layout, attributes[name], letter) == value


def test_every_attribute_of_a_descriptor_has_the_width_that_we_say(desc: int) -> None:
    for attribute in cublasLt.MatmulDescAttribute:
        kind = cublasLt.get_matmul_desc_attribute_dtype(attribute)
        written, buffer = array("Q", [0]), array("Q", [0] * 8)
        try:
            size = np.dtype(kind).itemsize
            cublasLt.matmul_desc_get_attribute(desc, attribute, buffer.buffer_info()[0], size, written.buffer_info()[0])
        except cublasLt.cuBLASLtError as error:
            assert error.status == 7, attribute  # noqa: PT017, this version does not know the attribute
            continue
        assert written[0] == size, attribute


@pytest.mark.parametrize(
    ("family", "enum"),
    [
        ("matmul_desc", "MatmulDescAttribute"),
        ("matrix_layout", "MatrixLayoutAttribute"),
        ("matmul_algo_cap", "MatmulAlgoCapAttribute"),
        ("matmul_algo_config", "MatmulAlgoConfigAttribute"),
        ("matrix_transform_desc", "MatrixTransformDescAttribute"),
        ("emulation_desc", "EmulationDescAttribute"),
    ],
)  # fmt: skip
def test_every_attribute_has_a_width(family: str, enum: str) -> None:
    for attribute in getattr(cublasLt, enum):
        kind = getattr(cublasLt, f"get_{family}_attribute_dtype")(attribute)
        assert np.dtype(kind).name in LETTERS


def test_an_attribute_without_a_value() -> None:
    with pytest.raises(ValueError, match="MATH_MODE_MASK has no value"):
        cublasLt.get_matmul_preference_attribute_dtype(cublasLt.MatmulPreferenceAttribute.MATH_MODE_MASK)


def test_descriptors_keep_what_is_put(desc: int) -> None:
    getter, setter = cublasLt.matmul_desc_get_attribute, cublasLt.matmul_desc_set_attribute
    attributes = cublasLt.MatmulDescAttribute
    values = {
        "TRANSA": ("i", cublas.Operation.C), "TRANSB": ("i", cublas.Operation.T), "EPILOGUE": ("I", cublasLt.Epilogue.RELU_BIAS),
        "BIAS_POINTER": ("Q", 0x7F00_0000_1000), "BIAS_BATCH_STRIDE": ("q", 12), "BIAS_DATA_TYPE": ("i", 2),
        "SM_COUNT_TARGET": ("i", 3), "FAST_ACCUM": ("b", 1),
    }  # fmt: skip
    for name, (letter, value) in values.items():
        put(setter, desc, attributes[name], letter, value)
    for name, (letter, value) in values.items():
        assert get(getter, desc, attributes[name], letter) == value


def test_a_cell_is_set_when_it_changes(desc: int) -> None:
    calls = []

    def setter(*arguments: int) -> None:
        calls.append(arguments)
        cublasLt.matmul_desc_set_attribute(*arguments)

    pointer = cublasLt.MatmulDescAttribute.BIAS_POINTER
    cell = Cell(setter, desc, pointer, 4096)
    for address in (4096, 8192, 8192):
        cell.set(address)
    assert len(calls) == 2
    assert get(cublasLt.matmul_desc_get_attribute, desc, pointer, "Q") == 8192


def test_preferences() -> None:
    preference = cublasLt.matmul_preference_create()
    attributes = cublasLt.MatmulPreferenceAttribute
    values = {
        "MAX_WORKSPACE_BYTES": ("Q", 1 << 35), "REDUCTION_SCHEME_MASK": ("I", 3), "MAX_WAVES_COUNT": ("f", 1.5),
        "IMPL_MASK": ("Q", 2**64 - 1), "MIN_ALIGNMENT_A_BYTES": ("I", 16),
    }  # fmt: skip
    for name, (letter, value) in values.items():
        put(cublasLt.matmul_preference_set_attribute, preference, attributes[name], letter, value)
        assert get(cublasLt.matmul_preference_get_attribute, preference, attributes[name], letter) == value
    cublasLt.matmul_preference_destroy(preference)


def test_a_width_that_is_wrong_is_refused(desc: int) -> None:
    with pytest.raises(cublasLt.cuBLASLtError, match="CUBLAS_STATUS_INVALID_VALUE"):
        put(cublasLt.matmul_desc_set_attribute, desc, cublasLt.MatmulDescAttribute.EPILOGUE, "Q", 1)


def test_no_handle_without_a_device() -> None:
    from nvmath._core import place

    if place.has_device():
        pytest.skip("there is a CUDA device")
    with pytest.raises(cublasLt.cuBLASLtError, match="CUBLAS_STATUS_"):
        cublasLt.create()


def test_aliases_are_one_object() -> None:
    import nvmath.linalg
    from nvmath.linalg import advanced

    assert nvmath.linalg.ComputeType is advanced.MatmulComputeType is cublas.ComputeType
    assert advanced.MatmulEpilog is cublasLt.Epilogue
    assert nvmath.linalg.FillMode is cublas.FillMode
    pairs = itertools.chain(cublas.Operation.__members__.items(), cublasLt.Order.__members__.items())
    assert {name: int(value) for name, value in pairs} == {
        "N": 0, "T": 1, "C": 2, "HERMITAN": 2, "CONJG": 3, "COL": 0, "ROW": 1, "COL32": 2, "COL4_4R2_8C": 3, "COL32_2R_4R4": 4,
    }  # fmt: skip
