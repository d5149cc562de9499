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
#: Complex numbers of CUDA and of MKL are pairs.
COMPLEX = {"float2": "c64", "double2": "c128", "_MKL_Complex8": "c64", "_MKL_Complex16": "c128"}


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
    header: str = ""


@dataclass(frozen=True, slots=True)
class Headers:
    """What the headers of a library declare."""

    functions: dict[str, Function]
    enums: dict[str, dict[str, int]]


#: Folders below a site-packages folder (or a folder into which wheels were unpacked) that hold headers.
_FOLDERS = (
    "nvidia/*/include",
    "nvidia/*/cu1?/include",
    "nvpl/include",
    "nvpl/include/nvpl_fftw",
    "cutensor/include",
    "*.data/data/include",
    "*.data/data/include/fftw",
)


def include_folders(root: str | None = None) -> list[str]:
    """The include folders of the vendor wheels under `root`, or of those that are installed."""
    found: list[str] = []
    for site in dict.fromkeys([root] if root else sys.path):
        for pattern in _FOLDERS:
            found += [str(path) for path in sorted(Path(site).glob(pattern)) if path.is_dir()]
    return found if root else [*found, str(Path(sys.prefix) / "include"), str(Path(sys.prefix) / "include" / "fftw")]


def find_header(name: str, root: str | None = None) -> str | None:
    """The path of a header, or None."""
    return next((str(Path(f, name)) for f in include_folders(root) if Path(f, name).is_file()), None)


def _builtin_folder() -> list[str]:
    """Where stddef.h lies: libclang's wheel does not bring it."""
    compiler = shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return []
    answer = subprocess.run([compiler, "-print-file-name=include"], capture_output=True, text=True, check=False)
    return [f"-isystem{answer.stdout.strip()}"] if answer.returncode == 0 else []


def read(
    headers: tuple[str, ...],
    prefixes: tuple[str, ...],
    defines: tuple[str, ...] = ("",),
    root: str | None = None,
    first: str = "",
    language: str = "c",
    inline: bool = False,
) -> Headers:
    """Everything that the headers declare under some prefixes; enums under any name.

    `root` is where wheels were unpacked (None: the installed ones), `first` a folder of it that is searched first.
    """
    functions: dict[str, Function] = {}
    enums: dict[str, dict[str, int]] = {}
    for define in defines:
        for cursor in _declarations(headers, define, root, first, language):
            kind = cursor.kind.name
            if (
                kind == "FUNCTION_DECL"
                and cursor.spelling.lstrip("_").startswith(prefixes)
                and _exported(cursor, inline)
            ):
                functions.setdefault(cursor.spelling, _function(cursor))
            elif kind == "TYPEDEF_DECL":
                declared = cursor.underlying_typedef_type.get_canonical().get_declaration()
                if declared.kind.name == "ENUM_DECL":
                    enums[cursor.spelling] = {item.spelling: item.enum_value for item in declared.get_children()}
            elif kind == "ENUM_DECL" and cursor.spelling:
                enums.setdefault(cursor.spelling, {item.spelling: item.enum_value for item in cursor.get_children()})
    return Headers(functions, enums)


def _declarations(headers: tuple[str, ...], define: str, root: str | None, first: str, language: str) -> Iterator[Any]:
    from clang import cindex  # type: ignore[import-untyped]

    source = "#include <stdbool.h>\n#include <assert.h>\n" + "".join(f'#include "{header}"\n' for header in headers)
    folders = include_folders(root)
    folders.sort(key=lambda folder: not first or first not in folder)
    arguments = [f"-I{folder}" for folder in folders] + _builtin_folder() + [f"-D{macro}" for macro in define.split()]
    name = f"bindgen.{language}"
    unit = cindex.Index.create().parse(name, args=arguments, unsaved_files=[(name, source)])
    errors = [d.spelling for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error]
    if errors:
        raise RuntimeError(f"cannot read {', '.join(headers)}: {errors[0]}")
    for cursor in unit.cursor.get_children():
        yield from cursor.get_children() if cursor.kind.name == "LINKAGE_SPEC" else (cursor,)


def _exported(cursor: Any, inline: bool) -> bool:
    """Whether a function has C linkage and lies in the library."""
    return cursor.mangled_name in ("", cursor.spelling) and (inline or cursor.storage_class.name != "STATIC")


def _function(cursor: Any) -> Function:
    parameters = tuple((argument.spelling, _type(argument.type)) for argument in cursor.get_arguments())
    return Function(cursor.spelling, _type(cursor.result_type), parameters, Path(cursor.location.file.name).name)


def _type(clang_type: Any) -> CType:
    constant, levels, current = False, 0, clang_type
    while current.get_canonical().kind.name in ("POINTER", "INCOMPLETEARRAY", "CONSTANTARRAY"):
        levels += 1
        current = _pointee(current)
        constant = constant or (levels == 1 and (current.is_const_qualified() or _constant_array(clang_type)))
    if current.spelling.removeprefix("const ") == "size_t":
        return CType("usize", levels, constant, clang_type.spelling)
    spelled = current.get_canonical().spelling.removeprefix("const ").removeprefix("struct ")
    scalar = COMPLEX.get(spelled) or SCALARS.get(current.get_canonical().kind.name, "struct")
    return CType(scalar, levels, constant, clang_type.spelling)


def _constant_array(clang_type: Any) -> bool:
    """``const int values[]``: libclang says nothing of the items."""
    return clang_type.spelling.startswith("const ") and clang_type.spelling.endswith("]")


def _pointee(pointer: Any) -> Any:
    """What a pointer or array type points to, with its typedef name where there is one."""
    bare = pointer if pointer.kind.name == "POINTER" else pointer.get_canonical()
    return bare.get_pointee() if bare.kind.name == "POINTER" else bare.element_type
