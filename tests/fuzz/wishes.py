"""One sound Headroom of every sort of size and of slot; a part of `samples`."""

from __future__ import annotations

from headroom.core.promise.record import History, written
from headroom.core.promise.stock import stock
from tests.fuzz.basics import CONDITION, NOON, OURS, Json, meta, requests

HEADROOM: Json = {
    "apiVersion": OURS,
    "kind": "Headroom",
    "metadata": meta("spare", generation=1),
    "spec": {
        "slot": {"template": {"resources": requests(), "nodeSelector": {"zone": "a"}}},
        "size": {"replicas": 2},
        "owners": [{"priorityAtLeast": 1000}],
        "schedule": [
            {
                "start": "0 8 * * 1-5",
                "duration": "10h",
                "timeZone": "Europe/Zurich",
                "leadTime": "5m",
            }
        ],
        "limits": {"slots": 5},
        "slotLifetime": "1h",
    },
    "status": {"desired": 2, "held": 1, "claimed": 3, "nextStart": NOON, "conditions": [CONDITION]},
}
PER_NODE: Json = {
    **HEADROOM,
    "metadata": meta("each"),
    "spec": {
        "slot": {"template": {"resources": requests()}},
        "size": {"perNode": {"slots": 1}},
        "owners": [{"labelSelector": {"matchLabels": {"app": "web"}}}],
    },
}
PERCENT: Json = {
    **HEADROOM,
    "metadata": meta("share"),
    "spec": {
        "slot": {"from": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}},
        "size": {"percent": 20},
        "owners": [{"controller": {"kind": "ReplicaSet", "name": "web"}}],
    },
}
FOLLOWING: Json = {
    **HEADROOM,
    "metadata": meta("follows"),
    "spec": {
        "slot": {"template": {"resources": requests("100m")}},
        "size": {
            "follow": {
                "gate": "example.com/follow",
                "fromAnnotation": "example.com/room",
            }
        },
        "owners": [{"labelSelector": {"matchLabels": {"app": "web"}}}],
    },
}

UTILIZATION: Json = {
    **HEADROOM,
    "metadata": meta("by-load"),
    "spec": {
        "slot": {"template": {"resources": requests()}},
        "size": {"utilization": {"threshold": 0.8}},
        "mode": "Preemptible",
        "limits": {"slots": 20, "nodes": 3, "resources": {"cpu": "4"}},
    },
}
NODE_SIZED: Json = {
    **HEADROOM,
    "metadata": meta("whole-nodes"),
    "spec": {
        "slot": {"template": {"resources": requests()}, "chunk": "Node"},
        "size": {"replicas": 1},
        "owners": [{"priorityAtLeast": 1000}],
    },
}


def _record() -> str:
    """What an operator writes after an hour of owners that came one a minute."""
    history = History(stock(0.99))
    for minute in range(60):
        history.stock.observe(60.0 * minute, 1, 0, 60.0)
        history.stock.size(60.0 * minute, 60.0)
        history.achieved.count(60.0 * minute, 1, 0)
        history.leads.note(30.0 + minute)
    return written(history)


ADAPTIVE: Json = {
    **HEADROOM,
    "metadata": meta("learns"),
    "spec": {
        "slot": {"template": {"resources": requests()}},
        "size": {
            "adaptive": {
                "startWithin": "2s",
                "ratio": 0.99,
                "min": 0,
                "max": 10,
                "memory": "336h",
                "releaseAfter": "10m",
            }
        },
        "owners": [{"labelSelector": {"matchLabels": {"app": "web"}}}],
    },
    "status": {
        "desired": 2,
        "conditions": [{**CONDITION, "type": "PromiseKept"}],
        "promise": {
            "ratio": 0.99,
            "startWithin": "2s",
            "lastHour": {"owners": 60, "misses": 1, "ratio": 0.98},
            "lastDay": {"owners": 60, "misses": 1, "ratio": 0.98},
            "lastWeek": {"owners": 60, "misses": 1, "ratio": 0.98},
            "leadTime": "1m",
            "size": 2,
            "decidedBy": "Learnt",
            "why": "two were enough",
            "nextNine": {"ratio": 0.999, "slots": 3, "idle": 1.5},
            "record": _record(),
        },
    },
}
AUTO: Json = {
    **HEADROOM,
    "metadata": meta("keep-ready"),
    "spec": {
        "slot": {
            "auto": {
                "top": 3,
                "scope": {
                    "labelSelector": {"matchLabels": {"app": "web"}},
                    "kinds": ["Deployment", "Job"],
                },
            }
        },
        "size": {"replicas": 4},
    },
    "status": {
        "auto": {
            "candidates": 2,
            "chosen": [
                {
                    "kind": "Deployment",
                    "namespace": "shop",
                    "name": "web",
                    "slots": 2,
                    "growth": 1.5,
                    "why": "it grew by 3 pods in the last day",
                }
            ],
        }
    },
}
HEADROOMS: tuple[Json, ...] = (
    HEADROOM,
    PER_NODE,
    PERCENT,
    FOLLOWING,
    UTILIZATION,
    NODE_SIZED,
    ADAPTIVE,
    AUTO,
)
