"""What attributes hold: the table, and that every function says what every attribute has."""

from __future__ import annotations

import enum
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from nvmath.bindings import _dtypes, cublasLt, cublasMp, cudss, cusolverMp, cusparse, cusparseLt, cutensor

TEXT = """
get_a_dtype A int64 ONE
    float32 TWO THREE
get_b_dtype B int64 ONE int32 *
"""


class A(enum.IntEnum):
    ONE = 1
    TWO = 2
    FOUR = 4


def test_a_line_is_a_function() -> None:
    tables = _dtypes.dtypes(TEXT)
    assert tables == {
        "get_a_dtype": ("A", {"ONE": "int64", "TWO": "float32", "THREE": "float32"}),
        "get_b_dtype": ("B", {"ONE": "int64", "*": "int32"}),
    }
    function = _dtypes.dtype_function("get_a_dtype", A, tables["get_a_dtype"][1], "module")
    assert (function(1), function(A.TWO)) == (np.int64, np.float32)
    assert _dtypes.dtype_function("get_b_dtype", A, tables["get_b_dtype"][1], "module")(4) is np.int32
    assert (function.__name__, function.__module__) == ("get_a_dtype", "module")
    for kind in (KeyError, ValueError):  # the original raises the first
        with pytest.raises(kind, match=r"^get_a_dtype\(\): A.FOUR has no value of a known type$"):
            function(4)
        with pytest.raises(kind, match=r"^get_a_dtype\(\): 5 is no value of A$"):
            function(5)


MODULES = (cublasLt, cublasMp, cudss, cusolverMp, cusparse, cusparseLt, cutensor)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.rpartition(".")[2])
def test_tables_name_members(module: ModuleType) -> None:
    library: Any = module._library
    for name, (enum_, kinds) in library.tables.dtypes.items():
        assert set(kinds) - {"*"} <= set(getattr(module, enum_).__members__), name
        for member in getattr(module, enum_):
            if member.name in kinds or "*" in kinds:
                assert np.dtype(getattr(module, name)(member)).itemsize in (1, 2, 4, 8)
