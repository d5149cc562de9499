"""The plans for cuBLAS over a stand-in that computes on the host: arguments, loops and copies, without a GPU."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from frameworks import storage
from generic_cases import Case, Kind, assert_right, cases
from hypothesis import given, settings
from matmul_cases import Array

from nvmath._core import kernels_host, place
from nvmath._core.dtypes import DTYPES
from nvmath.bindings._bind import substitute
from nvmath.linalg._matrix import Operand
from nvmath.linalg.generic import _cublas as room
from nvmath.linalg.generic import _handles, _kernels_host
from nvmath.linalg.generic._problem import specify
from nvmath.linalg.generic._qualifiers import read
from nvmath.linalg.generic._scalars import Scalars

sys.path.insert(0, str(Path(__file__).parent))
from cublas_on_host import HostCublas, scalar
from kernels_on_host import kernels_on_host

PLACE: Any = SimpleNamespace(device_id=0, current=nullcontext, capturing=lambda stream: False)
ADAPTER: Any = SimpleNamespace(allocate=lambda nbytes, device, stream: kernels_host.scratch(nbytes))
ALL = ("float32", "float64", "complex64", "complex128")


class Combine:
    """What the kernel of that name computes."""

    def __init__(
        self, device: int, dtype: Any, shape: Any, d: Any, g: Any, x: Any, c: Any, alpha: int, beta: int
    ) -> None:
        self.views = [
            None if term is None else kernels_host.viewer(shape, term.strides, dtype) for term in (g, d, x, c)
        ]
        self.conj = [term is not None and term.conj for term in (g, d, x, c)]
        self.scalars, self.kind = (alpha, beta), np.dtype(dtype.name).type

    def __call__(self, *pointers: int) -> None:
        alpha, beta = (scalar(each, self.kind) for each in self.scalars)
        g, d, x, c = (
            None if view is None else (view(ptr).conj() if conj else view(ptr))
            for view, conj, ptr in zip(self.views, self.conj, pointers, strict=False)
        )
        wide = np.clongdouble if d.dtype.kind == "c" else np.longdouble
        value = np.zeros(d.shape, wide)
        if g is not None and alpha != 0:
            value = alpha * (g.astype(wide) if x is None else x.astype(wide) * g)
        if c is not None and beta != 0:
            value = value + beta * c.astype(wide)
        d[...] = value


def loader(device: int, load: Any) -> Any:
    run = _kernels_host.loader(load)
    return lambda source, target, stream: run(source, target)


@pytest.fixture(scope="module")
def library() -> Iterator[HostCublas]:
    fake = HostCublas()
    with pytest.MonkeyPatch.context() as patch, substitute("cublas", fake):
        patch.setattr(room, "loader", loader)
        patch.setattr(room, "Combine", Combine)
        patch.setattr(_handles, "cuda", lambda device: PLACE)
        patch.setattr(_handles, "_handles", _handles._Handles())
        yield fake
        for kept in _handles._handles.of_device.values():
            kept.handle = 0
        place.reap()


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(3)


def computed(case: Case, stream: int = 0) -> np.ndarray:
    """Run a case through a plan."""
    memory = {name: storage(each.values, case.dtype, each.strides, each.offset) for name, each in case.operands.items()}
    item = np.dtype(case.dtype).itemsize
    (of_a, conj_a), (of_b, conj_b) = read(case.qualifiers, True)
    conj = {"a": conj_a, "b": conj_b, "c": False}
    operands = {
        name: Operand(each.shape, each.strides, DTYPES[case.dtype], conj[name]) for name, each in memory.items()
    }
    problem = specify(**operands, of_a=of_a, of_b=of_b, inplace=case.inplace)
    scalars = Scalars(DTYPES[case.dtype])
    scalars.store(scalars.read(case.alpha, case.beta))
    plan = room.CublasPlan(problem, tuple(memory), scalars, PLACE, ADAPTER)
    pointers = [each.flat.ctypes.data + each.start * item for each in memory.values()]
    if case.inplace:
        result = memory["c"].view()
        pointers.append(pointers[2])
    else:
        result = storage(np.full(problem.out_shape, np.nan), case.dtype, problem.out_strides).view()
        pointers.append(result.ctypes.data)
    plan.launch()(*pointers, stream)
    plan.close()
    return result


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, int]]:
    """The stand-in, with our own kernels as they are."""
    with (
        pytest.MonkeyPatch.context() as patch,
        substitute("cublas", HostCublas()),
        kernels_on_host(tmp_path_factory.mktemp("kernels")) as compiled,
    ):
        patch.setattr(_handles, "cuda", lambda device: PLACE)
        patch.setattr(_handles, "_handles", _handles._Handles())
        yield compiled
        for kept in _handles._handles.of_device.values():
            kept.handle = 0


@settings(max_examples=200)
@given(case=cases(("float32", "complex128", "float16")))
def test_any_product_with_the_real_kernels(whole: dict[str, int], case: Case) -> None:
    assert_right(computed(case), case)


def test_the_kernels_were_compiled(whole: dict[str, int]) -> None:
    diagonal = Case("float32", Array(np.ones(3), (1,)), plain(np.eye(3)), None, (Kind("dg"), Kind()), None, None, False)
    assert_right(computed(diagonal), diagonal)
    assert len(whole) > 0


@settings(max_examples=500)
@given(case=cases(ALL))
def test_any_product(library: HostCublas, case: Case) -> None:
    assert_right(computed(case), case)


@settings(max_examples=100)
@given(case=cases(("float16",)))
def test_half(library: HostCublas, case: Case) -> None:
    assert_right(computed(case), case)


def plain(values: np.ndarray) -> Array:
    strides = tuple(step // values.itemsize for step in np.ascontiguousarray(values).strides)
    return Array(values, strides)


def case_of(a: np.ndarray, b: np.ndarray, *kinds: Kind, dtype: str = "float64", c: np.ndarray | None = None) -> Case:
    kinds = kinds or (Kind(), Kind())
    return Case(
        dtype, plain(a), plain(b), None if c is None else plain(c), kinds, None, None if c is None else 1.0, False
    )


@pytest.mark.parametrize(
    ("kind", "dtype", "names"),
    [
        ("ge", "float64", ["gemm_ex"]),
        ("ge", "float16", ["gemm_ex"]),
        ("sy", "float32", ["Ssymm"]),
        ("sy", "complex64", ["Csymm"]),
        ("he", "complex128", ["Zhemm"]),
        ("he", "float64", ["Dsymm"]),
        ("tr", "float64", ["Dtrmm"]),
        ("sy", "float16", ["gemm_ex"]),
    ],
)
def test_function_of_the_library(library, kind, dtype, names):
    case = case_of(np.eye(4), np.ones((4, 3)), Kind(kind), Kind(), dtype=dtype)
    library.names.clear()
    assert_right(computed(case), case)
    assert library.names == names


def test_a_batch_is_one_call_and_its_outer_axes_are_a_loop(library, rng):
    library.names.clear()
    computed(case_of(rng.random((5, 3, 4)), rng.random((4, 2))))
    assert library.names == ["gemm_strided_batched_ex"]
    library.names.clear()
    case = case_of(rng.random((3, 1, 2, 4)), rng.random((5, 4, 2)))
    assert_right(computed(case), case)
    assert library.names == 3 * ["gemm_strided_batched_ex"]


def test_small_structured_batches_are_written_out_and_large_ones_are_a_loop(library, rng):
    for extent, names in ((4, ["gemm_strided_batched_ex"]), (512, 2 * ["Ssymm"])):
        library.names.clear()
        values = rng.random((2, extent, extent)).astype("f").astype(float)
        case = case_of(values, np.ones((extent, 1)), Kind("sy"), Kind(), dtype="float32")
        assert_right(computed(case), case)
        assert library.names == names


def test_a_triangular_matrix_times_a_vector_in_double_complex_avoids_trmm(library, rng):
    library.names.clear()
    case = case_of(rng.random((300, 300)), rng.random(300), Kind("tr"), Kind(), dtype="complex128")
    assert_right(computed(case), case)
    assert library.names == ["gemm_ex"]


def test_the_stream_is_set_when_it_changes(library):
    case = case_of(np.eye(2), np.eye(2))
    library.streams.clear()
    for stream in (5, 5, 7, 0):
        computed(case, stream)
    assert [stream for stream in library.streams if stream] == [5, 7]
    assert library.handles == 1
