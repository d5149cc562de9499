# needs: nothing
"""The root logger, or a logger of one's own, tells what is planned and who computes it."""

import logging
import sys

import numpy as np

from nvmath.linalg import Matmul

a = np.eye(3)
logger = logging.getLogger("products")
logger.addHandler(logging.StreamHandler(sys.stdout))
logger.setLevel(logging.INFO)

with Matmul(a, a, options={"logger": logger}) as product:
    product.plan()
    product.execute()
