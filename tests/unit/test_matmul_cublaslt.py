"""The plans for cuBLASLt over a stand-in that computes on the host: descriptors, layouts and copies, without a GPU."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from frameworks import row_major, storage
from hypothesis import assume, given, settings
from matmul_cases import AUXILIARY, EPILOGS, EXTRA, Array, Case, assert_outputs, assert_right, cases

from nvmath._core import kernels, kernels_host, place
from nvmath._core.dtypes import DTYPES
from nvmath._core.layout import span
from nvmath.bindings import cublasLt
from nvmath.bindings._bind import substitute
from nvmath.linalg._matrix import Operand
from nvmath.linalg.advanced import MatmulEpilog, MatmulOptions, MatmulPlanPreferences, _handles
from nvmath.linalg.advanced import _cublaslt as room
from nvmath.linalg.advanced._auxiliary import outer
from nvmath.linalg.advanced._epilogs import coerce_epilog
from nvmath.linalg.advanced._gpu import GpuMatmulPlan
from nvmath.linalg.advanced._problem import specify
from nvmath.linalg.advanced._scalars import Scalars

sys.path.insert(0, str(Path(__file__).parent))
from cublaslt_on_host import Driver, HostCublasLt
from finish_on_host import Kernels, compiler

PLACE: Any = SimpleNamespace(device_id=0, current=nullcontext)
ADAPTER: Any = SimpleNamespace(allocate=lambda nbytes, device, stream: kernels_host.scratch(nbytes))


@pytest.fixture(scope="module")
def library() -> Iterator[HostCublasLt]:
    fake = HostCublasLt()
    with pytest.MonkeyPatch.context() as patch, substitute("cublasLt", fake), substitute("cuda", Driver()):

        def move(device: int, *layout: Any) -> Any:
            run = kernels_host.move(*layout)
            return lambda source, target, stream: run(source, target)

        patch.setattr(kernels, "move", move)
        _handles._handles.clear()
        yield fake
        _handles._handles.clear()
        place.reap()


class Memory:
    """A case in memory of the host, with the addresses of its operands, result and auxiliary outputs."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.memory = {
            name: storage(each.values, case.dtype_of(name), each.strides, each.offset) for name, each in case.operands.items()
        }  # fmt: skip
        self.names = tuple(self.memory)
        self.epilog = coerce_epilog(case.epilog or None)
        operands = {name: self.operand(name) for name in self.memory}
        own = {name: operands.pop(name) for name in "abc" if name in operands}
        self.problem = specify(**own, inputs=operands, options=MatmulOptions(inplace=case.inplace), epilog=self.epilog)
        self.scalars = Scalars(self.problem.scale_type)
        self.scalars.store(self.scalars.read(case.alpha, case.beta))

    def operand(self, name: str) -> Operand:
        made, index = self.memory[name], "ab".find(name)
        conj = index >= 0 and self.case.conj[index] and self.case.dtype.startswith("complex")
        address = made.flat.ctypes.data + made.start * made.flat.itemsize
        return Operand(made.shape, made.strides, DTYPES[self.case.dtype_of(name)], conj, min(16, address & -address))

    def run(self, plan: Any) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Launch a plan once; return the result and the auxiliary outputs."""
        problem = self.problem
        pointers = [each.flat.ctypes.data + each.start * each.flat.itemsize for each in self.memory.values()]
        if self.case.inplace:
            result = self.memory["c"].view()
            pointers.append(pointers[2])
        else:
            assert span(problem.out_shape, problem.out_strides)[0] == 0
            result = storage(np.full(problem.out_shape, np.nan), self.case.dtype, problem.out_strides).view()
            pointers.append(result.ctypes.data)
        outputs = {}
        for index, (name, matrix) in enumerate(problem.outputs):
            shape, strides = outer(name, matrix, problem.batch)
            fill = np.zeros(shape) if matrix.dtype.kind == "u" else np.full(shape, np.nan)
            outputs[name] = storage(fill, matrix.dtype.name, strides).view()
            plan.output_ptrs[index] = outputs[name].ctypes.data
        plan.launch()(*pointers, 0)
        plan.close()
        return result, outputs


def computed(case: Case) -> np.ndarray:
    """Run a case through the plan of the library alone."""
    made = Memory(case)
    plan = room.CublasLtPlan(
        made.problem, made.names, made.scalars, PLACE, ADAPTER, MatmulOptions(), MatmulPlanPreferences(limit=1)
    )  # fmt: skip
    result, outputs = made.run(plan)
    assert_outputs(outputs, case)
    return result


@settings(max_examples=400)
@given(case=cases(("float32", "float64", "complex64", "complex128")))
def test_any_product(library: HostCublasLt, case: Case) -> None:
    assert_right(computed(case), case)


@settings(max_examples=400)
@given(case=cases(("float32", "float64", "float16"), epilogs=AUXILIARY))
def test_any_epilog(library: HostCublasLt, case: Case) -> None:
    epilog = coerce_epilog(case.epilog or None)  # what the library alone cannot do is in the test below
    assume(case.a.values.shape[-1] != 1 or not epilog.needs_k)
    assume(case.alpha != 0 or not epilog.sums_factors)
    assert_right(computed(case), case)


# --- with kernels of our own -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def kernels_on_host(library: HostCublasLt, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernels]:
    if compiler() is None:
        pytest.skip("no C++ compiler is installed")
    made = Kernels(tmp_path_factory.mktemp("kernels"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "compiled", made.compiled)
        patch.setattr(Driver, "cuLaunchKernel", staticmethod(made.launch), raising=False)
        yield made


def whole(case: Case) -> np.ndarray:
    """Run a case through the plan of a GPU: the library, and what is left to do."""
    made = Memory(case)
    plan = GpuMatmulPlan(
        made.problem, made.names, made.scalars, PLACE, ADAPTER, MatmulOptions(), MatmulPlanPreferences(limit=1), None, logging.getLogger()
    )  # fmt: skip
    result, outputs = made.run(plan)
    assert_outputs(outputs, case)
    return result


@pytest.mark.parametrize("refused", [False, True])
@settings(max_examples=120)
@given(case=cases(("float32", "float64", "float16"), epilogs=(*EPILOGS, *AUXILIARY, *EXTRA)))
def test_any_epilog_with_our_own_kernels(
    library: HostCublasLt, kernels_on_host: Kernels, refused: bool, case: Case
) -> None:
    library.refuses_epilogs = refused
    try:
        assert_right(whole(case), case)
    finally:
        library.refuses_epilogs = False


@settings(max_examples=50)
@given(case=cases(("complex64", "complex128")))
def test_a_complex_bias_that_the_library_refuses(library: HostCublasLt, kernels_on_host: Kernels, case: Case) -> None:
    library.refuses_epilogs = True
    try:
        assert_right(whole(case), case)
    finally:
        library.refuses_epilogs = False


def test_a_bias_is_added_before_the_one_rounding(library: HostCublasLt, kernels_on_host: Kernels) -> None:
    half = np.float64(np.float16(0.1))
    a, b = Array(np.full((8, 8), half), (8, 1)), Array(np.full((8, 8), 1024.0), (8, 1))
    c, bias = Array(np.full((8, 8), half), (8, 1)), Array(np.full(8, -8 * 1024 * half), (1,))
    case = Case("float16", a, b, c, bias, 1.0, 1.0, "BIAS", (False, False), False)
    np.testing.assert_array_equal(whole(case), np.float16(half))


@pytest.mark.parametrize("conj", [(True, False), (False, True), (True, True)])
@pytest.mark.parametrize("orders", ["CC", "CF", "FC", "FF"])
@pytest.mark.parametrize("extents", [(3, 5, 4), (1, 5, 4), (3, 1, 4), (3, 5, 1), (1, 1, 1)])
def test_conjugates(library: HostCublasLt, conj: Any, orders: str, extents: tuple[int, int, int]) -> None:
    m, n, k = extents
    rng = np.random.default_rng(1)

    def array(rows: int, cols: int, order: str) -> Array:
        values = rng.standard_normal((rows, cols)) + 1j * rng.standard_normal((rows, cols))
        return Array(values, (cols, 1) if order == "C" else (1, rows))

    a, b = array(m, k, orders[0]), array(k, n, orders[1])
    case = Case("complex128", a, b, None, None, None, None, "", conj, False)
    assert_right(computed(case), case)


def test_conjugates_that_are_read_as_they_are(library: HostCublasLt) -> None:
    def loads(a: Operand, b: Operand) -> list[str]:
        gemm = make(library, a, b).gemm
        assert gemm is not None
        return [name for name, _ in gemm.loads]

    def op(rows: int, cols: int, order: str, conj: bool = True) -> Operand:
        return Operand((rows, cols), (cols, 1) if order == "C" else (1, rows), DTYPES["complex64"], conj)

    # a row-major result is computed as its transpose: what is column-major is read as a conjugate transpose then
    assert loads(op(3, 4, "C", conj=False), op(4, 5, "F")) == []
    assert loads(op(3, 4, "C", conj=False), op(4, 5, "C")) == ["b"]
    assert loads(op(3, 4, "F", conj=False), op(4, 5, "C")) == []
    # a vector of a result leaves the choice, and a vector of an operand can be read both ways
    for order in "CF":
        assert loads(op(3, 4, order), op(4, 1, "C")) == []
        assert loads(op(1, 4, "C"), op(4, 3, order)) == []


@pytest.mark.parametrize("inplace", [False, True])
@pytest.mark.parametrize("epilog", ["", "RELU", "GELU", "BIAS", "RELU_BIAS", "GELU_BIAS"])
@pytest.mark.parametrize(("k", "alpha"), [(0, None), (0, 0.0), (4, 0.0), (4, 1e-60)])
@pytest.mark.parametrize("beta", [None, 0.0, 1.0, -0.5])
@pytest.mark.parametrize("batch", [(), (3,)])
def test_nothing_to_sum_up(
    library: HostCublasLt, batch: tuple[int, ...], beta: Any, k: int, alpha: Any, epilog: str, inplace: bool
) -> None:
    rng = np.random.default_rng(2)

    def array(*shape: int) -> Array:
        return Array(np.float32(rng.standard_normal(shape)).astype(float), row_major(shape))

    c = None if beta is None else array(*batch, 3, 5)
    bias = array(*batch, 3, 1) if "BIAS" in epilog else None
    case = Case(
        "float32", array(*batch, 3, k), array(*batch, k, 5), c, bias, alpha, beta, epilog, (False, False), inplace and c is not None
    )  # fmt: skip
    assert_right(computed(case), case)


def test_alpha_becomes_zero_and_back(library: HostCublasLt) -> None:
    plan = make(library, plain((4, 4)), plain((4, 4)), plain((4, 4)), epilog=MatmulEpilog.RELU)
    ones, d = np.ones((4, 4), np.float32), np.empty((4, 4), np.float32)
    nan = np.full((4, 4), np.nan, np.float32)
    launch, at = plan.launch(), ones.ctypes.data
    for alpha, want in ((2.0, 9), (0.0, 1), (3.0, 13)):
        plan.scalars.store([alpha, 1.0])
        factor = at if alpha else nan.ctypes.data  # what is not used may be anything
        launch(factor, factor, at, d.ctypes.data, 0)
        assert (d == want).all()


def test_a_compute_type_that_is_too_new(library: HostCublasLt) -> None:
    def plan(compute_type: int, name: str) -> GpuMatmulPlan:
        options = MatmulOptions(compute_type=compute_type)
        problem = specify(plain((4, 4), name), plain((4, 4), name), options=options)
        scalars, preferences = Scalars(problem.scale_type), MatmulPlanPreferences()
        return GpuMatmulPlan(
            problem, ("a", "b"), scalars, PLACE, ADAPTER, options, preferences, None, logging.getLogger()
        )  # fmt: skip

    assert plan(78, "float32").algorithms
    with pytest.raises(
        ValueError, match=r"COMPUTE_64F_EMULATED_FIXEDPOINT is not supported by cuBLASLt 13.1.0: it needs 13.2.0"
    ):
        plan(79, "float64")


def test_nothing_is_left_behind(library: HostCublasLt) -> None:
    place.reap()
    assert [made for made in library.made.values() if made["alive"]] == []


def plain(shape: tuple[int, ...], name: str = "float32", strides: tuple[int, ...] | None = None) -> Operand:
    return Operand(shape, strides or row_major(shape), DTYPES[name])


def make(library: HostCublasLt, *operands: Operand, epilog: Any = None, **options: Any) -> room.CublasLtPlan:
    names = ("a", "b", "bias") if epilog and "BIAS" in epilog.name else ("a", "b", "c")
    given = dict(zip(names, operands, strict=False))
    own = {name: given[name] for name in "abc" if name in given}
    inputs = {name: given[name] for name in given if name not in own}
    problem = specify(**own, inputs=inputs, options=MatmulOptions(**options), epilog=coerce_epilog(epilog))
    scalars = Scalars(problem.scale_type)
    return room.CublasLtPlan(
        problem, tuple(given), scalars, PLACE, ADAPTER, MatmulOptions(**options), MatmulPlanPreferences()
    )  # fmt: skip


def test_a_call_sets_no_attribute_but_a_new_bias(library: HostCublasLt) -> None:
    a = np.ones((4, 4), np.float32)
    bias, other = np.ones(4, np.float32), np.ones(4, np.float32)
    plan = make(library, plain((4, 4)), plain((4, 4)), plain((4,)), epilog=MatmulEpilog.RELU_BIAS)
    launch = plan.launch()
    address, d = a.ctypes.data, np.empty((4, 4), np.float32)
    launch(address, address, bias.ctypes.data, d.ctypes.data, 0)
    before = library.attributes_set
    launch(address, address, bias.ctypes.data, d.ctypes.data, 0)
    assert library.attributes_set == before
    launch(address, address, other.ctypes.data, d.ctypes.data, 0)
    assert library.attributes_set == before + 1
    assert (d == 5).all()


def test_ordinary_layouts_need_no_copy(library: HostCublasLt) -> None:
    for a in ((4, 1), (1, 3), (10, 1), (1, 9)):
        for b in ((5, 1), (1, 4), (9, 1)):
            plan = make(library, plain((3, 4), strides=a), plain((4, 5), strides=b))
            assert plan.gemm is not None
            assert not plan.gemm.loads
            assert plan.gemm.store is None


def test_what_the_library_refuses_is_explained(library: HostCublasLt, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any) -> None:
        raise cublasLt.cuBLASLtError(15)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cublasLt, "matmul_algo_get_heuristic", refuse)
        with pytest.raises(cublasLt.cuBLASLtError, match="CUBLAS_STATUS_NOT_SUPPORTED") as caught:
            make(library, plain((3, 4)), plain((4, 5)), epilog=MatmulEpilog.GELU)
    (note,) = caught.value.__notes__
    assert "cuBLASLt 13.1.0 does not support this product" in note
    assert "GELU" in note
    assert "CUDA_R_32F" in note


def test_options_that_reach_the_descriptor(library: HostCublasLt) -> None:
    plan = make(library, plain((3, 4)), plain((4, 5)), sm_count_target=7, fast_accumulation=True, compute_type=77)
    made = library.made[plan.descriptors.desc]
    assert made["compute"] == 77
    assert made["attributes"][15] == (7).to_bytes(4, sys.byteorder)
    assert made["attributes"][25] == b"\1"
