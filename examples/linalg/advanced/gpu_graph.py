# needs: gpu torch
"""Products in a CUDA graph, and on a stream of one's own."""

import torch

from nvmath.linalg.advanced import matmul

torch.manual_seed(0)
a, b = torch.randn(512, 512, device="cuda"), torch.randn(512, 512, device="cuda")
bias = torch.randn(512, device="cuda")

stream = torch.cuda.Stream()
stream.wait_stream(torch.cuda.current_stream())
on_a_stream = matmul(a, b, epilog="relu_bias", epilog_inputs={"bias": bias}, stream=stream)
torch.cuda.current_stream().wait_stream(stream)

matmul(a, b, epilog="relu_bias", epilog_inputs={"bias": bias})  # planned before the capture
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    result = matmul(a, b, epilog="relu_bias", epilog_inputs={"bias": bias})
a.mul_(2)
graph.replay()
torch.cuda.synchronize()
torch.testing.assert_close(result, torch.relu(a @ b + bias[:, None]), rtol=1e-3, atol=1e-2)
print("the replayed graph agrees with the bare product")
