"""The LAPACKE interface: dense solvers on the CPU, served by the OpenBLAS of NumPy, MKL, NVPL or OpenBLAS.

Integers are 64 bits wide; the result is LAPACK's ``info`` (or a norm). The functions without ``_work`` allocate their
workspace, and look through their operands for NaN first unless ``set_nancheck(0)`` was called. ``matrix_layout`` is 101
(rows) or 102 (columns, which is what LAPACK itself uses: rows are transposed by a copy).
``NVMATH_LAPACK_CPU_LIBRARY`` overrides which library serves.
"""

from __future__ import annotations

from nvmath.bindings._bind import Bindings

_ROWS = """
@ lapacke.h
{d,z,c,s}lange = LAPACKE_{d,z,c,s}lange_64(matrix_layout: i32, norm: char, m: i64, n: i64,
    a: cbuf<{f64,c128,c64,f32}>, lda: i64) -> {f64,f64,f32,f32}
{d,z,c,s}lange_work = LAPACKE_{d,z,c,s}lange_work_64(matrix_layout: i32, norm: char, m: i64, n: i64,
    a: cbuf<{f64,c128,c64,f32}>, lda: i64, work: buf<{f64,f64,f32,f32}>) -> {f64,f64,f32,f32}
{d,z,c,s}lansy = LAPACKE_{d,z,c,s}lansy_64(matrix_layout: i32, norm: char, uplo: char, n: i64,
    a: cbuf<{f64,c128,c64,f32}>, lda: i64) -> {f64,f64,f32,f32}
{d,z,c,s}lansy_work = LAPACKE_{d,z,c,s}lansy_work_64(matrix_layout: i32, norm: char, uplo: char, n: i64,
    a: cbuf<{f64,c128,c64,f32}>, lda: i64, work: buf<{f64,f64,f32,f32}>) -> {f64,f64,f32,f32}
{d,z,c,s}lantr = LAPACKE_{d,z,c,s}lantr_64(matrix_layout: i32, norm: char, uplo: char, diag: char, m: i64, n: i64,
    a: cbuf<{f64,c128,c64,f32}>, lda: i64) -> {f64,f64,f32,f32}
{d,z,c,s}lantr_work = LAPACKE_{d,z,c,s}lantr_work_64(matrix_layout: i32, norm: char, uplo: char, diag: char, m: i64,
    n: i64, a: cbuf<{f64,c128,c64,f32}>, lda: i64, work: buf<{f64,f64,f32,f32}>) -> {f64,f64,f32,f32}
{z,c}lanhe = LAPACKE_{z,c}lanhe_64(matrix_layout: i32, norm: char, uplo: char, n: i64, a: cbuf<{c128,c64}>,
    lda: i64) -> {f64,f32}
{z,c}lanhe_work = LAPACKE_{z,c}lanhe_work_64(matrix_layout: i32, norm: char, uplo: char, n: i64, a: cbuf<{c128,c64}>,
    lda: i64, work: buf<{f64,f32}>) -> {f64,f32}
{c,d,s,z}gbtrf = LAPACKE_{c,d,s,z}gbtrf_64(matrix_layout: i32, m: i64, n: i64, kl: i64, ku: i64,
    ab: buf<{c64,f64,f32,c128}>, ldab: i64, ipiv: buf<i64>) -> i64
{c,d,s,z}gbtrf_work = LAPACKE_{c,d,s,z}gbtrf_work_64(matrix_layout: i32, m: i64, n: i64, kl: i64, ku: i64,
    ab: buf<{c64,f64,f32,c128}>, ldab: i64, ipiv: buf<i64>) -> i64
{c,d,s,z}gbtrs = LAPACKE_{c,d,s,z}gbtrs_64(matrix_layout: i32, trans: char, n: i64, kl: i64, ku: i64, nrhs: i64,
    ab: cbuf<{c64,f64,f32,c128}>, ldab: i64, ipiv: cbuf<i64>, b: buf<{c64,f64,f32,c128}>, ldb: i64) -> i64
{c,d,s,z}gbtrs_work = LAPACKE_{c,d,s,z}gbtrs_work_64(matrix_layout: i32, trans: char, n: i64, kl: i64, ku: i64,
    nrhs: i64, ab: cbuf<{c64,f64,f32,c128}>, ldab: i64, ipiv: cbuf<i64>, b: buf<{c64,f64,f32,c128}>, ldb: i64) -> i64
{c,d,s,z}gecon = LAPACKE_{c,d,s,z}gecon_64(matrix_layout: i32, norm: char, n: i64, a: cbuf<{c64,f64,f32,c128}>,
    lda: i64, anorm: {f32,f64,f32,f64}, &rcond: {f32,f64,f32,f64}) -> i64
{c,z}gecon_work = LAPACKE_{c,z}gecon_work_64(matrix_layout: i32, norm: char, n: i64, a: cbuf<{c64,c128}>, lda: i64,
    anorm: {f32,f64}, &rcond: {f32,f64}, work: buf<{c64,c128}>, rwork: buf<{f32,f64}>) -> i64
{c,z}geev = LAPACKE_{c,z}geev_64(matrix_layout: i32, jobvl: char, jobvr: char, n: i64, a: buf<{c64,c128}>, lda: i64,
    w: buf<{c64,c128}>, vl: buf<{c64,c128}>, ldvl: i64, vr: buf<{c64,c128}>, ldvr: i64) -> i64
{c,z}geev_work = LAPACKE_{c,z}geev_work_64(matrix_layout: i32, jobvl: char, jobvr: char, n: i64, a: buf<{c64,c128}>,
    lda: i64, w: buf<{c64,c128}>, vl: buf<{c64,c128}>, ldvl: i64, vr: buf<{c64,c128}>, ldvr: i64,
    work: buf<{c64,c128}>, lwork: i64, rwork: buf<{f32,f64}>) -> i64
{c,d,s,z}gelqf = LAPACKE_{c,d,s,z}gelqf_64(matrix_layout: i32, m: i64, n: i64, a: buf<{c64,f64,f32,c128}>, lda: i64,
    tau: buf<{c64,f64,f32,c128}>) -> i64
{c,d,s,z}gelqf_work = LAPACKE_{c,d,s,z}gelqf_work_64(matrix_layout: i32, m: i64, n: i64, a: buf<{c64,f64,f32,c128}>,
    lda: i64, tau: buf<{c64,f64,f32,c128}>, work: buf<{c64,f64,f32,c128}>, lwork: i64) -> i64
{c,d,s,z}gels = LAPACKE_{c,d,s,z}gels_64(matrix_layout: i32, trans: char, m: i64, n: i64, nrhs: i64,
    a: buf<{c64,f64,f32,c128}>, lda: i64, b: buf<{c64,f64,f32,c128}>, ldb: i64) -> i64
{c,d,s,z}gels_work = LAPACKE_{c,d,s,z}gels_work_64(matrix_layout: i32, trans: char, m: i64, n: i64, nrhs: i64,
    a: buf<{c64,f64,f32,c128}>, lda: i64, b: buf<{c64,f64,f32,c128}>, ldb: i64, work: buf<{c64,f64,f32,c128}>,
    lwork: i64) -> i64
{c,d,s,z}gelsd = LAPACKE_{c,d,s,z}gelsd_64(matrix_layout: i32, m: i64, n: i64, nrhs: i64, a: buf<{c64,f64,f32,c128}>,
    lda: i64, b: buf<{c64,f64,f32,c128}>, ldb: i64, s: buf<{f32,f64,f32,f64}>, rcond: {f32,f64,f32,f64},
    &rank: i64) -> i64
{c,z}gelsd_work = LAPACKE_{c,z}gelsd_work_64(matrix_layout: i32, m: i64, n: i64, nrhs: i64, a: buf<{c64,c128}>,
    lda: i64, b: buf<{c64,c128}>, ldb: i64, s: buf<{f32,f64}>, rcond: {f32,f64}, &rank: i64, work: buf<{c64,c128}>,
    lwork: i64, rwork: buf<{f32,f64}>, iwork: buf<i64>) -> i64
{c,d,s,z}gelsy = LAPACKE_{c,d,s,z}gelsy_64(matrix_layout: i32, m: i64, n: i64, nrhs: i64, a: buf<{c64,f64,f32,c128}>,
    lda: i64, b: buf<{c64,f64,f32,c128}>, ldb: i64, jpvt: buf<i64>, rcond: {f32,f64,f32,f64}, &rank: i64) -> i64
{c,z}gelsy_work = LAPACKE_{c,z}gelsy_work_64(matrix_layout: i32, m: i64, n: i64, nrhs: i64, a: buf<{c64,c128}>,
    lda: i64, b: buf<{c64,c128}>, ldb: i64, jpvt: buf<i64>, rcond: {f32,f64}, &rank: i64, work: buf<{c64,c128}>,
    lwork: i64, rwork: buf<{f32,f64}>) -> i64
{c,d,s,z}geqp3 = LAPACKE_{c,d,s,z}geqp3_64(matrix_layout: i32, m: i64, n: i64, a: buf<{c64,f64,f32,c128}>, lda: i64,
    jpvt: buf<i64>, tau: buf<{c64,f64,f32,c128}>) -> i64
{c,z}geqp3_work = LAPACKE_{c,z}geqp3_work_64(matrix_layout: i32, m: i64, n: i64, a: buf<{c64,c128}>, lda: i64,
    jpvt: buf<i64>, tau: buf<{c64,c128}>, work: buf<{c64,c128}>, lwork: i64, rwork: buf<{f32,f64}>) -> i64
{c,d,s,z}geqrf = LAPACKE_{c,d,s,z}geqrf_64(matrix_layout: i32, m: i64, n: i64, a: buf<{c64,f64,f32,c128}>, lda: i64,
    tau: buf<{c64,f64,f32,c128}>) -> i64
{c,d,s,z}geqrf_work = LAPACKE_{c,d,s,z}geqrf_work_64(matrix_layout: i32, m: i64, n: i64, a: buf<{c64,f64,f32,c128}>,
    lda: i64, tau: buf<{c64,f64,f32,c128}>, work: buf<{c64,f64,f32,c128}>, lwork: i64) -> i64
{c,d,s,z}gerfs = LAPACKE_{c,d,s,z}gerfs_64(matrix_layout: i32, trans: char, n: i64, nrhs: i64,
    a: cbuf<{c64,f64,f32,c128}>, lda: i64, af: cbuf<{c64,f64,f32,c128}>, ldaf: i64, ipiv: cbuf<i64>,
    b: cbuf<{c64,f64,f32,c128}>, ldb: i64, x: buf<{c64,f64,f32,c128}>, ldx: i64, ferr: buf<{f32,f64,f32,f64}>,
    berr: buf<{f32,f64,f32,f64}>) -> i64
{c,z}gerfs_work = LAPACKE_{c,z}gerfs_work_64(matrix_layout: i32, trans: char, n: i64, nrhs: i64, a: cbuf<{c64,c128}>,
    lda: i64, af: cbuf<{c64,c128}>, ldaf: i64, ipiv: cbuf<i64>, b: cbuf<{c64,c128}>, ldb: i64, x: buf<{c64,c128}>,
    ldx: i64, ferr: buf<{f32,f64}>, berr: buf<{f32,f64}>, work: buf<{c64,c128}>, rwork: buf<{f32,f64}>) -> i64
{c,d,s,z}gesdd = LAPACKE_{c,d,s,z}gesdd_64(matrix_layout: i32, jobz: char, m: i64, n: i64, a: buf<{c64,f64,f32,c128}>,
    lda: i64, s: buf<{f32,f64,f32,f64}>, u: buf<{c64,f64,f32,c128}>, ldu: i64, vt: buf<{c64,f64,f32,c128}>,
    ldvt: i64) -> i64
{c,z}gesdd_work = LAPACKE_{c,z}gesdd_work_64(matrix_layout: i32, jobz: char, m: i64, n: i64, a: buf<{c64,c128}>,
    lda: i64, s: buf<{f32,f64}>, u: buf<{c64,c128}>, ldu: i64, vt: buf<{c64,c128}>, ldvt: i64, work: buf<{c64,c128}>,
    lwork: i64, rwork: buf<{f32,f64}>, iwork: buf<i64>) -> i64
{c,d,s,z}gesv = LAPACKE_{c,d,s,z}gesv_64(matrix_layout: i32, n: i64, nrhs: i64, a: buf<{c64,f64,f32,c128}>, lda: i64,
    ipiv: buf<i64>, b: buf<{c64,f64,f32,c128}>, ldb: i64) -> i64
{c,d,s,z}gesv_work = LAPACKE_{c,d,s,z}gesv_work_64(matrix_layout: i32, n: i64, nrhs: i64, a: buf<{c64,f64,f32,c128}>,
    lda: i64, ipiv: buf<i64>, b: buf<{c64,f64,f32,c128}>, ldb: i64) -> i64
{c,d,s,z}gesvd = LAPACKE_{c,d,s,z}gesvd_64(matrix_layout: i32, jobu: char, jobvt: char, m: i64, n: i64,
    a: buf<{c64,f64,f32,c128}>, lda: i64, s: buf<{f32,f64,f32,f64}>, u: buf<{c64,f64,f32,c128}>, ldu: i64,
    vt: buf<{c64,f64,f32,c128}>, ldvt: i64, superb: buf<{f32,f64,f32,f64}>) -> i64
{c,z}gesvd_work = LAPACKE_{c,z}gesvd_work_64(matrix_layout: i32, jobu: char, jobvt: char, m: i64, n: i64,
    a: buf<{c64,c128}>, lda: i64, s: buf<{f32,f64}>, u: buf<{c64,c128}>, ldu: i64, vt: buf<{c64,c128}>, ldvt: i64,
    work: buf<{c64,c128}>, lwork: i64, rwork: buf<{f32,f64}>) -> i64
{c,d,s,z}getrf = LAPACKE_{c,d,s,z}getrf_64(matrix_layout: i32, m: i64, n: i64, a: buf<{c64,f64,f32,c128}>, lda: i64,
    ipiv: buf<i64>) -> i64
{c,d,s,z}getrf_work = LAPACKE_{c,d,s,z}getrf_work_64(matrix_layout: i32, m: i64, n: i64, a: buf<{c64,f64,f32,c128}>,
    lda: i64, ipiv: buf<i64>) -> i64
{c,d,s,z}getri = LAPACKE_{c,d,s,z}getri_64(matrix_layout: i32, n: i64, a: buf<{c64,f64,f32,c128}>, lda: i64,
    ipiv: cbuf<i64>) -> i64
{c,d,s,z}getri_work = LAPACKE_{c,d,s,z}getri_work_64(matrix_layout: i32, n: i64, a: buf<{c64,f64,f32,c128}>, lda: i64,
    ipiv: cbuf<i64>, work: buf<{c64,f64,f32,c128}>, lwork: i64) -> i64
{c,d,s,z}getrs = LAPACKE_{c,d,s,z}getrs_64(matrix_layout: i32, trans: char, n: i64, nrhs: i64,
    a: cbuf<{c64,f64,f32,c128}>, lda: i64, ipiv: cbuf<i64>, b: buf<{c64,f64,f32,c128}>, ldb: i64) -> i64
{c,d,s,z}getrs_work = LAPACKE_{c,d,s,z}getrs_work_64(matrix_layout: i32, trans: char, n: i64, nrhs: i64,
    a: cbuf<{c64,f64,f32,c128}>, lda: i64, ipiv: cbuf<i64>, b: buf<{c64,f64,f32,c128}>, ldb: i64) -> i64
{c,d,s,z}gtsv = LAPACKE_{c,d,s,z}gtsv_64(matrix_layout: i32, n: i64, nrhs: i64, dl: buf<{c64,f64,f32,c128}>,
    d: buf<{c64,f64,f32,c128}>, du: buf<{c64,f64,f32,c128}>, b: buf<{c64,f64,f32,c128}>, ldb: i64) -> i64
{c,d,s,z}gtsv_work = LAPACKE_{c,d,s,z}gtsv_work_64(matrix_layout: i32, n: i64, nrhs: i64, dl: buf<{c64,f64,f32,c128}>,
    d: buf<{c64,f64,f32,c128}>, du: buf<{c64,f64,f32,c128}>, b: buf<{c64,f64,f32,c128}>, ldb: i64) -> i64
{c,d,s,z}gttrf = LAPACKE_{c,d,s,z}gttrf_64(n: i64, dl: buf<{c64,f64,f32,c128}>, d: buf<{c64,f64,f32,c128}>,
    du: buf<{c64,f64,f32,c128}>, du2: buf<{c64,f64,f32,c128}>, ipiv: buf<i64>) -> i64
{c,d,s,z}gttrf_work = LAPACKE_{c,d,s,z}gttrf_work_64(n: i64, dl: buf<{c64,f64,f32,c128}>, d: buf<{c64,f64,f32,c128}>,
    du: buf<{c64,f64,f32,c128}>, du2: buf<{c64,f64,f32,c128}>, ipiv: buf<i64>) -> i64
{c,d,s,z}gttrs = LAPACKE_{c,d,s,z}gttrs_64(matrix_layout: i32, trans: char, n: i64, nrhs: i64,
    dl: cbuf<{c64,f64,f32,c128}>, d: cbuf<{c64,f64,f32,c128}>, du: cbuf<{c64,f64,f32,c128}>,
    du2: cbuf<{c64,f64,f32,c128}>, ipiv: cbuf<i64>, b: buf<{c64,f64,f32,c128}>, ldb: i64) -> i64
{c,d,s,z}gttrs_work = LAPACKE_{c,d,s,z}gttrs_work_64(matrix_layout: i32, trans: char, n: i64, nrhs: i64,
    dl: cbuf<{c64,f64,f32,c128}>, d: cbuf<{c64,f64,f32,c128}>, du: cbuf<{c64,f64,f32,c128}>,
    du2: cbuf<{c64,f64,f32,c128}>, ipiv: cbuf<i64>, b: buf<{c64,f64,f32,c128}>, ldb: i64) -> i64
{c,z}hecon = LAPACKE_{c,z}hecon_64(matrix_layout: i32, uplo: char, n: i64, a: cbuf<{c64,c128}>, lda: i64,
    ipiv: cbuf<i64>, anorm: {f32,f64}, &rcond: {f32,f64}) -> i64
{c,z}hecon_work = LAPACKE_{c,z}hecon_work_64(matrix_layout: i32, uplo: char, n: i64, a: cbuf<{c64,c128}>, lda: i64,
    ipiv: cbuf<i64>, anorm: {f32,f64}, &rcond: {f32,f64}, work: buf<{c64,c128}>) -> i64
{c,z}heevd = LAPACKE_{c,z}heevd_64(matrix_layout: i32, jobz: char, uplo: char, n: i64, a: buf<{c64,c128}>, lda: i64,
    w: buf<{f32,f64}>) -> i64
{c,z}heevd_work = LAPACKE_{c,z}heevd_work_64(matrix_layout: i32, jobz: char, uplo: char, n: i64, a: buf<{c64,c128}>,
    lda: i64, w: buf<{f32,f64}>, work: buf<{c64,c128}>, lwork: i64, rwork: buf<{f32,f64}>, lrwork: i64,
    iwork: buf<i64>, liwork: i64) -> i64
{c,z}hesv = LAPACKE_{c,z}hesv_64(matrix_layout: i32, uplo: char, n: i64, nrhs: i64, a: buf<{c64,c128}>, lda: i64,
    ipiv: buf<i64>, b: buf<{c64,c128}>, ldb: i64) -> i64
{c,z}hesv_work = LAPACKE_{c,z}hesv_work_64(matrix_layout: i32, uplo: char, n: i64, nrhs: i64, a: buf<{c64,c128}>,
    lda: i64, ipiv: buf<i64>, b: buf<{c64,c128}>, ldb: i64, work: buf<{c64,c128}>, lwork: i64) -> i64
{c,z}hetrf = LAPACKE_{c,z}hetrf_64(matrix_layout: i32, uplo: char, n: i64, a: buf<{c64,c128}>, lda: i64,
    ipiv: buf<i64>) -> i64
{c,z}hetrf_work = LAPACKE_{c,z}hetrf_work_64(matrix_layout: i32, uplo: char, n: i64, a: buf<{c64,c128}>, lda: i64,
    ipiv: buf<i64>, work: buf<{c64,c128}>, lwork: i64) -> i64
{c,z}hetri = LAPACKE_{c,z}hetri_64(matrix_layout: i32, uplo: char, n: i64, a: buf<{c64,c128}>, lda: i64,
    ipiv: cbuf<i64>) -> i64
{c,z}hetri_work = LAPACKE_{c,z}hetri_work_64(matrix_layout: i32, uplo: char, n: i64, a: buf<{c64,c128}>, lda: i64,
    ipiv: cbuf<i64>, work: buf<{c64,c128}>) -> i64
{c,z}hetrs = LAPACKE_{c,z}hetrs_64(matrix_layout: i32, uplo: char, n: i64, nrhs: i64, a: cbuf<{c64,c128}>, lda: i64,
    ipiv: cbuf<i64>, b: buf<{c64,c128}>, ldb: i64) -> i64
{c,z}hetrs_work = LAPACKE_{c,z}hetrs_work_64(matrix_layout: i32, uplo: char, n: i64, nrhs: i64, a: cbuf<{c64,c128}>,
    lda: i64, ipiv: cbuf<i64>, b: buf<{c64,c128}>, ldb: i64) -> i64
{c,d,s,z}lacpy = LAPACKE_{c,d,s,z}lacpy_64(matrix_layout: i32, uplo: char, m: i64, n: i64,
    a: cbuf<{c64,f64,f32,c128}>, lda: i64, b: buf<{c64,f64,f32,c128}>, ldb: i64) -> i64
{c,d,s,z}lacpy_work = LAPACKE_{c,d,s,z}lacpy_work_64(matrix_layout: i32, uplo: char, m: i64, n: i64,
    a: cbuf<{c64,f64,f32,c128}>, lda: i64, b: buf<{c64,f64,f32,c128}>, ldb: i64) -> i64
{c,d,s,z}laswp = LAPACKE_{c,d,s,z}laswp_64(matrix_layout: i32, n: i64, a: buf<{c64,f64,f32,c128}>, lda: i64, k1: i64,
    k2: i64, ipiv: cbuf<i64>, incx: i64) -> i64
{c,d,s,z}laswp_work = LAPACKE_{c,d,s,z}laswp_work_64(matrix_layout: i32, n: i64, a: buf<{c64,f64,f32,c128}>, lda: i64,
    k1: i64, k2: i64, ipiv: cbuf<i64>, incx: i64) -> i64
{c,d,s,z}pbtrf = LAPACKE_{c,d,s,z}pbtrf_64(matrix_layout: i32, uplo: char, n: i64, kd: i64,
    ab: buf<{c64,f64,f32,c128}>, ldab: i64) -> i64
{c,d,s,z}pbtrf_work = LAPACKE_{c,d,s,z}pbtrf_work_64(matrix_layout: i32, uplo: char, n: i64, kd: i64,
    ab: buf<{c64,f64,f32,c128}>, ldab: i64) -> i64
{c,d,s,z}pbtrs = LAPACKE_{c,d,s,z}pbtrs_64(matrix_layout: i32, uplo: char, n: i64, kd: i64, nrhs: i64,
    ab: cbuf<{c64,f64,f32,c128}>, ldab: i64, b: buf<{c64,f64,f32,c128}>, ldb: i64) -> i64
{c,d,s,z}pbtrs_work = LAPACKE_{c,d,s,z}pbtrs_work_64(matrix_layout: i32, uplo: char, n: i64, kd: i64, nrhs: i64,
    ab: cbuf<{c64,f64,f32,c128}>, ldab: i64, b: buf<{c64,f64,f32,c128}>, ldb: i64) -> i64
{c,d,s,z}pocon = LAPACKE_{c,d,s,z}pocon_64(matrix_layout: i32, uplo: char, n: i64, a: cbuf<{c64,f64,f32,c128}>,
    lda: i64, anorm: {f32,f64,f32,f64}, &rcond: {f32,f64,f32,f64}) -> i64
{c,z}pocon_work = LAPACKE_{c,z}pocon_work_64(matrix_layout: i32, uplo: char, n: i64, a: cbuf<{c64,c128}>, lda: i64,
    anorm: {f32,f64}, &rcond: {f32,f64}, work: buf<{c64,c128}>, rwork: buf<{f32,f64}>) -> i64
{c,d,s,z}posv = LAPACKE_{c,d,s,z}posv_64(matrix_layout: i32, uplo: char, n: i64, nrhs: i64,
    a: buf<{c64,f64,f32,c128}>, lda: i64, b: buf<{c64,f64,f32,c128}>, ldb: i64) -> i64
{c,d,s,z}posv_work = LAPACKE_{c,d,s,z}posv_work_64(matrix_layout: i32, uplo: char, n: i64, nrhs: i64,
    a: buf<{c64,f64,f32,c128}>, lda: i64, b: buf<{c64,f64,f32,c128}>, ldb: i64) -> i64
{c,d,s,z}potrf = LAPACKE_{c,d,s,z}potrf_64(matrix_layout: i32, uplo: char, n: i64, a: buf<{c64,f64,f32,c128}>,
    lda: i64) -> i64
{c,d,s,z}potrf_work = LAPACKE_{c,d,s,z}potrf_work_64(matrix_layout: i32, uplo: char, n: i64,
    a: buf<{c64,f64,f32,c128}>, lda: i64) -> i64
{c,d,s,z}potri = LAPACKE_{c,d,s,z}potri_64(matrix_layout: i32, uplo: char, n: i64, a: buf<{c64,f64,f32,c128}>,
    lda: i64) -> i64
{c,d,s,z}potri_work = LAPACKE_{c,d,s,z}potri_work_64(matrix_layout: i32, uplo: char, n: i64,
    a: buf<{c64,f64,f32,c128}>, lda: i64) -> i64
{c,d,s,z}potrs = LAPACKE_{c,d,s,z}potrs_64(matrix_layout: i32, uplo: char, n: i64, nrhs: i64,
    a: cbuf<{c64,f64,f32,c128}>, lda: i64, b: buf<{c64,f64,f32,c128}>, ldb: i64) -> i64
{c,d,s,z}potrs_work = LAPACKE_{c,d,s,z}potrs_work_64(matrix_layout: i32, uplo: char, n: i64, nrhs: i64,
    a: cbuf<{c64,f64,f32,c128}>, lda: i64, b: buf<{c64,f64,f32,c128}>, ldb: i64) -> i64
{c,d,s,z}ptsv = LAPACKE_{c,d,s,z}ptsv_64(matrix_layout: i32, n: i64, nrhs: i64, d: buf<{f32,f64,f32,f64}>,
    e: buf<{c64,f64,f32,c128}>, b: buf<{c64,f64,f32,c128}>, ldb: i64) -> i64
{c,d,s,z}ptsv_work = LAPACKE_{c,d,s,z}ptsv_work_64(matrix_layout: i32, n: i64, nrhs: i64, d: buf<{f32,f64,f32,f64}>,
    e: buf<{c64,f64,f32,c128}>, b: buf<{c64,f64,f32,c128}>, ldb: i64) -> i64
{c,d,s,z}sycon = LAPACKE_{c,d,s,z}sycon_64(matrix_layout: i32, uplo: char, n: i64, a: cbuf<{c64,f64,f32,c128}>,
    lda: i64, ipiv: cbuf<i64>, anorm: {f32,f64,f32,f64}, &rcond: {f32,f64,f32,f64}) -> i64
{c,z}sycon_work = LAPACKE_{c,z}sycon_work_64(matrix_layout: i32, uplo: char, n: i64, a: cbuf<{c64,c128}>, lda: i64,
    ipiv: cbuf<i64>, anorm: {f32,f64}, &rcond: {f32,f64}, work: buf<{c64,c128}>) -> i64
{c,d,s,z}sysv = LAPACKE_{c,d,s,z}sysv_64(matrix_layout: i32, uplo: char, n: i64, nrhs: i64,
    a: buf<{c64,f64,f32,c128}>, lda: i64, ipiv: buf<i64>, b: buf<{c64,f64,f32,c128}>, ldb: i64) -> i64
{c,d,s,z}sysv_work = LAPACKE_{c,d,s,z}sysv_work_64(matrix_layout: i32, uplo: char, n: i64, nrhs: i64,
    a: buf<{c64,f64,f32,c128}>, lda: i64, ipiv: buf<i64>, b: buf<{c64,f64,f32,c128}>, ldb: i64,
    work: buf<{c64,f64,f32,c128}>, lwork: i64) -> i64
{c,d,s,z}sytrf = LAPACKE_{c,d,s,z}sytrf_64(matrix_layout: i32, uplo: char, n: i64, a: buf<{c64,f64,f32,c128}>,
    lda: i64, ipiv: buf<i64>) -> i64
{c,d,s,z}sytrf_work = LAPACKE_{c,d,s,z}sytrf_work_64(matrix_layout: i32, uplo: char, n: i64,
    a: buf<{c64,f64,f32,c128}>, lda: i64, ipiv: buf<i64>, work: buf<{c64,f64,f32,c128}>, lwork: i64) -> i64
{c,d,s,z}sytri = LAPACKE_{c,d,s,z}sytri_64(matrix_layout: i32, uplo: char, n: i64, a: buf<{c64,f64,f32,c128}>,
    lda: i64, ipiv: cbuf<i64>) -> i64
{c,d,s,z}sytri_work = LAPACKE_{c,d,s,z}sytri_work_64(matrix_layout: i32, uplo: char, n: i64,
    a: buf<{c64,f64,f32,c128}>, lda: i64, ipiv: cbuf<i64>, work: buf<{c64,f64,f32,c128}>) -> i64
{c,d,s,z}sytrs = LAPACKE_{c,d,s,z}sytrs_64(matrix_layout: i32, uplo: char, n: i64, nrhs: i64,
    a: cbuf<{c64,f64,f32,c128}>, lda: i64, ipiv: cbuf<i64>, b: buf<{c64,f64,f32,c128}>, ldb: i64) -> i64
{c,d,s,z}sytrs_work = LAPACKE_{c,d,s,z}sytrs_work_64(matrix_layout: i32, uplo: char, n: i64, nrhs: i64,
    a: cbuf<{c64,f64,f32,c128}>, lda: i64, ipiv: cbuf<i64>, b: buf<{c64,f64,f32,c128}>, ldb: i64) -> i64
{c,d,s,z}trcon = LAPACKE_{c,d,s,z}trcon_64(matrix_layout: i32, norm: char, uplo: char, diag: char, n: i64,
    a: cbuf<{c64,f64,f32,c128}>, lda: i64, &rcond: {f32,f64,f32,f64}) -> i64
{c,z}trcon_work = LAPACKE_{c,z}trcon_work_64(matrix_layout: i32, norm: char, uplo: char, diag: char, n: i64,
    a: cbuf<{c64,c128}>, lda: i64, &rcond: {f32,f64}, work: buf<{c64,c128}>, rwork: buf<{f32,f64}>) -> i64
{c,d,s,z}trtri = LAPACKE_{c,d,s,z}trtri_64(matrix_layout: i32, uplo: char, diag: char, n: i64,
    a: buf<{c64,f64,f32,c128}>, lda: i64) -> i64
{c,d,s,z}trtri_work = LAPACKE_{c,d,s,z}trtri_work_64(matrix_layout: i32, uplo: char, diag: char, n: i64,
    a: buf<{c64,f64,f32,c128}>, lda: i64) -> i64
{c,d,s,z}trtrs = LAPACKE_{c,d,s,z}trtrs_64(matrix_layout: i32, uplo: char, trans: char, diag: char, n: i64, nrhs: i64,
    a: cbuf<{c64,f64,f32,c128}>, lda: i64, b: buf<{c64,f64,f32,c128}>, ldb: i64) -> i64
{c,d,s,z}trtrs_work = LAPACKE_{c,d,s,z}trtrs_work_64(matrix_layout: i32, uplo: char, trans: char, diag: char, n: i64,
    nrhs: i64, a: cbuf<{c64,f64,f32,c128}>, lda: i64, b: buf<{c64,f64,f32,c128}>, ldb: i64) -> i64
{c,z}unglq = LAPACKE_{c,z}unglq_64(matrix_layout: i32, m: i64, n: i64, k: i64, a: buf<{c64,c128}>, lda: i64,
    tau: cbuf<{c64,c128}>) -> i64
{c,z}unglq_work = LAPACKE_{c,z}unglq_work_64(matrix_layout: i32, m: i64, n: i64, k: i64, a: buf<{c64,c128}>, lda: i64,
    tau: cbuf<{c64,c128}>, work: buf<{c64,c128}>, lwork: i64) -> i64
{c,z}ungqr = LAPACKE_{c,z}ungqr_64(matrix_layout: i32, m: i64, n: i64, k: i64, a: buf<{c64,c128}>, lda: i64,
    tau: cbuf<{c64,c128}>) -> i64
{c,z}ungqr_work = LAPACKE_{c,z}ungqr_work_64(matrix_layout: i32, m: i64, n: i64, k: i64, a: buf<{c64,c128}>, lda: i64,
    tau: cbuf<{c64,c128}>, work: buf<{c64,c128}>, lwork: i64) -> i64
{c,z}unmlq = LAPACKE_{c,z}unmlq_64(matrix_layout: i32, side: char, trans: char, m: i64, n: i64, k: i64,
    a: cbuf<{c64,c128}>, lda: i64, tau: cbuf<{c64,c128}>, c: buf<{c64,c128}>, ldc: i64) -> i64
{c,z}unmlq_work = LAPACKE_{c,z}unmlq_work_64(matrix_layout: i32, side: char, trans: char, m: i64, n: i64, k: i64,
    a: cbuf<{c64,c128}>, lda: i64, tau: cbuf<{c64,c128}>, c: buf<{c64,c128}>, ldc: i64, work: buf<{c64,c128}>,
    lwork: i64) -> i64
{c,z}unmqr = LAPACKE_{c,z}unmqr_64(matrix_layout: i32, side: char, trans: char, m: i64, n: i64, k: i64,
    a: cbuf<{c64,c128}>, lda: i64, tau: cbuf<{c64,c128}>, c: buf<{c64,c128}>, ldc: i64) -> i64
{c,z}unmqr_work = LAPACKE_{c,z}unmqr_work_64(matrix_layout: i32, side: char, trans: char, m: i64, n: i64, k: i64,
    a: cbuf<{c64,c128}>, lda: i64, tau: cbuf<{c64,c128}>, c: buf<{c64,c128}>, ldc: i64, work: buf<{c64,c128}>,
    lwork: i64) -> i64
{d,s}gecon_work = LAPACKE_{d,s}gecon_work_64(matrix_layout: i32, norm: char, n: i64, a: cbuf<{f64,f32}>, lda: i64,
    anorm: {f64,f32}, &rcond: {f64,f32}, work: buf<{f64,f32}>, iwork: buf<i64>) -> i64
{d,s}geev = LAPACKE_{d,s}geev_64(matrix_layout: i32, jobvl: char, jobvr: char, n: i64, a: buf<{f64,f32}>, lda: i64,
    wr: buf<{f64,f32}>, wi: buf<{f64,f32}>, vl: buf<{f64,f32}>, ldvl: i64, vr: buf<{f64,f32}>, ldvr: i64) -> i64
{d,s}geev_work = LAPACKE_{d,s}geev_work_64(matrix_layout: i32, jobvl: char, jobvr: char, n: i64, a: buf<{f64,f32}>,
    lda: i64, wr: buf<{f64,f32}>, wi: buf<{f64,f32}>, vl: buf<{f64,f32}>, ldvl: i64, vr: buf<{f64,f32}>, ldvr: i64,
    work: buf<{f64,f32}>, lwork: i64) -> i64
{d,s}gelsd_work = LAPACKE_{d,s}gelsd_work_64(matrix_layout: i32, m: i64, n: i64, nrhs: i64, a: buf<{f64,f32}>,
    lda: i64, b: buf<{f64,f32}>, ldb: i64, s: buf<{f64,f32}>, rcond: {f64,f32}, &rank: i64, work: buf<{f64,f32}>,
    lwork: i64, iwork: buf<i64>) -> i64
{d,s}gelsy_work = LAPACKE_{d,s}gelsy_work_64(matrix_layout: i32, m: i64, n: i64, nrhs: i64, a: buf<{f64,f32}>,
    lda: i64, b: buf<{f64,f32}>, ldb: i64, jpvt: buf<i64>, rcond: {f64,f32}, &rank: i64, work: buf<{f64,f32}>,
    lwork: i64) -> i64
{d,s}geqp3_work = LAPACKE_{d,s}geqp3_work_64(matrix_layout: i32, m: i64, n: i64, a: buf<{f64,f32}>, lda: i64,
    jpvt: buf<i64>, tau: buf<{f64,f32}>, work: buf<{f64,f32}>, lwork: i64) -> i64
{d,s}gerfs_work = LAPACKE_{d,s}gerfs_work_64(matrix_layout: i32, trans: char, n: i64, nrhs: i64, a: cbuf<{f64,f32}>,
    lda: i64, af: cbuf<{f64,f32}>, ldaf: i64, ipiv: cbuf<i64>, b: cbuf<{f64,f32}>, ldb: i64, x: buf<{f64,f32}>,
    ldx: i64, ferr: buf<{f64,f32}>, berr: buf<{f64,f32}>, work: buf<{f64,f32}>, iwork: buf<i64>) -> i64
{d,s}gesdd_work = LAPACKE_{d,s}gesdd_work_64(matrix_layout: i32, jobz: char, m: i64, n: i64, a: buf<{f64,f32}>,
    lda: i64, s: buf<{f64,f32}>, u: buf<{f64,f32}>, ldu: i64, vt: buf<{f64,f32}>, ldvt: i64, work: buf<{f64,f32}>,
    lwork: i64, iwork: buf<i64>) -> i64
{d,s}gesvd_work = LAPACKE_{d,s}gesvd_work_64(matrix_layout: i32, jobu: char, jobvt: char, m: i64, n: i64,
    a: buf<{f64,f32}>, lda: i64, s: buf<{f64,f32}>, u: buf<{f64,f32}>, ldu: i64, vt: buf<{f64,f32}>, ldvt: i64,
    work: buf<{f64,f32}>, lwork: i64) -> i64
{d,s}orglq = LAPACKE_{d,s}orglq_64(matrix_layout: i32, m: i64, n: i64, k: i64, a: buf<{f64,f32}>, lda: i64,
    tau: cbuf<{f64,f32}>) -> i64
{d,s}orglq_work = LAPACKE_{d,s}orglq_work_64(matrix_layout: i32, m: i64, n: i64, k: i64, a: buf<{f64,f32}>, lda: i64,
    tau: cbuf<{f64,f32}>, work: buf<{f64,f32}>, lwork: i64) -> i64
{d,s}orgqr = LAPACKE_{d,s}orgqr_64(matrix_layout: i32, m: i64, n: i64, k: i64, a: buf<{f64,f32}>, lda: i64,
    tau: cbuf<{f64,f32}>) -> i64
{d,s}orgqr_work = LAPACKE_{d,s}orgqr_work_64(matrix_layout: i32, m: i64, n: i64, k: i64, a: buf<{f64,f32}>, lda: i64,
    tau: cbuf<{f64,f32}>, work: buf<{f64,f32}>, lwork: i64) -> i64
{d,s}ormlq = LAPACKE_{d,s}ormlq_64(matrix_layout: i32, side: char, trans: char, m: i64, n: i64, k: i64,
    a: cbuf<{f64,f32}>, lda: i64, tau: cbuf<{f64,f32}>, c: buf<{f64,f32}>, ldc: i64) -> i64
{d,s}ormlq_work = LAPACKE_{d,s}ormlq_work_64(matrix_layout: i32, side: char, trans: char, m: i64, n: i64, k: i64,
    a: cbuf<{f64,f32}>, lda: i64, tau: cbuf<{f64,f32}>, c: buf<{f64,f32}>, ldc: i64, work: buf<{f64,f32}>,
    lwork: i64) -> i64
{d,s}ormqr = LAPACKE_{d,s}ormqr_64(matrix_layout: i32, side: char, trans: char, m: i64, n: i64, k: i64,
    a: cbuf<{f64,f32}>, lda: i64, tau: cbuf<{f64,f32}>, c: buf<{f64,f32}>, ldc: i64) -> i64
{d,s}ormqr_work = LAPACKE_{d,s}ormqr_work_64(matrix_layout: i32, side: char, trans: char, m: i64, n: i64, k: i64,
    a: cbuf<{f64,f32}>, lda: i64, tau: cbuf<{f64,f32}>, c: buf<{f64,f32}>, ldc: i64, work: buf<{f64,f32}>,
    lwork: i64) -> i64
{d,s}pocon_work = LAPACKE_{d,s}pocon_work_64(matrix_layout: i32, uplo: char, n: i64, a: cbuf<{f64,f32}>, lda: i64,
    anorm: {f64,f32}, &rcond: {f64,f32}, work: buf<{f64,f32}>, iwork: buf<i64>) -> i64
{d,s}sycon_work = LAPACKE_{d,s}sycon_work_64(matrix_layout: i32, uplo: char, n: i64, a: cbuf<{f64,f32}>, lda: i64,
    ipiv: cbuf<i64>, anorm: {f64,f32}, &rcond: {f64,f32}, work: buf<{f64,f32}>, iwork: buf<i64>) -> i64
{d,s}syevd = LAPACKE_{d,s}syevd_64(matrix_layout: i32, jobz: char, uplo: char, n: i64, a: buf<{f64,f32}>, lda: i64,
    w: buf<{f64,f32}>) -> i64
{d,s}syevd_work = LAPACKE_{d,s}syevd_work_64(matrix_layout: i32, jobz: char, uplo: char, n: i64, a: buf<{f64,f32}>,
    lda: i64, w: buf<{f64,f32}>, work: buf<{f64,f32}>, lwork: i64, iwork: buf<i64>, liwork: i64) -> i64
{d,s}trcon_work = LAPACKE_{d,s}trcon_work_64(matrix_layout: i32, norm: char, uplo: char, diag: char, n: i64,
    a: cbuf<{f64,f32}>, lda: i64, &rcond: {f64,f32}, work: buf<{f64,f32}>, iwork: buf<i64>) -> i64
"""

_SPECIAL = """
LAPACKE_set_nancheck(flag: i32) -> void
LAPACKE_get_nancheck() -> i32
"""

ROW_MAJOR, COL_MAJOR = 101, 102

_library = Bindings("lapack", globals(), prefix="LAPACKE_")
__getattr__, __dir__ = _library.resolve, _library.names
