"""What narrow precision adds to the descriptors of cuBLASLt: scales and their modes, outputs of the rounding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..._core.attributes import Cell
from ..._core.place import Cuda
from ..._core.route import Launch
from ...bindings import _cuda as driver
from ...bindings import cublasLt
from .._matrix import Matrix
from . import _integers as integers
from ._narrow import AUX_SCALE, CAPABILITIES, F32, MODE, SCALES, Narrow, Scale, is_narrow
from ._scales import BlockScalingFormat

if TYPE_CHECKING:
    from ._descriptors import Descriptors
    from ._problem import MatmulProblem

_DESC: Final = cublasLt.MatmulDescAttribute
_NOT_SUPPORTED: Final = 15
_SOMEWHERE: Final = 1 << 20  # stands for an address while an algorithm is chosen

# (pointer, mode) of the matrix in each position of the library
_POSITIONS: Final = {
    "first": (_DESC.A_SCALE_POINTER, _DESC.A_SCALE_MODE),
    "second": (_DESC.B_SCALE_POINTER, _DESC.B_SCALE_MODE),
    "d": (_DESC.D_SCALE_POINTER, _DESC.D_SCALE_MODE),
}
_OUTPUTS: Final = {
    "result_amax": _DESC.AMAX_D_POINTER,
    "gelu_aux_amax": _DESC.EPILOGUE_AUX_AMAX_POINTER,
    "d_out_scale": _DESC.D_OUT_SCALE_POINTER,
}
_BLOCK_MODES: Final = {BlockScalingFormat.MXFP8: MODE.VEC32_UE8M0, BlockScalingFormat.NVFP4: MODE.VEC16_UE4M3}


def describe(descriptors: Descriptors, narrow: Narrow) -> None:
    """Set the modes of scales, and prepare the attributes that hold addresses."""
    gemm, problem = descriptors.gemm, descriptors.problem
    position = {"a": "second", "b": "first"} if gemm.swapped else {"a": "first", "b": "second"}
    for scale in narrow.scales:
        pointer, mode = _POSITIONS[position.get(scale.operand, scale.operand)]
        if scale.mode != MODE.SCALAR_32F:
            descriptors.put(mode, "i", scale.mode)
        _cell(descriptors, SCALES[scale.operand], pointer)
    if narrow.aux_scale:
        _cell(descriptors, AUX_SCALE, _DESC.EPILOGUE_AUX_SCALE_POINTER)
    if narrow.block_format is not None and is_narrow(problem.d.dtype):
        descriptors.put(_DESC.D_OUT_SCALE_MODE, "i", int(_BLOCK_MODES[narrow.block_format]))
    for name, _ in problem.outputs:
        if name in _OUTPUTS:
            _cell(descriptors, name, _OUTPUTS[name])
    if gemm.addend is None and is_narrow(problem.d.dtype):
        addend = descriptors.layout(narrow.addend.code, (gemm.m, gemm.n), gemm.target.ld, gemm.target.steps)
        descriptors.results = addend, descriptors.results[1]


def _cell(descriptors: Descriptors, name: str, attribute: int) -> None:
    descriptors.cells[name] = Cell(cublasLt.matmul_desc_set_attribute, descriptors.desc, attribute, _SOMEWHERE)


def clearing(inner: Launch, outputs: tuple[tuple[str, Matrix], ...], addresses: list[int]) -> Launch:
    """Set largest magnitudes to 0 before a product that raises them."""
    cleared = [index for index, (name, _) in enumerate(outputs) if name.endswith("_amax")]
    if not cleared:
        return inner

    def run(*arguments: int) -> None:
        for index in cleared:
            driver.memset_d8_async(addresses[index], 0, 4, arguments[-1])
        inner(*arguments)

    return run


def expected(scale: Scale) -> tuple[int, int] | None:
    """Return the strides in which the library reads scales of rows, columns or blocks; None of those that have one layout only."""
    if len(scale.shape) != 2:
        return None
    rows, cols = scale.shape
    if scale.mode == MODE.BLK128x128_32F:  # each vector along K begins at a multiple of four
        return (-(-cols // 4) * 4, 1) if scale.operand == "a" else (1, -(-rows // 4) * 4)
    return (1, rows) if scale.operand == "a" else (cols, 1)


def scale_moves(narrow: Narrow) -> list[tuple[str, Matrix, Matrix]]:
    """Return the copies of scales that lie otherwise than the library reads them: name, source and target."""
    moves = []
    for scale in narrow.scales:
        wanted = expected(scale)
        if wanted is None:
            continue
        given = tuple(step for step, extent in zip(scale.strides, scale.shape, strict=True) if extent > 1)
        if given != tuple(step for step, extent in zip(wanted, scale.shape, strict=True) if extent > 1):
            (rows, cols), (down, right) = scale.shape, scale.strides
            source, target = Matrix(rows, cols, down, right, (), F32), Matrix(rows, cols, *wanted, (), F32)
            moves.append((SCALES[scale.operand], source, target))
    return moves


def check_place(problem: MatmulProblem, place: Cuda) -> None:
    """Refuse what the GPU, the library or our own kernels cannot do in narrow precision.

    Raises
    ------
    cuBLASLtError
        The GPU has another compute capability.
    ValueError
        The library is too old, or the epilog is not one of the library's and the result is narrow.
    """
    narrow, epilog = problem.narrow, problem.epilog
    if problem.a.dtype is integers.INT8:
        integers.check_extents(problem.m, problem.n, problem.k)
    if narrow is None:
        return
    version = cublasLt.get_version()
    for scale in narrow.scales:
        what, first, last = CAPABILITIES[MODE(scale.mode)]
        capability = tuple(place.capability)
        if capability < first or (last is not None and capability > last):
            raise _missing(what, first, last, place)
        needs = 120800 if scale.mode <= MODE.VEC32_UE8M0 else 120900
        if version < needs:
            raise ValueError(
                f"{what} needs cuBLASLt {needs // 10000}.{needs // 100 % 100} or newer, but {version} is loaded. Update it."
            )
    if is_narrow(problem.d.dtype) and problem.bias is not None and problem.bias.dtype is not narrow.addend:
        raise ValueError(
            f"The bias must be {narrow.addend} on a GPU, as C is, for a result of {problem.d.dtype}, but it is {problem.bias.dtype}. "
            "Convert it, or pass execution='cpu'."
        )
    if is_narrow(problem.d.dtype) and (epilog.extra or epilog.function is not None):
        raise ValueError(
            f"The epilog {epilog.name} is not supported for a result of {problem.d.dtype} on a GPU: cuBLASLt rounds before it. Ask for "
            "float16, bfloat16 or float32 by result_type, or pass execution='cpu'."
        )


def _missing(what: str, first: tuple[int, int], last: tuple[int, int] | None, place: Cuda) -> cublasLt.cuBLASLtError:
    error = cublasLt.cuBLASLtError(_NOT_SUPPORTED)
    needed = ".".join(map(str, first)) + ("" if last == first else " or newer")
    error.args = (
        f"{error}: {what} needs a GPU of compute capability {needed}; GPU {place.device_id} has {'.'.join(map(str, place.capability))}. "
        "Use other scales, or pass execution='cpu'.",
    )
    return error
