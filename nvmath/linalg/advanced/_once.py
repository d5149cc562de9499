"""The one-call function: a product by a plan that is kept for the next call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from ..._core import log
from ..._core.arrays import TRACKED, adapter_of
from ..._core.cache import plan_cache
from ..._core.untraced import untraced
from .._prepared import Tables
from ._api import BETA, Matmul
from ._coerce import coerce, coerce_qualifiers
from ._epilogs import check_epilog_inputs, coerce_epilog, require_arrays, require_mapping
from ._narrow import AUX_SCALE
from ._narrow_operands import split_inputs
from ._operation import scales_of
from ._options import MatmulOptions
from ._preferences import MatmulPlanPreferences

_PLAIN: Final = "advanced.matmul"  # the first part of the keys of plans
_WITH_C: Final = "advanced.matmul with c"
_NAMED: Final = (int, str)
_TABLES: Final = Tables()


@untraced
def matmul(
    a: Any,
    b: Any,
    /,
    c: Any = None,
    *,
    alpha: Any = None,
    beta: Any = None,
    epilog: Any = None,
    epilog_inputs: Mapping[str, Any] | None = None,
    qualifiers: Any = None,
    quantization_scales: Any = None,
    options: MatmulOptions | dict[str, Any] | None = None,
    preferences: MatmulPlanPreferences | dict[str, Any] | None = None,
    algorithm: Any = None,
    stream: Any = None,
    execution: Any = None,
    out: Any = None,
) -> Any:
    """Multiply matrices: ``F(alpha * A @ B + beta * C)``.

    The plan is kept for the next call with operands of the same metadata. For many calls with the same shapes :class:`Matmul` saves
    even more.

    Parameters
    ----------
    a, b, c, alpha, beta, qualifiers, quantization_scales, options, stream, execution
        As for :class:`Matmul`.
    epilog, epilog_inputs, preferences
        As for :meth:`Matmul.plan`; one candidate is asked for.
    algorithm : Algorithm, optional
        Use this one, of an earlier plan; such a call makes a plan of its own.
    out : array, optional
        Where to write the result; of the result's package, device, shape and dtype, any strides. It is returned.

    Returns
    -------
    array, or tuple of array and dict
        A new array of the operands' package on their device, or `out`, or C itself in place. If the epilog has auxiliary outputs: a pair
        of that and a dict of them by name.

    Raises
    ------
    ValueError
        Dtypes, shapes or options do not fit each other; the text says which and what to do.
    TypeError
        An argument is of the wrong kind, or the operands come from different packages.
    RuntimeError
        CUDA execution was asked for and there is no device, or the library is missing.

    Examples
    --------
    >>> import numpy as np
    >>> from nvmath.linalg.advanced import MatmulEpilog, matmul
    >>> a, b = np.eye(2), np.array([[1.0, -2.0], [-3.0, 4.0]])
    >>> matmul(a, b, epilog=MatmulEpilog.RELU_BIAS, epilog_inputs={"bias": np.array([1.0, 0.0])})
    array([[2., 0.],
           [0., 4.]])
    """
    if (
        c is alpha is beta is epilog is epilog_inputs is qualifiers is quantization_scales is options is preferences is algorithm is stream
        is out is None and type(a) is np.ndarray and (execution is None or type(execution) is str)
    ):  # fmt: skip
        table = _TABLES.of.get(execution)
        if table is not None and not log.ROOT.isEnabledFor(log.INFO) and (result := table(a, b)) is not NotImplemented:
            plan_cache._hits += 1
            return result
    if epilog is not None and not isinstance(epilog, _NAMED):
        epilog = coerce_epilog(epilog)  # of a function: its code and what it reads, not the object
    scales = {} if quantization_scales is None else scales_of(quantization_scales, a, b, options, stream)
    if c is None and epilog_inputs is None and not scales:
        objs: tuple[Any, ...] = (a, b)
        look = adapter_of(a).look
        ptr_a, look_a = look(a)
        ptr_b, look_b = look(b) if type(b) is type(a) else adapter_of(b).look(b)
        ptrs: tuple[int, ...] = (ptr_a, ptr_b)
        key: Any = (
            _PLAIN, epilog, qualifiers, options, preferences, execution,
            type(a), look_a, ptr_a & 15, type(b), look_b, ptr_b & 15,
        )  # fmt: skip
    else:
        require_mapping(epilog_inputs)
        objs, epilog_inputs = _listed(a, b, c, beta, epilog, epilog_inputs, scales, stream)
        name: Any = _PLAIN if c is None else _WITH_C
        ptrs, seen = (), [(name, *scales) if scales else name, epilog, qualifiers, options, preferences, execution]
        kind, look = type(a), adapter_of(a).look
        try:
            for obj in objs:
                ptr, look_obj = look(obj) if type(obj) is kind else adapter_of(obj).look(obj)
                ptrs += (ptr,)
                seen += type(obj), look_obj, ptr & 15
        except ValueError:
            require_arrays(epilog_inputs or {})
            raise
        key = tuple(seen)
    key, product = plan_cache.lease(key, _settled) if algorithm is None else (None, None)
    if product is None:
        product = _open(
            objs, c is None, epilog, epilog_inputs, tuple(scales), qualifiers, options, preferences, algorithm, stream, execution
        )  # fmt: skip
        if epilog is qualifiers is options is preferences is algorithm is None and product._simple:
            _TABLES.enter(execution, product)
    try:
        if alpha is not None or beta is not None or product._rescaled:
            product._rescale_once(alpha, beta)
        if out is None and product._simple and not product.logger.isEnabledFor(log.INFO):
            result = product._kept(objs, ptrs, stream, None)
        else:
            result = product._serve(objs, stream, out)
    except BaseException:
        plan_cache.discard(product)
        raise
    if product._gpu is not None:
        product._pin_if_captured(stream)
    plan_cache.give(key, product)
    return result


def _listed(
    a: Any,
    b: Any,
    c: Any,
    beta: Any,
    epilog: Any,
    inputs: Mapping[str, Any] | None,
    scales: dict[str, Any],
    stream: Any,
) -> tuple[tuple[Any, ...], Mapping[str, Any] | None]:
    """Return all operands in the order of the launch, and the inputs of the epilog."""
    if c is None and inputs is not None and not scales and epilog is not None and len(inputs) == 1 and "bias" in inputs:
        return (a, b, inputs["bias"]), inputs
    if c is not None and beta is None:
        raise ValueError(BETA)
    own = (a, b) if c is None else (a, b, c)
    own += tuple(scales.values())
    if inputs is None:
        return own, None
    if epilog is None:
        log.ROOT.warning("epilog_inputs are ignored, since there is no epilog.")
        return own, None
    aux_scale: dict[str, Any] = {}
    if AUX_SCALE in inputs:
        adapter = adapter_of(a)
        inputs, aux_scale = split_inputs(inputs, adapter, adapter.view(a).device, stream)
    if len(inputs) != 1 or "bias" not in inputs:
        inputs = check_epilog_inputs(coerce_epilog(epilog), inputs)
    inputs = {**inputs, **aux_scale}
    return (*own, *inputs.values()), inputs


def _settled(key: Any) -> Any:
    """Return the key with every argument in a form that can be hashed, or None when the call must not be cached."""
    name, epilog, qualifiers, options, preferences, execution, *looks = key
    if options is not None:
        options = coerce(MatmulOptions, options, "options")
        if options.logger is not None or options.allocator is not None:
            return None
        options = options.key()
    if preferences is not None:
        preferences = coerce(MatmulPlanPreferences, preferences, "preferences").key()
    if isinstance(execution, Mapping):
        execution = tuple(sorted(execution.items(), key=repr))
    settled = (name, epilog, coerce_qualifiers(qualifiers), options, preferences, execution, *looks)
    try:
        hash(settled)
    except TypeError:
        return None
    return settled


def _open(
    objs: tuple[Any, ...], plain: bool, epilog: Any, inputs: Mapping[str, Any] | None, scales: tuple[str, ...], qualifiers: Any,
    options: Any, preferences: Any, algorithm: Any, stream: Any, execution: Any,
) -> Matmul:  # fmt: skip
    """Make and plan the product of a one-call function."""
    c = None if plain else objs[2]
    chosen = replace(coerce(MatmulPlanPreferences, preferences, "preferences"), limit=1)
    given_scales = {name[0]: obj for name, obj in zip(scales, objs[2 if plain else 3 :], strict=False)} or None
    product = Matmul(
        objs[0], objs[1], c, beta=None if plain else 0.0, qualifiers=qualifiers, quantization_scales=given_scales, options=options,
        stream=stream, execution=execution,
    )  # fmt: skip
    try:
        product._transient = True
        algorithms = None if algorithm is None else [algorithm]
        product.plan(preferences=chosen, algorithms=algorithms, epilog=epilog, epilog_inputs=inputs, stream=stream)
        product._kept = product._runner(None)
        tracked = any(view.flags & TRACKED for view in product._views)  # then every call warns
        product._simple = not (product._inplace or product._route.across or tracked)
        if product._simple:
            product._forget()
    except BaseException:
        product.free()
        raise
    return product
