"""Copies on a GPU, and right-hand sides that are solved for together with the guess of the condition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._core import kernels
from ..._core.layout import size
from . import _kernels
from ._forms import Copy, copies, joint_form

if TYPE_CHECKING:
    from ._cuda import CudaSolverPlan


class Joint:
    """Right-hand sides in packed memory, with one more column for the guess of the condition."""

    def __init__(self, plan: CudaSolverPlan) -> None:
        problem, count = plan.problem, plan.factors.count
        self.plan, self.n, self.columns, self.item = plan, problem.cols, problem.columns, plan.dtype.itemsize
        form = self.form = joint_form(problem)
        self.step = form.ld * form.cols
        self.nbytes = count * self.step * self.item
        self.before = [plan.mover(each) for each in copies(problem.b, form)]
        self.after = [plan.mover(each, back=True) for each in copies(problem.x, form)]
        self.spread = kernels.move(plan.device, (count, self.n), (0, 1), (self.step, 1), plan.dtype, plan.dtype)
        self.conjugate = plan.conjugation(form, form.cols)

    def start(self, b: tuple[int, ...], x: tuple[int, ...], trans: str, stream: int) -> Any:
        """Queue a solution; return what owns the memory that it uses."""
        plan, n, step, ld = self.plan, self.n, self.step, self.form.ld
        at, owner = plan.adapter.allocate(self.nbytes, plan.device, stream)
        guess = at + self.columns * ld * self.item
        for move in self.before:
            move(b[move.array], at, stream)
        self.spread(plan.probe[0], guess, stream)
        plan.solve_at(at, self.form, step * self.item, self.form.cols, trans, self.conjugate, stream)
        plan.norms((step, n, self.form.cols, ld, _kernels.WHOLE, self.columns), at, (2, 1), stream)
        for move in self.after:
            move(at, x[move.array], stream)
        return owner


class Move:
    """A copy between one of several arrays and packed memory."""

    __slots__ = ("array", "back", "offset", "run")

    def __init__(self, copy: Copy, device: int, dtype: Any, back: bool) -> None:
        self.array, self.back = copy.array, back
        self.offset = copy.offset * dtype.itemsize
        one, other = (copy.inside, copy.outside) if back else (copy.outside, copy.inside)
        self.run = kernels.move(device, copy.shape, one, other, dtype, dtype) if size(copy.shape) else None

    def __call__(self, source: int, target: int, stream: int) -> None:
        if self.run is None:
            return
        if self.back:
            source += self.offset
        else:
            target += self.offset
        self.run(source, target, stream)
