"""What the bindings raise when a library or a function is not there."""

from __future__ import annotations

from collections.abc import Iterable

_MOST_PLACES = 4


class LibraryNotFoundError(RuntimeError):
    """A library that an operation needs is not installed, or not where it is looked for."""

    def __init__(self, message: str, library: str = "") -> None:
        super().__init__(message)
        self.library = library


class FunctionNotFoundError(NotImplementedError):
    """A library is there but does not export a function (a `RuntimeError` too, as `NotImplementedError` is one)."""

    def __init__(self, message: str, library: str = "", function: str = "") -> None:
        super().__init__(message)
        self.library = library
        self.function = function


class UnknownAttributeError(KeyError, ValueError):
    """An attribute that a descriptor does not have, or one whose value has no type of its own."""

    __str__ = ValueError.__str__


def library_not_found(
    name: str,
    title: str,
    needed_by: str,
    files: Iterable[str],
    install: str,
    override: str,
    places: Iterable[str],
    refusals: Iterable[str] = (),
) -> LibraryNotFoundError:
    """The error for a missing library, in at most ten lines; `refusals` is what the loader said of files it found."""
    listed = list(places)
    subject = title[0].upper() + title[1:] if title.startswith(("the ", "an ", "a ")) else title
    lines = [
        f"{subject} was not found; {needed_by or 'this operation'} needs it.",
        f"  looked for: {', '.join(files)}",
        f"  install it with: {install}",
    ]
    if override:
        lines.append(f"  or name it in the environment variable {override} (a file name or a path)")
    refused = [f"  there, but not loadable: {' '.join(refusal.split())}" for refusal in refusals][:1]
    most = _MOST_PLACES - len(refused)
    lines += [*refused, "  searched, after the libraries in this process:"]
    lines += [f"    {place}" for place in listed[:most]]
    if len(listed) > most:
        lines.append(f"    and {len(listed) - most} more")
    return LibraryNotFoundError("\n".join(lines), name)


def function_not_found(
    function: str, library: str, title: str, version: str, path: str, needed: str = "", install: str = "", other: str = ""
) -> FunctionNotFoundError:
    """The error for a missing symbol; only where it is known which versions have it, another one is recommended."""
    lines = [f"{function} is not in {title} {version}".rstrip() + f" ({path})"]
    if other:
        lines.append(f"  but {other} is, the same function for integers of {64 if other.endswith('_64') else 32} bits")
    if needed:
        lines += [f"  versions that have it: {needed}", f"  install one of them with: {install}"]
    return FunctionNotFoundError("\n".join(lines), library, function)
