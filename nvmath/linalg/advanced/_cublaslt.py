"""Products on a GPU through cuBLASLt: one problem, its descriptors, and the algorithms for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..._core import kernels
from ..._core.arrays import Adapter
from ..._core.lifetime import Closing
from ..._core.memory_limit import bytes_of
from ..._core.place import Cuda, discard
from ..._core.route import Launch
from ..._enums import CudaDataType
from ...bindings import _cuda as driver
from ...bindings import cublasLt
from .._buffers import Buffers
from ._algorithm import Algorithm
from ._candidates import ask, check
from ._descriptors import Descriptors
from ._gemm import Capability, Gemm, Move, lower
from ._handles import handle_of
from ._integers import INT8
from ._launch import Scratch, launcher
from ._narrow_descriptors import clearing
from ._options import MatmulComputeType, MatmulOptions
from ._preferences import MatmulPlanPreferences
from ._problem import MatmulProblem
from ._scalars import Scalars

CAPABILITY: Final = Capability(
    separate_addend=True, single_batch=True, column_epilogs=True, lone_conj=False, addressed_outputs=True
)

_NOT_SUPPORTED: Final = 15
_SMALL: Final = 1 << 21
"""Multiplications up to which no workspace is wanted: taking and ordering it costs the host more than the GPU gains."""
_SLACK: Final = 16
"""Bytes of workspace beyond what an algorithm with an epilog asks for: some versions of the library write past the end."""


_Mover = Callable[[int, int, int], None]
_Movers = tuple[list[tuple[int, _Mover]], _Mover | None, _Mover | None]
"""What copies operands, by position; what copies C into the target; and what copies the target into the result."""


class NoAlgorithmError(RuntimeError):
    """The library has no algorithm for a product."""


class CublasLtPlan(Closing):
    """The descriptors of one problem and the algorithms for it.

    `output_ptrs` are the addresses of the auxiliary outputs of the next call.
    """

    def __init__(
        self,
        problem: MatmulProblem,
        names: tuple[str, ...],
        scalars: Scalars,
        place: Cuda,
        adapter: Adapter,
        options: MatmulOptions,
        preferences: MatmulPlanPreferences,
        algorithms: tuple[Algorithm, ...] | None = None,
    ) -> None:
        self.problem, self.names, self.scalars, self.place, self.adapter = problem, names, scalars, place, adapter
        self.options, self.preferences = options, preferences
        self.nbytes, self.workspace = 0, Scratch()
        self.output_ptrs = [0] * len(problem.outputs)
        self.algorithms: tuple[Algorithm, ...] = ()
        self.needs: dict[int, int] = {}
        self.on_edit: Callable[[], None] | None = None
        self._idle_launch: Launch | None = None
        self.movers: _Movers | None = None
        self.owned: list[tuple[Callable[[int], Any], int]] = []
        self.gemm = None if problem.empty else lower(problem, CAPABILITY)
        if self.gemm is None:
            return
        try:
            with place.current():
                self.handle = options.handle or handle_of(place)
                self.descriptors = Descriptors(problem, self.gemm, options, self.owned)
                self.movers = self._load_movers(self.gemm)
                if problem.k:
                    self._adopt(algorithms)
                else:
                    self._idle_launch = self._idle_form()
        except BaseException:
            self.close()
            raise

    @property
    def workspace_nbytes(self) -> int:
        """What the most demanding algorithm needs."""
        most = max(self.needs.values(), default=0)
        return most + _SLACK if most and self.problem.epilog.code != 1 else most

    # --- the algorithms -----------------------------------------------------------------------------------------------------------

    def _adopt(self, algorithms: tuple[Algorithm, ...] | None) -> None:
        if algorithms is None:
            self.algorithms = self._propose(self.descriptors.factors, self.problem.k)
            self.needs = {id(each): each.workspace_nbytes for each in self.algorithms}
        else:
            self.algorithms = algorithms
            self.needs = {id(each): self._checked(each) for each in algorithms}
        for each in self.algorithms:
            each._watchers.add(self)

    def _propose(self, factors: tuple[int, int], k: int) -> tuple[Algorithm, ...]:
        """Ask for algorithms: for a small product first for those without a workspace, which would cost more than it saves."""
        gemm = self.gemm
        assert gemm is not None
        most = bytes_of(self.options.memory_limit, driver.device_total_mem(self.place.device_id))
        work = gemm.m * gemm.n * k * self.descriptors.count
        for limit in (0, most) if work <= _SMALL or k == 1 else (most,):
            try:
                found = ask(self.handle, self.descriptors, factors, self.preferences, limit)
            except cublasLt.cuBLASLtError as error:
                if error.status != _NOT_SUPPORTED:
                    raise
                if limit == most:
                    error.add_note(self._unsupported())
                    raise
            else:
                if found:
                    return found
        raise NoAlgorithmError(f"cuBLASLt has no algorithm. {self._unsupported()}")

    def _checked(self, algorithm: Algorithm) -> int:
        """Return the workspace that a given or edited algorithm needs, or say that it cannot be used."""
        if algorithm.own is not None:  # whoever has the whole plan knows it
            return 0
        if algorithm.on_cpu:
            raise ValueError(
                "The algorithm of the CPU cannot be used on a GPU. Leave algorithms out and the library chooses."
            )
        try:
            return check(self.handle, self.descriptors, algorithm)
        except cublasLt.cuBLASLtError as error:
            error.add_note(
                f"{algorithm!r} cannot compute this product: {self.problem}. It was edited, or comes from another product or library "
                "version; capabilities says what can be set. Leave algorithms out and the library chooses."
            )
            raise

    def edited(self) -> None:
        """Note that an algorithm was edited: what was prepared with it is out of date."""
        self.needs.clear()
        if self.on_edit is not None:
            self.on_edit()

    def check_again(self) -> None:
        """Ask the library about algorithms that were edited."""
        if not self.needs and self.algorithms:
            with self.place.current():
                self.needs = {id(each): self._checked(each) for each in self.algorithms}

    def _unsupported(self) -> str:
        problem = self.problem
        version = cublasLt.get_version()
        c = problem.narrow.addend if problem.narrow is not None else None if problem.c is None else problem.c.dtype
        return (
            f"cuBLASLt {version // 10000}.{version // 100 % 100}.{version % 100} does not support this product: {problem}. "
            f"Operands {CudaDataType(problem.a.dtype.code).name}, C {c}, result "
            f"{problem.d.dtype}; compute type {MatmulComputeType(problem.compute_type).name}, epilog {problem.epilog.name}. "
            "Leave the epilog, result_type or compute_type out, or pass execution='cpu'."
        )

    # --- launching ----------------------------------------------------------------------------------------------------------------

    def attach(self, workspace: int) -> None:
        """Use a workspace from now on."""
        self.workspace.ptr = workspace

    def launch(self, algorithm: Algorithm | None = None) -> Launch:
        """Return the function that computes the product on a stream, by one of the algorithms or the first."""
        gemm = self.gemm
        if gemm is None:
            return lambda *pointers: None
        inner: Launch = self._idle
        if self.problem.k:
            inner = self._direct(algorithm or self.algorithms[0])
        inner = clearing(inner, self.problem.outputs, self.output_ptrs)
        return inner if self.movers is None else self._stepwise(gemm, self.movers, inner)

    def _direct(self, algorithm: Algorithm) -> Launch:
        """The product over operands as they are; one of nothing when alpha is 0."""
        return launcher(
            self, self.scalars.addresses[0], self.descriptors.factors, algorithm, self.workspace, self.needs[id(algorithm)], self._idle
        )  # fmt: skip

    def _idle(self, *arguments: int) -> None:
        """The product when alpha or K is 0: of zeros in place of the factors.

        The library is never called with alpha = 0 or K = 0: it may then take the work for done and leave C and the epilog out.
        """
        if self._idle_launch is None:
            with self.place.current():
                self._idle_launch = self._idle_form()
        self._idle_launch(*arguments)

    def _idle_form(self) -> Launch:
        """A product of a few columns and rows of zeros."""
        gemm, code = self.gemm, self.problem.a.dtype.code
        assert gemm is not None
        m, n, k = gemm.m, gemm.n, 8 if self.problem.epilog.needs_k else 1
        if self.problem.narrow is not None or self.problem.a.dtype is INT8:
            k = 128  # there are no narrow products of less
        first = (k, m) if gemm.first.transposed else (m, k)
        second = (n, k) if gemm.second.transposed else (k, n)
        layout = self.descriptors.layout
        factors = layout(code, first, first[0], ()), layout(code, second, second[0], ())
        (algorithm, *_) = self._propose(factors, k)
        scratch = algorithm.workspace_nbytes + _SLACK
        nbytes = -(-max(m, n) * k * self.problem.a.dtype.itemsize // 256) * 256
        if not self.problem.k:
            self.algorithms, self.needs = (algorithm,), {id(algorithm): 0}  # its workspace lies behind the zeros
        buffers, workspace = Buffers((nbytes, scratch), self.place, self.adapter), Scratch()
        run = launcher(self, self.scalars.unit, factors, algorithm, workspace, scratch - _SLACK, None)

        def idle(*arguments: int) -> None:
            stream = arguments[-1]
            with buffers.lent(stream) as (zeros, workspace.ptr):
                driver.memset_d8_async(zeros, 0, nbytes, stream)
                run(zeros, zeros, *arguments[2:])

        return idle

    def _load_movers(self, gemm: Gemm) -> _Movers | None:
        """Load the kernels of the copies around a product, if there are any: a capture could not."""
        if not (gemm.loads or gemm.fill or gemm.store):
            return None
        index = {name: position for position, name in enumerate(self.names)}
        fill, store = (None if move is None else self._mover(move) for move in (gemm.fill, gemm.store))
        return [(index[name], self._mover(move)) for name, move in gemm.loads], fill, store

    def _stepwise(self, gemm: Gemm, movers: _Movers, inner: Launch) -> Launch:
        """Copies of what the library cannot read, the product, the copy of what it cannot write."""
        loads, fill, store = movers
        moves = [*(move for _, move in gemm.loads), *([] if gemm.store is None else [gemm.store])]
        buffers = Buffers([move.nbytes for move in moves], self.place, self.adapter)
        addend = self.names.index("c") if fill is not None else 0

        def run(*arguments: int) -> None:
            *operands, result, stream = arguments
            with buffers.lent(stream) as lent:
                for (position, load), buffer in zip(loads, lent, strict=False):
                    load(operands[position], buffer, stream)
                    operands[position] = buffer
                target = result if store is None else lent[-1]
                if fill is not None:
                    fill(operands[addend], target, stream)
                    operands[addend] = target
                inner(*operands, target, stream)
                if store is not None:
                    store(target, result, stream)

        return run

    def _mover(self, move: Move) -> _Mover:
        return kernels.move(
            self.place.device_id, move.shape, move.in_strides, move.out_strides, move.source.dtype, move.target.dtype
        )  # fmt: skip

    def close(self) -> None:
        """Queue the descriptors for destruction."""
        while self.owned:
            discard(*self.owned.pop(0))
