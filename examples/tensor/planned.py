# needs: nothing
"""The class form: plan once, execute with other factors and other operands."""

import numpy as np

from nvmath.tensor import BinaryContraction, ContractionOptions, ExecutionCPU, TernaryContraction

rng = np.random.default_rng(0)
a, b, d = rng.random((6, 7)), rng.random((7, 8)), rng.random((6, 5))
c = rng.random((8, 5))

with TernaryContraction("ij,jk,kl->il", a, b, c, d=d, execution="cpu") as contraction:
    contraction.plan()
    for alpha, beta in ((1, 0), (2, -1), (0.5, 3)):
        assert np.allclose(contraction.execute(alpha=alpha, beta=beta), alpha * (a @ b @ c) + beta * d)

    # Operands on the CPU are not copied: editing them is enough.
    a *= 2
    assert np.allclose(contraction.execute(beta=1), a @ b @ c + d)

    # Others of the same shape take their place; those that are not named stay. The plan serves on.
    other = rng.random((7, 8))
    contraction.reset_operands(b=other)
    assert np.allclose(contraction.execute(beta=1), a @ other @ c + d)

    try:
        contraction.reset_operands(b=rng.random((7, 9)))
    except ValueError as error:
        print(f"refused: {error}")

# Options and execution: objects, dicts, names.
for options in (ContractionOptions(result_layout="F"), {"result_layout": "F"}):
    for execution in (ExecutionCPU(num_threads=1), {"name": "cpu", "num_threads": 1}, "cpu"):
        with BinaryContraction("ij,jk->ik", a, b, options=options, execution=execution) as contraction:
            contraction.plan()
            assert contraction.execute().flags.f_contiguous
