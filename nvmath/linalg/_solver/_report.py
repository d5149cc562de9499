"""What is said about systems that have no solution, or one that cannot be trusted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite, isnan
from typing import Any

from ..._core.errors import warn
from ._condition import limit
from ._errors import IllConditionedWarning, SingularMatrixError, listed, which
from ._options import Structure
from ._problem import SystemsProblem


class Report:
    """Raises and warns on behalf of the systems of a problem."""

    def __init__(self, problem: SystemsProblem, library: str) -> None:
        self.problem, self.library = problem, library

    def refuse_info(self, info: Any, norm: Callable[[int], float]) -> None:
        """Raise what the library says of a factorization: one number for each matrix, 0 where there is nothing to say.

        `norm` tells the norm of a matrix: what looks singular may be full of infinities.
        """
        numbers = [int(each) for each in info]
        negative = [number for number in numbers if number < 0]
        assert not negative, f"{self.library} was called with a wrong argument number {-negative[0]}"
        indices = [index for index, number in enumerate(numbers) if number]
        self._refuse_wild([index for index in indices if not isfinite(norm(index))])
        if self.problem.structure is Structure.POSITIVE_DEFINITE:
            what = "not positive definite"
            detail = "its leading minor of order {} is not positive"
        else:
            what = "of deficient rank" if self.problem.least_squares else "singular"
            detail = "pivot {} (counted from 1) is exactly zero"
        text = f"{which(indices, self.problem.batched)} {what}"
        if not self.problem.batched:
            text += f": {detail.format(numbers[indices[0]])} (info={numbers[indices[0]]})"
        advice = " Leave out assume_a='positive definite' for other matrices." if "definite" in what else ""
        raise SingularMatrixError(f"{text}.{advice}", indices)

    def judge(self, conditions: dict[int, float]) -> None:
        """Raise or warn for estimated condition numbers of some matrices: infinite, or NaN for elements that are not finite."""
        problem = self.problem
        self._refuse_wild([index for index, value in conditions.items() if isnan(value)])
        lost = [index for index, value in conditions.items() if value == float("inf")]
        if lost:
            raise SingularMatrixError(
                f"{which(lost, problem.batched)} singular to working precision: the solution of a test overflows or is not finite.", lost
            )
        largest = limit(problem.dtype.name)
        if problem.least_squares:
            deficient = [i for i, value in conditions.items() if value * problem.rows > largest]
            if deficient:
                worst = max(conditions[index] for index in deficient)
                raise SingularMatrixError(
                    f"{which(deficient, problem.batched)} of deficient rank: the condition number is about {worst:.2g}, so the "
                    "least-squares solution is not unique. Use numpy.linalg.lstsq for the shortest one.",
                    deficient,
                )
            return
        ill = [index for index, value in conditions.items() if value > largest]
        if ill:
            worst = max(conditions[index] for index in ill)
            text = (
                f"{which(ill, problem.batched)} ill-conditioned: the condition number is about {worst:.2g} (rcond {1 / worst:.2g}), "
                f"beyond the {largest:.2g} of {problem.dtype}. The solution may have no correct digit."
            )
            warn(IllConditionedWarning(text, ill if problem.batched else ()), IllConditionedWarning)

    def _refuse_wild(self, indices: Sequence[int]) -> None:
        if indices:
            raise SingularMatrixError(
                f"{which(indices, self.problem.batched)} not finite: there are infinities or NaN, or the norm overflows.", indices
            )

    def refuse_solutions(self, indices: Sequence[int]) -> None:
        """Raise that solutions are not finite."""
        where = f" of the systems {listed(indices)} of the batch" if self.problem.batched else ""
        raise SingularMatrixError(
            f"The solution{where} is not finite: the right-hand side b has infinities or NaN there, or numbers overflow.", indices
        )
