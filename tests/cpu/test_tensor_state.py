"""Random lives of contractions on the CPU."""

from hypothesis import settings
from tensor_cases import examples
from tensor_life import Life


class LifeOnTheCpu(Life):
    execution = "cpu"


TestLife = LifeOnTheCpu.TestCase
TestLife.settings = settings(examples(60), stateful_step_count=25)
