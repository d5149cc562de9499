"""What to tell users about the function that they gave: where it is, which line is wrong, what was expected."""

from __future__ import annotations

import dis
import inspect
import linecache
import logging
import os
import re
import types
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

__all__ = ["CompileError", "compile_error", "describe", "quiet_numba", "require_parameters", "require_result"]

_LOCATION = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+)|\bat (?P<at>\S+) \((?P<number>\d+)\)')
_UNDEFINED = re.compile(r"NameError: name '(\w+)'")
_CONVERSION = re.compile(r"No conversion from (?P<given>.+) to (?P<wanted>\w+) for '\$\w*return_\w+")
_MESSAGE_LINES = 14


class CompileError(ValueError):
    """A user's function cannot be compiled; the text shows its line, ``__cause__`` is the compiler's own error."""


def describe(function: types.FunctionType) -> str:
    """Name, file and line of `function`."""
    code = function.__code__
    return f"{function.__qualname__} (file {code.co_filename!r}, line {code.co_firstlineno})"


def _excerpt(filename: str, first: int, last: int | None = None) -> str:
    """The numbered source lines from `first` to `last`, or nothing when the source is not at hand."""
    numbers = range(first, (last or first) + 1)
    lines = [(number, linecache.getline(filename, number).rstrip()) for number in numbers]
    return "\n".join(f"    {number:5d} | {text}" for number, text in lines if text)


def _definition(function: types.FunctionType) -> str:
    """The lines from the decorator or ``def`` to the first statement."""
    code = function.__code__
    try:
        length = len(inspect.getsourcelines(function)[0])
    except (OSError, TypeError, IndentationError):
        length = 1
    return _excerpt(code.co_filename, code.co_firstlineno, code.co_firstlineno + min(length, 4) - 1)


def _fault(what: str, function: types.FunctionType, problem: str, expected: str) -> str:
    return "\n".join(
        part
        for part in (f"The {what} {describe(function)} {problem}", _definition(function), f"Expected: {expected}")
        if part
    )


def require_parameters(function: types.FunctionType, names: tuple[str, ...], what: str, expected: str) -> None:
    """Refuse a function that cannot be called with exactly ``len(names)`` positional arguments.

    Raises
    ------
    CompileError
        If the number of parameters is another one, or parameters are keyword-only or variadic.
    """
    code = function.__code__
    variadic = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    if code.co_argcount == len(names) and not code.co_kwonlyargcount and not variadic:
        return
    problem = f"must take {len(names)} positional parameters ({', '.join(names)}), but its signature is"
    raise CompileError(_fault(what, function, f"{problem} {inspect.signature(function)}.", expected))


def require_result(function: types.FunctionType, returns: bool, what: str, expected: str) -> None:
    """Refuse a function that visibly returns nothing where a value is needed, or only values where none is.

    Raises
    ------
    CompileError
        If the byte code shows the wrong kind of result.
    """
    if function.__code__.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        raise CompileError(_fault(what, function, "is a generator or a coroutine, which runs nothing when it is called.", expected))
    kinds = _returned(function.__code__)
    if returns and kinds == {False}:
        raise CompileError(_fault(what, function, "must return the element, but it returns nothing.", expected))
    if returns and False in kinds:
        problem = "must return the element in every case, but it can end without: after an if that does not apply, say."
        raise CompileError(_fault(what, function, problem, expected))
    if not returns and kinds == {True}:
        problem = "must store its result and return nothing, but it returns a constant."
        raise CompileError(_fault(what, function, problem, expected))


@lru_cache(maxsize=1024)
def _returned(code: types.CodeType) -> set[bool | None]:
    """For each ``return``: False for None, True for another constant, None for anything else."""
    kinds: set[bool | None] = set()
    before: dis.Instruction | None = None
    for instruction in dis.get_instructions(code):
        source = instruction if instruction.opname == "RETURN_CONST" else before
        if instruction.opname in ("RETURN_CONST", "RETURN_VALUE"):
            constant = source is not None and source.opname in ("LOAD_CONST", "RETURN_CONST", "LOAD_SMALL_INT")
            kinds.add(source.argval is not None if constant and source is not None else None)
        before = instruction
    return kinds


def compile_error(
    function: types.FunctionType, what: str, target: str, expected: str, error: BaseException
) -> CompileError:
    """The error to raise from `error`, with the user's line."""
    filename, line = _failing_line(function, error)
    wrong = _CONVERSION.search(_plain(str(error)))
    parts = (
        f"The {what} {describe(function)} cannot be compiled for {target}; line {line}:",
        _excerpt(filename, line),
        *([_wrong_result(wrong["given"], wrong["wanted"])] if wrong else ()),
        f"Expected: {expected}",
        *([] if wrong else _said(error)),
    )
    return CompileError("\n".join(part for part in parts if part))


def _said(error: BaseException) -> list[str]:
    """The beginning of what the compiler says."""
    message = [text for text in _plain(str(error)).splitlines() if text.strip()]
    if len(message) > _MESSAGE_LINES:
        message = [*message[:_MESSAGE_LINES], "..."]
    return [f"The compiler says: {type(error).__name__}:", *(f"    {text}" for text in message)]


def _wrong_result(given: str, wanted: str) -> str:
    """Say that a function returns something of another type than it must."""
    literal = re.fullmatch(r"Literal\[(\w+)\]\(.*\)", given, re.DOTALL)
    given = literal[1] if literal else given
    if wanted == "none":
        return f"It must store its result and return nothing, but it returns {given}."
    real = " Return a real number, its .real perhaps." if given.startswith("complex") else ""
    return f"It must return one number, {wanted}, but it returns {given}.{real}"


def _plain(text: str) -> str:
    """Without terminal colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def _failing_line(function: types.FunctionType, error: BaseException) -> tuple[str, int]:
    """The last line within the function that the compiler names, else the first line of the function."""
    code = function.__code__
    lines = range(code.co_firstlineno, _last_line(code) + 1)
    for match in reversed(list(_LOCATION.finditer(_plain(str(error))))):
        filename, line = (match["file"], int(match["line"])) if match["file"] else (match["at"], int(match["number"]))
        if os.path.basename(filename) == os.path.basename(code.co_filename) and line in lines:
            return code.co_filename, line
    undefined = _UNDEFINED.search(str(error))
    return code.co_filename, _line_of(code, undefined[1]) if undefined else code.co_firstlineno


def _line_of(code: types.CodeType, name: str) -> int:
    """The first line that reads the global `name`."""
    for instruction in dis.get_instructions(code):
        if instruction.argval == name and instruction.positions is not None and instruction.positions.lineno:
            return instruction.positions.lineno
    return code.co_firstlineno


def _last_line(code: types.CodeType) -> int:
    nested = [_last_line(constant) for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return max([code.co_firstlineno, *nested, *(line for _, _, line in code.co_lines() if line)])


@contextmanager
def quiet_numba() -> Iterator[None]:
    """Keep numba's debug records, thousands for a function, out of the user's log, unless its own logger is set up.

    Not only for peace: numba-cuda 0.30.4 fails while it formats some of them.
    """
    loggers = [logging.getLogger(name) for name in ("numba", "numba.cuda")]
    unset = [logger for logger in loggers if logger.level == logging.NOTSET]
    for logger in unset:
        logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        for logger in unset:
            logger.setLevel(logging.NOTSET)
