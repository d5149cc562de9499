# needs: gpu torch cutensor
"""Which kernel computes a contraction: algorithms, ranks, and autotuning by trying several."""

import torch

from nvmath.tensor import BinaryContraction, ContractionAlgo, ContractionAutotuneMode

a, b = torch.randn(48, 48, 48, 48, device="cuda"), torch.randn(48, 48, 48, 48, device="cuda")


def milliseconds(contraction: BinaryContraction) -> float:
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    contraction.execute()
    begin.record()
    for _ in range(5):
        contraction.execute()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 5


with BinaryContraction("abcd,dcef->abef", a, b) as contraction:
    preference = contraction.plan_preference
    for algo in ContractionAlgo:
        preference.algo = algo
        contraction.plan()  # what is set counts from the next plan on
        print(f"{algo.name:16} {milliseconds(contraction):.3f} ms")

    preference.algo = ContractionAlgo.GETT
    for rank in range(2):
        preference.kernel_rank = rank
        contraction.plan()
        print(f"GETT, rank {rank}     {milliseconds(contraction):.3f} ms")

    preference.algo, preference.kernel_rank = ContractionAlgo.DEFAULT, 0
    preference.autotune_mode, preference.incremental_count = ContractionAutotuneMode.INCREMENTAL, 4
    for _ in range(5):  # each plan tries another kernel, the last one takes the fastest
        contraction.plan()
        contraction.execute()
    print(f"autotuned        {milliseconds(contraction):.3f} ms")
