"""Reads functions and enums from C headers, with libclang."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SCALARS = {
    "INT": "i32", "UINT": "u32", "LONG": "i64", "LONGLONG": "i64", "ULONG": "u64", "ULONGLONG": "u64", "ENUM": "i32",
    "FLOAT": "f32", "DOUBLE": "f64", "CHAR_S": "char", "SCHAR": "char", "UCHAR": "char", "BOOL": "char", "VOID": "void",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class CType:
    """A C type as far as rows care: a scalar's name, ``struct``, or a pointer (``levels`` > 0) to one."""

    scalar: str
    levels: int = 0
    constant: bool = False
    spelling: str = ""


@dataclass(frozen=True, slots=True)
class Function:
    """A declared function."""

    name: str
    result: CType
    parameters: tuple[tuple[str, CType], ...]


@dataclass(frozen=True, slots=True)
class Headers:
    """What the headers of a library declare."""

    functions: dict[str, Function]
    enums: dict[str, dict[str, int]]


def include_folders() -> list[str]:
    """The include folders of the installed vendor wheels and of this environment."""
    found: list[str] = []
    for site in dict.fromkeys(sys.path):
        for pattern in ("nvidia/*/include", "nvpl/include", "nvpl/include/nvpl_fftw", "cutensor/include"):
            found += [str(path) for path in sorted(Path(site).glob(pattern)) if path.is_dir()]
    return [*found, str(Path(sys.prefix) / "include")]


def find_header(name: str) -> str | None:
    """The path of a header, or None."""
    return next((str(Path(f, name)) for f in include_folders() if Path(f, name).is_file()), None)


def _builtin_folder() -> list[str]:
    """Where stddef.h lies: libclang's wheel does not bring it."""
    compiler = shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return []
    answer = subprocess.run([compiler, "-print-file-name=include"], capture_output=True, text=True, check=False)
    return [f"-isystem{answer.stdout.strip()}"] if answer.returncode == 0 else []


def read(headers: tuple[str, ...], prefix: str, defines: tuple[str, ...] = ("",)) -> Headers:
    """Everything that the headers declare under a prefix; enums under any name."""
    functions: dict[str, Function] = {}
    enums: dict[str, dict[str, int]] = {}
    for define in defines:
        for cursor in _top_level(headers, define):
            kind = cursor.kind.name
            if kind == "FUNCTION_DECL" and cursor.spelling.lstrip("_").startswith(prefix):
                functions.setdefault(cursor.spelling, _function(cursor))
            elif kind == "TYPEDEF_DECL":
                declared = cursor.underlying_typedef_type.get_canonical().get_declaration()
                if declared.kind.name == "ENUM_DECL":
                    enums[cursor.spelling] = {item.spelling: item.enum_value for item in declared.get_children()}
            elif kind == "ENUM_DECL" and cursor.spelling:
                enums.setdefault(cursor.spelling, {item.spelling: item.enum_value for item in cursor.get_children()})
    return Headers(functions, enums)


def _top_level(headers: tuple[str, ...], define: str) -> Iterator[Any]:
    from clang import cindex  # type: ignore[import-untyped]

    source = "".join(f'#include "{header}"\n' for header in headers)
    arguments = (
        [f"-I{folder}" for folder in include_folders()] + _builtin_folder() + ([f"-D{define}"] if define else [])
    )
    unit = cindex.Index.create().parse("bindgen.c", args=arguments, unsaved_files=[("bindgen.c", source)])
    errors = [d.spelling for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error]
    if errors:
        raise RuntimeError(f"cannot read {', '.join(headers)}: {errors[0]}")
    yield from unit.cursor.get_children()


def _function(cursor: Any) -> Function:
    parameters = tuple((argument.spelling, _type(argument.type)) for argument in cursor.get_arguments())
    return Function(cursor.spelling, _type(cursor.result_type), parameters)


def _type(clang_type: Any) -> CType:
    constant, levels, current = False, 0, clang_type
    while current.get_canonical().kind.name in ("POINTER", "INCOMPLETEARRAY", "CONSTANTARRAY"):
        levels += 1
        current = _pointee(current)
        constant = constant or (levels == 1 and current.is_const_qualified())
    if current.spelling.removeprefix("const ") == "size_t":
        return CType("usize", levels, constant, clang_type.spelling)
    scalar = SCALARS.get(current.get_canonical().kind.name, "struct")
    return CType(scalar, levels, constant, clang_type.spelling)


def _pointee(pointer: Any) -> Any:
    """What a pointer or array type points to, with its typedef name where there is one."""
    bare = pointer if pointer.kind.name == "POINTER" else pointer.get_canonical()
    return bare.get_pointee() if bare.kind.name == "POINTER" else bare.element_type
