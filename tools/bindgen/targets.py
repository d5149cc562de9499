"""What is read for each library, and the differences that are known and right.

The grammar of the table, by example::

    cufft cufft                          # name, module
        headers cufft.h cufftXt.h        # a field of `Target`, and its value: one word or several
        enum Result cufftResult          # an entry of `enums`
        owned                            # a field that is true

A line that is indented further continues the one above.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class Target:
    """A library's headers and rows; patterns are regular expressions that are searched for."""

    module: str  # the binding module
    headers: tuple[str, ...]  # those that an edition lacks are left out; the first must be there
    prefix: str  # what is dropped from its C names

    # Where and how headers are read.
    package: str = ""  # its distribution, as a pattern of folder names: there the version is read
    parts: str = "2"  # how many numbers of its version tell its headers apart
    prefixes: tuple[str, ...] = ()  # what its C functions start with, if not with `prefix`
    first: str = ""  # part of the path of the include folder that comes first
    language: str = "c"  # or "cpp" for headers that C compilers refuse
    inline: bool = False  # functions that the header defines are in the library as well
    defines: tuple[str, ...] = ("",)  # macro sets (``-``: none); the functions of all are joined
    header: str = ""  # what the header is commonly called, where ours is one vendor's

    # Names and results.
    like: str = ""  # another target, whose rows for the same C functions are taken
    also: str = ""  # pattern of what is dropped from C names before the prefix
    wide: bool = False  # its functions end in ``_64`` and have no others
    statuses: str = r"status|result"  # pattern of the C types of results that are statuses
    values: str = ""  # of the C functions whose result is a value although its type is that of a status
    outs: str = ""  # of out-parameters of functions that nothing is recorded of

    # Memory: patterns of ``function.parameter``.
    host: str = ""  # pointers to memory on the host (or, if that can be, to a device): they take buffers
    sequences: str = ""  # which of those that C reads take sequences too
    records: str = ""  # pointers to structures
    owned: bool = False  # its structures lie in the caller's memory: allocated here

    # Enumerations.
    enums: dict[str, str] = field(default_factory=dict)  # ours -> that of C, where the tool does not find it
    whole_enum_names: bool = False  # those that are not recorded keep the prefix
    only_recorded_enums: bool = False  # those that are not recorded are left out

    # What is left out, and known differences.
    skip: str = ""  # C functions
    skip_enums: str = r"^$"  # enumerations
    not_in_headers: str = r"^$"  # C functions in our rows that the headers do not declare
    not_exported: str = r"^$"  # C functions that no library exports, or only another one with the same interface


_TABLE = r"""
cublas cublas
    headers cublas_v2.h
    prefix cublas
    package nvidia_cublas
    host \.(alpha|beta|result|param|d1|d2|x1|y1|group_size|(transa|transb|m|n|k|alpha|beta|lda|ldb|ldc)_array)$|
        rotg\w*\.[abcs]$|rot(_v2|Ex)(_64)?\.[cs]$|SetVector(_64)?\.x$|GetVector(_64)?\.y$|SetMatrix(_64)?\.a$|
        GetMatrix(_64)?\.b$|(getrs|gels|geqrf)Batched\.info$
    sequences _array$|group_size$
    skip ^cublas(Xt|Lt)|Xerbla|cublasMigrateComputeType
    skip_enums cublasDataType|cublasLt|cudaDataType
cublasLt cublasLt
    headers cublasLt.h
    prefix cublasLt
    package nvidia_cublas
    host \.(alpha|beta|buf|size_written)$
    records \.(algo|result|heuristic_results_array|return_algo_count)$
    skip _internal$
    not_exported DisableCpuInstructionsSetMask
cufft cufft
    headers cufft.h cufftXt.h
    prefix cufft
    package nvidia_cufft
    enum Result cufftResult
    enum LibFormat libFormat
    # The first is CUDA 12's entry point for LTO callbacks, the second is in cuFFTMp only.
    not_exported __cufftXtSetJITCallback_12_7|cufftXtSetSubformatDefault
curand curand
    headers curand.h
    prefix curand
    package nvidia_curand*
    host \.output_ptr$
    enum Method curandMethod_t
    not_exported GenerateBinomial
cusolver cusolver
    headers cusolver_common.h
    prefix cusolver
    package nvidia_cusolver
cusolverDn cusolverDn
    headers cusolverDn.h
    prefix cusolverDn
    package nvidia_cusolver
    host \.(h_\w+|host_\w+|buffer_on_host|vl|vu)$
    not_exported Logger
cusolverSp cusolverSp
    headers cusolverSp.h cusolverSp_LOWLEVEL_PREVIEW.h
    prefix cusolverSp
    package nvidia_cusolver
    outs ^(handle|info|stream)$|Bytes$
    host Host\.|\.singularity$
cusparse cusparse
    headers cusparse.h
    prefix cusparse
    package nvidia_cusparse
    defines CUSPARSE_ENABLE_EXPERIMENTAL_API
    host \.(alpha|beta|boost_val|tol|threshold|nnz_total_dev_host_ptr|nnz_total_host_ptr|result|fraction_to_color|
        ncolors|h_\w+|data|code|\w+_ltoir_buffer|\w+_nvvm_buffer)$
    enum Status cusparseStatus_t
    not_exported (bsrs[vm]2|(csr|bsr)(ilu|ic)02|gebsr2gebsc|csr2gebsr|gebsr2gebsr)_bufferSizeExt$|Xgebsr2csr$
cusparseLt cusparseLt
    headers cusparseLt.h
    prefix cusparseLt
    package nvidia_cusparselt*
    language cpp
    host \.(alpha|beta|data)$
    owned
cublasMp cublasMp
    headers cublasmp.h
    prefix cublasMp
    package nvidia_cublasmp*
    host \.(alpha|beta|buf|size_written|workspace_host|h_work|host_work)$
    # Those for CUDA 12 lack them.
    not_in_headers ^cublasMp[GS]et(FixedPointEmulationMantissaControl|EmulationSpecialValuesSupport)$
cufftMp cufftMp
    headers cufftMp.h cufft.h cufftXt.h
    prefix cufft
    package nvidia_cufftmp*
    first cufftmp
    language cpp
    like cufft
    also cufftMp(?=Attach|Create|Destroy|Exec|Get)
    host \.(lower|upper|strides)_\w+$
    sequences \.(lower|upper|strides)_\w+$
    enum Result cufftResult
    enum LibFormat libFormat
    not_exported cufftMpMakePlan
cusolverMp cusolverMp
    headers cusolverMp.h
    prefix cusolverMp
    package nvidia_cusolvermp*
    host \.(alpha|beta|buf|size_in_bytes_written|h_\w+)$
    # Those for CUDA 12 lack them.
    not_in_headers ^cusolverMp[GS]et(MathMode|EmulationStrategy)$
    not_exported MathMode|EmulationStrategy
mathdx mathdx
    headers libmathdx.h libcommondx.h libcublasdx.h libcufftdx.h libcuranddx.h libcusolverdx.h libnvcompdx.h
    prefix mathdx
    package nvidia_libmathdx*
    parts 3
    prefixes mathdx commondx cublasdx cufftdx curanddx cusolverdx nvcompdx
    host \.
    sequences \.
    whole_enum_names
nccl nccl
    headers nccl.h
    prefix nccl
    package nvidia_nccl*
    outs ^(count|device|rank|version|newcomm|asyncError|handle|value|win|outUserPtr|op)$
    host \.devlist$
    sequences \.devlist$
    records InitAll\.comm$|\.unique_id$|ParamGet\w*\.(out|len|\w+_len|table)$|\.sim_info$
nvshmem nvshmem
    headers nvshmem_host.h
    prefix nvshmem_
    package nvidia_nvshmem*
    prefixes nvshmem
    language cpp
    also nvshmemx?_
    statuses ^int$
    values _(my_pe|n_pes|init_status|translate_pe|region_is_active|signal_fetch)$
    only_recorded_enums
    # What kernels call, what exists per type or width, and what is private.
    skip ^(?!nvshmem_int_p$).*(_(float|double|s?char|u?(short|int|long|longlong|char)|u?int\d+|size|ptrdiff|half|
        bfloat16)_|(put|get)\d|iput|iget|_(warp|warpgroup|block)$|_qp_|maxloc|signal_counted|^nvshmemi|vendor|region)
    not_exported nvshmemx_signal_op$
nvrtc _nvrtc
    headers nvrtc.h
    prefix nvrtc
    package nvidia_cuda_nvrtc*
    enum Result nvrtcResult
nvjitlink _nvjitlink
    headers nvJitLink.h
    prefix nvJitLink
    package nvidia_nvjitlink*
    inline
    enum Result nvJitLinkResult
    enum InputType nvJitLinkInputType
cuda _cuda
    headers cuda.h
    prefix cu
    package nvidia_cuda_runtime*
    defines - __CUDA_API_VERSION_INTERNAL
    enum Result CUresult
    enum DeviceAttribute CUdevice_attribute
    enum FunctionAttribute CUfunction_attribute
    enum PointerAttribute CUpointer_attribute
    enum MemoryType CUmemorytype
    enum MemPoolAttribute CUmemPool_attribute
    enum StreamFlags CUstream_flags
    enum EventFlags CUevent_flags
    enum StreamCaptureStatus CUstreamCaptureStatus
    enum StreamCaptureMode CUstreamCaptureMode
cutensor cutensor
    headers cutensor.h
    prefix cutensor
    package cutensor*
    host \.(alpha|beta|gamma|buf)$
cudss cudss
    headers cudss.h
    prefix cudss
    package nvidia_cudss*
    host \.value$
    records Get\w*\.(?!(handle|config|data|matrix|param|value)$)
fftw nvpl.fft
    headers fftw3.h
    prefix fftw
    package mkl_include
    not_in_headers ^nvpl_fft_get_version$|planner_nthreads$
    # NVPL alone has its version, MKL has no planner_nthreads.
    not_exported nvpl_fft_get_version|planner_nthreads
blas nvpl.blas
    headers mkl_cblas.h
    prefix cblas_
    package mkl_include
    header cblas.h
    statuses ^$
    host \.
    sequences _array$|_size$
    only_recorded_enums
    skip pack|compute|jit|_oop|gemm_(bf|f16|[es]\d|\w*u8)|gthr|gemm3m|hgemm|(gemv|dgmm|trsm|syrk|axpy|copy)_batch|
        xerbla|bf16|f16|_[sdcz](dot|dotu|dotc|axpy|gthr|gthrz|sct|rot)[irz](_|$)|_sub_64_|_dot[uc]i_
    # Each library's own.
    not_exported ^(nvpl_blas|MKL|openblas)_
lapack nvpl.lapack
    headers mkl_lapacke.h
    prefix LAPACKE_
    package mkl_include
    header lapacke.h
    wide
    statuses ^$
    outs ^(rcond|rank|m|nfound|sdim|scale|amax|rowcnd|colcnd|equed)$
    host \.
    only_recorded_enums
    skip ^(?!LAPACKE_([sdcz](gesv|getrf|getrs|getri|gecon|gerfs|posv|potrf|potrs|potri|pocon|sysv|sytrf|sytrs|sytri|
        sycon|hesv|hetrf|hetrs|hetri|hecon|gtsv|gttrf|gttrs|gbtrf|gbtrs|ptsv|pbtrf|pbtrs|trtrs|trtri|trcon|geqrf|
        geqp3|gelqf|orgqr|ormqr|orglq|ormlq|ungqr|unmqr|unglq|unmlq|gels|gelsd|gelsy|gesvd|gesdd|syevd|heevd|geev|
        lange|lansy|lanhe|lantr|lacpy|laswp)(_work)?)_64$)
"""


def _read(text: str) -> dict[str, Target]:
    found: dict[str, Target] = {}
    for block in re.split(r"\n(?=\w)", re.sub(r"\n {8}|\n +#.*", "", text).strip()):
        head, *lines = block.splitlines()
        name, module = head.split()
        found[name] = Target(module=f"nvmath.bindings.{module}", **_fields(lines))
    return found


def _fields(lines: list[str]) -> dict[str, Any]:
    made: dict[str, Any] = {"enums": {}}
    for name, *words in map(str.split, lines):
        if name == "enum":
            made["enums"][words[0]] = words[1]
        elif name in _SEVERAL:
            made[name] = tuple(word.strip("-") for word in words)
        else:
            made[name] = words[0] if words else True
    return made


_SEVERAL = {each.name for each in fields(Target) if str(each.type).startswith("tuple")}
TARGETS = _read(_TABLE)
