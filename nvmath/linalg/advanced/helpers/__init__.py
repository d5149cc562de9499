"""Functions that prepare operands and scales of advanced products: see :mod:`nvmath.linalg.advanced.helpers.matmul`."""

from . import matmul

__all__ = ["matmul"]
