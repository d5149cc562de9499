"""What both the original and we compute, for `against_original`: each function makes operands, plans, and returns what is to be timed.

The file is imported by both processes, so it uses nothing but the interface that they share.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Timed = Callable[[], Any]


def _random(torch: Any, *shape: int, dtype: str = "float32", seed: int = 0) -> Any:
    made = torch.randn(*shape, device="cuda", generator=torch.Generator("cuda").manual_seed(seed))
    return made.to(getattr(torch, dtype))


def relu_bias(size: int, dtype: str, autotune: bool = False) -> Timed:
    """relu(A B + bias) of square matrices."""
    import torch

    from nvmath.linalg.advanced import Matmul, MatmulEpilog

    a, b = _random(torch, size, size, dtype=dtype), _random(torch, size, size, dtype=dtype, seed=1)
    bias = _random(torch, size, dtype=dtype, seed=2)
    return _planned(Matmul(a, b), MatmulEpilog.RELU_BIAS, bias, autotune)


def relu_bias_fp8(size: int, autotune: bool = False) -> Timed:
    """The same in FP8, with a bfloat16 result."""
    import torch

    from nvmath import CudaDataType
    from nvmath.linalg.advanced import Matmul, MatmulEpilog

    a = _random(torch, size, size, dtype="float8_e4m3fn")
    b = _random(torch, size, size, dtype="float8_e4m3fn", seed=1).T
    bias, one = _random(torch, size, dtype="bfloat16", seed=2), torch.ones(1, device="cuda")
    product = Matmul(
        a, b, quantization_scales={"a": one, "b": one}, options={"result_type": CudaDataType.CUDA_R_16BF}
    )  # fmt: skip
    return _planned(product, MatmulEpilog.RELU_BIAS, bias, autotune)


def tall(rows: int, k: int, columns: int, dtype: str, autotune: bool = True) -> Timed:
    """alpha A B + beta C, bound by memory."""
    import torch

    from nvmath.linalg.advanced import Matmul

    a, b = _random(torch, rows, k, dtype=dtype), _random(torch, k, columns, dtype=dtype, seed=1)
    c = _random(torch, rows, columns, dtype=dtype, seed=2)
    return _planned(Matmul(a, b, c, alpha=0.5, beta=0.25), None, None, autotune)


def _planned(product: Any, epilog: Any, bias: Any, autotune: bool) -> Timed:
    more = {} if epilog is None else {"epilog": epilog, "epilog_inputs": {"bias": bias}}
    product.plan(**more)
    if autotune:
        product.autotune(iterations=5)
    execute: Timed = product.execute
    return execute


def contraction(expression: str, extents: dict[str, int], dtype: str) -> Timed:
    """A contraction of two tensors, by a kept plan."""
    import torch

    from nvmath.tensor import BinaryContraction

    terms = expression.partition("->")[0].split(",")
    a, b = (
        _random(torch, *(extents[label] for label in term), dtype=dtype, seed=seed) for seed, term in enumerate(terms)
    )
    planned = BinaryContraction(expression, a, b)
    planned.plan()
    execute: Timed = planned.execute
    return execute


def _grid(side: int) -> tuple[Any, Any]:
    """Second differences on a square grid, and a right-hand side."""
    import torch

    n = side * side
    index = torch.arange(n, device="cuda").reshape(side, side)
    pairs = [(index[1:], index[:-1]), (index[:, 1:], index[:, :-1])]
    rows = torch.cat([index.flatten(), *(each.flatten() for one, other in pairs for each in (one, other))])
    cols = torch.cat([index.flatten(), *(each.flatten() for one, other in pairs for each in (other, one))])
    values = torch.cat([torch.full((n,), 4.0), torch.full((len(rows) - n,), -1.0)]).double().cuda()
    matrix = torch.sparse_coo_tensor(torch.stack([rows, cols]), values, (n, n)).coalesce().to_sparse_csr()
    return matrix, _random(torch, n, dtype="float64")


def sparse_solve(side: int) -> Timed:
    """Solve with the factors that there are."""
    from nvmath.sparse.advanced import DirectSolver

    solver = DirectSolver(*_grid(side))
    solver.plan()
    solver.factorize()
    solve: Timed = solver.solve
    return solve


def sparse_total(side: int) -> Timed:
    """Plan, factorize and solve, for a pattern that was not seen before."""
    import torch

    from nvmath.sparse.advanced import DirectSolver

    matrix, b = _grid(side)

    def total() -> Any:
        with DirectSolver(matrix, b) as solver:
            solver.plan()
            solver.factorize()
            x = solver.solve()
            torch.cuda.synchronize()
            return x

    return total
