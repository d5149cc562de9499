"""The CBLAS interface: linear algebra on the CPU, served by NVPL, MKL, OpenBLAS or the OpenBLAS of NumPy.

Functions whose names end in ``_64`` take 64-bit integers; the last of these libraries has no others.
Which library serves is found at the first call;
``NVMATH_BLAS_CPU_LIBRARY`` overrides it. A function that the library lacks raises `FunctionNotFoundError`.
"""

from __future__ import annotations

from nvmath.bindings._bind import Bindings

_ROWS = """
@ cblas.h
cblas_dcabs1(z: cbuf) -> f64
cblas_scabs1(c: cbuf) -> f32
cblas_{s,d}dot[_64](n: int, x: cbuf, inc_x: int, y: cbuf, inc_y: int) -> {f32,f64}
cblas_dsdot[_64](n: int, x: cbuf, inc_x: int, y: cbuf, inc_y: int) -> f64
cblas_sdsdot[_64](n: int, sb: f32, x: cbuf, inc_x: int, y: cbuf, inc_y: int) -> f32
cblas_{c,z}dotu_sub[_64](n: int, x: cbuf, inc_x: int, y: cbuf, inc_y: int, dotu: buf) -> void
cblas_{c,z}dotc_sub[_64](n: int, x: cbuf, inc_x: int, y: cbuf, inc_y: int, dotc: buf) -> void
cblas_{s,d}nrm2[_64](n: int, x: cbuf, inc_x: int) -> {f32,f64}
cblas_{s,d}asum[_64](n: int, x: cbuf, inc_x: int) -> {f32,f64}
cblas_scnrm2[_64](n: int, x: cbuf, inc_x: int) -> f32
cblas_scasum[_64](n: int, x: cbuf, inc_x: int) -> f32
cblas_dznrm2[_64](n: int, x: cbuf, inc_x: int) -> f64
cblas_dzasum[_64](n: int, x: cbuf, inc_x: int) -> f64
cblas_isamax(n: i32, x: cbuf, inc_x: i32) -> usize
cblas_idamax(n: i32, x: cbuf, inc_x: i32) -> usize
cblas_icamax(n: i32, x: cbuf, inc_x: i32) -> usize
cblas_izamax(n: i32, x: cbuf, inc_x: i32) -> usize
cblas_isamin(n: i32, x: cbuf, inc_x: i32) -> usize
cblas_idamin(n: i32, x: cbuf, inc_x: i32) -> usize
cblas_icamin(n: i32, x: cbuf, inc_x: i32) -> usize
cblas_izamin(n: i32, x: cbuf, inc_x: i32) -> usize
cblas_{s,d,c,z}swap[_64](n: int, x: buf, inc_x: int, y: buf, inc_y: int) -> void
cblas_{s,d,c,z}copy[_64](n: int, x: cbuf, inc_x: int, y: buf, inc_y: int) -> void
cblas_{s,d,c,z}axpy[_64](n: int, alpha: {f32,f64,cbuf,cbuf}, x: cbuf, inc_x: int, y: buf, inc_y: int) -> void
cblas_{s,d,c,z}axpby[_64](n: int, alpha: {f32,f64,cbuf,cbuf}, x: cbuf, inc_x: int, beta: {f32,f64,cbuf,cbuf}, y: buf,
    inc_y: int) -> void
cblas_{s,d,c,z}rotg(a: buf, b: {buf,buf,cbuf,cbuf}, c: buf, s: buf) -> void
cblas_{s,d}rotmg(d1: buf, d2: buf, b1: buf, b2: {f32,f64}, p: buf) -> void
cblas_{s,d}rotm[_64](n: int, x: buf, inc_x: int, y: buf, inc_y: int, p: cbuf) -> void
cblas_{s,d,c,z}scal[_64](n: int, alpha: {f32,f64,cbuf,cbuf}, x: buf, inc_x: int) -> void
cblas_csscal[_64](n: int, alpha: f32, x: buf, inc_x: int) -> void
cblas_zdscal[_64](n: int, alpha: f64, x: buf, inc_x: int) -> void
cblas_{s,d,c,z}rot[_64](n: int, x: buf, inc_x: int, y: buf, inc_y: int, c: {f32,f64,f32,f64},
    s: {f32,f64,cbuf,cbuf}) -> void
cblas_csrot[_64](n: int, x: buf, inc_x: int, y: buf, inc_y: int, c: f32, s: f32) -> void
cblas_zdrot[_64](n: int, x: buf, inc_x: int, y: buf, inc_y: int, c: f64, s: f64) -> void
cblas_{s,d,c,z}gemv[_64](layout: i32, trans_a: i32, m: int, n: int, alpha: {f32,f64,cbuf,cbuf}, a: cbuf, lda: int,
    x: cbuf, inc_x: int, beta: {f32,f64,cbuf,cbuf}, y: buf, inc_y: int) -> void
cblas_{s,d,c,z}gbmv[_64](layout: i32, trans_a: i32, m: int, n: int, kl: int, ku: int, alpha: {f32,f64,cbuf,cbuf},
    a: cbuf, lda: int, x: cbuf, inc_x: int, beta: {f32,f64,cbuf,cbuf}, y: buf, inc_y: int) -> void
cblas_{s,d,c,z}trmv[_64](layout: i32, uplo: i32, trans_a: i32, diag: i32, n: int, a: cbuf, lda: int, x: buf,
    inc_x: int) -> void
cblas_{s,d,c,z}tbmv[_64](layout: i32, uplo: i32, trans_a: i32, diag: i32, n: int, k: int, a: cbuf, lda: int, x: buf,
    inc_x: int) -> void
cblas_{s,d,c,z}tpmv[_64](layout: i32, uplo: i32, trans_a: i32, diag: i32, n: int, ap: cbuf, x: buf,
    inc_x: int) -> void
cblas_{s,d,c,z}trsv[_64](layout: i32, uplo: i32, trans_a: i32, diag: i32, n: int, a: cbuf, lda: int, x: buf,
    inc_x: int) -> void
cblas_{s,d,c,z}tbsv[_64](layout: i32, uplo: i32, trans_a: i32, diag: i32, n: int, k: int, a: cbuf, lda: int, x: buf,
    inc_x: int) -> void
cblas_{s,d,c,z}tpsv[_64](layout: i32, uplo: i32, trans_a: i32, diag: i32, n: int, ap: cbuf, x: buf,
    inc_x: int) -> void
cblas_{s,d}symv[_64](layout: i32, uplo: i32, n: int, alpha: {f32,f64}, a: cbuf, lda: int, x: cbuf, inc_x: int,
    beta: {f32,f64}, y: buf, inc_y: int) -> void
cblas_{s,d}sbmv[_64](layout: i32, uplo: i32, n: int, k: int, alpha: {f32,f64}, a: cbuf, lda: int, x: cbuf, inc_x: int,
    beta: {f32,f64}, y: buf, inc_y: int) -> void
cblas_{s,d}spmv[_64](layout: i32, uplo: i32, n: int, alpha: {f32,f64}, ap: cbuf, x: cbuf, inc_x: int, beta: {f32,f64},
    y: buf, inc_y: int) -> void
cblas_{s,d}ger[_64](layout: i32, m: int, n: int, alpha: {f32,f64}, x: cbuf, inc_x: int, y: cbuf, inc_y: int, a: buf,
    lda: int) -> void
cblas_{s,d}syr[_64](layout: i32, uplo: i32, n: int, alpha: {f32,f64}, x: cbuf, inc_x: int, a: buf, lda: int) -> void
cblas_{s,d}spr[_64](layout: i32, uplo: i32, n: int, alpha: {f32,f64}, x: cbuf, inc_x: int, ap: buf) -> void
cblas_{s,d}syr2[_64](layout: i32, uplo: i32, n: int, alpha: {f32,f64}, x: cbuf, inc_x: int, y: cbuf, inc_y: int,
    a: buf, lda: int) -> void
cblas_{s,d}spr2[_64](layout: i32, uplo: i32, n: int, alpha: {f32,f64}, x: cbuf, inc_x: int, y: cbuf, inc_y: int,
    a: buf) -> void
cblas_{c,z}hemv[_64](layout: i32, uplo: i32, n: int, alpha: cbuf, a: cbuf, lda: int, x: cbuf, inc_x: int, beta: cbuf,
    y: buf, inc_y: int) -> void
cblas_{c,z}hbmv[_64](layout: i32, uplo: i32, n: int, k: int, alpha: cbuf, a: cbuf, lda: int, x: cbuf, inc_x: int,
    beta: cbuf, y: buf, inc_y: int) -> void
cblas_{c,z}hpmv[_64](layout: i32, uplo: i32, n: int, alpha: cbuf, ap: cbuf, x: cbuf, inc_x: int, beta: cbuf, y: buf,
    inc_y: int) -> void
cblas_{c,z}geru[_64](layout: i32, m: int, n: int, alpha: cbuf, x: cbuf, inc_x: int, y: cbuf, inc_y: int, a: buf,
    lda: int) -> void
cblas_{c,z}gerc[_64](layout: i32, m: int, n: int, alpha: cbuf, x: cbuf, inc_x: int, y: cbuf, inc_y: int, a: buf,
    lda: int) -> void
cblas_{c,z}her[_64](layout: i32, uplo: i32, n: int, alpha: {f32,f64}, x: cbuf, inc_x: int, a: buf, lda: int) -> void
cblas_{c,z}hpr[_64](layout: i32, uplo: i32, n: int, alpha: {f32,f64}, x: cbuf, inc_x: int, a: buf) -> void
cblas_{c,z}her2[_64](layout: i32, uplo: i32, n: int, alpha: cbuf, x: cbuf, inc_x: int, y: cbuf, inc_y: int, a: buf,
    lda: int) -> void
cblas_{c,z}hpr2[_64](layout: i32, uplo: i32, n: int, alpha: cbuf, x: cbuf, inc_x: int, y: cbuf, inc_y: int,
    ap: buf) -> void
cblas_{s,d,c,z}gemm[_64](order: i32, trans_a: i32, trans_b: i32, m: int, n: int, k: int, alpha: {f32,f64,cbuf,cbuf},
    a: cbuf, lda: int, b: cbuf, ldb: int, beta: {f32,f64,cbuf,cbuf}, c: buf, ldc: int) -> void
cblas_{s,d,c,z}gemm_batch[_64](order: i32, trans_a_array: i32[], trans_b_array: i32[], m_array: int[], n_array: int[],
    k_array: int[], alpha_array: {f32[],f64[],cbuf,cbuf}, a_array: ptr[], lda_array: int[], b_array: ptr[],
    ldb_array: int[], beta_array: {f32[],f64[],cbuf,cbuf}, c_array: ptr[], ldc_array: int[], group_count: int,
    group_size: int[]) -> void
cblas_{s,d,c,z}gemm_batch_strided[_64](order: i32, trans_a: i32, trans_b: i32, m: int, n: int, k: int,
    alpha: {f32,f64,cbuf,cbuf}, a: cbuf, lda: int, stridea: int, b: cbuf, ldb: int, strideb: int,
    beta: {f32,f64,cbuf,cbuf}, c: buf, ldc: int, stridec: int, batch_size: int) -> void
cblas_{s,d,c,z}gemmt[_64](order: i32, uplo: i32, trans_a: i32, trans_b: i32, n: int, k: int,
    alpha: {f32,f64,cbuf,cbuf}, a: cbuf, lda: int, b: cbuf, ldb: int, beta: {f32,f64,cbuf,cbuf}, c: buf,
    ldc: int) -> void
cblas_{s,d,c,z}gemmtr[_64](layout: i32, uplo: i32, trans_a: i32, trans_b: i32, n: int, k: int,
    alpha: {f32,f64,cbuf,cbuf}, a: cbuf, lda: int, b: cbuf, ldb: int, beta: {f32,f64,cbuf,cbuf}, c: buf,
    ldc: int) -> void
cblas_{s,d,c,z}symm[_64](order: i32, side: i32, uplo: i32, m: int, n: int, alpha: {f32,f64,cbuf,cbuf}, a: cbuf,
    lda: int, b: cbuf, ldb: int, beta: {f32,f64,cbuf,cbuf}, c: buf, ldc: int) -> void
cblas_{s,d,c,z}syrk[_64](order: i32, uplo: i32, trans: i32, n: int, k: int, alpha: {f32,f64,cbuf,cbuf}, a: cbuf,
    lda: int, beta: {f32,f64,cbuf,cbuf}, c: buf, ldc: int) -> void
cblas_{s,d,c,z}syr2k[_64](order: i32, uplo: i32, trans: i32, n: int, k: int, alpha: {f32,f64,cbuf,cbuf}, a: cbuf,
    lda: int, b: cbuf, ldb: int, beta: {f32,f64,cbuf,cbuf}, c: buf, ldc: int) -> void
cblas_{s,d,c,z}trmm[_64](order: i32, side: i32, uplo: i32, trans_a: i32, diag: i32, m: int, n: int,
    alpha: {f32,f64,cbuf,cbuf}, a: cbuf, lda: int, b: buf, ldb: int) -> void
cblas_{s,d,c,z}trsm[_64](order: i32, side: i32, uplo: i32, trans_a: i32, diag: i32, m: int, n: int,
    alpha: {f32,f64,cbuf,cbuf}, a: cbuf, lda: int, b: buf, ldb: int) -> void
cblas_{c,z}hemm[_64](order: i32, side: i32, uplo: i32, m: int, n: int, alpha: cbuf, a: cbuf, lda: int, b: cbuf,
    ldb: int, beta: cbuf, c: buf, ldc: int) -> void
cblas_{c,z}herk[_64](order: i32, uplo: i32, trans: i32, n: int, k: int, alpha: {f32,f64}, a: cbuf, lda: int,
    beta: {f32,f64}, c: buf, ldc: int) -> void
cblas_{c,z}her2k[_64](order: i32, uplo: i32, trans: i32, n: int, k: int, alpha: cbuf, a: cbuf, lda: int, b: cbuf,
    ldb: int, beta: {f32,f64}, c: buf, ldc: int) -> void
cblas_isamax_64(n: i64, x: cbuf, inc_x: i64) -> u64
cblas_idamax_64(n: i64, x: cbuf, inc_x: i64) -> u64
cblas_icamax_64(n: i64, x: cbuf, inc_x: i64) -> u64
cblas_izamax_64(n: i64, x: cbuf, inc_x: i64) -> u64
cblas_isamin_64(n: i64, x: cbuf, inc_x: i64) -> u64
cblas_idamin_64(n: i64, x: cbuf, inc_x: i64) -> u64
cblas_icamin_64(n: i64, x: cbuf, inc_x: i64) -> u64
cblas_izamin_64(n: i64, x: cbuf, inc_x: i64) -> u64
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

_library = Bindings("blas", globals(), rows=_ROWS + _SPECIAL, enums=_ENUMS, prefix="cblas_")
__getattr__, __dir__ = _library.resolve, _library.names
