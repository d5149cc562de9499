"""Matrices of every supported package and format, taken apart into their arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from ..._core.arrays import View, adapter_of
from ..._core.layout import contiguous
from ._sides import Piece

PAIRS: Final = {"scipy": "numpy", "cupyx": "cupy", "torch": "torch"}
#: format -> what its three arrays are called
NAMES: Final = {
    "csr": ("indptr", "indices", "data"), "csc": ("indptr", "indices", "data"), "bsr": ("indptr", "indices", "data"),
    "coo": ("row", "col", "data"),
}  # fmt: skip
_TORCH: Final = {
    "sparse_csr": ("csr", "crow_indices", "col_indices"), "sparse_csc": ("csc", "ccol_indices", "row_indices"),
    "sparse_bsr": ("bsr", "crow_indices", "col_indices"),
}  # fmt: skip
_packages: dict[type, str] = {}


@dataclass(slots=True)
class Stored:
    """A matrix, or a stack of matrices, as three arrays.

    They are row offsets, column indices and values (CSR; BSR, of blocks), column offsets, row indices and values (CSC), or row
    indices, column indices and values (COO).
    """

    package: str
    format: str
    shape: tuple[int, ...]
    arrays: tuple[Any, Any, Any]

    @property
    def meta(self) -> tuple[str, tuple[int, ...]]:
        """What a problem needs to know besides the arrays."""
        return self.format, self.shape


def take_all(a: Any) -> tuple[tuple[Stored, ...], bool]:
    """Take a matrix, or each of a sequence of matrices, apart; tell whether it was a sequence.

    Raises
    ------
    TypeError
        Something is no matrix that the solver takes, or the matrices of a sequence differ in package or format.
    """
    if not isinstance(a, list | tuple):
        return (take_apart(a),), False
    if not a:
        raise TypeError("a is an empty sequence: pass at least one matrix.")
    made = tuple(take_apart(matrix, f"a[{i}]") for i, matrix in enumerate(a))
    first = made[0]
    for i, stored in enumerate(made):
        if len(stored.shape) != 2:
            raise TypeError(
                f"Every matrix of a sequence must have two dimensions, but a[{i}] has shape {stored.shape}. Pass a stack of matrices by "
                "itself, not in a sequence."
            )
        if (stored.package, stored.format) != (first.package, first.format):
            raise TypeError(
                f"All matrices of a sequence must be of one package and format, but a[0] is {first.format} of {first.package} and a[{i}] "
                f"is {stored.format} of {stored.package}. Convert them."
            )
    return made, True


def take_apart(a: Any, name: str = "a") -> Stored:
    """Return the arrays of a matrix of SciPy, CuPy or PyTorch.

    Raises
    ------
    TypeError
        The object is no such matrix; the text says what to convert it to.
    """
    cls = type(a)
    package = _packages.get(cls)
    if package is None:
        package = _packages[cls] = next(
            (module for base in cls.__mro__ if (module := base.__module__.partition(".")[0]) in PAIRS), ""
        )  # fmt: skip
    if package == "torch":
        return _of_torch(a, name)
    kind = getattr(a, "format", None)
    if not package or not isinstance(kind, str):
        raise TypeError(
            f"The matrix {name} must be a CSR matrix of SciPy, CuPy (cupyx.scipy.sparse) or PyTorch, or one in CSC, COO or BSR format, "
            f"not {cls.__module__}.{cls.__qualname__}."
        )
    if kind not in NAMES:
        raise TypeError(
            f"The matrix {name} is in format {kind!r}; the solver takes {', '.join(NAMES)}. Convert it with {name}.tocsr()."
        )
    if len(a.shape) != 2:
        raise TypeError(f"The matrix {name} must have two dimensions, but it has shape {tuple(a.shape)}.")
    if kind == "coo":
        return Stored(package, kind, a.shape, (a.row, a.col, a.data))
    return Stored(package, kind, a.shape, (a.indptr, a.indices, a.data))


def _of_torch(a: Any, name: str) -> Stored:
    layout = str(getattr(a, "layout", "")).removeprefix("torch.")
    if layout == "sparse_coo":
        if a.sparse_dim() != 2 or a.dense_dim():
            raise TypeError(
                f"The matrix {name} must have two sparse dimensions, but it is a torch COO tensor with {a.sparse_dim()} sparse and "
                f"{a.dense_dim()} dense ones. Stacks of matrices are taken in layout sparse_csr."
            )
        indices = a._indices()
        return Stored("torch", "coo", tuple(a.shape), (indices[0].contiguous(), indices[1].contiguous(), a._values()))
    if layout not in _TORCH:
        raise TypeError(
            f"The matrix {name} must be a torch tensor of layout sparse_csr (or sparse_csc, sparse_coo, sparse_bsr), not "
            f"{layout or type(a).__name__}. Convert it with {name}.to_sparse_csr()."
        )
    if a.dense_dim():
        raise TypeError(
            f"The matrix {name} has {a.dense_dim()} dense dimensions within its sparse ones; the solver takes none."
        )
    kind, first, second = _TORCH[layout]
    return Stored("torch", kind, tuple(a.shape), (getattr(a, first)(), getattr(a, second)(), a.values()))


def check_pair(package: str, b_package: str, name: str = "b") -> None:
    """Raise that the right-hand side is of another package than the matrix.

    Raises
    ------
    TypeError
        The packages do not belong together.
    """
    if PAIRS[package] != b_package:
        pairs = ", ".join(f"{left} with {right}" for left, right in PAIRS.items())
        raise TypeError(
            f"a is a matrix of {package} and {name} an array of {b_package}, which do not go together: {pairs}."
        )


def named(stored: tuple[Stored, ...], sides: tuple[Any, ...], sequences: tuple[bool, bool]) -> dict[str, Any]:
    """The arrays of all operands by name.

    Raises
    ------
    TypeError
        They are of packages or on devices that do not go together.
    ValueError
        A member of a sequence is no array.
    """
    for i, side in enumerate(sides if sequences[1] else ()):
        if isinstance(side, list | tuple) or not hasattr(side, "shape") or side.shape == ():
            raise ValueError(
                f"b[{i}] is of type {type(side).__name__}, which is no array. A sequence holds one right-hand side for each system; turn "
                "nested lists of numbers into an array with numpy.asarray first."
            )
    operands: dict[str, Any] = {}
    for i, one in enumerate(stored):
        for label, array in zip(NAMES[one.format], one.arrays, strict=True):
            operands[f"a[{i}].{label}" if sequences[0] else f"a.{label}"] = array
    first = stored[0].arrays[2]
    device = adapter_of(first).view(first).device
    for i, b in enumerate(sides):
        name = f"b[{i}]" if sequences[1] else "b"
        adapter = adapter_of(b)
        check_pair(stored[0].package, adapter.name, name)
        there = adapter.view(b).device
        if there != device:
            raise TypeError(
                f"a and {name} must be on one device, but they are on {device} and {there}. Move one of them."
            )
        operands[name] = b
    return operands


def like(
    taken: tuple[tuple[Stored, ...], bool], package: str, metas: tuple[tuple[str, tuple[int, ...]], ...], sequence: bool
) -> tuple[Any, ...]:
    """The arrays of new matrices, once they are known to be like the present ones.

    Raises
    ------
    TypeError
        They are not.
    """
    stored, many = taken
    if many != sequence:
        raise TypeError(f"a was {_amount(sequence)}, so it cannot be replaced by {_amount(many)}.")
    if len(stored) != len(metas):
        raise TypeError(f"a had {len(metas)} matrices, so it cannot be replaced by {len(stored)}.")
    for one, (form, shape) in zip(stored, metas, strict=True):
        if one.package != package:
            raise TypeError(f"a was a matrix of {package}, so it cannot be replaced by one of {one.package}.")
        if one.format != form:
            raise TypeError(
                f"a was in format {form}, so it cannot be replaced by a matrix in format {one.format}. Convert it."
            )
        if one.shape != shape:
            raise TypeError(
                f"a had shape {tuple(shape)}, so it cannot be replaced by a matrix of shape {tuple(one.shape)}."
            )
    return tuple(array for one in stored for array in one.arrays)


def sides_like(b: Any, package: str, count: int, sequence: bool) -> tuple[Any, ...]:
    """New right-hand sides, once they are known to be as many as before.

    Raises
    ------
    TypeError
        They are not, or of another package.
    """
    many = isinstance(b, list | tuple)
    if many != sequence:
        raise TypeError(f"b was {_amount(sequence)}, so it cannot be replaced by {_amount(many)}.")
    sides = tuple(b) if many else (b,)
    if len(sides) != count:
        raise TypeError(f"b had {count} right-hand sides, so it cannot be replaced by {len(sides)}.")
    for i, side in enumerate(sides):
        check_pair(package, adapter_of(side).name, f"b[{i}]" if many else "b")
    return sides


def _amount(sequence: bool) -> str:
    return "a sequence" if sequence else "a single object"


def is_packed(view: View) -> bool:
    """Whether an array fills its memory in row-major order; the strides of axes of extent 1 mean nothing."""
    expected = contiguous(view.shape)
    pairs = zip(view.shape, view.strides, expected, strict=True)
    return 0 in view.shape or all(given == step for extent, given, step in pairs if extent > 1)


def cut(made: Any, piece: Piece) -> Any:
    """One solution of a sequence, out of the memory of all."""
    count = 1
    for extent in piece.shape:
        count *= extent
    part = made[piece.start : piece.start + count]
    if len(piece.shape) == 1:
        return part
    sizes = tuple(piece.shape[axis] for axis in reversed(piece.order))
    return part.reshape(sizes) if piece.order == (1, 0) else part.reshape(sizes).T
