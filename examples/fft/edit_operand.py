# needs: nothing
"""Editing the operand between executions: the object reads the caller's own array, so no reset is needed."""

import numpy as np

from nvmath.fft import FFT

rng = np.random.default_rng(0)
a = rng.standard_normal(1024) + 1j * rng.standard_normal(1024)

with FFT(a) as transform:
    transform.plan()
    for step in range(3):
        a[:] = np.exp(2j * np.pi * (step + 1) * np.arange(1024) / 1024)  # a[:] = edits; a = would make another array
        assert np.abs(transform.execute()).argmax() == step + 1

# This holds while operand and execution are in the same memory. Where they are not (a NumPy array transformed on a GPU)
# the object works on a copy that is filled at construction and at reset_operand(): there, reset after an edit.
print("three edits, three results")
