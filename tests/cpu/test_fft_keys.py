"""Keys for caches of the caller, and the workspace that a key will need."""

import itertools

import numpy as np
import pytest
from fft_cases import cases, examples
from frameworks import BY_NAME, HOST, params
from hypothesis import given
from hypothesis import strategies as st

from nvmath import CudaDataType
from nvmath.fft import FFT, ExecutionCPU, FFTOptions, estimate_workspace_size

C32, C64, R32, R64 = CudaDataType.CUDA_C_32F, CudaDataType.CUDA_C_64F, CudaDataType.CUDA_R_32F, CudaDataType.CUDA_R_64F
ONE = ExecutionCPU(num_threads=1)


def arguments(shape, axes, dtype="complex128", **options):
    return FFT.create_key(np.ones(shape, dtype), axes=axes, options=options, execution=ONE)[0]


# operand shape, axes, dtype, options -> (rank, n, inembed, istride, idist, in, onembed, ostride, odist, out, batch, exec)
PLANS = [
    ((8,), (0,), "complex128", {}, (1, (8,), (8,), 1, 8, C64, (8,), 1, 8, C64, 1, C64)),
    ((4, 8), (1,), "complex64", {}, (1, (8,), (8,), 1, 8, C32, (8,), 1, 8, C32, 4, C32)),
    ((4, 8), (0,), "complex64", {}, (1, (4,), (4,), 8, 1, C32, (4,), 1, 4, C32, 8, C32)),
    ((4, 8), (0,), "complex64", {"result_layout": "natural"}, (1, (4,), (4,), 8, 1, C32, (4,), 8, 1, C32, 8, C32)),
    ((4, 6, 8), (1, 2), "float64", {}, (2, (6, 8), (6, 8), 1, 48, R64, (6, 5), 1, 30, C64, 4, R64)),
    ((4, 6, 8), (2,), "float32", {}, (1, (8,), (8,), 1, 8, R32, (5,), 1, 5, C32, 24, R32)),
    ((4, 6, 5), (1, 2), "complex128", {"fft_type": "C2R"}, (2, (6, 8), (6, 5), 1, 30, C64, (6, 8), 1, 48, R64, 4, C64)),
    ((4, 5), (1,), "complex128", {"fft_type": "C2R", "last_axis_parity": "odd"},
     (1, (9,), (5,), 1, 5, C64, (9,), 1, 9, R64, 4, C64)),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "axes", "dtype", "options", "expected"), PLANS)
def test_the_twelve_plan_arguments(shape, axes, dtype, options, expected):
    assert arguments(shape, axes, dtype, **options) == expected


def test_the_parts_of_a_key():
    a = np.ones((4, 8), complex)
    plan, callbacks, execution = FFT.create_key(a, axes=[1], execution={"num_threads": 3})
    assert len(plan) == 12
    assert callbacks is None
    assert execution == ("cpu", 3)
    assert isinstance(plan[5], CudaDataType)
    assert all(isinstance(plan[i], tuple) for i in (1, 2, 6))


@pytest.mark.parametrize("framework", params(HOST))
@examples(60)
@given(data=st.data())
def test_every_way_to_a_key_gives_the_same_key(framework, data):
    case = data.draw(cases(framework, resized=False, norms=False))
    operand = case.operand(framework, case.values())
    keywords = {name: case.keywords()[name] for name in ("axes", "options")}
    key = FFT.create_key(operand, **keywords)
    assert hash(key) == hash(FFT.create_key(operand, **keywords))
    assert key == FFT.create_key_from_metadata(case.shape, case.dtype, "cpu", strides=case.strides, **keywords)
    with FFT(operand, **keywords) as transform:
        transform.plan()
        assert transform.get_key() == key
        transform.execute(case.direction)
        transform.release_operand()
        assert transform.get_key() == key


def test_the_order_of_the_axes_does_not_matter_for_c2c():
    shape = (3, 4, 5)
    for axes in itertools.permutations((0, 1, 2)):
        assert arguments(shape, axes) == arguments(shape, (0, 1, 2))
    assert arguments(shape, (1, 0), "float64") != arguments(shape, (0, 1), "float64")


def test_equal_keys_for_another_split_of_the_batch():
    assert arguments((2, 3, 64), [2]) == arguments((3, 2, 64), [2]) == arguments((6, 64), [1])


def test_what_makes_keys_differ():
    a = np.ones((4, 8), complex)
    keys = [
        FFT.create_key(a, axes=[1], execution=ONE),
        FFT.create_key(a, axes=[0], execution=ONE),
        FFT.create_key(a, execution=ONE),
        FFT.create_key(a.astype(np.complex64), axes=[1], execution=ONE),
        FFT.create_key(np.ones((5, 8), complex), axes=[1], execution=ONE),
        FFT.create_key(np.ones((4, 9), complex), axes=[1], execution=ONE),
        FFT.create_key(np.asfortranarray(a), axes=[1], execution=ONE),
        FFT.create_key(a, axes=[1], execution={"num_threads": 2}),
        FFT.create_key(a, axes=[1], execution=ONE, options={"fft_type": "C2R"}),
        FFT.create_key(a, axes=[1], execution=ONE, options={"fft_type": "C2R", "last_axis_parity": "odd"}),
        FFT.create_key(a, axes=[0], execution=ONE, options={"result_layout": "natural"}),
    ]
    assert len(set(keys)) == len(keys)


def test_what_does_not_change_a_key():
    a = np.ones((4, 8), complex)
    key = FFT.create_key(a, axes=[1])
    for options in ({"inplace": True}, {"blocking": True}, FFTOptions()):
        assert FFT.create_key(a, axes=[1], options=options) == key
    assert FFT.create_key(a, axes=[-1], execution="CPU") == key


def test_keys_with_callbacks():
    a = np.ones((4, 8), complex)
    prolog = {"ltoir": b"code", "data": 64}
    key = FFT.create_key(a, axes=[1], prolog=prolog)
    assert key[1] == ((b"code", 64), None)
    with FFT(a, axes=[1]) as transform:
        transform.plan()
        assert transform.get_key(prolog=prolog) == key
        assert transform.get_key()[1] is None


def test_a_key_reads_no_values():
    row = np.lib.stride_tricks.as_strided(np.ones(1, complex), (1 << 20, 1 << 20), (16 << 20, 16))
    assert FFT.create_key(row, axes=[1], execution=ONE)[0][10] == 1 << 20


@pytest.mark.parametrize("layout", [(-8, -1), (0, 1), (40, 3), (1, 4), (8, -1)])
def test_keys_of_layouts_that_one_call_cannot_describe(layout):  # W16
    framework = BY_NAME["numpy"]
    values = np.ones((4, 8), complex)
    operand = framework.array(values, None, layout)
    for options in (None, {"fft_type": "C2R"}):
        for axes in ([0], [1], [0, 1]):
            assert hash(FFT.create_key(operand, axes=axes, options=options))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: FFT.create_key(np.array(1j)), ValueError, "at least one axis"),
        (lambda: FFT.create_key([1, 2]), ValueError, "list"),
        (lambda: FFT.create_key(np.lib.stride_tricks.as_strided(np.ones(9, complex), (4, 4), (16, 16)),
                                options={"inplace": True}), ValueError, "share memory"),
        (lambda: FFT.create_key_from_metadata((4,), "complex64", "gpu"), ValueError, "memory_space.*gpu"),
        (lambda: FFT.create_key_from_metadata((4,), "c8", "cpu"), ValueError, "c8"),
        (lambda: FFT.create_key_from_metadata((4,), "int32", "cpu"), ValueError, "int32"),
        (lambda: FFT.create_key_from_metadata((4, 4), "complex64", "cpu", strides=(1,)), ValueError, "strides"),
        (lambda: FFT.create_key_from_metadata((), "complex64", "cpu"), ValueError, "at least one axis"),
        (lambda: FFT.create_key_from_metadata((4,), "complex64", "cpu", axes=[1]), ValueError, "out of range"),
        (lambda: FFT.create_key_from_metadata((0,), "complex64", "cpu"), ValueError, "extent 0"),
        (lambda: FFT.create_key_from_metadata(4, "complex64", "cpu"), TypeError, "shape"),
    ],
)  # fmt: skip
def test_what_has_no_key(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_metadata_on_a_gpu_need_no_gpu():
    key = FFT.create_key_from_metadata((4, 8), "complex32", "cuda", axes=[1])
    assert key[2] == ("cuda", 0)
    assert FFT.create_key_from_metadata((4, 8), "float16", "cuda")[0][11] == CudaDataType.CUDA_R_16F
    assert FFT.create_key_from_metadata((4, 8), "complex64", "cpu", execution={"name": "cuda", "device_id": 3})[2] == (
        "cuda",
        3,
    )


# --- workspace --------------------------------------------------------------------------------------------------------


def test_the_cpu_needs_no_workspace():
    key = FFT.create_key(np.ones((4, 8), complex))
    assert estimate_workspace_size(key) == estimate_workspace_size(key, technique="refined") == 0


CUDA = ("cuda", 0)
GOOD = FFT.create_key_from_metadata((4, 8), "complex64", "cuda")


@pytest.mark.parametrize(
    ("key", "keywords", "words"),
    [
        (GOOD, {"technique": "exact"}, "exact"),
        (GOOD, {"technique": "refined"}, "handle"),
        (GOOD[:2], {}, "three parts"),
        (list(GOOD), {}, "three parts"),
        ("key", {}, "three parts"),
        ((GOOD[0][:11], None, CUDA), {}, "twelve"),
        ((list(GOOD[0]), None, CUDA), {}, "twelve"),
        ((GOOD[0], None, ()), {}, "cpu.*cuda"),
        ((GOOD[0], None, "cuda"), {}, "cpu.*cuda"),
        ((GOOD[0], None, ("tpu", 0)), {}, "cpu.*cuda"),
        (FFT.create_key_from_metadata((4, 8), "complex32", "cuda"), {}, "refined"),
    ],
)
def test_what_has_no_estimate(key, keywords, words):
    with pytest.raises(ValueError, match=words):
        estimate_workspace_size(key, **keywords)
