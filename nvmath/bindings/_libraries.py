"""The table of libraries: one row each, what it is called, which files, what it serves, how to install it."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Candidate:
    """One file (or set of files) that can serve as a library.

    Attributes
    ----------
    flavour : str
        The CUDA major, ``""`` when the file name is the same for several, or the name of a CPU library.
    files : tuple of str
        File names (or patterns) that must all be there.
    parts : tuple of tuple of str
        Further files that are opened too if they are there, beside the first file or where that is looked for; the
        first of each tuple wins.
    version : tuple of str
        Convention (see `_versions`) and symbol.
    title : str
        What people call it, if not as in the row.
    symbols : tuple of str
        How its names differ from those in our rows; ``{stem}`` is the name in the row without the suffix ``_64``, and
        ``{wide}`` the same for names that have the suffix (a library with 64-bit integers only).
    """

    flavour: str
    files: tuple[str, ...]
    parts: tuple[tuple[str, ...], ...] = ()
    version: tuple[str, str] = ("none", "")
    title: str = ""
    symbols: tuple[str, ...] = ()

    def at(self, file: str) -> Candidate:
        """The candidate with its first file replaced, and the others looked for beside it."""
        folder = os.path.dirname(file)
        return replace(self, files=(file, *(os.path.join(folder, name) for name in self.files[1:])))


@dataclass(frozen=True, slots=True)
class LibraryRow:
    """What is known about a library before it is looked for."""

    name: str
    title: str
    serves: str
    install: str
    candidates: tuple[Candidate, ...]
    folders: tuple[str, ...] = ()
    override: str = ""
    pathfinder: str = ""
    cuda: bool = False
    needs: tuple[str, ...] = ()
    loader_first: bool = False  # the system's own choice is right: there may be several, only one fits the kernel


def _file(stem: str, major: str, windows: str) -> str:
    return windows if sys.platform == "win32" else f"lib{stem}.so.{major}"


def _toolkit_row(line: tuple[str, ...]) -> LibraryRow:
    """A library of the CUDA toolkit; where both majors have one file name, the major cannot be told from it."""
    name, title, serves, package, stem, major13, major12, windows13, windows12, folder, convention, symbol = line
    version = (convention, symbol)
    files = (_file(stem, major13, windows13), _file(stem, major12, windows12))
    parts = [((part.format(cuda),),) if part else () for cuda in ("13", "12") for part in (_PARTS.get(name, ""),)]
    candidates: tuple[Candidate, ...] = (
        Candidate("13", files[:1], parts[0], version),
        Candidate("12", files[1:], parts[1], version),
    )
    if files[0] == files[1]:
        candidates = (Candidate("", files[:1], (), version),)
    leaf = "bin" if sys.platform == "win32" else "lib"
    folders = ("nvidia/cu13/" + leaf, f"nvidia/{folder}" if "/" in folder else f"nvidia/{folder}/{leaf}")
    install = f"pip install {package} (CUDA 13) or {package}-cu12 (CUDA 12)"
    needs = _NEEDS.get(name, ())
    return LibraryRow(name, title, serves, install, candidates, folders, pathfinder=stem, cuda=True, needs=needs)


def _mkl() -> tuple[Candidate, ...]:
    names = {
        "win32": ("mkl_rt.3.dll", "mkl_rt.2.dll"),
        "darwin": ("libmkl_rt.2.dylib",),
    }.get(sys.platform, ("libmkl_rt.so.3", "libmkl_rt.so.2"))
    version = ("mkl", "MKL_Get_Version_String")
    return tuple(Candidate("mkl", (name,), version=version, title="MKL") for name in names)


def _fftw() -> Candidate:
    if sys.platform == "win32":
        return Candidate("fftw", ("libfftw3-3.dll", "libfftw3f-3.dll"), version=("fftw", "fftw_version"), title="FFTW")
    suffix = "3.dylib" if sys.platform == "darwin" else "so.3"
    parts = tuple(tuple(f"lib{name}_{kind}.{suffix}" for kind in ("omp", "threads")) for name in ("fftw3", "fftw3f"))
    files = (f"libfftw3.{suffix}", f"libfftw3f.{suffix}")
    return Candidate("fftw", files, parts, ("fftw", "fftw_version"), "FFTW")


def _numpy_openblas(symbols: str = "scipy_{stem}64_") -> Candidate:
    names = {"win32": "libscipy_openblas64_-*.dll", "darwin": "libscipy_openblas64_*.dylib"}
    return Candidate(
        "openblas",
        (names.get(sys.platform, "libscipy_openblas64_-*.so"),),
        version=("openblas", "scipy_openblas_get_config64_"),
        title="OpenBLAS (NumPy's)",
        symbols=(symbols,),
    )


# fmt: off
#: name, title, serves, package, file stem, its majors in CUDA 13 and 12, Windows files, CUDA 12 wheel folder, version
_TOOLKIT = (
    ("nvrtc", "NVRTC", "device kernels compiled at run time", "nvidia-cuda-nvrtc", "nvrtc", "13", "12",
     "nvrtc64_130_0.dll", "nvrtc64_120_0.dll", "cuda_nvrtc", "pair", "nvrtcVersion"),
    ("nvjitlink", "nvJitLink", "linking of device code", "nvidia-nvjitlink", "nvJitLink", "13", "12",
     "nvJitLink_130_0.dll", "nvJitLink_120_0.dll", "nvjitlink", "pair", "nvJitLinkVersion"),
    ("nvvm", "NVVM", "device code from numba", "nvidia-nvvm", "nvvm", "4", "4",
     "nvvm64_40_0.dll", "nvvm64_40_0.dll", "cuda_nvcc/nvvm/lib64", "pair", "nvvmVersion"),
    ("cufft", "cuFFT", "FFT on a GPU", "nvidia-cufft", "cufft", "12", "11",
     "cufft64_12.dll", "cufft64_11.dll", "cufft", "property", "cufftGetProperty"),
    ("cublas", "cuBLAS", "linear algebra on a GPU", "nvidia-cublas", "cublas", "13", "12",
     "cublas64_13.dll", "cublas64_12.dll", "cublas", "property", "cublasGetProperty"),
    ("cublasLt", "cuBLASLt", "matrix products on a GPU", "nvidia-cublas", "cublasLt", "13", "12",
     "cublasLt64_13.dll", "cublasLt64_12.dll", "cublas", "property", "cublasLtGetProperty"),
    ("cusolver", "cuSOLVER", "dense solvers on a GPU", "nvidia-cusolver", "cusolver", "12", "11",
     "cusolver64_12.dll", "cusolver64_11.dll", "cusolver", "property", "cusolverGetProperty"),
    ("cusparse", "cuSPARSE", "sparse products on a GPU", "nvidia-cusparse", "cusparse", "12", "12",
     "cusparse64_12.dll", "cusparse64_12.dll", "cusparse", "property", "cusparseGetProperty"),
    ("curand", "cuRAND", "random numbers", "nvidia-curand", "curand", "10", "10",
     "curand64_10.dll", "curand64_10.dll", "curand", "property", "curandGetProperty"),
)
# fmt: on

# fmt: off
#: name, title, serves, package, file stem, its majors (newest first), folder of the wheel, version
_WHEELS = (
    ("cusparseLt", "cuSPARSELt", "products of matrices of structured sparsity", "nvidia-cusparselt", "cusparseLt", "0",
     "", ("none", "")),
    ("cublasMp", "cuBLASMp", "distributed dense matrices", "nvidia-cublasmp", "cublasmp", "0", "cublasmp", ("none", "")),
    ("cusolverMp", "cuSOLVERMp", "distributed dense solvers", "nvidia-cusolvermp", "cusolverMp", "0", "", ("none", "")),
    ("cufftMp", "cuFFTMp", "distributed FFT", "nvidia-cufftmp", "cufftMp", "12 11", "cufftmp",
     ("property", "cufftGetProperty")),
)
# fmt: on


def _wheel_row(line: tuple[str, str, str, str, str, str, str, tuple[str, str]]) -> LibraryRow:
    """A library with a package of its own per CUDA major; both have one file name, except cuFFTMp's."""
    name, title, serves, package, stem, majors, folder, version = line
    flavours = ("13", "12") if " " in majors else ("",)
    candidates = tuple(
        Candidate(flavour, (f"lib{stem}.so.{major}",), version=version)
        for flavour, major in zip(flavours, majors.split(), strict=True)
    )
    folders = tuple(f"nvidia/{folder}/cu{cuda}/lib" if folder else f"nvidia/cu{cuda}/lib" for cuda in ("13", "12"))
    folders += ("nvidia/cusparselt/lib",) if name == "cusparseLt" else ()
    install = f"pip install {package}-cu13 or {package}-cu12"
    needs = _NEEDS.get(name, ())
    return LibraryRow(
        name, title, serves, install, candidates, folders, pathfinder=stem, cuda=bool(" " in majors), needs=needs
    )


#: What NVRTC opens by name while it compiles: without a run path it finds only what is in the process already.
_PARTS = {"nvrtc": "libnvrtc-builtins.so.{}.*"}
#: Libraries that must be in the process first where one has no run path to them.
_NEEDS = {
    "cublas": ("cublasLt",),
    "cusparse": ("nvjitlink",),
    "cusolver": ("nvjitlink", "cublasLt", "cublas", "cusparse"),
    "cusparseLt": ("nvjitlink", "nvrtc", "cublasLt"),
    "cublasMp": ("nccl", "nvshmem", "cublasLt", "cublas"),
    "cusolverMp": ("nccl", "cublasLt", "cublas", "cusolver", "cublasMp"),
    "cufftMp": ("nvshmem",),
}

_CPU = "pip install mkl (x86-64) or nvpl-fft (Arm)"

_ROWS = (
    LibraryRow(
        "cuda",
        "the CUDA driver",
        "every operation on a GPU",
        "your system's packages (the NVIDIA driver)",
        (
            Candidate(
                "",
                ("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1",),
                version=("cuda", "cuDriverGetVersion"),
            ),
        ),
        loader_first=True,
    ),
    *map(_toolkit_row, _TOOLKIT),
    LibraryRow(
        "cudss",
        "cuDSS",
        "sparse direct solvers on a GPU",
        "pip install nvidia-cudss-cu13 or nvidia-cudss-cu12",
        tuple(
            Candidate("", (_file("cudss", n, f"cudss64_{n}.dll"),), version=("property", "cudssGetProperty"))
            for n in "10"
        ),
        ("nvidia/cu13/lib", "nvidia/cu12/lib", "nvidia/cu13/bin", "nvidia/cu12/bin"),
        pathfinder="cudss",
    ),
    LibraryRow(
        "cutensor",
        "cuTENSOR",
        "tensor contractions on a GPU",
        "pip install cutensor-cu13 or cutensor-cu12",
        (Candidate("", (_file("cutensor", "2", "cutensor.dll"),), version=("thousands", "cutensorGetVersion")),),
        ("cutensor/lib", "cutensor/bin"),
        pathfinder="cutensor",
    ),
    LibraryRow(
        "mathdx",
        "libmathdx",
        "device functions (nvmath.device)",
        "pip install nvidia-libmathdx-cu13 or nvidia-libmathdx-cu12",
        (Candidate("", (_file("mathdx", "0", "mathdx64_0.dll"),), version=("hundreds", "mathdxGetVersion")),),
        ("nvidia/cu13/lib", "nvidia/cu12/lib", "nvidia/cu13/bin", "nvidia/cu12/bin"),
        pathfinder="mathdx",
        needs=("nvrtc",),
    ),
    *map(_wheel_row, _WHEELS),
    LibraryRow(
        "nccl",
        "NCCL",
        "distributed operations",
        "pip install nvidia-nccl-cu13 or nvidia-nccl-cu12",
        (Candidate("", ("libnccl.so.2",), version=("nccl", "ncclGetVersion")),),
        ("nvidia/nccl/lib",),
        pathfinder="nccl",
    ),
    LibraryRow(
        "nvshmem",
        "NVSHMEM",
        "distributed operations",
        "pip install nvidia-nvshmem-cu13 or nvidia-nvshmem-cu12",
        (Candidate("", ("libnvshmem_host.so.3",), version=("pair", "nvshmem_info_get_version")),),
        ("nvidia/nvshmem/lib",),
        pathfinder="nvshmem_host",
    ),
    LibraryRow(
        "fftw",
        "an FFT library with the FFTW3 interface",
        "FFT on the CPU",
        _CPU,
        (
            Candidate("nvpl", ("libnvpl_fftw.so.0",), version=("nvpl", "nvpl_fft_get_version"), title="NVPL FFT"),
            *_mkl(),
            _fftw(),
        ),
        ("nvpl/lib",),
        "NVMATH_FFT_CPU_LIBRARY",
    ),
    LibraryRow(
        "blas",
        "a BLAS library",
        "linear algebra on the CPU",
        "pip install mkl (x86-64) or nvpl-blas (Arm)",
        (
            Candidate(
                "nvpl",
                ("libnvpl_blas_lp64_gomp.so.0",),
                version=("nvpl", "nvpl_blas_get_version"),
                title="NVPL BLAS",
            ),
            *_mkl(),
            Candidate("openblas", ("libopenblas.so.0",), version=("openblas", "openblas_get_config"), title="OpenBLAS"),
            _numpy_openblas("scipy_{wide}64_"),  # the functions of 64 bits alone
        ),
        ("nvpl/lib", "numpy.libs", "numpy/.dylibs"),
        "NVMATH_BLAS_CPU_LIBRARY",
    ),
    LibraryRow(
        "lapack",
        "a LAPACK library",
        "dense solvers on the CPU",
        "pip install numpy (its wheels contain one), mkl (x86-64) or nvpl-lapack (Arm)",
        (
            _numpy_openblas(),
            *_mkl(),
            Candidate(
                "nvpl",
                ("libnvpl_lapack_ilp64_gomp.so.0",),
                version=("nvpl", "nvpl_lapack_get_version"),
                title="NVPL LAPACK",
                symbols=("{stem}",),
            ),
            Candidate(
                "openblas",
                ("libopenblas64_.so.0",),
                version=("openblas", "openblas_get_config64_"),
                title="OpenBLAS",
                symbols=("{stem}64_",),
            ),
        ),
        ("numpy.libs", "numpy/.dylibs", "nvpl/lib"),
        "NVMATH_LAPACK_CPU_LIBRARY",
    ),
    LibraryRow(
        "mkl",
        "MKL",
        "sparse direct solvers on the CPU (PARDISO)",
        "pip install mkl (x86-64)",
        _mkl(),
    ),
    LibraryRow(
        "numpy_openblas",
        "the OpenBLAS of NumPy",
        "linear algebra on the CPU (symbols scipy_..., suffix 64_)",
        "pip install numpy (its wheels contain it)",
        (_numpy_openblas(),),
        ("numpy.libs", "numpy/.dylibs"),
    ),
)

#: Name -> row.
LIBRARIES = {row.name: row for row in _ROWS}
