"""The pointer type that compiled functions receive (imports numba: only import this module when something is compiled).

numba's own ``CPointer`` cannot be indexed when it points to records, and its loads of complex numbers promise only
the alignment of the real part, which costs a GPU two narrow loads per element.
"""

from __future__ import annotations

import operator
from functools import lru_cache
from importlib import import_module
from typing import Any

from .signature import Pointer, Signature, numba_type

# numba ships no type information; modules fetched by name are `Any` here and in the other files of this package.
_numba: Any = import_module("numba")
_extending: Any = import_module("numba.extending")
_types: Any = _numba.types


class ElementPointer(_types.CPointer):  # type: ignore[misc]  # the base class is Any, see above
    """A pointer to `dtype`; ``alignment`` in bytes, or None for what the compiler assumes."""

    def __init__(self, dtype: Any, alignment: int | None = None) -> None:
        super().__init__(dtype)
        self.alignment = alignment
        self.name = f"nvmath.ElementPointer({dtype}, alignment={alignment})"

    @property
    def key(self) -> tuple[Any, int | None]:
        return self.dtype, self.alignment


def pointer_type(pointer: Pointer, promise_alignment: bool = True) -> Any:
    """The numba type of `pointer`."""
    dtype = numba_type(pointer.dtype)
    return ElementPointer(dtype, dtype.bitwidth // 8 if pointer.aligned and promise_alignment else None)


def numba_signature(signature: Signature, promise_alignment: bool = True) -> tuple[Any, tuple[Any, ...]]:
    """Result and argument types. Host arrays are aligned to the real part only, so no promise is made there."""
    arguments = tuple(
        pointer_type(a, promise_alignment) if isinstance(a, Pointer) else numba_type(a) for a in signature.arguments
    )
    return _types.void if signature.result is None else numba_type(signature.result), arguments


def _get(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kind = signature.args[0]
    address = builder.gep(arguments[0], [arguments[1]])
    model = context.data_model_manager[kind.dtype]
    if kind.alignment is None:
        return model.load_from_data_pointer(builder, address)
    # One load of the whole element: numba would repeat the alignment for the imaginary part, where it is not true.
    return model.from_data(builder, builder.load(address, align=kind.alignment))


def _set(context: Any, builder: Any, signature: Any, arguments: Any) -> None:
    kind = signature.args[0]
    address = builder.gep(arguments[0], [arguments[1]])
    data = context.data_model_manager[kind.dtype].as_data(builder, arguments[2])
    builder.store(data, address, align=kind.alignment)


@_extending.intrinsic  # type: ignore[untyped-decorator]  # numba has no annotations
def pointer_from(typing_context: Any, address: Any, like: Any) -> Any:
    """Turn an integer into the pointer type that `like` names; compiled code calls it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

    return like.instance_type(address, like), generate


@lru_cache(maxsize=2)
def register(target: str) -> None:
    """Teach ``"numba"`` (host code) or ``"numba.cuda"`` to handle `ElementPointer`."""
    extending = import_module(f"{target}.extending")
    models = import_module("numba.extending" if target == "numba" else "numba.cuda.datamodel").models
    extending.register_model(ElementPointer)(models.PointerModel)
    extending.lower_builtin(operator.getitem, ElementPointer, _types.Integer)(_get)
    extending.lower_builtin(operator.setitem, ElementPointer, _types.Integer, _types.Any)(_set)
