# needs: gpu cupy library:cutensor
"""cuTENSOR: a contraction: tensors, operation, plan, workspace, result."""

import cupy as cp
import numpy as np

from nvmath.bindings import cutensor

F32, IDENTITY = cutensor.DataType.R_32F, cutensor.Operator.OP_IDENTITY
rng = cp.random.default_rng(0)
a, b = rng.standard_normal((20, 30, 40), dtype=cp.float32), rng.standard_normal((40, 20, 10), dtype=cp.float32)
c = cp.zeros((30, 10), dtype=cp.float32)


def describe(array, modes):
    """A descriptor, and the modes as numbers."""
    strides = [stride // array.itemsize for stride in array.strides]
    made = cutensor.create_tensor_descriptor(handle, array.ndim, array.shape, strides, F32, 128)
    return made, [ord(mode) for mode in modes]


handle = cutensor.create()
(tensor_a, modes_a), (tensor_b, modes_b), (tensor_c, modes_c) = (
    describe(a, "ijk"),
    describe(b, "kil"),
    describe(c, "jl"),
)
operation = cutensor.create_contraction(
    handle, tensor_a, modes_a, IDENTITY, tensor_b, modes_b, IDENTITY, tensor_c, modes_c, IDENTITY, tensor_c, modes_c,
    cutensor.ComputeDesc.COMPUTE_32F(),
)  # fmt: skip
preference = cutensor.create_plan_preference(handle, cutensor.Algo.DEFAULT, cutensor.JitMode.NONE)
estimate = cutensor.estimate_workspace_size(
    handle, operation, preference, cutensor.WorksizePreference.WORKSPACE_DEFAULT
)
plan = cutensor.create_plan(handle, operation, preference, estimate)
needed = np.zeros(1, dtype=cutensor.get_plan_attribute_dtype(cutensor.PlanAttribute.REQUIRED_WORKSPACE))
cutensor.plan_get_attribute(handle, plan, cutensor.PlanAttribute.REQUIRED_WORKSPACE, needed, needed.nbytes)
workspace = cp.empty(max(int(needed[0]), 1), dtype=cp.uint8)

one, zero = np.float32(1), np.float32(0)
stream = cp.cuda.get_current_stream().ptr
cutensor.contract(
    handle, plan, one, a.data.ptr, b.data.ptr, zero, c.data.ptr, c.data.ptr, workspace.data.ptr, int(needed[0]), stream
)
assert cp.allclose(c, cp.einsum("ijk,kil->jl", a, b), rtol=1e-3, atol=1e-2)

cutensor.destroy_plan(plan)
cutensor.destroy_plan_preference(preference)
cutensor.destroy_operation_descriptor(operation)
for tensor in (tensor_a, tensor_b, tensor_c):
    cutensor.destroy_tensor_descriptor(tensor)
cutensor.destroy(handle)
print(f"cuTENSOR {cutensor.get_version()}: {int(needed[0])} bytes of workspace of {estimate} estimated")
