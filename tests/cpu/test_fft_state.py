"""The life of an FFT object: specify, plan, execute, reset, release, free."""

import gc
import sys
import weakref

import numpy as np
import pytest
from frameworks import BY_NAME, HOST, params

import nvmath
from nvmath.bindings.nvpl.fft import FFTWError
from nvmath.fft import FFT, FFTDirection, InvalidFFTState

pytestmark = pytest.mark.usefixtures("backend")

frameworks = pytest.mark.parametrize("framework", params(HOST))
C2R = {"fft_type": "C2R"}


def z(*shape, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


def close(got, want):
    np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-10)


# --- the order of the phases ------------------------------------------------------------------------------------------


def test_what_is_known_before_planning():
    transform = FFT(np.ones((4, 6, 8), np.float32), axes=[0, -1])
    assert transform.axes == (0, 2)
    assert transform.fft_abstract_type == "R2C"
    assert (transform.operand_data_type, transform.result_data_type) == ("float32", "complex64")
    assert (transform.device_id, transform.memory_space, transform.execution_space) == ("cpu", "cpu", "cpu")
    assert not transform.inplace
    assert transform.blocking
    assert not transform.fft_planned
    assert transform.valid_state
    assert transform.handle is None
    assert transform.workspace is None
    assert transform.get_input_layout() == ((4, 6, 8), (48, 8, 1))
    assert transform.get_output_layout() == ((4, 6, 5), (5, 20, 1))
    transform.free()


@pytest.mark.parametrize("method", ["execute", "get_key"])
def test_planning_comes_first(method):
    with FFT(z(8)) as transform, pytest.raises(RuntimeError, match=r"plan\(\) must be called"):
        getattr(transform, method)()


def test_a_second_plan_without_callbacks_changes_nothing():
    a = z(8)
    with FFT(a) as transform:
        transform.plan()
        transform.plan(direction="inverse")
        close(transform.execute(), np.fft.fft(a))


def test_a_failed_plan_can_be_repeated():
    with FFT(np.ones(8)) as transform:
        with pytest.raises(ValueError, match="direction"):
            transform.plan(direction="inverse")
        with pytest.raises(TypeError):
            transform.plan(prolog=1)
        assert not transform.fft_planned
        transform.plan()
        close(transform.execute(), np.fft.rfft(np.ones(8)))


def test_everything_but_free_is_refused_after_free():
    a = z(8)
    transform = FFT(a)
    transform.plan()
    transform.free()
    transform.free()
    assert not transform.valid_state
    for call in (
        transform.plan, transform.execute, transform.release_operand, transform.get_key, transform.get_input_layout,
        transform.get_output_layout, transform.__enter__, lambda: transform.reset_operand(a),
        lambda: transform.reset_operand(z(9)), lambda: transform.execute("inverse"), lambda: transform.execute(out=a),
    ):  # fmt: skip
        with pytest.raises(InvalidFFTState, match="freed"):
            call()


def test_free_before_plan():
    transform = FFT(z(8))
    transform.free()
    with pytest.raises(InvalidFFTState):
        transform.plan()


def test_the_context_manager_frees_also_after_an_error():
    transform = FFT(z(8))
    with pytest.raises(ZeroDivisionError), transform:
        raise ZeroDivisionError
    assert not transform.valid_state


def test_the_state_error_is_where_the_original_keeps_it():
    assert sys.modules["nvmath.fft.fft"].InvalidFFTState is InvalidFFTState
    assert issubclass(InvalidFFTState, Exception)
    assert not issubclass(InvalidFFTState, RuntimeError)


def test_the_library_is_closed_with_the_object(monkeypatch):
    from nvmath.bindings.nvpl import fft as fftw

    made, ended = [], []
    plan, destroy = fftw.plan_guru, fftw.destroy_guru
    monkeypatch.setattr(fftw, "plan_guru", lambda *a, **k: made.append(plan(*a, **k)) or made[-1])
    monkeypatch.setattr(fftw, "destroy_guru", lambda bits, handle: ended.append(handle) or destroy(bits, handle))
    with FFT(z(4, 5, 6)) as transform:
        transform.plan()
        transform.execute("forward")
        transform.execute("inverse")
    assert sorted(made) == sorted(ended)
    forgotten = FFT(z(8))
    forgotten.plan()
    forgotten.execute()
    del forgotten
    gc.collect()
    FFT(z(8)).plan()  # what finalizers queued is destroyed by the next plan
    assert len(ended) >= len(made) - 1


# --- directions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("direction", [None, "forward", "FORWARD", -1, -1.0, FFTDirection.FORWARD])
def test_spellings_of_forward(direction):
    a = z(8)
    with FFT(a) as transform:
        transform.plan()
        close(transform.execute(direction), np.fft.fft(a))


@pytest.mark.parametrize("direction", ["inverse", "Inverse", 1, 1.0, FFTDirection.INVERSE])
def test_spellings_of_inverse(direction):
    a = z(8)
    with FFT(a) as transform:
        transform.plan()
        close(transform.execute(direction), np.fft.ifft(a) * 8)
    with FFT(a) as transform:
        transform.plan(direction=direction)
        close(transform.execute(direction=direction), np.fft.ifft(a) * 8)


@pytest.mark.parametrize("direction", [0, 2, "fwd", "", 0.5, [], "back"])
def test_other_directions_are_refused(direction):
    with FFT(z(8)) as transform:
        with pytest.raises(ValueError, match="direction"):
            transform.plan(direction=direction)
        transform.plan()
        with pytest.raises(ValueError, match="direction"):
            transform.execute(direction)
    with pytest.raises(ValueError, match="direction"):
        nvmath.fft.fft(z(8), direction=direction)


def test_a_plan_for_one_direction_serves_that_one_only():
    with FFT(z(8)) as transform:
        transform.plan(direction="inverse")
        with pytest.raises(FFTWError, match="INVERSE only"):
            transform.execute("forward")
        with pytest.raises(FFTWError):
            transform.execute()
        transform.execute("inverse")


def test_real_transforms_have_one_direction():
    with FFT(np.ones(8)) as transform:
        transform.plan(direction="forward")
        transform.execute("forward")
        with pytest.raises(ValueError, match="R2C"):
            transform.execute("inverse")
    with FFT(z(5), options=C2R) as transform:
        transform.plan(direction="inverse")
        transform.execute("inverse")
        with pytest.raises(ValueError, match="C2R"):
            transform.execute("forward")


# --- reset ------------------------------------------------------------------------------------------------------------


@frameworks
def test_reset_to_an_operand_like_the_first(framework):
    first, second = z(4, 8, seed=1), z(4, 8, seed=2)
    with FFT(framework.array(first), axes=[1]) as transform:
        transform.reset_operand(framework.array(second))  # also before planning
        transform.plan()
        close(framework.numpy(transform.execute()), np.fft.fft(second, axis=1))
        transform.reset_operand(framework.array(first))
        close(framework.numpy(transform.execute()), np.fft.fft(first, axis=1))


@pytest.mark.parametrize("offset", range(9))
def test_reset_to_another_alignment(offset):
    base = np.zeros(8 + 16 * 64, np.uint8)
    b = base[offset : offset + 16 * 32].view(complex).reshape(4, 8) if offset % 8 == 0 else np.frombuffer(
        base, complex, 32, offset
    ).reshape(4, 8)  # fmt: skip
    b[...] = z(4, 8)
    with FFT(z(4, 8, seed=3), axes=[1]) as transform:
        transform.plan()
        transform.execute()
        transform.reset_operand(b)
        close(transform.execute(), np.fft.fft(z(4, 8), axis=1))
        transform.reset_operand(z(4, 8, seed=4))
        close(transform.execute(), np.fft.fft(z(4, 8, seed=4), axis=1))


def test_reset_to_another_split_of_the_batch():  # W7
    a, b = z(2, 3, 64), z(3, 2, 64, seed=1)
    with FFT(a, axes=[2]) as transform:
        transform.plan()
        transform.reset_operand(b)
        first = transform.execute()
        assert first.shape == (3, 2, 64)
        close(first, np.fft.fft(b, axis=2))
        close(transform.execute(), first)
        assert transform.get_output_layout() == ((3, 2, 64), (128, 64, 1))


def test_reset_keeps_strides_as_tuples():  # W30
    a = z(4, 6, 8)
    with FFT(a, axes=[2]) as transform:
        transform.plan()
        transform.reset_operand(a.copy())
        for shape, strides in (transform.get_input_layout(), transform.get_output_layout()):
            assert type(shape) is type(strides) is tuple


@pytest.mark.parametrize(
    ("operand", "error", "words"),
    [
        (lambda: z(8, 4), ValueError, "shape"),
        (lambda: z(4, 9), ValueError, "shape"),
        (lambda: z(8), ValueError, "axis|axes|Axis"),
        (lambda: z(4, 8).astype(np.complex64), ValueError, "complex64"),
        (lambda: z(4, 8).real.copy(), ValueError, "float64"),
        (lambda: np.asfortranarray(z(4, 8)), ValueError, "strides"),
        (lambda: z(4, 16)[:, ::2], ValueError, "strides"),
        (lambda: None, ValueError, "None"),
        (lambda: [1, 2], ValueError, "list"),
        (lambda: np.ma.masked_array(z(4, 8)), TypeError, "mask"),
    ],
)
def test_reset_to_an_operand_that_does_not_fit(operand, error, words):  # R38
    a = z(4, 8)
    with FFT(a, axes=[1]) as transform:
        transform.plan()
        with pytest.raises(error, match=words):
            transform.reset_operand(operand())
        close(transform.execute(), np.fft.fft(a, axis=1))  # nothing has changed
        transform.reset_operand(a)
        close(transform.execute(), np.fft.fft(a, axis=1))


def test_reset_to_another_package():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    with FFT(z(8)) as transform:
        transform.plan()
        with pytest.raises(TypeError, match=r"numpy.*torch"):
            transform.reset_operand(torch.zeros(8, dtype=torch.complex128))


def test_reset_needs_an_operand():
    with FFT(z(8)) as transform, pytest.raises(TypeError):
        transform.reset_operand()


@pytest.mark.parametrize("layout", [(1, 4), (-8, -1), (8, -1), (0, 1), (40, 3)])
@pytest.mark.parametrize("kind", ["C2C", "C2R"])
def test_reset_accepts_what_the_constructor_accepts(layout, kind):  # W16
    framework = BY_NAME["numpy"]
    a, b = framework.array(z(4, 8), None, layout), framework.array(z(4, 8, seed=1), None, layout)
    with FFT(a, axes=[1], options={"fft_type": kind}) as transform:
        transform.plan()
        transform.reset_operand(b)
        got = transform.execute()
        with FFT(b, axes=[1], options={"fft_type": kind}) as other:
            other.plan()
            close(got, other.execute())


def test_reset_unchecked():
    a, b = z(4, 8), z(4, 8, seed=1)
    with FFT(a, axes=[1]) as transform:
        transform.plan()
        transform.reset_operand_unchecked(b)
        close(transform.execute(), np.fft.fft(b, axis=1))
        transform.release_operand()
        transform.reset_operand_unchecked(a)
        close(transform.execute(), np.fft.fft(a, axis=1))


def test_reset_in_place():
    a, b = z(4, 8), z(4, 8, seed=1)
    want = np.fft.fft(b, axis=1)
    with FFT(a, axes=[1], options={"inplace": True}) as transform:
        transform.plan()
        assert transform.execute() is a
        transform.reset_operand(b)
        assert transform.execute() is b
        close(b, want)
        frozen = z(4, 8)
        frozen.flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            transform.reset_operand(frozen)
        assert transform.execute() is b


def test_a_spectrum_can_go_back_through_the_same_plan():
    a = z(4, 8)
    with FFT(a, axes=[1]) as transform:
        transform.plan()
        spectrum = transform.execute()
        transform.reset_operand(spectrum)
        close(transform.execute("inverse"), 8 * a)


# --- release and lifetimes --------------------------------------------------------------------------------------------


def test_release_lets_go_of_the_operand():
    a = z(4, 8)
    before = sys.getrefcount(a)
    transform = FFT(a, axes=[1])
    transform.plan()
    transform.execute()
    transform.release_operand()
    transform.release_operand()
    assert sys.getrefcount(a) == before
    with pytest.raises(RuntimeError, match="reset_operand"):
        transform.execute()
    assert transform.get_input_layout() == ((4, 8), (8, 1))
    transform.get_key()
    transform.reset_operand(a)
    close(transform.execute(), np.fft.fft(a, axis=1))
    transform.free()
    assert sys.getrefcount(a) == before


@pytest.mark.parametrize("options", [None, {"inplace": True}, {"result_layout": "natural"}])
def test_a_reset_lets_go_of_the_old_operand(options):
    first = z(4, 8)
    gone = weakref.ref(first)
    with FFT(first, axes=[0], options=options) as transform:
        transform.plan()
        transform.execute()
        transform.reset_operand(z(4, 8))
        del first
        assert gone() is None


def test_the_caller_alone_owns_a_result():
    with FFT(z(4, 8)) as transform:
        transform.plan()
        result = transform.execute()
        gone = weakref.ref(result)
        del result
        assert gone() is None


def test_a_one_call_function_keeps_neither_operand_nor_result():
    for _ in range(2):
        a = z(5, 7)
        gone = weakref.ref(a)
        result = nvmath.fft.fft(a)
        gone_too = weakref.ref(result)
        del a, result
        assert gone() is gone_too() is None


def test_a_failed_execution_leaves_the_object_usable():
    a = z(8)
    with FFT(a) as transform:
        transform.plan()
        with pytest.raises(ValueError, match="out"):
            transform.execute(out=np.empty(9, complex))
        with pytest.raises(ValueError, match="direction"):
            transform.execute("sideways")
        close(transform.execute(), np.fft.fft(a))


def test_a_failed_construction_leaves_nothing_behind():
    a = z(4, 8)
    before = sys.getrefcount(a)
    for keywords in (
        {"axes": [2]},
        {"axes": [0, 0]},
        {"options": {"inplace": 1}},
        {"execution": "gpu"},
        {"norm": "unit"},
    ):
        with pytest.raises(ValueError):  # noqa: PT011, the texts are tested elsewhere
            FFT(a, **keywords)
    assert sys.getrefcount(a) == before


def test_execute_takes_positional_arguments():
    a = z(8)
    with FFT(a) as transform:
        transform.plan()
        close(transform.execute("inverse", None, True), 8 * np.fft.ifft(a))


def test_streams_are_ignored_on_the_cpu():
    a = z(8)
    for stream in (0, 7, "nonsense", object(), 1.5):
        close(nvmath.fft.fft(a, stream=stream), np.fft.fft(a))
        with FFT(a, stream=stream) as transform:
            transform.plan(stream=stream)
            transform.reset_operand(a, stream=stream)
            close(transform.execute(stream=stream), np.fft.fft(a))


def test_the_memory_of_an_operand_may_be_exchanged():
    """An operand is read where it lies when execute() is called, as it always was."""
    a = np.ones(8, complex)
    with FFT(a) as transform:
        transform.plan()
        a.resize(1 << 16, refcheck=False)  # moves
        a.resize(8, refcheck=False)
        a[:] = 5
        assert transform.execute()[0] == 40


def test_options_are_those_of_the_construction():
    options = nvmath.fft.FFTOptions()
    a, b = np.ones((2, 3, 64), complex), np.ones((3, 2, 64), complex)
    with FFT(a, axes=[2], options=options) as transform:
        transform.plan()
        options.inplace = True
        transform.reset_operand(b)
        result = transform.execute()
    assert result is not b
    assert (b == 1).all()
