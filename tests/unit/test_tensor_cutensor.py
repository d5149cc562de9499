"""What is asked of cuTENSOR, over a stand-in that records; numbers are checked on a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from itertools import count
from typing import Any

import pytest
from tensor_cases import metadata, problem

from nvmath._core import place
from nvmath._core.dtypes import dtype
from nvmath.bindings import cutensor
from nvmath.bindings._bind import substitute
from nvmath.tensor import ComputeDesc, ContractionOptions, _cutensor_network
from nvmath.tensor import _cutensor_objects as rooms
from nvmath.tensor._cutensor import CutensorPlan
from nvmath.tensor._preference import Preference
from nvmath.tensor._problem import Metadata, nested
from nvmath.tensor._scalars import Scalars

CREATE = {
    "Create": "handle", "CreateTensorDescriptor": "desc", "CreateContraction": "contraction", "CreateReduction": "reduction",
    "CreateContractionTrinary": "trinary", "CreatePlanPreference": "pref", "CreatePlan": "plan",
    "CreateElementwiseBinary": "elementwise",
}  # fmt: skip


class Recorder:
    """Answers like cuTENSOR and remembers every call."""

    def __init__(self, fails: str = "") -> None:
        self.calls: list[tuple[str, tuple[Any, ...]]] = []
        self.number = count(1000)
        self.fails = fails
        for position, name in enumerate(("16F", "16BF", "32F", "64F", "TF32", "3XTF32", "4X16F", "9X16BF", "8XINT8")):
            setattr(self, "CUTENSOR_COMPUTE_DESC_" + name, 50 + position)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("cutensor"):
            raise AttributeError(name)

        def call(*arguments: Any) -> Any:
            short = name.removeprefix("cutensor")
            self.calls.append((short, arguments))
            if short == self.fails:
                raise cutensor.cuTENSORError(15)
            if short in CREATE:
                return next(self.number)
            return {"GetVersion": 20800, "EstimateWorkspaceSize": 1 << 20}.get(short)

        return call

    def named(self, name: str) -> list[tuple[Any, ...]]:
        return [arguments for called, arguments in self.calls if called == name]


class Driver:
    """As much of the driver as planning needs."""

    @staticmethod
    def cuDeviceGet(number: int) -> int:  # noqa: N802
        return number

    @staticmethod
    def cuDeviceTotalMem_v2(device: int) -> int:  # noqa: N802
        return 1 << 30

    @staticmethod
    def cuMemsetD8Async(address: int, value: int, count: int, stream: int) -> None:  # noqa: N802
        assert value == 0


class Device:
    device_id = 0
    several = False
    capability = (9, 0)
    current = staticmethod(nullcontext)


@contextmanager
def recorded(fails: str = "") -> Iterator[Recorder]:
    recorder = Recorder(fails)
    rooms._handles.clear()
    with substitute("cutensor", recorder), substitute("cuda", Driver()):
        yield recorder
        place._garbage.clear()
    rooms._handles.clear()


def plan_of(made: Any, **options: Any) -> CutensorPlan:
    preference, path = options.pop("preference", Preference()), options.pop("path", None)
    return _cutensor_network.plan_for(made, Device(), Scalars(made.scalar), ContractionOptions(**options), preference, path)


def test_descriptors_and_call() -> None:
    with recorded() as seen:
        plan = plan_of(problem("ijk,kl->lij", metadata((2, 3, 4)), metadata((4, 5)), result_layout="C"))
        described = [(arguments[2], arguments[3], arguments[4]) for arguments in seen.named("CreateTensorDescriptor")]
        assert described == [((2, 3, 4), (12, 4, 1), 1), ((4, 5), (5, 1), 1), ((5, 2, 3), (6, 3, 1), 1)]
        (contraction,) = seen.named("CreateContraction")
        assert contraction[2:4] == ((0, 1, 2), 1)
        assert contraction[5:7] == ((2, 3), 1)
        assert contraction[8] == contraction[11] == (3, 0, 1)
        assert contraction[7] == contraction[10]  # one descriptor for the addend and the result
        assert contraction[-1] == 53
        plan.attach(0x5000)
        plan.launch()(1, 2, 3, 77)
        (call,) = seen.named("Contract")
        assert (call[3:5], call[6:9], call[10]) == ((1, 2), (3, 3, 0x5000), 77)


def test_modes_of_one_operand_are_summed_first() -> None:
    with recorded() as seen:
        plan = plan_of(problem("ij,kj->i", metadata((2, 3)), metadata((4, 3))))
        (reduction,) = seen.named("CreateReduction")
        assert reduction[2] == (2, 1)
        assert reduction[5] == reduction[8] == (1,)
        assert plan.workspace_nbytes == 256  # the sums; the recorder asks for no workspace
        plan.attach(0x5000)
        plan.launch()(1, 2, 3, 77)
        assert seen.named("Reduce")[0][3] == 2
        assert seen.named("Contract")[0][3:5] == (1, 0x5000)


@pytest.mark.parametrize(
    ("strides", "alignment", "copies"),
    [((3, 1), 256, 0), ((3, 1), 16, 0), ((3, 1), 8, 1), ((5, 1), 256, 1), ((8, 1), 32, 0), ((6, 2), 256, 1)],
)  # fmt: skip
def test_sums_read_16_bytes_at_a_time(monkeypatch: pytest.MonkeyPatch, strides: tuple[int, int], alignment: int, copies: int) -> None:
    copied: list[tuple[int, int, int]] = []
    monkeypatch.setattr("nvmath.tensor._cutensor.kernels.move", lambda *_: lambda *addresses: copied.append(addresses))
    a, b = Metadata((2, 3), strides, dtype("float32"), alignment), metadata((2,), name="float32")
    with recorded() as seen:
        plan = plan_of(problem("ij,i->i", a, b))
        plan.attach(0x5000)
        plan.launch()(0x1008, 0x2000, 0x3000, 77)
        assert len(copied) == copies
        (source,) = (call[3] for call in seen.named("Reduce"))
        assert source == (copied[0][1] if copied else 0x1008)
        assert (source % 16 == 0) or not copied
        assert plan.workspace_nbytes == 256 * (1 + copies)


@pytest.mark.parametrize(("alignment", "moves"), [(256, 0), (16, 0), (4, 1)])
def test_one_operand_is_summed_into_the_result_where_that_is_aligned(monkeypatch: pytest.MonkeyPatch, alignment: int, moves: int) -> None:
    moved: list[tuple[int, int, int]] = []
    monkeypatch.setattr("nvmath.tensor._cutensor.kernels.move", lambda *_: lambda *addresses: moved.append(addresses))
    out = Metadata((3,), (1,), dtype("float32"), alignment)
    with recorded() as seen:
        plan = plan_of(problem("ij->j", metadata((2, 3), name="float32"), out=out))
        plan.attach(0x5000)
        plan.launch()(0x1000, 0x3000, 77)
        ((_, _, _, source, _, _, target, *_),) = seen.named("Reduce")
        assert (source, len(moved)) == (0x1000, moves)
        assert target == (moved[0][0] if moved else 0x3000)
        assert not moved or moved[0][1:] == (0x3000, 77)


def test_one_operand_without_sums_is_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    moved: list[tuple[int, int, int]] = []
    monkeypatch.setattr("nvmath.tensor._cutensor.kernels.move", lambda *_: lambda *addresses: moved.append(addresses))
    with recorded() as seen:
        plan_of(problem("iij->ji", metadata((3, 3, 2)))).launch()(0x1000, 0x3000, 77)
        assert moved == [(0x1000, 0x3000, 77)]
        assert seen.named("CreateReduction") == []


def test_scalar_operands_get_a_mode() -> None:
    with recorded() as seen:
        plan_of(problem(",i->i", metadata(()), metadata((4,))))
        assert [arguments[1:4] for arguments in seen.named("CreateTensorDescriptor")] == [
            (1, (1,), (1,)), (2, (4, 1), (1, 1)), (2, (4, 1), (1, 1))
        ]  # fmt: skip


def test_addend_of_the_same_layout_is_passed_and_ternary_is_trinary() -> None:
    a = metadata((3, 3))
    with recorded() as seen:
        plan = plan_of(problem("ij,jk,kl->il", a, a, a, addend=a))
        plan.scalars.set(1, 1)
        plan.launch()(1, 2, 3, 4, 5, 77)
        assert seen.named("ContractTrinary")[0][3:6] == (1, 2, 3)
        assert seen.named("ContractTrinary")[0][7:9] == (4, 5)


def test_preferences_and_limit() -> None:
    a = metadata((3, 3))
    preference = Preference(algo=-4, jit=1, kernel_rank=2, changed={"algo", "jit", "kernel_rank"})
    with recorded() as seen:
        plan_of(problem("ij,jk->ik", a, a), preference=preference, memory_limit="4 kiB")
        assert seen.named("CreatePlanPreference")[0][1:] == (-4, 1)
        (attribute,) = seen.named("PlanPreferenceSetAttribute")
        assert (attribute[2], attribute[4]) == (4, 4)
        assert seen.named("CreatePlan")[0][3] == 4096


def test_a_handle_of_the_caller_is_used() -> None:
    a = metadata((3, 3))
    with recorded() as seen:
        plan_of(problem("ij,jk->ik", a, a), handle=99)
        assert seen.named("Create") == []
        assert seen.named("CreateContraction")[0][0] == 99


@pytest.mark.parametrize("step", ["CreateTensorDescriptor", "CreateContraction", "CreatePlanPreference", "CreatePlan", "PlanGetAttribute"])
def test_nothing_stays_behind_when_planning_fails(step: str) -> None:
    a = metadata((3, 3))
    with recorded(fails=step) as seen:
        with pytest.raises(cutensor.cuTENSORError, match="CUTENSOR_STATUS_NOT_SUPPORTED"):
            plan_of(problem("ij,jk->ik", a, a))
        made = sum(len(seen.named(name)) for name in CREATE if name != "Create" and name != step)
        assert len(place._garbage) == made


def test_an_empty_result_asks_nothing() -> None:
    with recorded() as seen:
        plan_of(problem("ij,jk->ik", metadata((0, 2)), metadata((2, 3)))).launch()(1, 2, 3, 4)
        assert seen.calls == []


def test_a_sum_over_nothing_scales_the_addend() -> None:
    empty = metadata((2, 0)), metadata((0, 3))
    with recorded() as seen:
        plan_of(problem("ij,jk->ik", *empty)).launch()
        assert seen.named("CreateContraction") == []
        plan = plan_of(problem("ij,jk->ik", *empty, addend=metadata((2, 3))))
        (made,) = seen.named("CreateElementwiseBinary")
        assert (made[2], made[5], made[8]) == ((), (0, 2), (0, 2))
        plan.attach(0x5000)
        plan.scalars.set(1, 2.5)
        plan.launch()(1, 2, 3, 4, 77)
        (call,) = seen.named("ElementwiseBinaryExecute")
        assert (call[3], call[5], call[6], call[7]) == (0x5000, 3, 4, 77)
        plan.scalars.set(1, 0)  # then the addend is not read
        plan.launch()(1, 2, 3, 4, 77)
        assert len(seen.named("ElementwiseBinaryExecute")) == 1


@pytest.mark.parametrize(
    ("extents", "strides", "good"),
    [
        ((2, 3), (3, 1), True), ((2, 3), (5, 1), True), ((2, 3), (1, 2), True), ((), (), True), ((1, 3), (-7, 1), True),
        ((2, 3), (6, 2), False), ((2, 3), (-3, 1), False), ((2, 3), (0, 1), False), ((3,), (4,), False),
        ((3, 3, 4), (2, 1, 12), False), ((3, 4), (1, 2), False),
    ],
)  # fmt: skip
def test_layouts_that_are_given_to_the_library(extents: tuple[int, ...], strides: tuple[int, ...], good: bool) -> None:
    assert nested(extents, strides) is good


@pytest.mark.parametrize(
    ("strides", "alignment", "promised"),
    [
        ((3, 1), 256, 256), ((3, 1), 8, 8), ((5, 1), 256, 4), ((6, 1), 256, 8), ((8, 1), 256, 32), ((8, 1), 4, 4), ((1, 2), 256, 256),
        ((1, 3), 256, 4),
    ],
)  # fmt: skip
def test_views_promise_the_alignment_that_every_step_keeps(strides: tuple[int, ...], alignment: int, promised: int) -> None:
    a, b = Metadata((2, 3), strides, dtype("float32"), alignment), metadata((3, 2), name="float32")
    with recorded() as seen:
        plan_of(problem("ij,jk->ik", a, b))
        assert seen.named("CreateTensorDescriptor")[0][5] == promised


@pytest.mark.parametrize(
    ("text", "shape", "strides"),
    [("ij,jk->ik", (3, 4), (8, 2)), ("ij,jk->ik", (3, 4), (-4, 1)), ("ij,jk->ik", (3, 4), (0, 1)), ("iji,jk->ik", (3, 4, 3), (12, 3, 1))],
)
def test_other_layouts_are_copied_first(monkeypatch: pytest.MonkeyPatch, text: str, shape: tuple[int, ...], strides: Any) -> None:
    copied: list[tuple[Any, ...]] = []

    def move(device: int, *layout: Any) -> Any:
        return lambda source, target, stream: copied.append((*layout[:3], source, target, stream))

    monkeypatch.setattr("nvmath.tensor._cutensor.kernels.move", move)
    with recorded() as seen:
        plan = plan_of(problem(text, metadata(shape, strides), metadata((4, 5))))
        described = seen.named("CreateTensorDescriptor")[0]
        assert (described[2], described[3]) in (((3, 4), (4, 1)), ((4, 3), (3, 1)))
        plan.attach(0x5000)
        plan.launch()(1, 2, 3, 77)
        ((extents, _, packed, source, target, stream),) = copied
        assert (sorted(extents), sorted(packed), source, stream) == ([3, 4], sorted(described[3]), 1, 77)
        assert seen.named("Contract")[0][3:5] == (target, 2)
        assert 0x5000 <= target < 0x5000 + plan.workspace_nbytes


def test_a_ternary_contraction_that_is_not_supported_becomes_two() -> None:
    made = problem("ij,jk,kl->il", metadata((100, 2)), metadata((2, 100)), metadata((100, 2)), addend=metadata((100, 2)))
    with recorded(fails="CreateContractionTrinary") as seen:
        plan = plan_of(made)
        assert len(seen.named("CreateContraction")) == 2
        plan.attach(0x5000)
        plan.parts[-1].scalars.set(1, 1)
        plan.launch()(1, 2, 3, 4, 5, 77)
        first, second = seen.named("Contract")
        assert (first[3:5], first[10]) == ((2, 3), 77)  # the cheapest pair
        between = first[7]
        assert 0x5000 <= between < 0x5000 + plan.workspace_nbytes
        assert (second[3:5], second[6:8], second[10]) == ((1, between), (4, 5), 77)


def test_broken_emulation_is_refused() -> None:
    with pytest.raises(RuntimeError, match=r"cuTENSOR 2\.5\.0"):
        rooms.refuse_broken_emulation("8XINT8", 20500)
    rooms.refuse_broken_emulation("8XINT8", 20501)


@pytest.mark.parametrize("name", ["4X16F", "9X16BF", "3XTF32", "TF32", "32F"])
@pytest.mark.parametrize("capability", [(8, 0), (9, 0), (10, 0), (12, 0)])
def test_emulated_single_precision_before_blackwell(monkeypatch: pytest.MonkeyPatch, name: str, capability: tuple[int, int]) -> None:
    """cuTENSOR 2.8.1 on an H200: errors of TF32 where single precision was asked for by 4X16F or 9X16BF."""
    monkeypatch.setattr(Device, "capability", capability)
    options = {"compute_type": getattr(ComputeDesc, "COMPUTE_" + name)()}
    a = metadata((3, 3), name="float32")
    with recorded() as seen:
        plan_of(problem("ij,jk->ik", a, a, **options))
        taken = "32F" if name in ("4X16F", "9X16BF") and capability < (10, 0) else name
        assert seen.named("CreateContraction")[0][-1] == getattr(seen, "CUTENSOR_COMPUTE_DESC_" + taken)


def test_alignment() -> None:
    assert [rooms.alignment_of(ptr) for ptr in (0, 4, 8, 24, 256, 512, 768 + 16)] == [256, 4, 8, 8, 256, 256, 16]
