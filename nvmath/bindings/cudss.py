"""cuDSS (``cudss.h``): sparse direct solvers on CUDA devices; version 0.8 or newer."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

from nvmath.bindings._bind import Bindings, Errors

_ROWS = """
@ cudss.h
cudssConfigSet(config: ptr, param: i32, value: cbuf, size_in_bytes: usize)
cudssConfigGet(config: ptr, param: i32, value: buf, size_in_bytes: usize, size_written: buf<usize>)
cudssDataSet(handle: ptr, data: ptr, param: i32, value: cbuf, size_in_bytes: usize)
cudssDataGet(handle: ptr, data: ptr, param: i32, value: buf, size_in_bytes: usize, size_written: buf<usize>)
cudssExecute(handle: ptr, phase: i32, solver_config: ptr, solver_data: ptr, input_matrix: ptr, solution: ptr,
    rhs: ptr)
cudssSetStream(handle: ptr, stream: ptr)
cudssSetMgStreams(handle: ptr, streams: ptr[], stream_count: i32)
cudssSetCommLayer(handle: ptr, comm_lib_file_name: str)
cudssSetThreadingLayer(handle: ptr, thr_lib_file_name: str)
cudssConfigCreate(&solver_config: ptr)
cudssConfigDestroy(solver_config: ptr)
cudssDataCreate(handle: ptr, &solver_data: ptr)
cudssDataDestroy(handle: ptr, solver_data: ptr)
cudssCreate(&handle: ptr)
cudssCreateMg(&handle: ptr, device_count: i32, device_indices: i32[])
cudssDestroy(handle: ptr)
cudssGetProperty(property_type: i32, &value: i32)
cudssMatrixCreateDn(&matrix: ptr, nrows: i64, ncols: i64, ld: i64, values: ptr, value_type: i32, layout: i32)
cudssMatrixCreateCsr(&matrix: ptr, nrows: i64, ncols: i64, nnz: i64, row_start: ptr, row_end: ptr, col_indices: ptr,
    values: ptr, offset_type: i32, index_type: i32, value_type: i32, mtype: i32, mview: i32, index_base: i32)
cudssMatrixCreateBatchDn(&matrix: ptr, batch_count: i64, nrows: ptr, ncols: ptr, ld: ptr, values: ptr,
    integer_type: i32, value_type: i32, layout: i32)
cudssMatrixCreateBatchCsr(&matrix: ptr, batch_count: i64, nrows: ptr, ncols: ptr, nnz: ptr, row_start: ptr,
    row_end: ptr, col_indices: ptr, values: ptr, offset_type: i32, index_type: i32, value_type: i32, mtype: i32,
    mview: i32, index_base: i32)
cudssMatrixDestroy(matrix: ptr)
cudssMatrixGetDn(matrix: ptr, nrows: buf<i64>, ncols: buf<i64>, ld: buf<i64>, values: buf, type: buf<i32>,
    layout: buf<i32>)
cudssMatrixGetCsr(matrix: ptr, nrows: buf<i64>, ncols: buf<i64>, nnz: buf<i64>, row_start: buf, row_end: buf,
    col_indices: buf, values: buf, offset_type: buf<i32>, index_type: buf<i32>, value_type: buf<i32>, mtype: buf<i32>,
    mview: buf<i32>, index_base: buf<i32>)
cudssMatrixSetValues(matrix: ptr, values: ptr)
cudssMatrixSetCsrPointers(matrix: ptr, row_offsets: ptr, row_end: ptr, col_indices: ptr, values: ptr)
cudssMatrixGetBatchDn(matrix: ptr, batch_count: buf<i64>, nrows: buf, ncols: buf, ld: buf, values: buf,
    index_type: buf<i32>, value_type: buf<i32>, layout: buf<i32>)
cudssMatrixGetBatchCsr(matrix: ptr, batch_count: buf<i64>, nrows: buf, ncols: buf, nnz: buf, row_start: buf,
    row_end: buf, col_indices: buf, values: buf, offset_type: buf<i32>, index_type: buf<i32>, value_type: buf<i32>,
    mtype: buf<i32>, mview: buf<i32>, index_base: buf<i32>)
cudssMatrixSetBatchValues(matrix: ptr, values: ptr)
cudssMatrixSetBatchCsrPointers(matrix: ptr, row_offsets: ptr, row_end: ptr, col_indices: ptr, values: ptr)
cudssMatrixGetFormat(matrix: ptr, &format: i32)
cudssMatrixSetDistributionRow1d(matrix: ptr, first_row: i64, last_row: i64)
cudssMatrixGetDistributionRow1d(matrix: ptr, first_row: buf<i64>, last_row: buf<i64>)
cudssGetDeviceMemHandler(handle: ptr, handler: buf)
cudssSetDeviceMemHandler(handle: ptr, handler: ptr)
cudssLoggerSetCallback(callback: ptr)
cudssLoggerSetFile(file: ptr)
cudssLoggerOpenFile(log_file: str)
cudssLoggerSetLevel(level: i32)
cudssLoggerSetMask(mask: i32)
cudssLoggerForceDisable()
@ cudss.h 1.0+
cudssSetJitCacheDir(handle: ptr, cache_dir: str)
cudssGetPinnedMemHandler(handle: ptr, handler: buf)
cudssSetPinnedMemHandler(handle: ptr, handler: ptr)
"""

_ENUMS = """
IntEnum ConfigParam: REORDERING_ALG=0 FACTORIZATION_ALG=1 SOLVE_ALG=2 MATCHING_ALG=3 SOLVE_MODE=4 IR_N_STEPS=5
    IR_TOL=6 PIVOT_TYPE=7 PIVOT_THRESHOLD=8 PIVOT_EPSILON=9 MAX_LU_NNZ=10 HYBRID_MEMORY_MODE=11
    HYBRID_DEVICE_MEMORY_LIMIT=12 USE_CUDA_REGISTER_MEMORY=13 HOST_NTHREADS=14 HYBRID_EXECUTE_MODE=15
    PIVOT_EPSILON_ALG=16 ND_NLEVELS=17 UBATCH_SIZE=18 UBATCH_INDEX=19 USE_SUPERPANELS=20 DEVICE_COUNT=21
    DEVICE_INDICES=22 SCHUR_MODE=23 DETERMINISTIC_MODE=24 ND_UBFACTOR=25 EMULATION_MANTISSA_BIT_COUNT=26
    FORCE_NONSYMMETRIC_MATCHING=27 DOWNCAST_FACTORS=28 MEMORY_OPTIMIZATION_SETTING=29
IntEnum DataParam: INFO=0 LU_NNZ=1 NPIVOTS=2 INERTIA=3 PERM_REORDER_ROW=4 PERM_REORDER_COL=5 PERM_ROW=6 PERM_COL=7
    DIAG=8 USER_PERM=9 HYBRID_DEVICE_MEMORY_MIN=10 COMM_DEVICE=11 COMM_HOST=12 MEMORY_ESTIMATES=13 PERM_MATCHING=14
    SCALE_ROW=15 SCALE_COL=16 NSUPERPANELS=17 USER_SCHUR_INDICES=18 SCHUR_SHAPE=19 SCHUR_MATRIX=20
    USER_ND_PARTITION_TREE=21 ND_PARTITION_TREE=22 USER_HOST_INTERRUPT=23 IR_N_STEPS=24 UBATCH_MASK=25 FLOPS=26
IntEnum DataType: R_32F=0 R_64F=1 C_32F=4 C_64F=5 R_32I=10 R_64I=24 UNSET=1024 R_64F_64F=1026
IntEnum FactorizationAlg: DEFAULT=0 MULTIBLOCK=1 GENERAL=2
IntEnum IndexBase: ZERO=0 ONE=1
IntEnum Layout: COL_MAJOR=0 ROW_MAJOR=1
IntEnum MatchingAlg: NONE=0 MAX_DIAG_COUNT=1 MAX_MIN_DIAG=2 MAX_MIN_DIAG_ALT=3 MAX_DIAG_SUM=4 MAX_DIAG_PRODUCT=5
    AUTO=6
IntEnum MatrixFormat: DENSE=1 CSR=2 BATCH=4 DISTRIBUTED=8
IntEnum MatrixType: GENERAL=0 SYMMETRIC=1 HERMITIAN=2 SPD=3 HPD=4
IntEnum MatrixViewType: FULL=0 LOWER=1 UPPER=2
IntEnum OpType: SUM=0 MAX=1 MIN=2
IntEnum Phase: REORDERING=1 SYMBOLIC_FACTORIZATION=2 ANALYSIS=3 FACTORIZATION=4 REFACTORIZATION=8 SOLVE_FWD_PERM=16
    SOLVE_FWD=32 SOLVE_DIAG=64 SOLVE_BWD=128 SOLVE_BWD_PERM=256 SOLVE_REFINEMENT=512 SOLVE=1008
IntEnum PivotEpsilonAlg: DEFAULT=0 SCALED=1 STATIC=2
IntEnum PivotType: PIVOT_AUTO=0 PIVOT_NONE=1 PIVOT_GLOBAL_COL=2 PIVOT_GLOBAL_ROW=3 PIVOT_DIAGONAL=4
    PIVOT_LOCAL_BLOCK=5 PIVOT_BUNCH_KAUFMAN=6
IntEnum ReorderingAlg: DEFAULT=0 BTF_COLAMD=1 COLAMD=2 AMD=3 NESTED_DISSECTION=4 NONE=5
IntEnum SolveAlg: DEFAULT=0 GENERAL=1
IntEnum Status: SUCCESS=0 NOT_INITIALIZED=1 ALLOC_FAILED=2 INVALID_VALUE=3 NOT_SUPPORTED=4 EXECUTION_FAILED=5
    INTERNAL_ERROR=6 IR_FAILED=7
IntEnum SolveMode: NORMAL=0 TRANSPOSE=1 CONJUGATE_TRANSPOSE=2
IntEnum MemoryEstimateState: NONE=0 FILL_KNOWN=1 FINAL=2
IntEnum DowncastFactorsMode: DISABLED=0 KEEP_BLOCK_DIAGONAL=1 KEEP_STRICT_DIAGONAL=2
IntEnum MemoryOptimizationFlags: DEFAULT=0 SOLVE_ONLY=1
"""

_RECORDS = """
Record DeviceMemHandler: ctx=ptr device_alloc=ptr device_free=ptr name=byte[64]
Record PinnedMemHandler: ctx=ptr pinned_alloc=ptr pinned_free=ptr name=byte[64]
"""

_DTYPES = """
get_config_param_dtype ConfigParam
    float64 IR_TOL PIVOT_THRESHOLD PIVOT_EPSILON
    int64 MAX_LU_NNZ HYBRID_DEVICE_MEMORY_LIMIT DEVICE_INDICES
    int32 *
get_data_param_dtype DataParam
    int32 INFO USER_HOST_INTERRUPT IR_N_STEPS
    int64 LU_NNZ HYBRID_DEVICE_MEMORY_MIN COMM_DEVICE COMM_HOST MEMORY_ESTIMATES SCHUR_SHAPE SCHUR_MATRIX
        UBATCH_MASK FLOPS
"""

_library = Bindings("cudss", globals(), prefix="cudss", errors=Errors("cuDSSError", "CUDSS_STATUS_"))
__getattr__, __dir__ = _library.resolve, _library.names


_ALLOCATE = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t, ctypes.c_void_p
)
_FREE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)


def _allocate(pool: int | None, address: Any, size: int, stream: int | None) -> int:
    from nvmath.bindings import _cuda

    try:
        address[0] = _cuda.mem_alloc_from_pool_async(size, pool or 0, stream or 0)
    except _cuda.CudaError as error:
        return int(error.status)
    return 0


def _free(pool: int | None, address: int | None, size: int, stream: int | None) -> int:
    from nvmath.bindings import _cuda

    try:
        _cuda.mem_free_async(address or 0, stream or 0)
    except _cuda.CudaError as error:
        return int(error.status)
    return 0


@cache
def _memory_functions() -> tuple[Any, Any]:
    return _ALLOCATE(_allocate), _FREE(_free)


def set_async_workspace_allocator(cudss_handle: int, pool_handle: int) -> None:
    """Let cuDSS take its workspace from a memory pool of the CUDA driver: ``cudssSetDeviceMemHandler``.

    Parameters
    ----------
    cudss_handle : int
        The handle.
    pool_handle : int
        The pool (a ``CUmemoryPool``); it must live as long as the handle.

    Raises
    ------
    cuDSSError
        The status is not success.
    """
    handler = _library.DeviceMemHandler()
    handler.ctx = pool_handle
    handler.device_alloc, handler.device_free = (ctypes.cast(f, ctypes.c_void_p).value for f in _memory_functions())
    _library.set_device_mem_handler(cudss_handle, handler.ptr)
