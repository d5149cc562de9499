"""Any contraction of any arrays that a package can express is right on the CPU, whichever BLAS serves."""

import logging
import re
import threading

import numpy as np
import pytest
from frameworks import HOST, Framework, params
from hypothesis import given
from hypothesis import strategies as st
from tensor_blas import blas as blas
from tensor_cases import CHECKS, cases, examples

import nvmath
from nvmath.bindings import _openblas
from nvmath.tensor import BinaryContraction, TernaryContraction, binary_contraction, ternary_contraction

frameworks = pytest.mark.parametrize("framework", params(HOST))
counts = pytest.mark.parametrize("count", [2, 3])


@frameworks
@counts
@pytest.mark.parametrize("check", ["one_call", "into_an_array", "stateful"])
@examples(100)
@given(data=st.data())
def test_any(framework: Framework, count: int, check: str, data: st.DataObject) -> None:
    CHECKS[check](data.draw(cases(framework, count)), framework, "cpu")


@frameworks
@counts
@examples(75)
@given(data=st.data())
def test_the_result_may_be_the_addend(framework: Framework, count: int, data: st.DataObject) -> None:
    CHECKS["into_the_addend"](data.draw(cases(framework, count, addend=True)), framework, "cpu")


@frameworks
@counts
@examples(60)
@given(data=st.data())
def test_empty(framework: Framework, count: int, data: st.DataObject) -> None:
    CHECKS["one_call"](data.draw(cases(framework, count, empty=True)), framework, "cpu")


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


def test_preferences_are_checked() -> None:
    a = np.ones((2, 2))
    with BinaryContraction("ij,jk->ik", a, a, execution="cpu") as contraction:
        preference = contraction.plan_preference
        for name, value in (
            ("algo", -5), ("algo", 1 << 31), ("autotune_mode", 2), ("cache_mode", -1), ("jit", 7), ("kernel_rank", -1),
            ("incremental_count", 0), ("gpu_arch", -1),
        ):  # fmt: skip
            before = getattr(preference, name)
            with pytest.raises(ValueError, match=f"{name} must be"):
                setattr(preference, name, value)
            assert getattr(preference, name) == before
        with pytest.raises(TypeError, match="algo must be an integer"):
            preference.algo = 1.5
        preference.algo = 3  # the number of a kernel
        assert preference.algo == 3
        contraction.plan()


def test_arrays_that_share_memory() -> None:
    rng = np.random.default_rng(15)
    a = rng.random((4, 4))
    np.testing.assert_allclose(binary_contraction("ij,jk->ik", a, a, execution="cpu"), a @ a, rtol=1e-13)
    np.testing.assert_allclose(binary_contraction("ij,kj->ik", a, a[::-1], execution="cpu"), a @ a[::-1].T, rtol=1e-13)
    got = ternary_contraction("ij,jk,kl->il", a, a.T, a, d=a, beta=2, execution="cpu")
    np.testing.assert_allclose(got, a @ a.T @ a + 2 * a, rtol=1e-13)
    twice = np.lib.stride_tricks.as_strided(np.zeros(7), (4, 4), (8, 8))
    with pytest.raises(ValueError, match="share memory"):
        binary_contraction("ij,jk->ik", a, a, out=twice, execution="cpu")
    frozen = np.zeros((4, 4))
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        binary_contraction("ij,jk->ik", a, a, out=frozen, execution="cpu")


def test_packages_must_agree() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    a, t = np.ones((2, 2)), torch.ones(2, 2, dtype=torch.float64)
    with pytest.raises(TypeError, match="a: numpy, b: torch"):
        binary_contraction("ij,jk->ik", a, t, execution="cpu")
    with pytest.raises(ValueError, match="c must be a numpy array as a is, but it is one of torch"):
        binary_contraction("ij,jk->ik", a, a, c=t, beta=1, execution="cpu")
    with pytest.raises(ValueError, match="c must be a numpy array"):
        ternary_contraction("ij,jk,kl->il", a, a, t, execution="cpu")
    with pytest.raises(ValueError, match="d must be a numpy array"):
        ternary_contraction("ij,jk,kl->il", a, a, a, d=t, beta=1, execution="cpu")
    with pytest.raises(ValueError, match="out must be a numpy array"):
        binary_contraction("ij,jk->ik", a, a, out=t, execution="cpu")
    with pytest.raises(ValueError, match="not an array that nvmath knows"):
        binary_contraction("ij,jk->ik", a, [[1.0, 2.0]], execution="cpu")
    with BinaryContraction("ij,jk->ik", a, a, execution="cpu") as contraction:
        contraction.plan()
        with pytest.raises(ValueError, match="b was a numpy array, so it cannot be replaced by one of torch"):
            contraction.reset_operands(b=t)
        assert contraction.execute()[0, 0] == 2


def test_out_after_a_release_without_checks() -> None:
    a, frame = np.arange(4.0).reshape(2, 2), np.zeros((4, 6))
    with BinaryContraction("ij,jk->ik", a, a, out=frame[1:3, 1:5:2], execution="cpu") as contraction:
        contraction.plan()
        contraction.execute()
        for _ in range(2):
            other = np.zeros((4, 6))
            contraction.release_operands()
            contraction.reset_operands_unchecked(a=a, b=a, out=other[1:3, 1:5:2])
            contraction.execute()
            np.testing.assert_array_equal(other, frame)
        with pytest.raises(ValueError, match="share memory"):
            contraction.reset_operands(out=np.lib.stride_tricks.as_strided(np.zeros(3), (2, 2), (8, 8)))
        third = np.zeros((4, 6))
        contraction.reset_operands_unchecked(out=third[1:3, 1:5:2])
        contraction.execute()
        np.testing.assert_array_equal(third, frame)
    np.testing.assert_array_equal(frame[1:3, 1:5:2], a @ a)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("expression", ["abc,bda->dc", "xabc,xbda->xdc", "xabc,bxda->dxc", "abce,bdae->dc", "abc,bda->cd"])
def test_sums_that_no_matrix_product_reads_in_one_go(expression: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The products for each index are added, with factors and an addend, and without copies where one mode is in the way."""
    monkeypatch.setattr("nvmath.tensor._ttgt._LOOPED_FROM", 1)
    rng = np.random.default_rng(7)
    extents = {"a": 30, "b": 3, "c": 4, "d": 5, "e": 2, "x": 3}
    first, second, result = re.split(",|->", expression)
    a, b, c = (rng.standard_normal([extents[label] for label in term]).astype(dtype) for term in (first, second, result))
    if dtype.startswith("complex"):
        a, b = a * np.dtype(dtype).type(1 + 2j), b * np.dtype(dtype).type(2 - 1j)
    wanted = np.einsum(expression, a.astype("complex128"), b.astype("complex128"))
    near = {"rtol": 0, "atol": (1e-4 if dtype in ("float32", "complex64") else 1e-12) * np.abs(wanted).max()}
    with BinaryContraction(expression, a, b, c=c, execution="cpu") as contraction:
        contraction.plan()
        if _openblas.present():
            assert contraction._plan_object.program.steps[-1].sums
        for alpha, beta in ((1, 0), (2, -3), (0, 1)):
            np.testing.assert_allclose(contraction.execute(alpha=alpha, beta=beta), alpha * wanted + beta * c, **near)
    out = np.full_like(c, np.nan)
    with BinaryContraction(expression, a, b, out=out, execution="cpu") as contraction:
        contraction.plan()
        contraction.execute()
    np.testing.assert_allclose(out, wanted, **near)


@pytest.mark.parametrize("expression", ["ij,jkl,lm->ikm", "jkl,ij,lm->ikm", "lm,ij,jkl->ikm"])
def test_the_product_of_the_first_two_of_three_has_the_layout_that_the_last_product_reads(expression: str) -> None:
    rng = np.random.default_rng(8)
    extents = dict(zip("ijklm", (4, 5, 6, 7, 8), strict=True))
    operands = [rng.random([extents[label] for label in term]) for term in expression.partition("->")[0].split(",")]
    with TernaryContraction(expression, *operands, execution="cpu") as contraction:
        contraction.plan()
        assert "Copy" not in contraction._plan_object.description
        np.testing.assert_allclose(contraction.execute(), np.einsum(expression, *operands), rtol=1e-13)
