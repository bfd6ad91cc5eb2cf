"""Headrooms that are wrong in one way each, and Headrooms that are right: one table, many judges.

`test_headroom_schema` gives them to our own checks, `test_headrooms` to the decoder and
`tests/e2e/test_headroom_crd` to a real API server; all must blame the same field.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
GONE = object()
SELECTOR = {"labelSelector": {"matchLabels": {"app": "web"}}}
TEMPLATE: Json = {"resources": {"requests": {"cpu": "500m", "memory": "512Mi"}}}
FROM: Json = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
PROMISE = {"startWithin": "2s", "ratio": 0.99}
GATE: Json = {"gate": "example.com/gate"}
WINDOW: Json = {"start": "0 8 * * 1-5", "duration": "10h"}

GOOD: Json = {
    "apiVersion": "headroom.dev/v1alpha1",
    "kind": "Headroom",
    "metadata": {"name": "burst", "namespace": "default"},
    "spec": {
        "slot": {"template": TEMPLATE},
        "size": {"replicas": 5},
        "owners": [SELECTOR],
    },
}


@dataclass(frozen=True)
class Case:
    """A good Headroom with these fields of its spec, what is to be blamed, and words of it."""

    name: str
    spec: Json
    blames: str = ""
    says: str = ""

    def headroom(self) -> Json:
        """Return the whole object."""
        made = copy.deepcopy(GOOD)
        made["metadata"]["name"] = self.name
        made["spec"] |= copy.deepcopy({k: v for k, v in self.spec.items() if v is not GONE})
        for name in [name for name, value in self.spec.items() if value is GONE]:
            del made["spec"][name]
        return made


def _slot(name: str, slot: Any, blames: str = "", says: str = "", **spec: Any) -> Case:
    return Case(name, {"slot": slot, **spec}, f"spec.slot{blames}", says)


def _template(name: str, blames: str, says: str = "", **fields: Any) -> Case:
    return _slot(name, {"template": {**TEMPLATE, **fields}}, f".template{blames}", says)


def _size(name: str, size: Any, blames: str = "", says: str = "", **spec: Any) -> Case:
    return Case(name, {"size": size, **spec}, f"spec.size{blames}", says)


def _limits(name: str, limits: Any, blames: str = "", says: str = "", **spec: Any) -> Case:
    return Case(name, {"limits": limits, **spec}, f"spec.limits{blames}", says)


def _window(name: str, blames: str, says: str = "", **fields: Any) -> Case:
    window = {key: value for key, value in {**WINDOW, **fields}.items() if value is not GONE}
    return Case(name, {"schedule": [window]}, f"spec.schedule[0]{blames}", says)


BAD = (
    Case("no-slot", {"slot": GONE}, "spec.slot"),
    Case("no-size", {"size": GONE}, "spec.size"),
    _slot("slot-word", "big"),
    _slot("slot-empty", {}, says="exactly one of template, from, auto"),
    _slot("slot-both", {"template": TEMPLATE, "from": FROM}, says="exactly one of template, from"),
    _slot("slot-auto-too", {"auto": {}, "from": FROM}, says="exactly one of template, from"),
    _slot("auto-word", {"auto": "all"}, ".auto"),
    _slot("auto-top-none", {"auto": {"top": 0}}, ".auto.top"),
    _slot("auto-top-many", {"auto": {"top": 21}}, ".auto.top"),
    _slot("auto-kind", {"auto": {"scope": {"kinds": ["DaemonSet"]}}}, ".auto.scope.kinds[0]"),
    _slot("auto-no-kind", {"auto": {"scope": {"kinds": []}}}, ".auto.scope.kinds"),
    _slot("auto-scope-word", {"auto": {"scope": "all"}}, ".auto.scope"),
    _slot(
        "auto-per-node",
        {"auto": {}},
        says="auto goes with size.replicas",
        size={"perNode": {"slots": 1}},
    ),
    _slot(
        "auto-utilization",
        {"auto": {}},
        says="auto goes with size.replicas",
        size={"utilization": {"threshold": 0.8}},
    ),
    _slot("auto-follow", {"auto": {}}, says="auto goes with size.replicas", size={"follow": GATE}),
    _slot("auto-chunk", {"auto": {}, "chunk": "Node"}, says="auto has several"),
    Case("auto-never", {"slot": {"auto": {}}, "refill": "Never"}, "spec.refill", "auto refills"),
    _slot("nothing-asked", {"template": {}}, says="nothing would be held"),
    _slot("nothing-requested", {"template": {"resources": {"requests": {}}}}, says="nothing would"),
    _template("request-negative", ".resources.requests.cpu", resources={"requests": {"cpu": "-1"}}),
    _template("request-word", ".resources.requests.cpu", resources={"requests": {"cpu": "lots"}}),
    _template("selector-number", ".nodeSelector.a", nodeSelector={"a": 1}),
    _template("toleration-effect", ".tolerations[0].effect", tolerations=[{"effect": "Never"}]),
    _template("template-unknown", ".nodeName", nodeName="node-1"),
    _slot("from-unknown-kind", {"from": {**FROM, "kind": "CronJob"}}, ".from.kind"),
    _slot("from-no-name", {"from": {"apiVersion": "apps/v1", "kind": "Deployment"}}, ".from.name"),
    _slot("from-bad-name", {"from": {**FROM, "name": "Web_1"}}, ".from.name"),
    _slot(
        "from-wrong-group",
        {"from": {**FROM, "apiVersion": "batch/v1"}},
        ".from.apiVersion",
        "a Job is of batch/v1",
    ),
    _slot("chunk-word", {"template": TEMPLATE, "chunk": "Rack"}, ".chunk"),
    _slot(
        "chunk-per-node",
        {"template": TEMPLATE, "chunk": "Node"},
        says="goes with size.replicas and size.percent only",
        size={"perNode": {"slots": 1}},
    ),
    _size("size-empty", {}, says="exactly one of replicas, percent, perNode"),
    _size(
        "replicas-with-per-node",
        {"replicas": 1, "perNode": {"slots": 1}},
        says="exactly one of replicas, percent, perNode",
    ),
    _size(
        "replicas-with-percent",
        {"replicas": 1, "percent": 5},
        says="exactly one",
        slot={"from": FROM},
    ),
    _size("replicas-negative", {"replicas": -1}, ".replicas"),
    _size("replicas-word", {"replicas": "5"}, ".replicas"),
    _size("replicas-far-too-many", {"replicas": 2_000_000}, ".replicas"),
    _size("percent-negative", {"percent": -5}, ".percent", slot={"from": FROM}),
    _size("percent-without-from", {"percent": 20}, says="name it in slot.from"),
    _size("per-node-empty", {"perNode": {}}, ".perNode", "exactly one of slots and percent"),
    _size(
        "per-node-both",
        {"perNode": {"slots": 1, "percent": 10}},
        ".perNode",
        "exactly one of slots and percent",
    ),
    _size("follow-nothing", {"follow": {"slots": 1}}, ".follow.gate"),
    _size("follow-none", {"follow": {**GATE, "slots": 0}}, ".follow.slots"),
    _size("follow-twice", {"follow": {**GATE, "slots": 2, "fromAnnotation": "a/b"}}, ".follow"),
    _size("follow-in-no-time", {"follow": {**GATE, "deadline": "0s"}}, ".follow.deadline"),
    _size("follow-any-driver", {"follow": {**GATE, "perVolume": {}}}, ".follow.perVolume.driver"),
    _size("per-node-none", {"perNode": {"slots": 0}}, ".perNode.slots"),
    _size("per-node-too-much", {"perNode": {"percent": 101}}, ".perNode.percent"),
    _size("size-unknown", {"replica": 3}, ".replica"),
    _size("utilization-none", {"utilization": {"threshold": 0}}, ".utilization.threshold"),
    _size("utilization-over", {"utilization": {"threshold": 1.5}}, ".utilization.threshold"),
    _size("utilization-below", {"utilization": {"threshold": -0.8}}, ".utilization.threshold"),
    _size("utilization-word", {"utilization": {"threshold": "NaN"}}, ".utilization.threshold"),
    _size("utilization-empty", {"utilization": {}}, ".utilization.threshold"),
    *(
        _size(f"adaptive-{name}", {"adaptive": {**PROMISE, **changed}}, f".adaptive.{field}")
        for name, field, changed in (
            ("ratio-of-none", "ratio", {"ratio": 0}),
            ("ratio-of-all", "ratio", {"ratio": 1}),
            ("ratio-over", "ratio", {"ratio": 1.5}),
            ("ratio-below", "ratio", {"ratio": -0.5}),
            ("ratio-word", "ratio", {"ratio": "NaN"}),
            ("within-no-time", "startWithin", {"startWithin": "0s"}),
            ("within-negative", "startWithin", {"startWithin": "-2s"}),
            ("within-number", "startWithin", {"startWithin": 2}),
            ("max-below-min", "max", {"min": 3, "max": 2}),
            ("min-below-none", "min", {"min": -1}),
            ("short-memory", "memory", {"memory": "5m"}),
            ("long-memory", "memory", {"memory": "9999h"}),
        )
    ),
    _size("adaptive-empty", {"adaptive": {"ratio": 0.9}}, ".adaptive.startWithin"),
    _size("adaptive-no-ratio", {"adaptive": {"startWithin": "2s"}}, ".adaptive.ratio"),
    _size(
        "adaptive-for-anybody",
        {"adaptive": PROMISE},
        says="learns from owners",
        mode="Preemptible",
        owners=GONE,
    ),
    _limits("no-slots", {"slots": 0}, ".slots"),
    _limits("pods-below-none", {"pods": -1}, ".pods"),
    _limits("nodes-below-none", {"nodes": -1}, ".nodes"),
    _limits("no-pods", {"pods": 0}, ".pods"),
    _limits("no-nodes", {"nodes": 0}, ".nodes"),
    _limits("less-than-a-slot", {"resources": {"cpu": "499m"}}, says="is smaller than one slot"),
    _limits("less-memory", {"resources": {"cpu": 2, "memory": "511Mi"}}, says="smaller than one"),
    _limits("limit-word", {"resources": {"cpu": "much"}}, ".resources.cpu"),
    Case("mode", {"mode": "Open"}, "spec.mode"),
    Case("refill", {"refill": "Sometimes"}, "spec.refill"),
    Case("no-owners", {"owners": GONE}, "spec.owners", "no pod could claim a slot"),
    Case("empty-owners", {"owners": []}, "spec.owners"),
    Case("owner-empty", {"owners": [{}]}, "spec.owners[0]"),
    Case("owners-of-nobodys", {"mode": "Preemptible"}, "spec.owners", "Preemptible"),
    Case("lifetime-number", {"slotLifetime": 60}, "spec.slotLifetime"),
    Case("lifetime-days", {"slotLifetime": "1d"}, "spec.slotLifetime", "must be a duration"),
    Case("paused-word", {"paused": "yes"}, "spec.paused"),
    Case("schedule-word", {"schedule": "always"}, "spec.schedule"),
    _window("no-start", ".start", start=GONE),
    _window("start-word", ".start", start="every morning"),
    _window("start-four-fields", ".start", start="0 8 * *"),
    _window("start-with-seconds", ".start", start="0 0 8 * * *"),
    _window("start-with-zone", ".start", start="TZ=UTC 0 8 * *"),
    _window("start-reboot", ".start", start="@reboot"),
    _window("no-duration", ".duration", duration=GONE),
    _window("duration-zero", ".duration", "must be longer than 0", duration="0s"),
    _window("duration-word", ".duration", "must be a duration", duration="all day"),
    _window("zone-empty", ".timeZone", timeZone=""),
    _window("zone-odd", ".timeZone", timeZone="Europe/Zürich"),
    _window("lead-negative", ".leadTime", "must be a duration", leadTime="-5m"),
    _window("window-negative", ".replicas", replicas=-1),
    Case(
        "window-with-per-node",
        {"size": {"perNode": {"slots": 1}}, "schedule": [{**WINDOW, "replicas": 3}]},
        "spec.schedule",
        "replicas of a window go with size.replicas",
    ),
    Case("unknown-field", {"sizes": {}}, "spec.sizes"),
)

EVERYTHING: Json = {
    "slot": {
        "template": {
            "resources": {"requests": {"cpu": "500m", "memory": "512Mi"}},
            "nodeSelector": {"pool": "web"},
            "tolerations": [{"key": "dedicated", "operator": "Exists", "effect": "NoSchedule"}],
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {"matchExpressions": [{"key": "disk", "operator": "Exists"}]}
                        ]
                    }
                }
            },
            "topologySpreadConstraints": [
                {
                    "maxSkew": 1,
                    "topologyKey": "zone",
                    "whenUnsatisfiable": "ScheduleAnyway",
                    "labelSelector": {"matchLabels": {"headroom.dev/for": "burst"}},
                }
            ],
            "schedulerName": "default-scheduler",
        }
    },
    "size": {"replicas": 5},
    "limits": {"slots": 100, "nodes": 15000, "pods": 5000, "resources": {"cpu": "200"}},
    "mode": "Locked",
    "owners": [SELECTOR, {"priorityAtLeast": 1000000000}],
    "refill": "Always",
    "slotLifetime": "24h",
    "schedule": [
        {**WINDOW, "timeZone": "Europe/Zurich", "leadTime": "5m", "replicas": 20},
        {"start": "@daily", "duration": "1h30m"},
    ],
    "paused": False,
}

RIGHT = (
    Case("plain", {}),
    Case("everything", EVERYTHING),
    Case("auto-alone", {"slot": {"auto": {}}, "owners": GONE}),
    Case(
        "auto-scoped",
        {
            "slot": {
                "auto": {
                    "top": 20,
                    "scope": {
                        "namespaceSelector": {"matchLabels": {"team": "a"}},
                        "labelSelector": {"matchExpressions": [{"key": "x", "operator": "Exists"}]},
                        "kinds": ["Deployment", "Job"],
                    },
                }
            },
            "size": {"adaptive": PROMISE},
        },
    ),
    Case("auto-percent", {"slot": {"auto": {"top": 3}}, "size": {"percent": 20}}),
    Case("auto-preemptible", {"slot": {"auto": {}}, "owners": GONE, "mode": "Preemptible"}),
    Case("chunk-node", {"slot": {"from": FROM, "chunk": "Node"}, "size": {"percent": 20}}),
    Case("none", {"size": {"replicas": 0}}),
    Case("a-share", {"slot": {"from": FROM}, "size": {"percent": 20}}),
    Case("like-a-workload", {"slot": {"from": FROM}}),
    Case("like-a-job", {"slot": {"from": {**FROM, "apiVersion": "batch/v1", "kind": "Job"}}}),
    Case("per-node", {"size": {"perNode": {"slots": 2}}}),
    Case("part-of-a-node", {"slot": {"template": {}}, "size": {"perNode": {"percent": 10}}}),
    Case(
        "part-of-a-node-limited",
        {"size": {"perNode": {"percent": 10}}, "limits": {"resources": {"cpu": "100m"}}},
    ),
    Case("preemptible", {"mode": "Preemptible", "owners": GONE}),
    Case("exactly-one-slot", {"limits": {"slots": 1, "resources": {"cpu": "0.5"}}}),
    Case("limits-something-else", {"limits": {"resources": {"nvidia.com/gpu": 0}}}),
    Case("only-limits", {"slot": {"template": {"resources": {"limits": {"cpu": 1}}}}}),
    Case("whole-number", {"slot": {"template": {"resources": {"requests": {"cpu": 2}}}}}),
    Case("utilization", {"size": {"utilization": {"threshold": 0.8}}}),
    Case("utilization-of-all", {"size": {"utilization": {"threshold": 1}}}),
    Case("follow", {"size": {"follow": {"gate": "example.com/gate"}}}),
    Case("follow-several", {"size": {"follow": {**GATE, "slots": 32, "deadline": "10m"}}}),
    Case("follow-annotation", {"size": {"follow": {**GATE, "fromAnnotation": "a.b/slots"}}}),
    Case(
        "follow-volumes",
        {
            "slot": {"template": {"nodeSelector": {"a": "b"}}},
            "size": {
                "follow": {
                    **GATE,
                    "perVolume": {"driver": "s3.csi.aws.com", "requests": {"cpu": "requestsCpu"}},
                }
            },
        },
    ),
    Case("adaptive", {"size": {"adaptive": PROMISE}}),
    Case(
        "adaptive-everything",
        {
            "size": {
                "adaptive": {
                    **PROMISE,
                    "min": 0,
                    "max": 50,
                    "memory": "168h",
                    "releaseAfter": "10m",
                }
            },
            "schedule": [{**WINDOW, "replicas": 20}],
        },
    ),
    Case("for-ever", {"slotLifetime": "0"}),
    Case(
        "windows-per-node",
        {"size": {"perNode": {"slots": 1}}, "schedule": [{"start": "0 8 ? * MON", **WINDOW}]},
    ),
    Case("window-of-none", {"schedule": [{**WINDOW, "replicas": 0, "leadTime": "0"}]}),
)
