"""What can be asked of an advanced matrix product."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any, Final, Literal

from ..._core import memory_limit as limits
from ..._core.dtypes import DTYPES, DType
from ..._core.keywords import explained_fields
from ..._enums import CudaDataType
from ...bindings import cublas
from ...memory import BaseCUDAMemoryManager, BaseCUDAMemoryManagerAsync
from ._coerce import member, natural, shown

MatmulComputeType = cublas.ComputeType

BY_CODE: Final[dict[int, DType]] = {row.code: row for row in DTYPES.values()}


@explained_fields
@dataclass(repr=False)
class MatmulOptions:
    """Options of an advanced matrix product.

    Parameters
    ----------
    inplace : bool, default False
        Write the result into C.
    compute_type : MatmulComputeType or str, optional
        Precision of the accumulation, a member or its name, such as ``"32F_FAST_TF32"``; by default
        the natural one of the operands: float32 is never rounded to TF32.
    scale_type : CudaDataType or str, optional
        Type of `alpha` and `beta`: a member, its name, or that of a dtype, such as ``"float32"``.
    result_type : CudaDataType or str, optional
        Type of the result, in the same way; by default that of C, or else of A.
    result_amax : bool, default False
        Also return the largest absolute value of the result before it is rounded, as ``"result_amax"`` (narrow results only).
    block_scaling : bool, default False
        Whether narrow operands have a scale for each block: MXFP8 of FP8 operands, NVFP4 of FP4 operands.
    sm_count_target : int, default 0
        Number of multiprocessors that a GPU kernel may use; 0 for all.
    fast_accumulation : bool, default False
        Accumulate narrow precision faster and less exactly.
    device_id : int, default 0
        The GPU for operands in host memory, when `execution` does not name one.
    handle : int, optional
        A cuBLASLt handle; by default one per device is kept.
    logger : logging.Logger, optional
        By default the root logger.
    memory_limit : int, float or str, default "80%"
        Most workspace that an algorithm may need: bytes, a fraction of the device's memory, or a text such as ``"2 GiB"``.
    blocking : {"auto", True}, default "auto"
        ``"auto"`` returns as soon as the work is queued when operands and execution are both on a GPU.
    allocator : BaseCUDAMemoryManager or BaseCUDAMemoryManagerAsync, optional
        Source of the workspace; by default the operands' package.

    Raises
    ------
    ValueError
        A field has a value that it may not have.
    TypeError
        The allocator has neither ``memalloc`` nor ``memalloc_async``, or the logger is no logger.

    Examples
    --------
    >>> from nvmath.linalg.advanced import MatmulOptions
    >>> MatmulOptions(compute_type=68).compute_type.name
    'COMPUTE_32F'
    >>> MatmulOptions(compute_type="32f_fast_tf32", result_type="float32")
    MatmulOptions(compute_type=ComputeType.COMPUTE_32F_FAST_TF32, result_type=CudaDataType.CUDA_R_32F)
    """

    inplace: bool = False
    compute_type: int | str | None = None
    scale_type: int | str | None = None
    result_type: int | str | None = None
    result_amax: bool = False
    block_scaling: bool = False
    sm_count_target: int | None = 0
    fast_accumulation: bool | None = False
    device_id: int | None = 0
    handle: int | None = None
    logger: logging.Logger | None = None
    memory_limit: int | float | str | None = "80%"
    blocking: Literal[True, "auto"] = "auto"
    allocator: BaseCUDAMemoryManager | BaseCUDAMemoryManagerAsync | None = None

    def __post_init__(self) -> None:
        for name in ("inplace", "result_amax", "block_scaling"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"MatmulOptions.{name} must be True or False, not {getattr(self, name)!r}.")
        if self.blocking is not True and self.blocking != "auto":
            raise ValueError(f"MatmulOptions.blocking must be True or 'auto', not {self.blocking!r}.")
        self.compute_type = member(MatmulComputeType, self.compute_type, "MatmulOptions.compute_type")
        self.scale_type = member(CudaDataType, self.scale_type, "MatmulOptions.scale_type")
        self.result_type = member(CudaDataType, self.result_type, "MatmulOptions.result_type")
        self.sm_count_target = natural(self.sm_count_target or 0, "MatmulOptions.sm_count_target")
        self.fast_accumulation = bool(self.fast_accumulation)
        self.device_id = natural(self.device_id or 0, "MatmulOptions.device_id")
        self.handle = None if self.handle is None else natural(self.handle, "MatmulOptions.handle, a cuBLASLt handle,")
        self.memory_limit = "80%" if self.memory_limit is None else self.memory_limit
        limits.check(self.memory_limit)
        if self.logger is not None and not isinstance(self.logger, logging.Logger | logging.LoggerAdapter):
            raise TypeError(f"MatmulOptions.logger must be a logging.Logger, not {type(self.logger).__name__}.")
        if self.allocator is not None and not isinstance(
            self.allocator, BaseCUDAMemoryManager | BaseCUDAMemoryManagerAsync
        ):
            raise TypeError(
                "MatmulOptions.allocator must have a method memalloc(size) or memalloc_async(size, stream) "
                f"(nvmath.BaseCUDAMemoryManager or nvmath.BaseCUDAMemoryManagerAsync); got {type(self.allocator).__name__}."
            )

    def __repr__(self) -> str:
        return shown(self)

    def key(self) -> tuple[Any, ...]:
        """Everything that a plan or a result depends on."""
        return (
            self.inplace, self.compute_type, self.scale_type, self.result_type, self.result_amax, self.block_scaling, self.sm_count_target,
            self.fast_accumulation, self.device_id, self.handle, type(self.memory_limit), self.memory_limit, self.blocking,
        )  # fmt: skip
