"""NVRTC (``nvrtc.h``): CUDA C++ to PTX, cubin or LTO-IR. Private; no GPU is needed.

`compile` does it in one call; the rows below it are the C functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from nvmath.bindings._bind import Bindings, status_name

_ROWS = """
nvrtcGetErrorString(result: i32) -> str
version = nvrtcVersion(&major: i32, &minor: i32)
nvrtcGetNumSupportedArchs(&count: i32)
_get_supported_archs = nvrtcGetSupportedArchs(archs: i32[])
create_program = nvrtcCreateProgram(&program: ptr, source: str, name: str, num_headers: i32, headers: str[],
    include_names: str[])
destroy_program = nvrtcDestroyProgram(program: ptr[])
compile_program = nvrtcCompileProgram(program: ptr, num_options: i32, options: str[])
get_ptx_size = nvrtcGetPTXSize(program: ptr, &nbytes: usize)
get_ptx = nvrtcGetPTX(program: ptr, ptx: char[])
get_cubin_size = nvrtcGetCUBINSize(program: ptr, &nbytes: usize)
get_cubin = nvrtcGetCUBIN(program: ptr, cubin: char[])
get_ltoir_size = nvrtcGetLTOIRSize(program: ptr, &nbytes: usize)
get_ltoir = nvrtcGetLTOIR(program: ptr, ltoir: char[])
get_program_log_size = nvrtcGetProgramLogSize(program: ptr, &nbytes: usize)
get_program_log = nvrtcGetProgramLog(program: ptr, log: char[])
nvrtcAddNameExpression(program: ptr, name_expression: str)
nvrtcGetLoweredName(program: ptr, name_expression: str, &lowered_name: str)
"""

_ENUMS = """
IntEnum Result: SUCCESS=0 ERROR_OUT_OF_MEMORY=1 ERROR_PROGRAM_CREATION_FAILURE=2 ERROR_INVALID_INPUT=3
    ERROR_INVALID_PROGRAM=4 ERROR_INVALID_OPTION=5 ERROR_COMPILATION=6 ERROR_BUILTIN_OPERATION_FAILURE=7
    ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION=8 ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION=9
    ERROR_NAME_EXPRESSION_NOT_VALID=10 ERROR_INTERNAL_ERROR=11 ERROR_TIME_FILE_WRITE_FAILED=12
    ERROR_NO_PCH_CREATE_ATTEMPTED=13 ERROR_PCH_CREATE_HEAP_EXHAUSTED=14 ERROR_PCH_CREATE=15 ERROR_CANCELLED=16
    ERROR_TIME_TRACE_FILE_WRITE_FAILED=17
"""


class NvrtcError(RuntimeError):
    """NVRTC did not succeed.

    Attributes
    ----------
    status : int
        A value of ``Result``.
    log : str
        The compiler's messages, if there are any.
    """

    def __init__(self, status: int, log: str = "") -> None:
        self.status = status
        self.log = log
        name = status_name(_library.Result, "NVRTC_", status)
        super().__init__(f"{name}\n{log}" if log else name)

    def __reduce__(self) -> tuple[type[NvrtcError], tuple[int, str]]:
        return type(self), (self.status, self.log)


def check_status(status: int) -> None:
    """Raise `NvrtcError` unless a status is success."""
    if status != 0:
        raise NvrtcError(status)


_library = Bindings(
    "nvrtc", globals(), rows=_ROWS, enums=_ENUMS, prefix="nvrtc", on_error=check_status, error="NvrtcError"
)


def __getattr__(name: str) -> Any:
    return _library.resolve(name)


def __dir__() -> list[str]:
    return _library.names()


def supported_archs() -> list[int]:
    """The compute capabilities that this NVRTC compiles for, such as ``[75, 80, ..., 90, 100]``."""
    import array

    archs = array.array("i", [0] * _library.get_num_supported_archs())
    _library._get_supported_archs(archs)
    return list(archs)


def compile(
    source: str,
    name: str = "kernels.cu",
    options: Iterable[str] = (),
    *,
    kind: str = "cubin",
    headers: Mapping[str, str] | None = None,
) -> bytes:
    """Compiles CUDA C++ code.

    Parameters
    ----------
    source : str
        The code.
    name : str
        What the messages call it.
    options : iterable of str
        Such as ``--gpu-architecture=sm_90`` (``compute_90`` for PTX); ``-dlto`` is added for LTO-IR.
    kind : {"cubin", "ltoir", "ptx"}
        What to return.
    headers : mapping of str to str, optional
        Include name -> code of headers that the source includes.

    Returns
    -------
    bytes
        The code of that kind (PTX without its final NUL).

    Raises
    ------
    NvrtcError
        The code does not compile; ``log`` holds the messages.
    """
    if kind not in ("cubin", "ltoir", "ptx"):
        raise ValueError(f"kind must be 'cubin', 'ltoir' or 'ptx', got {kind!r}")
    given = headers or {}
    listed = [*options, *(["-dlto"] if kind == "ltoir" else [])]
    program = _library.create_program(source, name, len(given), list(given.values()), list(given))
    try:
        try:
            _library.compile_program(program, len(listed), listed)
        except NvrtcError as error:
            raise NvrtcError(error.status, program_log(program)) from None
        code = _output(f"get_{kind}", program)
    finally:
        _library.destroy_program([program])
    return code.removesuffix(b"\0") if kind == "ptx" else code


def program_log(program: int) -> str:
    """The messages of the last compilation of a program."""
    return _output("get_program_log", program).rstrip(b"\0").decode("utf-8", "replace").strip()


def _output(function: str, program: int) -> bytes:
    nbytes = _library.resolve(f"{function}_size")(program)
    buffer = bytearray(nbytes)
    if nbytes:
        _library.resolve(function)(program, buffer)
    return bytes(buffer)
