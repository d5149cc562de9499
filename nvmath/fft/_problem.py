"""What an FFT means: a pure function from metadata and options to a frozen problem.

Every error that metadata can show is raised here, before anything is touched.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final

from .._core.dtypes import DType
from .._core.layout import Ints, contiguous, dense, is_dense, may_overlap, normalise, stride_order
from ._options import FFTDirection, FFTOptions

SUPPORTED: Final = ("float16", "float32", "float64", "complex32", "complex64", "complex128")
_INT32_MAX: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class FFTProblem:
    """One transform, without pointers.

    The pointer given to a plan leads to an array of `source_shape` and `source_strides`: the operand, or the dense copy that its
    owner made. `shape` and `in_strides` describe that array after cropping or padding; `lengths` are the logical lengths of the
    transform along `axes`, in the order in which the user listed them.
    """

    kind: str  # "C2C", "R2C", "C2R"
    in_dtype: DType
    out_dtype: DType
    shape: Ints
    in_strides: Ints
    out_shape: Ints
    out_strides: Ints
    axes: Ints
    lengths: Ints
    inplace: bool
    norm: str | None
    source_shape: Ints
    source_strides: Ints

    @property
    def precision(self) -> DType:
        """The real dtype of the arithmetic."""
        return self.in_dtype.real

    @property
    def points(self) -> int:
        """Number of points of one transform."""
        return prod(self.lengths)

    @property
    def empty(self) -> bool:
        """Whether there is nothing to transform: a batch extent is zero."""
        return 0 in self.shape

    @property
    def batch_axes(self) -> Ints:
        """The axes that are not transformed."""
        return tuple(axis for axis in range(len(self.shape)) if axis not in self.axes)

    @property
    def default_direction(self) -> FFTDirection:
        """The direction of ``execute()`` without arguments."""
        return FFTDirection.INVERSE if self.kind == "C2R" else FFTDirection.FORWARD

    def __str__(self) -> str:
        return (
            f"{self.kind} FFT of {self.in_dtype} {self.shape} strides {self.in_strides} over axes {self.axes} to "
            f"{self.out_dtype} {self.out_shape} strides {self.out_strides}{' in place' if self.inplace else ''}"
        )


def specify(
    shape: Ints,
    strides: Ints,
    dtype: DType,
    *,
    axes: Any,
    options: FFTOptions,
    package: str = "torch",
    extents: Any = None,
    norm: str | None = None,
    copied: bool = False,
    fft_type: str | None = None,
) -> FFTProblem:
    """Turn metadata and options into a problem.

    Parameters
    ----------
    shape, strides, dtype
        The operand, strides in elements.
    axes : iterable of int, optional
        The axes to transform; None for all.
    options : FFTOptions
        What was asked.
    package : str
        The array package, since not every package has every dtype.
    extents : sequence of int, optional
        Lengths of the transform along `axes`: the operand is cropped or padded with zeros, as NumPy does with ``s``.
    norm : str, optional
        Normalisation.
    copied : bool
        The library will read a dense copy of the operand rather than the operand.
    fft_type : str, optional
        Overrides ``options.fft_type``.
    """
    kind = _kind(dtype, fft_type or options.fft_type)
    result_dtype = {"C2C": dtype, "R2C": dtype.complex if dtype.kind == "f" else dtype, "C2R": dtype.real}[kind]
    if package in ("numpy", "cupy") and "complex32" in (dtype.name, result_dtype.name):
        raise TypeError(
            f"The {kind} FFT of {dtype.name} gives or takes complex32, which {package} does not have. Use a torch tensor, or convert "
            "the operand to float32 or complex64."
        )
    listed = normalise_axes(axes, len(shape), extents)
    source_shape = shape
    shape, lengths = _resize(kind, shape, listed, extents, options.last_axis_parity)
    inplace = options.inplace
    source_strides = strides = normalise(source_shape, strides)
    if inplace:
        _check_inplace(kind, shape, source_shape, strides)
    if copied:
        source_strides = strides = dense(source_shape, stride_order(source_shape, strides))
    if shape != source_shape:
        strides = dense(shape, stride_order(source_shape, strides))
    out_shape = _result_shape(kind, shape, listed, lengths)
    _check_size(shape, dtype, out_shape, result_dtype)
    followed = strides
    if kind == "C2R" and not is_dense(shape, strides):
        followed = contiguous(shape)  # the original works on a copy here, and the result follows that copy
    out_strides = strides if inplace else _result_strides(shape, followed, out_shape, listed, options.result_layout)
    return FFTProblem(
        kind, dtype, result_dtype, shape, strides, out_shape, out_strides, listed, lengths, inplace, norm,
        source_shape, source_strides,
    )  # fmt: skip


def _check_size(shape: Ints, dtype: DType, out_shape: Ints, out_dtype: DType) -> None:
    """Refuse what no memory can hold, before its size overflows somewhere below."""
    for what, extents, kind in (("the padded operand", shape, dtype), ("the result", out_shape, out_dtype)):
        if prod(extents) * kind.itemsize >= 1 << 63:
            raise ValueError(f"This FFT is too large: {what} of shape {extents} and dtype {kind} would not fit into any memory.")


def _kind(dtype: DType, asked: str | None) -> str:
    if dtype.name not in SUPPORTED:
        raise ValueError(f"An FFT of {dtype.name} is not supported; convert the operand to one of {', '.join(SUPPORTED)}.")
    kind = asked or ("C2C" if dtype.kind == "c" else "R2C")
    needed = "f" if kind == "R2C" else "c"
    if dtype.kind != needed:
        words = {"f": "real", "c": "complex"}
        raise ValueError(f"The {kind} FFT takes a {words[needed]} operand, but the operand is {dtype.name}.")
    return kind


def as_int(value: Any, what: str) -> int:
    """Turn an integer of any kind into int.

    Raises
    ------
    TypeError
        The value is not an integer.
    """
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{what} must be an integer, not {value!r}.") from None


def as_ints(values: Any, what: str) -> Ints:
    """Turn an iterable of integers into a tuple of int.

    Raises
    ------
    TypeError
        The value is not iterable, or an entry is not an integer.
    """
    try:
        return tuple(operator.index(value) for value in values)
    except TypeError:
        raise TypeError(f"{what} must be a sequence of integers, not {values!r}.") from None


def extents_of(n: Any, s: Any) -> Ints | None:
    """Return the lengths that `n`, for one axis, or `s`, for several, ask for."""
    if n is not None:
        length = as_int(n, "n")
        if length < 1:
            raise ValueError(f"n = {length}, but the length of a transform is at least 1.")
        return (length,)
    return None if s is None else as_ints(s, "s")


def normalise_axes(axes: Any, ndim: int, extents: Any = None) -> Ints:
    """Return the axes as non-negative integers, in the order in which they were listed.

    Raises
    ------
    ValueError
        The operand has no axis, or an axis is out of range or repeated.
    TypeError
        `axes` is not a sequence of integers.
    """
    if ndim == 0:
        raise ValueError("An FFT needs an operand with at least one axis; this one is 0-dimensional.")
    listed = () if axes is None else as_ints(axes, "axes")
    if not listed:
        count = ndim if extents is None else len(as_ints(extents, "s"))
        if count == 0:
            raise ValueError("s is empty; give one length for each axis to transform, or leave s away.")
        if count > ndim:
            raise ValueError(f"s has {count} entries, but the operand has only {ndim} axes.")
        return tuple(range(ndim - count, ndim))
    for axis in listed:
        if not -ndim <= axis < ndim:
            raise ValueError(f"Axis {axis} is out of range: the operand has {ndim} axes, so axes go from {-ndim} to {ndim - 1}.")
    positive = tuple(axis % ndim for axis in listed)
    if len(set(positive)) != len(positive):
        raise ValueError(f"axes = {listed} names an axis twice; list each axis to transform once.")
    return positive


def _resize(kind: str, shape: Ints, axes: Ints, extents: Any, parity: str) -> tuple[Ints, Ints]:
    """Return the shape that the library reads and the logical lengths along `axes`."""
    wanted = None if extents is None else as_ints(extents, "s")
    if wanted is not None and len(wanted) != len(axes):
        same = f" (n = {wanted[0]} means the same)" if len(wanted) == 1 else ""
        raise ValueError(f"s = {wanted} has {len(wanted)} entries{same}, but there are {len(axes)} axes to transform.")
    sizes, lengths = list(shape), []
    for position, axis in enumerate(axes):
        halved = kind == "C2R" and position == len(axes) - 1
        length = wanted[position] if wanted is not None and wanted[position] != -1 else None
        if length is not None and length < 1:
            raise ValueError(f"s = {wanted} asks for a transform of length {length}; lengths are at least 1.")
        if halved:
            if length is None:
                length = 2 * shape[axis] - (1 if parity == "odd" else 2)
            sizes[axis] = length // 2 + 1 if wanted is not None and wanted[position] != -1 else shape[axis]
        elif length is None:
            length = shape[axis]
        else:
            sizes[axis] = length
        if shape[axis] == 0 and sizes[axis] == shape[axis]:
            raise ValueError(f"Axis {axis} of the operand, of shape {shape}, has extent 0; a transform needs at least one point.")
        if length < 1:
            raise ValueError(
                f"The result would have extent {length} along axis {axis}: the operand has {shape[axis]} point(s) there. For a signal "
                'of odd length pass options={"last_axis_parity": "odd"}.'
            )
        lengths.append(length)
    return tuple(sizes), tuple(lengths)


def _check_inplace(kind: str, shape: Ints, source_shape: Ints, strides: Ints) -> None:
    if kind != "C2C":
        raise ValueError(f"inplace=True needs a complex-to-complex transform, but this one is {kind}: its result has another dtype.")
    if shape != source_shape:
        raise ValueError(f"inplace=True cannot change the shape {source_shape} to {shape}; drop n and s or inplace.")
    if may_overlap(shape, strides):
        raise ValueError(
            f"inplace=True needs an operand whose elements do not share memory; strides {strides} of shape {shape} may overlap. "
            "Copy the operand first."
        )


def _result_shape(kind: str, shape: Ints, axes: Ints, lengths: Ints) -> Ints:
    result = list(shape)
    if kind == "R2C":
        result[axes[-1]] = lengths[-1] // 2 + 1
    elif kind == "C2R":
        result[axes[-1]] = lengths[-1]
    return tuple(result)


def _result_strides(shape: Ints, strides: Ints, out_shape: Ints, axes: Ints, layout: str) -> Ints:
    order = stride_order(shape, strides)
    batch = [axis for axis in order if axis not in axes]
    if layout == "optimized" and batch and abs(strides[batch[0]]) <= max(abs(strides[axis]) for axis in axes):
        order = (*(axis for axis in order if axis in axes), *batch)
    return dense(out_shape, order)


# --- keys -----------------------------------------------------------------------------------------------------------------------


def embedding(shape: Ints, strides: Ints) -> dict[int, int] | None:
    """Return for each axis the extent of the storage that it walks in, or None when strides do not nest."""
    order = stride_order(shape, strides)
    extents: dict[int, int] = {}
    for axis, slower in zip(order, order[1:], strict=False):
        if strides[axis] <= 0 or strides[slower] % strides[axis]:
            return None
        extents[axis] = strides[slower] // strides[axis]
    if strides[order[-1]] <= 0:
        return None
    extents[order[-1]] = shape[order[-1]]
    return extents


def transform_order(problem: FFTProblem, strides: Ints) -> Ints:
    """The transformed axes from the slowest to the fastest; the halved axis of a real transform is always last."""
    fixed = (problem.axes[-1],) if problem.kind != "C2C" else ()
    order = [axis for axis in stride_order(problem.shape, strides)[::-1] if axis in problem.axes and axis not in fixed]
    return (*order, *fixed)


def plan_arguments(problem: FFTProblem) -> tuple[Any, ...]:
    """The twelve numbers that describe a plan to cuFFT's interface, as the first part of a key.

    A layout that one such call cannot describe is given as its packed copy.
    """
    shape, strides = problem.shape, problem.in_strides
    extents = embedding(shape, strides)
    order = transform_order(problem, strides)
    if extents is None or not _nested(order, strides, extents) or not _tiled(shape, strides, problem.batch_axes):
        order = transform_order(problem, contiguous(shape))
        packed = dense(shape, (*order[::-1], *(axis for axis in stride_order(shape, strides) if axis not in order)))
        strides, extents = packed, embedding(shape, packed) or dict.fromkeys(range(len(shape)), 1)
    lengths = tuple(problem.lengths[problem.axes.index(axis)] for axis in order)
    inembed = tuple(extents[axis] for axis in order)
    onembed = tuple(problem.out_shape[axis] for axis in order)
    batch = problem.batch_axes
    istride, idist = strides[order[-1]], min((strides[axis] for axis in batch), default=prod(inembed))
    ostride = problem.out_strides[order[-1]]
    odist = min((problem.out_strides[axis] for axis in batch), default=prod(onembed))
    if problem.points == 1:
        istride = ostride = 1
    if problem.inplace:
        onembed, ostride, odist = inembed, istride, idist
    count = prod(shape[axis] for axis in batch)
    return (
        len(order), lengths, inembed, istride, idist, _code(problem.in_dtype),
        onembed, ostride, odist, _code(problem.out_dtype), count, _code(problem.in_dtype),
    )  # fmt: skip


def _nested(order: Sequence[int], strides: Ints, extents: dict[int, int]) -> bool:
    return all(
        strides[slow] == strides[fast] * extents[fast] for slow, fast in zip(order, order[1:], strict=False)
    )


def _tiled(shape: Ints, strides: Ints, batch: Ints) -> bool:
    """Whether one distance leads through all batch axes."""
    order = [axis for axis in stride_order(shape, strides) if axis in batch and shape[axis] != 1]
    return all(strides[slow] == strides[fast] * shape[fast] for fast, slow in zip(order, order[1:], strict=False))


def _code(dtype: DType) -> Any:
    from .._enums import CudaDataType

    return CudaDataType(dtype.code)


def differences(old: FFTProblem, new: FFTProblem) -> str:
    """Say in which attributes two problems differ, for an error text."""
    names: Iterable[tuple[str, str]] = (
        ("kind", "transform"), ("in_dtype", "dtype"), ("shape", "shape"), ("in_strides", "strides"),
        ("lengths", "lengths"), ("out_strides", "result strides"),
    )  # fmt: skip
    rows = [
        f"{label}: expected {getattr(old, name)}, given {getattr(new, name)}"
        for name, label in names
        if getattr(old, name) != getattr(new, name)
    ]
    return "; ".join(rows)
