"""Events as `kubectl get events` shows them: one object for each repeated message.

Actors record events through a `Recorder` with the name of their component. If the same message
about the same object is repeated, its count grows, as with the real event correlator.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from headroom.sim.api.store import Store
from headroom.sim.api.values import Json, Ref, dig, uid_of

NORMAL = "Normal"
WARNING = "Warning"


@dataclass(frozen=True, slots=True)
class Recorder:
    """Records events under the name of one component."""

    store: Store
    component: str

    def record(self, about: Json, kind: str, reason: str, message: str) -> None:
        """Record an event about an object: `kind` is Normal or Warning."""
        meta = about["metadata"]
        namespace = str(meta.get("namespace") or "default")
        text = "\n".join((uid_of(about), kind, reason, message, self.component))
        digest = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
        name = f"{meta['name']}.{digest}"
        old = self.store.get(Ref("Event", namespace, name))
        now = self.store.timestamp()
        if old is not None:
            count = int(dig(old, "count") or 1) + 1
            self.store.replace(old, {**old, "count": count, "lastTimestamp": now})
            return
        self.store.insert(
            {
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": {"name": name, "namespace": namespace},
                "involvedObject": {
                    "apiVersion": about["apiVersion"],
                    "kind": about["kind"],
                    "name": meta["name"],
                    "namespace": meta.get("namespace", ""),
                    "uid": uid_of(about),
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
