# needs: library:curand
"""cuRAND on the CPU: host generators fill NumPy arrays, no GPU needed; pseudorandom, quasirandom, all distributions."""

import numpy as np

from nvmath.bindings import curand

generator = curand.create_generator_host(curand.RngType.PSEUDO_PHILOX4_32_10)
curand.set_pseudo_random_generator_seed(generator, 2026)

n = 100_000
bits, wide = np.empty(n, "uint32"), np.empty(n, "float64")
curand.generate(generator, bits, n)
curand.generate_uniform_double(generator, wide, n)
assert 0 < wide.min() <= wide.max() <= 1

normal, log_normal, counts = np.empty(n, "float32"), np.empty(n, "float32"), np.empty(n, "uint32")
curand.generate_normal(generator, normal, n, 10.0, 2.0)  # mean, standard deviation
curand.generate_log_normal(generator, log_normal, n, 0.0, 0.25)
curand.generate_poisson(generator, counts, n, 7.5)
assert abs(normal.mean() - 10) < 0.1
assert abs(np.log(log_normal).std() - 0.25) < 0.01
assert abs(counts.mean() - 7.5) < 0.1

# The same seed and offset give the same numbers.
again = np.empty(n, "uint32")
curand.set_pseudo_random_generator_seed(generator, 2026)
curand.set_generator_offset(generator, 0)
curand.generate(generator, again, n)
assert (again == bits).all()
curand.destroy_generator(generator)

# Sobol points in the unit square: one row for each dimension. Pi as the share of them within the quarter circle.
generator = curand.create_generator_host(curand.RngType.QUASI_SOBOL32)
curand.set_quasi_random_generator_dimensions(generator, 2)
points = np.empty((2, 2**16), "float32")
curand.generate_uniform(generator, points, points.size)
curand.destroy_generator(generator)
estimate = 4 * np.mean((points**2).sum(axis=0) <= 1)
assert abs(estimate - np.pi) < 1e-3

try:
    curand.generate_uniform(0, points, points.size)
except curand.cuRANDError as error:
    print(f"cuRAND {curand.get_version()}: pi is about {estimate:.4f}; a wrong handle: {error}")
