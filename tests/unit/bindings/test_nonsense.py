"""No function of the bindings takes what cannot be an argument of it: it says so, by its name, before a library is called."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

import pytest

from nvmath.bindings import FunctionNotFoundError, LibraryNotFoundError

MODULES = (
    "cublas", "cublasLt", "cublasMp", "cudss", "cufft", "cufftMp", "curand", "cusolver", "cusolverDn", "cusolverMp", "cusolverSp",
    "cusparse", "cusparseLt", "cutensor", "mathdx", "nccl", "nvshmem", "nvpl.blas", "nvpl.lapack",
)  # fmt: skip
TAKES_ANYTHING = {"check_status", "matmul_descriptor_destroy"}
"""What raises the error of any status, and what forgets an address that it does not know."""
IN_PYTHON = {
    "matmul_algo_get_ids", "set_async_workspace_allocator", "xt_set_jit_callback", "set_descriptor_data", "comm_init_rank",
    "comm_init_rank_config", "get_scramble_constants32", "get_scramble_constants64",
}  # fmt: skip
"""What is written in Python: the errors do not begin with the name."""


class Nothing:
    """Neither a number, nor memory, nor text."""


def functions_of(module: str) -> dict[str, Callable[..., Any]]:
    made = importlib.import_module(f"nvmath.bindings.{module}")
    found = {name: getattr(made, name) for name in dir(made) if not name.startswith("_") and name not in TAKES_ANYTHING}
    return {name: value for name, value in found.items() if callable(value) and not inspect.isclass(value)}


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("nonsense", [Nothing(), 2**70], ids=["an object", "a number too large"])
def test_nonsense_is_refused_by_name(module: str, nonsense: object) -> None:
    called = 0
    for name, function in functions_of(module).items():
        count = len(inspect.signature(function).parameters)
        if count == 0:
            continue
        with pytest.raises((TypeError, ValueError, OverflowError, LibraryNotFoundError, FunctionNotFoundError)) as caught:
            function(*[nonsense] * count)
        text = str(caught.value)
        named = name in text or f"bindings.{module}._" in text or "it must be 0" in text  # the last where the library is too old
        assert named or name in IN_PYTHON or isinstance(caught.value, RuntimeError), (name, text)
        called += 1
    assert called


@pytest.mark.parametrize("module", MODULES)
def test_too_many_arguments_and_unknown_names_are_refused(module: str) -> None:
    for name, function in functions_of(module).items():
        count = len(inspect.signature(function).parameters)
        with pytest.raises(TypeError):
            function(*[0] * (count + 1))
        with pytest.raises(TypeError, match=name):
            function(nonsense=1)


@pytest.mark.parametrize("name", ["destroy", "execute"])
def test_what_is_no_plan_of_a_transform_is_refused(name: str) -> None:
    from nvmath.bindings.nvpl import fft

    with pytest.raises(TypeError, match=rf"fft\.{name}\(\): 'plan' must be what plan_many"):
        getattr(fft, name)(*[3] * len(inspect.signature(getattr(fft, name)).parameters))
