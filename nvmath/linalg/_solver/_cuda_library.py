"""What a plan on a GPU asks of a library, and where it says that the matrices are."""

from __future__ import annotations

from typing import Protocol

from ._forms import Form, lower
from ._problem import SystemsProblem


class Factors:
    """Where the matrices of a plan are on the device, in bytes, and what the library writes beside them."""

    def __init__(self, problem: SystemsProblem, form: Form, step: int) -> None:
        self.problem, self.turned, self.ld, self.step = problem, form.turned, form.ld, step
        self.count = problem.count
        self.lower = lower(problem, form.turned)
        self.at = self.pivots = self.info = self.tau = self.table = self.side_table = self.work = 0


class Library(Protocol):
    """Who factorizes and solves; addresses are in `factors`."""

    title: str
    batched: bool  # whether it is for many small systems
    pivot_nbytes: int  # of one pivot
    may_fuse: bool  # whether small systems may be left to our own kernel

    def enter(self, stream: int) -> None:
        """Take what a phase needs, for work on a stream."""

    def leave(self) -> None:
        """Give it back; the work is done."""

    def work_nbytes(self, factors: Factors, columns: int) -> int:
        """Return how much device memory a call wants."""

    def factorize(self, factors: Factors, stream: int) -> None:
        """Factorize all matrices."""

    def solve(self, factors: Factors, letter: str, b: int, step: int, ld: int, columns: int, stream: int) -> None:
        """Solve for right-hand sides at an address, `step` bytes from one system to the next."""

    def solve_triangle(self, factors: Factors, letter: str, b: int, step: int, ld: int, columns: int, stream: int) -> None:
        """Solve with a triangle alone: the matrix itself, or R of a QR factorization."""
