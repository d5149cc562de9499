"""The LLVM text that gives a compiled Python function the C++ prototype that a CUDA library declares.

NVCC passes ``float2`` and ``double2`` as the identified types ``%struct.float2`` and ``%struct.double2``. The
link-time optimiser inlines a definition only when its types have these very names; numba uses an anonymous ``{float,
float}`` for a result and two scalars for an argument, so its own function would be linked but called, once per element.
"""

from __future__ import annotations

from .signature import Pointer, Signature

__all__ = ["wrapper_text"]

_SCALARS = {
    "float32": "float",
    "float64": "double",
    "int32": "i32",
    "uint32": "i32",
    "int64": "i64",
    "uint64": "i64",
    "complex64": "%struct.float2",
    "complex128": "%struct.double2",
}
_PARTS = {"complex64": "float", "complex128": "double"}


def wrapper_text(symbol: str, signature: Signature, inner: str, inner_result: str, inner_arguments: list[str]) -> str:
    """Definition of `symbol` that calls `inner`.

    Parameters
    ----------
    symbol, inner
        Names without the leading ``@``.
    signature
        The C signature of `symbol`.
    inner_result, inner_arguments
        The LLVM types of `inner` as printed. A complex argument may be one anonymous structure or two scalars.
    """
    body: list[str] = []
    passed: list[str] = []
    left = list(inner_arguments)
    for index, argument in enumerate(signature.arguments):
        passed += _pass(index, argument, left, body)
    declared = ", ".join(f"{_outer(argument)} %a{index}" for index, argument in enumerate(signature.arguments))
    body += _return(signature.result, f'call {inner_result} @"{inner}"({", ".join(passed)})', inner_result)
    structs = sorted({name for name in (*signature.arguments, signature.result) if name in _PARTS}, key=str)
    return "\n".join(
        [
            *(
                f"{_SCALARS[name]} = type {{ {_PARTS[name]}, {_PARTS[name]} }}"
                for name in structs
                if isinstance(name, str)
            ),
            f'define {_SCALARS[signature.result] if signature.result else "void"} @"{symbol}"({declared}) {{',
            "entry:",
            *(f"  {line}" for line in body),
            "}",
            "",
        ]
    )


def _outer(argument: str | Pointer) -> str:
    return "i8*" if isinstance(argument, Pointer) else _SCALARS[argument]


def _pass(index: int, argument: str | Pointer, left: list[str], body: list[str]) -> list[str]:
    """Take from `left` what this argument feeds; add the conversion to `body`."""
    target = left.pop(0)
    if isinstance(argument, Pointer):
        if target == "i8*":
            return [f"i8* %a{index}"]
        body.append(f"%p{index} = bitcast i8* %a{index} to {target}")
        return [f"{target} %p{index}"]
    if argument not in _PARTS:
        return [f"{target} %a{index}"]
    body.append(f"%x{index} = extractvalue {_SCALARS[argument]} %a{index}, 0")
    body.append(f"%y{index} = extractvalue {_SCALARS[argument]} %a{index}, 1")
    part = _PARTS[argument]
    if target == part:
        left.pop(0)
        return [f"{part} %x{index}", f"{part} %y{index}"]
    body.append(f"%h{index} = insertvalue {target} undef, {part} %x{index}, 0")
    body.append(f"%s{index} = insertvalue {target} %h{index}, {part} %y{index}, 1")
    return [f"{target} %s{index}"]


def _return(result: str | None, call: str, inner_result: str) -> list[str]:
    if result is None:
        return [call, "ret void"]
    if result not in _PARTS:
        return [f"%r = {call}", f"ret {_SCALARS[result]} %r"]
    struct, part = _SCALARS[result], _PARTS[result]
    return [
        f"%r = {call}",
        f"%rx = extractvalue {inner_result} %r, 0",
        f"%ry = extractvalue {inner_result} %r, 1",
        f"%r0 = insertvalue {struct} undef, {part} %rx, 0",
        f"%r1 = insertvalue {struct} %r0, {part} %ry, 1",
        f"ret {struct} %r1",
    ]
