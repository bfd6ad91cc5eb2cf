"""The journal of a run: one short entry for each change that matters to a reader.

The journal receives every change immediately, without the delay of a watch, so its times are exact.
`meter` calculates the numbers of the summary.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headroom.core.names import CLAIMED_ANNOTATION, ROLE_LABEL
from headroom.core.objects import Pod
from headroom.sim.api.decoder import pod_of
from headroom.sim.api.store import ObjectChange, Store, Verb
from headroom.sim.api.values import Json, condition_status, dig
from headroom.sim.loop import SimClock
from headroom.sim.scenarios.packed_log import PackedLog
from headroom.sim.scenarios.past_events import Sink
from headroom.wire.kinds import HEADROOMS, HOLDS

Entry = dict[str, Any]


class Journal:
    """Records what happens in a world."""

    def __init__(self, store: Store, clock: SimClock) -> None:
        self.entries = PackedLog()
        self._write: Callable[[Entry], None] = self.entries.append
        self._clock = clock
        store.listen("Pod", self._on_pod)
        store.listen("Node", self._on_node)
        for kind in (HOLDS, HEADROOMS, *store.registry.codecs.foreign):
            store.listen(kind.kind, self._on_wish)

    def divert(self, sink: Sink) -> None:
        """Pass all entries to a function, the existing ones first, and keep none."""
        for entry in self.entries:
            sink(entry)
        self.entries.clear()
        self._write = sink

    def note(self, what: str, thing: str = "", **more: Any) -> None:
        """Add one entry; empty fields are left out."""
        entry: Entry = {"at": round(self._clock.elapsed(), 3), "what": what}
        if thing:
            entry["object"] = thing
        for name, value in more.items():
            if value is not None and value != "":
                entry[name] = value
        self._write(entry)

    def _on_pod(self, change: ObjectChange) -> None:
        name, pod = str(change.ref), pod_of(change.obj)
        if change.verb is Verb.DELETED:
            self.note("pod_deleted", name, node=pod.node)
            return
        before = pod_of(change.old) if change.old is not None else None
        if change.verb is Verb.ADDED:
            self.note("pod_created", name, role=pod.labels.get(ROLE_LABEL))
        claim = pod.annotations.get(CLAIMED_ANNOTATION)
        if claim and (before is None or claim != before.annotations.get(CLAIMED_ANNOTATION)):
            self.note("pod_claimed", name, hold=claim)
        if pod.node and not (before is not None and before.node):
            self.note("pod_bound", name, node=pod.node)
        if pod.deleted is not None and (before is None or before.deleted is None):
            self.note("pod_deleting", name, node=pod.node)
        if before is None or pod.phase != before.phase:
            self._phase_changed(name, pod)

    def _phase_changed(self, name: str, pod: Pod) -> None:
        if pod.phase == "Running":
            self.note("pod_running", name, node=pod.node)
        elif pod.phase == "Failed" and pod.reason:
            self.note("pod_rejected", name, node=pod.node, reason=pod.reason)
        elif pod.finished:
            self.note("pod_finished", name, node=pod.node, phase=pod.phase)

    def _on_node(self, change: ObjectChange) -> None:
        name = str(change.ref)
        if change.verb is Verb.ADDED:
            self.note("node_added", name)
        elif change.verb is Verb.DELETED:
            self.note("node_removed", name)
        else:
            ready = condition_status(change.obj, "Ready")
            if ready != condition_status(change.old, "Ready"):
                self.note("node_ready" if ready == "True" else "node_not_ready", name)

    def _on_wish(self, change: ObjectChange) -> None:
        """Record that a hold, a headroom or an object of a dialect exists, and its state."""
        name, word = str(change.ref), change.ref.kind.lower()
        if change.verb is Verb.ADDED:
            self.note(f"{word}_created", name)
        elif change.verb is Verb.DELETED:
            self.note(f"{word}_deleted", name)
        elif _phase(change.obj) != _phase(change.old):
            node = str(dig(change.obj, "status", "nodeName") or "")
            self.note(f"{word}_phase", name, phase=_phase(change.obj), node=node)
        elif _counts(change.obj) != _counts(change.old):
            held, desired = _counts(change.obj)
            self.note(f"{word}_held", name, held=held, desired=desired)
        if change.verb is Verb.MODIFIED:
            self._on_misses(name, word, change)

    def _on_misses(self, name: str, word: str, change: ObjectChange) -> None:
        """Record owners that found no slot, and the result of a promise in the last hour."""
        misses = dig(change.obj, "status", "misses")
        if (misses or 0) != (dig(change.old, "status", "misses") or 0):
            self.note(f"{word}_missed", name, misses=misses)
        hour = dig(change.obj, "status", "promise", "lastHour")
        if hour and hour != dig(change.old, "status", "promise", "lastHour"):
            self.note(f"{word}_promise", name, owners=hour.get("owners"), late=hour.get("misses"))


def _phase(obj: Json | None) -> str:
    return str(dig(obj, "status", "phase") or "")


def _counts(obj: Json | None) -> tuple[int | None, int | None]:
    return dig(obj, "status", "held"), dig(obj, "status", "desired")
