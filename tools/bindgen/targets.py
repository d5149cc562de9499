"""What is read and checked for each library, and the differences that are known and right."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Target:
    """A library's headers and rows.

    Attributes
    ----------
    module : str
        The binding module.
    headers : tuple of str
        Header names.
    prefix : str
        What its C functions start with.
    enums : dict
        Our enum -> C enum.
    defines : tuple of str
        Macro sets; the headers are read once for each and the functions joined.
    not_in_headers : frozenset of str
        C functions in our rows that these headers do not declare.
    not_exported : frozenset of str
        C functions in our rows that the installed library does not export.
    varying : frozenset of str
        Enum members (``Enum.MEMBER``) that not every version of the headers has.
    """

    module: str
    headers: tuple[str, ...]
    prefix: str
    enums: dict[str, str] = field(default_factory=dict)
    defines: tuple[str, ...] = ("",)
    not_in_headers: frozenset[str] = frozenset()
    not_exported: frozenset[str] = frozenset()
    varying: frozenset[str] = frozenset()


_CUFFT_VARYING = frozenset(
    {
        "Result.INCOMPLETE_PARAMETER_LIST",
        "Result.PARSE_ERROR",
        "Result.LICENSE_ERROR",
        "Result.MISSING_DEPENDENCY",
        "Result.NVRTC_FAILURE",
        "Result.NVJITLINK_FAILURE",
        "Result.NVSHMEM_FAILURE",
    }
)

TARGETS = {
    "cufft": Target(
        module="nvmath.bindings.cufft",
        headers=("cufft.h", "cufftXt.h"),
        prefix="cufft",
        enums={
            "Result": "cufftResult",
            "Type": "cufftType",
            "LibFormat": "libFormat",
            "Compatibility": "cufftCompatibility",
            "Property": "cufftProperty",
            "XtSubFormat": "cufftXtSubFormat",
            "XtCopyType": "cufftXtCopyType",
            "XtQueryType": "cufftXtQueryType",
            "XtWorkAreaPolicy": "cufftXtWorkAreaPolicy",
            "XtCallbackType": "cufftXtCallbackType",
        },
        # The first is CUDA 12's entry point for LTO callbacks, the second is in cuFFTMp only.
        not_in_headers=frozenset({"__cufftXtSetJITCallback_12_7", "cufftXtSetSubformatDefault"}),
        not_exported=frozenset({"__cufftXtSetJITCallback_12_7", "cufftXtSetSubformatDefault"}),
        varying=_CUFFT_VARYING,
    ),
    "nvrtc": Target(
        module="nvmath.bindings._nvrtc",
        headers=("nvrtc.h",),
        prefix="nvrtc",
        enums={"Result": "nvrtcResult"},
    ),
    "nvjitlink": Target(
        module="nvmath.bindings._nvjitlink",
        headers=("nvJitLink.h",),
        prefix="nvJitLink",
        enums={"Result": "nvJitLinkResult", "InputType": "nvJitLinkInputType"},
    ),
    "cuda": Target(
        module="nvmath.bindings._cuda",
        headers=("cuda.h",),
        prefix="cu",
        enums={
            "Result": "CUresult",
            "DeviceAttribute": "CUdevice_attribute",
            "FunctionAttribute": "CUfunction_attribute",
            "PointerAttribute": "CUpointer_attribute",
            "MemoryType": "CUmemorytype",
            "MemPoolAttribute": "CUmemPool_attribute",
            "StreamFlags": "CUstream_flags",
            "EventFlags": "CUevent_flags",
            "StreamCaptureStatus": "CUstreamCaptureStatus",
            "StreamCaptureMode": "CUstreamCaptureMode",
        },
        defines=("", "__CUDA_API_VERSION_INTERNAL"),
    ),
    "fftw": Target(
        module="nvmath.bindings.nvpl.fft",
        headers=("fftw3.h",),
        prefix="fftw",
        not_in_headers=frozenset({"nvpl_fft_get_version"}),
        # NVPL alone has its version, MKL has no planner_nthreads.
        not_exported=frozenset({"nvpl_fft_get_version", "fftw_planner_nthreads", "fftwf_planner_nthreads"}),
    ),
}
