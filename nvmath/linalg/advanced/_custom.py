"""Epilogs that users write: ``f(value, row, column, *arrays)``, a Python function of one element.

numba compiles it: for the CPU into a loop (`_custom_host`), for a GPU into LTO-IR that is linked into the kernel of `_finish`. Where
numba is not installed, the CPU calls the function with whole arrays, or once for each element.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from importlib import import_module
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

from ..._core import jit
from ..._core.dtypes import DTYPES, DType
from ..._core.jit.snapshot import freeze
from ._epilogs import Epilog, no_epilog
from ._narrow import AUX_SCALE, SCALES

if TYPE_CHECKING:
    from ._problem import MatmulProblem

SYMBOL: Final = "nvmath_matmul_epilog"
_PARAMETERS: Final = ("value", "row", "column")
_TAKEN: Final = ("a", "b", "c", "d", "bias", "relu_aux", "gelu_aux", AUX_SCALE, *SCALES.values())
_WIDE: Final = {"float16": "float32", "bfloat16": "float32"}
"""What is converted before a function sees it: numba has no arithmetic for 16 bits on the CPU."""


def value_type(dtype: DType) -> DType:
    """Return the dtype in which a function sees the elements of an array, or the values of a result."""
    return DTYPES[_WIDE.get(dtype.name, dtype.name)]


def epilog_of(function: Any) -> Epilog:
    """Return the row for a user's function.

    Raises
    ------
    ValueError
        It is no Python function, or its parameters are not those of an epilog.
    """
    plain = jit.plain_function(function)
    if plain is None:
        raise no_epilog(function)
    extra = tuple(inspect.signature(plain).parameters)[len(_PARAMETERS) :]
    expected = f"{plain.__name__}(value, row, column{''.join(f', {name}' for name in extra)}) -> the new value"
    jit.require_parameters(plain, (*_PARAMETERS, *extra), "epilog", expected)
    jit.require_result(plain, True, "epilog", expected)
    for name in extra:
        if name in _TAKEN:
            raise ValueError(
                f"The epilog {plain.__name__!r} has a parameter {name!r}, which is the name of an operand of some products. Rename it."
            )
    frozen = freeze(plain)
    return Epilog(
        f"{plain.__name__}()", inputs=extra, column=False, function=CustomEpilog(frozen, expected, jit.code_digest(frozen).hex)
    )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class CustomEpilog:
    """A user's function with the values that it read when it was given; two are equal when code and values are."""

    function: FunctionType
    expected: str
    digest: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CustomEpilog) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def compilable(self, dtype: DType, arrays: tuple[tuple[DType, int], ...], arrays_from: str) -> jit.UserFunction:
        """Return the function with C types: an array becomes a pointer and its extents.

        Parameters
        ----------
        dtype : DType
            That of the values.
        arrays : tuple
            Dtype and number of axes, 1 or 2, of each array, row-major.
        arrays_from : str
            The module whose ``carray`` makes an array of a pointer.
        """
        value = value_type(dtype).name
        pointers = [part for kind, _ in arrays for part in (jit.Pointer(value_type(kind).name), "int64", "int64")]
        signature = jit.Signature(value, (value, "int64", "int64", *pointers))
        return jit.UserFunction.freeze(
            _over_pointers(self.function, arrays, arrays_from), signature, "epilog", self.expected, self.function
        )

    def key(self, problem: MatmulProblem) -> str:
        """Identify the compiled code."""
        return f"{self.digest} {problem.d.dtype} {' '.join(f'{kind}{rank}' for kind, rank in kinds_of(problem))}"

    def ltoir(self, problem: MatmulProblem, compute_capability: str) -> bytes:
        """Return LTO-IR of the function, named `SYMBOL`."""
        jit.require_cuda_compiler(f"The epilog {self.function.__qualname__!r}")
        with jit.numpy_of_numba():
            user = self.compilable(problem.d.dtype, kinds_of(problem), "numba.cuda.np.numpy_support")
        return jit.to_ltoir(user, SYMBOL, compute_capability)


def kinds_of(problem: MatmulProblem) -> tuple[tuple[DType, int], ...]:
    """Return the dtype and the number of axes of every array, as the function sees it."""
    return tuple((each.dtype, min(2, len(each.shape))) for each in problem.arrays)


def _over_pointers(function: FunctionType, arrays: tuple[tuple[DType, int], ...], arrays_from: str) -> FunctionType:
    """Wrap a function of arrays as one of pointers and extents."""
    parameters = "".join(f", p{index}, n{index}, m{index}" for index in range(len(arrays)))
    passed = "".join(
        f", carray(p{index}, (n{index},))" if rank == 1 else f", carray(p{index}, (n{index}, m{index}))"
        for index, (_, rank) in enumerate(arrays)
    )
    values: dict[str, Any] = {"function": function, "__name__": __name__}
    if arrays:
        values["carray"] = import_module(arrays_from).carray
    exec(f"def epilog(value, row, column{parameters}):\n    return function(value, row, column{passed})\n", values)
    made: FunctionType = values.pop("epilog")
    made.__qualname__, made.__code__ = (
        function.__qualname__,
        made.__code__.replace(co_name=function.__code__.co_name, co_filename=f"<{__name__}>"),  # errors quote the user's own lines
    )
    return made
