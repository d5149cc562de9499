"""A keyword that a constructor does not have is refused with a text that says where it belongs, or which one was meant."""

import inspect
import pickle
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse

import nvmath
from nvmath.linalg import advanced

SIGNAL = np.ones(4, complex)
A, B = np.eye(3), np.ones((3, 2))
SPARSE = scipy.sparse.csr_array(A)
CONSTRUCTORS = {
    nvmath.fft.FFT: (SIGNAL,),
    nvmath.linalg.Matmul: (A, B),
    advanced.Matmul: (A, B),
    nvmath.linalg.DirectSolver: (A, B),
    nvmath.sparse.advanced.DirectSolver: (SPARSE, B),
    nvmath.tensor.BinaryContraction: ("ij,jk->ik", A, B),
    nvmath.tensor.TernaryContraction: ("ij,jk,kl->il", A, A, B),
    nvmath.tensor.Einsum: ("ij,jk->ik", A, B),
}
OPTIONS = [
    nvmath.fft.FFTOptions, nvmath.fft.ExecutionCPU, nvmath.fft.ExecutionCUDA, nvmath.fft.DeviceCallable,
    nvmath.linalg.MatmulOptions, nvmath.linalg.DirectSolverOptions,
    advanced.MatmulOptions, advanced.MatmulPlanPreferences, advanced.MatmulEpilogPreferences, advanced.MatmulQuantizationScales,
    nvmath.tensor.ContractionOptions, nvmath.sparse.advanced.DirectSolverOptions, nvmath.sparse.advanced.HybridMemoryModeOptions,
    nvmath.sparse.advanced.ExecutionCUDA, nvmath.sparse.advanced.ExecutionHybrid,
    nvmath.sparse.advanced.DirectSolverPlanPreferences, nvmath.sparse.advanced.DirectSolverFactorizationPreferences,
    nvmath.sparse.advanced.DirectSolverSolutionPreferences,
]  # fmt: skip


def text_of(call, *arguments, **keywords):
    with pytest.raises(TypeError) as caught:
        call(*arguments, **keywords)
    assert caught.value.__cause__ is None
    return str(caught.value)


@pytest.mark.parametrize("made", CONSTRUCTORS, ids=lambda made: f"{made.__module__}.{made.__name__}")
def test_what_belongs_into_the_options_is_shown_there(made):
    text = text_of(made, *CONSTRUCTORS[made], blocking=True)
    assert text == (
        f"{made.__name__}() got an unexpected keyword argument 'blocking'. "
        "It belongs into options=..., e.g. options={'blocking': True}."
    )


def test_a_class_of_the_user_is_not_blamed_for_what_it_passes_on():
    class Mine(nvmath.fft.FFT):
        def __init__(self, x):
            super().__init__(x, blocking=True)

    class Same(nvmath.fft.FFT):
        pass

    class Product(nvmath.linalg.Matmul):
        pass

    assert text_of(Product, np.eye(2), np.eye(2), blokking=1).startswith("Matmul() got an unexpected keyword argument")
    expected = text_of(nvmath.fft.FFT, np.zeros(3), blocking=True)
    assert text_of(Mine, np.zeros(3)) == text_of(Same, np.zeros(3), blocking=True) == expected


@pytest.mark.parametrize("made", CONSTRUCTORS, ids=lambda made: f"{made.__module__}.{made.__name__}")
def test_what_belongs_into_the_execution_is_shown_there(made):
    assert "It belongs into execution=..., e.g. execution={'name': 'cpu', 'num_threads': 2}." in text_of(
        made, *CONSTRUCTORS[made], num_threads=2
    )


@pytest.mark.parametrize("made", CONSTRUCTORS, ids=lambda made: f"{made.__module__}.{made.__name__}")
def test_a_slip_of_a_parameter_names_the_parameter(made):
    assert text_of(made, *CONSTRUCTORS[made], option={}).endswith("Did you mean 'options'?")


@pytest.mark.parametrize("made", CONSTRUCTORS, ids=lambda made: f"{made.__module__}.{made.__name__}")
def test_what_is_near_to_nothing_lists_what_there_is(made):
    text = text_of(made, *CONSTRUCTORS[made], zzz=1)
    assert all(repr(name) in text for name in ("options", "execution", "stream"))


@pytest.mark.parametrize("made", OPTIONS, ids=lambda made: f"{made.__module__}.{made.__name__}")
def test_a_slip_of_a_field_names_the_field(made):
    name = next(iter(inspect.signature(made).parameters))
    assert (
        text_of(made, **{name + "x": 1})
        == f"{made.__name__}() got an unexpected keyword argument '{name}x'. Did you mean {name!r}?"
    )


@pytest.mark.parametrize(
    ("call", "keywords", "remedy"),
    [
        (nvmath.fft.FFT, {"prolog": 1}, "It is an argument of FFT.plan()."),
        (nvmath.fft.FFT, {"direction": 1}, "It is an argument of FFT.plan()."),
        (nvmath.fft.FFT, {"release_workspace": True}, "It is an argument of FFT.execute()."),
        (advanced.Matmul, {"epilog": "relu"}, "It is an argument of Matmul.plan()."),
        (
            advanced.Matmul,
            {"limit": 2},
            "It belongs into preferences=... of Matmul.plan(), e.g. preferences={'limit': 2}.",
        ),
        (nvmath.tensor.BinaryContraction, {"alpha": 2}, "It is an argument of BinaryContraction.execute()."),
        (
            advanced.Matmul,
            {"comput_type": 68},
            "Did you mean 'compute_type'? It belongs into options=..., e.g. options={'compute_type': 68}.",
        ),
        (nvmath.fft.FFT, {"operand": SIGNAL}, "'operand' is given by position, without its name."),
    ],
)
def test_other_places_are_named_too(call, keywords, remedy):
    arguments = () if "operand" in keywords else CONSTRUCTORS[call]
    assert text_of(call, *arguments, **keywords).endswith(remedy)


def test_plan_knows_the_options_of_the_constructor():
    with advanced.Matmul(A, B) as product:
        assert "Matmul.plan() got" in text_of(product.plan, compute_type=68)
        assert "options=... of Matmul()" in text_of(product.plan, compute_type=68)
        assert "preferences={'limit': 3}" in text_of(product.plan, limit=3)


def test_a_long_value_is_not_repeated():
    assert "options={'handle': ...}" in text_of(advanced.Matmul, A, B, handle=np.zeros((9, 9)))


def test_other_mistakes_of_a_call_keep_the_text_of_python():
    assert "missing" in text_of(nvmath.fft.FFT)
    assert "positional argument" in text_of(nvmath.fft.FFT, SIGNAL, 3)


def test_a_type_error_of_the_constructor_itself_is_not_touched():
    assert text_of(nvmath.fft.FFT, SIGNAL, options=3).startswith("options must be None")


@pytest.mark.parametrize("made", [*CONSTRUCTORS, *OPTIONS], ids=lambda made: f"{made.__module__}.{made.__name__}")
def test_the_signature_is_that_of_the_constructor(made):
    kinds = {each.kind for each in inspect.signature(made).parameters.values()}
    assert inspect.Parameter.VAR_KEYWORD not in kinds


@pytest.mark.parametrize("made", OPTIONS, ids=lambda made: f"{made.__module__}.{made.__name__}")
def test_options_remain_dataclasses_that_are_replaced_and_pickled(made):
    one = made()
    assert replace(one) == one
    assert pickle.loads(pickle.dumps(one)) == one
