"""Algorithms of a product: objects that can be read, edited, stored and used again."""

from __future__ import annotations

import weakref
from array import array
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np

from ...bindings import cublasLt
from ...bindings._seam import pointer
from ._capabilities import (
    OWN_CAPABILITIES,
    UNDEFINED,
    AlgorithmCapabilities,
    capabilities_of,
    cluster_shapes,
    stages,
    tiles,
)
from ._coerce import flags

matmul_heuristic_result_dtype: Final = np.dtype(
    {
        "names": ["algo", "workspace_size", "state", "waves_count", "reserved"],
        "formats": [np.dtype([("data_", np.uint64, (8,))]), np.uint64, np.int32, np.float32, (np.int32, (4,))],
        "offsets": [0, 64, 72, 76, 80],
        "itemsize": 96,
    },
    align=True,
)
"""``cublasLtMatmulHeuristicResult_t`` as a NumPy dtype."""

_CONFIG: Final = cublasLt.MatmulAlgoConfigAttribute
_MARK: Final = 0x316E_6874_616D_766E
"""The first word of an algorithm that is a kernel of our own, where one of the library has its configuration; the second is a number."""
_FIRST_OWN: Final = 10_000
"""Identifiers from here on are those of our own kernels; the library's have two or three digits."""


class Algorithm:
    """One way in which cuBLASLt can compute a product. :meth:`Matmul.plan` makes them; they can be edited and used again.

    After :meth:`Matmul.autotune` some may stand for a kernel of our own, see :attr:`own`. An edit changes what every :class:`Matmul`
    object that was planned with the algorithm does from its next ``execute`` on; the library is asked then whether it can do that.

    Parameters
    ----------
    algorithm : array or record
        One element of ``matmul_heuristic_result_dtype``.

    Raises
    ------
    AssertionError
        `algorithm` is something else.

    Examples
    --------
    >>> import numpy as np
    >>> from nvmath.linalg.advanced import Algorithm, Matmul
    >>> a = np.eye(2)
    >>> with Matmul(a, a, execution="cpu") as product:
    ...     (algorithm,) = product.plan()
    >>> Algorithm.from_numpy(algorithm.as_numpy()).algorithm_id
    0
    """

    def __init__(self, algorithm: Any) -> None:
        array_ = _memory(algorithm)
        assert array_ is not None, "an Algorithm is made by Matmul.plan() or Algorithm.from_numpy()"
        self._array = array_
        self._watchers: weakref.WeakSet[Any] = weakref.WeakSet()
        self.score_ms: float | None = None

    # --- the struct ---------------------------------------------------------------------------------------------------------------

    @property
    def algorithm(self) -> Any:
        """The C struct: a record with ``algo``, ``workspace_size``, ``state`` and ``waves_count``."""
        return self._array.view(np.recarray)[0]

    @property
    def address(self) -> int:
        """Where the struct is."""
        return pointer(self._array)

    @property
    def on_cpu(self) -> bool:
        """Whether it stands for what the CPU does."""
        return bool((self._array["algo"]["data_"] == 0).all())

    @property
    def own(self) -> int | None:
        """The number of a kernel of our own, for products that the memory bounds; None for an algorithm of the library."""
        words = self._array["algo"]["data_"][0]
        return int(words[1]) if int(words[0]) == _MARK else None

    @property
    def _fixed(self) -> bool:
        """Whether there is nothing of the library in it."""
        return self.on_cpu or self.own is not None

    @property
    def workspace_nbytes(self) -> int:
        """Bytes of workspace that it needs."""
        return int(self._array["workspace_size"][0])

    @property
    def waves_count(self) -> float:
        """How many times the GPU is filled."""
        return float(self._array["waves_count"][0])

    def as_numpy(self) -> np.ndarray[Any, Any]:
        """Return a copy as an array of one element, for ``numpy.save(..., allow_pickle=False)``."""
        return self._array.copy()

    @staticmethod
    def from_numpy(array: np.ndarray[Any, Any]) -> Algorithm:
        """Make an algorithm of what :meth:`as_numpy` returned.

        Raises
        ------
        ValueError
            The array has another dtype, or not exactly one element.
        """
        given = np.asarray(array)
        if given.dtype != matmul_heuristic_result_dtype:
            raise ValueError(f"The dtype of the array must be matmul_heuristic_result_dtype, not {given.dtype}.")
        if given.size != 1:
            raise ValueError(f"The array must hold one algorithm, but its shape is {given.shape}.")
        return Algorithm(given.reshape(1).copy())

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _restored, (self._array.tobytes(), self.score_ms)

    def __repr__(self) -> str:
        if self.on_cpu:
            return "<Algorithm of the CPU>"
        score = "" if self.score_ms is None else f", {self.score_ms:.4g} ms"
        if self.own is not None:
            return f"<Algorithm {self.algorithm_id}: kernel {self.own} of nvmath for products bound by memory{score}>"
        return (
            f"<Algorithm {self.algorithm_id}: tile {self.tile}, stages {self.stages}, split_k {self.split_k}, cluster "
            f"{self.cluster_shape}, workspace {self.workspace_nbytes} bytes, {self.waves_count:.3g} waves{score}>"
        )

    # --- what can be read and set -------------------------------------------------------------------------------------------------

    def _get(self, attribute: int) -> int:
        if self.on_cpu:
            return 0
        if self.own is not None:
            return {_CONFIG.ID: _FIRST_OWN + self.own, _CONFIG.SPLITK_NUM: 1}.get(attribute, 0)
        cell, written = np.zeros(1, cublasLt.get_matmul_algo_config_attribute_dtype(attribute)), array("Q", [0])
        cublasLt.matmul_algo_config_get_attribute(
            self.address, attribute, cell.ctypes.data, cell.nbytes, written.buffer_info()[0]
        )  # fmt: skip
        return int(cell[0])

    def _set(self, attribute: int, value: Any) -> None:
        if self.on_cpu:
            raise ValueError("The algorithm of the CPU has nothing that can be set.")
        if self.own is not None:
            raise ValueError(f"A kernel of nvmath has nothing that can be set, and this is one: {self!r}.")
        try:
            cell = np.array([int(value)], cublasLt.get_matmul_algo_config_attribute_dtype(attribute))
        except (OverflowError, TypeError, ValueError):
            raise ValueError(
                f"{_CONFIG(attribute).name.lower()} must be an integer that fits, not {value!r}."
            ) from None
        cublasLt.matmul_algo_config_set_attribute(self.address, attribute, cell.ctypes.data, cell.nbytes)
        for watcher in tuple(self._watchers):
            watcher.edited()

    def _set_named(self, attribute: int, value: Any, known: dict[int, Any], what: str) -> None:
        wanted = tuple(value) if isinstance(value, list) else value
        identifier = next((number for number, each in known.items() if each == wanted), None)
        if identifier is None:
            raise KeyError(f"{value!r} is no {what} of cuBLASLt.")
        self._set(attribute, identifier)

    @property
    def algorithm_id(self) -> int:
        """The identifier of the family of kernels; 0 on the CPU, 10000 and more for kernels of our own."""
        return self._get(_CONFIG.ID)

    @property
    def capabilities(self) -> AlgorithmCapabilities:
        """What can be set, and to what."""
        if self.own is not None:
            return replace(OWN_CAPABILITIES)
        return AlgorithmCapabilities() if self.on_cpu else capabilities_of(self.address)

    @property
    def tile(self) -> Any:
        """``(rows, columns)`` that one block computes, or ``"UNDEFINED"``; KeyError for one that the library does not know."""
        return UNDEFINED if self._fixed else tiles().get(number := self._get(_CONFIG.TILE_ID), number)

    @tile.setter
    def tile(self, value: Any) -> None:
        self._set_named(_CONFIG.TILE_ID, value, tiles(), "tile")

    @property
    def stages(self) -> Any:
        """``(depth, count)`` of the buffers in shared memory, or ``"UNDEFINED"``; KeyError for what the library does not know."""
        return UNDEFINED if self._fixed else stages().get(number := self._get(_CONFIG.STAGES_ID), number)

    @stages.setter
    def stages(self, value: Any) -> None:
        self._set_named(_CONFIG.STAGES_ID, value, stages(), "number of stages")

    @property
    def cluster_shape(self) -> Any:
        """``(x, y, z)`` of a cluster of blocks, or ``"AUTO"``; KeyError for one that the library does not know."""
        return cluster_shapes().get(number := self._get(_CONFIG.CLUSTER_SHAPE_ID), number)

    @cluster_shape.setter
    def cluster_shape(self, value: Any) -> None:
        self._set_named(_CONFIG.CLUSTER_SHAPE_ID, value, cluster_shapes(), "shape of a cluster")

    @property
    def split_k(self) -> int:
        """Into how many parts the sum over K is split."""
        return self._get(_CONFIG.SPLITK_NUM)

    @split_k.setter
    def split_k(self, value: int) -> None:
        self._set(_CONFIG.SPLITK_NUM, value)

    @property
    def reduction_scheme(self) -> int:
        """How these parts are added up: a member of MatmulReductionScheme; its name can be set too."""
        return self._get(_CONFIG.REDUCTION_SCHEME)

    @reduction_scheme.setter
    def reduction_scheme(self, value: int) -> None:
        self._set(_CONFIG.REDUCTION_SCHEME, flags(cublasLt.ReductionScheme, value, "reduction_scheme"))

    @property
    def cta_swizzling(self) -> int:
        """Whether blocks are numbered so that neighbours share more data."""
        return self._get(_CONFIG.CTA_SWIZZLING)

    @cta_swizzling.setter
    def cta_swizzling(self, value: int) -> None:
        self._set(_CONFIG.CTA_SWIZZLING, value)

    @property
    def custom_option(self) -> int:
        """A number that means something to this algorithm only."""
        return self._get(_CONFIG.CUSTOM_OPTION)

    @custom_option.setter
    def custom_option(self, value: int) -> None:
        self._set(_CONFIG.CUSTOM_OPTION, value)

    @property
    def inner_shape(self) -> int:
        """The instruction that multiplies: a member of MatmulInnerShape; its name can be set too."""
        return self._get(_CONFIG.INNER_SHAPE_ID)

    @inner_shape.setter
    def inner_shape(self, value: int) -> None:
        self._set(_CONFIG.INNER_SHAPE_ID, flags(cublasLt.MatmulInnerShape, value, "inner_shape"))


def _memory(value: Any) -> np.ndarray[Any, Any] | None:
    """Return one element of the dtype, over the memory of the value where that is possible."""
    if isinstance(value, np.ndarray) and value.dtype == matmul_heuristic_result_dtype and value.size == 1:
        return value.reshape(1).view(np.ndarray).view(matmul_heuristic_result_dtype)
    if isinstance(value, np.void) and value.dtype == matmul_heuristic_result_dtype:
        return np.array([value], matmul_heuristic_result_dtype)
    inner = getattr(value, "_data", None)  # how records of nvmath.bindings hold theirs
    return _memory(inner) if isinstance(inner, np.ndarray) else None


def _restored(data: bytes, score_ms: float | None) -> Algorithm:
    made = Algorithm(np.frombuffer(bytearray(data), matmul_heuristic_result_dtype))
    made.score_ms = score_ms
    return made


def host_algorithm() -> Algorithm:
    """Return the algorithm that stands for what the CPU does."""
    return Algorithm(np.zeros(1, matmul_heuristic_result_dtype))


def own_algorithm(number: int) -> Algorithm:
    """Return the algorithm that stands for one of our own kernels."""
    array_ = np.zeros(1, matmul_heuristic_result_dtype)
    array_["algo"]["data_"][0, :2] = _MARK, number
    array_["waves_count"] = 1.0
    return Algorithm(array_)


def coerce_algorithms(value: Any) -> tuple[Algorithm, ...]:
    """Accept a sequence of algorithms, or one.

    Raises
    ------
    AssertionError
        Something in it is no Algorithm.
    ValueError
        It is empty.
    """
    given = (value,) if isinstance(value, Algorithm) else tuple(value)
    for each in given:
        assert isinstance(each, Algorithm), (
            f"algorithms must hold Algorithm objects, but {each!r} is a {type(each).__name__}."
        )
    if not given:
        raise ValueError("algorithms is empty. Pass at least one Algorithm, or leave it out and the library chooses.")
    return given
