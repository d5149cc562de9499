"""Callbacks inside of our own kernel for columns: what a plan compiles, launches and keeps when their data change."""

import ctypes

import pytest

from nvmath.bindings import _nvrtc
from nvmath.fft import FFT, DeviceCallable, FFTDirection, fft, ifft, rfft
from nvmath.fft import _columns as room

ADDRESSES = 4  # first arguments of the kernel: source, target, data of the prolog, data of the epilog
OPTIONS = {"result_layout": "natural"}


@pytest.fixture(autouse=True)
def h200(monkeypatch):
    """What the fake driver does not know about the device, and a toolkit that fits."""
    monkeypatch.setattr(room, "limits_of", lambda device: room.Limits((9, 0), 227 << 10))
    monkeypatch.setattr(room, "_resident", lambda *kernel: 132)
    monkeypatch.setattr(room, "toolkit_fault", lambda capability: "")


@pytest.fixture
def compiled(gpu):
    """The names of the sources that are compiled; undone before the machine undoes what it has patched itself."""
    names = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_nvrtc, "compile", lambda text, name, *rest, **options: names.append(name) or b"code")
        yield names


def callback(data, code=b"LTO-IR"):
    """A callback; the fake linker takes any code."""
    return DeviceCallable(code, len(code), data)


def launched(gpu):
    """The addresses that the last kernel got; they are changed in place at every launch."""
    *_, parameters, _ = gpu.trace.calls("cuLaunchKernel")[-1].args
    values = (ctypes.c_void_p * ADDRESSES).from_address(parameters)
    return [ctypes.c_void_p.from_address(value).value or 0 for value in values]


def test_rows_by_cufft_and_columns_by_our_kernel(gpu, compiled):
    with FFT(gpu.array((4096, 512), "float32")) as transform:
        transform.plan(epilog=callback(0x100))
        assert gpu.count("cufftCreate") == 1
        gpu.forget()
        result = transform.execute()
        assert gpu.names("cufftXtExec", "cuLaunchKernel") == ["cufftXtExec", "cuLaunchKernel"]
        assert launched(gpu) == [result.ptr, result.ptr, 0, 0x100]
        (launch,) = gpu.trace.calls("cuLaunchKernel")
        blocks, threads = launch.args[1], launch.args[4]
        assert (blocks, threads) == (2 * 33, 1024)  # clusters of 2 blocks for 8 columns each of 257
        transform.execute()
    assert compiled == ["nvmath_columns.cu"]


def test_both_callbacks_in_one_kernel_and_nothing_of_cufft(gpu, compiled):
    operand = gpu.array((512, 2049), "complex64")
    with FFT(operand, axes=[0], options=OPTIONS) as transform:
        transform.plan(prolog=callback(0x100), epilog=callback(0x200, b"other"))
        assert transform.get_input_layout() == ((512, 2049), (2049, 1))
        assert transform.get_output_layout() == ((512, 2049), (2049, 1))
        assert transform.handle is None
        gpu.forget()
        result = transform.execute()
        assert gpu.names("cufftXtExec", "cuLaunchKernel") == ["cuLaunchKernel"]
        assert launched(gpu) == [operand.ptr, result.ptr, 0x100, 0x200]
        assert compiled == ["nvmath_columns.cu"]
        transform.execute(direction=FFTDirection.INVERSE)  # another kernel
        assert compiled == ["nvmath_columns.cu"] * 2


def test_in_place(gpu, compiled):
    operand = gpu.array((512, 2049), "complex64")
    fft(operand, axes=[0], options={"inplace": True}, prolog=callback(0x100))
    assert launched(gpu) == [operand.ptr, operand.ptr, 0x100, 0]
    assert gpu.count("cufftXtExec") == 0


def test_other_data_need_no_other_kernel(gpu, compiled):
    operand = gpu.array((4096, 512), "float32")
    for data in (0x100, 0x200, 0x200, 0x300):
        rfft(operand, epilog=callback(data))
        assert launched(gpu)[3] == data
    assert gpu.count("cufftCreate") == 1
    assert compiled == ["nvmath_columns.cu"]
    rfft(operand, epilog=callback(0x300, b"other code"))
    assert compiled == ["nvmath_columns.cu"] * 2


def test_kernels_are_shared_between_plans(gpu, compiled):
    for width in (512, 2049):
        ifft(gpu.array((1024, width), "complex64"), axes=[0], options=OPTIONS, epilog=callback(0x100))
    assert compiled == ["nvmath_columns.cu"]


def test_scaling_comes_after_the_epilog(gpu, compiled):
    rfft(gpu.array((4096, 512), "float32"), epilog=callback(0x100), norm="forward")
    assert gpu.names("cufftXtExec", "cuLaunchKernel") == ["cufftXtExec", "cuLaunchKernel", "cuLaunchKernel"]
    assert compiled == ["nvmath_columns.cu", "nvmath_move.cu"]


def test_without_a_fitting_toolkit_the_epilog_has_a_kernel_of_its_own(gpu, compiled, monkeypatch):
    monkeypatch.setattr(room, "toolkit_fault", lambda capability: "it is too old")
    rfft(gpu.array((4096, 512), "float32"), epilog=callback(0x100))
    assert gpu.names("cufftXtExec", "cuLaunchKernel") == ["cufftXtExec", "cuLaunchKernel"]
    assert compiled == ["nvmath_callback.cu"]


def test_a_transform_without_callbacks_is_the_librarys(gpu, compiled):
    rfft(gpu.array((4096, 512), "float32"))
    assert gpu.names("cufftXtExec", "cuLaunchKernel") == ["cufftXtExec"]
    assert compiled == []
