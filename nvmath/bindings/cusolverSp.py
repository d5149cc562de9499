"""cuSOLVER, sparse (``cusolverSp.h``): direct solvers on CUDA devices and on the CPU; NVIDIA recommends cuDSS instead."""
# ruff: noqa: N999, the public name

from __future__ import annotations

from nvmath.bindings import cusolver
from nvmath.bindings._bind import Bindings

_ROWS = """
@ cusolverSp.h
cusolverSpCreate(&handle: ptr)
cusolverSpDestroy(handle: ptr)
cusolverSpSetStream(handle: ptr, stream_id: ptr)
cusolverSpGetStream(handle: ptr, &stream_id: ptr)
cusolverSpXcsrissymHost(handle: ptr, m: i32, nnz_a: i32, descr_a: ptr, csr_row_ptr_a: cbuf<i32>,
    csr_end_ptr_a: cbuf<i32>, csr_col_ind_a: cbuf<i32>, issym: buf<i32>)
cusolverSp{S,D,C,Z}csrlsvluHost(handle: ptr, n: i32, nnz_a: i32, descr_a: ptr, csr_val_a: cbuf<{f32,f64,c64,c128}>,
    csr_row_ptr_a: cbuf<i32>, csr_col_ind_a: cbuf<i32>, b: cbuf<{f32,f64,c64,c128}>, tol: {f32,f64,f32,f64},
    reorder: i32, x: buf<{f32,f64,c64,c128}>, singularity: buf<i32>)
cusolverSp{S,D,C,Z}csrlsvqr(handle: ptr, m: i32, nnz: i32, descr_a: ptr, csr_val: ptr, csr_row_ptr: ptr,
    csr_col_ind: ptr, b: ptr, tol: {f32,f64,f32,f64}, reorder: i32, x: ptr, singularity: buf<i32>)
cusolverSp{S,D,C,Z}csrlsvqrHost(handle: ptr, m: i32, nnz: i32, descr_a: ptr, csr_val_a: cbuf<{f32,f64,c64,c128}>,
    csr_row_ptr_a: cbuf<i32>, csr_col_ind_a: cbuf<i32>, b: cbuf<{f32,f64,c64,c128}>, tol: {f32,f64,f32,f64},
    reorder: i32, x: buf<{f32,f64,c64,c128}>, singularity: buf<i32>)
cusolverSp{S,D,C,Z}csrlsvcholHost(handle: ptr, m: i32, nnz: i32, descr_a: ptr, csr_val: cbuf<{f32,f64,c64,c128}>,
    csr_row_ptr: cbuf<i32>, csr_col_ind: cbuf<i32>, b: cbuf<{f32,f64,c64,c128}>, tol: {f32,f64,f32,f64}, reorder: i32,
    x: buf<{f32,f64,c64,c128}>, singularity: buf<i32>)
cusolverSp{S,D,C,Z}csrlsvchol(handle: ptr, m: i32, nnz: i32, descr_a: ptr, csr_val: ptr, csr_row_ptr: ptr,
    csr_col_ind: ptr, b: ptr, tol: {f32,f64,f32,f64}, reorder: i32, x: ptr, singularity: buf<i32>)
cusolverSp{S,D,C,Z}csrlsqvqrHost(handle: ptr, m: i32, n: i32, nnz: i32, descr_a: ptr,
    csr_val_a: cbuf<{f32,f64,c64,c128}>, csr_row_ptr_a: cbuf<i32>, csr_col_ind_a: cbuf<i32>,
    b: cbuf<{f32,f64,c64,c128}>, tol: {f32,f64,f32,f64}, rank_a: buf<i32>, x: buf<{f32,f64,c64,c128}>, p: buf<i32>,
    min_norm: buf<{f32,f64,f32,f64}>)
cusolverSp{S,D,C,Z}csreigvsiHost(handle: ptr, m: i32, nnz: i32, descr_a: ptr, csr_val_a: cbuf<{f32,f64,c64,c128}>,
    csr_row_ptr_a: cbuf<i32>, csr_col_ind_a: cbuf<i32>, mu0: {f32,f64,c64,c128}, x0: cbuf<{f32,f64,c64,c128}>,
    maxite: i32, tol: {f32,f64,f32,f64}, mu: buf<{f32,f64,c64,c128}>, x: buf<{f32,f64,c64,c128}>)
cusolverSp{S,D,C,Z}csreigvsi(handle: ptr, m: i32, nnz: i32, descr_a: ptr, csr_val_a: ptr, csr_row_ptr_a: ptr,
    csr_col_ind_a: ptr, mu0: {f32,f64,c64,c128}, x0: ptr, maxite: i32, eps: {f32,f64,f32,f64}, mu: ptr, x: ptr)
cusolverSp{S,D,C,Z}csreigsHost(handle: ptr, m: i32, nnz: i32, descr_a: ptr, csr_val_a: cbuf<{f32,f64,c64,c128}>,
    csr_row_ptr_a: cbuf<i32>, csr_col_ind_a: cbuf<i32>, left_bottom_corner: {c64,c128,c64,c128},
    right_upper_corner: {c64,c128,c64,c128}, num_eigs: buf<i32>)
cusolverSpXcsrsymrcmHost(handle: ptr, n: i32, nnz_a: i32, descr_a: ptr, csr_row_ptr_a: cbuf<i32>,
    csr_col_ind_a: cbuf<i32>, p: buf<i32>)
cusolverSpXcsrsymmdqHost(handle: ptr, n: i32, nnz_a: i32, descr_a: ptr, csr_row_ptr_a: cbuf<i32>,
    csr_col_ind_a: cbuf<i32>, p: buf<i32>)
cusolverSpXcsrsymamdHost(handle: ptr, n: i32, nnz_a: i32, descr_a: ptr, csr_row_ptr_a: cbuf<i32>,
    csr_col_ind_a: cbuf<i32>, p: buf<i32>)
cusolverSpXcsrmetisndHost(handle: ptr, n: i32, nnz_a: i32, descr_a: ptr, csr_row_ptr_a: cbuf<i32>,
    csr_col_ind_a: cbuf<i32>, options: cbuf<i64>, p: buf<i32>)
cusolverSp{S,D,C,Z}csrzfdHost(handle: ptr, n: i32, nnz: i32, descr_a: ptr, csr_val_a: cbuf<{f32,f64,c64,c128}>,
    csr_row_ptr_a: cbuf<i32>, csr_col_ind_a: cbuf<i32>, p: buf<i32>, numnz: buf<i32>)
cusolverSpXcsrperm_bufferSizeHost(handle: ptr, m: i32, n: i32, nnz_a: i32, descr_a: ptr, csr_row_ptr_a: cbuf<i32>,
    csr_col_ind_a: cbuf<i32>, p: cbuf<i32>, q: cbuf<i32>, &buffer_size_in_bytes: usize)
cusolverSpXcsrpermHost(handle: ptr, m: i32, n: i32, nnz_a: i32, descr_a: ptr, csr_row_ptr_a: buf<i32>,
    csr_col_ind_a: buf<i32>, p: cbuf<i32>, q: cbuf<i32>, map: buf<i32>, p_buffer: buf)
cusolverSpCreateCsrqrInfo(&info: ptr)
cusolverSpDestroyCsrqrInfo(info: ptr)
cusolverSpXcsrqrAnalysisBatched(handle: ptr, m: i32, n: i32, nnz_a: i32, descr_a: ptr, csr_row_ptr_a: ptr,
    csr_col_ind_a: ptr, info: ptr)
cusolverSp{S,D,C,Z}csrqrBufferInfoBatched(handle: ptr, m: i32, n: i32, nnz: i32, descr_a: ptr, csr_val: ptr,
    csr_row_ptr: ptr, csr_col_ind: ptr, batch_size: i32, info: ptr, &internal_data_in_bytes: usize,
    &workspace_in_bytes: usize)
cusolverSp{S,D,C,Z}csrqrsvBatched(handle: ptr, m: i32, n: i32, nnz: i32, descr_a: ptr, csr_val_a: ptr,
    csr_row_ptr_a: ptr, csr_col_ind_a: ptr, b: ptr, x: ptr, batch_size: i32, info: ptr, p_buffer: ptr)
@ cusolverSp_LOWLEVEL_PREVIEW.h
cusolverSpCreateCsrluInfoHost(&info: ptr)
cusolverSpDestroyCsrluInfoHost(info: ptr)
cusolverSpXcsrluAnalysisHost(handle: ptr, n: i32, nnz_a: i32, descr_a: ptr, csr_row_ptr_a: cbuf<i32>,
    csr_col_ind_a: cbuf<i32>, info: ptr)
cusolverSp{S,D,C,Z}csrluBufferInfoHost(handle: ptr, n: i32, nnz_a: i32, descr_a: ptr,
    csr_val_a: cbuf<{f32,f64,c64,c128}>, csr_row_ptr_a: cbuf<i32>, csr_col_ind_a: cbuf<i32>, info: ptr,
    internal_data_in_bytes: buf<usize>, workspace_in_bytes: buf<usize>)
cusolverSp{S,D,C,Z}csrluFactorHost(handle: ptr, n: i32, nnz_a: i32, descr_a: ptr, csr_val_a: cbuf<{f32,f64,c64,c128}>,
    csr_row_ptr_a: cbuf<i32>, csr_col_ind_a: cbuf<i32>, info: ptr, pivot_threshold: {f32,f64,f32,f64}, p_buffer: buf)
cusolverSp{S,D,C,Z}csrluZeroPivotHost(handle: ptr, info: ptr, tol: {f32,f64,f32,f64}, position: buf<i32>)
cusolverSp{S,D,C,Z}csrluSolveHost(handle: ptr, n: i32, b: cbuf<{f32,f64,c64,c128}>, x: buf<{f32,f64,c64,c128}>,
    info: ptr, p_buffer: buf)
cusolverSpXcsrluNnzHost(handle: ptr, nnz_l_ref: buf<i32>, nnz_u_ref: buf<i32>, info: ptr)
cusolverSp{S,D,C,Z}csrluExtractHost(handle: ptr, p: buf<i32>, q: buf<i32>, descr_l: ptr,
    csr_val_l: buf<{f32,f64,c64,c128}>, csr_row_ptr_l: buf<i32>, csr_col_ind_l: buf<i32>, descr_u: ptr,
    csr_val_u: buf<{f32,f64,c64,c128}>, csr_row_ptr_u: buf<i32>, csr_col_ind_u: buf<i32>, info: ptr, p_buffer: buf)
cusolverSpCreateCsrqrInfoHost(&info: ptr)
cusolverSpDestroyCsrqrInfoHost(info: ptr)
cusolverSpXcsrqrAnalysisHost(handle: ptr, m: i32, n: i32, nnz_a: i32, descr_a: ptr, csr_row_ptr_a: cbuf<i32>,
    csr_col_ind_a: cbuf<i32>, info: ptr)
cusolverSp{S,D,C,Z}csrqrBufferInfoHost(handle: ptr, m: i32, n: i32, nnz_a: i32, descr_a: ptr,
    csr_val_a: cbuf<{f32,f64,c64,c128}>, csr_row_ptr_a: cbuf<i32>, csr_col_ind_a: cbuf<i32>, info: ptr,
    internal_data_in_bytes: buf<usize>, workspace_in_bytes: buf<usize>)
cusolverSp{S,D,C,Z}csrqrSetupHost(handle: ptr, m: i32, n: i32, nnz_a: i32, descr_a: ptr,
    csr_val_a: cbuf<{f32,f64,c64,c128}>, csr_row_ptr_a: cbuf<i32>, csr_col_ind_a: cbuf<i32>, mu: {f32,f64,c64,c128},
    info: ptr)
cusolverSp{S,D,C,Z}csrqrFactorHost(handle: ptr, m: i32, n: i32, nnz_a: i32, b: buf<{f32,f64,c64,c128}>,
    x: buf<{f32,f64,c64,c128}>, info: ptr, p_buffer: buf)
cusolverSp{S,D,C,Z}csrqrZeroPivotHost(handle: ptr, info: ptr, tol: {f32,f64,f32,f64}, position: buf<i32>)
cusolverSp{S,D,C,Z}csrqrSolveHost(handle: ptr, m: i32, n: i32, b: buf<{f32,f64,c64,c128}>, x: buf<{f32,f64,c64,c128}>,
    info: ptr, p_buffer: buf)
cusolverSpXcsrqrAnalysis(handle: ptr, m: i32, n: i32, nnz_a: i32, descr_a: ptr, csr_row_ptr_a: ptr,
    csr_col_ind_a: ptr, info: ptr)
cusolverSp{S,D,C,Z}csrqrBufferInfo(handle: ptr, m: i32, n: i32, nnz_a: i32, descr_a: ptr, csr_val_a: ptr,
    csr_row_ptr_a: ptr, csr_col_ind_a: ptr, info: ptr, internal_data_in_bytes: ptr, workspace_in_bytes: ptr)
cusolverSp{S,D,C,Z}csrqrSetup(handle: ptr, m: i32, n: i32, nnz_a: i32, descr_a: ptr, csr_val_a: ptr,
    csr_row_ptr_a: ptr, csr_col_ind_a: ptr, mu: {f32,f64,c64,c128}, info: ptr)
cusolverSp{S,D,C,Z}csrqrFactor(handle: ptr, m: i32, n: i32, nnz_a: i32, b: ptr, x: ptr, info: ptr, p_buffer: ptr)
cusolverSp{S,D,C,Z}csrqrZeroPivot(handle: ptr, info: ptr, tol: {f32,f64,f32,f64}, position: ptr)
cusolverSp{S,D,C,Z}csrqrSolve(handle: ptr, m: i32, n: i32, b: ptr, x: ptr, info: ptr, p_buffer: ptr)
cusolverSpCreateCsrcholInfoHost(&info: ptr)
cusolverSpDestroyCsrcholInfoHost(info: ptr)
cusolverSpXcsrcholAnalysisHost(handle: ptr, n: i32, nnz_a: i32, descr_a: ptr, csr_row_ptr_a: cbuf<i32>,
    csr_col_ind_a: cbuf<i32>, info: ptr)
cusolverSp{S,D,C,Z}csrcholBufferInfoHost(handle: ptr, n: i32, nnz_a: i32, descr_a: ptr,
    csr_val_a: cbuf<{f32,f64,c64,c128}>, csr_row_ptr_a: cbuf<i32>, csr_col_ind_a: cbuf<i32>, info: ptr,
    internal_data_in_bytes: buf<usize>, workspace_in_bytes: buf<usize>)
cusolverSp{S,D,C,Z}csrcholFactorHost(handle: ptr, n: i32, nnz_a: i32, descr_a: ptr,
    csr_val_a: cbuf<{f32,f64,c64,c128}>, csr_row_ptr_a: cbuf<i32>, csr_col_ind_a: cbuf<i32>, info: ptr, p_buffer: buf)
cusolverSp{S,D,C,Z}csrcholZeroPivotHost(handle: ptr, info: ptr, tol: {f32,f64,f32,f64}, position: buf<i32>)
cusolverSp{S,D,C,Z}csrcholSolveHost(handle: ptr, n: i32, b: cbuf<{f32,f64,c64,c128}>, x: buf<{f32,f64,c64,c128}>,
    info: ptr, p_buffer: buf)
cusolverSpCreateCsrcholInfo(info: ptr)
cusolverSpDestroyCsrcholInfo(info: ptr)
cusolverSpXcsrcholAnalysis(handle: ptr, n: i32, nnz_a: i32, descr_a: ptr, csr_row_ptr_a: ptr, csr_col_ind_a: ptr,
    info: ptr)
cusolverSp{S,D,C,Z}csrcholBufferInfo(handle: ptr, n: i32, nnz_a: i32, descr_a: ptr, csr_val_a: ptr,
    csr_row_ptr_a: ptr, csr_col_ind_a: ptr, info: ptr, internal_data_in_bytes: ptr, workspace_in_bytes: ptr)
cusolverSp{S,D,C,Z}csrcholFactor(handle: ptr, n: i32, nnz_a: i32, descr_a: ptr, csr_val_a: ptr, csr_row_ptr_a: ptr,
    csr_col_ind_a: ptr, info: ptr, p_buffer: ptr)
cusolverSp{S,D,C,Z}csrcholZeroPivot(handle: ptr, info: ptr, tol: {f32,f64,f32,f64}, position: ptr)
cusolverSp{S,D,C,Z}csrcholSolve(handle: ptr, n: i32, b: ptr, x: ptr, info: ptr, p_buffer: ptr)
cusolverSp{S,D,C,Z}csrcholDiag(handle: ptr, info: ptr, diag: ptr)
"""

_library = Bindings("cusolver", globals(), prefix="cusolverSp", errors=cusolver._library.errors)
__getattr__, __dir__ = _library.resolve, _library.names
