"""What is asked of cuTENSOR, over a stand-in that records; numbers are checked on a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from itertools import count
from typing import Any

import pytest
from tensor_cases import metadata, problem

from nvmath._core import place
from nvmath.bindings import cutensor
from nvmath.bindings._bind import substitute
from nvmath.tensor import ContractionOptions
from nvmath.tensor import _cutensor as rooms
from nvmath.tensor._preference import Preference
from nvmath.tensor._scalars import Scalars

CREATE = {
    "Create": "handle", "CreateTensorDescriptor": "desc", "CreateContraction": "contraction", "CreateReduction": "reduction",
    "CreateContractionTrinary": "trinary", "CreatePlanPreference": "pref", "CreatePlan": "plan",
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


class Device:
    device_id = 0
    several = False
    current = staticmethod(nullcontext)


@contextmanager
def recorded(fails: str = "") -> Iterator[Recorder]:
    recorder = Recorder(fails)
    rooms._handles.clear()
    with substitute("cutensor", recorder), substitute("cuda", Driver()):
        yield recorder
        place._garbage.clear()
    rooms._handles.clear()


def plan_of(made: Any, **options: Any) -> rooms.CutensorPlan:
    preference = options.pop("preference", Preference())
    return rooms.CutensorPlan(made, Device(), Scalars(made.scalar), ContractionOptions(**options), preference)


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


def test_sums_over_nothing() -> None:
    with recorded() as seen:
        plan_of(problem("ij,jk->ik", metadata((2, 0)), metadata((0, 3)))).launch()
        plan_of(problem("ij,jk->ik", metadata((0, 2)), metadata((2, 3)))).launch()(1, 2, 3, 4)
        assert seen.calls == []
        with pytest.raises(ValueError, match="extent 0 and has the addend c is not implemented on a GPU"):
            plan_of(problem("ij,jk->ik", metadata((2, 0)), metadata((0, 3)), addend=metadata((2, 3))))


def test_broken_emulation_is_refused() -> None:
    with pytest.raises(RuntimeError, match=r"cuTENSOR 2\.5\.0"):
        rooms._refuse_broken_emulation("8XINT8", 20500)
    rooms._refuse_broken_emulation("8XINT8", 20501)


def test_alignment() -> None:
    assert [rooms.alignment_of(ptr) for ptr in (0, 4, 8, 24, 256, 512, 768 + 16)] == [256, 4, 8, 8, 256, 256, 16]
