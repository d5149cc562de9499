"""Callbacks on the CPU: compiled loops over the elements of an array, split over threads.

A prolog writes an internal array that the transform then reads, an epilog rewrites the result in place. Both see what
they would see on a GPU: pointers, and the flat offset ``sum(index * stride)`` from the first element. In which order
elements are visited is not defined.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .._core import jit
from .._core.options import available_threads
from ._callback_compile import Kind
from ._callbacks import Callback

__all__ = ["compiled_walk", "host_epilog", "host_loop", "host_prolog"]

Ints = tuple[int, ...]

#: Fewer elements than this are not worth a thread: a hand-over takes about 25 us, the time of 60,000 of them.
_ELEMENTS_PER_THREAD = 1 << 17
_KEPT_LOOPS = 128
_WALK = "void(uint64, uint64, uint64, int64[::1])"


class _Axis(NamedTuple):
    """One axis of the array; the strides are of the input and of the output, in elements."""

    stride_in: int
    stride_out: int
    extent: int


def host_prolog(callback: Callback) -> Callable[..., None]:
    """Compile ``f(in_ptr, out_ptr, info_ptr, shape, in_strides, out_strides, num_threads)`` for a prolog.

    For every index of `shape` it stores ``prolog(in, offset, info, null)``, where the offset follows `in_strides`, at
    the offset that follows `out_strides`. Strides count elements. The output must not overlap the input: a prolog may
    read any element.
    """

    def run(
        in_ptr: int, out_ptr: int, info_ptr: int, shape: Ints, in_strides: Ints, out_strides: Ints, num_threads: int
    ) -> None:
        _run(walk, in_ptr, out_ptr, info_ptr, _parts(tuple(shape), tuple(in_strides), tuple(out_strides), num_threads))

    walk = compiled_walk(callback._user, callback.kind)
    return run


def host_epilog(callback: Callback) -> Callable[..., None]:
    """Compile ``f(out_ptr, info_ptr, shape, strides, num_threads)`` for an epilog.

    For every index of `shape` it calls ``epilog(out, offset, element, info, null)`` with the element that lies at the
    offset. Strides count elements.
    """

    def run(out_ptr: int, info_ptr: int, shape: Ints, strides: Ints, num_threads: int) -> None:
        _run(walk, out_ptr, out_ptr, info_ptr, _parts(tuple(shape), tuple(strides), tuple(strides), num_threads))

    walk = compiled_walk(callback._user, callback.kind)
    return run


def host_loop(callback: Callback) -> Callable[..., None]:
    """`host_prolog` or `host_epilog`, by the phase."""
    return (host_prolog if callback.phase == "prolog" else host_epilog)(callback)


_walks: OrderedDict[str, Any] = OrderedDict()
_walks_lock = threading.Lock()


def compiled_walk(user: jit.UserFunction | None, kind: Kind) -> Any:
    """The compiled loop for `user`, kept in memory by what it was made of.

    Raises
    ------
    ValueError
        If there is no function, or (`CompileError`) it does not compile.
    """
    if user is None:
        raise ValueError(
            f"The {kind.phase} is LTO-IR, which only runs on a GPU. For a transform on the CPU give the Python "
            f"function, or the object that compile_{kind.phase} returned (not a copy of its bytes)."
        )
    key = f"{kind.phase} {user.key}"
    with _walks_lock:
        if key in _walks:
            _walks.move_to_end(key)
            return _walks[key]
    walk = _compile_walk(user, kind)  # outside the lock: it takes a second, and two threads may at worst both do it
    with _walks_lock:
        _walks[key] = walk
        if len(_walks) > _KEPT_LOOPS:
            _walks.popitem(last=False)
    return walk


def _compile_walk(user: jit.UserFunction, kind: Kind) -> Any:
    function = jit.host_function(user)
    from .._core.jit import pointers  # imports numba

    element = pointers.pointer_type(jit.Pointer(kind.element_dtype))
    info = pointers.pointer_type(jit.Pointer(kind.user_info_dtype))
    make = _prolog_walk if kind.phase == "prolog" else _epilog_walk
    return jit.compile_loop(make(function, pointers.pointer_from, element, info), _WALK)


# The two functions below are compiled by numba. `axes` holds, as integers: number of outer axes, extent, input and
# output stride of the inner axis, first input and output offset, number of inner rows, and for each outer axis its
# extent, strides and a counter.
_HEAD = 7
_PER_AXIS = 4


def _prolog_walk(function: Any, pointer_from: Any, element: Any, info: Any) -> Any:
    def walk(in_ptr: Any, out_ptr: Any, info_ptr: Any, axes: Any) -> None:
        source, target = pointer_from(in_ptr, element), pointer_from(out_ptr, element)
        user_info, reserved = pointer_from(info_ptr, info), pointer_from(np.uint64(0), element)
        n_outer, extent, step_in, step_out, at_in, at_out = axes[0], axes[1], axes[2], axes[3], axes[4], axes[5]
        for _ in range(axes[6]):
            if step_in == 1 and step_out == 1:  # a loop of its own, so that LLVM sees the constant
                for i in range(extent):
                    target[at_out + i] = function(source, np.uint64(at_in + i), user_info, reserved)
            else:
                for i in range(extent):
                    target[at_out + i * step_out] = function(
                        source, np.uint64(at_in + i * step_in), user_info, reserved
                    )
            for axis in range(n_outer):
                k = _HEAD + _PER_AXIS * axis
                axes[k + 3] += 1
                at_in += axes[k + 1]
                at_out += axes[k + 2]
                if axes[k + 3] < axes[k]:
                    break
                axes[k + 3] = 0
                at_in -= axes[k] * axes[k + 1]
                at_out -= axes[k] * axes[k + 2]

    return walk


def _epilog_walk(function: Any, pointer_from: Any, element: Any, info: Any) -> Any:
    def walk(_: Any, out_ptr: Any, info_ptr: Any, axes: Any) -> None:
        target = pointer_from(out_ptr, element)
        user_info, reserved = pointer_from(info_ptr, info), pointer_from(np.uint64(0), element)
        n_outer, extent, step, at = axes[0], axes[1], axes[3], axes[5]
        for _ in range(axes[6]):
            if step == 1:
                for i in range(extent):
                    function(target, np.uint64(at + i), target[at + i], user_info, reserved)
            else:
                for i in range(extent):
                    offset = at + i * step
                    function(target, np.uint64(offset), target[offset], user_info, reserved)
            for axis in range(n_outer):
                k = _HEAD + _PER_AXIS * axis
                axes[k + 3] += 1
                at += axes[k + 2]
                if axes[k + 3] < axes[k]:
                    break
                axes[k + 3] = 0
                at -= axes[k] * axes[k + 2]

    return walk


@lru_cache(maxsize=1024)
def _parts(shape: Ints, in_strides: Ints, out_strides: Ints, num_threads: int) -> tuple[Ints, ...]:
    """The `axes` of one walk for each thread."""
    if 0 in shape:
        return ()
    axes = _merge(sorted(_Axis(*row) for row in zip(in_strides, out_strides, shape, strict=True) if row[2] != 1))
    axes = axes or [_Axis(1, 1, 1)]
    size = int(np.prod(shape, dtype=np.int64))
    count = max(1, min(num_threads, size // _ELEMENTS_PER_THREAD))
    split = _axis_to_split(axes, count)
    extent = axes[split].extent
    count = min(count, extent)
    bounds = [extent * i // count for i in range(count + 1)]
    return tuple(_part(axes, split, first, last) for first, last in pairwise(bounds))


def _merge(axes: list[_Axis]) -> list[_Axis]:
    """Join neighbours that one loop can walk; the first axis is the fastest."""
    merged: list[_Axis] = []
    for axis in axes:
        inner = merged[-1] if merged else None
        if (
            inner is not None
            and axis.stride_in == inner.stride_in * inner.extent
            and axis.stride_out == inner.stride_out * inner.extent
        ):
            merged[-1] = inner._replace(extent=inner.extent * axis.extent)
        else:
            merged.append(axis)
    return merged


def _axis_to_split(axes: list[_Axis], count: int) -> int:
    """The slowest axis if it is long enough for `count` parts, else the longest."""
    if axes[-1].extent >= count:
        return len(axes) - 1
    return max(range(len(axes)), key=lambda i: axes[i].extent)


def _part(axes: list[_Axis], split: int, first: int, last: int) -> Ints:
    start_in, start_out = first * axes[split].stride_in, first * axes[split].stride_out
    own = [axis._replace(extent=last - first) if i == split else axis for i, axis in enumerate(axes)]
    inner, outer = own[0], own[1:]
    rows = 1
    flat: list[int] = []
    for axis in outer:
        rows *= axis.extent
        flat += (axis.extent, axis.stride_in, axis.stride_out, 0)
    return (len(outer), inner.extent, inner.stride_in, inner.stride_out, start_in, start_out, rows, *flat)


def _run(walk: Any, in_ptr: int, out_ptr: int, info_ptr: int, parts: tuple[Ints, ...]) -> None:
    """Walk the first part in this thread and the others in the pool; return, or raise, when all have ended."""
    if not parts:
        return
    own, *others = (np.array(part, dtype=np.int64) for part in parts)
    pending = [_pool().submit(walk, in_ptr, out_ptr, info_ptr, axes) for axes in others]
    try:
        walk(in_ptr, out_ptr, info_ptr, own)
    finally:
        wait(pending)
    for future in pending:
        future.result()


_executor: ThreadPoolExecutor | None = None
_executor_lock = threading.Lock()


def _pool() -> ThreadPoolExecutor:
    global _executor
    with _executor_lock:
        if _executor is None:
            _executor = ThreadPoolExecutor(available_threads(), thread_name_prefix="nvmath-callback")
        return _executor


def _forget_pool() -> None:
    """In a forked child: the threads are gone, and a lock may be held by one of them."""
    global _executor, _executor_lock, _walks_lock
    _executor = None
    _executor_lock = threading.Lock()
    _walks_lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)
