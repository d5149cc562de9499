"""cuFFT (``cufft.h``, ``cufftXt.h``): Fourier transforms on CUDA devices."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

from nvmath.bindings._bind import Bindings, Errors

_ROWS = """
@ cufft.h
cufftPlan1d(plan: ptr, nx: i32, type: i32, batch: i32)
cufftPlan2d(plan: ptr, nx: i32, ny: i32, type: i32)
cufftPlan3d(plan: ptr, nx: i32, ny: i32, nz: i32, type: i32)
cufftPlanMany(plan: ptr, rank: i32, n: i32[], inembed: i32[], istride: i32, idist: i32, onembed: i32[], ostride: i32,
    odist: i32, type: i32, batch: i32)
cufftMakePlan1d(plan: i32, nx: i32, type: i32, batch: i32, &work_size: usize)
cufftMakePlan2d(plan: i32, nx: i32, ny: i32, type: i32, &work_size: usize)
cufftMakePlan3d(plan: i32, nx: i32, ny: i32, nz: i32, type: i32, &work_size: usize)
cufftMakePlanMany(plan: i32, rank: i32, n: i32[], inembed: i32[], istride: i32, idist: i32, onembed: i32[],
    ostride: i32, odist: i32, type: i32, batch: i32, &work_size: usize)
cufftMakePlanMany64(plan: i32, rank: i32, n: i64[], inembed: i64[], istride: i64, idist: i64, onembed: i64[],
    ostride: i64, odist: i64, type: i32, batch: i64, &work_size: usize)
cufftGetSizeMany64(plan: i32, rank: i32, n: i64[], inembed: i64[], istride: i64, idist: i64, onembed: i64[],
    ostride: i64, odist: i64, type: i32, batch: i64, &work_size: usize)
cufftEstimate1d(nx: i32, type: i32, batch: i32, &work_size: usize)
cufftEstimate2d(nx: i32, ny: i32, type: i32, &work_size: usize)
cufftEstimate3d(nx: i32, ny: i32, nz: i32, type: i32, &work_size: usize)
cufftEstimateMany(rank: i32, n: i32[], inembed: i32[], istride: i32, idist: i32, onembed: i32[], ostride: i32,
    odist: i32, type: i32, batch: i32, &work_size: usize)
cufftCreate(&handle: i32)
cufftGetSize1d(handle: i32, nx: i32, type: i32, batch: i32, &work_size: usize)
cufftGetSize2d(handle: i32, nx: i32, ny: i32, type: i32, &work_size: usize)
cufftGetSize3d(handle: i32, nx: i32, ny: i32, nz: i32, type: i32, &work_size: usize)
cufftGetSizeMany(handle: i32, rank: i32, n: i32[], inembed: i32[], istride: i32, idist: i32, onembed: i32[],
    ostride: i32, odist: i32, type: i32, batch: i32, &work_size: usize)
cufftGetSize(handle: i32, &work_size: usize)
cufftSetWorkArea(plan: i32, work_area: ptr)
cufftSetAutoAllocation(plan: i32, auto_allocate: i32)
cufftExecC2C(plan: i32, idata: ptr, odata: ptr, direction: i32)
cufftExecR2C(plan: i32, idata: ptr, odata: ptr)
cufftExecC2R(plan: i32, idata: ptr, odata: ptr)
cufftExecZ2Z(plan: i32, idata: ptr, odata: ptr, direction: i32)
cufftExecD2Z(plan: i32, idata: ptr, odata: ptr)
cufftExecZ2D(plan: i32, idata: ptr, odata: ptr)
cufftSetStream(plan: i32, stream: ptr)
cufftDestroy(plan: i32)
cufftGetVersion(&version: i32)
cufftGetProperty(type: i32, &value: i32)
cufftSetPlanPropertyInt64(plan: i32, property: i32, input_value_int: i64)
cufftGetPlanPropertyInt64(plan: i32, property: i32, &value: i64)
cufftResetPlanProperty(plan: i32, property: i32)
@ cufftXt.h
xt_set_gpus = cufftXtSetGPUs(handle: i32, n_gpus: i32, which_gpus: i32[])
cufftXtMalloc(plan: i32, &descriptor: ptr, format: i32)
cufftXtMemcpy(plan: i32, dst_pointer: ptr, src_pointer: ptr, type: i32)
cufftXtFree(descriptor: ptr)
cufftXtSetWorkArea(plan: i32, work_area: ptr[])
cufftXtExecDescriptorC2C(plan: i32, input: ptr, output: ptr, direction: i32)
cufftXtExecDescriptorR2C(plan: i32, input: ptr, output: ptr)
cufftXtExecDescriptorC2R(plan: i32, input: ptr, output: ptr)
cufftXtExecDescriptorZ2Z(plan: i32, input: ptr, output: ptr, direction: i32)
cufftXtExecDescriptorD2Z(plan: i32, input: ptr, output: ptr)
cufftXtExecDescriptorZ2D(plan: i32, input: ptr, output: ptr)
cufftXtQueryPlan(plan: i32, query_struct: ptr, query_type: i32)
cufftXtSetCallback(plan: i32, callback_routine: ptr, cb_type: i32, caller_info: ptr)
cufftXtClearCallback(plan: i32, cb_type: i32)
cufftXtSetCallbackSharedSize(plan: i32, cb_type: i32, shared_size: usize)
cufftXtMakePlanMany(plan: i32, rank: i32, n: i64[], inembed: i64[], istride: i64, idist: i64, inputtype: i32,
    onembed: i64[], ostride: i64, odist: i64, outputtype: i32, batch: i64, &work_size: usize, executiontype: i32)
cufftXtGetSizeMany(plan: i32, rank: i32, n: i64[], inembed: i64[], istride: i64, idist: i64, inputtype: i32,
    onembed: i64[], ostride: i64, odist: i64, outputtype: i32, batch: i64, &work_size: usize, executiontype: i32)
cufftXtExec(plan: i32, input: ptr, output: ptr, direction: i32)
cufftXtExecDescriptor(plan: i32, input: ptr, output: ptr, direction: i32)
cufftXtSetWorkAreaPolicy(plan: i32, policy: i32, work_size: usize[])
"""

_SPECIAL = """
@ cufftXt.h
# CUDA 13 exports the call with a symbol name under its own name, CUDA 12 under the second one; what CUDA 12 calls
# cufftXtSetJITCallback is the preview's function, without a name.
_set_jit_callback = cufftXtSetJITCallback(plan: i32, lto_callback_symbol_name: str, lto_callback_fatbin: char[],
    lto_callback_fatbin_size: usize, type: i32, caller_info: ptr[])
_set_jit_callback_12 = __cufftXtSetJITCallback_12_7(plan: i32, lto_callback_symbol_name: str,
    lto_callback_fatbin: char[], lto_callback_fatbin_size: usize, type: i32, caller_info: ptr[])
_set_jit_callback_unnamed = cufftXtSetJITCallback(plan: i32, lto_callback_fatbin: char[],
    lto_callback_fatbin_size: usize, type: i32, caller_info: ptr[])
# In cuFFTMp only.
cufftXtSetSubformatDefault(plan: i32, subformat_forward: i32, subformat_inverse: i32)
"""

_ENUMS = """
IntEnum Compatibility: FFTW_PADDING=1
IntEnum LibFormat: CUFFT=0 UNDEFINED=1
IntEnum Property: PATIENT_JIT=1 MAX_NUM_HOST_THREADS=2 BLUESTEIN_ONLY=3 DISABLE_FMA=4
IntEnum Result: SUCCESS=0 INVALID_PLAN=1 ALLOC_FAILED=2 INVALID_TYPE=3 INVALID_VALUE=4 INTERNAL_ERROR=5 EXEC_FAILED=6
    SETUP_FAILED=7 INVALID_SIZE=8 UNALIGNED_DATA=9 INCOMPLETE_PARAMETER_LIST=10 INVALID_DEVICE=11 PARSE_ERROR=12
    NO_WORKSPACE=13 NOT_IMPLEMENTED=14 LICENSE_ERROR=15 NOT_SUPPORTED=16 MISSING_DEPENDENCY=17 NVRTC_FAILURE=18
    NVJITLINK_FAILURE=19 NVSHMEM_FAILURE=20
IntEnum Type: C2C=41 R2C=42 C2R=44 Z2Z=105 D2Z=106 Z2D=108
IntEnum XtCallbackType: LD_COMPLEX=0 LD_COMPLEX_DOUBLE=1 LD_REAL=2 LD_REAL_DOUBLE=3 ST_COMPLEX=4 ST_COMPLEX_DOUBLE=5
    ST_REAL=6 ST_REAL_DOUBLE=7 UNDEFINED=8
IntEnum XtCopyType: HOST_TO_DEVICE=0 DEVICE_TO_HOST=1 DEVICE_TO_DEVICE=2 UNDEFINED=3
IntEnum XtQueryType: QUERY_1D_FACTORS=0 QUERY_UNDEFINED=1
IntEnum XtSubFormat: FORMAT_INPUT=0 FORMAT_OUTPUT=1 FORMAT_INPLACE=2 FORMAT_INPLACE_SHUFFLED=3
    FORMAT_1D_INPUT_SHUFFLED=4 FORMAT_DISTRIBUTED_INPUT=5 FORMAT_DISTRIBUTED_OUTPUT=6 FORMAT_UNDEFINED=7
IntEnum XtWorkAreaPolicy: MINIMAL=0 USER=1 PERFORMANCE=2
"""


_library = Bindings("cufft", globals(), prefix="cufft", errors=Errors("cuFFTError", "CUFFT_", "Result"))
__getattr__, __dir__ = _library.resolve, _library.names


#: What cuFFT reads only when the plan is made, by handle and type. Handles are small numbers that are used again.
_callbacks: dict[tuple[int, int], tuple[Any, Any]] = {}


def xt_set_jit_callback(
    plan: int,
    lto_callback_symbol_name: str | bytes | None,
    lto_callback_fatbin: int | bytes,
    lto_callback_fatbin_size: int,
    type: int,
    caller_info: int | Sequence[int] | None,
) -> None:
    """Sets an LTO callback on a plan that is not made yet: ``cufftXtSetJITCallback``.

    On CUDA 12 the library's entry point of the same signature is called (or, where there is none, the older one, which
    takes no symbol name).

    Parameters
    ----------
    plan : int
        The handle.
    lto_callback_symbol_name : str, bytes or None
        The callback's symbol; None lets cuFFT expect the name that belongs to the type.
    lto_callback_fatbin : int or bytes
        LTO-IR or fatbin, or its address.
    lto_callback_fatbin_size : int
        Its size in bytes.
    type : int
        A value of ``XtCallbackType``.
    caller_info : int, sequence of int or None
        The user data's device address for each GPU, or the address of such an array.

    Raises
    ------
    cuFFTError
        The status is not success.
    """
    fatbin: Any = lto_callback_fatbin
    if not isinstance(fatbin, int):
        fatbin = array("B", fatbin)
    info: Any = caller_info
    if info is not None and not isinstance(info, int):
        info = array("Q", (address or 0 for address in info))
    _callbacks[int(plan), int(type)] = fatbin, info
    code = (fatbin, lto_callback_fatbin_size, type, info)
    if _library.has("__cufftXtSetJITCallback_12_7"):
        _library._set_jit_callback_12(plan, lto_callback_symbol_name, *code)
    elif not _library.has("cufftGetVersion") or _library.get_version() >= 12000:
        _library._set_jit_callback(plan, lto_callback_symbol_name, *code)
    else:
        _library._set_jit_callback_unnamed(plan, *code)
