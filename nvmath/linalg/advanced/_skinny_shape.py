"""How our own kernel for products that the memory bounds works: recipes, and the numbers that a product makes of one.

A thread keeps to a few neighbouring elements of the short side ("across") or of the long side ("along"), whichever lie next to each
other in D, so that a warp reads C and writes D as whole lines. The small factor stays in registers or in shared memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from ._skinny_form import Form, Strip


class Recipe(NamedTuple):
    """How the kernel works.

    Attributes
    ----------
    unroll : int
        Rows ("across") or columns ("along") that a thread has under way at a time.
    staged : bool
        Whether the long factor goes through shared memory, in whole lines.
    threads : int
        About so many in a block.
    """

    unroll: int
    staged: bool
    threads: int = 256


RECIPES: Final = (Recipe(4, False), Recipe(8, False), Recipe(4, True), Recipe(4, True, 128), Recipe(2, True, 128))
"""What autotuning measures, by number: records on disk name them so, so that a row never changes its place."""

_WORDS: Final = {"float": 1, "double": 2, "float2": 2, "double2": 4}
_MOST_HELD: Final = 80
"""Registers of a thread for its part of the long factor."""
_MOST_SHARED: Final = 48 << 10
_MOST_THREADS: Final = 512
_FEWEST_THREADS: Final = 32


@dataclass(frozen=True, slots=True)
class Shape:
    """The numbers that a kernel is compiled for.

    Attributes
    ----------
    along : bool
        Whether neighbours in D are neighbours along the long side.
    width : int
        Elements of D that a thread reads and writes as one word.
    x_width : int
        Elements of X that are read as one word, along K or, when `x_long`, along the long side.
    x_long : bool
        Whether they are.
    c_packed : bool
        Whether C is read as D is written.
    threads, unroll : int
        Of a block, and as in the recipe.
    tile : int
        What a block does in one step of the long side.
    pitch : int
        Elements from one row of X to the next in shared memory.
    """

    along: bool
    width: int
    x_width: int
    x_long: bool
    c_packed: bool
    threads: int
    unroll: int
    tile: int
    pitch: int


def shape_of(form: Form, recipe: Recipe) -> Shape | None:
    """Return the numbers for a product, or None when the recipe is not for it."""
    made = _shape_of(form, recipe)
    while made is not None and _shared_nbytes(form, recipe, made) > _MOST_SHARED:
        if not recipe.staged or recipe.threads <= _FEWEST_THREADS:
            return None
        recipe = recipe._replace(threads=recipe.threads // 2)
        made = _shape_of(form, recipe)
    return made


def _shape_of(form: Form, recipe: Recipe) -> Shape | None:
    along, x = form.d.long == 1, form.x
    width = _width_of_d(form, recipe, along)
    by_rows = x.short == 1 or form.k == 1
    if not width or (recipe.staged and not by_rows):  # else X lies as the threads read it
        return None
    x_long = along and not by_rows and width > 1 and _fits(x, width, form.length)
    x_width = width if x_long else 1
    if by_rows:
        x_width = _width(x.matrix.alignment, x.matrix.dtype.itemsize, form.k, x.long)
    columns = 1 if along else form.short // width
    threads = _threads(columns, recipe.threads)
    return Shape(
        along=along,
        width=width,
        x_width=x_width,
        x_long=x_long,
        c_packed=form.c is not None and _packs(form.c, along, width, form.length if along else form.short),
        threads=threads,
        unroll=_dividing(form.short, recipe.unroll) if along else recipe.unroll,
        tile=threads * width if along else threads // columns * recipe.unroll,
        pitch=form.k | 1,
    )


def _width_of_d(form: Form, recipe: Recipe, along: bool) -> int:
    """How many elements of D a thread does as one word; 0 when it has too few registers."""
    d, words = form.d.matrix, form.k * _WORDS[form.value]
    extent, other = (form.length, form.d.short) if along else (form.short, form.d.long)
    width = _width(d.alignment, d.dtype.itemsize, extent, other)
    if not along:
        return width
    while width > 1 and words * width > _MOST_HELD:
        width //= 2
    # neighbours in shared memory are a row apart when the width is 1, and no two threads wait for one bank
    return 0 if words * width > 2 * _MOST_HELD else 1 if recipe.staged else width


def _shared_nbytes(form: Form, recipe: Recipe, shape: Shape) -> int:
    small = form.k * form.short * 4 * _WORDS[form.value]
    return small + (shape.tile * shape.pitch * form.x.matrix.dtype.itemsize if recipe.staged else 0) + 32


def _width(alignment: int, itemsize: int, extent: int, other: int) -> int:
    """How many elements of a line of `extent` can be one word of up to 16 bytes, when lines are `other` elements apart."""
    width = max(1, 16 // itemsize)
    while width > 1 and (extent % width or other % width or alignment % (width * itemsize)):
        width //= 2
    return width


def _fits(x: Strip, width: int, length: int) -> bool:
    """Whether X can be read as words of so many elements along the long side."""
    itemsize = x.matrix.dtype.itemsize
    return x.long == 1 and width * itemsize <= 16 and _width(x.matrix.alignment, itemsize, length, x.short) >= width


def _packs(c: Strip, along: bool, width: int, extent: int) -> bool:
    """Whether C can be read as D is written."""
    inner, outer = (c.long, c.short) if along else (c.short, c.long)
    itemsize = c.matrix.dtype.itemsize
    return inner == 1 and width * itemsize <= 16 and _width(c.matrix.alignment, itemsize, extent, outer) >= width


def _threads(columns: int, about: int) -> int:
    """A multiple of the columns that fills warps well, near a number."""

    def rank(threads: int) -> tuple[float, int]:
        return round(threads / (-(-threads // 32) * 32), 2), -abs(threads - about)

    return max(range(columns, _MOST_THREADS + 1, columns), key=rank)


def _dividing(extent: int, most: int) -> int:
    return max(each for each in range(1, most + 1) if extent % each == 0)
