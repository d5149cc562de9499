# needs: gpu cupy torch library:curand
"""cuRAND on a GPU: CuPy arrays and PyTorch tensors are filled in place, on a stream."""

import cupy as cp
import torch

from nvmath.bindings import curand

generator = curand.create_generator(curand.RngType.PSEUDO_XORWOW)
curand.set_pseudo_random_generator_seed(generator, 7)
stream = cp.cuda.Stream(non_blocking=True)
curand.set_stream(generator, stream.ptr)

array = cp.empty((1000, 1000), dtype=cp.float32)
tensor = torch.empty(1_000_000, dtype=torch.float64, device="cuda")
torch.cuda.synchronize()
curand.generate_normal(generator, array.data.ptr, array.size, 1.0, 3.0)  # addresses, as the memory is on the GPU
curand.generate_uniform_double(generator, tensor.data_ptr(), tensor.numel())
stream.synchronize()
assert abs(float(array.mean()) - 1) < 0.05
assert abs(float(array.std()) - 3) < 0.05
assert abs(tensor.mean().item() - 0.5) < 0.01
assert 0 < tensor.min().item() <= tensor.max().item() <= 1

counts, logs = cp.empty(10**6, dtype=cp.uint32), cp.empty(10**6, dtype=cp.float64)
curand.generate_poisson(generator, counts.data.ptr, counts.size, 4.0)
curand.generate_log_normal_double(generator, logs.data.ptr, logs.size, 0.0, 0.5)
stream.synchronize()
assert abs(float(counts.mean()) - 4) < 0.02
assert abs(float(cp.log(logs).std()) - 0.5) < 0.01
curand.destroy_generator(generator)

# Every generator; those of 64 bits make 64-bit integers.
for kind in curand.RngType:
    if kind.name in ("TEST", "PSEUDO_DEFAULT", "QUASI_DEFAULT"):
        continue
    wide = kind.name.endswith("64")
    numbers = cp.zeros(4096, dtype=cp.uint64 if wide else cp.uint32)
    generator = curand.create_generator(kind)
    (curand.generate_long_long if wide else curand.generate)(generator, numbers.data.ptr, numbers.size)
    cp.cuda.Device().synchronize()
    assert len(cp.unique(numbers)) > 4000, kind
    curand.destroy_generator(generator)
print(f"cuRAND {curand.get_version()}: mean {float(array.mean()):.3f}, standard deviation {float(array.std()):.3f}")
