# needs: nothing
"""Systems without a solution are named; ill-conditioned ones are warned of."""

import warnings

import numpy as np

from nvmath.linalg import IllConditionedWarning, SingularMatrixError, direct_solver

a = np.stack([np.eye(3)] * 10)
a[4] = 0
a[7, 1, 1] = np.nan
for _ in range(2):
    try:
        direct_solver(a, np.ones((10, 3, 1)))
    except SingularMatrixError as error:
        print(error)
        for index in error.indices:
            a[index] = np.eye(3)
direct_solver(a, np.ones((10, 3, 1)))

hilbert = 1 / (np.arange(15)[:, None] + np.arange(15) + 1.0)
with warnings.catch_warnings(record=True, action="always", category=IllConditionedWarning) as caught:
    direct_solver(hilbert, np.ones(15))
print(caught[0].message)
