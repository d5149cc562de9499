"""cuBLASMp (``cublasmp.h``): dense matrices that are distributed over CUDA devices."""
# ruff: noqa: N999, the public name

from __future__ import annotations

from nvmath.bindings._bind import Bindings, Errors

_ROWS = """
@ cublasmp.h
cublasMpCreate(&handle: ptr, stream: ptr)
cublasMpDestroy(handle: ptr)
cublasMpSetStream(handle: ptr, stream: ptr)
cublasMpGetStream(handle: ptr, &stream: ptr)
cublasMpSetEmulationStrategy(handle: ptr, emulation_strategy: i32)
cublasMpGetEmulationStrategy(handle: ptr, &emulation_strategy: i32)
cublasMpGetVersion(&version: i32)
cublasMpGridCreate(nprow: i64, npcol: i64, layout: i32, comm: ptr, &grid: ptr)
cublasMpGridDestroy(grid: ptr)
cublasMpBufferRegister(grid: ptr, ptr: ptr, size: usize)
cublasMpBufferDeregister(grid: ptr, ptr: ptr)
cublasMpMatrixDescriptorCreate(m: i64, n: i64, mb: i64, nb: i64, rsrc: i64, csrc: i64, lld: i64, type: i32, grid: ptr,
    &desc: ptr)
cublasMpMatrixDescriptorDestroy(desc: ptr)
cublasMpMatrixDescriptorInit(m: i64, n: i64, mb: i64, nb: i64, rsrc: i64, csrc: i64, lld: i64, type: i32, grid: ptr,
    desc: ptr)
cublasMpMatmulDescriptorCreate(&matmul_desc: ptr, compute_type: i32)
cublasMpMatmulDescriptorDestroy(matmul_desc: ptr)
cublasMpMatmulDescriptorInit(matmul_desc: ptr, compute_type: i32)
cublasMpMatmulDescriptorSetAttribute(matmul_desc: ptr, attr: i32, buf: cbuf, size_in_bytes: usize)
cublasMpMatmulDescriptorGetAttribute(matmul_desc: ptr, attr: i32, buf: buf, size_in_bytes: usize,
    size_written: buf<usize>)
cublasMpTrsm_bufferSize(handle: ptr, side: i32, uplo: i32, trans: i32, diag: i32, m: i64, n: i64, alpha: cbuf, a: ptr,
    ia: i64, ja: i64, desc_a: ptr, b: ptr, ib: i64, jb: i64, desc_b: ptr, compute_type: i32,
    &workspace_size_in_bytes_on_device: usize, &workspace_size_in_bytes_on_host: usize)
cublasMpTrsm(handle: ptr, side: i32, uplo: i32, trans: i32, diag: i32, m: i64, n: i64, alpha: cbuf, a: ptr, ia: i64,
    ja: i64, desc_a: ptr, b: ptr, ib: i64, jb: i64, desc_b: ptr, compute_type: i32, d_work: ptr,
    workspace_size_in_bytes_on_device: usize, h_work: buf, workspace_size_in_bytes_on_host: usize)
cublasMpGemm_bufferSize(handle: ptr, trans_a: i32, trans_b: i32, m: i64, n: i64, k: i64, alpha: cbuf, a: ptr, ia: i64,
    ja: i64, desc_a: ptr, b: ptr, ib: i64, jb: i64, desc_b: ptr, beta: cbuf, c: ptr, ic: i64, jc: i64, desc_c: ptr,
    compute_type: i32, &workspace_size_in_bytes_on_device: usize, &workspace_size_in_bytes_on_host: usize)
cublasMpGemm(handle: ptr, trans_a: i32, trans_b: i32, m: i64, n: i64, k: i64, alpha: cbuf, a: ptr, ia: i64, ja: i64,
    desc_a: ptr, b: ptr, ib: i64, jb: i64, desc_b: ptr, beta: cbuf, c: ptr, ic: i64, jc: i64, desc_c: ptr,
    compute_type: i32, d_work: ptr, workspace_size_in_bytes_on_device: usize, h_work: buf,
    workspace_size_in_bytes_on_host: usize)
cublasMpMatmul_bufferSize(handle: ptr, matmul_desc: ptr, m: i64, n: i64, k: i64, alpha: cbuf, a: ptr, ia: i64,
    ja: i64, desc_a: ptr, b: ptr, ib: i64, jb: i64, desc_b: ptr, beta: cbuf, c: ptr, ic: i64, jc: i64, desc_c: ptr,
    d: ptr, id: i64, jd: i64, desc_d: ptr, &workspace_size_in_bytes_on_device: usize,
    &workspace_size_in_bytes_on_host: usize)
cublasMpMatmul(handle: ptr, matmul_desc: ptr, m: i64, n: i64, k: i64, alpha: cbuf, a: ptr, ia: i64, ja: i64,
    desc_a: ptr, b: ptr, ib: i64, jb: i64, desc_b: ptr, beta: cbuf, c: ptr, ic: i64, jc: i64, desc_c: ptr, d: ptr,
    id: i64, jd: i64, desc_d: ptr, d_work: ptr, workspace_size_in_bytes_on_device: usize, h_work: buf,
    workspace_size_in_bytes_on_host: usize)
cublasMpSyrk_bufferSize(handle: ptr, uplo: i32, trans: i32, n: i64, k: i64, alpha: cbuf, a: ptr, ia: i64, ja: i64,
    desc_a: ptr, beta: cbuf, c: ptr, ic: i64, jc: i64, desc_c: ptr, compute_type: i32,
    &workspace_size_in_bytes_on_device: usize, &workspace_size_in_bytes_on_host: usize)
cublasMpSyrk(handle: ptr, uplo: i32, trans: i32, n: i64, k: i64, alpha: cbuf, a: ptr, ia: i64, ja: i64, desc_a: ptr,
    beta: cbuf, c: ptr, ic: i64, jc: i64, desc_c: ptr, compute_type: i32, d_work: ptr,
    workspace_size_in_bytes_on_device: usize, h_work: buf, workspace_size_in_bytes_on_host: usize)
cublasMpNumroc(n: i64, nb: i64, iproc: u32, isrcproc: u32, nprocs: u32) -> i64
cublasMpGetStatusString(status: i32) -> str
cublasMpGemr2D_bufferSize(handle: ptr, m: i64, n: i64, a: ptr, ia: i64, ja: i64, desc_a: ptr, b: ptr, ib: i64,
    jb: i64, desc_b: ptr, &workspace_size_in_bytes_on_device: usize, &workspace_size_in_bytes_on_host: usize,
    global_comm: ptr)
cublasMpGemr2D(handle: ptr, m: i64, n: i64, a: ptr, ia: i64, ja: i64, desc_a: ptr, b: ptr, ib: i64, jb: i64,
    desc_b: ptr, d_work: ptr, workspace_size_in_bytes_on_device: usize, h_work: buf,
    workspace_size_in_bytes_on_host: usize, global_comm: ptr)
cublasMpTrmr2D_bufferSize(handle: ptr, uplo: i32, diag: i32, m: i64, n: i64, a: ptr, ia: i64, ja: i64, desc_a: ptr,
    b: ptr, ib: i64, jb: i64, desc_b: ptr, &workspace_size_in_bytes_on_device: usize,
    &workspace_size_in_bytes_on_host: usize, global_comm: ptr)
cublasMpTrmr2D(handle: ptr, uplo: i32, diag: i32, m: i64, n: i64, a: ptr, ia: i64, ja: i64, desc_a: ptr, b: ptr,
    ib: i64, jb: i64, desc_b: ptr, d_work: ptr, workspace_size_in_bytes_on_device: usize, h_work: buf,
    workspace_size_in_bytes_on_host: usize, global_comm: ptr)
cublasMpGeadd_bufferSize(handle: ptr, trans: i32, m: i64, n: i64, alpha: cbuf, a: ptr, ia: i64, ja: i64, desc_a: ptr,
    beta: cbuf, c: ptr, ic: i64, jc: i64, desc_c: ptr, &workspace_size_in_bytes_on_device: usize,
    &workspace_size_in_bytes_on_host: usize)
cublasMpGeadd(handle: ptr, trans: i32, m: i64, n: i64, alpha: cbuf, a: ptr, ia: i64, ja: i64, desc_a: ptr, beta: cbuf,
    c: ptr, ic: i64, jc: i64, desc_c: ptr, d_work: ptr, workspace_size_in_bytes_on_device: usize, h_work: buf,
    workspace_size_in_bytes_on_host: usize)
cublasMpTradd_bufferSize(handle: ptr, uplo: i32, trans: i32, m: i64, n: i64, alpha: cbuf, a: ptr, ia: i64, ja: i64,
    desc_a: ptr, beta: cbuf, c: ptr, ic: i64, jc: i64, desc_c: ptr, &workspace_size_in_bytes_on_device: usize,
    &workspace_size_in_bytes_on_host: usize)
cublasMpTradd(handle: ptr, uplo: i32, trans: i32, m: i64, n: i64, alpha: cbuf, a: ptr, ia: i64, ja: i64, desc_a: ptr,
    beta: cbuf, c: ptr, ic: i64, jc: i64, desc_c: ptr, d_work: ptr, workspace_size_in_bytes_on_device: usize,
    h_work: buf, workspace_size_in_bytes_on_host: usize)
cublasMpMalloc(grid: ptr, &ptr: ptr, size: usize)
cublasMpFree(grid: ptr, ptr: ptr)
cublasMpLoggerSetCallback(callback: ptr)
cublasMpLoggerSetFile(file: ptr)
cublasMpLoggerOpenFile(log_file: str)
cublasMpLoggerSetLevel(level: i32)
cublasMpLoggerSetMask(mask: i32)
cublasMpLoggerForceDisable()
@ cublasmp.h 0.9+
cublasMpSetFixedPointEmulationMaxMantissaBitCount(handle: ptr, bit_count: i32)
cublasMpGetFixedPointEmulationMaxMantissaBitCount(handle: ptr, &bit_count: i32)
cublasMpSetFixedPointEmulationMantissaBitOffset(handle: ptr, bit_offset: i32)
cublasMpGetFixedPointEmulationMantissaBitOffset(handle: ptr, bit_offset: ptr)
cublasMpSetFixedPointEmulationMantissaBitCountPointer(handle: ptr, ptr: ptr)
cublasMpGetFixedPointEmulationMantissaBitCountPointer(handle: ptr, ptr: ptr)
cublasMpSyr2k_bufferSize(handle: ptr, uplo: i32, trans: i32, n: i64, k: i64, alpha: cbuf, a: ptr, ia: i64, ja: i64,
    desc_a: ptr, b: ptr, ib: i64, jb: i64, desc_b: ptr, beta: cbuf, c: ptr, ic: i64, jc: i64, desc_c: ptr,
    compute_type: i32, &workspace_size_in_bytes_on_device: usize, &workspace_size_in_bytes_on_host: usize)
cublasMpSyr2k(handle: ptr, uplo: i32, trans: i32, n: i64, k: i64, alpha: cbuf, a: ptr, ia: i64, ja: i64, desc_a: ptr,
    b: ptr, ib: i64, jb: i64, desc_b: ptr, beta: cbuf, c: ptr, ic: i64, jc: i64, desc_c: ptr, compute_type: i32,
    d_work: ptr, workspace_size_in_bytes_on_device: usize, h_work: buf, workspace_size_in_bytes_on_host: usize)
cublasMpSyrkx_bufferSize(handle: ptr, uplo: i32, trans: i32, n: i64, k: i64, alpha: cbuf, a: ptr, ia: i64, ja: i64,
    desc_a: ptr, b: ptr, ib: i64, jb: i64, desc_b: ptr, beta: cbuf, c: ptr, ic: i64, jc: i64, desc_c: ptr,
    compute_type: i32, &workspace_size_in_bytes_on_device: usize, &workspace_size_in_bytes_on_host: usize)
cublasMpSyrkx(handle: ptr, uplo: i32, trans: i32, n: i64, k: i64, alpha: cbuf, a: ptr, ia: i64, ja: i64, desc_a: ptr,
    b: ptr, ib: i64, jb: i64, desc_b: ptr, beta: cbuf, c: ptr, ic: i64, jc: i64, desc_c: ptr, compute_type: i32,
    d_work: ptr, workspace_size_in_bytes_on_device: usize, h_work: buf, workspace_size_in_bytes_on_host: usize)
cublasMpSymm_bufferSize(handle: ptr, side: i32, uplo: i32, m: i64, n: i64, alpha: cbuf, a: ptr, ia: i64, ja: i64,
    desc_a: ptr, b: ptr, ib: i64, jb: i64, desc_b: ptr, beta: cbuf, c: ptr, ic: i64, jc: i64, desc_c: ptr,
    compute_type: i32, &workspace_size_in_bytes_on_device: usize, &workspace_size_in_bytes_on_host: usize)
cublasMpSymm(handle: ptr, side: i32, uplo: i32, m: i64, n: i64, alpha: cbuf, a: ptr, ia: i64, ja: i64, desc_a: ptr,
    b: ptr, ib: i64, jb: i64, desc_b: ptr, beta: cbuf, c: ptr, ic: i64, jc: i64, desc_c: ptr, compute_type: i32,
    d_work: ptr, workspace_size_in_bytes_on_device: usize, h_work: buf, workspace_size_in_bytes_on_host: usize)
cublasMpHerk_bufferSize(handle: ptr, uplo: i32, trans: i32, n: i64, k: i64, alpha: cbuf, a: ptr, ia: i64, ja: i64,
    desc_a: ptr, beta: cbuf, c: ptr, ic: i64, jc: i64, desc_c: ptr, compute_type: i32,
    &workspace_size_in_bytes_on_device: usize, &workspace_size_in_bytes_on_host: usize)
cublasMpHerk(handle: ptr, uplo: i32, trans: i32, n: i64, k: i64, alpha: cbuf, a: ptr, ia: i64, ja: i64, desc_a: ptr,
    beta: cbuf, c: ptr, ic: i64, jc: i64, desc_c: ptr, compute_type: i32, d_work: ptr,
    workspace_size_in_bytes_on_device: usize, h_work: buf, workspace_size_in_bytes_on_host: usize)
cublasMpHer2k_bufferSize(handle: ptr, uplo: i32, trans: i32, n: i64, k: i64, alpha: cbuf, a: ptr, ia: i64, ja: i64,
    desc_a: ptr, b: ptr, ib: i64, jb: i64, desc_b: ptr, beta: cbuf, c: ptr, ic: i64, jc: i64, desc_c: ptr,
    compute_type: i32, &workspace_size_in_bytes_on_device: usize, &workspace_size_in_bytes_on_host: usize)
cublasMpHer2k(handle: ptr, uplo: i32, trans: i32, n: i64, k: i64, alpha: cbuf, a: ptr, ia: i64, ja: i64, desc_a: ptr,
    b: ptr, ib: i64, jb: i64, desc_b: ptr, beta: cbuf, c: ptr, ic: i64, jc: i64, desc_c: ptr, compute_type: i32,
    d_work: ptr, workspace_size_in_bytes_on_device: usize, h_work: buf, workspace_size_in_bytes_on_host: usize)
cublasMpHerkx_bufferSize(handle: ptr, uplo: i32, trans: i32, n: i64, k: i64, alpha: cbuf, a: ptr, ia: i64, ja: i64,
    desc_a: ptr, b: ptr, ib: i64, jb: i64, desc_b: ptr, beta: cbuf, c: ptr, ic: i64, jc: i64, desc_c: ptr,
    compute_type: i32, &workspace_size_in_bytes_on_device: usize, &workspace_size_in_bytes_on_host: usize)
cublasMpHerkx(handle: ptr, uplo: i32, trans: i32, n: i64, k: i64, alpha: cbuf, a: ptr, ia: i64, ja: i64, desc_a: ptr,
    b: ptr, ib: i64, jb: i64, desc_b: ptr, beta: cbuf, c: ptr, ic: i64, jc: i64, desc_c: ptr, compute_type: i32,
    d_work: ptr, workspace_size_in_bytes_on_device: usize, h_work: buf, workspace_size_in_bytes_on_host: usize)
cublasMpHemm_bufferSize(handle: ptr, side: i32, uplo: i32, m: i64, n: i64, alpha: cbuf, a: ptr, ia: i64, ja: i64,
    desc_a: ptr, b: ptr, ib: i64, jb: i64, desc_b: ptr, beta: cbuf, c: ptr, ic: i64, jc: i64, desc_c: ptr,
    compute_type: i32, &workspace_size_in_bytes_on_device: usize, &workspace_size_in_bytes_on_host: usize)
cublasMpHemm(handle: ptr, side: i32, uplo: i32, m: i64, n: i64, alpha: cbuf, a: ptr, ia: i64, ja: i64, desc_a: ptr,
    b: ptr, ib: i64, jb: i64, desc_b: ptr, beta: cbuf, c: ptr, ic: i64, jc: i64, desc_c: ptr, compute_type: i32,
    d_work: ptr, workspace_size_in_bytes_on_device: usize, h_work: buf, workspace_size_in_bytes_on_host: usize)
cublasMpTrmm_bufferSize(handle: ptr, side: i32, uplo: i32, trans: i32, diag: i32, m: i64, n: i64, alpha: cbuf, a: ptr,
    ia: i64, ja: i64, desc_a: ptr, b: ptr, ib: i64, jb: i64, desc_b: ptr, c: ptr, ic: i64, jc: i64, desc_c: ptr,
    compute_type: i32, &workspace_size_in_bytes_on_device: usize, &workspace_size_in_bytes_on_host: usize)
cublasMpTrmm(handle: ptr, side: i32, uplo: i32, trans: i32, diag: i32, m: i64, n: i64, alpha: cbuf, a: ptr, ia: i64,
    ja: i64, desc_a: ptr, b: ptr, ib: i64, jb: i64, desc_b: ptr, c: ptr, ic: i64, jc: i64, desc_c: ptr,
    compute_type: i32, d_work: ptr, workspace_size_in_bytes_on_device: usize, h_work: buf,
    workspace_size_in_bytes_on_host: usize)
cublasMpSetFixedPointEmulationMantissaControl(handle: ptr, mantissa_control: i32)
cublasMpGetFixedPointEmulationMantissaControl(handle: ptr, mantissa_control: ptr)
cublasMpSetEmulationSpecialValuesSupport(handle: ptr, mask: i32)
cublasMpGetEmulationSpecialValuesSupport(handle: ptr, mask: ptr)
"""

_ENUMS = """
IntEnum EmulationStrategy: DEFAULT=0 PERFORMANT=1 EAGER=2
IntEnum GridLayout: COL_MAJOR=0 ROW_MAJOR=1
IntEnum MatmulAlgoType: DEFAULT=0 SPLIT_P2P=1 SPLIT_MULTICAST=2 ATOMIC_P2P=3 ATOMIC_MULTICAST=4 NO_OVERLAP=5 FUSED=6
IntEnum MatmulDescriptorAttribute: TRANSA=0 TRANSB=1 COMPUTE_TYPE=2 ALGO_TYPE=3 COMMUNICATION_SM_COUNT=4 EPILOGUE=5
    BIAS_POINTER=6 BIAS_BATCH_STRIDE=7 BIAS_DATA_TYPE=8 EPILOGUE_AUX_POINTER=9 EPILOGUE_AUX_LD=10
    EPILOGUE_AUX_BATCH_STRIDE=11 EPILOGUE_AUX_DATA_TYPE=12 EPILOGUE_AUX_SCALE_POINTER=13 EPILOGUE_AUX_AMAX_POINTER=14
    EPILOGUE_AUX_SCALE_MODE=15 A_SCALE_POINTER=16 A_SCALE_MODE=17 B_SCALE_POINTER=18 B_SCALE_MODE=19
    C_SCALE_POINTER=20 C_SCALE_MODE=21 D_SCALE_POINTER=22 D_SCALE_MODE=23 AMAX_D_POINTER=24 D_OUT_SCALE_POINTER=25
    D_OUT_SCALE_MODE=26 COMMUNICATION_TYPE=27 BIAS_RESULT_SCHEME=28
IntEnum MatmulEpilogue: DEFAULT=0 ALLREDUCE=1 RELU=2 BIAS=4 RELU_BIAS=6 GELU=32 GELU_BIAS=36 RELU_AUX=130
    RELU_AUX_BIAS=134 DRELU=136 DRELU_BGRAD=152 GELU_AUX=160 GELU_AUX_BIAS=164 DGELU=192 DGELU_BGRAD=208 BGRADA=256
    BGRADB=512
IntEnum MatmulMatrixScale: SCALAR_FP32=0 VEC16_UE4M3=1 VEC32_UE8M0=2 OUTER_VEC_FP32=3 VEC128_FP32=4 BLK128x128_FP32=5
IntEnum ResultScheme: DEFAULT=0 PARTIAL=1 FULL=2
IntEnum Status: SUCCESS=0 NOT_INITIALIZED=1 ALLOCATION_FAILED=2 INVALID_VALUE=3 ARCHITECTURE_MISMATCH=4
    EXECUTION_FAILED=5 INTERNAL_ERROR=6 NOT_SUPPORTED=7
"""

_DTYPES = """
get_matmul_descriptor_attribute_dtype MatmulDescriptorAttribute
    int64 BIAS_POINTER BIAS_BATCH_STRIDE EPILOGUE_AUX_POINTER EPILOGUE_AUX_LD EPILOGUE_AUX_BATCH_STRIDE
        EPILOGUE_AUX_SCALE_POINTER EPILOGUE_AUX_AMAX_POINTER A_SCALE_POINTER B_SCALE_POINTER C_SCALE_POINTER
        D_SCALE_POINTER AMAX_D_POINTER D_OUT_SCALE_POINTER
    int32 *
"""

_library = Bindings(
    "cublasMp",
    globals(),
    prefix="cublasMp",
    errors=Errors("cuBLASMpError", "CUBLASMP_STATUS_", explain="get_status_string"),
)
__getattr__, __dir__ = _library.resolve, _library.names
