"""What a nonzero status raises: one class of errors per library, with the name, the function and an explanation."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nvmath.bindings._bind import Bindings

#: What statuses mean that several libraries share; the end of a name counts.
_MEANINGS = """
NOT_INITIALIZED: a handle was not created, was destroyed, or the CUDA runtime could not start
INITIALIZATION_FAILED: the CUDA runtime or a device could not be started
INVALID_PLAN: the handle is none of a plan, or the plan is not made yet
ALLOC_FAILED: memory could not be allocated
ALLOCATION_FAILED: memory could not be allocated
INVALID_VALUE: an argument has a value that the function does not take
INVALID_TYPE: the type is none that the function takes
TYPE_ERROR: the generator is of another kind than the function needs
INVALID_SIZE: a size is none that the function takes
ARCH_MISMATCH: the device lacks a feature that the function needs
MAPPING_ERROR: device memory could not be accessed
EXECUTION_FAILED: a kernel failed on the device; an earlier one may be the cause
EXEC_FAILED: a kernel failed on the device; an earlier one may be the cause
LAUNCH_FAILURE: a kernel failed on the device; an earlier one may be the cause
PREEXISTING_FAILURE: a kernel had failed on the device before
INTERNAL_ERROR: the library failed within itself; without a device or a driver this is what some functions return
SETUP_FAILED: the library could not be set up; without a device or a driver this is what plans return
NOT_SUPPORTED: the library does not support this combination of arguments
INSUFFICIENT_RESOURCES: the device lacks memory or other resources for this
INSUFFICIENT_WORKSPACE: the workspace is too small
INSUFFICIENT_DRIVER: the driver is older than the library needs
NO_WORKSPACE: the plan has no workspace yet
ZERO_PIVOT: the matrix is singular: a pivot is zero
LENGTH_NOT_MULTIPLE: the length is no multiple of the generator's dimensions (or, for normal numbers, of 2)
OUT_OF_RANGE: an argument is out of its range
DOUBLE_PRECISION_REQUIRED: the device has no double precision
VERSION_MISMATCH: headers and library have different versions
"""


class Errors:
    """Makes the errors of one library.

    Parameters
    ----------
    name : str
        The name of the class.
    prefix : str
        What the C names of statuses start with.
    enum : str
        Which of the enums lists them.
    explain : str
        The function (Python name) that returns a sentence for a status; '' if the library has none.
    base : type
        What the class is derived from.

    Attributes
    ----------
    kind : type
        The class itself: `Exception` with ``status``, ``function`` and ``explanation``; its text says all of it.
    """

    def __init__(
        self, name: str, prefix: str, enum: str = "Status", explain: str = "", base: type[Exception] = Exception
    ) -> None:
        self.name = name
        self.prefix = prefix
        self._enum = enum
        self._explain = explain
        self.base = base
        self._bindings: Bindings | None = None
        self.kind: type[Exception] = Exception

    def install(self, bindings: Bindings, namespace: dict[str, Any]) -> None:
        """Puts the class and ``check_status`` into a module; the first one is the home of the class."""
        if self._bindings is None:
            self._bindings = bindings
            self.kind = _error_class(self, bindings.module)
        else:
            namespace.setdefault("check_status", self._bindings._namespace["check_status"])
            return
        namespace[self.name] = self.kind
        namespace["check_status"] = _check_status(self, bindings.module)

    def status_name(self, status: int) -> str:
        """The C name of a status, or its number if no name is known."""
        try:
            return self.prefix + str(getattr(self._bindings, self._enum)(status).name)
        except ValueError:
            return f"unknown {self.prefix.rstrip('_')} status {status}"

    def explanation(self, status: int) -> str:
        """What the library says about a status, or what is commonly meant by its name."""
        if self._explain:
            try:
                said = str(getattr(self._bindings, self._explain)(status) or "")
            except Exception:  # an explanation that cannot be had must not hide the error
                said = ""
            if said and said != self.status_name(status):
                return said
        known = (line.partition(": ") for line in _MEANINGS.splitlines() if line)
        name = self.status_name(status)
        return next((meaning for end, _, meaning in known if name.endswith(end)), "")

    @staticmethod
    def explained(error: Exception, log: bytes) -> Exception:
        """An error with what the library has written into a log as its explanation."""
        made: Any = error
        made.explanation = log.rstrip(b"\0").decode("utf-8", "replace").strip()
        return error

    def failed(self, c_name: str) -> Callable[[int], object]:
        """What to call with a nonzero status of a C function; raises."""

        def fail(status: int) -> object:
            error: Any = self.kind(status)
            error.function = c_name
            error.explanation = self.explanation(status)
            raise error

        return fail


def _error_class(errors: Errors, module: str) -> type[Exception]:
    def __init__(self: Any, status: int) -> None:  # noqa: N807, a method
        self.status = status
        self.function = ""
        self.explanation = ""
        Exception.__init__(self, errors.status_name(status))

    def __str__(self: Any) -> str:  # noqa: N807, a method
        if not self.function:
            return str(self.args[0])
        code = "" if self.args[0].endswith(f" {self.status}") else f" ({self.status})"  # a status without a name
        said = f": {self.explanation}" if self.explanation else ""
        return f"{self.args[0]}{code} from {self.function}{said}"

    def __reduce__(self: Any) -> tuple[Any, ...]:  # noqa: N807, a method
        return type(self), (self.status,), self.__dict__

    doc = """A function of the library did not succeed; the text begins with the name of the status.

    Parameters
    ----------
    status : int
        What it returned.

    Attributes
    ----------
    status : int
        The same.
    function : str
        The C function that returned it, or '' when the error was made by hand.
    explanation : str
        What the library says about it, or what such statuses mean; '' when nothing is known.
    """
    body = {"__init__": __init__, "__str__": __str__, "__reduce__": __reduce__, "__module__": module, "__doc__": doc}
    return type(errors.name, (errors.base,), body)


def _check_status(errors: Errors, module: str) -> Callable[[int], None]:
    def check_status(status: int) -> None:
        if status != 0:
            raise errors.kind(status)

    check_status.__module__ = module
    check_status.__doc__ = f"""Raise `{errors.name}` unless a status is success.

    Parameters
    ----------
    status : int
        What a C function returned.

    Raises
    ------
    {errors.name}
        The status is not 0.
    """
    return check_status
