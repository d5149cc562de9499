"""The epilogs, one row each: what is done to a product before it is stored, what that needs and what it gives besides.

A row says everything that the checks, the CPU, cuBLASLt and the documentation need to know.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum
from numbers import Number
from typing import Any, Final

from ..._core.arrays import adapter_of
from ..._core.dtypes import DTYPES, DType
from ...bindings import cublasLt
from ._coerce import suggestion

MatmulEpilog = cublasLt.Epilogue
_E: Final = MatmulEpilog


class MatmulExtraEpilog(StrEnum):
    """Epilogs that cuBLASLt does not have; pass a member, or its name, as `epilog`.

    Examples
    --------
    >>> import numpy as np
    >>> from nvmath.linalg.advanced import MatmulExtraEpilog, matmul
    >>> matmul(np.zeros((1, 2)), np.zeros((2, 2)), epilog=MatmulExtraEpilog.SIGMOID)
    array([[0.5, 0.5]])
    """

    TANH = "TANH"
    TANH_BIAS = "TANH_BIAS"
    SIGMOID = "SIGMOID"
    SIGMOID_BIAS = "SIGMOID_BIAS"
    SILU = "SILU"
    SILU_BIAS = "SILU_BIAS"


@dataclass(frozen=True, slots=True)
class Epilog:
    """One row of the table of epilogs.

    Attributes
    ----------
    name : str
        How it is called.
    code : int
        The member of MatmulEpilog that cuBLASLt is asked for.
    inputs : tuple of str
        Keys of ``epilog_inputs``.
    outputs : tuple of str
        Auxiliary outputs.
    activation : str
        What is done to each value: a row of the tables of activations, or empty.
    column : bool
        Whether the result is column-major.
    extra : bool
        Whether cuBLASLt lacks the activation, so that it is applied by a kernel of our own after `code`.
    function : object
        The user's function, when that is the epilog.
    """

    name: str
    code: int = _E.DEFAULT
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    activation: str = ""
    column: bool = True
    extra: bool = False
    function: Any = None

    @property
    def has_bias(self) -> bool:
        """Whether a bias is added."""
        return "bias" in self.inputs

    @property
    def auxiliary(self) -> str:
        """The input that another product gave as an auxiliary output, or an empty text."""
        return next((name for name in self.inputs if name in ("relu_aux", "gelu_aux")), "")

    @property
    def real_only(self) -> bool:
        """Whether it means nothing for complex numbers."""
        return bool(self.activation or self.outputs)

    @property
    def sums_factors(self) -> bool:
        """Whether A or B is summed up, whatever alpha is."""
        return self.name in ("BGRADA", "BGRADB")

    @property
    def needs_k(self) -> bool:
        """Whether the library cannot do products of a column and a row: some versions of it read what is not theirs."""
        return self.activation in ("drelu", "dgelu") or self.name in ("BGRADA", "BGRADB")


_ROWS: Final = (
    Epilog("DEFAULT", column=False),
    Epilog("RELU", _E.RELU, activation="relu", column=False),
    Epilog("GELU", _E.GELU, activation="gelu", column=False),
    Epilog("BIAS", _E.BIAS, ("bias",)),
    Epilog("RELU_BIAS", _E.RELU_BIAS, ("bias",), (), "relu"),
    Epilog("GELU_BIAS", _E.GELU_BIAS, ("bias",), (), "gelu"),
    Epilog("RELU_AUX", _E.RELU_AUX, (), ("relu_aux",), "relu"),
    Epilog("RELU_AUX_BIAS", _E.RELU_AUX_BIAS, ("bias",), ("relu_aux",), "relu"),
    Epilog("GELU_AUX", _E.GELU_AUX, (), ("gelu_aux",), "gelu"),
    Epilog("GELU_AUX_BIAS", _E.GELU_AUX_BIAS, ("bias",), ("gelu_aux",), "gelu"),
    Epilog("DRELU", _E.DRELU, ("relu_aux",), (), "drelu"),
    Epilog("DRELU_BGRAD", _E.DRELU_BGRAD, ("relu_aux",), ("drelu_bgrad",), "drelu"),
    Epilog("DGELU", _E.DGELU, ("gelu_aux",), (), "dgelu"),
    Epilog("DGELU_BGRAD", _E.DGELU_BGRAD, ("gelu_aux",), ("dgelu_bgrad",), "dgelu"),
    Epilog("BGRADA", _E.BGRADA, (), ("bgrada",)),
    Epilog("BGRADB", _E.BGRADB, (), ("bgradb",)),
    *(Epilog(name, activation=name.lower(), column=False, extra=True) for name in ("TANH", "SIGMOID", "SILU")),
    *(Epilog(f"{name}_BIAS", _E.BIAS, ("bias",), (), name.lower(), extra=True) for name in ("TANH", "SIGMOID", "SILU")),
)  # fmt: skip

EPILOGS: Final = {row.name: row for row in _ROWS}
NO_EPILOG: Final = EPILOGS["DEFAULT"]
_BY_CODE: Final = {row.code: row for row in reversed(_ROWS) if not row.extra}


def coerce_epilog(value: Any) -> Epilog:
    """Return the row of an epilog: a member of MatmulEpilog or its number, a name, or a Python function.

    Raises
    ------
    ValueError
        The value is none of these.
    """
    if value is None:
        return NO_EPILOG
    if isinstance(value, Epilog):
        return value
    if isinstance(value, str):
        name = value.value if isinstance(value, Enum) else value
        row = EPILOGS.get(name.upper())
        if row is None:
            raise ValueError(f"There is no epilog {name!r}. {suggestion(name, EPILOGS)}")
        return row
    if callable(value) and not isinstance(value, int):
        from ._custom import epilog_of

        return epilog_of(value)
    try:
        return _BY_CODE[MatmulEpilog(value)]
    except ValueError:
        raise no_epilog(value) from None


def no_epilog(value: Any) -> ValueError:
    """What is raised for an epilog that is none, with what to pass instead."""
    if isinstance(value, Mapping):
        remedy = (
            "Pass the function itself, epilog=f, and the arrays that it reads by the names of its parameters, such as "
            "epilog_inputs={'limit': array}."
        )
    elif callable(value) and not isinstance(value, type):
        remedy = (
            "Only a function that is written in Python can be compiled; write one that calls it, such as "
            "lambda value, row, column: math.tanh(value)."
        )
    else:
        remedy = "Pass a member, a name such as 'RELU_BIAS', or a function f(value, row, column) that returns the new value."
    return ValueError(
        f"epilog must be None, a member of MatmulEpilog, the name of an epilog or a Python function, not {value!r}. {remedy}"
    )


def require_mapping(inputs: Any) -> None:
    """Check the kind of ``epilog_inputs``.

    Raises
    ------
    TypeError
        It is no dict.
    """
    if inputs is not None and not isinstance(inputs, Mapping):
        raise TypeError(
            f"epilog_inputs must be None or a dict of arrays by name, not {type(inputs).__name__}. Pass a bias as "
            "epilog_inputs={'bias': bias}; the table in the documentation of Matmul.plan has the names that each epilog needs."
        )


def require_arrays(inputs: Mapping[str, Any]) -> None:
    """Check that the inputs of an epilog are arrays.

    Raises
    ------
    ValueError
        One is none; the text names it.
    """
    for name, given in inputs.items():
        try:
            adapter_of(given)
        except ValueError:
            remedy = "numpy.asarray() of it" if isinstance(given, list | tuple) else "an array of the package of the operands"
            if isinstance(given, Number):
                remedy += "; a number may be read by the function of an epilog where it is defined"
            raise ValueError(
                f"epilog_inputs[{name!r}] must be an array, not {given!r} of type {type(given).__name__}. Pass {remedy}."
            ) from None


def check_epilog_inputs(epilog: Epilog, inputs: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the inputs of an epilog in its order.

    Raises
    ------
    ValueError
        A name is missing or unknown; the text lists those that are needed.
    """
    given = dict(inputs or {})
    if set(given) != set(epilog.inputs):
        needed = ", ".join(map(repr, epilog.inputs)) or "none"
        raise ValueError(
            f"epilog_inputs of {epilog.name} must have exactly the keys: {needed}; got {', '.join(map(repr, given)) or 'none'}. "
            f"{_inputs_wanted(epilog)}"
        )
    return {name: given[name] for name in epilog.inputs}


def _inputs_wanted(epilog: Epilog) -> str:
    """How to give an epilog what it needs."""
    if epilog.inputs:
        return f"Pass epilog_inputs={{{', '.join(f'{name!r}: array' for name in epilog.inputs)}}}."
    with_bias = f"{epilog.name}_BIAS"
    return f"Leave them out, or pass epilog={with_bias!r}." if with_bias in EPILOGS else "Leave them out."


# --- the matrices besides A, B, C and D -------------------------------------------------------------------------------------------


def mask_rows(m: int) -> int:
    """Rows of bytes of a mask with a bit for each of `m` rows: whole groups of 128 bits."""
    return 16 * -(-m // 128)


def padded_rows(m: int) -> int:
    """Rows of the values before GELU: a multiple of 8."""
    return 8 * -(-m // 8)


@dataclass(frozen=True, slots=True)
class Auxiliary:
    """One row of the tables of auxiliary matrices.

    Attributes
    ----------
    extents : function
        Rows and columns from ``(m, n)``.
    dtype : function
        The dtype from that of D and the ``aux_type`` that was asked for.
    vector : bool
        Whether it is one column, which is 1-dimensional unless there are batches.
    unit : int
        Rows to which a leading dimension must be a multiple.
    """

    extents: Callable[[int, int], tuple[int, int]]
    dtype: Callable[[DType, DType | None], DType]
    vector: bool = False
    unit: int = 1


def _of_result(result: DType, asked: DType | None) -> DType:
    return result


_MASK: Final = Auxiliary(lambda m, n: (mask_rows(m), n), lambda result, asked: DTYPES["uint8"], unit=16)
_VALUES: Final = Auxiliary(lambda m, n: (padded_rows(m), n), lambda result, asked: asked or result, unit=8)
_BY_ROWS: Final = Auxiliary(lambda m, n: (m, 1), _of_result, vector=True)
_BY_COLUMNS: Final = Auxiliary(lambda m, n: (n, 1), _of_result, vector=True)

AUXILIARIES: Final = {
    "relu_aux": _MASK, "gelu_aux": _VALUES, "drelu_bgrad": _BY_ROWS, "dgelu_bgrad": _BY_ROWS, "bgrada": _BY_ROWS, "bgradb": _BY_COLUMNS,
}  # fmt: skip
"""Inputs and outputs that go from one product into another, by name."""

TYPED: Final = ("gelu_aux",)
"""Auxiliary outputs whose dtype may be chosen by ``aux_type``."""
