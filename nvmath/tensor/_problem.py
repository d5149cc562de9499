"""What a contraction means: a pure function from metadata and options to a frozen problem."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import Any, Final

from .._core.dtypes import DType
from .._core.layout import Ints, contiguous, dense, is_dense, normalise, stride_order
from ._expression import Expression, Modes, modes_of, operand
from ._options import ContractionOptions, compute_name

ADDEND: Final = {2: "c", 3: "d"}


def names_of(count: int) -> tuple[str, ...]:
    """Names of so many operands."""
    return tuple("abc"[:count]) if count in ADDEND else numbered(count)


def numbered(count: int) -> tuple[str, ...]:
    """Names of so many operands that have none of their own."""
    return tuple(f"operands[{number}]" for number in range(count))


def refuse_none(named: dict[str, Any]) -> None:
    """Raise which operand is missing."""
    for name, obj in named.items():
        if obj is None:
            raise ValueError(f"{name} is None, but it must be an array.")


def nested(extents: Ints, strides: Ints) -> bool:
    """Whether elements have neighbours in memory, and every stride steps over all that the smaller ones reach."""
    reach = 1
    for stride, extent in sorted(zip(strides, extents, strict=True)):
        if extent != 1:
            if stride < reach or (reach == 1 and stride != 1):
                return False
            reach = stride * extent
    return True


@dataclass(frozen=True, slots=True)
class Metadata:
    """Shape and strides (in elements) of one array, its dtype, and the alignment of its address in bytes (0: any)."""

    shape: Ints
    strides: Ints
    dtype: DType
    alignment: int = 0


@dataclass(frozen=True, slots=True)
class Tensor:
    """One array as the libraries see it: distinct modes of extents above 1 (or 0), and their strides in elements.

    A label that a term repeats has become one mode along the diagonal; an extent of 1 that meets a larger one has vanished.
    """

    modes: Ints
    strides: Ints
    conj: bool = False
    alignment: int = 0

    def stride(self, mode: int) -> int:
        """Return the stride of a mode."""
        return self.strides[self.modes.index(mode)]


@dataclass(frozen=True, slots=True)
class ContractionProblem:
    """One contraction, without pointers: ``out = alpha * product of the inputs, summed + beta * addend``."""

    expression: str
    labels: Modes  # of the modes
    extents: Ints  # of the modes
    inputs: tuple[Tensor, ...]
    addend: Tensor | None
    output: Tensor
    dtype: DType
    compute: str
    out_shape: Ints
    out_strides: Ints

    @property
    def scalar(self) -> str:
        """Name of the dtype of alpha and beta."""
        return {"float16": "float32", "bfloat16": "float32"}.get(self.dtype.name, self.dtype.name)

    @property
    def empty(self) -> bool:
        """Whether the result has no element."""
        return 0 in self.out_shape

    @property
    def vanishing(self) -> bool:
        """Whether every sum is over nothing, so that the product is zero."""
        return not self.empty and 0 in self.extents

    def __str__(self) -> str:
        sizes = ", ".join(f"{label}={extent}" for label, extent in zip(self.labels, self.extents, strict=True))
        terms = ", ".join(f"{'conj ' if tensor.conj else ''}strides {tensor.strides}" for tensor in self.inputs)
        more = "" if self.addend is None else f" plus an addend with strides {self.addend.strides}"
        return (
            f"contraction {self.expression!r} of {self.dtype} with {sizes or 'scalars'} ({terms}){more} to {self.out_shape} strides "
            f"{self.out_strides}, compute type {self.compute}"
        )


def specify(
    expression: Expression,
    inputs: tuple[Metadata, ...],
    addend: Metadata | None,
    out: Metadata | None,
    conj: tuple[bool, ...],
    options: ContractionOptions,
    names: tuple[str, ...] | None = None,
) -> ContractionProblem:
    """Turn metadata and options into a problem.

    Parameters
    ----------
    expression : Expression
        What is computed.
    inputs, addend, out
        The arrays as they will be read and written; `out` is None when the result is new.
    conj : tuple of bool
        Which inputs are conjugated.
    options : ContractionOptions
        What was asked.
    names : tuple of str, optional
        What the operands are called in errors.
    """
    count = len(inputs)
    names = names or names_of(count)
    dtype = _common_dtype(names, inputs, addend, out)
    compute = compute_name(options.compute_type, dtype)
    modes, out_modes = modes_of(expression, tuple(len(array.shape) for array in inputs), names)
    extents = _extents(expression, names, modes, inputs)
    out_shape = tuple(extents[label] for label in out_modes)
    for name, array in ((ADDEND.get(count), addend), ("out", out)):
        if array is not None and array.shape != out_shape:
            raise ValueError(
                f"{name} must have the shape of the result of {expression.text!r}, {out_shape}, but it has shape {array.shape}."
            )
    if out is not None:
        out_strides = normalise(out_shape, out.strides)
    else:
        out_strides = _result_strides(modes, out_modes, extents, addend, options.result_layout)
    kept = tuple(label for label in extents if extents[label] != 1)
    number = {label: position for position, label in enumerate(kept)}
    tensors = tuple(
        _tensor(array, labels, number, conjugated) for array, labels, conjugated in zip(inputs, modes, conj, strict=True)
    )
    output = _tensor(Metadata(out_shape, out_strides, dtype, 0 if out is None else out.alignment), out_modes, number)
    return ContractionProblem(
        expression.text, kept, tuple(extents[label] for label in kept), tensors,
        None if addend is None else _tensor(addend, out_modes, number), output, dtype, compute, out_shape, out_strides,
    )  # fmt: skip


def _common_dtype(
    names: tuple[str, ...], inputs: tuple[Metadata, ...], addend: Metadata | None, out: Metadata | None
) -> DType:
    given = dict(zip(names, inputs, strict=True))
    if addend is not None:
        given[ADDEND[len(inputs)]] = addend
    if out is not None:
        given["out"] = out
    if len({array.dtype for array in given.values()}) > 1:
        listed = ", ".join(f"{name}: {array.dtype}" for name, array in given.items())
        raise ValueError(f"All arrays of a contraction must have one dtype, but got {listed}. Convert them to one dtype first.")
    return inputs[0].dtype


def _extents(
    expression: Expression, names: tuple[str, ...], modes: tuple[Modes, ...], inputs: tuple[Metadata, ...]
) -> dict[str, int]:
    """Extent of every label, in the order in which they first occur; an extent of 1 fits any."""
    extents: dict[str, int] = {}
    found_in: dict[str, str] = {}
    for name, labels, array in zip(names, modes, inputs, strict=True):
        for label, extent in zip(labels, array.shape, strict=True):
            known = extents.get(label, 1)
            if 1 not in (known, extent) and known != extent:
                shown = "a dimension of the ellipsis" if label.startswith("...") else f"mode {label!r}"
                raise ValueError(
                    f"In {expression.text!r} {shown} has extent {known} in {operand(found_in[label])} but {extent} in "
                    f"{operand(name)}."
                )
            if label not in extents or known == 1:
                extents[label], found_in[label] = extent, name
    return extents


def _tensor(array: Metadata, labels: Modes, number: dict[str, int], conj: bool = False) -> Tensor:
    strides: dict[int, int] = {}
    for label, extent, stride in zip(labels, array.shape, array.strides, strict=True):
        if label in number and extent != 1:
            strides[number[label]] = strides.get(number[label], 0) + stride
    return Tensor(tuple(strides), tuple(strides.values()), conj, array.alignment)


def _result_strides(
    modes: tuple[Modes, ...], out_modes: Modes, extents: dict[str, int], addend: Metadata | None, layout: str
) -> Ints:
    shape = tuple(extents[label] for label in out_modes)
    binary = len(modes) == 2
    if layout == "optimized" and not (binary and addend is None):
        what = "a contraction with an addend" if binary else f"{len(modes)} operands"
        raise ValueError(f'result_layout="optimized" is not for {what}; choose "auto", "C" or "F".')
    if layout == "C" or (layout == "auto" and not binary and addend is None):
        return contiguous(shape)
    if layout == "F":
        return dense(shape, range(len(shape)))
    if addend is not None:
        strides = normalise(shape, addend.strides)
        return strides if is_dense(shape, strides) else dense(shape, stride_order(shape, strides))
    order = _optimized_order(modes[0], modes[1], out_modes, extents)
    return dense(shape, (out_modes.index(label) for label in reversed(order)))


def _optimized_order(a: Modes, b: Modes, out: Modes, extents: dict[str, int]) -> tuple[str, ...]:
    """The modes of the result from the slowest to the fastest: shared ones, then the larger group of those of one operand."""
    shared = _unique(label for label in a if label in out and label in b)
    of_a = _unique(label for label in a if label in out and label not in b)
    of_b = _unique(label for label in b if label in out and label not in a)
    sizes = [prod(extents[label] for label in group) for group in (of_a, of_b)]
    return (*shared, *of_a, *of_b) if sizes[0] >= sizes[1] else (*shared, *of_b, *of_a)


def _unique(labels: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(labels))


def differences(old: ContractionProblem, new: ContractionProblem) -> str:
    """Say why operands of a new problem are not acceptable to an object made for the old one, or return an empty text."""
    rows = [
        f"{label}: expected {getattr(old, name)}, given {getattr(new, name)}"
        for name, label in (("dtype", "dtype"), ("labels", "modes"), ("extents", "extents"), ("out_shape", "result shape"))
        if getattr(old, name) != getattr(new, name)
    ]
    return "; ".join(rows)
