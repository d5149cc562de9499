# needs: gpu cupy library:cufftMp library:nvshmem
"""cuFFTMp with one process (no MPI): a transform of two axes of an array in NVSHMEM memory."""

import cupy as cp

from nvmath.bindings import cufftMp, nvshmem

cp.cuda.Device(0).use()
cp.zeros(1)  # the context that NVSHMEM takes
identifier, attributes = nvshmem.UniqueId(), nvshmem.InitAttr()
nvshmem.get_uniqueid(identifier.ptr)
nvshmem.set_attr_uniqueid_args(0, 1, identifier.ptr, attributes.ptr)
nvshmem.hostlib_init_attr(nvshmem.Flags.INIT_WITH_UNIQUEID, attributes.ptr)

nx, ny = 64, 96
rng = cp.random.default_rng(0)
x = rng.standard_normal((nx, ny)) + 1j * rng.standard_normal((nx, ny))

plan = cufftMp.create()
cufftMp.attach_comm(plan, cufftMp.MpCommType.COMM_NONE, None)  # NVSHMEM is there already
cufftMp.xt_set_subformat_default(plan, cufftMp.XtSubFormat.FORMAT_INPLACE, cufftMp.XtSubFormat.FORMAT_INPLACE_SHUFFLED)
cufftMp.make_plan2d(plan, nx, ny, cufftMp.Type.Z2Z)
descriptor = cufftMp.xt_malloc(plan, cufftMp.XtSubFormat.FORMAT_INPLACE)

host = x.get()
cufftMp.xt_memcpy(plan, descriptor, host.ctypes.data, cufftMp.XtCopyType.HOST_TO_DEVICE)
cufftMp.xt_exec_descriptor(plan, descriptor, descriptor, -1)
spectrum = host.copy()
cufftMp.xt_memcpy(plan, spectrum.ctypes.data, descriptor, cufftMp.XtCopyType.DEVICE_TO_HOST)
assert cp.allclose(cp.asarray(spectrum), cp.fft.fft2(x))

described = cufftMp.LibXtDesc.from_ptr(descriptor, readonly=True)
gpus = cufftMp.XtDesc.from_ptr(described.descriptor, readonly=True)
assert gpus.n_gpus == 1
cufftMp.xt_free(descriptor)
cufftMp.destroy(plan)
nvshmem.hostlib_finalize()
print(f"cuFFTMp {cufftMp.get_version()}: {nx} x {ny}, {int(gpus.size_[0, 0])} bytes")
