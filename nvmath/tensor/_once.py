"""One-call contractions: a planned contraction is leased from the plan cache, or made and then kept there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from .._core import log
from .._core.arrays import TRACKED, Adapter, adapter_of
from .._core.cache import plan_cache
from .._core.layout import span
from .._core.operation import viewed
from .._core.options import coerce_options
from ._contraction import Contraction
from ._expression import parse
from ._options import ContractionOptions
from ._problem import ADDEND, names_of, numbered, refuse_none
from ._scalars import refuse_beta


def call(
    cls: type[Contraction],
    expr: Any,
    objs: tuple[Any, ...],
    addend: Any,
    out: Any,
    scalars: tuple[Any, Any],
    asked: tuple[Any, Any, Any],
    stream: Any,
) -> Any:
    """Contract once, with the plan of an earlier call of the same metadata when there is one."""
    alpha, beta = scalars
    if (beta is None) is (addend is not None):
        parse(expr, cls._count, cls._what)
        refuse_beta(ADDEND[cls._count], beta)
    every = objs if addend is None else (*objs, addend)
    parts: list[Any] = [cls, expr, addend is None]
    ptrs, looks = [], []
    for obj in every:
        if obj is None:
            _refuse_none(cls, every)
        adapter = adapter_of(obj)
        ptr, look = adapter.look(obj)
        ptrs.append(ptr)
        looks.append(look)
        parts += type(obj), look, ptr & (15 if adapter.name == "numpy" else 255)
    if out is not None:
        own = adapter if type(out) is type(obj) else adapter_of(out)
        parts += type(out), *_relation(out, own, every, ptrs, looks)
    key: Any = (*parts, *asked)
    key, made = plan_cache.lease(key, _settled)
    if made is None:
        made = _open(cls, expr, objs, addend, out, asked, stream)
    try:
        made._scalars.set(alpha, 0.0 if beta is None else beta)
        if made._simple and not log.ROOT.isEnabledFor(log.INFO):
            result = made._once(every, tuple(ptrs), stream, out)
            if out is not None:
                made._adapter.touched(out)
        else:
            result = made._serve(every, out, stream)
    except BaseException:
        plan_cache.discard(made)
        raise
    if made._gpu is not None:
        made._pin_if_captured(stream)
    plan_cache.give(key, made)
    return result


def _refuse_none(cls: type[Contraction], every: tuple[Any, ...]) -> None:
    count = getattr(cls, "_count", 0)  # an einsum has any number
    names = (*names_of(count), ADDEND[count]) if count else numbered(len(every))
    refuse_none(dict(zip(names, every, strict=False)))


_spans: dict[tuple[type, Any], tuple[int, int]] = {}
_MOST_SPANS: Final = 4096


def _span_of(name: str, obj: Any, look: Any) -> tuple[int, int]:
    """Where the memory of an array begins and ends, in bytes from its address; it follows from what a look shows."""
    view = viewed(adapter_of(obj), name, obj)
    low, high = span(view.shape, view.strides)
    if len(_spans) >= _MOST_SPANS:
        _spans.clear()
    found = _spans[type(obj), look] = low * view.dtype.itemsize, (high + 1) * view.dtype.itemsize
    return found


def _relation(out: Any, adapter: Adapter, every: tuple[Any, ...], ptrs: list[int], looks: list[Any]) -> tuple[Any, ...]:
    """What a plan depends on in `out`: its metadata, and with which operands it shares memory, or the address."""
    ptr, look = adapter.look(out)
    begin, end = _spans.get((type(out), look)) or _span_of("out", out, look)
    shared = []
    for number, (obj, address, other) in enumerate(zip(every, ptrs, looks, strict=True)):
        low, high = _spans.get((type(obj), other)) or _span_of(str(number), obj, other)
        shared.append((ptr + begin < address + high and address + low < ptr + end, address == ptr))
    return look, ptr & 255, tuple(shared), adapter.view(out).flags


def _settled(key: tuple[Any, ...]) -> Any:
    """Return the key with every argument in a form that can be hashed, or None when the call must not be cached."""
    *parts, qualifiers, options, execution = key
    if isinstance(qualifiers, list | np.ndarray):  # a tuple or a text, the path of an einsum, stays as it is
        qualifiers = tuple(qualifiers)
    if options is not None:
        options = coerce_options(ContractionOptions, options)
        if options.logger is not None or options.allocator is not None or options.handle is not None:
            return None
        options = options.key()
    if isinstance(execution, Mapping):
        execution = tuple(sorted(map(repr, execution.items())))  # 1.0 is equal to 1
    settled = (*parts, qualifiers, options, execution)
    try:
        hash(settled)
    except TypeError:
        return None
    return settled


def _open(
    cls: type[Contraction], expr: Any, objs: tuple[Any, ...], addend: Any, out: Any, asked: tuple[Any, Any, Any], stream: Any
) -> Contraction:
    """Make and plan the object of a one-call function."""
    qualifiers, options, execution = asked
    options = replace(coerce_options(ContractionOptions, options))  # a copy: the caller may edit the original
    made = cls.__new__(cls)
    made._construct(expr, objs, addend, out, qualifiers, stream, options, execution)
    try:
        made._transient = True
        made._do_plan(stream)
        made._once = made._runner(None)
        tracked = any(view.flags & TRACKED for view in made._views)  # then every call warns
        straight = made._out is None or made._out.direct
        made._simple = straight and not (made._route.across or tracked) and made.logger is log.ROOT
        if made._simple:
            made._forget()
    except BaseException:
        made.free()
        raise
    return made
