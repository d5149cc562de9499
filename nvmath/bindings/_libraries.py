"""The table of libraries: what each is called, which files it is, what it serves, how to install it.

The grammar, by example::

    cufft | cuFFT | FFT on a GPU | pip install ...       # name | title | what it serves | how to install it
        folders nvidia/cu13/lib nvidia/cufft/lib         # of wheels (``bin`` on Windows)
        version property cufftGetProperty                # of the files that follow; so are ``title`` and ``symbols``
        file 13 libcufft.so.12 cufft64_12.dll            # flavour (``-``: none); Linux, Windows, macOS (as on Linux if absent)
        like mkl                                         # the files of another library, perhaps with other symbols

``a+b`` are several files that must all be there, ``+?a|b`` one more if one of these is. Other words are fields of `LibraryRow`.
"""

from __future__ import annotations

import os
import sys
from typing import Any, NamedTuple


class Candidate(NamedTuple):
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
        return self._replace(files=(file, *(os.path.join(folder, name) for name in self.files[1:])))


class LibraryRow(NamedTuple):
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


_TABLE = """
cuda | the CUDA driver | every operation on a GPU | your system's packages (the NVIDIA driver)
    loader_first
    version cuda cuDriverGetVersion
    file - libcuda.so.1 nvcuda.dll
nvrtc | NVRTC | device kernels compiled at run time | pip install nvidia-cuda-nvrtc (CUDA 13) or nvidia-cuda-nvrtc-cu12 (CUDA 12)
    cuda
    pathfinder nvrtc
    folders nvidia/cu13/lib nvidia/cuda_nvrtc/lib
    version pair nvrtcVersion
    file 13 libnvrtc.so.13+?libnvrtc-builtins.so.13.* nvrtc64_130_0.dll
    file 12 libnvrtc.so.12+?libnvrtc-builtins.so.12.* nvrtc64_120_0.dll
nvjitlink | nvJitLink | linking of device code | pip install nvidia-nvjitlink (CUDA 13) or nvidia-nvjitlink-cu12 (CUDA 12)
    cuda
    pathfinder nvJitLink
    folders nvidia/cu13/lib nvidia/nvjitlink/lib
    version pair nvJitLinkVersion
    file 13 libnvJitLink.so.13 nvJitLink_130_0.dll
    file 12 libnvJitLink.so.12 nvJitLink_120_0.dll
nvvm | NVVM | device code from numba | pip install nvidia-nvvm (CUDA 13) or nvidia-cuda-nvcc-cu12 (CUDA 12)
    cuda
    pathfinder nvvm
    folders nvidia/cu13/lib nvidia/cuda_nvcc/nvvm/lib64
    version pair nvvmVersion
    file - libnvvm.so.4 nvvm64_40_0.dll
cufft | cuFFT | FFT on a GPU | pip install nvidia-cufft (CUDA 13) or nvidia-cufft-cu12 (CUDA 12)
    cuda
    pathfinder cufft
    folders nvidia/cu13/lib nvidia/cufft/lib
    version property cufftGetProperty
    file 13 libcufft.so.12 cufft64_12.dll
    file 12 libcufft.so.11 cufft64_11.dll
cublas | cuBLAS | linear algebra on a GPU | pip install nvidia-cublas (CUDA 13) or nvidia-cublas-cu12 (CUDA 12)
    cuda
    pathfinder cublas
    needs cublasLt
    folders nvidia/cu13/lib nvidia/cublas/lib
    version property cublasGetProperty
    file 13 libcublas.so.13 cublas64_13.dll
    file 12 libcublas.so.12 cublas64_12.dll
cublasLt | cuBLASLt | matrix products on a GPU | pip install nvidia-cublas (CUDA 13) or nvidia-cublas-cu12 (CUDA 12)
    cuda
    pathfinder cublasLt
    folders nvidia/cu13/lib nvidia/cublas/lib
    version property cublasLtGetProperty
    file 13 libcublasLt.so.13 cublasLt64_13.dll
    file 12 libcublasLt.so.12 cublasLt64_12.dll
cusolver | cuSOLVER | dense solvers on a GPU | pip install nvidia-cusolver (CUDA 13) or nvidia-cusolver-cu12 (CUDA 12)
    cuda
    pathfinder cusolver
    needs nvjitlink cublasLt cublas cusparse
    folders nvidia/cu13/lib nvidia/cusolver/lib
    version property cusolverGetProperty
    file 13 libcusolver.so.12 cusolver64_12.dll
    file 12 libcusolver.so.11 cusolver64_11.dll
cusparse | cuSPARSE | sparse products on a GPU | pip install nvidia-cusparse (CUDA 13) or nvidia-cusparse-cu12 (CUDA 12)
    cuda
    pathfinder cusparse
    needs nvjitlink
    folders nvidia/cu13/lib nvidia/cusparse/lib
    version property cusparseGetProperty
    file - libcusparse.so.12 cusparse64_12.dll
curand | cuRAND | random numbers | pip install nvidia-curand (CUDA 13) or nvidia-curand-cu12 (CUDA 12)
    cuda
    pathfinder curand
    folders nvidia/cu13/lib nvidia/curand/lib
    version property curandGetProperty
    file - libcurand.so.10 curand64_10.dll
cudss | cuDSS | sparse direct solvers on a GPU | pip install nvidia-cudss-cu13 or nvidia-cudss-cu12
    pathfinder cudss
    folders nvidia/cu13/lib nvidia/cu12/lib
    version property cudssGetProperty
    file - libcudss.so.1 cudss64_1.dll
    file - libcudss.so.0 cudss64_0.dll
cutensor | cuTENSOR | tensor contractions on a GPU | pip install cutensor-cu13 or cutensor-cu12
    pathfinder cutensor
    needs cublasLt
    folders cutensor/lib
    version thousands cutensorGetVersion
    file - libcutensor.so.2 cutensor.dll
mathdx | libmathdx | device functions (nvmath.device) | pip install nvidia-libmathdx-cu13 or nvidia-libmathdx-cu12
    pathfinder mathdx
    needs nvrtc
    folders nvidia/cu13/lib nvidia/cu12/lib
    version hundreds mathdxGetVersion
    file - libmathdx.so.0 mathdx64_0.dll
cusparseLt | cuSPARSELt | products of matrices of structured sparsity | pip install nvidia-cusparselt-cu13 or nvidia-cusparselt-cu12
    pathfinder cusparseLt
    needs nvjitlink nvrtc cublasLt
    folders nvidia/cu13/lib nvidia/cu12/lib nvidia/cusparselt/lib
    file - libcusparseLt.so.0
cublasMp | cuBLASMp | distributed dense matrices | pip install nvidia-cublasmp-cu13 or nvidia-cublasmp-cu12
    pathfinder cublasmp
    needs nccl nvshmem cublasLt cublas
    folders nvidia/cublasmp/cu13/lib nvidia/cublasmp/cu12/lib
    file - libcublasmp.so.0
cusolverMp | cuSOLVERMp | distributed dense solvers | pip install nvidia-cusolvermp-cu13 or nvidia-cusolvermp-cu12
    pathfinder cusolverMp
    needs nccl cublasLt cublas cusolver cublasMp
    folders nvidia/cu13/lib nvidia/cu12/lib
    file - libcusolverMp.so.0
cufftMp | cuFFTMp | distributed FFT | pip install nvidia-cufftmp-cu13 or nvidia-cufftmp-cu12
    cuda
    pathfinder cufftMp
    needs nvshmem
    folders nvidia/cufftmp/cu13/lib nvidia/cufftmp/cu12/lib
    version property cufftGetProperty
    file 13 libcufftMp.so.12
    file 12 libcufftMp.so.11
nccl | NCCL | distributed operations | pip install nvidia-nccl-cu13 or nvidia-nccl-cu12
    pathfinder nccl
    folders nvidia/nccl/lib
    version hundreds ncclGetVersion
    file - libnccl.so.2
nvshmem | NVSHMEM | distributed operations | pip install nvidia-nvshmem-cu13 or nvidia-nvshmem-cu12
    pathfinder nvshmem_host
    folders nvidia/nvshmem/lib
    version pair nvshmem_info_get_version
    file - libnvshmem_host.so.3
mkl | MKL | sparse direct solvers on the CPU (PARDISO) | pip install mkl (x86-64)
    version mkl MKL_Get_Version_String
    title MKL
    file mkl libmkl_rt.so.3 mkl_rt.3.dll -
    file mkl libmkl_rt.so.2 mkl_rt.2.dll libmkl_rt.2.dylib
numpy_openblas | the OpenBLAS of NumPy | linear algebra on the CPU (symbols scipy_...64_) | pip install numpy (its wheels contain it)
    folders numpy.libs numpy/.dylibs
    version openblas scipy_openblas_get_config64_
    title OpenBLAS (NumPy's)
    symbols scipy_{stem}64_
    file openblas libscipy_openblas64_-*.so libscipy_openblas64_-*.dll libscipy_openblas64_*.dylib
fftw | an FFT library with the FFTW3 interface | FFT on the CPU | pip install mkl (x86-64) or nvpl-fft (Arm)
    override NVMATH_FFT_CPU_LIBRARY
    folders nvpl/lib
    version nvpl nvpl_fft_get_version
    title NVPL FFT
    file nvpl libnvpl_fftw.so.0
    like mkl
    version fftw fftw_version
    title FFTW
    file fftw libfftw3.so.3+libfftw3f.so.3+?libfftw3_omp.so.3|libfftw3_threads.so.3+?libfftw3f_omp.so.3|libfftw3f_threads.so.3
        libfftw3-3.dll+libfftw3f-3.dll
        libfftw3.3.dylib+libfftw3f.3.dylib+?libfftw3_omp.3.dylib|libfftw3_threads.3.dylib+?libfftw3f_omp.3.dylib|libfftw3f_threads.3.dylib
blas | a BLAS library | linear algebra on the CPU | pip install mkl (x86-64) or nvpl-blas (Arm)
    override NVMATH_BLAS_CPU_LIBRARY
    folders nvpl/lib numpy.libs numpy/.dylibs
    version nvpl nvpl_blas_get_version
    title NVPL BLAS
    file nvpl libnvpl_blas_lp64_gomp.so.0
    like mkl
    version openblas openblas_get_config
    title OpenBLAS
    file openblas libopenblas.so.0
    like numpy_openblas scipy_{wide}64_      # the functions of 64 bits alone
lapack | a LAPACK library | dense solvers on the CPU | pip install numpy (its wheels contain one), mkl (x86-64) or nvpl-lapack (Arm)
    override NVMATH_LAPACK_CPU_LIBRARY
    folders numpy.libs numpy/.dylibs nvpl/lib
    like numpy_openblas
    like mkl
    version nvpl nvpl_lapack_get_version
    title NVPL LAPACK
    symbols {stem}
    file nvpl libnvpl_lapack_ilp64_gomp.so.0
    version openblas openblas_get_config64_
    title OpenBLAS
    symbols {stem}64_
    file openblas libopenblas64_.so.0
"""


def _read(text: str) -> dict[str, LibraryRow]:
    found: dict[str, LibraryRow] = {}
    blocks: list[list[str]] = []
    for line in text.splitlines():
        line = line.partition(" #")[0].rstrip()
        if line.startswith(" " * 8):
            blocks[-1][-1] += line
        elif line.startswith(" "):
            blocks[-1].append(line)
        elif line:
            blocks.append([line])
    for head, *lines in blocks:
        name, title, serves, install = (part.strip() for part in head.split("|"))
        found[name] = LibraryRow(name, title, serves, install, **_fields(lines, found))
    return found


def _fields(lines: list[str], before: dict[str, LibraryRow]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    candidates: list[Candidate] = []
    about: dict[str, Any] = {}
    for word, *values in map(str.split, lines):
        if word in ("version", "symbols"):
            about[word] = tuple(values)
        elif word == "title":
            about[word] = " ".join(values)
        elif word == "file":
            candidates += _candidates(values[0].strip("-"), values[1:], about)
        elif word == "like":
            same = before[values[0]].candidates
            candidates += [candidate._replace(symbols=tuple(values[1:]) or candidate.symbols) for candidate in same]
        elif word in ("folders", "needs"):
            fields[word] = tuple(map(_folder, values)) if word == "folders" else tuple(values)
        else:
            fields[word] = values[0] if values else True
    return {"candidates": tuple(candidates), **fields}


def _folder(name: str) -> str:
    return name.removesuffix("lib") + "bin" if sys.platform == "win32" and name.endswith("/lib") else name


def _candidates(flavour: str, names: list[str], about: dict[str, Any]) -> list[Candidate]:
    """The candidate of this platform, if there is one."""
    at = {"win32": 1, "darwin": 2}.get(sys.platform, 0)
    chosen = names[at] if at < len(names) else names[0]
    files = [name for name in chosen.split("+") if name.strip("-")]
    parts = tuple(tuple(name[1:].split("|")) for name in files if name.startswith("?"))
    files = [name for name in files if not name.startswith("?")]
    return [Candidate(flavour, tuple(files), parts, **about)] if files else []


#: Name -> row.
LIBRARIES = _read(_TABLE)
