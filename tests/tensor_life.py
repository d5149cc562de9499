"""Random lives of contractions: whatever was called before, a result is right, or the call is refused and changes nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from nvmath.tensor import BinaryContraction, Einsum, InvalidContractionState, TernaryContraction

CLASSES = {"binary": BinaryContraction, "ternary": TernaryContraction, "einsum": Einsum}
EXPRESSIONS = {"binary": "ij,kj->ik", "ternary": "ij,kj,kl->il", "einsum": "ij,kj,kl,l->i"}
SHAPES = {"binary": ((3, 4), (5, 4)), "ternary": ((3, 4), (5, 4), (5, 2)), "einsum": ((3, 4), (5, 4), (5, 2), (2,))}

kinds = st.sampled_from(sorted(CLASSES))
seeds = st.integers(0, 1000)
orders = st.sampled_from("CF")


class Life(RuleBasedStateMachine):
    """One contraction, and what its results must be."""

    execution = "cpu"

    @initialize(kind=kinds, adds=st.booleans(), into=st.booleans(), seed=seeds)
    def make(self, kind: str, adds: bool, into: bool, seed: int) -> None:
        self.kind, self.adds = kind, adds and kind != "einsum"
        self.values = [self.array(shape, seed + i) for i, shape in enumerate(SHAPES[kind])]
        self.shape = np.einsum(EXPRESSIONS[kind], *self.values).shape
        self.addend = self.array(self.shape, seed + 99) if self.adds else None
        self.out = np.full(self.shape, np.nan) if into else None
        more = {} if not self.adds else {"c" if kind == "binary" else "d": self.addend}
        self.made = CLASSES[kind](EXPRESSIONS[kind], *self.values, out=self.out, execution=self.execution, **more)
        self.planned = self.released = self.freed = False

    def array(self, shape: tuple[int, ...], seed: int, order: str = "C") -> np.ndarray:
        return np.asarray(np.random.default_rng(seed).random(shape), order=order)

    def refused(self, call: object) -> bool:
        """Whether the object is not that far, and says so."""
        if self.freed:
            with pytest.raises(InvalidContractionState):
                call()  # type: ignore[operator]
        elif not self.planned or self.released:
            with pytest.raises(RuntimeError):
                call()  # type: ignore[operator]
        else:
            return False
        return True

    @rule()
    def plan(self) -> None:
        if self.freed:
            self.refused(self.made.plan)
            return
        self.made.plan()
        self.planned = True

    @rule(alpha=st.sampled_from([1.0, 0.5, -2]), beta=st.sampled_from([0.0, 1.0, 3]), release=st.booleans())
    def execute(self, alpha: float, beta: float, release: bool) -> None:
        factors = {} if self.kind == "einsum" else {"alpha": alpha} | ({"beta": beta} if self.adds else {})
        if self.refused(lambda: self.made.execute(**factors)):
            return
        got = self.made.execute(release_workspace=release, **factors)
        want = (1 if self.kind == "einsum" else alpha) * np.einsum(EXPRESSIONS[self.kind], *self.values)
        if self.adds:
            want = want + beta * self.addend
        np.testing.assert_allclose(got, want, rtol=1e-12)
        assert (got is self.out) == (self.out is not None)

    @rule(which=st.integers(0, 3), seed=seeds, order=orders, checked=st.booleans())
    def reset_one(self, which: int, seed: int, order: str, checked: bool) -> None:
        which %= len(self.values)
        new = self.array(self.values[which].shape, seed, order)
        if self.freed or self.released:
            return
        same = new.strides == self.values[which].strides
        method = self.made.reset_operands if checked or not same else self.made.reset_operands_unchecked
        if self.kind == "einsum":
            method(*(new if i == which else None for i in range(len(self.values))))
        else:
            method(**{"abc"[which]: new})
        self.values[which] = new

    @rule(seed=seeds, order=orders)
    def reset_all(self, seed: int, order: str) -> None:
        if self.freed:
            return
        values = [self.array(value.shape, seed + i, order) for i, value in enumerate(self.values)]
        more = {} if self.out is None else {"out": np.full(self.shape, np.nan, order=order)}
        if self.adds:
            more["c" if self.kind == "binary" else "d"] = addend = self.array(self.shape, seed + 50, order)
        if self.kind == "einsum":
            self.made.reset_operands(*values, **more)
        else:
            self.made.reset_operands(**dict(zip("abc", values, strict=False)), **more)
        self.values, self.out, self.released = values, more.get("out"), False
        if self.adds:
            self.addend = addend

    @precondition(lambda self: not self.freed)
    @rule(which=st.integers(0, 3))
    def reset_wrongly(self, which: int) -> None:
        which %= len(self.values)
        for wrong in (np.ones((7,) * self.values[which].ndim), self.values[which].astype(np.float32), "array", None):
            given: list[object] = [None] * len(self.values)
            given[which] = wrong
            arguments = {} if self.kind == "einsum" else dict(zip("abc", given, strict=False))
            with pytest.raises(ValueError, match=r"."):
                self.made.reset_operands(*([] if arguments else given), **arguments)

    @precondition(lambda self: not self.freed)
    @rule()
    def release(self) -> None:
        self.made.release_operands()
        self.released = True

    @precondition(lambda self: not self.freed and self.planned)
    @rule(number=st.integers(0, 9))
    def free_seldom(self, number: int) -> None:
        if number == 0:
            self.made.free()
            self.freed = True

    def teardown(self) -> None:
        if hasattr(self, "made"):
            self.made.free()
            self.made.free()
