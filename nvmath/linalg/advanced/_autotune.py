"""Measuring the candidates of a plan."""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._core.layout import span
from ..._core.place import Cuda
from ..._core.route import context
from ..._core.stream import resolve
from ...bindings import _cuda as driver
from . import _records as records
from ._algorithm import Algorithm
from ._coerce import natural

if TYPE_CHECKING:
    from ._api import Matmul

_ROUNDS_BEFORE_DROPPING: Final = 3
_HOPELESS: Final = 2.0
"""A candidate this many times slower than the best is not measured any more."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The times of one candidate, in milliseconds."""

    algorithm: Algorithm
    times_ms: tuple[float, ...]

    @property
    def median_ms(self) -> float:
        """The score."""
        return float(np.median(self.times_ms))


class AutotuneReport:
    """What autotuning found: every candidate that was measured, fastest first.

    Attributes
    ----------
    problem : str
        The product.
    rows : tuple
        One for each candidate: ``algorithm``, ``times_ms`` and ``median_ms``.
    first_ms : float
        The time of the candidate that came first before.
    seconds : float
        How long autotuning took.

    Examples
    --------
    >>> import numpy as np
    >>> from nvmath.linalg.advanced import Matmul
    >>> with Matmul(np.eye(8), np.eye(8), execution="cpu") as product:
    ...     algorithms = product.plan()
    ...     report = product.autotune(iterations=3)
    >>> len(report.rows), report.speedup
    (1, 1.0)
    """

    def __init__(self, problem: str, rows: tuple[Measured, ...], first_ms: float, seconds: float) -> None:
        self.problem, self.rows, self.first_ms, self.seconds = problem, rows, first_ms, seconds

    @property
    def algorithms(self) -> tuple[Algorithm, ...]:
        """The candidates, fastest first."""
        return tuple(row.algorithm for row in self.rows)

    @property
    def speedup(self) -> float:
        """How many times faster the best is than what came first before."""
        return self.first_ms / self.rows[0].median_ms if self.rows[0].median_ms else 1.0

    def table(self) -> str:
        """Return the scores as a table in plain text."""
        head = ("rank", "median ms", "least ms", "rounds", "algorithm")
        lines = [
            (
                str(rank),
                f"{row.median_ms:.6g}",
                f"{min(row.times_ms):.6g}",
                str(len(row.times_ms)),
                repr(row.algorithm).strip("<>"),
            )
            for rank, row in enumerate(self.rows, 1)
        ]
        widths = [max(len(line[column]) for line in (head, *lines)) for column in range(len(head))]
        rows = (zip(line, widths, strict=True) for line in (head, *lines))
        return "\n".join("  ".join(text.ljust(width) for text, width in row).rstrip() for row in rows)

    def __str__(self) -> str:
        return (
            f"{self.problem}\n{self.table()}\n{self.speedup:.3f} times as fast as before, found in {self.seconds:.2f} s"
        )

    def __repr__(self) -> str:
        return f"<AutotuneReport of {len(self.rows)} candidates, speedup {self.speedup:.3f}>"

    def save(self, path: str | Path) -> None:
        """Write the scores and the algorithms to a JSON file.

        Parameters
        ----------
        path : str or Path
            Where; :meth:`load` reads it, in any process and without executing anything.
        """
        rows = [records.row_of(row.algorithm, row.times_ms) for row in self.rows]
        content = {"problem": self.problem, "rows": rows, "first_ms": self.first_ms, "seconds": self.seconds}
        Path(path).write_text(json.dumps(content, indent=1))

    @staticmethod
    def load(path: str | Path) -> AutotuneReport:
        """Read what :meth:`save` wrote; ``plan(algorithms=report.algorithms)`` uses it.

        Raises
        ------
        ValueError
            The file holds something else.
        """
        try:
            found = json.loads(Path(path).read_text())
            rows = tuple(Measured(*records.algorithm_of(row)) for row in found["rows"])
            return AutotuneReport(str(found["problem"]), rows, float(found["first_ms"]), float(found["seconds"]))
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path} is no report of autotuning: {error}") from error

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw the times of all rounds, one row for each candidate, with matplotlib.

        Parameters
        ----------
        path : str or Path, optional
            Where to store the picture.

        Returns
        -------
        matplotlib.axes.Axes
            The drawing.

        Raises
        ------
        RuntimeError
            matplotlib is not installed.
        """
        try:
            from matplotlib import pyplot
        except ImportError as error:
            raise RuntimeError(
                "AutotuneReport.plot needs matplotlib. Install it with: pip install matplotlib"
            ) from error
        figure, axes = pyplot.subplots(figsize=(8, 1 + 0.4 * len(self.rows)))
        axes.boxplot([row.times_ms for row in reversed(self.rows)], orientation="horizontal")
        axes.set_yticklabels(
            [repr(row.algorithm).strip("<>").split(", workspace")[0] for row in reversed(self.rows)], fontsize=7
        )
        axes.set_xlabel("milliseconds, cold cache")
        axes.set_title(self.problem, fontsize=8)
        figure.tight_layout()
        if path is not None:
            figure.savefig(path)
        return axes


def autotune(product: Matmul, iterations: int, prune: int | None, stream: Any, progress: bool) -> AutotuneReport:
    """Measure the candidates of a planned product and put the fastest first."""
    for name, value in (("iterations", iterations), ("prune", prune)):
        if value is not None or name == "iterations":
            natural(value, name, least=1)
    begin = time.perf_counter()
    candidates = product._algorithms
    assert candidates is not None
    first = candidates[0]
    on_gpu = isinstance(product._place, Cuda)
    if on_gpu and product._given is None:  # who gave algorithms wants no others
        candidates += product._plan_object.rivals()
    bench = _on_gpu(product, stream, candidates) if on_gpu else _on_host(product, stream)
    with bench as run:
        measured = _rounds(candidates, run, iterations, progress)
    rows = tuple(sorted((Measured(each, tuple(times)) for each, times in measured), key=lambda row: row.median_ms))
    for row in rows:
        row.algorithm.score_ms = row.median_ms
    first_ms = next(row.median_ms for row in rows if row.algorithm is first)
    report = AutotuneReport(str(product._problem), rows, first_ms, time.perf_counter() - begin)
    product._prefer(report.algorithms[:prune])
    if on_gpu:
        assert isinstance(product._place, Cuda)
        records.keep(product._problem, product._place, product.options, product._preferences, report.rows)
    product.logger.info("Autotuned: %s.", report)
    return report


Run = Callable[[list[Algorithm]], list[float]]
"""Runs candidates one after the other and returns their times in milliseconds."""


def _rounds(
    candidates: tuple[Algorithm, ...], run: Run, iterations: int, progress: bool
) -> list[tuple[Algorithm, list[float]]]:
    """Run all candidates in rounds, each in a new order; the first round is for warming up."""
    times: dict[int, list[float]] = {id(each): [] for each in candidates}
    racing = list(candidates)
    for turn in range(iterations + 1):
        order = random.sample(racing, len(racing))
        found = run(order)
        if turn:
            for each, elapsed in zip(order, found, strict=True):
                times[id(each)].append(elapsed)
        if turn == _ROUNDS_BEFORE_DROPPING:
            best = min(np.median(times[id(each)]) for each in racing)
            racing = [each for each in racing if np.median(times[id(each)]) <= _HOPELESS * best]
        if progress:
            end = "\n" if turn == iterations else ""
            print(
                f"\rautotuning: round {turn} of {iterations}, {len(racing)} candidates",
                end=end,
                file=sys.stderr,
                flush=True,
            )
    return [(each, times[id(each)]) for each in candidates]


@contextmanager
def _on_host(product: Matmul, stream: Any) -> Iterator[Run]:
    """Time what the CPU does, in scratch memory."""
    runner = product._runner(None)
    objs, ptrs = product._objs, product._ptrs
    if product._inplace:  # C is the third operand
        copy = product._adapter.tidy(objs[2])
        objs, ptrs = (*objs[:2], copy, *objs[3:]), (*ptrs[:2], product._adapter.pointer(copy), *ptrs[3:])

    def run(order: list[Algorithm]) -> list[float]:
        times = []
        for _ in order:
            begin = time.perf_counter()
            runner(objs, ptrs, stream, None)
            times.append((time.perf_counter() - begin) * 1e3)
        return times

    yield run


@contextmanager
def _on_gpu(product: Matmul, stream: Any, candidates: tuple[Algorithm, ...]) -> Iterator[Run]:
    """Time launches by events, with a cold cache, into scratch memory; nothing that the caller owns is written."""
    place, adapter, plan = product._place, product._adapter, product._plan_object
    assert isinstance(place, Cuda)
    device = place.device_id
    with place.current():
        handle = resolve(stream, adapter, device)
        if place.capturing(handle):
            raise RuntimeError(
                "A CUDA graph is being captured on the stream: autotune() has to wait for the GPU. Call it before."
            )
        with context(adapter, device, handle), _Scratch(product, handle, len(candidates)) as scratch:
            launches = {id(each): plan.launch(each) for each in candidates}

            def run(order: list[Algorithm]) -> list[float]:
                for each, (start, end) in zip(order, scratch.events, strict=False):
                    scratch.prepare()
                    driver.event_record(start, handle)
                    launches[id(each)](*scratch.pointers, scratch.target, handle)
                    driver.event_record(end, handle)
                place.wait(handle)
                pairs = zip(order, scratch.events, strict=False)
                return [driver.event_elapsed_time(start, end) for _, (start, end) in pairs]

            yield run


class _Scratch:
    """Memory, events and addresses of the runs of autotuning."""

    def __init__(self, product: Matmul, stream: int, count: int) -> None:
        assert isinstance(product._place, Cuda)
        self.count = count
        self.product, self.stream, self.device = product, stream, product._place.device_id
        self.owners: list[Any] = []
        self.events: list[tuple[int, int]] = []

    def _take(self, nbytes: int) -> int:
        ptr, owner = self.product._adapter.allocate(max(1, nbytes), self.device, self.stream)
        self.owners.append(owner)
        return ptr

    def __enter__(self) -> _Scratch:
        product, problem = self.product, self.product._problem
        try:
            self.flushed_nbytes = 2 * driver.device_get_attribute(driver.DeviceAttribute.L2_CACHE_SIZE, self.device)
            self.flushed = self._take(self.flushed_nbytes)
            self.pointers = list(self._operands())
            low, high = span(problem.out_shape, problem.out_strides)
            item = problem.d.dtype.itemsize
            self.copied_nbytes = (high + 1 - low) * item
            start = self._take(self.copied_nbytes)
            self.target, self.copy_to, self.copy_from = start - low * item, start, 0
            if problem.inplace:
                self.copy_from = self.pointers[2] + low * item
                self.pointers[2] = self.target
            outputs = product._outputs
            if outputs is not None:
                outputs.addresses[:] = [self._take(each.nbytes) for each in outputs.table]
            if product._workspace is not None:
                product._workspace.acquire(self.stream)
            for _ in range(self.count):
                self.events.append((driver.event_create(0), driver.event_create(0)))
        except BaseException as error:
            self.__exit__(error)
            raise
        return self

    def _operands(self) -> tuple[int, ...]:
        """The addresses of the operands, of tidy copies where the library cannot read them."""
        product = self.product
        if product._route.across or not any(product._route.untidy):
            return product._ptrs
        copies = [
            product._adapter.tidy(obj) if bad else obj
            for obj, bad in zip(product._objs, product._route.untidy, strict=True)
        ]
        self.owners.append(copies)
        return tuple(
            product._adapter.pointer(copy) if bad else ptr
            for copy, bad, ptr in zip(copies, product._route.untidy, product._ptrs, strict=True)
        )

    def prepare(self) -> None:
        """Restore C, if it was overwritten, and push everything out of the cache."""
        if self.copy_from:
            driver.memcpy_device_to_device_async(self.copy_to, self.copy_from, self.copied_nbytes, self.stream)
        driver.memset_d8_async(self.flushed, 0, self.flushed_nbytes, self.stream)

    def __exit__(self, *error: object) -> None:
        if any(error):  # work may be under way that nobody has waited for
            with suppress(driver.CudaError):
                Cuda.wait(self.stream)
        for pair in self.events:
            for event in pair:
                driver.event_destroy(event)
        self.events.clear()
        if self.product._workspace is not None:
            self.product._workspace.used(self.stream)
        self.owners.clear()
