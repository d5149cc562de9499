# needs: torch
"""A network of three layers, forwards and backwards: activations, masks and gradients of the biases come with the products."""

import torch

from nvmath.linalg.advanced import MatmulEpilog, matmul

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
sizes = [20, 64, 32, 8]
weights = [
    torch.randn(m, k, device=device, dtype=torch.float64) / k**0.5 for k, m in zip(sizes, sizes[1:], strict=False)
]
biases = [torch.randn(m, device=device, dtype=torch.float64) for m in sizes[1:]]
x = torch.randn(20, 100, device=device, dtype=torch.float64)  # one column for each sample
target = torch.randn(8, 100, device=device, dtype=torch.float64)

# Forwards: each product gives the mask of its activation besides the result.
inputs, masks = [x], []
for weight, bias in zip(weights[:-1], biases[:-1], strict=True):
    hidden, aux = matmul(weight, inputs[-1], epilog=MatmulEpilog.RELU_AUX_BIAS, epilog_inputs={"bias": bias})
    inputs.append(hidden)
    masks.append(aux)
output = matmul(weights[-1], inputs[-1], epilog=MatmulEpilog.BIAS, epilog_inputs={"bias": biases[-1]})
loss = ((output - target) ** 2).sum()

# Backwards: the mask goes back as it is; the gradient of the bias below comes with the product.
gradient = 2 * (output - target)
weight_gradients, bias_gradients = [], [gradient.sum(1)]
for layer in (2, 1, 0):
    weight_gradients.insert(0, matmul(gradient, inputs[layer].T))
    if layer:
        gradient, sums = matmul(
            weights[layer].T, gradient, epilog=MatmulEpilog.DRELU_BGRAD, epilog_inputs=masks[layer - 1]
        )
        bias_gradients.insert(0, sums["drelu_bgrad"])

# The same by autograd.
leaves = [leaf.clone().requires_grad_() for leaf in (*weights, *biases)]
y = x
for layer in range(3):
    y = leaves[layer] @ y + leaves[3 + layer][:, None]
    y = torch.relu(y) if layer < 2 else y
((y - target) ** 2).sum().backward()
for ours, leaf in zip((*weight_gradients, *bias_gradients), leaves, strict=True):
    torch.testing.assert_close(ours, leaf.grad)
print(f"loss {loss.item():.4f}; all gradients agree with autograd")
