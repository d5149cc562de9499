"""Functions that prepare operands and scales of advanced products: see :mod:`nvmath.linalg.advanced.helpers.matmul`."""

from . import matmul

__all__ = ["matmul"]


def __dir__() -> list[str]:
    return sorted(__all__)
