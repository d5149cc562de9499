"""The CBLAS interface: linear algebra on the CPU, served by NVPL, MKL, OpenBLAS or the OpenBLAS of NumPy.

Functions whose names end in ``_64`` take 64-bit integers; the last of these libraries has no others.
Which library serves is found at the first call;
``NVMATH_BLAS_CPU_LIBRARY`` overrides it. A function that the library lacks raises `FunctionNotFoundError`.
"""

from __future__ import annotations

from nvmath.bindings._bind import Bindings

_ROWS = """
@ cblas.h
cblas_dcabs1(z: cbuf<c128>) -> f64
cblas_scabs1(c: cbuf<c64>) -> f32
cblas_{s,d}dot[_64](n: int, x: cbuf<{f32,f64}>, inc_x: int, y: cbuf<{f32,f64}>, inc_y: int) -> {f32,f64}
cblas_dsdot[_64](n: int, x: cbuf<f32>, inc_x: int, y: cbuf<f32>, inc_y: int) -> f64
cblas_sdsdot[_64](n: int, sb: f32, x: cbuf<f32>, inc_x: int, y: cbuf<f32>, inc_y: int) -> f32
cblas_{c,z}dotu_sub[_64](n: int, x: cbuf<{c64,c128}>, inc_x: int, y: cbuf<{c64,c128}>, inc_y: int,
    dotu: buf<{c64,c128}>) -> void
cblas_{c,z}dotc_sub[_64](n: int, x: cbuf<{c64,c128}>, inc_x: int, y: cbuf<{c64,c128}>, inc_y: int,
    dotc: buf<{c64,c128}>) -> void
cblas_{s,d}nrm2[_64](n: int, x: cbuf<{f32,f64}>, inc_x: int) -> {f32,f64}
cblas_{s,d}asum[_64](n: int, x: cbuf<{f32,f64}>, inc_x: int) -> {f32,f64}
cblas_scnrm2[_64](n: int, x: cbuf<c64>, inc_x: int) -> f32
cblas_scasum[_64](n: int, x: cbuf<c64>, inc_x: int) -> f32
cblas_dznrm2[_64](n: int, x: cbuf<c128>, inc_x: int) -> f64
cblas_dzasum[_64](n: int, x: cbuf<c128>, inc_x: int) -> f64
cblas_isamax(n: i32, x: cbuf<f32>, inc_x: i32) -> usize
cblas_idamax(n: i32, x: cbuf<f64>, inc_x: i32) -> usize
cblas_icamax(n: i32, x: cbuf<c64>, inc_x: i32) -> usize
cblas_izamax(n: i32, x: cbuf<c128>, inc_x: i32) -> usize
cblas_isamin(n: i32, x: cbuf<f32>, inc_x: i32) -> usize
cblas_idamin(n: i32, x: cbuf<f64>, inc_x: i32) -> usize
cblas_icamin(n: i32, x: cbuf<c64>, inc_x: i32) -> usize
cblas_izamin(n: i32, x: cbuf<c128>, inc_x: i32) -> usize
cblas_{s,d,c,z}swap[_64](n: int, x: buf<{f32,f64,c64,c128}>, inc_x: int, y: buf<{f32,f64,c64,c128}>,
    inc_y: int) -> void
cblas_{s,d,c,z}copy[_64](n: int, x: cbuf<{f32,f64,c64,c128}>, inc_x: int, y: buf<{f32,f64,c64,c128}>,
    inc_y: int) -> void
cblas_{s,d,c,z}axpy[_64](n: int, alpha: {f32,f64,cbuf<c64>,cbuf<c128>}, x: cbuf<{f32,f64,c64,c128}>, inc_x: int,
    y: buf<{f32,f64,c64,c128}>, inc_y: int) -> void
cblas_{s,d,c,z}axpby[_64](n: int, alpha: {f32,f64,cbuf<c64>,cbuf<c128>}, x: cbuf<{f32,f64,c64,c128}>, inc_x: int,
    beta: {f32,f64,cbuf<c64>,cbuf<c128>}, y: buf<{f32,f64,c64,c128}>, inc_y: int) -> void
cblas_{s,d,c,z}rotg(a: buf<{f32,f64,c64,c128}>, b: {buf<f32>,buf<f64>,cbuf<c64>,cbuf<c128>},
    c: buf<{f32,f64,f32,f64}>, s: buf<{f32,f64,c64,c128}>) -> void
cblas_{s,d}rotmg(d1: buf<{f32,f64}>, d2: buf<{f32,f64}>, b1: buf<{f32,f64}>, b2: {f32,f64}, p: buf<{f32,f64}>) -> void
cblas_{s,d}rotm[_64](n: int, x: buf<{f32,f64}>, inc_x: int, y: buf<{f32,f64}>, inc_y: int, p: cbuf<{f32,f64}>) -> void
cblas_{s,d,c,z}scal[_64](n: int, alpha: {f32,f64,cbuf<c64>,cbuf<c128>}, x: buf<{f32,f64,c64,c128}>,
    inc_x: int) -> void
cblas_csscal[_64](n: int, alpha: f32, x: buf<c64>, inc_x: int) -> void
cblas_zdscal[_64](n: int, alpha: f64, x: buf<c128>, inc_x: int) -> void
cblas_{s,d,c,z}rot[_64](n: int, x: buf<{f32,f64,c64,c128}>, inc_x: int, y: buf<{f32,f64,c64,c128}>, inc_y: int,
    c: {f32,f64,f32,f64}, s: {f32,f64,cbuf<c64>,cbuf<c128>}) -> void
cblas_csrot[_64](n: int, x: buf<c64>, inc_x: int, y: buf<c64>, inc_y: int, c: f32, s: f32) -> void
cblas_zdrot[_64](n: int, x: buf<c128>, inc_x: int, y: buf<c128>, inc_y: int, c: f64, s: f64) -> void
cblas_{s,d,c,z}gemv[_64](layout: i32, trans_a: i32, m: int, n: int, alpha: {f32,f64,cbuf<c64>,cbuf<c128>},
    a: cbuf<{f32,f64,c64,c128}>, lda: int, x: cbuf<{f32,f64,c64,c128}>, inc_x: int,
    beta: {f32,f64,cbuf<c64>,cbuf<c128>}, y: buf<{f32,f64,c64,c128}>, inc_y: int) -> void
cblas_{s,d,c,z}gbmv[_64](layout: i32, trans_a: i32, m: int, n: int, kl: int, ku: int,
    alpha: {f32,f64,cbuf<c64>,cbuf<c128>}, a: cbuf<{f32,f64,c64,c128}>, lda: int, x: cbuf<{f32,f64,c64,c128}>,
    inc_x: int, beta: {f32,f64,cbuf<c64>,cbuf<c128>}, y: buf<{f32,f64,c64,c128}>, inc_y: int) -> void
cblas_{s,d,c,z}trmv[_64](layout: i32, uplo: i32, trans_a: i32, diag: i32, n: int, a: cbuf<{f32,f64,c64,c128}>,
    lda: int, x: buf<{f32,f64,c64,c128}>, inc_x: int) -> void
cblas_{s,d,c,z}tbmv[_64](layout: i32, uplo: i32, trans_a: i32, diag: i32, n: int, k: int, a: cbuf<{f32,f64,c64,c128}>,
    lda: int, x: buf<{f32,f64,c64,c128}>, inc_x: int) -> void
cblas_{s,d,c,z}tpmv[_64](layout: i32, uplo: i32, trans_a: i32, diag: i32, n: int, ap: cbuf<{f32,f64,c64,c128}>,
    x: buf<{f32,f64,c64,c128}>, inc_x: int) -> void
cblas_{s,d,c,z}trsv[_64](layout: i32, uplo: i32, trans_a: i32, diag: i32, n: int, a: cbuf<{f32,f64,c64,c128}>,
    lda: int, x: buf<{f32,f64,c64,c128}>, inc_x: int) -> void
cblas_{s,d,c,z}tbsv[_64](layout: i32, uplo: i32, trans_a: i32, diag: i32, n: int, k: int, a: cbuf<{f32,f64,c64,c128}>,
    lda: int, x: buf<{f32,f64,c64,c128}>, inc_x: int) -> void
cblas_{s,d,c,z}tpsv[_64](layout: i32, uplo: i32, trans_a: i32, diag: i32, n: int, ap: cbuf<{f32,f64,c64,c128}>,
    x: buf<{f32,f64,c64,c128}>, inc_x: int) -> void
cblas_{s,d}symv[_64](layout: i32, uplo: i32, n: int, alpha: {f32,f64}, a: cbuf<{f32,f64}>, lda: int,
    x: cbuf<{f32,f64}>, inc_x: int, beta: {f32,f64}, y: buf<{f32,f64}>, inc_y: int) -> void
cblas_{s,d}sbmv[_64](layout: i32, uplo: i32, n: int, k: int, alpha: {f32,f64}, a: cbuf<{f32,f64}>, lda: int,
    x: cbuf<{f32,f64}>, inc_x: int, beta: {f32,f64}, y: buf<{f32,f64}>, inc_y: int) -> void
cblas_{s,d}spmv[_64](layout: i32, uplo: i32, n: int, alpha: {f32,f64}, ap: cbuf<{f32,f64}>, x: cbuf<{f32,f64}>,
    inc_x: int, beta: {f32,f64}, y: buf<{f32,f64}>, inc_y: int) -> void
cblas_{s,d}ger[_64](layout: i32, m: int, n: int, alpha: {f32,f64}, x: cbuf<{f32,f64}>, inc_x: int, y: cbuf<{f32,f64}>,
    inc_y: int, a: buf<{f32,f64}>, lda: int) -> void
cblas_{s,d}syr[_64](layout: i32, uplo: i32, n: int, alpha: {f32,f64}, x: cbuf<{f32,f64}>, inc_x: int,
    a: buf<{f32,f64}>, lda: int) -> void
cblas_{s,d}spr[_64](layout: i32, uplo: i32, n: int, alpha: {f32,f64}, x: cbuf<{f32,f64}>, inc_x: int,
    ap: buf<{f32,f64}>) -> void
cblas_{s,d}syr2[_64](layout: i32, uplo: i32, n: int, alpha: {f32,f64}, x: cbuf<{f32,f64}>, inc_x: int,
    y: cbuf<{f32,f64}>, inc_y: int, a: buf<{f32,f64}>, lda: int) -> void
cblas_{s,d}spr2[_64](layout: i32, uplo: i32, n: int, alpha: {f32,f64}, x: cbuf<{f32,f64}>, inc_x: int,
    y: cbuf<{f32,f64}>, inc_y: int, a: buf<{f32,f64}>) -> void
cblas_{c,z}hemv[_64](layout: i32, uplo: i32, n: int, alpha: cbuf<{c64,c128}>, a: cbuf<{c64,c128}>, lda: int,
    x: cbuf<{c64,c128}>, inc_x: int, beta: cbuf<{c64,c128}>, y: buf<{c64,c128}>, inc_y: int) -> void
cblas_{c,z}hbmv[_64](layout: i32, uplo: i32, n: int, k: int, alpha: cbuf<{c64,c128}>, a: cbuf<{c64,c128}>, lda: int,
    x: cbuf<{c64,c128}>, inc_x: int, beta: cbuf<{c64,c128}>, y: buf<{c64,c128}>, inc_y: int) -> void
cblas_{c,z}hpmv[_64](layout: i32, uplo: i32, n: int, alpha: cbuf<{c64,c128}>, ap: cbuf<{c64,c128}>,
    x: cbuf<{c64,c128}>, inc_x: int, beta: cbuf<{c64,c128}>, y: buf<{c64,c128}>, inc_y: int) -> void
cblas_{c,z}geru[_64](layout: i32, m: int, n: int, alpha: cbuf<{c64,c128}>, x: cbuf<{c64,c128}>, inc_x: int,
    y: cbuf<{c64,c128}>, inc_y: int, a: buf<{c64,c128}>, lda: int) -> void
cblas_{c,z}gerc[_64](layout: i32, m: int, n: int, alpha: cbuf<{c64,c128}>, x: cbuf<{c64,c128}>, inc_x: int,
    y: cbuf<{c64,c128}>, inc_y: int, a: buf<{c64,c128}>, lda: int) -> void
cblas_{c,z}her[_64](layout: i32, uplo: i32, n: int, alpha: {f32,f64}, x: cbuf<{c64,c128}>, inc_x: int,
    a: buf<{c64,c128}>, lda: int) -> void
cblas_{c,z}hpr[_64](layout: i32, uplo: i32, n: int, alpha: {f32,f64}, x: cbuf<{c64,c128}>, inc_x: int,
    a: buf<{c64,c128}>) -> void
cblas_{c,z}her2[_64](layout: i32, uplo: i32, n: int, alpha: cbuf<{c64,c128}>, x: cbuf<{c64,c128}>, inc_x: int,
    y: cbuf<{c64,c128}>, inc_y: int, a: buf<{c64,c128}>, lda: int) -> void
cblas_{c,z}hpr2[_64](layout: i32, uplo: i32, n: int, alpha: cbuf<{c64,c128}>, x: cbuf<{c64,c128}>, inc_x: int,
    y: cbuf<{c64,c128}>, inc_y: int, ap: buf<{c64,c128}>) -> void
cblas_{s,d,c,z}gemm[_64](order: i32, trans_a: i32, trans_b: i32, m: int, n: int, k: int,
    alpha: {f32,f64,cbuf<c64>,cbuf<c128>}, a: cbuf<{f32,f64,c64,c128}>, lda: int, b: cbuf<{f32,f64,c64,c128}>,
    ldb: int, beta: {f32,f64,cbuf<c64>,cbuf<c128>}, c: buf<{f32,f64,c64,c128}>, ldc: int) -> void
cblas_{s,d,c,z}gemm_batch[_64](order: i32, trans_a_array: i32[], trans_b_array: i32[], m_array: int[], n_array: int[],
    k_array: int[], alpha_array: {f32[],f64[],cbuf<c64>,cbuf<c128>}, a_array: ptr[], lda_array: int[], b_array: ptr[],
    ldb_array: int[], beta_array: {f32[],f64[],cbuf<c64>,cbuf<c128>}, c_array: ptr[], ldc_array: int[],
    group_count: int, group_size: int[]) -> void
cblas_{s,d,c,z}gemm_batch_strided[_64](order: i32, trans_a: i32, trans_b: i32, m: int, n: int, k: int,
    alpha: {f32,f64,cbuf<c64>,cbuf<c128>}, a: cbuf<{f32,f64,c64,c128}>, lda: int, stridea: int,
    b: cbuf<{f32,f64,c64,c128}>, ldb: int, strideb: int, beta: {f32,f64,cbuf<c64>,cbuf<c128>},
    c: buf<{f32,f64,c64,c128}>, ldc: int, stridec: int, batch_size: int) -> void
cblas_{s,d,c,z}gemmt[_64](order: i32, uplo: i32, trans_a: i32, trans_b: i32, n: int, k: int,
    alpha: {f32,f64,cbuf<c64>,cbuf<c128>}, a: cbuf<{f32,f64,c64,c128}>, lda: int, b: cbuf<{f32,f64,c64,c128}>,
    ldb: int, beta: {f32,f64,cbuf<c64>,cbuf<c128>}, c: buf<{f32,f64,c64,c128}>, ldc: int) -> void
cblas_{s,d,c,z}gemmtr[_64](layout: i32, uplo: i32, trans_a: i32, trans_b: i32, n: int, k: int,
    alpha: {f32,f64,cbuf<c64>,cbuf<c128>}, a: cbuf<{f32,f64,c64,c128}>, lda: int, b: cbuf<{f32,f64,c64,c128}>,
    ldb: int, beta: {f32,f64,cbuf<c64>,cbuf<c128>}, c: buf<{f32,f64,c64,c128}>, ldc: int) -> void
cblas_{s,d,c,z}symm[_64](order: i32, side: i32, uplo: i32, m: int, n: int, alpha: {f32,f64,cbuf<c64>,cbuf<c128>},
    a: cbuf<{f32,f64,c64,c128}>, lda: int, b: cbuf<{f32,f64,c64,c128}>, ldb: int,
    beta: {f32,f64,cbuf<c64>,cbuf<c128>}, c: buf<{f32,f64,c64,c128}>, ldc: int) -> void
cblas_{s,d,c,z}syrk[_64](order: i32, uplo: i32, trans: i32, n: int, k: int, alpha: {f32,f64,cbuf<c64>,cbuf<c128>},
    a: cbuf<{f32,f64,c64,c128}>, lda: int, beta: {f32,f64,cbuf<c64>,cbuf<c128>}, c: buf<{f32,f64,c64,c128}>,
    ldc: int) -> void
cblas_{s,d,c,z}syr2k[_64](order: i32, uplo: i32, trans: i32, n: int, k: int, alpha: {f32,f64,cbuf<c64>,cbuf<c128>},
    a: cbuf<{f32,f64,c64,c128}>, lda: int, b: cbuf<{f32,f64,c64,c128}>, ldb: int,
    beta: {f32,f64,cbuf<c64>,cbuf<c128>}, c: buf<{f32,f64,c64,c128}>, ldc: int) -> void
cblas_{s,d,c,z}trmm[_64](order: i32, side: i32, uplo: i32, trans_a: i32, diag: i32, m: int, n: int,
    alpha: {f32,f64,cbuf<c64>,cbuf<c128>}, a: cbuf<{f32,f64,c64,c128}>, lda: int, b: buf<{f32,f64,c64,c128}>,
    ldb: int) -> void
cblas_{s,d,c,z}trsm[_64](order: i32, side: i32, uplo: i32, trans_a: i32, diag: i32, m: int, n: int,
    alpha: {f32,f64,cbuf<c64>,cbuf<c128>}, a: cbuf<{f32,f64,c64,c128}>, lda: int, b: buf<{f32,f64,c64,c128}>,
    ldb: int) -> void
cblas_{c,z}hemm[_64](order: i32, side: i32, uplo: i32, m: int, n: int, alpha: cbuf<{c64,c128}>, a: cbuf<{c64,c128}>,
    lda: int, b: cbuf<{c64,c128}>, ldb: int, beta: cbuf<{c64,c128}>, c: buf<{c64,c128}>, ldc: int) -> void
cblas_{c,z}herk[_64](order: i32, uplo: i32, trans: i32, n: int, k: int, alpha: {f32,f64}, a: cbuf<{c64,c128}>,
    lda: int, beta: {f32,f64}, c: buf<{c64,c128}>, ldc: int) -> void
cblas_{c,z}her2k[_64](order: i32, uplo: i32, trans: i32, n: int, k: int, alpha: cbuf<{c64,c128}>, a: cbuf<{c64,c128}>,
    lda: int, b: cbuf<{c64,c128}>, ldb: int, beta: {f32,f64}, c: buf<{c64,c128}>, ldc: int) -> void
cblas_isamax_64(n: i64, x: cbuf<f32>, inc_x: i64) -> u64
cblas_idamax_64(n: i64, x: cbuf<f64>, inc_x: i64) -> u64
cblas_icamax_64(n: i64, x: cbuf<c64>, inc_x: i64) -> u64
cblas_izamax_64(n: i64, x: cbuf<c128>, inc_x: i64) -> u64
cblas_isamin_64(n: i64, x: cbuf<f32>, inc_x: i64) -> u64
cblas_idamin_64(n: i64, x: cbuf<f64>, inc_x: i64) -> u64
cblas_icamin_64(n: i64, x: cbuf<c64>, inc_x: i64) -> u64
cblas_izamin_64(n: i64, x: cbuf<c128>, inc_x: i64) -> u64
"""

# Each library's own.
_SPECIAL = """
get_version = nvpl_blas_get_version() -> i32
get_max_threads = nvpl_blas_get_max_threads() -> i32
set_num_threads = nvpl_blas_set_num_threads(nthr: i32) -> void
set_num_threads_local = nvpl_blas_set_num_threads_local(nthr_local: i32) -> i32
mkl_set_num_threads = MKL_Set_Num_Threads(nth: i32) -> void
mkl_set_num_threads_local = MKL_Set_Num_Threads_Local(nth: i32) -> i32
openblas_set_num_threads = openblas_set_num_threads(num_threads: i32) -> void
openblas_set_num_threads_local = openblas_set_num_threads_local(num_threads: i32) -> i32
"""

_ENUMS = """
IntEnum DIAG: NonUnit=131 Unit=132
IntEnum ORDER: RowMajor=101 ColMajor=102
IntEnum SIDE: Left=141 Right=142
IntEnum TRANSPOSE: NoTrans=111 Trans=112 ConjTrans=113
IntEnum UPLO: Upper=121 Lower=122
"""

_LENGTHS = """
# Scalars and vectors.
* x=vector(n,inc_x) y=vector(n,inc_y) alpha=1 beta=1 dotu=1 dotc=1
scabs1: c=1
dcabs1: z=1
{s,d}dot {s,d}nrm2 {s,d}asum i{s,d}amax i{s,d}amin:
dsdot sdsdot:
{sc,dz}nrm2 {sc,dz}asum i{c,z}amax i{c,z}amin {c,z}dotu_sub {c,z}dotc_sub {cs,zd}scal {cs,zd}rot:
{s,d,c,z}swap {s,d,c,z}copy {s,d,c,z}axpy {s,d,c,z}axpby {s,d,c,z}scal:
{s,d,c,z}rotg: a=1 b=1 c=1 s=1
{s,d}rotmg: d1=1 d2=1 b1=1 p=5
{s,d}rotm: p=5
{s,d,c,z}rot: s=1

# A matrix and vectors.
* x=vector(n,inc_x) y=vector(n,inc_y) alpha=1 beta=1 a=lines(n,n,lda) ap=packed(n)
{s,d,c,z}trmv {s,d,c,z}trsv {s,d,c,z}tpmv {s,d,c,z}tpsv:
{s,d}symv {s,d}spmv {s,d}syr {s,d}syr2 {s,d}spr:
{c,z}hemv {c,z}hpmv {c,z}her {c,z}her2 {c,z}hpr2:
{s,d}spr2: a=packed(n)
{c,z}hpr: a=packed(n)
{s,d,c,z}tbmv {s,d,c,z}tbsv: a=lines(n,k+1,lda)
{s,d}sbmv: a=lines(n,k+1,lda)
{c,z}hbmv: a=lines(n,k+1,lda)
{s,d}ger: a=matrix(layout,m,n,lda) x=vector(m,inc_x)
{c,z}geru {c,z}gerc: a=matrix(layout,m,n,lda) x=vector(m,inc_x)
* x=vector(pick(trans_a,n,m),inc_x) y=vector(pick(trans_a,m,n),inc_y) alpha=1 beta=1
{s,d,c,z}gemv: a=matrix(layout,m,n,lda)
{s,d,c,z}gbmv: a=band(layout,m,n,kl+ku+1,lda)

# Matrices.
* alpha=1 beta=1 a=lines(pick(side,m,n),pick(side,m,n),lda) b=matrix(order,m,n,ldb) c=matrix(order,m,n,ldc)
{s,d,c,z}symm {s,d,c,z}trmm {s,d,c,z}trsm:
{c,z}hemm:
* alpha=1 beta=1 a=matrix(order,pick(trans,n,k),pick(trans,k,n),lda) b=matrix(order,pick(trans,n,k),pick(trans,k,n),ldb)
    c=lines(n,n,ldc)
{s,d,c,z}syrk {s,d,c,z}syr2k:
{c,z}herk {c,z}her2k:
* alpha=1 beta=1 a=matrix(order,pick(trans_a,m,k),pick(trans_a,k,m),lda)
    b=matrix(order,pick(trans_b,k,n),pick(trans_b,n,k),ldb) c=matrix(order,m,n,ldc)
{s,d,c,z}gemm:
{s,d,c,z}gemm_batch_strided:
    a=strided(batch_size,stridea,matrix(order,pick(trans_a,m,k),pick(trans_a,k,m),lda))
    b=strided(batch_size,strideb,matrix(order,pick(trans_b,k,n),pick(trans_b,n,k),ldb))
    c=apart(batch_size,stridec,order,m,n,ldc)
{s,d,c,z}gemmt: a=matrix(order,pick(trans_a,n,k),pick(trans_a,k,n),lda) c=lines(n,n,ldc)
{s,d,c,z}gemmtr: a=matrix(layout,pick(trans_a,n,k),pick(trans_a,k,n),lda)
    b=matrix(layout,pick(trans_b,k,n),pick(trans_b,n,k),ldb) c=lines(n,n,ldc)
* trans_a_array=group_count trans_b_array=group_count m_array=group_count n_array=group_count k_array=group_count
    alpha_array=group_count beta_array=group_count group_size=group_count lda_array=group_count ldb_array=group_count
    ldc_array=group_count a_array=sum(group_size) b_array=sum(group_size) c_array=sum(group_size)
{s,d,c,z}gemm_batch:
"""

_library = Bindings("blas", globals(), prefix="cblas_")
__getattr__, __dir__ = _library.resolve, _library.names
