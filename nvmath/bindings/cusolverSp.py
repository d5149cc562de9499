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
cusolverSpXcsrissymHost(handle: ptr, m: i32, nnz_a: i32, descr_a: ptr, csr_row_ptr_a: cbuf, csr_end_ptr_a: cbuf,
    csr_col_ind_a: cbuf, issym: buf)
cusolverSp{S,D,C,Z}csrlsvluHost(handle: ptr, n: i32, nnz_a: i32, descr_a: ptr, csr_val_a: cbuf, csr_row_ptr_a: cbuf,
    csr_col_ind_a: cbuf, b: cbuf, tol: {f32,f64,f32,f64}, reorder: i32, x: buf, singularity: buf)
cusolverSp{S,D,C,Z}csrlsvqr(handle: ptr, m: i32, nnz: i32, descr_a: ptr, csr_val: ptr, csr_row_ptr: ptr,
    csr_col_ind: ptr, b: ptr, tol: {f32,f64,f32,f64}, reorder: i32, x: ptr, singularity: buf)
cusolverSp{S,D,C,Z}csrlsvqrHost(handle: ptr, m: i32, nnz: i32, descr_a: ptr, csr_val_a: cbuf, csr_row_ptr_a: cbuf,
    csr_col_ind_a: cbuf, b: cbuf, tol: {f32,f64,f32,f64}, reorder: i32, x: buf, singularity: buf)
cusolverSp{S,D,C,Z}csrlsvcholHost(handle: ptr, m: i32, nnz: i32, descr_a: ptr, csr_val: cbuf, csr_row_ptr: cbuf,
    csr_col_ind: cbuf, b: cbuf, tol: {f32,f64,f32,f64}, reorder: i32, x: buf, singularity: buf)
cusolverSp{S,D,C,Z}csrlsvchol(handle: ptr, m: i32, nnz: i32, descr_a: ptr, csr_val: ptr, csr_row_ptr: ptr,
    csr_col_ind: ptr, b: ptr, tol: {f32,f64,f32,f64}, reorder: i32, x: ptr, singularity: buf)
cusolverSp{S,D,C,Z}csrlsqvqrHost(handle: ptr, m: i32, n: i32, nnz: i32, descr_a: ptr, csr_val_a: cbuf,
    csr_row_ptr_a: cbuf, csr_col_ind_a: cbuf, b: cbuf, tol: {f32,f64,f32,f64}, rank_a: buf, x: buf, p: buf,
    min_norm: buf)
cusolverSp{S,D,C,Z}csreigvsiHost(handle: ptr, m: i32, nnz: i32, descr_a: ptr, csr_val_a: cbuf, csr_row_ptr_a: cbuf,
    csr_col_ind_a: cbuf, mu0: {f32,f64,c64,c128}, x0: cbuf, maxite: i32, tol: {f32,f64,f32,f64}, mu: buf, x: buf)
cusolverSp{S,D,C,Z}csreigvsi(handle: ptr, m: i32, nnz: i32, descr_a: ptr, csr_val_a: ptr, csr_row_ptr_a: ptr,
    csr_col_ind_a: ptr, mu0: {f32,f64,c64,c128}, x0: ptr, maxite: i32, eps: {f32,f64,f32,f64}, mu: ptr, x: ptr)
cusolverSp{S,D,C,Z}csreigsHost(handle: ptr, m: i32, nnz: i32, descr_a: ptr, csr_val_a: cbuf, csr_row_ptr_a: cbuf,
    csr_col_ind_a: cbuf, left_bottom_corner: {c64,c128,c64,c128}, right_upper_corner: {c64,c128,c64,c128},
    num_eigs: buf)
cusolverSpXcsrsymrcmHost(handle: ptr, n: i32, nnz_a: i32, descr_a: ptr, csr_row_ptr_a: cbuf, csr_col_ind_a: cbuf,
    p: buf)
cusolverSpXcsrsymmdqHost(handle: ptr, n: i32, nnz_a: i32, descr_a: ptr, csr_row_ptr_a: cbuf, csr_col_ind_a: cbuf,
    p: buf)
cusolverSpXcsrsymamdHost(handle: ptr, n: i32, nnz_a: i32, descr_a: ptr, csr_row_ptr_a: cbuf, csr_col_ind_a: cbuf,
    p: buf)
cusolverSpXcsrmetisndHost(handle: ptr, n: i32, nnz_a: i32, descr_a: ptr, csr_row_ptr_a: cbuf, csr_col_ind_a: cbuf,
    options: cbuf, p: buf)
cusolverSp{S,D,C,Z}csrzfdHost(handle: ptr, n: i32, nnz: i32, descr_a: ptr, csr_val_a: cbuf, csr_row_ptr_a: cbuf,
    csr_col_ind_a: cbuf, p: buf, numnz: buf)
cusolverSpXcsrperm_bufferSizeHost(handle: ptr, m: i32, n: i32, nnz_a: i32, descr_a: ptr, csr_row_ptr_a: cbuf,
    csr_col_ind_a: cbuf, p: cbuf, q: cbuf, &buffer_size_in_bytes: usize)
cusolverSpXcsrpermHost(handle: ptr, m: i32, n: i32, nnz_a: i32, descr_a: ptr, csr_row_ptr_a: buf, csr_col_ind_a: buf,
    p: cbuf, q: cbuf, map: buf, p_buffer: buf)
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
cusolverSpXcsrluAnalysisHost(handle: ptr, n: i32, nnz_a: i32, descr_a: ptr, csr_row_ptr_a: cbuf, csr_col_ind_a: cbuf,
    info: ptr)
cusolverSp{S,D,C,Z}csrluBufferInfoHost(handle: ptr, n: i32, nnz_a: i32, descr_a: ptr, csr_val_a: cbuf,
    csr_row_ptr_a: cbuf, csr_col_ind_a: cbuf, info: ptr, internal_data_in_bytes: buf, workspace_in_bytes: buf)
cusolverSp{S,D,C,Z}csrluFactorHost(handle: ptr, n: i32, nnz_a: i32, descr_a: ptr, csr_val_a: cbuf,
    csr_row_ptr_a: cbuf, csr_col_ind_a: cbuf, info: ptr, pivot_threshold: {f32,f64,f32,f64}, p_buffer: buf)
cusolverSp{S,D,C,Z}csrluZeroPivotHost(handle: ptr, info: ptr, tol: {f32,f64,f32,f64}, position: buf)
cusolverSp{S,D,C,Z}csrluSolveHost(handle: ptr, n: i32, b: cbuf, x: buf, info: ptr, p_buffer: buf)
cusolverSpXcsrluNnzHost(handle: ptr, nnz_l_ref: buf, nnz_u_ref: buf, info: ptr)
cusolverSp{S,D,C,Z}csrluExtractHost(handle: ptr, p: buf, q: buf, descr_l: ptr, csr_val_l: buf, csr_row_ptr_l: buf,
    csr_col_ind_l: buf, descr_u: ptr, csr_val_u: buf, csr_row_ptr_u: buf, csr_col_ind_u: buf, info: ptr,
    p_buffer: buf)
cusolverSpCreateCsrqrInfoHost(&info: ptr)
cusolverSpDestroyCsrqrInfoHost(info: ptr)
cusolverSpXcsrqrAnalysisHost(handle: ptr, m: i32, n: i32, nnz_a: i32, descr_a: ptr, csr_row_ptr_a: cbuf,
    csr_col_ind_a: cbuf, info: ptr)
cusolverSp{S,D,C,Z}csrqrBufferInfoHost(handle: ptr, m: i32, n: i32, nnz_a: i32, descr_a: ptr, csr_val_a: cbuf,
    csr_row_ptr_a: cbuf, csr_col_ind_a: cbuf, info: ptr, internal_data_in_bytes: buf, workspace_in_bytes: buf)
cusolverSp{S,D,C,Z}csrqrSetupHost(handle: ptr, m: i32, n: i32, nnz_a: i32, descr_a: ptr, csr_val_a: cbuf,
    csr_row_ptr_a: cbuf, csr_col_ind_a: cbuf, mu: {f32,f64,c64,c128}, info: ptr)
cusolverSp{S,D,C,Z}csrqrFactorHost(handle: ptr, m: i32, n: i32, nnz_a: i32, b: buf, x: buf, info: ptr, p_buffer: buf)
cusolverSp{S,D,C,Z}csrqrZeroPivotHost(handle: ptr, info: ptr, tol: {f32,f64,f32,f64}, position: buf)
cusolverSp{S,D,C,Z}csrqrSolveHost(handle: ptr, m: i32, n: i32, b: buf, x: buf, info: ptr, p_buffer: buf)
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
cusolverSpXcsrcholAnalysisHost(handle: ptr, n: i32, nnz_a: i32, descr_a: ptr, csr_row_ptr_a: cbuf,
    csr_col_ind_a: cbuf, info: ptr)
cusolverSp{S,D,C,Z}csrcholBufferInfoHost(handle: ptr, n: i32, nnz_a: i32, descr_a: ptr, csr_val_a: cbuf,
    csr_row_ptr_a: cbuf, csr_col_ind_a: cbuf, info: ptr, internal_data_in_bytes: buf, workspace_in_bytes: buf)
cusolverSp{S,D,C,Z}csrcholFactorHost(handle: ptr, n: i32, nnz_a: i32, descr_a: ptr, csr_val_a: cbuf,
    csr_row_ptr_a: cbuf, csr_col_ind_a: cbuf, info: ptr, p_buffer: buf)
cusolverSp{S,D,C,Z}csrcholZeroPivotHost(handle: ptr, info: ptr, tol: {f32,f64,f32,f64}, position: buf)
cusolverSp{S,D,C,Z}csrcholSolveHost(handle: ptr, n: i32, b: cbuf, x: buf, info: ptr, p_buffer: buf)
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
