# needs: nothing
"""Arrays of any package that speaks DLPack, here a small class of our own; results come back as that class."""

import numpy as np

import nvmath


class Wave:
    """A minimal array: hands out its memory by DLPack and can be made from another such array."""

    def __init__(self, values):
        self.values = values

    def __dlpack__(self, **request):
        return self.values.__dlpack__(**request)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()

    def __array_namespace__(self, **request):
        return Wave

    @staticmethod
    def from_dlpack(other, **request):
        return Wave(np.from_dlpack(other))


wave = Wave(np.exp(2j * np.pi * 5 * np.arange(64) / 64))
spectrum = nvmath.fft.fft(wave)
assert isinstance(spectrum, Wave)
assert np.abs(spectrum.values).argmax() == 5
print(f"{type(wave).__name__} -> {type(spectrum).__name__}")
