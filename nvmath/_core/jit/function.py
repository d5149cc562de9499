"""A function that a user wrote, ready to be compiled for any target."""

from __future__ import annotations

import types
from dataclasses import dataclass

from .digest import CodeDigest, code_digest
from .signature import Signature
from .snapshot import freeze

__all__ = ["UserFunction"]


@dataclass(frozen=True, slots=True, eq=False)
class UserFunction:
    """A frozen function with its C signature, and the words for talking about it to its author.

    Build it with `UserFunction.freeze`: later changes of the globals and closure values that the function reads have
    no effect, so ``key`` stays the key of what is compiled.
    """

    function: types.FunctionType
    signature: Signature
    what: str
    expected: str
    digest: CodeDigest
    shown: types.FunctionType

    @classmethod
    def freeze(
        cls,
        function: types.FunctionType,
        signature: Signature,
        what: str,
        expected: str,
        shown: types.FunctionType | None = None,
    ) -> UserFunction:
        """Copy `function`; `what` names its role and `expected` its signature in error texts, which quote `shown` if it wraps that."""
        frozen = freeze(function)
        return cls(frozen, signature, what, expected, code_digest(frozen), shown or frozen)

    @property
    def key(self) -> str:
        """Identifies code and types, not the target."""
        return f"{self.digest.hex} {self.signature.key}"
