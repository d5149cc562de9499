"""No function of the bindings takes what cannot be an argument of it: it says so, by its name, before a library is called."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nvmath.bindings import FunctionNotFoundError, LibraryNotFoundError
from nvmath.bindings.nvpl import fft

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
REFUSALS = (TypeError, ValueError, OverflowError, LibraryNotFoundError, FunctionNotFoundError)


class Nothing:
    """Neither a number, nor memory, nor text."""


def functions_of(module: str) -> dict[str, Callable[..., Any]]:
    made = importlib.import_module(f"nvmath.bindings.{module}")
    found = {name: getattr(made, name) for name in dir(made) if not name.startswith("_") and name not in TAKES_ANYTHING}
    return {name: value for name, value in found.items() if callable(value) and not inspect.isclass(value)}


def faults(module: str) -> Iterator[str]:
    """What some functions do with nonsense, other than to refuse it."""
    for name, function in functions_of(module).items():
        count = len(inspect.signature(function).parameters)
        wrong: list[tuple[tuple[Any, ...], dict[str, Any]]] = [((0,) * (count + 1), {}), ((), {"nonsense": 1})]
        wrong += [((each,) * count, {}) for each in (Nothing(), 2**70) if count]
        for arguments, keywords in wrong:
            try:
                function(*arguments, **keywords)
            except REFUSALS as error:
                text = str(error)
                named = name in text or f"bindings.{module}._" in text or "it must be 0" in text  # of a library that is too old
                if not (named or name in IN_PYTHON or isinstance(error, RuntimeError)):
                    yield f"{name}{arguments}: {text}"
            else:
                yield f"{name}{arguments} returned"


@pytest.mark.parametrize("module", MODULES)
def test_nonsense_is_refused_by_name(module: str) -> None:
    """In a process of its own: functions that have been called are bound to their library for good."""
    command = [sys.executable, str(Path(__file__)), module]
    run = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    counted, *found = run.stdout.splitlines()
    assert found == []
    assert int(counted) > 0


@pytest.mark.parametrize("name", ["destroy", "execute"])
def test_what_is_no_plan_of_a_transform_is_refused(name: str) -> None:
    function = getattr(fft, name)
    with pytest.raises(TypeError, match=rf"fft\.{name}\(\): 'plan' must be what plan_many"):
        function(*[3] * len(inspect.signature(function).parameters))


if __name__ == "__main__":
    print(len(functions_of(sys.argv[1])))
    for fault in faults(sys.argv[1]):
        print(fault)
