"""In which order many operands are contracted, and where intermediate results lie."""

from __future__ import annotations

from itertools import combinations
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tensor_cases import examples, metadata, problem

from nvmath.tensor._network import place, split
from nvmath.tensor._path import MemoryLimitError, Path, find, from_positions, to_positions

ANY = 1 << 62
Modes = frozenset[int]


@st.composite
def expressions(draw: st.DrawFn, most: int) -> tuple[list[Modes], Modes, list[int]]:
    """Modes of up to so many operands, of the result, and extents."""
    count = draw(st.integers(1, most))
    extents = draw(st.lists(st.integers(1, 9), min_size=1, max_size=6))
    modes = st.frozensets(st.integers(0, len(extents) - 1), max_size=4)
    inputs = [draw(modes) for _ in range(count)]
    every = frozenset[int]().union(*inputs)
    return inputs, draw(st.frozensets(st.sampled_from(sorted(every)))) if every else frozenset(), extents


def cost_of(path: Path, inputs: list[Modes], output: Modes, extents: list[int]) -> tuple[int, int]:
    """Multiplications along a path, and elements of the largest intermediate result."""
    alive, total, largest = dict(enumerate(inputs)), 0, 0
    for number, (x, y) in enumerate(path, len(inputs)):
        both = alive.pop(x) | alive.pop(y)
        made = both & output.union(*alive.values())
        total += prod(extents[mode] for mode in both)
        alive[number] = made
        if len(alive) > 1:
            largest = max(largest, prod(extents[mode] for mode in made))
    assert len(alive) == 1
    return total, largest


def every_path(alive: tuple[int, ...], next_number: int) -> list[Path]:
    if len(alive) == 1:
        return [()]
    return [
        ((x, y), *rest)
        for x, y in combinations(alive, 2)
        for rest in every_path((*(n for n in alive if n not in (x, y)), next_number), next_number + 1)
    ]


@examples(150)
@given(drawn=expressions(5), limit=st.sampled_from([ANY, 100, 10, 1]))
def test_the_optimal_path_is_the_best_of_all(drawn: tuple[list[Modes], Modes, list[int]], limit: int) -> None:
    inputs, output, extents = drawn
    costs = [cost_of(path, *drawn) for path in every_path(tuple(range(len(inputs))), len(inputs))]
    allowed = [total for total, largest in costs if largest <= limit]
    if not allowed:
        with pytest.raises(MemoryLimitError, match="memory limit"):
            find(inputs, output, extents, "optimal", limit)
        return
    total, largest = cost_of(find(inputs, output, extents, "optimal", limit), *drawn)
    assert (total, largest <= limit) == (min(allowed), True)


@examples(150)
@given(drawn=expressions(12), limit=st.sampled_from([ANY, 100, 10]))
def test_a_greedy_path_contracts_everything_within_the_limit(drawn: tuple[list[Modes], Modes, list[int]], limit: int) -> None:
    inputs, output, extents = drawn
    try:
        path = find(inputs, output, extents, "greedy", limit)
    except MemoryLimitError:
        assert limit != ANY
        return
    assert cost_of(path, *drawn)[1] <= limit
    assert from_positions(to_positions(path, len(inputs)), len(inputs)) == path or len(inputs) == 1


@examples(200)
@given(data=st.data())
def test_intermediate_results_never_share_memory_while_they_are_needed(data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.integers(1, 5000), max_size=9))
    last = [data.draw(st.integers(step + 1, len(sizes))) for step in range(len(sizes))]
    offsets, nbytes = place(sizes, last)
    for i, j in combinations(range(len(sizes)), 2):
        if last[i] >= j:  # i is still read when j is written
            assert offsets[i] + sizes[i] <= offsets[j] or offsets[j] + sizes[j] <= offsets[i]
    assert all(offset % 256 == 0 and offset + size <= nbytes for offset, size in zip(offsets, sizes, strict=True))
    assert nbytes <= sum(-(-size // 256) * 256 for size in sizes)


def test_buffers_are_used_again() -> None:
    square = metadata((8, 8))
    network = split(problem("ab,bc,cd,de,ef->af", *[square] * 5), ((0, 1), (5, 2), (6, 3), (7, 4)))
    assert [step.offset for step in network.steps[:-1]] == [0, 512, 0]
    assert (network.nbytes, network.largest, network.flops) == (1024, 64, 4 * 2 * 8**3)
    assert [str(step) for step in network.steps] == ["ab,bc->ac", "ac,cd->ad", "ad,de->ae", "ae,ef->af"]


def test_what_is_summed_is_known_to_every_step() -> None:
    network = split(problem("ax,ab,bc,c->", metadata((2, 3)), metadata((2, 4)), metadata((4, 5)), metadata((5,))), ((0, 1), (2, 3), (4, 5)))
    assert [str(step) for step in network.steps] == ["ax,ab->b", "bc,c->b", "b,b->"]
