"""What is refused: with the right type of exception, the value that was given, the rule, and what to do instead."""

import os
import subprocess
import sys

import numpy as np
import pytest

import nvmath
from nvmath.fft import FFT, FFTOptions, fft, ifft, irfft, rfft

pytestmark = pytest.mark.usefixtures("backend")

z = np.ones((4, 8), complex)
x = np.ones((4, 8))


def read_only():
    a = z.copy()
    a.flags.writeable = False
    return a


def masked():
    return np.ma.masked_array(z, mask=np.eye(4, 8))


REFUSALS = {
    # name: (call, type, words that the text must hold)
    "a list": (lambda: fft([1, 2, 3]), ValueError, ["list", "numpy.asarray"]),
    "a scalar": (lambda: fft(3.0), ValueError, ["float", "numpy.asarray"]),
    "a NumPy scalar": (lambda: fft(np.complex128(3)), ValueError, ["complex128"]),
    "None": (lambda: fft(None), ValueError, ["NoneType"]),
    "a string": (lambda: rfft("abc"), ValueError, ["str"]),
    "a masked array": (lambda: fft(masked()), TypeError, ["mask", "filled"]),
    "a 0-dimensional array": (lambda: fft(np.array(1j)), ValueError, ["at least one axis"]),
    # R10
    "int8": (lambda: fft(z.real.astype(np.int8)), ValueError, ["int8", "convert"]),
    "int64 with axes": (lambda: rfft(x.astype(np.int64), axes=[0]), ValueError, ["int64", "convert"]),
    "uint16": (lambda: fft(x.astype(np.uint16)), ValueError, ["uint16", "convert"]),
    "bool": (lambda: rfft(x.astype(bool)), ValueError, ["bool"]),
    "float16 of NumPy": (lambda: rfft(x.astype(np.float16)), TypeError, ["float16", "complex32", "float32"]),
    # R12
    "long double": (lambda: rfft(x.astype(np.longdouble)), ValueError, [np.dtype(np.longdouble).name]),
    "long complex": (lambda: fft(x.astype(np.clongdouble)), ValueError, [np.dtype(np.clongdouble).name]),
    "objects": (lambda: fft(np.array([1j, 2j], object)), ValueError, ["object"]),
    "strings": (lambda: rfft(np.array(["a", "b"])), ValueError, ["str"]),
    "dates": (lambda: rfft(np.array(["2020"], "M8[D]")), ValueError, ["datetime64"]),
    "records": (lambda: rfft(np.zeros(4, "f8,f8")), ValueError, ["void"]),
    "fft of a real operand": (lambda: fft(x), ValueError, ["float64", "rfft"]),
    "ifft of a real operand": (lambda: ifft(x), ValueError, ["float64"]),
    "irfft of a real operand": (lambda: irfft(x), ValueError, ["float64"]),
    "rfft of a complex operand": (lambda: rfft(z), RuntimeError, ["complex128", "fft"]),
    "R2C of a complex operand": (lambda: FFT(z, options={"fft_type": "R2C"}), ValueError, ["R2C", "complex128"]),
    "C2R of a real operand": (lambda: FFT(x, options={"fft_type": "C2R"}), ValueError, ["C2R", "float64"]),
    "C2C of a real operand": (lambda: FFT(x, options={"fft_type": "C2C"}), ValueError, ["C2C", "float64"]),
    "fft with C2R": (lambda: fft(z, options={"fft_type": "C2R"}), ValueError, ["C2R", "FORWARD"]),
    "an axis out of range": (lambda: fft(z, axes=[2]), ValueError, ["2", "-2 to 1"]),
    "a negative axis out of range": (lambda: fft(z, axes=[-3]), ValueError, ["-3", "-2 to 1"]),
    "an axis twice": (lambda: fft(z, axes=[0, 0]), ValueError, ["twice", "0, 0"]),
    "an axis twice by another name": (lambda: fft(z, axes=[1, -1]), ValueError, ["twice"]),
    "an axis that is no integer": (lambda: fft(z, axes=[0.5]), TypeError, ["axes", "0.5"]),
    "an axis that is a string": (lambda: fft(z, axes="0"), TypeError, ["axes"]),
    "axes = 1": (lambda: fft(z, axes=1), TypeError, ["axes", "1"]),
    "FFT with axes = 1": (lambda: FFT(z, axes=1), TypeError, ["axes", "1"]),
    "an empty transform": (lambda: fft(np.ones((4, 0), complex), axes=[1]), ValueError, ["extent 0", "(4, 0)"]),
    "an empty transform of all": (lambda: fft(np.ones(0, complex)), ValueError, ["extent 0"]),
    "C2R of one bin": (lambda: irfft(np.ones(1, complex)), ValueError, ["last_axis_parity", "odd"]),
    "C2R of one bin along an axis": (lambda: irfft(np.ones((4, 1), complex), axes=[1]), ValueError, ["odd"]),
    "n = 0": (lambda: fft(z, axes=[1], n=0), ValueError, ["0", "at least 1"]),
    "n < 0": (lambda: fft(z, axes=[1], n=-4), ValueError, ["-4"]),
    "n and s": (lambda: fft(z, n=4, s=(4, 4)), ValueError, ["n", "s", "not both"]),
    "n for two axes": (lambda: fft(z, axes=[0, 1], n=4), ValueError, ["2 axes"]),
    "s of the wrong length": (lambda: fft(z, axes=[0, 1], s=[4]), ValueError, ["1 entries", "2 axes"]),
    "s of more axes than there are": (lambda: fft(z, s=[1, 2, 3]), ValueError, ["3 entries", "2 axes"]),
    "s that is no sequence": (lambda: fft(z, s=4), TypeError, ["s"]),
    "s of floats": (lambda: fft(z, s=[4.0, 8.0]), TypeError, ["s", "4.0"]),
    "n that is no integer": (lambda: fft(z, axes=[1], n=4.5), TypeError, ["4.5"]),
    "norm": (lambda: fft(z, norm="unitary"), ValueError, ["unitary", "ortho"]),
    "norm that cannot be hashed": (lambda: fft(z, norm=["ortho"]), ValueError, ["ortho"]),
    "options of another type": (lambda: fft(z, options=3), TypeError, ["options", "int", "FFTOptions"]),
    "options as a list": (lambda: fft(z, options=["inplace"]), TypeError, ["options", "list"]),
    "an option by a wrong name": (lambda: fft(z, options={"in_place": True}), TypeError, ["in_place"]),
    "an option of an old release": (lambda: fft(z, options={"last_axis_size": "odd"}), TypeError, ["last_axis_size"]),
    "a wrong fft_type": (lambda: fft(z, options={"fft_type": "c2c"}), ValueError, ["c2c", "C2C"]),
    "a wrong parity": (lambda: irfft(z, options={"last_axis_parity": "maybe"}), ValueError, ["maybe", "odd"]),
    "a wrong layout": (lambda: fft(z, options={"result_layout": "C"}), ValueError, ["'C'", "natural"]),
    "inplace = 1": (lambda: fft(z, options={"inplace": 1}), ValueError, ["inplace", "1"]),
    "blocking = False": (lambda: fft(z, options={"blocking": False}), ValueError, ["blocking", "False", "auto"]),
    "an allocator without methods": (lambda: fft(z, options={"allocator": 5}), TypeError, ["allocator", "memalloc"]),
    "a wrong execution": (lambda: fft(z, execution="gpu"), ValueError, ["gpu", "cuda", "cpu"]),
    "an execution that is a number": (lambda: fft(z, execution=3), ValueError, ["3"]),
    "an execution class": (lambda: fft(z, execution=nvmath.fft.ExecutionCPU), ValueError, ["ExecutionCPU"]),
    "an execution by a wrong name": (lambda: fft(z, execution={"name": "tpu"}), ValueError, ["tpu"]),
    "an execution with a wrong entry": (lambda: fft(z, execution={"name": "cpu", "threads": 2}), TypeError, ["threads"]),
    "no thread": (lambda: fft(z, execution={"num_threads": 0}), ValueError, ["num_threads", "0"]),
    "half a thread": (lambda: fft(z, execution={"num_threads": 0.5}), ValueError, ["num_threads", "0.5"]),
    "two threads as a float": (lambda: fft(z, execution={"num_threads": 2.0}), ValueError, ["num_threads", "2.0"]),
    "a second positional argument": (lambda: fft(z, [0]), TypeError, ["positional"]),
    "the operand by name": (lambda: fft(operand=z), TypeError, ["operand"]),
    "an unknown argument": (lambda: fft(z, axis=0), TypeError, ["axis"]),
    "a direction for rfft": (lambda: rfft(x, direction="forward"), TypeError, ["direction"]),
    "a direction for irfft": (lambda: irfft(z, direction="inverse"), TypeError, ["direction"]),
    "in place R2C": (lambda: rfft(x, options={"inplace": True}), ValueError, ["inplace", "R2C"]),
    "in place C2R": (lambda: irfft(z, options={"inplace": True}), ValueError, ["inplace", "C2R"]),
    "in place with n": (lambda: fft(z, axes=[1], n=4, options={"inplace": True}), ValueError, ["inplace", "(4, 4)"]),
    "in place on a read-only array": (lambda: fft(read_only(), options={"inplace": True}), ValueError, ["read-only"]),
    "in place on a broadcast array": (
        lambda: fft(np.lib.stride_tricks.as_strided(z.copy(), (4, 8), (0, 16)), options={"inplace": True}), ValueError,
        ["share memory"],
    ),
    "in place on overlapping windows": (
        lambda: fft(np.lib.stride_tricks.sliding_window_view(z[0].copy(), 4, writeable=True), options={"inplace": True}),
        ValueError, ["share memory"],
    ),
    "in place on another byte order": (lambda: fft(z.astype(">c16"), options={"inplace": True}), ValueError, ["byte order"]),
    "out and inplace": (lambda: fft(z.copy(), out=z.copy(), options={"inplace": True}), ValueError, ["out", "inplace"]),
    "out of another shape": (lambda: fft(z, out=np.empty((8, 4), complex)), ValueError, ["out", "(8, 4)", "(4, 8)"]),
    "out of another dtype": (lambda: fft(z, out=np.empty((4, 8), "c8")), ValueError, ["out", "complex64", "complex128"]),
    "out that is read-only": (lambda: fft(z, out=read_only()), ValueError, ["out", "writable"]),
    "out of another byte order": (lambda: fft(z, out=np.empty((4, 8), ">c16")), ValueError, ["out", "byte order"]),
    "out that is a list": (lambda: fft(z, out=[0] * 8), ValueError, ["list"]),
    "out with elements that share memory": (
        lambda: fft(z, out=np.lib.stride_tricks.as_strided(np.empty(8, complex), (4, 8), (0, 16))), ValueError, ["out", "share"],
    ),
    "an unknown option": (
        lambda: fft(z, options={"inplce": True}), TypeError, ["FFTOptions", "inplce", "Did you mean 'inplace'?"],
    ),
    "an option that is no name": (lambda: fft(z, options={1: 2}), TypeError, ["FFTOptions", "1"]),
    "an unknown entry of the execution": (
        lambda: fft(z, execution={"name": "cpu", "threads": 2}), TypeError, ["'cpu'", "threads", "Did you mean 'num_threads'?"],
    ),
    "an enormous n": (lambda: fft(z, n=2**62), ValueError, ["too large", "(4, 4611686018427387904)"]),
    "an enormous s": (lambda: irfft(z, s=(2**31, 2**31)), ValueError, ["too large"]),
    "a prolog that is a number": (lambda: fft(z, prolog=3), TypeError, ["prolog", "int"]),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS)
def test_refusal(name):
    call, error, words = REFUSALS[name]
    for _ in range(2):  # a refusal is not cached either
        with pytest.raises(error) as caught:
            call()
        assert caught.type is error or error is not ValueError or issubclass(caught.type, ValueError)
        for word in words:
            assert word in str(caught.value), str(caught.value)


def test_refusals_leave_no_plan_behind(fresh_cache):
    before = nvmath.plan_cache.info().entries
    for call, error, _ in REFUSALS.values():
        with pytest.raises(error):
            call()
    info = nvmath.plan_cache.info()
    assert info.entries - before <= 3  # at most those whose out= was refused after planning


def test_refusals_change_no_operand():
    np.testing.assert_array_equal(z, 1)
    np.testing.assert_array_equal(x, 1)


def test_mixed_packages():  # R114
    torch = pytest.importorskip("torch", reason="torch is not installed")
    with pytest.raises(ValueError, match=r"numpy.*torch"):
        fft(z, out=torch.empty(4, 8, dtype=torch.complex128))
    with pytest.raises(ValueError, match=r"torch.*numpy"):
        fft(torch.ones(4, 8, dtype=torch.complex128), out=z.copy())


def test_torch_operands_that_are_refused():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    refused = [
        (torch.ones(8, dtype=torch.bfloat16), rfft, ValueError, "bfloat16"),
        (torch.ones(8, dtype=torch.int32), rfft, ValueError, "int32"),
        (torch.ones(8, dtype=torch.bool), rfft, ValueError, "bool"),
        (torch.ones(8, dtype=torch.uint8), rfft, ValueError, "uint8"),
        (torch.eye(4, dtype=torch.complex64).to_sparse(), fft, ValueError, "dense"),
        (torch.empty(8, dtype=torch.complex64, device="meta"), fft, ValueError, "meta"),
        (torch.tensor(1j), fft, ValueError, "at least one axis"),
    ]
    for tensor, function, error, words in refused:
        with pytest.raises(error, match=words):
            function(tensor)


def test_no_device():
    from nvmath._core import place

    if place.has_device():
        pytest.skip("this machine has a CUDA device")
    for execution in ("cuda", "CUDA", {"name": "cuda"}, nvmath.fft.ExecutionCUDA()):
        with pytest.raises(RuntimeError, match='execution="cpu"'):
            fft(z, execution=execution)
        with pytest.raises(RuntimeError, match='execution="cpu"'):
            FFT(z, execution=execution)


def test_a_library_that_is_named_must_be_there():
    """Falling back in silence would leave the user with a slower library than the one that was asked for."""
    code = "import numpy as np, nvmath; nvmath.fft.fft(np.ones(8, complex))"
    environment = {**os.environ, "NVMATH_FFT_CPU_LIBRARY": "libabsent.so.9", "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert run.returncode != 0
    assert "libabsent.so.9" in run.stderr


def test_option_objects_are_not_changed():  # W9
    options = FFTOptions()
    irfft(np.ones(5, complex), options=options)
    assert options == FFTOptions()
    rfft(x, options=options)
    fft(z, options=options)
    with FFT(z, options=options) as transform:
        assert transform.options == options
    given = {"result_layout": "natural"}
    irfft(np.ones(5, complex), options=given)
    assert given == {"result_layout": "natural"}


def test_an_epilog_that_is_a_generator_is_refused():
    def store(data_out, offset, element, user_info, reserved):
        data_out[offset] = 0
        yield

    pytest.importorskip("numba", reason="numba is not installed")
    with pytest.raises(ValueError, match="generator"):
        fft(z, epilog=store)


def test_a_callback_that_reads_data_which_it_was_not_given_is_refused():
    def scale(data_in, offset, user_info, reserved):
        return data_in[offset] * user_info[0]

    pytest.importorskip("numba", reason="numba is not installed")
    with pytest.raises(ValueError, match=r"reads 'user_info', but it was given no data"):
        fft(z, prolog=scale)


def scale(data_in, offset, user_info, reserved):
    return data_in[offset] * user_info[offset]


@pytest.mark.parametrize("data", [z[:, ::2], z[::-1], np.broadcast_to(z[0], (4, 8)), np.zeros(3, "c16,f8")["f0"]], ids=repr)
def test_callback_data_with_gaps_is_refused(data):
    pytest.importorskip("numba", reason="numba is not installed")
    with pytest.raises(ValueError, match=r"strides .*Pass a dense copy"):
        fft(z, prolog={"function": scale, "data": data})


def test_callback_data_may_have_its_axes_in_any_order():
    pytest.importorskip("numba", reason="numba is not installed")
    data = np.arange(32.0).reshape(8, 4).T + 1j  # as the operand lies in memory
    operand = np.asfortranarray(z)
    np.testing.assert_allclose(fft(operand, prolog={"function": scale, "data": data}), np.fft.fft2(operand * data), rtol=1e-12)


def test_masked_callback_data_are_refused():
    pytest.importorskip("numba", reason="numba is not installed")
    with pytest.raises(TypeError, match="mask"):
        fft(z, prolog={"function": scale, "data": masked()})


def test_callback_data_where_the_transform_writes_are_refused():
    """Some elements would be computed from results."""
    pytest.importorskip("numba", reason="numba is not installed")
    data, both = z.copy(), np.ones((8, 8), complex)
    for _ in range(2):
        with pytest.raises(ValueError, match="prolog shares memory with out"):
            fft(z, prolog={"function": scale, "data": data}, out=data)
    with pytest.raises(ValueError, match="prolog shares memory with the operand"):
        fft(both[2:6], prolog={"function": scale, "data": both[5:]}, options={"inplace": True})
    assert (data == 1).all()
    assert (both == 1).all()
    with FFT(both[:4], options={"inplace": True}) as transform:
        transform.plan(prolog={"function": scale, "data": both[4:]})
        with pytest.raises(ValueError, match="prolog shares memory with the operand"):
            transform.reset_operand(both[4:])
        assert transform.execute().shape == (4, 8)


def test_an_object_says_what_it_is():
    with FFT(z) as transform:
        assert "C2C FFT of complex128 (4, 8)" in repr(transform)
        assert "not planned" in repr(transform)
    assert repr(transform) == "<FFT, freed>"


@pytest.mark.parametrize(
    ("good", "bad", "error"),
    [
        ({"n": 8, "axes": [1]}, {"n": 8.0, "axes": [1]}, TypeError), ({"axes": (1,)}, {"axes": (1.0,)}, TypeError),
        ({"s": (8,)}, {"s": (8.0,)}, TypeError),
        ({"execution": {"num_threads": 1}}, {"execution": {"num_threads": 1.0}}, ValueError),
    ],
)  # fmt: skip
def test_what_is_refused_does_not_depend_on_kept_plans(good, bad, error):
    """8.0 is equal to 8, also as a key."""
    with pytest.raises(error):
        fft(z, **bad)
    fft(z, **good)
    with pytest.raises(error):
        fft(z, **bad)


@pytest.mark.parametrize("n", [0, -1, -8])
def test_a_length_below_one(n):
    with pytest.raises(ValueError, match=rf"n = {n}, but the length of a transform is at least 1"):
        fft(z, axes=[1], n=n)


def test_metadata_with_a_negative_extent():
    with pytest.raises(ValueError, match=r"\(-4, 8\) has a negative extent"):
        FFT.create_key_from_metadata((-4, 8), "complex64", "cpu", axes=[1])


def test_an_allocator_is_an_object():
    with pytest.raises(TypeError, match="allocator"):
        FFTOptions(allocator=nvmath.BaseCUDAMemoryManager)


@pytest.mark.parametrize("fields", [{"ltoir": True, "size": 1}, {"ltoir": 64, "size": True}, {"ltoir": b"x", "data": True}])
def test_a_truth_value_is_no_address(fields):
    with pytest.raises(ValueError, match="must be"):
        nvmath.fft.DeviceCallable(**fields)


@pytest.mark.parametrize("data", [1 << 70, -8, np.zeros(3, np.longdouble)], ids=repr)
def test_callback_data_that_nothing_can_read(data):
    pytest.importorskip("numba", reason="numba is not installed")
    with pytest.raises(ValueError, match="data of a callback"):
        fft(z, prolog={"function": scale, "data": data})


def test_callback_data_by_address_where_the_transform_writes():
    pytest.importorskip("numba", reason="numba is not installed")
    out = z.copy()
    with pytest.raises(ValueError, match="epilog shares memory with out"):
        fft(z, epilog={"function": store, "data": out.ctypes.data, "user_info_dtype": "complex128"}, out=out)


def store(data_out, offset, element, user_info, reserved):
    data_out[offset] = element * user_info[offset]
