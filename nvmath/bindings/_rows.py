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
str``, by value ``c64 c128``, and for memory on the host ``cbuf`` (C reads it) and ``buf`` (C may write it), of any item type
or ``cbuf<T> buf<T>``. ``T*`` is one value that C gets by address, ``null`` a pointer that is always NULL and is not
passed. ``new`` is a structure that is allocated here, whose address is returned, and ``end`` one that is freed after the call.
Results are those, ``void`` or ``status`` (the default: a 32-bit code, 0 is success). The mechanical Python name
drops the library's prefix and a version suffix (``_v2``) and turns to snake_case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple


class Type(NamedTuple):
    """A type of the rows.

    Attributes
    ----------
    letter : str
        Of the seam.
    item : str
        NumPy's name of it in a structure.
    passed, documented : str
        What Python passes: for type checkers (`tools/bindgen/stubs.py` defines the names), and in words.
    returned : str
        What Python gets back.
    """

    letter: str
    item: str = ""
    passed: str = "SupportsIndex"
    documented: str = "int"
    returned: str = "int"


_COMPLEX = "SupportsComplex | SupportsFloat | SupportsIndex"
TYPES = {
    "i32": Type("i", "i4"),
    "u32": Type("I", "u4"),
    "i64": Type("q", "i8"),
    "u64": Type("Q", "u8"),
    "usize": Type("N", "u8"),
    "ptr": Type("P", "u8", "Pointer", "int or None"),
    "f32": Type("f", "f4", "SupportsFloat", "float", "float"),
    "f64": Type("d", "f8", "SupportsFloat", "float", "float"),
    "c64": Type("F", "", _COMPLEX, "complex"),
    "c128": Type("D", "", _COMPLEX, "complex"),
    "char": Type("b", "", "SupportsIndex | str | bytes", "int or str"),
    "str": Type("s", "", "str | bytes | None", "str, bytes or None", "str | None"),
    "cbuf": Type("*v", "", "Memory", "address (int), None or contiguous buffer"),
    "buf": Type("*w", "", "Memory", "address (int), None or writable contiguous buffer"),
    "null": Type("P"),
    "new": Type("P"),
    "end": Type("P"),
}
#: Memory on the host: read by C, or written.
MEMORY = frozenset({"cbuf", "buf"})
#: What the seam does not know: `_adapted` makes something else of it.
ADAPTED = frozenset({"null", "new", "end"})
#: Numbers that the seam passes by value only.
_BY_VALUE = frozenset({"c64", "c128"})
#: What the items of memory may be, and what NumPy calls it.
ITEMS = {"i32": "int32", "u32": "uint32", "i64": "int64", "u64": "uint64", "usize": "uint64", "f32": "float32"}
ITEMS |= {"f64": "float64", "c64": "complex64", "c128": "complex128"}
RESULTS = {name: type_.letter for name, type_ in TYPES.items() if name not in MEMORY | ADAPTED | _BY_VALUE | {"char"}}
RESULTS |= {"void": "v", "status": "!"}

_ROW = re.compile(
    r"(?:(?P<python>[\w{},]+)\s*=\s*)?(?P<c>\w[\w{},]*)\s*\((?P<parameters>.*)\)(?:\s*->\s*(?P<result>\S+))?"
)
#: Where a word of a C name ends: ``XtSet``, ``JITCallback``.
_WORDS = re.compile(r"([a-z](?=[A-Z])|[A-Z](?=[A-Z][a-z]))")
_BRACES = re.compile(r"\{([^{}]*)\}")
_VERSION = re.compile(r"_v\d+(?=$|_64$)")


class Parameter(NamedTuple):
    """One C parameter of a row."""

    name: str
    type: str
    array: bool = False
    out: bool = False
    by_address: bool = False
    item: str = ""  # of memory, where it is known

    @property
    def written(self) -> str:
        """Its type as in the row."""
        return self.type + (f"<{self.item}>" if self.item else "[]" if self.array else "*" if self.by_address else "")

    @property
    def is_array(self) -> bool:
        """Whether Python may pass an object with several numbers."""
        return self.array or self.type in MEMORY

    @property
    def adapted(self) -> bool:
        """Whether the seam gets something else."""
        return self.by_address or self.type in ADAPTED

    @property
    def item_size(self) -> int:
        """Bytes of an item of memory; 0 where it is not known."""
        return int("".join(filter(str.isdigit, ITEMS[self.item]))) // 8 if self.item else 0

    @property
    def letter(self) -> str:
        """Its part of the signature."""
        if self.item:
            return ("-" if self.type == "cbuf" else "+") + TYPES[self.item].letter
        return ("&" if self.out else "*" if self.array or self.by_address else "") + TYPES[self.type].letter

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
        python = TYPES[self.type].documented
        if self.array:
            return f"address (int), None, buffer or sequence of {python}"
        if self.item:
            return f"{python} of {ITEMS[self.item]}"
        return "int" if self.out and self.type in ("ptr", "char") else python


class Row(NamedTuple):
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
        return tuple(p for p in self.parameters if not p.returned and p.type != "null")

    @property
    def outs(self) -> tuple[Parameter, ...]:
        """The parameters that Python gets back."""
        return tuple(p for p in self.parameters if p.returned)

    @property
    def signature(self) -> str:
        """The signature for the seam."""
        return "".join(p.letter for p in self.parameters) + ">" + RESULTS[self.result]

    def documentation(self, error: str, lengths: Mapping[str, str] = MappingProxyType({})) -> str:
        """A numpydoc docstring; `error` names what a status raises, `lengths` says how long arrays must be."""
        lines = [f"Calls the C function ``{self.c_name}``."]
        if self.header:
            only = f", of versions {versions_in_words(self.versions)}" if self.versions else ""
            lines += ["", f"It is declared in ``{self.header}``{only}."]
        if self.arguments:
            lines += ["", "Parameters", "----------"]
            for p in self.arguments:
                length = f"; {lengths[p.name]}" if p.name in lengths else ""
                lines += [f"{p.name} : {p.documented}", f"    {p.direction}; C type {p.written}{length}."]
        results = [] if self.result in ("status", "void") else [Parameter("result", self.result, out=True)]
        lines += ["", "Returns", "-------"]
        for p in (*results, *self.outs):
            lines += [f"{p.name} : {p.documented}", f"    {p.direction}; C type {p.type}."]
        if not results and not self.outs:
            lines += ["None"]
        raises = [error, "    The status is not success."] if self.result == "status" else []
        if lengths:
            raises += [
                "ValueError",
                "    An array is shorter than the other arguments need; not checked for an address.",
            ]
        if raises:
            lines += ["", "Raises", "------", *raises]
        return "\n".join(lines) + "\n"


def versions_in_words(span: str) -> str:
    """``1.2+``, ``-1.2`` and ``1.2-1.4`` as text."""
    first, dash, last = span.rstrip("+").partition("-")
    if dash:
        return f"{first} to {last}" if first else f"up to {last}"
    return f"{first} and newer" if first else ""


def python_name(c_name: str, prefix: str) -> str:
    """The mechanical Python name of a C function."""
    name = _VERSION.sub("", c_name.removeprefix(prefix))
    return name if name.islower() else _WORDS.sub(r"\1_", name).lower()


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
    return re.sub(r"([:<]\s*)int\b", rf"\g<1>{width}", parameters)


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
    array, by_address = type_.endswith("[]"), type_.endswith("*")
    type_, bracket, item = type_.removesuffix("[]").removesuffix("*").removesuffix(">").partition("<")
    plain = not (out or array or by_address)
    known = type_ in TYPES and (plain or type_ not in MEMORY | ADAPTED | _BY_VALUE)
    known = known and (not bracket or (type_ in MEMORY and item in ITEMS))
    if not colon or not name.isidentifier() or not known or out + array + by_address > 1:
        raise ValueError(f"not a parameter: '{text.strip()}' in: {row}")
    return Parameter(name, type_, array, out, by_address, item)


class Index:
    """The rows of a text, found by their Python names.

    If `wide`, a bracket stands for the function of 64 bits alone, which then has the name without the suffix.
    """

    def __init__(self, text: str, prefix: str, *, wide: bool = False) -> None:
        self._prefix, self._wide = prefix, wide
        self._families: list[tuple[str, str, str]] = []  # how each name of it ends, the family, its section
        section = ""
        for line in lines(text):
            if line.startswith("@"):
                section = line[1:].strip()
            else:
                self._families.append((self._ending(line), line, section))

    def __iter__(self) -> Iterator[Row]:
        """Every row."""
        for _, family, section in self._families:
            yield from (parse(row, self._prefix, section) for _, row in self._named(family))

    def names(self) -> list[str]:
        """The names of all rows, without parsing their parameters."""
        names = [name for _, family, _ in self._families for name, _ in self._named(family)]
        if len(names) > len(set(names)):
            raise ValueError(f"two rows for {next(name for at, name in enumerate(names) if name in names[:at])}")
        return names

    def get(self, name: str) -> Row | None:
        """The row of that name: of hundreds of families a program uses ten, and one is expanded here."""
        loose = _loose(name)
        for ending, family, section in self._families:
            if loose.endswith(ending):
                for other, row in self._named(family):
                    if other == name:
                        return parse(row, self._prefix, section)
        return None

    def _ending(self, family: str) -> str:
        name, equals, _ = family.partition("(")[0].removesuffix("[_64]").partition("=")
        name = name if equals else _VERSION.sub("", name.removeprefix(self._prefix))
        return _loose(name.rpartition("}")[2].strip())

    def _named(self, family: str) -> Iterator[tuple[str, str]]:
        for row in expand(family, wide=self._wide):
            name, equals, c_name = (part.strip() for part in row.partition("(")[0].partition("="))
            name = name if equals else python_name(c_name or name, self._prefix)
            if self._wide and "[_64](" in family:
                name = name.removesuffix("_64")
                row = f"{name} = {row.partition('=')[2].strip() or row}"
            yield name, row


def _loose(name: str) -> str:
    return name.removesuffix("_64").replace("_", "").lower()


def enums(text: str) -> dict[str, tuple[str, dict[str, int]]]:
    """Name -> (base, members) of the enums in a text of lines such as ``IntEnum Type: R2C=42 C2R=44``."""
    tables: dict[str, tuple[str, dict[str, int]]] = {}
    for line in lines(text):
        head, _, body = line.partition(":")
        base, name = head.split()
        members = (item.partition("=") for item in body.split())
        tables[name] = (base, {member: int(value, 0) for member, _, value in members})
    return tables
