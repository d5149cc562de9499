"""One-call transforms: a planned transform is leased from the plan cache, or made and then kept there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from .._core import log
from .._core.arrays import TRACKED, adapter_of
from .._core.cache import plan_cache
from .._core.options import coerce_options
from ._callback_pair import CallbackPair
from ._options import FFTDirection, FFTOptions, coerce_direction
from ._problem import as_int, as_ints, extents_of, specify
from ._transform import FFT


@dataclass(frozen=True, slots=True, eq=False)
class Variant:
    """What distinguishes the four one-call functions."""

    name: str
    kind: str  # kind of the operand's dtype: "f" or "c"
    error: type[Exception]  # the original's, for an operand of the other kind
    fft_type: Literal["C2R"] | None
    direction: FFTDirection


C2C_FORWARD = Variant("fft", "c", ValueError, None, FFTDirection.FORWARD)
C2C_INVERSE = Variant("ifft", "c", ValueError, None, FFTDirection.INVERSE)
R2C = Variant("rfft", "f", RuntimeError, None, FFTDirection.FORWARD)
C2R = Variant("irfft", "c", ValueError, "C2R", FFTDirection.INVERSE)

_INT = frozenset({int})

Asked = tuple[Any, Any, Any, Any, Any, Any, Any, Any, Any]
"""axes, direction, options, execution, prolog, epilog, n, s, norm: a plain tuple, since it is part of every key."""


def call(variant: Variant, operand: Any, asked: Asked, stream: Any, out: Any) -> Any:
    """Transform once, with the plan of an earlier call of the same metadata when there is one."""
    ptr, look = adapter_of(operand).look(operand)
    axes, n, s = asked[0], asked[6], asked[7]
    if not (axes is None or _plain(axes)) or not (s is None or _plain(s)) or not (n is None or type(n) is int):
        asked = _read_once(asked)
    key: Any = (variant, type(operand), look, ptr & 15, asked)
    if asked[4] is not None or asked[5] is not None:
        return _call_with_callbacks(variant, operand, key, asked, stream, out)
    # Options can change, whatever their hash says.
    key, transform = plan_cache.lease(key, _settled) if asked[2] is None else _lease(_settled(key))
    if transform is None:
        transform = _open(variant, operand, asked, stream)
    try:
        if transform._simple and out is None and not transform.logger.isEnabledFor(log.INFO):
            result = transform._once((operand,), (ptr,), stream, None)
        else:
            result = transform._serve(operand, stream, out)
    except BaseException:
        plan_cache.discard(transform)
        raise
    if transform._gpu is not None:
        transform._pin_if_captured(stream)
    plan_cache.give(key, transform)
    return result


def _lease(key: Any) -> tuple[Any, Any]:
    return key, None if key is None else plan_cache.take(key)


def _plain(values: Any) -> bool:
    """Whether it is a tuple of nothing but int: 8.0 is equal to 8, so a key of it would find what it must not."""
    return type(values) is tuple and _INT.issuperset(map(type, values))


def _read_once(asked: Asked) -> Asked:
    """Turn axes, n and s into integers and tuples of them; they may be iterators."""
    axes, n, s = asked[0], asked[6], asked[7]
    axes = None if axes is None else as_ints(axes, "axes")
    n = None if n is None else as_int(n, "n")
    s = None if s is None else as_ints(s, "s")
    return (axes, *asked[1:6], n, s, asked[8])


def _call_with_callbacks(
    variant: Variant, operand: Any, key: Any, asked: Asked, stream: Any, out: Any
) -> Any:
    """Transform once with callbacks; a plan of the same code serves other data."""
    view = adapter_of(operand).view(operand)
    options = _options_of(variant, coerce_options(FFTOptions, asked[2]))
    problem = specify(view.shape, view.strides, view.dtype, axes=asked[0], options=options, extents=extents_of(asked[6], asked[7]))
    callbacks = CallbackPair(problem, asked[4], asked[5])
    callbacks.require_data()
    key, transform = _lease(_settled(key, callbacks.key))
    if transform is not None and not transform._plan_object.rebind(callbacks):
        plan_cache.give(key, transform)
        transform = None
    if transform is None:
        transform = _open(variant, operand, asked, stream, callbacks)
    try:
        result = transform._serve(operand, stream, out)
    except BaseException:
        plan_cache.discard(transform)
        raise
    transform._plan_object.callbacks.let_go()
    if transform._gpu is not None:
        transform._pin_if_captured(stream)
    plan_cache.give(key, transform)
    return result


def _settled(key: Any, callbacks: Any = None) -> Any:
    """Return the key with every argument in a form that can be hashed, or None when the call must not be cached."""
    axes, direction, options, execution, _, _, n, s, norm = key[-1]
    if options is not None:
        options = coerce_options(FFTOptions, options)
        if options.logger is not None or options.allocator is not None:
            return None
        options = options.key()
    if isinstance(execution, Mapping):
        execution = tuple(sorted(map(repr, execution.items())))  # 1.0 is equal to 1
    settled = (*key[:-1], axes, direction, options, execution, callbacks, n, s, norm)
    try:
        hash(settled)
    except TypeError:  # construction will say what is wrong
        return None
    return settled


def _options_of(variant: Variant, options: FFTOptions) -> FFTOptions:
    """Return a copy, since the transform that holds it may be cached and the caller may edit the original."""
    return replace(options, fft_type=variant.fft_type or options.fft_type)


def _open(
    variant: Variant, operand: Any, asked: Asked, stream: Any, callbacks: CallbackPair | None = None
) -> FFT:
    """Make and plan the transform of a one-call function."""
    axes, direction, options, execution, _, _, n, s, norm = asked
    options = _options_of(variant, coerce_options(FFTOptions, options))
    dtype = adapter_of(operand).view(operand).dtype
    if dtype.kind != variant.kind and dtype.kind in "fc":
        words = {"f": "a real", "c": "a complex"}
        instead = {"fft": "rfft", "ifft": "irfft on the half spectrum", "rfft": "fft", "irfft": "rfft"}[variant.name]
        raise variant.error(f"{variant.name}() takes {words[variant.kind]} operand, but this one is {dtype}. Use {instead}.")
    transform = FFT(operand, axes=axes, options=options, execution=execution, stream=stream, n=n, s=s, norm=norm)
    try:
        transform._transient = True
        transform._plan_with(callbacks or CallbackPair(transform._problem), None, stream)
        transform._once = transform._runner(variant.direction if direction is None else coerce_direction(direction))
        tracked = any(view.flags & TRACKED for view in transform._views)  # then every call warns
        transform._simple = not (transform._inplace or transform._route.across or tracked)
        if transform._simple:
            transform._forget()
    except BaseException:
        transform.free()
        raise
    return transform
