# needs: gpu cupy cutensor
"""CuPy arrays: contracted where they are, on streams; operands edited in place; results into slices."""

import cupy as cp

from nvmath.tensor import BinaryContraction, binary_contraction, ternary_contraction

rng = cp.random.default_rng(0)
a, b = rng.random((64, 64, 64)), rng.random((64, 64, 64))
result = binary_contraction("ijk,jkl->il", a, b)  # returns as soon as the work is queued
assert cp.allclose(result, cp.einsum("ijk,jkl->il", a, b))
assert cp.allclose(ternary_contraction("ijk,jkl,lm->im", a, b, result), result @ result)

stream = cp.cuda.Stream(non_blocking=True)
cp.cuda.get_current_stream().synchronize()
with BinaryContraction("ijk,jkl->il", a, b, stream=stream) as contraction:
    contraction.plan(stream=stream)
    first = contraction.execute(stream=stream)
    with stream:
        a *= 2  # seen by the next execution, since nothing was copied
    second = contraction.execute(stream=stream)
    stream.synchronize()
    assert cp.allclose(first, result)
    assert cp.allclose(second, 2 * result)

frame = cp.zeros((66, 66))
binary_contraction("ijk,jkl->il", a, b, out=frame[1:-1, 1:-1])
assert cp.allclose(frame[1:-1, 1:-1], 2 * result)
print(f"{a.shape} x {b.shape} -> {result.shape}")
