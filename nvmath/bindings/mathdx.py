"""libmathdx (``libmathdx.h``): device functions (cuFFTDx, cuBLASDx, cuSOLVERDx, cuRANDDx) made at run time."""

from __future__ import annotations

from nvmath.bindings._bind import Bindings, Errors

_ROWS = """
@ libcommondx.h
commondxCreateCode(&code: i64)
commondxSetCodeOptionInt64(code: i64, option: i32, value: i64)
commondxSetCodeOptionInt64s(code: i64, option: i32, count: usize, values: buf<i64>)
commondxSetCodeOptionStr(code: i64, option: i32, value: str)
commondxSetCodeOptionStrs(code: i64, option: i32, count: usize, values: str[])
commondxGetCodeOptionInt64(code: i64, option: i32, &value: i64)
commondxGetCodeOptionsInt64s(code: i64, option: i32, size: usize, array: buf<i64>)
commondxGetCodeLTOIRSize(code: i64, &size: usize)
commondxGetCodeLTOIR(code: i64, size: usize, out: buf)
commondx_get_code_num_ltoirs = commondxGetCodeNumLTOIRs(code: i64, &size: usize)
commondxGetCodeLTOIRSizes(code: i64, size: usize, out: buf<usize>)
commondx_get_code_ltoirs = commondxGetCodeLTOIRs(code: i64, size: usize, out: ptr[])
commondxDestroyCode(code: i64)
commondxStatusToStr(status: i32) -> str
commondxPrecisionToStr(precision: i32) -> str
commondxValueTypeToStr(value_type: i32) -> str
commondxOptionToStr(option: i32) -> str
commondxExecutionToStr(execution: i32) -> str
commondxCodeContainerToStr(container: i32) -> str
commondxArchModifierToStr(modifier: i32) -> str
commondxGetLastErrorStrSize(&size: usize)
commondxGetLastErrorStr(&code: i32, size: usize, &value: char)
@ libcommondx.h 0.3.2+
commondxGetCodePTXSize(code: i64, &size: usize)
commondxGetCodePTX(code: i64, size: usize, out: buf)
commondxCodeTypeToStr(code: i32) -> str
@ libcommondx.h 0.4.2+
commondxFunctionAbiToStr(abi: i32) -> str
@ libmathdx.h
mathdxGetVersion(&version: i32)
mathdxGetVersionEx(&major: i32, &minor: i32, &patch: i32)
mathdxGetPackageVersion(year: buf<i32>, month: buf<i32>, patch: buf<i32>)
mathdxGetCommit(&commit: str)
@ libcublasdx.h
cublasdxGetVersion(&major: i32, &minor: i32, patch: buf<i32>)
cublasdxCreateDescriptor(&handle: i64)
cublasdxSetOptionStr(handle: i64, option: i32, value: str)
cublasdxSetOptionStrs(handle: i64, option: i32, count: usize, values: str[])
cublasdxSetOperatorInt64(handle: i64, op: i32, value: i64)
cublasdxSetOperatorInt64s(handle: i64, op: i32, count: usize, array: i64[])
cublasdxCreateTensor(handle: i64, tensor_type: i32, &tensor: i64)
cublasdxCreateTensorStrided(memory_space: i32, value_type: i32, ptr: buf, rank: i64, shape: buf<i64>,
    stride: buf<i64>, &tensor: i64)
cublasdxMakeTensorLike(input: i64, value_type: i32, &output: i64)
cublasdxDestroyTensor(tensor: i64)
cublasdxDestroyPipeline(pipeline: i64)
cublasdxCreateDevicePipeline(handle: i64, device_pipeline_type: i32, pipeline_depth: i64, block_size_strategy: i32,
    tensor_a: i64, tensor_b: i64, &device_pipeline: i64)
cublasdxCreateTilePipeline(handle: i64, tile_pipeline_type: i32, device_pipeline: i64, &tile_pipeline: i64)
cublasdxSetTensorOptionInt64(tensor: i64, option: i32, value: i64)
cublasdxSetTensorOptionStr(tensor: i64, option: i32, value: str)
cublasdxSetPipelineOptionStr(pipeline: i64, option: i32, value: str)
cublasdxSetTensorOptionStrs(tensor: i64, option: i32, count: usize, values: str[])
cublasdxSetPipelineOptionStrs(pipeline: i64, option: i32, count: usize, values: str[])
cublasdxFinalizeTensors(count: usize, array: i64[])
cublasdxFinalizePipelines(count: usize, array: i64[])
cublasdxFinalize(count_tensors: usize, tensors: i64[], count_pipelines: usize, pipelines: i64[])
cublasdxGetTensorTraitInt64(tensor: i64, trait: i32, &value: i64)
cublasdxGetPipelineTraitInt64(pipeline: i64, trait: i32, &value: i64)
cublasdxGetPipelineTraitInt64s(pipeline: i64, trait: i32, count: usize, array: buf<i64>)
cublasdxGetTensorTraitStrSize(tensor: i64, trait: i32, &size: usize)
cublasdxGetPipelineTraitStrSize(pipeline: i64, trait: i32, &size: usize)
cublasdxGetTensorTraitStr(tensor: i64, trait: i32, size: usize, value: buf)
cublasdxGetPipelineTraitStr(pipeline: i64, trait: i32, size: usize, value: buf)
cublasdxCreateDeviceFunction(handle: i64, device_function_type: i32, count: usize, array: i64[],
    &device_function: i64)
cublasdxDestroyDeviceFunction(device_function: i64)
cublasdxCreateDeviceFunctionWithPipelines(handle: i64, device_function_type: i32, tensor_count: usize, tensors: i64[],
    pipeline_count: usize, pipelines: i64[], &device_function: i64)
cublasdxFinalizeDeviceFunctions(code: i64, count: usize, array: i64[])
cublasdxGetDeviceFunctionTraitStrSize(device_function: i64, trait: i32, &size: usize)
cublasdxGetDeviceFunctionTraitStr(device_function: i64, trait: i32, size: usize, value: buf)
cublasdxSetDeviceFunctionOptionInt64(function: i64, option: i32, opt: i64)
cublasdxSetDeviceFunctionOptionStr(function: i64, option: i32, opt: str)
cublasdxGetLTOIRSize(handle: i64, &lto_size: usize)
cublasdxGetLTOIR(handle: i64, size: usize, lto: buf)
cublasdxGetTraitStrSize(handle: i64, trait: i32, &size: usize)
cublasdxGetTraitStr(handle: i64, trait: i32, size: usize, value: buf)
cublasdxGetTraitInt64(handle: i64, trait: i32, &value: i64)
cublasdxGetTraitInt64s(handle: i64, trait: i32, count: usize, array: buf<i64>)
cublasdxGetTraitCommondxDataTypes(handle: i64, trait: i32, count: usize, array: buf<i32>)
cublasdxOperatorTypeToStr(op: i32) -> str
cublasdxTraitTypeToStr(trait: i32) -> str
cublasdxFinalizeCode(code: i64, handle: i64)
cublasdxDestroyDescriptor(handle: i64)
cublasdxApiToStr(api: i32) -> str
cublasdxTypeToStr(type: i32) -> str
cublasdxTransposeModeToStr(mode: i32) -> str
cublasdxArrangementToStr(arrangement: i32) -> str
cublasdxFunctionToStr(function: i32) -> str
cublasdxTensorTypeToStr(type: i32) -> str
cublasdxBlockSizeStrategyToStr(strategy: i32) -> str
cublasdxDevicePipelineTypeToStr(type: i32) -> str
cublasdxTilePipelineTypeToStr(type: i32) -> str
cublasdxTensorOptionToStr(option: i32) -> str
cublasdxTensorTraitToStr(trait: i32) -> str
cublasdxPipelineTraitToStr(trait: i32) -> str
cublasdxDeviceFunctionTraitToStr(trait: i32) -> str
cublasdxDeviceFunctionOptionToStr(option: i32) -> str
cublasdxDeviceFunctionTypeToStr(type: i32) -> str
cublasdxMemorySpaceToStr(memory_space: i32) -> str
@ libcublasdx.h 0.4.2+
cublasdxGetUniversalFATBINSize(handle: i64, &fatbin_size: usize)
cublasdxGetUniversalFATBIN(handle: i64, fatbin_size: usize, fatbin: buf)
cublasdxFinalizeCodes(code: i64, count: usize, handles: i64[])
cublasdxFillModeToStr(mode: i32) -> str
cublasdxSideToStr(side: i32) -> str
cublasdxDiagToStr(diag: i32) -> str
@ libcufftdx.h
cufftdxGetVersion(&major: i32, &minor: i32, patch: buf<i32>)
cufftdxCreateDescriptor(&handle: i64)
cufftdxSetOptionStr(handle: i64, opt: i32, value: str)
cufftdxSetOptionStrs(handle: i64, opt: i32, count: usize, values: str[])
cufftdxIsSupported(handle: i64, &value: i32)
cufftdxGetKnobInt64Size(handle: i64, num_knobs: usize, knobs_ptr: buf<i32>, &size: usize)
cufftdxGetKnobInt64s(handle: i64, num_knobs: usize, knobs_ptr: buf<i32>, size: usize, values: buf<i64>)
cufftdxSetOperatorInt64(handle: i64, op: i32, value: i64)
cufftdxSetOperatorInt64s(handle: i64, op: i32, count: usize, array: i64[])
cufftdxGetLTOIRSize(handle: i64, &lto_size: usize)
cufftdxGetLTOIR(handle: i64, size: usize, lto: buf)
cufftdxGetTraitStrSize(handle: i64, trait: i32, &size: usize)
cufftdxGetTraitStr(handle: i64, trait: i32, size: usize, value: buf)
cufftdxGetTraitInt64(handle: i64, trait: i32, &value: i64)
cufftdxGetTraitInt64s(handle: i64, trait: i32, count: usize, array: buf<i64>)
cufftdxGetTraitCommondxDataType(handle: i64, trait: i32, &value: i32)
cufftdxFinalizeCode(code: i64, handle: i64)
cufftdxDestroyDescriptor(handle: i64)
cufftdxOperatorTypeToStr(op: i32) -> str
cufftdxTraitTypeToStr(op: i32) -> str
cufftdxApiToStr(api: i32) -> str
cufftdxTypeToStr(type: i32) -> str
cufftdxDirectionToStr(direction: i32) -> str
cufftdxComplexLayoutToStr(layout: i32) -> str
cufftdxRealModeToStr(mode: i32) -> str
cufftdxKnobTypeToStr(knob: i32) -> str
cufftdxCodeTypeToStr(code_type: i32) -> str
@ libcufftdx.h 0.4.2+
cufftdxDeviceFunctionTypeToStr(type: i32) -> str
cufftdxFinalizeCodes(code: i64, count: usize, handles: i64[])
cufftdxTranspositionToStr(transposition: i32) -> str
cufftdxThreadLayoutToStr(thread_layout: i32) -> str
@ libcuranddx.h
curanddxGetVersion(&major: i32, &minor: i32, &patch: i32)
curanddxCreateDescriptor(&handle: i64)
curanddxSetOptionStr(handle: i64, opt: i32, value: str)
curanddxSetOptionStrs(handle: i64, opt: i32, count: usize, values: str[])
curanddxSetOperatorInt64(handle: i64, op: i32, value: i64)
curanddxGetTraitStrSize(handle: i64, trait: i32, &size: usize)
curanddxGetTraitStr(handle: i64, trait: i32, size: usize, value: buf)
curanddxGetTraitInt64(handle: i64, trait: i32, &value: i64)
curanddxFinalizeCode(code: i64, handle: i64)
curanddxDestroyDescriptor(handle: i64)
curanddxOperatorTypeToStr(op: i32) -> str
curanddxDistributionToStr(dist: i32) -> str
curanddxGeneratorToStr(generator: i32) -> str
curanddxGenerateMethodToStr(generate_method: i32) -> str
curanddxNormalMethodToStr(normal_method: i32) -> str
curanddxTraitTypeToStr(trait: i32) -> str
@ libcuranddx.h 0.4.2+
curanddxFinalizeCodes(code: i64, count: usize, handles: i64[])
@ libcusolverdx.h
cusolverdxGetVersion(&major: i32, &minor: i32, patch: buf<i32>)
cusolverdxCreateDescriptor(&handle: i64)
cusolverdxSetOptionStr(handle: i64, opt: i32, value: str)
cusolverdxSetOptionStrs(handle: i64, opt: i32, count: usize, values: str[])
cusolverdxSetOperatorInt64(handle: i64, op: i32, value: i64)
cusolverdxSetOperatorInt64s(handle: i64, op: i32, count: usize, array: i64[])
cusolverdxGetLTOIRSize(handle: i64, &lto_size: usize)
cusolverdxGetLTOIR(handle: i64, size: usize, lto: buf)
cusolverdxGetUniversalFATBINSize(handle: i64, &fatbin_size: usize)
cusolverdxGetUniversalFATBIN(handle: i64, fatbin_size: usize, fatbin: buf)
cusolverdxGetTraitStrSize(handle: i64, trait: i32, &size: usize)
cusolverdxGetTraitStr(handle: i64, trait: i32, size: usize, value: buf)
cusolverdxGetTraitInt64(handle: i64, trait: i32, &value: i64)
cusolverdxGetTraitInt64s(handle: i64, trait: i32, count: usize, values: buf<i64>)
cusolverdxFinalizeCode(code: i64, handle: i64)
cusolverdxDestroyDescriptor(handle: i64)
cusolverdxOperatorTypeToStr(op: i32) -> str
cusolverdxTraitTypeToStr(trait: i32) -> str
cusolverdxDiagToStr(diag: i32) -> str
cusolverdxSideToStr(side: i32) -> str
cusolverdxApiToStr(api: i32) -> str
cusolverdxTypeToStr(type: i32) -> str
cusolverdxFunctionToStr(function: i32) -> str
cusolverdxArrangementToStr(arrangement: i32) -> str
cusolverdxFillModeToStr(mode: i32) -> str
cusolverdxTransposeModeToStr(transpose_mode: i32) -> str
@ libcusolverdx.h 0.4.2+
cusolverdxFinalizeCodes(code: i64, count: usize, handles: i64[])
@ libcusolverdx.h 0.3.2+
cusolverdxJobToStr(job: i32) -> str
@ libnvcompdx.h 0.4.2+
nvcompdxGetVersion(&major: i32, &minor: i32, patch: buf<i32>)
nvcompdxCreateDescriptor(&handle: i64)
nvcompdxSetOperatorInt64(handle: i64, op: i32, value: i64)
nvcompdxSetOperatorInt64s(handle: i64, op: i32, count: usize, array: i64[])
nvcompdxSetOptionStr(handle: i64, opt: i32, value: str)
nvcompdxSetOptionStrs(handle: i64, opt: i32, count: usize, values: str[])
nvcompdxGetTraitInt64(handle: i64, trait: i32, &value: i64)
nvcompdxGetTraitInt64s(handle: i64, trait: i32, count: usize, values: buf<i64>)
nvcompdxGetTraitStrSize(handle: i64, trait: i32, &size: usize)
nvcompdxGetTraitStr(handle: i64, trait: i32, size: usize, &value: char)
nvcompdxGetLTOIRSize(handle: i64, &lto_size: usize)
nvcompdxGetLTOIR(handle: i64, size: usize, lto: buf)
nvcompdxGetUniversalFATBINSize(handle: i64, &fatbin_size: usize)
nvcompdxGetUniversalFATBIN(handle: i64, fatbin_size: usize, fatbin: buf)
nvcompdxFinalizeCode(code: i64, handle: i64)
nvcompdxFinalizeCodes(code: i64, count: usize, handles: i64[])
nvcompdxDestroyDescriptor(handle: i64)
nvcompdxOperatorTypeToStr(op: i32) -> str
nvcompdxTraitTypeToStr(trait: i32) -> str
nvcompdxAlgorithmToStr(algo: i32) -> str
nvcompdxDirectionToStr(dir: i32) -> str
@ libcusolverdx.h 0.3.2-0.3.2
cusolverdxGetTraitCommondxDataTypes(handle: i64, trait: i32, count: usize, array: buf<i32>)
@ libcuranddx.h -0.3.1
curanddxSetOperatorDoubles(handle: i64, op: i32, count: usize, values: buf<f64>)
"""

_ENUMS = """
IntEnum CommondxArchModifier: GENERIC=0 ARCH_SPECIFIC=1 FAMILY_SPECIFIC=2
IntEnum CommondxCodeContainer: LTOIR=0 FATBIN=1 PTX=2
IntEnum CommondxCodeType: LTO=0 PTX=1
IntEnum CommondxExecution: THREAD=0 BLOCK=1 WARP=2
IntEnum CommondxOption: SYMBOL_NAME=0 TARGET_SM=1 CODE_CONTAINER=2 CODE_ISA=3 EXTRA_NVRTC_ARGS=4 TARGET_CODE=5
IntEnum CommondxPrecision: F8_E5M2=0 F8_E4M3=1 BF16=2 F16=3 TF32=4 F32=5 F64=6 I8=7 I16=8 I32=9 I64=10 UI8=11 UI16=12
    UI32=13 UI64=14
IntEnum CommondxStatusType: SUCCESS=0 INVALID_VALUE=1 INTERNAL_ERROR=2 COMPILATION_ERROR=3 CUFFT_ERROR=4 FILE_ERROR=5
IntEnum CommondxValueType: R_8F_E5M2=0 C_8F_E5M2=1 R_8F_E4M3=2 C_8F_E4M3=3 R_16BF=4 C_16BF=5 R_16F2=6 R_16F=7 C_16F=8
    C_16F2=9 R_32TF=10 C_32TF=11 R_32F=12 C_32F=13 R_64F=14 C_64F=15 R_8I=16 C_8I=17 R_16I=18 C_16I=19 R_32I=20
    C_32I=21 R_64I=22 C_64I=23 R_8UI=24 C_8UI=25 R_16UI=26 C_16UI=27 R_32UI=28 C_32UI=29 R_64UI=30 C_64UI=31
IntEnum CublasdxApi: SMEM=0 SMEM_DYNAMIC_LD=1 TENSORS=2
IntEnum CublasdxArrangement: COL_MAJOR=0 ROW_MAJOR=1
IntEnum CublasdxBlockSizeStrategy: HEURISTIC=0 FIXED=1
IntEnum CublasdxDeviceFunctionOption: SYMBOL_NAME=0 COPY_ALIGNMENT=1 CALLBACK=2 NUM_THREADS=3
IntEnum CublasdxDeviceFunctionTrait: SYMBOL=1
IntEnum CublasdxDeviceFunctionType: EXECUTE=0 COPY=1 COPY_WAIT=2 CLEAR=3 AXPBY=4 MAP_IDX2CRD=5
    MAP_IDX2CRD_PARTITIONER=6 MAP_CRD2IDX=7 IS_THREAD_ACTIVE=8 IS_PREDICATED=9 IS_INDEX_IN_BOUNDS=10 CREATE=11
    DESTROY=12 RESET=13 EPILOGUE=14 FINISH_ACCUMULATION=15
IntEnum CublasdxDevicePipelineType: SUGGESTED=0
IntEnum CublasdxFunction: MM=0 TRSM=1
IntEnum CublasdxMemorySpace: RMEM=0 SMEM=1 GMEM=2 ANY=3
IntEnum CublasdxOperatorType: FUNCTION=0 SIZE=1 TYPE=2 PRECISION=3 SM=4 EXECUTION=5 BLOCK_DIM=6 LEADING_DIMENSION=7
    TRANSPOSE_MODE=8 API=9 ARRANGEMENT=10 ALIGNMENT=11 STATIC_BLOCK_DIM=12 ENABLE_INPUT_STREAMING=13 WITH_PIPELINE=14
    SIDE=15 FILL_MODE=16 DIAG=17
IntEnum CublasdxPipelineTrait: STORAGE_BYTES=0 STORAGE_ALIGNMENT_BYTES=1 BUFFER_SIZE=2 BUFFER_ALIGNMENT_BYTES=3
    OPAQUE_NAME=4 BLOCK_DIM=5
IntEnum CublasdxTensorOption: ALIGNMENT_BYTES=0
IntEnum CublasdxTensorTrait: STORAGE_BYTES=0 ALIGNMENT_BYTES=1 UID=2 OPAQUE_NAME=4 LOGICAL_SIZE=5 MEMORY_SPACE=6
IntEnum CublasdxTensorType: SMEM_A=0 SMEM_B=1 SMEM_C=2 SUGGESTED_SMEM_A=3 SUGGESTED_SMEM_B=4 SUGGESTED_SMEM_C=5
    SUGGESTED_RMEM_C=6 GMEM_A=7 GMEM_B=8 GMEM_C=9 SUGGESTED_ACCUMULATOR_C=10 RMEM_C=11 ACCUMULATOR_C=12
IntEnum CublasdxTilePipelineType: PIPELINE_DEFAULT=0
IntEnum CublasdxTraitType: VALUE_TYPE=0 SIZE=1 BLOCK_SIZE=2 BLOCK_DIM=3 LEADING_DIMENSION=4 SYMBOL_NAME=5
    ARRANGEMENT=6 ALIGNMENT=7 SUGGESTED_LEADING_DIMENSION=8 SUGGESTED_BLOCK_DIM=9 MAX_THREADS_PER_BLOCK=10
IntEnum CublasdxTransposeMode: NON_TRANSPOSED=0 TRANSPOSED=1 CONJ_TRANSPOSED=2
IntEnum CublasdxType: REAL=0 COMPLEX=1
IntEnum CufftdxApi: LMEM=0 SMEM=1
IntEnum CufftdxCodeType: PTX=0 LTOIR=1
IntEnum CufftdxComplexLayout: NATURAL=0 PACKED=1 FULL=2
IntEnum CufftdxDirection: FORWARD=0 INVERSE=1
IntEnum CufftdxKnobType: ELEMENTS_PER_THREAD=0 FFTS_PER_BLOCK=1 TRANSPOSITION=2
IntEnum CufftdxOperatorType: SIZE=0 DIRECTION=1 TYPE=2 PRECISION=3 SM=4 EXECUTION=5 FFTS_PER_BLOCK=6
    ELEMENTS_PER_THREAD=7 BLOCK_DIM=8 REAL_FFT_OPTIONS=9 API=10 CODE_TYPE=11 FUNCTION_ABI=12 THREAD_LINEARIZATION=13
    TRANSPOSITION=14 THREAD_LAYOUT=15 DEVICE_FUNCTION=16
IntEnum CufftdxRealMode: NORMAL=0 FOLDED=1
IntEnum CufftdxTraitType: VALUE_TYPE=0 INPUT_TYPE=1 OUTPUT_TYPE=2 IMPLICIT_TYPE_BATCHING=3 ELEMENTS_PER_THREAD=4
    STORAGE_SIZE=5 STRIDE=6 BLOCK_DIM=7 SHARED_MEMORY_SIZE=8 FFTS_PER_BLOCK=9 SYMBOL_NAME=10 INPUT_LENGTH=11
    OUTPUT_LENGTH=12 INPUT_ELEMENTS_PER_THREAD=13 OUTPUT_ELEMENTS_PER_THREAD=14 SUGGESTED_FFTS_PER_BLOCK=15
    SYMBOL_EXECUTE_NAME=16 SYMBOL_FFT_ID_NAME=17 SYMBOL_BATCH_ID_NAME=18 SYMBOL_IS_THREAD_ACTIVE_NAME=19
IntEnum CufftdxType: C2C=0 R2C=1 C2R=2
IntEnum CuranddxDeviceFunctionType: GENERATE=2 INIT_STATE=4 DESTROY_STATE=8 SKIP_OFFSET=16 SKIP_SUBSEQUENCE=32
    SKIP_SEQUENCE=64
IntEnum CuranddxDistribution: UNIFORM_BITS=0 UNIFORM=1 NORMAL=2 LOG_NORMAL=3 POISSON=4
IntEnum CuranddxGenerateMethod: SINGLE=0 PAIR=1 QUAD=2
IntEnum CuranddxGenerator: XORWOW=0 MRG32K3A=1 PHILOX4_32=2 PCG=3 SOBOL32=4 SCRAMBLED_SOBOL32=5 SOBOL64=6
    SCRAMBLED_SOBOL64=7
IntEnum CuranddxNormalMethod: ICDF=0 BOX_MULLER=1
IntEnum CuranddxOperatorType: GENERATOR=0 PHILOX_ROUNDS=1 SM=2 EXECUTION=3 DISTRIBUTION=4 OUTPUT_TYPE=5
    GENERATE_METHOD=6 NORMAL_METHOD=7 DEVICE_FUNCTIONS=8 DISTRIBUTION_PARAMETERS=9
IntEnum CuranddxTraitType: SYMBOL_GENERATE_NAME=0 SYMBOL_INIT_STATE_NAME=1 SYMBOL_DESTROY_STATE_NAME=2
    SYMBOL_SKIP_OFFSET_NAME=3 SYMBOL_SKIP_SUBSEQUENCE_NAME=4 SYMBOL_SKIP_SEQUENCE_NAME=5 STATE_SIZE=6
    STATE_ALIGNMENT=7
IntEnum CusolverdxApi: SMEM=0 SMEM_DYNAMIC_LD=1
IntEnum CusolverdxArrangement: COL_MAJOR=0 ROW_MAJOR=1
IntEnum CusolverdxDiag: UNIT=0 NON_UNIT=1
IntEnum CusolverdxFillMode: UPPER=0 LOWER=1
IntEnum CusolverdxFunction: GETRF_NO_PIVOT=0 GETRS_NO_PIVOT=1 POTRF=2 POTRS=3 TRSM=4 GETRF_PARTIAL_PIVOT=5
    GETRS_PARTIAL_PIVOT=6 GEQRF=7 UNMQR=8 GELQF=9 UNMLQ=10 POSV=11 GESV_NO_PIVOT=12 GESV_PARTIAL_PIVOT=13 GELS=14
    UNGQR=15 UNGLQ=16 GTSV_NO_PIVOT=17 HTEV=18 HEEV=19 MODIFIED_LU=20 BDSVD=21 GESVD=22 HEGST=23 HEGV=24
IntEnum CusolverdxJob: NO_VECTORS=0 ALL_VECTORS=1 MULTIPLY_VECTORS=2 OVERWRITE_VECTORS=3 SOME_VECTORS=4
IntEnum CusolverdxOperatorType: SIZE=0 TYPE=1 PRECISION=2 SM=3 EXECUTION=4 BLOCK_DIM=5 API=6 FUNCTION=7 ARRANGEMENT=8
    FILL_MODE=9 SIDE=10 DIAG=11 TRANSPOSE_MODE=12 LEADING_DIMENSION=13 BATCHES_PER_BLOCK=14 JOB=15 FUNCTION_ABI=16
IntEnum CusolverdxSide: LEFT=0 RIGHT=1
IntEnum CusolverdxTraitType: SHARED_MEMORY_SIZE=1 SYMBOL_NAME=2 BLOCK_DIM=3 SUGGESTED_LEADING_DIMENSION=4
    SUGGESTED_BLOCK_DIM=5 SUGGESTED_BATCHES_PER_BLOCK=6 ARRANGEMENT=7 BATCHES_PER_BLOCK=8 TYPE=9 LEADING_DIMENSION=10
    VALUE_TYPE=11 WORKSPACE_SIZE=12
IntEnum CusolverdxTransposeMode: NON_TRANSPOSED=0 TRANSPOSED=1 CONJ_TRANSPOSED=2
IntEnum CusolverdxType: REAL=0 COMPLEX=1
"""

_library = Bindings(
    "mathdx",
    globals(),
    prefix="mathdx",
    errors=Errors("LibMathDxError", "COMMONDX_", "CommondxStatusType", explain="commondx_status_to_str"),
)
__getattr__, __dir__ = _library.resolve, _library.names
