# needs: library:mathdx library:nvrtc
"""libmathdx: a transform that runs within a kernel: described, its traits asked for, its code (LTO-IR) made. No GPU needed."""

import numpy as np

from nvmath.bindings import mathdx

operators, traits = mathdx.CufftdxOperatorType, mathdx.CufftdxTraitType
transform = mathdx.cufftdx_create_descriptor()
for operator, value in (
    (operators.SIZE, 16),
    (operators.TYPE, mathdx.CufftdxType.C2C),
    (operators.DIRECTION, mathdx.CufftdxDirection.FORWARD),
    (operators.PRECISION, mathdx.CommondxPrecision.F32),
    (operators.SM, 900),
    (operators.EXECUTION, mathdx.CommondxExecution.BLOCK),
    (operators.API, mathdx.CufftdxApi.LMEM),
):
    mathdx.cufftdx_set_operator_int64(transform, operator, value)

block = np.zeros(3, dtype=np.int64)
mathdx.cufftdx_get_trait_int64s(transform, traits.BLOCK_DIM, 3, block)
shared = mathdx.cufftdx_get_trait_int64(transform, traits.SHARED_MEMORY_SIZE)
name = bytearray(mathdx.cufftdx_get_trait_str_size(transform, traits.SYMBOL_NAME))
mathdx.cufftdx_get_trait_str(transform, traits.SYMBOL_NAME, len(name), name)

code = mathdx.commondx_create_code()
mathdx.commondx_set_code_option_int64(code, mathdx.CommondxOption.TARGET_SM, 900)
mathdx.cufftdx_finalize_code(code, transform)
ltoir = bytearray(mathdx.commondx_get_code_ltoir_size(code))
mathdx.commondx_get_code_ltoir(code, len(ltoir), ltoir)
assert ltoir[:4] == b"\xedCN\x7f"

mathdx.commondx_destroy_code(code)
mathdx.cufftdx_destroy_descriptor(transform)
symbol = name.rstrip(b"\0").decode()
print(
    f"libmathdx {mathdx.get_version_ex()}: {symbol}, block {block.tolist()}, {shared} bytes shared, {len(ltoir)} bytes of code"
)
