"""Products on a GPU through cuBLASLt."""

from __future__ import annotations

import struct
import threading
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any, Final

from ..._core import kernels
from ..._core.arrays import Adapter
from ..._core.attributes import Cell, put
from ..._core.fork import children
from ..._core.memory_limit import bytes_of
from ..._core.place import Cuda, discard
from ..._core.route import Launch
from ..._enums import CudaDataType
from ...bindings import _cuda as driver
from ...bindings import cublasLt
from ._gemm import Capability, Gemm, Move, Side, lower
from ._options import NO_EPILOG, MatmulComputeType, MatmulEpilog, MatmulOptions, MatmulPlanPreferences
from ._problem import MatmulProblem
from ._scalars import Scalars

CAPABILITY: Final = Capability(separate_addend=True, single_batch=True, column_epilogs=True)

_DESC: Final = cublasLt.MatmulDescAttribute
_LAYOUT: Final = cublasLt.MatrixLayoutAttribute
_PREFERENCE: Final = cublasLt.MatmulPreferenceAttribute
_NOT_SUPPORTED: Final = 15
_N, _T, _C = 0, 1, 2
_ROW: Final = 1
_RESULT: Final = struct.Struct("=8QQif4i")
_SMALL: Final = 1 << 21
"""Multiplications up to which no workspace is wanted: taking and ordering it costs the host more than the GPU gains."""
_SOMEWHERE: Final = 1 << 20
"""Stands for a pointer while an algorithm is chosen: the library looks at its alignment only."""

_handles: dict[int, int] = {}
_lock = threading.Lock()


def handle_of(place: Cuda) -> int:
    """Return our handle of a device: it holds no state, so all threads share it, and it lives as long as the process."""
    handle = _handles.get(place.device_id)
    if handle is None:
        with _lock, place.current():
            handle = _handles.get(place.device_id)
            if handle is None:
                handle = _handles[place.device_id] = cublasLt.create()
    return handle


class _Handles:
    """Forgets the parent's handles in a forked child."""

    def after_fork(self) -> None:
        _handles.clear()


_heir: Final = _Handles()
children.inherited.add(_heir)


@dataclass(slots=True)
class Choice:
    """An algorithm that the library proposed, in the memory of its proposals."""

    address: int
    workspace_nbytes: int
    waves: float


class CublasLtPlan:
    """The descriptors of one problem and the algorithm for it; nothing but a bias pointer is set from call to call."""

    def __init__(
        self,
        problem: MatmulProblem,
        names: tuple[str, ...],
        scalars: Scalars,
        place: Cuda,
        adapter: Adapter,
        options: MatmulOptions,
        preferences: MatmulPlanPreferences,
    ) -> None:
        self.problem, self.names, self.scalars, self.place, self.adapter = problem, names, scalars, place, adapter
        self.workspace = self.workspace_nbytes = self.nbytes = 0
        self.owned: list[tuple[Callable[[int], Any], int]] = []
        self.gemm = None if problem.empty else lower(problem, CAPABILITY)
        if self.gemm is None:
            return
        try:
            with place.current():
                self.handle = options.handle or handle_of(place)
                self._describe(self.gemm, options)
                self._choose(self.gemm, options, preferences)
        except BaseException:
            self.close()
            raise

    def _own(self, destroy: Callable[[int], Any], number: int) -> int:
        self.owned.append((destroy, number))
        return number

    # --- descriptors ------------------------------------------------------------------------------------------------------------

    def _describe(self, gemm: Gemm, options: MatmulOptions) -> None:
        problem, count = self.problem, prod(gemm.extents)
        desc = self.desc = self._own(
            cublasLt.matmul_desc_destroy, cublasLt.matmul_desc_create(problem.compute_type, problem.scale_type)
        )  # fmt: skip
        setter = cublasLt.matmul_desc_set_attribute
        k = max(1, gemm.k)  # of nothing to sum up, the library gets one zero
        sides = (gemm.first, gemm.m, k), (gemm.second, k, gemm.n)
        layouts = []
        for (side, rows, cols), attribute in zip(sides, (_DESC.TRANSA, _DESC.TRANSB), strict=True):
            operation, shape, order, ld = _reading(side, rows, cols)
            if problem.k == 0:
                operation, shape, order, ld = _N, (rows, cols), 0, rows
            put(setter, desc, attribute, "i", operation)
            steps = () if problem.k == 0 else side.steps
            layouts.append(self._layout(side.matrix.dtype.code, shape, ld, order, count, steps))
        target = self._layout(
            gemm.target.matrix.dtype.code, (gemm.m, gemm.n), gemm.target.ld, 0, count, gemm.target.steps
        )
        addend = target
        if gemm.addend is not None and gemm.addend != gemm.target:
            addend = self._layout(
                gemm.addend.matrix.dtype.code, (gemm.m, gemm.n), gemm.addend.ld, 0, count, gemm.addend.steps
            )  # fmt: skip
        self.layouts = (*layouts, addend, target)
        if problem.epilog is not NO_EPILOG:
            put(setter, desc, _DESC.EPILOGUE, "I", problem.epilog.code)
        self.bias: Cell | None = None
        if gemm.bias is not None:
            self._describe_bias(gemm.bias)
        if options.sm_count_target:
            put(setter, desc, _DESC.SM_COUNT_TARGET, "i", options.sm_count_target)
        if options.fast_accumulation:
            put(setter, desc, _DESC.FAST_ACCUM, "b", 1)

    def _describe_bias(self, bias: Side) -> None:
        setter, desc = cublasLt.matmul_desc_set_attribute, self.desc
        if bias.matrix.dtype is not self.problem.d.dtype:
            put(setter, desc, _DESC.BIAS_DATA_TYPE, "i", bias.matrix.dtype.code)
        if bias.steps:
            put(setter, desc, _DESC.BIAS_BATCH_STRIDE, "q", bias.steps[0])
        self.bias = Cell(setter, desc, _DESC.BIAS_POINTER, _SOMEWHERE + bias.matrix.alignment % 16)

    def _layout(
        self, code: int, shape: tuple[int, int], ld: int, order: int, count: int, steps: tuple[int, ...]
    ) -> int:
        layout = self._own(cublasLt.matrix_layout_destroy, cublasLt.matrix_layout_create(code, *shape, ld))
        setter = cublasLt.matrix_layout_set_attribute
        if order:
            put(setter, layout, _LAYOUT.ORDER, "i", order)
        if count != 1:
            put(setter, layout, _LAYOUT.BATCH_COUNT, "i", count)
            put(setter, layout, _LAYOUT.STRIDED_BATCH_OFFSET, "q", steps[0] if steps else 0)
        return layout

    # --- the algorithm ----------------------------------------------------------------------------------------------------------

    def _choose(self, gemm: Gemm, options: MatmulOptions, preferences: MatmulPlanPreferences) -> None:
        """Ask for algorithms: for a small product first for those without a workspace, which would cost more than it saves."""
        most = bytes_of(options.memory_limit, driver.device_total_mem(self.place.device_id))
        work = gemm.m * gemm.n * gemm.k * prod(gemm.extents)
        self.choices: list[Choice] = []
        for limit in (0, most) if work <= _SMALL else (most,):
            try:
                self._ask(gemm, preferences, limit)
            except cublasLt.cuBLASLtError as error:
                if error.status != _NOT_SUPPORTED:
                    raise
                if limit == most:
                    error.add_note(self._unsupported())
                    raise
            if self.choices:
                break
        if not self.choices:
            raise RuntimeError(f"cuBLASLt has no algorithm. {self._unsupported()}")
        self.workspace_nbytes = self.choices[0].workspace_nbytes

    def _ask(self, gemm: Gemm, preferences: MatmulPlanPreferences, workspace_nbytes: int) -> None:
        limit = preferences.limit or 1
        results, count = array("Q", bytes(_RESULT.size * limit)), array("i", [0])
        start = results.buffer_info()[0]
        preference = cublasLt.matmul_preference_create()
        try:
            self._prefer(preference, gemm, preferences, workspace_nbytes)
            cublasLt.matmul_algo_get_heuristic(
                self.handle, self.desc, *self.layouts, preference, limit, start, count.buffer_info()[0]
            )  # fmt: skip
        finally:
            cublasLt.matmul_preference_destroy(preference)
        self.results = results  # the memory of the choices
        for offset in range(0, count[0] * _RESULT.size, _RESULT.size):
            fields = _RESULT.unpack_from(results, offset)
            if fields[9] == 0:
                self.choices.append(Choice(start + offset, fields[8], fields[10]))

    def _prefer(self, preference: int, gemm: Gemm, preferences: MatmulPlanPreferences, workspace_nbytes: int) -> None:
        setter = cublasLt.matmul_preference_set_attribute
        put(setter, preference, _PREFERENCE.MAX_WORKSPACE_BYTES, "Q", workspace_nbytes)
        put(setter, preference, _PREFERENCE.REDUCTION_SCHEME_MASK, "I", preferences.reduction_scheme_mask)
        put(setter, preference, _PREFERENCE.MAX_WAVES_COUNT, "f", preferences.max_waves_count)
        put(setter, preference, _PREFERENCE.IMPL_MASK, "Q", preferences.numerical_impl_mask)
        sides = gemm.first, gemm.second, gemm.addend or gemm.target, gemm.target
        for attribute, side in zip(_ALIGNMENTS, sides, strict=True):
            put(setter, preference, attribute, "I", _alignment(side, prod(gemm.extents)))

    def _unsupported(self) -> str:
        problem = self.problem
        version = cublasLt.get_version()
        return (
            f"cuBLASLt {version // 10000}.{version // 100 % 100}.{version % 100} does not support this product: {problem}. "
            f"Operands {CudaDataType(problem.a.dtype.code).name}, C {None if problem.c is None else problem.c.dtype}, result "
            f"{problem.d.dtype}; compute type {MatmulComputeType(problem.compute_type).name}, epilog "
            f"{MatmulEpilog(problem.epilog.code).name}. Leave the epilog, result_type or compute_type out, or pass execution='cpu'."
        )

    # --- launching --------------------------------------------------------------------------------------------------------------

    def attach(self, workspace: int) -> None:
        """Use a workspace from now on."""
        self.workspace = workspace

    def launch(self) -> Launch:
        """Return the function that computes the product on a stream."""
        gemm = self.gemm
        if gemm is None:
            return lambda *pointers: None
        inner = self._direct(gemm)
        if gemm.loads or gemm.fill or gemm.store or self.problem.k == 0:
            with self.place.current():
                return self._stepwise(gemm, inner)
        return inner

    def _direct(self, gemm: Gemm) -> Launch:
        """The product over operands as they are: one foreign call, and a bias pointer when it has changed."""
        matmul, handle, desc, (alpha, beta) = cublasLt.matmul, self.handle, self.desc, self.scalars.addresses
        la, lb, lc, ld = self.layouts
        algorithm, nbytes = self.choices[0].address, self.workspace_nbytes
        bias = self.bias
        plan = self

        def plain(a: int, b: int, d: int, stream: int) -> None:
            matmul(handle, desc, alpha, a, la, b, lb, beta, d, lc, d, ld, algorithm, plan.workspace, nbytes, stream)

        def plain_swapped(a: int, b: int, d: int, stream: int) -> None:
            matmul(handle, desc, alpha, b, la, a, lb, beta, d, lc, d, ld, algorithm, plan.workspace, nbytes, stream)

        def added(a: int, b: int, c: int, d: int, stream: int) -> None:
            matmul(handle, desc, alpha, a, la, b, lb, beta, c, lc, d, ld, algorithm, plan.workspace, nbytes, stream)

        def added_swapped(a: int, b: int, c: int, d: int, stream: int) -> None:
            matmul(handle, desc, alpha, b, la, a, lb, beta, c, lc, d, ld, algorithm, plan.workspace, nbytes, stream)

        if bias is None:
            functions = (plain, plain_swapped, added, added_swapped)
            return functions[gemm.swapped + 2 * (self.problem.c is not None)]
        set_bias = bias.set

        def biased(a: int, b: int, vector: int, d: int, stream: int) -> None:
            if vector != bias.value:
                set_bias(vector)
            matmul(handle, desc, alpha, a, la, b, lb, beta, d, lc, d, ld, algorithm, plan.workspace, nbytes, stream)

        def added_biased(a: int, b: int, c: int, vector: int, d: int, stream: int) -> None:
            if vector != bias.value:
                set_bias(vector)
            matmul(handle, desc, alpha, a, la, b, lb, beta, c, lc, d, ld, algorithm, plan.workspace, nbytes, stream)

        assert not gemm.swapped
        return biased if self.problem.c is None else added_biased

    def _stepwise(self, gemm: Gemm, inner: Launch) -> Launch:
        """Copies of what the library cannot read, the product, the copy of what it cannot write."""
        index = {name: position for position, name in enumerate(self.names)}
        loads = [(index[name], self._mover(move), move.nbytes) for name, move in gemm.loads]
        fill = None if gemm.fill is None else self._mover(gemm.fill)
        store, target_nbytes = (None, 0) if gemm.store is None else (self._mover(gemm.store), gemm.store.nbytes)
        zero_nbytes = max(gemm.m, gemm.n) * self.problem.a.dtype.itemsize if self.problem.k == 0 else 0
        addend, device, allocate = index.get("c"), self.place.device_id, self.adapter.allocate

        def run(*arguments: int) -> None:
            *operands, result, stream = arguments
            owners = []
            for position, move, nbytes in loads:
                pointer, owner = allocate(nbytes, device, stream)
                owners.append(owner)
                move(operands[position], pointer, stream)
                operands[position] = pointer
            if zero_nbytes:
                pointer, owner = allocate(zero_nbytes, device, stream)
                owners.append(owner)
                driver.memset_d8_async(pointer, 0, zero_nbytes, stream)
                operands[0] = operands[1] = pointer
            target = result
            if store is not None:
                target, owner = allocate(target_nbytes, device, stream)
                owners.append(owner)
            if fill is not None:
                assert addend is not None
                fill(operands[addend], target, stream)
                operands[addend] = target
            inner(*operands, target, stream)
            if store is not None:
                store(target, result, stream)

        return run

    def _mover(self, move: Move) -> Callable[[int, int, int], None]:
        return kernels.move(
            self.place.device_id, move.shape, move.in_strides, move.out_strides, move.source.dtype, move.target.dtype
        )  # fmt: skip

    def close(self) -> None:
        """Queue the descriptors for destruction."""
        owned, self.owned = self.owned, []
        for destroy, number in owned:
            discard(destroy, number)

    def __del__(self) -> None:
        self.close()


_ALIGNMENTS: Final = (
    _PREFERENCE.MIN_ALIGNMENT_A_BYTES, _PREFERENCE.MIN_ALIGNMENT_B_BYTES, _PREFERENCE.MIN_ALIGNMENT_C_BYTES,
    _PREFERENCE.MIN_ALIGNMENT_D_BYTES,
)  # fmt: skip


def _alignment(side: Side, count: int) -> int:
    """The multiple of bytes at which every matrix of a batch begins."""
    step = abs(side.steps[0]) * side.matrix.dtype.itemsize if side.steps and count > 1 else 0
    return min(side.matrix.alignment, step & -step or 16)


def _reading(side: Side, rows: int, cols: int) -> tuple[int, tuple[int, int], int, int]:
    """Return operation, stored shape, order and leading dimension of an operand of `rows` x `cols`.

    There is no operation that conjugates only: such a matrix is described as the conjugate transpose of the row-major matrix over
    the same memory.
    """
    conj = side.matrix.conj and side.matrix.dtype.kind == "c"
    if side.transposed:
        return (_C if conj else _T), (cols, rows), 0, side.ld
    if conj:
        return _C, (cols, rows), _ROW, side.ld
    return _N, (rows, cols), 0, side.ld
