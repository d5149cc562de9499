# needs: nothing
"""Compute type, type of the result, where to run; as an object or as a dict."""

import numpy as np

from nvmath import CudaDataType
from nvmath.linalg.advanced import Matmul, MatmulComputeType, MatmulOptions, matmul

rng = np.random.default_rng(0)
a, b = rng.standard_normal((64, 32)).astype("f"), rng.standard_normal((32, 48)).astype("f")

# Single precision is single precision, unless TF32 is asked for (which a CPU has not: it stays exact there).
matmul(a, b, options=MatmulOptions(compute_type=MatmulComputeType.COMPUTE_32F_FAST_TF32))
matmul(a, b, options={"compute_type": MatmulComputeType.COMPUTE_32F})

# Half precision operands, a result in single precision: the sums are in single precision anyway.
half = matmul(a.astype("f2"), b.astype("f2"), options={"result_type": CudaDataType.CUDA_R_32F})
assert half.dtype == np.float32

# On the CPU, with one thread.
with Matmul(a, b, execution={"name": "cpu", "num_threads": 1}) as product:
    product.plan()
    assert np.allclose(product.execute(), a @ b, atol=1e-4)
    print(product.execution_options)

# What is wrong is said before anything is computed.
for options in ({"compute_typ": 68}, {"result_type": "f"}, {"memory_limit": "80"}):
    try:
        matmul(a, b, options=options)
    except (TypeError, ValueError) as error:
        print(error)
