"""What the user calls."""

from __future__ import annotations

from typing import Any, Final

from ..._core.fork import IMPORTING
from ..._core.keywords import explained
from ..._core.log import BLOCKING, INFO
from ..._core.options import coerce_options
from .._prepared import PREPARED
from ._operation import InvalidMatmulState, ProductOperation
from ._options import MatmulOptions
from ._qualifiers import read
from ._scalars import Scalars

__all__ = ["InvalidMatmulState", "Matmul"]

NO_BETA: Final = "A value for beta must be provided with c: beta * c is added. Pass beta=1.0 to add c as it is."


class Matmul(ProductOperation):
    """A product of matrices, ``alpha * A @ B + beta * C``, that is planned once and executed many times.

    Parameters
    ----------
    a, b : array, or sequence of arrays
        NumPy or CuPy arrays, PyTorch tensors, or arrays of any package that offers DLPack, all of one package, device and dtype:
        float32, float64, complex64, complex128, float16 or bfloat16. The last two axes are the matrices, ``(..., M, K)`` and
        ``(..., K, N)``; a 1-dimensional `a` is a row, a 1-dimensional `b` a column; a diagonal matrix is its diagonal,
        ``(..., N)``. Leading axes are batches: equal extents, or 1 or no axis where one matrix serves all. Any strides; what the
        library cannot read is copied at each execution. Sequences are products of their own, see Notes.
    c : array, or sequence of arrays, optional
        What is added: of the shape of the result, or of one that is broadcast to it; it may add batches of its own.
    alpha : number, optional
        1 by default.
    beta : number, optional
        Needed with `c`. Without `c` it is ignored, with a warning in the log: once for each object.
    qualifiers : array, optional
        What is known about A, B and C: one entry of ``matrix_qualifiers_dtype`` for each, made by ``create`` of
        ``GeneralMatrixQualifier``, ``SymmetricMatrixQualifier``, ``HermitianMatrixQualifier``, ``TriangularMatrixQualifier`` and
        ``DiagonalMatrixQualifier``. Of a symmetric, Hermitian or triangular matrix the other triangle is never used. C is general.
    options : MatmulOptions or dict, optional
        What is asked of the product.
    execution : ExecutionCPU, ExecutionCUDA, str or dict, optional
        Where to run: ``"cpu"`` or ``"cuda"``; by default where the operands are.
    stream : optional
        For GPU work: stream object of any package, or an integer ``cudaStream_t``; by default the current stream of the operands'
        package.

    Raises
    ------
    ValueError
        Dtypes, shapes, qualifiers or options do not fit each other; the text says which and what to do.
    TypeError
        An argument is of the wrong kind, or the operands come from different packages.
    NotImplementedError
        The qualifier of C says that it is not general.
    RuntimeError
        CUDA execution was asked for and there is no device, or the library is missing.

    Notes
    -----
    On a GPU the product is done by cuBLAS (``cublasGemmEx``, ``cublasGemmStridedBatchedEx``, ``cublas?symm``, ``cublas?hemm``,
    ``cublas?trmm``), on the CPU by ``cblas_?gemm``, ``cblas_?symm``, ``cblas_?hemm`` and ``cblas_?trmm`` of the library that
    ``NVMATH_BLAS_CPU_LIBRARY`` names, of the OpenBLAS in NumPy, or of a BLAS that is installed, or else by :func:`numpy.matmul`;
    products with a diagonal are one pass over memory. Float32 is never rounded to TF32. The result is row-major if A and B are (or C
    is), else column-major.

    If `a` and `b` (and `c`, and `qualifiers`) are sequences, entry by entry is multiplied, and the result is a list; a sequence of
    one serves all, and alpha and beta may be sequences too. Entries may differ in shape, not in dtype.

    One object serves one thread at a time.

    Examples
    --------
    >>> import numpy as np
    >>> from nvmath.linalg import Matmul
    >>> a, b = np.eye(3), np.arange(6.0).reshape(3, 2)
    >>> with Matmul(a, b, alpha=2.0) as product:
    ...     product.plan()
    ...     d = product.execute()
    >>> d[2]
    array([ 8., 10.])
    """

    @explained(options=MatmulOptions)
    def __new__(
        cls,
        a: Any,
        b: Any,
        /,
        c: Any = None,
        *,
        alpha: Any = None,
        beta: Any = None,
        qualifiers: Any = None,
        options: MatmulOptions | dict[str, Any] | None = None,
        execution: Any = None,
        stream: Any = None,
    ) -> Matmul:
        """Make an object for one product, or for as many as the sequences have entries."""
        if cls is Matmul and any(isinstance(each, list | tuple) for each in (a, b, c)):
            with IMPORTING:
                from ._groups import MatmulGroup

            return object.__new__(MatmulGroup)
        return object.__new__(cls)

    @explained(options=MatmulOptions)
    def __init__(
        self,
        a: Any,
        b: Any,
        /,
        c: Any = None,
        *,
        alpha: Any = None,
        beta: Any = None,
        qualifiers: Any = None,
        options: MatmulOptions | dict[str, Any] | None = None,
        execution: Any = None,
        stream: Any = None,
    ) -> None:
        check_single(options=options, execution=execution, stream=stream)
        settings = coerce_options(MatmulOptions, options)
        if c is not None and beta is None:
            raise ValueError(NO_BETA)
        self._qualified = read(qualifiers, c is not None)
        self._begin({"a": a, "b": b} if c is None else {"a": a, "b": b, "c": c}, settings, execution)
        self._scalars = Scalars(self._problem.d.dtype)
        self._scalars.store(self._scalars.read(alpha, self._used_beta(beta)))
        self.valid_state = True
        self._hold(stream)
        if self.logger.isEnabledFor(INFO):
            self.logger.info(
                "Specified: %s, operands on %s, execution on %s.", self._problem, self._device, self._place
            )
            self.logger.info(BLOCKING[self.blocking])

    # --- phases -------------------------------------------------------------------------------------------------------

    def plan(self, *, stream: Any = None) -> None:
        """Choose the function of the library that computes the product; another call does nothing.

        Parameters
        ----------
        stream : optional
            Stream of GPU work.

        Raises
        ------
        InvalidMatmulState
            The object has been freed.
        ValueError
            The operands have been released.
        """
        self._check_valid()
        if not self._objs:
            raise ValueError("The operands have been released. Give new ones with reset_operands() before plan().")
        if self._planned:
            self.logger.info("The product has been planned already.")
            return
        self._do_plan(stream)

    def execute(self, *, stream: Any = None, out: Any = None) -> Any:
        """Compute the product of the present operands.

        Parameters
        ----------
        stream : optional
            Stream of GPU work; by default the current stream of the operands' package at this call.
        out : array, optional
            Where to write the result; of the result's package, device, shape and dtype, any strides. It is returned. With
            sequences: a sequence of such arrays.

        Returns
        -------
        array, or list of arrays
            A new array of the operands' package on their device, or `out`, or C itself in place.

        Raises
        ------
        InvalidMatmulState
            The object has been freed.
        RuntimeError
            The product is not planned.
        ValueError
            The operands have been released, or `out` does not fit the result.
        """
        ready = self._ready
        if PREPARED in ready and out is None and not self.logger.isEnabledFor(INFO):
            result = ready[PREPARED](*self._objs)
            if result is not NotImplemented:
                return result
            if not self._swap(self._objs):  # an array can be resized or reshaped where it is
                self._reset_checked(self._objs, None)
            self._prepare()  # for the operands and scalars as they are now
        ptrs = self._now()
        runner = self._ready.get(None)
        if runner is None or out is not None or self.logger.isEnabledFor(INFO):
            return self._run(runner or self._runner(None), stream, False, out)
        return runner(self._objs, ptrs, stream, None)

    def execute_unchecked(self, *, stream: Any = None) -> Any:
        """Compute the product without a word in the log; the object must be planned and have operands.

        Parameters
        ----------
        stream : optional
            As for :meth:`execute`.

        Returns
        -------
        array, or list of arrays
            As of :meth:`execute`.
        """
        ptrs = self._now()
        return (self._ready.get(None) or self._runner(None))(self._objs, ptrs, stream, None)

    def reset_operands(
        self, *, a: Any = None, b: Any = None, c: Any = None, alpha: Any = None, beta: Any = None, stream: Any = None
    ) -> None:
        """Replace operands and scalars; what is not given stays.

        Parameters
        ----------
        a, b, c : array, or sequence of arrays, optional
            Same package, device, dtype, shape and, on a GPU, strides as before; as many as before.
        alpha, beta : number, optional
            New scalars.
        stream : optional
            Stream of the copies, where some are needed.

        Raises
        ------
        InvalidMatmulState
            The object has been freed.
        TypeError
            An operand is of another package.
        ValueError
            Nothing is given, or an operand differs; the text gives what was expected and what was given. After
            :meth:`release_operands` every operand has to be given.
        """
        objs = self._arranged(a, b, c)
        if alpha is not None or beta is not None:
            self._reset_scaled(objs, alpha, beta, stream)
        elif not self._swap(objs):
            self._reset_checked(objs, stream)
        if self.logger.isEnabledFor(INFO):
            self.logger.info("Operands or scalars have been replaced: %s.", self._problem)

    def reset_operands_unchecked(
        self, *, a: Any = None, b: Any = None, c: Any = None, alpha: Any = None, beta: Any = None, stream: Any = None
    ) -> None:
        """Replace operands and scalars without any check; operands of another layout give undefined results.

        Parameters
        ----------
        a, b, c, alpha, beta, stream : optional
            As for :meth:`reset_operands`; arrays of exactly the package, device, dtype, shape and strides of the present ones.
        """
        if alpha is not None or beta is not None:
            self._scalars.store(self._scalars.read(alpha, None if self._problem.c is None else beta))
        self._reset_unchecked(self._arranged(a, b, c), stream)

    def release_operands(self) -> None:
        """Drop the references to all operands, and their mirrors; the plan stays, and a reset brings new operands.

        Raises
        ------
        InvalidMatmulState
            The object has been freed.
        """
        self._release()


def check_single(**arguments: Any) -> None:
    """Refuse sequences where one value is meant.

    Raises
    ------
    TypeError
        An argument is a list or a tuple; the text names it.
    """
    for name, value in arguments.items():
        if isinstance(value, list | tuple):
            raise TypeError(f"{name} must be a single value, not a {type(value).__name__}; it holds for all products.")
