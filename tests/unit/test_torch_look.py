"""The look at a PyTorch tensor in C: the same tensors look the same, different ones do not, and special ones are left to Python."""

from __future__ import annotations

import gc
import itertools
import sys
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
exchange = pytest.importorskip(
    "nvmath._core.arrays._exchange_c", reason="the C extension nvmath._core.arrays._exchange_c is not built"
)
if not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
    pytest.skip("this torch has no C interface of DLPack", allow_module_level=True)

from nvmath._core.arrays.torch import ADAPTER, _look  # noqa: E402 - after the skips

BASE = torch.zeros(64, dtype=torch.complex128)

PLAIN: dict[str, Callable[[], Any]] = {
    "vector": lambda: torch.zeros(6),
    "column": lambda: torch.zeros(6, 1),
    "row": lambda: torch.zeros(1, 6),
    "matrix": lambda: torch.zeros(2, 3),
    "transposed": lambda: torch.zeros(3, 2).T,
    "every second": lambda: torch.zeros(12)[::2],
    "one element repeated": lambda: torch.zeros(1).expand(6),
    "scalar": lambda: torch.tensor(1.0),
    "float64": lambda: torch.zeros(6, dtype=torch.float64),
    "complex64": lambda: torch.zeros(6, dtype=torch.complex64),
    "float16": lambda: torch.zeros(6, dtype=torch.float16),
    "bfloat16": lambda: torch.zeros(6, dtype=torch.bfloat16),
    "float8_e4m3fn": lambda: torch.zeros(6, dtype=torch.float8_e4m3fn),
    "float8_e5m2": lambda: torch.zeros(6, dtype=torch.float8_e5m2),
    "uint8": lambda: torch.zeros(6, dtype=torch.uint8),
    "int8": lambda: torch.zeros(6, dtype=torch.int8),
    "bool": lambda: torch.zeros(6, dtype=torch.bool),
}
SPECIAL: dict[str, Callable[[], Any]] = {
    "conjugated": lambda: BASE.conj(),
    "negated": lambda: BASE.conj().imag,
    "with a gradient": lambda: torch.zeros(6, requires_grad=True),
    "parameter": lambda: torch.nn.Parameter(torch.zeros(6)),
    "empty": lambda: torch.zeros(0, 6),
    "of many axes": lambda: torch.zeros((1,) * 40),
}
REFUSED: dict[str, Callable[[], Any]] = {
    "sparse": lambda: torch.zeros(3, 3).to_sparse(),
    "on no device": lambda: torch.zeros(3, device="meta"),
    "without memory": lambda: torch._efficientzerotensor((3,)),
    "no array": lambda: 3,
}


def test_it_is_the_one_in_use() -> None:
    assert type(ADAPTER.look).__name__ == "builtin_function_or_method"


@pytest.mark.parametrize("name", PLAIN)
def test_a_plain_tensor_looks_the_same_every_time(name: str) -> None:
    one, other = PLAIN[name](), PLAIN[name]()
    assert ADAPTER.look(one)[0] == one.data_ptr()
    assert ADAPTER.look(one)[1] == ADAPTER.look(other)[1]
    assert hash(ADAPTER.look(one)[1]) == hash(ADAPTER.look(other)[1])
    assert isinstance(ADAPTER.look(one)[1], bytes)


def test_tensors_that_differ_look_different() -> None:
    looks = {name: ADAPTER.look(make())[1] for name, make in (PLAIN | SPECIAL).items()}
    for (name, one), (other, another) in itertools.combinations(looks.items(), 2):
        if {name, other} != {"with a gradient", "parameter"}:
            assert one != another, (name, other)


@pytest.mark.parametrize("name", SPECIAL)
def test_a_special_tensor_is_looked_at_in_python(name: str) -> None:
    tensor = SPECIAL[name]()
    assert ADAPTER.look(tensor) == _look(tensor)


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_dense_tensor_is_refused_as_in_python(name: str) -> None:
    with pytest.raises(Exception) as expected:  # noqa: PT011 - whatever it is
        _look(REFUSED[name]())
    with pytest.raises(type(expected.value)) as found:
        ADAPTER.look(REFUSED[name]())
    assert str(found.value) == str(expected.value)


def outcome(look: Callable[[Any], tuple[int, Any]], x: Any) -> tuple[type, str]:
    """What a look says, or the error that it raises."""
    try:
        found = look(x)
    except (RuntimeError, ValueError) as error:
        return type(error), str(error)
    return type(found[1]), repr(found)


@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")  # of torch itself, the first time
@pytest.mark.filterwarnings("ignore:Accessing the data pointer of FakeTensor")
def test_a_tensor_inside_of_a_transformation_is_looked_at_in_python() -> None:
    seen = []

    def function(x: Any) -> Any:
        seen.append(tuple(outcome(look, x) for look in (ADAPTER.look, _look)))
        return x.sum()

    tensor = torch.zeros(3, 3)
    torch.func.vmap(function)(tensor)
    torch.func.grad(function)(tensor)
    torch.func.jvp(function, (tensor,), (tensor,))
    with torch._subclasses.FakeTensorMode():
        function(torch.zeros(3))
    assert len(seen) == 4
    for found, expected in seen:
        assert found == expected
        assert found[0] is not bytes


@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")  # of torch itself, the first time
def test_a_dual_tensor_is_tracked() -> None:
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(torch.zeros(3), torch.ones(3))
        assert ADAPTER.look(dual) == _look(dual)


class Meddling(torch.overrides.TorchFunctionMode):  # type: ignore[misc,name-defined]
    """Does something whenever a function of torch is called."""

    def __init__(self, what: Callable[[], object]) -> None:
        super().__init__()
        self.what = what

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if function in (torch.Tensor.is_neg, torch.Tensor.is_conj):
            with torch._C.DisableTorchFunction():
                self.what()
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex64])
def test_a_tensor_that_is_resized_meanwhile_is_described_as_it_is_then(dtype: Any) -> None:
    tensor = torch.zeros(2, 3, dtype=dtype)
    with Meddling(lambda: tensor.resize_((2,) * 9)):
        found = ADAPTER.look(tensor)
    assert found == ADAPTER.look(tensor)


def test_an_interrupt_goes_through() -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with Meddling(interrupt), pytest.raises(KeyboardInterrupt):
        ADAPTER.look(torch.zeros(3))


def test_without_gradients_a_tensor_that_could_have_some_is_plain() -> None:
    plain, other = torch.zeros(3), torch.zeros(3, requires_grad=True)
    with torch.no_grad():
        assert ADAPTER.look(other)[1] == ADAPTER.look(plain)[1]
    assert ADAPTER.look(other)[1] != ADAPTER.look(plain)[1]


def test_nothing_is_kept() -> None:
    tensor, refused = torch.zeros(3, 4), torch.zeros(3, device="meta")
    before = sys.getrefcount(tensor), sys.getrefcount(refused)
    for _ in range(1000):
        ADAPTER.look(tensor)
        with pytest.raises(ValueError, match="device meta"):
            ADAPTER.look(refused)
    gc.collect()
    assert (sys.getrefcount(tensor), sys.getrefcount(refused)) == before


def looker(*, capsule: Any = None, levels: Any = None) -> Any:
    tensor = torch.Tensor
    return exchange.looker(
        tensor, tensor.__dlpack_c_exchange_api__ if capsule is None else capsule, _look, tensor.is_neg, tensor.is_conj,
        "requires_grad", torch.is_grad_enabled, {} if levels is None else levels, "level",
    )  # fmt: skip


def test_without_a_level_every_tensor_is_left_to_python() -> None:
    tensor = torch.zeros(3)
    assert looker()(tensor) == _look(tensor)
    assert looker(levels={"level": 0})(tensor) == _look(tensor)
    assert looker(levels={"level": -1})(tensor) == ADAPTER.look(tensor)


def test_only_a_capsule_of_dlpack_is_taken() -> None:
    with pytest.raises(ValueError, match="PyCapsule"):
        looker(capsule=3)
    with pytest.raises(TypeError, match="argument 8"):
        looker(levels=3)
