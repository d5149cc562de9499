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

CAPABILITY: Final = Capability(separate_addend=True, single_batch=True, column_epilogs=True, lone_conj=False)

_DESC: Final = cublasLt.MatmulDescAttribute
_LAYOUT: Final = cublasLt.MatrixLayoutAttribute
_PREFERENCE: Final = cublasLt.MatmulPreferenceAttribute
_NOT_SUPPORTED: Final = 15
_N, _T, _C = 0, 1, 2
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
    memory: array[int]


@dataclass(slots=True)
class Form:
    """How the factors are read, and the algorithm for that."""

    alpha: int
    layouts: tuple[int, int]
    choice: Choice
    workspace: int = 0


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
        self.options, self.preferences = options, preferences
        self.workspace_nbytes = self.nbytes = 0
        self.form: Form | None = None
        self.idle: Form | None = None
        self.owned: list[tuple[Callable[[int], Any], int]] = []
        self.gemm = None if problem.empty else lower(problem, CAPABILITY)
        if self.gemm is None:
            return
        try:
            with place.current():
                self.handle = options.handle or handle_of(place)
                self._describe(self.gemm, options)
                if problem.k == 0:
                    self.idle = self._idle_form(self.gemm)
                else:
                    self.form = self._form(self.gemm, scalars.addresses[0], self.factors, self.gemm.k)
                    self.workspace_nbytes = self.form.choice.workspace_nbytes
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
        factors = [0, 0]  # there are none of nothing to sum up
        sides = (gemm.first, gemm.m, gemm.k), (gemm.second, gemm.k, gemm.n)
        for index, (side, rows, cols) in enumerate(sides):
            put(setter, desc, (_DESC.TRANSA, _DESC.TRANSB)[index], "i", _operation(side))
            if gemm.k:
                shape = (cols, rows) if side.transposed else (rows, cols)
                factors[index] = self._layout(side.matrix.dtype.code, shape, side.ld, count, side.steps)
        self.factors = factors[0], factors[1]
        target = self._layout(gemm.target.matrix.dtype.code, (gemm.m, gemm.n), gemm.target.ld, count, gemm.target.steps)
        addend = target
        if gemm.addend is not None and gemm.addend != gemm.target:
            addend = self._layout(
                gemm.addend.matrix.dtype.code, (gemm.m, gemm.n), gemm.addend.ld, count, gemm.addend.steps
            )  # fmt: skip
        self.results = addend, target
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

    def _layout(self, code: int, shape: tuple[int, int], ld: int, count: int, steps: tuple[int, ...]) -> int:
        layout = self._own(cublasLt.matrix_layout_destroy, cublasLt.matrix_layout_create(code, *shape, ld))
        setter = cublasLt.matrix_layout_set_attribute
        if count != 1:
            put(setter, layout, _LAYOUT.BATCH_COUNT, "i", count)
            put(setter, layout, _LAYOUT.STRIDED_BATCH_OFFSET, "q", steps[0] if steps else 0)
        return layout

    # --- the algorithm ----------------------------------------------------------------------------------------------------------

    def _form(self, gemm: Gemm, alpha: int, factors: tuple[int, int], k: int) -> Form:
        """Ask for algorithms: for a small product first for those without a workspace, which would cost more than it saves."""
        most = bytes_of(self.options.memory_limit, driver.device_total_mem(self.place.device_id))
        work = gemm.m * gemm.n * k * prod(gemm.extents)
        choices: list[Choice] = []
        for limit in (0, most) if work <= _SMALL or k == 1 else (most,):
            try:
                choices = self._ask(gemm, factors, limit)
            except cublasLt.cuBLASLtError as error:
                if error.status != _NOT_SUPPORTED:
                    raise
                if limit == most:
                    error.add_note(self._unsupported())
                    raise
            if choices:
                return Form(alpha, factors, choices[0])
        raise RuntimeError(f"cuBLASLt has no algorithm. {self._unsupported()}")

    def _idle_form(self, gemm: Gemm) -> Form:
        """Make the form for a product of factors that do not count: one column of zeros times one row of zeros.

        The library is never called with alpha = 0 or K = 0: it may then take the work for done and leave C and the epilog out.
        """
        count, code, (m, n) = prod(gemm.extents), self.problem.a.dtype.code, (gemm.m, gemm.n)
        first = (1, m) if gemm.first.transposed else (m, 1)
        second = (n, 1) if gemm.second.transposed else (1, n)
        factors = self._layout(code, first, first[0], count, ()), self._layout(code, second, second[0], count, ())
        return self._form(gemm, self.scalars.unit, factors, 1)

    def _ask(self, gemm: Gemm, factors: tuple[int, int], workspace_nbytes: int) -> list[Choice]:
        limit = self.preferences.limit or 1
        results, count = array("Q", bytes(_RESULT.size * limit)), array("i", [0])
        start = results.buffer_info()[0]
        preference = cublasLt.matmul_preference_create()
        try:
            self._prefer(preference, gemm, self.preferences, workspace_nbytes)
            cublasLt.matmul_algo_get_heuristic(
                self.handle, self.desc, *factors, *self.results, preference, limit, start, count.buffer_info()[0]
            )  # fmt: skip
        finally:
            cublasLt.matmul_preference_destroy(preference)
        offsets = range(0, count[0] * _RESULT.size, _RESULT.size)
        found = ((start + offset, _RESULT.unpack_from(results, offset)) for offset in offsets)
        return [Choice(address, fields[8], fields[10], results) for address, fields in found if fields[9] == 0]

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
        assert self.form is not None
        self.form.workspace = workspace

    def launch(self) -> Launch:
        """Return the function that computes the product on a stream."""
        gemm = self.gemm
        if gemm is None:
            return lambda *pointers: None
        inner = self._idle if self.form is None else self._direct(gemm, self.form, self._idle)
        if gemm.loads or gemm.fill or gemm.store:
            with self.place.current():
                return self._stepwise(gemm, inner)
        return inner

    def _idle(self, *arguments: int) -> None:
        """The product when alpha or K is 0: of zeros in place of the factors."""
        gemm, stream = self.gemm, arguments[-1]
        assert gemm is not None
        if self.idle is None:
            with self.place.current():
                self.idle = self._idle_form(gemm)
        nbytes = -(-max(gemm.m, gemm.n) * self.problem.a.dtype.itemsize // 256) * 256
        size = nbytes + self.idle.choice.workspace_nbytes
        zeros, _owner = self.adapter.allocate(size, self.place.device_id, stream)
        driver.memset_d8_async(zeros, 0, nbytes, stream)
        self.idle.workspace = zeros + nbytes
        self._direct(gemm, self.idle, None)(zeros, zeros, *arguments[2:])

    def _direct(self, gemm: Gemm, form: Form, idle: Launch | None) -> Launch:
        """The product over operands as they are: one foreign call, and a bias pointer when it has changed.

        `idle` is called instead when alpha is 0.
        """
        matmul, handle, desc = cublasLt.matmul, self.handle, self.desc
        alpha, beta, (la, lb), (lc, ld) = form.alpha, self.scalars.addresses[1], form.layouts, self.results
        algorithm, nbytes = form.choice.address, form.choice.workspace_nbytes
        bias, scalars = self.bias, self.scalars

        def plain(a: int, b: int, d: int, stream: int) -> None:
            if scalars.idle and idle is not None:
                idle(a, b, d, stream)
                return
            matmul(handle, desc, alpha, a, la, b, lb, beta, d, lc, d, ld, algorithm, form.workspace, nbytes, stream)

        def plain_swapped(a: int, b: int, d: int, stream: int) -> None:
            if scalars.idle and idle is not None:
                idle(a, b, d, stream)
                return
            matmul(handle, desc, alpha, b, la, a, lb, beta, d, lc, d, ld, algorithm, form.workspace, nbytes, stream)

        def added(a: int, b: int, c: int, d: int, stream: int) -> None:
            if scalars.idle and idle is not None:
                idle(a, b, c, d, stream)
                return
            matmul(handle, desc, alpha, a, la, b, lb, beta, c, lc, d, ld, algorithm, form.workspace, nbytes, stream)

        def added_swapped(a: int, b: int, c: int, d: int, stream: int) -> None:
            if scalars.idle and idle is not None:
                idle(a, b, c, d, stream)
                return
            matmul(handle, desc, alpha, b, la, a, lb, beta, c, lc, d, ld, algorithm, form.workspace, nbytes, stream)

        if bias is None:
            functions = (plain, plain_swapped, added, added_swapped)
            return functions[gemm.swapped + 2 * (self.problem.c is not None)]
        set_bias = bias.set

        def biased(a: int, b: int, vector: int, d: int, stream: int) -> None:
            if scalars.idle and idle is not None:
                idle(a, b, vector, d, stream)
                return
            if vector != bias.value:
                set_bias(vector)
            matmul(handle, desc, alpha, a, la, b, lb, beta, d, lc, d, ld, algorithm, form.workspace, nbytes, stream)

        def added_biased(a: int, b: int, c: int, vector: int, d: int, stream: int) -> None:
            if scalars.idle and idle is not None:
                idle(a, b, c, vector, d, stream)
                return
            if vector != bias.value:
                set_bias(vector)
            matmul(handle, desc, alpha, a, la, b, lb, beta, c, lc, d, ld, algorithm, form.workspace, nbytes, stream)

        assert not gemm.swapped
        return biased if self.problem.c is None else added_biased

    def _stepwise(self, gemm: Gemm, inner: Launch) -> Launch:
        """Copies of what the library cannot read, the product, the copy of what it cannot write."""
        index = {name: position for position, name in enumerate(self.names)}
        loads = [(index[name], self._mover(move), move.nbytes) for name, move in gemm.loads]
        fill = None if gemm.fill is None else self._mover(gemm.fill)
        store, target_nbytes = (None, 0) if gemm.store is None else (self._mover(gemm.store), gemm.store.nbytes)
        addend, device, allocate = index.get("c"), self.place.device_id, self.adapter.allocate

        def run(*arguments: int) -> None:
            *operands, result, stream = arguments
            owners = []
            for position, move, nbytes in loads:
                pointer, owner = allocate(nbytes, device, stream)
                owners.append(owner)
                move(operands[position], pointer, stream)
                operands[position] = pointer
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


def _operation(side: Side) -> int:
    """Return the operation by which the library reads an operand; there is none that conjugates only."""
    conj = side.matrix.conj and side.matrix.dtype.kind == "c"
    assert side.transposed or not conj
    return (_C if conj else _T) if side.transposed else _N
