"""Callbacks as LTO-IR on a machine that needs no GPU: compiled, linked with cuFFT's prototypes, and inlined."""

import math
import multiprocessing
import os
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from nvmath._core import jit
from nvmath._core.jit import CompileError, device
from nvmath.bindings import _nvjitlink, _nvrtc
from nvmath.fft import _callback_rules as rules
from nvmath.fft import compile_epilog, compile_prolog
from nvmath.fft._callbacks import normalise

DTYPES = ("complex64", "complex128", "float32", "float64")
C_TYPES = {"complex64": "float2", "complex128": "double2", "float32": "float", "float64": "double"}
MAGIC = bytes.fromhex("ed434e7f")
RECORD = np.dtype([("scale", "f4"), ("shift", "i4")])
FACTOR = 2.5


def _missing() -> str:
    for module, package in (("numba", "numba"), ("numba_cuda", "numba-cuda"), ("cuda.pathfinder", "cuda-pathfinder")):
        try:
            __import__(module)
        except ImportError:
            return f"{package} is not installed"
    for library, probe in (
        ("libNVVM", device._nvvm_identity),
        ("NVRTC", _nvrtc.supported_archs),
        ("nvJitLink", lambda: _nvjitlink.version),
    ):
        try:
            probe()
        except (RuntimeError, OSError, ImportError):
            return f"{library} is not installed"
    return ""


_reason = _missing()
pytestmark = pytest.mark.skipif(bool(_reason), reason=_reason)


@pytest.fixture(autouse=True)
def no_cache(monkeypatch):
    """Compile anew, on a machine that looks as if it had no GPU."""
    monkeypatch.setenv("NVMATH_DISABLE_DISK_CACHE", "1")
    monkeypatch.setattr(device, "current_compute_capability", lambda: None)
    device._compiled.clear()


def load(data_in, offset, user_info, reserved):
    return data_in[offset] * user_info[offset]


def store(data_out, offset, element, user_info, reserved):
    data_out[offset] = element * user_info[offset]


def helped(x):
    return x * FACTOR if x.real > 0 else -x


def load_with_helper(data_in, offset, user_info, reserved):
    return helped(data_in[offset]) * math.sqrt(2.0)


def load_with_record(data_in, offset, user_info, reserved):
    return data_in[offset] * user_info[0].scale + user_info[1].shift


def kernel(dtype: str, capability: str) -> bytes:
    """LTO-IR of a kernel that declares the callbacks as cuFFT does and uses both."""
    names = [rules.symbol_name(phase, dtype).split("cufft")[1].split("Pvy")[0] for phase in ("prolog", "epilog")]
    load_name, store_name = ("cufft" + name for name in names)
    source = """
        __device__ T LOAD(void *, unsigned long long, void *, void *);
        __device__ void STORE(void *, unsigned long long, T, void *, void *);
        extern "C" __global__ void transform(T *x, T *y, void *a, void *b, unsigned long long n) {
            unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
            if (i < n) STORE(y, i, LOAD(x, i, a, 0), b, 0);
        }"""
    for placeholder, text in (("LOAD", load_name), ("STORE", store_name), ("T ", C_TYPES[dtype] + " ")):
        source = source.replace(placeholder, text)
    source = source.replace("T,", C_TYPES[dtype] + ",")
    options = [f"--gpu-architecture=compute_{capability}", "-rdc=true"]
    return _nvrtc.compile(source, options=options, kind="ltoir")


def link(dtype: str, capability: str, *codes: bytes, kind: str = "cubin") -> bytes:
    inputs = [("ltoir", code, f"input{i}") for i, code in enumerate((kernel(dtype, capability), *codes))]
    options = [f"-arch=sm_{capability}", "-lto", *(["-ptx"] if kind == "ptx" else [])]
    return _nvjitlink.link(inputs, options, kind=kind)


def functions(elf: bytes) -> dict[str, int]:
    """The FUNC symbols of an ELF file that are defined in it, with their sizes."""
    table_at = struct.unpack_from("<Q", elf, 40)[0]
    entry_size, count = struct.unpack_from("<HH", elf, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", elf, table_at + i * entry_size) for i in range(count)]
    found = {}
    for _, kind, _, _, start, size, names, *_ in sections:
        if kind != 2:  # SHT_SYMTAB
            continue
        for at in range(start, start + size, 24):
            name, info, _, section, _, length = struct.unpack_from("<IBBHQQ", elf, at)
            if info & 15 == 2 and section:
                begin = sections[names][4] + name
                found[elf[begin : elf.index(b"\0", begin)].decode()] = length
    return found


@pytest.mark.parametrize("capability", ["90", "80"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_all_kinds_compile_link_and_are_inlined(dtype, capability):
    prolog = compile_prolog(load, dtype, dtype, compute_capability=capability)
    epilog = compile_epilog(store, dtype, dtype, compute_capability=capability)
    for made, phase in ((prolog, "prolog"), (epilog, "epilog")):
        assert made[:4] == MAGIC
        assert (made.phase, made.element_dtype, made.compute_capability) == (phase, dtype, capability)
    assert list(functions(link(dtype, capability, prolog, epilog))) == ["transform"]


@pytest.mark.parametrize(("dtype", "access"), [("complex64", "v2.f32"), ("complex128", "v2.f64")])
def test_complex_elements_are_moved_whole(dtype, access):
    prolog = compile_prolog(lambda i, o, u, r: i[o] * 2, dtype, dtype, compute_capability="90")
    epilog = compile_epilog(store, dtype, "float32", compute_capability="90")
    text = link(dtype, "90", prolog, epilog, kind="ptx").decode()
    assert f"ld.global.{access}" in text
    assert f"st.global.{access}" in text


_IN_ITS_OWN_PROCESS = """
import sys
from nvmath._core.jit import device
from nvmath.fft import compile_epilog, compile_prolog

def helper(x):
    return x * FACTOR

def prolog(data_in, offset, user_info, reserved):
    return helper(data_in[offset])

def epilog(data_out, offset, element, user_info, reserved):
    data_out[offset] = helper(element)

device.current_compute_capability = lambda: None
FACTOR = float(sys.argv[2])
compile_ = compile_prolog if sys.argv[1] == "prolog" else compile_epilog
sys.stdout.buffer.write(compile_(globals()[sys.argv[1]], "float64", "float64", compute_capability="90"))
"""


def test_helpers_of_two_processes_keep_apart():
    """Numba gives both helpers one name, and the linker would keep one of them."""
    prolog, epilog = (
        subprocess.run([sys.executable, "-c", _IN_ITS_OWN_PROCESS, *arguments], check=True, capture_output=True).stdout
        for arguments in (("prolog", "1.5"), ("epilog", "1.75"))
    )
    text = link("float64", "90", prolog, epilog, kind="ptx").decode().lower()
    for value in (1.5, 1.75):
        assert "0d" + struct.pack(">d", value).hex() in text
    assert list(functions(link("float64", "90", prolog, epilog))) == ["transform"]


@pytest.mark.parametrize("dtype", ["complex64", "float64"])
def test_helpers_and_records_compile(dtype):
    prolog = compile_prolog(load_with_helper, dtype, dtype, compute_capability="90")
    epilog = compile_epilog(store, dtype, dtype, compute_capability="90")
    assert list(functions(link(dtype, "90", prolog, epilog))) == ["transform"]
    for info in (RECORD, __import__("numba").from_dtype(RECORD)):
        prolog = compile_prolog(load_with_record, dtype, info, compute_capability="90")
        assert list(functions(link(dtype, "90", prolog, epilog))) == ["transform"]


def test_functions_compiled_by_numba_are_taken():
    import numba
    from numba import cuda

    helper = numba.njit(helped)
    on_gpu = cuda.jit(device=True)(helped)

    @cuda.jit(device=True)
    def prolog(data_in, offset, user_info, reserved):
        return helper(data_in[offset]) + on_gpu(data_in[offset])

    made = compile_prolog(prolog, "complex64", "complex64", compute_capability="90")
    epilog = compile_epilog(store, "complex64", "complex64", compute_capability="90")
    assert list(functions(link("complex64", "90", made, epilog))) == ["transform"]
    assert made.function is prolog.py_func


def test_a_name_replaces_the_symbol():
    made = compile_prolog(load, "float32", "float32", name="my_load", compute_capability="90")
    source = 'extern "C" __device__ float my_load(float *, unsigned long long, float *, float *);'
    source += ' extern "C" __global__ void k(float *x) { x[0] = my_load(x, 1, x, 0); }'
    code = _nvrtc.compile(source, options=["--gpu-architecture=compute_90", "-rdc=true"], kind="ltoir")
    elf = _nvjitlink.link([("ltoir", code, "k"), ("ltoir", made, "made")], ["-arch=sm_90", "-lto"])
    assert list(functions(elf)) == ["k"]


def test_a_plain_function_is_compiled_for_the_device_that_asks():
    callback = normalise({"function": load, "user_info_dtype": "float32"}, "prolog", "complex64")
    assert callback.ltoir("90")[:4] == MAGIC
    assert callback.ltoir("90") is callback.ltoir("90")  # from memory
    assert callback.ltoir("80") != callback.ltoir("90")
    assert callback.key_pair() == (callback.key, 0)


def test_what_was_compiled_for_the_cpu_only_is_compiled_when_a_gpu_asks(monkeypatch):
    from nvmath.fft import _callback_compile

    monkeypatch.setattr(_callback_compile, "current_compute_capability", lambda: None)
    made = compile_epilog(store, "float32", "float32")
    assert (len(made), made.compute_capability) == (0, None)
    callback = normalise(made, "epilog", "float32")
    assert callback.ltoir("90")[:4] == MAGIC
    monkeypatch.setattr(_callback_compile, "current_compute_capability", lambda: "90")
    made = compile_epilog(store, "float32", "float32")
    assert (made[:4], made.compute_capability) == (MAGIC, "90")
    assert normalise(made, "epilog", "float32").ltoir("80") == made  # what the user compiled is taken


def test_unsupported_capabilities_are_refused():
    with pytest.raises(ValueError, match=r"cannot compile for compute capability 3\.5"):
        compile_prolog(load, "float32", "float32", compute_capability="35")


def wrong_attribute(data_in, offset, user_info, reserved):
    x = data_in[offset]
    return x.nothing


def complex_for_real(data_in, offset, user_info, reserved):
    return data_in[offset] * 1j


def store_complex_in_real(data_out, offset, element, user_info, reserved):
    data_out[offset] = element * 1j


def raises(data_in, offset, user_info, reserved):
    if offset > 10:
        raise IndexError
    return data_in[offset]


def test_exceptions_are_refused_on_a_gpu():
    with pytest.raises(CompileError, match="a callback cannot raise exceptions"):
        compile_prolog(raises, "float32", "float32", compute_capability="90")


@pytest.mark.parametrize(
    ("function", "phase", "line"),
    [
        (wrong_attribute, "prolog", "return x.nothing"),
        (complex_for_real, "prolog", "return data_in[offset] * 1j"),
        (store_complex_in_real, "epilog", "data_out[offset] = element * 1j"),
    ],
)
def test_errors_show_the_line(function, phase, line):
    compile_ = compile_prolog if phase == "prolog" else compile_epilog
    with pytest.raises(CompileError) as caught:
        compile_(function, "float32", "float32", compute_capability="90")
    for part in (line, function.__name__, __file__, "cannot be compiled for the GPU"):
        assert part in str(caught.value)


def test_debug_logging_neither_breaks_nor_floods(capfd):
    import logging

    root = logging.getLogger()
    handler, level = logging.StreamHandler(sys.stderr), root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        compile_prolog(load, "float32", "float64", compute_capability="90")
    finally:
        root.setLevel(level)
        root.removeHandler(handler)
    assert "Logging error" not in capfd.readouterr().err


def test_numpy_without_row_stack_works():
    """NumPy 2.5 has removed what numba-cuda 0.30.4 reads when it first compiles, so this needs a fresh process."""
    script = "import numpy\nif hasattr(numpy, 'row_stack'): del numpy.row_stack\n" + _IN_ITS_OWN_PROCESS
    script += "\nassert not hasattr(numpy, 'row_stack')"
    made = subprocess.run([sys.executable, "-c", script, "prolog", "1.5"], check=True, capture_output=True).stdout
    assert made[:4] == MAGIC


def test_without_numba_cuda_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba_cuda", None)
    with pytest.raises(RuntimeError, match=r'numba-cuda.*pip install "numba-cuda>='):
        compile_prolog(load, "float32", "float32", compute_capability="90")


def test_the_disk_serves_another_process_and_mends_itself(monkeypatch, tmp_path):
    monkeypatch.delenv("NVMATH_DISABLE_DISK_CACHE")
    monkeypatch.setenv("NVMATH_CACHE_DIR", str(tmp_path))
    made = compile_prolog(load, "float32", "float32", compute_capability="90")
    (path,) = (tmp_path / "jit").iterdir()
    device._compiled.clear()  # as in another process
    compiled = device._compile
    monkeypatch.setattr(device, "_compile", lambda *_: pytest.fail("compiled again"))
    assert compile_prolog(load, "float32", "float32", compute_capability="90") == made
    device._compiled.clear()
    monkeypatch.setattr(device, "_compile", compiled)
    path.write_bytes(b"damaged")
    assert compile_prolog(load, "float32", "float32", compute_capability="90")[:4] == MAGIC
    assert path.read_bytes() != b"damaged"


def test_the_disk_key_holds_values_that_the_code_reads(monkeypatch, tmp_path):
    monkeypatch.delenv("NVMATH_DISABLE_DISK_CACHE")
    monkeypatch.setenv("NVMATH_CACHE_DIR", str(tmp_path))
    made = compile_prolog(load_with_helper, "float64", "float64", compute_capability="90")
    monkeypatch.setattr(sys.modules[__name__], "FACTOR", 3.5)
    assert compile_prolog(load_with_helper, "float64", "float64", compute_capability="90") != made
    assert len(list((tmp_path / "jit").iterdir())) == 2


def test_what_only_this_process_knows_stays_off_the_disk(monkeypatch, tmp_path):
    from numba.cuda.extending import intrinsic

    monkeypatch.delenv("NVMATH_DISABLE_DISK_CACHE")
    monkeypatch.setenv("NVMATH_CACHE_DIR", str(tmp_path))

    @intrinsic
    def same(typing_context, value):  # code that no digest covers
        return value(value), lambda context, builder, signature, arguments: arguments[0]

    def prolog(data_in, offset, user_info, reserved):
        return same(data_in[offset])

    assert not jit.code_digest(prolog).portable
    assert compile_prolog(prolog, "float32", "float32", compute_capability="90")[:4] == MAGIC
    assert not (tmp_path / "jit").exists()


def _compile_and_report(results: object) -> None:
    os.environ.pop("NVMATH_DISABLE_DISK_CACHE", None)
    made = compile_prolog(load, "complex128", "complex128", compute_capability="90")
    results.put(bytes(made[:4]))


def test_processes_that_start_at_once_with_an_empty_folder(monkeypatch, tmp_path):  # R36
    monkeypatch.setenv("NVMATH_CACHE_DIR", str(tmp_path))
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    processes = [context.Process(target=_compile_and_report, args=(results,)) for _ in range(4)]
    for process in processes:
        process.start()
    assert [results.get(timeout=120) for _ in processes] == [MAGIC] * 4
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert [Path(entry).suffix for entry in os.listdir(tmp_path / "jit")] == [".bin"]
