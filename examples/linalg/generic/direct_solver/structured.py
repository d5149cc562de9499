# needs: nothing
"""What is known of the matrix saves work: half for Cholesky, nearly all for triangles; and least squares."""

import numpy as np

from nvmath.linalg import FillMode, direct_solver

rng = np.random.default_rng(0)
factor = np.tril(rng.random((80, 80))) + 5 * np.eye(80)
positive, b = factor @ factor.T, rng.random(80)

x = direct_solver(positive, b, options={"assume_a": "positive definite"})
y = direct_solver(factor, b, options={"assume_a": "lower triangular"})
z = direct_solver(factor, y, options={"assume_a": "lower triangular", "trans": "T"})
assert np.allclose(x, z)

upper = np.triu(positive)  # the other triangle is never read
assert np.allclose(x, direct_solver(upper, b, options={"assume_a": "sym", "uplo": FillMode.UPPER}))

t = np.linspace(0, 1, 30)
columns = np.stack([np.ones_like(t), t, t**2], axis=1)
fit = direct_solver(columns, 3 - 2 * t + 0.5 * t**2, options={"least_squares": True})
print("coefficients of the parabola:", fit.round(6))
