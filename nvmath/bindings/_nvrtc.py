"""NVRTC (``nvrtc.h``): CUDA C++ to PTX, cubin or LTO-IR. Private; no GPU is needed.

`compile` does it in one call; the rows below it are the C functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from nvmath.bindings._bind import Bindings, Errors

_ROWS = """
nvrtcGetErrorString(result: i32) -> str
version = nvrtcVersion(&major: i32, &minor: i32)
nvrtcGetNumSupportedArchs(&count: i32)
_get_supported_archs = nvrtcGetSupportedArchs(archs: i32[])
create_program = nvrtcCreateProgram(&program: ptr, source: str, name: str, num_headers: i32, headers: str[],
    include_names: str[])
destroy_program = nvrtcDestroyProgram(program: ptr*)
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


_errors = Errors("NvrtcError", "NVRTC_", "Result", base=RuntimeError)
_library = Bindings("nvrtc", globals(), prefix="nvrtc", errors=_errors)
__getattr__, __dir__ = _library.resolve, _library.names


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
        The code does not compile; its ``explanation`` is the messages.
    """
    if kind not in ("cubin", "ltoir", "ptx"):
        raise ValueError(f"kind must be 'cubin', 'ltoir' or 'ptx', got {kind!r}")
    given = headers or {}
    listed = [*options, *(["-dlto"] if kind == "ltoir" else [])]
    program = _library.create_program(source, name, len(given), list(given.values()), list(given))
    try:
        try:
            _library.compile_program(program, len(listed), listed)
        except _errors.kind as error:
            raise _errors.explained(error, _library.sized("get_program_log", program)) from None
        code = _library.sized(f"get_{kind}", program)
    finally:
        _library.destroy_program(program)
    return code.removesuffix(b"\0") if kind == "ptx" else code
