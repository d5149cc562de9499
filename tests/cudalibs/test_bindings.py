"""The bindings over the real CUDA libraries, without a GPU."""

from __future__ import annotations

import importlib
import importlib.util
import re
from types import ModuleType

import pytest

from nvmath.bindings import FunctionNotFoundError, LibraryNotFoundError, _load, _nvjitlink, _nvrtc, cufft

TARGETS = pytest.importorskip(
    "tools.bindgen.targets", reason="tools is not on the path: run from the repository"
).TARGETS

KERNEL = 'extern "C" __global__ void twice(float *x) { x[threadIdx.x] *= 2; }'
CALLED = 'extern "C" __device__ float twice(float x); extern "C" __global__ void k(float *x) { *x = twice(*x); }'
CALLEE = 'extern "C" __device__ float twice(float x) { return 2 * x; }'


def needs(*names: str) -> None:
    for name in names:
        if _load.find_library(name) is None:
            pytest.skip(f"{_load.LIBRARIES[name].title} is not installed")


def module_of(name: str) -> ModuleType:
    return importlib.import_module(TARGETS[name].module)


@pytest.mark.parametrize("name", TARGETS)
def test_every_row_is_exported(name: str) -> None:
    """Except what only other versions or vendors have."""
    library = module_of(name)._library
    needs(library.library)
    try:
        opened = library.opened()
    except LibraryNotFoundError as error:
        missing_too = next((what for what in ("libcuda.so.1", "undefined symbol: nccl") if what in str(error)), None)
        if missing_too is None:
            raise
        pytest.skip(
            f"{name} needs {'the CUDA driver' if 'cuda' in missing_too else 'a newer NCCL'}, which is not installed"
        )
    if name == "blas" and "openblas" in opened.path.lower():
        pytest.skip("OpenBLAS serves CBLAS here, without the names and extensions of MKL and NVPL")
    missing = {row.c_name for row in library.rows() if opened.address(row.c_name) is None and not row.versions}
    assert {c_name for c_name in missing if not re.search(TARGETS[name].not_exported, c_name)} == set()


def test_every_library_that_is_found_opens_and_states_its_version() -> None:
    found = [row for row in _load.libraries() if _load.find_library(row.name) is not None and row.cuda]
    if not found:
        pytest.skip("no CUDA library is installed")
    for row in found:
        library = _load.open_library(row.name)
        assert library.version.count(".") in (1, 2), library


def test_cufft_version_and_properties() -> None:
    needs("cufft")
    version = cufft.get_version()
    major, minor, patch = (cufft.get_property(kind) for kind in range(3))
    assert version == 1000 * major + 100 * minor + patch
    assert _load.open_library("cufft").version == f"{major}.{minor}.{patch}"


def test_cufft_refuses_bad_handles() -> None:
    needs("cufft")
    with pytest.raises(cufft.cuFFTError) as caught:
        cufft.exec_c2c(12345, 0, 0, cufft.Result.SUCCESS)
    assert str(caught.value).startswith("CUFFT_INVALID_PLAN (1) from cufftExecC2C: ")
    assert caught.value.status == cufft.Result.INVALID_PLAN
    assert caught.value.function == "cufftExecC2C"


def test_a_function_of_another_library_is_named() -> None:
    needs("cufft")
    with pytest.raises(
        FunctionNotFoundError, match=r"cufftXtSetSubformatDefault is not in cuFFT \d+\.\d+\.\d+ \(.*libcufft"
    ):
        cufft.xt_set_subformat_default(0, 0, 0)


def test_nvrtc_compiles() -> None:
    needs("nvrtc")
    assert _nvrtc.version() >= (12, 0)
    assert 90 in _nvrtc.supported_archs()
    assert _nvrtc.compile(KERNEL, "kernel.cu", ["--gpu-architecture=sm_90"])[:4] == b"\x7fELF"
    assert _nvrtc.compile(KERNEL, "kernel.cu", ["--gpu-architecture=sm_90"], kind="ltoir")[:4] == b"\xedCN\x7f"
    ptx = _nvrtc.compile(KERNEL, "kernel.cu", ["--gpu-architecture=compute_90"], kind="ptx")
    assert b".entry twice" in ptx
    assert b"\0" not in ptx
    header = {"twice.h": "#define TWICE(x) (2 * (x))"}
    source = '#include "twice.h"\nextern "C" __device__ int f() { return TWICE(4); }'
    assert _nvrtc.compile(source, options=["--gpu-architecture=sm_90"], kind="ltoir", headers=header)


def test_nvrtc_errors_carry_the_messages() -> None:
    needs("nvrtc")
    with pytest.raises(_nvrtc.NvrtcError) as caught:
        _nvrtc.compile("oops", "broken.cu", ["--gpu-architecture=sm_90"])
    assert caught.value.status == _nvrtc.Result.ERROR_COMPILATION
    assert "broken.cu(1): error" in caught.value.explanation
    assert str(caught.value).startswith("NVRTC_ERROR_COMPILATION (6) from nvrtcCompileProgram: broken.cu(1)")
    assert isinstance(caught.value, RuntimeError)
    with pytest.raises(_nvrtc.NvrtcError, match="NVRTC_ERROR_INVALID_OPTION"):
        _nvrtc.compile(KERNEL, options=["--nonsense"])
    with pytest.raises(ValueError, match="kind must be"):
        _nvrtc.compile(KERNEL, kind="object")


def test_nvjitlink_links_ltoir() -> None:
    needs("nvrtc", "nvjitlink")
    assert _nvjitlink.version() >= (12, 0)
    options = ["--gpu-architecture=sm_90", "--relocatable-device-code=true"]
    inputs = [
        ("ltoir", _nvrtc.compile(code, options=options, kind="ltoir"), name)
        for code, name in ((CALLED, "a"), (CALLEE, "b"))
    ]
    assert _nvjitlink.link(inputs, ["-arch=sm_90", "-lto"])[:4] == b"\x7fELF"
    assert b".entry k" in _nvjitlink.link(inputs, ["-arch=sm_90", "-lto", "-ptx"], kind="ptx")
    ptx = _nvrtc.compile(KERNEL, options=["--gpu-architecture=compute_90"], kind="ptx")
    assert _nvjitlink.link([("ptx", ptx, "kernel")], ["-arch=sm_90"])[:4] == b"\x7fELF"


def test_nvjitlink_errors_carry_the_messages() -> None:
    needs("nvrtc", "nvjitlink")
    lto = _nvrtc.compile(CALLED, options=["--gpu-architecture=sm_90", "-rdc=true"], kind="ltoir")
    with pytest.raises(_nvjitlink.NvJitLinkError) as caught:
        _nvjitlink.link([("ltoir", lto, "caller")], ["-arch=sm_90", "-lto"])
    assert "twice" in caught.value.explanation
    assert str(caught.value).startswith("NVJITLINK_ERROR_")
    with pytest.raises(_nvjitlink.NvJitLinkError, match="NVJITLINK_ERROR_MISSING_ARCH"):
        _nvjitlink.link([("ltoir", lto, "caller")], ["-lto"])
    with pytest.raises(ValueError, match="kind must be"):
        _nvjitlink.link([], [], kind="ltoir")


@pytest.mark.parametrize("name", TARGETS)
def test_rows_agree_with_the_headers(name: str) -> None:
    if importlib.util.find_spec("clang") is None:
        pytest.skip("libclang is not installed")
    check = pytest.importorskip("tools.bindgen.check", reason="tools is not on the path: run from the repository")
    found = list(check.against_headers(name))
    assert [line for line in found if not line.startswith("note:")] == []
    if found:
        pytest.skip(found[0].removeprefix("note: "))
