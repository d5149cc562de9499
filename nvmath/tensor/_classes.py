"""The contractions of two and of three tensors that keep their plan."""

from __future__ import annotations

from typing import Any, ClassVar

from .._core.arrays import CONJ
from .._core.keywords import explained
from .._core.options import ExecutionCPU, ExecutionCUDA
from ._contraction import Contraction
from ._options import ContractionOptions


class BinaryContraction(Contraction):
    """A contraction of two tensors that is planned once and executed many times.

    It computes ``out = alpha * sum(a * b) + beta * c``, where the expression says which modes are summed.

    Parameters
    ----------
    expr : str
        Two terms in Einstein notation, such as ``"ijk,kl->ijl"``; a label is any character but white space and ``. - > ,``. Without
        ``->`` the labels that occur once make the result, in sorted order. ``...`` stands for any further dimensions.
    a, b : array
        NumPy or CuPy arrays, or PyTorch tensors; of one package, device and dtype: float16, bfloat16, float32, float64, complex64 or
        complex128. Any strides. An extent of 1 fits any; a label may occur twice in a term (the diagonal).
    c : array, optional
        The addend, of the shape of the result.
    out : array, optional
        Where results are written, of the shape of the result; it may be the addend. Its strides must tell that its elements lie apart.
    qualifiers : array of int, optional
        Three members of :class:`Operator`, for a, b and the addend: ``OP_IDENTITY`` or, for complex a and b, ``OP_CONJ``.
    stream : optional
        For GPU work: stream object of any package, or an integer ``cudaStream_t``; by default the current stream of the operands'
        package.
    options : ContractionOptions or dict, optional
        What is asked of the contraction.
    execution : ExecutionCUDA, ExecutionCPU, str or dict, optional
        Where to run: ``"cuda"`` or ``"cpu"``. By default operands on a GPU are processed there; operands in host memory are
        processed on a GPU if there is one and cuTENSOR is installed, else on the CPU.

    Raises
    ------
    ValueError
        The expression, a shape, dtype, layout or option does not make a contraction; the text says which and what to do.
    TypeError
        An argument is of the wrong kind, or a and b come from different packages.
    RuntimeError
        CUDA execution was asked for and there is no device, or cuTENSOR is missing.

    Notes
    -----
    On the CPU the contraction is a matrix product (``cblas_?gemm`` of NumPy's OpenBLAS, else :func:`numpy.matmul`), with transposed
    copies only where the layout needs them; on a GPU it is ``cutensorContract``. One object serves one thread at a time.

    Examples
    --------
    >>> import numpy as np, nvmath
    >>> a, b = np.arange(6.0).reshape(2, 3), np.ones((3, 2))
    >>> with nvmath.tensor.BinaryContraction("ij,jk->ik", a, b, execution="cpu") as contraction:
    ...     contraction.plan()
    ...     contraction.execute(alpha=2)
    array([[ 6.,  6.],
           [24., 24.]])
    """

    _count = 2
    _what = "A binary contraction"

    @explained(options=ContractionOptions)
    def __init__(
        self,
        expr: str,
        a: Any,
        b: Any,
        *,
        c: Any = None,
        out: Any = None,
        qualifiers: Any = None,
        stream: Any = None,
        options: ContractionOptions | dict[str, Any] | None = None,
        execution: ExecutionCUDA | ExecutionCPU | str | dict[str, Any] | None = None,
    ) -> None:
        self._construct(expr, (a, b), c, out, qualifiers, stream, options, execution)

    def reset_operands(self, *, a: Any = None, b: Any = None, c: Any = None, out: Any = None, stream: Any = None) -> None:
        """Replace operands; those that are not given stay.

        Parameters
        ----------
        a, b, c, out : array, optional
            Same package, device and dtype as before, and shapes that give every mode the extent that it had (1 fits any); other
            strides or another alignment make a new plan. `c` and `out` only if the contraction was made with them. After
            :meth:`release_operands` all of them are needed.
        stream : optional
            Stream of the copy, where one is needed.

        Raises
        ------
        InvalidContractionState
            The object has been freed.
        ValueError
            Nothing is given, an operand is missing or does not fit; the text gives what was expected and what was given.
        """
        self._reset((a, b), c, out, stream)

    def reset_operands_unchecked(
        self, *, a: Any = None, b: Any = None, c: Any = None, out: Any = None, stream: Any = None
    ) -> None:
        """Replace operands without any check; an operand of another layout gives undefined results.

        Parameters
        ----------
        a, b, c, out : array, optional
            Operands of exactly the package, device, dtype, shape, strides and alignment of the present ones; after
            :meth:`release_operands` all of them.
        stream : optional
            Stream of the copy, where one is needed.

        Raises
        ------
        InvalidContractionState
            The object has been freed.
        ValueError
            The operands have been released, and not all are given.
        """
        self._reset_fast((a, b), c, out, stream)


class TernaryContraction(Contraction):
    """A contraction of three tensors that is planned once and executed many times.

    It computes ``out = alpha * sum(a * b * c) + beta * d``, where the expression says which modes are summed.

    Parameters
    ----------
    expr : str
        Three terms in Einstein notation, such as ``"ij,jk,kl->il"``; see :class:`BinaryContraction`.
    a, b, c : array
        The operands; see :class:`BinaryContraction`.
    d : array, optional
        The addend, of the shape of the result.
    out : array, optional
        Where results are written, of the shape of the result; it may be the addend. Its strides must tell that its elements lie apart.
    qualifiers : array of int, optional
        Four members of :class:`Operator`, for a, b, c and the addend.
    stream, options, execution : optional
        As in :class:`BinaryContraction`.

    Raises
    ------
    ValueError, TypeError, RuntimeError
        As in :class:`BinaryContraction`.

    Notes
    -----
    On the CPU the pair whose product costs least is contracted first; on a GPU it is ``cutensorContractTrinary``.

    Examples
    --------
    >>> import numpy as np, nvmath
    >>> a = np.arange(4.0).reshape(2, 2)
    >>> with nvmath.tensor.TernaryContraction("ij,jk,kl->il", a, a, a, execution="cpu") as contraction:
    ...     contraction.plan()
    ...     contraction.execute()
    array([[ 6., 11.],
           [22., 39.]])
    """

    _count = 3
    _what = "A ternary contraction"
    _reads: ClassVar[dict[str, int]] = {"a": CONJ, "b": CONJ, "c": CONJ}

    @explained(options=ContractionOptions)
    def __init__(
        self,
        expr: str,
        a: Any,
        b: Any,
        c: Any,
        *,
        d: Any = None,
        out: Any = None,
        qualifiers: Any = None,
        stream: Any = None,
        options: ContractionOptions | dict[str, Any] | None = None,
        execution: ExecutionCUDA | ExecutionCPU | str | dict[str, Any] | None = None,
    ) -> None:
        self._construct(expr, (a, b, c), d, out, qualifiers, stream, options, execution)

    def reset_operands(
        self, *, a: Any = None, b: Any = None, c: Any = None, d: Any = None, out: Any = None, stream: Any = None
    ) -> None:
        """Replace operands; those that are not given stay.

        Parameters
        ----------
        a, b, c, d, out : array, optional
            See :meth:`BinaryContraction.reset_operands`.
        stream : optional
            Stream of the copy, where one is needed.

        Raises
        ------
        InvalidContractionState, ValueError
            As for :meth:`BinaryContraction.reset_operands`.
        """
        self._reset((a, b, c), d, out, stream)

    def reset_operands_unchecked(
        self, *, a: Any = None, b: Any = None, c: Any = None, d: Any = None, out: Any = None, stream: Any = None
    ) -> None:
        """Replace operands without any check; an operand of another layout gives undefined results.

        Parameters
        ----------
        a, b, c, d, out : array, optional
            Operands of exactly the package, device, dtype, shape, strides and alignment of the present ones; after
            :meth:`release_operands` all of them.
        stream : optional
            Stream of the copy, where one is needed.

        Raises
        ------
        InvalidContractionState
            The object has been freed.
        ValueError
            The operands have been released, and not all are given.
        """
        self._reset_fast((a, b, c), d, out, stream)
