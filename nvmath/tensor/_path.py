"""In which order to contract many operands, two at a time. Pure functions over sets of modes and their extents.

A path is a list of pairs. Operands have the numbers 0 to n - 1; each product gets the next number.
"""

from __future__ import annotations

import heapq
import operator
from collections import Counter
from collections.abc import Iterable, Sequence
from math import prod
from typing import Any, Final

Pair = tuple[int, int]
Path = tuple[Pair, ...]
Modes = frozenset[int]

RULES: Final[tuple[Pair, ...]] = ((1, 1), (2, 1), (1, 0), (1, 2))
"""How much the size of a product counts, and what it frees."""
OPTIMAL_UP_TO: Final = 8
"""Number of operands for which every order is compared: 3 ** n pairs of subsets."""
WAYS: Final = ("auto", "optimal", "greedy")


class MemoryLimitError(ValueError):
    """No order keeps its intermediate results below the memory limit."""


def find(inputs: Sequence[Modes], output: Modes, extents: Sequence[int], way: Any, limit: int) -> Path:
    """Return a path.

    Parameters
    ----------
    inputs, output : set of int
        The modes of each operand and of the result.
    extents : sequence of int
        The extent of each mode.
    way : str or sequence
        ``"optimal"``, ``"greedy"``, ``"auto"`` (optimal up to 8 operands), or a path in NumPy's form.
    limit : int
        Number of elements that an intermediate result may have.

    Raises
    ------
    ValueError
        The way is unknown or no path of so many operands, or no order keeps the limit.
    """
    if not isinstance(way, str):
        return from_positions(way, len(inputs))
    if way not in WAYS:
        raise ValueError(f"optimize must be one of {', '.join(map(repr, WAYS))} or a path, not {way!r}.")
    if way == "auto":
        way = "optimal" if len(inputs) <= OPTIMAL_UP_TO else "greedy"
    return (_optimal if way == "optimal" else _greedy)(inputs, output, extents, limit)


def left_of(subset: int, inputs: Sequence[Modes], output: Modes) -> Modes:
    """Return the modes of the product of some operands, which are given as bits: those that the others or the result have."""
    inside, outside = frozenset[int](), output
    for number, modes in enumerate(inputs):
        if subset >> number & 1:
            inside |= modes
        else:
            outside |= modes
    return inside & outside if subset & (subset - 1) else inside


def size_of(modes: Iterable[int], extents: Sequence[int]) -> int:
    """Return the number of elements."""
    return prod(extents[mode] for mode in modes)


def _too_large(limit: int) -> MemoryLimitError:
    return MemoryLimitError(
        f"No order of the pairs keeps every intermediate result within the memory limit, which allows {limit} elements."
    )


def _optimal(inputs: Sequence[Modes], output: Modes, extents: Sequence[int], limit: int) -> Path:
    """Compare all orders: the cheapest way to every subset of the operands, from small subsets to large ones."""
    count = len(inputs)
    full = (1 << count) - 1
    union = [frozenset[int]()] * (full + 1)
    for subset in range(1, full + 1):
        low = subset & -subset
        union[subset] = union[subset ^ low] | inputs[low.bit_length() - 1]
    left = [union[subset] & (union[full ^ subset] | output) for subset in range(full + 1)]
    for number in range(count):
        left[1 << number] = inputs[number]
    best: dict[int, tuple[int, int]] = {1 << number: (0, 0) for number in range(count)}
    for subset in sorted(range(1, full + 1), key=int.bit_count):
        if subset & (subset - 1) == 0 or (subset != full and size_of(left[subset], extents) > limit):
            continue
        part = (subset - 1) & subset
        while part > subset ^ part:
            other = subset ^ part
            if part in best and other in best:
                cost = best[part][0] + best[other][0] + size_of(left[part] | left[other], extents)
                if subset not in best or cost <= best[subset][0]:  # of equals the one that begins at the left
                    best[subset] = cost, part
            part = (part - 1) & subset
    if full not in best:
        raise _too_large(limit)
    path: list[Pair] = []

    def number_of(subset: int) -> int:
        if subset & (subset - 1) == 0:
            return subset.bit_length() - 1
        part = best[subset][1]
        pair = sorted((number_of(part), number_of(subset ^ part)))
        path.append((pair[0], pair[1]))
        return count + len(path) - 1

    number_of(full)
    return tuple(path)


def _greedy(inputs: Sequence[Modes], output: Modes, extents: Sequence[int], limit: int) -> Path:
    """Go step by step by each of several rules, and take the cheapest of their paths."""
    found: list[tuple[int, Path]] = []
    for rule in RULES:
        try:
            path = by_rule(rule, inputs, output, extents, limit)
        except MemoryLimitError:
            continue
        found.append((cost_of(path, inputs, output, extents), path))
    if not found:
        raise _too_large(limit)
    return min(found, key=lambda pair: pair[0])[1]


def cost_of(path: Path, inputs: Sequence[Modes], output: Modes, extents: Sequence[int]) -> int:
    """Number of multiplications along a path."""
    alive, users = dict(enumerate(inputs)), Counter(mode for modes in (*inputs, output) for mode in modes)
    total = 0
    for made, (x, y) in enumerate(path, len(inputs)):
        a, b = alive.pop(x), alive.pop(y)
        users.subtract(a)
        users.subtract(b)
        alive[made] = frozenset(mode for mode in a | b if users[mode] > 0)
        users.update(alive[made])
        total += size_of(a | b, extents)
    return total


def by_rule(rule: Pair, inputs: Sequence[Modes], output: Modes, extents: Sequence[int], limit: int) -> Path:
    """Contract the pair first whose product is small beside what it frees; what shares no mode comes last, the smallest first."""
    weight, freed = rule
    alive = dict(enumerate(inputs))
    users = Counter(mode for modes in inputs for mode in modes)
    path: list[Pair] = []
    queue: list[tuple[int, int, int]] = []

    def product(x: int, y: int) -> Modes:
        both = alive[x] | alive[y]
        return frozenset(m for m in both if m in output or users[m] > (m in alive[x]) + (m in alive[y]))

    def consider(x: int, y: int) -> None:
        made = size_of(product(x, y), extents)
        if made <= limit or len(alive) == 2:
            heapq.heappush(queue, (weight * made - freed * (size_of(alive[x], extents) + size_of(alive[y], extents)), x, y))

    def consider_all() -> None:
        numbers = sorted(alive)
        for position, x in enumerate(numbers):
            for y in numbers[position + 1 :]:
                if alive[x] & alive[y]:
                    consider(x, y)

    consider_all()
    while len(alive) > 1:
        while queue and not (queue[0][1] in alive and queue[0][2] in alive):
            heapq.heappop(queue)
        if queue:
            _, x, y = heapq.heappop(queue)
        else:
            x, y = sorted(sorted(alive, key=lambda number: size_of(alive[number], extents))[:2])
            if len(alive) > 2 and size_of(product(x, y), extents) > limit:
                raise _too_large(limit)
        made = product(x, y)
        users.subtract(alive.pop(x))
        users.subtract(alive.pop(y))
        users.update(made)
        new = len(inputs) + len(path)
        path.append((x, y))
        alive[new] = made
        for other in sorted(alive):
            if other != new and alive[other] & made:
                consider(other, new)
    return tuple(path)


def from_positions(given: Any, count: int) -> Path:
    """Return the path that is meant by positions in a shrinking list, as NumPy and opt_einsum write it.

    Raises
    ------
    ValueError
        It is no such list, or it does not end with one array.
    """
    numbers = list(range(count))
    path: list[Pair] = []
    try:
        entries = list(given)
    except TypeError:
        raise ValueError(f"optimize must be one of {', '.join(map(repr, WAYS))} or a path, not {given!r}.") from None
    for entry in entries[1:] if entries[:1] == ["einsum_path"] else entries:
        try:
            positions = sorted({operator.index(position) for position in entry})
        except TypeError:
            positions = []
        if not positions or positions[0] < 0 or positions[-1] >= len(numbers) or len(positions) != len(entry):
            raise ValueError(f"{entry!r} in the path is no tuple of different positions among {len(numbers)} arrays.")
        taken = [numbers.pop(position) for position in reversed(positions)][::-1]
        while len(taken) > 1:
            path.append((taken[0], taken[1]))
            taken[:2] = [count + len(path) - 1]
        numbers.append(taken[0])
    if len(numbers) > 1:
        raise ValueError(f"The path leaves {len(numbers)} arrays, and it must end with one.")
    return tuple(path)


def to_positions(path: Path, count: int) -> list[tuple[int, ...]]:
    """Write a path as positions in a shrinking list, as NumPy and opt_einsum do."""
    numbers = list(range(count))
    positions = []
    for made, (x, y) in enumerate(path, count):
        pair = sorted((numbers.index(x), numbers.index(y)))
        positions.append(tuple(pair))
        for position in reversed(pair):
            numbers.pop(position)
        numbers.append(made)
    return positions or [(0,)]
