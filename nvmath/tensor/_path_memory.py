"""Paths whose intermediate results need little memory at a time. Pure functions over sets of modes and their extents.

Along a tree of products one subtree is computed after the other. What is alive then: the results of the subtrees that are done, and
what the present one needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from ._path import OPTIMAL_UP_TO, RULES, MemoryLimitError, Modes, Pair, Path, by_rule, cost_of, left_of, size_of

Size = Callable[[int], int]
"""Bytes that an intermediate result of so many elements takes."""
Tree = Any
"""The number of an operand, or a pair of trees, the first of which is computed first."""

_SHARES: Final = (1, 2, 3, 4, 6, 8)
_KEPT: Final = 8
"""How many ways to a subset of the operands are compared: each is cheaper than the next one, which needs less memory."""


def smaller(
    inputs: Sequence[Modes], output: Modes, extents: Sequence[int], path: Path, limit: int, size: Size
) -> Iterator[Path]:
    """Yield paths that may need less memory at a time than one that was found, the cheapest first: first the same in a better order.

    Up to 8 operands they are all that stay within the limit, as long as one subtree is computed after the other.
    """
    yield in_order(path, inputs, output, extents, size)
    if len(inputs) <= OPTIMAL_UP_TO:
        yield from _every_tree(inputs, output, extents, limit, size)
        return
    found: dict[Path, int] = {}
    for share in _SHARES:
        for rule in RULES:
            try:
                other = by_rule(rule, inputs, output, extents, _most_elements(limit // share, size))
            except MemoryLimitError:
                continue
            found[in_order(other, inputs, output, extents, size)] = cost_of(other, inputs, output, extents)
    yield from sorted(found, key=lambda other: found[other])


def _most_elements(nbytes: int, size: Size) -> int:
    """How many elements take at most so many bytes."""
    low, high = 0, nbytes + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if size(middle) <= nbytes else (low, middle)
    return low


def in_order(path: Path, inputs: Sequence[Modes], output: Modes, extents: Sequence[int], size: Size) -> Path:
    """Return the same products in the order that needs the least memory at a time, one subtree after the other."""
    count = len(inputs)
    trees: list[Tree] = list(range(count))
    covered = [1 << number for number in range(count)]
    peaks, kept = [0] * count, [0] * count
    for x, y in path:
        both = covered[x] | covered[y]
        own = size(size_of(left_of(both, inputs, output), extents)) if both != (1 << count) - 1 else 0
        first, second = (x, y) if _peak(peaks, kept, x, y) <= _peak(peaks, kept, y, x) else (y, x)
        trees.append((trees[first], trees[second]))
        covered.append(both)
        peaks.append(max(_peak(peaks, kept, first, second), kept[x] + kept[y] + own))
        kept.append(own)
    return _written(trees[-1], count)


def _peak(peaks: Sequence[int], kept: Sequence[int], first: int, second: int) -> int:
    return max(peaks[first], kept[first] + peaks[second])


def _written(tree: Tree, count: int) -> Path:
    path: list[Pair] = []

    def number_of(tree: Tree) -> int:
        if isinstance(tree, int):
            return tree
        first, second = number_of(tree[0]), number_of(tree[1])
        path.append((min(first, second), max(first, second)))
        return count + len(path) - 1

    number_of(tree)
    return tuple(path)


Way = tuple[int, int, Tree]
"""Multiplications, bytes at a time, and the tree."""


def _every_tree(
    inputs: Sequence[Modes], output: Modes, extents: Sequence[int], limit: int, size: Size
) -> Iterator[Path]:
    """Yield the cheapest path within the limit, then those that cost more and need less."""
    count = len(inputs)
    full = (1 << count) - 1
    left = [frozenset[int](), *(left_of(subset, inputs, output) for subset in range(1, full + 1))]
    kept = [0] * (full + 1)
    ways: dict[int, list[Way]] = {}
    for number in range(count):
        ways[1 << number] = [(0, 0, number)]
    for subset in sorted(range(1, full + 1), key=int.bit_count):
        if subset & (subset - 1) == 0:
            continue
        kept[subset] = size(size_of(left[subset], extents)) if subset != full else 0
        found: list[Way] = []
        part = (subset - 1) & subset
        while part:
            other = subset ^ part  # what is computed second; the same two come again in the other order
            together = kept[part] + kept[other] + kept[subset]
            if together <= limit and part in ways and other in ways:
                cost = size_of(left[part] | left[other], extents)
                for first in ways[part]:
                    for second in ways[other]:
                        peak = max(first[1], kept[part] + second[1], together)
                        if peak <= limit:
                            found.append((first[0] + second[0] + cost, peak, (first[2], second[2])))
            part = (part - 1) & subset
        if found:
            ways[subset] = _best(found)
    for _, _, tree in ways.get(full, ()):
        yield _written(tree, count)


def _best(found: list[Way]) -> list[Way]:
    """Keep the ways that no other beats in both respects, always the one of the least memory."""
    found.sort(key=lambda way: way[:2])
    kept: list[Way] = []
    for way in found:
        if not kept or way[1] < kept[-1][1]:
            kept.append(way)
    return [*kept[: _KEPT - 1], kept[-1]] if len(kept) > _KEPT else kept
