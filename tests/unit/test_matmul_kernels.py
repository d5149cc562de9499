"""The kernels that follow a product, built for a GPU by NVRTC and nvJitLink: no device is needed for that."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from frameworks import row_major

from nvmath._core import jit, kernels
from nvmath._core.dtypes import DTYPES
from nvmath.bindings import _load
from nvmath.linalg._matrix import Operand
from nvmath.linalg.advanced import MatmulOptions
from nvmath.linalg.advanced._auxiliary import AUXILIARIES
from nvmath.linalg.advanced._epilogs import EPILOGS, coerce_epilog
from nvmath.linalg.advanced._finish import Finish
from nvmath.linalg.advanced._problem import MatmulProblem, specify
from nvmath.linalg.advanced._scalars import Scalars
from nvmath.linalg.advanced._split import by_library, by_ourselves

pytestmark = pytest.mark.skipif(
    _load.find_library("nvrtc") is None, reason="NVRTC is not installed (pip install nvidia-cuda-nvrtc)"
)

PLACE: Any = SimpleNamespace(device_id=0)
ADAPTER: Any = SimpleNamespace(allocate=None)


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The code of every kernel that was asked for."""
    code: list[bytes] = []

    def compiled(device: int, key: Any, build: Any) -> int:
        code.append(build("90"))
        return len(code)

    monkeypatch.setattr(kernels, "compiled", compiled)
    return code


def problem(dtype: str, epilog: Any, batch: tuple[int, ...] = (2,), c: bool = True, **arrays: Operand) -> MatmulProblem:
    row, kind = coerce_epilog(epilog), DTYPES[dtype]
    inputs = dict(arrays)
    if row.has_bias:
        inputs["bias"] = Operand((24,), (1,), kind)
    if row.auxiliary:
        table = AUXILIARIES[row.auxiliary]
        shape = (*batch, *table.extents(24, 40))
        inputs[row.auxiliary] = Operand(shape, row_major(shape), table.dtype(kind, None))

    def op(*shape: int) -> Operand:
        return Operand((*batch, *shape), row_major((*batch, *shape)), kind)

    addend = op(24, 40) if c else None
    return specify(op(24, 16), op(16, 40), addend, inputs=inputs, options=MatmulOptions(), epilog=row)


def finish(made: MatmulProblem, rest: Any) -> Finish:
    names = ("a", "b", *(("c",) if made.c else ()), *made.epilog.inputs)
    return Finish(rest, names, Scalars(made.scale_type), PLACE, ADAPTER, [0] * len(made.outputs))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("name", EPILOGS)
def test_every_epilog_compiles(built: list[bytes], name: str, dtype: str) -> None:
    if dtype.startswith("complex") and name not in ("BIAS", "DEFAULT"):
        with pytest.raises(ValueError, match="needs real values"):
            problem(dtype, name)
        return
    made = problem(dtype, name)
    finish(made, by_ourselves(made)[1])
    assert all(code[:4] == b"\x7fELF" for code in built)
    assert built or name == "DEFAULT"


def test_a_users_function_is_linked_in(built: list[bytes]) -> None:
    if _load.find_library("nvjitlink") is None:
        pytest.skip("nvJitLink is not installed")
    try:
        jit.require_cuda_compiler("This test")
    except RuntimeError as error:
        pytest.skip(str(error))

    def scaled(value, row, column, scale, shift):
        return value * scale[row] + shift[row, column] if value > 0 else value * column

    def turned(value, row, column):
        return value.conjugate() * 2

    arrays = {
        "scale": Operand((24,), (1,), DTYPES["float32"]),
        "shift": Operand((2, 24, 40), row_major((2, 24, 40)), DTYPES["float64"]),
    }
    for dtype in ("float16", "float32", "float64"):
        made = problem(dtype, scaled, **arrays)
        product, rest = by_library(made)
        assert rest is not None
        assert not product.epilog.function
        finish(made, rest)
    made = problem("complex64", turned)
    _, rest = by_library(made)
    finish(made, rest)
    assert [code[:4] for code in built] == [b"\x7fELF"] * 4
