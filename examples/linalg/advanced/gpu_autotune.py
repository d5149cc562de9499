# needs: gpu torch
"""Algorithms: measured, kept in a file, read and edited."""

import os
import tempfile

import numpy as np
import torch

from nvmath.linalg.advanced import Algorithm, AutotuneReport, Matmul

torch.manual_seed(0)
a, b = (torch.randn(2048, 2048, device="cuda", dtype=torch.float16) for _ in range(2))
bias = torch.randn(2048, device="cuda", dtype=torch.float16)
folder = tempfile.mkdtemp()
os.environ["NVMATH_AUTOTUNE_DIR"] = os.path.join(folder, "tuned")  # without it nothing is kept

with Matmul(a, b) as product:
    product.plan(epilog="relu_bias", epilog_inputs={"bias": bias}, preferences={"limit": 8})
    report = product.autotune(iterations=10)  # cold cache, random order, median; the operands are not touched
    print(report)
    result = product.execute()  # by the fastest
    product.execute(algorithm=product.algorithms[-1])  # or by another
    report.save(os.path.join(folder, "report.json"))
    np.save(os.path.join(folder, "best.npy"), report.algorithms[0].as_numpy(), allow_pickle=False)

# A new object, or a new process, finds the winners for the same product on the same machine.
with Matmul(a, b) as product:
    product.plan(epilog="relu_bias", epilog_inputs={"bias": bias}, preferences={"limit": 8})
    torch.testing.assert_close(product.execute(), result)

# Or they are given.
loaded = AutotuneReport.load(os.path.join(folder, "report.json"))
best = Algorithm.from_numpy(np.load(os.path.join(folder, "best.npy")))
with Matmul(a, b) as product:
    product.plan(epilog="relu_bias", epilog_inputs={"bias": bias}, algorithms=[best, *loaded.algorithms[1:]])
    torch.testing.assert_close(product.execute(), result)

    # An edit counts from the next call on; the library is asked whether it can.
    print(best.capabilities)
    print(best.tile, best.stages, best.split_k)
    best.cta_swizzling = 1 - best.cta_swizzling
    product.execute()
