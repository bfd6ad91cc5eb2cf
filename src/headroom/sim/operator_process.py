"""The operator as a process: all its tasks together, so that it can be stopped or killed.

Every task that the operator starts, directly or not, inherits the context variable of its process.
A kill first cuts the connection and then cancels all these tasks, so that no pending write reaches
the cluster.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator, Iterator
from contextvars import Context, ContextVar
from typing import Any, Protocol

from headroom.ports import Clock, Cluster
from headroom.sim.cluster import SimCluster
from headroom.sim.loop import VirtualLoop


class Runnable(Protocol):
    """The interface of an operator that the simulator needs."""

    async def run(self) -> None:
        """Work until stopped."""
        ...

    def stop(self) -> None:
        """Ask for a graceful end."""
        ...

    def contained(self) -> Iterator[str]:
        """The unexpected exceptions so far that were limited to one object."""
        ...


OperatorFactory = Callable[[Cluster, Clock], Runnable]

_MARK: ContextVar[OperatorProcess | None] = ContextVar("crew", default=None)


class OperatorProcess:
    """One run of an operator, from start to stop or kill."""

    def __init__(self, loop: VirtualLoop, cluster: SimCluster, operator: Runnable) -> None:
        self._loop = loop
        self._cluster = cluster
        self._operator = operator
        self._tasks: dict[asyncio.Task[Any], None] = {}
        self._main: asyncio.Task[None] | None = None
        self._stopping = False

    @property
    def alive(self) -> bool:
        """Whether it runs and was not stopped."""
        return self._main is not None and not self._main.done() and not self._stopping

    def contained(self) -> Iterator[str]:
        """The errors that were limited to one object, one line each."""
        return self._operator.contained()

    @property
    def cluster(self) -> SimCluster:
        return self._cluster

    def start(self) -> None:
        """Start the operator's main task in a context that marks all tasks that it starts."""
        context = Context()
        context.run(_MARK.set, self)
        self._main = context.run(self._loop.create_task, self._operator.run())
        self._main.add_done_callback(self._ended)

    def stop(self) -> None:
        """Ask the operator to finish its work and end."""
        self._stopping = True
        self._operator.stop()

    def kill(self) -> None:
        """End it between two writes, like a power failure."""
        self._stopping = True
        self._cluster.cut()
        for task in tuple(self._tasks):
            task.cancel()

    def add(self, task: asyncio.Task[Any]) -> None:
        self._tasks[task] = None
        task.add_done_callback(lambda done: self._tasks.pop(done, None))

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is not None:
            self._loop.call_exception_handler(
                {"message": "the operator crashed", "exception": task.exception()}
            )


def mark_tasks(loop: VirtualLoop) -> None:
    """Assign every new task to the process in whose context it is created."""

    def factory(
        running: asyncio.AbstractEventLoop,
        work: Coroutine[Any, Any, Any] | Generator[Any, None, Any],
        context: Context | None = None,
    ) -> asyncio.Task[Any]:
        task: asyncio.Task[Any] = asyncio.Task(work, loop=running, context=context)
        crew = _MARK.get()
        if crew is not None:
            crew.add(task)
        return task

    loop.set_task_factory(factory)
