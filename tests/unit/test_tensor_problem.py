"""What a contraction means, without any array."""

import pytest
from tensor_cases import metadata, problem

from nvmath._core.dtypes import dtype
from nvmath.bindings import cutensor
from nvmath.tensor import ComputeDesc, ContractionOptions, Operator
from nvmath.tensor._expression import parse
from nvmath.tensor._options import ALLOWED, COMPUTE, coerce_qualifiers, compute_name
from nvmath.tensor._problem import Metadata, Tensor, differences, specify
from nvmath.tensor._scalars import Scalars
from nvmath.tensor._steps import Copy, Finish, Gemm, Product, Sum
from nvmath.tensor._ttgt import lower

F64 = dtype("float64")


def kinds(text: str, *arrays: Metadata, **more: object) -> list[type]:
    return [type(step) for step in lower(problem(text, *arrays, **more), True).steps]


def test_modes_and_strides() -> None:
    made = problem("ijk,kl->lij", metadata((2, 3, 4)), metadata((4, 5)))
    assert made.labels == ("i", "j", "k", "l")
    assert made.extents == (2, 3, 4, 5)
    assert made.inputs == (Tensor((0, 1, 2), (12, 4, 1)), Tensor((2, 3), (5, 1)))
    assert made.out_shape == (5, 2, 3)
    assert made.out_strides == (1, 15, 5)
    assert made.output.modes == (3, 0, 1)


def test_diagonals_and_extents_of_one() -> None:
    made = problem("iij,jk->ik", metadata((3, 3, 1)), metadata((4, 2)))
    assert made.labels == ("i", "j", "k")
    assert made.inputs[0] == Tensor((0,), (4,))  # 3 + 1 along the diagonal; j has vanished from a
    assert made.inputs[1].modes == (1, 2)
    assert problem("ij,jk->ik", metadata((1, 1)), metadata((1, 1))).labels == ()


@pytest.mark.parametrize(
    ("text", "arrays", "part"),
    [
        ("ij,jk->ik", [(2, 3), (4, 5)], "mode 'j' has extent 3 in operand a but 4 in operand b"),
        ("ii,ij->j", [(2, 3), (2, 2)], "mode 'i' has extent 2 in operand a but 3 in operand a"),
        ("...i,...i->...", [(2, 3), (4, 3)], "a dimension of the ellipsis has extent 2"),
        ("ij,j->i", [(2, 3, 4), (3,)], "Operand a has 3 dimensions"),
    ],
)
def test_extents_that_do_not_fit(text: str, arrays: list[tuple[int, ...]], part: str) -> None:
    with pytest.raises(ValueError, match=part):
        problem(text, *(metadata(shape) for shape in arrays))


def test_addend_and_out_must_fit() -> None:
    a, b = metadata((2, 3)), metadata((3, 4))
    with pytest.raises(ValueError, match=r"c must have the shape of the result of 'ij,jk->ik', \(2, 4\), but it has shape \(4, 2\)"):
        problem("ij,jk->ik", a, b, addend=metadata((4, 2)))
    with pytest.raises(ValueError, match=r"out must have the shape"):
        problem("ij,jk->ik", a, b, out=metadata((2, 5)))
    with pytest.raises(ValueError, match="a: float64, b: float64, c: float32"):
        problem("ij,jk->ik", a, b, addend=metadata((2, 4), name="float32"))


@pytest.mark.parametrize(
    ("layout", "addend", "strides"),
    [
        ("auto", None, (1, 2)),
        ("optimized", None, (1, 2)),
        ("C", None, (4, 1)),
        ("F", None, (1, 2)),
        ("auto", (4, 1), (4, 1)),
        ("auto", (1, 2), (1, 2)),
        ("auto", (1, 10), (1, 2)),
        ("C", (1, 2), (4, 1)),
    ],
)
def test_result_layout(layout: str, addend: tuple[int, int] | None, strides: tuple[int, int]) -> None:
    given = None if addend is None else metadata((2, 4), addend)
    made = problem("ij,jk->ik", metadata((2, 3)), metadata((3, 4)), addend=given, result_layout=layout)
    assert made.out_strides == strides


def test_optimized_layout_is_refused_where_it_means_nothing() -> None:
    a = metadata((2, 2))
    with pytest.raises(ValueError, match="optimized"):
        problem("ij,jk->ik", a, a, addend=a, result_layout="optimized")
    with pytest.raises(ValueError, match="optimized"):
        problem("ij,jk,kl->il", a, a, a, result_layout="optimized")
    assert problem("ij,jk,kl->li", a, a, a).out_strides == (2, 1)


def test_differences() -> None:
    a = problem("ij,jk->ik", metadata((2, 3)), metadata((3, 4)))
    assert differences(a, problem("ij,jk->ik", metadata((2, 3), (1, 2)), metadata((3, 4)))) == ""
    assert "extents: expected (2, 3, 4), given (5, 3, 4)" in differences(a, problem("ij,jk->ik", metadata((5, 3)), metadata((3, 4))))


def test_text_of_a_problem() -> None:
    text = str(problem("ij,jk->ik", metadata((2, 3)), metadata((3, 4))))
    assert text.startswith("contraction 'ij,jk->ik' of float64 with i=2, j=3, k=4")


# --- options --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "kind", "part"),
    [
        ({"blocking": False}, ValueError, "blocking"),
        ({"blocking": 1}, ValueError, "blocking"),
        ({"result_layout": "K"}, ValueError, "'optimized'"),
        ({"compute_type": "32F"}, ValueError, "Invalid compute type"),
        ({"handle": 1.5}, ValueError, "handle"),
        ({"memory_limit": "80"}, ValueError, "memory_limit"),
        ({"memory_limit": -1}, ValueError, "memory_limit"),
        ({"memory_limit": " 80%"}, ValueError, "memory_limit"),
        ({"memory_limit": "0%"}, ValueError, "memory_limit"),
        ({"allocator": 3}, TypeError, "memalloc"),
        ({"logger": 5}, TypeError, "logging.Logger"),
    ],
)
def test_bad_options(options: dict[str, object], kind: type[Exception], part: str) -> None:
    with pytest.raises(kind, match=part):
        ContractionOptions(**options)


def test_memory_limit_of_none_is_the_default() -> None:
    assert ContractionOptions(memory_limit=None).memory_limit == "80%"


def test_compute_types() -> None:
    assert [getattr(ComputeDesc, "COMPUTE_" + name)() for name in COMPUTE] == list(range(1, 10))
    assert {name for name in vars(ComputeDesc) if name.startswith("COMPUTE")} == {
        name for name in vars(cutensor.ComputeDesc) if name.startswith("COMPUTE")
    }
    for name, allowed in ALLOWED.items():
        assert compute_name(None, dtype(name)) == allowed[0]
        for number, choice in enumerate(COMPUTE, start=1):
            if choice in allowed:
                assert compute_name(number, dtype(name)) == choice
            else:
                with pytest.raises(ValueError, match=f"COMPUTE_{choice} does not go with {name}"):
                    compute_name(number, dtype(name))
    with pytest.raises(ValueError, match="Invalid compute type: 77"):
        compute_name(77, F64)
    with pytest.raises(ValueError, match="Invalid data type: int32"):
        compute_name(None, dtype("int32"))


def test_qualifiers() -> None:
    names, c128 = ("a", "b", "c"), dtype("complex128")
    assert coerce_qualifiers(None, names, F64) == (False, False)
    assert coerce_qualifiers([Operator.OP_CONJ, 1, 1], names, c128) == (True, False)
    for given, kind, part in (
        ([1, 1], ValueError, "3 entries"),
        ([[1, 1, 1]], ValueError, "3 entries"),
        ([1, 24, 1], ValueError, "operator of b"),
        ([0, 0, 0], ValueError, "operator of a"),
        ([1, 1, 9], ValueError, r"operator of c must be OP_IDENTITY \(1\), not 9"),
        ([1.5, 1, 1], TypeError, "integers"),
        (["x", 1, 1], TypeError, "qualifiers"),
        ({}, TypeError, "qualifiers"),
    ):
        with pytest.raises(kind, match=part):
            coerce_qualifiers(given, names, c128)
    with pytest.raises(ValueError, match="a is float64"):
        coerce_qualifiers([9, 1, 1], names, F64)


def test_scalars() -> None:
    real, complex_ = Scalars("float32"), Scalars("complex64")
    real.set(2, 3.5)
    assert (real.alpha, real.beta, list(real.buffers)) == (2.0, 3.5, [2.0, 0.0, 3.5, 0.0])
    complex_.set(1 + 2j, 3)
    assert list(complex_.buffers) == [1.0, 2.0, 3.0, 0.0]
    with pytest.raises(TypeError, match="alpha = 1j is complex"):
        real.set(1j, 0)
    with pytest.raises(TypeError, match="beta must be a number, not str"):
        complex_.set(1, "x")
    assert list(complex_.buffers) == [1.0, 2.0, 3.0, 0.0]


# --- lowering -------------------------------------------------------------------------------------------------------------------


def test_no_copies_where_none_are_needed() -> None:
    square = metadata((8, 8))
    for text in ("ij,jk->ik", "ji,jk->ik", "ij,kj->ik", "ji,kj->ki", "ij,j->i", "i,ij->j", "ij,ij->", "ij,ji->"):
        first, second = (metadata((8,) * len(term)) for term in text.partition("->")[0].split(","))
        steps = kinds(text, first, second)
        assert steps.count(Gemm) == 1
        assert len(steps) == 1 or text == "ij,ji->", text
    assert kinds("bij,bjk->bik", metadata((4, 8, 8)), metadata((4, 8, 8))) == [Gemm]
    assert kinds("bij,bjk->ibk", metadata((4, 8, 8)), metadata((4, 8, 8))) == [Gemm]
    assert kinds("abcd,cdef->abef", metadata((3, 4, 5, 6)), metadata((5, 6, 7, 8))) == [Gemm]
    assert kinds("ij,jk->ik", metadata((8, 8), (100, 1)), square) == [Gemm]


def test_copies_where_they_are_needed() -> None:
    assert kinds("ij,jk->ik", metadata((8, 8), (16, 2)), metadata((8, 8))) == [Copy, Gemm]
    assert kinds("ij,jk->ik", metadata((8, 8), (-8, 1)), metadata((8, 8))) == [Copy, Gemm]
    assert kinds("ij,jk->ik", metadata((8, 8), (0, 1)), metadata((8, 8))) == [Copy, Gemm]
    assert kinds("ij,jk->ik", metadata((8, 8)), metadata((8, 8)), out=metadata((8, 8), (16, 2))) == [Gemm, Finish]
    assert kinds("ij,kj->i", metadata((8, 8)), metadata((8, 8))) == [Sum, Gemm]
    assert kinds("ij,kl->", metadata((8, 8)), metadata((8, 8)))[:2] == [Sum, Sum]
    assert kinds("ij,ij->ij", metadata((8, 8)), metadata((8, 8))) == [Product, Finish]


def test_the_smaller_operand_is_copied() -> None:
    program = lower(problem("iaj,ajk->ik", metadata((2, 3, 4)), metadata((3, 4, 90))), True)
    assert [type(step) for step in program.steps] == [Gemm]
    program = lower(problem("iaj,jak->ik", metadata((2, 3, 4)), metadata((4, 3, 90))), True)
    assert program.scratch == (24,)


def test_ternary_contracts_the_cheapest_pair_first() -> None:
    program = lower(problem("ij,jk,kl->il", metadata((100, 2)), metadata((2, 100)), metadata((100, 2))), True)
    first = next(step for step in program.steps if isinstance(step, Gemm))
    assert {first.a.buffer, first.b.buffer} == {1, 2}


def test_conjugation_costs_a_copy_only_without_a_blas_that_does_it() -> None:
    arrays = (metadata((8, 8), name="complex128"),) * 2
    made = specify(parse("ij,jk->ik", 2), arrays, None, None, (True, False), ContractionOptions())
    assert [type(step) for step in lower(made, True).steps] == [Gemm]
    assert [type(step) for step in lower(made, False).steps] == [Copy, Gemm]
