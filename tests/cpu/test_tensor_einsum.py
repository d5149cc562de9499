"""einsum on the CPU: any number of operands, paths, memory limits, both forms of the call."""

from __future__ import annotations

import importlib.util
import math
import re
from typing import Any

import numpy as np
import pytest
from frameworks import HOST, Framework, params
from hypothesis import given
from hypothesis import strategies as st
from tensor_blas import blas as blas
from tensor_cases import CHECKS, examples, networks

import nvmath
from nvmath._core.options import available_threads
from nvmath.tensor import Einsum, InvalidContractionState, einsum, einsum_path

frameworks = pytest.mark.parametrize("framework", params(HOST))


@frameworks
@examples(150)
@given(data=st.data())
def test_any(framework: Framework, data: st.DataObject) -> None:
    CHECKS["einsum"](data.draw(networks(framework)), framework, "cpu")


@frameworks
@examples(50)
@given(data=st.data())
def test_empty(framework: Framework, data: st.DataObject) -> None:
    CHECKS["einsum"](data.draw(networks(framework, empty=True)), framework, "cpu")


@pytest.mark.parametrize(
    ("expression", "shapes"),
    [
        ("ii", [(3, 3)]), ("ij->ji", [(2, 3)]), ("ij->", [(2, 3)]), ("i->i", [(3,)]), ("iij->j", [(2, 2, 3)]),
        ("...ij->...ji", [(4, 2, 3)]),
        ("ij,jk", [(2, 3), (3, 4)]), ("ba,cb", [(2, 3), (4, 2)]), (" i j , j k -> i k ", [(2, 3), (3, 4)]),
        ("...i,...i,...i->...", [(4, 2, 3), (2, 3), (3,)]), ("...,...,...", [(2, 3), (3,), ()]), ("i...,i...,i...", [(3, 2)] * 3),
        ("a,b,c,d,e->edcba", [(2,), (3,), (2,), (3,), (2,)]), ("ab,bc,cd,de,ef,fa->", [(3, 3)] * 6),
        ("ij,ij,ij,ij->ij", [(2, 3), (1, 3), (2, 1), (1, 1)]), ("αβ,β9->α9", [(2, 3), (3, 4)]),
    ],
)  # fmt: skip
def test_like_numpy(expression: str, shapes: list[tuple[int, ...]]) -> None:
    rng = np.random.default_rng(0)
    operands = [rng.random(shape) for shape in shapes]
    want = np.einsum(expression.translate({945: "x", 946: "y", 57: "z"}), *operands)
    got = einsum(expression, *operands, execution="cpu")
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-13)
    assert not any(np.shares_memory(got, operand) for operand in operands)


def test_lists_of_integers() -> None:
    rng = np.random.default_rng(1)
    a, b, c = rng.random((2, 3)), rng.random((3, 4)), rng.random((5, 4, 2))
    for arguments in (
        (a, [0, 1], b, [1, 2]), (a, [7, 1], b, [1, 2]), (a, [0, 1], b, [1, 2], [2, 0]), (c, [..., 3, 4], a, [4, 2], [..., 2, 3]),
        (a, [0, 1], b, [1, 2], c, [5, 2, 0]), (a, [0, 51]),
    ):  # fmt: skip
        np.testing.assert_allclose(einsum(*arguments, execution="cpu"), np.einsum(*arguments), rtol=1e-13)
    with pytest.raises(ValueError, match="list of integers"):
        einsum(a, "ij", b, [1, 2])
    with pytest.raises(ValueError, match="in turns"):
        einsum(a)
    with pytest.raises(ValueError, match="without operands"):
        einsum("ij->")


def test_the_number_of_operands_must_fit() -> None:
    a = np.ones((2, 2))
    with pytest.raises(ValueError, match="2 operands, with 1 comma, but 'ij,jk,kl' has 3 operands"):
        einsum("ij,jk,kl", a, a)
    with pytest.raises(ValueError, match="1 operand, with no commas, but 'ij,jk' has 2 operands"):
        einsum("ij,jk", a)
    with pytest.raises(ValueError, match=r"operands\[3\] has 2 dimensions"):
        einsum("ij,jk,kl,lmn", a, a, a, a, execution="cpu")
    with pytest.raises(ValueError, match=r"extent 2 in operands\[0\] but 3 in operands\[3\]"):
        einsum("ij,jk,kl,li", a, a, a, np.ones((2, 3)), execution="cpu")
    with pytest.raises(ValueError, match="one dtype"):
        einsum("ij,jk,kl,lm", a, a, a, a.astype(np.float32), execution="cpu")


def test_the_best_path_is_found() -> None:
    shapes = [(8, 2), (2, 9), (9, 3), (3, 7), (7, 2)]
    operands = [np.ones(shape) for shape in shapes]
    info = einsum_path("ab,bc,cd,de,ef->af", *operands, execution="cpu")
    extents = [8, 2, 9, 3, 7, 2]

    def chain(i: int, j: int) -> int:  # the classic chain of matrices
        if i + 1 == j:
            return 0
        return min(chain(i, k) + chain(k, j) + 2 * extents[i] * extents[k] * extents[j] for k in range(i + 1, j))

    assert info.flops == chain(0, 5)
    assert info.naive_flops == math.prod(extents) * 5
    again = einsum_path("ab,bc,cd,de,ef->af", *operands, optimize=info.path, execution="cpu")
    assert again == info


def test_paths_of_others() -> None:
    rng = np.random.default_rng(2)
    operands = [rng.random((3, 3)) for _ in range(4)]
    want = np.einsum("ab,bc,cd,da->", *operands)
    ours = "ab,bc,cd,da->", *operands
    paths = [[(0, 1), (0, 1), (0, 1)], [[1, 3], [0, 2], [0, 1]], [(0, 1, 2, 3)], [(0, 1, 3), (0, 1)], np.einsum_path(*ours)[0]]
    if importlib.util.find_spec("opt_einsum") is not None:
        import opt_einsum

        paths.append(opt_einsum.contract_path(*ours)[0])
    for path in (*paths, "optimal", "greedy", "auto", True, False):
        assert einsum(*ours, optimize=path, execution="cpu") == pytest.approx(want, rel=1e-13)
    for path in ([(0, 1)], [(0, 4), (0, 1), (0, 1)], [(0, 0), (0, 1), (0, 1)], ["ab"], [()], 3, "fast", [(0, 1), 2]):
        with pytest.raises(ValueError, match=r"path|optimize"):
            einsum(*ours, optimize=path, execution="cpu")


def test_a_long_chain() -> None:
    rng = np.random.default_rng(3)
    operands = [rng.random((4, 4)) / 2 for _ in range(40)]
    want = np.linalg.multi_dot(operands)
    letters = [chr(0x100 + i) for i in range(41)]
    expression = ",".join(a + b for a, b in zip(letters, letters[1:], strict=False)) + f"->{letters[0]}{letters[-1]}"
    np.testing.assert_allclose(einsum(expression, *operands, execution="cpu"), want, rtol=1e-12)
    info = einsum_path(expression, *operands, execution="cpu")
    assert info.buffer_nbytes <= 21 * 256
    assert info.largest_intermediate == 16


def test_the_memory_limit_changes_the_path_or_is_told() -> None:
    # the outer product of the ends is cheapest, and large
    a, b, c = np.ones((1, 60)), np.ones((60, 60)), np.ones((60, 1))
    expression = "ij,jk,kl->il"
    assert einsum_path(expression, a, b, c, execution="cpu").largest_intermediate == 60
    wide, core = np.ones((50, 2)), np.ones((2, 2, 50))
    expression = "ia,abj,jb->i"
    free = einsum_path(expression, wide, core, np.ones((50, 2)), execution="cpu")
    tight = einsum_path(expression, wide, core, np.ones((50, 2)), options={"memory_limit": 8 * 2}, execution="cpu")
    assert tight.largest_intermediate <= 2 <= free.largest_intermediate
    x = np.ones((20, 20))
    for way in ("optimal", "greedy"):
        with pytest.raises(ValueError, match="memory"):
            einsum("ab,bc,cd,de->ae", x, x, x, x, optimize=way, options={"memory_limit": 100}, execution="cpu")
    with pytest.raises(ValueError, match="memory limit is 3300"):
        einsum("ab,bc,cd,de->ae", x, x, x, x, optimize=[(0, 1), (0, 1), (0, 1)], options={"memory_limit": 3300}, execution="cpu")


@pytest.mark.parametrize("way", ["auto", "greedy", [(0, 1), (0, 1), (0, 1)]])
@pytest.mark.parametrize("limit", [0, 100, 3000])
def test_the_error_of_the_memory_limit_names_one_that_works(way: Any, limit: int) -> None:
    x = np.ones((20, 20))

    def run(limit: int) -> Any:
        return einsum("ab,bc,cd,de->ae", x, x, x, x, optimize=way, options={"memory_limit": limit}, execution="cpu")

    with pytest.raises(ValueError, match=rf"limit is {limit} bytes \({limit // 8} elements of float64\)") as refused:
        run(limit)
    named = re.search(r"Raise options.memory_limit to (\d+) bytes or more", str(refused.value))
    assert named
    least = int(named[1])
    assert run(least)[0, 0] == 20**3
    with pytest.raises(ValueError, match=f"limit is {least - 1} bytes"):
        run(least - 1)


def test_intermediate_results_have_the_layout_that_the_next_step_reads() -> None:
    rng = np.random.default_rng(6)
    a, b, c = rng.random((4, 5)), rng.random((5, 6, 7)), rng.random((7, 8))
    for path in ([(0, 1), (0, 1)], [(1, 2), (0, 1)]):
        with Einsum("ij,jkl,lm->ikm", a, b, c, optimize=path, execution="cpu") as network:
            network.plan()
            assert "Copy" not in network._plan_object.description
            assert "Finish" not in network._plan_object.description
            np.testing.assert_allclose(network.execute(), np.einsum("ij,jkl,lm->ikm", a, b, c), rtol=1e-13)


def test_layout_of_the_result() -> None:
    a, b = np.ones((3, 4, 5)), np.ones((5, 6))
    assert einsum("ijk,kl->lij", a, b, execution="cpu").flags.c_contiguous
    assert einsum("ijk,kl->lij", a, b, options={"result_layout": "F"}, execution="cpu").flags.f_contiguous


def test_out() -> None:
    rng = np.random.default_rng(4)
    a, b, c = (rng.random((4, 4)) for _ in range(3))
    want = a @ b @ c
    assert einsum("ij,jk,kl->il", a, b, c, out=b, execution="cpu") is b
    np.testing.assert_allclose(b, want, rtol=1e-13)
    with pytest.raises(ValueError, match="out must have the shape of the result"):
        einsum("ij,jk,kl->il", a, b, c, out=np.ones(4), execution="cpu")


def test_life_cycle() -> None:
    a, b = np.ones((2, 3)), np.ones((3, 2))
    network = Einsum("ij,jk,kl,lm->im", a, b, a, b, execution="cpu")
    with pytest.raises(RuntimeError, match="plan"):
        network.execute()
    network.plan()
    assert network.execute()[0, 0] == 18
    network.reset_operands(None, 2 * b, None, None)
    assert network.execute()[0, 0] == 36
    network.reset_operands_unchecked(2 * a, None, None, None)
    assert network.execute()[0, 0] == 72
    with pytest.raises(ValueError, match="4 operands are needed"):
        network.reset_operands(a)
    with pytest.raises(ValueError, match="at least one operand"):
        network.reset_operands()
    with pytest.raises(ValueError, match="extents"):
        network.reset_operands(np.ones((5, 3)), None, None, None)
    assert network.info.path == einsum_path("ij,jk,kl,lm->im", a, b, a, b, execution="cpu").path
    network.release_operands()
    with pytest.raises(RuntimeError, match="released"):
        network.execute()
    network.reset_operands(a, b, a, b)
    assert network.execute()[0, 0] == 18
    network.free()
    for call in (network.execute, network.plan, lambda: network.info, lambda: network.reset_operands(a, b, a, b)):
        with pytest.raises(InvalidContractionState, match="freed"):
            call()


def test_plans_are_kept(fresh_cache: None) -> None:
    a = np.ones((3, 3))
    for _ in range(3):
        einsum("ij,jk,kl,li->", a, a, a, a, execution="cpu")
    einsum("ij,jk,kl,li->", a, a, a, a, optimize="greedy", execution="cpu")
    einsum("ij,jk,kl,li->", a, a, a, a, optimize=[(0, 1), (0, 1), (0, 1)], execution="cpu")
    info = nvmath.plan_cache.info()
    assert (info.misses, info.hits, info.entries) == (3, 2, 3)


def test_lazy_conjugation_of_torch() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    a, b, c, d = (torch.randn(3, 3, dtype=torch.complex128) for _ in range(4))
    got = einsum("ij,jk,kl,lm->im", a.conj(), b, c.mH, d, execution="cpu")
    torch.testing.assert_close(got, a.conj() @ b @ c.mH @ d)
    torch.testing.assert_close(einsum("ij->ji", a.conj(), execution="cpu"), a.mH.resolve_conj())


def test_halves_of_torch() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    torch.manual_seed(0)
    for kind, rtol in ((torch.bfloat16, 2**-6), (torch.float16, 2**-8)):
        a, b, c, d = (torch.rand(5, 5).to(kind) for _ in range(4))
        want = a.double() @ b.double() @ c.double() @ d.double()
        torch.testing.assert_close(einsum("ij,jk,kl,lm->im", a, b, c, d, execution="cpu").double(), want, rtol=rtol, atol=0)


def test_the_cache_counts_what_plans_keep(fresh_cache: None) -> None:
    a = np.ones((64, 64))
    einsum("ij,jk,kl,lm->im", a, a, a, a, execution="cpu")
    kept = nvmath.plan_cache.info().nbytes
    assert kept >= 2 * a.nbytes  # two intermediate results
    large = np.ones((400, 400))  # more than is kept between calls
    einsum("ij,jk,kl,lm->im", large, large, large, large, execution="cpu")
    assert nvmath.plan_cache.info().nbytes == kept


def test_the_memory_limit_counts_what_is_alive_together() -> None:
    operands = [np.ones(shape) for shape in ((40, 50), (50, 8), (8, 40), (40, 240))]
    text = "ab,bc,cd,de->ae"
    want = np.linalg.multi_dot(operands)
    for way in ("auto", "optimal", "greedy"):
        more = {"optimize": way, "options": {"memory_limit": 16000}, "execution": "cpu"}
        info = einsum_path(text, *operands, **more)
        assert info.buffer_nbytes <= 16000
        np.testing.assert_allclose(einsum(text, *operands, **more), want, rtol=1e-13)
        with Einsum(text, *operands, **more) as network:
            network.plan()
            assert network.info == info


def test_many_operands_get_smaller_paths_too() -> None:
    text, extents = "h,ihd,cdf,i,ab,a,ae,gi,hc,ba->h", dict(zip("abcdefghi", [3, 3, 16, 30, 2, 2, 30, 16, 3], strict=True))
    rng = np.random.default_rng(5)
    operands = [rng.random([extents[label] for label in term]) for term in text.partition("->")[0].split(",")]
    free = einsum_path(text, *operands, execution="cpu")
    options = {"memory_limit": free.buffer_nbytes - 256}
    tight = einsum_path(text, *operands, options=options, execution="cpu")
    assert tight.buffer_nbytes < free.buffer_nbytes
    want = np.einsum(text, *operands, optimize=True)
    np.testing.assert_allclose(einsum(text, *operands, options=options, execution="cpu"), want, rtol=1e-12)


def test_a_given_path_must_keep_the_memory_limit() -> None:
    x = np.ones((3, 3))
    path = [(0, 1), (0, 1)]
    for limit in (0, 8 * 9 - 1):
        with pytest.raises(ValueError, match=f"need 256 bytes at a time, but the memory limit is {limit}.*give a path that needs less"):
            einsum("ab,bc,cd->ad", x, x, x, optimize=path, options={"memory_limit": limit}, execution="cpu")
    info = einsum_path("ab,bc,cd->ad", x, x, x, optimize=path, options={"memory_limit": 8 * 9}, execution="cpu")
    assert info.path == path


def test_paths_are_read_once(fresh_cache: None) -> None:
    x = np.ones((3, 3))
    call = "ij,jk,kl->il", x, x, x
    forms = [
        lambda: (pair for pair in [(1, 2), (0, 1)]), lambda: [iter((1, 2)), (0, 1)], lambda: np.array([(1, 2), (0, 1)]),
        lambda: [(1, 2), (0, 1)], lambda: ["einsum_path", (1, 2), (0, 1)], lambda: [np.array([1, 2]), (False, True)],
    ]  # fmt: skip
    for form in forms:
        np.testing.assert_array_equal(einsum(*call, optimize=form(), execution="cpu"), x @ x @ x)
    info = nvmath.plan_cache.info()
    assert (info.entries, info.misses, info.hits) == (1, 1, len(forms) - 1)
    for form in forms:
        with Einsum(*call, optimize=form(), execution="cpu") as network:
            network.plan()
            for _ in range(2):
                np.testing.assert_array_equal(network.execute(), x @ x @ x)
                assert network.info.path == [(1, 2), (0, 1)]


def test_what_is_refused_is_refused_after_what_is_equal_to_it_too(fresh_cache: None) -> None:
    x = np.ones((3, 3))
    call, threads = ("ij,jk,kl->il", x, x, x), available_threads()
    for _ in range(2):
        with pytest.raises(ValueError, match=r"\(0\.0, 1\) in the path is no tuple of positions"):
            einsum(*call, optimize=[(0.0, 1), (0, 1)], execution="cpu")
        with pytest.raises(ValueError, match=r"num_threads must be an integer, not \d+\.0"):
            einsum(*call, execution={"name": "cpu", "num_threads": float(threads)})
        with pytest.raises(ValueError, match=r"Invalid compute type: 4\.0"):
            einsum(*call, options={"compute_type": 4.0}, execution="cpu")
        einsum(*call, optimize=[(0, 1), (0, 1)], execution="cpu")
        einsum(*call, execution={"name": "cpu", "num_threads": threads})
        einsum(*call, options={"compute_type": 4}, execution="cpu")


def test_errors_name_what_was_called() -> None:
    x = np.ones((3, 3))
    with pytest.raises(ValueError, match=r"An einsum needs an expression of 3 operands"):
        einsum("ij,jk->ik", x, x, x, execution="cpu")
    with pytest.raises(ValueError, match=r"has extent 3 in operands\[0\] but 4 in operands\[1\]"):
        einsum("ij,jk->ik", x, np.ones((4, 3)), execution="cpu")
    with pytest.raises(ValueError, match="list of integers from 0 on"):
        einsum(x, [-1, 0], x, [0, 1], execution="cpu")
    for make in (einsum, Einsum):
        with pytest.raises(ValueError, match=r"operands\[1\] is None"):
            make("ij,jk->ik", x, None, execution="cpu")
    for call in (nvmath.tensor.ternary_contraction, nvmath.tensor.TernaryContraction):
        with pytest.raises(ValueError, match="c is None"):
            call("ij,jk,kl->il", x, x, None, execution="cpu")
