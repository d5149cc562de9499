"""Editions: the headers of one library as they lie in one set of packages, with its version."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from tools.bindgen.headers import Function, Headers, find_header, read
from tools.bindgen.targets import Target

#: Folders into which wheels were unpacked, oldest first; without it the installed packages are read.
VARIABLE = "NVMATH_BINDGEN_PACKAGES"


@dataclass(frozen=True, slots=True)
class Edition:
    """One version of a library's headers."""

    version: str
    headers: Headers


def roots() -> list[str | None]:
    """The folders named in the environment, or the installed packages."""
    named = [entry for entry in os.environ.get(VARIABLE, "").split(os.pathsep) if entry]
    return [*named] or [None]


def editions(target: Target) -> list[Edition]:
    """Every edition of a library that is there, oldest first."""
    found: dict[str, Edition] = {}
    for root in roots():
        headers = tuple(h for h in target.headers if find_header(h, root) is not None)
        if headers and target.headers[0] in headers:
            prefixes = target.prefixes or (target.prefix,)
            read_ = read(headers, prefixes, target.defines, root, target.first, target.language, target.inline)
            version = version_of(target, root)
            found[version] = Edition(version, _merged(found.get(version), read_))
    return sorted(found.values(), key=lambda edition: number(edition.version))


def _merged(before: Edition | None, headers: Headers) -> Headers:
    """One version may come for several CUDAs, and as several patches: what any of them declares."""
    if before is None:
        return headers
    old = before.headers
    return Headers({**old.functions, **headers.functions}, {**old.enums, **headers.enums})


def number(version: str) -> tuple[int, ...]:
    """A version that can be compared."""
    return tuple(int(part) for part in re.findall(r"\d+", version))


def version_of(target: Target, root: str | None) -> str:
    """The version of the package that holds the headers, as far as that tells them apart."""
    for site in [root] if root else sys.path:
        for folder in sorted(_dist_infos(Path(site), target.package)):
            match = re.search(rf"-(\d+(?:\.\d+){{{int(target.parts) - 1}}})", folder.name)
            if match:
                return match[1]
    return ""


def _dist_infos(site: Path, package: str) -> list[Path]:
    """The metadata folders of a package, whatever CUDA its name ends in."""
    return [
        folder
        for end in ("", "_cu13", "_cu12")
        for folder in sorted(site.glob(f"{package.rstrip('*')}{end}-*.dist-info"))
    ]


def joined(found: list[Edition]) -> dict[str, tuple[Function, str]]:
    """C name -> newest declaration, and which versions have it: nothing (all), ``1.2+``, ``-1.2`` or ``1.2-1.4``."""
    versions = list(dict.fromkeys(edition.version for edition in found))
    functions: dict[str, tuple[Function, str]] = {}
    for edition in reversed(found):
        for name, function in edition.headers.functions.items():
            if name not in functions:
                have = {e.version for e in found if name in e.headers.functions}
                functions[name] = function, _span([version in have for version in versions], versions)
    return functions


def _span(have: list[bool], versions: list[str]) -> str:
    first = have.index(True)
    last = len(have) - 1 - have[::-1].index(True)
    if first == 0 and last == len(have) - 1:
        return ""
    if last == len(have) - 1:
        return f" {versions[first]}+"
    return f" {versions[first] if first else ''}-{versions[last]}"
