"""Callbacks on the CPU: the compiled loops against NumPy, for every dtype, layout and number of threads."""

import gc
import math
import os
import sys
import threading
import types
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nvmath
from nvmath._core.jit import CompileError
from nvmath.fft import DeviceCallable, compile_epilog, compile_prolog
from nvmath.fft import _host_callbacks as loops
from nvmath.fft._callbacks import normalise

pytest.importorskip("numba", reason="numba is not installed")

DTYPES = ("complex64", "complex128", "float32", "float64")
RECORD = np.dtype([("scale", "f4"), ("shift", "i4"), ("table", "c8", (3,))])


def load_times_filter(data_in, offset, user_info, reserved):
    return data_in[offset] * user_info[offset]


def store_times_filter(data_out, offset, element, user_info, reserved):
    data_out[offset] = element * user_info[offset]


def offset_as_value(data_in, offset, user_info, reserved):
    return offset


def random(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    return values.astype(dtype)


def strides(array):
    return tuple(stride // array.itemsize for stride in array.strides)


def flat(array, values):
    """The elements of `values` that callbacks see at the offsets of `array`."""
    offsets = np.zeros(array.shape, np.int64)
    for axis, stride in enumerate(strides(array)):
        index = np.arange(array.shape[axis]).reshape([-1 if i == axis else 1 for i in range(array.ndim)])
        offsets = offsets + index * stride
    return values[offsets]


def run_prolog(function, source, target, data=None, threads=1, **more):
    callback = normalise({"function": function, "data": data, **more}, "prolog", source.dtype.name)
    loop = loops.host_prolog(callback)
    loop(source.ctypes.data, target.ctypes.data, callback.data, source.shape, strides(source), strides(target), threads)
    return target


def run_epilog(function, target, data=None, threads=1, **more):
    callback = normalise({"function": function, "data": data, **more}, "epilog", target.dtype.name)
    loops.host_epilog(callback)(target.ctypes.data, callback.data, target.shape, strides(target), threads)
    return target


LAYOUTS = {
    "dense": lambda a: a,
    "fortran": lambda a: a.T,
    "permuted": lambda a: a.transpose(1, 0, 2),
    "sliced": lambda a: a[1::2, :, 1:5],
    "inner step": lambda a: a[:, :, ::3],
    "one element": lambda a: a[1:2, 2:3, 3:4],
    "unit axes": lambda a: a[:, 1:2, :],
    "empty": lambda a: a[:, :0],
    "zero-dimensional": lambda a: a[1, 1, 1, ...],
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("threads", [1, 3])
def test_prolog_and_epilog_agree_with_numpy(dtype, layout, threads, monkeypatch):
    monkeypatch.setattr(loops, "_ELEMENTS_PER_THREAD", 16)
    loops._parts.cache_clear()
    base = random((6, 5, 8), dtype)
    filter_ = random(base.size, dtype, seed=1)
    source = LAYOUTS[layout](base)
    for order in "CF":  # the output has strides of its own
        result = run_prolog(load_times_filter, source, np.empty(source.shape, dtype, order), filter_, threads)
        np.testing.assert_allclose(result, source * flat(source, filter_), rtol=1e-6)
    untouched, expected = base.copy(), source * flat(source, filter_)
    run_epilog(store_times_filter, source, filter_, threads)
    np.testing.assert_allclose(source, expected, rtol=1e-6)
    LAYOUTS[layout](untouched)[...] = source
    np.testing.assert_array_equal(base, untouched)  # and nothing between the elements was written
    loops._parts.cache_clear()


def test_negative_strides_count_from_the_first_element():
    base = random(12, "complex64")
    filter_ = random(24, "complex64", seed=1)
    backwards = base[::-1]
    callback = normalise({"function": load_times_filter, "data": filter_[12:].ctypes.data}, "prolog", "complex64")
    target = np.empty(12, "complex64")
    loops.host_prolog(callback)(backwards.ctypes.data, target.ctypes.data, callback.data, (12,), (-1,), (1,), 1)
    np.testing.assert_allclose(target, backwards * filter_[12:0:-1], rtol=1e-6)


axes = st.lists(st.tuples(st.integers(1, 5), st.integers(0, 2), st.booleans()), min_size=1, max_size=4)


@settings(max_examples=60, deadline=None)
@given(axes, st.permutations(range(4)), st.integers(1, 5))
def test_every_offset_is_visited_once(axes, order, threads):
    """Arrays with padding, steps and any order of axes: the callback sees every offset of the layout exactly once."""
    padded = [extent + padding for extent, padding, _ in axes]
    base = np.arange(math.prod(padded), dtype="float64").reshape(padded)
    view = base[tuple(slice(0, extent) for extent, _, _ in axes)]
    view = view[tuple(slice(None, None, 2 if step else 1) for _, _, step in axes)]
    view = view.transpose([axis for axis in order if axis < len(axes)])
    parts = loops._parts.__wrapped__
    old, loops._ELEMENTS_PER_THREAD = loops._ELEMENTS_PER_THREAD, 4
    try:
        found = parts(view.shape, strides(view), strides(view), threads)
    finally:
        loops._ELEMENTS_PER_THREAD = old
    target = np.full(base.size, -1.0)
    callback = normalise(offset_as_value, "prolog", "float64")
    walk = loops.compiled_walk(callback._user, callback.kind)
    loops._run(walk, base.ctypes.data, target.ctypes.data, 0, found)
    expected = np.full(base.size, -1.0)
    offsets = flat(view, np.arange(base.size))
    expected[offsets] = offsets
    np.testing.assert_array_equal(target, expected)
    assert sum(part[1] * part[6] for part in found) == view.size


def test_work_is_split_and_joined():
    parts = loops._parts((100, 1000, 1000), (10**6, 1000, 1), (10**6, 1000, 1), 4)
    assert [part[0] for part in parts] == [0, 0, 0, 0]  # one loop over everything
    assert [part[1] for part in parts] == [25_000_000] * 4
    assert [part[4] for part in parts] == [0, 25_000_000, 50_000_000, 75_000_000]
    assert len(loops._parts((1000,), (1,), (1,), 4)) == 1  # too little for threads
    assert loops._parts((3, 0), (1, 1), (1, 1), 4) == ()
    rows = loops._parts((2, 10**6), (10**7, 1), (10**6, 1), 8)  # the slow axis is too short for eight threads
    assert len(rows) == 8
    assert {part[6] for part in rows} == {2}


def test_records_are_user_data():
    data = np.zeros(2, RECORD)
    data["scale"], data["shift"], data["table"] = [2, 3], [5, 7], [[1, 2, 3], [4, 5j, 6]]

    def load(data_in, offset, user_info, reserved):
        info = user_info[1]
        return data_in[offset] * info.scale + info.shift + info.table[1]

    def store(data_out, offset, element, user_info, reserved):
        data_out[offset] = element * user_info[0].scale
        user_info[0].shift += 1

    source = random(10, "complex64")
    result = run_prolog(load, source, np.empty_like(source), data)
    np.testing.assert_allclose(result, source * 3 + 7 + 5j, rtol=1e-6)
    run_epilog(store, result, data)
    np.testing.assert_allclose(result, (source * 3 + 7 + 5j) * 2, rtol=1e-6)
    assert data["shift"].tolist() == [15, 7]


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float32", "complex128"])
def test_any_plain_dtype_is_user_data(dtype):
    data = np.arange(10).astype(dtype)

    def load(data_in, offset, user_info, reserved):
        return data_in[offset] if user_info[offset] else 0

    source = random(10, "complex64") + 100
    np.testing.assert_array_equal(run_prolog(load, source, np.empty_like(source), data), np.where(data, source, 0))


def test_a_scalar_is_user_data():
    def load(data_in, offset, user_info, reserved):
        return data_in[offset] * user_info[0]

    source = random(10, "complex64")
    result = run_prolog(load, source, np.empty_like(source), np.float32(0.5))
    np.testing.assert_array_equal(result, source * np.float32(0.5))


def test_a_prolog_may_read_other_elements():
    def load(data_in, offset, user_info, reserved):
        return data_in[offset] - data_in[offset - 1] if offset else data_in[0]

    source = random(100, "float64")
    np.testing.assert_array_equal(run_prolog(load, source, np.empty_like(source)), np.diff(source, prepend=0))


def test_wider_results_are_cast_to_the_element():
    def load(data_in, offset, user_info, reserved):
        return data_in[offset] * 0.1 + 1j

    source = random(100, "complex64")
    result = run_prolog(load, source, np.empty_like(source))
    np.testing.assert_allclose(result, source * 0.1 + 1j, rtol=1e-6)


def test_a_division_by_zero_gives_infinity_as_on_a_gpu():
    def load(data_in, offset, user_info, reserved):
        return 1.0 / data_in[offset]

    source = np.array([0.0, 2.0])
    assert run_prolog(load, source, np.empty_like(source)).tolist() == [math.inf, 0.5]


def test_an_exception_in_any_thread_arrives(monkeypatch):
    monkeypatch.setattr(loops, "_ELEMENTS_PER_THREAD", 10)
    loops._parts.cache_clear()

    def load(data_in, offset, user_info, reserved):
        if offset == 95:
            raise ValueError("bad element")
        return data_in[offset]

    source = random(100, "float64")
    with pytest.raises(ValueError, match="bad element"):
        run_prolog(load, source, np.empty_like(source), threads=4)
    loops._parts.cache_clear()


def half(x):
    return x * np.float32(0.5)


def test_plain_helpers_are_compiled_too():
    module = types.ModuleType("tools")
    module.double, module.SCALE = (lambda x: half(x) * 4), np.float32(3)
    inside = lambda x: -x  # noqa: E731

    def load(data_in, offset, user_info, reserved):
        return half(module.double(inside(data_in[offset]))) * module.SCALE

    source = random(10, "float32")
    np.testing.assert_allclose(run_prolog(load, source, np.empty_like(source)), -source * 3, rtol=1e-6)


def test_helpers_compiled_by_numba_work():
    import numba

    negative = numba.njit(lambda x: -x)

    def load(data_in, offset, user_info, reserved):
        return negative(data_in[offset])

    source = random(10, "float32")
    for function in (load, numba.njit(load)):
        np.testing.assert_array_equal(run_prolog(function, source, np.empty_like(source)), -source)


def test_helpers_and_callbacks_compiled_for_a_gpu_work():
    pytest.importorskip("numba_cuda", reason="numba-cuda is not installed")
    from numba import cuda

    negative = cuda.jit(device=True)(lambda x: -x)

    @cuda.jit(device=True)
    def load(data_in, offset, user_info, reserved):
        return negative(data_in[offset])

    source = random(10, "float32")
    np.testing.assert_array_equal(run_prolog(load, source, np.empty_like(source)), -source)


def test_values_are_those_when_the_callback_was_given():
    scale = 2.0

    def load(data_in, offset, user_info, reserved):
        return data_in[offset] * scale

    source = random(10, "float64")
    early = normalise(load, "prolog", "float64")
    scale = 3.0
    late = normalise(load, "prolog", "float64")
    assert early.key != late.key
    for callback, factor in ((early, 2), (late, 3)):
        target = np.empty_like(source)
        callback.host()(source.ctypes.data, target.ctypes.data, 0, (10,), (1,), (1,), 1)
        np.testing.assert_array_equal(target, source * factor)


def test_what_compile_returned_runs(monkeypatch):
    from nvmath.fft import _callback_compile

    monkeypatch.setattr(_callback_compile, "current_compute_capability", lambda: None)
    prolog = compile_prolog(load_times_filter, "float64", "float64")
    epilog = compile_epilog(store_times_filter, "float64", "float64")
    assert (len(prolog), len(epilog)) == (0, 0)
    source, filter_ = random(20, "float64"), random(20, "float64", seed=1)
    for spec in (DeviceCallable(prolog, data=filter_.ctypes.data), {"ltoir": prolog, "data": filter_.ctypes.data}):
        callback = normalise(spec, "prolog", "float64")
        target = np.empty_like(source)
        callback.host()(source.ctypes.data, target.ctypes.data, callback.data, (20,), (1,), (1,), 1)
        np.testing.assert_array_equal(target, source * filter_)
    callback = normalise({"function": epilog, "data": filter_}, "epilog", "float64")
    callback.host()(target.ctypes.data, callback.data, (20,), (1,), 1)
    np.testing.assert_array_equal(target, source * filter_ * filter_)


def test_a_new_data_pointer_compiles_nothing(monkeypatch):
    source = random(20, "float64")
    run_prolog(load_times_filter, source, np.empty_like(source), source)
    monkeypatch.setattr(loops, "_compile_walk", lambda *_: pytest.fail("compiled again"))
    other = random(20, "float64", seed=5)
    result = run_prolog(load_times_filter, source, np.empty_like(source), other)
    np.testing.assert_array_equal(result, source * other)


def wrong_attribute(data_in, offset, user_info, reserved):
    x = data_in[offset]
    return x.nothing


def wrong_name(data_in, offset, user_info, reserved):
    return not_defined(data_in[offset])  # noqa: F821


def complex_for_real(data_in, offset, user_info, reserved):
    return data_in[offset] * 1j


def store_complex_in_real(data_out, offset, element, user_info, reserved):
    data_out[offset] = element * 1j


def store_and_return(data_out, offset, element, user_info, reserved):
    return element


@pytest.mark.parametrize(
    ("function", "phase", "line"),
    [
        (wrong_attribute, "prolog", "return x.nothing"),
        (wrong_name, "prolog", "return not_defined(data_in[offset])"),
        (complex_for_real, "prolog", "return data_in[offset] * 1j"),
        (store_complex_in_real, "epilog", "data_out[offset] = element * 1j"),
        (store_and_return, "epilog", "return element"),
    ],
)
def test_errors_show_the_line(function, phase, line, monkeypatch):
    from nvmath.fft import _callback_compile

    monkeypatch.setattr(_callback_compile, "current_compute_capability", lambda: None)
    compile_ = compile_prolog if phase == "prolog" else compile_epilog
    with pytest.raises(CompileError) as caught:
        compile_(function, "float32", "float32")
    assert isinstance(caught.value, ValueError)
    assert caught.value.__cause__ is not None
    text = str(caught.value)
    for part in (line, function.__name__, __file__, f"{phase}(data_", "cannot be compiled for the CPU"):
        assert part in text
    with pytest.raises(CompileError):
        normalise(function, phase, "float32").host()


def test_raw_code_cannot_run_on_the_cpu():
    with pytest.raises(ValueError, match="give the Python function, or the object that compile_prolog returned"):
        normalise(DeviceCallable(b"\xed\x43\x4e\x7f"), "prolog", "float32").host()


def test_the_gil_is_released():
    def slow(data_in, offset, user_info, reserved):
        x = data_in[offset]
        for _ in range(2000):
            x = math.sin(x) + 1
        return x

    source = random(4000, "float64")
    callback = normalise(slow, "prolog", "float64")
    target, loop = np.empty_like(source), callback.host()
    arguments = (source.ctypes.data, target.ctypes.data, 0, source.shape, (1,), (1,), 1)
    worker = threading.Thread(target=loop, args=arguments)
    interval = sys.getswitchinterval()
    turns = 0
    worker.start()
    while worker.is_alive():
        turns += 1
    worker.join()
    assert turns > 1, f"no turn for this thread in {interval} s steps"


def test_data_lives_as_long_as_the_callback():
    array = np.zeros(3)
    callback = normalise({"function": load_times_filter, "data": array}, "prolog", "float64")
    seen = weakref.ref(array)
    del array
    gc.collect()
    assert seen() is not None
    callback.host()
    del callback
    gc.collect()
    assert seen() is None  # neither a cache nor the compiled loop holds it


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_threads_work_in_a_forked_child(monkeypatch):
    monkeypatch.setattr(loops, "_ELEMENTS_PER_THREAD", 10)
    loops._parts.cache_clear()
    source, filter_ = random(100, "float64"), random(100, "float64", seed=1)
    run_prolog(load_times_filter, source, np.empty_like(source), filter_, threads=3)  # makes the pool
    child = os.fork()
    if child == 0:
        try:
            result = run_prolog(load_times_filter, source, np.empty_like(source), filter_, threads=3)
            os._exit(0 if np.array_equal(result, source * filter_) else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    loops._parts.cache_clear()


def backwards_cases():
    signal, square = np.arange(6.0), random(15, "float64").reshape(3, 5)
    yield signal[::-1], {}
    yield square[::-1, ::-1], {}
    yield square[:, ::-1], {"s": (4, 6)}
    yield square[::-1], {"axes": [0]}


@pytest.mark.parametrize(("operand", "extra"), list(backwards_cases()))
def test_a_prolog_of_an_operand_that_runs_backwards_sees_a_dense_copy(operand, extra):
    """Offsets below zero would read the data of the callback before its begin."""
    shape = tuple(extra.get("s", operand.shape))
    window = random(math.prod(shape), "float64", seed=1).reshape(shape)
    padded = np.zeros(shape)
    padded[tuple(slice(extent) for extent in operand.shape)] = operand
    axes = extra.get("axes", range(operand.ndim))
    got = nvmath.fft.rfft(operand, prolog={"function": window_of, "data": window}, **extra)
    np.testing.assert_allclose(got, np.fft.rfftn(padded * window, axes=axes), rtol=1e-12, atol=1e-12)


def window_of(data_in, offset, window, reserved):
    return data_in[offset] * window[offset]


def scaled_by_a_helper(factor, wrap):
    """A prolog whose helper reads a global, and the names that it reads."""
    names = {"factor": factor, "wrap": wrap}
    exec("def helper(x):\n    return x * factor\nhelper = wrap(helper)\n", names)
    helper = names["helper"]

    def prolog(data_in, offset, user_info, reserved):
        return helper(data_in[offset])

    return prolog, names


@pytest.mark.parametrize("wrap", ["plain", "njit", "fastmath"])
def test_helpers_are_frozen_too(wrap):
    """What they read changes nothing any more when it changes between plan() and the first execute()."""
    numba = pytest.importorskip("numba")
    compiled = {"plain": lambda function: function, "njit": numba.njit, "fastmath": numba.njit(fastmath=True)}[wrap]
    ones = np.ones(4, complex)
    prolog, names = scaled_by_a_helper(2.0, compiled)
    with nvmath.fft.FFT(ones) as transform:
        transform.plan(prolog=prolog)
        names["factor"] = 9.0
        assert transform.execute()[0] == 8
    assert nvmath.fft.fft(ones, prolog=scaled_by_a_helper(2.0, compiled)[0])[0] == 8


def test_a_module_that_is_read_through_another_name():
    constants, ones = types.ModuleType("constants"), np.ones(4, complex)
    constants.factor = 2.0

    def prolog(data_in, offset, user_info, reserved):
        short = constants
        return data_in[offset] * short.factor

    assert nvmath.fft.fft(ones, prolog=prolog)[0] == 8
    constants.factor = 5.0
    assert nvmath.fft.fft(ones, prolog=prolog)[0] == 20


def test_numbers_of_other_classes_are_compiled_once(monkeypatch):
    class Count(int):
        pass

    three, ones = Count(3), np.ones(4, complex)

    def prolog(data_in, offset, user_info, reserved):
        return data_in[offset] * three

    assert nvmath.fft.fft(ones, prolog=prolog)[0] == 12
    before = nvmath.plan_cache.info().hits
    assert nvmath.fft.fft(ones, prolog=prolog)[0] == 12
    assert nvmath.plan_cache.info().hits == before + 1


def test_a_plan_with_callbacks_replaces_the_one_before():
    def doubled(data_out, offset, element, user_info, reserved):
        data_out[offset] = 2 * element

    def broken(data_out, offset, element):
        data_out[offset] = element

    ones = np.ones(4, complex)
    with nvmath.fft.FFT(ones) as transform:
        transform.plan()
        assert transform.execute()[0] == 4
        transform.plan(epilog=doubled)
        assert transform.execute()[0] == 8
        transform.plan()  # nothing is asked for
        with pytest.raises(ValueError, match="epilog"):
            transform.plan(epilog=broken)
        assert transform.execute()[0] == 8  # the plan of before is still there
