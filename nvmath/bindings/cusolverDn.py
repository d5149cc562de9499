"""cuSOLVER, dense (``cusolverDn.h``): factorizations, solvers and eigenvalues on CUDA devices."""
# ruff: noqa: N999, the public name

from __future__ import annotations

from nvmath.bindings import cusolver
from nvmath.bindings._bind import Bindings

_ROWS = """
@ cusolverDn.h
cusolverDnCreate(&handle: ptr)
cusolverDnDestroy(handle: ptr)
cusolverDnSetStream(handle: ptr, stream_id: ptr)
cusolverDnGetStream(handle: ptr, &stream_id: ptr)
cusolverDnSetDeterministicMode(handle: ptr, mode: i32)
cusolverDnGetDeterministicMode(handle: ptr, &mode: i32)
cusolverDnIRSParamsCreate(&params_ptr: ptr)
cusolverDnIRSParamsDestroy(params: ptr)
cusolverDnIRSParamsSetRefinementSolver(params: ptr, refinement_solver: i32)
cusolverDnIRSParamsSetSolverMainPrecision(params: ptr, solver_main_precision: i32)
cusolverDnIRSParamsSetSolverLowestPrecision(params: ptr, solver_lowest_precision: i32)
cusolverDnIRSParamsSetSolverPrecisions(params: ptr, solver_main_precision: i32, solver_lowest_precision: i32)
cusolverDnIRSParamsSetTol(params: ptr, val: f64)
cusolverDnIRSParamsSetTolInner(params: ptr, val: f64)
cusolverDnIRSParamsSetMaxIters(params: ptr, maxiters: i32)
cusolverDnIRSParamsSetMaxItersInner(params: ptr, maxiters_inner: i32)
cusolverDnIRSParamsGetMaxIters(params: ptr, &maxiters: i32)
cusolverDnIRSParamsEnableFallback(params: ptr)
cusolverDnIRSParamsDisableFallback(params: ptr)
cusolverDnIRSInfosDestroy(infos: ptr)
cusolverDnIRSInfosCreate(&infos_ptr: ptr)
cusolverDnIRSInfosGetNiters(infos: ptr, &niters: i32)
cusolverDnIRSInfosGetOuterNiters(infos: ptr, &outer_niters: i32)
cusolverDnIRSInfosRequestResidual(infos: ptr)
cusolverDnIRSInfosGetResidualHistory(infos: ptr, residual_history: ptr)
cusolverDnIRSInfosGetMaxIters(infos: ptr, &maxiters: i32)
{zz,zc,zk,ze,zy,cc,ce,ck,cy,dd,ds,dh,db,dx,ss,sh,sb,sx}_gesv =
    cusolverDn{ZZ,ZC,ZK,ZE,ZY,CC,CE,CK,CY,DD,DS,DH,DB,DX,SS,SH,SB,SX}gesv(handle: ptr, n: i32, nrhs: i32, d_a: ptr,
    ldda: i32, dipiv: ptr, d_b: ptr, lddb: i32, d_x: ptr, lddx: i32, d_workspace: ptr, lwork_bytes: usize, &iter: i32,
    d_info: ptr)
{zz,zc,zk,ze,zy,cc,ck,ce,cy,dd,ds,dh,db,dx,ss,sh,sb,sx}_gesv_buffer_size =
    cusolverDn{ZZ,ZC,ZK,ZE,ZY,CC,CK,CE,CY,DD,DS,DH,DB,DX,SS,SH,SB,SX}gesv_bufferSize(handle: ptr, n: i32, nrhs: i32,
    d_a: ptr, ldda: i32, dipiv: ptr, d_b: ptr, lddb: i32, d_x: ptr, lddx: i32, d_workspace: ptr, &lwork_bytes: usize)
{zz,zc,zk,ze,zy,cc,ck,ce,cy,dd,ds,dh,db,dx,ss,sh,sb,sx}_gels =
    cusolverDn{ZZ,ZC,ZK,ZE,ZY,CC,CK,CE,CY,DD,DS,DH,DB,DX,SS,SH,SB,SX}gels(handle: ptr, m: i32, n: i32, nrhs: i32,
    d_a: ptr, ldda: i32, d_b: ptr, lddb: i32, d_x: ptr, lddx: i32, d_workspace: ptr, lwork_bytes: usize, &iter: i32,
    d_info: ptr)
{zz,zc,zk,ze,zy,cc,ck,ce,cy,dd,ds,dh,db,dx,ss,sh,sb,sx}_gels_buffer_size =
    cusolverDn{ZZ,ZC,ZK,ZE,ZY,CC,CK,CE,CY,DD,DS,DH,DB,DX,SS,SH,SB,SX}gels_bufferSize(handle: ptr, m: i32, n: i32,
    nrhs: i32, d_a: ptr, ldda: i32, d_b: ptr, lddb: i32, d_x: ptr, lddx: i32, d_workspace: ptr, &lwork_bytes: usize)
cusolverDnIRSXgesv(handle: ptr, gesv_irs_params: ptr, gesv_irs_infos: ptr, n: i32, nrhs: i32, d_a: ptr, ldda: i32,
    d_b: ptr, lddb: i32, d_x: ptr, lddx: i32, d_workspace: ptr, lwork_bytes: usize, &niters: i32, d_info: ptr)
cusolverDnIRSXgesv_bufferSize(handle: ptr, params: ptr, n: i32, nrhs: i32, &lwork_bytes: usize)
cusolverDnIRSXgels(handle: ptr, gels_irs_params: ptr, gels_irs_infos: ptr, m: i32, n: i32, nrhs: i32, d_a: ptr,
    ldda: i32, d_b: ptr, lddb: i32, d_x: ptr, lddx: i32, d_workspace: ptr, lwork_bytes: usize, &niters: i32,
    d_info: ptr)
cusolverDnIRSXgels_bufferSize(handle: ptr, params: ptr, m: i32, n: i32, nrhs: i32, &lwork_bytes: usize)
cusolverDn{S,D,C,Z}potrf_bufferSize(handle: ptr, uplo: i32, n: i32, a: ptr, lda: i32, &lwork: i32)
cusolverDn{S,D,C,Z}potrf(handle: ptr, uplo: i32, n: i32, a: ptr, lda: i32, workspace: ptr, lwork: i32, dev_info: ptr)
cusolverDn{S,D,C,Z}potrs(handle: ptr, uplo: i32, n: i32, nrhs: i32, a: ptr, lda: i32, b: ptr, ldb: i32, dev_info: ptr)
cusolverDn{S,D,C,Z}potrfBatched(handle: ptr, uplo: i32, n: i32, aarray: ptr, lda: i32, info_array: ptr,
    batch_size: i32)
cusolverDn{S,D,C,Z}potrsBatched(handle: ptr, uplo: i32, n: i32, nrhs: i32, a: ptr, lda: i32, b: ptr, ldb: i32,
    d_info: ptr, batch_size: i32)
cusolverDn{S,D,C,Z}potri_bufferSize(handle: ptr, uplo: i32, n: i32, a: ptr, lda: i32, &lwork: i32)
cusolverDn{S,D,C,Z}potri(handle: ptr, uplo: i32, n: i32, a: ptr, lda: i32, work: ptr, lwork: i32, dev_info: ptr)
cusolverDnXtrtri_bufferSize(handle: ptr, uplo: i32, diag: i32, n: i64, data_type_a: i32, a: ptr, lda: i64,
    &workspace_in_bytes_on_device: usize, &workspace_in_bytes_on_host: usize)
cusolverDnXtrtri(handle: ptr, uplo: i32, diag: i32, n: i64, data_type_a: i32, a: ptr, lda: i64, buffer_on_device: ptr,
    workspace_in_bytes_on_device: usize, buffer_on_host: buf, workspace_in_bytes_on_host: usize, dev_info: ptr)
cusolverDn{S,D,C,Z}lauum_bufferSize(handle: ptr, uplo: i32, n: i32, a: ptr, lda: i32, &lwork: i32)
cusolverDn{S,D,C,Z}lauum(handle: ptr, uplo: i32, n: i32, a: ptr, lda: i32, work: ptr, lwork: i32, dev_info: ptr)
cusolverDn{S,D,C,Z}getrf_bufferSize(handle: ptr, m: i32, n: i32, a: ptr, lda: i32, &lwork: i32)
cusolverDn{S,D,C,Z}getrf(handle: ptr, m: i32, n: i32, a: ptr, lda: i32, workspace: ptr, dev_ipiv: ptr, dev_info: ptr)
cusolverDn{S,D,C,Z}laswp(handle: ptr, n: i32, a: ptr, lda: i32, k1: i32, k2: i32, dev_ipiv: ptr, incx: i32)
cusolverDn{S,D,C,Z}getrs(handle: ptr, trans: i32, n: i32, nrhs: i32, a: ptr, lda: i32, dev_ipiv: ptr, b: ptr,
    ldb: i32, dev_info: ptr)
cusolverDn{S,D,C,Z}geqrf_bufferSize(handle: ptr, m: i32, n: i32, a: ptr, lda: i32, &lwork: i32)
cusolverDn{S,D,C,Z}geqrf(handle: ptr, m: i32, n: i32, a: ptr, lda: i32, tau: ptr, workspace: ptr, lwork: i32,
    dev_info: ptr)
cusolverDn{S,D}orgqr_bufferSize(handle: ptr, m: i32, n: i32, k: i32, a: ptr, lda: i32, tau: ptr, &lwork: i32)
cusolverDn{C,Z}ungqr_bufferSize(handle: ptr, m: i32, n: i32, k: i32, a: ptr, lda: i32, tau: ptr, &lwork: i32)
cusolverDn{S,D}orgqr(handle: ptr, m: i32, n: i32, k: i32, a: ptr, lda: i32, tau: ptr, work: ptr, lwork: i32,
    info: ptr)
cusolverDn{C,Z}ungqr(handle: ptr, m: i32, n: i32, k: i32, a: ptr, lda: i32, tau: ptr, work: ptr, lwork: i32,
    info: ptr)
cusolverDn{S,D}ormqr_bufferSize(handle: ptr, side: i32, trans: i32, m: i32, n: i32, k: i32, a: ptr, lda: i32,
    tau: ptr, c: ptr, ldc: i32, &lwork: i32)
cusolverDn{C,Z}unmqr_bufferSize(handle: ptr, side: i32, trans: i32, m: i32, n: i32, k: i32, a: ptr, lda: i32,
    tau: ptr, c: ptr, ldc: i32, &lwork: i32)
cusolverDn{S,D}ormqr(handle: ptr, side: i32, trans: i32, m: i32, n: i32, k: i32, a: ptr, lda: i32, tau: ptr, c: ptr,
    ldc: i32, work: ptr, lwork: i32, dev_info: ptr)
cusolverDn{C,Z}unmqr(handle: ptr, side: i32, trans: i32, m: i32, n: i32, k: i32, a: ptr, lda: i32, tau: ptr, c: ptr,
    ldc: i32, work: ptr, lwork: i32, dev_info: ptr)
cusolverDn{S,D,C,Z}sytrf_bufferSize(handle: ptr, n: i32, a: ptr, lda: i32, &lwork: i32)
cusolverDn{S,D,C,Z}sytrf(handle: ptr, uplo: i32, n: i32, a: ptr, lda: i32, ipiv: ptr, work: ptr, lwork: i32,
    info: ptr)
cusolverDnXsytrs_bufferSize(handle: ptr, uplo: i32, n: i64, nrhs: i64, data_type_a: i32, a: ptr, lda: i64, ipiv: ptr,
    data_type_b: i32, b: ptr, ldb: i64, &workspace_in_bytes_on_device: usize, &workspace_in_bytes_on_host: usize)
cusolverDnXsytrs(handle: ptr, uplo: i32, n: i64, nrhs: i64, data_type_a: i32, a: ptr, lda: i64, ipiv: ptr,
    data_type_b: i32, b: ptr, ldb: i64, buffer_on_device: ptr, workspace_in_bytes_on_device: usize,
    buffer_on_host: buf, workspace_in_bytes_on_host: usize, info: ptr)
cusolverDn{S,D,C,Z}sytri_bufferSize(handle: ptr, uplo: i32, n: i32, a: ptr, lda: i32, ipiv: ptr, &lwork: i32)
cusolverDn{S,D,C,Z}sytri(handle: ptr, uplo: i32, n: i32, a: ptr, lda: i32, ipiv: ptr, work: ptr, lwork: i32,
    info: ptr)
cusolverDn{S,D,C,Z}gebrd_bufferSize(handle: ptr, m: i32, n: i32, &lwork: i32)
cusolverDn{S,D,C,Z}gebrd(handle: ptr, m: i32, n: i32, a: ptr, lda: i32, d: ptr, e: ptr, tauq: ptr, taup: ptr,
    work: ptr, lwork: i32, dev_info: ptr)
cusolverDn{S,D}orgbr_bufferSize(handle: ptr, side: i32, m: i32, n: i32, k: i32, a: ptr, lda: i32, tau: ptr,
    &lwork: i32)
cusolverDn{C,Z}ungbr_bufferSize(handle: ptr, side: i32, m: i32, n: i32, k: i32, a: ptr, lda: i32, tau: ptr,
    &lwork: i32)
cusolverDn{S,D}orgbr(handle: ptr, side: i32, m: i32, n: i32, k: i32, a: ptr, lda: i32, tau: ptr, work: ptr,
    lwork: i32, info: ptr)
cusolverDn{C,Z}ungbr(handle: ptr, side: i32, m: i32, n: i32, k: i32, a: ptr, lda: i32, tau: ptr, work: ptr,
    lwork: i32, info: ptr)
cusolverDn{S,D}sytrd_bufferSize(handle: ptr, uplo: i32, n: i32, a: ptr, lda: i32, d: ptr, e: ptr, tau: ptr,
    &lwork: i32)
cusolverDn{C,Z}hetrd_bufferSize(handle: ptr, uplo: i32, n: i32, a: ptr, lda: i32, d: ptr, e: ptr, tau: ptr,
    &lwork: i32)
cusolverDn{S,D}sytrd(handle: ptr, uplo: i32, n: i32, a: ptr, lda: i32, d: ptr, e: ptr, tau: ptr, work: ptr,
    lwork: i32, info: ptr)
cusolverDn{C,Z}hetrd(handle: ptr, uplo: i32, n: i32, a: ptr, lda: i32, d: ptr, e: ptr, tau: ptr, work: ptr,
    lwork: i32, info: ptr)
cusolverDn{S,D}orgtr_bufferSize(handle: ptr, uplo: i32, n: i32, a: ptr, lda: i32, tau: ptr, &lwork: i32)
cusolverDn{C,Z}ungtr_bufferSize(handle: ptr, uplo: i32, n: i32, a: ptr, lda: i32, tau: ptr, &lwork: i32)
cusolverDn{S,D}orgtr(handle: ptr, uplo: i32, n: i32, a: ptr, lda: i32, tau: ptr, work: ptr, lwork: i32, info: ptr)
cusolverDn{C,Z}ungtr(handle: ptr, uplo: i32, n: i32, a: ptr, lda: i32, tau: ptr, work: ptr, lwork: i32, info: ptr)
cusolverDn{S,D}ormtr_bufferSize(handle: ptr, side: i32, uplo: i32, trans: i32, m: i32, n: i32, a: ptr, lda: i32,
    tau: ptr, c: ptr, ldc: i32, &lwork: i32)
cusolverDn{C,Z}unmtr_bufferSize(handle: ptr, side: i32, uplo: i32, trans: i32, m: i32, n: i32, a: ptr, lda: i32,
    tau: ptr, c: ptr, ldc: i32, &lwork: i32)
cusolverDn{S,D}ormtr(handle: ptr, side: i32, uplo: i32, trans: i32, m: i32, n: i32, a: ptr, lda: i32, tau: ptr,
    c: ptr, ldc: i32, work: ptr, lwork: i32, info: ptr)
cusolverDn{C,Z}unmtr(handle: ptr, side: i32, uplo: i32, trans: i32, m: i32, n: i32, a: ptr, lda: i32, tau: ptr,
    c: ptr, ldc: i32, work: ptr, lwork: i32, info: ptr)
cusolverDn{S,D,C,Z}gesvd_bufferSize(handle: ptr, m: i32, n: i32, &lwork: i32)
cusolverDn{S,D,C,Z}gesvd(handle: ptr, jobu: char, jobvt: char, m: i32, n: i32, a: ptr, lda: i32, s: ptr, u: ptr,
    ldu: i32, vt: ptr, ldvt: i32, work: ptr, lwork: i32, rwork: ptr, info: ptr)
cusolverDn{S,D}syevd_bufferSize(handle: ptr, jobz: i32, uplo: i32, n: i32, a: ptr, lda: i32, w: ptr, &lwork: i32)
cusolverDn{C,Z}heevd_bufferSize(handle: ptr, jobz: i32, uplo: i32, n: i32, a: ptr, lda: i32, w: ptr, &lwork: i32)
cusolverDn{S,D}syevd(handle: ptr, jobz: i32, uplo: i32, n: i32, a: ptr, lda: i32, w: ptr, work: ptr, lwork: i32,
    info: ptr)
cusolverDn{C,Z}heevd(handle: ptr, jobz: i32, uplo: i32, n: i32, a: ptr, lda: i32, w: ptr, work: ptr, lwork: i32,
    info: ptr)
cusolverDn{S,D}syevdx_bufferSize(handle: ptr, jobz: i32, range: i32, uplo: i32, n: i32, a: ptr, lda: i32,
    vl: {f32,f64}, vu: {f32,f64}, il: i32, iu: i32, meig: ptr, w: ptr, &lwork: i32)
cusolverDn{C,Z}heevdx_bufferSize(handle: ptr, jobz: i32, range: i32, uplo: i32, n: i32, a: ptr, lda: i32,
    vl: {f32,f64}, vu: {f32,f64}, il: i32, iu: i32, meig: ptr, w: ptr, &lwork: i32)
cusolverDn{S,D}syevdx(handle: ptr, jobz: i32, range: i32, uplo: i32, n: i32, a: ptr, lda: i32, vl: {f32,f64},
    vu: {f32,f64}, il: i32, iu: i32, &meig: i32, w: ptr, work: ptr, lwork: i32, info: ptr)
cusolverDn{C,Z}heevdx(handle: ptr, jobz: i32, range: i32, uplo: i32, n: i32, a: ptr, lda: i32, vl: {f32,f64},
    vu: {f32,f64}, il: i32, iu: i32, &meig: i32, w: ptr, work: ptr, lwork: i32, info: ptr)
cusolverDn{S,D}sygvdx_bufferSize(handle: ptr, itype: i32, jobz: i32, range: i32, uplo: i32, n: i32, a: ptr, lda: i32,
    b: ptr, ldb: i32, vl: {f32,f64}, vu: {f32,f64}, il: i32, iu: i32, meig: ptr, w: ptr, &lwork: i32)
cusolverDn{C,Z}hegvdx_bufferSize(handle: ptr, itype: i32, jobz: i32, range: i32, uplo: i32, n: i32, a: ptr, lda: i32,
    b: ptr, ldb: i32, vl: {f32,f64}, vu: {f32,f64}, il: i32, iu: i32, meig: ptr, w: ptr, &lwork: i32)
cusolverDn{S,D}sygvdx(handle: ptr, itype: i32, jobz: i32, range: i32, uplo: i32, n: i32, a: ptr, lda: i32, b: ptr,
    ldb: i32, vl: {f32,f64}, vu: {f32,f64}, il: i32, iu: i32, meig: ptr, w: ptr, work: ptr, lwork: i32, info: ptr)
cusolverDn{C,Z}hegvdx(handle: ptr, itype: i32, jobz: i32, range: i32, uplo: i32, n: i32, a: ptr, lda: i32, b: ptr,
    ldb: i32, vl: {f32,f64}, vu: {f32,f64}, il: i32, iu: i32, meig: ptr, w: ptr, work: ptr, lwork: i32, info: ptr)
cusolverDn{S,D}sygvd_bufferSize(handle: ptr, itype: i32, jobz: i32, uplo: i32, n: i32, a: ptr, lda: i32, b: ptr,
    ldb: i32, w: ptr, &lwork: i32)
cusolverDn{C,Z}hegvd_bufferSize(handle: ptr, itype: i32, jobz: i32, uplo: i32, n: i32, a: ptr, lda: i32, b: ptr,
    ldb: i32, w: ptr, &lwork: i32)
cusolverDn{S,D}sygvd(handle: ptr, itype: i32, jobz: i32, uplo: i32, n: i32, a: ptr, lda: i32, b: ptr, ldb: i32,
    w: ptr, work: ptr, lwork: i32, info: ptr)
cusolverDn{C,Z}hegvd(handle: ptr, itype: i32, jobz: i32, uplo: i32, n: i32, a: ptr, lda: i32, b: ptr, ldb: i32,
    w: ptr, work: ptr, lwork: i32, info: ptr)
cusolverDnCreateSyevjInfo(&info: ptr)
cusolverDnDestroySyevjInfo(info: ptr)
cusolverDnXsyevjSetTolerance(info: ptr, tolerance: f64)
cusolverDnXsyevjSetMaxSweeps(info: ptr, max_sweeps: i32)
cusolverDnXsyevjSetSortEig(info: ptr, sort_eig: i32)
cusolverDnXsyevjGetResidual(handle: ptr, info: ptr, &residual: f64)
cusolverDnXsyevjGetSweeps(handle: ptr, info: ptr, &executed_sweeps: i32)
cusolverDn{S,D}syevjBatched_bufferSize(handle: ptr, jobz: i32, uplo: i32, n: i32, a: ptr, lda: i32, w: ptr,
    &lwork: i32, params: ptr, batch_size: i32)
cusolverDn{C,Z}heevjBatched_bufferSize(handle: ptr, jobz: i32, uplo: i32, n: i32, a: ptr, lda: i32, w: ptr,
    &lwork: i32, params: ptr, batch_size: i32)
cusolverDn{S,D}syevjBatched(handle: ptr, jobz: i32, uplo: i32, n: i32, a: ptr, lda: i32, w: ptr, work: ptr,
    lwork: i32, info: ptr, params: ptr, batch_size: i32)
cusolverDn{C,Z}heevjBatched(handle: ptr, jobz: i32, uplo: i32, n: i32, a: ptr, lda: i32, w: ptr, work: ptr,
    lwork: i32, info: ptr, params: ptr, batch_size: i32)
cusolverDn{S,D}syevj_bufferSize(handle: ptr, jobz: i32, uplo: i32, n: i32, a: ptr, lda: i32, w: ptr, &lwork: i32,
    params: ptr)
cusolverDn{C,Z}heevj_bufferSize(handle: ptr, jobz: i32, uplo: i32, n: i32, a: ptr, lda: i32, w: ptr, &lwork: i32,
    params: ptr)
cusolverDn{S,D}syevj(handle: ptr, jobz: i32, uplo: i32, n: i32, a: ptr, lda: i32, w: ptr, work: ptr, lwork: i32,
    info: ptr, params: ptr)
cusolverDn{C,Z}heevj(handle: ptr, jobz: i32, uplo: i32, n: i32, a: ptr, lda: i32, w: ptr, work: ptr, lwork: i32,
    info: ptr, params: ptr)
cusolverDn{S,D}sygvj_bufferSize(handle: ptr, itype: i32, jobz: i32, uplo: i32, n: i32, a: ptr, lda: i32, b: ptr,
    ldb: i32, w: ptr, &lwork: i32, params: ptr)
cusolverDn{C,Z}hegvj_bufferSize(handle: ptr, itype: i32, jobz: i32, uplo: i32, n: i32, a: ptr, lda: i32, b: ptr,
    ldb: i32, w: ptr, &lwork: i32, params: ptr)
cusolverDn{S,D}sygvj(handle: ptr, itype: i32, jobz: i32, uplo: i32, n: i32, a: ptr, lda: i32, b: ptr, ldb: i32,
    w: ptr, work: ptr, lwork: i32, info: ptr, params: ptr)
cusolverDn{C,Z}hegvj(handle: ptr, itype: i32, jobz: i32, uplo: i32, n: i32, a: ptr, lda: i32, b: ptr, ldb: i32,
    w: ptr, work: ptr, lwork: i32, info: ptr, params: ptr)
cusolverDnCreateGesvdjInfo(&info: ptr)
cusolverDnDestroyGesvdjInfo(info: ptr)
cusolverDnXgesvdjSetTolerance(info: ptr, tolerance: f64)
cusolverDnXgesvdjSetMaxSweeps(info: ptr, max_sweeps: i32)
cusolverDnXgesvdjSetSortEig(info: ptr, sort_svd: i32)
cusolverDnXgesvdjGetResidual(handle: ptr, info: ptr, &residual: f64)
cusolverDnXgesvdjGetSweeps(handle: ptr, info: ptr, &executed_sweeps: i32)
cusolverDn{S,D,C,Z}gesvdjBatched_bufferSize(handle: ptr, jobz: i32, m: i32, n: i32, a: ptr, lda: i32, s: ptr, u: ptr,
    ldu: i32, v: ptr, ldv: i32, &lwork: i32, params: ptr, batch_size: i32)
cusolverDn{S,D,C,Z}gesvdjBatched(handle: ptr, jobz: i32, m: i32, n: i32, a: ptr, lda: i32, s: ptr, u: ptr, ldu: i32,
    v: ptr, ldv: i32, work: ptr, lwork: i32, info: ptr, params: ptr, batch_size: i32)
cusolverDn{S,D,C,Z}gesvdj_bufferSize(handle: ptr, jobz: i32, econ: i32, m: i32, n: i32, a: ptr, lda: i32, s: ptr,
    u: ptr, ldu: i32, v: ptr, ldv: i32, &lwork: i32, params: ptr)
cusolverDn{S,D,C,Z}gesvdj(handle: ptr, jobz: i32, econ: i32, m: i32, n: i32, a: ptr, lda: i32, s: ptr, u: ptr,
    ldu: i32, v: ptr, ldv: i32, work: ptr, lwork: i32, info: ptr, params: ptr)
cusolverDn{S,D,C,Z}gesvdaStridedBatched_bufferSize(handle: ptr, jobz: i32, rank: i32, m: i32, n: i32, d_a: ptr,
    lda: i32, stride_a: i64, d_s: ptr, stride_s: i64, d_u: ptr, ldu: i32, stride_u: i64, d_v: ptr, ldv: i32,
    stride_v: i64, &lwork: i32, batch_size: i32)
cusolverDn{S,D,C,Z}gesvdaStridedBatched(handle: ptr, jobz: i32, rank: i32, m: i32, n: i32, d_a: ptr, lda: i32,
    stride_a: i64, d_s: ptr, stride_s: i64, d_u: ptr, ldu: i32, stride_u: i64, d_v: ptr, ldv: i32, stride_v: i64,
    d_work: ptr, lwork: i32, d_info: ptr, h_r_nrm_f: buf<f64>, batch_size: i32)
cusolverDnCreateParams(&params: ptr)
cusolverDnDestroyParams(params: ptr)
cusolverDnSetAdvOptions(params: ptr, function: i32, algo: i32)
cusolverDnXpotrf_bufferSize(handle: ptr, params: ptr, uplo: i32, n: i64, data_type_a: i32, a: ptr, lda: i64,
    compute_type: i32, &workspace_in_bytes_on_device: usize, &workspace_in_bytes_on_host: usize)
cusolverDnXpotrf(handle: ptr, params: ptr, uplo: i32, n: i64, data_type_a: i32, a: ptr, lda: i64, compute_type: i32,
    buffer_on_device: ptr, workspace_in_bytes_on_device: usize, buffer_on_host: buf,
    workspace_in_bytes_on_host: usize, info: ptr)
cusolverDnXpotrs(handle: ptr, params: ptr, uplo: i32, n: i64, nrhs: i64, data_type_a: i32, a: ptr, lda: i64,
    data_type_b: i32, b: ptr, ldb: i64, info: ptr)
cusolverDnXgeqrf_bufferSize(handle: ptr, params: ptr, m: i64, n: i64, data_type_a: i32, a: ptr, lda: i64,
    data_type_tau: i32, tau: ptr, compute_type: i32, &workspace_in_bytes_on_device: usize,
    &workspace_in_bytes_on_host: usize)
cusolverDnXgeqrf(handle: ptr, params: ptr, m: i64, n: i64, data_type_a: i32, a: ptr, lda: i64, data_type_tau: i32,
    tau: ptr, compute_type: i32, buffer_on_device: ptr, workspace_in_bytes_on_device: usize, buffer_on_host: buf,
    workspace_in_bytes_on_host: usize, info: ptr)
cusolverDnXgetrf_bufferSize(handle: ptr, params: ptr, m: i64, n: i64, data_type_a: i32, a: ptr, lda: i64,
    compute_type: i32, &workspace_in_bytes_on_device: usize, &workspace_in_bytes_on_host: usize)
cusolverDnXgetrf(handle: ptr, params: ptr, m: i64, n: i64, data_type_a: i32, a: ptr, lda: i64, ipiv: ptr,
    compute_type: i32, buffer_on_device: ptr, workspace_in_bytes_on_device: usize, buffer_on_host: buf,
    workspace_in_bytes_on_host: usize, info: ptr)
cusolverDnXgetrs(handle: ptr, params: ptr, trans: i32, n: i64, nrhs: i64, data_type_a: i32, a: ptr, lda: i64,
    ipiv: ptr, data_type_b: i32, b: ptr, ldb: i64, info: ptr)
cusolverDnXsyevd_bufferSize(handle: ptr, params: ptr, jobz: i32, uplo: i32, n: i64, data_type_a: i32, a: ptr,
    lda: i64, data_type_w: i32, w: ptr, compute_type: i32, &workspace_in_bytes_on_device: usize,
    &workspace_in_bytes_on_host: usize)
cusolverDnXsyevd(handle: ptr, params: ptr, jobz: i32, uplo: i32, n: i64, data_type_a: i32, a: ptr, lda: i64,
    data_type_w: i32, w: ptr, compute_type: i32, buffer_on_device: ptr, workspace_in_bytes_on_device: usize,
    buffer_on_host: buf, workspace_in_bytes_on_host: usize, info: ptr)
cusolverDnXsyevBatched_bufferSize(handle: ptr, params: ptr, jobz: i32, uplo: i32, n: i64, data_type_a: i32, a: ptr,
    lda: i64, data_type_w: i32, w: ptr, compute_type: i32, &workspace_in_bytes_on_device: usize,
    &workspace_in_bytes_on_host: usize, batch_size: i64)
cusolverDnXsyevBatched(handle: ptr, params: ptr, jobz: i32, uplo: i32, n: i64, data_type_a: i32, a: ptr, lda: i64,
    data_type_w: i32, w: ptr, compute_type: i32, buffer_on_device: ptr, workspace_in_bytes_on_device: usize,
    buffer_on_host: buf, workspace_in_bytes_on_host: usize, info: ptr, batch_size: i64)
cusolverDnXsyevdx_bufferSize(handle: ptr, params: ptr, jobz: i32, range: i32, uplo: i32, n: i64, data_type_a: i32,
    a: ptr, lda: i64, vl: buf, vu: buf, il: i64, iu: i64, h_meig: buf<i64>, data_type_w: i32, w: ptr,
    compute_type: i32, &workspace_in_bytes_on_device: usize, &workspace_in_bytes_on_host: usize)
cusolverDnXsyevdx(handle: ptr, params: ptr, jobz: i32, range: i32, uplo: i32, n: i64, data_type_a: i32, a: ptr,
    lda: i64, vl: buf, vu: buf, il: i64, iu: i64, &meig64: i64, data_type_w: i32, w: ptr, compute_type: i32,
    buffer_on_device: ptr, workspace_in_bytes_on_device: usize, buffer_on_host: buf,
    workspace_in_bytes_on_host: usize, info: ptr)
cusolverDnXgeev_bufferSize(handle: ptr, params: ptr, jobvl: i32, jobvr: i32, n: i64, data_type_a: i32, a: ptr,
    lda: i64, data_type_w: i32, w: ptr, data_type_vl: i32, vl: cbuf, ldvl: i64, data_type_vr: i32, vr: ptr, ldvr: i64,
    compute_type: i32, &workspace_in_bytes_on_device: usize, &workspace_in_bytes_on_host: usize)
cusolverDnXgeev(handle: ptr, params: ptr, jobvl: i32, jobvr: i32, n: i64, data_type_a: i32, a: ptr, lda: i64,
    data_type_w: i32, w: ptr, data_type_vl: i32, vl: buf, ldvl: i64, data_type_vr: i32, vr: ptr, ldvr: i64,
    compute_type: i32, buffer_on_device: ptr, workspace_in_bytes_on_device: usize, buffer_on_host: buf,
    workspace_in_bytes_on_host: usize, info: ptr)
cusolverDnXgesvd_bufferSize(handle: ptr, params: ptr, jobu: char, jobvt: char, m: i64, n: i64, data_type_a: i32,
    a: ptr, lda: i64, data_type_s: i32, s: ptr, data_type_u: i32, u: ptr, ldu: i64, data_type_vt: i32, vt: ptr,
    ldvt: i64, compute_type: i32, &workspace_in_bytes_on_device: usize, &workspace_in_bytes_on_host: usize)
cusolverDnXgesvd(handle: ptr, params: ptr, jobu: char, jobvt: char, m: i64, n: i64, data_type_a: i32, a: ptr,
    lda: i64, data_type_s: i32, s: ptr, data_type_u: i32, u: ptr, ldu: i64, data_type_vt: i32, vt: ptr, ldvt: i64,
    compute_type: i32, buffer_on_device: ptr, workspace_in_bytes_on_device: usize, buffer_on_host: buf,
    workspace_in_bytes_on_host: usize, info: ptr)
cusolverDnXgesvdp_bufferSize(handle: ptr, params: ptr, jobz: i32, econ: i32, m: i64, n: i64, data_type_a: i32, a: ptr,
    lda: i64, data_type_s: i32, s: ptr, data_type_u: i32, u: ptr, ldu: i64, data_type_v: i32, v: ptr, ldv: i64,
    compute_type: i32, &workspace_in_bytes_on_device: usize, &workspace_in_bytes_on_host: usize)
cusolverDnXgesvdp(handle: ptr, params: ptr, jobz: i32, econ: i32, m: i64, n: i64, data_type_a: i32, a: ptr, lda: i64,
    data_type_s: i32, s: ptr, data_type_u: i32, u: ptr, ldu: i64, data_type_v: i32, v: ptr, ldv: i64,
    compute_type: i32, buffer_on_device: ptr, workspace_in_bytes_on_device: usize, buffer_on_host: buf,
    workspace_in_bytes_on_host: usize, d_info: ptr, &h_err_sigma: f64)
cusolverDnXgesvdr_bufferSize(handle: ptr, params: ptr, jobu: char, jobv: char, m: i64, n: i64, k: i64, p: i64,
    niters: i64, data_type_a: i32, a: ptr, lda: i64, data_type_srand: i32, srand: ptr, data_type_urand: i32,
    urand: ptr, ld_urand: i64, data_type_vrand: i32, vrand: ptr, ld_vrand: i64, compute_type: i32,
    &workspace_in_bytes_on_device: usize, &workspace_in_bytes_on_host: usize)
cusolverDnXgesvdr(handle: ptr, params: ptr, jobu: char, jobv: char, m: i64, n: i64, k: i64, p: i64, niters: i64,
    data_type_a: i32, a: ptr, lda: i64, data_type_srand: i32, srand: ptr, data_type_urand: i32, urand: ptr,
    ld_urand: i64, data_type_vrand: i32, vrand: ptr, ld_vrand: i64, compute_type: i32, buffer_on_device: ptr,
    workspace_in_bytes_on_device: usize, buffer_on_host: buf, workspace_in_bytes_on_host: usize, d_info: ptr)
cusolverDnXlarft_bufferSize(handle: ptr, params: ptr, direct: i32, storev: i32, n: i64, k: i64, data_type_v: i32,
    v: ptr, ldv: i64, data_type_tau: i32, tau: ptr, data_type_t: i32, t: ptr, ldt: i64, compute_type: i32,
    &workspace_in_bytes_on_device: usize, &workspace_in_bytes_on_host: usize)
cusolverDnXlarft(handle: ptr, params: ptr, direct: i32, storev: i32, n: i64, k: i64, data_type_v: i32, v: ptr,
    ldv: i64, data_type_tau: i32, tau: ptr, data_type_t: i32, t: ptr, ldt: i64, compute_type: i32,
    buffer_on_device: ptr, workspace_in_bytes_on_device: usize, buffer_on_host: buf,
    workspace_in_bytes_on_host: usize)
cusolverDnLoggerSetCallback(callback: ptr)
cusolverDnLoggerSetFile(file: ptr)
cusolverDnLoggerOpenFile(log_file: str)
cusolverDnLoggerSetLevel(level: i32)
cusolverDnLoggerSetMask(mask: i32)
cusolverDnLoggerForceDisable()
@ cusolverDn.h 12.0+
cusolverDnSetMathMode(handle: ptr, mode: i32)
cusolverDnGetMathMode(handle: ptr, &mode: i32)
cusolverDnSetEmulationStrategy(handle: ptr, strategy: i32)
cusolverDnGetEmulationStrategy(handle: ptr, &strategy: i32)
@ cusolverDn.h 12.1+
cusolverDnSetFixedPointEmulationMantissaControl(handle: ptr, control: i32)
cusolverDnGetFixedPointEmulationMantissaControl(handle: ptr, &control: i32)
cusolverDnSetFixedPointEmulationMaxMantissaBitCount(handle: ptr, mantissa_bit_count: i32)
cusolverDnGetFixedPointEmulationMaxMantissaBitCount(handle: ptr, &mantissa_bit_count: i32)
cusolverDnSetFixedPointEmulationMantissaBitOffset(handle: ptr, mantissa_bit_offset: i32)
cusolverDnGetFixedPointEmulationMantissaBitOffset(handle: ptr, &mantissa_bit_offset: i32)
cusolverDnSetEmulationSpecialValuesSupport(handle: ptr, mask: i32)
cusolverDnGetEmulationSpecialValuesSupport(handle: ptr, &mask: i32)
cusolverDnXsygvd_bufferSize(handle: ptr, params: ptr, itype: i32, jobz: i32, uplo: i32, n: i64, data_type_a: i32,
    d_a: ptr, lda: i64, data_type_b: i32, d_b: ptr, ldb: i64, data_type_w: i32, d_w: ptr, compute_type: i32,
    &workspace_in_bytes_on_device: usize, &workspace_in_bytes_on_host: usize)
cusolverDnXsygvd(handle: ptr, params: ptr, itype: i32, jobz: i32, uplo: i32, n: i64, data_type_a: i32, d_a: ptr,
    lda: i64, data_type_b: i32, d_b: ptr, ldb: i64, data_type_w: i32, d_w: ptr, compute_type: i32,
    buffer_on_device: ptr, workspace_in_bytes_on_device: usize, buffer_on_host: buf,
    workspace_in_bytes_on_host: usize, d_info: ptr)
cusolverDnXsygvdx_bufferSize(handle: ptr, params: ptr, itype: i32, jobz: i32, uplo: i32, n: i64, data_type_a: i32,
    d_a: ptr, lda: i64, data_type_b: i32, d_b: ptr, ldb: i64, vl: buf, vu: buf, il: i64, iu: i64, meig: ptr,
    data_type_w: i32, d_w: ptr, compute_type: i32, &workspace_in_bytes_on_device: usize,
    &workspace_in_bytes_on_host: usize)
cusolverDnXsygvdx(handle: ptr, params: ptr, itype: i32, jobz: i32, range: i32, uplo: i32, n: i64, data_type_a: i32,
    d_a: ptr, lda: i64, data_type_b: i32, d_b: ptr, ldb: i64, vl: buf, vu: buf, il: i64, iu: i64, meig: ptr,
    data_type_w: i32, d_w: ptr, compute_type: i32, buffer_on_device: ptr, workspace_in_bytes_on_device: usize,
    buffer_on_host: buf, workspace_in_bytes_on_host: usize, d_info: ptr)
@ cusolverDn.h 12.4+
cusolverDnXsytrf_bufferSize(handle: ptr, params: ptr, uplo: i32, n: i64, data_type_a: i32, a: ptr, lda: i64,
    ipiv: ptr, compute_type: i32, workspace_in_bytes_on_device: ptr, workspace_in_bytes_on_host: ptr)
cusolverDnXsytrf(handle: ptr, params: ptr, uplo: i32, n: i64, data_type_a: i32, a: ptr, lda: i64, ipiv: ptr,
    compute_type: i32, buffer_on_device: ptr, workspace_in_bytes_on_device: usize, buffer_on_host: buf,
    workspace_in_bytes_on_host: usize, info: ptr)
cusolverDnXhetrf_bufferSize(handle: ptr, params: ptr, uplo: i32, n: i64, data_type_a: i32, a: ptr, lda: i64,
    ipiv: ptr, compute_type: i32, workspace_in_bytes_on_device: ptr, workspace_in_bytes_on_host: ptr)
cusolverDnXhetrf(handle: ptr, params: ptr, uplo: i32, n: i64, data_type_a: i32, a: ptr, lda: i64, ipiv: ptr,
    compute_type: i32, buffer_on_device: ptr, workspace_in_bytes_on_device: usize, buffer_on_host: buf,
    workspace_in_bytes_on_host: usize, info: ptr)
cusolverDnXhetrs_bufferSize(handle: ptr, params: ptr, uplo: i32, n: i64, nrhs: i64, data_type_a: i32, a: ptr,
    lda: i64, ipiv: ptr, data_type_b: i32, b: ptr, ldb: i64, workspace_in_bytes_on_device: ptr,
    workspace_in_bytes_on_host: ptr)
cusolverDnXhetrs(handle: ptr, params: ptr, uplo: i32, n: i64, nrhs: i64, data_type_a: i32, a: ptr, lda: i64,
    ipiv: ptr, data_type_b: i32, b: ptr, ldb: i64, buffer_on_device: ptr, workspace_in_bytes_on_device: usize,
    buffer_on_host: buf, workspace_in_bytes_on_host: usize, info: ptr)
cusolverDnXsygvStridedBatched_bufferSize(handle: ptr, params: ptr, itype: i32, jobz: i32, uplo: i32, n: i64,
    data_type_a: i32, a: ptr, lda: i64, stride_a: i64, data_type_b: i32, b: ptr, ldb: i64, stride_b: i64,
    data_type_w: i32, w: ptr, stride_w: i64, compute_type: i32, batch_size: i64, workspace_in_bytes_on_device: ptr,
    workspace_in_bytes_on_host: ptr)
cusolverDnXsygvStridedBatched(handle: ptr, params: ptr, itype: i32, jobz: i32, uplo: i32, n: i64, data_type_a: i32,
    a: ptr, lda: i64, stride_a: i64, data_type_b: i32, b: ptr, ldb: i64, stride_b: i64, data_type_w: i32, w: ptr,
    stride_w: i64, compute_type: i32, batch_size: i64, buffer_on_device: ptr, workspace_in_bytes_on_device: usize,
    buffer_on_host: buf, workspace_in_bytes_on_host: usize, info: ptr)
@ cusolverDn.h 12.2+
cusolverDnXstedc_bufferSize(handle: ptr, params: ptr, compz: i32, n: i64, data_type_de: i32, d: ptr, e: ptr,
    data_type_z: i32, z: ptr, ldz: i64, compute_type: i32, &workspace_in_bytes_on_device: usize,
    &workspace_in_bytes_on_host: usize)
cusolverDnXstedc(handle: ptr, params: ptr, compz: i32, n: i64, data_type_de: i32, d: ptr, e: ptr, data_type_z: i32,
    z: ptr, ldz: i64, compute_type: i32, buffer_on_device: ptr, workspace_in_bytes_on_device: usize,
    buffer_on_host: buf, workspace_in_bytes_on_host: usize, info: ptr)
cusolverDnXpolar_bufferSize(handle: ptr, params: ptr, uplo: i32, m: i64, n: i64, data_type_a: i32, a: ptr, lda: i64,
    data_type_h: i32, h: ptr, ldh: i64, compute_type: i32, &workspace_in_bytes_on_device: usize,
    &workspace_in_bytes_on_host: usize)
cusolverDnXpolar(handle: ptr, params: ptr, uplo: i32, m: i64, n: i64, data_type_a: i32, a: ptr, lda: i64,
    data_type_h: i32, h: ptr, ldh: i64, compute_type: i32, buffer_on_device: ptr, workspace_in_bytes_on_device: usize,
    buffer_on_host: buf, workspace_in_bytes_on_host: usize, d_res_nrm: ptr, d_a_nrm_f: ptr, d_rcond: ptr, d_info: ptr)
@ cusolverDn.h -11.7
cusolverDnPotrf_bufferSize(handle: ptr, params: ptr, uplo: i32, n: i64, data_type_a: i32, a: ptr, lda: i64,
    compute_type: i32, workspace_in_bytes: ptr)
cusolverDnPotrf(handle: ptr, params: ptr, uplo: i32, n: i64, data_type_a: i32, a: ptr, lda: i64, compute_type: i32,
    p_buffer: ptr, workspace_in_bytes: usize, info: ptr)
cusolverDnPotrs(handle: ptr, params: ptr, uplo: i32, n: i64, nrhs: i64, data_type_a: i32, a: ptr, lda: i64,
    data_type_b: i32, b: ptr, ldb: i64, info: ptr)
cusolverDnGeqrf_bufferSize(handle: ptr, params: ptr, m: i64, n: i64, data_type_a: i32, a: ptr, lda: i64,
    data_type_tau: i32, tau: ptr, compute_type: i32, workspace_in_bytes: ptr)
cusolverDnGeqrf(handle: ptr, params: ptr, m: i64, n: i64, data_type_a: i32, a: ptr, lda: i64, data_type_tau: i32,
    tau: ptr, compute_type: i32, p_buffer: ptr, workspace_in_bytes: usize, info: ptr)
cusolverDnGetrf_bufferSize(handle: ptr, params: ptr, m: i64, n: i64, data_type_a: i32, a: ptr, lda: i64,
    compute_type: i32, workspace_in_bytes: ptr)
cusolverDnGetrf(handle: ptr, params: ptr, m: i64, n: i64, data_type_a: i32, a: ptr, lda: i64, ipiv: ptr,
    compute_type: i32, p_buffer: ptr, workspace_in_bytes: usize, info: ptr)
cusolverDnGetrs(handle: ptr, params: ptr, trans: i32, n: i64, nrhs: i64, data_type_a: i32, a: ptr, lda: i64,
    ipiv: ptr, data_type_b: i32, b: ptr, ldb: i64, info: ptr)
cusolverDnSyevd_bufferSize(handle: ptr, params: ptr, jobz: i32, uplo: i32, n: i64, data_type_a: i32, a: ptr, lda: i64,
    data_type_w: i32, w: ptr, compute_type: i32, workspace_in_bytes: ptr)
cusolverDnSyevd(handle: ptr, params: ptr, jobz: i32, uplo: i32, n: i64, data_type_a: i32, a: ptr, lda: i64,
    data_type_w: i32, w: ptr, compute_type: i32, p_buffer: ptr, workspace_in_bytes: usize, info: ptr)
cusolverDnSyevdx_bufferSize(handle: ptr, params: ptr, jobz: i32, range: i32, uplo: i32, n: i64, data_type_a: i32,
    a: ptr, lda: i64, vl: buf, vu: buf, il: i64, iu: i64, h_meig: buf<i64>, data_type_w: i32, w: ptr,
    compute_type: i32, workspace_in_bytes: ptr)
cusolverDnSyevdx(handle: ptr, params: ptr, jobz: i32, range: i32, uplo: i32, n: i64, data_type_a: i32, a: ptr,
    lda: i64, vl: buf, vu: buf, il: i64, iu: i64, meig64: ptr, data_type_w: i32, w: ptr, compute_type: i32,
    p_buffer: ptr, workspace_in_bytes: usize, info: ptr)
cusolverDnGesvd_bufferSize(handle: ptr, params: ptr, jobu: char, jobvt: char, m: i64, n: i64, data_type_a: i32,
    a: ptr, lda: i64, data_type_s: i32, s: ptr, data_type_u: i32, u: ptr, ldu: i64, data_type_vt: i32, vt: ptr,
    ldvt: i64, compute_type: i32, workspace_in_bytes: ptr)
cusolverDnGesvd(handle: ptr, params: ptr, jobu: char, jobvt: char, m: i64, n: i64, data_type_a: i32, a: ptr, lda: i64,
    data_type_s: i32, s: ptr, data_type_u: i32, u: ptr, ldu: i64, data_type_vt: i32, vt: ptr, ldvt: i64,
    compute_type: i32, p_buffer: ptr, workspace_in_bytes: usize, info: ptr)
"""

_ENUMS = """
IntEnum Function: GETRF=0 POTRF=1 SYEVBATCHED=2 GEQRF=3 SYEVD=4 GESVD=5 GEEV=6
"""

_library = Bindings("cusolver", globals(), prefix="cusolverDn", errors=cusolver._library.errors)
__getattr__, __dir__ = _library.resolve, _library.names
