# needs: nothing
"""The class form: specify, plan, execute many times, free."""

import numpy as np

from nvmath.fft import FFT, FFTDirection

rng = np.random.default_rng(0)
a = rng.standard_normal((64, 512)) + 1j * rng.standard_normal((64, 512))

# Leaving the block frees the plan. Without `with`, call free(); a forgotten object frees itself when it is collected.
with FFT(a, axes=[1]) as transform:
    transform.plan()
    spectrum = transform.execute()
    assert np.allclose(spectrum, np.fft.fft(a, axis=1))

    # The same plan serves the other direction, and other operands of the same layout: nothing is planned again.
    transform.reset_operand(spectrum)
    back = transform.execute(direction=FFTDirection.INVERSE)
    assert np.allclose(back, 512 * a)

    # The unchecked form compares nothing: the caller promises that the layout is the same.
    transform.reset_operand_unchecked(2 * a)
    assert np.allclose(transform.execute(), 2 * spectrum)

    # An operand of another layout is refused, with a text that says what differs.
    try:
        transform.reset_operand(a[:, :256])
    except ValueError as error:
        print(f"refused: {error}")

    # The operand can be let go while the plan stays.
    transform.release_operand()
    transform.reset_operand(a)
    assert np.allclose(transform.execute(), spectrum)
