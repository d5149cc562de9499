# needs: scipy
"""Logging: through the root logger, or a logger of one's own."""

import logging
import sys

import numpy as np
import scipy.sparse as sp

from nvmath.sparse.advanced import direct_solver

a, b = sp.csr_array(np.array([[4.0, 1], [1, 3]])), np.ones(2)
logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(name)s: %(message)s")
direct_solver(a, b)

mine = logging.getLogger("mine")
direct_solver(a, b, options={"logger": mine})
