"""Any contraction of any arrays that a package can express is right on the CPU, whichever BLAS serves."""

import logging
import threading
from collections.abc import Iterator

import numpy as np
import pytest
from frameworks import HOST, Framework, params
from hypothesis import given
from hypothesis import strategies as st
from tensor_cases import Case, cases, examples

import nvmath
from nvmath.bindings import _openblas
from nvmath.tensor import BinaryContraction, TernaryContraction, binary_contraction, ternary_contraction

CLASSES = {2: BinaryContraction, 3: TernaryContraction}
FUNCTIONS = {2: binary_contraction, 3: ternary_contraction}
ADDENDS = {2: "c", 3: "d"}

frameworks = pytest.mark.parametrize("framework", params(HOST))
counts = pytest.mark.parametrize("count", [2, 3])


@pytest.fixture(params=["openblas", "numpy"], scope="module", autouse=True)
def blas(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run the module twice: on NumPy's OpenBLAS, and on numpy.matmul alone."""
    if request.param == "openblas" and not _openblas.present():
        pytest.skip("this NumPy brings no OpenBLAS")
    nvmath.plan_cache.clear()
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "numpy":
            patch.setattr(_openblas, "present", lambda: False)
        yield request.param
    nvmath.plan_cache.clear()


def addend_of(case: Case, framework: Framework) -> tuple[np.ndarray | None, dict[str, object]]:
    if case.beta is None:
        return None, {}
    values = case.addend()
    return values, {ADDENDS[len(case.terms)]: framework.array(values, case.dtype, case.out_layout)}


@frameworks
@counts
@examples(150)
@given(data=st.data())
def test_one_call(framework: Framework, count: int, data: st.DataObject) -> None:
    case = data.draw(cases(framework, count))
    values = case.operands()
    arrays = case.arrays(framework, values)
    addend, more = addend_of(case, framework)
    for _ in range(2):  # the second call has a kept plan
        got = FUNCTIONS[count](
            case.expression, *arrays, **more, **case.scalars(), qualifiers=case.qualifiers(), execution="cpu"
        )  # fmt: skip
        case.check(framework.numpy(got), values, addend)
        assert framework.dtype(got) == case.dtype
    for array, value in zip(arrays, values, strict=True):
        np.testing.assert_array_equal(framework.numpy(array), value)  # the caller's operands are never changed
    if addend is not None:
        np.testing.assert_array_equal(framework.numpy(more[ADDENDS[count]]), addend)


@frameworks
@counts
@examples(75)
@given(data=st.data())
def test_into_an_array_of_any_layout(framework: Framework, count: int, data: st.DataObject) -> None:
    case = data.draw(cases(framework, count))
    values = case.operands()
    arrays = case.arrays(framework, values)
    addend, more = addend_of(case, framework)
    out = framework.empty(case.shape(case.output), case.dtype, case.out_layout)
    got = FUNCTIONS[count](
        case.expression, *arrays, **more, **case.scalars(), qualifiers=case.qualifiers(), out=out, execution="cpu"
    )  # fmt: skip
    assert got is out
    case.check(framework.numpy(out), values, addend)


@frameworks
@counts
@examples(75)
@given(data=st.data())
def test_the_result_may_be_the_addend(framework: Framework, count: int, data: st.DataObject) -> None:
    case = data.draw(cases(framework, count, addend=True))
    values, addend = case.operands(), case.addend()
    out = framework.array(addend, case.dtype, case.out_layout)
    got = FUNCTIONS[count](
        case.expression, *case.arrays(framework, values), **{ADDENDS[count]: out}, **case.scalars(),
        qualifiers=case.qualifiers(), out=out, execution="cpu",
    )  # fmt: skip
    assert got is out
    case.check(framework.numpy(out), values, addend)


@frameworks
@counts
@examples(75)
@given(data=st.data())
def test_stateful(framework: Framework, count: int, data: st.DataObject) -> None:
    case = data.draw(cases(framework, count))
    values = case.operands()
    addend, more = addend_of(case, framework)
    threads = data.draw(st.sampled_from([None, 1])) if _openblas.present() else None
    execution = nvmath.tensor.ExecutionCPU(num_threads=threads)
    arrays = case.arrays(framework, values)
    options = {} if case.beta is not None or count == 3 else {"result_layout": data.draw(st.sampled_from(["auto", "C", "F"]))}
    with CLASSES[count](
        case.expression, *arrays, **more, qualifiers=case.qualifiers(), options=options, execution=execution
    ) as contraction:  # fmt: skip
        contraction.plan()
        case.check(framework.numpy(contraction.execute(**case.scalars())), values, addend)
        other = Case(**{**case.__dict__, "seed": case.seed + 1})
        fresh = other.operands()
        contraction.reset_operands(**dict(zip("abc", other.arrays(framework, fresh), strict=False)))
        other.check(framework.numpy(contraction.execute(**case.scalars())), fresh, addend)
        name = data.draw(st.sampled_from("abc"[:count]))
        contraction.reset_operands(**{name: arrays["abc".index(name)]})
        mixed = [values[i] if "abc"[i] == name else fresh[i] for i in range(count)]
        case.check(framework.numpy(contraction.execute(**case.scalars(), release_workspace=True)), mixed, addend)


@frameworks
@counts
@examples(60)
@given(data=st.data())
def test_empty(framework: Framework, count: int, data: st.DataObject) -> None:
    case = data.draw(cases(framework, count, empty=True))
    values = case.operands()
    addend, more = addend_of(case, framework)
    got = FUNCTIONS[count](
        case.expression, *case.arrays(framework, values), **more, **case.scalars(), qualifiers=case.qualifiers(), execution="cpu"
    )  # fmt: skip
    case.check(framework.numpy(got), values, addend)


@examples(100)
@given(data=st.data())
def test_ellipsis_and_implicit_output(data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    batch = data.draw(st.lists(st.sampled_from([1, 2, 3]), max_size=3))
    short = batch[data.draw(st.integers(0, len(batch))) :]
    short = [data.draw(st.sampled_from([1, extent])) for extent in short]
    a, b = rng.random((*batch, 2, 3)), rng.random((3, *short, 4))
    for expression in ("...ij,j...k->...ik", "...ij,j...k", "...ij,j...k->k...i", "...ji,i...k"):
        np.testing.assert_allclose(
            binary_contraction(expression, a, b, execution="cpu"), np.einsum(expression, a, b), rtol=1e-13
        )


def test_extents_of_one_fit_any() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.random((1, 3)), rng.random((4, 1))
    for expression in ("ij,ij->ij", "ij,ij->", "ij,ij->j", "ij,ki->kj"):
        got = binary_contraction(expression, a, b, execution="cpu")
        np.testing.assert_allclose(got, np.einsum(expression, a, b), rtol=1e-14)


def test_overlapping_out_is_right() -> None:
    memory = np.random.default_rng(3).random((6, 6))
    for make in (lambda m: (m, m.T, m), lambda m: (m[:3, :3], m[3:, 3:], m[1:4, 1:4]), lambda m: (m[::-1], m, m)):
        a, b, out = make(memory.copy())
        want = a @ b
        got = binary_contraction("ij,jk->ik", a, b, out=out, execution="cpu")
        assert got is out
        np.testing.assert_allclose(out, want, rtol=1e-13)
        a, b, out = make(memory.copy())
        with BinaryContraction("ij,jk->ik", a, b, out=out, execution="cpu") as contraction:
            contraction.plan()
            assert contraction.execute() is out
        np.testing.assert_allclose(out, want, rtol=1e-13)


def test_resetting_to_an_operand_that_overlaps_out_is_right() -> None:
    rng = np.random.default_rng(4)
    a, b, out = rng.random((5, 5)), rng.random((5, 5)), rng.random((5, 5))
    with BinaryContraction("ij,jk->ik", a, b, out=out, execution="cpu") as contraction:
        contraction.plan()
        np.testing.assert_allclose(contraction.execute(), a @ b, rtol=1e-13)
        want = out @ b
        contraction.reset_operands(a=out)
        np.testing.assert_allclose(contraction.execute(), want, rtol=1e-13)
        contraction.reset_operands(a=a)
        np.testing.assert_allclose(contraction.execute(), a @ b, rtol=1e-13)
        other = np.zeros((5, 10))[:, ::2]
        contraction.reset_operands(out=other)
        assert contraction.execute() is other
        np.testing.assert_allclose(other, a @ b, rtol=1e-13)


def test_addend_that_overlaps_out_otherwise_than_exactly() -> None:
    memory = np.random.default_rng(6).random((4, 4))
    a, b = np.eye(4), np.random.default_rng(7).random((4, 4))
    want = b + 2 * memory.T
    out = memory
    binary_contraction("ij,jk->ik", a, b, c=memory.T, beta=2, out=out, execution="cpu")
    np.testing.assert_allclose(out, want, rtol=1e-13)


def test_beta_of_zero_does_not_read_the_addend() -> None:
    a, c = np.ones((3, 3)), np.full((3, 3), np.nan)
    for expression in ("ij,jk->ik", "ij,ij->ij"):
        assert np.isfinite(binary_contraction(expression, a, a, c=c, beta=0, execution="cpu")).all()
        assert np.isfinite(binary_contraction(expression, a, a, c=c, beta=0.0, out=c.copy(), execution="cpu")).all()
    assert np.isfinite(ternary_contraction("ij,jk,kl->il", a, a, a, d=c, beta=0, execution="cpu")).all()


def test_factors_change_between_executions() -> None:
    rng = np.random.default_rng(8)
    a, b, c = (rng.random((3, 3)) + 1j * rng.random((3, 3)) for _ in range(3))
    with BinaryContraction("ij,jk->ik", a, b, c=c, execution="cpu") as contraction:
        contraction.plan()
        for alpha, beta in ((1, 1), (2.5, 0), (1j, -1), (np.float64(3), np.complex64(2 + 1j)), (0, 1)):
            np.testing.assert_allclose(contraction.execute(alpha=alpha, beta=beta), alpha * (a @ b) + beta * c, rtol=1e-12)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_halves_of_torch(dtype: str) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    torch.manual_seed(0)
    kind = getattr(torch, dtype)
    a, b, c = (torch.randn(s).to(kind) for s in ((4, 5, 6), (6, 5, 3), (3, 4)))
    want = 2 * torch.einsum("ijk,kjl->li", a.double(), b.double()) + c.double()
    got = binary_contraction("ijk,kjl->li", a, b, c=c, alpha=2, beta=1, execution="cpu")
    assert got.dtype is kind
    torch.testing.assert_close(got.double(), want, rtol=2**-8 if dtype == "bfloat16" else 2**-10, atol=1e-3)
    special = torch.tensor([float("nan"), float("inf"), -float("inf"), 0.0]).to(kind)
    ones = torch.ones(4).to(kind)
    assert torch.equal(torch.nan_to_num(binary_contraction("i,i->i", special, ones, execution="cpu")), torch.nan_to_num(special))


def test_lazy_conjugation_of_torch() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    a, b, c = (torch.randn(3, 3, dtype=torch.complex128) for _ in range(3))
    for x in (a, a.conj(), a.conj().T, a.mH):
        for qualifiers in (None, [9, 1, 1], [9, 9, 1]):
            left = x.resolve_conj().conj() if qualifiers else x
            right = b.conj() if qualifiers == [9, 9, 1] else b
            got = binary_contraction("ij,jk->ik", x, b, c=c.conj(), beta=1, qualifiers=qualifiers, execution="cpu")
            torch.testing.assert_close(got, left.resolve_conj() @ right.resolve_conj() + c.conj())
    with BinaryContraction("ij,jk->ik", a, b, execution="cpu") as contraction:
        contraction.plan()
        contraction.reset_operands(a=a.conj())
        torch.testing.assert_close(contraction.execute(), a.conj().resolve_conj() @ b)


def test_optimized_layout() -> None:
    a, b = np.zeros((64, 2, 3, 8, 6)), np.zeros((64, 3, 2, 6, 6))
    got = binary_contraction("pijkl,pjiab->lakbp", a, b, execution="cpu")
    assert [stride // 8 for stride in got.strides] == [36, 6, 216, 1, 1728]
    assert binary_contraction("pijkl,pjiab->lakbp", a, b, execution="cpu", options={"result_layout": "C"}).flags.c_contiguous
    assert binary_contraction("pijkl,pjiab->lakbp", a, b, execution="cpu", options={"result_layout": "F"}).flags.f_contiguous
    x = np.ones((2, 3))
    assert ternary_contraction("ij,kj,kl->li", x, x, x, execution="cpu").flags.c_contiguous


def test_addend_gives_its_layout() -> None:
    a, c = np.ones((3, 3, 3)), np.zeros((3, 3, 3)).transpose(1, 2, 0)
    got = binary_contraction("ijk,ijk->ijk", a, a, c=c, beta=1, execution="cpu")
    assert got.strides == c.strides


def test_life_cycle() -> None:
    a, b = np.ones((2, 3)), np.ones((3, 2))
    contraction = BinaryContraction("ij,jk->ik", a, b, execution="cpu")
    with pytest.raises(RuntimeError, match="plan"):
        contraction.execute()
    contraction.plan()
    contraction.plan()
    assert contraction.execute()[0, 0] == 3
    contraction.release_operands()
    contraction.release_operands()
    with pytest.raises(RuntimeError, match="released"):
        contraction.execute()
    with pytest.raises(ValueError, match="b is missing"):
        contraction.reset_operands(a=a)
    contraction.plan()
    contraction.reset_operands(a=2 * a, b=b)
    assert contraction.execute()[0, 0] == 6
    contraction.reset_operands_unchecked(b=3 * b)
    assert contraction.execute()[0, 0] == 18
    with pytest.raises(ValueError, match="at least one operand"):
        contraction.reset_operands()
    preference = contraction.plan_preference
    preference.algo = nvmath.tensor.ContractionAlgo.TTGT
    preference.kernel_rank = 1
    assert (preference.algo, preference.kernel_rank, preference.jit) == (-2, 1, 0)
    contraction.plan()
    assert contraction.execute()[0, 0] == 18
    contraction.free()
    contraction.free()
    for call in (contraction.execute, contraction.plan, contraction.release_operands, contraction.__enter__,
                 lambda: contraction.reset_operands(a=a)):  # fmt: skip
        with pytest.raises(nvmath.tensor.InvalidContractionState, match="freed"):
            call()
    with pytest.raises(RuntimeError, match="freed"):
        _ = contraction.plan_preference
    with pytest.raises(RuntimeError, match="freed"):
        _ = preference.algo


def test_references_are_dropped() -> None:
    import sys

    a, b, out = np.ones((2, 2)), np.ones((2, 2)), np.ones((2, 2))
    before = [sys.getrefcount(array) for array in (a, b, out)]
    with BinaryContraction("ij,jk->ik", a, b, out=out, execution="cpu") as contraction:
        contraction.plan()
        contraction.execute()
        contraction.release_operands()
        assert [sys.getrefcount(array) for array in (a, b, out)] == before
        contraction.reset_operands(a=a, b=b, out=out)
        contraction.execute()
    for _ in range(3):
        binary_contraction("ij,jk->ik", a, b, out=out, execution="cpu")
        binary_contraction("ij,jk->ik", a, b, execution="cpu")
    assert [sys.getrefcount(array) for array in (a, b, out)] == before


def test_reset_with_other_strides_replans() -> None:
    rng = np.random.default_rng(9)
    a, b = rng.random((4, 5)), rng.random((5, 6))
    with BinaryContraction("ij,jk->ik", a, b, execution="cpu") as contraction:
        contraction.plan()
        for new in (np.asfortranarray(a), rng.random((8, 10))[::2, ::2], rng.random((4, 5))[::-1], a):
            contraction.reset_operands(a=new)
            np.testing.assert_allclose(contraction.execute(), new @ b, rtol=1e-13)
        with pytest.raises(ValueError, match="expected"):
            contraction.reset_operands(a=rng.random((4, 4)), b=rng.random((4, 6)))
        with pytest.raises(ValueError, match="float32"):
            contraction.reset_operands(a=a.astype(np.float32))
        np.testing.assert_allclose(contraction.execute(), a @ b, rtol=1e-13)


def test_what_was_not_there_cannot_be_reset() -> None:
    a = np.ones((2, 2))
    with BinaryContraction("ij,jk->ik", a, a, execution="cpu") as contraction:
        with pytest.raises(ValueError, match="without an addend"):
            contraction.reset_operands(c=a)
        with pytest.raises(ValueError, match="without it"):
            contraction.reset_operands(out=a)


def test_foreign_byte_order_and_odd_strides() -> None:
    rng = np.random.default_rng(10)
    a = rng.random((3, 4))
    swapped = a.astype(">f8")
    packed = np.zeros(3 * 4, dtype=[("x", "f8"), ("y", "i2")])
    packed["x"] = a.ravel()
    odd = packed["x"].reshape(3, 4)
    for x in (swapped, odd):
        np.testing.assert_allclose(binary_contraction("ij,kj->ik", x, a, execution="cpu"), a @ a.T, rtol=1e-14)
        out = np.zeros((3, 3), ">f8")
        assert binary_contraction("ij,kj->ik", x, a, out=out, execution="cpu") is out
        np.testing.assert_allclose(out, a @ a.T, rtol=1e-14)


def test_threads() -> None:
    rng = np.random.default_rng(11)
    pairs = [(rng.random((20, 20)), rng.random((20, 20))) for _ in range(8)]
    wrong = []

    def work(a: np.ndarray, b: np.ndarray) -> None:
        for _ in range(200):
            if not np.allclose(binary_contraction("ij,jk->ki", a, b, execution="cpu"), (a @ b).T):
                wrong.append(1)

    threads = [threading.Thread(target=work, args=pair) for pair in pairs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_number_of_threads_is_put_back(blas: str) -> None:
    a = np.ones((8, 8))
    if blas == "numpy":
        with pytest.raises(ValueError, match="num_threads=1"):
            binary_contraction("ij,jk->ik", a, a, execution={"name": "cpu", "num_threads": 1})
        return
    before = _openblas.get_num_threads()
    binary_contraction("ij,jk->ik", a, a, execution={"name": "cpu", "num_threads": 1})
    assert _openblas.get_num_threads() == before


def test_cache(fresh_cache: None) -> None:
    a, b = np.ones((4, 4)), np.ones((4, 4))
    for _ in range(3):
        binary_contraction("ij,jk->ik", a, b, alpha=2, execution="cpu")
    binary_contraction("ij,jk->ik", a, b, alpha=3, execution="cpu")
    info = nvmath.plan_cache.info()
    assert (info.misses, info.hits) == (1, 3)
    for options in ({"result_layout": "F"}, nvmath.tensor.ContractionOptions(result_layout="F")):
        binary_contraction("ij,jk->ik", a, b, options=options, execution="cpu")
    binary_contraction("ij,jk->ik", a, b.T, execution="cpu")
    binary_contraction("ij,jk->ik", a, b, qualifiers=[1, 1, 1], execution="cpu")
    binary_contraction("ij,jk->ik", a, b, qualifiers=np.array([1, 1, 1]), execution="cpu")
    info = nvmath.plan_cache.info()
    assert (info.misses - info.hits, info.entries) == (4 - 5 + 0, 4)


def test_logging(caplog: pytest.LogCaptureFixture) -> None:
    a = np.ones((2, 2))
    logger = logging.getLogger("contraction")
    with caplog.at_level(logging.INFO):
        binary_contraction("ij,jk->ik", a, a, options={"logger": logger}, execution="cpu")
        with BinaryContraction("ij,jk->ik", a, a, options={"logger": logger}, execution="cpu") as contraction:
            contraction.plan()
            contraction.execute()
            contraction.reset_operands(a=a.copy())
    assert "contraction 'ij,jk->ik' of float64 with i=2, j=2, k=2" in caplog.text
    assert {record.name for record in caplog.records} == {"contraction"}
