# needs: nothing
"""Views, slices, middle axes, more than three axes: nothing has to be copied or permuted first."""

import numpy as np

import nvmath

rng = np.random.default_rng(0)
a = rng.standard_normal((6, 8, 10)) + 1j * rng.standard_normal((6, 8, 10))

for view, axes in (
    (a, (1,)),  # an axis in the middle
    (a, (0, 2)),  # axes that are not neighbours
    (a.T, (0, 1)),  # Fortran order
    (a[::2, 1:7, ::-1], (1, 2)),  # a slice, one axis backwards
    (np.broadcast_to(a[0], (3, 8, 10)), (2,)),  # stride 0
):
    assert np.allclose(nvmath.fft.fft(view, axes=axes), np.fft.fftn(view, axes=axes))

# Any number of axes.
five = rng.standard_normal((2, 3, 4, 5, 6)).astype("complex128")
assert np.allclose(nvmath.fft.fft(five), np.fft.fftn(five))

# The shape never depends on result_layout=, the strides may: "natural" keeps the order of the operand's,
# "optimized" (the default) makes the transformed axes the fastest ones where that saves work.
natural = nvmath.fft.fft(a, axes=[0], options={"result_layout": "natural"})
optimized = nvmath.fft.fft(a, axes=[0])
assert np.allclose(natural, optimized)
print(
    "strides in elements: natural",
    [s // 16 for s in natural.strides],
    "optimized",
    [s // 16 for s in optimized.strides],
)
