"""The data types, one row each, and their names in every library.

A dtype is known by its *name*, which is the same string whatever the array package (``"complex64"``). Rows are interned:
compare them with ``is``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True, eq=False)
class DType:
    """One data type: its name, ``cudaDataType_t`` code, width and numeric class."""

    name: str
    code: int
    bits: int
    kind: str  # "f" real floating, "c" complex, "i" signed, "u" unsigned
    compute: int | None = None  # nvmath.ComputeType
    partner: str | None = None  # complex of a real, real of a complex
    itemsize: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "itemsize", max(1, self.bits // 8))

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return dtype, (self.name,)

    @property
    def real(self) -> DType:
        """The real type of the same precision."""
        return DTYPES[self.partner] if self.kind == "c" and self.partner else self

    @property
    def complex(self) -> DType:
        """The complex type of the same precision."""
        if self.kind == "c":
            return self
        if self.partner is None:
            raise ValueError(f"There is no complex type for {self.name}.")
        return DTYPES[self.partner]


_ROWS: Final = (
    # name, cudaDataType_t, bits, kind, compute type, partner
    ("float16", 2, 16, "f", 1, "complex32"),
    ("bfloat16", 14, 16, "f", 1024, "bcomplex32"),
    ("float32", 0, 32, "f", 4, "complex64"),
    ("float64", 1, 64, "f", 16, "complex128"),
    ("complex32", 6, 32, "c", 1, "float16"),
    ("bcomplex32", 15, 32, "c", 1024, "bfloat16"),
    ("complex64", 4, 64, "c", 4, "float32"),
    ("complex128", 5, 128, "c", 16, "float64"),
    ("int4", 16, 4, "i", None, None),
    ("uint4", 18, 4, "u", None, None),
    ("int8", 3, 8, "i", 256, None),
    ("uint8", 8, 8, "u", 64, None),
    ("int16", 20, 16, "i", None, None),
    ("uint16", 22, 16, "u", None, None),
    ("int32", 10, 32, "i", 512, None),
    ("uint32", 12, 32, "u", 128, None),
    ("int64", 24, 64, "i", None, None),
    ("uint64", 26, 64, "u", None, None),
    ("float8_e4m3fn", 28, 8, "f", None, None),
    ("float8_e5m2", 29, 8, "f", None, None),
    ("float4_e2m1fn_x2", 33, 4, "f", None, None),
)

DTYPES: Final[dict[str, DType]] = {row[0]: DType(*row) for row in _ROWS}


def dtype(name: str) -> DType:
    """Return the row of a dtype name.

    Raises
    ------
    ValueError
        The name is none of the known ones; the text lists them.
    """
    try:
        return DTYPES[name]
    except KeyError:
        raise ValueError(f"The dtype {name!r} is not supported. The known names are: {', '.join(DTYPES)}.") from None
