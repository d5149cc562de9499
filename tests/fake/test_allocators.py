"""Allocators of the user: what they are asked, and what happens when they do not do as they should."""

import weakref

import numpy as np
import pytest

import nvmath
from nvmath._core.stream import handle_of
from nvmath.fft import FFT, fft
from nvmath.memory import MemoryPointer


class Allocator:
    """Memory of the fake package; notes what it was asked, on which device, and under which current stream."""

    def __init__(self, gpu, wrap=lambda block: block):
        self.gpu, self.wrap, self.asked, self.blocks = gpu, wrap, [], []

    def make(self, size, stream):
        self.asked.append((size, stream, self.gpu.cuda.current_device()))
        block = self.gpu.package.buffer(size, stream)
        self.blocks.append(weakref.ref(block))
        return self.wrap(block)


class Plain(Allocator):
    def memalloc(self, size):
        return self.make(size, self.gpu.package.current_stream(0))


class Ordered(Allocator):
    def memalloc_async(self, size, stream):
        return self.make(size, handle_of(stream))


class Both(Plain, Ordered):
    def memalloc(self, size):
        raise AssertionError("the ordered one goes first")


@pytest.fixture(params=[Plain, Ordered, Both])
def allocator(request, gpu):
    return request.param(gpu)


@pytest.fixture
def planned(gpu, allocator):
    with FFT(gpu.array(8), options={"allocator": allocator}) as transform:
        transform.plan()
        yield transform


def test_it_is_asked_for_the_workspace_on_the_stream_of_the_call(gpu, allocator, planned):
    stream = gpu.stream()
    assert allocator.asked == []
    planned.execute(stream=stream)
    assert allocator.asked == [(gpu.cufft.workspace_nbytes, stream, 0)]
    with gpu.package.stream(stream):
        planned.execute(release_workspace=True)
    planned.execute()
    assert allocator.asked[1:] == [(gpu.cufft.workspace_nbytes, 0, 0)]


def test_it_is_asked_for_nothing_else(gpu, allocator, planned):
    planned.execute()
    planned.execute()
    assert len(allocator.asked) == 1
    assert gpu.cuda.memory[gpu.cufft.plans[1].workspace].nbytes == gpu.cufft.workspace_nbytes


def test_its_memory_object_lives_as_long_as_the_workspace(gpu, allocator, planned):
    planned.execute()
    (block,) = allocator.blocks
    assert block() is not None
    planned.execute(release_workspace=True)
    assert block() is None


def test_it_is_not_called_when_the_plan_needs_no_workspace(lean):
    allocator = Plain(lean)
    with FFT(lean.array(8), options={"allocator": allocator}) as transform:
        transform.plan()
        transform.execute()
    fft(lean.array(8), options={"allocator": allocator})
    assert allocator.asked == []


def test_it_serves_host_operands_too(gpu, allocator):
    fft(np.ones(8, complex), execution="cuda", options={"allocator": allocator})
    assert allocator.asked == [(gpu.cufft.workspace_nbytes, 0, 0)]


def test_calls_with_an_allocator_are_not_kept_in_the_plan_cache(gpu, allocator):
    for _ in range(2):
        fft(gpu.array(8), options={"allocator": allocator})
    assert len(allocator.asked) == gpu.count("cufftCreate") == 2
    assert nvmath.plan_cache.info().entries == 0


class Named:
    """A memory object that offers its address under one name."""

    def __init__(self, name, block):
        self.block = block
        setattr(self, name, block.address)


@pytest.mark.parametrize("name", ["device_ptr", "device_pointer", "ptr", "pointer"])
def test_the_address_may_have_any_of_four_names(gpu, name):
    allocator = Plain(gpu, lambda block: Named(name, block))
    with FFT(gpu.array(8), options={"allocator": allocator}) as transform:
        transform.plan()
        transform.execute()
        assert gpu.cufft.plans[1].workspace == gpu.trace.calls("take_buffer")[-1].result


def test_a_memory_pointer_of_ours_is_freed_by_its_finalizer(gpu):
    freed = []

    class Manager(nvmath.BaseCUDAMemoryManager):
        def __init__(self):
            pass

        def memalloc(self, size):
            address = gpu.package.take_buffer(size, 0)
            return MemoryPointer(address, size, lambda: (gpu.package.give_back_buffer(address, 0), freed.append(size)))

    with FFT(gpu.array(8), options={"allocator": Manager()}) as transform:
        transform.plan()
        transform.execute()
        assert freed == []
        transform.execute(release_workspace=True)
        assert freed == [gpu.cufft.workspace_nbytes]


def test_an_object_without_an_address_is_refused_by_name(gpu):
    allocator = Plain(gpu, lambda block: object())
    with FFT(gpu.array(8), options={"allocator": allocator}) as transform:
        transform.plan()
        with pytest.raises(AttributeError, match=r"Plain returned has no address: one of device_ptr, .*pointer"):
            transform.execute()
        assert gpu.count("cufftXtExec") == 0
        assert gpu.cuda.live() == []
        allocator.wrap = lambda block: block
        transform.execute()


@pytest.mark.parametrize(
    ("cls", "protocol"), [(Plain, "BaseCUDAMemoryManager"), (Ordered, "BaseCUDAMemoryManagerAsync")]
)
def test_a_type_error_names_the_protocol(gpu, cls, protocol):
    class Wrong(cls):
        def make(self, size, stream):
            raise TypeError("size must be a Size")

    with FFT(gpu.array(8), options={"allocator": Wrong(gpu)}) as transform:
        transform.plan()
        with pytest.raises(TypeError, match=rf"Wrong does not conform to nvmath\.{protocol}: size must be a Size"):
            transform.execute()
        assert transform.fft_planned


def test_a_method_of_other_parameters_is_a_type_error_that_names_the_protocol(gpu):
    class Wrong:
        def memalloc(self):
            raise AssertionError

    with FFT(gpu.array(8), options={"allocator": Wrong()}) as transform:
        transform.plan()
        with pytest.raises(TypeError, match="BaseCUDAMemoryManager"):
            transform.execute()


def test_other_errors_pass_as_they_are(gpu):
    error = MemoryError("nothing left")

    class Empty(Plain):
        def make(self, size, stream):
            raise error

    with FFT(gpu.array(8), options={"allocator": Empty(gpu)}) as transform:
        transform.plan()
        with pytest.raises(MemoryError) as raised:
            transform.execute()
        assert raised.value is error
    with pytest.raises(MemoryError):
        fft(gpu.array(8), options={"allocator": Empty(gpu)})
