"""Compile functions that users write: to LTO-IR for a GPU, to machine code for the CPU."""

from .device import current_compute_capability, numpy_of_numba, parse_compute_capability, to_ltoir
from .digest import CodeDigest, code_digest
from .disk import DiskCache, cache_folder
from .function import UserFunction
from .host import compile_loop, host_function
from .reading import reads_local
from .requirements import require_cuda_compiler, require_host_compiler
from .signature import Pointer, Signature, type_key
from .snapshot import plain_function
from .source import CompileError, require_parameters, require_result

__all__ = [
    "CodeDigest",
    "CompileError",
    "DiskCache",
    "Pointer",
    "Signature",
    "UserFunction",
    "cache_folder",
    "code_digest",
    "compile_loop",
    "current_compute_capability",
    "host_function",
    "numpy_of_numba",
    "parse_compute_capability",
    "plain_function",
    "reads_local",
    "require_cuda_compiler",
    "require_host_compiler",
    "require_parameters",
    "require_result",
    "to_ltoir",
    "type_key",
]
