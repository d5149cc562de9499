"""The workspace: taken when it is first needed, kept, ordered between streams, given back behind its last use."""

import pytest

from nvmath.fft import FFT, fft, ifft

ORDER = ("cufftXtExec", "cuEventRecord", "cuStreamWaitEvent")
EVENTS = ("cuEventCreate", "cuEventRecord", "cuStreamWaitEvent", "cuEventSynchronize")


@pytest.fixture
def planned(gpu):
    transform = FFT(gpu.array(8))
    transform.plan()
    yield transform
    transform.free()


# --- how often --------------------------------------------------------------------------------------------------------


def test_it_is_taken_at_the_first_execution_and_kept(gpu, planned):
    assert gpu.workspaces == 0
    for _ in range(3):
        planned.execute()
    assert gpu.workspaces == 1
    assert gpu.count("cufftSetWorkArea") == 1


def test_its_size_is_the_one_that_the_plan_asks_for(gpu, planned):
    planned.execute()
    (call,) = gpu.trace.calls("take_buffer")
    assert call.args[0] == gpu.cufft.workspace_nbytes == planned.workspace.size


def test_it_is_taken_once_for_each_execution_that_releases_it(gpu, planned):
    for _ in range(3):
        planned.execute(release_workspace=True)
        assert gpu.cuda.live() == []
    assert gpu.workspaces == 3
    assert gpu.count("cufftSetWorkArea") == 3


def test_an_execution_after_a_release_takes_it_again_and_keeps_it(gpu, planned):
    planned.execute()
    planned.execute(release_workspace=True)
    planned.execute()
    planned.execute()
    assert gpu.workspaces == 2


def test_it_is_one_for_both_directions(gpu, planned):
    planned.execute("forward")
    planned.execute("inverse")
    assert gpu.workspaces == gpu.count("cufftCreate") == 1


def test_two_objects_have_two(gpu, planned):
    with FFT(gpu.array(8)) as other:
        other.plan()
        other.execute()
        planned.execute()
        assert len(gpu.cuda.live()) == 2


def test_none_is_taken_when_the_plan_needs_none(lean):
    with FFT(lean.array(8)) as transform:
        transform.plan()
        assert transform.workspace is None
        transform.execute()
        transform.execute(release_workspace=True)
    assert lean.workspaces == lean.count("cufftSetWorkArea") == 0


def test_free_gives_it_back(gpu, planned):
    planned.execute()
    planned.free()
    assert gpu.cuda.live() == []


def test_the_one_call_functions_take_one_for_each_call(gpu):
    a = gpu.array(8)
    for function in (fft, ifft, fft):
        function(a)
        assert gpu.cuda.live() == []
    assert gpu.workspaces == 3


# --- between streams --------------------------------------------------------------------------------------------------


def test_the_next_stream_waits_for_the_last_use(gpu, planned):
    a, b = gpu.stream(), gpu.stream()
    planned.execute(stream=a)
    planned.execute(stream=b)
    assert gpu.names(*ORDER) == ["cufftXtExec", "cuEventRecord", "cuStreamWaitEvent", "cufftXtExec", "cuEventRecord"]
    assert gpu.streams_of(*ORDER) == [a, a, b, b, b]
    recorded, waited = gpu.trace.calls("cuEventRecord")[0], gpu.trace.calls("cuStreamWaitEvent")[0]
    assert recorded.args[0] == waited.args[1]


def test_every_stream_waits_since_the_same_handle_may_be_another_stream(gpu, planned):
    a, b = gpu.stream(), gpu.stream()
    for stream in (a, b, b, a):
        planned.execute(stream=stream)
    assert gpu.streams_of("cuStreamWaitEvent") == [b, b, a]
    assert gpu.count("cuEventCreate") == 1
    assert gpu.count("cuStreamGetId") == 0  # it would end a capture


def test_a_new_stream_with_the_handle_of_a_destroyed_one_is_another_stream(gpu, planned):
    a = gpu.stream()
    planned.execute(stream=a)
    gpu.cuda.destroy_stream(a)  # its work goes on
    planned.execute(stream=gpu.stream(handle=a))  # no race, says the fixture


def test_there_is_no_event_when_nothing_is_kept(lean):
    with FFT(lean.array(8)) as transform:
        transform.plan()
        for _ in range(2):
            transform.execute(stream=lean.stream())
    assert lean.names(*EVENTS) == []


def test_the_one_call_functions_need_no_events(gpu):
    a = gpu.array(8)
    for stream in (gpu.stream(), gpu.stream(), 0):
        fft(a, stream=stream)
    assert gpu.names(*EVENTS) == []


# --- the end ----------------------------------------------------------------------------------------------------------


def give_back(transform):
    transform.free()


def leave_it_to_an_execution(transform):
    transform.execute(stream=transform.last, release_workspace=True)


@pytest.mark.parametrize("end", [give_back, leave_it_to_an_execution])
def test_it_goes_back_behind_its_last_use_on_another_stream(gpu, planned, end):
    a, b = gpu.stream(), gpu.stream()
    planned.execute(stream=a)
    planned.execute(stream=b)
    planned.last = b
    gpu.forget()
    end(planned)
    assert gpu.streams_of("cuStreamWaitEvent", "give_back_buffer")[-2:] == [a, a]
    assert gpu.names("cuStreamWaitEvent", "give_back_buffer")[-2:] == ["cuStreamWaitEvent", "give_back_buffer"]
    assert gpu.names("cuStreamSynchronize", "cuEventSynchronize") == []


def test_it_goes_back_without_ado_when_its_stream_used_it_last(gpu, planned):
    a, b = gpu.stream(), gpu.stream()
    for stream in (a, b, a):
        planned.execute(stream=stream)
    gpu.forget()
    planned.free()
    assert gpu.names("cuStreamWaitEvent") == []


def test_it_goes_back_in_order_when_the_object_is_forgotten(gpu):
    transform = FFT(gpu.array(8))
    transform.plan()
    for stream in (gpu.stream(), gpu.stream()):
        transform.execute(stream=stream)
    del transform
    assert gpu.leaks() == []  # and no hazard, says the fixture


def test_a_stream_that_is_destroyed_is_left_alone_once_its_work_is_over(gpu, planned):
    a, b = gpu.stream(), gpu.stream()
    planned.execute(stream=a)
    planned.execute(stream=b)
    gpu.cuda.synchronize()
    gpu.cuda.destroy_stream(a)
    planned.free()
    assert gpu.leaks() == []


def test_events_are_destroyed_with_the_object(gpu, planned):
    planned.execute()
    assert len(gpu.cuda.events) == 1
    planned.free()
    assert len(gpu.cuda.events) == 0


def test_when_no_event_can_be_made_the_host_waits_instead(gpu, planned):
    gpu.fail("cuEventCreate")
    a, b = gpu.stream(), gpu.stream()
    planned.execute(stream=a)
    assert gpu.streams_of("cuStreamSynchronize") == [a]
    planned.execute(stream=b)
