"""Order on a GPU: streams, events, blocking, allocators, graphs, threads, and what must survive until the work is done."""

import gc
import logging
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import nvmath
from nvmath._core import place
from nvmath.bindings import _cuda as driver
from nvmath.fft import FFT, fft, ifft, irfft, rfft

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not place.has_device(), reason="there is no CUDA device")]

SLEEP = 200_000_000  # cycles: about a tenth of a second


def tensor(torch, *shape, dtype=None):
    return torch.randn(*shape, dtype=dtype or torch.complex64, device="cuda")


def close(torch, got, want, tolerance=1e-4):
    torch.testing.assert_close(got, want, rtol=tolerance, atol=tolerance * float(want.abs().max() + 1e-30))


# --- streams ----------------------------------------------------------------------------------------------------------


def test_the_current_stream_is_used(torch):
    x = torch.zeros(64, 64, dtype=torch.complex64, device="cuda")
    new = tensor(torch, 64, 64)
    want = torch.fft.fft2(new)
    stream = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(SLEEP)
        x.copy_(new)  # late: only a transform on the same stream sees it
        y = fft(x)
    stream.synchronize()
    close(torch, y, want)


def test_a_copy_for_the_default_stream_is_made_on_it(torch):
    """An operand with gaps is copied before it travels; the copy must wait for what the default stream still has to do."""
    x = torch.zeros(64, 64, 3, dtype=torch.complex64, device="cuda")[:, :, 1]
    new = tensor(torch, 64, 64)
    want = torch.fft.fft2(new)
    torch.cuda.synchronize()
    torch.cuda._sleep(SLEEP)
    x.copy_(new)
    close(torch, fft(x, execution="cpu"), want)
    assert torch.cuda.current_stream() == torch.cuda.default_stream()


class Protocol:
    """A stream of a package that nobody knows."""

    def __init__(self, handle):
        self.handle = handle

    def __cuda_stream__(self):
        return (0, self.handle)


@pytest.mark.filterwarnings("ignore:ExternalStream:DeprecationWarning")
@pytest.mark.parametrize("form", ["torch", "integer", "protocol", "cupy"])
@pytest.mark.parametrize("stateful", [False, True])
def test_a_stream_that_is_passed_is_used(torch, form, stateful):  # R28, R110
    stream = torch.cuda.Stream()
    if form == "cupy":
        cupy = pytest.importorskip("cupy", reason="cupy is not installed")
        given = cupy.cuda.ExternalStream(stream.cuda_stream)
    else:
        given = {"torch": stream, "integer": stream.cuda_stream, "protocol": Protocol(stream.cuda_stream)}[form]
    x = torch.zeros(64, 64, dtype=torch.complex64, device="cuda")
    new = tensor(torch, 64, 64)
    want = torch.fft.fft2(new)
    torch.cuda.synchronize()
    if stateful:
        with FFT(x, stream=given) as transform:
            transform.plan(stream=given)
            with torch.cuda.stream(stream):
                torch.cuda._sleep(SLEEP)
                x.copy_(new)
            y = transform.execute(stream=given)
    else:
        with torch.cuda.stream(stream):
            torch.cuda._sleep(SLEEP)
            x.copy_(new)
        y = fft(x, stream=given)
    stream.synchronize()
    close(torch, y, want)


def test_cupy_streams(cupy):
    stream = cupy.cuda.Stream(non_blocking=True)
    x = cupy.random.random((64, 64)) + 1j
    want = cupy.fft.fft2(x)
    cupy.cuda.Device().synchronize()
    with stream:
        y = fft(x)
        z = ifft(y)
    z2 = ifft(fft(x, stream=stream), stream=stream.ptr)
    stream.synchronize()
    cupy.testing.assert_allclose(y, want, rtol=1e-8, atol=1e-8)
    cupy.testing.assert_allclose(z / 4096, x, rtol=1e-8, atol=1e-8)
    cupy.testing.assert_allclose(z2 / 4096, x, rtol=1e-8, atol=1e-8)


def test_two_streams_and_an_event(torch):
    first, second = torch.cuda.Stream(), torch.cuda.Stream()
    x = tensor(torch, 256, 256)
    torch.cuda.synchronize()
    with FFT(x, stream=first) as transform:
        transform.plan(stream=first)
        with torch.cuda.stream(first):
            torch.cuda._sleep(SLEEP)
        spectrum = transform.execute(stream=first)
        event = first.record_event()
        second.wait_event(event)
        transform.reset_operand(spectrum, stream=second)
        back = transform.execute("inverse", stream=second)
        second.synchronize()
    close(torch, back / 65536, x)


def test_the_workspace_is_ordered_between_streams(torch):
    """The caller orders operands; the work area is ours, and so is its order."""
    x = tensor(torch, 64, 10007)
    want = torch.fft.fft(x)
    streams = [torch.cuda.Stream() for _ in range(4)]
    torch.cuda.synchronize()
    with FFT(x, axes=[1]) as transform:
        transform.plan()
        results = [transform.execute(stream=streams[i % 4]) for i in range(40)]
        torch.cuda.synchronize()
    for result in results:
        close(torch, result, want, 1e-3)


def test_stream_and_device_are_left_as_they_were(torch):
    stream, other = torch.cuda.Stream(), torch.cuda.Stream()
    x = tensor(torch, 16, 16)
    with torch.cuda.stream(stream):
        fft(x, stream=other)
        irfft(x, stream=other)
        fft(x.cpu(), execution="cuda")
        assert torch.cuda.current_stream() == stream
        assert torch.cuda.current_device() == 0


@pytest.mark.parametrize("stream", ["7", 7.5, object(), [0]])
def test_what_is_no_stream(torch, stream):
    x = tensor(torch, 8)
    with pytest.raises(TypeError, match="stream"):
        fft(x, stream=stream)
    with FFT(x) as transform:
        transform.plan()
        with pytest.raises(TypeError, match="stream"):
            transform.execute(stream=stream)


def test_streams_that_have_gone(torch):
    """Handles of destroyed streams are used again by the driver."""
    x = tensor(torch, 64, 10007)
    want = torch.fft.fft(x)
    with FFT(x, axes=[1]) as transform:
        transform.plan()
        torch.cuda.synchronize()
        for _ in range(20):
            stream = driver.stream_create(1)
            result = transform.execute(stream=stream)
            driver.stream_synchronize(stream)
            driver.stream_destroy(stream)
            close(torch, result, want, 1e-3)


# --- blocking ---------------------------------------------------------------------------------------------------------


def test_a_call_returns_while_the_work_is_queued(torch):
    x = tensor(torch, 256, 256)
    with FFT(x) as transform:
        transform.plan()
        transform.execute()
        fft(x)
        torch.cuda.synchronize()
        torch.cuda._sleep(SLEEP)
        begin = time.perf_counter()
        transform.execute()
        fft(x)
        queued = time.perf_counter() - begin
        busy = not torch.cuda.current_stream().query()
        torch.cuda.synchronize()
    assert busy, f"the stream was idle after {queued:.3f} s"


def test_a_blocking_call_waits(torch):
    x = tensor(torch, 256, 256)
    with FFT(x, options={"blocking": True}) as transform:
        assert transform.blocking
        transform.plan()
        torch.cuda._sleep(SLEEP)
        transform.execute()
        assert torch.cuda.current_stream().query()
    torch.cuda._sleep(SLEEP)
    fft(x, options={"blocking": True})
    assert torch.cuda.current_stream().query()


def test_host_operands_may_be_overwritten_at_once(torch):
    for make in (np.ones, lambda *a, **k: torch.ones(*a, dtype=torch.complex64)):
        x = make((512, 512), dtype=np.complex64)
        y = fft(x, execution="cuda")
        x[...] = 0
        assert abs(complex(y[0, 0]) - 512 * 512) < 1
        with FFT(x, execution="cuda") as transform:
            transform.plan()
            x[...] = 1
            transform.reset_operand(x)
            x[...] = 0
            assert abs(complex(transform.execute()[0, 0]) - 512 * 512) < 1


def test_a_host_operand_in_place_is_written_back():
    x = np.ones((16, 16), np.complex64)[:, ::2]
    assert fft(x, options={"inplace": True}, execution="cuda") is x
    assert x[0, 0] == 128
    assert abs(x[1:]).max() < 1e-3


# --- lifetimes --------------------------------------------------------------------------------------------------------


def test_memory_is_not_reused_while_it_is_read(torch):
    """Operands, scratch and work areas that are dropped while the stream is busy stay valid until the work is done."""
    values = [tensor(torch, 128, 97 + k, 7) for k in range(8)]
    want = [torch.fft.fftn(x, dim=(0, 2)) for x in values]
    torch.cuda.synchronize()
    for _ in range(5):
        torch.cuda._sleep(SLEEP // 4)
        results = []
        for x in values:
            results.append(fft(x.clone(), axes=[0, 2]))
            torch.full((128, 97, 7), float("nan"), dtype=torch.complex64, device="cuda")
        nvmath.plan_cache.clear()
        torch.cuda.synchronize()
        for result, right in zip(results, want, strict=True):
            close(torch, result, right)


def test_an_object_that_is_freed_early_finishes_its_work(torch):
    x = tensor(torch, 64, 10007)
    want = torch.fft.fft(x)
    torch.cuda.synchronize()
    torch.cuda._sleep(SLEEP)
    with FFT(x, axes=[1]) as transform:
        transform.plan()
        result = transform.execute()
    junk = [tensor(torch, 64, 10007) for _ in range(4)]
    torch.cuda.synchronize()
    close(torch, result, want, 1e-3)
    del junk


@pytest.mark.alone
def test_nothing_leaks(torch):
    x, h = tensor(torch, 8, 10007), np.ones((8, 1000), np.complex64)

    def once():
        with FFT(x, axes=[1]) as transform:
            transform.plan()
            transform.execute()
            transform.execute("inverse", release_workspace=True)
        fft(h, axes=[1], execution="cuda")
        forgotten = FFT(x, axes=[1])
        forgotten.plan()
        forgotten.execute()
        nvmath.plan_cache.clear()

    for _ in range(20):
        once()
    gc.collect()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    before = torch.cuda.mem_get_info()[0]
    allocated = torch.cuda.memory_allocated()
    for _ in range(200):
        once()
    gc.collect()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    assert torch.cuda.memory_allocated() == allocated
    assert before - torch.cuda.mem_get_info()[0] < 64 << 20


# --- allocators -------------------------------------------------------------------------------------------------------


class Allocator:
    """Counts, and takes memory from torch."""

    def __init__(self, torch):
        self.torch, self.calls = torch, []

    def memalloc(self, size):
        self.calls.append(size)
        block = self.torch.empty(size, dtype=self.torch.uint8, device="cuda")
        pointer = nvmath.MemoryPointer(block.data_ptr(), size, None)
        pointer.block = block
        return pointer


class OrderedAllocator(Allocator):
    """Counts, and sees the stream."""

    def memalloc_async(self, size, stream):
        from nvmath._core.stream import handle_of

        self.stream = handle_of(stream)
        return super().memalloc(size)


@pytest.mark.parametrize("cls", [Allocator, OrderedAllocator])
def test_the_workspace_comes_from_the_user_s_allocator(torch, cls):
    allocator = cls(torch)
    x = tensor(torch, 8, 10007)
    want = torch.fft.fft(x)
    with FFT(x, axes=[1], options={"allocator": allocator}) as transform:
        transform.plan()
        assert allocator.calls == []  # taken at the first execution
        size = transform.workspace.size
        for _ in range(5):
            close(torch, transform.execute(), want, 1e-3)
        assert len(allocator.calls) == 1
        assert allocator.calls[0] >= size
        for count in range(2, 5):
            close(torch, transform.execute(release_workspace=True), want, 1e-3)
            close(torch, transform.execute(release_workspace=True), want, 1e-3)
            assert len(allocator.calls) == 2 * count - 2
    if cls is OrderedAllocator:
        assert allocator.stream == torch.cuda.current_stream().cuda_stream


def test_the_allocator_is_not_asked_for_nothing(torch):
    allocator = Allocator(torch)
    with FFT(tensor(torch, 4, 16), axes=[1], options={"allocator": allocator}) as transform:
        transform.plan()
        transform.execute()
        if transform.workspace is None or transform.workspace.size == 0:
            assert allocator.calls == []


@pytest.mark.parametrize(("error", "raised"), [(MemoryError("none left"), MemoryError), (TypeError("size"), TypeError)])
def test_an_allocator_that_fails_leaves_the_object_usable(torch, error, raised):
    allocator = Allocator(torch)
    x = tensor(torch, 8, 10007)
    with FFT(x, axes=[1], options={"allocator": allocator}) as transform:
        transform.plan()
        good = allocator.memalloc

        def bad(size):
            raise error

        allocator.memalloc = bad
        with pytest.raises(raised, match=str(error)):
            transform.execute()
        allocator.memalloc = good
        close(torch, transform.execute(), torch.fft.fft(x), 1e-3)


@pytest.mark.alone
def test_the_workspace_comes_from_the_pool_of_the_package(torch):  # R30
    free, _ = torch.cuda.mem_get_info()
    x = torch.empty(int(free * 0.8), dtype=torch.uint8, device="cuda")
    del x  # torch's pool owns most of the card now
    y = tensor(torch, 1 << 26)
    close(torch, ifft(fft(y)) / (1 << 26), y, 1e-3)
    torch.cuda.empty_cache()


def test_no_room_for_the_workspace_says_what_was_wanted_and_there(cupy):  # R30
    pool = cupy.get_default_memory_pool()
    x = cupy.random.random(16_777_259).astype("c8")  # a prime: cuFFT convolves, which needs scratch
    want = cupy.fft.fft(x)
    try:
        pool.free_all_blocks()
        pool.set_limit(size=pool.total_bytes() + x.nbytes + (8 << 20))  # the result fits
        with pytest.raises(cupy.cuda.memory.OutOfMemoryError, match=r"allocating [\d,]{10,} bytes \(allocated so far: .* limit"):
            fft(x)
        pool.set_limit(size=0)
        cupy.testing.assert_allclose(fft(x), want, rtol=1e-3, atol=1e-3 * float(abs(want).max()))
    finally:
        pool.set_limit(size=0)


# --- graphs -----------------------------------------------------------------------------------------------------------


def capture(torch, work):
    """Capture `work` and return the graph and what `work` returned."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(2):
            work()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = work()
    return graph, result


TRANSFORMS = {
    "one call": lambda x: fft(x, axes=[1]),
    "large primes": lambda x: fft(x[:, :1009], axes=[1]),
    "passes": lambda x: fft(x.view(4, 8, 32, -1), axes=[0, 2]),
    "a norm": lambda x: fft(x, norm="ortho"),
    "C2R": lambda x: irfft(x, axes=[1]),
    "R2C": lambda x: rfft(x.real.contiguous(), axes=[1]),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_captured_transform_is_replayed_on_new_values(torch, name):
    work = TRANSFORMS[name]
    x = tensor(torch, 32, 1024)
    graph, result = capture(torch, lambda: work(x))
    nvmath.plan_cache.clear()  # the graph keeps what it needs
    for n in (7, 64, 1000):
        fft(tensor(torch, n))
    gc.collect()
    for _ in range(3):
        new = tensor(torch, 32, 1024)
        x.copy_(new)
        graph.replay()
        torch.cuda.synchronize()
        close(torch, result, work(new))


def test_a_captured_object(torch):
    x = tensor(torch, 8, 10007)
    with FFT(x, axes=[1]) as transform:
        transform.plan()
        graph, result = capture(torch, transform.execute)
        new = tensor(torch, 8, 10007)
        x.copy_(new)
        graph.replay()
        torch.cuda.synchronize()
        close(torch, result, torch.fft.fft(new), 1e-3)


def test_garbage_of_another_thread_does_not_end_a_capture(torch):
    x = tensor(torch, 32, 32)
    fft(x)
    stop = threading.Event()

    def litter():
        while not stop.is_set():
            forgotten = FFT(np.ones(16, np.complex64))
            forgotten.plan()
            del forgotten
            gc.collect()

    thread = threading.Thread(target=litter)
    thread.start()
    try:
        for _ in range(5):
            graph, result = capture(torch, lambda: fft(x))
            graph.replay()
        torch.cuda.synchronize()
        close(torch, result, torch.fft.fft2(x))
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize(
    "call", [lambda x: fft(np.ones(8, np.complex64), execution="cuda"), lambda x: fft(x, options={"blocking": True})]
)
def test_what_cannot_be_captured_is_refused_by_name(torch, call):
    x = tensor(torch, 8)
    call(x)
    graph = torch.cuda.CUDAGraph()
    refused = []

    def attempt():
        try:
            call(x)
        except RuntimeError as error:
            refused.append(str(error))

    with torch.cuda.graph(graph):
        attempt()
        y = x + 1  # the capture goes on
    assert refused
    assert "captur" in refused[0]
    graph.replay()
    torch.cuda.synchronize()
    close(torch, y, x + 1)


# --- callbacks and a filter -------------------------------------------------------------------------------------------


def test_a_hundred_filterings_without_waiting(torch):
    """R2C with an epilog that multiplies by a filter, then C2R, a hundred times on one image, with no synchronisation."""
    pytest.importorskip("numba_cuda", reason="numba-cuda is not installed")
    n = 4096
    x = torch.randn(n, n, device="cuda")
    k = torch.fft.fftfreq(n, device="cuda")[:, None] ** 2 + torch.fft.rfftfreq(n, device="cuda")[None, :] ** 2
    kernel = torch.exp(-0.02 * k).to(torch.complex64).contiguous()
    want = torch.fft.irfft2(torch.fft.rfft2(x.double()) * kernel.to(torch.complex128) ** 100, s=(n, n))

    def multiply(data_out, offset, element, user_info, reserved):
        data_out[offset] = element * user_info[offset]

    code = nvmath.fft.compile_epilog(multiply, "complex64", "complex64")
    epilog = {"ltoir": code, "data": kernel.data_ptr()}
    image = x.clone()
    with FFT(image) as forward:
        forward.plan(epilog=epilog)
        assert forward.get_output_layout() == ((n, n // 2 + 1), (n // 2 + 1, 1))
        spectrum = forward.execute()
        with FFT(spectrum, options={"fft_type": "C2R"}) as backward:
            backward.plan()
            for _ in range(100):
                backward.reset_operand(forward.execute())
                image.copy_(backward.execute())
                image.mul_(1.0 / (n * n))
            torch.cuda.synchronize()
    error = float((image.double() - want).norm() / want.norm())
    assert error < 1e-4  # two hundred transforms, each adding about 3e-7
    np.testing.assert_allclose(float(image.mean()), float(x.mean()), atol=1e-6)


# --- threads, processes, devices --------------------------------------------------------------------------------------


def test_threads_with_streams_of_their_own(torch):
    data = [tensor(torch, 64, 1009) for _ in range(8)]
    want = [torch.fft.fft(x) for x in data]
    torch.cuda.synchronize()
    errors = []

    def work(i):
        try:
            stream = torch.cuda.Stream()
            with torch.cuda.stream(stream):
                for _ in range(30):
                    result = fft(data[i], axes=[1])
                stream.synchronize()
            close(torch, result, want[i], 1e-3)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def test_a_new_thread_has_no_context_of_its_own():
    results = []
    thread = threading.Thread(target=lambda: results.append(fft(np.ones(8, np.complex64), execution="cuda")))
    thread.start()
    thread.join()
    assert results[0][0] == 8


def test_a_forked_child_computes_on_the_cpu_and_refuses_the_gpu():
    code = """
import os, numpy as np, nvmath
nvmath.fft.fft(np.ones(8, np.complex64), execution="cuda")
pid = os.fork()
if pid == 0:
    ok = nvmath.fft.fft(np.ones(8, np.complex64))[0] == 8
    try:
        nvmath.fft.fft(np.ones(8, np.complex64), execution="cuda")
    except RuntimeError as error:
        ok = ok and "spawn" in str(error)
    else:
        ok = False
    os._exit(0 if ok else 1)
assert os.waitpid(pid, 0)[1] == 0
print(nvmath.fft.fft(np.ones(8, np.complex64), execution="cuda")[0].real)
"""
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert run.stdout == "8.0\n", run.stderr


def test_the_import_creates_no_context():  # R108
    code = """
import nvmath, nvmath.fft, os
from nvmath.bindings import _load
assert "cuda" not in _load.opened()
pid = os.fork()
if pid == 0:
    import numpy as np
    os._exit(0 if nvmath.fft.fft(np.ones(8, np.complex64), execution="cuda")[0] == 8 else 1)
assert os.waitpid(pid, 0)[1] == 0
"""
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def test_a_device_that_does_not_exist():
    with pytest.raises(ValueError, match=r"no CUDA device 99: this machine has"):
        fft(np.ones(8, np.complex64), execution={"name": "cuda", "device_id": 99})


def test_operands_in_two_places(torch):
    x = tensor(torch, 8)
    with pytest.raises(ValueError, match=r"out must be .*cpu"):
        fft(x, out=torch.empty(8, dtype=torch.complex64))
    with FFT(x) as transform, pytest.raises(ValueError, match="device"):
        transform.reset_operand(x.cpu())


def test_operands_of_another_device(torch):
    if torch.cuda.device_count() < 2:
        pytest.skip("this machine has one GPU")
    x = torch.randn(64, 64, dtype=torch.complex64, device="cuda:1")
    y = fft(x)
    assert y.device == x.device
    close(torch, y, torch.fft.fft2(x))
    assert torch.cuda.current_device() == 0
    with FFT(x) as transform:
        assert transform.device_id == 1
        transform.plan()
        assert transform.get_key()[2] == ("cuda", 1)
        with pytest.raises(ValueError, match="device"):
            transform.reset_operand(x.to("cuda:0"))


# --- the log ----------------------------------------------------------------------------------------------------------


def test_the_log_names_blocking_and_does_not_change_the_order(torch, caplog):
    x = torch.zeros(64, 64, dtype=torch.complex64, device="cuda")
    new = tensor(torch, 64, 64)
    with caplog.at_level(logging.DEBUG), FFT(x) as transform:
        transform.plan()
        torch.cuda._sleep(SLEEP)
        x.copy_(new)
        result = transform.execute()
    assert "does not block" in caplog.text
    close(torch, result, torch.fft.fft2(new))
