"""What is read and checked for each library, and the differences that are known and right."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Target:
    """A library's headers and rows.

    Attributes
    ----------
    module : str
        The binding module.
    headers : tuple of str
        Header names.
    prefix : str
        What its C functions start with.
    enums : dict
        Our enum -> C enum.
    defines : tuple of str
        Macro sets; the headers are read once for each and the functions joined.
    not_in_headers : frozenset of str
        C functions in our rows that these headers do not declare.
    not_exported : frozenset of str
        C functions in our rows that the installed library does not export.
    varying : frozenset of str
        Enum members (``Enum.MEMBER``) that not every version of the headers has.
    """

    module: str
    headers: tuple[str, ...]
    prefix: str
    enums: dict[str, str] = field(default_factory=dict)
    defines: tuple[str, ...] = ("",)
    not_in_headers: frozenset[str] = frozenset()
    not_exported: frozenset[str] = frozenset()
    varying: frozenset[str] = frozenset()


_CUFFT_VARYING = frozenset(
    {
        "Result.INCOMPLETE_PARAMETER_LIST",
        "Result.PARSE_ERROR",
        "Result.LICENSE_ERROR",
        "Result.MISSING_DEPENDENCY",
        "Result.NVRTC_FAILURE",
        "Result.NVJITLINK_FAILURE",
        "Result.NVSHMEM_FAILURE",
    }
)

# What CUDA 12 had and 13 has not, and what came after 13.1.
_CUBLASLT_VARYING = frozenset(
    {
        "MatmulStages.STAGES_16x80",
        "MatmulStages.STAGES_64x80",
        "MatmulMatrixScale.PER_BATCH_SCALAR_32F",
        "BatchMode.GROUPED",
        "MatrixLayoutAttribute.GROUPED_ROWS_ARRAY",
        "MatrixLayoutAttribute.GROUPED_COLS_ARRAY",
        "MatrixLayoutAttribute.GROUPED_LD_ARRAY",
        "MatrixLayoutAttribute.GROUPED_ROWS_COLS_ARRAY_INTEGER_WIDTH",
        "MatrixLayoutAttribute.GROUPED_LD_ARRAY_INTEGER_WIDTH",
        "MatmulDescAttribute.ATOMIC_SYNC_NUM_CHUNKS_D_ROWS",
        "MatmulDescAttribute.ATOMIC_SYNC_NUM_CHUNKS_D_COLS",
        "MatmulDescAttribute.ATOMIC_SYNC_IN_COUNTERS_POINTER",
        "MatmulDescAttribute.ATOMIC_SYNC_OUT_COUNTERS_POINTER",
        "MatmulDescAttribute.ALPHA_BATCH_STRIDE",
        "MatmulDescAttribute.BETA_BATCH_STRIDE",
        "MatmulPreferenceAttribute.MATH_MODE_MASK",
        "MatmulPreferenceAttribute.GAUSSIAN_MODE_MASK",
        "MatmulPreferenceAttribute.POINTER_MODE_MASK",
        "MatmulPreferenceAttribute.EPILOGUE_MASK",
        "MatmulPreferenceAttribute.GROUPED_AVERAGE_REDUCTION_DIM",
        "MatmulPreferenceAttribute.SM_COUNT_TARGET",
        "MatmulPreferenceAttribute.GROUPED_DESC_D_AVERAGE_ROWS",
        "MatmulPreferenceAttribute.GROUPED_DESC_D_AVERAGE_COLS",
        "MatmulAlgoCapAttribute.MATHMODE_IMPL",
        "MatmulAlgoCapAttribute.GAUSSIAN_IMPL",
        "MatmulAlgoCapAttribute.ATOMIC_SYNC",
        "MatmulAlgoCapAttribute.POINTER_ARRAY_GROUPED_SUPPORT",
    }
)
_CUBLASLT_NEW = frozenset({"cublasLtGroupedMatrixLayoutCreate"})

TARGETS = {
    "cublas": Target(
        module="nvmath.bindings.cublas",
        headers=("cublas_v2.h",),
        prefix="cublas",
        enums={
            "Status": "cublasStatus_t",
            "FillMode": "cublasFillMode_t",
            "DiagType": "cublasDiagType_t",
            "SideMode": "cublasSideMode_t",
            "Operation": "cublasOperation_t",
            "PointerMode": "cublasPointerMode_t",
            "AtomicsMode": "cublasAtomicsMode_t",
            "GemmAlgo": "cublasGemmAlgo_t",
            "ComputeType": "cublasComputeType_t",
            "EmulationStrategy": "cublasEmulationStrategy_t",
        },
    ),
    "cublasLt": Target(
        module="nvmath.bindings.cublasLt",
        headers=("cublasLt.h",),
        prefix="cublasLt",
        enums={
            "MatmulTile": "cublasLtMatmulTile_t",
            "MatmulStages": "cublasLtMatmulStages_t",
            "MatmulInnerShape": "cublasLtMatmulInnerShape_t",
            "ClusterShape": "cublasLtClusterShape_t",
            "MatmulMatrixScale": "cublasLtMatmulMatrixScale_t",
            "PointerMode": "cublasLtPointerMode_t",
            "Order": "cublasLtOrder_t",
            "BatchMode": "cublasLtBatchMode_t",
            "MatrixLayoutAttribute": "cublasLtMatrixLayoutAttribute_t",
            "MatmulDescAttribute": "cublasLtMatmulDescAttributes_t",
            "MatrixTransformDescAttribute": "cublasLtMatrixTransformDescAttributes_t",
            "EmulationDescAttribute": "cublasLtEmulationDescAttributes_t",
            "ReductionScheme": "cublasLtReductionScheme_t",
            "Epilogue": "cublasLtEpilogue_t",
            "MatmulSearch": "cublasLtMatmulSearch_t",
            "MatmulPreferenceAttribute": "cublasLtMatmulPreferenceAttributes_t",
            "MatmulAlgoCapAttribute": "cublasLtMatmulAlgoCapAttributes_t",
            "MatmulAlgoConfigAttribute": "cublasLtMatmulAlgoConfigAttributes_t",
        },
        not_in_headers=_CUBLASLT_NEW,
        not_exported=_CUBLASLT_NEW | {"cublasLtDisableCpuInstructionsSetMask"},
        varying=_CUBLASLT_VARYING,
    ),
    "cufft": Target(
        module="nvmath.bindings.cufft",
        headers=("cufft.h", "cufftXt.h"),
        prefix="cufft",
        enums={
            "Result": "cufftResult",
            "Type": "cufftType",
            "LibFormat": "libFormat",
            "Compatibility": "cufftCompatibility",
            "Property": "cufftProperty",
            "XtSubFormat": "cufftXtSubFormat",
            "XtCopyType": "cufftXtCopyType",
            "XtQueryType": "cufftXtQueryType",
            "XtWorkAreaPolicy": "cufftXtWorkAreaPolicy",
            "XtCallbackType": "cufftXtCallbackType",
        },
        # The first is CUDA 12's entry point for LTO callbacks, the second is in cuFFTMp only.
        not_in_headers=frozenset({"__cufftXtSetJITCallback_12_7", "cufftXtSetSubformatDefault"}),
        not_exported=frozenset({"__cufftXtSetJITCallback_12_7", "cufftXtSetSubformatDefault"}),
        varying=_CUFFT_VARYING,
    ),
    "nvrtc": Target(
        module="nvmath.bindings._nvrtc",
        headers=("nvrtc.h",),
        prefix="nvrtc",
        enums={"Result": "nvrtcResult"},
    ),
    "nvjitlink": Target(
        module="nvmath.bindings._nvjitlink",
        headers=("nvJitLink.h",),
        prefix="nvJitLink",
        enums={"Result": "nvJitLinkResult", "InputType": "nvJitLinkInputType"},
    ),
    "cuda": Target(
        module="nvmath.bindings._cuda",
        headers=("cuda.h",),
        prefix="cu",
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
        headers=("cutensor.h",),
        prefix="cutensor",
        enums={
            "Status": "cutensorStatus_t",
            "Operator": "cutensorOperator_t",
            "Algo": "cutensorAlgo_t",
            "WorksizePreference": "cutensorWorksizePreference_t",
            "OperationDescriptorAttribute": "cutensorOperationDescriptorAttribute_t",
            "PlanPreferenceAttribute": "cutensorPlanPreferenceAttribute_t",
            "AutotuneMode": "cutensorAutotuneMode_t",
            "JitMode": "cutensorJitMode_t",
            "CacheMode": "cutensorCacheMode_t",
            "PlanAttribute": "cutensorPlanAttribute_t",
        },
    ),
    "cudss": Target(
        module="nvmath.bindings.cudss",
        headers=("cudss.h",),
        prefix="cudss",
        enums={
            "Status": "cudssStatus_t",
            "ConfigParam": "cudssConfigParam_t",
            "DataParam": "cudssDataParam_t",
            "Phase": "cudssPhase_t",
            "MatrixType": "cudssMatrixType_t",
            "MatrixViewType": "cudssMatrixViewType_t",
            "IndexBase": "cudssIndexBase_t",
            "Layout": "cudssLayout_t",
            "ReorderingAlg": "cudssReorderingAlg_t",
            "FactorizationAlg": "cudssFactorizationAlg_t",
            "PivotEpsilonAlg": "cudssPivotEpsilonAlg_t",
            "SolveAlg": "cudssSolveAlg_t",
            "MatchingAlg": "cudssMatchingAlg_t",
            "PivotType": "cudssPivotType_t",
            "MatrixFormat": "cudssMatrixFormat_t",
            "OpType": "cudssOpType_t",
        },
        # New in 1.0.
        not_in_headers=frozenset({"cudssSetJitCacheDir", "cudssGetPinnedMemHandler", "cudssSetPinnedMemHandler"}),
        not_exported=frozenset({"cudssSetJitCacheDir", "cudssGetPinnedMemHandler", "cudssSetPinnedMemHandler"}),
    ),
    "fftw": Target(
        module="nvmath.bindings.nvpl.fft",
        headers=("fftw3.h",),
        prefix="fftw",
        not_in_headers=frozenset({"nvpl_fft_get_version"}),
        # NVPL alone has its version, MKL has no planner_nthreads.
        not_exported=frozenset({"nvpl_fft_get_version", "fftw_planner_nthreads", "fftwf_planner_nthreads"}),
    ),
}
