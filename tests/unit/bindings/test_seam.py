"""Both kinds of the foreign-call seam, over the toy library: every type, every check, every error path."""

from __future__ import annotations

import array
import ctypes
import gc
import inspect
import sys
import threading
import time
import weakref
from collections.abc import Callable
from enum import IntEnum
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from nvmath.bindings import _seam

Bind = Callable[[str], Callable[..., Any]]

INTEGERS = {
    "i32": (-(2**31), 2**31 - 1),
    "u32": (0, 2**32 - 1),
    "i64": (-(2**63), 2**63 - 1),
    "u64": (0, 2**64 - 1),
    "usize": (0, 2**64 - 1),
    "ptr": (0, 2**64 - 1),
}


class Colour(IntEnum):
    RED = 3


class BadIndex:
    def __index__(self) -> int:
        raise ZeroDivisionError("from __index__")


# ------------------------------------------------------------------------------------------------ scalars


@pytest.mark.parametrize("kind", INTEGERS)
def test_integers_pass_unchanged(bind: Bind, kind: str) -> None:
    function = bind(f"toy_{kind}(a: {kind}) -> {kind}")
    low, high = INTEGERS[kind]
    for value in (low, low + 1, 0, 1, 127, 2**30, 2**31 - 1, high - 1, high):
        assert function(value) == value
        assert type(function(value)) is int


@pytest.mark.parametrize("kind", INTEGERS)
def test_integers_out_of_range_are_refused_by_name(bind: Bind, kind: str) -> None:
    function = bind(f"toy_{kind}(a: {kind}) -> {kind}")
    low, high = INTEGERS[kind]
    for value in (low - 1, high + 1, 2**70, -(2**70)):
        with pytest.raises(OverflowError, match=rf"toy\.{kind}\(\): 'a' must be .*got {value}"):
            function(value)


@pytest.mark.parametrize("kind", INTEGERS)
@pytest.mark.parametrize("value", [1.0, "1", b"1", [1], object()])
def test_other_types_are_refused_by_name(bind: Bind, kind: str, value: object) -> None:
    with pytest.raises(TypeError, match=rf"toy\.{kind}\(\): 'a' must be"):
        bind(f"toy_{kind}(a: {kind}) -> {kind}")(value)


@pytest.mark.parametrize("kind", [kind for kind in INTEGERS if kind != "ptr"])
def test_none_is_no_integer(bind: Bind, kind: str) -> None:
    with pytest.raises(TypeError, match="'a' must be an int"):
        bind(f"toy_{kind}(a: {kind}) -> {kind}")(None)


@pytest.mark.parametrize("kind", INTEGERS)
def test_whatever_has_index_is_an_integer(bind: Bind, kind: str) -> None:
    function = bind(f"toy_{kind}(a: {kind}) -> {kind}")
    assert function(True) == 1
    assert function(Colour.RED) == 3
    assert function(np.int64(7)) == 7
    assert function(np.uint8(8)) == 8
    assert function(np.array(9)) == 9
    with pytest.raises(ZeroDivisionError, match="from __index__"):
        function(BadIndex())


def test_none_is_the_null_pointer(bind: Bind) -> None:
    assert bind("toy_ptr(a: ptr) -> ptr")(None) == 0


def test_chars(bind: Bind) -> None:
    function = bind("toy_char(a: char) -> i32")
    assert [function(value) for value in ("N", b"T", 85, -1, 255, -128)] == [78, 84, 85, -1, -1, -128]
    for value in (256, -129):
        with pytest.raises(OverflowError, match="'a' must be an int in -128"):
            function(value)
    for text in ("", "ab", "é"):
        with pytest.raises(ValueError, match="one character"):
            function(text)
    with pytest.raises(TypeError, match="one character"):
        function(None)


def test_text(bind: Bind) -> None:
    function = bind("toy_str(a: str) -> str")
    assert function("grüße") == "grüße"
    assert function(b"bytes") == "bytes"
    assert function("") == ""
    assert function(None) is None
    assert function(b"\xff") == "\ufffd"
    with pytest.raises(ValueError, match="without NUL"):
        function("a\0b")
    with pytest.raises(TypeError, match="'a' must be a str"):
        function(5)
    with pytest.raises(UnicodeEncodeError):
        function("\udc00")


def test_floating_point(bind: Bind) -> None:
    for kind in ("f32", "f64"):
        function = bind(f"toy_{kind}(a: {kind}) -> {kind}")
        assert function(1.25) == 2.5
        assert function(3) == 6.0
        assert function(np.float32(0.5)) == 1.0
        assert function(float("inf")) == float("inf")
        with pytest.raises(TypeError, match="'a' must be a real number"):
            function("1")
        with pytest.raises(TypeError, match="'a' must be a real number"):
            function(None)
        with pytest.raises(OverflowError, match="'a' must be a real number"):
            function(10**400)
    assert bind("toy_f32(a: f32) -> f32")(0.1) == float(np.float32(0.1) * 2)


def test_sixteen_words_arrive_in_order(bind: Bind) -> None:
    names = "abcdefghijklmnop"
    function = bind(f"toy_sixteen({', '.join(f'{name}: i64' for name in names)}) -> i64")
    values = [(-1) ** k * 7**k for k in range(16)]
    assert function(*values) == sum((k + 1) * value for k, value in enumerate(values))


def test_thirty_two_words_arrive_in_order(bind: Bind) -> None:
    names = [f"{letter}{digit}" for letter in "abcd" for digit in range(8)]
    function = bind(f"toy_thirty_two({', '.join(f'{name}: i32' for name in names)}) -> i64")
    values = [(-1) ** k * (k * k + 1) for k in range(32)]
    assert function(*values) == sum((k + 1) * value for k, value in enumerate(values))


def test_words_and_floats_do_not_mix_up(bind: Bind) -> None:
    cycle = ["i32", "f32", "i64", "f64", "ptr", "f32", "u32", "f64", "i64", "f64", "i64", "f64", "i64", "f32"]
    types = [*cycle, "i64", "f64"]
    row = ", ".join(f"{name}: {kind}" for name, kind in zip("abcdefghijklmnop", types, strict=True))
    values = [k + 0.5 if kind[0] == "f" else k + 1 for k, kind in enumerate(types)]
    expected = sum((k + 1) * value for k, value in enumerate(values))
    assert bind(f"toy_mixed({row}) -> f64")(*values) == expected


def test_eight_floats(bind: Bind) -> None:
    row = ", ".join(f"{name}: f32" for name in "abcdefgh")
    assert bind(f"toy_many_floats({row}) -> f32")(*range(8)) == sum((k + 1) * k for k in range(8))


# ------------------------------------------------------------------------------------------------ results


def test_void_returns_none(bind: Bind) -> None:
    assert bind("toy_void(a: i64) -> void")(3) is None


def test_status_returns_none_or_raises(bind: Bind) -> None:
    function = bind("toy_status(status: i32)")
    assert function(0) is None
    for status in (1, -1, 2**31 - 1, -(2**31)):
        with pytest.raises(Exception, match=f"TOY_{status}$") as caught:
            function(status)
        assert caught.value.status == status  # type: ignore[attr-defined]


def test_an_error_handler_must_raise(seam: ModuleType, toy: ctypes.CDLL) -> None:
    address = ctypes.addressof(ctypes.c_char.in_dll(toy, "toy_status"))
    for handler in (lambda status: None, None):
        function = seam.bind(address, "status", ("status",), "i>!", handler, "")
        with pytest.raises(RuntimeError, match=r"status\(\): status 5"):
            function(5)


OUTS = """toy_outs(a: i32, &i: i32, &u: u32, &q: i64, &uq: u64, &z: usize, &p: ptr, &f: f32, &d: f64, &c: char, &s: str,
status: i32)""".replace("\n", " ")


def test_out_parameters_are_returned(bind: Bind) -> None:
    function = bind(OUTS)
    assert function(5, 0) == (-5, 4000000000, -5000000000, 18000000000000000000, 7, 2**47 - 1, 1.5, 2.5, -3, "text")
    assert function(0, 0)[-1] is None
    with pytest.raises(Exception, match="TOY_9"):
        function(5, 9)


def test_one_out_parameter_is_a_value(bind: Bind) -> None:
    function = bind("toy_version(kind: i32, &value: i32)")
    assert function(4) == 5


def test_a_value_comes_before_the_out_parameters(bind: Bind) -> None:
    assert bind("toy_value_and_out(a: i64, &b: i64) -> i64")(4) == (4, 5)


# ------------------------------------------------------------------------------------------------ arrays

SUM = "toy_sum(n: i64, i: i32[], q: i64[], f: f32[], d: f64[]) -> f64"


def test_arrays_take_sequences_and_buffers(bind: Bind) -> None:
    function = bind(SUM)
    assert function(2, [1, 2], (3, 4), [0.5, 0.5], (1.0, 2)) == 14.0
    assert function(2, range(2), np.array([3, 4]), np.array([1, 2], np.float32), array.array("d", [1, 2])) == 14.0
    assert function(0, [], (), None, None) == 0.0


def test_arrays_take_addresses(bind: Bind) -> None:
    function = bind(SUM)
    values = np.array([1.5, 2.5])
    address = values.ctypes.data
    assert function(2, None, None, None, address) == 4.0
    assert function(2, None, None, None, np.uint64(address)) == 4.0
    with pytest.raises(OverflowError, match="'d' must be an address"):
        function(2, None, None, None, -1)


def test_buffers_of_another_type_or_layout_are_converted(bind: Bind) -> None:
    function = bind(SUM)
    values = np.arange(6, dtype=np.int16)[::2]
    assert function(3, values, values, values, values) == 4 * 6.0
    assert function(3, values.astype(np.int64), None, None, None) == 6.0
    assert function(3, values.astype(">i4"), None, None, None) == 6.0
    with pytest.raises(TypeError, match="element 0 of 'i' must be an int"):
        function(3, values.astype(np.float32), None, None, None)


def test_elements_are_checked_by_name(bind: Bind) -> None:
    function = bind(SUM)
    with pytest.raises(OverflowError, match=r"toy\.sum\(\): element 1 of 'i' must be an int"):
        function(2, [0, 2**31], None, None, None)
    with pytest.raises(TypeError, match="element 0 of 'q' must be an int"):
        function(2, None, ["1", 2], None, None)
    with pytest.raises(TypeError, match="element 1 of 'd' must be a real number"):
        function(2, None, None, None, [1, None])
    for other in ("ab", 1.5, object()):
        with pytest.raises(TypeError, match="'i' must be an address"):
            function(2, other, None, None, None)


def test_arrays_of_every_type(bind: Bind) -> None:
    assert bind("toy_second_u64(a: u64[]) -> u64")([0, 2**64 - 1]) == 2**64 - 1
    assert bind("toy_second_u64(a: usize[]) -> usize")((0, 5)) == 5
    assert bind("toy_second_u32(a: u32[]) -> u32")([0, 2**32 - 1]) == 2**32 - 1
    assert bind("toy_second_ptr(a: ptr[]) -> ptr")([None, 2**63]) == 2**63
    assert bind("toy_second_ptr(a: ptr[]) -> ptr")(np.array([1, 2])) == 2
    assert bind("toy_second_char(a: char[]) -> i32")([1, "x"]) == ord("x")
    assert bind("toy_second_char(a: char[]) -> i32")(b"ab") == ord("b")
    assert bind("toy_second_str(a: str[]) -> str")(["one", b"two"]) == "two"
    assert bind("toy_second_str(a: str[]) -> str")(("one", None)) is None
    assert bind("toy_second_str(a: str[]) -> str")(f"text {k}" for k in range(2)) == "text 1"


def test_c_writes_into_writable_buffers_and_into_copies_of_others(bind: Bind) -> None:
    function = bind("toy_fill(a: i32[], n: i32)")
    values = np.zeros(3, np.int32)
    function(values, 3)
    assert values.tolist() == [1, 2, 3]
    constant = np.zeros(3, np.int32)
    constant.flags.writeable = False
    function(constant, 3)
    assert constant.tolist() == [0, 0, 0]
    items = [0, 0, 0]
    function(items, 3)
    assert items == [0, 0, 0]
    text = bytes(12)
    bind("toy_fill(a: char[], n: i32)")(text, 3)
    assert text == bytes(12)


# ------------------------------------------------------------------------------------------------ arguments


def test_keywords(bind: Bind) -> None:
    function = bind("toy_value_and_out(a: i64, &b: i64) -> i64")
    assert function(a=4) == (4, 5)
    function = bind(SUM)
    assert function(1, [1], d=[2], q=[3], f=[4]) == 10.0


@pytest.mark.parametrize(
    ("args", "keywords"),
    [
        ((), {}),
        ((1, 2), {}),
        (tuple(range(40)), {}),
        ((1,), {"a": 1}),
        ((), {"b": 1}),
        ((1,), {"b": 1}),
        ((), {"a": 1, "c": 2}),
    ],
)
def test_wrong_arguments_are_type_errors(bind: Bind, args: tuple[int, ...], keywords: dict[str, int]) -> None:
    with pytest.raises(TypeError, match=r"i64\(\)"):
        bind("toy_i64(a: i64) -> i64")(*args, **keywords)


def test_a_bound_function_describes_itself(bind: Bind) -> None:
    function = bind(SUM)
    assert function.__name__ == "sum"
    assert function.__module__ == "toy"
    assert list(inspect.signature(function).parameters) == ["n", "i", "q", "f", "d"]
    assert function.__text_signature__ == "(n, i, q, f, d)"  # type: ignore[attr-defined]
    assert inspect.getdoc(function).startswith("Calls the C function ``toy_sum``.\n\nParameters\n")  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "signature", ["", "i", "x>!", "i>", "i>b", "i>!!", "*>!", "i*>!", "ii>!", ">!", "&i>!", "i>i>i"]
)
def test_malformed_signatures_are_refused(seam: ModuleType, signature: str) -> None:
    with pytest.raises(ValueError, match=r"bind\(\): signature"):
        seam.bind(4096, "f", ("a",), signature, None, "")


def test_too_many_arguments_are_refused(seam: ModuleType) -> None:
    names = tuple(f"a{k}" for k in range(33))
    with pytest.raises(ValueError, match="more than 32 words"):
        seam.bind(4096, "f", names, "i" * 33 + ">!", None, "")
    with pytest.raises(ValueError, match="more than 32 words or 8 floats"):
        seam.bind(4096, "f", names[:9], "d" * 9 + ">!", None, "")


def test_the_null_address_is_refused(seam: ModuleType) -> None:
    with pytest.raises(ValueError, match="address"):
        seam.bind(0, "f", (), ">!", None, "")


# ------------------------------------------------------------------------------------------------ addresses found later


class Opener:
    """Answers with what it has now."""

    def __init__(self, answer: Any) -> None:
        self.answer, self.asked = answer, 0

    def __call__(self) -> Any:
        self.asked += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_an_address_is_asked_for_at_the_first_call(seam: ModuleType, toy: ctypes.CDLL) -> None:
    address = ctypes.addressof(ctypes.c_char.in_dll(toy, "toy_i64"))
    opener = Opener(OSError("not there"))
    function = seam.bind(opener, "i64", ("a",), "q>q", None, "Doc.", "toy")
    assert (function.__doc__, function.__qualname__, opener.asked) == ("Doc.", "i64", 0)
    for _ in range(2):
        with pytest.raises(OSError, match="not there"):
            function(1)
    opener.answer = 0
    with pytest.raises(ValueError, match=r"the address of i64 is 0"):
        function(1)
    opener.answer = address
    assert [function(5), function(a=6)] == [5, 6]
    assert opener.asked == 4
    opener.answer = None
    assert function(7) == 7
    with pytest.raises(TypeError):
        function("7")


def test_something_else_may_take_the_arguments(seam: ModuleType, toy: ctypes.CDLL) -> None:
    address = ctypes.addressof(ctypes.c_char.in_dll(toy, "toy_i64"))
    opener = Opener(lambda *args: args)
    function = seam.bind(opener, "i64", ("a",), "q>q", None, "", "toy")
    assert [function(5), function(a="as it is")] == [(5,), ("as it is",)]
    with pytest.raises(TypeError, match=r"i64\(\)"):
        function(1, 2)
    assert seam.opened(function) is opener.answer
    assert opener.asked == 3
    opener.answer = address
    assert seam.opened(function) is function
    assert function(5) == 5
    opener.answer = len
    assert function(5) == 5
    seam.forget(function)
    assert function("five") == 4
    assert seam.opened(len) is len
    seam.forget(len)


def test_a_known_address_is_not_forgotten(bind: Bind, seam: ModuleType) -> None:
    function = bind("toy_i64(a: i64) -> i64")
    seam.forget(function)
    assert function(5) == 5


def test_a_loop_and_a_prepared_call_find_the_address(seam: ModuleType, toy: ctypes.CDLL) -> None:
    opener = Opener(ctypes.addressof(ctypes.c_char.in_dll(toy, "toy_void")))
    function = seam.bind(opener, "void", ("a",), "q>v", None, "", "toy")
    seam.repeat(function, (3,), ((0,),), (0,))
    assert opener.asked == 1
    seam.forget(function)
    opener.answer = OSError("not there")
    with pytest.raises(OSError, match="not there"):
        seam.repeat(function, (3,), ((0,),), (0,))


# ------------------------------------------------------------------------------------------------ pointer


def test_pointer_of_buffers(seam: ModuleType) -> None:
    values = np.arange(24.0).reshape(4, 6)
    constant = values.copy()
    constant.flags.writeable = False
    for view in (
        values,
        values[1:, ::2],
        values[::-1, ::-1],
        values.T,
        values[2:2],
        np.array(5.0),
        constant,
        values[:, 3],
    ):
        assert seam.pointer(view) == view.__array_interface__["data"][0]
    buffer = array.array("i", [1, 2])
    assert seam.pointer(buffer) == buffer.buffer_info()[0]
    assert seam.pointer(memoryview(buffer)[1:]) == buffer.buffer_info()[0] + 4
    assert seam.pointer(b"bytes") > 0
    record = np.zeros(3, dtype=[("a", "i1"), ("b", "f8")])
    assert seam.pointer(record["b"]) == record.ctypes.data + 1


def test_pointer_falls_back_to_the_array_interface(seam: ModuleType) -> None:
    dates = np.array(["2020-01-01"], dtype="M8[D]")  # the buffer protocol refuses these
    assert seam.pointer(dates) == dates.__array_interface__["data"][0]

    class Interface:
        __array_interface__ = {"data": (12345, False)}  # noqa: RUF012

    assert seam.pointer(Interface()) == 12345


@pytest.mark.parametrize("value", [5, None, "text", object(), [1]])
def test_pointer_refuses_the_rest(seam: ModuleType, value: object) -> None:
    with pytest.raises(TypeError, match="buffer protocol"):
        seam.pointer(value)


# ------------------------------------------------------------------------------------------------ repeat


def add(seam: ModuleType, bind: Bind, shape: tuple[int, ...], a: np.ndarray, b: np.ndarray, steps: Any) -> None:
    function = bind("toy_add(a: ptr, b: ptr, times: i32)")
    seam.repeat(function, shape, (*steps, (0,) * len(shape)), (seam.pointer(a), seam.pointer(b), 3))


def test_repeat_runs_over_strides(seam: ModuleType, bind: Bind) -> None:
    a, b = np.zeros((3, 4, 5)), np.arange(60.0).reshape(3, 4, 5)
    add(seam, bind, a.shape, a, b, (a.strides, b.strides))
    assert np.array_equal(a, 3 * b)
    reversed_ = b[::-1, :, ::-1]
    a[:] = 0
    add(seam, bind, a.shape, a, reversed_, (a.strides, reversed_.strides))
    assert np.array_equal(a, 3 * reversed_)


def test_repeat_without_dimensions_calls_once(seam: ModuleType, bind: Bind) -> None:
    a, b = np.zeros(1), np.ones(1)
    add(seam, bind, (), a, b, ((), ()))
    assert a[0] == 3.0


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3), (2, 0, 2)])
def test_repeat_over_nothing_calls_nothing(seam: ModuleType, bind: Bind, shape: tuple[int, ...]) -> None:
    a, b = np.zeros(1), np.ones(1)
    add(seam, bind, shape, a, b, ((0,) * len(shape),) * 2)
    assert a[0] == 0.0


def test_repeat_counts_in_64_bits(seam: ModuleType, bind: Bind) -> None:
    reset, total = bind("toy_reset() -> void"), bind("toy_counter() -> i64")
    reset()
    seam.repeat(bind("toy_void(a: i64) -> void"), (3, 2), ((2**40, -(2**41)),), (2**33,))
    assert total() == sum(2**33 + i * 2**40 - j * 2**41 for i in range(3) for j in range(2))


def test_repeat_keeps_floats(seam: ModuleType, bind: Bind) -> None:
    a = np.ones(4)
    seam.repeat(bind("toy_scale(a: ptr, by: f64)"), (2,), ((16,), (0,)), (seam.pointer(a), 2.5))
    assert a.tolist() == [2.5, 1, 2.5, 1]


def test_repeat_stops_at_the_first_status(seam: ModuleType, bind: Bind) -> None:
    seen = np.zeros(1, np.int64)
    with pytest.raises(Exception, match="TOY_42"):
        seam.repeat(bind("toy_refuse_third(seen: ptr)"), (10, 10), ((0, 0),), (seam.pointer(seen),))
    assert seen[0] == 3


def test_repeat_refuses_what_it_cannot_do(seam: ModuleType, bind: Bind) -> None:
    void, add_ = bind("toy_void(a: i64) -> void"), bind("toy_add(a: ptr, b: ptr, times: i32)")
    with pytest.raises(ValueError, match="negative"):
        seam.repeat(void, (-1,), ((0,),), (0,))
    with pytest.raises(ValueError, match="steps"):
        seam.repeat(void, (1,), (), (0,))
    with pytest.raises(ValueError, match=r"entries|entry"):
        seam.repeat(void, (1,), ((1, 2),), (0,))
    with pytest.raises(ValueError, match="64 dimensions"):
        seam.repeat(void, (1,) * 65, ((0,) * 65,), (0,))
    with pytest.raises(TypeError, match="takes 1 arguments"):
        seam.repeat(void, (1,), ((1,),), (0, 0))
    with pytest.raises(TypeError, match="64-bit"):
        seam.repeat(add_, (1,), ((8,), (8,), (1,)), (0, 0, 0))
    with pytest.raises(TypeError):
        seam.repeat(void, [1], ((1,),), (0,))
    with pytest.raises(TypeError):
        seam.repeat(void, (1,), ([1],), (0,))
    with pytest.raises(TypeError):
        seam.repeat(void, ("1",), ((1,),), (0,))
    with pytest.raises(OverflowError):
        seam.repeat(void, (1,), ((1,),), (2**63,))
    for row in (SUM, "toy_i64(a: i64) -> i64", "toy_version(kind: i32, &value: i32)", "toy_length(a: str) -> void"):
        function = bind(row)
        count = len(inspect.signature(function).parameters)
        with pytest.raises(TypeError, match="must take numbers and addresses only"):
            seam.repeat(function, (1,), ((0,),) * count, (0,) * count)


def test_repeat_of_any_callable() -> None:
    calls: list[tuple[object, ...]] = []
    _seam.repeat(lambda *args: calls.append(args), (2, 2), ((1, 10), (0, 0)), (100, None))
    assert calls == [(100, None), (110, None), (101, None), (111, None)]


# ------------------------------------------------------------------------------------------------ threads and memory


def set_flag_during(work: Callable[[int, int], object]) -> list[BaseException]:
    """Runs `work(started, flag)` in a thread and sets the flag from this one once it has started."""
    words = np.zeros(2, np.int32)
    raised: list[BaseException] = []

    def run() -> None:
        try:
            work(words.ctypes.data, words.ctypes.data + 4)
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    while thread.is_alive() and not words[0]:
        time.sleep(0.001)
    words[1] = 1  # not reached in time if the GIL is held
    thread.join()
    return raised


def test_a_call_releases_the_gil(bind: Bind) -> None:
    wait = bind("toy_wait(started: ptr, flag: ptr)")
    assert set_flag_during(wait) == []


def test_repeat_releases_the_gil(seam: ModuleType, bind: Bind) -> None:
    wait = bind("toy_wait(started: ptr, flag: ptr)")
    assert set_flag_during(lambda *args: seam.repeat(wait, (3,), ((0,), (0,)), args)) == []


def test_many_threads(bind: Bind) -> None:
    function = bind(SUM)
    wrong: list[float] = []

    def work(seed: int) -> None:
        for k in range(300):
            answer = function(3, [seed, k, 1], (2, 3, 4), None, [0.5] * 3)
            if answer != seed + k + 1 + 9 + 1.5:
                wrong.append(answer)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def attempts(bind: Bind) -> list[Callable[[], object]]:
    """Calls that succeed and calls that fail at every stage, on objects of their own."""
    total, outs, text = bind(SUM), bind(OUTS), bind("toy_second_str(a: str[]) -> str")
    buffer, constant = np.zeros(4, np.int32), np.zeros(4)
    constant.flags.writeable = False
    items, floats = [1000, 2000], [0.5, 1.5]
    return [
        lambda: total(2, items, items, floats, floats),
        lambda: total(2, buffer, None, None, constant),
        lambda: total(2, items, items, floats, ["no"]),
        lambda: total(2, buffer, [1, 2**70], None, None),
        lambda: total(2, buffer, constant, None, object()),
        lambda: total(2, buffer),
        lambda: total(2, n=3),
        lambda: outs(5, 0),
        lambda: outs(5, 7),
        lambda: text(["one", "two"]),
        lambda: text(["one", 5]),
        lambda: text([f"text {k}" for k in range(20)]),
    ]


def test_nothing_leaks(bind: Bind) -> None:
    calls = attempts(bind)

    def run(times: int) -> None:
        for _ in range(times):
            for call in calls:
                try:  # noqa: SIM105
                    call()
                except Exception:
                    pass

    def blocks(times: int) -> int:
        gc.collect()
        before = sys.getallocatedblocks()
        run(times)
        gc.collect()
        return sys.getallocatedblocks() - before

    run(50)
    assert min(blocks(200) for _ in range(3)) < 50


def test_references_are_given_back(bind: Bind) -> None:
    total = bind(SUM)
    marker: list[object] = [object()]
    text = "a text that nothing else holds" + str(id(marker))
    values, buffer = [text], np.zeros(2)
    before = [sys.getrefcount(x) for x in (marker[0], text, values, buffer)]
    for _ in range(50):
        with pytest.raises(TypeError):
            total(1, None, marker, None, None)
        with pytest.raises(TypeError):
            total(1, None, values, None, buffer)
        total(2, None, None, None, buffer)
    assert [sys.getrefcount(x) for x in (marker[0], text, values, buffer)] == before


def test_bound_functions_die(seam: ModuleType, toy: ctypes.CDLL) -> None:
    address = ctypes.addressof(ctypes.c_char.in_dll(toy, "toy_status"))

    class Handler:
        function: Any = None

        def __call__(self, status: int) -> None:
            raise ValueError

    handler = Handler()
    handler.function = seam.bind(address, "status", ("status",), "i>!", handler, "doc")  # a cycle
    died = threading.Event()
    weakref.finalize(handler, died.set)
    del handler
    gc.collect()
    assert died.is_set()


def test_binding_leaks_nothing(seam: ModuleType, toy: ctypes.CDLL) -> None:
    address = ctypes.addressof(ctypes.c_char.in_dll(toy, "toy_status"))

    def run(times: int) -> None:
        for _ in range(times):
            seam.bind(address, "status", ("status",), "i>!", None, "doc", "toy")
            with pytest.raises(ValueError, match="signature"):
                seam.bind(address, "status", ("status",), "zz>!", None, "doc")

    run(20)
    gc.collect()
    before = sys.getallocatedblocks()
    run(100)
    gc.collect()
    assert sys.getallocatedblocks() - before < 100


# ------------------------------------------------------------------------------------------------ complex numbers


def test_complex_numbers_pass_by_value(bind: Bind) -> None:
    function = bind("toy_complex(a: i32, b: c64, c: f64, d: c128, e: c64, f: i64) -> f64")
    expected = 1 + 2 * 2 + 3 * 3 + 4 * 4 + 5 * 5 + 6 * 6 + 7 * 7 + 8 * 8 + 9 * 9
    assert function(1, 2 + 3j, 4, 5 + 6j, np.complex64(7 + 8j), 9) == expected
    assert function(0, 2.5, 0, np.complex128(1j), 0, 0) == 2 * 2.5 + 6
    for bad in ("1+2j", b"1", None, [1]):
        with pytest.raises(TypeError, match=r"'b' must be a complex number \(c64\), got"):
            function(0, bad, 0, 0, 0, 0)


# ------------------------------------------------------------------------------------------------ memory


@pytest.mark.parametrize(
    "data",
    [
        b"\1\2\3\4",
        bytearray(b"\1\2\3\4"),
        array.array("B", b"\1\2\3\4"),
        np.array([[1, 2], [3, 4]], dtype="u1"),
        np.array([[1, 2], [3, 4]], dtype="u1", order="F"),
        np.frombuffer(b"\1\2\3\4", dtype="f4"),
        np.float32(np.frombuffer(b"\1\2\3\4", dtype="f4")[0]),
        np.array([(1, 2, 3, 4)], dtype="u1,u1,u1,u1"),
    ],
    ids=lambda data: type(data).__name__,
)
def test_memory_that_c_reads_is_passed_as_it_is(bind: Bind, data: Any) -> None:
    function = bind("toy_bytes(data: cbuf, n: usize) -> i64")
    assert function(data, 4) == 10
    assert function(_seam.pointer(data), 4) == 10
    assert function(None, 4) == -1


def test_memory_that_c_writes_is_the_callers(bind: Bind) -> None:
    function = bind("toy_memset(data: buf, value: i32, n: usize) -> void")
    values = np.zeros((2, 3), dtype="i4", order="F")
    function(values, 1, values.nbytes)
    assert (values == 0x01010101).all()
    count = sys.getrefcount(values)
    function(values, 0, values.nbytes)
    assert sys.getrefcount(values) == count
    assert not values.any()


def test_memory_that_would_be_copied_is_refused(bind: Bind) -> None:
    function = bind("toy_memset(data: buf, value: i32, n: usize) -> void")
    whole = np.zeros((4, 4))
    read_only = np.zeros(3)
    read_only.flags.writeable = False
    for bad in (read_only, b"text"):
        with pytest.raises(ValueError, match=r"'data' must be an address .* that can be written, got"):
            function(bad, 1, 8)
    with pytest.raises(ValueError, match=r"'data' must be C-contiguous or F-contiguous .*, got"):
        function(whole[:, ::2], 1, 8)
    for other in ([1, 2], "text", 1.5, np.array(7)):
        with pytest.raises(TypeError, match=r"'data' must be an address .* that can be written, got"):
            function(other, 1, 8)
    with pytest.raises(OverflowError, match="'data' must be an address"):
        function(-1, 1, 8)
    assert not whole.any()
    assert not read_only.any()


def test_memory_in_a_loop(seam: ModuleType, bind: Bind) -> None:
    function = bind("toy_memset(data: buf, value: i32, n: usize) -> void")
    values = np.zeros((4, 2), dtype="u1")
    steps = ((4,), (0,), (0,))
    seam.repeat(function, (2,), steps, (values.ctypes.data, 7, 2))
    assert values[:, 0].tolist() == [7, 0, 7, 0]
    if seam.__name__.endswith("_c"):
        seam.repeat(function, (2,), steps, (values, 9, 2))
        assert values[:, 1].tolist() == [9, 0, 9, 0]


# ------------------------------------------------------------------------------------------------ memory of a type

TYPED = {
    "i32": "i4",
    "u32": "u4",
    "i64": "i8",
    "u64": "u8",
    "usize": "u8",
    "f32": "f4",
    "f64": "f8",
    "c64": "c8",
    "c128": "c16",
}


@pytest.mark.parametrize("item", TYPED)
def test_memory_of_a_type_takes_arrays_of_that_type(bind: Bind, item: str) -> None:
    write = bind(f"toy_memset(data: buf<{item}>, value: i32, n: usize) -> void")
    read = bind(f"toy_bytes(data: cbuf<{item}>, n: usize) -> i64")
    data = np.zeros((2, 3), TYPED[item])
    for given in (data, data.T, data[0], data.ctypes.data, data[:0]):
        write(given, 0, 0)
        assert read(given, 0) == 0
    write(data, 1, data.nbytes)
    assert read(data, data.nbytes) == data.nbytes
    for raw in (bytearray(16), data.view("u1"), data.view([("x", TYPED[item])])):  # bytes and structures hold anything
        write(raw, 0, 0)
    assert read(b"123", 0) == 0
    assert read(None, 0) == -1


@pytest.mark.parametrize("item", TYPED)
@pytest.mark.parametrize("other", ["?", "i1", "i4", "u4", "i8", "u8", "f2", "f4", ">f4", "f8", "c8", "c16"])
def test_memory_of_a_type_refuses_arrays_of_another(bind: Bind, item: str, other: str) -> None:
    """C would write floats where doubles are read: nothing is called then."""
    data = np.zeros(4, other)
    if data.dtype == TYPED[item] or (item, other) == ("usize", "i8"):  # sizes have any sign
        return
    wanted = rf"'data' must have items of type {np.dtype(TYPED[item])} \(or be an address\), got {data.dtype}$"
    for kind in ("buf", "cbuf"):
        with pytest.raises(TypeError, match=wanted):
            bind(f"toy_memset(data: {kind}<{item}>, value: i32, n: usize) -> void")(data, 1, data.nbytes)
    assert not data.any()


def test_memory_without_a_dtype_is_described_by_its_format(bind: Bind) -> None:
    with pytest.raises(TypeError, match=r"must have items of type float32 .*, got the format 'd'"):
        bind("toy_memset(data: buf<f32>, value: i32, n: usize) -> void")(array.array("d", [1.0]), 1, 8)


def test_memory_of_a_type_that_has_gaps_or_is_read_only_is_refused_as_such(bind: Bind) -> None:
    function = bind("toy_memset(data: buf<f64>, value: i32, n: usize) -> void")
    with pytest.raises(ValueError, match="'data' must be C-contiguous"):
        function(np.zeros((4, 4))[:, :2], 0, 0)
    with pytest.raises(ValueError, match="that can be written"):
        function(np.broadcast_to(np.zeros(()), ()), 0, 0)


@pytest.mark.parametrize("signature", ["-v>!", "+s>!", "-b>!", "->!", "+>!"])
def test_memory_of_no_type_is_malformed(seam: ModuleType, signature: str) -> None:
    with pytest.raises(ValueError, match="malformed"):
        seam.bind(4096, "f", ("a",), signature, None, "")
