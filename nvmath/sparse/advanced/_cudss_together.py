"""All systems of a batch in one object of cuDSS, which factorizes and solves them at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ..._core.arrays import Adapter
from ..._core.place import Cuda
from ..._core.staging import upload
from ...bindings import cudss
from ._condition import LARGEST_ERROR
from ._config import CudssConfig
from ._cuda_batch import Packed, gather, runs
from ._cuda_matrix import DeviceMatrix, Pointers
from ._cuda_residual import Residual
from ._cudss_handle import Lease
from ._cudss_system import ANALYSIS, FACTORIZATION, CudssSystem
from ._options import DirectSolverMatchingAlg as Matching
from ._options import DirectSolverMatrixType as Kind
from ._options import DirectSolverReorderingAlg as Reordering
from ._options import HybridMemoryModeOptions
from ._problem import SystemProblem
from ._residual import Judgement, worst
from ._sides import Side

_ORDERINGS: Final = (Reordering.DEFAULT, Reordering.AMD, Reordering.NESTED_DISSECTION, Reordering.NONE)


def serves(problem: SystemProblem, config: CudssConfig, memory: HybridMemoryModeOptions, hybrid: bool) -> bool:
    """Whether cuDSS (0.8) can take the systems at once, if they have one pattern. All others are taken one by one."""
    first = problem.matrices[0]
    return (
        len(problem.matrices) > 1
        and not (hybrid or memory.hybrid_memory_mode)
        and all((one.n, one.counts, one.format) == (first.n, first.counts, "csr") for one in problem.matrices)
        and problem.offsets.name == problem.indices.name == "int32"
        and not (problem.kind is Kind.SYMMETRIC and problem.dtype.kind == "c")
        and config.get("matching_algorithm") is Matching.NONE
        and config.get("reordering_algorithm") in _ORDERINGS
    )


class Together:
    """Systems of one pattern.

    Which of them cuDSS factorized well it does not tell: each is tried on a solution that is known. Of several columns cuDSS 0.8 was
    reported to solve the first ones only, so it gets one column of every system at a time.

    Parameters
    ----------
    problem : SystemProblem
        The systems.
    place, adapter
        The GPU, and the package that gives memory.
    config : CudssConfig
        Settings of the phases.
    lease : Lease
        The handle of cuDSS, and the order of the calls of the solver.
    """

    def __init__(
        self, problem: SystemProblem, place: Cuda, adapter: Adapter, config: CudssConfig, lease: Lease
    ) -> None:
        self.problem, self.place, self.adapter, self.config = problem, place, adapter, config
        self.n, self.count, self._item = problem.matrices[0].n, len(problem.matrices), problem.dtype.itemsize
        self.nbytes = 0
        self._matrix = DeviceMatrix(problem, problem.matrices[0], place, adapter, lease.order, False)
        self._residual: Residual | None = None
        self._buffers: dict[str, tuple[int, int, Any]] = {}
        self._order = lease.order
        self._system = CudssSystem(self.n, problem.dtype.code, place, config, lease, HybridMemoryModeOptions())

    # --- phases -----------------------------------------------------------------------------------------------------------------------

    def analyse(self, ptrs: Pointers, stream: int, host: Pointers | None) -> bool:
        """Plan the factorization, if the systems have one pattern which cuDSS reads as it is; tell whether it did."""
        matrix, system = self._matrix, self._system
        self._forget()
        try:
            matrix.analyse(ptrs, stream, host)
        except ValueError:  # one by one, the text says which it is
            return False
        if not (matrix.nnz and matrix.as_given and self.accepts(ptrs, stream, host)):
            return False
        types, part = matrix.judged_as
        hermitian = self.problem.kind in (Kind.HERMITIAN, Kind.HPD)
        self._residual = Residual(
            self.n, self.problem.dtype, types, hermitian, part, self.place, self.adapter, matrix.order
        )
        try:
            system.batch(self.count)
            system.describe(matrix, self._read(ptrs, stream))
            system.prepare(ANALYSIS, ptrs[self.problem.sides[0].slot])
        except cudss.cuDSSError:
            return False
        self.nbytes = self.memory().get("permanent_device_memory", 0)
        return True

    def accepts(self, ptrs: Pointers, stream: int, host: Pointers | None) -> bool:
        """Whether all systems have the pattern that was planned."""
        first, matrices = self._matrix, self.problem.matrices
        if host is not None:
            return all(first.equals(*first.pattern_of(matrix, host)) for matrix in matrices)
        raw = [first.raw_of(matrix, ptrs) for matrix in matrices]
        types, counts = (self.problem.offsets, self.problem.indices), matrices[0].counts
        pieces = [runs([one[i] for one in raw], counts[i] * types[i].itemsize) for i in range(2)]
        return first.repeats(pieces, stream)

    def _read(self, ptrs: Pointers, stream: int) -> tuple[int, int, int]:
        """Addresses of the pattern, and of the values of all systems."""
        first, nbytes = self._matrix, self._matrix.nnz * self._item
        offsets, columns, _ = first.raw(ptrs)
        pieces = runs([first.raw_of(matrix, ptrs)[2] for matrix in self.problem.matrices], nbytes)
        if len(pieces) == 1:
            return offsets, columns, pieces[0][0]
        values = self._buffer("values", self.count * nbytes, stream)
        gather(pieces, nbytes, values, stream)
        return offsets, columns, values

    def factorize(self, ptrs: Pointers, stream: int) -> list[int]:
        """Factorize the present values. Blocks; return the systems that must be taken by themselves."""
        system, everyone = self._system, list(range(self.count))
        read = self._read(ptrs, stream)
        try:
            system.batch(self.count)
            system.point(read)
            system.prepare(FACTORIZATION, ptrs[self.problem.sides[0].slot])
            self.place.wait(stream)
            return [
                i for i, error in enumerate(self._errors(read, stream)) if not error <= LARGEST_ERROR
            ]  # NaN as well
        except cudss.cuDSSError:
            return everyone

    def _errors(self, read: tuple[int, int, int], stream: int) -> list[float]:
        """Solve for a solution that is known, and return its largest error for each system."""
        assert self._residual is not None
        nbytes = self.n * self._item
        known = self._buffer("known", nbytes, stream)
        signs = np.where(np.random.default_rng(0).random(self.n) < 0.5, -1, 1).astype(self.problem.dtype.name)
        upload(signs.ctypes.data, known, nbytes, stream)
        found = self._buffer("x", self.count * nbytes, stream)
        b = self._residual.product(read, known, self.count, stream, self._several)
        self._system.solve((found, self.n), (b, self.n), 1)
        return self._residual.distances(found, known, self.count, stream)

    @property
    def _several(self) -> tuple[int, int]:
        return self.count, self._matrix.nnz

    # --- solutions --------------------------------------------------------------------------------------------------------------------

    def solver(self, sides: Sequence[Side]) -> Callable[[Pointers, int, int], None]:
        """Return the function that solves for right-hand sides of one shape: addresses of the operands, the result and the stream."""
        device, dtype, columns = self.place.device_id, self.problem.dtype, sides[0].b.count
        ins, outs = Packed(device, sides, False, dtype), Packed(device, sides, True, dtype)
        step = self.count * self.n * self._item

        def run(ptrs: Pointers, x_ptr: int, stream: int) -> None:
            assert self._residual is not None
            read = self._read(ptrs, stream)
            b, x = ins.where(ptrs), outs.where((x_ptr,))
            if not b:
                b = self._buffer("b", ins.total, stream)
                ins.pack(ptrs, b, stream)
            target = x or self._buffer("x", outs.total, stream)
            self._system.point(read)
            for column in range(columns):
                self._system.solve((target + column * step, self.n), (b + column * step, self.n), 1)
            self._residual.launch(read, target, self.n, b, self.n, columns * self.count, stream, self._several)
            if not x:
                outs.unpack(target, (x_ptr,), stream)

        return run

    def read(self, stream: int) -> list[Judgement]:
        """Wait, and tell how good the last solution of each system is."""
        assert self._residual is not None
        found = self._residual.read_each(stream)
        return [worst(found[i :: self.count]) for i in range(self.count)]

    def memory(self) -> dict[str, int]:
        """Estimates of memory, in bytes, if cuDSS makes any of a batch."""
        try:
            return self._system.data.memory()  # type: ignore[no-any-return]
        except cudss.cuDSSError:
            return {}

    # --- memory -----------------------------------------------------------------------------------------------------------------------

    def _buffer(self, name: str, nbytes: int, stream: int) -> int:
        """Memory that is kept for the next call."""
        ptr, size, _ = self._buffers.get(name, (0, 0, None))
        if size < nbytes:
            self._drop(name)
            ptr, owner = self.adapter.allocate(nbytes, self.place.device_id, stream)
            self._buffers[name] = ptr, nbytes, owner
        return ptr

    def _drop(self, name: str) -> None:
        _, _, owner = self._buffers.pop(name, (0, 0, None))
        if owner is not None:
            self._order.discard(list.clear, [owner])

    def _forget(self) -> None:
        for name in list(self._buffers):
            self._drop(name)
        residual, self._residual = self._residual, None
        if residual is not None:
            residual.close()

    def close(self) -> None:
        """Queue everything for destruction, and give the handle back."""
        self._forget()
        self._matrix.close()
        self._system.close()
