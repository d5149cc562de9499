"""cuTENSOR (``cutensor.h``): tensor contractions, reductions and permutations on CUDA devices."""

from __future__ import annotations

import ctypes
from typing import Any

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

#: NumPy names of what attributes hold, by value.
_OPERATION_DTYPES = {
    0: "int32",
    1: "int32",
    2: "float32",
    3: "float32",
    4: "uint32",
    5: "uint32",
    6: "uint64",
    14: "int32",
}
_PREFERENCE_DTYPES = dict.fromkeys(range(7), "int32")


_library = Bindings(
    "cutensor",
    globals(),
    rows=_ROWS,
    enums=_ENUMS,
    prefix="cutensor",
    errors=Errors("cuTENSORError", "CUTENSOR_STATUS_", explain="get_error_string"),
)
__getattr__, __dir__ = _library.resolve, _library.names


class ComputeDesc:
    """The compute descriptors of cuTENSOR: constants of the library, so each method opens it at its first call."""

    @staticmethod
    def _read(name: str) -> int:
        symbol = "CUTENSOR_COMPUTE_DESC_" + name
        if _library.substituted is not None:
            return int(getattr(_library.substituted, symbol))
        address = _library.opened().address(symbol)
        if address is None:
            raise _library.opened().missing(symbol)
        return ctypes.c_void_p.from_address(address).value or 0

    @staticmethod
    def COMPUTE_16F() -> int:  # noqa: N802, the public names
        """Half precision."""
        return ComputeDesc._read("16F")

    @staticmethod
    def COMPUTE_16BF() -> int:  # noqa: N802
        """bfloat16."""
        return ComputeDesc._read("16BF")

    @staticmethod
    def COMPUTE_TF32() -> int:  # noqa: N802
        """TensorFloat-32."""
        return ComputeDesc._read("TF32")

    @staticmethod
    def COMPUTE_3XTF32() -> int:  # noqa: N802
        """Three products of TensorFloat-32: nearly single precision."""
        return ComputeDesc._read("3XTF32")

    @staticmethod
    def COMPUTE_32F() -> int:  # noqa: N802
        """Single precision."""
        return ComputeDesc._read("32F")

    @staticmethod
    def COMPUTE_64F() -> int:  # noqa: N802
        """Double precision."""
        return ComputeDesc._read("64F")

    @staticmethod
    def COMPUTE_4X16F() -> int:  # noqa: N802
        """Single precision made of four products of half precision."""
        return ComputeDesc._read("4X16F")

    @staticmethod
    def COMPUTE_9X16BF() -> int:  # noqa: N802
        """Single precision made of nine products of bfloat16."""
        return ComputeDesc._read("9X16BF")

    @staticmethod
    def COMPUTE_8XINT8() -> int:  # noqa: N802
        """Double precision made of products of 8-bit integers."""
        return ComputeDesc._read("8XINT8")


def _dtype(name: str) -> Any:
    import numpy as np

    return getattr(np, name)


def get_operation_descriptor_attribute_dtype(attr: int) -> Any:
    """Return the NumPy type of an attribute of an operation descriptor.

    Parameters
    ----------
    attr : int
        A value of ``OperationDescriptorAttribute``.

    Raises
    ------
    KeyError
        There is no such attribute.
    """
    return _dtype(_OPERATION_DTYPES[attr])


def get_plan_preference_attribute_dtype(attr: int) -> Any:
    """Return the NumPy type of an attribute of a plan preference.

    Parameters
    ----------
    attr : int
        A value of ``PlanPreferenceAttribute``.

    Raises
    ------
    KeyError
        There is no such attribute.
    """
    return _dtype(_PREFERENCE_DTYPES[attr])


def get_plan_attribute_dtype(attr: int) -> Any:
    """Return the NumPy type of an attribute of a plan.

    Parameters
    ----------
    attr : int
        A value of ``PlanAttribute``.

    Raises
    ------
    KeyError
        There is no such attribute.
    """
    return _dtype({0: "uint64"}[attr])
