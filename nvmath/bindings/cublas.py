"""cuBLAS (``cublas_v2.h``): enumerations, and the functions for handles and versions."""

from __future__ import annotations

from typing import Any

from nvmath.bindings._bind import Bindings, status_name

_ROWS = """
cublasCreate_v2(&handle: ptr)
cublasDestroy_v2(handle: ptr)
cublasGetVersion_v2(handle: ptr, &version: i32)
cublasGetProperty(type: i32, &value: i32)
cublasGetCudartVersion() -> usize
cublasGetStatusName(status: i32) -> str
cublasGetStatusString(status: i32) -> str
cublasSetWorkspace_v2(handle: ptr, workspace: ptr, workspace_size_in_bytes: usize)
cublasSetStream_v2(handle: ptr, stream_id: ptr)
cublasGetStream_v2(handle: ptr, &stream_id: ptr)
cublasGetPointerMode_v2(handle: ptr, &mode: i32)
cublasSetPointerMode_v2(handle: ptr, mode: i32)
cublasGetMathMode(handle: ptr, &mode: i32)
cublasSetMathMode(handle: ptr, mode: i32)
"""

_ENUMS = """
IntEnum AtomicsMode: NOT_ALLOWED=0 ALLOWED=1
IntEnum ComputeType: COMPUTE_16F=64 COMPUTE_16F_PEDANTIC=65 COMPUTE_32F=68 COMPUTE_32F_PEDANTIC=69 COMPUTE_64F=70
    COMPUTE_64F_PEDANTIC=71 COMPUTE_32I=72 COMPUTE_32I_PEDANTIC=73 COMPUTE_32F_FAST_16F=74 COMPUTE_32F_FAST_16BF=75
    COMPUTE_32F_FAST_TF32=77 COMPUTE_32F_EMULATED_16BFX9=78 COMPUTE_64F_EMULATED_FIXEDPOINT=79
IntEnum DiagType: NON_UNIT=0 UNIT=1
IntEnum EmulationStrategy: DEFAULT=0 PERFORMANT=1 EAGER=2
IntEnum FillMode: LOWER=0 UPPER=1 FULL=2
IntEnum GemmAlgo: DFALT=-1 DEFAULT=-1 ALGO0=0 ALGO1=1 ALGO2=2 ALGO3=3 ALGO4=4 ALGO5=5 ALGO6=6 ALGO7=7 ALGO8=8 ALGO9=9
    ALGO10=10 ALGO11=11 ALGO12=12 ALGO13=13 ALGO14=14 ALGO15=15 ALGO16=16 ALGO17=17 ALGO18=18 ALGO19=19 ALGO20=20
    ALGO21=21 ALGO22=22 ALGO23=23 DEFAULT_TENSOR_OP=99 DFALT_TENSOR_OP=99 ALGO0_TENSOR_OP=100 ALGO1_TENSOR_OP=101
    ALGO2_TENSOR_OP=102 ALGO3_TENSOR_OP=103 ALGO4_TENSOR_OP=104 ALGO5_TENSOR_OP=105 ALGO6_TENSOR_OP=106
    ALGO7_TENSOR_OP=107 ALGO8_TENSOR_OP=108 ALGO9_TENSOR_OP=109 ALGO10_TENSOR_OP=110 ALGO11_TENSOR_OP=111
    ALGO12_TENSOR_OP=112 ALGO13_TENSOR_OP=113 ALGO14_TENSOR_OP=114 ALGO15_TENSOR_OP=115 AUTOTUNE=999
IntEnum Math: DEFAULT_MATH=0 TENSOR_OP_MATH=1 PEDANTIC_MATH=2 TF32_TENSOR_OP_MATH=3 FP32_EMULATED_BF16X9_MATH=4
    FP64_EMULATED_FIXEDPOINT_MATH=8 DISALLOW_REDUCED_PRECISION_REDUCTION=16
IntEnum Operation: N=0 T=1 C=2 HERMITAN=2 CONJG=3
IntEnum PointerMode: HOST=0 DEVICE=1
IntEnum SideMode: LEFT=0 RIGHT=1
IntEnum Status: SUCCESS=0 NOT_INITIALIZED=1 ALLOC_FAILED=3 INVALID_VALUE=7 ARCH_MISMATCH=8 MAPPING_ERROR=11
    EXECUTION_FAILED=13 INTERNAL_ERROR=14 NOT_SUPPORTED=15 LICENSE_ERROR=16
"""


class cuBLASError(Exception):  # noqa: N801, the public name
    """A cuBLAS function did not succeed.

    Parameters
    ----------
    status : int
        What it returned, a value of ``Status``; also the attribute ``status``.
    """

    def __init__(self, status: int) -> None:
        self.status = status
        super().__init__(status_name(_library.Status, "CUBLAS_STATUS_", status))

    def __reduce__(self) -> tuple[type[cuBLASError], tuple[int]]:
        return type(self), (self.status,)


def check_status(status: int) -> None:
    """Raise `cuBLASError` unless a status is success.

    Parameters
    ----------
    status : int
        A value of ``Status``.

    Raises
    ------
    cuBLASError
        The status is not 0.
    """
    if status != 0:
        raise cuBLASError(status)


_library = Bindings(
    "cublas", globals(), rows=_ROWS, enums=_ENUMS, prefix="cublas", on_error=check_status, error="cuBLASError"
)


def __getattr__(name: str) -> Any:
    return _library.resolve(name)


def __dir__() -> list[str]:
    return _library.names()
