"""CSR matrices of every supported package, taken apart into their three arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

_PAIRS: Final = {"scipy": "numpy", "cupyx": "cupy", "torch": "torch"}


@dataclass(slots=True)
class Csr:
    """Row offsets, column indices and values of a CSR matrix, and where it comes from."""

    package: str
    shape: tuple[int, ...]
    indptr: Any
    indices: Any
    data: Any

    @property
    def arrays(self) -> tuple[Any, Any, Any]:
        """The three arrays."""
        return self.indptr, self.indices, self.data


def take_apart(a: Any) -> Csr:
    """Return the arrays of a CSR matrix of SciPy, CuPy or PyTorch.

    Raises
    ------
    TypeError
        The object is no such matrix; the text says what to convert it to.
    NotImplementedError
        It is a batch of matrices.
    """
    if isinstance(a, list | tuple):
        raise NotImplementedError(
            f"Batches of systems are not implemented yet: a is a {type(a).__name__} of {len(a)} matrices. Solve them one by one."
        )
    cls = type(a)
    package = next((name for base in cls.__mro__ if (name := base.__module__.partition(".")[0]) in _PAIRS), "")
    if package == "torch":
        return _of_torch(a)
    kind = getattr(a, "format", None)
    if not package or not isinstance(kind, str):
        raise TypeError(
            f"The matrix a must be a CSR matrix of SciPy, CuPy (cupyx.scipy.sparse) or PyTorch, not {cls.__module__}.{cls.__qualname__}."
        )
    if kind != "csr":
        raise TypeError(f"The matrix a must be in CSR format, but it is in format {kind!r}. Convert it with a.tocsr().")
    return Csr(package, tuple(a.shape), a.indptr, a.indices, a.data)


def _of_torch(a: Any) -> Csr:
    import torch

    if not isinstance(a, torch.Tensor) or a.layout is not torch.sparse_csr:
        layout = getattr(a, "layout", type(a).__name__)
        raise TypeError(f"The matrix a must be a torch tensor of layout sparse_csr, not {layout}. Convert it with a.to_sparse_csr().")
    if a.ndim != 2:
        raise NotImplementedError(
            f"Batches of systems are not implemented yet: a has shape {tuple(a.shape)}. Solve them one by one."
        )
    return Csr("torch", tuple(a.shape), a.crow_indices(), a.col_indices(), a.values())


def check_pair(package: str, b_package: str) -> None:
    """Raise that the right-hand side is of another package than the matrix.

    Raises
    ------
    TypeError
        The packages do not belong together.
    """
    if _PAIRS[package] != b_package:
        pairs = ", ".join(f"{left} with {right}" for left, right in _PAIRS.items())
        raise TypeError(f"a is a matrix of {package} and b an array of {b_package}, which do not go together: {pairs}.")
