# needs: gpu cupy
"""CuPy arrays: results stay on the GPU; a call returns when the work is queued."""

import cupy
import numpy as np

from nvmath.linalg import GeneralMatrixQualifier, Matmul, SymmetricMatrixQualifier, matmul, matrix_qualifiers_dtype

a = cupy.random.rand(256, 256)
b = cupy.random.rand(256, 64)
assert cupy.allclose(matmul(a, b), a @ b)

# Slices are read where they are.
assert cupy.allclose(matmul(a[:128, ::2], b[::2]), a[:128, ::2] @ b[::2])

qualifiers = np.array([SymmetricMatrixQualifier.create(), GeneralMatrixQualifier.create()], matrix_qualifiers_dtype)
symmetric = cupy.tril(a) + cupy.tril(a, -1).T

stream = cupy.cuda.Stream(non_blocking=True)
cupy.cuda.get_current_stream().synchronize()
with Matmul(a, b, qualifiers=qualifiers, stream=stream) as product:
    product.plan(stream=stream)
    result = product.execute(stream=stream)
    stream.synchronize()
assert cupy.allclose(result, symmetric @ b)
print("a result on device", result.device.id)
