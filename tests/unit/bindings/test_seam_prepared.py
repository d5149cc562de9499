"""Prepared calls and tables of them: what they do, and above all when they do nothing."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

ROW = "toy_add_scaled(a: ptr, b: ptr, by: f64, times: i32)"
ADD = "toy_add(a: ptr, b: ptr, times: i32)"

Bind = Callable[[str], Callable[..., Any]]


@pytest.fixture
def seam() -> ModuleType:
    """The extension alone prepares calls."""
    return pytest.importorskip("nvmath.bindings._seam_c", reason="the C extension nvmath.bindings._seam_c is not built")


@pytest.fixture
def prepared_by(seam: ModuleType) -> ModuleType:
    """The module with the prepared calls."""
    return seam


@pytest.fixture
def prepare(prepared_by: ModuleType, bind: Bind) -> Callable[..., Any]:
    """Prepare the sum of nothing and ``by * times * b``."""

    def made(like: Any, by: float = 0.5, times: int = 3, guard: Any = b"", make: Any = None, kept: Any = None) -> Any:
        make = make or (lambda: np.zeros(like.shape))
        return prepared_by.prepare(bind(ROW), (0, 0, by, times), (1, 0), (like,), make, guard, kept)

    return made


def test_a_prepared_call_makes_its_result(prepare) -> None:
    b = np.array([[2.0, 5.0]])
    call = prepare(b)
    assert call(b).tolist() == [[3.0, 0.0]]
    other = np.array([[8.0, 0.0]])
    one, two = call(other), call(other)
    assert one.tolist() == two.tolist() == [[12.0, 0.0]]
    assert one is not two
    assert other.tolist() == [[8.0, 0.0]]


def changed_dtype(b: np.ndarray) -> np.ndarray:
    return b.view(np.int64)


UNLIKE = {
    "dtype": changed_dtype,
    "byte order": lambda b: b.astype(">f8"),
    "shape": lambda b: b[:2],
    "rank": lambda b: b[None],
    "strides": lambda b: np.repeat(b, 2, axis=0)[::2],
    "order": lambda b: np.asfortranarray(b),
    "alignment": lambda b: np.frombuffer(b"." + b.tobytes(), offset=1).reshape(b.shape),
    "mask": lambda b: np.ma.masked_array(b, mask=False),
    "subclass": lambda b: b.view(np.matrix),
    "list": lambda b: b.tolist(),
    "None": lambda b: None,
    "many axes": lambda b: b.reshape(1, 1, 1, *b.shape),
}


@pytest.mark.parametrize("kind", UNLIKE)
@pytest.mark.parametrize("through_table", [False, True])
def test_nothing_happens_for_arrays_that_are_not_alike(prepare, prepared_by, kind, through_table) -> None:
    b, made = np.arange(6.0).reshape(3, 2), []
    call = prepare(b, make=lambda: made.append(1) or np.zeros(1))
    table = prepared_by.table(np.ndarray)
    prepared_by.enter(table, call)
    assert (table if through_table else call)(UNLIKE[kind](b)) is NotImplemented
    assert not made
    assert call(b) is not NotImplemented


def test_read_only_arrays_are_read(prepare) -> None:
    b = np.array([2.0])
    b.flags.writeable = False
    assert prepare(b)(b).tolist() == [3.0]


def test_arrays_can_be_exchanged_but_their_number_not(prepare) -> None:
    b = np.ones(1)
    call = prepare(b)
    for wrong in ((), (b, b)):
        with pytest.raises(TypeError, match=r"prepared for 1 arrays, got \d"):
            call(*wrong)


def test_an_array_that_got_other_memory_is_read_there_and_one_of_another_size_is_refused(prepare) -> None:
    b = np.array([2.0, 1.0])
    call = prepare(b)
    b.resize(3, refcheck=False)
    assert call(b) is NotImplemented
    b.resize(2, refcheck=False)
    b[0] = 4
    assert call(b).tolist() == [6.0, 0.0]


def test_a_changed_guard_stops_the_call(prepare) -> None:
    b, guard = np.ones(1), np.array([1.0, 0.0])
    call = prepare(b, guard=guard)
    assert call(b).tolist() == [1.5]
    guard[1] = 2
    assert call(b) is NotImplemented
    guard[1] = 0
    assert call(b).tolist() == [1.5]
    with pytest.raises(ValueError, match="64 bytes"):
        prepare(b, guard=np.zeros(9))


def test_a_status_and_a_failure_to_make_the_result_are_raised(prepare) -> None:
    with pytest.raises(Exception, match="TOY_42"):
        prepare(np.ones(1))(np.array([-1.0]))
    with pytest.raises(ZeroDivisionError):
        prepare(np.ones(1), make=lambda: 1 / 0)(np.ones(1))


def test_a_result_that_cannot_be_written_is_refused(prepare, seam) -> None:
    with pytest.raises((TypeError, ValueError, BufferError)):
        prepare(np.ones(1), make=lambda: "text")(np.ones(1))


@pytest.mark.parametrize("kind", [np.asarray, lambda values: values.tobytes()])
def test_a_result_that_is_read_only_is_refused_and_stays_as_it_is(prepare, kind) -> None:
    result = np.array([7.0])
    result.flags.writeable = False
    given = kind(result)
    with pytest.raises((ValueError, BufferError), match=r"read-only|not writable"):
        prepare(np.ones(1), make=lambda: given)(np.ones(1))
    assert np.frombuffer(given).tolist() == [7.0]


def test_calls_are_counted_until_somebody_asks(prepare, prepared_by) -> None:
    table, b = prepared_by.table(np.ndarray), np.ones(1)
    call, idle = prepare(b), prepare(np.ones(2))
    prepared_by.enter(table, call)
    assert prepared_by.answered(call) == 0
    call(b)
    table(b)
    call(np.ones(2))
    assert prepared_by.answered(call) == 2
    assert prepared_by.answered(call) == 0
    assert prepared_by.answered(idle) == 0
    for wrong in (len, table, 1):
        with pytest.raises(TypeError, match="needs a prepared call"):
            prepared_by.answered(wrong)


def test_what_it_needs_stays_alive_and_goes_with_it(prepare) -> None:
    class Kept:
        pass

    kept = Kept()
    known = weakref.ref(kept)
    call = prepare(np.ones(1), kept=kept)
    del kept
    gc.collect()
    assert known() is not None
    del call
    gc.collect()
    assert known() is None


def test_what_cannot_be_prepared_is_refused(prepared_by, bind) -> None:
    b, make = np.ones(2), lambda: np.zeros(2)
    function = bind(ADD)
    with pytest.raises(TypeError, match="made by bind"):
        prepared_by.prepare(len, (0, 0, 1), (1, 0), (b,), make, b"")
    with pytest.raises(TypeError, match="takes 3 arguments, got 2"):
        prepared_by.prepare(function, (0, 0), (1, 0), (b,), make, b"")
    with pytest.raises(OverflowError, match="'times' must be an int"):
        prepared_by.prepare(function, (0, 0, 2**40), (1, 0), (b,), make, b"")
    for places in ((2, 0), (1, 7), (1, -1)):
        with pytest.raises(ValueError, match="takes no address"):
            prepared_by.prepare(function, (0, 0, 1), places, (b,), make, b"")
    for places, like in (((1,), (b,)), ((1, 0), ()), ((1, 0), (b, b)), ((1,) * 6, (b,) * 5)):
        with pytest.raises(ValueError, match="1 to 4 arrays, and one place more"):
            prepared_by.prepare(function, (0, 0, 1), places, like, make, b"")
    for like in (([1.0],), (b"bytes",), (np.zeros((1,) * 5),)):
        with pytest.raises(TypeError, match="at most 4 dimensions"):
            prepared_by.prepare(function, (0, 0, 1), (1, 0), like, make, b"")
    with pytest.raises(TypeError, match="numbers and addresses only"):
        prepared_by.prepare(bind("toy_i64(a: i64) -> i64"), (0,), (0, 0), (b,), make, b"")


# ------------------------------------------------------------------------------------------------ arrays as they were


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")
def test_arrays_are_where_they_were_with_the_shapes_that_they_had(seam) -> None:
    a, b = np.zeros((2, 3)), np.zeros(())
    arrays, addresses, shapes = (a, b), (seam.pointer(a), seam.pointer(b)), ((2, 3), ())
    assert seam.unmoved(arrays, addresses, shapes) is True
    assert seam.unmoved((), (), shapes) is True
    assert seam.unmoved((b, a), addresses, shapes) is False
    assert seam.unmoved(arrays, addresses[:1], shapes) is False
    for other in ((2, 4), (2,), (2, 3, 1)):
        assert seam.unmoved(arrays, addresses, (other, ())) is False
    a.shape = (6,)
    assert seam.unmoved(arrays, addresses, shapes) is False
    for wrong in ((list(arrays), addresses, shapes), (arrays, addresses, None), (arrays, addresses, ((6,), 1))):
        with pytest.raises(TypeError, match="tuple"):
            seam.unmoved(*wrong)


def test_what_has_no_buffer_is_asked_for_its_address(seam) -> None:
    class Told:
        def __init__(self) -> None:
            self.__array_interface__ = {"data": (4096, False)}

    assert seam.unmoved((Told(),), (4096,), ((),)) is True
    assert seam.unmoved((Told(),), (4097,), ((),)) is False
    with pytest.raises(TypeError, match="buffer protocol"):
        seam.unmoved((1,), (4096,), ((),))


# ------------------------------------------------------------------------------------------------ tables


def test_a_table_finds_the_call_for_arrays_that_look_so(prepare, prepared_by) -> None:
    table = prepared_by.table(np.ndarray)
    shapes = [(1,), (2,), (1, 1), (2, 3), (3, 2)]
    calls = [prepare(np.ones(shape), times=number) for number, shape in enumerate(shapes)]
    assert table(np.ones(1)) is NotImplemented
    for call in calls:
        prepared_by.enter(table, call)
    for number, shape in enumerate(shapes):
        assert table(np.full(shape, 4.0)).flat[0] == 2 * number
    assert table(np.ones((4, 4))) is NotImplemented
    assert table(np.ones(1), np.ones(1)) is NotImplemented
    assert table(*[np.ones(1)] * 9) is NotImplemented
    assert table() is NotImplemented


def test_a_call_leaves_its_table_when_it_dies_and_outlives_the_table(prepare, prepared_by) -> None:
    table, b = prepared_by.table(np.ndarray), np.ones(1)
    call, stays = prepare(b), prepare(np.ones(2))
    prepared_by.enter(table, call)
    prepared_by.enter(table, stays)
    del call
    gc.collect()
    assert table(b) is NotImplemented
    assert table(np.ones(2)) is not NotImplemented
    del table
    gc.collect()
    assert stays(np.ones(2)) is not NotImplemented


def test_entering_twice_changes_nothing_and_another_table_takes_over(prepare, prepared_by) -> None:
    one, other, b = prepared_by.table(np.ndarray), prepared_by.table(np.ndarray), np.ones(1)
    call = prepare(b)
    prepared_by.enter(one, call)
    prepared_by.enter(one, call)
    assert one(b) is not NotImplemented
    del call
    gc.collect()
    assert one(b) is NotImplemented
    assert other(b) is NotImplemented


def test_a_call_that_enters_another_table_leaves_the_one_where_it_was(prepare, prepared_by) -> None:
    one, other, b = prepared_by.table(np.ndarray), prepared_by.table(np.ndarray), np.ones(1)
    call = prepare(b)
    prepared_by.enter(one, call)
    prepared_by.enter(other, call)
    assert one(b) is NotImplemented
    assert other(b) is not NotImplemented
    prepared_by.enter(one, call)
    assert one(b) is not NotImplemented
    assert other(b) is NotImplemented


def test_a_full_table_lets_the_oldest_go(prepare, prepared_by) -> None:
    table = prepared_by.table(np.ndarray)
    calls = [prepare(np.ones(extent)) for extent in range(1, 301)]
    for call in calls:
        prepared_by.enter(table, call)
    found = [table(np.ones(extent)) is not NotImplemented for extent in range(1, 301)]
    assert found == [False] * 44 + [True] * 256


def test_tables_take_nothing_else(prepare, prepared_by) -> None:
    with pytest.raises(TypeError, match="the type of the arrays"):
        prepared_by.table(np.ones(1))
    table, call = prepared_by.table(np.ndarray), prepare(np.ones(1))
    for wrong in ((call, call), (table, table), (table, len), (1, call)):
        with pytest.raises(TypeError, match="needs a table and a prepared call"):
            prepared_by.enter(*wrong)


def test_a_call_may_die_while_it_runs(prepare, prepared_by) -> None:
    table, b, calls = prepared_by.table(np.ndarray), np.ones(1), []

    def make() -> np.ndarray:
        calls.clear()
        gc.collect()
        return np.zeros(1)

    calls.append(prepare(b, make=make))
    prepared_by.enter(table, calls[0])
    assert table(b).tolist() == [1.5]
    assert table(b) is NotImplemented


def test_threads_enter_calls_while_others_look_for_them(prepare, prepared_by) -> None:
    a = np.array([2.0])
    table, first, failures = prepared_by.table(np.ndarray), prepare(a), []
    prepared_by.enter(table, first)

    def enters() -> None:
        for _ in range(20):
            for call in [prepare(np.zeros(n + 2)) for n in range(10)]:
                prepared_by.enter(table, call)

    def looks() -> None:
        for _ in range(300):
            table(a)

    def run(work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:
            failures.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=run, args=(work,)) for work in (enters, enters, looks, looks)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert failures == []
