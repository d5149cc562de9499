"""What is read for each library, and the differences that are known and right."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Target:
    """A library's headers and rows; patterns are regular expressions that are searched for."""

    module: str  # the binding module
    headers: tuple[str, ...]  # those that an edition lacks are left out; the first must be there
    prefix: str  # what is dropped from its C names

    # Where and how headers are read.
    package: str = ""  # its distribution, as a pattern of folder names: there the version is read
    parts: int = 2  # how many numbers of its version tell its headers apart
    prefixes: tuple[str, ...] = ()  # what its C functions start with, if not with `prefix`
    first: str = ""  # part of the path of the include folder that comes first
    language: str = "c"  # or "cpp" for headers that C compilers refuse
    inline: bool = False  # functions that the header defines are in the library as well
    defines: tuple[str, ...] = ("",)  # macro sets; the headers are read once for each and the functions joined
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
    enum_prefix: str | None = None  # what those of C start with (lower case), if not with `prefix`
    only_recorded_enums: bool = False  # those that are not recorded are left out

    # What is left out, and known differences.
    skip: str = ""  # C functions
    skip_enums: str = r"^$"  # enumerations
    not_in_headers: frozenset[str] = frozenset()  # C functions in our rows that the headers do not declare
    not_exported: str = r"^$"  # C functions that no library exports, or only another one with the same interface


_LAPACK = (
    "gesv|getrf|getrs|getri|gecon|gerfs|posv|potrf|potrs|potri|pocon|sysv|sytrf|sytrs|sytri|sycon|hesv|hetrf|hetrs|hetri|"
    "hecon|gtsv|gttrf|gttrs|gbtrf|gbtrs|ptsv|pbtrf|pbtrs|trtrs|trtri|trcon|geqrf|geqp3|gelqf|orgqr|ormqr|orglq|ormlq|"
    "ungqr|unmqr|unglq|unmlq|gels|gelsd|gelsy|gesvd|gesdd|syevd|heevd|geev|lange|lansy|lanhe|lantr|lacpy|laswp"
)

#: Each library's own functions.
_BLAS_VENDORS = frozenset(
    {f"nvpl_blas_{name}" for name in ("get_version", "get_max_threads", "set_num_threads", "set_num_threads_local")}
    | {"MKL_Set_Num_Threads", "MKL_Set_Num_Threads_Local", "openblas_set_num_threads", "openblas_set_num_threads_local"}
)

TARGETS = {
    "cublas": Target(
        module="nvmath.bindings.cublas",
        sequences=r"_array$|group_size$",
        host=r"\.(alpha|beta|result|param|d1|d2|x1|y1|group_size|(transa|transb|m|n|k|alpha|beta|lda|ldb|ldc)_array)$|rotg\w*\.[abcs]$"
        r"|rot(_v2|Ex)(_64)?\.[cs]$|SetVector(_64)?\.x$|GetVector(_64)?\.y$|SetMatrix(_64)?\.a$|GetMatrix(_64)?\.b$"
        r"|(getrs|gels|geqrf)Batched\.info$",
        headers=("cublas_v2.h",),
        prefix="cublas",
        package="nvidia_cublas",
        skip=r"^cublas(Xt|Lt)|Xerbla|cublasMigrateComputeType",
        skip_enums=r"cublasDataType|cublasLt|cudaDataType",
    ),
    "cublasLt": Target(
        module="nvmath.bindings.cublasLt",
        skip="_internal$",
        not_exported="DisableCpuInstructionsSetMask",
        host=r"\.(alpha|beta|buf|size_written)$",
        records=r"\.(algo|result|heuristic_results_array|return_algo_count)$",
        headers=("cublasLt.h",),
        prefix="cublasLt",
        package="nvidia_cublas",
    ),
    "cufft": Target(
        module="nvmath.bindings.cufft",
        headers=("cufft.h", "cufftXt.h"),
        prefix="cufft",
        package="nvidia_cufft",
        enums={"Result": "cufftResult", "LibFormat": "libFormat"},
        # The first is CUDA 12's entry point for LTO callbacks, the second is in cuFFTMp only.
        not_exported="__cufftXtSetJITCallback_12_7|cufftXtSetSubformatDefault",
    ),
    "curand": Target(
        module="nvmath.bindings.curand",
        not_exported="GenerateBinomial",
        host=r"\.output_ptr$",
        enums={"Method": "curandMethod_t"},
        headers=("curand.h",),
        prefix="curand",
        package="nvidia_curand*",
    ),
    "cusolver": Target(
        module="nvmath.bindings.cusolver", headers=("cusolver_common.h",), prefix="cusolver", package="nvidia_cusolver"
    ),
    "cusolverDn": Target(
        module="nvmath.bindings.cusolverDn",
        not_exported="Logger",
        host=r"\.(h_\w+|host_\w+|buffer_on_host|vl|vu)$",
        headers=("cusolverDn.h",),
        prefix="cusolverDn",
        package="nvidia_cusolver",
    ),
    "cusolverSp": Target(
        module="nvmath.bindings.cusolverSp",
        outs="^(handle|info|stream)$|Bytes$",
        host=r"Host\.|\.singularity$",
        headers=("cusolverSp.h", "cusolverSp_LOWLEVEL_PREVIEW.h"),
        prefix="cusolverSp",
        package="nvidia_cusolver",
    ),
    "cusparse": Target(
        module="nvmath.bindings.cusparse",
        not_exported=r"(bsrs[vm]2|(csr|bsr)(ilu|ic)02|gebsr2gebsc|csr2gebsr|gebsr2gebsr)_bufferSizeExt$|Xgebsr2csr$",
        host=r"\.(alpha|beta|boost_val|tol|threshold|nnz_total_dev_host_ptr|nnz_total_host_ptr|result|fraction_to_color|ncolors|"
        r"h_\w+|data|code|\w+_ltoir_buffer|\w+_nvvm_buffer)$",
        headers=("cusparse.h",),
        prefix="cusparse",
        package="nvidia_cusparse",
        defines=("CUSPARSE_ENABLE_EXPERIMENTAL_API",),
        enums={"Status": "cusparseStatus_t"},
    ),
    "cusparseLt": Target(
        module="nvmath.bindings.cusparseLt",
        owned=True,
        host=r"\.(alpha|beta|data)$",
        headers=("cusparseLt.h",),
        prefix="cusparseLt",
        package="nvidia_cusparselt*",
        language="cpp",
    ),
    "cublasMp": Target(
        module="nvmath.bindings.cublasMp",
        # Not in the headers for CUDA 12.
        not_in_headers=frozenset(
            f"cublasMp{way}{what}"
            for way in ("Get", "Set")
            for what in ("FixedPointEmulationMantissaControl", "EmulationSpecialValuesSupport")
        ),
        host=r"\.(alpha|beta|buf|size_written|workspace_host|h_work|host_work)$",
        headers=("cublasmp.h",),
        prefix="cublasMp",
        package="nvidia_cublasmp*",
    ),
    "cufftMp": Target(
        module="nvmath.bindings.cufftMp",
        not_exported="cufftMpMakePlan",
        like="cufft",
        host=r"\.(lower|upper|strides)_\w+$",
        sequences=r"\.(lower|upper|strides)_\w+$",
        headers=("cufftMp.h", "cufft.h", "cufftXt.h"),
        prefix="cufft",
        package="nvidia_cufftmp*",
        first="cufftmp",
        language="cpp",
        also="cufftMp(?=Attach|Create|Destroy|Exec|Get)",
        enums={"Result": "cufftResult", "LibFormat": "libFormat"},
    ),
    "cusolverMp": Target(
        module="nvmath.bindings.cusolverMp",
        # Not for CUDA 12.
        not_in_headers=frozenset(
            f"cusolverMp{way}{what}" for way in ("Get", "Set") for what in ("MathMode", "EmulationStrategy")
        ),
        not_exported="MathMode|EmulationStrategy",
        host=r"\.(alpha|beta|buf|size_in_bytes_written|h_\w+)$",
        headers=("cusolverMp.h",),
        prefix="cusolverMp",
        package="nvidia_cusolvermp*",
    ),
    "mathdx": Target(
        module="nvmath.bindings.mathdx",
        parts=3,
        host=r"\.",
        sequences=r"\.",
        headers=(
            "libmathdx.h",
            "libcommondx.h",
            "libcublasdx.h",
            "libcufftdx.h",
            "libcuranddx.h",
            "libcusolverdx.h",
            "libnvcompdx.h",
        ),
        prefix="mathdx",
        prefixes=("mathdx", "commondx", "cublasdx", "cufftdx", "curanddx", "cusolverdx", "nvcompdx"),
        package="nvidia_libmathdx*",
        enum_prefix="",
    ),
    "nccl": Target(
        module="nvmath.bindings.nccl",
        host=r"\.devlist$",
        sequences=r"\.devlist$",
        records=r"InitAll\.comm$|\.unique_id$|ParamGet\w*\.(out|len|\w+_len|table)$|\.sim_info$",
        outs=r"^(count|device|rank|version|newcomm|asyncError|handle|value|win|outUserPtr|op)$",
        headers=("nccl.h",),
        prefix="nccl",
        package="nvidia_nccl*",
    ),
    "nvshmem": Target(
        module="nvmath.bindings.nvshmem",
        not_exported="nvshmemx_signal_op$",
        headers=("nvshmem_host.h",),
        prefix="nvshmem_",
        prefixes=("nvshmem",),
        also="nvshmemx?_",
        package="nvidia_nvshmem*",
        language="cpp",
        statuses="^int$",
        values=r"_(my_pe|n_pes|init_status|translate_pe|region_is_active|signal_fetch)$",
        # What kernels call, what exists per type or width, and what is private.
        skip=r"^(?!nvshmem_int_p$).*(_(float|double|s?char|u?(short|int|long|longlong|char)|u?int\d+|size|ptrdiff|half|bfloat16)_|"
        r"(put|get)\d|iput|iget|_(warp|warpgroup|block)$|_qp_|maxloc|signal_counted|^nvshmemi|vendor|region)",
        only_recorded_enums=True,
    ),
    "nvrtc": Target(
        module="nvmath.bindings._nvrtc",
        headers=("nvrtc.h",),
        prefix="nvrtc",
        package="nvidia_cuda_nvrtc*",
        enums={"Result": "nvrtcResult"},
    ),
    "nvjitlink": Target(
        module="nvmath.bindings._nvjitlink",
        headers=("nvJitLink.h",),
        prefix="nvJitLink",
        package="nvidia_nvjitlink*",
        inline=True,
        enums={"Result": "nvJitLinkResult", "InputType": "nvJitLinkInputType"},
    ),
    "cuda": Target(
        module="nvmath.bindings._cuda",
        headers=("cuda.h",),
        prefix="cu",
        package="nvidia_cuda_runtime*",
        enums={
            "Result": "CUresult",
            "DeviceAttribute": "CUdevice_attribute",
            "FunctionAttribute": "CUfunction_attribute",
            "PointerAttribute": "CUpointer_attribute",
            "MemoryType": "CUmemorytype",
            "MemPoolAttribute": "CUmemPool_attribute",
            "StreamFlags": "CUstream_flags",
            "EventFlags": "CUevent_flags",
            "StreamCaptureStatus": "CUstreamCaptureStatus",
            "StreamCaptureMode": "CUstreamCaptureMode",
        },
        defines=("", "__CUDA_API_VERSION_INTERNAL"),
    ),
    "cutensor": Target(
        module="nvmath.bindings.cutensor",
        host=r"\.(alpha|beta|gamma|buf)$",
        headers=("cutensor.h",),
        prefix="cutensor",
        package="cutensor*",
    ),
    "cudss": Target(
        module="nvmath.bindings.cudss",
        host=r"\.value$",
        records=r"Get\w*\.(?!(handle|config|data|matrix|param|value)$)",
        headers=("cudss.h",),
        prefix="cudss",
        package="nvidia_cudss*",
    ),
    "fftw": Target(
        module="nvmath.bindings.nvpl.fft",
        headers=("fftw3.h",),
        prefix="fftw",
        package="mkl_include",
        not_in_headers=frozenset({"nvpl_fft_get_version", "fftw_planner_nthreads", "fftwf_planner_nthreads"}),
        # NVPL alone has its version, MKL has no planner_nthreads.
        not_exported="nvpl_fft_get_version|planner_nthreads",
    ),
    "blas": Target(
        module="nvmath.bindings.nvpl.blas",
        host=r"\.",
        sequences=r"_array$|_size$",
        headers=("mkl_cblas.h",),
        prefix="cblas_",
        header="cblas.h",
        package="mkl_include",
        not_exported="|".join(_BLAS_VENDORS),
        skip=r"pack|compute|jit|_oop|gemm_(bf|f16|[es]\d|\w*u8)|gthr|gemm3m|hgemm|(gemv|dgmm|trsm|syrk|axpy|copy)_batch|xerbla|bf16|f16"
        r"|_[sdcz](dot|dotu|dotc|axpy|gthr|gthrz|sct|rot)[irz](_|$)|_sub_64_|_dot[uc]i_",
        statuses="^$",
        only_recorded_enums=True,
    ),
    "lapack": Target(
        module="nvmath.bindings.nvpl.lapack",
        host=r"\.",
        headers=("mkl_lapacke.h",),
        prefix="LAPACKE_",
        header="lapacke.h",
        package="mkl_include",
        skip=rf"^(?!LAPACKE_([sdcz]({_LAPACK})(_work)?)_64$)",
        statuses="^$",
        wide=True,
        only_recorded_enums=True,
        outs=r"^(rcond|rank|m|nfound|sdim|scale|amax|rowcnd|colcnd|equed)$",
    ),
}
