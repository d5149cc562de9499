"""One system in cuDSS: its handle, settings, factors and descriptors, and the calls of its phases."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from ..._core import memory_limit
from ..._core.dtypes import DType
from ..._core.place import Cuda, discard
from ...bindings import _cuda as driver
from ...bindings import cudss
from ._config import CudssConfig
from ._cuda_matrix import DeviceMatrix
from ._cudss_data import CudssData
from ._cudss_handle import Lease
from ._options import DirectSolverMatchingAlg as Matching
from ._options import HybridMemoryModeOptions

ANALYSIS, FACTORIZATION, SOLVE = 3, 4, 1008
_COLUMN_MAJOR: Final = 0
_MEMORY_MODE, _MEMORY_LIMIT, _REGISTER, _BATCH_SIZE = (11, "i", 4), (12, "q", 8), (13, "i", 4), (18, "i", 4)
_SOLVE_MODE: Final = (4, "i", 4)
_TRANSPOSES: Final = (1, 0)
"""From this version on cuDSS solves with the transpose as well; 0.8 knows the setting, and no value of it but 0."""


class CudssSystem:
    """A system; it knows addresses, and nothing of what is good enough.

    Parameters
    ----------
    n, code : int
        Number of equations, and what CUDA calls the dtype.
    place : Cuda
        The GPU.
    config : CudssConfig
        Settings of the solver, which may be changed between phases.
    lease : Lease
        The handle.
    memory : HybridMemoryModeOptions
        Whether factors may be kept in host memory.
    """

    def __init__(
        self, n: int, code: int, place: Cuda, config: CudssConfig, lease: Lease, memory: HybridMemoryModeOptions
    ) -> None:
        self.n, self.code, self.place, self.memory = n, code, place, memory
        self.settings = config
        self._config = config  # or a copy with matching
        self.lease: Lease | None = lease.share()
        self._matrix = 0
        self._pointed: tuple[int, ...] = ()  # where the descriptor of the matrix points to
        self._sides: dict[tuple[int, int, int], list[int]] = {}  # descriptors of x and b, and where they point to
        self.data: Any = None
        try:
            self.data = CudssData(lease)
            self._allow_host_memory()
        except BaseException:
            self.close()
            raise

    def _allow_host_memory(self) -> None:
        """Say that factors may be kept in host memory."""
        memory = self.memory
        if memory.hybrid_memory_mode:
            self._config.put(_MEMORY_MODE, 1)
            self._config.put(_REGISTER, int(memory.register_cuda_memory))
            if memory.hybrid_device_memory_limit is not None:
                total = driver.device_total_mem(driver.device_get(self.place.device_id))
                limit = memory_limit.bytes_of(memory.hybrid_device_memory_limit, total, "hybrid_device_memory_limit")
                self._config.put(_MEMORY_LIMIT, limit)

    # --- matching ---------------------------------------------------------------------------------------------------------------------

    @property
    def may_match(self) -> bool:
        """Whether large elements have not been brought to the diagonal yet."""
        unmatched = self._config is self.settings
        return unmatched and self.settings.get("matching_algorithm") in (Matching.NONE, Matching.AUTO)

    def match(self) -> None:
        """From now on bring large elements to the diagonal, whatever the settings of the solver say."""
        self._config = self.settings.twin()
        self._allow_host_memory()
        self._config.set("matching_algorithm", Matching.MAX_DIAG_PRODUCT)

    def batch(self, count: int) -> None:
        """From now on the values, b and x of so many systems lie one behind the other; the other settings are those of now."""
        self.unmatch()
        self._config = self.settings.twin()
        self._config.put(_BATCH_SIZE, count)

    def unmatch(self) -> None:
        """Use the settings of the solver again."""
        if self._config is not self.settings:
            self._config.close()
            self._config = self.settings

    @staticmethod
    def may_transpose() -> bool:
        """Whether cuDSS solves with the transpose of a matrix that is factorized."""
        return tuple(cudss.get_property(part) for part in range(2)) >= _TRANSPOSES

    @contextmanager
    def transposing(self) -> Iterator[None]:
        """Solve with the transpose meanwhile."""
        self._config.put(_SOLVE_MODE, 1)
        try:
            yield
        finally:
            self._config.put(_SOLVE_MODE, 0)

    # --- descriptors and phases ---------------------------------------------------------------------------------------------------------

    def describe(self, matrix: DeviceMatrix, read: tuple[int, int, int]) -> None:
        """Make the descriptor of a matrix with another pattern."""
        self._drop_descriptors()
        self.data.indices, self._pointed = matrix.indices, read
        self._matrix = cudss.matrix_create_csr(
            self.n, self.n, matrix.nnz, read[0], 0, read[1], read[2], matrix.offsets.code, matrix.indices.code, self.code,
            int(matrix.kind), int(matrix.part), 0,
        )  # fmt: skip

    def point(self, read: tuple[int, int, int]) -> None:
        """Let the descriptor of the matrix point to arrays of the same pattern."""
        if read != self._pointed:
            cudss.matrix_set_csr_pointers(self._matrix, read[0], 0, read[1], read[2])
            self._pointed = read

    def sides(self, x: int, x_ld: int, b: int, b_ld: int, count: int) -> tuple[int, int]:
        """The descriptors of x and b with some leading dimensions, at some addresses: what has not moved is not set again."""
        key = x_ld, b_ld, count
        made = self._sides.get(key)
        if made is None or not made[2]:
            made = self._sides[key] = made or [0, 0, 0, 0]
            for i, ptr, ld in ((0, x, x_ld), (2, b, b_ld)):
                if not made[i]:
                    made[i : i + 2] = cudss.matrix_create_dn(self.n, count, ld, ptr, self.code, _COLUMN_MAJOR), ptr
        if made[1] != x:
            cudss.matrix_set_values(made[0], x)
            made[1] = x
        if made[3] != b:
            cudss.matrix_set_values(made[2], b)
            made[3] = b
        return made[0], made[2]

    def info(self, name: str, dtype: DType) -> Any:
        """Return a piece of information."""
        assert self.lease is not None
        self.lease.ready()
        return self.data.info(name, self.n, dtype)

    @property
    def state(self) -> Any:
        """Compares equal as long as a solution that was captured may be done again; None if none may be captured."""
        if self.lease is None or self._config is not self.settings:
            return None
        return self.lease.epoch, self.settings.version

    @property
    def repeats(self) -> bool:
        """Whether nobody else uses the handle, and factors are where they are."""
        return self.lease is not None and self.lease.own and not self.memory.hybrid_memory_mode

    def execute(self, phase: int, x: int, b: int, what: object = None) -> None:
        """Queue a phase on the stream of the solver; `what` tells solutions of one kind."""
        lease = self.lease
        assert lease is not None
        lease.asked(what)
        handle = lease.handle if lease.own else lease.ready()
        cudss.execute(handle, phase, self._config.handle, self.data.data, self._matrix, x, b)

    def prepare(self, phase: int, ptr: int) -> None:
        """Queue a phase that does not touch x and b; any address does for them."""
        self.execute(phase, *self.sides(ptr, self.n, ptr, self.n, 1))

    def solve(
        self, x: tuple[int, int], b: tuple[int, int], count: int, *, each: int = 0, steps: int | None = None
    ) -> None:
        """Queue a solution.

        Parameters
        ----------
        x, b : tuple of int
            Address and leading dimension.
        count : int
            Number of columns.
        each : int
            Bytes of an element where cuDSS is to take one column at a time, else 0.
        steps : int, optional
            Steps of refinement, by default as the settings say.
        """
        usual = None
        if steps is not None or self._config is not self.settings:
            usual = self.settings.get("ir_num_steps")
            self._config.set("ir_num_steps", usual if steps is None else steps)
        try:
            if not each:
                what = None if usual is not None else (self._matrix, x[1], b[1], count)
                self.execute(SOLVE, *self.sides(*x, *b, count), what)
                return
            (x_ptr, x_ld), (b_ptr, b_ld) = x, b
            for column in range(count):
                begin = column * each
                self.execute(SOLVE, *self.sides(x_ptr + begin * x_ld, x_ld, b_ptr + begin * b_ld, b_ld, 1))
        finally:
            if usual is not None:
                self._config.set("ir_num_steps", usual)

    # --- the end ----------------------------------------------------------------------------------------------------------------------

    def _drop_descriptors(self) -> None:
        for made in (*(made for pair in self._sides.values() for made in pair[::2]), self._matrix):
            if made:
                discard(cudss.matrix_destroy, made)
        self._sides.clear()
        self._matrix = 0

    def close(self) -> None:
        """Queue everything for destruction, and give the handle back."""
        lease, self.lease = self.lease, None
        if lease is None:
            return
        self._drop_descriptors()
        if self.data is not None:
            self.data.close()
        self.unmatch()
        lease.close()
