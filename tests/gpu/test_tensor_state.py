"""Random lives of contractions of host operands on a GPU."""

import pytest
from hypothesis import settings
from tensor_cases import examples
from tensor_life import Life

from nvmath._core import place
from nvmath.bindings import _load

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not place.has_device(), reason="there is no CUDA device"),
    pytest.mark.skipif(_load.find_library("cutensor") is None, reason="cuTENSOR is not installed (pip install cutensor-cu13)"),
]


class LifeOnTheGpu(Life):
    execution = "cuda"


TestLife = LifeOnTheGpu.TestCase
TestLife.settings = settings(examples(40), stateful_step_count=25)
