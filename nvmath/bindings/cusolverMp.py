"""cuSOLVERMp (``cusolverMp.h``): dense solvers for matrices that are distributed over CUDA devices."""
# ruff: noqa: N999, the public name

from __future__ import annotations

from nvmath.bindings._bind import Bindings, Errors

_ROWS = """
@ cusolverMp.h
cusolverMpNewtonSchulzDescriptorCreate(&ns_desc: ptr)
cusolverMpNewtonSchulzDescriptorDestroy(ns_desc: ptr)
cusolverMpNewtonSchulzDescriptorSetAttribute(ns_desc: ptr, attr: i32, buf: cbuf, size_in_bytes: usize)
cusolverMpNewtonSchulzDescriptorGetAttribute(ns_desc: ptr, attr: i32, buf: buf, size_in_bytes: usize,
    size_in_bytes_written: buf<usize>)
cusolverMpCreate(&handle: ptr, device_id: i32, stream: ptr)
cusolverMpDestroy(handle: ptr)
cusolverMpSetStream(handle: ptr, stream: ptr)
cusolverMpGetStream(handle: ptr, &stream: ptr)
cusolverMpGetVersion(handle: ptr, &version: i32)
cusolverMpCreateDeviceGrid(handle: ptr, &grid: ptr, comm: ptr, num_row_devices: i32, num_col_devices: i32,
    mapping: i32)
cusolverMpDestroyGrid(grid: ptr)
cusolverMpCreateMatrixDesc(&desc: ptr, grid: ptr, data_type: i32, m_a: i64, n_a: i64, mb_a: i64, nb_a: i64,
    rsrc_a: u32, csrc_a: u32, lld_a: i64)
cusolverMpDestroyMatrixDesc(desc: ptr)
cusolverMpBufferRegister(grid: ptr, ptr: ptr, size: usize)
cusolverMpBufferDeregister(grid: ptr, ptr: ptr)
cusolverMpNUMROC(n: i64, nb: i64, iproc: u32, isrcproc: u32, nprocs: u32) -> i64
cusolverMpMatrixScatterH2D(handle: ptr, m: i64, n: i64, d_a: ptr, ia: i64, ja: i64, desc_a: ptr, root: i32,
    h_src: cbuf, h_ldsrc: i64)
cusolverMpMatrixGatherD2H(handle: ptr, m: i64, n: i64, d_a: ptr, ia: i64, ja: i64, desc_a: ptr, root: i32, h_dst: buf,
    h_lddst: i64)
cusolverMpGetrf_bufferSize(handle: ptr, m: i64, n: i64, d_a: ptr, ia: i64, ja: i64, desc_a: ptr, d_ipiv: ptr,
    compute_type: i32, &workspace_in_bytes_on_device: usize, &workspace_in_bytes_on_host: usize)
cusolverMpGetrf(handle: ptr, m: i64, n: i64, d_a: ptr, ia: i64, ja: i64, desc_a: ptr, d_ipiv: ptr, compute_type: i32,
    d_work: ptr, workspace_in_bytes_on_device: usize, h_work: buf, workspace_in_bytes_on_host: usize, info: ptr)
cusolverMpGetrs_bufferSize(handle: ptr, trans: i32, n: i64, nrhs: i64, d_a: ptr, ia: i64, ja: i64, desc_a: ptr,
    d_ipiv: ptr, d_b: ptr, ib: i64, jb: i64, desc_b: ptr, compute_type: i32, &workspace_in_bytes_on_device: usize,
    &workspace_in_bytes_on_host: usize)
cusolverMpGetrs(handle: ptr, trans: i32, n: i64, nrhs: i64, d_a: ptr, ia: i64, ja: i64, desc_a: ptr, d_ipiv: ptr,
    d_b: ptr, ib: i64, jb: i64, desc_b: ptr, compute_type: i32, d_work: ptr, workspace_in_bytes_on_device: usize,
    h_work: buf, workspace_in_bytes_on_host: usize, d_info: ptr)
cusolverMpPotrf_bufferSize(handle: ptr, uplo: i32, n: i64, a: ptr, ia: i64, ja: i64, desc_a: ptr, compute_type: i32,
    &workspace_in_bytes_on_device: usize, &workspace_in_bytes_on_host: usize)
cusolverMpPotrf(handle: ptr, uplo: i32, n: i64, a: ptr, ia: i64, ja: i64, desc_a: ptr, compute_type: i32, d_work: ptr,
    workspace_in_bytes_on_device: usize, h_work: buf, workspace_in_bytes_on_host: usize, info: ptr)
cusolverMpPotrs_bufferSize(handle: ptr, uplo: i32, n: i64, nrhs: i64, a: ptr, ia: i64, ja: i64, desc_a: ptr, b: ptr,
    ib: i64, jb: i64, desc_b: ptr, compute_type: i32, &workspace_in_bytes_on_device: usize,
    &workspace_in_bytes_on_host: usize)
cusolverMpPotrs(handle: ptr, uplo: i32, n: i64, nrhs: i64, a: ptr, ia: i64, ja: i64, desc_a: ptr, b: ptr, ib: i64,
    jb: i64, desc_b: ptr, compute_type: i32, d_work: ptr, workspace_in_bytes_on_device: usize, h_work: buf,
    workspace_in_bytes_on_host: usize, info: ptr)
cusolverMpOrmqr_bufferSize(handle: ptr, side: i32, trans: i32, m: i64, n: i64, k: i64, a: ptr, ia: i64, ja: i64,
    desc_a: ptr, tau: ptr, c: ptr, ic: i64, jc: i64, desc_c: ptr, compute_type: i32,
    &workspace_in_bytes_on_device: usize, &workspace_in_bytes_on_host: usize)
cusolverMpOrmqr(handle: ptr, side: i32, trans: i32, m: i64, n: i64, k: i64, a: ptr, ia: i64, ja: i64, desc_a: ptr,
    tau: ptr, c: ptr, ic: i64, jc: i64, desc_c: ptr, compute_type: i32, d_work: ptr,
    workspace_in_bytes_on_device: usize, h_work: buf, workspace_in_bytes_on_host: usize, info: ptr)
cusolverMpOrmtr_bufferSize(handle: ptr, side: i32, uplo: i32, trans: i32, m: i64, n: i64, a: ptr, ia: i64, ja: i64,
    desc_a: ptr, tau: ptr, c: ptr, ic: i64, jc: i64, desc_c: ptr, compute_type: i32,
    &workspace_in_bytes_on_device: usize, &workspace_in_bytes_on_host: usize)
cusolverMpOrmtr(handle: ptr, side: i32, uplo: i32, trans: i32, m: i64, n: i64, a: ptr, ia: i64, ja: i64, desc_a: ptr,
    tau: ptr, c: ptr, ic: i64, jc: i64, desc_c: ptr, compute_type: i32, d_work: ptr,
    workspace_in_bytes_on_device: usize, h_work: buf, workspace_in_bytes_on_host: usize, info: ptr)
cusolverMpGels_bufferSize(handle: ptr, trans: i32, m: i64, n: i64, nrhs: i64, a: ptr, ia: i64, ja: i64, desc_a: ptr,
    b: ptr, ib: i64, jb: i64, desc_b: ptr, compute_type: i32, &workspace_in_bytes_on_device: usize,
    &workspace_in_bytes_on_host: usize)
cusolverMpGels(handle: ptr, trans: i32, m: i64, n: i64, nrhs: i64, a: ptr, ia: i64, ja: i64, desc_a: ptr, b: ptr,
    ib: i64, jb: i64, desc_b: ptr, compute_type: i32, d_work: ptr, workspace_in_bytes_on_device: usize, h_work: buf,
    workspace_in_bytes_on_host: usize, info: ptr)
cusolverMpStedc_bufferSize(handle: ptr, compz: ptr, n: i64, d_d: ptr, d_e: ptr, d_q: ptr, iq: i64, jq: i64,
    desc_q: ptr, compute_type: i32, &workspace_in_bytes_on_device: usize, &workspace_in_bytes_on_host: usize,
    iwork: ptr)
cusolverMpStedc(handle: ptr, compz: ptr, n: i64, d_d: ptr, d_e: ptr, d_q: ptr, iq: i64, jq: i64, desc_q: ptr,
    compute_type: i32, d_work: ptr, workspace_in_bytes_on_device: usize, h_work: buf,
    workspace_in_bytes_on_host: usize, info: ptr)
cusolverMpGeqrf_bufferSize(handle: ptr, m: i64, n: i64, d_a: ptr, ia: i64, ja: i64, desc_a: ptr, compute_type: i32,
    &workspace_in_bytes_on_device: usize, &workspace_in_bytes_on_host: usize)
cusolverMpGeqrf(handle: ptr, m: i64, n: i64, d_a: ptr, ia: i64, ja: i64, desc_a: ptr, d_tau: ptr, compute_type: i32,
    d_work: ptr, workspace_in_bytes_on_device: usize, h_work: buf, workspace_in_bytes_on_host: usize, info: ptr)
cusolverMpOrgqr_bufferSize(handle: ptr, m: i64, n: i64, k: i64, d_a: ptr, ia: i64, ja: i64, desc_a: ptr, d_tau: ptr,
    compute_type: i32, &workspace_in_bytes_on_device: usize, &workspace_in_bytes_on_host: usize)
cusolverMpOrgqr(handle: ptr, m: i64, n: i64, k: i64, d_a: ptr, ia: i64, ja: i64, desc_a: ptr, d_tau: ptr,
    compute_type: i32, d_work: ptr, workspace_in_bytes_on_device: usize, h_work: buf,
    workspace_in_bytes_on_host: usize, d_info: ptr)
cusolverMpSytrd_bufferSize(handle: ptr, uplo: i32, n: i64, d_a: ptr, ia: i64, ja: i64, desc_a: ptr, d_d: ptr,
    d_e: ptr, d_tau: ptr, compute_type: i32, &workspace_in_bytes_on_device: usize, &workspace_in_bytes_on_host: usize)
cusolverMpSytrd(handle: ptr, uplo: i32, n: i64, d_a: ptr, ia: i64, ja: i64, desc_a: ptr, d_d: ptr, d_e: ptr,
    d_tau: ptr, compute_type: i32, d_work: ptr, workspace_in_bytes_on_device: usize, h_work: buf,
    workspace_in_bytes_on_host: usize, info: ptr)
cusolverMpSyevd_bufferSize(handle: ptr, compz: ptr, uplo: i32, n: i64, d_a: ptr, ia: i64, ja: i64, desc_a: ptr,
    d_d: ptr, d_q: ptr, iq: i64, jq: i64, desc_q: ptr, compute_type: i32, &workspace_in_bytes_on_device: usize,
    &workspace_in_bytes_on_host: usize)
cusolverMpSyevd(handle: ptr, compz: ptr, uplo: i32, n: i64, d_a: ptr, ia: i64, ja: i64, desc_a: ptr, d_d: ptr,
    d_q: ptr, iq: i64, jq: i64, desc_q: ptr, compute_type: i32, d_work: ptr, workspace_in_bytes_on_device: usize,
    h_work: buf, workspace_in_bytes_on_host: usize, d_info: ptr)
cusolverMpSygst_bufferSize(handle: ptr, ibtype: i32, uplo: i32, m: i64, ia: i64, ja: i64, desc_a: ptr, ib: i64,
    jb: i64, desc_b: ptr, compute_type: i32, &workspace_in_bytes_on_device: usize, &workspace_in_bytes_on_host: usize)
cusolverMpSygst(handle: ptr, ibtype: i32, uplo: i32, m: i64, a: ptr, ia: i64, ja: i64, desc_a: ptr, b: ptr, ib: i64,
    jb: i64, desc_b: ptr, compute_type: i32, d_work: ptr, workspace_in_bytes_on_device: usize, h_work: buf,
    workspace_in_bytes_on_host: usize, info: ptr)
cusolverMpSygvd_bufferSize(handle: ptr, ibtype: i32, jobz: i32, uplo: i32, m: i64, ia: i64, ja: i64, desc_a: ptr,
    ib: i64, jb: i64, desc_b: ptr, iz: i64, jz: i64, desc_z: ptr, compute_type: i32,
    &workspace_in_bytes_on_device: usize, &workspace_in_bytes_on_host: usize)
cusolverMpSygvd(handle: ptr, ibtype: i32, jobz: i32, uplo: i32, m: i64, a: ptr, ia: i64, ja: i64, desc_a: ptr, b: ptr,
    ib: i64, jb: i64, desc_b: ptr, w: ptr, z: ptr, iz: i64, jz: i64, desc_z: ptr, compute_type: i32, d_work: ptr,
    workspace_in_bytes_on_device: usize, h_work: buf, workspace_in_bytes_on_host: usize, info: ptr)
cusolverMpLaset(handle: ptr, uplo: i32, m: i64, n: i64, alpha: cbuf, beta: cbuf, d_a: ptr, ia: i64, ja: i64,
    desc_a: ptr, d_info: ptr)
cusolverMpNewtonSchulz_bufferSize(handle: ptr, ns_desc: ptr, m: i64, n: i64, d_x: ptr, ix: i64, jx: i64, desc_x: ptr,
    number_of_newton_schulz_iterations: i64, h_coeffs: cbuf, compute_type: i32, &workspace_in_bytes_on_device: usize,
    &workspace_in_bytes_on_host: usize)
cusolverMpNewtonSchulz(handle: ptr, ns_desc: ptr, m: i64, n: i64, d_x: ptr, ix: i64, jx: i64, desc_x: ptr,
    number_of_newton_schulz_iterations: i64, h_coeffs: cbuf, compute_type: i32, d_work: ptr,
    workspace_in_bytes_on_device: usize, h_work: buf, workspace_in_bytes_on_host: usize, info: ptr)
cusolverMpLoggerSetCallback(callback: ptr)
cusolverMpLoggerSetFile(file: ptr)
cusolverMpLoggerOpenFile(log_file: str)
cusolverMpLoggerSetLevel(level: i32)
cusolverMpLoggerSetMask(mask: i32)
cusolverMpLoggerForceDisable()
cusolverMpSetMathMode(handle: ptr, mode: i32)
cusolverMpGetMathMode(handle: ptr, &mode: i32)
cusolverMpSetEmulationStrategy(handle: ptr, strategy: i32)
cusolverMpGetEmulationStrategy(handle: ptr, &strategy: i32)
@ cusolverMp.h 0.9+
cusolverMpPolarDescriptorCreate(&polar_desc: ptr)
cusolverMpPolarDescriptorDestroy(polar_desc: ptr)
cusolverMpPolarDescriptorSetAttribute(polar_desc: ptr, attr: i32, buf: cbuf, size_in_bytes: usize)
cusolverMpPolarDescriptorGetAttribute(polar_desc: ptr, attr: i32, buf: buf, size_in_bytes: usize,
    &size_in_bytes_written: usize)
cusolverMpGesvdDescriptorCreate(&gesvd_desc: ptr)
cusolverMpGesvdDescriptorDestroy(gesvd_desc: ptr)
cusolverMpGesvdDescriptorSetAttribute(gesvd_desc: ptr, attr: i32, buf: cbuf, size_in_bytes: usize)
cusolverMpGesvdDescriptorGetAttribute(gesvd_desc: ptr, attr: i32, buf: buf, size_in_bytes: usize,
    &size_in_bytes_written: usize)
cusolverMpMalloc(grid: ptr, ptr: ptr, size: usize)
cusolverMpFree(grid: ptr, ptr: ptr)
cusolverMpPolar_bufferSize(handle: ptr, polar_desc: ptr, uplo: i32, m: i64, n: i64, d_a: ptr, ia: i64, ja: i64,
    desc_a: ptr, d_h: ptr, ih: i64, jh: i64, desc_h: ptr, compute_type: i32, workspace_in_bytes_on_device: ptr,
    workspace_in_bytes_on_host: ptr)
cusolverMpPolar(handle: ptr, polar_desc: ptr, uplo: i32, m: i64, n: i64, d_a: ptr, ia: i64, ja: i64, desc_a: ptr,
    d_h: ptr, ih: i64, jh: i64, desc_h: ptr, compute_type: i32, d_work: ptr, workspace_in_bytes_on_device: usize,
    h_work: buf, workspace_in_bytes_on_host: usize, d_info: ptr)
cusolverMpGesvd_bufferSize(handle: ptr, gesvd_desc: ptr, jobu: i32, jobvt: i32, m: i64, n: i64, d_a: ptr, ia: i64,
    ja: i64, desc_a: ptr, d_s: ptr, d_u: ptr, iu: i64, ju: i64, desc_u: ptr, d_vt: ptr, ivt: i64, jvt: i64,
    desc_vt: ptr, compute_type: i32, workspace_in_bytes_on_device: ptr, workspace_in_bytes_on_host: ptr)
cusolverMpGesvd(handle: ptr, gesvd_desc: ptr, jobu: i32, jobvt: i32, m: i64, n: i64, d_a: ptr, ia: i64, ja: i64,
    desc_a: ptr, d_s: ptr, d_u: ptr, iu: i64, ju: i64, desc_u: ptr, d_vt: ptr, ivt: i64, jvt: i64, desc_vt: ptr,
    compute_type: i32, d_work: ptr, workspace_in_bytes_on_device: usize, h_work: buf,
    workspace_in_bytes_on_host: usize, d_info: ptr)
"""

_ENUMS = """
IntEnum GridMapping: COL_MAJOR=0 ROW_MAJOR=1
IntEnum NewtonSchulzDescriptorAttribute: NORMALIZE=0 REDUCE_VIA_COMPUTE_TYPE=1
IntEnum Status: SUCCESS=0 NOT_INITIALIZED=1 ALLOC_FAILED=2 INVALID_VALUE=3 ARCH_MISMATCH=4 MAPPING_ERROR=5
    EXECUTION_FAILED=6 INTERNAL_ERROR=7 MATRIX_TYPE_NOT_SUPPORTED=8 NOT_SUPPORTED=9 ZERO_PIVOT=10 INVALID_LICENSE=11
    IRS_PARAMS_NOT_INITIALIZED=12 IRS_PARAMS_INVALID=13 IRS_PARAMS_INVALID_PREC=14 IRS_PARAMS_INVALID_REFINE=15
    IRS_PARAMS_INVALID_MAXITER=16 IRS_INTERNAL_ERROR=20 IRS_NOT_SUPPORTED=21 IRS_OUT_OF_RANGE=22
    IRS_NRHS_NOT_SUPPORTED_FOR_REFINE_GMRES=23 IRS_INFOS_NOT_INITIALIZED=25 IRS_INFOS_NOT_DESTROYED=26
    IRS_MATRIX_SINGULAR=30 INVALID_WORKSPACE=31
IntEnum PolarDescriptorAttribute: REQUESTED_KSI=0 A_NORM_FROBENIUS=1 RCOND_ESTIMATE=2
IntEnum GesvdDescriptorAttribute: COMPUTE_RESIDUAL=0 SHAPE=1 A_NORM_FROBENIUS=2 RCOND=3 RESIDUAL_FROBENIUS_ESTIMATE=4
    NUM_SINGULAR_FOUND=5
IntEnum GesvdOutputShape: THIN=0 FULL=1
"""

_DTYPES = """
get_newton_schulz_descriptor_attribute_dtype NewtonSchulzDescriptorAttribute int32 *
"""

_library = Bindings("cusolverMp", globals(), prefix="cusolverMp", errors=Errors("cuSOLVERMpError", "CUSOLVER_STATUS_"))
__getattr__, __dir__ = _library.resolve, _library.names
