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
from nvmath.tensor._path_memory import in_order, smaller

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


def _size(count: int) -> int:
    return -(-8 * count // 256) * 256


def _placed(path: Path, inputs: list[Modes], output: Modes, extents: list[int]) -> tuple[int, int]:
    """Bytes that the intermediate results of a path take where they are placed, and the most that are alive together."""
    count, alive = len(inputs), dict(enumerate(inputs))
    sizes, last = [], [0] * max(0, len(path) - 1)
    most = 0
    for step, (x, y) in enumerate(path):
        for number in (x, y):
            if number >= count:
                last[number - count] = step
        used = sum(sizes[number - count] for number in alive if number >= count)
        both = alive.pop(x) | alive.pop(y)
        alive[count + step] = both & output.union(*alive.values())
        if len(alive) > 1:
            sizes.append(_size(prod(extents[mode] for mode in alive[count + step])))
            used += sizes[-1]
        most = max(most, used)
    return place(sizes, last)[1], most


@examples(150)
@given(drawn=expressions(12))
def test_one_subtree_after_the_other_leaves_no_gaps(drawn: tuple[list[Modes], Modes, list[int]]) -> None:
    inputs, output, extents = drawn
    path = find(inputs, output, extents, "greedy", ANY)
    ordered = in_order(path, inputs, output, extents, _size)
    assert cost_of(ordered, *drawn) == cost_of(path, *drawn)
    needed, most = _placed(ordered, *drawn)
    assert needed == most


@examples(100)
@given(drawn=expressions(5), share=st.sampled_from([1, 2, 3, 5]))
def test_small_paths_are_the_cheapest_within_the_limit(drawn: tuple[list[Modes], Modes, list[int]], share: int) -> None:
    inputs, output, extents = drawn
    every = {in_order(path, *drawn, _size) for path in every_path(tuple(range(len(inputs))), len(inputs))}
    needs = {path: _placed(path, *drawn)[0] for path in every}
    limit = max(needs.values()) // share
    fitting = [cost_of(path, *drawn)[0] for path, need in needs.items() if need <= limit]
    _, *got = smaller(inputs, output, extents, min(every), limit, _size)
    assert all(_placed(path, *drawn)[0] <= limit for path in got)
    assert [cost_of(path, *drawn)[0] for path in got[:1]] == sorted(fitting)[:1]
