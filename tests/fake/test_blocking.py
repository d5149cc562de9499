"""Blocking calls wait for their own stream, once; the others never wait for anything."""

import numpy as np
import pytest

from nvmath.fft import FFT, fft

WAITS = ("cuStreamSynchronize", "cuEventSynchronize", "cuCtxSynchronize", "cuEventQuery", "cuStreamQuery")


def test_a_blocking_call_waits_for_its_stream_after_the_work(gpu):
    stream = gpu.stream()
    with FFT(gpu.array(8), options={"blocking": True}) as transform:
        transform.plan()
        assert gpu.names(*WAITS) == []
        transform.execute(stream=stream)
        assert gpu.names("cufftXtExec", *WAITS) == ["cufftXtExec", "cuStreamSynchronize"]
        assert gpu.streams_of(*WAITS) == [stream]


def test_a_blocking_one_call_function_waits_too(gpu):
    for _ in range(2):
        gpu.forget()
        fft(gpu.array(8), options={"blocking": True})
        assert gpu.names("cufftXtExec", *WAITS) == ["cufftXtExec", "cuStreamSynchronize"]


def test_nothing_else_ever_waits(gpu):
    a, b = gpu.array((4, 8)), gpu.array((4, 8))
    streams = gpu.stream(), gpu.stream()
    with FFT(a, axes=[1]) as transform:
        transform.plan(stream=streams[0])
        for stream in streams:
            transform.execute(stream=stream)
        transform.reset_operand(b)
        transform.execute(release_workspace=True)
        transform.release_operand()
        transform.reset_operand(a)
        transform.execute(out=gpu.array((4, 8)))
    fft(a)
    fft(a, stream=streams[0])
    assert [name for name in gpu.names(*WAITS) if name != "cuEventQuery"] == []


@pytest.mark.parametrize(
    ("operand", "options", "execution", "blocking"),
    [
        (lambda gpu: gpu.array(8), None, None, False),
        (lambda gpu: gpu.array(8), {"blocking": True}, None, True),
        (lambda gpu: gpu.array(8), None, "cpu", True),
        (lambda gpu: np.ones(8, complex), None, "cuda", True),
        (lambda gpu: np.ones(8, complex), None, "cpu", True),
    ],
    ids=["GPU", "GPU blocking", "GPU on the CPU", "host on the GPU", "host"],
)
def test_which_calls_block(gpu, operand, options, execution, blocking):
    with FFT(operand(gpu), options=options, execution=execution) as transform:
        assert transform.blocking is blocking


def test_a_blocking_call_needs_no_events(gpu):
    with FFT(gpu.array(8), options={"blocking": True}) as transform:
        transform.plan()
        for stream in (gpu.stream(), gpu.stream()):
            transform.execute(stream=stream)
    assert gpu.names("cuEventCreate", "cuEventRecord", "cuStreamWaitEvent") == []
