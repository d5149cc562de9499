"""Threads and forked children: plans are leased, the GIL is free while a library works, a child computes right."""

import os
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import nvmath
from nvmath.fft import FFT, fft, irfft, rfft

pytestmark = pytest.mark.usefixtures("backend")

THREADS = 8


def z(*shape, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


def in_threads(work, count=THREADS):
    """Run ``work(i)`` in threads that start together; what one raises is raised here."""
    barrier = threading.Barrier(count)

    def run(i):
        barrier.wait()
        return work(i)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


def test_one_call_functions_share_plans_safely():  # R24
    data = [z(16, 64, seed=i) for i in range(THREADS)]
    want = [np.fft.fft(a, axis=1) for a in data]

    def work(i):
        for _ in range(40):
            np.testing.assert_allclose(fft(data[i], axes=[1]), want[i], atol=1e-10)

    in_threads(work)


def test_one_call_functions_of_many_kinds_at_once(fresh_cache):
    nvmath.plan_cache.configure(max_entries=3)  # evictions while others are under way

    def work(i):
        for n in (8, 9, 12, 17, 31, 40, 64):
            x = np.random.default_rng(n + i).random((5, n))
            half = rfft(x, axes=[1])
            np.testing.assert_allclose(half, np.fft.rfft(x), atol=1e-10)
            options = {"last_axis_parity": "odd" if n % 2 else "even"}
            np.testing.assert_allclose(irfft(half, axes=[1], options=options), n * x, atol=1e-9)
            y = x + 0j
            fft(y, axes=[1], options={"inplace": True})
            np.testing.assert_allclose(y, np.fft.fft(x), atol=1e-10)

    in_threads(work)
    assert nvmath.plan_cache.info().entries <= 3


def test_objects_of_their_own_in_threads():
    def work(i):
        a = z(32, 33, seed=i)
        with FFT(a, execution={"num_threads": 1 + i % 3}) as transform:
            transform.plan()
            for _ in range(20):
                np.testing.assert_allclose(transform.execute(), np.fft.fft2(a), atol=1e-9)

    in_threads(work)


def test_planning_with_different_numbers_of_threads_at_once():  # W17
    def work(i):
        for k in range(10):
            a = z(8 + i, 128 + k, seed=i)
            np.testing.assert_allclose(fft(a, execution={"num_threads": 1 + i % 4}), np.fft.fft2(a), atol=1e-8)

    in_threads(work)


def test_other_threads_run_while_a_library_works():  # W17
    a = z(1 << 21)
    stop, beats = threading.Event(), []

    def beat():
        while not stop.is_set():
            beats.append(time.perf_counter())
            time.sleep(0.001)

    with FFT(a, execution={"num_threads": 1}) as transform:
        transform.plan()
        transform.execute()
        other = threading.Thread(target=beat)
        other.start()
        start = time.perf_counter()
        for _ in range(3):
            transform.execute()
        end = time.perf_counter()
        stop.set()
        other.join()
    inside = [beat for beat in beats if start < beat < end]
    gaps = np.diff([start, *inside, end])
    assert max(gaps) < (end - start) / 2, "no other Python thread ran during a transform"


def test_a_plan_made_in_one_thread_runs_in_another():
    a = z(6, 7)
    with FFT(a) as transform:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(transform.plan).result()
        np.testing.assert_allclose(transform.execute(), np.fft.fft2(a))


# --- forked children --------------------------------------------------------------------------------------------------

fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform cannot fork")

PRELUDE = """
import os, sys, threading
import numpy as np
import nvmath
from nvmath.fft import _fftw
if {floor}:
    _fftw.flavour = lambda: None
{before}
a = (np.arange(512 * 512) % 97 + 1j).reshape(512, 512)
want = np.fft.fft2(a)
def check(threads=None):
    got = nvmath.fft.fft(a, execution=dict(num_threads=threads) if threads else None)
    assert np.allclose(got, want), "wrong"
def child(body):
    pid = os.fork()
    if pid == 0:
        try:
            body()
        except BaseException:
            import traceback; traceback.print_exc()
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    assert status == 0, status
"""


def forked(backend, body, before=""):
    """Run a script that forks in a process of its own, so that a hang ends and threads are countable."""
    code = PRELUDE.format(floor=backend == "pocketfft", before=before) + textwrap.dedent(body)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "PYTHONWARNINGS": "ignore::DeprecationWarning",
    }
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=120, check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


@fork
def test_a_child_of_a_parent_that_has_computed(backend):
    forked(
        backend,
        """
        check(2)
        with nvmath.fft.FFT(a) as transform:
            transform.plan()
            transform.execute()
            child(lambda: check(2))
            child(check)
            assert np.allclose(transform.execute(), want)
        check(2)
    """,
    )


@fork
def test_a_child_of_a_parent_that_has_not_computed(backend):
    forked(backend, "child(check)\ncheck()\nchild(lambda: child(check))")


@fork
def test_a_child_uses_an_object_of_its_parent(backend):
    forked(
        backend,
        """
        transform = nvmath.fft.FFT(a, execution={"num_threads": 2})
        transform.plan()
        transform.execute()
        def body():
            assert np.allclose(transform.execute(), want)
            transform.reset_operand(a)
            transform.free()
            check()
        child(body)
        assert np.allclose(transform.execute(), want)
    """,
    )


@fork
def test_a_fork_while_another_thread_plans(backend):
    if backend == "pocketfft":
        pytest.skip("scipy.fft has a lock of its own, which nobody can release in a child")
    forked(
        backend,
        """
        check()
        stop = threading.Event()
        def work():
            n = 8
            while not stop.is_set():
                nvmath.fft.fft(np.ones(n, complex)); n = n % 900 + 8
        threads = [threading.Thread(target=work) for _ in range(3)]
        [t.start() for t in threads]
        try:
            for _ in range(10):
                child(check)
        finally:
            stop.set()
            [t.join() for t in threads]
    """,
    )


@fork
def test_a_child_beside_gnu_openmp(backend):
    pytest.importorskip("torch", reason="torch is not installed")
    if not sys.platform.startswith("linux"):
        pytest.skip("GNU's OpenMP comes with torch on Linux only")
    forked(
        backend,
        """
        assert "libgomp" in open("/proc/self/maps").read()
        torch.ones(1000, 1000).matmul(torch.ones(1000, 1000))
        check(2)
        child(lambda: check(2))
        t = torch.from_numpy(a)
        child(lambda: np.testing.assert_allclose(nvmath.fft.fft(t).numpy(), want, atol=1e-6))
        """,
        before="import torch",
    )


def test_a_process_that_ends_with_objects_alive_is_quiet(backend):  # R112
    body = (
        "f = nvmath.fft.FFT(a); f.plan(); f.execute(); check(); g = nvmath.fft.FFT(a); g.plan(); g.execute(); g.me = g"
    )
    code = PRELUDE.format(floor=backend == "pocketfft", before="") + body
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
