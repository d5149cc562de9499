"""The plan cache behind the one-call functions."""

import gc
import weakref

import numpy as np
import pytest

import nvmath
from nvmath.fft import FFTOptions, fft, ifft, irfft, rfft

pytestmark = pytest.mark.usefixtures("backend", "fresh_cache")

cache = nvmath.plan_cache


def z(*shape):
    rng = np.random.default_rng(len(shape))
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


def test_the_same_metadata_hit():
    for turn in range(5):
        np.testing.assert_allclose(fft(z(4, 8) * turn), np.fft.fft2(z(4, 8) * turn), atol=1e-12)
    info = cache.info()
    assert (info.hits, info.misses, info.entries) == (4, 1, 1)


def test_spellings_that_mean_the_same_hit():
    a = z(4, 8)
    for axes in ([1], (1,), range(1, 2), np.array([1])):
        fft(a, axes=axes)
    for options in ({"result_layout": "natural"}, FFTOptions(result_layout="natural")):
        fft(a, axes=[1], options=options)
    assert cache.info().entries <= 3


DIFFERENT = {
    "shape": lambda a: fft(a[:3]),
    "strides": lambda a: fft(np.asfortranarray(a)),
    "reversed": lambda a: fft(a[::-1]),
    "dtype": lambda a: fft(a.astype(np.complex64)),
    "byte order": lambda a: fft(a.astype(">c16")),
    "direction": lambda a: fft(a, direction="inverse"),
    "function": lambda a: ifft(a),
    "axes": lambda a: fft(a, axes=[0]),
    "kind": lambda a: irfft(a),
    "parity": lambda a: irfft(a, options={"last_axis_parity": "odd"}),
    "layout": lambda a: fft(a, options={"result_layout": "natural"}),
    "threads": lambda a: fft(a, execution={"num_threads": 1}),
    "norm": lambda a: fft(a, norm="ortho"),
    "s": lambda a: fft(a, s=(2, 2)),
    "n": lambda a: fft(a, axes=[1], n=4),
    "in place": lambda a: fft(a.copy(), options={"inplace": True}),
    "real": lambda a: rfft(a.real.copy()),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_whatever_changes_the_result_is_in_the_key(name):
    a = z(4, 8)
    call = DIFFERENT[name]
    fresh = np.array(call(a))
    cache.clear()
    fft(a)
    for other in DIFFERENT.values():
        other(a)
    np.testing.assert_array_equal(call(a), fresh)


def test_alignment_is_no_matter():
    memory = np.zeros(16 * 40 + 16, np.uint8)
    for offset in (0, 8, 4, 1, 0):
        a = np.frombuffer(memory, np.complex128, 32, offset)
        a[...] = z(32)
        np.testing.assert_allclose(fft(a), np.fft.fft(z(32)), atol=1e-12)


def test_true_is_the_axis_one():
    a = z(4, 8)
    np.testing.assert_allclose(fft(a, axes=(True,)), np.fft.fft(a, axis=1), atol=1e-12)
    np.testing.assert_allclose(fft(a, axes=(1,)), np.fft.fft(a, axis=1), atol=1e-12)


def test_a_refusal_stays_a_refusal_when_an_equal_key_is_cached():
    a = z(4, 8)
    fft(a, options={"inplace": True})
    a.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        fft(a, options={"inplace": True})
    fft(z(4, 8), options={"inplace": True, "blocking": True})
    with pytest.raises(ValueError, match="inplace"):
        fft(z(4, 8), options={"inplace": 1, "blocking": True})


def test_nothing_of_the_user_is_kept_alive():
    class Options(FFTOptions):
        pass

    a, options = z(4, 8), Options()
    references = [weakref.ref(a), weakref.ref(options)]
    fft(a, options=options, out=np.empty_like(a))
    fft(a, options={"inplace": True})
    rfft(a.real)
    del a, options
    gc.collect()
    assert [reference() for reference in references] == [None, None]


def test_an_in_place_call_forgets_its_operand():
    a = z(4, 8)
    gone = weakref.ref(a)
    fft(a, options={"inplace": True})
    fft(a, options={"inplace": True})
    del a
    assert gone() is None


def test_bounds():
    cache.configure(max_entries=2)
    for n in range(2, 9):
        fft(z(n))
    assert cache.info().entries == 2
    before = cache.info().hits
    fft(z(8))
    fft(z(7))
    assert cache.info().hits == before + 2  # the most recently used ones stay
    cache.configure(max_entries=0)
    assert cache.info().entries == 0
    np.testing.assert_allclose(fft(z(8)), np.fft.fft(z(8)))
    assert cache.info().entries == 0


def test_switched_off():
    cache.configure(enabled=False)
    for _ in range(3):
        np.testing.assert_allclose(fft(z(8)), np.fft.fft(z(8)))
    info = cache.info()
    assert (info.entries, info.hits, info.enabled) == (0, 0, False)
    cache.configure(enabled=True)
    fft(z(8))
    assert cache.info().entries == 1


@pytest.mark.parametrize("bound", ["max_entries", "max_nbytes"])
def test_negative_bounds_are_refused(bound):
    with pytest.raises(ValueError, match=f"{bound}.*-1"):
        cache.configure(**{bound: -1})


def test_clear():
    fft(z(8))
    cache.clear()
    info = cache.info()
    assert (info.entries, info.hits, info.misses, info.nbytes) == (0, 0, 0, 0)
    fft(z(8))
    assert cache.info().misses == 1


def test_evicted_plans_are_closed(monkeypatch):
    from nvmath.fft import FFT

    closed = []
    free = FFT.free
    monkeypatch.setattr(FFT, "free", lambda self: closed.append(self) or free(self))
    cache.configure(max_entries=1)
    for n in (8, 9, 10):
        fft(z(n))
    assert len(closed) == 2
    assert not any(transform.valid_state for transform in closed)


def test_a_call_from_inside_a_call_is_served():
    """An allocation hook, a signal handler or a destructor may call a function that is just running."""
    a = z(4, 8)
    fft(a)
    key = next(iter(cache._table))
    entry = cache.take(key)
    try:
        np.testing.assert_allclose(fft(a), np.fft.fft2(a), atol=1e-12)  # the plan is under way: another one is made
    finally:
        cache.give(key, entry)
    np.testing.assert_allclose(fft(a), np.fft.fft2(a), atol=1e-12)


def test_state_survives_an_error_in_the_middle():
    a = z(4, 8)
    fft(a)
    for _ in range(3):
        with pytest.raises(ValueError, match="out"):
            fft(a, out=np.empty(3, complex))
    np.testing.assert_allclose(fft(a), np.fft.fft2(a), atol=1e-12)
    assert cache.info().entries == 1
