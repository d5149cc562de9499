"""cuRAND (``curand.h``): random numbers, on CUDA devices and (generators made by `create_generator_host`) on the CPU."""

from __future__ import annotations

import ctypes
import operator
from typing import Any, SupportsIndex

from nvmath.bindings._bind import Bindings, Errors

_ROWS = """
@ curand.h
curandCreateGenerator(&generator: ptr, rng_type: i32)
curandCreateGeneratorHost(&generator: ptr, rng_type: i32)
curandDestroyGenerator(generator: ptr)
curandGetVersion(&version: i32)
curandGetProperty(type: i32, &value: i32)
curandSetStream(generator: ptr, stream: ptr)
curandSetPseudoRandomGeneratorSeed(generator: ptr, seed: u64)
curandSetGeneratorOffset(generator: ptr, offset: u64)
curandSetGeneratorOrdering(generator: ptr, order: i32)
curandSetQuasiRandomGeneratorDimensions(generator: ptr, num_dimensions: u32)
curandGenerate(generator: ptr, output_ptr: buf<u32>, num: usize)
curandGenerateLongLong(generator: ptr, output_ptr: buf<u64>, num: usize)
curandGenerateUniform(generator: ptr, output_ptr: buf<f32>, num: usize)
curandGenerateUniformDouble(generator: ptr, output_ptr: buf<f64>, num: usize)
curandGenerateNormal(generator: ptr, output_ptr: buf<f32>, n: usize, mean: f32, stddev: f32)
curandGenerateNormalDouble(generator: ptr, output_ptr: buf<f64>, n: usize, mean: f64, stddev: f64)
curandGenerateLogNormal(generator: ptr, output_ptr: buf<f32>, n: usize, mean: f32, stddev: f32)
curandGenerateLogNormalDouble(generator: ptr, output_ptr: buf<f64>, n: usize, mean: f64, stddev: f64)
curandCreatePoissonDistribution(lambda_: f64, discrete_distribution: ptr)
curandDestroyDistribution(discrete_distribution: ptr)
curandGeneratePoisson(generator: ptr, output_ptr: buf<u32>, n: usize, lambda_: f64)
curandGeneratePoissonMethod(generator: ptr, output_ptr: buf<u32>, n: usize, lambda_: f64, method: i32)
curandGenerateBinomial(generator: ptr, output_ptr: buf<u32>, num: usize, n: u32, p: f64)
curandGenerateBinomialMethod(generator: ptr, output_ptr: buf<u32>, num: usize, n: u32, p: f64, method: i32)
curandGenerateSeeds(generator: ptr)
"""

_SPECIAL = """
_direction_vectors{32,64} = curandGetDirectionVectors{32,64}(&vectors: {ptr,ptr}, set: {i32,i32})
_scramble_constants{32,64} = curandGetScrambleConstants{32,64}(&constants: {ptr,ptr})
"""

_ENUMS = """
IntEnum DirectionVectorSet: DIRECTION_VECTORS_32_JOEKUO6=101 SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6=102
    DIRECTION_VECTORS_64_JOEKUO6=103 SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6=104
IntEnum Method: METHOD_CHOOSE_BEST=0 METHOD_ITR=1 METHOD_KNUTH=2 METHOD_HITR=3 METHOD_M1=4 METHOD_M2=5
    METHOD_BINARY_SEARCH=6 METHOD_DISCRETE_GAUSS=7 METHOD_REJECTION=8 METHOD_DEVICE_API=9 METHOD_FAST_REJECTION=10
    METHOD_3RD=11 METHOD_DEFINITION=12 METHOD_POISSON=13
IntEnum Ordering: PSEUDO_BEST=100 PSEUDO_DEFAULT=101 PSEUDO_SEEDED=102 PSEUDO_LEGACY=103 PSEUDO_DYNAMIC=104
    QUASI_DEFAULT=201
IntEnum RngType: TEST=0 PSEUDO_DEFAULT=100 PSEUDO_XORWOW=101 PSEUDO_MRG32K3A=121 PSEUDO_MTGP32=141 PSEUDO_MT19937=142
    PSEUDO_PHILOX4_32_10=161 QUASI_DEFAULT=200 QUASI_SOBOL32=201 QUASI_SCRAMBLED_SOBOL32=202 QUASI_SOBOL64=203
    QUASI_SCRAMBLED_SOBOL64=204
IntEnum Status: SUCCESS=0 VERSION_MISMATCH=100 NOT_INITIALIZED=101 ALLOCATION_FAILED=102 TYPE_ERROR=103
    OUT_OF_RANGE=104 LENGTH_NOT_MULTIPLE=105 DOUBLE_PRECISION_REQUIRED=106 LAUNCH_FAILURE=201 PREEXISTING_FAILURE=202
    INITIALIZATION_FAILED=203 ARCH_MISMATCH=204 INTERNAL_ERROR=999
"""

_LENGTHS = """
* output_ptr=num
generate generate_uniform generate_binomial generate_binomial_method:
generate_long_long generate_uniform_double:
* output_ptr=n
generate_normal generate_log_normal generate_poisson generate_poisson_method:
generate_normal_double generate_log_normal_double:
"""

_library = Bindings("curand", globals(), prefix="curand", errors=Errors("cuRANDError", "CURAND_STATUS_"))
__getattr__, __dir__ = _library.resolve, _library.names

#: How many dimensions the tables of the library have.
_DIMENSIONS = 20000


def _table(address: int, bits: int, size: int, columns: int = 1) -> Any:
    """A copy of a table of the library as a NumPy array."""
    import numpy as np

    if not isinstance(size, SupportsIndex):
        raise TypeError(f"size must be an integer, got {size!r}")
    size = operator.index(size)
    if not 0 <= size <= _DIMENSIONS:
        raise ValueError(f"size must be from 0 to {_DIMENSIONS}, the dimensions of the library's tables; got {size}")
    memory = ctypes.string_at(address, size * columns * bits // 8)
    table = np.frombuffer(memory, f"u{bits // 8}").copy()
    return table if columns == 1 else table.reshape(size, columns)


def get_direction_vectors32(set_: int, size: int = _DIMENSIONS) -> Any:
    """Return direction vectors of 32 bits for quasirandom numbers: ``curandGetDirectionVectors32``.

    Parameters
    ----------
    set_ : int
        A value of ``DirectionVectorSet`` for 32 bits.
    size : int
        How many dimensions, at most 20000.

    Returns
    -------
    numpy.ndarray
        Of shape (size, 32) and type uint32.

    Raises
    ------
    cuRANDError
        The set is none of 32 bits.
    """
    return _table(_library._direction_vectors32(set_), 32, size, 32)


def get_direction_vectors64(set_: int, size: int = _DIMENSIONS) -> Any:
    """Return direction vectors of 64 bits for quasirandom numbers: ``curandGetDirectionVectors64``.

    Parameters
    ----------
    set_ : int
        A value of ``DirectionVectorSet`` for 64 bits.
    size : int
        How many dimensions, at most 20000.

    Returns
    -------
    numpy.ndarray
        Of shape (size, 64) and type uint64.

    Raises
    ------
    cuRANDError
        The set is none of 64 bits.
    """
    return _table(_library._direction_vectors64(set_), 64, size, 64)


def get_scramble_constants32(size: int = _DIMENSIONS) -> Any:
    """Return scramble constants of 32 bits: ``curandGetScrambleConstants32``.

    Parameters
    ----------
    size : int
        How many dimensions, at most 20000.

    Returns
    -------
    numpy.ndarray
        Of shape (size,) and type uint32.
    """
    return _table(_library._scramble_constants32(), 32, size)


def get_scramble_constants64(size: int = _DIMENSIONS) -> Any:
    """Return scramble constants of 64 bits: ``curandGetScrambleConstants64``.

    Parameters
    ----------
    size : int
        How many dimensions, at most 20000.

    Returns
    -------
    numpy.ndarray
        Of shape (size,) and type uint64.
    """
    return _table(_library._scramble_constants64(), 64, size)
