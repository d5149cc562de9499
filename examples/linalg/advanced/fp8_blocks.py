# needs: torch
"""FP8 with float32 scales for each row and column, for 128 elements along K, or for blocks of 128 x 128.

The shapes of the scales say which is meant. On a GPU these need compute capability 9.0.
"""

import torch

import nvmath
from nvmath.linalg.advanced import matmul

device = "cuda" if torch.cuda.is_available() and torch.cuda.get_device_capability() == (9, 0) else "cpu"
execution = "cuda" if device == "cuda" else "cpu"
torch.manual_seed(0)
m, n, k = 256, 128, 512


def quantised(x: torch.Tensor, rows: int, cols: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Scale blocks of rows x cols elements to the range of FP8; return the values and the scales."""
    blocks = x.reshape(x.shape[0] // rows, rows, x.shape[1] // cols, cols)
    scale = blocks.abs().amax((1, 3), keepdim=True) / 448
    return (blocks / scale).reshape(x.shape).to(torch.float8_e4m3fn), scale[:, 0, :, 0].contiguous()


x = torch.randn(m, k, device=device) * torch.logspace(-2, 2, m, device=device)[:, None]  # rows of very different size
w = torch.randn(n, k, device=device)
options = {"result_type": nvmath.CudaDataType.CUDA_R_16BF}

for name, first, second in (
    ("rows and columns", (1, k), (1, k)),
    ("128 elements", (1, 128), (1, 128)),
    ("128 elements and blocks of 128 x 128", (1, 128), (128, 128)),
):
    a, scale_a = quantised(x, *first)
    b, scale_b = quantised(w, *second)
    d = matmul(a, b.T, quantization_scales={"a": scale_a, "b": scale_b.T}, options=options, execution=execution)
    error = ((d.float() - x @ w.T).norm(dim=1) / (x @ w.T).norm(dim=1)).max().item()
    print(
        f"{name}: scales {tuple(scale_a.shape)} and {tuple(scale_b.T.shape)}, largest relative error of a row {error:.3f}"
    )
    assert error < 0.05
