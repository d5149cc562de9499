"""cuTENSOR (``cutensor.h``): tensor contractions, reductions and permutations on CUDA devices."""

from __future__ import annotations

import ctypes

from nvmath.bindings._bind import Bindings, Errors

_ROWS = """
@ cutensor.h
cutensorCreate(&handle: ptr)
cutensorDestroy(handle: ptr)
cutensorHandleResizePlanCache(handle: ptr, num_entries: u32)
cutensorHandleWritePlanCacheToFile(handle: ptr, filename: str)
cutensorHandleReadPlanCacheFromFile(handle: ptr, filename: str, &num_cachelines_read: u32)
cutensorWriteKernelCacheToFile(handle: ptr, filename: str)
cutensorReadKernelCacheFromFile(handle: ptr, filename: str)
cutensorCreateTensorDescriptor(handle: ptr, &desc: ptr, num_modes: u32, extent: i64[], stride: i64[], data_type: i32,
    alignment_requirement: u32)
cutensorDestroyTensorDescriptor(desc: ptr)
cutensorCreateElementwiseTrinary(handle: ptr, &desc: ptr, desc_a: ptr, mode_a: i32[], op_a: i32, desc_b: ptr,
    mode_b: i32[], op_b: i32, desc_c: ptr, mode_c: i32[], op_c: i32, desc_d: ptr, mode_d: i32[], op_ab: i32,
    op_abc: i32, desc_compute: ptr)
cutensorElementwiseTrinaryExecute(handle: ptr, plan: ptr, alpha: cbuf, a: ptr, beta: cbuf, b: ptr, gamma: cbuf,
    c: ptr, d: ptr, stream: ptr)
cutensorCreateElementwiseBinary(handle: ptr, &desc: ptr, desc_a: ptr, mode_a: i32[], op_a: i32, desc_c: ptr,
    mode_c: i32[], op_c: i32, desc_d: ptr, mode_d: i32[], op_ac: i32, desc_compute: ptr)
cutensorElementwiseBinaryExecute(handle: ptr, plan: ptr, alpha: cbuf, a: ptr, gamma: cbuf, c: ptr, d: ptr,
    stream: ptr)
cutensorCreatePermutation(handle: ptr, &desc: ptr, desc_a: ptr, mode_a: i32[], op_a: i32, desc_b: ptr, mode_b: i32[],
    desc_compute: ptr)
cutensorPermute(handle: ptr, plan: ptr, alpha: cbuf, a: ptr, b: ptr, stream: ptr)
cutensorCreateContraction(handle: ptr, &desc: ptr, desc_a: ptr, mode_a: i32[], op_a: i32, desc_b: ptr, mode_b: i32[],
    op_b: i32, desc_c: ptr, mode_c: i32[], op_c: i32, desc_d: ptr, mode_d: i32[], desc_compute: ptr)
cutensorDestroyOperationDescriptor(desc: ptr)
cutensorOperationDescriptorSetAttribute(handle: ptr, desc: ptr, attr: i32, buf: cbuf, size_in_bytes: usize)
cutensorOperationDescriptorGetAttribute(handle: ptr, desc: ptr, attr: i32, buf: buf, size_in_bytes: usize)
cutensorCreatePlanPreference(handle: ptr, &pref: ptr, algo: i32, jit_mode: i32)
cutensorDestroyPlanPreference(pref: ptr)
cutensorPlanPreferenceSetAttribute(handle: ptr, pref: ptr, attr: i32, buf: cbuf, size_in_bytes: usize)
cutensorPlanGetAttribute(handle: ptr, plan: ptr, attr: i32, buf: buf, size_in_bytes: usize)
cutensorEstimateWorkspaceSize(handle: ptr, desc: ptr, plan_pref: ptr, workspace_pref: i32,
    &workspace_size_estimate: u64)
cutensorCreatePlan(handle: ptr, &plan: ptr, desc: ptr, pref: ptr, workspace_size_limit: u64)
cutensorDestroyPlan(plan: ptr)
cutensorContract(handle: ptr, plan: ptr, alpha: cbuf, a: ptr, b: ptr, beta: cbuf, c: ptr, d: ptr, workspace: ptr,
    workspace_size: u64, stream: ptr)
cutensorCreateReduction(handle: ptr, &desc: ptr, desc_a: ptr, mode_a: i32[], op_a: i32, desc_c: ptr, mode_c: i32[],
    op_c: i32, desc_d: ptr, mode_d: i32[], op_reduce: i32, desc_compute: ptr)
cutensorReduce(handle: ptr, plan: ptr, alpha: cbuf, a: ptr, beta: cbuf, c: ptr, d: ptr, workspace: ptr,
    workspace_size: u64, stream: ptr)
cutensorCreateContractionTrinary(handle: ptr, &desc: ptr, desc_a: ptr, mode_a: i32[], op_a: i32, desc_b: ptr,
    mode_b: i32[], op_b: i32, desc_c: ptr, mode_c: i32[], op_c: i32, desc_d: ptr, mode_d: i32[], op_d: i32,
    desc_e: ptr, mode_e: i32[], desc_compute: ptr)
cutensorContractTrinary(handle: ptr, plan: ptr, alpha: cbuf, a: ptr, b: ptr, c: ptr, beta: cbuf, d: ptr, e: ptr,
    workspace: ptr, workspace_size: u64, stream: ptr)
cutensorCreateBlockSparseTensorDescriptor(handle: ptr, &desc: ptr, num_modes: u32, num_non_zero_blocks: u64,
    num_sections_per_mode: u32[], extent: i64[], non_zero_coordinates: i32[], stride: i64[], data_type: i32)
cutensorDestroyBlockSparseTensorDescriptor(desc: ptr)
cutensorCreateBlockSparseContraction(handle: ptr, &desc: ptr, desc_a: ptr, mode_a: i32[], op_a: i32, desc_b: ptr,
    mode_b: i32[], op_b: i32, desc_c: ptr, mode_c: i32[], op_c: i32, desc_d: ptr, mode_d: i32[], desc_compute: ptr)
cutensorBlockSparseContract(handle: ptr, plan: ptr, alpha: cbuf, a: ptr[], b: ptr[], beta: cbuf, c: ptr[], d: ptr[],
    workspace: ptr, workspace_size: u64, stream: ptr)
cutensorGetErrorString(error: i32) -> str
cutensorGetVersion() -> usize
cutensorGetCudartVersion() -> usize
cutensorLoggerSetCallback(callback: ptr)
cutensorLoggerSetFile(file: ptr)
cutensorLoggerOpenFile(log_file: str)
cutensorLoggerSetLevel(level: i32)
cutensorLoggerSetMask(mask: i32)
cutensorLoggerForceDisable()
@ cutensor.h 2.5+
cutensorPlanPreferenceGetAttribute(handle: ptr, pref: ptr, attr: i32, buf: buf, size_in_bytes: usize)
"""

_ENUMS = """
IntEnum Algo: DEFAULT_PATIENT=-6 GETT=-4 TGETT=-3 TTGT=-2 DEFAULT=-1
IntEnum AutotuneMode: NONE=0 INCREMENTAL=1
IntEnum CacheMode: NONE=0 PEDANTIC=1
IntEnum JitMode: NONE=0 DEFAULT=1
IntEnum OperationDescriptorAttribute: TAG=0 SCALAR_TYPE=1 FLOPS=2 MOVED_BYTES=3 PADDING_LEFT=4 PADDING_RIGHT=5
    PADDING_VALUE=6 BLOCKSPARSE_REPRODUCIBLE=14
IntEnum Operator: OP_IDENTITY=1 OP_SQRT=2 OP_ADD=3 OP_MUL=5 OP_MAX=6 OP_MIN=7 OP_RELU=8 OP_CONJ=9 OP_RCP=10
    OP_SIGMOID=11 OP_TANH=12 OP_EXP=22 OP_LOG=23 OP_ABS=24 OP_NEG=25 OP_SIN=26 OP_COS=27 OP_TAN=28 OP_SINH=29
    OP_COSH=30 OP_ASIN=31 OP_ACOS=32 OP_ATAN=33 OP_ASINH=34 OP_ACOSH=35 OP_ATANH=36 OP_CEIL=37 OP_FLOOR=38 OP_MISH=39
    OP_SWISH=40 OP_SOFT_PLUS=41 OP_SOFT_SIGN=42 OP_UNKNOWN=126
IntEnum PlanAttribute: REQUIRED_WORKSPACE=0
IntEnum PlanPreferenceAttribute: AUTOTUNE_MODE=0 CACHE_MODE=1 INCREMENTAL_COUNT=2 ALGO=3 KERNEL_RANK=4 JIT=5
    GPU_ARCH=6
IntEnum Status: SUCCESS=0 NOT_INITIALIZED=1 ALLOC_FAILED=3 INVALID_VALUE=7 ARCH_MISMATCH=8 MAPPING_ERROR=11
    EXECUTION_FAILED=13 INTERNAL_ERROR=14 NOT_SUPPORTED=15 LICENSE_ERROR=16 CUBLAS_ERROR=17 CUDA_ERROR=18
    INSUFFICIENT_WORKSPACE=19 INSUFFICIENT_DRIVER=20 IO_ERROR=21
IntEnum WorksizePreference: WORKSPACE_MIN=1 WORKSPACE_DEFAULT=2 WORKSPACE_MAX=3
IntEnum DataType: R_32F=0 R_64F=1 R_16F=2 R_8I=3 C_32F=4 C_64F=5 C_16F=6 C_8I=7 R_8U=8 C_8U=9 R_32I=10 C_32I=11
    R_32U=12 C_32U=13 R_16BF=14 C_16BF=15 R_4I=16 C_4I=17 R_4U=18 C_4U=19 R_16I=20 C_16I=21 R_16U=22 C_16U=23 R_64I=24
    C_64I=25 R_64U=26 C_64U=27 R_8F_E4M3=28 R_8F_UE4M3=28 R_8F_E5M2=29 R_8F_UE8M0=30 R_6F_E2M3=31 R_6F_E3M2=32
    R_4F_E2M1=33 R_8F_UE5M3=34
"""

_DTYPES = """
get_operation_descriptor_attribute_dtype OperationDescriptorAttribute
    float32 FLOPS MOVED_BYTES
    uint32 PADDING_LEFT PADDING_RIGHT
    uint64 PADDING_VALUE
    int32 *
get_plan_preference_attribute_dtype PlanPreferenceAttribute int32 *
get_plan_attribute_dtype PlanAttribute uint64 *
"""

_library = Bindings(
    "cutensor",
    globals(),
    prefix="cutensor",
    errors=Errors("cuTENSORError", "CUTENSOR_STATUS_", explain="get_error_string"),
)
__getattr__, __dir__ = _library.resolve, _library.names


def _constant(name: str, precision: str) -> staticmethod[[], int]:
    def read() -> int:
        return ComputeDesc._read(name)

    read.__name__, read.__qualname__ = f"COMPUTE_{name}", f"ComputeDesc.COMPUTE_{name}"
    read.__doc__ = f"Return the descriptor of {precision}: ``CUTENSOR_COMPUTE_DESC_{name}``."
    return staticmethod(read)


class ComputeDesc:
    """The compute descriptors of cuTENSOR: constants of the library, so each method opens it at its first call."""

    @staticmethod
    def _read(name: str) -> int:
        address = _library.symbol("CUTENSOR_COMPUTE_DESC_" + name)
        if _library.substituted is not None:
            return int(address)
        return ctypes.c_void_p.from_address(address).value or 0

    COMPUTE_16F = _constant("16F", "half precision")
    COMPUTE_16BF = _constant("16BF", "bfloat16")
    COMPUTE_TF32 = _constant("TF32", "TensorFloat-32")
    COMPUTE_3XTF32 = _constant("3XTF32", "three products of TensorFloat-32, nearly single precision")
    COMPUTE_32F = _constant("32F", "single precision")
    COMPUTE_64F = _constant("64F", "double precision")
    COMPUTE_4X16F = _constant("4X16F", "single precision made of four products of half precision")
    COMPUTE_9X16BF = _constant("9X16BF", "single precision made of nine products of bfloat16")
    COMPUTE_8XINT8 = _constant("8XINT8", "double precision made of products of 8-bit integers")
