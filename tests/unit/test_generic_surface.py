"""What code written for nvmath-python 1.0 expects of generic products: names, parameters, defaults, fields, values."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

import pytest

import nvmath.linalg as linalg
from nvmath.linalg import advanced, generic

ARGUMENTS = (
    "a",
    "b",
    "/",
    "c=None",
    "*",
    "alpha=None",
    "beta=None",
    "qualifiers=None",
    "options=None",
    "execution=None",
    "stream=None",
)
RESET = ("*", "a=None", "b=None", "c=None", "alpha=None", "beta=None", "stream=None")
NAMES = (
    "DiagonalMatrixQualifier", "ExecutionCPU", "ExecutionCUDA", "GeneralMatrixQualifier", "HermitianMatrixQualifier",
    "InvalidMatmulState", "matmul", "Matmul", "MatmulOptions", "MatrixQualifier", "matrix_qualifiers_dtype",
    "SymmetricMatrixQualifier", "TriangularMatrixQualifier", "SideMode", "FillMode", "DiagType", "DirectSolver", "DirectSolverOptions",
    "InvalidDirectSolverState", "direct_solver",
)  # fmt: skip


def written(function: Any) -> list[str]:
    """The parameters of a function, as they are written, without annotations and `self`."""
    result, positional_only, keyword_only = [], False, False
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name == "self":
            continue
        if positional_only and parameter.kind is not parameter.POSITIONAL_ONLY:
            result.append("/")
        positional_only = parameter.kind is parameter.POSITIONAL_ONLY
        if parameter.kind is parameter.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            result.append("*")
        default = "" if parameter.default is parameter.empty else f"={parameter.default!r}"
        result.append(parameter.name + default)
    return result


@pytest.mark.parametrize("name", NAMES)
def test_both_modules_have_it(name):
    assert getattr(generic, name) is getattr(linalg, name)


@pytest.mark.parametrize(
    ("function", "parameters"),
    [
        (linalg.matmul, (*ARGUMENTS, "out=None")),
        (linalg.Matmul, ARGUMENTS),
        (linalg.Matmul.__init__, ARGUMENTS),
        (linalg.Matmul.plan, ("*", "stream=None")),
        (linalg.Matmul.execute, ("*", "stream=None", "out=None")),
        (linalg.Matmul.execute_unchecked, ("*", "stream=None")),
        (linalg.Matmul.reset_operands, RESET),
        (linalg.Matmul.reset_operands_unchecked, RESET),
        (linalg.Matmul.release_operands, ()),
        (linalg.Matmul.free, ()),
        (linalg.GeneralMatrixQualifier.create, ("conjugate=False",)),
        (linalg.SymmetricMatrixQualifier.create, ("conjugate=False", "uplo=<FillMode.LOWER: 0>")),
        (linalg.HermitianMatrixQualifier.create, ("conjugate=False", "uplo=<FillMode.LOWER: 0>")),
        (
            linalg.TriangularMatrixQualifier.create,
            ("conjugate=False", "uplo=<FillMode.LOWER: 0>", "diag=<DiagType.NON_UNIT: 0>"),
        ),
        (linalg.DiagonalMatrixQualifier.create, ("conjugate=False", "incx=1")),
        (linalg.GeneralMatrixQualifier.is_valid, ("other",)),
        (linalg.GeneralMatrixQualifier.to_string, ("other",)),
    ],
)
def test_parameters(function, parameters):
    assert written(function) == list(parameters)


def test_a_group_has_the_interface_of_one():
    from nvmath.linalg.generic._groups import MatmulGroup

    for name in (
        "__init__",
        "plan",
        "execute",
        "execute_unchecked",
        "reset_operands",
        "reset_operands_unchecked",
        "free",
    ):
        assert written(getattr(MatmulGroup, name)) == written(getattr(linalg.Matmul, name)), name


def test_options():
    assert [field.name for field in dataclasses.fields(linalg.MatmulOptions)] == [
        "allocator",
        "blocking",
        "logger",
        "inplace",
    ]
    options = linalg.MatmulOptions()
    assert (options.allocator, options.blocking, options.logger.name, options.inplace) == (None, "auto", "root", False)
    with pytest.raises(dataclasses.FrozenInstanceError):
        options.inplace = True  # type: ignore[misc]
    with pytest.raises(TypeError):
        linalg.MatmulOptions(None)  # type: ignore[misc]


def test_enumerations_and_errors():
    assert [(member.name, int(member)) for member in linalg.FillMode] == [("LOWER", 0), ("UPPER", 1), ("FULL", 2)]
    assert [(member.name, int(member)) for member in linalg.DiagType] == [("NON_UNIT", 0), ("UNIT", 1)]
    assert [(member.name, int(member)) for member in linalg.SideMode] == [("LEFT", 0), ("RIGHT", 1)]
    assert issubclass(linalg.InvalidMatmulState, Exception)
    assert not issubclass(linalg.InvalidMatmulState, RuntimeError)
    assert linalg.InvalidMatmulState is not advanced.InvalidMatmulState
    assert linalg.ComputeType is advanced.MatmulComputeType
