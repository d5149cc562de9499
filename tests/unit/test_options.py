"""Execution objects, options objects, and every spelling that is accepted for them."""

import dataclasses
import pickle

import numpy as np
import pytest

from nvmath._core.options import EXECUTIONS, available_threads, coerce_execution, coerce_options
from nvmath.fft import ExecutionCPU, ExecutionCUDA, FFTDirection, FFTOptions, UnsupportedLayoutError
from nvmath.fft._options import NORMS, coerce_direction, coerce_norm


def test_execution_objects_are_values():
    assert ExecutionCUDA() == ExecutionCUDA(device_id=0)
    assert ExecutionCPU() == ExecutionCPU(num_threads=None)
    assert (
        len({ExecutionCPU(), ExecutionCPU(num_threads=2), ExecutionCUDA(), ExecutionCUDA(device_id=1), ExecutionCPU()})
        == 4
    )
    assert (ExecutionCUDA.name, ExecutionCPU.name) == ("cuda", "cpu")
    assert pickle.loads(pickle.dumps(ExecutionCPU(num_threads=3))) == ExecutionCPU(num_threads=3)


@pytest.mark.parametrize("cls", [ExecutionCPU, ExecutionCUDA])
def test_execution_objects_are_frozen_slotted_and_keyword_only(cls):
    field = dataclasses.fields(cls)[0].name
    execution = cls(**{field: 1})
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(execution, field, 2)
    with pytest.raises(TypeError):
        cls(1)
    with pytest.raises((AttributeError, TypeError)):
        execution.other = 1
    assert not hasattr(execution, "__dict__")


@pytest.mark.parametrize("value", [0, -1, 2.0, 0.5, "2", [2], 1j])
def test_numbers_of_threads_that_are_refused(value):
    with pytest.raises(ValueError, match="num_threads"):
        ExecutionCPU(num_threads=value)


@pytest.mark.parametrize("value", [-1, 1.0, "0", None])
def test_devices_that_are_refused(value):
    with pytest.raises(ValueError, match="device_id"):
        ExecutionCUDA(device_id=value)


def test_integers_of_any_kind_are_accepted():
    assert ExecutionCPU(num_threads=np.int64(2)).num_threads == 2
    assert ExecutionCPU(num_threads=True).num_threads == 1
    assert ExecutionCUDA(device_id=np.uint8(3)).device_id == 3


@pytest.mark.parametrize("default", list(EXECUTIONS))
def test_coerce_execution(default):
    cls = EXECUTIONS[default]
    for value in (
        None,
        default,
        default.upper(),
        default.title(),
        {},
        {"name": default.upper()},
        {"name": None},
        cls(),
    ):
        assert coerce_execution(value, default) == cls()
    given = {"name": "cpu", "num_threads": 2}
    assert coerce_execution(given, default) == ExecutionCPU(num_threads=2)
    assert given == {"name": "cpu", "num_threads": 2}
    execution = ExecutionCUDA(device_id=5)
    assert coerce_execution(execution, default) is execution


@pytest.mark.parametrize(
    "value", ["gpu", "", 1, 0, lambda: "cpu", ExecutionCPU, ["cpu"], {"name": "tpu"}, {"name": 1}, b"cpu"]
)
def test_executions_that_are_unknown(value):
    with pytest.raises(ValueError, match="cuda"):
        coerce_execution(value, "cpu")


@pytest.mark.parametrize("value", [{"name": "cpu", "device_id": 0}, {"name": "cuda", "num_threads": 1}, {"thread": 1}])
def test_executions_with_unknown_entries(value):
    with pytest.raises(TypeError):
        coerce_execution(value, "cpu")


def test_available_threads():
    assert available_threads() >= 1


# --- FFT --------------------------------------------------------------------------------------------------------------


def test_fields_and_defaults_of_fft_options():
    fields = {field.name: field.default for field in dataclasses.fields(FFTOptions)}
    assert fields == {
        "fft_type": None, "inplace": False, "last_axis_parity": "even", "result_layout": "optimized", "logger": None,
        "blocking": "auto", "allocator": None,
    }  # fmt: skip
    assert FFTOptions("C2C", True, "odd", "natural", None, True, None).blocking is True
    assert FFTOptions(blocking=1).blocking == 1


@pytest.mark.parametrize(
    "wrong",
    [{"fft_type": "c2c"}, {"fft_type": "Z2Z"}, {"fft_type": 1}, {"inplace": 1}, {"inplace": None}, {"inplace": "yes"},
     {"last_axis_parity": "Even"}, {"last_axis_parity": None}, {"last_axis_parity": 1}, {"result_layout": "C"},
     {"result_layout": None},      {"blocking": False}, {"blocking": None}, {"blocking": "yes"}, {"blocking": 0}],
)  # fmt: skip
def test_values_that_options_may_not_have(wrong):
    (name,) = wrong
    with pytest.raises(ValueError, match=f"FFTOptions.{name} must be one of"):
        FFTOptions(**wrong)


@pytest.mark.parametrize("name", ["device_id", "last_axis_size", "handle"])
def test_unknown_fields(name):
    with pytest.raises(TypeError, match=name):
        FFTOptions(**{name: 0})


def test_coerce_options():
    options = FFTOptions(inplace=True)
    assert coerce_options(FFTOptions, options) is options
    assert coerce_options(FFTOptions, {"inplace": True}) == options
    assert coerce_options(FFTOptions, None) == FFTOptions()
    for wrong in (3, "inplace", [("inplace", True)], FFTOptions):
        with pytest.raises(TypeError, match="FFTOptions object or a dict"):
            coerce_options(FFTOptions, wrong)


def test_the_key_of_options_holds_everything_that_a_plan_depends_on():
    plain = FFTOptions()
    different = [
        FFTOptions(fft_type="C2R"), FFTOptions(inplace=True), FFTOptions(last_axis_parity="odd"),
        FFTOptions(result_layout="natural"),         FFTOptions(blocking=True),
    ]  # fmt: skip
    assert len({plain.key(), *(options.key() for options in different)}) == 6
    hash(plain.key())


@pytest.mark.parametrize(("value", "direction"), [
    (-1, FFTDirection.FORWARD), (1, FFTDirection.INVERSE), (-1.0, FFTDirection.FORWARD), ("forward", FFTDirection.FORWARD),
    ("Inverse", FFTDirection.INVERSE), (FFTDirection.INVERSE, FFTDirection.INVERSE), (np.int8(-1), FFTDirection.FORWARD),
])  # fmt: skip
def test_directions(value, direction):
    assert coerce_direction(value) is direction


@pytest.mark.parametrize("value", [0, 2, "fwd", "", None, [], {}, 0.5, object()])
def test_what_is_no_direction(value):
    with pytest.raises(ValueError, match="The direction must be"):
        coerce_direction(value)


@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize("points", [1, 2, 7, 1024])
def test_norms_multiply_to_one_over_n(norm, points):
    assert coerce_norm(norm) == norm
    forward, inverse = (factor(points) for factor in NORMS[norm])
    assert forward * inverse * points == pytest.approx(points if norm is None else 1)


@pytest.mark.parametrize("norm", ["unitary", "", 1, ["ortho"], {}])
def test_what_is_no_norm(norm):
    with pytest.raises(ValueError, match="norm must be one of None, 'backward', 'ortho', 'forward'"):
        coerce_norm(norm)


def test_unsupported_layout_error_carries_the_way_out():
    error = UnsupportedLayoutError("message", (1, 0), (1,))
    assert (str(error), error.message, error.permutation, error.axes) == ("message", "message", (1, 0), (1,))
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.permutation, again.axes) == ("message", (1, 0), (1,))
    assert UnsupportedLayoutError.__mro__[1] is Exception


# --- environment ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "expected"), [("", None), ("cpu", "cpu"), (" CUDA ", "cuda")])
def test_the_environment(monkeypatch, value, expected):
    from nvmath._core import options

    monkeypatch.setenv("NVMATH_EXECUTION", value)
    assert options._from_environment() == expected


def test_the_environment_may_be_wrong(monkeypatch):
    from nvmath._core import options

    monkeypatch.setenv("NVMATH_EXECUTION", "gpu")
    with pytest.raises(ValueError, match="NVMATH_EXECUTION='gpu'"):
        options._from_environment()
