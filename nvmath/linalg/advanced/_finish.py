"""One pass over a result on a GPU, for what cuBLASLt does not do: C, bias, activation, masks, sums, or a user's function."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from contextlib import nullcontext
from math import prod
from typing import Any, Final

from ..._core import kernels
from ..._core.arrays import Adapter
from ..._core.layout import Ints
from ..._core.place import Cuda
from ...bindings import _cuda as driver
from ...bindings import _nvjitlink as nvjitlink
from ...bindings import _nvrtc as nvrtc
from .._matrix import Matrix
from ._custom_device import UserArrays
from ._epilogs import mask_rows
from ._finish_source import STORAGE, THREADS, Grain, Part, finish_source, sum_source
from ._scalars import Scalars
from ._split import Rest

_MAX_BLOCKS: Final = 1 << 20


class Finish:
    """The kernels after a product, with their arguments in place; only addresses and beta change from call to call."""

    def __init__(
        self,
        rest: Rest,
        names: tuple[str, ...],
        scalars: Scalars,
        place: Cuda,
        adapter: Adapter,
        output_ptrs: list[int],
    ) -> None:
        self.rest, self.names, self.scalars, self.output_ptrs = rest, names, scalars, output_ptrs
        self.place, self.adapter, self.device = place, adapter, place.device_id
        self.arrays: UserArrays | None = None
        self.outputs = dict(rest.problem.outputs) if rest.gives else {}
        self.position = {name: index for index, (name, _) in enumerate(rest.problem.outputs)}
        self.parts = self._parts()
        function = rest.problem.epilog.function
        self.pointwise = bool(rest.scratch or rest.activation or rest.adds_c or rest.adds_bias or function)
        if self.pointwise:
            self._prepare()
        self.sums = [_Sum(rest, name, matrix, self.device) for name, matrix in self.outputs.items() if "grad" in name]

    # --- the pass over the elements -----------------------------------------------------------------------------------------------

    def _parts(self) -> list[Part]:
        """The matrices that the kernel reads and writes, in the order of its arguments."""
        rest, problem = self.rest, self.rest.problem
        found: list[tuple[str, Matrix | None]] = [("source", rest.source), ("target", problem.d)]
        if rest.adds_c:
            found.append(("addend", problem.c))
        if rest.adds_bias:
            found.append(("bias", problem.bias))
        if rest.gives and problem.auxiliary is not None:
            found.append(("given", problem.auxiliary))
        found += [("made", matrix) for name, matrix in self.outputs.items() if name in ("relu_aux", "gelu_aux")]
        return [Part(name, matrix) for name, matrix in found if matrix is not None]

    def _prepare(self) -> None:
        problem = self.rest.problem
        order = self._order()
        grain, extents = self._grain(order)
        self.count = prod(extents)
        fields: list[tuple[str, Any]] = [(part.name, ctypes.c_void_p) for part in self.parts]
        vector = ctypes.c_longlong * len(order)
        fields += [("extent", vector), *((f"{part.name}_step", vector) for part in self.parts)]
        fields += [(f"{part.name}_inner", ctypes.c_longlong) for part in self.parts]
        fields += [("count", ctypes.c_ulonglong), ("rows", ctypes.c_longlong), ("beta", ctypes.c_double * 2)]
        for index in range(len(problem.arrays)):
            fields += [
                (f"array{index}", ctypes.c_void_p),
                (f"array{index}_extent", ctypes.c_longlong * 2),
                (f"array{index}_step", vector),
            ]
        self.arguments = type("Arguments", (ctypes.Structure,), {"_fields_": fields})()
        self._set_vector("extent", [extents[axis] for axis in order])
        for part in self.parts:
            steps = part.steps(problem.n, grain)
            self._set_vector(f"{part.name}_step", [steps[axis] for axis in order])
            self._set(f"{part.name}_inner", part.inner(problem.n, grain))
        self._set("count", self.count)
        self._set("rows", problem.m)
        self.arrays = UserArrays(problem, self.names, self.place, self.adapter) if problem.arrays else None
        if self.arrays is not None:
            self.arrays.describe(self.arguments, order)
        self.function = self._compiled(order, grain)
        address = ctypes.addressof(self.arguments)
        self.pointers = (ctypes.c_void_p * 1)(address)
        self.blocks = min(_MAX_BLOCKS, -(-self.count // THREADS))
        self.zero_nbytes = {
            name: prod((*problem.batch, matrix.rows, matrix.cols)) * matrix.dtype.itemsize
            for name, matrix in self.outputs.items() if name == "gelu_aux" and matrix.rows != problem.m
        }  # fmt: skip

    def _grain(self, order: list[int]) -> tuple[Grain, Ints]:
        """What one thread does, and the extents of (batch, row, column) in such units.

        8 rows where there are masks, which have one bit for each; 16 bytes of the result where source and target lie so; else one element.
        """
        problem, (source, target) = self.rest.problem, self.parts[:2]
        batch, m, n = problem.batch, problem.m, problem.n
        if any(part.matrix.dtype.kind == "u" for part in self.parts):
            return Grain(8, "row", False), (*batch, mask_rows(m), n)
        along = {len(batch): "row", len(batch) + 1: "column"}.get(order[-1], "")
        count = 16 // problem.d.dtype.itemsize
        if along and count > 1 and (m if along == "row" else n) % count == 0:
            wide = Grain(count, along, True)
            if all(
                part.inner(n, wide) == 1
                and part.matrix.alignment % 16 == 0
                and all(step % count == 0 for step in part.steps(n, wide))
                for part in (source, target)
            ):
                return wide, (*batch, m // count, n) if along == "row" else (*batch, m, n // count)
        return Grain(1, "row", False), (*batch, m, n)

    def _set(self, name: str, value: Any) -> None:
        setattr(self.arguments, name, value)

    def _set_vector(self, name: str, values: Sequence[int]) -> None:
        self._set(name, (ctypes.c_longlong * len(values))(*values))

    def _order(self) -> list[int]:
        """The axes of (batch, row, column), slowest first, as the target lies in memory."""
        d = self.rest.problem.d
        steps = (*d.batch_strides, d.row_stride, d.col_stride)
        return sorted(range(len(steps)), key=lambda axis: -abs(steps[axis]))

    def _compiled(self, order: list[int], grain: Grain) -> int:
        problem, rest = self.rest.problem, self.rest
        wide = self.count > 2**31
        function = problem.epilog.function
        source = finish_source(self.parts, problem, rest.activation, order, grain, wide)
        key = ("matmul finish", source, "" if function is None else function.key(problem))

        def build(capability: str) -> bytes:
            target = f"-arch=sm_{capability}"
            if function is None:
                return nvrtc.compile(source, "nvmath_finish.cu", (target,))
            loop = nvrtc.compile(source, "nvmath_finish.cu", (target, "-rdc=true"), kind="ltoir")
            code = function.ltoir(problem, capability)
            return nvjitlink.link([("ltoir", loop, "loop"), ("ltoir", code, "epilog of the user")], [target, "-lto"])

        return kernels.compiled(self.device, key, build)

    def __call__(self, operands: list[int], source: int, target: int, stream: int) -> None:
        """Finish the values at `source`; the result goes to `target`."""
        if self.pointwise:
            self._pass(operands, source, target, stream)
        for each in self.sums:
            each(operands, target, self.output_ptrs[self.position[each.name]], stream)

    def _pass(self, operands: list[int], source: int, target: int, stream: int) -> None:
        arguments, names, problem = self.arguments, self.names, self.rest.problem
        arguments.source, arguments.target = source, target
        for part in self.parts:
            if part.name == "addend":
                arguments.addend = operands[names.index("c")]
            elif part.name == "bias":
                arguments.bias = operands[names.index("bias")]
            elif part.name == "given":
                arguments.given = operands[names.index(problem.epilog.auxiliary)]
        for name, position in self.position.items():
            if name in ("relu_aux", "gelu_aux") and name in self.outputs:
                arguments.made = self.output_ptrs[position]
                if name in self.zero_nbytes:
                    driver.memset_d8_async(self.output_ptrs[position], 0, self.zero_nbytes[name], stream)
        beta = complex(self.scalars.values[1])
        arguments.beta[0], arguments.beta[1] = beta.real, beta.imag
        with nullcontext() if self.arrays is None else self.arrays.read(arguments, operands, stream):
            driver.launch_kernel(
                self.function, self.blocks, 1, 1, THREADS, 1, 1, 0, stream, ctypes.addressof(self.pointers), None
            )


class _Sum:
    """Sums along one axis of a matrix, for the gradient of a bias."""

    def __init__(self, rest: Rest, name: str, output: Matrix, device: int) -> None:
        problem = rest.problem
        self.name, self.of = name, {"bgrada": 0, "bgradb": 1}.get(name)
        matrix = (problem.d, problem.a, problem.b)[0 if self.of is None else 1 + self.of]
        if name == "bgradb":
            matrix = matrix.transposed
        batch = problem.batch
        extents: Ints = (*batch, matrix.rows)
        vector = ctypes.c_longlong * len(extents)
        fields = [
            ("source", ctypes.c_void_p), ("target", ctypes.c_void_p), ("extent", vector), ("source_step", vector), ("target_step", vector),
            ("count", ctypes.c_ulonglong), ("terms", ctypes.c_longlong), ("step", ctypes.c_longlong),
        ]  # fmt: skip
        self.arguments: Any = type("Arguments", (ctypes.Structure,), {"_fields_": fields})()
        self.arguments.extent = vector(*extents)
        self.arguments.source_step = vector(*matrix.batch_strides, matrix.row_stride)
        self.arguments.target_step = vector(*output.batch_strides, output.row_stride)
        self.arguments.count, self.arguments.terms, self.arguments.step = prod(extents), matrix.cols, matrix.col_stride
        text = sum_source(matrix.dtype, output.dtype, len(extents))
        self.function = kernels.compiled(
            device, ("matmul sum", text), lambda capability: nvrtc.compile(text, "nvmath_sum.cu", (f"-arch=sm_{capability}",))
        )  # fmt: skip
        self.blocks = min(_MAX_BLOCKS, max(1, prod(extents)))
        self.pointers = (ctypes.c_void_p * 1)(ctypes.addressof(self.arguments))

    def __call__(self, operands: list[int], result: int, output: int, stream: int) -> None:
        self.arguments.source = result if self.of is None else operands[self.of]
        self.arguments.target = output
        driver.launch_kernel(
            self.function, self.blocks, 1, 1, THREADS, 1, 1, 0, stream, ctypes.addressof(self.pointers), None
        )


__all__ = ["STORAGE", "Finish"]
