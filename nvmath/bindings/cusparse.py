"""cuSPARSE (``cusparse.h``): sparse vectors and matrices on CUDA devices."""

from __future__ import annotations

from typing import Any

from nvmath.bindings._bind import Bindings, Errors

_ROWS = """
@ cusparse.h
cusparseCreate(&handle: ptr)
cusparseDestroy(handle: ptr)
cusparseGetVersion(handle: ptr, &version: i32)
cusparseGetProperty(type: i32, &value: i32)
cusparseGetErrorName(status: i32) -> str
cusparseGetErrorString(status: i32) -> str
cusparseSetStream(handle: ptr, stream_id: ptr)
cusparseGetStream(handle: ptr, &stream_id: ptr)
cusparseGetPointerMode(handle: ptr, &mode: i32)
cusparseSetPointerMode(handle: ptr, mode: i32)
cusparseLoggerSetCallback(callback: ptr)
cusparseLoggerSetFile(file: ptr)
cusparseLoggerOpenFile(log_file: str)
cusparseLoggerSetLevel(level: i32)
cusparseLoggerSetMask(mask: i32)
cusparseLoggerForceDisable()
cusparseCreateMatDescr(&descr_a: ptr)
cusparseDestroyMatDescr(descr_a: ptr)
cusparseSetMatType(descr_a: ptr, type: i32)
cusparseGetMatType(descr_a: ptr) -> i32
cusparseSetMatFillMode(descr_a: ptr, fill_mode: i32)
cusparseGetMatFillMode(descr_a: ptr) -> i32
cusparseSetMatDiagType(descr_a: ptr, diag_type: i32)
cusparseGetMatDiagType(descr_a: ptr) -> i32
cusparseSetMatIndexBase(descr_a: ptr, base: i32)
cusparseGetMatIndexBase(descr_a: ptr) -> i32
create_csric02_info = cusparseCreateCsric02Info(&info: ptr)
destroy_csric02_info = cusparseDestroyCsric02Info(info: ptr)
create_bsric02_info = cusparseCreateBsric02Info(&info: ptr)
destroy_bsric02_info = cusparseDestroyBsric02Info(info: ptr)
create_csrilu02_info = cusparseCreateCsrilu02Info(&info: ptr)
destroy_csrilu02_info = cusparseDestroyCsrilu02Info(info: ptr)
create_bsrilu02_info = cusparseCreateBsrilu02Info(&info: ptr)
destroy_bsrilu02_info = cusparseDestroyBsrilu02Info(info: ptr)
create_bsrsv2_info = cusparseCreateBsrsv2Info(&info: ptr)
destroy_bsrsv2_info = cusparseDestroyBsrsv2Info(info: ptr)
create_bsrsm2_info = cusparseCreateBsrsm2Info(&info: ptr)
destroy_bsrsm2_info = cusparseDestroyBsrsm2Info(info: ptr)
cusparseCreateCsru2csrInfo(&info: ptr)
cusparseDestroyCsru2csrInfo(info: ptr)
cusparseCreateColorInfo(&info: ptr)
cusparseDestroyColorInfo(info: ptr)
cusparseCreatePruneInfo(&info: ptr)
cusparseDestroyPruneInfo(info: ptr)
cusparse{S,D,C,Z}gemvi(handle: ptr, trans_a: i32, m: i32, n: i32, alpha: cbuf<{f32,f64,c64,c128}>, a: ptr, lda: i32,
    nnz: i32, x_val: ptr, x_ind: ptr, beta: cbuf<{f32,f64,c64,c128}>, y: ptr, idx_base: i32, p_buffer: ptr)
cusparse{S,D,C,Z}gemvi_bufferSize(handle: ptr, trans_a: i32, m: i32, n: i32, nnz: i32, &p_buffer_size: i32)
cusparse{S,D,C,Z}bsrmv(handle: ptr, dir_a: i32, trans_a: i32, mb: i32, nb: i32, nnzb: i32,
    alpha: cbuf<{f32,f64,c64,c128}>, descr_a: ptr, bsr_sorted_val_a: ptr, bsr_sorted_row_ptr_a: ptr,
    bsr_sorted_col_ind_a: ptr, block_dim: i32, x: ptr, beta: cbuf<{f32,f64,c64,c128}>, y: ptr)
cusparse{S,D,C,Z}bsrxmv(handle: ptr, dir_a: i32, trans_a: i32, size_of_mask: i32, mb: i32, nb: i32, nnzb: i32,
    alpha: cbuf<{f32,f64,c64,c128}>, descr_a: ptr, bsr_sorted_val_a: ptr, bsr_sorted_mask_ptr_a: ptr,
    bsr_sorted_row_ptr_a: ptr, bsr_sorted_end_ptr_a: ptr, bsr_sorted_col_ind_a: ptr, block_dim: i32, x: ptr,
    beta: cbuf<{f32,f64,c64,c128}>, y: ptr)
cusparseXbsrsv2_zeroPivot(handle: ptr, info: ptr, &position: i32)
cusparse{S,D,C,Z}bsrsv2_bufferSize(handle: ptr, dir_a: i32, trans_a: i32, mb: i32, nnzb: i32, descr_a: ptr,
    bsr_sorted_val_a: ptr, bsr_sorted_row_ptr_a: ptr, bsr_sorted_col_ind_a: ptr, block_dim: i32, info: ptr,
    &p_buffer_size_in_bytes: i32)
cusparse{S,D,C,Z}bsrsv2_bufferSizeExt(handle: ptr, dir_a: i32, trans_a: i32, mb: i32, nnzb: i32, descr_a: ptr,
    bsr_sorted_val_a: ptr, bsr_sorted_row_ptr_a: ptr, bsr_sorted_col_ind_a: ptr, block_size: i32, info: ptr,
    &p_buffer_size: usize)
cusparse{S,D,C,Z}bsrsv2_analysis(handle: ptr, dir_a: i32, trans_a: i32, mb: i32, nnzb: i32, descr_a: ptr,
    bsr_sorted_val_a: ptr, bsr_sorted_row_ptr_a: ptr, bsr_sorted_col_ind_a: ptr, block_dim: i32, info: ptr,
    policy: i32, p_buffer: ptr)
cusparse{S,D,C,Z}bsrsv2_solve(handle: ptr, dir_a: i32, trans_a: i32, mb: i32, nnzb: i32,
    alpha: cbuf<{f32,f64,c64,c128}>, descr_a: ptr, bsr_sorted_val_a: ptr, bsr_sorted_row_ptr_a: ptr,
    bsr_sorted_col_ind_a: ptr, block_dim: i32, info: ptr, f: ptr, x: ptr, policy: i32, p_buffer: ptr)
cusparse{S,D,C,Z}bsrmm(handle: ptr, dir_a: i32, trans_a: i32, trans_b: i32, mb: i32, n: i32, kb: i32, nnzb: i32,
    alpha: cbuf<{f32,f64,c64,c128}>, descr_a: ptr, bsr_sorted_val_a: ptr, bsr_sorted_row_ptr_a: ptr,
    bsr_sorted_col_ind_a: ptr, block_size: i32, b: ptr, ldb: i32, beta: cbuf<{f32,f64,c64,c128}>, c: ptr, ldc: i32)
cusparseXbsrsm2_zeroPivot(handle: ptr, info: ptr, &position: i32)
cusparse{S,D,C,Z}bsrsm2_bufferSize(handle: ptr, dir_a: i32, trans_a: i32, trans_xy: i32, mb: i32, n: i32, nnzb: i32,
    descr_a: ptr, bsr_sorted_val: ptr, bsr_sorted_row_ptr: ptr, bsr_sorted_col_ind: ptr, block_size: i32, info: ptr,
    &p_buffer_size_in_bytes: i32)
cusparse{S,D,C,Z}bsrsm2_bufferSizeExt(handle: ptr, dir_a: i32, trans_a: i32, trans_b: i32, mb: i32, n: i32, nnzb: i32,
    descr_a: ptr, bsr_sorted_val: ptr, bsr_sorted_row_ptr: ptr, bsr_sorted_col_ind: ptr, block_size: i32, info: ptr,
    &p_buffer_size: usize)
cusparse{S,D,C,Z}bsrsm2_analysis(handle: ptr, dir_a: i32, trans_a: i32, trans_xy: i32, mb: i32, n: i32, nnzb: i32,
    descr_a: ptr, bsr_sorted_val: ptr, bsr_sorted_row_ptr: ptr, bsr_sorted_col_ind: ptr, block_size: i32, info: ptr,
    policy: i32, p_buffer: ptr)
cusparse{S,D,C,Z}bsrsm2_solve(handle: ptr, dir_a: i32, trans_a: i32, trans_xy: i32, mb: i32, n: i32, nnzb: i32,
    alpha: cbuf<{f32,f64,c64,c128}>, descr_a: ptr, bsr_sorted_val: ptr, bsr_sorted_row_ptr: ptr,
    bsr_sorted_col_ind: ptr, block_size: i32, info: ptr, b: ptr, ldb: i32, x: ptr, ldx: i32, policy: i32,
    p_buffer: ptr)
cusparse{S,D,C,Z}csrilu02_numericBoost(handle: ptr, info: ptr, enable_boost: i32, tol: buf<f64>,
    boost_val: buf<{f32,f64,c64,c128}>)
cusparseXcsrilu02_zeroPivot(handle: ptr, info: ptr, &position: i32)
cusparse{S,D,C,Z}csrilu02_bufferSize(handle: ptr, m: i32, nnz: i32, descr_a: ptr, csr_sorted_val_a: ptr,
    csr_sorted_row_ptr_a: ptr, csr_sorted_col_ind_a: ptr, info: ptr, &p_buffer_size_in_bytes: i32)
cusparse{S,D,C,Z}csrilu02_bufferSizeExt(handle: ptr, m: i32, nnz: i32, descr_a: ptr, csr_sorted_val: ptr,
    csr_sorted_row_ptr: ptr, csr_sorted_col_ind: ptr, info: ptr, &p_buffer_size: usize)
cusparse{S,D,C,Z}csrilu02_analysis(handle: ptr, m: i32, nnz: i32, descr_a: ptr, csr_sorted_val_a: ptr,
    csr_sorted_row_ptr_a: ptr, csr_sorted_col_ind_a: ptr, info: ptr, policy: i32, p_buffer: ptr)
cusparse{S,D,C,Z}csrilu02(handle: ptr, m: i32, nnz: i32, descr_a: ptr, csr_sorted_val_a_val_m: ptr,
    csr_sorted_row_ptr_a: ptr, csr_sorted_col_ind_a: ptr, info: ptr, policy: i32, p_buffer: ptr)
cusparse{S,D,C,Z}bsrilu02_numericBoost(handle: ptr, info: ptr, enable_boost: i32, tol: buf<f64>,
    boost_val: buf<{f32,f64,c64,c128}>)
cusparseXbsrilu02_zeroPivot(handle: ptr, info: ptr, &position: i32)
cusparse{S,D,C,Z}bsrilu02_bufferSize(handle: ptr, dir_a: i32, mb: i32, nnzb: i32, descr_a: ptr, bsr_sorted_val: ptr,
    bsr_sorted_row_ptr: ptr, bsr_sorted_col_ind: ptr, block_dim: i32, info: ptr, &p_buffer_size_in_bytes: i32)
cusparse{S,D,C,Z}bsrilu02_bufferSizeExt(handle: ptr, dir_a: i32, mb: i32, nnzb: i32, descr_a: ptr,
    bsr_sorted_val: ptr, bsr_sorted_row_ptr: ptr, bsr_sorted_col_ind: ptr, block_size: i32, info: ptr,
    &p_buffer_size: usize)
cusparse{S,D,C,Z}bsrilu02_analysis(handle: ptr, dir_a: i32, mb: i32, nnzb: i32, descr_a: ptr, bsr_sorted_val: ptr,
    bsr_sorted_row_ptr: ptr, bsr_sorted_col_ind: ptr, block_dim: i32, info: ptr, policy: i32, p_buffer: ptr)
cusparse{S,D,C,Z}bsrilu02(handle: ptr, dir_a: i32, mb: i32, nnzb: i32, descr_a: ptr, bsr_sorted_val: ptr,
    bsr_sorted_row_ptr: ptr, bsr_sorted_col_ind: ptr, block_dim: i32, info: ptr, policy: i32, p_buffer: ptr)
cusparseXcsric02_zeroPivot(handle: ptr, info: ptr, &position: i32)
cusparse{S,D,C,Z}csric02_bufferSize(handle: ptr, m: i32, nnz: i32, descr_a: ptr, csr_sorted_val_a: ptr,
    csr_sorted_row_ptr_a: ptr, csr_sorted_col_ind_a: ptr, info: ptr, &p_buffer_size_in_bytes: i32)
cusparse{S,D,C,Z}csric02_bufferSizeExt(handle: ptr, m: i32, nnz: i32, descr_a: ptr, csr_sorted_val: ptr,
    csr_sorted_row_ptr: ptr, csr_sorted_col_ind: ptr, info: ptr, &p_buffer_size: usize)
cusparse{S,D,C,Z}csric02_analysis(handle: ptr, m: i32, nnz: i32, descr_a: ptr, csr_sorted_val_a: ptr,
    csr_sorted_row_ptr_a: ptr, csr_sorted_col_ind_a: ptr, info: ptr, policy: i32, p_buffer: ptr)
cusparse{S,D,C,Z}csric02(handle: ptr, m: i32, nnz: i32, descr_a: ptr, csr_sorted_val_a_val_m: ptr,
    csr_sorted_row_ptr_a: ptr, csr_sorted_col_ind_a: ptr, info: ptr, policy: i32, p_buffer: ptr)
cusparseXbsric02_zeroPivot(handle: ptr, info: ptr, &position: i32)
cusparse{S,D,C,Z}bsric02_bufferSize(handle: ptr, dir_a: i32, mb: i32, nnzb: i32, descr_a: ptr, bsr_sorted_val: ptr,
    bsr_sorted_row_ptr: ptr, bsr_sorted_col_ind: ptr, block_dim: i32, info: ptr, &p_buffer_size_in_bytes: i32)
cusparse{S,D,C,Z}bsric02_bufferSizeExt(handle: ptr, dir_a: i32, mb: i32, nnzb: i32, descr_a: ptr, bsr_sorted_val: ptr,
    bsr_sorted_row_ptr: ptr, bsr_sorted_col_ind: ptr, block_size: i32, info: ptr, &p_buffer_size: usize)
cusparse{S,D,C,Z}bsric02_analysis(handle: ptr, dir_a: i32, mb: i32, nnzb: i32, descr_a: ptr, bsr_sorted_val: ptr,
    bsr_sorted_row_ptr: ptr, bsr_sorted_col_ind: ptr, block_dim: i32, info: ptr, policy: i32, p_input_buffer: ptr)
cusparse{S,D,C,Z}bsric02(handle: ptr, dir_a: i32, mb: i32, nnzb: i32, descr_a: ptr, bsr_sorted_val: ptr,
    bsr_sorted_row_ptr: ptr, bsr_sorted_col_ind: ptr, block_dim: i32, info: ptr, policy: i32, p_buffer: ptr)
cusparse{S,D,C,Z}gtsv2_bufferSizeExt(handle: ptr, m: i32, n: i32, dl: ptr, d: ptr, du: ptr, b: ptr, ldb: i32,
    &buffer_size_in_bytes: usize)
cusparse{S,D,C,Z}gtsv2(handle: ptr, m: i32, n: i32, dl: ptr, d: ptr, du: ptr, b: ptr, ldb: i32, p_buffer: ptr)
cusparse{S,D,C,Z}gtsv2_nopivot_bufferSizeExt(handle: ptr, m: i32, n: i32, dl: ptr, d: ptr, du: ptr, b: ptr, ldb: i32,
    &buffer_size_in_bytes: usize)
cusparse{S,D,C,Z}gtsv2_nopivot(handle: ptr, m: i32, n: i32, dl: ptr, d: ptr, du: ptr, b: ptr, ldb: i32, p_buffer: ptr)
cusparse{S,D,C,Z}gtsv2StridedBatch_bufferSizeExt(handle: ptr, m: i32, dl: ptr, d: ptr, du: ptr, x: ptr,
    batch_count: i32, batch_stride: i32, &buffer_size_in_bytes: usize)
cusparse{S,D,C,Z}gtsv2StridedBatch(handle: ptr, m: i32, dl: ptr, d: ptr, du: ptr, x: ptr, batch_count: i32,
    batch_stride: i32, p_buffer: ptr)
cusparse{S,D,C,Z}gtsvInterleavedBatch_bufferSizeExt(handle: ptr, algo: i32, m: i32, dl: ptr, d: ptr, du: ptr, x: ptr,
    batch_count: i32, &p_buffer_size_in_bytes: usize)
cusparse{S,D,C,Z}gtsvInterleavedBatch(handle: ptr, algo: i32, m: i32, dl: ptr, d: ptr, du: ptr, x: ptr,
    batch_count: i32, p_buffer: ptr)
cusparse{S,D,C,Z}gpsvInterleavedBatch_bufferSizeExt(handle: ptr, algo: i32, m: i32, ds: ptr, dl: ptr, d: ptr, du: ptr,
    dw: ptr, x: ptr, batch_count: i32, &p_buffer_size_in_bytes: usize)
cusparse{S,D,C,Z}gpsvInterleavedBatch(handle: ptr, algo: i32, m: i32, ds: ptr, dl: ptr, d: ptr, du: ptr, dw: ptr,
    x: ptr, batch_count: i32, p_buffer: ptr)
cusparse{S,D,C,Z}csrgeam2_bufferSizeExt(handle: ptr, m: i32, n: i32, alpha: cbuf<{f32,f64,c64,c128}>, descr_a: ptr,
    nnz_a: i32, csr_sorted_val_a: ptr, csr_sorted_row_ptr_a: ptr, csr_sorted_col_ind_a: ptr,
    beta: cbuf<{f32,f64,c64,c128}>, descr_b: ptr, nnz_b: i32, csr_sorted_val_b: ptr, csr_sorted_row_ptr_b: ptr,
    csr_sorted_col_ind_b: ptr, descr_c: ptr, csr_sorted_val_c: ptr, csr_sorted_row_ptr_c: ptr,
    csr_sorted_col_ind_c: ptr, &p_buffer_size_in_bytes: usize)
cusparseXcsrgeam2Nnz(handle: ptr, m: i32, n: i32, descr_a: ptr, nnz_a: i32, csr_sorted_row_ptr_a: ptr,
    csr_sorted_col_ind_a: ptr, descr_b: ptr, nnz_b: i32, csr_sorted_row_ptr_b: ptr, csr_sorted_col_ind_b: ptr,
    descr_c: ptr, csr_sorted_row_ptr_c: ptr, nnz_total_dev_host_ptr: buf<i32>, workspace: ptr)
cusparse{S,D,C,Z}csrgeam2(handle: ptr, m: i32, n: i32, alpha: cbuf<{f32,f64,c64,c128}>, descr_a: ptr, nnz_a: i32,
    csr_sorted_val_a: ptr, csr_sorted_row_ptr_a: ptr, csr_sorted_col_ind_a: ptr, beta: cbuf<{f32,f64,c64,c128}>,
    descr_b: ptr, nnz_b: i32, csr_sorted_val_b: ptr, csr_sorted_row_ptr_b: ptr, csr_sorted_col_ind_b: ptr,
    descr_c: ptr, csr_sorted_val_c: ptr, csr_sorted_row_ptr_c: ptr, csr_sorted_col_ind_c: ptr, p_buffer: ptr)
cusparse{S,D,C,Z}csrcolor(handle: ptr, m: i32, nnz: i32, descr_a: ptr, csr_sorted_val_a: ptr,
    csr_sorted_row_ptr_a: ptr, csr_sorted_col_ind_a: ptr, fraction_to_color: cbuf<{f32,f64,f32,f64}>,
    ncolors: buf<i32>, coloring: ptr, reordering: ptr, info: ptr)
cusparse{S,D,C,Z}nnz(handle: ptr, dir_a: i32, m: i32, n: i32, descr_a: ptr, a: ptr, lda: i32, nnz_per_row_col: ptr,
    nnz_total_dev_host_ptr: buf<i32>)
cusparse{S,D,C,Z}nnz_compress(handle: ptr, m: i32, descr: ptr, csr_sorted_val_a: ptr, csr_sorted_row_ptr_a: ptr,
    nnz_per_row: ptr, nnz_c: ptr, tol: {f32,f64,c64,c128})
cusparse{S,D,C,Z}csr2csr_compress(handle: ptr, m: i32, n: i32, descr_a: ptr, csr_sorted_val_a: ptr,
    csr_sorted_col_ind_a: ptr, csr_sorted_row_ptr_a: ptr, nnz_a: i32, nnz_per_row: ptr, csr_sorted_val_c: ptr,
    csr_sorted_col_ind_c: ptr, csr_sorted_row_ptr_c: ptr, tol: {f32,f64,c64,c128})
cusparseXcoo2csr(handle: ptr, coo_row_ind: ptr, nnz: i32, m: i32, csr_sorted_row_ptr: ptr, idx_base: i32)
cusparseXcsr2coo(handle: ptr, csr_sorted_row_ptr: ptr, nnz: i32, m: i32, coo_row_ind: ptr, idx_base: i32)
cusparseXcsr2bsrNnz(handle: ptr, dir_a: i32, m: i32, n: i32, descr_a: ptr, csr_sorted_row_ptr_a: ptr,
    csr_sorted_col_ind_a: ptr, block_dim: i32, descr_c: ptr, bsr_sorted_row_ptr_c: ptr,
    nnz_total_dev_host_ptr: buf<i32>)
cusparse{S,D,C,Z}csr2bsr(handle: ptr, dir_a: i32, m: i32, n: i32, descr_a: ptr, csr_sorted_val_a: ptr,
    csr_sorted_row_ptr_a: ptr, csr_sorted_col_ind_a: ptr, block_dim: i32, descr_c: ptr, bsr_sorted_val_c: ptr,
    bsr_sorted_row_ptr_c: ptr, bsr_sorted_col_ind_c: ptr)
cusparse{S,D,C,Z}bsr2csr(handle: ptr, dir_a: i32, mb: i32, nb: i32, descr_a: ptr, bsr_sorted_val_a: ptr,
    bsr_sorted_row_ptr_a: ptr, bsr_sorted_col_ind_a: ptr, block_dim: i32, descr_c: ptr, csr_sorted_val_c: ptr,
    csr_sorted_row_ptr_c: ptr, csr_sorted_col_ind_c: ptr)
cusparse{S,D,C,Z}gebsr2gebsc_bufferSize(handle: ptr, mb: i32, nb: i32, nnzb: i32, bsr_sorted_val: ptr,
    bsr_sorted_row_ptr: ptr, bsr_sorted_col_ind: ptr, row_block_dim: i32, col_block_dim: i32,
    &p_buffer_size_in_bytes: i32)
cusparse{S,D,C,Z}gebsr2gebsc_bufferSizeExt(handle: ptr, mb: i32, nb: i32, nnzb: i32, bsr_sorted_val: ptr,
    bsr_sorted_row_ptr: ptr, bsr_sorted_col_ind: ptr, row_block_dim: i32, col_block_dim: i32, &p_buffer_size: usize)
cusparse{S,D,C,Z}gebsr2gebsc(handle: ptr, mb: i32, nb: i32, nnzb: i32, bsr_sorted_val: ptr, bsr_sorted_row_ptr: ptr,
    bsr_sorted_col_ind: ptr, row_block_dim: i32, col_block_dim: i32, bsc_val: ptr, bsc_row_ind: ptr, bsc_col_ptr: ptr,
    copy_values: i32, idx_base: i32, p_buffer: ptr)
cusparseXgebsr2csr(handle: ptr, dir_a: i32, mb: i32, nb: i32, descr_a: ptr, bsr_sorted_row_ptr_a: ptr,
    bsr_sorted_col_ind_a: ptr, row_block_dim: i32, col_block_dim: i32, descr_c: ptr, csr_sorted_row_ptr_c: ptr,
    csr_sorted_col_ind_c: ptr)
cusparse{S,D,C,Z}gebsr2csr(handle: ptr, dir_a: i32, mb: i32, nb: i32, descr_a: ptr, bsr_sorted_val_a: ptr,
    bsr_sorted_row_ptr_a: ptr, bsr_sorted_col_ind_a: ptr, row_block_dim: i32, col_block_dim: i32, descr_c: ptr,
    csr_sorted_val_c: ptr, csr_sorted_row_ptr_c: ptr, csr_sorted_col_ind_c: ptr)
cusparse{S,D,C,Z}csr2gebsr_bufferSize(handle: ptr, dir_a: i32, m: i32, n: i32, descr_a: ptr, csr_sorted_val_a: ptr,
    csr_sorted_row_ptr_a: ptr, csr_sorted_col_ind_a: ptr, row_block_dim: i32, col_block_dim: i32,
    &p_buffer_size_in_bytes: i32)
cusparse{S,D,C,Z}csr2gebsr_bufferSizeExt(handle: ptr, dir_a: i32, m: i32, n: i32, descr_a: ptr, csr_sorted_val_a: ptr,
    csr_sorted_row_ptr_a: ptr, csr_sorted_col_ind_a: ptr, row_block_dim: i32, col_block_dim: i32,
    &p_buffer_size: usize)
cusparseXcsr2gebsrNnz(handle: ptr, dir_a: i32, m: i32, n: i32, descr_a: ptr, csr_sorted_row_ptr_a: ptr,
    csr_sorted_col_ind_a: ptr, descr_c: ptr, bsr_sorted_row_ptr_c: ptr, row_block_dim: i32, col_block_dim: i32,
    nnz_total_dev_host_ptr: buf<i32>, p_buffer: ptr)
cusparse{S,D,C,Z}csr2gebsr(handle: ptr, dir_a: i32, m: i32, n: i32, descr_a: ptr, csr_sorted_val_a: ptr,
    csr_sorted_row_ptr_a: ptr, csr_sorted_col_ind_a: ptr, descr_c: ptr, bsr_sorted_val_c: ptr,
    bsr_sorted_row_ptr_c: ptr, bsr_sorted_col_ind_c: ptr, row_block_dim: i32, col_block_dim: i32, p_buffer: ptr)
cusparse{S,D,C,Z}gebsr2gebsr_bufferSize(handle: ptr, dir_a: i32, mb: i32, nb: i32, nnzb: i32, descr_a: ptr,
    bsr_sorted_val_a: ptr, bsr_sorted_row_ptr_a: ptr, bsr_sorted_col_ind_a: ptr, row_block_dim_a: i32,
    col_block_dim_a: i32, row_block_dim_c: i32, col_block_dim_c: i32, &p_buffer_size_in_bytes: i32)
cusparse{S,D,C,Z}gebsr2gebsr_bufferSizeExt(handle: ptr, dir_a: i32, mb: i32, nb: i32, nnzb: i32, descr_a: ptr,
    bsr_sorted_val_a: ptr, bsr_sorted_row_ptr_a: ptr, bsr_sorted_col_ind_a: ptr, row_block_dim_a: i32,
    col_block_dim_a: i32, row_block_dim_c: i32, col_block_dim_c: i32, &p_buffer_size: usize)
cusparseXgebsr2gebsrNnz(handle: ptr, dir_a: i32, mb: i32, nb: i32, nnzb: i32, descr_a: ptr, bsr_sorted_row_ptr_a: ptr,
    bsr_sorted_col_ind_a: ptr, row_block_dim_a: i32, col_block_dim_a: i32, descr_c: ptr, bsr_sorted_row_ptr_c: ptr,
    row_block_dim_c: i32, col_block_dim_c: i32, nnz_total_dev_host_ptr: buf<i32>, p_buffer: ptr)
cusparse{S,D,C,Z}gebsr2gebsr(handle: ptr, dir_a: i32, mb: i32, nb: i32, nnzb: i32, descr_a: ptr,
    bsr_sorted_val_a: ptr, bsr_sorted_row_ptr_a: ptr, bsr_sorted_col_ind_a: ptr, row_block_dim_a: i32,
    col_block_dim_a: i32, descr_c: ptr, bsr_sorted_val_c: ptr, bsr_sorted_row_ptr_c: ptr, bsr_sorted_col_ind_c: ptr,
    row_block_dim_c: i32, col_block_dim_c: i32, p_buffer: ptr)
cusparseCreateIdentityPermutation(handle: ptr, n: i32, p: ptr)
cusparseXcoosort_bufferSizeExt(handle: ptr, m: i32, n: i32, nnz: i32, coo_rows_a: ptr, coo_cols_a: ptr,
    &p_buffer_size_in_bytes: usize)
cusparseXcoosortByRow(handle: ptr, m: i32, n: i32, nnz: i32, coo_rows_a: ptr, coo_cols_a: ptr, p: ptr, p_buffer: ptr)
cusparseXcoosortByColumn(handle: ptr, m: i32, n: i32, nnz: i32, coo_rows_a: ptr, coo_cols_a: ptr, p: ptr,
    p_buffer: ptr)
cusparseXcsrsort_bufferSizeExt(handle: ptr, m: i32, n: i32, nnz: i32, csr_row_ptr_a: ptr, csr_col_ind_a: ptr,
    &p_buffer_size_in_bytes: usize)
cusparseXcsrsort(handle: ptr, m: i32, n: i32, nnz: i32, descr_a: ptr, csr_row_ptr_a: ptr, csr_col_ind_a: ptr, p: ptr,
    p_buffer: ptr)
cusparseXcscsort_bufferSizeExt(handle: ptr, m: i32, n: i32, nnz: i32, csc_col_ptr_a: ptr, csc_row_ind_a: ptr,
    &p_buffer_size_in_bytes: usize)
cusparseXcscsort(handle: ptr, m: i32, n: i32, nnz: i32, descr_a: ptr, csc_col_ptr_a: ptr, csc_row_ind_a: ptr, p: ptr,
    p_buffer: ptr)
cusparse{S,D,C,Z}csru2csr_bufferSizeExt(handle: ptr, m: i32, n: i32, nnz: i32, csr_val: ptr, csr_row_ptr: ptr,
    csr_col_ind: ptr, info: ptr, &p_buffer_size_in_bytes: usize)
cusparse{S,D,C,Z}csru2csr(handle: ptr, m: i32, n: i32, nnz: i32, descr_a: ptr, csr_val: ptr, csr_row_ptr: ptr,
    csr_col_ind: ptr, info: ptr, p_buffer: ptr)
cusparse{S,D,C,Z}csr2csru(handle: ptr, m: i32, n: i32, nnz: i32, descr_a: ptr, csr_val: ptr, csr_row_ptr: ptr,
    csr_col_ind: ptr, info: ptr, p_buffer: ptr)
cusparse{S,D}pruneDense2csr_bufferSizeExt(handle: ptr, m: i32, n: i32, a: ptr, lda: i32, threshold: cbuf<{f32,f64}>,
    descr_c: ptr, csr_sorted_val_c: ptr, csr_sorted_row_ptr_c: ptr, csr_sorted_col_ind_c: ptr,
    &p_buffer_size_in_bytes: usize)
cusparseSpruneDense2csrNnz(handle: ptr, m: i32, n: i32, a: ptr, lda: i32, threshold: cbuf<f32>, descr_c: ptr,
    csr_row_ptr_c: ptr, nnz_total_dev_host_ptr: buf<i32>, p_buffer: ptr)
cusparseDpruneDense2csrNnz(handle: ptr, m: i32, n: i32, a: ptr, lda: i32, threshold: cbuf<f64>, descr_c: ptr,
    csr_sorted_row_ptr_c: ptr, nnz_total_dev_host_ptr: buf<i32>, p_buffer: ptr)
cusparse{S,D}pruneDense2csr(handle: ptr, m: i32, n: i32, a: ptr, lda: i32, threshold: cbuf<{f32,f64}>, descr_c: ptr,
    csr_sorted_val_c: ptr, csr_sorted_row_ptr_c: ptr, csr_sorted_col_ind_c: ptr, p_buffer: ptr)
cusparse{S,D}pruneCsr2csr_bufferSizeExt(handle: ptr, m: i32, n: i32, nnz_a: i32, descr_a: ptr, csr_sorted_val_a: ptr,
    csr_sorted_row_ptr_a: ptr, csr_sorted_col_ind_a: ptr, threshold: cbuf<{f32,f64}>, descr_c: ptr,
    csr_sorted_val_c: ptr, csr_sorted_row_ptr_c: ptr, csr_sorted_col_ind_c: ptr, &p_buffer_size_in_bytes: usize)
cusparse{S,D}pruneCsr2csrNnz(handle: ptr, m: i32, n: i32, nnz_a: i32, descr_a: ptr, csr_sorted_val_a: ptr,
    csr_sorted_row_ptr_a: ptr, csr_sorted_col_ind_a: ptr, threshold: cbuf<{f32,f64}>, descr_c: ptr,
    csr_sorted_row_ptr_c: ptr, nnz_total_dev_host_ptr: buf<i32>, p_buffer: ptr)
cusparse{S,D}pruneCsr2csr(handle: ptr, m: i32, n: i32, nnz_a: i32, descr_a: ptr, csr_sorted_val_a: ptr,
    csr_sorted_row_ptr_a: ptr, csr_sorted_col_ind_a: ptr, threshold: cbuf<{f32,f64}>, descr_c: ptr,
    csr_sorted_val_c: ptr, csr_sorted_row_ptr_c: ptr, csr_sorted_col_ind_c: ptr, p_buffer: ptr)
cusparse{S,D}pruneDense2csrByPercentage_bufferSizeExt(handle: ptr, m: i32, n: i32, a: ptr, lda: i32, percentage: f32,
    descr_c: ptr, csr_sorted_val_c: ptr, csr_sorted_row_ptr_c: ptr, csr_sorted_col_ind_c: ptr, info: ptr,
    &p_buffer_size_in_bytes: usize)
cusparse{S,D}pruneDense2csrNnzByPercentage(handle: ptr, m: i32, n: i32, a: ptr, lda: i32, percentage: f32,
    descr_c: ptr, csr_row_ptr_c: ptr, nnz_total_dev_host_ptr: buf<i32>, info: ptr, p_buffer: ptr)
cusparse{S,D}pruneDense2csrByPercentage(handle: ptr, m: i32, n: i32, a: ptr, lda: i32, percentage: f32, descr_c: ptr,
    csr_sorted_val_c: ptr, csr_sorted_row_ptr_c: ptr, csr_sorted_col_ind_c: ptr, info: ptr, p_buffer: ptr)
cusparse{S,D}pruneCsr2csrByPercentage_bufferSizeExt(handle: ptr, m: i32, n: i32, nnz_a: i32, descr_a: ptr,
    csr_sorted_val_a: ptr, csr_sorted_row_ptr_a: ptr, csr_sorted_col_ind_a: ptr, percentage: f32, descr_c: ptr,
    csr_sorted_val_c: ptr, csr_sorted_row_ptr_c: ptr, csr_sorted_col_ind_c: ptr, info: ptr,
    &p_buffer_size_in_bytes: usize)
cusparse{S,D}pruneCsr2csrNnzByPercentage(handle: ptr, m: i32, n: i32, nnz_a: i32, descr_a: ptr, csr_sorted_val_a: ptr,
    csr_sorted_row_ptr_a: ptr, csr_sorted_col_ind_a: ptr, percentage: f32, descr_c: ptr, csr_sorted_row_ptr_c: ptr,
    nnz_total_dev_host_ptr: buf<i32>, info: ptr, p_buffer: ptr)
cusparse{S,D}pruneCsr2csrByPercentage(handle: ptr, m: i32, n: i32, nnz_a: i32, descr_a: ptr, csr_sorted_val_a: ptr,
    csr_sorted_row_ptr_a: ptr, csr_sorted_col_ind_a: ptr, percentage: f32, descr_c: ptr, csr_sorted_val_c: ptr,
    csr_sorted_row_ptr_c: ptr, csr_sorted_col_ind_c: ptr, info: ptr, p_buffer: ptr)
cusparseCsr2cscEx2(handle: ptr, m: i32, n: i32, nnz: i32, csr_val: ptr, csr_row_ptr: ptr, csr_col_ind: ptr,
    csc_val: ptr, csc_col_ptr: ptr, csc_row_ind: ptr, val_type: i32, copy_values: i32, idx_base: i32, alg: i32,
    buffer: ptr)
cusparseCsr2cscEx2_bufferSize(handle: ptr, m: i32, n: i32, nnz: i32, csr_val: ptr, csr_row_ptr: ptr, csr_col_ind: ptr,
    csc_val: ptr, csc_col_ptr: ptr, csc_row_ind: ptr, val_type: i32, copy_values: i32, idx_base: i32, alg: i32,
    &buffer_size: usize)
cusparseCreateSpVec(&sp_vec_descr: ptr, size: i64, nnz: i64, indices: ptr, values: ptr, idx_type: i32, idx_base: i32,
    value_type: i32)
cusparseCreateConstSpVec(&sp_vec_descr: ptr, size: i64, nnz: i64, indices: ptr, values: ptr, idx_type: i32,
    idx_base: i32, value_type: i32)
cusparseDestroySpVec(sp_vec_descr: ptr)
cusparseSpVecGet(sp_vec_descr: ptr, &size: i64, &nnz: i64, &indices: ptr, &values: ptr, &idx_type: i32,
    &idx_base: i32, &value_type: i32)
cusparseConstSpVecGet(sp_vec_descr: ptr, &size: i64, &nnz: i64, &indices: ptr, &values: ptr, &idx_type: i32,
    &idx_base: i32, &value_type: i32)
cusparseSpVecGetIndexBase(sp_vec_descr: ptr, &idx_base: i32)
cusparseSpVecGetValues(sp_vec_descr: ptr, &values: ptr)
cusparseConstSpVecGetValues(sp_vec_descr: ptr, &values: ptr)
cusparseSpVecSetValues(sp_vec_descr: ptr, values: ptr)
cusparseCreateDnVec(&dn_vec_descr: ptr, size: i64, values: ptr, value_type: i32)
cusparseCreateConstDnVec(&dn_vec_descr: ptr, size: i64, values: ptr, value_type: i32)
cusparseDestroyDnVec(dn_vec_descr: ptr)
cusparseDnVecGet(dn_vec_descr: ptr, &size: i64, &values: ptr, &value_type: i32)
cusparseConstDnVecGet(dn_vec_descr: ptr, &size: i64, &values: ptr, &value_type: i32)
cusparseDnVecGetValues(dn_vec_descr: ptr, &values: ptr)
cusparseConstDnVecGetValues(dn_vec_descr: ptr, &values: ptr)
cusparseDnVecSetValues(dn_vec_descr: ptr, values: ptr)
cusparseDestroySpMat(sp_mat_descr: ptr)
cusparseSpMatGetFormat(sp_mat_descr: ptr, &format: i32)
cusparseSpMatGetIndexBase(sp_mat_descr: ptr, &idx_base: i32)
cusparseSpMatGetValues(sp_mat_descr: ptr, &values: ptr)
cusparseConstSpMatGetValues(sp_mat_descr: ptr, &values: ptr)
cusparseSpMatSetValues(sp_mat_descr: ptr, values: ptr)
cusparseSpMatGetSize(sp_mat_descr: ptr, &rows: i64, &cols: i64, &nnz: i64)
cusparseSpMatGetStridedBatch(sp_mat_descr: ptr, &batch_count: i32)
cusparseCooSetStridedBatch(sp_mat_descr: ptr, batch_count: i32, batch_stride: i64)
cusparseCsrSetStridedBatch(sp_mat_descr: ptr, batch_count: i32, offsets_batch_stride: i64,
    columns_values_batch_stride: i64)
cusparseBsrSetStridedBatch(sp_mat_descr: ptr, batch_count: i32, offsets_batch_stride: i64, columns_batch_stride: i64,
    values_batch_stride: i64)
cusparseSpMatGetAttribute(sp_mat_descr: ptr, attribute: i32, data: buf, data_size: usize)
cusparseSpMatSetAttribute(sp_mat_descr: ptr, attribute: i32, data: buf, data_size: usize)
cusparseCreateCsr(&sp_mat_descr: ptr, rows: i64, cols: i64, nnz: i64, csr_row_offsets: ptr, csr_col_ind: ptr,
    csr_values: ptr, csr_row_offsets_type: i32, csr_col_ind_type: i32, idx_base: i32, value_type: i32)
cusparseCreateConstCsr(&sp_mat_descr: ptr, rows: i64, cols: i64, nnz: i64, csr_row_offsets: ptr, csr_col_ind: ptr,
    csr_values: ptr, csr_row_offsets_type: i32, csr_col_ind_type: i32, idx_base: i32, value_type: i32)
cusparseCreateCsc(&sp_mat_descr: ptr, rows: i64, cols: i64, nnz: i64, csc_col_offsets: ptr, csc_row_ind: ptr,
    csc_values: ptr, csc_col_offsets_type: i32, csc_row_ind_type: i32, idx_base: i32, value_type: i32)
cusparseCreateConstCsc(&sp_mat_descr: ptr, rows: i64, cols: i64, nnz: i64, csc_col_offsets: ptr, csc_row_ind: ptr,
    csc_values: ptr, csc_col_offsets_type: i32, csc_row_ind_type: i32, idx_base: i32, value_type: i32)
cusparseCsrGet(sp_mat_descr: ptr, &rows: i64, &cols: i64, &nnz: i64, &csr_row_offsets: ptr, &csr_col_ind: ptr,
    &csr_values: ptr, &csr_row_offsets_type: i32, &csr_col_ind_type: i32, &idx_base: i32, &value_type: i32)
cusparseConstCsrGet(sp_mat_descr: ptr, &rows: i64, &cols: i64, &nnz: i64, &csr_row_offsets: ptr, &csr_col_ind: ptr,
    &csr_values: ptr, &csr_row_offsets_type: i32, &csr_col_ind_type: i32, &idx_base: i32, &value_type: i32)
cusparseCscGet(sp_mat_descr: ptr, &rows: i64, &cols: i64, &nnz: i64, &csc_col_offsets: ptr, &csc_row_ind: ptr,
    &csc_values: ptr, &csc_col_offsets_type: i32, &csc_row_ind_type: i32, &idx_base: i32, &value_type: i32)
cusparseConstCscGet(sp_mat_descr: ptr, &rows: i64, &cols: i64, &nnz: i64, &csc_col_offsets: ptr, &csc_row_ind: ptr,
    &csc_values: ptr, &csc_col_offsets_type: i32, &csc_row_ind_type: i32, &idx_base: i32, &value_type: i32)
cusparseCsrSetPointers(sp_mat_descr: ptr, csr_row_offsets: ptr, csr_col_ind: ptr, csr_values: ptr)
cusparseCscSetPointers(sp_mat_descr: ptr, csc_col_offsets: ptr, csc_row_ind: ptr, csc_values: ptr)
cusparseCreateBsr(&sp_mat_descr: ptr, brows: i64, bcols: i64, bnnz: i64, row_block_size: i64, col_block_size: i64,
    bsr_row_offsets: ptr, bsr_col_ind: ptr, bsr_values: ptr, bsr_row_offsets_type: i32, bsr_col_ind_type: i32,
    idx_base: i32, value_type: i32, order: i32)
cusparseCreateConstBsr(&sp_mat_descr: ptr, brows: i64, bcols: i64, bnnz: i64, row_block_dim: i64, col_block_dim: i64,
    bsr_row_offsets: ptr, bsr_col_ind: ptr, bsr_values: ptr, bsr_row_offsets_type: i32, bsr_col_ind_type: i32,
    idx_base: i32, value_type: i32, order: i32)
cusparseCreateCoo(&sp_mat_descr: ptr, rows: i64, cols: i64, nnz: i64, coo_row_ind: ptr, coo_col_ind: ptr,
    coo_values: ptr, coo_idx_type: i32, idx_base: i32, value_type: i32)
cusparseCreateConstCoo(&sp_mat_descr: ptr, rows: i64, cols: i64, nnz: i64, coo_row_ind: ptr, coo_col_ind: ptr,
    coo_values: ptr, coo_idx_type: i32, idx_base: i32, value_type: i32)
cusparseCooGet(sp_mat_descr: ptr, &rows: i64, &cols: i64, &nnz: i64, &coo_row_ind: ptr, &coo_col_ind: ptr,
    &coo_values: ptr, &idx_type: i32, &idx_base: i32, &value_type: i32)
cusparseConstCooGet(sp_mat_descr: ptr, &rows: i64, &cols: i64, &nnz: i64, &coo_row_ind: ptr, &coo_col_ind: ptr,
    &coo_values: ptr, &idx_type: i32, &idx_base: i32, &value_type: i32)
cusparseCooSetPointers(sp_mat_descr: ptr, coo_rows: ptr, coo_columns: ptr, coo_values: ptr)
cusparseCreateBlockedEll(&sp_mat_descr: ptr, rows: i64, cols: i64, ell_block_size: i64, ell_cols: i64,
    ell_col_ind: ptr, ell_value: ptr, ell_idx_type: i32, idx_base: i32, value_type: i32)
cusparseCreateConstBlockedEll(&sp_mat_descr: ptr, rows: i64, cols: i64, ell_block_size: i64, ell_cols: i64,
    ell_col_ind: ptr, ell_value: ptr, ell_idx_type: i32, idx_base: i32, value_type: i32)
cusparseBlockedEllGet(sp_mat_descr: ptr, &rows: i64, &cols: i64, &ell_block_size: i64, &ell_cols: i64,
    &ell_col_ind: ptr, &ell_value: ptr, &ell_idx_type: i32, &idx_base: i32, &value_type: i32)
cusparseConstBlockedEllGet(sp_mat_descr: ptr, &rows: i64, &cols: i64, &ell_block_size: i64, &ell_cols: i64,
    &ell_col_ind: ptr, &ell_value: ptr, &ell_idx_type: i32, &idx_base: i32, &value_type: i32)
cusparseCreateSlicedEll(&sp_mat_descr: ptr, rows: i64, cols: i64, nnz: i64, sell_values_size: i64, slice_size: i64,
    sell_slice_offsets: ptr, sell_col_ind: ptr, sell_values: ptr, sell_slice_offsets_type: i32,
    sell_col_ind_type: i32, idx_base: i32, value_type: i32)
cusparseCreateConstSlicedEll(&sp_mat_descr: ptr, rows: i64, cols: i64, nnz: i64, sell_values_size: i64,
    slice_size: i64, sell_slice_offsets: ptr, sell_col_ind: ptr, sell_values: ptr, sell_slice_offsets_type: i32,
    sell_col_ind_type: i32, idx_base: i32, value_type: i32)
cusparseCreateDnMat(&dn_mat_descr: ptr, rows: i64, cols: i64, ld: i64, values: ptr, value_type: i32, order: i32)
cusparseCreateConstDnMat(&dn_mat_descr: ptr, rows: i64, cols: i64, ld: i64, values: ptr, value_type: i32, order: i32)
cusparseDestroyDnMat(dn_mat_descr: ptr)
cusparseDnMatGet(dn_mat_descr: ptr, &rows: i64, &cols: i64, &ld: i64, &values: ptr, &type: i32, &order: i32)
cusparseConstDnMatGet(dn_mat_descr: ptr, &rows: i64, &cols: i64, &ld: i64, &values: ptr, &type: i32, &order: i32)
cusparseDnMatGetValues(dn_mat_descr: ptr, &values: ptr)
cusparseConstDnMatGetValues(dn_mat_descr: ptr, &values: ptr)
cusparseDnMatSetValues(dn_mat_descr: ptr, values: ptr)
cusparseDnMatSetStridedBatch(dn_mat_descr: ptr, batch_count: i32, batch_stride: i64)
cusparseDnMatGetStridedBatch(dn_mat_descr: ptr, &batch_count: i32, &batch_stride: i64)
cusparseAxpby(handle: ptr, alpha: cbuf, vec_x: ptr, beta: cbuf, vec_y: ptr)
cusparseGather(handle: ptr, vec_y: ptr, vec_x: ptr)
cusparseScatter(handle: ptr, vec_x: ptr, vec_y: ptr)
cusparseRot(handle: ptr, c_coeff: ptr, s_coeff: ptr, vec_x: ptr, vec_y: ptr)
cusparseSpVV_bufferSize(handle: ptr, op_x: i32, vec_x: ptr, vec_y: ptr, result: cbuf, compute_type: i32,
    &buffer_size: usize)
cusparseSpVV(handle: ptr, op_x: i32, vec_x: ptr, vec_y: ptr, result: buf, compute_type: i32, external_buffer: ptr)
cusparseSparseToDense_bufferSize(handle: ptr, mat_a: ptr, mat_b: ptr, alg: i32, &buffer_size: usize)
cusparseSparseToDense(handle: ptr, mat_a: ptr, mat_b: ptr, alg: i32, external_buffer: ptr)
cusparseDenseToSparse_bufferSize(handle: ptr, mat_a: ptr, mat_b: ptr, alg: i32, &buffer_size: usize)
cusparseDenseToSparse_analysis(handle: ptr, mat_a: ptr, mat_b: ptr, alg: i32, external_buffer: ptr)
cusparseDenseToSparse_convert(handle: ptr, mat_a: ptr, mat_b: ptr, alg: i32, external_buffer: ptr)
cusparseSpMV(handle: ptr, op_a: i32, alpha: cbuf, mat_a: ptr, vec_x: ptr, beta: cbuf, vec_y: ptr, compute_type: i32,
    alg: i32, external_buffer: ptr)
cusparseSpMV_bufferSize(handle: ptr, op_a: i32, alpha: cbuf, mat_a: ptr, vec_x: ptr, beta: cbuf, vec_y: ptr,
    compute_type: i32, alg: i32, &buffer_size: usize)
cusparseSpMV_preprocess(handle: ptr, op_a: i32, alpha: cbuf, mat_a: ptr, vec_x: ptr, beta: cbuf, vec_y: ptr,
    compute_type: i32, alg: i32, external_buffer: ptr)
cusparseSpSV_createDescr(&descr: ptr)
cusparseSpSV_destroyDescr(descr: ptr)
cusparseSpSV_bufferSize(handle: ptr, op_a: i32, alpha: cbuf, mat_a: ptr, vec_x: ptr, vec_y: ptr, compute_type: i32,
    alg: i32, spsv_descr: ptr, &buffer_size: usize)
cusparseSpSV_analysis(handle: ptr, op_a: i32, alpha: cbuf, mat_a: ptr, vec_x: ptr, vec_y: ptr, compute_type: i32,
    alg: i32, spsv_descr: ptr, external_buffer: ptr)
cusparseSpSV_solve(handle: ptr, op_a: i32, alpha: cbuf, mat_a: ptr, vec_x: ptr, vec_y: ptr, compute_type: i32,
    alg: i32, spsv_descr: ptr)
cusparseSpSV_updateMatrix(handle: ptr, spsv_descr: ptr, new_values: ptr, update_part: i32)
cusparseSpSM_createDescr(&descr: ptr)
cusparseSpSM_destroyDescr(descr: ptr)
cusparseSpSM_bufferSize(handle: ptr, op_a: i32, op_b: i32, alpha: cbuf, mat_a: ptr, mat_b: ptr, mat_c: ptr,
    compute_type: i32, alg: i32, spsm_descr: ptr, &buffer_size: usize)
cusparseSpSM_analysis(handle: ptr, op_a: i32, op_b: i32, alpha: cbuf, mat_a: ptr, mat_b: ptr, mat_c: ptr,
    compute_type: i32, alg: i32, spsm_descr: ptr, external_buffer: ptr)
cusparseSpSM_solve(handle: ptr, op_a: i32, op_b: i32, alpha: cbuf, mat_a: ptr, mat_b: ptr, mat_c: ptr,
    compute_type: i32, alg: i32, spsm_descr: ptr)
cusparseSpSM_updateMatrix(handle: ptr, spsm_descr: ptr, new_values: ptr, update_part: i32)
cusparseSpMM_bufferSize(handle: ptr, op_a: i32, op_b: i32, alpha: cbuf, mat_a: ptr, mat_b: ptr, beta: cbuf,
    mat_c: ptr, compute_type: i32, alg: i32, &buffer_size: usize)
cusparseSpMM_preprocess(handle: ptr, op_a: i32, op_b: i32, alpha: cbuf, mat_a: ptr, mat_b: ptr, beta: cbuf,
    mat_c: ptr, compute_type: i32, alg: i32, external_buffer: ptr)
cusparseSpMM(handle: ptr, op_a: i32, op_b: i32, alpha: cbuf, mat_a: ptr, mat_b: ptr, beta: cbuf, mat_c: ptr,
    compute_type: i32, alg: i32, external_buffer: ptr)
cusparseSpGEMM_createDescr(&descr: ptr)
cusparseSpGEMM_destroyDescr(descr: ptr)
cusparseSpGEMM_workEstimation(handle: ptr, op_a: i32, op_b: i32, alpha: cbuf, mat_a: ptr, mat_b: ptr, beta: cbuf,
    mat_c: ptr, compute_type: i32, alg: i32, spgemm_descr: ptr, &buffer_size1: usize, external_buffer1: ptr)
cusparseSpGEMM_getNumProducts(spgemm_descr: ptr, &num_prods: i64)
cusparseSpGEMM_compute(handle: ptr, op_a: i32, op_b: i32, alpha: cbuf, mat_a: ptr, mat_b: ptr, beta: cbuf, mat_c: ptr,
    compute_type: i32, alg: i32, spgemm_descr: ptr, buffer_size2: ptr, external_buffer2: ptr)
cusparseSpGEMM_copy(handle: ptr, op_a: i32, op_b: i32, alpha: cbuf, mat_a: ptr, mat_b: ptr, beta: cbuf, mat_c: ptr,
    compute_type: i32, alg: i32, spgemm_descr: ptr)
sp_gemm_reuse_work_estimation = cusparseSpGEMMreuse_workEstimation(handle: ptr, op_a: i32, op_b: i32, mat_a: ptr,
    mat_b: ptr, mat_c: ptr, alg: i32, spgemm_descr: ptr, &buffer_size1: usize, external_buffer1: ptr)
sp_gemm_reuse_nnz = cusparseSpGEMMreuse_nnz(handle: ptr, op_a: i32, op_b: i32, mat_a: ptr, mat_b: ptr, mat_c: ptr,
    alg: i32, spgemm_descr: ptr, &buffer_size2: usize, external_buffer2: ptr, &buffer_size3: usize,
    external_buffer3: ptr, &buffer_size4: usize, external_buffer4: ptr)
sp_gemm_reuse_copy = cusparseSpGEMMreuse_copy(handle: ptr, op_a: i32, op_b: i32, mat_a: ptr, mat_b: ptr, mat_c: ptr,
    alg: i32, spgemm_descr: ptr, &buffer_size5: usize, external_buffer5: ptr)
sp_gemm_reuse_compute = cusparseSpGEMMreuse_compute(handle: ptr, op_a: i32, op_b: i32, alpha: cbuf, mat_a: ptr,
    mat_b: ptr, beta: cbuf, mat_c: ptr, compute_type: i32, alg: i32, spgemm_descr: ptr)
cusparseSDDMM_bufferSize(handle: ptr, op_a: i32, op_b: i32, alpha: cbuf, mat_a: ptr, mat_b: ptr, beta: cbuf,
    mat_c: ptr, compute_type: i32, alg: i32, buffer_size: ptr)
cusparseSDDMM_preprocess(handle: ptr, op_a: i32, op_b: i32, alpha: cbuf, mat_a: ptr, mat_b: ptr, beta: cbuf,
    mat_c: ptr, compute_type: i32, alg: i32, external_buffer: ptr)
cusparseSDDMM(handle: ptr, op_a: i32, op_b: i32, alpha: cbuf, mat_a: ptr, mat_b: ptr, beta: cbuf, mat_c: ptr,
    compute_type: i32, alg: i32, external_buffer: ptr)
cusparseSpMMOp_createPlan(handle: ptr, &plan: ptr, op_a: i32, op_b: i32, mat_a: ptr, mat_b: ptr, mat_c: ptr,
    compute_type: i32, alg: i32, add_operation_ltoir_buffer: cbuf, add_operation_buffer_size: usize,
    mul_operation_ltoir_buffer: cbuf, mul_operation_buffer_size: usize, epilogue_ltoir_buffer: cbuf,
    epilogue_buffer_size: usize, &sp_mm_workspace_size: usize)
cusparseSpMMOp(plan: ptr, external_buffer: ptr)
cusparseSpMMOp_destroyPlan(plan: ptr)
@ cusparse.h 12.9+
cusparseSpMV_createDescr(&descr: ptr)
cusparseSpMV_destroyDescr(descr: ptr)
cusparseSpMVDescrSetParam(descr: ptr, param: i32, data: buf, data_size: usize)
cusparseSpMVDescrGetParam(descr: ptr, param: i32, data: buf, data_size: usize)
cusparseSpMVGeneric(handle: ptr, alpha: cbuf, mat_a: ptr, vec_x: ptr, beta: cbuf, vec_y: ptr, vec_z: ptr,
    compute_type: i32, descr: ptr)
cusparseSpMVGeneric_bufferSize(handle: ptr, alpha: cbuf, mat_a: ptr, vec_x: ptr, beta: cbuf, vec_y: ptr, vec_z: ptr,
    compute_type: i32, descr: ptr, &buffer_size: usize)
cusparseSpMVGeneric_preprocess(handle: ptr, alpha: cbuf, mat_a: ptr, vec_x: ptr, beta: cbuf, vec_y: ptr, vec_z: ptr,
    compute_type: i32, descr: ptr)
cusparseSpMatGetSizes(sp_mat_descr: ptr, sizes: ptr)
cusparseSpMatSetPointers(sp_mat_descr: ptr, pointers: ptr)
cusparseSpMatGetPointers(sp_mat_descr: ptr, pointers: ptr)
cusparseSpMatConvertDescrCreate(&descr: ptr)
cusparseSpMatConvertDescrDestroy(descr: ptr)
cusparseSpMatConvert_bufferSize(handle: ptr, op_a: i32, source_descr: ptr, target_descr: ptr, copy_values: i32,
    alg: i32, convert_descr: ptr, &buffer_size: usize)
cusparseSpMatConvert_analysis(handle: ptr, op_a: i32, source_descr: ptr, target_descr: ptr, copy_values: i32,
    alg: i32, convert_descr: ptr, external_buffer: ptr)
cusparseSpMatConvert(handle: ptr, op_a: i32, source_descr: ptr, target_descr: ptr, copy_values: i32, alg: i32,
    convert_descr: ptr, external_buffer: ptr)
@ cusparse.h 12.7+
cusparseSpMVOp_destroyDescr(desc: ptr)
cusparseSpMVOp_createPlan(handle: ptr, desc: ptr, &plan: ptr, code: cbuf, code_size: usize)
cusparseSpMVOp_destroyPlan(plan: ptr)
cusparseSpMVOp_setGlobalUserData(handle: ptr, plan: ptr, global_data_name: str, input_data: ptr, data_size: usize)
cusparseSpMVOp(handle: ptr, plan: ptr, alpha: cbuf, beta: cbuf, vec_x: ptr, vec_y: ptr, vec_z: ptr)
@ cusparse.h 12.8+
cusparseSpGEAM_createDescr(&descr: ptr)
cusparseSpGEAM_destroyDescr(descr: ptr)
cusparseSpGEAM_bufferSize(handle: ptr, op_a: i32, op_b: i32, alpha: cbuf, mat_a: ptr, beta: cbuf, mat_b: ptr,
    mat_c: ptr, compute_type: i32, alg: i32, spgeam_descr: ptr, &buffer_size: usize)
cusparseSpGEAM_nnz(handle: ptr, op_a: i32, op_b: i32, alpha: cbuf, mat_a: ptr, beta: cbuf, mat_b: ptr, mat_c: ptr,
    compute_type: i32, alg: i32, spgeam_descr: ptr, external_buffer: ptr)
cusparseSpGEAM(handle: ptr, op_a: i32, op_b: i32, alpha: cbuf, mat_a: ptr, beta: cbuf, mat_b: ptr, mat_c: ptr,
    compute_type: i32, alg: i32, spgeam_descr: ptr, external_buffer: ptr)
"""

_SPECIAL = """
@ cusparse.h
# The first call and the second one, which return the sizes of the third and the second buffer.
sp_gemm_estimate_memory_buffersize3 = cusparseSpGEMM_estimateMemory(handle: ptr, op_a: i32, op_b: i32, alpha: cbuf,
    mat_a: ptr, mat_b: ptr, beta: cbuf, mat_c: ptr, compute_type: i32, alg: i32, spgemm_descr: ptr, chunk_fraction: f32,
    &buffer_size3: usize, external_buffer3: null, buffer_size2: null)
sp_gemm_estimate_memory_buffersize2 = cusparseSpGEMM_estimateMemory(handle: ptr, op_a: i32, op_b: i32, alpha: cbuf,
    mat_a: ptr, mat_b: ptr, beta: cbuf, mat_c: ptr, compute_type: i32, alg: i32, spgemm_descr: ptr, chunk_fraction: f32,
    buffer_size3: usize*, external_buffer3: ptr, &buffer_size2: usize)
@ cusparse.h 12.7-12.7
_sp_mv_op_buffer_size_12_7 = cusparseSpMVOp_bufferSize(handle: ptr, op_a: i32, mat_a: ptr, vec_x: ptr, vec_y: ptr, vec_z: ptr,
    compute_type: i32, &buffer_size: usize)
_sp_mv_op_create_descr_12_7 = cusparseSpMVOp_createDescr(handle: ptr, &desc: ptr, op_a: i32, mat_a: ptr, vec_x: ptr,
    vec_y: ptr, vec_z: ptr, compute_type: i32, buffer: ptr)
@ cusparse.h 12.8+
_sp_mv_op_buffer_size = cusparseSpMVOp_bufferSize(handle: ptr, op_a: i32, mat_a: ptr, vec_x: ptr, vec_y: ptr, vec_z: ptr,
    compute_type: i32, alg: i32, &buffer_size: usize)
_sp_mv_op_create_descr = cusparseSpMVOp_createDescr(handle: ptr, &desc: ptr, op_a: i32, mat_a: ptr, vec_x: ptr,
    vec_y: ptr, vec_z: ptr, compute_type: i32, alg: i32, buffer: ptr)
@ cusparse.h -12.4
cusparseSetColorAlgs(info: ptr, alg: i32)
cusparseGetColorAlgs(info: ptr, &alg: i32)
"""

_ENUMS = """
IntEnum Action: SYMBOLIC=0 NUMERIC=1
IntEnum ColorAlg: COLOR_ALG0=0 COLOR_ALG1=1
IntEnum Csr2CscAlg: DEFAULT=1 ALG1=1
IntEnum DenseToSparseAlg: DEFAULT=0
IntEnum DiagType: NON_UNIT=0 UNIT=1
IntEnum Direction: ROW=0 COLUMN=1
IntEnum FillMode: LOWER=0 UPPER=1
IntEnum Format: CSR=1 CSC=2 COO=3 BLOCKED_ELL=5 BSR=6 SLICED_ELLPACK=7
IntEnum IndexBase: ZERO=0 ONE=1
IntEnum IndexType: INDEX_16U=1 INDEX_32I=2 INDEX_64I=3
IntEnum MatrixType: GENERAL=0 SYMMETRIC=1 HERMITIAN=2 TRIANGULAR=3
IntEnum Operation: NON_TRANSPOSE=0 TRANSPOSE=1 CONJUGATE_TRANSPOSE=2
IntEnum Order: COL=1 ROW=2
IntEnum PointerMode: HOST=0 DEVICE=1
IntEnum SDDMMAlg: DEFAULT=0
IntEnum SolvePolicy: NO_LEVEL=0 USE_LEVEL=1
IntEnum SpGEMMAlg: DEFAULT=0 CSR_ALG_DETERMINITIC=1 CSR_ALG_NONDETERMINITIC=2 ALG1=3 ALG2=4 ALG3=5
IntEnum SpMMAlg: DEFAULT=0 COO_ALG1=1 COO_ALG2=2 COO_ALG3=3 CSR_ALG1=4 COO_ALG4=5 CSR_ALG2=6 CSR_ALG3=12
    BLOCKED_ELL_ALG1=13 BSR_ALG1=14
IntEnum SpMMOpAlg: DEFAULT=0
IntEnum SpMVAlg: DEFAULT=0 COO_ALG1=1 CSR_ALG1=2 CSR_ALG2=3 COO_ALG2=4 SELL_ALG1=5 BSR_ALG1=6
IntEnum SpMatAttribute: FILL_MODE=0 DIAG_TYPE=1 STORAGE=2 SYMMETRY_TYPE=3
IntEnum SpSMAlg: DEFAULT=0
IntEnum SpSMUpdate: UPDATE_GENERAL=0 UPDATE_DIAGONAL=1
IntEnum SpSVAlg: DEFAULT=0
IntEnum SpSVUpdate: GENERAL=0 DIAGONAL=1
IntEnum SparseToDenseAlg: DEFAULT=0
IntEnum Status: SUCCESS=0 NOT_INITIALIZED=1 ALLOC_FAILED=2 INVALID_VALUE=3 ARCH_MISMATCH=4 MAPPING_ERROR=5
    EXECUTION_FAILED=6 INTERNAL_ERROR=7 MATRIX_TYPE_NOT_SUPPORTED=8 ZERO_PIVOT=9 NOT_SUPPORTED=10
    INSUFFICIENT_RESOURCES=11
IntEnum SpMVOpAlg: ALG_DEFAULT=0 ALG1=1 ALG2=2
IntEnum SpGEAMAlg: ALG_DEFAULT=0 ALG1=1
IntEnum SpMatStorage: FULL=0 LOWER=1 UPPER=2
IntEnum SymmetryType: GENERAL=0 SYMMETRIC=1 HERMITIAN=2
IntEnum ApiParam: OP=0 ALG=1 BUFFER=2
IntEnum SpMatConvertAlg: DEFAULT=0
"""

_DTYPES = """
get_sp_mat_attribute_dtype SpMatAttribute int32 *
"""

_library = Bindings(
    "cusparse",
    globals(),
    prefix="cusparse",
    errors=Errors("cuSPARSEError", "CUSPARSE_STATUS_", explain="get_error_string"),
)
__getattr__, __dir__ = _library.resolve, _library.names


def _sp_mv_op(name: str, common: tuple[Any, ...], alg: int, *last: Any) -> int:
    """Version 12.8 of the library gave the functions one more parameter."""
    version = _library.opened().version if _library.substituted is None else "12.8"
    if tuple(map(int, version.split(".")[:2])) >= (12, 8):
        return int(getattr(_library, name)(*common, alg, *last))
    if alg:
        raise ValueError(f"alg needs cuSPARSE 12.8, this is {version}; it must be 0")
    return int(getattr(_library, name + "_12_7")(*common, *last))


def sp_mv_op_buffer_size(
    handle: int, op_a: int, mat_a: int, vec_x: int, vec_y: int, vec_z: int, compute_type: int, alg: int = 0
) -> int:
    """Return the size of the buffer for `sp_mv_op_create_descr`: ``cusparseSpMVOp_bufferSize``, since version 12.7.

    Parameters
    ----------
    handle, op_a, mat_a, vec_x, vec_y, vec_z, compute_type
        As in C.
    alg : int
        The algorithm; 0 before version 12.8 of the library, which has no such parameter.

    Returns
    -------
    int
        Bytes.

    Raises
    ------
    cuSPARSEError
        The status is not success.
    """
    return _sp_mv_op("_sp_mv_op_buffer_size", (handle, op_a, mat_a, vec_x, vec_y, vec_z, compute_type), alg)


def sp_mv_op_create_descr(
    handle: int, op_a: int, mat_a: int, vec_x: int, vec_y: int, vec_z: int, compute_type: int, buffer: int, alg: int = 0
) -> int:
    """Create the descriptor of a product: ``cusparseSpMVOp_createDescr``, since version 12.7.

    Parameters
    ----------
    handle, op_a, mat_a, vec_x, vec_y, vec_z, compute_type
        As in C.
    buffer : int
        The address of device memory of the size that `sp_mv_op_buffer_size` returns.
    alg : int
        The algorithm; 0 before version 12.8 of the library, which has no such parameter.

    Returns
    -------
    int
        The descriptor, to be ended with `sp_mv_op_destroy_descr`.

    Raises
    ------
    cuSPARSEError
        The status is not success.
    """
    common = (handle, op_a, mat_a, vec_x, vec_y, vec_z, compute_type)
    return _sp_mv_op("_sp_mv_op_create_descr", common, alg, buffer)
