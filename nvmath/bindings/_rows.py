"""Rows: one line of text per C function, and what a line means.

The grammar, by example::

    cufftXtExec(plan: i32, input: ptr, output: ptr, direction: i32)
    cufftCreate(&handle: i32)                                  # & out-parameter: returned, not passed
    cufftPlanMany(&plan: i32, rank: i32, n: i32[], ...)        # T[] address, None, sequence or buffer
    xt_set_gpus = cufftXtSetGPUs(handle: i32, ...)             # a Python name that is not the mechanical one
    nvrtcGetErrorString(result: i32) -> str                    # a result that is not a status
    exec_{float,double} = fftw{f,}_execute(plan: ptr) -> void  # a family: the braces vary together
    cublasSnrm2_v2[_64](handle: ptr, n: int, ...)              # two functions: n is i32, and i64 with the suffix
    @ cublas_api.h 13.10+                                      # the header of what follows, and the versions that have it

An indented line continues the one above; ``#`` starts a comment. Types are ``i32 u32 i64 u64 usize ptr f32 f64 char
str``, by value ``c64 c128``, and for memory on the host, of any item type, ``cbuf`` (C reads it) and ``buf`` (C may write
it). ``new`` is a structure that is allocated here, whose address is returned, and ``end`` one that is freed after the call.
Results are those, ``void`` or ``status`` (the default: a 32-bit code, 0 is success). The mechanical Python name
drops the library's prefix and a version suffix (``_v2``) and turns to snake_case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

LETTERS = {
    "i32": "i",
    "u32": "I",
    "i64": "q",
    "u64": "Q",
    "usize": "N",
    "ptr": "P",
    "f32": "f",
    "f64": "d",
    "c64": "F",
    "c128": "D",
    "char": "b",
    "str": "s",
    "new": "P",
    "end": "P",
}
#: Memory on the host, of any item type: read by C, or written.
MEMORY = {"cbuf": "*v", "buf": "*w"}
RESULTS = {
    **{name: letter for name, letter in LETTERS.items() if name not in ("char", "c64", "c128", "new", "end")},
    "void": "v",
}
RESULTS |= {"status": "!"}

_PYTHON_TYPES = {
    "ptr": "int or None",
    "f32": "float",
    "f64": "float",
    "c64": "complex",
    "c128": "complex",
    "cbuf": "address (int), None or contiguous buffer",
    "buf": "address (int), None or writable contiguous buffer",
    "char": "int or str",
    "str": "str, bytes or None",
}
_ROW = re.compile(
    r"(?:(?P<python>[\w{},]+)\s*=\s*)?(?P<c>\w[\w{},]*)\s*\((?P<parameters>.*)\)(?:\s*->\s*(?P<result>\S+))?"
)
_BRACES = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One C parameter of a row."""

    name: str
    type: str
    array: bool = False
    out: bool = False

    @property
    def letter(self) -> str:
        """Its part of the signature."""
        if self.type in MEMORY:
            return MEMORY[self.type]
        return ("&" if self.out else "*" if self.array else "") + LETTERS[self.type]

    @property
    def returned(self) -> bool:
        """Whether Python gets it back instead of passing it."""
        return self.out or self.type == "new"

    @property
    def direction(self) -> str:
        """What C does with it."""
        return "Out" if self.returned else "In and out" if self.type == "buf" else "In"

    @property
    def documented(self) -> str:
        """Its type for the docstring."""
        python = _PYTHON_TYPES.get(self.type, "int")
        if self.array:
            return f"address (int), None, buffer or sequence of {python}"
        return "int" if self.out and self.type in ("ptr", "char") else python


@dataclass(frozen=True, slots=True)
class Row:
    """One C function."""

    c_name: str
    name: str
    parameters: tuple[Parameter, ...]
    result: str
    section: str = ""

    @property
    def header(self) -> str:
        """The C header that declares it, or ''."""
        return self.section.partition(" ")[0]

    @property
    def versions(self) -> str:
        """The versions of the library that have it, of those that were read: '' (all), ``1.2+``, ``-1.2``, ``1.2-1.4``."""
        return self.section.partition(" ")[2]

    @property
    def arguments(self) -> tuple[Parameter, ...]:
        """The parameters that Python passes."""
        return tuple(p for p in self.parameters if not p.returned)

    @property
    def outs(self) -> tuple[Parameter, ...]:
        """The parameters that Python gets back."""
        return tuple(p for p in self.parameters if p.returned)

    @property
    def signature(self) -> str:
        """The signature for the seam."""
        return "".join(p.letter for p in self.parameters) + ">" + RESULTS[self.result]

    def documentation(self, error: str) -> str:
        """A numpydoc docstring; `error` names what a status raises."""
        lines = [f"Calls the C function ``{self.c_name}``."]
        if self.header:
            only = f", of versions {versions_in_words(self.versions)}" if self.versions else ""
            lines += ["", f"It is declared in ``{self.header}``{only}."]
        if self.arguments:
            lines += ["", "Parameters", "----------"]
            for p in self.arguments:
                lines += [f"{p.name} : {p.documented}", f"    {p.direction}; C type {p.type}{'[]' if p.array else ''}."]
        results = [] if self.result in ("status", "void") else [Parameter("result", self.result, out=True)]
        lines += ["", "Returns", "-------"]
        for p in (*results, *self.outs):
            lines += [f"{p.name} : {p.documented}", f"    {p.direction}; C type {p.type}."]
        if not results and not self.outs:
            lines += ["None"]
        if self.result == "status":
            lines += ["", "Raises", "------", error, "    The status is not success."]
        return "\n".join(lines) + "\n"


def versions_in_words(span: str) -> str:
    """``1.2+``, ``-1.2`` and ``1.2-1.4`` as text."""
    first, dash, last = span.rstrip("+").partition("-")
    if dash:
        return f"{first} to {last}" if first else f"up to {last}"
    return f"{first} and newer" if first else ""


def python_name(c_name: str, prefix: str) -> str:
    """The mechanical Python name of a C function."""
    name = re.sub(r"_v\d+(?=$|_64$)", "", c_name.removeprefix(prefix))
    name = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()


def lines(text: str) -> Iterator[str]:
    """The rows of a text, one string a family: comments dropped, continuations joined."""
    row = ""
    for line in text.splitlines():
        line = line.partition("#")[0].rstrip()
        if not line:
            continue
        if line[0].isspace():
            row += " " + line.strip()
            continue
        if row:
            yield row
        row = line
    if row:
        yield row


def expand(row: str, *, wide: bool = False) -> Iterator[str]:
    """The rows of a family: one per alternative of its braces, two per bracket (only that of 64 bits if `wide`)."""
    families = [group.split(",") for group in _BRACES.findall(row)]
    sizes = {len(family) for family in families}
    if len(sizes) > 1:
        raise ValueError(f"the braces of a row must have the same number of alternatives: {row}")
    for k in range(sizes.pop() if sizes else 1):
        one = _BRACES.sub(lambda match, k=k: match[1].split(",")[k].strip(), row)  # type: ignore[misc]
        if "[_64](" in one:
            head, _, tail = one.partition("[_64](")
            if not wide:
                yield f"{head}({_integers(tail, 'i32')}"
            yield f"{head.replace(' =', '_64 =')}_64({_integers(tail, 'i64')}"
        else:
            yield one


def _integers(parameters: str, width: str) -> str:
    return re.sub(r":\s*int\b", f": {width}", parameters)


def parse(row: str, prefix: str, section: str = "") -> Row:
    """The meaning of one expanded row; `section` is its header and versions."""
    match = _ROW.fullmatch(row.strip())
    if match is None:
        raise ValueError(f"not a row: {row}")
    c_name = match["c"]
    parameters = tuple(_parameter(text, row) for text in match["parameters"].split(",") if text.strip())
    result = match["result"] or "status"
    if result not in RESULTS:
        raise ValueError(f"unknown result '{result}' in: {row}")
    return Row(c_name, match["python"] or python_name(c_name, prefix), parameters, result, section)


def _parameter(text: str, row: str) -> Parameter:
    name, colon, type_ = (part.strip() for part in text.partition(":"))
    out, name = name.startswith("&"), name.removeprefix("&")
    array, type_ = type_.endswith("[]"), type_.removesuffix("[]")
    known = type_ in LETTERS or (type_ in MEMORY and not out and not array)
    by_value = not out and not array
    known = known and (by_value or type_ not in ("new", "end"))
    if (
        not colon
        or not name.isidentifier()
        or not known
        or (out and array)
        or (type_[0] == "c" and type_[1:].isdigit() and not by_value)
    ):
        raise ValueError(f"not a parameter: '{text.strip()}' in: {row}")
    return Parameter(name, type_, array, out)


def index(text: str, prefix: str, *, wide: bool = False) -> dict[str, tuple[str, str]]:
    """Python name -> expanded row and section, without parsing the parameters (of hundreds a program uses ten).

    If `wide`, a bracket stands for the function of 64 bits alone, which then has the name without the suffix.
    """
    found: dict[str, tuple[str, str]] = {}
    section = ""
    for family in lines(text):
        if family.startswith("@"):
            section = family[1:].strip()
            continue
        for row in expand(family, wide=wide):
            head = row.partition("(")[0]
            name, equals, c_name = (part.strip() for part in head.partition("="))
            name = name if equals else python_name(c_name or name, prefix)
            if wide and "[_64](" in family:
                name = name.removesuffix("_64")
                row = f"{name} = {row.partition('=')[2].strip() or row}"
            if name in found:
                raise ValueError(f"two rows for {name}: {row}")
            found[name] = row, section
    return found


def enums(text: str) -> dict[str, tuple[str, dict[str, int]]]:
    """Name -> (base, members) of the enums in a text of lines such as ``IntEnum Type: R2C=42 C2R=44``."""
    tables: dict[str, tuple[str, dict[str, int]]] = {}
    for line in lines(text):
        head, _, body = line.partition(":")
        base, name = head.split()
        members = (item.partition("=") for item in body.split())
        tables[name] = (base, {member: int(value, 0) for member, _, value in members})
    return tables
