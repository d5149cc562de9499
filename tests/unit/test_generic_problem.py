"""What a generic product means, how it is lowered, and what qualifiers say: pure functions, tested without libraries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from frameworks import row_major
from generic_cases import CREATE, KINDS, Kind
from hypothesis import given
from hypothesis import strategies as st

import nvmath.linalg as linalg
from nvmath._core.dtypes import DTYPES
from nvmath.linalg._gemm import CBLAS, CUBLAS, NUMPY, OPENBLAS, Capability
from nvmath.linalg._matrix import COLUMN, ROW, Operand, leading_dimension
from nvmath.linalg.generic import _qualifiers
from nvmath.linalg.generic._lowering import lower
from nvmath.linalg.generic._problem import MatmulProblem, differences, specify
from nvmath.linalg.generic._qualifiers import GENERAL, Structure, read


def op(
    shape: tuple[int, ...], dtype: str = "float32", strides: tuple[int, ...] | None = None, conj: bool = False
) -> Operand:
    return Operand(shape, row_major(shape) if strides is None else strides, DTYPES[dtype], conj)


# --- shapes -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b", "c", "result"),
    [
        ((), (), None, ()),
        ((4,), (4,), None, ()),
        ((4,), (4, 3), None, (3,)),
        ((2, 4), (4,), None, (2,)),
        ((5, 2, 4), (4,), None, (5, 2)),
        ((4,), (5, 4, 3), None, (5, 3)),
        ((6, 1, 2, 4), (5, 4, 3), None, (6, 5, 2, 3)),
        ((2, 4), (4, 3), (5, 2, 3), (5, 2, 3)),
        ((4,), (4,), (5,), (5,)),
        ((2, 4), (4, 3), (1, 3), (2, 3)),
        ((2, 4), (4, 3), (3,), (2, 3)),
        ((2, 4), (4, 3), (), (2, 3)),
        ((5, 2, 4), (4, 3), (5, 1, 1), (5, 2, 3)),
        ((2, 0), (0, 3), None, (2, 3)),
        ((0, 4), (4, 3), None, (0, 3)),
    ],
)
def test_result_shapes(a, b, c, result):
    made = specify(op(a), op(b), None if c is None else op(c))
    assert made.out_shape == result
    assert made.empty == (0 in result)


@pytest.mark.parametrize(
    ("a", "b", "of_a", "of_b", "result"),
    [
        ((4,), (4, 3), "dg", "ge", (4, 3)),
        ((5, 4), (4, 3), "dg", "ge", (5, 4, 3)),
        ((3, 4), (4,), "ge", "dg", (3, 4)),
        ((4,), (4,), "ge", "dg", (4,)),
        ((4,), (4,), "dg", "ge", (4,)),
        ((4,), (4,), "dg", "dg", (4, 4)),
        ((4, 4), (4,), "sy", "dg", (4, 4)),
    ],
)
def test_shapes_with_diagonals(a, b, of_a, of_b, result):
    assert specify(op(a), op(b), of_a=Structure(of_a), of_b=Structure(of_b)).out_shape == result


def test_a_matrix_in_the_place_of_its_diagonal():
    dg = Structure("dg")
    with pytest.raises(ValueError, match="must be its diagonal"):
        specify(op((4, 4)), op((4, 3)), of_a=dg)
    with pytest.raises(ValueError, match="must be its diagonal"):
        specify(op((3, 4)), op((4, 4)), op((4, 3, 4)), of_b=dg)
    assert specify(op((4, 4)), op((1, 4, 3)), of_a=dg).out_shape == (4, 4, 3)
    assert specify(op((5, 4)), op((4, 3)), of_a=dg).out_shape == (5, 4, 3)


@pytest.mark.parametrize(
    ("a", "b", "strides", "order"),
    [
        (None, None, None, ROW),
        ((1, 2), None, None, COLUMN),
        (None, (1, 4), None, COLUMN),
        ((1, 2), (1, 4), (3, 1), ROW),
        (None, None, (1, 2), COLUMN),
    ],
)
def test_order_of_the_result(a, b, strides, order):
    c = None if strides is None else op((2, 3), strides=strides)
    made = specify(op((2, 4), strides=a), op((4, 3), strides=b), c)
    assert made.d.order == order
    assert made.out_strides == ((3, 1) if order == ROW else (1, 2))


def test_a_column_of_one_is_row_major_here():
    assert specify(op((5, 1)), op((1, 3))).out_strides == (3, 1)


def test_batches_keep_the_order_of_the_operands():
    made = specify(op((2, 3, 4, 5), strides=(20, 40, 5, 1)), op((5, 6)))
    assert made.out_strides == (24, 48, 6, 1)


def test_texts():
    made = specify(op((4, 4)), op((4, 3)), op((4, 3)), of_a=Structure("sy"))
    assert str(made) == "matmul of float32 symmetric (4, 4) x (4, 3) to row-major plus C"


def test_differences():
    old = specify(op((2, 4)), op((4, 3)))
    assert differences(old, specify(op((2, 4), strides=(8, 1)), op((4, 3))), layouts=False) == ""
    assert "strides" in differences(old, specify(op((2, 4), strides=(8, 1)), op((4, 3))), layouts=True)
    assert "extents" in differences(old, specify(op((3, 4)), op((4, 3))), layouts=False)
    assert "shape of the result" in differences(old, specify(op((1, 2, 4)), op((4, 3))), layouts=False)


# --- qualifiers ---------------------------------------------------------------------------------------------------------


def test_the_dtype():
    fields = linalg.matrix_qualifiers_dtype.fields
    assert fields is not None
    assert list(fields) == ["abbreviation", "conjugate", "uplo", "diag", "incx"]
    assert linalg.MatrixQualifier is np.ndarray


@pytest.mark.parametrize(
    ("qualifier", "text"),
    [
        (linalg.GeneralMatrixQualifier.create(), "(ge, conjugate=False, uplo=FULL, diag=NON_UNIT, incx=0)"),
        (linalg.SymmetricMatrixQualifier.create(uplo=1), "(sy, conjugate=False, uplo=UPPER, diag=NON_UNIT, incx=0)"),
        (
            linalg.HermitianMatrixQualifier.create(True, linalg.FillMode.LOWER),
            "(he, conjugate=True, uplo=LOWER, diag=NON_UNIT, incx=0)",
        ),
        (linalg.TriangularMatrixQualifier.create(diag=1), "(tr, conjugate=False, uplo=LOWER, diag=UNIT, incx=0)"),
        (linalg.DiagonalMatrixQualifier.create(incx=-1), "(dg, conjugate=False, uplo=FULL, diag=NON_UNIT, incx=-1)"),
    ],
)
def test_qualifiers_as_text(qualifier, text):
    assert qualifier.shape == ()
    assert qualifier.dtype == linalg.matrix_qualifiers_dtype
    kind = CREATE[str(qualifier["abbreviation"])]
    assert kind.to_string(qualifier) == text
    assert [each.is_valid(qualifier) for each in CREATE.values()] == [each is kind for each in CREATE.values()]
    assert read(np.array([qualifier, qualifier], linalg.matrix_qualifiers_dtype), False)[0][0].kind == kind.abbreviation


def test_validity_of_arrays_and_fields():
    both = np.array([Kind().qualifier, Kind("sy").qualifier], linalg.matrix_qualifiers_dtype)
    assert not linalg.GeneralMatrixQualifier.is_valid(both)
    both[1] = Kind().qualifier
    assert linalg.GeneralMatrixQualifier.is_valid(both)
    both["uplo"][1] = 0
    assert not linalg.GeneralMatrixQualifier.is_valid(both)


@pytest.mark.parametrize("kind", list(CREATE.values()))
def test_constructors_are_not_called(kind):
    with pytest.raises(RuntimeError, match=r"create\(\)"):
        kind()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: linalg.SymmetricMatrixQualifier.create(uplo=linalg.FillMode.FULL), "uplo must be"),
        (lambda: linalg.HermitianMatrixQualifier.create(uplo="x"), "uplo must be"),
        (lambda: linalg.TriangularMatrixQualifier.create(diag=5), "diag must be"),
        (lambda: linalg.DiagonalMatrixQualifier.create(incx=2), "incx must be 1 or -1, not 2"),
    ],
)
def test_fields_that_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# --- lowering -----------------------------------------------------------------------------------------------------------


def layouts(rows: int, cols: int) -> Any:
    return st.sampled_from(((cols, 1), (1, rows), (cols + 3, 1), (1, rows + 2), (2 * cols, 2), (-cols, 1), (0, 1)))


@given(data=st.data(), kinds=st.sampled_from(KINDS), capability=st.sampled_from((OPENBLAS, CBLAS, NUMPY, CUBLAS)),
       dtype=st.sampled_from(("float32", "complex64", "float16")), batch=st.sampled_from(((), (3,))))  # fmt: skip
def test_what_reaches_a_library_it_can_read(
    data: Any, kinds: tuple[str, str], capability: Capability, dtype: str, batch: tuple[int, ...]
) -> None:
    """Leading dimensions, operations and conjugations are those that the row of the library allows."""
    k = 4
    m, n = (k if kinds[0] != "ge" else 3), (k if kinds[1] != "ge" else 2)
    flags = st.booleans()

    def operand(kind: str, rows: int, cols: int) -> Operand:
        conj = data.draw(flags) and dtype == "complex64"
        if kind == "dg":
            return op((*batch, rows), dtype, (*(rows for _ in batch), 1), conj)
        strides = data.draw(layouts(rows, cols))
        return op((*batch, rows, cols), dtype, (*(50 for _ in batch), *strides), conj)

    structures = [Structure(kind, upper=kind in ("sy", "he", "tr") and data.draw(flags)) for kind in kinds]
    c = op((*batch, m, n), dtype) if data.draw(flags) else None
    inplace = c is not None and data.draw(flags)
    problem = specify(
        operand(kinds[0], m, k), operand(kinds[1], k, n), c, of_a=structures[0], of_b=structures[1], inplace=inplace
    )
    product = lower(problem, capability)
    for load in product.loads:
        assert load.nbytes
    if product.routine == "diagonal" or capability.any_strides:
        assert product.routine in ("diagonal", "gemm")
        return
    assert product.target.matrix.dtype.name in capability.dtypes
    structured = product.routine != "gemm"
    if structured:
        assert product.target.matrix.dtype.name in capability.structured
    extents = {
        "first": (product.m, product.k) if not structured else 2 * ((product.n,) if product.right else (product.m,)),
        "second": (product.k, product.n) if not structured else (product.m, product.n), "target": (product.m, product.n),
    }  # fmt: skip
    for name, (rows, cols) in extents.items():
        side = getattr(product, name)
        if name == "second" and product.seed is not None and product.seed.name == side.name:
            continue  # it is copied into the target, from whatever layout
        assert (side.matrix.rows, side.matrix.cols) == (rows, cols)
        seen = side.matrix.transposed if side.transposed else side.matrix
        assert leading_dimension(seen.rows, seen.cols, seen.row_stride, seen.col_stride) == side.ld
        assert side.ld >= seen.rows
        assert not (side.transposed and name == "target")
        if side.matrix.conj:
            assert name != "target"
            if product.routine == "gemm":
                assert side.transposed or capability.lone_conj
            else:
                assert name == "first"
                assert product.routine in ("hemm", "trmm")
                assert side.transposed


def test_a_plain_product_needs_no_copy():
    for a in (None, (1, 3), (9, 1), (1, 9)):
        for b in (None, (1, 4), (9, 1), (1, 9)):
            problem = specify(op((3, 4), strides=a), op((4, 5), strides=b))
            for capability in (OPENBLAS, CUBLAS):
                assert lower(problem, capability).alone


@pytest.mark.parametrize(
    ("special", "general", "kind", "conj", "loads"),
    [
        ("C", "C", "sy", False, 0),
        ("F", "F", "sy", False, 0),
        ("C", "F", "sy", False, 0),
        ("F", "C", "sy", False, 1),  # the result is column-major, the general factor is not
        ("C", "C", "he", False, 0),
        ("F", "F", "he", False, 0),
        ("C", "F", "he", False, 1),
        ("C", "F", "he", True, 0),
        ("C", "C", "tr", False, 0),
        ("C", "F", "tr", True, 0),
        ("C", "C", "tr", True, 1),
    ],
)
def test_copies_of_structured_products(special, general, kind, conj, loads):
    strides = {"C": (4, 1), "F": (1, 4)}
    a = op((4, 4), "complex64", strides[special], conj)
    b = op((4, 3), "complex64", (3, 1) if general == "C" else (1, 4))
    product = lower(specify(a, b, of_a=Structure(kind)), CUBLAS)
    assert len(product.loads) == loads


def test_the_row_of_a_library():
    problem: MatmulProblem = specify(op((4, 4), "float16"), op((4, 3), "float16"), of_a=Structure("sy"))
    assert lower(problem, OPENBLAS).routine == "symm"
    assert lower(problem, OPENBLAS).scratch
    assert lower(problem, NUMPY).routine == "gemm"
    assert lower(problem, CUBLAS).routine == "gemm"
    assert not lower(problem, CUBLAS).scratch


def test_structures_turn():
    assert Structure("sy", upper=True).turned == Structure("sy")
    assert GENERAL.turned is GENERAL
    assert set(_qualifiers.NAMES) == set(CREATE)
