"""What dense systems mean: shapes, batches, layouts and refusals, from metadata alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from solver_cases import DTYPES, LAYOUTS, laid_out, systems

from nvmath._core.arrays import adapter_of
from nvmath._core.layout import is_dense, stride_order
from nvmath.linalg import DirectSolverOptions, FillMode
from nvmath.linalg._solver._forms import loop_over, matrix_form, operation, side_form
from nvmath.linalg._solver._options import TRANSPOSITIONS, WORDS
from nvmath.linalg._solver._problem import Given, differences, specify


def problem_of(a, b, **asked):
    def given_of(name, operand):
        arrays = operand if isinstance(operand, list) else [operand]
        return Given(name, tuple(adapter_of(each).view(each) for each in arrays), isinstance(operand, list), (False,) * len(arrays))

    return specify(given_of("a", a), given_of("b", b), DirectSolverOptions(**asked))


@pytest.mark.parametrize(
    ("a", "b", "batch", "columns"),
    [
        ((3, 3), (3,), (), 1), ((3, 3), (3, 1), (), 1), ((3, 3), (3, 4), (), 4), ((2, 3, 3), (2, 3, 4), (2,), 4),
        ((2, 3, 3), (2, 3), (2,), 1), ((5, 2, 3, 3), (5, 2, 3, 1), (5, 2), 1), ((5, 2, 3, 3), (5, 2, 3), (5, 2), 1),
        ((0, 0), (0,), (), 1), ((3, 3), (3, 0), (), 0), ((0, 3, 3), (0, 3, 2), (0,), 2), ((1, 3, 3), (1, 3, 2), (1,), 2),
    ],
)  # fmt: skip
def test_shapes(a, b, batch, columns):
    problem = problem_of(np.zeros(a), np.zeros(b))
    assert (problem.a.batch, problem.columns, problem.x.shapes) == (batch, columns, (b,))


@pytest.mark.parametrize("a", [np.zeros((2, 3, 3)), [np.zeros((3, 3))] * 2])
@pytest.mark.parametrize("b", [np.zeros((2, 3, 1)), [np.zeros((3, 1))] * 2, [np.zeros(3)] * 2])
def test_batches_of_both_kinds_mix(a, b):
    problem = problem_of(a, b)
    assert (problem.count, problem.x.explicit, problem.batched) == (2, isinstance(b, list), True)


@pytest.mark.parametrize(
    ("a", "b", "text"),
    [
        (np.zeros((3, 4)), np.zeros(3), "must be equal, but they are 3 and 4.*least_squares"),
        (np.zeros((3, 3)), np.zeros(4), "rows of b must match that of a: a has 3, but b has 4"),
        (np.zeros((2, 3, 3)), np.zeros((3, 1)), "number of batches of a and b must match"),
        (np.zeros((3, 3, 3)), np.zeros((3, 3)), r"batches.*pass b\[\.\.\., None\], of shape \(3, 3, 1\)"),
        (np.zeros((2, 3, 3)), np.zeros((3, 3, 1)), r"batch \(2,\).*batch \(3,\)"),
        ([np.zeros((3, 3))] * 2, np.zeros((2, 3)), "a sequence of 2.*no batch"),
        ([np.zeros((3, 3))], [np.zeros(3)] * 2, "a sequence of 1.*a sequence of 2"),
        (np.zeros((2, 2, 3, 3)), np.zeros((4, 3, 1)), "batches"),
        (np.zeros(3), np.zeros(3), "a must be a matrix, but has 1 dimension"),
        ([np.zeros((2, 3, 3))], [np.zeros(3)], "Every array of a must be a matrix"),
        (np.zeros((3, 3)), np.array(1.0), "b must have at least 1 dimension"),
        ([np.zeros((3, 3))], [np.zeros((1, 3, 1))], "Every array of b must have shape"),
        ([np.zeros((3, 3)), np.zeros((4, 4))], [np.zeros(3)] * 2, r"array 0 has shape \(3, 3\) and array 1 \(4, 4\)"),
        ([np.zeros((3, 3))] * 2, [np.zeros(3), np.zeros(4)], "All arrays of b must have one shape"),
        (np.zeros((3, 3), "f4"), np.zeros(3), "a is float32 and b is float64"),
        ([np.zeros((3, 3)), np.zeros((3, 3), "f4")], [np.zeros(3)] * 2, "one data type.*float32, float64"),
        (np.zeros((3, 3), int), np.zeros(3, int), "int64 is not supported by the dense solver"),
        (np.zeros((3, 3), "f2"), np.zeros(3, "f2"), "float16 is not supported by the dense solver"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_values(a, b, text):
    with pytest.raises(ValueError, match=text):
        problem_of(a, b)


def test_least_squares_take_tall_matrices():
    problem = problem_of(np.zeros((2, 5, 3)), np.zeros((2, 5, 4)), least_squares=True)
    assert problem.x.shapes == ((2, 3, 4),)
    with pytest.raises(ValueError, match="at least as many rows as columns"):
        problem_of(np.zeros((3, 5)), np.zeros(3), least_squares=True)
    with pytest.raises(ValueError, match="b has 5 rows and the solution 3"):
        problem_of(np.zeros((5, 3)), np.zeros(5), least_squares=True, inplace_b=True)


def test_memory_is_not_overwritten_twice():
    a, b = np.zeros((3, 3)), np.zeros((3, 2))
    spread = np.broadcast_to(a, (4, 3, 3))
    assert problem_of(spread, np.zeros((4, 3, 1))).count == 4
    with pytest.raises(ValueError, match=r"must not share overlapping memory.*strides"):
        problem_of(spread, np.zeros((4, 3, 1)), inplace_a=True)
    with pytest.raises(ValueError, match=r"a\[0\] and a\[1\] do"):
        problem_of([a, a], [b, b.copy()], inplace_a=True)
    with pytest.raises(ValueError, match="a and b must not share"):
        problem_of(a, a, inplace_b=True)
    assert problem_of([a, a], [b, b]).count == 2


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("blocking", False, ValueError), ("assume_a", "banded", ValueError), ("assume_a", None, ValueError), ("uplo", "middle", ValueError),
        ("uplo", FillMode.FULL, ValueError), ("trans", "X", ValueError), ("trans", [], ValueError), ("allocator", 3, TypeError),
        ("logger", "root", TypeError), ("colour", 1, TypeError),
    ],
)  # fmt: skip
def test_options_are_checked_when_they_are_made(field, value, error):
    with pytest.raises(error, match=field):
        DirectSolverOptions(**{field: value})


@pytest.mark.parametrize("asked", [{"assume_a": "pos"}, {"trans": "T"}])
def test_least_squares_are_for_general_matrices(asked):
    with pytest.raises(ValueError, match="least_squares"):
        DirectSolverOptions(least_squares=True, **asked)


def test_options_cannot_be_changed_and_have_no_positional_form():
    options = DirectSolverOptions(assume_a="sym", uplo="U")
    assert (options.assume_a, options.uplo) == ("symmetric", FillMode.UPPER)
    with pytest.raises(AttributeError):
        options.inplace_a = True
    with pytest.raises(TypeError):
        DirectSolverOptions(None)


@given(layout=st.sampled_from(LAYOUTS), batch=st.lists(st.integers(1, 3), max_size=2), columns=st.integers(1, 3))
def test_the_solution_is_dense_and_keeps_the_order_of_axes(layout, batch, columns):
    b = laid_out(np.zeros((*batch, 4, columns)), layout)
    problem = problem_of(np.zeros((*batch, 4, 4)), b)
    (shape,), (strides,) = problem.x.shapes, problem.x.strides
    assert is_dense(shape, strides)
    wide = [axis for axis in stride_order(shape, [abs(s) for s in b.strides]) if shape[axis] > 1]
    assert [axis for axis in stride_order(shape, strides) if shape[axis] > 1] == wide


@given(case=systems())
def test_loops_name_every_system_once(case):
    """Steps of members count the systems in the order of the batch, whatever the layouts are."""
    problem = problem_of(case.a, case.b, **{key: value for key, value in case.options.items() if key != "vectors"})
    loop = loop_over(matrix_form(problem, case.options["inplace_a"]), side_form(problem))
    numbers = [sum(i * s for i, s in zip(at, loop.members, strict=True)) for at in np.ndindex(*loop.extents)]
    assert sorted(numbers) == list(range(problem.count))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("trans", TRANSPOSITIONS)
@pytest.mark.parametrize("turned", [False, True])
def test_operations_on_a_turned_matrix_mean_what_was_asked(dtype, word, trans, turned):
    rng = np.random.default_rng(0)
    a = rng.standard_normal((3, 3)) + (1j * rng.standard_normal((3, 3)) if dtype.startswith("c") else 0)
    structure = WORDS[word]
    if structure.half:
        a = a + (a.T if structure.value == "symmetric" else a.conj().T)
    problem = problem_of(a.astype(dtype), np.zeros(3, dtype), assume_a=word, trans=trans)
    turned = turned and not problem.conjugates  # Hermitian matrices never are
    letter, conjugates = operation(problem, turned, problem.trans)
    seen = a.T if turned else a
    applied = {"N": seen, "T": seen.T, "C": seen.conj().T}[letter]
    applied = applied.conj() if conjugates else applied
    np.testing.assert_array_equal(applied, {"N": a, "T": a.T, "C": a.conj().T, "H": a.conj().T}[trans])


def test_differences_name_what_must_match():
    one = problem_of(np.zeros((2, 3, 3)), np.zeros((2, 3, 4)))
    assert differences(one, one) == ""
    other = problem_of(np.zeros((5, 6, 6)), np.zeros((5, 6, 1)))
    text = differences(one, other)
    assert all(words in text for words in ("batching metadata for a", "number of columns for a", "number of right-hand sides"))
