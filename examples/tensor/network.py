# needs: nothing
"""A small tensor network: a matrix product state, its norm, and the mean of a spin, each by one einsum."""

import numpy as np

from nvmath.tensor import Einsum, einsum, einsum_path

sites, bond, spin = 8, 12, 2
rng = np.random.default_rng(0)
state = [
    rng.standard_normal((1 if site == 0 else bond, spin, 1 if site == sites - 1 else bond)) / np.sqrt(bond) for site in range(sites)
]

# <state|state>: labels a, b, ... between the sites of one copy, A, B, ... of the other, s, t, ... for the spins.
upper, lower, spins = "abcdefghi", "ABCDEFGHI", "stuvwxyz"
terms = [upper[k] + spins[k] + upper[k + 1] for k in range(sites)] + [lower[k] + spins[k] + lower[k + 1] for k in range(sites)]
expression = ",".join(terms) + "->"
info = einsum_path(expression, *state, *state, execution="cpu")
print(f"{len(terms)} tensors, {info.flops:,} operations instead of {info.naive_flops:,}, buffer of {info.buffer_nbytes} bytes")
norm = einsum(expression, *state, *state, execution="cpu")

# The same by a sweep of matrix products.
sweep = np.ones((1, 1))
for tensor in state:
    sweep = np.einsum("ab,asc,bsd->cd", sweep, tensor, tensor)
assert np.isclose(norm, sweep[0, 0])

# The mean of the spin at each site: one more tensor, and the label of the spin splits in two. The order is found once.
z = np.diag([1.0, -1.0])
means = []
for site in range(sites):
    split = [term.replace(spins[site], "Z") if position == sites + site else term for position, term in enumerate(terms)]
    means.append(einsum(",".join([*split, f"{spins[site]}Z"]) + "->", *state, *state, z, execution="cpu") / norm)
print("means:", np.round(means, 3))
assert all(abs(mean) <= 1 for mean in means)

# The class form keeps the plan: the same network for other tensors.
with Einsum(expression, *state, *state, execution="cpu") as network:
    network.plan()
    assert np.isclose(network.execute(), norm)
    doubled = [2 * state[0], *state[1:]]
    network.reset_operands(*doubled, *doubled)
    assert np.isclose(network.execute(), 4 * norm)
