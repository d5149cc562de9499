"""NvJitLink (``nvJitLink.h``): links LTO-IR, PTX and cubins to device code. Private; no GPU is needed.

`link` does it in one call; the rows below it are the C functions.
"""

from __future__ import annotations

from collections.abc import Iterable

from nvmath.bindings._bind import Bindings, Errors

_ROWS = """
create = nvJitLinkCreate(&handle: ptr, num_options: u32, options: str[])
destroy = nvJitLinkDestroy(handle: ptr*)
add_data = nvJitLinkAddData(handle: ptr, input_type: i32, data: char[], size: usize, name: str)
add_file = nvJitLinkAddFile(handle: ptr, input_type: i32, file_name: str)
complete = nvJitLinkComplete(handle: ptr)
get_linked_cubin_size = nvJitLinkGetLinkedCubinSize(handle: ptr, &nbytes: usize)
get_linked_cubin = nvJitLinkGetLinkedCubin(handle: ptr, cubin: char[])
get_linked_ptx_size = nvJitLinkGetLinkedPtxSize(handle: ptr, &nbytes: usize)
get_linked_ptx = nvJitLinkGetLinkedPtx(handle: ptr, ptx: char[])
get_error_log_size = nvJitLinkGetErrorLogSize(handle: ptr, &nbytes: usize)
get_error_log = nvJitLinkGetErrorLog(handle: ptr, log: char[])
get_info_log_size = nvJitLinkGetInfoLogSize(handle: ptr, &nbytes: usize)
get_info_log = nvJitLinkGetInfoLog(handle: ptr, log: char[])
version = nvJitLinkVersion(&major: u32, &minor: u32)
"""

_ENUMS = """
IntEnum Result: SUCCESS=0 ERROR_UNRECOGNIZED_OPTION=1 ERROR_MISSING_ARCH=2 ERROR_INVALID_INPUT=3 ERROR_PTX_COMPILE=4
    ERROR_NVVM_COMPILE=5 ERROR_INTERNAL=6 ERROR_THREADPOOL=7 ERROR_UNRECOGNIZED_INPUT=8 ERROR_FINALIZE=9
    ERROR_NULL_INPUT=10 ERROR_INCOMPATIBLE_OPTIONS=11 ERROR_INCORRECT_INPUT_TYPE=12 ERROR_ARCH_MISMATCH=13
    ERROR_OUTDATED_LIBRARY=14 ERROR_MISSING_FATBIN=15 ERROR_UNRECOGNIZED_ARCH=16 ERROR_UNSUPPORTED_ARCH=17
    ERROR_LTO_NOT_ENABLED=18
IntEnum InputType: NONE=0 CUBIN=1 PTX=2 LTOIR=3 FATBIN=4 OBJECT=5 LIBRARY=6 INDEX=7 ANY=10
"""

_INPUTS = {"cubin": 1, "ptx": 2, "ltoir": 3, "fatbin": 4, "object": 5, "library": 6, "any": 10}


_errors = Errors("NvJitLinkError", "NVJITLINK_", "Result", base=RuntimeError)
_library = Bindings("nvjitlink", globals(), prefix="nvJitLink", errors=_errors)
__getattr__, __dir__ = _library.resolve, _library.names


def link(inputs: Iterable[tuple[str, bytes, str]], options: Iterable[str], *, kind: str = "cubin") -> bytes:
    """Links device code.

    Parameters
    ----------
    inputs : iterable of (str, bytes, str)
        Kind (``"ltoir"``, ``"ptx"``, ``"cubin"``, ``"fatbin"``, ``"object"``, ``"library"`` or ``"any"``), code, and
        what the messages call it.
    options : iterable of str
        Such as ``-arch=sm_90`` and ``-lto``.
    kind : {"cubin", "ptx"}
        What to return; PTX needs the options ``-lto`` and ``-ptx``.

    Returns
    -------
    bytes
        The linked code (PTX without its final NUL).

    Raises
    ------
    NvJitLinkError
        The code does not link; its ``explanation`` is the messages.
    """
    if kind not in ("cubin", "ptx"):
        raise ValueError(f"kind must be 'cubin' or 'ptx', got {kind!r}")
    listed = list(options)
    handle = _library.create(len(listed), listed)
    try:
        for input_kind, data, name in inputs:
            code = data + b"\0" if input_kind == "ptx" else data
            _library.add_data(handle, _INPUTS[input_kind], code, len(code), name)
        _library.complete(handle)
        linked = _library.sized(f"get_linked_{kind}", handle)
    except _errors.kind as error:
        raise _errors.explained(error, _library.sized("get_error_log", handle)) from None
    finally:
        _library.destroy(handle)
    return linked.removesuffix(b"\0") if kind == "ptx" else linked
