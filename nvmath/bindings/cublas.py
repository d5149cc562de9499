"""cuBLAS (``cublas_v2.h``): vectors and matrices on CUDA devices."""

from __future__ import annotations

from nvmath.bindings._bind import Bindings, Errors

_ROWS = """
@ cublas_api.h
cublasCreate_v2(&handle: ptr)
cublasDestroy_v2(handle: ptr)
cublasGetVersion_v2(handle: ptr, &version: i32)
cublasGetProperty(type: i32, &value: i32)
cublasGetCudartVersion() -> usize
cublasSetWorkspace_v2(handle: ptr, workspace: ptr, workspace_size_in_bytes: usize)
cublasSetStream_v2(handle: ptr, stream_id: ptr)
cublasGetStream_v2(handle: ptr, &stream_id: ptr)
cublasGetPointerMode_v2(handle: ptr, &mode: i32)
cublasSetPointerMode_v2(handle: ptr, mode: i32)
cublasGetAtomicsMode(handle: ptr, &mode: i32)
cublasSetAtomicsMode(handle: ptr, mode: i32)
cublasGetMathMode(handle: ptr, &mode: i32)
cublasSetMathMode(handle: ptr, mode: i32)
cublasGetSmCountTarget(handle: ptr, &sm_count_target: i32)
cublasSetSmCountTarget(handle: ptr, sm_count_target: i32)
cublasGetEmulationStrategy(handle: ptr, &emulation_strategy: i32)
cublasSetEmulationStrategy(handle: ptr, emulation_strategy: i32)
cublasGetStatusName(status: i32) -> str
cublasGetStatusString(status: i32) -> str
cublasLoggerConfigure(log_is_on: i32, log_to_std_out: i32, log_to_std_err: i32, log_file_name: str)
cublasSetLoggerCallback(user_callback: ptr)
cublasGetLoggerCallback(user_callback: ptr)
cublasSetVector[_64](n: int, elem_size: int, x: cbuf, incx: int, device_ptr: ptr, incy: int)
cublasGetVector[_64](n: int, elem_size: int, x: ptr, incx: int, y: buf, incy: int)
cublasSetMatrix[_64](rows: int, cols: int, elem_size: int, a: cbuf, lda: int, b: ptr, ldb: int)
cublasGetMatrix[_64](rows: int, cols: int, elem_size: int, a: ptr, lda: int, b: buf, ldb: int)
cublasSetVectorAsync[_64](n: int, elem_size: int, host_ptr: ptr, incx: int, device_ptr: ptr, incy: int, stream: ptr)
cublasGetVectorAsync[_64](n: int, elem_size: int, device_ptr: ptr, incx: int, host_ptr: ptr, incy: int, stream: ptr)
cublasSetMatrixAsync[_64](rows: int, cols: int, elem_size: int, a: ptr, lda: int, b: ptr, ldb: int, stream: ptr)
cublasGetMatrixAsync[_64](rows: int, cols: int, elem_size: int, a: ptr, lda: int, b: ptr, ldb: int, stream: ptr)
nrm2_ex = cublasNrm2Ex(handle: ptr, n: i32, x: ptr, x_type: i32, incx: i32, result: buf, result_type: i32,
    execution_type: i32)
cublasNrm2Ex_64(handle: ptr, n: i64, x: ptr, x_type: i32, incx: i64, result: buf, result_type: i32,
    execution_type: i32)
cublas{S,D}nrm2_v2[_64](handle: ptr, n: int, x: ptr, incx: int, result: buf<{f32,f64}>)
cublasScnrm2_v2[_64](handle: ptr, n: int, x: ptr, incx: int, result: buf<f32>)
cublasDznrm2_v2[_64](handle: ptr, n: int, x: ptr, incx: int, result: buf<f64>)
cublasDotEx[_64](handle: ptr, n: int, x: ptr, x_type: i32, incx: int, y: ptr, y_type: i32, incy: int, result: buf,
    result_type: i32, execution_type: i32)
cublasDotcEx[_64](handle: ptr, n: int, x: ptr, x_type: i32, incx: int, y: ptr, y_type: i32, incy: int, result: buf,
    result_type: i32, execution_type: i32)
cublas{S,D}dot_v2[_64](handle: ptr, n: int, x: ptr, incx: int, y: ptr, incy: int, result: buf<{f32,f64}>)
cublas{C,Z}dotu_v2[_64](handle: ptr, n: int, x: ptr, incx: int, y: ptr, incy: int, result: buf<{c64,c128}>)
cublas{C,Z}dotc_v2[_64](handle: ptr, n: int, x: ptr, incx: int, y: ptr, incy: int, result: buf<{c64,c128}>)
cublasScalEx[_64](handle: ptr, n: int, alpha: cbuf, alpha_type: i32, x: ptr, x_type: i32, incx: int,
    execution_type: i32)
cublas{S,D,C,Z}scal_v2[_64](handle: ptr, n: int, alpha: cbuf<{f32,f64,c64,c128}>, x: ptr, incx: int)
cublasCsscal_v2[_64](handle: ptr, n: int, alpha: cbuf<f32>, x: ptr, incx: int)
cublasZdscal_v2[_64](handle: ptr, n: int, alpha: cbuf<f64>, x: ptr, incx: int)
cublasAxpyEx[_64](handle: ptr, n: int, alpha: cbuf, alpha_type: i32, x: ptr, x_type: i32, incx: int, y: ptr,
    y_type: i32, incy: int, executiontype: i32)
cublas{S,D,C,Z}axpy_v2[_64](handle: ptr, n: int, alpha: cbuf<{f32,f64,c64,c128}>, x: ptr, incx: int, y: ptr,
    incy: int)
cublasCopyEx[_64](handle: ptr, n: int, x: ptr, x_type: i32, incx: int, y: ptr, y_type: i32, incy: int)
cublas{S,D,C,Z}copy_v2[_64](handle: ptr, n: int, x: ptr, incx: int, y: ptr, incy: int)
cublas{S,D,C,Z}swap_v2[_64](handle: ptr, n: int, x: ptr, incx: int, y: ptr, incy: int)
cublasSwapEx[_64](handle: ptr, n: int, x: ptr, x_type: i32, incx: int, y: ptr, y_type: i32, incy: int)
cublasIsamax_v2[_64](handle: ptr, n: int, x: ptr, incx: int, result: buf<int>)
cublasIdamax_v2[_64](handle: ptr, n: int, x: ptr, incx: int, result: buf<int>)
cublasIcamax_v2[_64](handle: ptr, n: int, x: ptr, incx: int, result: buf<int>)
cublasIzamax_v2[_64](handle: ptr, n: int, x: ptr, incx: int, result: buf<int>)
cublasIamaxEx[_64](handle: ptr, n: int, x: ptr, x_type: i32, incx: int, result: buf<int>)
cublasIsamin_v2[_64](handle: ptr, n: int, x: ptr, incx: int, result: buf<int>)
cublasIdamin_v2[_64](handle: ptr, n: int, x: ptr, incx: int, result: buf<int>)
cublasIcamin_v2[_64](handle: ptr, n: int, x: ptr, incx: int, result: buf<int>)
cublasIzamin_v2[_64](handle: ptr, n: int, x: ptr, incx: int, result: buf<int>)
cublasIaminEx[_64](handle: ptr, n: int, x: ptr, x_type: i32, incx: int, result: buf<int>)
cublasAsumEx[_64](handle: ptr, n: int, x: ptr, x_type: i32, incx: int, result: buf, result_type: i32,
    executiontype: i32)
cublas{S,D}asum_v2[_64](handle: ptr, n: int, x: ptr, incx: int, result: buf<{f32,f64}>)
cublasScasum_v2[_64](handle: ptr, n: int, x: ptr, incx: int, result: buf<f32>)
cublasDzasum_v2[_64](handle: ptr, n: int, x: ptr, incx: int, result: buf<f64>)
cublas{S,D,C,Z}rot_v2[_64](handle: ptr, n: int, x: ptr, incx: int, y: ptr, incy: int, c: cbuf<{f32,f64,f32,f64}>,
    s: cbuf<{f32,f64,c64,c128}>)
cublasCsrot_v2[_64](handle: ptr, n: int, x: ptr, incx: int, y: ptr, incy: int, c: cbuf<f32>, s: cbuf<f32>)
cublasZdrot_v2[_64](handle: ptr, n: int, x: ptr, incx: int, y: ptr, incy: int, c: cbuf<f64>, s: cbuf<f64>)
cublasRotEx[_64](handle: ptr, n: int, x: ptr, x_type: i32, incx: int, y: ptr, y_type: i32, incy: int, c: ptr, s: ptr,
    cs_type: i32, executiontype: i32)
cublas{S,D,C,Z}rotg_v2(handle: ptr, a: buf<{f32,f64,c64,c128}>, b: buf<{f32,f64,c64,c128}>, c: buf<{f32,f64,f32,f64}>,
    s: buf<{f32,f64,c64,c128}>)
cublasRotgEx(handle: ptr, a: ptr, b: ptr, ab_type: i32, c: ptr, s: ptr, cs_type: i32, executiontype: i32)
cublas{S,D}rotm_v2[_64](handle: ptr, n: int, x: ptr, incx: int, y: ptr, incy: int, param: cbuf<{f32,f64}>)
cublasRotmEx[_64](handle: ptr, n: int, x: ptr, x_type: i32, incx: int, y: ptr, y_type: i32, incy: int, param: cbuf,
    param_type: i32, executiontype: i32)
cublas{S,D}rotmg_v2(handle: ptr, d1: buf<{f32,f64}>, d2: buf<{f32,f64}>, x1: buf<{f32,f64}>, y1: cbuf<{f32,f64}>,
    param: buf<{f32,f64}>)
cublasRotmgEx(handle: ptr, d1: buf, d1type: i32, d2: buf, d2type: i32, x1: buf, x1type: i32, y1: cbuf, y1type: i32,
    param: buf, param_type: i32, executiontype: i32)
cublas{S,D,C,Z}gemv_v2[_64](handle: ptr, trans: i32, m: int, n: int, alpha: cbuf<{f32,f64,c64,c128}>, a: ptr,
    lda: int, x: ptr, incx: int, beta: cbuf<{f32,f64,c64,c128}>, y: ptr, incy: int)
cublas{S,D,C,Z}gbmv_v2[_64](handle: ptr, trans: i32, m: int, n: int, kl: int, ku: int,
    alpha: cbuf<{f32,f64,c64,c128}>, a: ptr, lda: int, x: ptr, incx: int, beta: cbuf<{f32,f64,c64,c128}>, y: ptr,
    incy: int)
cublas{S,D,C,Z}trmv_v2[_64](handle: ptr, uplo: i32, trans: i32, diag: i32, n: int, a: ptr, lda: int, x: ptr,
    incx: int)
cublas{S,D,C,Z}tbmv_v2[_64](handle: ptr, uplo: i32, trans: i32, diag: i32, n: int, k: int, a: ptr, lda: int, x: ptr,
    incx: int)
cublas{S,D,C,Z}tpmv_v2[_64](handle: ptr, uplo: i32, trans: i32, diag: i32, n: int, ap: ptr, x: ptr, incx: int)
cublas{S,D,C,Z}trsv_v2[_64](handle: ptr, uplo: i32, trans: i32, diag: i32, n: int, a: ptr, lda: int, x: ptr,
    incx: int)
cublas{S,D,C,Z}tpsv_v2[_64](handle: ptr, uplo: i32, trans: i32, diag: i32, n: int, ap: ptr, x: ptr, incx: int)
cublas{S,D,C,Z}tbsv_v2[_64](handle: ptr, uplo: i32, trans: i32, diag: i32, n: int, k: int, a: ptr, lda: int, x: ptr,
    incx: int)
cublas{S,D,C,Z}symv_v2[_64](handle: ptr, uplo: i32, n: int, alpha: cbuf<{f32,f64,c64,c128}>, a: ptr, lda: int, x: ptr,
    incx: int, beta: cbuf<{f32,f64,c64,c128}>, y: ptr, incy: int)
cublas{C,Z}hemv_v2[_64](handle: ptr, uplo: i32, n: int, alpha: cbuf<{c64,c128}>, a: ptr, lda: int, x: ptr, incx: int,
    beta: cbuf<{c64,c128}>, y: ptr, incy: int)
cublas{S,D}sbmv_v2[_64](handle: ptr, uplo: i32, n: int, k: int, alpha: cbuf<{f32,f64}>, a: ptr, lda: int, x: ptr,
    incx: int, beta: cbuf<{f32,f64}>, y: ptr, incy: int)
cublas{C,Z}hbmv_v2[_64](handle: ptr, uplo: i32, n: int, k: int, alpha: cbuf<{c64,c128}>, a: ptr, lda: int, x: ptr,
    incx: int, beta: cbuf<{c64,c128}>, y: ptr, incy: int)
cublas{S,D}spmv_v2[_64](handle: ptr, uplo: i32, n: int, alpha: cbuf<{f32,f64}>, ap: ptr, x: ptr, incx: int,
    beta: cbuf<{f32,f64}>, y: ptr, incy: int)
cublas{C,Z}hpmv_v2[_64](handle: ptr, uplo: i32, n: int, alpha: cbuf<{c64,c128}>, ap: ptr, x: ptr, incx: int,
    beta: cbuf<{c64,c128}>, y: ptr, incy: int)
cublas{S,D}ger_v2[_64](handle: ptr, m: int, n: int, alpha: cbuf<{f32,f64}>, x: ptr, incx: int, y: ptr, incy: int,
    a: ptr, lda: int)
cublas{C,Z}geru_v2[_64](handle: ptr, m: int, n: int, alpha: cbuf<{c64,c128}>, x: ptr, incx: int, y: ptr, incy: int,
    a: ptr, lda: int)
cublas{C,Z}gerc_v2[_64](handle: ptr, m: int, n: int, alpha: cbuf<{c64,c128}>, x: ptr, incx: int, y: ptr, incy: int,
    a: ptr, lda: int)
cublas{S,D,C,Z}syr_v2[_64](handle: ptr, uplo: i32, n: int, alpha: cbuf<{f32,f64,c64,c128}>, x: ptr, incx: int, a: ptr,
    lda: int)
cublas{C,Z}her_v2[_64](handle: ptr, uplo: i32, n: int, alpha: cbuf<{f32,f64}>, x: ptr, incx: int, a: ptr, lda: int)
cublas{S,D}spr_v2[_64](handle: ptr, uplo: i32, n: int, alpha: cbuf<{f32,f64}>, x: ptr, incx: int, ap: ptr)
cublas{C,Z}hpr_v2[_64](handle: ptr, uplo: i32, n: int, alpha: cbuf<{f32,f64}>, x: ptr, incx: int, ap: ptr)
cublas{S,D,C,Z}syr2_v2[_64](handle: ptr, uplo: i32, n: int, alpha: cbuf<{f32,f64,c64,c128}>, x: ptr, incx: int,
    y: ptr, incy: int, a: ptr, lda: int)
cublas{C,Z}her2_v2[_64](handle: ptr, uplo: i32, n: int, alpha: cbuf<{c64,c128}>, x: ptr, incx: int, y: ptr, incy: int,
    a: ptr, lda: int)
cublas{S,D}spr2_v2[_64](handle: ptr, uplo: i32, n: int, alpha: cbuf<{f32,f64}>, x: ptr, incx: int, y: ptr, incy: int,
    ap: ptr)
cublas{C,Z}hpr2_v2[_64](handle: ptr, uplo: i32, n: int, alpha: cbuf<{c64,c128}>, x: ptr, incx: int, y: ptr, incy: int,
    ap: ptr)
cublas{S,D,C,Z}gemvBatched[_64](handle: ptr, trans: i32, m: int, n: int, alpha: cbuf<{f32,f64,c64,c128}>, aarray: ptr,
    lda: int, xarray: ptr, incx: int, beta: cbuf<{f32,f64,c64,c128}>, yarray: ptr, incy: int, batch_count: int)
cublas{S,D,C,Z}gemvStridedBatched[_64](handle: ptr, trans: i32, m: int, n: int, alpha: cbuf<{f32,f64,c64,c128}>,
    a: ptr, lda: int, stride_a: i64, x: ptr, incx: int, stridex: i64, beta: cbuf<{f32,f64,c64,c128}>, y: ptr,
    incy: int, stridey: i64, batch_count: int)
cublas{S,D,C,Z}gemm_v2[_64](handle: ptr, transa: i32, transb: i32, m: int, n: int, k: int,
    alpha: cbuf<{f32,f64,c64,c128}>, a: ptr, lda: int, b: ptr, ldb: int, beta: cbuf<{f32,f64,c64,c128}>, c: ptr,
    ldc: int)
cublas{C,Z}gemm3m[_64](handle: ptr, transa: i32, transb: i32, m: int, n: int, k: int, alpha: cbuf<{c64,c128}>, a: ptr,
    lda: int, b: ptr, ldb: int, beta: cbuf<{c64,c128}>, c: ptr, ldc: int)
cublasCgemm3mEx[_64](handle: ptr, transa: i32, transb: i32, m: int, n: int, k: int, alpha: cbuf<c64>, a: ptr,
    atype: i32, lda: int, b: ptr, btype: i32, ldb: int, beta: cbuf<c64>, c: ptr, ctype: i32, ldc: int)
cublas{S,C}gemmEx[_64](handle: ptr, transa: i32, transb: i32, m: int, n: int, k: int, alpha: cbuf<{f32,c64}>, a: ptr,
    atype: i32, lda: int, b: ptr, btype: i32, ldb: int, beta: cbuf<{f32,c64}>, c: ptr, ctype: i32, ldc: int)
cublasGemmEx[_64](handle: ptr, transa: i32, transb: i32, m: int, n: int, k: int, alpha: cbuf, a: ptr, atype: i32,
    lda: int, b: ptr, btype: i32, ldb: int, beta: cbuf, c: ptr, ctype: i32, ldc: int, compute_type: i32, algo: i32)
cublas{S,D,C,Z}syrk_v2[_64](handle: ptr, uplo: i32, trans: i32, n: int, k: int, alpha: cbuf<{f32,f64,c64,c128}>,
    a: ptr, lda: int, beta: cbuf<{f32,f64,c64,c128}>, c: ptr, ldc: int)
cublasCsyrkEx[_64](handle: ptr, uplo: i32, trans: i32, n: int, k: int, alpha: cbuf<c64>, a: ptr, atype: i32, lda: int,
    beta: cbuf<c64>, c: ptr, ctype: i32, ldc: int)
cublasCsyrk3mEx[_64](handle: ptr, uplo: i32, trans: i32, n: int, k: int, alpha: cbuf<c64>, a: ptr, atype: i32,
    lda: int, beta: cbuf<c64>, c: ptr, ctype: i32, ldc: int)
cublas{C,Z}herk_v2[_64](handle: ptr, uplo: i32, trans: i32, n: int, k: int, alpha: cbuf<{f32,f64}>, a: ptr, lda: int,
    beta: cbuf<{f32,f64}>, c: ptr, ldc: int)
cublasCherkEx[_64](handle: ptr, uplo: i32, trans: i32, n: int, k: int, alpha: cbuf<f32>, a: ptr, atype: i32, lda: int,
    beta: cbuf<f32>, c: ptr, ctype: i32, ldc: int)
cublasCherk3mEx[_64](handle: ptr, uplo: i32, trans: i32, n: int, k: int, alpha: cbuf<f32>, a: ptr, atype: i32,
    lda: int, beta: cbuf<f32>, c: ptr, ctype: i32, ldc: int)
cublas{S,D,C,Z}syr2k_v2[_64](handle: ptr, uplo: i32, trans: i32, n: int, k: int, alpha: cbuf<{f32,f64,c64,c128}>,
    a: ptr, lda: int, b: ptr, ldb: int, beta: cbuf<{f32,f64,c64,c128}>, c: ptr, ldc: int)
cublas{C,Z}her2k_v2[_64](handle: ptr, uplo: i32, trans: i32, n: int, k: int, alpha: cbuf<{c64,c128}>, a: ptr,
    lda: int, b: ptr, ldb: int, beta: cbuf<{f32,f64}>, c: ptr, ldc: int)
cublas{S,D,C,Z}syrkx[_64](handle: ptr, uplo: i32, trans: i32, n: int, k: int, alpha: cbuf<{f32,f64,c64,c128}>, a: ptr,
    lda: int, b: ptr, ldb: int, beta: cbuf<{f32,f64,c64,c128}>, c: ptr, ldc: int)
cublas{C,Z}herkx[_64](handle: ptr, uplo: i32, trans: i32, n: int, k: int, alpha: cbuf<{c64,c128}>, a: ptr, lda: int,
    b: ptr, ldb: int, beta: cbuf<{f32,f64}>, c: ptr, ldc: int)
cublas{S,D,C,Z}symm_v2[_64](handle: ptr, side: i32, uplo: i32, m: int, n: int, alpha: cbuf<{f32,f64,c64,c128}>,
    a: ptr, lda: int, b: ptr, ldb: int, beta: cbuf<{f32,f64,c64,c128}>, c: ptr, ldc: int)
cublas{C,Z}hemm_v2[_64](handle: ptr, side: i32, uplo: i32, m: int, n: int, alpha: cbuf<{c64,c128}>, a: ptr, lda: int,
    b: ptr, ldb: int, beta: cbuf<{c64,c128}>, c: ptr, ldc: int)
cublas{S,D,C,Z}trsm_v2[_64](handle: ptr, side: i32, uplo: i32, trans: i32, diag: i32, m: int, n: int,
    alpha: cbuf<{f32,f64,c64,c128}>, a: ptr, lda: int, b: ptr, ldb: int)
cublas{S,D,C,Z}trmm_v2[_64](handle: ptr, side: i32, uplo: i32, trans: i32, diag: i32, m: int, n: int,
    alpha: cbuf<{f32,f64,c64,c128}>, a: ptr, lda: int, b: ptr, ldb: int, c: ptr, ldc: int)
cublas{S,D,C,Z}gemmBatched[_64](handle: ptr, transa: i32, transb: i32, m: int, n: int, k: int,
    alpha: cbuf<{f32,f64,c64,c128}>, aarray: ptr, lda: int, barray: ptr, ldb: int, beta: cbuf<{f32,f64,c64,c128}>,
    carray: ptr, ldc: int, batch_count: int)
cublasCgemm3mBatched[_64](handle: ptr, transa: i32, transb: i32, m: int, n: int, k: int, alpha: cbuf<c64>,
    aarray: ptr, lda: int, barray: ptr, ldb: int, beta: cbuf<c64>, carray: ptr, ldc: int, batch_count: int)
cublas{S,D,C,Z}gemmStridedBatched[_64](handle: ptr, transa: i32, transb: i32, m: int, n: int, k: int,
    alpha: cbuf<{f32,f64,c64,c128}>, a: ptr, lda: int, stride_a: i64, b: ptr, ldb: int, stride_b: i64,
    beta: cbuf<{f32,f64,c64,c128}>, c: ptr, ldc: int, stride_c: i64, batch_count: int)
cublasCgemm3mStridedBatched[_64](handle: ptr, transa: i32, transb: i32, m: int, n: int, k: int, alpha: cbuf<c64>,
    a: ptr, lda: int, stride_a: i64, b: ptr, ldb: int, stride_b: i64, beta: cbuf<c64>, c: ptr, ldc: int,
    stride_c: i64, batch_count: int)
cublasGemmBatchedEx[_64](handle: ptr, transa: i32, transb: i32, m: int, n: int, k: int, alpha: cbuf, aarray: ptr,
    atype: i32, lda: int, barray: ptr, btype: i32, ldb: int, beta: cbuf, carray: ptr, ctype: i32, ldc: int,
    batch_count: int, compute_type: i32, algo: i32)
cublasGemmStridedBatchedEx[_64](handle: ptr, transa: i32, transb: i32, m: int, n: int, k: int, alpha: cbuf, a: ptr,
    atype: i32, lda: int, stride_a: i64, b: ptr, btype: i32, ldb: int, stride_b: i64, beta: cbuf, c: ptr, ctype: i32,
    ldc: int, stride_c: i64, batch_count: int, compute_type: i32, algo: i32)
cublas{S,D}gemmGroupedBatched[_64](handle: ptr, transa_array: i32[], transb_array: i32[], m_array: int[],
    n_array: int[], k_array: int[], alpha_array: {f32[],f64[]}, aarray: ptr, lda_array: int[], barray: ptr,
    ldb_array: int[], beta_array: {f32[],f64[]}, carray: ptr, ldc_array: int[], group_count: int, group_size: int[])
cublasGemmGroupedBatchedEx[_64](handle: ptr, transa_array: i32[], transb_array: i32[], m_array: int[], n_array: int[],
    k_array: int[], alpha_array: cbuf, aarray: ptr, atype: i32, lda_array: int[], barray: ptr, btype: i32,
    ldb_array: int[], beta_array: cbuf, carray: ptr, ctype: i32, ldc_array: int[], group_count: int,
    group_size: int[], compute_type: i32)
cublas{S,D,C,Z}geam[_64](handle: ptr, transa: i32, transb: i32, m: int, n: int, alpha: cbuf<{f32,f64,c64,c128}>,
    a: ptr, lda: int, beta: cbuf<{f32,f64,c64,c128}>, b: ptr, ldb: int, c: ptr, ldc: int)
cublas{S,D,C,Z}trsmBatched[_64](handle: ptr, side: i32, uplo: i32, trans: i32, diag: i32, m: int, n: int,
    alpha: cbuf<{f32,f64,c64,c128}>, a: ptr, lda: int, b: ptr, ldb: int, batch_count: int)
cublas{S,D,C,Z}dgmm[_64](handle: ptr, mode: i32, m: int, n: int, a: ptr, lda: int, x: ptr, incx: int, c: ptr,
    ldc: int)
cublas{S,D,C,Z}matinvBatched(handle: ptr, n: i32, a: ptr, lda: i32, ainv: ptr, lda_inv: i32, info: ptr,
    batch_size: i32)
cublas{S,D,C,Z}geqrfBatched(handle: ptr, m: i32, n: i32, aarray: ptr, lda: i32, tau_array: ptr, info: buf<i32>,
    batch_size: i32)
cublas{S,D,C,Z}gelsBatched(handle: ptr, trans: i32, m: i32, n: i32, nrhs: i32, aarray: ptr, lda: i32, carray: ptr,
    ldc: i32, info: buf<i32>, dev_info_array: ptr, batch_size: i32)
cublas{S,D,C,Z}tpttr(handle: ptr, uplo: i32, n: i32, ap: ptr, a: ptr, lda: i32)
cublas{S,D,C,Z}trttp(handle: ptr, uplo: i32, n: i32, a: ptr, lda: i32, ap: ptr)
cublas{S,D,C,Z}getrfBatched(handle: ptr, n: i32, a: ptr, lda: i32, p: ptr, info: ptr, batch_size: i32)
cublas{S,D,C,Z}getriBatched(handle: ptr, n: i32, a: ptr, lda: i32, p: ptr, c: ptr, ldc: i32, info: ptr,
    batch_size: i32)
cublas{S,D,C,Z}getrsBatched(handle: ptr, trans: i32, n: i32, nrhs: i32, aarray: ptr, lda: i32, dev_ipiv: ptr,
    barray: ptr, ldb: i32, info: buf<i32>, batch_size: i32)
cublasUint8gemmBias(handle: ptr, transa: i32, transb: i32, transc: i32, m: i32, n: i32, k: i32, a: str, a_bias: i32,
    lda: i32, b: str, b_bias: i32, ldb: i32, c: ptr, c_bias: i32, ldc: i32, c_mult: i32, c_shift: i32)
@ cublas_api.h 13.1+
cublasGetEmulationSpecialValuesSupport(handle: ptr, &mask: i32)
cublasSetEmulationSpecialValuesSupport(handle: ptr, mask: i32)
cublasGetFixedPointEmulationMantissaControl(handle: ptr, &mantissa_control: i32)
cublasSetFixedPointEmulationMantissaControl(handle: ptr, mantissa_control: i32)
cublasGetFixedPointEmulationMaxMantissaBitCount(handle: ptr, &max_mantissa_bit_count: i32)
cublasSetFixedPointEmulationMaxMantissaBitCount(handle: ptr, max_mantissa_bit_count: i32)
cublasGetFixedPointEmulationMantissaBitOffset(handle: ptr, &mantissa_bit_offset: i32)
cublasSetFixedPointEmulationMantissaBitOffset(handle: ptr, mantissa_bit_offset: i32)
cublasGetFixedPointEmulationMantissaBitCountPointer(handle: ptr, &mantissa_bit_count: ptr)
cublasSetFixedPointEmulationMantissaBitCountPointer(handle: ptr, mantissa_bit_count: ptr)
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


_library = Bindings(
    "cublas", globals(), prefix="cublas", errors=Errors("cuBLASError", "CUBLAS_STATUS_", explain="get_status_string")
)
__getattr__, __dir__ = _library.resolve, _library.names
