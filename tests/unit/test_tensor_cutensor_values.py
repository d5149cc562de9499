"""What we ask of cuTENSOR gives the right values for any layout: over a stand-in that computes in host memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from frameworks import BY_NAME, storage
from hypothesis import given
from hypothesis import strategies as st
from tensor_cases import Case, cases, examples, networks
from unit.cutensor_on_host import HostCutensor, HostDriver, move

from nvmath._core import place
from nvmath._core.dtypes import dtype
from nvmath._core.layout import normalise
from nvmath.bindings._bind import substitute
from nvmath.tensor import ContractionOptions
from nvmath.tensor._cutensor_network import plan_for
from nvmath.tensor._cutensor_objects import _handles, alignment_of
from nvmath.tensor._expression import parse
from nvmath.tensor._path import find
from nvmath.tensor._preference import Preference
from nvmath.tensor._problem import Metadata, specify
from nvmath.tensor._scalars import Scalars

NUMPY = BY_NAME["numpy"]


class Device:
    device_id = 0
    several = False
    capability = (9, 0)
    current = staticmethod(nullcontext)


@pytest.fixture(autouse=True)
def kernels(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("nvmath.tensor._cutensor.kernels.move", move)
    _handles.clear()
    with substitute("cuda", HostDriver()):
        yield
        place._garbage.clear()
    _handles.clear()


def block(nbytes: int) -> np.ndarray:
    """Memory at a multiple of 256, as an allocator of a GPU gives it."""
    memory = np.full(nbytes + 256, 0xCD, np.uint8)
    return memory[-memory.ctypes.data % 256 :][:nbytes]


def placed(values: np.ndarray, name: str, layout: tuple[int, ...] | None, offset: int) -> np.ndarray:
    """An array in a layout, `offset` elements behind a multiple of 256."""
    made = storage(values, name, layout, offset)
    flat = block(made.flat.nbytes).view(made.flat.dtype)
    flat[...] = made.flat
    item = flat.itemsize
    return np.ndarray(made.shape, flat.dtype, flat, made.start * item, tuple(stride * item for stride in made.strides))


def described(array: np.ndarray) -> Metadata:
    strides = normalise(array.shape, tuple(stride // array.itemsize for stride in array.strides))
    return Metadata(array.shape, strides, dtype(str(array.dtype)), alignment_of(array.ctypes.data))


def computed(case: Case, library: HostCutensor, values: list[np.ndarray], addend: np.ndarray | None, path: bool = False) -> np.ndarray:
    """The result of a plan over the stand-in."""
    arrays = [
        placed(value, case.dtype, layout, offset) for value, layout, offset in zip(values, case.layouts, case.offsets, strict=True)
    ]
    more = None if addend is None else placed(addend, case.dtype, case.out_layout, case.offsets[0])
    options = ContractionOptions(result_layout="C")
    problem = specify(
        parse(case.expression, len(arrays)), tuple(map(described, arrays)), None if more is None else described(more), None, case.conj,
        options,
    )  # fmt: skip
    scalars = Scalars(problem.scalar)
    scalars.set(case.alpha, case.beta or 0.0)
    modes = [frozenset(tensor.modes) for tensor in problem.inputs]
    way = find(modes, frozenset(problem.output.modes), problem.extents, "greedy", 1 << 40) if path else None
    with substitute("cutensor", library):
        plan = plan_for(problem, Device(), scalars, options, Preference(), way)  # type: ignore[arg-type]
        workspace = block(plan.workspace_nbytes)
        plan.attach(workspace.ctypes.data)
        out = placed(np.full(problem.out_shape, np.nan), case.dtype, None, 0)
        launch = plan.launch()
        for _ in range(2):
            launch(*(array.ctypes.data for array in (*arrays, *([] if more is None else [more]))), out.ctypes.data, 77)
        plan.close()
        place.reap()
        assert library.made == {}
    for array, value in zip(arrays, values, strict=True):
        np.testing.assert_array_equal(array, value.astype(case.dtype))
    return out


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("trinary", [True, False])
@examples(150)
@given(data=st.data(), nbytes=st.sampled_from([0, 1000]), empty=st.booleans())
def test_any(count: int, trinary: bool, data: st.DataObject, nbytes: int, empty: bool) -> None:
    case = data.draw(cases(NUMPY, count, empty=empty))
    values, addend = case.operands(), None if case.beta is None else case.addend()
    case.check(computed(case, HostCutensor(nbytes, trinary), values, addend), values, addend, stores=count)


@examples(150)
@given(data=st.data(), nbytes=st.sampled_from([0, 1000]), empty=st.booleans())
def test_networks(data: st.DataObject, nbytes: int, empty: bool) -> None:
    case = data.draw(networks(NUMPY, empty=empty))
    values = case.operands()
    got: Any = computed(case, HostCutensor(nbytes), values, None, path=len(values) > 1)
    replace(case).check(got, values, None, stores=len(values))


@pytest.mark.parametrize("row", [4, 8])
@pytest.mark.parametrize("count", [2, 3])
def test_with_an_alpha_of_zero_no_operand_is_read(count: int, row: int) -> None:
    nothing = np.full((4, 4), np.nan)
    for beta, want in ((0.0, 0.0), (3.0, 6.0)):
        for addend in (None, np.full((4, 4), 2.0) if beta else nothing):
            out = block(4 * row * 8).view(np.float64).reshape(4, row)[:, :4]
            arrays = [described(nothing)] * count
            more = None if addend is None else described(addend)
            text = {2: "ij,jk->ik", 3: "ij,jk,kl->il"}[count]
            problem = specify(parse(text, count), tuple(arrays), more, described(out), (False,) * count, ContractionOptions())
            scalars = Scalars("float64")
            scalars.set(0.0, 0.0 if addend is None else beta)
            with substitute("cutensor", HostCutensor()):
                plan = plan_for(problem, Device(), scalars, ContractionOptions(), Preference(), None)  # type: ignore[arg-type]
                given = [nothing.ctypes.data] * count + ([] if addend is None else [addend.ctypes.data])
                plan.launch()(*given, out.ctypes.data, 77)
                plan.close()
                place.reap()
            np.testing.assert_array_equal(out, 0.0 if addend is None else want)


def test_the_stand_in_is_particular() -> None:
    library = HostCutensor()
    with pytest.raises(AssertionError, match="do not nest"):
        library.cutensorCreateTensorDescriptor(8, 2, (3, 4), (2, 5), 0, 256)
    desc = library.made[library.cutensorCreateTensorDescriptor(8, 1, (4,), (1,), 0, 8)]
    with pytest.raises(AssertionError, match="promised a multiple of 8"):
        desc.at(0x1004)
    with pytest.raises(AssertionError, match="misaligned address"):
        desc.at(0x1008, 16)
