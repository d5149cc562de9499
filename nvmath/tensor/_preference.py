"""How the kernels of a contraction are chosen on a GPU."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import Any, Final

from ..bindings import cutensor

Algo, AutotuneMode, CacheMode, JitMode = cutensor.Algo, cutensor.AutotuneMode, cutensor.CacheMode, cutensor.JitMode

_LARGEST: Final = (1 << 31) - 1
_NEVER: Final = 1 << 31
_RULES: Final = {
    # what it must be, members of its enumeration, other values from here on
    "autotune_mode": ("a ContractionAutotuneMode (0 or 1)", frozenset(AutotuneMode), _NEVER),
    "cache_mode": ("a ContractionCacheMode (0 or 1)", frozenset(CacheMode), _NEVER),
    "incremental_count": ("at least 1", frozenset[int](), 1),
    "algo": ("a ContractionAlgo, or the number of a kernel from 0 on", frozenset(Algo), 0),
    "kernel_rank": ("at least 0", frozenset[int](), 0),
    "jit": ("a ContractionJitMode (0 or 1)", frozenset(JitMode), _NEVER),
    "gpu_arch": ("at least 0", frozenset[int](), 0),
}


@dataclass(slots=True)
class Preference:
    """The values of a plan preference; those of cuTENSOR's own object when it is new, and which were set."""

    autotune_mode: int = 0
    cache_mode: int = 1
    incremental_count: int = 4
    algo: int = -1
    kernel_rank: int = 0
    jit: int = 0
    gpu_arch: int = 0
    changed: set[str] = field(default_factory=set)


class ContractionPlanPreference:
    """How the kernels of one contraction are chosen on a GPU; what is set counts from the next ``plan()`` on.

    Get it from :attr:`BinaryContraction.plan_preference`. On the CPU there is one algorithm, so nothing here has an effect there.

    Parameters
    ----------
    contraction : BinaryContraction or TernaryContraction
        The object whose plans are meant.

    Raises
    ------
    RuntimeError
        The contraction has been freed.

    Examples
    --------
    >>> import numpy as np, nvmath
    >>> a = np.ones((2, 3))
    >>> with nvmath.tensor.BinaryContraction("ij,kj->ik", a, a) as contraction:
    ...     contraction.plan_preference.algo = nvmath.tensor.ContractionAlgo.GETT
    ...     contraction.plan()
    """

    __slots__ = ("_contraction",)

    def __init__(self, contraction: Any) -> None:
        self._contraction = contraction

    def _values(self) -> Preference:
        if not self._contraction.valid_state:
            raise RuntimeError("The contraction of this plan preference has been freed.")
        return self._contraction._preference  # type: ignore[no-any-return]

    def _set(self, name: str, value: Any) -> None:
        values = self._values()
        try:
            number = operator.index(value)
        except TypeError:
            raise TypeError(f"{name} must be an integer or a member of its enumeration, not {value!r}.") from None
        what, members, least = _RULES[name]
        if number not in members and not least <= number <= _LARGEST:
            raise ValueError(f"{name} must be {what}, not {number}.")
        setattr(values, name, number)
        values.changed.add(name)

    @property
    def autotune_mode(self) -> int:
        """Whether plans made one after another try different kernels; a value of :class:`ContractionAutotuneMode`."""
        return self._values().autotune_mode

    @autotune_mode.setter
    def autotune_mode(self, value: int) -> None:
        self._set("autotune_mode", value)

    @property
    def cache_mode(self) -> int:
        """Whether cuTENSOR remembers the kernel; a value of :class:`ContractionCacheMode`."""
        return self._values().cache_mode

    @cache_mode.setter
    def cache_mode(self, value: int) -> None:
        self._set("cache_mode", value)

    @property
    def incremental_count(self) -> int:
        """Number of kernels that incremental autotuning tries."""
        return self._values().incremental_count

    @incremental_count.setter
    def incremental_count(self, value: int) -> None:
        self._set("incremental_count", value)

    @property
    def algo(self) -> int:
        """The algorithm: a value of :class:`ContractionAlgo`, or the number of a kernel from 0 on."""
        return self._values().algo

    @algo.setter
    def algo(self, value: int) -> None:
        self._set("algo", value)

    @property
    def kernel_rank(self) -> int:
        """Which kernel of the algorithm, in the order of cuTENSOR's estimate; 0 is the best."""
        return self._values().kernel_rank

    @kernel_rank.setter
    def kernel_rank(self, value: int) -> None:
        self._set("kernel_rank", value)

    @property
    def jit(self) -> int:
        """Whether a kernel is compiled for this contraction; a value of :class:`ContractionJitMode`."""
        return self._values().jit

    @jit.setter
    def jit(self, value: int) -> None:
        self._set("jit", value)

    @property
    def gpu_arch(self) -> int:
        """Plan for an architecture, such as 90, instead of that of the device."""
        return self._values().gpu_arch

    @gpu_arch.setter
    def gpu_arch(self, value: int) -> None:
        self._set("gpu_arch", value)
