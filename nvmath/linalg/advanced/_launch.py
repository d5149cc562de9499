"""The function that a product ends in: written for its operands, so that a call enters one Python function and one of C."""

from __future__ import annotations

from functools import cache, partial
from types import CodeType
from typing import TYPE_CHECKING, Any

from ..._core.place import thread
from ..._core.route import CudaRunner, Launch, Runner
from ...bindings import cublasLt

if TYPE_CHECKING:
    from ._algorithm import Algorithm
    from ._cublaslt import CublasLtPlan


class Scratch:
    """Where the workspace of the next call is."""

    __slots__ = ("ptr",)

    def __init__(self) -> None:
        self.ptr = 0


def launcher(
    plan: CublasLtPlan,
    alpha: int,
    factors: tuple[int, int],
    algorithm: Algorithm,
    workspace: Scratch,
    workspace_nbytes: int,
    idle: Launch | None,
) -> Launch:
    """Return ``f(*operands, d, stream)`` for a plan: it sets the addresses that changed and starts the product.

    `idle` is called instead when alpha is 0.
    """
    gemm = plan.gemm
    assert gemm is not None
    cells, names = plan.descriptors.cells, plan.names
    inputs = tuple(names.index(name) for name in cells if name in names)
    outputs = tuple(index for index, (name, _) in enumerate(plan.problem.outputs) if name in cells)
    (la, lb), (lc, ld) = factors, plan.descriptors.results
    addend = names.index("c") if "c" in names else None if lc == ld else -1  # which is nothing then
    code, code_of_fused = _code(len(names), gemm.swapped, addend, inputs, outputs, idle is not None)
    scalars = plan.scalars
    values: dict[str, Any] = {
        "matmul": cublasLt.matmul, "handle": plan.handle, "desc": plan.descriptors.desc, "alpha": alpha, "la": la, "lb": lb, "lc": lc,
        "beta": scalars.zero if addend in (None, -1) else scalars.addresses[1], "ld": ld, "algorithm": algorithm.address, "keep": algorithm,
        "workspace": workspace, "nbytes": workspace_nbytes, "scalars": scalars, "idle": idle, "outputs": plan.output_ptrs,
        **{f"cell{index}": cells[names[index]] for index in inputs},
        **{f"out{index}": cells[plan.problem.outputs[index][0]] for index in outputs},
    }  # fmt: skip
    exec(code, values)
    made: Launch = values.pop("launch")  # else the function and its globals would keep each other alive
    made.fuse = partial(_fused, code_of_fused, values)  # type: ignore[attr-defined]
    return made


def _fused(code: CodeType, values: dict[str, Any], slow: CudaRunner) -> Runner:
    """Return a runner in one function, for calls on the current stream; all others go to the slow one."""
    own = {
        **values, "slow": slow, "make": slow.make, "pointer": slow.pointer, "stream_now": slow.stream_now, "device": slow.device,
        "thread": thread,
    }  # fmt: skip
    exec(code, own)
    made: Runner = own.pop("run")
    return made


@cache
def _code(
    count: int, swapped: bool, addend: int | None, inputs: tuple[int, ...], outputs: tuple[int, ...], idle: bool
) -> tuple[CodeType, CodeType]:
    """The text of such a function, compiled, and that of a runner around it."""
    arguments = ", ".join([*(f"p{index}" for index in range(count)), "d", "stream"])
    a, b = ("p1", "p0") if swapped else ("p0", "p1")
    c = "d" if addend is None else "0" if addend == -1 else f"p{addend}"
    lines = []
    if idle:
        lines += ["    if scalars.idle:", f"        idle({arguments})", "        return RESULT"]
    for index in inputs:
        lines += [f"    if p{index} != cell{index}.value:", f"        cell{index}.set(p{index})"]
    lines += [f"    out{index}.set(outputs[{index}])" for index in outputs]
    lines.append(
        f"    matmul(handle, desc, alpha, {a}, la, {b}, lb, beta, {c}, lc, d, ld, algorithm, workspace.ptr, nbytes, stream)"
    )
    operands = ", ".join(f"p{index}" for index in range(count))
    head = (
        "def run(objs, ptrs, stream, out):",
        "    if stream is not None or not thread.bound:", "        return slow(objs, ptrs, stream, out)",
        "    result = make() if out is None else out", f"    {operands} = ptrs", "    d, stream = pointer(result), stream_now(device)",
    )  # fmt: skip
    texts = (
        "\n".join([f"def launch({arguments}):", *lines]).replace("RESULT", ""),
        "\n".join([*head, *lines, "    return result"]).replace("RESULT", "result"),
    )
    first, second = (compile(text, "<a product of nvmath>", "exec") for text in texts)
    return first, second
