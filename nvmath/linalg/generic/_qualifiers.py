"""Qualifiers: what is known about the values of a matrix, as records of NumPy."""

from __future__ import annotations

from typing import Any, ClassVar, Final, Literal, NamedTuple, NoReturn

import numpy as np

from ...bindings.cublas import DiagType, FillMode

matrix_qualifiers_dtype: Final = np.dtype(
    [("abbreviation", "U2"), ("conjugate", np.bool_), ("uplo", np.int_), ("diag", np.int_), ("incx", np.int_)]
)
"""The dtype of an array of qualifiers: one entry for each operand."""

MatrixQualifier = np.ndarray
"""The type of a qualifier, and of an array of them: NumPy arrays of ``matrix_qualifiers_dtype``."""


class Structure(NamedTuple):
    """What a qualifier says, without the conjugation: the part of the values that is stored, and what the others are."""

    kind: str = "ge"
    upper: bool = False
    unit: bool = False
    reverse: bool = False

    @property
    def general(self) -> bool:
        """Whether every element is stored."""
        return self.kind == "ge"

    @property
    def turned(self) -> Structure:
        """The structure of the transpose."""
        return self if self.kind in ("ge", "dg") else self._replace(upper=not self.upper)


GENERAL: Final = Structure()
NAMES: Final = {"ge": "general", "sy": "symmetric", "he": "Hermitian", "tr": "triangular", "dg": "diagonal"}


class _Constructor:
    """Base of the classes that make qualifiers."""

    abbreviation: ClassVar[str]

    def __new__(cls) -> NoReturn:
        raise RuntimeError(f"{cls.__name__} is not to be called. Use {cls.__name__}.create() to make a qualifier.")

    @classmethod
    def _make(cls, conjugate: Any, uplo: int, diag: int, incx: int) -> np.ndarray[Any, Any]:
        return np.array((cls.abbreviation, bool(conjugate), uplo, diag, incx), matrix_qualifiers_dtype)

    @classmethod
    def is_valid(cls, other: Any) -> Any:
        """Tell whether a qualifier, or every one of an array, is one of this class with fields that it may have.

        Parameters
        ----------
        other : array
            Of ``matrix_qualifiers_dtype``.
        """
        fits = other["abbreviation"] == cls.abbreviation
        for name, allowed in _ALLOWED[cls.abbreviation].items():
            fits = fits & np.isin(other[name], allowed)
        return np.all(fits)

    @classmethod
    def to_string(cls, other: Any) -> str:
        """Write a qualifier out.

        Parameters
        ----------
        other : array
            One qualifier, of ``matrix_qualifiers_dtype``.
        """
        uplo, diag = FillMode(int(other["uplo"])).name, DiagType(int(other["diag"])).name
        return f"({other['abbreviation']}, conjugate={bool(other['conjugate'])}, uplo={uplo}, diag={diag}, incx={int(other['incx'])})"


def _choice(name: str, value: Any, allowed: tuple[int, ...], words: str) -> int:
    if value not in allowed:
        raise ValueError(f"{name} must be {words}, not {value!r}.")
    return int(value)


def _fill(uplo: Any) -> int:
    return _choice("uplo", uplo, _HALVES, "FillMode.LOWER or FillMode.UPPER")


class GeneralMatrixQualifier(_Constructor):
    """Makes qualifiers of matrices without any structure.

    Examples
    --------
    >>> from nvmath.linalg import GeneralMatrixQualifier
    >>> GeneralMatrixQualifier.to_string(GeneralMatrixQualifier.create(conjugate=True))
    '(ge, conjugate=True, uplo=FULL, diag=NON_UNIT, incx=0)'
    """

    abbreviation = "ge"

    @classmethod
    def create(cls, conjugate: bool = False) -> np.ndarray[Any, Any]:
        """Make a qualifier.

        Parameters
        ----------
        conjugate : bool, default False
            Whether the conjugate of the matrix is meant.
        """
        return cls._make(conjugate, FillMode.FULL, DiagType.NON_UNIT, 0)


class SymmetricMatrixQualifier(_Constructor):
    """Makes qualifiers of square matrices that equal their transpose; one triangle is read.

    Examples
    --------
    >>> from nvmath.linalg import FillMode, SymmetricMatrixQualifier
    >>> SymmetricMatrixQualifier.to_string(SymmetricMatrixQualifier.create(uplo=FillMode.UPPER))
    '(sy, conjugate=False, uplo=UPPER, diag=NON_UNIT, incx=0)'
    """

    abbreviation = "sy"

    @classmethod
    def create(cls, conjugate: bool = False, uplo: FillMode = FillMode.LOWER) -> np.ndarray[Any, Any]:
        """Make a qualifier.

        Parameters
        ----------
        conjugate : bool, default False
            Whether the conjugate of the matrix is meant.
        uplo : FillMode, default LOWER
            The triangle that is read.

        Raises
        ------
        ValueError
            `uplo` is neither LOWER nor UPPER.
        """
        return cls._make(conjugate, _fill(uplo), DiagType.NON_UNIT, 0)


class HermitianMatrixQualifier(_Constructor):
    """Makes qualifiers of square matrices that equal their conjugate transpose; one triangle is read.

    The imaginary parts of the diagonal are taken for zero.

    Examples
    --------
    >>> from nvmath.linalg import HermitianMatrixQualifier
    >>> HermitianMatrixQualifier.to_string(HermitianMatrixQualifier.create())
    '(he, conjugate=False, uplo=LOWER, diag=NON_UNIT, incx=0)'
    """

    abbreviation = "he"

    @classmethod
    def create(cls, conjugate: bool = False, uplo: FillMode = FillMode.LOWER) -> np.ndarray[Any, Any]:
        """Make a qualifier.

        Parameters
        ----------
        conjugate : bool, default False
            Whether the conjugate of the matrix is meant.
        uplo : FillMode, default LOWER
            The triangle that is read.

        Raises
        ------
        ValueError
            `uplo` is neither LOWER nor UPPER.
        """
        return cls._make(conjugate, _fill(uplo), DiagType.NON_UNIT, 0)


class TriangularMatrixQualifier(_Constructor):
    """Makes qualifiers of square matrices with zeros above or below the diagonal, which are not read.

    Examples
    --------
    >>> from nvmath.linalg import DiagType, TriangularMatrixQualifier
    >>> TriangularMatrixQualifier.to_string(TriangularMatrixQualifier.create(diag=DiagType.UNIT))
    '(tr, conjugate=False, uplo=LOWER, diag=UNIT, incx=0)'
    """

    abbreviation = "tr"

    @classmethod
    def create(
        cls, conjugate: bool = False, uplo: FillMode = FillMode.LOWER, diag: DiagType = DiagType.NON_UNIT
    ) -> np.ndarray[Any, Any]:
        """Make a qualifier.

        Parameters
        ----------
        conjugate : bool, default False
            Whether the conjugate of the matrix is meant.
        uplo : FillMode, default LOWER
            The triangle that is read.
        diag : DiagType, default NON_UNIT
            UNIT takes the diagonal for ones, without reading it.

        Raises
        ------
        ValueError
            `uplo` is neither LOWER nor UPPER, or `diag` neither UNIT nor NON_UNIT.
        """
        return cls._make(
            conjugate, _fill(uplo), _choice("diag", diag, _DIAGONALS, "DiagType.UNIT or DiagType.NON_UNIT"), 0
        )


class DiagonalMatrixQualifier(_Constructor):
    """Makes qualifiers of diagonal matrices, whose operand is the diagonal alone: one axis instead of two.

    Examples
    --------
    >>> from nvmath.linalg import DiagonalMatrixQualifier
    >>> DiagonalMatrixQualifier.to_string(DiagonalMatrixQualifier.create(incx=-1))
    '(dg, conjugate=False, uplo=FULL, diag=NON_UNIT, incx=-1)'
    """

    abbreviation = "dg"

    @classmethod
    def create(cls, conjugate: bool = False, incx: Literal[-1, 1] = 1) -> np.ndarray[Any, Any]:
        """Make a qualifier.

        Parameters
        ----------
        conjugate : bool, default False
            Whether the conjugate of the matrix is meant.
        incx : {1, -1}, default 1
            -1 reads the diagonal from its last element to its first.

        Raises
        ------
        ValueError
            `incx` is neither 1 nor -1.
        """
        return cls._make(conjugate, FillMode.FULL, DiagType.NON_UNIT, _choice("incx", incx, _STEPS, "1 or -1"))


_HALVES: Final = (int(FillMode.LOWER), int(FillMode.UPPER))
_DIAGONALS: Final = (int(DiagType.NON_UNIT), int(DiagType.UNIT))
_STEPS: Final = (1, -1)
_ALLOWED: Final[dict[str, dict[str, tuple[int, ...]]]] = {
    "ge": {"uplo": (int(FillMode.FULL),), "diag": (0,), "incx": (0,)},
    "sy": {"uplo": _HALVES, "diag": (0,), "incx": (0,)},
    "he": {"uplo": _HALVES, "diag": (0,), "incx": (0,)},
    "tr": {"uplo": _HALVES, "diag": _DIAGONALS, "incx": (0,)},
    "dg": {"uplo": (int(FillMode.FULL),), "diag": (0,), "incx": _STEPS},
}

Read = tuple[tuple[Structure, bool], ...]
"""Structure and conjugation of A and of B."""
PLAIN: Final[Read] = ((GENERAL, False), (GENERAL, False))


def read(value: Any, with_c: bool) -> Read:
    """Return what the qualifiers of A and B say; those of C may say nothing.

    Raises
    ------
    ValueError
        The value is no array of ``matrix_qualifiers_dtype`` with one entry for each operand, an entry has a field that its
        kind may not have, or C is conjugated.
    NotImplementedError
        C is not general.
    """
    if value is None:
        return PLAIN
    if not isinstance(value, np.ndarray) or value.dtype != matrix_qualifiers_dtype:
        given = f"an array of dtype {value.dtype}" if isinstance(value, np.ndarray) else type(value).__name__
        raise ValueError(
            f"qualifiers must be a NumPy array of matrix_qualifiers_dtype, not {given}. Make one with "
            "numpy.empty(2, nvmath.linalg.matrix_qualifiers_dtype) and assign GeneralMatrixQualifier.create() and the like to its entries."
        )
    if value.ndim != 1 or len(value) not in ((3,) if with_c else (2, 3)):
        raise ValueError(
            f"The number of qualifiers must match the number of operands: expected shape {(3,) if with_c else (2,)}, not {value.shape}."
        )
    entries = value.tolist()
    for name, entry in zip("abc", entries, strict=False):
        _check(name, entry)
    if len(entries) == 3:
        if entries[2][1]:
            raise ValueError("The qualifier of C cannot be conjugated. Pass the conjugate of C.")
        if entries[2][0] != "ge":
            raise NotImplementedError(
                f"C must be general, but its qualifier says {NAMES[entries[2][0]]}. Pass the full matrix."
            )
    return tuple(
        (Structure(kind, uplo == FillMode.UPPER, diag == 1, incx == -1), flag)
        for kind, flag, uplo, diag, incx in entries[:2]
    )


def _check(name: str, entry: tuple[Any, ...]) -> None:
    kind, fields = entry[0], dict(zip(("uplo", "diag", "incx"), entry[2:], strict=True))
    if kind not in _ALLOWED:
        raise ValueError(
            f"The qualifier of {name} has the unknown abbreviation {kind!r}; known are {', '.join(_ALLOWED)}."
        )
    for field, allowed in _ALLOWED[kind].items():
        if fields[field] not in allowed:
            raise ValueError(
                f"The qualifier of {name} says {NAMES[kind]} with {field}={fields[field]}; allowed is {' or '.join(map(str, allowed))}. "
                "Make qualifiers with create()."
            )
