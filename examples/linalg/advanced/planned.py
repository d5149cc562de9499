# needs: nothing
"""The class form: plan once, execute many times; resets, other epilogs, release."""

import numpy as np

from nvmath.linalg.advanced import Matmul, MatmulEpilog

rng = np.random.default_rng(0)
a, b, bias = rng.standard_normal((64, 32)), rng.standard_normal((32, 48)), rng.standard_normal(64)

with Matmul(a, b, alpha=0.5) as product:
    product.plan(epilog=MatmulEpilog.BIAS, epilog_inputs={"bias": bias})
    assert np.allclose(product.execute(), 0.5 * a @ b + bias[:, None])

    # Other operands of the same kind, other scalars, another bias: nothing is planned again.
    product.reset_operands(a=2 * a, alpha=1.0, epilog_inputs={"bias": -bias})
    assert np.allclose(product.execute(), 2 * a @ b - bias[:, None])

    # The unchecked form compares nothing: the caller promises that the layout is the same.
    product.reset_operands_unchecked(a=a)
    assert np.allclose(product.execute(), a @ b - bias[:, None])

    # What does not fit is refused, with a text that says what differs.
    try:
        product.reset_operands(b=b[:, :24])
    except ValueError as error:
        print(f"refused: {error}")

    # Another epilog is another plan.
    product.plan(epilog="gelu")
    product.execute()

    # The operands can be let go while the plan stays.
    product.release_operands()
    product.reset_operands(a=a, b=b)
    product.execute()
