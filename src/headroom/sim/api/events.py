"""Events as `kubectl get events` shows them: one object for each repeated message.

Actors record events through a `Recorder` with the name of their component. If the same message
about the same object is repeated, its count grows, as with the real event correlator.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from headroom.sim.api.store import Store
from headroom.sim.api.values import Json, Ref, dig

NORMAL = "Normal"
WARNING = "Warning"
MOST_NAMES = 100_000
"""How many names of repeated events a recorder keeps; then it calculates them again."""


@dataclass(frozen=True, slots=True)
class Recorder:
    """Records events under the name of one component."""

    store: Store
    component: str
    _names: dict[tuple[str, str, str, str], Ref] = field(default_factory=dict)

    def record(self, about: Json, kind: str, reason: str, message: str) -> None:
        """Record an event about an object: `kind` is Normal or Warning."""
        meta = about["metadata"]
        text = (str(meta.get("uid", "")), kind, reason, message)
        known = self._names.get(text)
        ref = known or self._name(meta, text)
        is_new = known is None and self.store.find("Event", ref.namespace, ref.name) is None
        if not is_new and self.store.repeat_event(ref):
            if known is None:
                self._remember(text, ref)
            return
        old, now = None if is_new else self.store.get(ref), self.store.timestamp()
        if old is not None:
            count = int(dig(old, "count") or 1) + 1
            self.store.replace(old, {**old, "count": count, "lastTimestamp": now})
            return
        self.store.insert(
            {
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": {"name": ref.name, "namespace": ref.namespace},
                "involvedObject": {
                    "apiVersion": about["apiVersion"],
                    "kind": about["kind"],
                    "name": meta["name"],
                    "namespace": meta.get("namespace", ""),
                    "uid": text[0],
                },
                "type": kind,
                "reason": reason,
                "message": message,
                "count": 1,
                "firstTimestamp": now,
                "lastTimestamp": now,
                "source": {"component": self.component},
            }
        )

    def _name(self, meta: Json, text: tuple[str, str, str, str]) -> Ref:
        """The name of the event of this text about the object with this metadata."""
        whole = "\n".join((*text, self.component))
        digest = hashlib.blake2b(whole.encode(), digest_size=8).hexdigest()
        namespace = str(meta.get("namespace") or "default")
        return Ref("Event", namespace, f"{meta['name']}.{digest}")

    def _remember(self, text: tuple[str, str, str, str], ref: Ref) -> None:
        """Keep the name of an event that is repeated; most events occur once."""
        if len(self._names) >= MOST_NAMES:
            self._names.clear()
        self._names[text] = ref
