"""Callbacks as values: what is accepted and refused, keys, and the rules of cuFFT. Nothing is compiled here."""

import copy
import ctypes
import dataclasses
import inspect
import pickle
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from nvmath.fft import DeviceCallable, compile_epilog, compile_prolog
from nvmath.fft import _callback_compile as compiling
from nvmath.fft import _callback_rules as rules
from nvmath.fft._callbacks import Callback, CompiledCallback, normalise
from nvmath.fft._primes import lengths_with_large_primes

DTYPES = ("complex64", "complex128", "float32", "float64")
FACTOR = 2


def load(data_in, offset, user_info, reserved):
    return data_in[offset] * FACTOR


def store(data_out, offset, element, user_info, reserved):
    data_out[offset] = element * user_info[offset]


def compiled(function=load, phase="prolog", element="complex64", info="complex64", code=b"code"):
    """What compile_* would return, without compiling."""
    kind = compiling.Kind(phase, element, info)
    return compiling._remember(code, compiling.user_function(function, kind), function, kind, "90" if code else None)


# ------------------------------------------------------------------------------------------------------ DeviceCallable


def test_device_callable_takes_the_size_from_bytes():
    assert DeviceCallable(b"abc") == DeviceCallable(b"abc", 99, 0) == DeviceCallable(ltoir=b"abc", size=3, data=0)
    assert DeviceCallable(b"abc", size="nonsense").size == 3
    assert DeviceCallable(4096, 7, 8) == DeviceCallable(ltoir=4096, size=7, data=8)


def test_device_callable_without_code_is_not_checked():
    callable_ = DeviceCallable(None, "nonsense", 1.5)
    assert (callable_.size, callable_.data) == ("nonsense", 1.5)
    assert DeviceCallable() == DeviceCallable(None, None, None)


@pytest.mark.parametrize("code", ["abc", bytearray(b"abc"), memoryview(b"abc"), 1.0, [1]])
def test_device_callable_refuses_other_code(code):
    with pytest.raises(ValueError, match="ltoir must be bytes or an integer address"):
        DeviceCallable(code, 3)


@pytest.mark.parametrize("size", [None, 3.0, "3"])
def test_device_callable_needs_the_size_of_an_address(size):
    with pytest.raises(ValueError, match="size must be its length"):
        DeviceCallable(4096, size)


@pytest.mark.parametrize("data", [1.0, "x", np.zeros(3), np.int64(3)])
def test_device_callable_refuses_other_data(data):
    with pytest.raises(ValueError, match="data must be an integer address"):
        DeviceCallable(b"abc", data=data)


def test_device_callable_is_a_mutable_dataclass():
    fields = [(field.name, field.default) for field in dataclasses.fields(DeviceCallable)]
    assert fields == [("ltoir", None), ("size", None), ("data", None)]
    callable_ = DeviceCallable(b"abc")
    callable_.data = "changed after the check"
    with pytest.raises(ValueError, match="data must be an integer address"):
        normalise(callable_, "prolog", "complex64")
    assert callable_.data == "changed after the check"


# ----------------------------------------------------------------------------------------------------------- compile_*


@pytest.mark.parametrize("function", [compile_prolog, compile_epilog])
def test_signatures_are_the_originals(function):
    parameters = inspect.signature(function).parameters
    expected = ["function", "element_dtype", "user_info_dtype", "name", "phase", "representation", "compute_capability"]
    assert list(parameters) == expected
    assert [p.kind.name for p in parameters.values()] == ["POSITIONAL_OR_KEYWORD"] * 3 + ["KEYWORD_ONLY"] * 4
    assert {name: p.default for name, p in parameters.items() if p.kind is p.KEYWORD_ONLY} == {
        "name": None,
        "phase": None,
        "representation": "ltoir",
        "compute_capability": None,
    }


WRONG = [
    ({"element_dtype": "float16"}, "elements of a prolog must have one of the dtypes"),
    ({"element_dtype": np.float32}, "elements of a prolog must have one of the dtypes"),
    ({"user_info_dtype": "int32"}, "user_info_dtype must be one of"),
    ({"user_info_dtype": np.dtype(">f4")}, "user_info_dtype must be one of"),
    ({"user_info_dtype": np.dtype(object)}, "user_info_dtype must be one of"),
    ({"user_info_dtype": None}, "user_info_dtype must be one of"),
    ({"compute_capability": 90}, "compute capability must be a string"),
    ({"compute_capability": "9.0"}, "compute capability must be a string"),
    ({"representation": "ptx"}, "representation must be 'ltoir'"),
    ({"phase": "epilog"}, "compile_prolog compiles a prolog"),
    ({"function": lambda a, b: a}, "must take 4 positional parameters"),
    ({"function": store}, "must take 4 positional parameters"),
]


@pytest.mark.parametrize(("change", "match"), WRONG)
def test_compile_refuses(change, match, monkeypatch):
    monkeypatch.setattr(compiling.jit, "require_host_compiler", lambda purpose: None)  # these need no numba
    with pytest.raises(ValueError, match=match):
        compile_prolog(**{"function": load, "element_dtype": "complex64", "user_info_dtype": "complex64"} | change)


@pytest.mark.parametrize("function", [None, "f", len, compile_prolog.__get__(1), 3])
def test_compile_refuses_what_is_no_function(function, monkeypatch):
    monkeypatch.setattr(compiling.jit, "require_host_compiler", lambda purpose: None)
    with pytest.raises(TypeError, match="must be a Python function"):
        compile_prolog(function, "complex64", "complex64")


def test_without_numba_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    for compile_ in (compile_prolog, compile_epilog):
        with pytest.raises(RuntimeError, match=r'pip install "numba>='):
            compile_(load, "complex64", "complex64")
    with pytest.raises(RuntimeError, match=r'pip install "numba>='):
        normalise(load, "prolog", "complex64").host()


def test_the_capability_is_that_of_the_current_device(monkeypatch):
    driver = SimpleNamespace(
        device_count=lambda: 2,
        ctx_get_current=lambda: 1,
        ctx_get_device=lambda: 1,
        compute_capability=lambda device: {0: (8, 0), 1: (10, 3)}[device],
    )
    monkeypatch.setitem(sys.modules, "nvmath.bindings._cuda", driver)
    monkeypatch.setattr("nvmath.bindings._cuda", driver, raising=False)
    assert compiling.current_compute_capability() == "103"
    driver.ctx_get_current = lambda: 0
    assert compiling.current_compute_capability() == "80"
    driver.device_count = lambda: 0
    assert compiling.current_compute_capability() is None


def test_a_compiled_callback_is_bytes_that_remember():
    made = compiled(code=b"\xed\x43\x4e\x7f")
    assert isinstance(made, bytes)
    assert made == b"\xed\x43\x4e\x7f"
    assert made.function is load
    assert (made.phase, made.element_dtype, made.user_info_dtype) == ("prolog", "complex64", "complex64")
    assert made.compute_capability == "90"
    assert "load" in repr(made)
    assert "the CPU only" in repr(compiled(code=b""))
    assert DeviceCallable(made).ltoir is made


def test_a_compiled_callback_can_be_pickled():
    for made in (compiled(), compiled(store, "epilog", "float64", np.dtype("i4"), b"")):
        for again in (pickle.loads(pickle.dumps(made)), copy.copy(made)):
            assert isinstance(again, CompiledCallback)
            assert again == made
            assert again.function is made.function
            assert again.kind == made.kind
            assert normalise(again, made.phase, made.element_dtype) == normalise(made, made.phase, made.element_dtype)


def test_a_compiled_callback_of_a_local_function_is_pickled_as_bytes():
    made = compiled(lambda a, b, c, d: a[b])
    again = pickle.loads(pickle.dumps(made))
    assert type(again) is bytes
    assert again == made


# ----------------------------------------------------------------------------------------------------------- normalise


def test_nothing_is_nothing():
    assert normalise(None, "prolog", "complex64") is None
    assert normalise(DeviceCallable(), "prolog", "complex64") is None
    assert normalise({}, "prolog", "complex64") is None
    with pytest.raises(ValueError, match="has data but no ltoir"):
        normalise(DeviceCallable(data=3), "prolog", "complex64")


def test_raw_code_and_its_address_are_one():
    code = ctypes.create_string_buffer(b"some LTO-IR", 11)
    by_address = normalise({"ltoir": ctypes.addressof(code), "size": 11, "data": 64}, "epilog", "float64")
    by_value = normalise(DeviceCallable(b"some LTO-IR", data=64), "epilog", "float64")
    assert by_address == by_value
    assert hash(by_address) == hash(by_value)
    assert by_value.ltoir("90") == b"some LTO-IR"
    assert by_value.key_pair() == (b"some LTO-IR", 64)
    assert by_value.data == 64
    with pytest.raises(ValueError, match="only runs on a GPU"):
        by_value.host()
    with pytest.raises(ValueError, match="is empty"):
        normalise(DeviceCallable(b""), "epilog", "float64")


def test_every_form_of_a_function_gives_an_equal_callback():
    forms = [
        load,
        {"function": load},
        {"function": load, "user_info_dtype": "complex64"},
        {"function": load, "data": 0},
    ]
    forms += [{"function": load, "user_info_dtype": np.complex64, "data": None}]
    found = [normalise(form, "prolog", "complex64") for form in forms]
    assert len(set(found)) == 1
    assert found[0].element_dtype == "complex64"
    assert found[0].key_pair() == (found[0].key, 0)


def test_keys_tell_everything_apart_that_needs_other_code(monkeypatch):
    def keys():
        return {
            normalise(load, "prolog", "complex64").key,
            normalise(load, "prolog", "complex128").key,
            normalise({"function": load, "user_info_dtype": "float32"}, "prolog", "complex64").key,
            normalise({"function": load, "user_info_dtype": np.dtype("i4")}, "prolog", "complex64").key,
            normalise({"function": load, "user_info_dtype": np.dtype("i4,f4")}, "prolog", "complex64").key,
            normalise(store, "epilog", "complex64").key,
            normalise(lambda a, b, c, d: a[b], "prolog", "complex64").key,
        }

    before = keys()
    assert len(before) == 7
    assert keys() == before
    monkeypatch.setattr(sys.modules[__name__], "FACTOR", 3)
    assert len(keys() - before) == 5  # all that read FACTOR


def test_data_is_not_in_the_key():
    one, other = ({"function": load, "data": np.zeros(4, "c8")} for _ in range(2))
    first, second = normalise(one, "prolog", "complex64"), normalise(other, "prolog", "complex64")
    assert first.key == second.key
    assert first != second
    assert first.data == one["data"].ctypes.data
    assert first.keep_alive is one["data"]


@pytest.mark.parametrize("dtype", [*DTYPES, "int32", "bool", "uint8", [("a", "f4"), ("b", "i8")]])
def test_the_dtype_of_an_array_is_the_default(dtype):
    callback = normalise({"function": load, "data": np.zeros(4, dtype)}, "prolog", "complex64")
    assert callback.user_info_dtype == np.dtype(dtype)
    assert callback.data_on == "cpu"
    callback.require_place("cpu")
    with pytest.raises(ValueError, match="runs on a GPU, but the data of its prolog is an array in host memory"):
        callback.require_place("cuda")


def test_scalars_are_data_too():
    callback = normalise({"function": load, "data": np.float32(2.5)}, "prolog", "complex64")
    assert callback.user_info_dtype == "float32"
    assert ctypes.c_float.from_address(callback.data).value == 2.5


def test_arrays_on_a_gpu_are_known_by_their_interface():
    interface = {"shape": (3,), "typestr": "<c8", "data": (4096, False), "version": 3}
    array = SimpleNamespace(__cuda_array_interface__=interface)
    callback = normalise({"function": load, "data": array}, "prolog", "complex64")
    assert (callback.data, callback.data_on, callback.user_info_dtype) == (4096, "cuda", "complex64")
    assert callback.keep_alive is array
    callback.require_place("cuda")
    with pytest.raises(ValueError, match="runs on the CPU, but the data of its prolog is an array in GPU memory"):
        callback.require_place("cpu")
    interface.update(typestr="|V8", descr=[("a", "<f4"), ("b", "<i4")])
    record = normalise({"function": load, "data": array}, "prolog", "complex64").user_info_dtype
    assert record == np.dtype([("a", "f4"), ("b", "i4")])


def test_torch_tensors_are_data():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    tensor = torch.zeros(3, dtype=torch.complex64)
    callback = normalise({"function": load, "data": tensor}, "prolog", "complex64")
    assert (callback.data, callback.data_on, callback.user_info_dtype) == (tensor.data_ptr(), "cpu", "complex64")
    with pytest.raises(ValueError, match="lazily conjugated"):
        normalise({"function": load, "data": tensor.conj()}, "prolog", "complex64")
    with pytest.raises(ValueError, match="bfloat16"):
        normalise({"function": load, "data": tensor.real.to(torch.bfloat16)}, "prolog", "complex64")


def test_dtypes_that_other_packages_register_are_refused():
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")
    with pytest.raises(ValueError, match="bfloat16, which numba does not know"):
        normalise({"function": load, "data": np.zeros(3, ml_dtypes.bfloat16)}, "prolog", "complex64")


def test_addresses_are_taken_as_they_are():
    callback = normalise({"function": load, "data": 4096}, "prolog", "complex64")
    assert (callback.data, callback.data_on, callback.user_info_dtype) == (4096, None, "complex64")
    callback.require_place("cpu")
    callback.require_place("cuda")


@pytest.mark.parametrize("data", ["x", 1.5, [1, 2], True, object()])
def test_other_data_is_refused(data):
    with pytest.raises(TypeError, match="data of a callback must be an array or an integer address"):
        normalise({"function": load, "data": data}, "prolog", "complex64")


@pytest.mark.parametrize("dtype", [">c8", object])
def test_data_that_would_be_read_wrong_is_refused(dtype):
    with pytest.raises(ValueError, match="plain numbers in native byte order"):
        normalise({"function": load, "data": np.zeros(3, dtype)}, "prolog", "complex64")


@pytest.mark.parametrize("spec", [3, "load", b"code", [load], len, np.sin, object(), DeviceCallable])
def test_other_objects_are_refused(spec):
    with pytest.raises(TypeError):
        normalise(spec, "prolog", "complex64")


@pytest.mark.parametrize("spec", [{"ltoir": b"x", "colour": 1}, {"function": load, "ltoir": b"x"}, {"size": 1, "x": 2}])
def test_unknown_entries_are_refused(spec):
    with pytest.raises(TypeError):
        normalise(spec, "prolog", "complex64")


def test_wrong_functions_are_refused_with_their_line():
    with pytest.raises(ValueError, match="must take 5 positional parameters") as caught:
        normalise(load, "epilog", "complex64")
    assert "def load(data_in, offset, user_info, reserved):" in str(caught.value)
    assert __file__ in str(caught.value)
    assert "epilog(data_out: complex64*, offset: uint64, element: complex64" in str(caught.value)


@pytest.mark.parametrize("dtype", ["float16", "complex32", "bfloat16"])
def test_half_precision_is_refused(dtype):
    with pytest.raises(ValueError, match="elements of a prolog must have one of the dtypes"):
        normalise(load, "prolog", dtype)
    assert normalise(None, "prolog", dtype) is None


def test_compiled_callbacks_are_checked_against_the_transform():
    for wrap in (lambda c: c, DeviceCallable, lambda c: {"ltoir": c}, lambda c: {"function": c}):
        spec = wrap(compiled())
        assert normalise(spec, "prolog", "complex64").ltoir("80") == b"code"
        with pytest.raises(
            ValueError, match="compiled for complex64 elements, but the operand of this transform is complex128"
        ):
            normalise(spec, "prolog", "complex128")
        with pytest.raises(ValueError, match="compiled with compile_prolog; use compile_epilog"):
            normalise(spec, "epilog", "complex64")
    with pytest.raises(TypeError, match="was fixed when the prolog was compiled"):
        normalise({"function": compiled(), "user_info_dtype": "float32"}, "prolog", "complex64")


def test_compiled_callbacks_with_data():
    array = np.zeros(3)
    callback = normalise({"function": compiled(), "data": array}, "prolog", "complex64")
    assert callback.keep_alive is array
    assert callback.key_pair() == (b"code", array.ctypes.data)
    assert type(callback.key_pair()[0]) is bytes
    assert normalise(DeviceCallable(compiled(), data=77), "prolog", "complex64").data == 77


def test_empty_compiled_callbacks_of_different_functions_differ():
    one, other = compiled(code=b""), compiled(lambda a, b, c, d: a[b], code=b"")
    assert one == other  # as bytes
    first, second = (normalise(c, "prolog", "complex64") for c in (one, other))
    assert first != second
    assert first.key_pair() != second.key_pair()


def test_callbacks_hold_no_function_in_what_is_compared():
    compared = {f.name for f in dataclasses.fields(Callback) if f.compare}
    assert compared == {"phase", "element_dtype", "key", "data"}


# --------------------------------------------------------------------------------------------------------------- rules


def test_symbol_names():
    assert [rules.symbol_name(phase, dtype) for dtype in DTYPES for phase in ("prolog", "epilog")] == [
        "_Z27cufftJITCallbackLoadComplexPvyS_S_",
        "_Z28cufftJITCallbackStoreComplexPvy6float2S_S_",
        "_Z33cufftJITCallbackLoadDoubleComplexPvyS_S_",
        "_Z34cufftJITCallbackStoreDoubleComplexPvy7double2S_S_",
        "_Z24cufftJITCallbackLoadRealPvyS_S_",
        "_Z25cufftJITCallbackStoreRealPvyfS_S_",
        "_Z30cufftJITCallbackLoadDoubleRealPvyS_S_",
        "_Z31cufftJITCallbackStoreDoubleRealPvydS_S_",
    ]
    assert rules.symbol_name("epilog", "float32", 11200) == "_Z25cufftJITCallbackStoreRealPvmfS_S_"


def test_callback_types():
    assert [rules.cufft_callback_type("prolog", dtype) for dtype in DTYPES] == [0, 1, 2, 3]
    assert [rules.cufft_callback_type("epilog", dtype) for dtype in DTYPES] == [4, 5, 6, 7]


def test_old_libraries_are_refused():
    rules.require_callback_support(11300)
    rules.require_callback_support(12000)
    with pytest.raises(RuntimeError, match=r"cuFFT 11\.3\.0 or newer .*, but /x/libcufft\.so has version 11\.2\.6"):
        rules.require_callback_support(11206, "/x/libcufft.so")


@pytest.mark.parametrize(
    ("version", "fft_type", "lengths", "dtype", "real_side", "refused"),
    [
        (12300, "R2C", (131 * 64,), "float32", True, True),  # 8384
        (12399, "C2R", (131 * 64,), "complex64", True, True),
        (12300, "R2C", (131 * 32,), "float64", True, True),  # 4192
        (12300, "R2C", (131 * 32,), "float32", True, False),  # below 8192
        (12300, "R2C", (131 * 31,), "float64", True, False),  # odd and below 4096
        (12300, "R2C", (131 * 65,), "float64", True, False),  # odd
        (12300, "R2C", (127 * 128,), "float64", True, False),  # no large prime
        (12300, "R2C", (16384,), "float64", True, False),
        (12300, "R2C", (131 * 64,), "float32", False, False),  # callback on the complex side only
        (12300, "C2C", (131 * 64,), "complex64", True, False),
        (12300, "R2C", (131 * 64, 8), "float32", True, False),  # only the last length counts
        (12300, "R2C", (8, 131 * 64), "float32", True, True),
        (12204, "R2C", (131 * 64,), "float32", True, False),
        (12400, "R2C", (131 * 64,), "float32", True, False),
    ],
)
def test_wrong_results_are_refused(version, fft_type, lengths, dtype, real_side, refused):
    if refused:
        with pytest.raises(ValueError, match="computes wrong results"):
            rules.refuse_wrong_results(version, fft_type, lengths, dtype, real_side)
    else:
        rules.refuse_wrong_results(version, fft_type, lengths, dtype, real_side)


def test_large_primes():
    assert lengths_with_large_primes((1, 2, 127, 128, 127 * 127, 131, 131 * 2, 10007, 97 * 89)) == (
        131,
        262,
        10007,
    )
