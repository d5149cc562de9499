"""The life cycle of every stateful operation, once.

specify (construction) -> plan -> execute ... -> free, with reset and release in between. A subclass declares its operands and
errors as data and answers four questions: what a set of views means (`_specify`), which plan computes it (`_make_plan`), what to
allocate (`_result`), and how to launch one request (`_launch`).
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from copy import copy
from types import TracebackType
from typing import Any, ClassVar, Self

from ..bindings._load import find_library
from . import log
from .arrays import NEEDS_COPY, READONLY, TRACKED, UNTIDY, Adapter, View, adapter_of, common_adapter
from .errors import InvalidStateError, UngradedWarning, warn
from .fork import children
from .layout import may_overlap, span
from .memory import Allocate, Workspace, from_user
from .options import ExecutionCPU, ExecutionCUDA, available_threads, coerce_execution
from .place import HOST, Cuda, Place, cuda, has_device, reap
from .route import Launch, Mirror, Result, Route, Runner, context, keep_if_captured
from .stream import handle_of, resolve


class Operation:
    """Base of all stateful operations: operands, mirrors, workspace, state, streams."""

    _names: tuple[str, ...]
    """Operands, in the order of the launch."""
    _invalid: ClassVar[type[InvalidStateError]]
    _gpu_library: ClassVar[str | None] = None
    """Operands in host memory run on a GPU if there is one and this library is found; None: they run on the CPU."""
    _reads: ClassVar[dict[str, int]] = {}
    """Flags that operands, by name, may have without being copied, since the library honours them."""

    _alignment_mask: int = 15
    """The low bits of an address that a plan may depend on."""

    options: Any
    execution_options: ExecutionCPU | ExecutionCUDA
    logger: logging.Logger
    _objs: tuple[Any, ...]
    _ptrs: tuple[int, ...]
    _shapes: tuple[tuple[int, ...], ...]
    valid_state = False
    _pinned = False
    _nbytes = 0
    _stack: list[Any] | None = None
    _stamp = 0

    # --- construction -----------------------------------------------------------------------------------------------------------

    def _begin(self, operands: dict[str, Any], options: Any, execution: Any) -> None:
        """Look at the operands and decide where they are and where the work runs."""
        self._names = tuple(operands)
        self._adapter = common_adapter(operands)
        self._views = tuple(viewed(self._adapter, name, obj) for name, obj in operands.items())
        devices = {view.device for view in self._views}
        if len(devices) > 1:
            given = ", ".join(f"{name}: {view.device}" for name, view in zip(self._names, self._views, strict=True))
            raise ValueError(f"The operands are not on the same device: {given}. Move them to one device first.")
        self._device = self._views[0].device
        self.options = copy(options)  # what the caller does to theirs afterwards changes nothing
        self.logger = options.logger if options.logger is not None else log.ROOT
        where = coerce_execution(execution, self._default_execution())
        if execution is None and isinstance(where, ExecutionCUDA):
            where = ExecutionCUDA(device_id=getattr(options, "device_id", 0))
        self.execution_options = resolved(where, self._device)
        self._place: Place = (
            HOST if isinstance(self.execution_options, ExecutionCPU) else cuda(self.execution_options.device_id)
        )  # fmt: skip
        self._gpu: Cuda | None = (
            self._place if isinstance(self._place, Cuda) else cuda(self._device) if isinstance(self._device, int) else None
        )  # fmt: skip
        self.blocking = options.blocking is True or self._device == "cpu" or self._place is HOST
        self._warn_of_gradients()
        self._views = tuple(self._aligned(view) for view in self._views)
        self._look, self._pointer, self._unmoved = self._adapter.look, self._adapter.pointer, self._adapter.unmoved
        self._route = self._route_of(self._names, self._views)
        self._problem: Any = self._specify(self._views)
        self._plan_object: Any = None
        self._workspace: Workspace | None = None
        self._transient = False
        self._runners: dict[Any, Runner] = {}
        self._ready: dict[Any, Runner] = {}  # the runners that can be used as things are; empty when something is missing
        self._mirrors: tuple[Mirror, ...] = ()
        self._for_graphs: list[Any] = []  # results on the way to an array of the user, in graphs that were captured
        self._inplace = self._result().overwrites is not None
        if self._inplace:
            self._check_writable(self._views)

    def _default_execution(self) -> str:
        """Return where to run when the caller does not say."""
        if self._device != "cpu":
            return "cuda"
        return "cuda" if self._gpu_library and has_device() and find_library(self._gpu_library) else "cpu"

    def _route_of(self, names: tuple[str, ...], views: tuple[View, ...]) -> Route:
        return Route(views, self._place, tuple(self._reads.get(name, 0) for name in names))

    def _hold(self, stream: Any, only: Collection[int] | None = None) -> None:
        """Take the operands in, or those at some positions only; fill their mirrors when they must travel."""
        new = range(len(self._views)) if only is None else only
        if self._route.across:
            assert self._gpu is not None
            mirrors: list[Any] = [*self._mirrors, *(None,) * (len(self._views) - len(self._mirrors))]
            for index in new:
                mirrors[index] = self._route.stage(index, self._views[index], stream, self._gpu, mirrors[index])
            self._mirrors = tuple(mirrors)
            self._ptrs = tuple(mirror.ptr for mirror in mirrors)
        else:
            self._ptrs = tuple(view.ptr if i in new else self._ptrs[i] for i, view in enumerate(self._views))
        self._objs = tuple(view.obj if i in new else self._objs[i] for i, view in enumerate(self._views))
        self._shapes = tuple(getattr(obj, "shape", ()) for obj in self._objs)
        looks = tuple(self._look(obj) for obj in self._objs)
        self._known = tuple(
            (type(obj), look[1], look[0] & self._alignment_mask) for obj, look in zip(self._objs, looks, strict=True)
        )  # fmt: skip
        for view in self._views:
            view.obj = None  # the one reference to an operand is in _objs, so that replacing it there lets go of it
        self._swappable = self.valid_state and not self._inplace and not self._route.across
        self._ready = self._runners

    def _attach(self, first: int, operands: dict[str, Any], stream: Any) -> None:
        """Replace the operands from position `first` on by others, which planning brings; specify the problem anew."""
        views = []
        for name, obj in operands.items():
            adapter = adapter_of(obj)
            if adapter is not self._adapter:
                raise TypeError(
                    f"Library package mismatch: {name} is a {adapter.name} array, but the other operands are {self._adapter.name} "
                    "arrays. Convert it first."
                )
            view = self._aligned(viewed(adapter, name, obj))
            if view.device != self._device:
                raise ValueError(
                    f"The operands are not on the same device: {name} is on {view.device}, the others on {self._device}. "
                    "Move it first."
                )
            views.append(view)
        old = self._names, self._views, self._route
        self._names = (*self._names[:first], *operands)
        self._views = (*self._views[:first], *views)
        self._route = self._route_of(self._names, self._views)
        try:
            self._problem = self._specify(self._views)
        except BaseException:
            self._names, self._views, self._route = old
            raise
        self._mirrors = self._mirrors[: len(self._views)]
        self._hold(stream, range(first, len(self._views)))

    def _check_writable(self, views: tuple[View, ...]) -> None:
        overwrites = self._result().overwrites
        assert overwrites is not None
        view = views[overwrites]
        name = self._names[overwrites]
        if view.flags & READONLY:
            raise ValueError(f"{name} is read-only, so it cannot be overwritten. Pass a writable copy, or inplace=False.")
        if view.flags & TRACKED:
            raise ValueError(f"{name} requires a gradient, so it cannot be overwritten. Pass operand.detach(), or inplace=False.")
        if view.flags & NEEDS_COPY:
            raise ValueError(
                f"{name} cannot be overwritten: its byte order, alignment or lazy conjugation needs a copy. Pass a plain copy, or "
                "inplace=False."
            )

    def _warn_of_gradients(self) -> None:
        if any(view.flags & TRACKED for view in self._views):
            warn(
                "An operand requires a gradient; nvmath does not record it, so the result is cut from the graph. "
                "Pass operand.detach() to say that this is meant.",
                UngradedWarning,
            )

    def _aligned(self, view: View) -> View:
        """Mark an operand whose address the library at this place cannot read, so that it is copied."""
        if view.ptr % self._alignment(view):
            view.flags |= UNTIDY
        return view

    # --- what a subclass answers --------------------------------------------------------------------------------------------------

    def _specify(self, views: tuple[View, ...]) -> Any:
        """Return the problem of a set of operands, or raise what is wrong with them."""
        raise AssertionError

    def _alignment(self, view: View) -> int:
        """Return the multiple of bytes at which the library needs an operand."""
        return 1

    def _make_plan(self) -> Any:
        """Return a plan of the problem: an object with `nbytes`, `workspace_nbytes` and `close`."""
        raise AssertionError

    def _result(self) -> Result:
        """Return what the problem gives."""
        raise AssertionError

    def _launch(self, request: Any) -> Launch:
        """Return the function that launches one request (a direction, say)."""
        raise AssertionError

    def _same(self, old: Any, new: Any) -> str:
        """Return why a new problem is not acceptable to this object, or an empty text."""
        raise AssertionError

    # --- phases -------------------------------------------------------------------------------------------------------------------

    @property
    def _planned(self) -> bool:
        return self._plan_object is not None

    def _check_valid(self) -> None:
        if not self.valid_state:
            raise self._invalid(f"This {type(self).__name__} object has been freed and cannot be used any more. Make a new one.")

    def _allocator(self) -> Allocate:
        device = self.execution_options.device_id  # type: ignore[union-attr]
        allocator = getattr(self.options, "allocator", None)
        if allocator is not None:
            return from_user(allocator, device)
        adapter = self._adapter
        return lambda nbytes, stream: adapter.allocate(nbytes, device, stream)

    def _do_plan(self, stream: Any = None) -> None:
        """Make the plan; on failure nothing stays behind."""
        if self._gpu is not None and self._gpu.capturing(resolve(stream, self._adapter, self._gpu.device_id)):
            raise RuntimeError(
                "A CUDA graph is being captured on the stream, and planning would end the capture. Plan before it: call plan(), or make "
                "the same one-call before the capture, so that its plan is kept."
            )
        reap()
        with log.timed(self.logger, "The planning"):
            plan = self._make_plan()
            if isinstance(self._place, Cuda) and plan.workspace_nbytes:
                self._workspace = Workspace(
                    plan.workspace_nbytes, self._place, self._allocator(), plan.attach, self.logger
                )  # fmt: skip
                self._workspace.transient = self._transient
        self._plan_object = plan
        if self.logger.isEnabledFor(log.INFO):
            self.logger.info("Planned: %s.", getattr(plan, "description", type(plan).__name__))
        self._generation = children.generation
        children.inherited.add(self)
        self._nbytes = plan.nbytes

    def _answered(self) -> int:
        """Return how many calls of a one-call function were answered by this plan, past the cache, since this was asked last."""
        return 0

    def _after_fork(self) -> None:
        """In a forked child: the runners use threads and handles of the parent."""
        self._runners.clear()

    def _plan_again(self) -> None:
        """In a forked child: make the plan that the parent had; nothing of the parent's is destroyed."""
        if self._gpu is not None:
            cuda(self._gpu.device_id)  # says why it cannot be used
        self._workspace = None
        self._do_plan()

    def _drop_plan(self) -> None:
        plan, self._plan_object = self._plan_object, None
        self._runners.clear()
        self._for_graphs.clear()
        if self._workspace is not None:
            self._workspace.close()
            self._workspace = None
        if plan is not None:
            plan.close()

    def _runner(self, request: Any) -> Runner:
        """Return the runner of a request; the first time it is made, or the reason why it cannot be is raised."""
        self._check_valid()
        if not self._planned:
            raise RuntimeError(f"plan() must be called before {type(self).__name__} can be executed.")
        if not self._objs:
            raise RuntimeError(
                f"The operands of this {type(self).__name__} object have been released. Give it new ones with "
                f"{self._reset_name}() first."
            )
        if self._generation != children.generation:
            self._plan_again()
        runner = self._runners.get(request)
        if runner is None:
            launch = self._launch(request)
            runner = self._route.runner(launch, self._result(), self._gpu, self._workspace_of(request), self.blocking)
            self._runners[request] = runner
        return runner

    def _workspace_of(self, request: Any) -> Workspace | None:
        """Return the workspace that a request uses."""
        return self._workspace

    @property
    def _reset_name(self) -> str:
        return "reset_operand" if hasattr(self, "reset_operand") else "reset_operands"

    def _run(self, runner: Runner, stream: Any, release_workspace: bool, out: Any) -> Any:
        """Run a request the long way round: log it, place the result, release the workspace."""
        logger = self.logger
        if logger.isEnabledFor(log.INFO):
            logger.info("Executing: %s. %s", self._problem, log.BLOCKING[self.blocking])
        with log.timed(logger, "The execution"):
            try:
                result = runner(self._objs, self._ptrs, stream, None) if out is None else self._into(runner, out, stream)
            finally:
                if release_workspace and self._workspace is not None:
                    self._workspace.release()
        return result

    def _into(self, runner: Runner, out: Any, stream: Any) -> Any:
        """Write the result into an array of the user, directly where its layout allows."""
        result = self._result()
        if self._inplace:
            raise ValueError("out= and inplace=True exclude each other: pass one of them.")
        view = viewed(adapter_of(out), "out", out)
        expected = (self._adapter.name, self._device, result.shape, result.dtype)
        given = (view.adapter.name, view.device, view.shape, view.dtype)
        if expected != given:
            raise ValueError(
                "out must be an array of (package, device, shape, dtype) = "
                f"{expected}, but it is {given}. Allocate it so, or leave out= away."
            )
        if may_overlap(view.shape, view.strides):
            raise ValueError(f"out of shape {view.shape} has strides {view.strides}: some of its elements may share memory.")
        if view.flags & TRACKED:
            raise ValueError("out requires a gradient, so it cannot be overwritten. Pass out.detach().")
        if view.flags:
            raise ValueError("out must be a writable array of native byte order and aligned memory, without lazy conjugation.")
        overlapping = not self._route.across and any(
            overlap(view, operand, ptr) for operand, ptr in zip(self._views, self._ptrs, strict=True)
        )  # fmt: skip
        fits = view.strides == result.strides and self._writes_to(view) and not overlapping
        if fits:
            result_in_place = runner(self._objs, self._ptrs, stream, out)
            self._adapter.touched(out)
            return result_in_place
        value = runner(self._objs, self._ptrs, stream, None)
        keep_if_captured(self._for_graphs, self._adapter, self._device, stream, value)
        with context(self._adapter, self._device, stream):
            return self._adapter.assign(out, value)

    def _writes_to(self, view: View) -> bool:
        """Whether the plan can write to an array of the layout of the result, at its address."""
        return True

    # --- operands -----------------------------------------------------------------------------------------------------------------

    def _now(self) -> tuple[int, ...]:
        """Return the addresses of the operands; call it before a runner is chosen.

        An array can get other memory after it was given (torch: ``x.data = y``, ``x.resize_()``; NumPy: ``x.resize()``), and one of
        NumPy another shape where it is.
        """
        ptrs = self._ptrs
        objs, unmoved = self._objs, self._unmoved
        if self._route.across:
            return ptrs
        if tuple(map(self._pointer, objs)) != ptrs if unmoved is None else not unmoved(objs, ptrs, self._shapes):
            self._reset_checked(self._objs, None)
            ptrs = self._ptrs
        return ptrs

    def _swap_one(self, obj: Any) -> bool:
        """Replace the only operand by one of exactly the same metadata; the fast half of a checked reset."""
        kind, known, alignment = self._known[0]
        if type(obj) is not kind or not self._swappable:
            return False
        ptr, look = self._look(obj)
        if look != known or ptr & self._alignment_mask != alignment:
            return False
        self._objs, self._ptrs = (obj,), (ptr,)
        self._ready = self._runners
        return True

    def _swap(self, objs: tuple[Any, ...]) -> bool:
        """Replace operands, None for those that stay, by others of exactly the same metadata; the fast half of a checked reset."""
        if not self._swappable:
            return False
        look_at, mask, held, missing = self._look, self._alignment_mask, self._objs, 0
        ptrs: tuple[int, ...] = ()
        for obj, (kind, known, alignment) in zip(objs, self._known):  # noqa: B905 - as many of both; strict= costs as much as the loop
            if obj is None:
                if not held:
                    return False
                missing += 1
                obj = held[len(ptrs)]  # the one that stays
            if type(obj) is not kind:
                return False
            ptr, look = look_at(obj)
            if look != known or ptr & mask != alignment:
                return False
            ptrs += (ptr,)
        if missing == len(objs):
            return False
        if missing:
            objs = tuple([old if obj is None else obj for obj, old in zip(objs, held, strict=True)])
        self._objs, self._ptrs = objs, ptrs
        self._ready = self._runners
        return True

    def _check_complete(self, objs: tuple[Any, ...]) -> tuple[int, ...]:
        """Return the positions of the operands that are given, or raise what is missing."""
        given = tuple(index for index, obj in enumerate(objs) if obj is not None)
        if len(objs) == 1 and not given and self._reset_name == "reset_operand":
            raise ValueError(
                f"{self._names[0]} is None. To give up the operand use release_operand(); to replace it pass an array."
            )
        if not given and self._objs:
            raise ValueError(f"Pass at least one operand to {self._reset_name}(); to give up all of them use release_operands().")
        if not self._objs and len(given) < len(objs):
            missing = ", ".join(name for name, obj in zip(self._names, objs, strict=True) if obj is None)
            raise ValueError(
                f"The operands have been released, so all required operands must be provided; {missing} is missing. Pass it to "
                f"{self._reset_name}() together with the others."
            )
        return given

    def _reset_checked(self, objs: tuple[Any, ...], stream: Any) -> None:
        """Accept new operands, None for those that stay, if this object's plan can serve them, or one that is made for them."""
        self._check_valid()
        given = self._check_complete(objs)
        if self._gpu is not None:
            resolve(stream, self._adapter, self._gpu.device_id)  # refused before anything is changed
        views = []
        for index, (name, obj, old) in enumerate(zip(self._names, objs, self._views, strict=True)):
            if obj is None:
                if not self._route.across:
                    old.ptr = self._ptrs[index]  # an earlier swap did not look at the view
                views.append(old)
                continue
            adapter = adapter_of(obj)
            if adapter is not self._adapter:
                raise TypeError(f"{name} was a {self._adapter.name} array, so it cannot be replaced by one of {adapter.name}.")
            view = self._aligned(viewed(adapter, name, obj))
            if view.device != self._device:
                raise ValueError(f"{name} was on device {self._device}, so it cannot be replaced by an operand on {view.device}.")
            if view.dtype is not old.dtype:
                raise ValueError(f"{name} had dtype {old.dtype}, so it cannot be replaced by an operand of dtype {view.dtype}.")
            views.append(view)
        new_views = tuple(views)
        new_route = self._route_of(self._names, new_views)
        old_views, old_problem, old_route = self._views, self._problem, self._route
        self._route = new_route
        try:
            problem = self._specify(new_views)
            reason = self._same(old_problem, problem)
            if reason:
                raise ValueError(f"The new operand does not fit this {type(self).__name__} object. {reason}")
            if self._inplace:
                self._check_writable(new_views)
        except BaseException:
            self._route = old_route
            raise
        replan = self._planned and (problem != old_problem or new_route.untidy != old_route.untidy)
        self._views, self._problem = new_views, problem
        if replan:
            self._replan(old_views, old_problem, old_route, stream)
        try:
            self._hold(stream, given)
        except BaseException:
            if self._route.across:  # a mirror may be half overwritten: nothing can be computed until another reset
                self._forget()
            raise

    def _replan(self, views: tuple[View, ...], problem: Any, route: Route, stream: Any = None) -> None:
        """Exchange the plan for one of the new problem; keep the old state if that fails."""
        old_plan, old_runners, old_workspace = self._plan_object, self._runners, self._workspace
        self._plan_object, self._runners, self._workspace = None, {}, None
        try:
            self._do_plan(stream)
        except BaseException:
            self._views, self._problem, self._route = views, problem, route
            self._plan_object, self._runners, self._workspace = old_plan, old_runners, old_workspace
            raise
        if old_workspace is not None:
            old_workspace.close()
        old_plan.close()

    def _reset_unchecked(self, objs: tuple[Any, ...], stream: Any) -> None:
        self._check_valid()
        given = [index for index, obj in enumerate(objs) if obj is not None]
        if not self._objs:  # what is missing would be an address of 0
            self._check_complete(objs)
        if self._route.across:
            views = [old if obj is None else self._adapter.view(obj) for obj, old in zip(objs, self._views, strict=True)]
            self._views = tuple(views)
            self._hold(stream, given)
            return
        held, ptrs = list(self._objs or objs), list(self._ptrs or [0] * len(objs))
        for index in given:
            held[index], ptrs[index] = objs[index], self._look(objs[index])[0]
        self._objs, self._ptrs = tuple(held), tuple(ptrs)
        self._ready = self._runners

    def _release(self) -> None:
        self._check_valid()
        if not self._objs:
            self.logger.info("The operands have already been released.")
        self._forget()

    def _forget(self) -> None:
        """Drop every reference to operands and mirrors; the plan stays."""
        self._objs = self._ptrs = ()
        self._mirrors = ()
        self._ready = {}

    def _pin_if_captured(self, stream: Any) -> None:
        """A graph that is being captured will use the plan and its workspace for as long as it lives."""
        assert self._gpu is not None
        handle = self._adapter.current_stream(self._gpu.device_id) if stream is None else handle_of(stream)
        if handle and self._gpu.capturing(handle):
            self._pinned = True

    # --- the end --------------------------------------------------------------------------------------------------------------------

    def free(self) -> None:
        """Give up the plan, the workspace and the operands; calling it again does nothing."""
        if not self.valid_state:
            return
        self.valid_state = self._swappable = False
        self._forget()
        self._drop_plan()
        reap()
        self.logger.info("The %s object has been freed.", type(self).__name__)

    def __repr__(self) -> str:
        if not self.valid_state:
            return f"<{type(self).__name__}, freed>"
        state = "planned" if self._planned else "not planned"
        return f"<{type(self).__name__}: {self._problem}; on {self._place}, {state}>"

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Refuse: a copy would own the same library handles, and another process has none of them."""
        raise TypeError(f"A {type(self).__name__} object cannot be copied or pickled: it owns handles of a library. Make a new one.")

    def __enter__(self) -> Self:
        self._check_valid()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.free()


def resolved(execution: ExecutionCPU | ExecutionCUDA, device: int | str) -> ExecutionCPU | ExecutionCUDA:
    """Fill in what was left to us: the number of threads, the GPU of the operands."""
    if isinstance(execution, ExecutionCPU):
        return execution if execution.num_threads else ExecutionCPU(num_threads=available_threads())
    return execution if device == "cpu" else ExecutionCUDA(device_id=int(device))


def viewed(adapter: Adapter, name: str, obj: Any) -> View:
    """Look at an operand; what is wrong with it is said with its name."""
    try:
        return adapter.view(obj)
    except (TypeError, ValueError) as error:
        if type(error) in (TypeError, ValueError):
            error.args = (f"Operand {name}: {error}",)
        raise


def overlap(a: View, b: View, b_ptr: int) -> bool:
    """Whether the memory that `a` spans and that of an array like `b` at `b_ptr` have anything in common."""
    (a0, a1), (b0, b1) = ends(a, a.ptr), ends(b, b_ptr)
    return a0 < b1 and b0 < a1


def ends(view: View, ptr: int) -> tuple[int, int]:
    """Return the addresses between which the elements of an array like `view` at `ptr` lie."""
    low, high = span(view.shape, view.strides)
    return ptr + low * view.dtype.itemsize, ptr + (high + 1) * view.dtype.itemsize


def stream_handle(operation: Operation, stream: Any) -> int:
    """Return the handle of the stream of a call on an operation's GPU, or 0 on the host."""
    return 0 if operation._gpu is None else resolve(stream, operation._adapter, operation._gpu.device_id)
