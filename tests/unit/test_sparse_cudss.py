"""Sparse systems through cuDSS, over a stand-in in host memory that solves with SciPy; the same cases run on a GPU."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from fft_cases import examples
from hypothesis import given
from hypothesis import strategies as st
from sparse_cases import (
    FORMATS,
    KINDS,
    LAYOUTS,
    SINGULAR,
    assert_solves,
    csr,
    part_of,
    right_side,
    scrambled,
    solved,
    well_conditioned,
)

from nvmath._core import place
from nvmath._core.arrays import adapter_of
from nvmath.bindings import cudss
from nvmath.sparse.advanced import (
    DirectSolverMatrixType,
    DirectSolverMatrixViewType,
    DirectSolverOptions,
    HybridMemoryModeOptions,
    IllConditionedWarning,
    SingularSystemError,
)
from nvmath.sparse.advanced import _cudss_handle as handles
from nvmath.sparse.advanced import _threading as threads
from nvmath.sparse.advanced._config import CudssConfig
from nvmath.sparse.advanced._cudss_systems import plan_systems
from nvmath.sparse.advanced._operands import take_all
from nvmath.sparse.advanced._order import Order
from nvmath.sparse.advanced._problem import specify
from nvmath.sparse.advanced._systems import PatternChangedError

from . import cudss_on_host
from .cudss_on_host import (
    ANALYSIS,
    FACTORIZATION,
    FACTORIZED,
    SOLVE,
    HostCudss,
    HostGpu,
    Memory,
    needs_compiler,
    on_host,
)

pytestmark = needs_compiler


class Solver:
    """What DirectSolver does with a plan, without its life cycle."""

    def __init__(
        self,
        memory: Memory,
        a: Any,
        b: Any,
        *,
        host: bool = False,
        blocking: bool = True,
        hybrid: bool = False,
        **options: Any,
    ) -> None:
        self.options = DirectSolverOptions(**options)
        self.gpu, self.host, self.blocking = HostGpu(), host, blocking
        self.specify(a, b)
        self.config = CudssConfig(False)
        if hybrid:
            self.config.go_hybrid(None)
        with ExitStack() as undo:
            undo.callback(self.config.close)
            self.plan = plan_systems(
                self.problem, self.gpu, memory, self.config, self.options, "", HybridMemoryModeOptions(), hybrid=hybrid, blocking=blocking,
            )  # fmt: skip
            undo.pop_all()

    def specify(self, a: Any, b: Any) -> None:
        stored, many = take_all(a)
        sides = tuple(b) if isinstance(b, list) else (b,)
        self.operands = [*(array for one in stored for array in one.arrays), *sides]
        views = tuple(adapter_of(array).view(array) for array in self.operands)
        self.problem = specify(
            [one.meta for one in stored], (many, isinstance(b, list)), views, (False,) * len(views), self.options
        )
        self.ptrs = tuple(view.ptr for view in views)

    def analyse(self) -> Solver:
        self.plan.analyse(self.ptrs, 77, self.ptrs if self.host else None)
        return self

    def factorize(self) -> Solver:
        self.plan.factorize(self.ptrs, 77, self.ptrs if self.host else None)
        return self

    def accepts(self) -> bool:
        return self.plan.accepts(self.ptrs, 77, self.ptrs if self.host else None)

    def solve(self, trans: str = "N") -> Any:
        result = self.problem.result
        flat = np.full(max(1, int(np.prod(result.shape))), np.nan, result.dtype.name)
        x = np.lib.stride_tricks.as_strided(flat, result.shape, [stride * flat.itemsize for stride in result.strides])
        self.plan.launch(self.problem, trans, {})(*self.ptrs, flat.ctypes.data, 77)
        if not self.problem.pieces:
            return x
        cut = []
        for piece in self.problem.pieces:
            part = x[piece.start : piece.start + int(np.prod(piece.shape))]
            cut.append(
                part.reshape([piece.shape[axis] for axis in reversed(piece.order)]).transpose(
                    np.argsort(piece.order[::-1])
                )
            )
        return cut

    def close(self) -> None:
        self.plan.close()
        self.config.close()


@contextmanager
def solver(a: Any, b: Any, *, version: tuple[int, int] = (0, 8), **keywords: Any) -> Iterator[tuple[Solver, HostCudss]]:
    """A solver, closed at the end."""
    with on_host(version=version) as (made, memory):
        one = Solver(memory, a, b, **keywords)
        try:
            yield one, made
        finally:
            one.close()
            del one
            gc.collect()


def kind_of(kind: str, view: str = "FULL") -> dict[str, Any]:
    return {"sparse_system_type": DirectSolverMatrixType[kind], "sparse_system_view": DirectSolverMatrixViewType[view]}


@examples(60)
@given(data=st.data())
def test_any_system(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(["float32", "complex128"]))
    kind, view = (data.draw(st.sampled_from(group)) for group in (KINDS, ("FULL", "LOWER", "UPPER")))
    n = data.draw(st.sampled_from([1, 2, 3, 6, 8]))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**31)))
    matrix = well_conditioned(rng, n, dtype, kind, 0.5)
    stored, form = part_of(matrix, kind, view), data.draw(st.sampled_from(FORMATS))
    a = scrambled(rng, stored, form) if data.draw(st.booleans()) else sp.csr_array(stored).asformat(form)
    columns = data.draw(st.sampled_from([None, 0, 1, 2, 5]))
    split = not np.iscomplexobj(matrix) and data.draw(st.booleans())
    b_dtype = {"float32": "complex64", "float64": "complex128"}[str(matrix.dtype)] if split else str(matrix.dtype)
    b = right_side(rng, (n,) if columns is None else (n, columns), b_dtype, data.draw(st.sampled_from(LAYOUTS)))
    kept, flags = b.copy(), {name: data.draw(st.booleans()) for name in ("host", "blocking", "hybrid")}
    with solver(a, b, **kind_of(kind, view), **flags) as (made, _):
        made.analyse().factorize()
        for trans in "NTH":
            assert_solves(solved(matrix, trans), made.solve(trans), b, 2000)
    np.testing.assert_array_equal(b, kept)


@examples(15)
@given(data=st.data())
def test_batches(data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**31)))
    sizes = data.draw(st.lists(st.sampled_from([1, 2, 5]), min_size=1, max_size=3))
    dense = [well_conditioned(rng, n, "complex128", "GENERAL", 0.5) for n in sizes]
    b = [
        right_side(rng, (n, data.draw(st.sampled_from([1, 3]))), "complex128", data.draw(st.sampled_from(LAYOUTS)))
        for n in sizes
    ]
    with solver([scrambled(rng, matrix, "csr") for matrix in dense], b) as (made, seen):
        made.analyse().factorize()
        for trans in "NTH":
            for matrix, x, side in zip(dense, made.solve(trans), b, strict=True):
                assert_solves(solved(matrix, trans), x, side)
        assert len(seen.named("Create")) == 1  # one handle serves all


def test_arrays_of_the_caller_are_used_where_they_are_in_order() -> None:
    a, b = csr([[4, 1, 0], [1, 3, 1], [0, 1, 5]]), np.asfortranarray(np.ones((3, 2)))
    with solver(a, b, **kind_of("SYMMETRIC"), host=True) as (made, seen):
        made.analyse().factorize()
        (matrix,) = seen.named("MatrixCreateCsr")
        assert matrix == (3, 3, 7, made.ptrs[0], 0, made.ptrs[1], made.ptrs[2], 10, 10, 1, 1, 0, 0)
        x = made.solve()
        assert seen.phases == [ANALYSIS, *FACTORIZED, SOLVE]
        assert [arguments[:3] for arguments in seen.named("MatrixCreateDn")][-2:] == [(3, 2, 3)] * 2
        assert_solves(a, x, b)


@pytest.mark.parametrize("name", SINGULAR)
@pytest.mark.parametrize("blocking", [False, True])
def test_singular_systems_are_refused(name: str, blocking: bool) -> None:
    a, kind = SINGULAR[name]
    made = solver(a, np.ones(a.shape[0]), blocking=blocking, **kind_of(kind))
    with np.errstate(all="ignore"), made as (systems, _), pytest.raises(SingularSystemError):
        systems.analyse().factorize()  # whether anybody waits for a solution or not


def test_replaced_pivots_lead_to_matching(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cudss_on_host, "PIVOT_EPSILON", 1e-17)  # so small that refinement does not help
    rng = np.random.default_rng(0)
    matrix, b = well_conditioned(rng, 20, "float64", "GENERAL", 0.2, permuted=True), rng.random(20)
    a = sp.csr_array(matrix)
    with solver(a, b, blocking=False) as (made, seen):
        made.analyse().factorize()
        known = [SOLVE] * 3  # of the second factors
        expected = [ANALYSIS, FACTORIZATION, SOLVE, ANALYSIS, FACTORIZATION, *known]
        assert seen.phases == expected
        assert_solves(matrix, made.solve(), b)
        made.analyse().factorize()  # planned anew with the settings of the caller
        assert seen.phases[9:] == expected
    with solver(a, b, on_failure="raise") as (made, seen):
        made.analyse()
        with pytest.raises(SingularSystemError, match="singular, or nearly so"):
            made.factorize()
        assert seen.phases == [ANALYSIS, FACTORIZATION, SOLVE]


@pytest.mark.parametrize("view", ["FULL", "LOWER", "UPPER"])
@pytest.mark.parametrize("kind", ["SYMMETRIC", "HERMITIAN"])
def test_a_matrix_that_matching_does_not_help_is_taken_for_a_general_one(
    kind: str, view: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cudss_on_host, "PIVOT_EPSILON", 1e-17)
    monkeypatch.setattr(cudss_on_host, "MATCHING_IN_VAIN", True)
    dtype = "complex128" if kind == "HERMITIAN" else "float64"
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((8, 8)).astype(dtype)
    if kind == "HERMITIAN":
        matrix = matrix + 1j * rng.standard_normal((8, 8))
    matrix = matrix + matrix.conj().T
    np.fill_diagonal(matrix, 0)
    b = rng.random(8).astype(dtype)
    stored = sp.csr_array(part_of(matrix, kind, view))
    with solver(stored, b, **kind_of(kind, view)) as (made, seen):
        made.analyse().factorize()
        assert seen.phases.count(ANALYSIS) == 3
        assert_solves(matrix, made.solve(), b)
        assert seen.named("MatrixCreateCsr")[-1][10:12] == (0, 0)  # general, all of it
        made.analyse()  # planned anew as what it is
        assert seen.named("MatrixCreateCsr")[-1][10] != 0
    with solver(stored, b, on_failure="raise", **kind_of(kind, view)) as (made, seen):
        made.analyse()
        with pytest.raises(SingularSystemError):
            made.factorize()
        assert seen.phases.count(ANALYSIS) == 1


def test_a_warning_instead_of_an_error() -> None:
    singular = csr([[1, 1], [1, 1]])
    with (
        solver(singular, np.ones(2), on_failure="warn") as (made, _),
        pytest.warns(IllConditionedWarning, match="or nearly so"),
    ):
        made.analyse().factorize()


def test_what_was_not_waited_for_is_told_later() -> None:
    a, b = csr([[4, 1], [1, 3]]), np.array([5.0, np.nan])
    with solver(a, b, blocking=False) as (made, _):
        made.analyse().factorize()
        made.solve()  # nobody waits
        with pytest.warns(IllConditionedWarning, match="An earlier solution"):
            made.factorize()
        b[:] = 5, 4
        made.solve()
        assert made.plan.residual({}) <= 1e-15


def test_changed_values_are_factorized_again_if_need_be() -> None:
    a, b = csr([[4, 1], [1, 3]]), np.array([5.0, 4.0])
    with solver(a, b) as (made, seen):
        made.analyse().factorize()
        a.data *= 1.01
        np.testing.assert_allclose(made.solve() * 1.01, [1, 1])
        assert seen.phases.count(FACTORIZATION) == 1  # refinement was enough
        a.data[:] = [1, 7, 5, 1]
        assert_solves(a, made.solve(), b)
        assert seen.phases.count(FACTORIZATION) == 2


@pytest.mark.parametrize("host", [False, True])
@pytest.mark.parametrize("form", FORMATS)
def test_patterns_are_compared(host: bool, form: str) -> None:
    a = csr([[4, 1, 0], [0, 4, 1], [1, 0, 4]]).asformat(form)
    with solver(a, np.ones(3), host=host) as (made, _):
        made.analyse()
        other = a.copy()
        made.specify(other, np.ones(3))
        assert made.accepts()
        arrays = other.row if form == "coo" else other.indices
        arrays[:] = arrays[::-1].copy()
        if form != "bsr":  # the blocks cover the matrix
            assert not made.accepts()
            with pytest.raises(PatternChangedError, match=r"plan\(\) again"):
                made.factorize()


def test_the_transpose_is_factorized_once_for_each_factorization() -> None:
    rng = np.random.default_rng(0)
    matrix, b = well_conditioned(rng, 5, "float64", "GENERAL", 0.5), rng.random(5)
    a = sp.csr_array(matrix)
    with solver(a, b) as (made, seen):
        made.analyse().factorize()
        made.solve("T")
        made.solve("H")
        assert seen.phases.count(FACTORIZATION) == 2
        a.data *= 2
        made.factorize()
        assert_solves(2 * matrix.T, made.solve("T"), b)
        assert seen.phases.count(FACTORIZATION) == 4
        assert seen.phases.count(ANALYSIS) == 2


def test_condition_and_determinant() -> None:
    matrix = np.diag([1.0, 2, -4]) + np.diag([0.5, 0.5], 1)
    with solver(sp.csr_array(matrix), np.ones(3)) as (made, _):
        made.analyse().factorize()
        assert made.plan.info("condition", made.ptrs) == pytest.approx(np.linalg.cond(matrix, 1), rel=0.5)
        sign, log = made.plan.info("logdet", made.ptrs)
        assert (sign, log) == (-1, pytest.approx(np.log(8)))


@pytest.mark.parametrize("blocking", [False, True])
def test_a_capture_is_refused_before_anything_is_queued(blocking: bool) -> None:
    with solver(csr([[4, 1], [1, 3]]), np.ones(2), blocking=blocking) as (made, seen):
        made.analyse().factorize()
        made.gpu.captures = True
        queued = list(seen.phases)
        for call in (made.solve, made.factorize, made.analyse, made.accepts, lambda: made.plan.residual({})):
            with pytest.raises(RuntimeError, match=r"CUDA graph.*sparse solver"):
                call()
        assert seen.phases == queued


# --- handles ----------------------------------------------------------------------------------------------------------------------


def test_an_old_library_is_refused_with_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    from nvmath.bindings import _load

    found = type("Library", (), {"version": "0.7.1", "path": "/opt/libcudss.so.0"})
    monkeypatch.setattr(_load, "open_library", lambda name: found)
    with (
        on_host(version=(0, 7)),
        pytest.raises(RuntimeError, match=r"cuDSS 0\.7\.1 at /opt/libcudss\.so\.0 is too old: version 0\.8 or newer"),
    ):
        handles.Lease(Order(HostGpu(), Memory()), "", None)


def test_handles_are_used_again() -> None:
    with on_host() as (seen, memory):
        for _ in range(3):
            made = Solver(memory, csr(np.eye(2)), np.ones(2)).analyse()
            made.close()
            place.reap()
        assert len(seen.named("Create")) == 1
        assert len(seen.named("DataCreate")) == 3
        del made
        gc.collect()


def test_a_handle_of_the_caller_is_used_and_kept() -> None:
    with on_host() as (seen, memory):
        made = Solver(memory, csr(np.eye(2)), np.ones(2), handle=99)
        assert seen.named("Create") == []
        assert seen.named("DataCreate") == [(99,)]
        made.close()
        place.reap()
        assert handles._free == {}
        assert seen.named("SetStream")[-1] == (99, 0)  # that of the solver is gone
        assert seen.named("DataDestroy") != []


@pytest.mark.parametrize("fails", ["Create", "DataCreate"])
def test_a_failing_creation_leaves_nothing(fails: str) -> None:
    with on_host(fails=fails) as (_, memory):
        with pytest.raises(cudss.cuDSSError, match="CUDSS_STATUS_EXECUTION_FAILED") as caught:
            Solver(memory, csr(np.eye(2)), np.ones(2))
        caught.value.__traceback__ = None
        gc.collect()


def test_threading_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.delenv("CUDSS_THREADING_LIB", raising=False)
    monkeypatch.setattr(threads._load, "find_library", lambda name: None)
    assert threads.threading_library(DirectSolverOptions()) == ""
    library, layer = tmp_path / "libcudss.so.0", tmp_path / "libcudss_mtlayer_gomp.so.0"
    (tmp_path / "libcudss_mtlayer_gomp.so.1").touch()  # of another version
    layer.touch()
    monkeypatch.setattr(threads._load, "find_library", lambda name: str(library))
    assert threads.threading_library(DirectSolverOptions()) == str(layer)
    file = tmp_path / "threads.so"
    file.touch()
    monkeypatch.setenv("CUDSS_THREADING_LIB", str(file))
    assert threads.threading_library(DirectSolverOptions()) == str(file)
    with pytest.raises(ValueError, match=r"no file '/none'.*options\.multithreading_lib"):
        threads.threading_library(DirectSolverOptions(multithreading_lib="/none"))
    monkeypatch.setenv("CUDSS_THREADING_LIB", "/none")
    with pytest.raises(ValueError, match="CUDSS_THREADING_LIB"):
        threads.threading_library(DirectSolverOptions())


def test_more_than_one_thread_in_hybrid_execution_needs_the_threading_library() -> None:
    with on_host():
        config = CudssConfig(False)
        try:
            config.go_hybrid(1)
            with pytest.raises(ValueError, match="threading library"):
                config.go_hybrid(2)
        finally:
            config.close()


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("trans", ["T", "H"])
@pytest.mark.parametrize("blocking", [True, False])
def test_cudss_1_solves_with_the_transpose_by_the_factors_that_there_are(
    dtype: str, trans: str, blocking: bool
) -> None:
    rng = np.random.default_rng(4)
    matrix, b = well_conditioned(rng, 12, dtype, "GENERAL", 0.4), right_side(rng, (12, 3), dtype, "F")
    with solver(csr(matrix, dtype), b, version=(1, 0), blocking=blocking) as (made, seen):
        x = made.analyse().factorize().solve(trans)
        assert seen.phases == [ANALYSIS, *FACTORIZED, SOLVE]
        assert_solves(solved(matrix, trans), x, b)
        assert made.plan.residual({}) < 1000 * np.finfo(dtype).eps
        assert_solves(matrix, made.solve("N"), b)


def test_a_solution_with_the_transpose_is_judged_by_its_own_norm() -> None:
    """A dense column: the rows of the transpose are much larger than those of the matrix."""
    matrix = np.eye(40)
    matrix[:, 0] = 1e3
    matrix[0] = np.arange(40.0) + 1
    with solver(csr(matrix), np.ones(40), version=(1, 0)) as (made, _):
        x = made.analyse().factorize().solve("T")
        assert_solves(matrix.T, x, np.ones(40))
        (plan,) = made.plan.plans
        residual = plan._factors.residual
        residual.launch_transposed(made.ptrs[:3], made.ptrs[3], 40, made.ptrs[3], 40, 1, 77)
        (numbers,) = residual.numbers(77)
        assert numbers[3] == abs(matrix).sum(axis=0).max()
        assert numbers[0] == abs(matrix.T @ np.ones(40) - 1).max()


@pytest.mark.parametrize("how", ["refused", "spoilt"])
def test_where_cudss_does_not_solve_with_the_transpose_it_is_factorized(
    how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(4)
    matrix, b = well_conditioned(rng, 12, "float64", "GENERAL", 0.4), rng.random(12)
    with solver(csr(matrix), b, version=(1, 0)) as (made, seen):
        made.analyse().factorize()
        if how == "refused":
            seen.straight = True
        else:  # what version 1.0 would do if it ignored the setting
            monkeypatch.setattr(seen, "turned", lambda config: False)
        assert_solves(matrix.T, made.solve("T"), b)
        assert seen.phases.count(ANALYSIS) == 2
        seen.calls.clear()
        assert_solves(matrix.T, made.solve("T"), b)
        assert seen.phases == [SOLVE]


@pytest.mark.parametrize("choice", ["retry", "warn", "raise"])
def test_a_warning_gets_as_much_as_an_error(choice: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A transposed solution that is bad: the transpose is factorized, unless nothing more is to be tried."""
    rng = np.random.default_rng(4)
    matrix, b = well_conditioned(rng, 12, "float64", "GENERAL", 0.4), rng.random(12)
    with solver(csr(matrix), b, version=(1, 0), on_failure=choice) as (made, seen):
        made.analyse().factorize()
        monkeypatch.setattr(seen, "turned", lambda config: False)  # what cuDSS would do if it ignored the setting
        if choice == "raise":
            with pytest.raises(SingularSystemError):
                made.solve("T")
            assert seen.phases.count(ANALYSIS) == 1
        else:
            assert_solves(matrix.T, made.solve("T"), b)
            assert seen.phases.count(ANALYSIS) == 2


def test_matching_does_not_take_a_singular_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    """After replaced pivots a second factorization without any is no proof."""
    monkeypatch.setattr(cudss_on_host, "PIVOT_EPSILON", 1e-17)
    a = csr([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    for b in (a @ np.ones(3), np.array([1.0, 0, 0])):
        with solver(a, b, blocking=False) as (made, _):
            made.analyse()
            with pytest.raises(SingularSystemError):
                made.factorize()


@pytest.mark.parametrize("version", [(0, 8), (1, 0)])
def test_nothing_is_matched_unless_it_is_asked_for(version: tuple[int, int]) -> None:
    """cuDSS 1.0 would."""
    with on_host(version=version) as (made, _):
        config = CudssConfig(False)
        twin = config.twin()
        assert [made.matching(each.handle) for each in (config, twin)] == [0, 0]
        assert made.named("ConfigSet")[0][:2] == (config.handle, 3)
        config.close()
        twin.close()
