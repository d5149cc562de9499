"""Contractions of many operands as a list of contractions of two, whose intermediate results share one buffer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final, Protocol

from .._core.layout import contiguous
from ._path import Path
from ._problem import ContractionProblem, Tensor

_ALIGNED: Final = 256


@dataclass(frozen=True, slots=True)
class Step:
    """One contraction of two arrays, by number: operands first, then what the steps before it made."""

    problem: ContractionProblem
    sources: tuple[int, int]
    offset: int  # of what it makes, in the buffer; the last step makes the result

    @property
    def flops(self) -> int:
        """Number of multiplications, and of additions where something is summed."""
        problem = self.problem
        modes = {mode for tensor in problem.inputs for mode in tensor.modes}
        sums = modes - set(problem.output.modes)
        return prod(problem.extents[mode] for mode in modes) * (2 if sums else 1)

    def __str__(self) -> str:
        return f"{_term(self.problem, 0)},{_term(self.problem, 1)}->{''.join(_labels(self.problem, self.problem.output))}"


@dataclass(frozen=True, slots=True)
class Network:
    """The steps of a contraction, and the size of the buffer of their intermediate results."""

    steps: tuple[Step, ...]
    count: int
    nbytes: int
    largest: int  # elements of the largest intermediate result

    @property
    def flops(self) -> int:
        """Number of operations."""
        return sum(step.flops for step in self.steps)


def _labels(problem: ContractionProblem, tensor: Tensor) -> list[str]:
    return [problem.labels[mode] for mode in tensor.modes]


def _term(problem: ContractionProblem, number: int) -> str:
    return "".join(_labels(problem, problem.inputs[number]))


def split(problem: ContractionProblem, path: Path, cost: Callable[[ContractionProblem], int] | None = None) -> Network:
    """Split a problem into steps along a path; with a cost, each intermediate result has the layout that suits its next step."""
    count = len(problem.inputs)
    tensors: dict[int, Tensor] = dict(enumerate(problem.inputs))
    pairs: list[tuple[ContractionProblem, tuple[int, int]]] = []
    partners = dict([*path, *(pair[::-1] for pair in path)])
    for made, (x, y) in enumerate(path, count):
        a, b = tensors.pop(x), tensors.pop(y)
        last = made == count + len(path) - 1
        kept = set(problem.output.modes).union(*(tensor.modes for tensor in tensors.values()))
        target = problem.output if last else _between(problem, a, b, kept)
        if cost is not None and not last and partners[made] in tensors:
            layouts = target, _between(problem, a, b, kept, swapped=True)
            target = min(layouts, key=lambda layout: cost(_next(problem, layout, partners[made], tensors)))
        pairs.append((_binary(problem, a, b, target, problem.addend if last else None), (x, y)))
        tensors[made] = target
    sizes = [prod(step.out_shape) * problem.dtype.itemsize for step, _ in pairs[:-1]]
    uses = {source: position for position, (_, sources) in enumerate(pairs) for source in sources}
    offsets, nbytes = place(sizes, [uses[count + number] for number in range(len(sizes))])
    steps = tuple(
        Step(made, sources, offset) for (made, sources), offset in zip(pairs, [*offsets, 0], strict=True)
    )
    return Network(steps, count, nbytes, max((prod(step.out_shape) for step, _ in pairs[:-1]), default=0))


def _next(problem: ContractionProblem, made: Tensor, partner: int, tensors: dict[int, Tensor]) -> ContractionProblem:
    """What is done with an intermediate result next."""
    others = [tensor for number, tensor in tensors.items() if number != partner]
    kept = set(problem.output.modes).union(*(tensor.modes for tensor in others))
    target = _between(problem, made, tensors[partner], kept) if others else problem.output
    return _binary(problem, made, tensors[partner], target, None)


def _between(problem: ContractionProblem, a: Tensor, b: Tensor, kept: set[int], swapped: bool = False) -> Tensor:
    """An intermediate result in a layout in which it comes out of a matrix product: the larger group first, or last if swapped."""
    shared = [mode for mode in a.modes if mode in kept and mode in b.modes]
    of_a = [mode for mode in a.modes if mode in kept and mode not in b.modes]
    of_b = [mode for mode in b.modes if mode in kept and mode not in a.modes]
    sizes = [prod(problem.extents[mode] for mode in group) for group in (of_a, of_b)]
    modes = (*shared, *of_a, *of_b) if (sizes[0] >= sizes[1]) is not swapped else (*shared, *of_b, *of_a)
    return Tensor(modes, contiguous([problem.extents[mode] for mode in modes]), alignment=_ALIGNED)


def _binary(problem: ContractionProblem, a: Tensor, b: Tensor, target: Tensor, addend: Tensor | None) -> ContractionProblem:
    last = target is problem.output
    shape = problem.out_shape if last else tuple(problem.extents[mode] for mode in target.modes)
    return ContractionProblem(
        problem.expression, problem.labels, problem.extents, (a, b), addend, target, problem.dtype, problem.compute, shape,
        problem.out_strides if last else target.strides,
    )  # fmt: skip


def place(sizes: Sequence[int], last_uses: Sequence[int]) -> tuple[list[int], int]:
    """Return an offset for each buffer and the bytes of all: buffer i is written in step i and read last in a given step."""
    sizes = [rounded(size) for size in sizes]
    least = max((sum(sizes[i] for i in range(n + 1) if last_uses[i] >= n) for n in range(len(sizes))), default=0)
    offsets = _from_below(sizes, last_uses)
    total = max((offset + size for offset, size in zip(offsets, sizes, strict=True)), default=0)
    if total > least:  # there are gaps
        turned = _from_both_ends(sizes, last_uses, least)
        if turned is not None:
            return turned, least
    return offsets, total


def _from_below(sizes: Sequence[int], last_uses: Sequence[int]) -> list[int]:
    """Put every buffer as low as it fits."""
    offsets: list[int] = []
    for number, size in enumerate(sizes):
        offset = 0
        for begin, end in sorted((offsets[i], offsets[i] + sizes[i]) for i in range(number) if last_uses[i] >= number):
            if offset + size <= begin:
                break
            offset = max(offset, end)
        offsets.append(offset)
    return offsets


def _from_both_ends(sizes: Sequence[int], last_uses: Sequence[int], total: int) -> list[int] | None:
    """Put every buffer at the other end than what is made of it, so that no gaps arise where one subtree is done after the other.

    None where they do not fit into so many bytes: the path goes back and forth between subtrees.
    """
    high = [False] * (len(sizes) + 1)
    for number in range(len(sizes) - 1, -1, -1):
        high[number] = not high[last_uses[number]]
    offsets: list[int] = []
    for number, size in enumerate(sizes):
        alive = [i for i in range(number) if last_uses[i] >= number]
        low_end = max((offsets[i] + sizes[i] for i in alive if not high[i]), default=0)
        high_end = min((offsets[i] for i in alive if high[i]), default=total)
        if low_end + size > high_end:
            return None
        offsets.append(high_end - size if high[number] else low_end)
    return offsets


def rounded(nbytes: int) -> int:
    """Return what a buffer of so many bytes takes."""
    return -(-nbytes // _ALIGNED) * _ALIGNED


class Part(Protocol):
    """A plan of one step."""

    nbytes: int
    workspace_nbytes: int

    def launch(self) -> Callable[..., None]: ...

    def close(self) -> None: ...


class NetworkPlan:
    """The plans of all steps.

    Parameters
    ----------
    network : Network
        The steps.
    parts : list of Part
        Their plans.
    """

    def __init__(self, network: Network, parts: list[Any]) -> None:
        self.network, self.parts = network, parts
        self.nbytes = sum(part.nbytes for part in parts)

    @property
    def description(self) -> str:
        """The steps."""
        steps = "; ".join(f"{step} by {part.description}" for step, part in zip(self.network.steps, self.parts, strict=True))
        return f"{len(self.parts)} steps with a buffer of {self.network.nbytes} bytes: {steps}"

    def buffer(self) -> int:
        """Return the address of the buffer of the intermediate results."""
        raise AssertionError

    def launch(self) -> Callable[..., None]:
        """Return the function that runs all steps: addresses of the operands, of the addend, of the result; and a stream on a GPU."""
        network, count = self.network, self.network.count
        *inner, (last, (left, right)) = [
            (part.launch(), step.sources) for part, step in zip(self.parts, network.steps, strict=True)
        ]
        offsets = [step.offset for step in network.steps[:-1]]
        tail = count + 1 + (network.steps[-1].problem.addend is not None)
        buffer = self.buffer

        def run(*arguments: int) -> None:
            base, stream = buffer(), arguments[tail:]
            at = [*arguments[:count], *[base + offset for offset in offsets]]
            for number, (launch, (x, y)) in enumerate(inner, count):
                launch(at[x], at[y], at[number], *stream)
            last(at[left], at[right], *arguments[count:])

        return run

    def close(self) -> None:
        """Give up all plans."""
        for part in self.parts:
            part.close()
