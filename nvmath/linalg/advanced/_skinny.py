"""Our own kernel for products that the memory bounds, as an algorithm among those of cuBLASLt.

Only autotuning proposes it. Such an algorithm has the struct of the library's, with a mark that no algorithm of the library has and the
number of a recipe, so that it can be stored and loaded like any other.
"""

from __future__ import annotations

import ctypes
from typing import Any, Final

from ..._core import kernels, log
from ..._core.place import Cuda
from ...bindings import _cuda as driver
from ...bindings import _nvrtc as nvrtc
from ...bindings._load import find_library
from ._algorithm import Algorithm, own_algorithm
from ._preferences import MatmulPlanPreferences
from ._problem import MatmulProblem
from ._scalars import Scalars
from ._skinny_form import Form, form_of, worth
from ._skinny_shape import RECIPES, Recipe, Shape, shape_of
from ._skinny_source import skinny_source

_MULTIPROCESSORS: Final = 16  # device attribute
_FIELDS: Final[tuple[tuple[str, Any], ...]] = (
    *((name, ctypes.c_void_p) for name in ("x", "y", "c", "bias", "d")),
    *((name, ctypes.c_longlong) for name in ("length", "x_long", "x_k", "y_k", "y_short", "c_long", "c_short", "bias_long", "bias_short",
                                             "d_long", "d_short")),
    *((name, ctypes.c_double * 2) for name in ("alpha", "beta")),
)  # fmt: skip


class _Arguments(ctypes.Structure):
    _fields_ = _FIELDS


class SkinnyLaunch:
    """The kernel for one product, with its arguments in place; only addresses and scalars change from call to call.

    Parameters
    ----------
    form, recipe, shape : Form, Recipe, Shape
        What is computed, and how.
    names : tuple of str
        The operands, in the order of a call.
    scalars : Scalars
        Alpha and beta, as they are at each call.
    place : Cuda
        The GPU.
    multiprocessors : int
        How many of them may be used; 0 for all.
    """

    def __init__(
        self,
        form: Form,
        recipe: Recipe,
        shape: Shape,
        names: tuple[str, ...],
        scalars: Scalars,
        place: Cuda,
        multiprocessors: int = 0,
    ) -> None:
        self.form, self.scalars, self.threads = form, scalars, shape.threads
        long, small = ("b", "a") if form.swapped else ("a", "b")
        positions = {"x": names.index(long), "y": names.index(small)}
        if form.c is not None:
            positions["c"] = names.index("c")
        if form.bias is not None:
            positions["bias"] = names.index("bias")
        self.positions = tuple(positions.items())
        text = skinny_source(form, recipe, shape)
        self.function = kernels.compiled(
            place.device_id, ("matmul skinny", text),
            lambda capability: nvrtc.compile(text, "nvmath_skinny.cu", (f"-arch=sm_{capability}",)),
        )  # fmt: skip
        self.blocks = min(
            -(-form.length // shape.tile), _resident(place, self.function, shape.threads, multiprocessors)
        )
        self.arguments = _arguments(form)
        self.pointers = (ctypes.c_void_p * 1)(ctypes.addressof(self.arguments))
        self.address = ctypes.addressof(self.pointers)

    def __call__(self, *addresses: int) -> None:
        *operands, result, stream = addresses
        arguments: Any = self.arguments
        for name, position in self.positions:
            setattr(arguments, name, operands[position])
        arguments.d = result
        alpha, beta = map(complex, self.scalars.values)
        arguments.alpha[0], arguments.alpha[1] = alpha.real, alpha.imag
        arguments.beta[0], arguments.beta[1] = (beta.real, beta.imag) if self.form.c is not None else (0.0, 0.0)
        driver.launch_kernel(self.function, self.blocks, 1, 1, self.threads, 1, 1, 0, stream, self.address, None)


def _arguments(form: Form) -> _Arguments:
    """Everything but addresses and scalars."""
    strips = {"c": form.c, "bias": form.bias, "d": form.d}
    steps = {
        f"{name}_{side}": getattr(strip, side)
        for name, strip in strips.items()
        if strip is not None
        for side in ("long", "short")
    }
    return _Arguments(
        length=form.length,
        x_long=form.x.long,
        x_k=form.x.short,
        y_k=form.y.row_stride,
        y_short=form.y.col_stride,
        **steps,
    )


def _resident(place: Cuda, function: int, threads: int, multiprocessors: int) -> int:
    """How many blocks the device, or a part of it, holds at a time."""
    with place.current():
        blocks: int = driver.occupancy_max_active_blocks_per_multiprocessor(function, threads, 0)
        return max(1, blocks) * int(multiprocessors or driver.device_get_attribute(_MULTIPROCESSORS, place.device_id))


class Skinny:
    """The kernels of one plan, by the number of their recipe.

    Parameters
    ----------
    problem : MatmulProblem
        The whole product.
    names, scalars, place, multiprocessors
        As for :class:`SkinnyLaunch`.
    """

    def __init__(
        self, problem: MatmulProblem, names: tuple[str, ...], scalars: Scalars, place: Cuda, multiprocessors: int
    ) -> None:
        self.problem, self.names, self.scalars, self.place, self.multiprocessors = (
            problem,
            names,
            scalars,
            place,
            multiprocessors,
        )
        self.form = form_of(problem)
        self.launches: dict[int, SkinnyLaunch] = {}

    def launch(self, number: int) -> SkinnyLaunch | None:
        """Return the kernel of a recipe, or None when it cannot compute the product."""
        made = self.launches.get(number)
        if made is None and self.form is not None and 0 <= number < len(RECIPES):
            shape = shape_of(self.form, RECIPES[number])
            if shape is not None:
                made = self.launches[number] = SkinnyLaunch(
                    self.form, RECIPES[number], shape, self.names, self.scalars, self.place, self.multiprocessors
                )
        return made

    def rivals(self, preferences: MatmulPlanPreferences) -> tuple[Algorithm, ...]:
        """Return the algorithms that are worth measuring, compiled; none when the memory does not bound the product."""
        if self.form is None or not worth(self.form, preferences):
            return ()
        if find_library("nvrtc") is None:
            log.ROOT.info("NVRTC is not installed, so cuBLASLt has no rival for %s.", self.problem)
            return ()
        try:
            return tuple(own_algorithm(number) for number in range(len(RECIPES)) if self.launch(number) is not None)
        except nvrtc.NvrtcError as error:  # one that does not know this GPU, perhaps
            log.ROOT.warning("NVRTC cannot compile a kernel for %s: %s", self.problem, error)
            return ()


__all__ = ["Skinny", "SkinnyLaunch"]
