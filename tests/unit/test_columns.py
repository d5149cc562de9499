"""The kernel for columns, thread by thread: the index arithmetic that its source is made of, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nvmath.bindings._errors import LibraryNotFoundError
from nvmath.fft._columns import recipe_of
from nvmath.fft._columns_source import Recipe, butterfly, source

LENGTHS = [(n, double) for n in (64, 128, 256, 512, 1024, 2048, 4096, 8192) for double in (False, True)]
CHOSEN = [recipe for n, double in LENGTHS if (recipe := recipe_of(n, double)) is not None]
OTHERS = [
    Recipe(4096, 2, (16, 16, 16)),
    Recipe(4096, 4, (16, 16, 16), points=32),
    Recipe(4096, 4, (16, 16, 16), cluster=2),
    Recipe(4096, 8, (16, 16, 16), points=32, cluster=2),
    Recipe(4096, 16, (16, 16, 16), cluster=4),
    Recipe(8192, 8, (16, 8, 8, 8), cluster=4),
    Recipe(2048, 8, (16, 16, 8), cluster=2),
    Recipe(512, 8, (8, 8, 8), points=8),
    Recipe(512, 4, (2, 4, 4, 16), double=True),
]
KEPT = 1e-6, 3e-15


def name(recipe: Recipe) -> str:
    """A readable parameter."""
    return (
        f"{recipe.length}x{recipe.columns}-{recipe.points}-{recipe.cluster}-{'double' if recipe.double else 'single'}"
    )


class Emulation:
    """All threads of one tile in step, each with its registers; the buffers hold NaN where nothing was written."""

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
        """Transform the tile."""
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
        shared = np.full((recipe.cluster, layout.extent, recipe.columns), np.nan, self.dtype)
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


@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize("recipe", [*CHOSEN, *OTHERS], ids=name)
def test_threads_compute_the_transform(recipe: Recipe, inverse: bool) -> None:
    random = np.random.default_rng(recipe.length)
    columns = random.standard_normal((recipe.length, recipe.columns)) + 1j * random.standard_normal(
        (recipe.length, recipe.columns)
    )
    emulation = Emulation(recipe, columns, inverse)
    got = emulation.run()
    columns = columns.astype(emulation.dtype).astype(np.complex128)
    want = np.fft.ifft(columns, axis=0) * recipe.length if inverse else np.fft.fft(columns, axis=0)
    error = np.linalg.norm(got - want) / np.linalg.norm(want)
    assert error < (2e-16 if recipe.double else 4e-8) * np.log2(recipe.length)


@pytest.mark.parametrize("radix", [2, 4, 8, 16])
def test_butterfly(radix: int) -> None:
    values = np.random.default_rng(radix).standard_normal(radix) + 0j
    points = values.copy()
    for first, *rest in butterfly(radix).operations:
        if len(rest) == 1:
            points[first], points[rest[0]] = points[first] + points[rest[0]], points[first] - points[rest[0]]
        else:
            points[first] *= np.exp(-2j * np.pi * rest[0] / rest[1])
    np.testing.assert_allclose(points[list(butterfly(radix).digits)], np.fft.fft(values), atol=1e-13)


@pytest.mark.parametrize("recipe", CHOSEN, ids=name)
def test_chosen_recipes_fit_a_multiprocessor(recipe: Recipe) -> None:
    """At most 1024 threads and 227 KB of shared memory a block; data in half of the registers, which are 256 KB."""
    assert recipe.threads <= 1024
    assert recipe.threads % 32 == 0
    assert recipe.shared_nbytes <= 227 << 10
    assert recipe.threads * recipe.points * recipe.itemsize <= 128 << 10
    assert [recipe.conflicts(exchange, e) for e, exchange in enumerate(recipe.exchanges())] == [0] * (
        len(recipe.radices) - 1
    )


@pytest.mark.parametrize("recipe", [*CHOSEN, *OTHERS], ids=name)
def test_no_warp_has_bank_conflicts(recipe: Recipe) -> None:
    words = recipe.itemsize // 4
    group = 32 // words
    for e, layout in enumerate(recipe.exchanges()):
        for stage in recipe.stages()[e : e + 2]:
            for rank in range(recipe.cluster):
                names = {"t": np.arange(recipe.threads) // recipe.columns, "rank": rank}
                own = layout.at(eval(stage.rho, names), eval(stage.j, names))
                addresses = own * recipe.columns + np.arange(recipe.threads) % recipe.columns
                for start in range(0, recipe.threads, group):
                    part = np.broadcast_to(addresses, (recipe.threads,))[start : start + group]
                    banks = (part[:, None] * words + np.arange(words)).ravel() % 32
                    assert np.unique(banks).size == banks.size


def test_refuses_radices_of_another_length() -> None:
    with pytest.raises(ValueError, match="do not make 128 points"):
        Recipe(128, 4, (8, 8))


def test_refuses_a_cluster_that_cannot_share() -> None:
    with pytest.raises(ValueError, match="cannot share"):
        Recipe(64, 4, (8, 8), cluster=16)


@pytest.mark.parametrize(("prolog", "epilog"), [(False, False), (True, True)])
@pytest.mark.parametrize("recipe", [CHOSEN[0], OTHERS[4]], ids=name)
def test_source_compiles(recipe: Recipe, prolog: bool, epilog: bool) -> None:
    nvrtc = pytest.importorskip("nvmath.bindings._nvrtc")
    try:
        nvrtc.version()
    except LibraryNotFoundError as error:
        pytest.skip(str(error))
    code = nvrtc.compile(source(recipe, True, prolog, epilog), options=("-arch=sm_90", "-rdc=true"), kind="ltoir")
    assert code
