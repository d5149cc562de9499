"""The grammar of expressions: every right form and every wrong one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nvmath.tensor._expression import Term, modes_of, parse

LABELS = "ijkZβ9_;"


@pytest.mark.parametrize(
    ("text", "ranks", "inputs", "output"),
    [
        ("ij,jk->ik", (2, 2), ["ij", "jk"], "ik"),
        ("ij,jk", (2, 2), ["ij", "jk"], "ik"),
        ("ba,c", (2, 1), ["ba", "c"], "abc"),
        (" ij ,\tjk\n->\u3000ik\u2003", (2, 2), ["ij", "jk"], "ik"),
        (",->", (0, 0), ["", ""], ""),
        (",", (0, 0), ["", ""], ""),
        ("ii,ij->j", (2, 2), ["ii", "ij"], "j"),
        ("ii,ij", (2, 2), ["ii", "ij"], "j"),
        ("Ωβ,β9->9Ω", (2, 2), ["Ωβ", "β9"], "9Ω"),
    ],
)
def test_right_forms(text: str, ranks: tuple[int, ...], inputs: list[str], output: str) -> None:
    got_inputs, got_output = modes_of(parse(text, 2), ranks, ("a", "b"))
    assert [list(term) for term in inputs] == [list(modes) for modes in got_inputs]
    assert list(output) == list(got_output)


@pytest.mark.parametrize(
    ("text", "ranks", "inputs", "output"),
    [
        ("...,...->...", (2, 1), [("1", "0"), ("0",)], ("1", "0")),
        ("a...,...b", (3, 1), [("a", "1", "0"), ("b",)], ("1", "0", "a", "b")),
        ("a...c,...->c...a", (4, 2), [("a", "1", "0", "c"), ("1", "0")], ("c", "1", "0", "a")),
        ("...,a->a", (1, 1), [("0",), ("a",)], ("a",)),
        ("...a,b->ab", (1, 1), [("a",), ("b",)], ("a", "b")),
    ],
)
def test_ellipsis(text: str, ranks: tuple[int, ...], inputs: list[tuple[str, ...]], output: tuple[str, ...]) -> None:
    def full(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple("..." + name if name.isdigit() else name for name in names)

    got_inputs, got_output = modes_of(parse(text, 2), ranks, ("a", "b"))
    assert got_inputs == tuple(full(names) for names in inputs)
    assert got_output == full(output)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (3, "must be a string"),
        (None, "must be a string"),
        ("ij", "with 1 comma, but 'ij' has 1 operand"),
        ("ij,jk,kl", "has 3 operands"),
        ("", "has 1 operand"),
        ("ij,jk->ik->l", "more than one '->'"),
        ("ij,jk->i,k", "the output of the expression"),
        ("i j,jk->ik", "white space inside a term"),
        ("ij,jk->i k", "white space inside a term"),
        ("ij,jk- >ik", "'-'"),
        ("ij>,jk", "'>'"),
        ("i.j,jk", "'.'"),
        ("i..,jk", "'.'"),
        ("i...j...,k", "at most one '...'"),
        ("....,k", "at most one '...'"),
        ("ij,jk->iz", "label 'z', which no operand has"),
        ("ij,jk->ii", "names a label twice"),
        ("ij,jk->...", "no operand has"),
    ],
)
def test_wrong_forms(text: object, part: str) -> None:
    with pytest.raises(ValueError, match="(?i)" + part.replace("(", r"\(").replace(".", r"\.")):
        parse(text, 2)


def test_number_of_operands() -> None:
    assert len(parse("i,j,k->", 3).inputs) == 3
    with pytest.raises(ValueError, match="ternary contraction needs an expression of 3 operands, with 2 commas"):
        parse("i,j", 3, "A ternary contraction")


@pytest.mark.parametrize(
    ("text", "ranks", "part"),
    [
        ("ij,jk", (3, 2), "Operand a has 3 dimensions, but its term in 'ij,jk' has 2 labels"),
        ("ij,k", (2, 0), "Operand b has 0 dimensions, but its term in 'ij,k' has 1 label"),
        ("ij...,k", (1, 1), "has 2 labels besides the ellipsis"),
        ("...,...->", (1, 2), "all ellipses must have the same length"),
    ],
)
def test_wrong_ranks(text: str, ranks: tuple[int, ...], part: str) -> None:
    with pytest.raises(ValueError, match=part.replace(".", r"\.")):
        modes_of(parse(text, 2), ranks, ("a", "b"))


@given(st.text(LABELS, max_size=5), st.text(LABELS, max_size=5), st.randoms())
def test_any_labels(a: str, b: str, random: object) -> None:
    labels = sorted(set(a + b))
    random.shuffle(labels)  # type: ignore[attr-defined]
    output = "".join(labels[: len(labels) // 2])
    inputs, got = modes_of(parse(f"{a},{b}->{output}", 2), (len(a), len(b)), ("a", "b"))
    assert (inputs, got) == ((tuple(a), tuple(b)), tuple(output))
    implicit = modes_of(parse(f"{a},{b}", 2), (len(a), len(b)), ("a", "b"))[1]
    assert "".join(implicit) == "".join(sorted(label for label in set(a + b) if (a + b).count(label) == 1))


@given(st.text(max_size=8))
def test_any_text_is_parsed_or_refused_with_a_message(text: str) -> None:
    try:
        expression = parse(text, 2)
    except ValueError as error:
        message = str(error)
        assert message
    else:
        assert all(not label.isspace() and label not in ".->," for term in expression.inputs for label in term.labels)


def test_agrees_with_numpy_where_numpy_has_the_form() -> None:
    rng = np.random.default_rng(0)
    for text in ("ij,jk", "ba,ac", "...i,i...", "i...,...i"):
        a, b = rng.random((2, 2)), rng.random((2, 2))
        _, output = modes_of(parse(text, 2), (2, 2), ("a", "b"))
        assert np.einsum(text, a, b).ndim == len(output)
    assert Term(("i",)).dots is None
