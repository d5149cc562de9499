"""Products of sequences: one member object for each entry, behind the interface of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._core.errors import join
from ..._core.options import coerce_options
from ._api import NO_BETA, Matmul, check_single
from ._options import MatmulOptions
from ._order import Block, check_order


class MatmulGroup(Matmul):
    """What `Matmul` makes of sequences: the products of their entries, a sequence of one serving all."""

    def __init__(
        self,
        a: Any,
        b: Any,
        /,
        c: Any = None,
        *,
        alpha: Any = None,
        beta: Any = None,
        qualifiers: Any = None,
        options: MatmulOptions | dict[str, Any] | None = None,
        execution: Any = None,
        stream: Any = None,
    ) -> None:
        check_single(options=options, execution=execution, stream=stream)
        self.options = coerce_options(MatmulOptions, options)
        if c is not None and beta is None:
            raise ValueError(NO_BETA)
        operands = {"a": a, "b": b, **({} if c is None else {"c": c})}
        _check_sequences(operands, qualifiers)
        scalars = {"alpha": _listed(alpha), "beta": _listed(beta)}
        given = {
            **operands,
            **scalars,
            "qualifiers": qualifiers if isinstance(qualifiers, list | tuple) else [qualifiers],
        }
        self._lengths = {name: len(values) for name, values in given.items()}
        count = self._count = _common_length(self._lengths)
        if self.options.inplace and c is not None and len(c) < count:
            raise ValueError(
                f"The result cannot be inplace if operand C is broadcast: there are {count} products, but c has {len(c)} entry. Pass one "
                "c for each, or inplace=False."
            )
        columns = {name: spread(values, count) for name, values in given.items()}
        self._members: list[Matmul] = []
        try:
            for index in range(count):
                entry = {name: values[index] for name, values in columns.items()}
                self._members.append(
                    Matmul(entry.pop("a"), entry.pop("b"), entry.pop("c", None), **entry, options=self.options,
                           execution=execution, stream=stream)
                )  # fmt: skip
                self._check_alike()
            self._check_apart()
        except BaseException:
            self._free_members()
            raise
        self.logger, self.valid_state = self._members[0].logger, True
        self.execution_options = self._members[0].execution_options

    def _check_alike(self) -> None:
        first, last = self._members[0], self._members[-1]
        if last._adapter is not first._adapter or last._device != first._device:
            raise TypeError(
                f"All entries must be of one package on one device: entry 0 is a {first._adapter.name} array on {first._device}, entry "
                f"{len(self._members) - 1} a {last._adapter.name} array on {last._device}. Convert them first."
            )
        if last._problem.d.dtype is not first._problem.d.dtype:
            raise ValueError(
                f"All entries must have the same dtype: entry 0 is {first._problem.d.dtype}, entry {len(self._members) - 1} is "
                f"{last._problem.d.dtype}. Convert them first."
            )

    def _check_apart(self) -> None:
        """Refuse results in the place of what is read later."""
        if self.options.inplace and all(len(member._objs) == 3 for member in self._members):
            self._check_written("c", [member._objs[2] for member in self._members])

    def _check_written(self, name: str, targets: Any) -> None:
        """Refuse arrays that would be overwritten before they are read, or twice; one product comes after the other."""
        written = [Block.of(target, name, index, True) for index, target in enumerate(targets) if target is not None]
        last = {
            id(obj): Block.of(obj, operand, index, False)
            for index, member in enumerate(self._members)
            for operand, obj in zip(member._names, member._objs, strict=False)
        }
        check_order([*written, *last.values()])

    # --- phases -------------------------------------------------------------------------------------------------------

    def plan(self, *, stream: Any = None) -> None:
        """Plan every product; as :meth:`Matmul.plan`."""
        self._check_valid()
        for member in self._members:
            member.plan(stream=stream)

    def execute(self, *, stream: Any = None, out: Any = None) -> Any:
        """Compute every product; as :meth:`Matmul.execute`, a list."""
        self._check_valid()
        for member in self._members:
            member._runner(None)  # what is missing is said before anything is computed
        return self._execute(lambda member, target: member.execute(stream=stream, out=target), out)

    def execute_unchecked(self, *, stream: Any = None) -> Any:
        """Compute every product; as :meth:`Matmul.execute_unchecked`, a list."""
        return self._execute(lambda member, target: member.execute_unchecked(stream=stream), None)

    def _execute(self, call: Callable[[Matmul, Any], Any], out: Any) -> list[Any]:
        if out is not None and (not isinstance(out, list | tuple) or len(out) != self._count):
            raise ValueError(f"out must be a sequence of {self._count} arrays, one for each product.")
        targets = [None] * self._count if out is None else out
        if out is not None:
            self._check_written("out", targets)
        return [call(member, target) for member, target in zip(self._members, targets, strict=True)]

    def reset_operands(
        self, *, a: Any = None, b: Any = None, c: Any = None, alpha: Any = None, beta: Any = None, stream: Any = None
    ) -> None:
        """Replace operands and scalars; as :meth:`Matmul.reset_operands`."""
        self._check_valid()
        changed: list[tuple[Matmul, tuple[Any, ...], list[Any]]] = []
        try:
            for member, keywords in self._entries(a, b, c, alpha, beta):
                before = member, member._objs, list(member._scalars.values)
                member.reset_operands(**keywords, stream=stream)
                changed.append(before)
            self._check_apart()
        except BaseException:
            for member, objs, scalars in changed:
                _restore(member, objs, scalars, stream)
            raise

    def reset_operands_unchecked(
        self, *, a: Any = None, b: Any = None, c: Any = None, alpha: Any = None, beta: Any = None, stream: Any = None
    ) -> None:
        """Replace operands and scalars without any check; as :meth:`Matmul.reset_operands_unchecked`."""
        for member, keywords in self._entries(a, b, c, alpha, beta):
            member.reset_operands_unchecked(**keywords, stream=stream)

    def _entries(self, a: Any, b: Any, c: Any, alpha: Any, beta: Any) -> list[tuple[Matmul, dict[str, Any]]]:
        given = {"a": a, "b": b, "c": c, "alpha": alpha, "beta": beta}
        lists = {name: _listed(value) for name, value in given.items() if value is not None}
        for name, values in lists.items():
            if name not in self._lengths:
                raise ValueError(
                    f"There was no operand {name} at construction, so none can be set. Make a new Matmul object."
                )
            if len(values) not in (self._lengths[name], *((1, self._count) if name in ("alpha", "beta") else ())):
                raise ValueError(
                    f"{name} was given with {self._lengths[name]} entries at construction, so it cannot be replaced by {len(values)}."
                )
        columns = {name: spread(values, self._count) for name, values in lists.items()}
        return [
            (member, {name: values[index] for name, values in columns.items()})
            for index, member in enumerate(self._members)
        ]

    def release_operands(self) -> None:
        """Drop the references to all operands; as :meth:`Matmul.release_operands`."""
        self._check_valid()
        for member in self._members:
            member.release_operands()

    def free(self) -> None:
        """Give up everything; calling it again does nothing."""
        if self.valid_state:
            self.valid_state = False
            self._free_members()

    def _free_members(self) -> None:
        for member in self._members:
            member.free()


def _restore(member: Matmul, objs: tuple[Any, ...], scalars: list[Any], stream: Any) -> None:
    member._scalars.store(scalars)
    if objs:
        member._reset_checked(objs, stream)
    else:
        member.release_operands()


def _listed(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else [value]


def spread(values: Any, count: int) -> Any:
    """Let an only entry serve all."""
    return values if len(values) == count else [values[0]] * count


def _check_sequences(operands: dict[str, Any], qualifiers: Any) -> None:
    kinds = {**operands, **({"qualifiers": qualifiers} if isinstance(qualifiers, list | tuple) else {})}
    given = ", ".join(f"{name} is a {type(value).__name__}" for name, value in kinds.items())
    if not all(isinstance(value, list | tuple) for value in kinds.values()):
        raise ValueError(
            f"The operands must all be arrays, or all be sequences of arrays (explicitly batched); {given}. Put a single array into a "
            "list of one, which serves all."
        )
    empty = [name for name, value in kinds.items() if not value]
    if empty:
        raise ValueError(f"Explicitly batched operands need at least one entry each, but {join(empty)} is empty.")
    nested = [name for name, value in kinds.items() if any(isinstance(each, list | tuple) for each in value)]
    if nested:
        raise ValueError(
            f"Explicitly batched operands cannot be nested: {join(nested)} has sequences in it. Pass one list of arrays."
        )


def _common_length(lengths: dict[str, int]) -> int:
    count = max(lengths.values())
    wrong = {name: length for name, length in lengths.items() if length not in (1, count)}
    if wrong:
        raise ValueError(
            f"All sequences must have the same length, or one entry that serves all: the longest has {count}, but "
            + ", ".join(f"{name} has {length}" for name, length in wrong.items()) + "."
        )  # fmt: skip
    return count
