"""cuSPARSELt (``cusparseLt.h``): products of matrices of structured sparsity on CUDA devices."""
# ruff: noqa: N999, the public name

from __future__ import annotations

from nvmath.bindings._adapted import free
from nvmath.bindings._bind import Bindings, Errors

_ROWS = """
@ cusparseLt.h
cusparseLtInit(handle: new)
cusparseLtDestroy(handle_ptr: end)
cusparseLtGetVersion(handle: ptr, &version: i32)
cusparseLtGetProperty(property_type: i32, &value: i32)
cusparseLtGetErrorName(status: i32) -> str
cusparseLtGetErrorString(status: i32) -> str
cusparseLtDenseDescriptorInit(handle: ptr, mat_descr: new, rows: i64, cols: i64, ld: i64, alignment: u32,
    value_type: i32, order: i32)
cusparseLtStructuredDescriptorInit(handle: ptr, mat_descr: new, rows: i64, cols: i64, ld: i64, alignment: u32,
    value_type: i32, order: i32, sparsity: i32)
cusparseLtMatDescriptorDestroy(mat_descr_ptr: end)
cusparseLtMatDescSetAttribute(handle: ptr, matmul_descr: ptr, mat_attribute: i32, data: cbuf, data_size: usize)
cusparseLtMatDescGetAttribute(handle: ptr, matmul_descr: ptr, mat_attribute: i32, data: buf, data_size: usize)
cusparseLtMatmulDescriptorInit(handle: ptr, matmul_descr: new, op_a: i32, op_b: i32, mat_a: ptr, mat_b: ptr,
    mat_c: ptr, mat_d: ptr, compute_type: i32)
cusparseLtMatmulDescSetAttribute(handle: ptr, matmul_descr: ptr, matmul_attribute: i32, data: cbuf, data_size: usize)
cusparseLtMatmulDescGetAttribute(handle: ptr, matmul_descr: ptr, matmul_attribute: i32, data: buf, data_size: usize)
cusparseLtMatmulAlgSelectionInit(handle: ptr, alg_selection: new, matmul_descr: ptr, alg: i32)
cusparseLtMatmulAlgSelectionDestroy(alg_selection_ptr: end)
cusparseLtMatmulAlgSetAttribute(handle: ptr, alg_selection: ptr, attribute: i32, data: cbuf, data_size: usize)
cusparseLtMatmulAlgGetAttribute(handle: ptr, alg_selection: ptr, attribute: i32, data: buf, data_size: usize)
cusparseLtMatmulGetWorkspace(handle: ptr, plan: ptr, &workspace_size: usize)
cusparseLtMatmulPlanInit(handle: ptr, plan: new, matmul_descr: ptr, alg_selection: ptr)
cusparseLtMatmulPlanDestroy(plan_ptr: end)
cusparseLtMatmul(handle: ptr, plan: ptr, alpha: cbuf, d_a: ptr, d_b: ptr, beta: cbuf, d_c: ptr, d_d: ptr,
    workspace: ptr, streams: ptr, num_streams: i32)
cusparseLtMatmulSearch(handle: ptr, plan: ptr, alpha: cbuf, d_a: ptr, d_b: ptr, beta: cbuf, d_c: ptr, d_d: ptr,
    workspace: ptr, streams: ptr, num_streams: i32)
cusparseLtSpMMAPrune(handle: ptr, matmul_descr: ptr, d_in: ptr, d_out: ptr, prune_alg: i32, stream: ptr)
cusparseLtSpMMAPruneCheck(handle: ptr, matmul_descr: ptr, d_in: ptr, valid: ptr, stream: ptr)
cusparseLtSpMMAPrune2(handle: ptr, sparse_mat_descr: ptr, is_sparse_a: i32, op: i32, d_in: ptr, d_out: ptr,
    prune_alg: i32, stream: ptr)
cusparseLtSpMMAPruneCheck2(handle: ptr, sparse_mat_descr: ptr, is_sparse_a: i32, op: i32, d_in: ptr, d_valid: ptr,
    stream: ptr)
cusparseLtSpMMACompressedSize(handle: ptr, plan: ptr, &compressed_size: usize, &compressed_buffer_size: usize)
cusparseLtSpMMACompress(handle: ptr, plan: ptr, d_dense: ptr, d_compressed: ptr, d_compressed_buffer: ptr,
    stream: ptr)
cusparseLtSpMMACompressedSize2(handle: ptr, sparse_mat_descr: ptr, &compressed_size: usize,
    &compressed_buffer_size: usize)
cusparseLtSpMMACompress2(handle: ptr, sparse_mat_descr: ptr, is_sparse_a: i32, op: i32, d_dense: ptr,
    d_compressed: ptr, d_compressed_buffer: ptr, stream: ptr)
"""

#: Those of cuSPARSE.
_STATUSES = """
IntEnum _Status: SUCCESS=0 NOT_INITIALIZED=1 ALLOC_FAILED=2 INVALID_VALUE=3 ARCH_MISMATCH=4 MAPPING_ERROR=5
    EXECUTION_FAILED=6 INTERNAL_ERROR=7 MATRIX_TYPE_NOT_SUPPORTED=8 ZERO_PIVOT=9 NOT_SUPPORTED=10
    INSUFFICIENT_RESOURCES=11
"""

_ENUMS = """
IntEnum ComputeType: COMPUTE_32I=0 COMPUTE_16F=1 COMPUTE_32F=2
IntEnum MatDescAttribute: NUM_BATCHES=0 BATCH_STRIDE=1
IntEnum MatmulAlg: DEFAULT=0
IntEnum MatmulAlgAttribute: CONFIG_ID=0 CONFIG_MAX_ID=1 SEARCH_ITERATIONS=2 SPLIT_K=3 SPLIT_K_MODE=4 SPLIT_K_BUFFERS=5
IntEnum MatmulDescAttribute: ACTIVATION_RELU=0 ACTIVATION_RELU_UPPERBOUND=1 ACTIVATION_RELU_THRESHOLD=2
    ACTIVATION_GELU=3 ACTIVATION_GELU_SCALING=4 ALPHA_VECTOR_SCALING=5 BETA_VECTOR_SCALING=6 BIAS_STRIDE=7
    BIAS_POINTER=8 SPARSE_MAT_POINTER=9 A_SCALE_MODE=10 B_SCALE_MODE=11 C_SCALE_MODE=12 D_SCALE_MODE=13
    D_OUT_SCALE_MODE=14 A_SCALE_POINTER=15 B_SCALE_POINTER=16 C_SCALE_POINTER=17 D_SCALE_POINTER=18
    D_OUT_SCALE_POINTER=19
IntEnum MatmulMatrixScale: NONE=0 SCALAR_32F=1 VEC32_UE4M3=2 VEC64_UE8M0=3
IntEnum PruneAlg: SPMMA_TILE=0 SPMMA_STRIP=1
IntEnum Sparsity: SPARSITY_50_PERCENT=0
IntEnum SplitKMode: INVALID_MODE=0 ONE_KERNEL=1 TWO_KERNELS=2 HEURISTIC=3 DATAPARALLEL=4 SPLITK=5 STREAMK=6
"""

_DTYPES = """
get_mat_desc_attribute_dtype MatDescAttribute
    int64 BATCH_STRIDE
    int32 *
get_matmul_alg_attribute_dtype MatmulAlgAttribute int32 *
get_matmul_desc_attribute_dtype MatmulDescAttribute
    float32 ACTIVATION_RELU_UPPERBOUND ACTIVATION_RELU_THRESHOLD ACTIVATION_GELU_SCALING
    int64 BIAS_STRIDE BIAS_POINTER SPARSE_MAT_POINTER A_SCALE_POINTER B_SCALE_POINTER C_SCALE_POINTER
        D_SCALE_POINTER D_OUT_SCALE_POINTER
    int32 *
"""

_library = Bindings(
    "cusparseLt",
    globals(),
    prefix="cusparseLt",
    errors=Errors("cuSPARSELtError", "CUSPARSE_STATUS_", "_Status", explain="get_error_string"),
)
__getattr__, __dir__ = _library.resolve, _library.names


def matmul_descriptor_destroy(matmul_descr_ptr: int) -> None:
    """End the descriptor of a product: its memory is freed (C has no function for it).

    Parameters
    ----------
    matmul_descr_ptr : int
        Its address.
    """
    free(matmul_descr_ptr)
