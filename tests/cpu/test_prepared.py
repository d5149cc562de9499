"""Products that are one foreign call: the short way gives what the long way gives, and stands aside whenever something has changed."""

import gc
import logging
import os
import subprocess
import sys
import threading
import weakref
from functools import partial

import numpy as np
import pytest

import nvmath
from nvmath.linalg import Matmul as GenericMatmul
from nvmath.linalg import advanced
from nvmath.linalg import matmul as generic_matmul
from nvmath.linalg._prepared import PREPARED

DTYPES = ("float32", "float64", "complex64", "complex128")
KINDS = {
    "advanced": (advanced.Matmul, partial(advanced.matmul, execution="cpu")),
    "generic": (GenericMatmul, partial(generic_matmul, execution="cpu")),
}

pytestmark = pytest.mark.usefixtures("empty_cache")


@pytest.fixture
def empty_cache():
    nvmath.plan_cache.clear()
    yield
    nvmath.plan_cache.clear()


@pytest.fixture(params=KINDS)
def kind(request):
    return KINDS[request.param]


def numbers(shape, dtype="float64", seed=0):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(shape)
    return (values + 1j * rng.standard_normal(shape) if dtype.startswith("c") else values).astype(dtype)


def planned(kind, a, b, **asked):
    product = kind[0](a, b, execution="cpu", **asked)
    product.plan()
    return product


def close(one, other):
    np.testing.assert_allclose(one, other, rtol=1e-4 if one.dtype.itemsize // (1 + np.iscomplexobj(one)) == 4 else 1e-12, atol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("order_a", ["C", "F"])
@pytest.mark.parametrize("order_b", ["C", "F"])
@pytest.mark.parametrize("shapes", [((5, 7), (7, 3)), ((8, 8), (8, 8)), ((70, 90), (90, 80))])
def test_the_short_way_gives_what_the_long_way_gives(kind, dtype, order_a, order_b, shapes):
    a, b = np.asarray(numbers(shapes[0], dtype), order=order_a), np.asarray(numbers(shapes[1], dtype, 1), order=order_b)
    with planned(kind, a, b) as product:
        first = product.execute()
        assert PREPARED in product._runners
        second = product.execute()
        long = np.empty_like(first)
        product.execute(out=long)
    once = [kind[1](a, b) for _ in range(3)]
    for each in (first, second, *once):
        assert np.array_equal(each, long)
        assert each.strides == long.strides
        assert each.dtype == dtype
    close(long, a @ b)
    assert first is not second
    assert not np.shares_memory(first, second)


def test_values_are_read_at_each_call(kind):
    a, b = numbers((4, 4)), np.eye(4)
    with planned(kind, a, b) as product:
        for _ in range(3):
            a += 1
            assert np.array_equal(product.execute(), a)
            assert np.array_equal(kind[1](a, b), a)


def test_scalars_that_change_are_used(kind):
    a, b = numbers((4, 4)), np.eye(4)
    with planned(kind, a, b, alpha=2.0) as product:
        close(product.execute(), 2 * a)
        close(product.execute(), 2 * a)
        for alpha in (3.0, 0.0, 1.0):
            product.reset_operands(alpha=alpha)
            for _ in range(2):
                close(product.execute(), alpha * a)
        product.reset_operands_unchecked(a=2 * a, alpha=5.0)
        for _ in range(2):
            close(product.execute(), 10 * a)
    for alpha in (None, 2.0, None, 0.0, None):
        close(kind[1](a, b, alpha=alpha), a * (1 if alpha is None else alpha))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_scalars_that_change_are_used(kind, dtype):
    a, b = numbers((4, 4), dtype), np.eye(4, dtype=dtype)
    with planned(kind, a, b, alpha=2j) as product:
        for alpha in (2j, 1 - 1j, 1):
            product.reset_operands(alpha=alpha)
            for _ in range(2):
                close(product.execute(), alpha * a)


def test_with_alpha_zero_the_factors_are_not_looked_at(kind):
    a = np.full((4, 4), np.nan)
    assert not kind[1](a, a, alpha=0.0).any()
    assert np.isnan(kind[1](a, a)).all()
    assert not kind[1](a, a, alpha=0.0).any()


def test_other_operands_are_used_and_released_ones_are_not(kind):
    a, b = numbers((4, 4)), np.eye(4)
    with planned(kind, a, b) as product:
        product.execute()
        product.reset_operands(a=np.asfortranarray(3 * a), b=b)
        close(product.execute(), 3 * a)
        close(product.execute(), 3 * a)
        product.release_operands()
        with pytest.raises((RuntimeError, ValueError), match="released"):
            product.execute()
        product.reset_operands(a=a, b=2 * b)
        close(product.execute(), 2 * a)
    with pytest.raises(Exception, match="freed"):
        product.execute()


def shrink(a):
    a.resize((2, 6), refcheck=False)


def reshape(a):
    a.shape = (4, 9)


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")
@pytest.mark.parametrize("change", [shrink, reshape])
def test_operands_that_change_where_they_are_are_not_taken_for_what_they_were(kind, change):
    a, b = numbers((6, 6)), np.eye(6)
    with planned(kind, a, b) as product:
        product.execute()
        change(a)
        for _ in range(3):
            with pytest.raises(ValueError, match=r"does not fit|shape|extent"):
                product.execute()
        product.reset_operands(a=2 * b)
        for _ in range(2):
            assert np.array_equal(product.execute(), 2 * b)


def test_operands_that_are_not_alike_take_the_long_way_or_are_refused(kind):
    a, b = numbers((4, 4)), np.eye(4)
    once = kind[1]
    once(a, b)
    close(once(a.T, b), a.T)
    close(once(a.astype(">f8"), b), a)
    close(once(a[::-1], b), a[::-1])
    odd = np.frombuffer(b"." + a.tobytes(), offset=1).reshape(4, 4)
    close(once(odd, b), a)
    a.flags.writeable = False
    close(once(a, b), a)
    with pytest.raises(TypeError, match="mask"):
        once(np.ma.masked_array(a, mask=a > 0), b)
    for wrong in (numbers((4, 5)), a.astype("f"), a.astype(int)):
        with pytest.raises((ValueError, TypeError)):
            once(wrong, b)


def test_the_cache_counts_and_forgets_as_always(kind):
    a, b = numbers((4, 4)), np.eye(4)
    for _ in range(3):
        kind[1](a, b)
    assert (nvmath.plan_cache.info().hits, nvmath.plan_cache.info().misses, nvmath.plan_cache.info().entries) == (2, 1, 1)
    nvmath.plan_cache.clear()
    kind[1](a, b)
    assert (nvmath.plan_cache.info().hits, nvmath.plan_cache.info().misses) == (0, 1)
    nvmath.plan_cache.configure(enabled=False)
    try:
        kind[1](a, b)
        kind[1](a, b)
        assert nvmath.plan_cache.info().hits == 0
    finally:
        nvmath.plan_cache.configure(enabled=True)


def test_the_log_tells_of_every_call(kind, caplog):
    a, b = numbers((4, 4)), np.eye(4)
    kind[1](a, b)
    with planned(kind, a, b) as product, caplog.at_level(logging.INFO):
        product.execute()
        before = len(caplog.records)
        product.execute()
        assert len(caplog.records) > before
        before = len(caplog.records)
        kind[1](a, b)
        assert len(caplog.records) > before


def test_operands_and_results_do_not_stay(kind):
    a, b = numbers((4, 4)), np.eye(4)
    result = kind[1](a, b)
    kind[1](a, b)
    known = [weakref.ref(each) for each in (a, b, result)]
    del a, b, result
    gc.collect()
    assert [each() for each in known] == [None] * 3


def test_threads_share_the_short_way(kind):
    a = [numbers((6, 6), seed=seed) for seed in range(4)]
    b, wrong = np.eye(6), []

    def work(mine):
        for number in range(300):
            alpha = 2.0 if number % 7 == 0 else None
            if not np.array_equal(kind[1](mine, b, alpha=alpha), mine * (alpha or 1)):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(each,)) for each in a]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_few_threads_are_kept_to(kind):
    a, b = numbers((4, 4)), np.eye(4)
    with kind[0](a, b, execution={"name": "cpu", "num_threads": 1}) as product:
        product.plan()
        close(product.execute(), a)
        alone = product._plan_object.num_threads < len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else True
        assert (PREPARED in product._runners) is not alone


@pytest.mark.skipif(not hasattr(os, "fork"), reason="os.fork is not there")
def test_a_forked_child_multiplies():
    code = (
        "import os, numpy as np\n"
        "from nvmath.linalg import advanced\n"
        "a = np.arange(16.0).reshape(4, 4); b = np.eye(4)\n"
        "p = advanced.Matmul(a, b, execution='cpu'); p.plan(); p.execute(); advanced.matmul(a, b, execution='cpu')\n"
        "child = os.fork()\n"
        "fine = all(np.array_equal(f(), a) for f in 2 * (p.execute, lambda: advanced.matmul(a, b, execution='cpu')))\n"
        "if child == 0: os._exit(0 if fine else 3)\n"
        "raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) or not fine)\n"
    )
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=False, timeout=120).returncode == 0


def test_without_the_extension_it_is_the_same():
    code = (
        "import numpy as np, nvmath\n"
        "from nvmath.bindings import _seam\n"
        "from nvmath.linalg import advanced\n"
        "assert _seam.KIND == 'ctypes'\n"
        "a = np.arange(16.0).reshape(4, 4); b = np.eye(4)\n"
        "p = advanced.Matmul(a, b, execution='cpu'); p.plan()\n"
        "assert all(np.array_equal(f(), a) for f in 2 * (p.execute, lambda: advanced.matmul(a, b, execution='cpu')))\n"
        "assert nvmath.plan_cache.info().hits == 1\n"
    )
    environment = os.environ | {"NVMATH_SEAM": "ctypes"}
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=120, env=environment).returncode == 0


OUTER = {
    "new axes": lambda x, y: (x[:, None], y[None, :]),
    "reshaped": lambda x, y: (x.reshape(-1, 1), y.reshape(1, -1)),
    "columns": lambda x, y: (x.reshape(-1, 1), y.reshape(-1, 1).T),
    "of Fortran": lambda x, y: (np.asfortranarray(x.reshape(-1, 1)), np.asfortranarray(y.reshape(1, -1))),
    "every second": lambda x, y: (np.repeat(x, 2)[::2][:, None], np.repeat(y, 2)[::2][None, :]),
}


@pytest.mark.parametrize("before", OUTER)
@pytest.mark.parametrize("way", OUTER)
def test_the_layout_of_a_result_does_not_depend_on_earlier_calls(kind, way, before):
    x, y = np.arange(3.0), np.arange(4.0)
    alone = kind[1](*OUTER[way](x, y))
    nvmath.plan_cache.clear()
    kind[1](*OUTER[before](x, y))
    for _ in range(2):
        again = kind[1](*OUTER[way](x, y))
        assert again.strides == alone.strides
        assert np.array_equal(again, np.outer(x, y))


def test_the_plan_that_is_used_most_is_not_the_first_to_leave(kind):
    a, b, c = (np.eye(extent) for extent in (4, 5, 6))
    nvmath.plan_cache.configure(max_entries=2)
    try:
        for each in (a, b, *[a] * 100, c):
            kind[1](each, each)
        before = nvmath.plan_cache.info()
        kind[1](a, a)
        after = nvmath.plan_cache.info()
        assert (after.hits - before.hits, after.misses - before.misses) == (1, 0)
    finally:
        nvmath.plan_cache.configure(max_entries=256)


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("batch", [(), (3,)])
def test_a_scalar_that_is_zero_once_rounded_reads_nothing(kind, dtype, order, batch):
    a, b = numbers((*batch, 4, 4), dtype), numbers((*batch, 4, 4), dtype, 1)
    nan = np.full((*batch, 4, 4), np.nan, dtype, order=order)
    close(kind[1](a, b, nan, beta=1e-50), a @ b)
    assert not kind[1](nan, b, alpha=1e-50).any()
    close(kind[1](nan, b, a, alpha=1e-50, beta=1.0), a)
    with planned(kind, nan, b, alpha=1e-50) as product:
        for _ in range(3):
            assert not product.execute().any()
        product.reset_operands(a=a, alpha=2.0)
        close(product.execute(), 2 * a @ b)
        product.reset_operands(a=nan, alpha=1e-50)
        for _ in range(2):
            assert not product.execute().any()


FIRST = {
    "advanced": ("nvmath.linalg.advanced", "m.matmul(a, a, execution='cpu')"),
    "generic": ("nvmath.linalg", "m.matmul(a, a, execution='cpu')"),
    "solver": ("nvmath.linalg", "m.direct_solver(a, a, execution='cpu')"),
    "tensor": ("nvmath.tensor", "m.binary_contraction('ij,jk->ik', a, a, execution='cpu')"),
    "fft": ("nvmath.fft", "m.rfft(a, execution='cpu')"),
    "sparse": ("nvmath.sparse.advanced", "m.direct_solver(scipy.sparse.csr_array(a), a[:, 0].copy(), execution='cpu')"),
}


UNDER_LOCK = {"nvmath.fft._pocketfft"}  # it needs SciPy; see the next test


@pytest.mark.parametrize("operation", FIRST)
def test_the_first_call_imports_nothing_of_ours_so_a_child_forked_meanwhile_does_not_wait(operation):
    module, call = FIRST[operation]
    code = (
        f"import importlib, sys, numpy as np, scipy.fft, scipy.sparse; m = importlib.import_module({module!r}); a = np.eye(4)\n"
        "[getattr(m, name) for name in m.__all__ if name[0].islower() and not name.startswith('compile')]\n"
        f"before = set(sys.modules); {call}; new = [name for name in set(sys.modules) - before if name.startswith('nvmath')]\n"
        "print(*sorted(new))\n"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=120, capture_output=True, text=True)
    assert set(done.stdout.split()) <= UNDER_LOCK


@pytest.mark.skipif(not hasattr(os, "fork"), reason="os.fork is not there")
def test_a_fork_waits_for_an_import_that_a_plan_needs():
    code = (
        "import os, threading, time, nvmath\n"
        "from nvmath._core.fork import IMPORTING\n"
        "inside, done = threading.Event(), []\n"
        "def work():\n"
        "    with IMPORTING:\n"
        "        inside.set(); time.sleep(0.3); done.append(1)\n"
        "thread = threading.Thread(target=work); thread.start(); inside.wait()\n"
        "child = os.fork()\n"
        "fine = bool(done) and IMPORTING.acquire(timeout=10)\n"
        "if child == 0: os._exit(0 if fine else 3)\n"
        "raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) or not fine)\n"
    )
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=False, timeout=60).returncode == 0
