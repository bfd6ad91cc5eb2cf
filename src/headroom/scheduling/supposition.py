"""Ask what would fit if some pods were placed, and others were gone.

A state is too large to be copied for each question. Whoever supposes something changes it for as
long as it asks; all is as before when the question is answered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from headroom.core.objects import Pod
from headroom.scheduling.state import ClusterState


class Supposition:
    """A state as it would be."""

    def __init__(self, state: ClusterState) -> None:
        self.state = state
        self._undo: list[Callable[[], None]] = []

    def place(self, pod: Pod, node: str) -> None:
        """Suppose that a pod has this node."""
        nominated, where = self.state.nomination(pod.key)
        if nominated is not None:
            self._undo.append(partial(self.state.nominate, nominated, where))
        self._undo.append(partial(self.state.remove_pod, pod.key))
        self.state.add_pod(pod, node)

    def remove(self, pod: Pod) -> None:
        """Suppose that a bound pod is gone."""
        self._undo.append(partial(self.state.add_pod, pod))
        self.state.remove_pod(pod.key)

    def forget(self) -> None:
        """Suppose nothing any more."""
        while self._undo:
            self._undo.pop()()


@contextmanager
def supposing(state: ClusterState) -> Iterator[Supposition]:
    """Suppose things, and forget them in the end."""
    supposed = Supposition(state)
    try:
        yield supposed
    finally:
        supposed.forget()
