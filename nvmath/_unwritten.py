"""The parts of the original's interface that are not written yet, and what is said to those who ask for one."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any, Final

_DEVICE: Final = "functions to call from kernels: FFT, products, solvers, random numbers"
_DISTRIBUTED: Final = "operations over several processes"
_SPARSE: Final = "the product of sparse matrices and its callbacks"
_UST: Final = "universal sparse tensors"
_OF_SPARSE: Final = (
    "ComputeType", "Matmul", "MatmulOptions", "compile_matmul_add", "compile_matmul_atomic_add", "compile_matmul_epilog",
    "compile_matmul_mul", "compile_matmul_prolog", "matmul", "matmul_matrix_qualifiers_dtype",
)  # fmt: skip
_WHAT: Final = {
    "nvmath.device": _DEVICE,
    "nvmath.distributed": _DISTRIBUTED,
    "nvmath.sparse.ust": _UST,
    **{f"nvmath.sparse.{name}": _SPARSE for name in _OF_SPARSE},
}


def says(name: str) -> str | None:
    """Return what is said about a part that is not written yet, None of any other name."""
    what = _WHAT.get(name)
    if what is None:
        return None
    return f"{name} is not written yet ({what}). The original, nvmath-python, has it, in an environment of its own."


class Unwritten:
    """The last of the finders of modules: it finds nothing, and says so where one of these parts is imported."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> None:
        """Raise ModuleNotFoundError for these parts; without its `name`, which would make ``from nvmath import device`` hide the text."""
        text = says(name)
        if text is not None and not _only_asked(sys._getframe(1)):
            raise ModuleNotFoundError(text)


def _only_asked(frame: FrameType | None) -> bool:
    """Whether `importlib.util.find_spec` wants to know if there is such a module: then the answer is no."""
    while frame is not None and (name := frame.f_globals.get("__name__", "")).startswith("importlib"):
        if name == "importlib.util":
            return True
        frame = frame.f_back
    return False
