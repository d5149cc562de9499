"""Type stubs for the binding modules: what editors and type checkers see of functions that are made at run time.

``setup.py`` puts them into the wheel; ``python -m tools.bindgen stubs FOLDER`` writes them elsewhere. Only the standard library
and the modules themselves are needed, no C library.
"""

from __future__ import annotations

import enum
import importlib
import inspect
import keyword
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from nvmath.bindings._rows import TYPES, Parameter, Row

#: The modules that have a stub.
MODULES = (
    "cublas", "cublasLt", "cublasMp", "cudss", "cufft", "cufftMp", "curand", "cusolver", "cusolverDn", "cusolverMp", "cusolverSp",
    "cusparse", "cusparseLt", "cutensor", "mathdx", "nccl", "nvpl/blas", "nvpl/fft", "nvpl/lapack", "nvshmem",
)  # fmt: skip

_HEAD = '''"""{doc}"""

import ctypes
import enum
from collections.abc import Sequence
from typing import Any, SupportsComplex, SupportsFloat, SupportsIndex, TypeAlias

import numpy
from typing_extensions import Buffer

#: An address, or what holds one.
Pointer: TypeAlias = SupportsIndex | ctypes._PointerLike | ctypes._CArgObject | None
#: Memory on the host: arrays, or an address.
Memory: TypeAlias = Pointer | Buffer | numpy.generic

'''


def write(folder: Path) -> list[Path]:
    """Writes every stub below a folder that stands for ``nvmath/bindings``."""
    written = []
    for name in MODULES:
        path = folder / f"{name}.pyi"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(stub(importlib.import_module("nvmath.bindings." + name.replace("/", "."))), encoding="utf-8")
        written.append(path)
    return written


def stub(module: ModuleType) -> str:
    """The text of one stub."""
    library = module._library
    doc = (module.__doc__ or "").partition("\n")[0]
    lines = [_HEAD.format(doc=doc).rstrip(), ""]
    own = dict(_own(module))
    for row in library.rows():
        if not row.name.startswith("_") and row.name not in own:
            lines.append(_function(row))
    lines += [f"def {name}(attr: int) -> Any: ..." for name in library.tables.dtypes]
    for text in own.values():
        lines.append(text)
    lines += [
        line for name in library.tables.enums if not name.startswith("_") for line in _enum(getattr(module, name))
    ]
    lines += [
        line
        for name, fields in library.tables.records.items()
        if not name.startswith("_")
        for line in _record(name, fields)
    ]
    if library.errors is not None:
        lines += _error(library.errors.name) if library.errors.kind.__module__ == module.__name__ else []
        lines += ["def check_status(status: int) -> None: ..."]
    return "\n".join(lines) + "\n"


def _own(module: ModuleType) -> Iterator[tuple[str, str]]:
    """What the module itself defines: functions and classes that are not made from its tables."""
    for name, value in vars(module).items():
        if name.startswith("_") or name == "check_status" or getattr(value, "__module__", None) != module.__name__:
            continue
        if name in module._library._built:
            continue
        if isinstance(value, FunctionType):
            yield name, f"def {name}{_signature(value)}: ..."
        elif inspect.isclass(value) and not issubclass(value, enum.Enum | Exception):
            yield name, f"class {name}:\n    def __getattr__(self, name: str) -> Any: ..."
        elif isinstance(value, int):
            yield name, f"{name}: int"
        elif inspect.isclass(value) and issubclass(value, Exception) and not hasattr(module, "check_status"):
            yield name, f"class {name}(Exception): ..."


def _signature(function: FunctionType) -> str:
    parameters = []
    for parameter in inspect.signature(function).parameters.values():
        default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
        annotation = parameter.annotation if isinstance(parameter.annotation, str) else "Any"
        star = (
            "*, " if parameter.kind is parameter.KEYWORD_ONLY and not any("*" in known for known in parameters) else ""
        )
        parameters.append(f"{star}{parameter.name}: {_plain(annotation)}{default}")
    result = function.__annotations__.get("return", "Any")
    return f"({', '.join(parameters)}) -> {_plain(result) if isinstance(result, str) else 'None'}"


def _plain(annotation: str) -> str:
    known = {"int", "float", "str", "bytes", "None", "Any", "bool", "Sequence", "tuple"}
    words = "".join(letter if letter.isalnum() or letter == "_" else " " for letter in annotation).split()
    return annotation if all(word in known for word in words) else "Any"


def _function(row: Row) -> str:
    listed = ", ".join(f"{p.name}: {_given(p)}" for p in row.arguments)
    results = [] if row.result in ("status", "void") else [TYPES[row.result].returned]
    results += [TYPES[p.type].returned for p in row.outs]
    answer = "None" if not results else results[0] if len(results) == 1 else f"tuple[{', '.join(results)}]"
    text = f'"""``{row.c_name}`` ({row.header or "no header"}{", " + row.versions if row.versions else ""})."""'
    return f"def {row.name}({listed}) -> {answer}:\n    {text}"


def _given(p: Parameter) -> str:
    passed = TYPES[p.type].passed
    return f"Memory | Sequence[{passed}]" if p.array else passed


def _enum(kind: Any) -> Iterator[str]:
    yield f"class {kind.__name__}(enum.{kind.__mro__[1].__name__}):"
    for member, value in kind.__members__.items():
        yield f"    {member} = {int(value)}" if not keyword.iskeyword(member) else f"    # {member} = {int(value)}"


def _record(name: str, fields: list[tuple[str, str]]) -> Iterator[str]:
    yield f"class {name}(numpy.ndarray[Any, Any]):"
    yield "    def __new__(cls, size: int = 1) -> Any: ..."
    yield "    @property"
    yield "    def ptr(self) -> int: ..."
    yield from (f"    {field}: Any" for field, _ in fields)
    yield "    @classmethod"
    yield "    def from_data(cls, data: Any) -> Any: ..."
    yield "    @classmethod"
    yield "    def from_buffer(cls, buffer: Any) -> Any: ..."
    yield "    @classmethod"
    yield "    def from_ptr(cls, ptr: int, size: int = 1, readonly: bool = False) -> Any: ..."


def _error(name: str) -> list[str]:
    return [
        f"class {name}(Exception):",
        "    status: int",
        "    function: str",
        "    explanation: str",
        "    def __init__(self, status: int) -> None: ...",
    ]
