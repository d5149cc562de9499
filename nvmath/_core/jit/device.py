"""Python functions to LTO-IR through numba-cuda and libNVVM; no GPU and no driver are needed."""

from __future__ import annotations

import os
import re
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..._version import __version__
from .disk import DiskCache, cache_folder
from .function import UserFunction
from .references import is_known
from .requirements import package_versions, require_cuda_compiler
from .snapshot import plain_function, retarget
from .source import compile_error, quiet_numba
from .wrapper import wrapper_text

__all__ = ["current_compute_capability", "numpy_of_numba", "parse_compute_capability", "to_ltoir"]

_MEMORY_ENTRIES = 256
_INNER = "nvmath_user_function"

_lock = threading.RLock()
_compiled: OrderedDict[str, bytes] = OrderedDict()


def current_compute_capability() -> str | None:
    """Compute capability of the current device such as ``"90"``; device 0 when none is current, None with no device."""
    from ...bindings import _cuda as driver  # only a question about a GPU opens the driver

    if not driver.device_count():
        return None
    major, minor = driver.compute_capability(driver.ctx_get_device() if driver.ctx_get_current() else 0)
    return f"{major}{minor}"


def parse_compute_capability(value: object) -> tuple[int, int]:
    """``"90"`` -> ``(9, 0)``.

    Raises
    ------
    ValueError
        If `value` is no string of two or three digits.
    """
    if not isinstance(value, str) or re.fullmatch(r"[0-9]{2,3}", value) is None:
        raise ValueError(
            "The compute capability must be a string of digits, the last one the minor version, such as '90' or '120', "
            f"but {value!r} was given."
        )
    return int(value) // 10, int(value) % 10


def to_ltoir(user: UserFunction, symbol: str, compute_capability: str) -> bytes:
    """LTO-IR that defines `symbol` with the C signature of `user`, from memory, from disk, or compiled now.

    Parameters
    ----------
    user
        The function.
    symbol
        Name of the C function, mangled if the caller expects C++.
    compute_capability
        Such as ``"90"``.

    Raises
    ------
    CompileError
        (a ValueError) The function does not compile; the text shows its line.
    ValueError
        The compute capability is malformed or not supported by the installed compiler.
    RuntimeError
        numba, numba-cuda or libNVVM is not installed.
    """
    capability = parse_compute_capability(compute_capability)
    require_cuda_compiler(f"Compiling the {user.what} {user.function.__qualname__!r}")
    key = f"{user.key} {symbol} {compute_capability}"
    with _lock:
        if key in _compiled:
            _compiled.move_to_end(key)
            return _compiled[key]
        code = _from_disk_or_compiled(user, symbol, capability, key)
        _compiled[key] = code
        if len(_compiled) > _MEMORY_ENTRIES:
            _compiled.popitem(last=False)
        return code


def _from_disk_or_compiled(user: UserFunction, symbol: str, capability: tuple[int, int], key: str) -> bytes:
    disk = DiskCache(cache_folder() if user.digest.portable else None)
    stored_as = f"ltoir {key} nvmath={__version__} {package_versions()} {_nvvm_identity()}"
    code = disk.get(stored_as)
    if code is None:
        code = _compile(user, symbol, capability)
        disk.put(stored_as, code)
    return code


@lru_cache(maxsize=1)
def _nvvm_identity() -> str:
    """Tells one libNVVM file from another; it has no version query that is fine enough."""
    try:
        path = import_module("cuda.pathfinder").load_nvidia_dynamic_lib("nvvm").abs_path
        status = os.stat(path)
    except Exception as error:
        raise RuntimeError(
            "Compiling for a GPU needs libNVVM, which was not found. It comes with the CUDA toolkit or with: "
            'pip install "nvidia-nvvm==13.*" (CUDA 12: nvidia-cuda-nvcc-cu12).'
        ) from error
    return f"nvvm={status.st_size}:{status.st_mtime_ns}"


def _compile(user: UserFunction, symbol: str, capability: tuple[int, int]) -> bytes:
    with quiet_numba(), numpy_of_numba(), _target_without_device(capability):  # numba-cuda is imported in here
        architecture = _architecture(capability)
        try:
            texts = _module_texts(_lower(user, capability), symbol, user)
            return _assemble(texts, architecture)
        except Exception as error:
            raise compile_error(user.shown, user.what, "the GPU", user.expected, error) from error


def _architecture(capability: tuple[int, int]) -> str:
    """The newest architecture that the installed compiler knows and that is not newer than `capability`."""
    option: Callable[[int, int], str] = import_module("numba.cuda.cudadrv.nvrtc").get_arch_option
    try:
        return option(*capability)
    except Exception as error:
        number = f"{capability[0]}.{capability[1]}"
        raise ValueError(
            f"The installed CUDA compiler cannot compile for compute capability {number}: {error}"
        ) from error


def _assemble(texts: list[str], architecture: str) -> bytes:
    nvvm: Any = import_module("numba.cuda.cudadrv.nvvm")
    try:
        code: bytes = nvvm.compile_ir(texts, arch=architecture, opt=3, gen_lto=None)
    except Exception as error:
        # numba-cuda lowers `raise` in a function with the C calling convention to a return of the wrong type.
        raise RuntimeError(f"libNVVM refuses the code; on a GPU a callback cannot raise exceptions. {error}") from error
    return code


def _lower(user: UserFunction, capability: tuple[int, int]) -> Any:
    """Type inference and lowering by numba-cuda; returns its code library of LLVM modules."""
    compiler = import_module("numba.cuda.compiler")
    pointers = import_module("nvmath._core.jit.pointers")
    pointers.register("numba.cuda")
    result, arguments = pointers.numba_signature(user.signature)
    return compiler.compile_cuda(
        retarget(user.function, _device_function),
        result,
        arguments,
        forceinline=True,
        nvvm_options={"opt": 3, "gen-lto": None},
        cc=capability,
        abi="c",
        abi_info={"abi_name": _INNER},
    ).library


def _device_function(value: Any) -> Any:
    """Make helper functions callable in device code: plain ones and those compiled for the host."""
    function = plain_function(value)
    if function is None or is_known(function.__module__):
        return value
    cuda: Any = import_module("numba.cuda")
    if value is not function and type(value).__module__.startswith("numba.cuda"):
        return value
    return cuda.jit(device=True)(retarget(function, _device_function))


def _module_texts(library: Any, symbol: str, user: UserFunction) -> list[str]:
    """The LLVM modules as text, the wrapper in the first one, every other name unique to this function.

    The linker keeps one of several weak functions with the same name. numba numbers helper functions within a
    process, so code that two processes stored on disk could use one name for two helpers.
    """
    modules = list(library.modules)
    functions = [f for module in modules for f in module.functions if not f.is_declaration]
    inner = next(f for f in functions if f.name == _INNER)
    inner.linkage = "internal"
    texts = [str(module) for module in modules]
    home = next(i for i, module in enumerate(modules) if inner in list(module.functions))
    arguments = [str(argument.type) for argument in inner.args]
    texts[home] += "\n" + wrapper_text(symbol, user.signature, _INNER, str(inner.function_type.return_type), arguments)
    suffix = user.digest.hex[:16]
    for name in {f.name for f in functions}:
        texts = [text.replace(f'@"{name}"', f'@"{name}_{suffix}"') for text in texts]
    return texts


@contextmanager
def numpy_of_numba() -> Iterator[None]:
    """Bridge what NumPy 2.5 changed: numba-cuda 0.30.4 reads ``numpy.row_stack``, now ``vstack``, and uses what is deprecated."""
    if hasattr(np, "row_stack"):
        yield
        return
    setattr(np, "row_stack", np.vstack)  # noqa: B010  # the type checker knows that it is not there
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            yield
    finally:
        delattr(np, "row_stack")


@contextmanager
def _target_without_device(capability: tuple[int, int]) -> Iterator[None]:
    """With no GPU, let numba-cuda compile helper functions too.

    It asks for the current device although only the capability counts.
    """
    if current_compute_capability() is not None:
        yield
        return
    dispatcher: Any = import_module("numba.cuda.dispatcher")
    original = dispatcher.get_current_device
    dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=capability)
    try:
        yield
    finally:
        dispatcher.get_current_device = original
