"""Arrays of every package as pointer, shape, strides, dtype and place."""

import subprocess
import sys

import numpy as np
import pytest
from fft_cases import shapes, strides
from frameworks import BY_NAME, COMPLEX_OF, HOST, Foreign, ForeignNamespace, params, row_major
from hypothesis import given, settings
from hypothesis import strategies as st

import nvmath
from nvmath._core.arrays import NEEDS_COPY, READONLY, UNTIDY, adapter_of, common_adapter
from nvmath._core.dtypes import DTYPES, dtype
from nvmath._core.layout import dense, normalise, stride_order

frameworks = pytest.mark.parametrize("framework", params(HOST))
NUMPY = BY_NAME["numpy"]


@frameworks
@settings(max_examples=100)
@given(data=st.data())
def test_a_view_tells_the_truth(framework, data):
    shape = data.draw(shapes(max_elements=200))
    layout = data.draw(strides(shape, negative=framework.negative, zero=True))
    name = data.draw(st.sampled_from((*framework.dtypes, "float32", "float64")))
    array = framework.array(np.zeros(shape, "complex128" if name in COMPLEX_OF.values() else "float64"), name, layout)
    adapter = adapter_of(array)
    view = adapter.view(array)
    assert (view.shape, view.dtype, view.device) == (shape, dtype(name), "cpu")
    assert view.obj is array
    assert normalise(shape, view.strides) == normalise(shape, layout)
    assert not view.flags & NEEDS_COPY
    ptr, look = adapter.look(array)
    assert ptr == view.ptr == adapter.pointer(array)
    assert hash(look) == hash(adapter.look(array)[1])
    assert adapter.look(array) == (ptr, look)


@frameworks
@settings(max_examples=60)
@given(data=st.data())
def test_arrays_are_made_in_the_layout_that_is_asked(framework, data):
    shape = data.draw(shapes(max_elements=3000))
    order = data.draw(st.permutations(range(len(shape))))
    name = data.draw(st.sampled_from(framework.dtypes))
    adapter = adapter_of(framework.array(np.zeros(1, complex), name))
    layout = normalise(shape, dense(shape, order))
    make = adapter.maker(shape, layout, dtype(name), "cpu")
    made, other = make(), make()
    view = adapter.view(made)
    assert view.shape == shape
    assert normalise(shape, view.strides) == layout
    assert view.dtype is dtype(name)
    assert not view.flags
    assert adapter.pointer(other) != adapter.pointer(made)


@frameworks
def test_a_tidy_copy_keeps_values_and_the_order_of_the_axes(framework):
    values = np.arange(24.0).reshape(2, 3, 4) + 1j
    array = framework.array(values, None, (2, 40, 5))
    adapter = adapter_of(array)
    copy = adapter.tidy(array)
    assert adapter.pointer(copy) != adapter.pointer(array)
    seen = adapter_of(copy).view(copy)
    assert stride_order(seen.shape, seen.strides) == stride_order((2, 3, 4), (2, 40, 5))
    target = framework.empty((2, 3, 4), "complex128", (24, 1, 3))
    assert adapter.assign(target, copy) is target
    np.testing.assert_array_equal(framework.numpy(target), values)


def test_no_package_is_imported_before_its_arrays_are_seen():
    code = (
        "import sys, numpy as np, nvmath\n"
        "nvmath.fft.fft(np.ones(8, complex)); nvmath.fft.rfft(np.ones(8))\n"
        "print([name for name in ('torch', 'cupy', 'numpy.ma', 'numba', 'jax') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


def test_adapters_are_found_once_per_class():
    class Sub(np.ndarray):
        pass

    plain = adapter_of(np.ones(1))
    assert adapter_of(np.ones(1).view(Sub)) is plain
    assert adapter_of(np.ones((1, 1))) is plain


@pytest.mark.parametrize("obj", [[1.0], (1.0,), 1.0, "a", None, {}, np.float64(1), memoryview(b"12345678"), object()])
def test_what_is_no_array(obj):
    with pytest.raises(ValueError, match=f"type .*{type(obj).__name__}.*numpy.asarray"):
        adapter_of(obj)


def test_mixed_packages_are_named():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    with pytest.raises(TypeError, match="a: numpy, b: torch"):
        common_adapter({"a": np.ones(1), "b": torch.ones(1)})
    assert common_adapter({"a": np.ones(1), "b": np.ones(2)}).name == "numpy"


# --- NumPy ------------------------------------------------------------------------------------------------------------


def test_flags_of_numpy_arrays():
    a = np.zeros(8, complex)
    flags = lambda array: adapter_of(array).view(array).flags  # noqa: E731
    assert flags(a) == 0
    a.flags.writeable = False
    assert flags(a) == READONLY
    assert flags(np.zeros(8, ">c16")) == UNTIDY
    assert flags(np.frombuffer(bytearray(33), complex, 2, 1)) == UNTIDY
    records = np.zeros(4, [("a", "i4"), ("b", "c8")])
    assert flags(records["b"]) == UNTIDY
    assert flags(records["b"][:1]) == 0  # the stride of an extent of one means nothing


@pytest.mark.parametrize(
    "name", ["longdouble", "clongdouble", "timedelta64", "datetime64[s]", "object", "S3", "U3", "V8"]
)
def test_dtypes_that_numpy_has_and_we_have_not(name):
    with pytest.raises(ValueError, match=r"NumPy dtype .* is not supported.*astype"):
        adapter_of(np.zeros(3, name)).view(np.zeros(3, name))


def test_every_numpy_dtype_of_the_table():
    for name, row in DTYPES.items():
        try:
            kind = np.dtype(name)
        except TypeError:
            continue
        array = np.zeros(2, kind)
        assert adapter_of(array).view(array).dtype is row


def test_masked_arrays_are_refused():
    with pytest.raises(TypeError, match="filled"):
        adapter_of(np.ones(1)).view(np.ma.masked_array([1.0, 2.0], [True, False]))


@pytest.mark.parametrize("shape", [(64, 64), (65, 33), (4, 8192)])
def test_large_numpy_results_are_aligned(shape):
    for order in ((1, 0), (0, 1)):
        array = adapter_of(np.ones(1)).maker(shape, dense(shape, order), dtype("complex128"), "cpu")()
        assert array.ctypes.data % 64 == 0
        assert array.flags.writeable


# --- DLPack -----------------------------------------------------------------------------------------------------------


def test_a_dlpack_producer_gets_its_own_arrays_back():
    foreign = Foreign(np.arange(8.0))
    result = nvmath.fft.rfft(foreign)
    assert type(result) is Foreign
    np.testing.assert_allclose(result._array, np.fft.rfft(np.arange(8.0)), atol=1e-12)


def test_dlpack_reads_the_memory_of_the_producer():
    array = np.arange(8.0) + 0j
    foreign = Foreign(array)
    with nvmath.fft.FFT(foreign) as transform:
        transform.plan()
        transform.execute()
        array *= 2
        np.testing.assert_allclose(transform.execute()._array, np.fft.fft(array), atol=1e-12)


def test_a_dlpack_producer_in_place():
    array = np.arange(8.0) + 0j
    want = np.fft.fft(array)
    foreign = Foreign(array)
    assert nvmath.fft.fft(foreign, options={"inplace": True}) is foreign
    np.testing.assert_allclose(array, want, atol=1e-12)


class NoNamespace:
    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **keywords):
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Elsewhere(NoNamespace):
    def __dlpack_device__(self):
        return (8, 0)  # kDLROCM is 10, kDLMetal 8

    def __array_namespace__(self, api_version=None):
        return ForeignNamespace


class Broken(NoNamespace):
    def __dlpack__(self, **keywords):
        raise BufferError("exported already")

    def __array_namespace__(self, api_version=None):
        return ForeignNamespace


def test_a_producer_that_cannot_take_results_is_refused():
    with pytest.raises(ValueError, match=r"NoNamespace .*from_dlpack.*numpy\.from_dlpack\(operand\)"):
        nvmath.fft.fft(NoNamespace(np.ones(8, complex)))


def test_a_producer_on_another_device_is_refused():
    with pytest.raises(ValueError, match="DLPack type 8"):
        nvmath.fft.fft(Elsewhere(np.ones(8, complex)))


def test_a_producer_that_fails_is_named():
    with pytest.raises(ValueError, match="through DLPack: exported already"):
        nvmath.fft.fft(Broken(np.ones(8, complex)))


def test_dtypes_that_cannot_travel_through_dlpack():
    with pytest.raises(TypeError, match="float16"):
        nvmath.fft.rfft(Foreign(np.ones(8, np.float16)))
    with pytest.raises(ValueError, match="int64"):
        nvmath.fft.rfft(Foreign(np.ones(8, np.int64)))


def test_out_for_a_dlpack_producer():
    out = Foreign(np.empty((3, 8), complex, order="F"))
    values = np.arange(24.0).reshape(3, 8) + 0j
    assert nvmath.fft.fft(Foreign(values), axes=[1], out=out) is out
    np.testing.assert_allclose(out._array, np.fft.fft(values), atol=1e-10)


def test_jax_arrays():
    jnp = pytest.importorskip("jax.numpy", reason="jax is not installed")
    result = nvmath.fft.rfft(jnp.arange(8.0))
    assert type(result) is type(jnp.arange(8.0))
    np.testing.assert_allclose(np.asarray(result), np.fft.rfft(np.arange(8.0)), atol=1e-5)


def test_rows_of_the_registry_have_unique_names():
    assert len(BY_NAME) == len({framework.name for framework in BY_NAME.values()})
    assert row_major((2, 3, 4)) == (12, 4, 1)
