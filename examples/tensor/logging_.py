# needs: nothing
"""Logging: through the root logger, or a logger of one's own in the options."""

import io
import logging

import numpy as np

from nvmath.tensor import BinaryContraction, ContractionOptions, binary_contraction

a = np.ones((4, 5))
logging.basicConfig(level=logging.INFO, format="root: %(message)s")
with BinaryContraction("ij,kj->ik", a, a, execution="cpu") as contraction:
    contraction.plan()
    contraction.execute()

logger = logging.getLogger("contractions")
text = io.StringIO()
logger.addHandler(logging.StreamHandler(text))
logger.propagate = False
binary_contraction("ij,kj->ik", a, a, options=ContractionOptions(logger=logger), execution="cpu")
assert "contraction 'ij,kj->ik' of float64" in text.getvalue()
print(text.getvalue())
