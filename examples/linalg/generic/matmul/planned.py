# needs: nothing
"""The class: plan once, execute many times; editing and replacing operands, release, free."""

import numpy as np

from nvmath.linalg import InvalidMatmulState, Matmul

rng = np.random.default_rng(0)
a, b, c = rng.random((3, 4)), rng.random((4, 5)), rng.random((3, 5))

with Matmul(a, b, c, alpha=2.0, beta=1.0) as product:
    product.plan()
    assert np.allclose(product.execute(), 2 * a @ b + c)

    # The operands are referenced: an edit shows at the next execution.
    a[...] = 1
    assert np.allclose(product.execute(), 2 * np.ones((3, 4)) @ b + c)

    # Others of the same shape and dtype take their place; what is not given stays.
    product.reset_operands(b=-b)
    product.reset_operands(alpha=1.0, beta=0.0)
    assert np.allclose(product.execute(), -a @ b)

    # Without checks and logs, for the innermost loop.
    product.reset_operands_unchecked(b=b)
    assert np.allclose(product.execute_unchecked(), a @ b)

    # Nothing of the caller is kept after a release; a complete set of operands must follow.
    product.release_operands()
    product.reset_operands(a=2 * a, b=b, c=c)
    print(product.execute().shape)

try:
    product.execute()
except InvalidMatmulState as error:
    print(error)
