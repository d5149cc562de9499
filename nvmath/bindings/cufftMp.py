"""cuFFTMp (``cufftMp.h``): Fourier transforms of arrays that are distributed over CUDA devices."""
# ruff: noqa: N999, the public name

from __future__ import annotations

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
@ cufftXt.h 12.1+
cufftXtSetJITCallback(plan: i32, lto_callback_symbol_name: str, lto_callback_fatbin: ptr,
    lto_callback_fatbin_size: usize, type: i32, caller_info: ptr)
@ cufftMp.h
attach_comm = cufftMpAttachComm(plan: i32, comm_type: i32, comm_handle: ptr)
cufftXtSetDistribution(plan: i32, rank: i32, lower_input: i64[], upper_input: i64[], lower_output: i64[],
    upper_output: i64[], strides_input: i64[], strides_output: i64[])
cufftXtSetSubformatDefault(plan: i32, subformat_forward: i32, subformat_inverse: i32)
cufftMpMakePlan2d(plan: i32, nx: i32, ny: i32, type: i32, comm_handle: ptr, comm_type: i32, &work_size: usize)
cufftMpMakePlan3d(plan: i32, nx: i32, ny: i32, nz: i32, type: i32, comm_handle: ptr, comm_type: i32,
    &work_size: usize)
cufftMpMakePlanDecomposition(plan: i32, rank: i32, n: ptr, lower_input: i64[], upper_input: i64[],
    strides_input: i64[], lower_output: i64[], upper_output: i64[], strides_output: i64[], type: i32,
    comm_handle: ptr, comm_type: i32, &work_size: usize)
create_reshape = cufftMpCreateReshape(&handle: ptr)
get_reshape_size = cufftMpGetReshapeSize(handle: ptr, &workspace_size: usize)
exec_reshape_async = cufftMpExecReshapeAsync(handle: ptr, data_out: ptr, data_in: ptr, workspace: ptr, stream: ptr)
destroy_reshape = cufftMpDestroyReshape(handle: ptr)
@ cufftXt.h -11.4
_set_jit_callback_12 = __cufftXtSetJITCallback_12_7(plan: i32, lto_callback_symbol_name: str,
    lto_callback_fatbin: char[], lto_callback_fatbin_size: usize, type: i32, caller_info: ptr[])
"""

_SPECIAL = """
@ cufftMp.h
attach_reshape_comm = cufftMpAttachReshapeComm(handle: ptr, comm_type: i32, comm_handle: ptr)
{make_reshape,make_reshape_11_4} = {__cufftMpMakeReshape_11_4,__cufftMpMakeReshape_11_4}(handle: ptr,
    element_size: usize, rank: i32, lower_input: i64[], upper_input: i64[], strides_input: i64[], lower_output: i64[],
    upper_output: i64[], strides_output: i64[], comm_handle: ptr, comm_type: i32)
make_reshape_11_2 = cufftMpMakeReshape(handle: ptr, element_size: usize, rank: i32, lower_input: i64[], upper_input: i64[],
    lower_output: i64[], upper_output: i64[], strides_input: i64[], strides_output: i64[])
"""

_ENUMS = """
IntEnum Compatibility: FFTW_PADDING=1
IntEnum LibFormat: CUFFT=0 UNDEFINED=1
IntEnum MpCommType: COMM_MPI=0 COMM_NONE=1
IntEnum Property: PATIENT_JIT=1 MAX_NUM_HOST_THREADS=2
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

_RECORDS = """
Record XtDesc: version=i32 n_gpus=i32 gpus=i32[64] data_=ptr[64] size_=usize[64] state=ptr
Record LibXtDesc: version=i32 descriptor=ptr library=i32 sub_format=i32 lib_descriptor=ptr
"""

_library = Bindings("cufftMp", globals(), prefix="cufft", errors=Errors("cuFFTMpError", "CUFFT_", "Result"))
__getattr__, __dir__ = _library.resolve, _library.names


def set_descriptor_data(descriptor: int, data: int, subformat: int) -> None:
    """Let a descriptor of one GPU stand for other memory: sets ``descriptor->data[0]`` and ``subFormat`` of a ``cudaLibXtDesc``.

    Parameters
    ----------
    descriptor : int
        What `xt_malloc` returned.
    data : int
        The address of device memory of at least its size. `xt_free` frees what is set: put back the first address before.
    subformat : int
        A value of ``XtSubFormat``: how the data is distributed.
    """
    library = _library.LibXtDesc.from_ptr(descriptor)
    _library.XtDesc.from_ptr(library.descriptor).data_[0, 0] = data
    library.sub_format = subformat
