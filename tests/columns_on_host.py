"""The kernel for columns, thread by thread, in NumPy: the index arithmetic that its source is made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from nvmath.fft._columns_source import Recipe, butterfly

RADICES = {
    64: (8, 8), 128: (16, 8), 256: (16, 16), 512: (8, 8, 8), 1024: (16, 8, 8), 2048: (16, 16, 8), 4096: (16, 16, 16),
    8192: (16, 8, 8, 8),
}  # fmt: skip

# Recipes that no transform uses yet: short columns, and double precision.
UNUSED = [
    *(Recipe(length, 16, RADICES[length]) for length in (64, 128, 256)),
    *(Recipe(length, 16, RADICES[length], double=True) for length in (64, 128)),
    *(Recipe(length, 8, RADICES[length], double=True) for length in (256, 512)),
    *(Recipe(length, 4, RADICES[length], double=True) for length in (1024, 2048)),
    Recipe(4096, 2, RADICES[4096], double=True),
    Recipe(8192, 2, RADICES[8192]),
]


def name(recipe: Recipe) -> str:
    """A readable parameter."""
    return (
        f"{recipe.length}x{recipe.columns}-{recipe.points}-{recipe.cluster}-{'double' if recipe.double else 'single'}"
    )


class Emulation:
    """All threads in step, each with its registers, for any number of columns; the buffers hold NaN where nothing was written."""

    def __init__(self, recipe: Recipe, columns: np.ndarray[Any, Any], inverse: bool) -> None:
        self.recipe, self.columns = recipe, columns
        self.dtype = np.dtype(np.complex128 if recipe.double else np.complex64)
        self.turn = (2j if inverse else -2j) * np.pi
        self.threads = [{"t": np.arange(recipe.lanes), "rank": rank} for rank in range(recipe.cluster)]

    def at(self, rank: int, expression: str) -> np.ndarray[Any, Any]:
        """The value of an expression in all threads."""
        value = eval(expression.replace("/", "//"), self.threads[rank])
        return np.broadcast_to(value, (self.recipe.lanes,))

    def run(self) -> np.ndarray[Any, Any]:
        """Transform the columns."""
        recipe = self.recipe
        ranks = range(recipe.cluster)
        steps = recipe.first_step * np.arange(recipe.points)
        registers = [
            self.columns[self.at(rank, recipe.first_row) + steps[:, None]].astype(self.dtype) for rank in ranks
        ]
        for s, stage in enumerate(recipe.stages()):
            for rank in ranks:
                for q in range(stage.butterflies):
                    self.butterfly(registers[rank], stage, q)
            if s < len(recipe.radices) - 1:
                registers = self.exchange(registers, s)
        last = recipe.stages()[-1]
        result = np.full(self.columns.shape, np.nan, self.dtype)
        for rank in ranks:
            for q in range(last.butterflies):
                for register, distance in recipe.last_rows(q):
                    result[self.at(rank, recipe.last_row) + distance] = registers[rank][register]
        return result

    def butterfly(self, registers: np.ndarray[Any, Any], stage: Any, q: int) -> None:
        """One butterfly of every thread."""
        for first, *rest in butterfly(stage.radix).operations:
            a = stage.register(q, first)
            if len(rest) == 1:
                b = stage.register(q, rest[0])
                registers[a], registers[b] = registers[a] + registers[b], registers[a] - registers[b]
            else:
                registers[a] *= self.dtype.type(np.exp(self.turn * rest[0] / rest[1]))

    def exchange(self, registers: list[np.ndarray[Any, Any]], e: int) -> list[np.ndarray[Any, Any]]:
        """Multiply by the twiddle factors and give the points to the next stage."""
        recipe, stage, after = self.recipe, self.recipe.stages()[e], self.recipe.stages()[e + 1]
        layout = recipe.exchanges()[e]
        shared = np.full((recipe.cluster, layout.extent, self.columns.shape[1]), np.nan, self.dtype)
        tables = [self.table(rank) for rank in range(recipe.cluster)]
        digits = butterfly(stage.radix).digits
        for rank in range(recipe.cluster):
            own = layout.at(self.at(rank, stage.rho), self.at(rank, stage.j))  # type: ignore[arg-type]
            factor = stage.factors + self.at(rank, stage.factor)
            for q in range(stage.butterflies):
                for d in range(stage.radix):
                    value = registers[rank][stage.register(q, digits[d])]
                    if d:
                        value = value * tables[rank][factor + stage.width * (d - 1) + stage.factor_steps[q], None]
                    owner, distance = recipe.written(e, q, d)
                    target = shared[owner if e == 0 else rank]
                    assert np.isnan(target[own + distance]).all()
                    target[own + distance] = value
        result = []
        for rank in range(recipe.cluster):
            own = layout.at(self.at(rank, after.rho), self.at(rank, after.j))  # type: ignore[arg-type]
            points = np.full_like(registers[rank], np.nan)
            for q in range(after.butterflies):
                for k in range(after.radix):
                    points[after.register(q, k)] = shared[rank, own + recipe.read(e, q, k)]
            result.append(points)
        return result

    def table(self, rank: int) -> np.ndarray[Any, Any]:
        """The twiddle factors of a block, as its threads make them."""
        recipe = self.recipe
        table = np.full(recipe.table_extent, np.nan, self.dtype)
        for s, stage in enumerate(recipe.stages()[:-1]):
            i = np.arange(stage.width * (stage.radix - 1))
            turns = eval(recipe.turns(s).replace("/", "//"), {"i": i, "rank": rank})
            table[stage.factors + i] = np.exp(self.turn * turns / stage.size)
        return table
