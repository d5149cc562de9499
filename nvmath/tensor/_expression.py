"""Einstein summation: what an expression says about the modes of every operand.

``inputs [-> output]``; a term is a run of labels and at most one ``...``; a label is any character but white space and ``. - > ,``.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

Modes = tuple[str, ...]
_ELLIPSIS: Final = "..."
_FORBIDDEN: Final = frozenset(".->")
_FIRST_LETTER: Final = 0x4E00  # a range of letters without gaps


@dataclass(frozen=True, slots=True)
class Term:
    """The labels of one operand; `dots` is the position of the ellipsis among them, or None."""

    labels: Modes
    dots: int | None = None


@dataclass(frozen=True, slots=True)
class Expression:
    """A parsed expression; `output` is None in the implicit form."""

    text: str
    inputs: tuple[Term, ...]
    output: Term | None


def parse(text: object, count: int, what: str = "This") -> Expression:
    """Parse an expression of `count` operands, which `what` has.

    Raises
    ------
    ValueError
        The text is no expression of so many operands; the message quotes the faulty part.
    """
    if not isinstance(text, str):
        raise ValueError(f"The expression must be a string such as 'ij,jk->ik', not {type(text).__name__}.")
    return _parse(text, count, what)


@lru_cache(256)
def _parse(text: str, count: int, what: str) -> Expression:
    inputs, arrow, output = text.partition("->")
    if "->" in output:
        raise ValueError(f"The expression {text!r} has more than one '->'.")
    terms = inputs.split(",")
    if len(terms) != count:
        raise ValueError(
            f"{what} needs an expression of {_counted(count, 'operand')}, with {_counted(count - 1, 'comma')}, but "
            f"{text!r} has {_counted(len(terms), 'operand')}."
        )
    if "," in output:
        raise ValueError(f"The output of the expression {text!r} has a comma; there is one output.")
    parsed = tuple(_term(term, text) for term in terms)
    result = _term(output, text) if arrow else None
    if result is not None:
        _check_output(result, parsed, text)
    return Expression(text, parsed, result)


def _counted(count: int, what: str) -> str:
    return f"{count or 'no'} {what}{'' if count == 1 else 's'}"


def written(expression: Any, operands: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """Return expression and operands of either form of an einsum: a text first, or operands and lists of integers in turns.

    Raises
    ------
    ValueError
        There is no operand, or a list does not hold integers and at most one ``...``.
    """
    if isinstance(expression, str):
        if not operands:
            raise ValueError(f"The expression {expression!r} comes without operands. Pass one for each term.")
        return expression.replace(" ", ""), operands
    every = (expression, *operands)
    arrays, lists = every[: len(every) // 2 * 2 : 2], every[1::2]
    if not lists:
        raise ValueError(
            "Pass an expression such as 'ij,jk->ik' and the operands, or operands and lists of integers in turns: einsum(a, [0, 1], ...)."
        )
    terms = [_letters(term) for term in lists]
    return ",".join(terms) + (f"->{_letters(every[-1])}" if len(every) % 2 else ""), arrays


def _letters(term: Any) -> str:
    """Spell a list of integers with letters of the same order."""
    try:
        return "".join(_ELLIPSIS if label is Ellipsis else chr(_FIRST_LETTER + _natural(label)) for label in term)
    except (TypeError, ValueError, OverflowError):
        given = repr(term) if isinstance(term, list | tuple) else f"an object of type {type(term).__name__}"
        raise ValueError(
            f"A term of einsum must be a list of integers from 0 on, and at most one Ellipsis, not {given}. An expression comes first: "
            "einsum('ij,jk->ik', a, b)."
        ) from None


def _natural(label: Any) -> int:
    number = operator.index(label)
    if number < 0:
        raise ValueError
    return number


def operand(name: str, word: str = "operand") -> str:
    """Return how an operand is called in a sentence."""
    return f"{word} {name}" if name.isidentifier() else name


def _term(term: str, text: str) -> Term:
    term = term.strip()
    before, dots, after = term.partition(_ELLIPSIS)
    for label in before + after:
        if label.isspace() or label in _FORBIDDEN:
            what = "white space inside a term" if label.isspace() else f"the character {label!r}"
            more = " A term has at most one '...'." if label == "." else ""
            raise ValueError(f"The term {term!r} of the expression {text!r} has {what}, which is no label.{more}")
    return Term(tuple(before + after), len(before) if dots else None)


def _check_output(output: Term, inputs: tuple[Term, ...], text: str) -> None:
    known = {label for term in inputs for label in term.labels}
    for label in output.labels:
        if label not in known:
            raise ValueError(f"The output of {text!r} has the label {label!r}, which no operand has.")
    if len(set(output.labels)) != len(output.labels):
        raise ValueError(f"The output of {text!r} names a label twice; each mode of the result must be named once.")
    if output.dots is not None and all(term.dots is None for term in inputs):
        raise ValueError(f"The output of {text!r} has '...', but no operand has.")


def modes_of(expression: Expression, ranks: tuple[int, ...], names: tuple[str, ...]) -> tuple[tuple[Modes, ...], Modes]:
    """Return the modes of every operand of the given ranks, and those of the output.

    The dimensions of an ellipsis are aligned from the right: they get the modes ``"...0"``, ``"...1"`` and so on, counted from the
    last.

    Raises
    ------
    ValueError
        A rank does not fit its term, or ellipses of different lengths are summed over.
    """
    lengths = []
    for name, term, rank in zip(names, expression.inputs, ranks, strict=True):
        missing = rank - len(term.labels)
        if missing < 0 or (missing and term.dots is None):
            raise ValueError(
                f"{operand(name, 'Operand')} has {rank} dimension{'' if rank == 1 else 's'}, but its term in {expression.text!r} has "
                f"{len(term.labels)} label{'' if len(term.labels) == 1 else 's'}"
                f"{' besides the ellipsis' if term.dots is not None else ''}."
            )
        lengths.append(missing if term.dots is not None else 0)
    longest = max(lengths)
    output = expression.output
    if output is not None and output.dots is None:
        present = {length for length, term in zip(lengths, expression.inputs, strict=True) if term.dots is not None}
        if len(present) > 1:
            raise ValueError(
                f"The output of {expression.text!r} has no '...', so the dimensions under the ellipses are summed over, and then all "
                f"ellipses must have the same length; they have {sorted(present)}."
            )
    inputs = tuple(_expand(term, length) for term, length in zip(expression.inputs, lengths, strict=True))
    return inputs, _implicit(inputs, longest) if output is None else _expand(output, longest)


def _expand(term: Term, length: int) -> Modes:
    if term.dots is None:
        return term.labels
    dots = tuple(f"{_ELLIPSIS}{position}" for position in range(length - 1, -1, -1))
    return term.labels[: term.dots] + dots + term.labels[term.dots :]


def _implicit(inputs: tuple[Modes, ...], longest: int) -> Modes:
    """Labels that occur once over all operands, sorted, behind the dimensions of the ellipsis."""
    every = [label for modes in inputs for label in modes if not label.startswith(_ELLIPSIS)]
    once = sorted(label for label in set(every) if every.count(label) == 1)
    return (*_expand(Term((), 0), longest), *once)
