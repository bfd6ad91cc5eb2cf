"""Holds that are wrong in one way each, and Holds that are right: one table, two judges.

`test_crds` gives them to our own checks, `tests/e2e/test_crds` to a real API server; both must
refuse the same ones and blame the same field.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

GOOD: dict[str, Any] = {
    "apiVersion": "headroom.dev/v1alpha1",
    "kind": "Hold",
    "metadata": {"name": "nightly", "namespace": "default"},
    "spec": {
        "template": {
            "spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "6"}}}]}
        },
        "owners": [{"labelSelector": {"matchLabels": {"app": "web"}}}],
    },
}
REQUESTS = "spec.template.spec.containers[0].resources.requests"
GONE = object()


@dataclass(frozen=True)
class Case:
    """A good Hold with `value` put at `path`, the field to be blamed, and words of the message."""

    name: str
    path: tuple[str | int, ...]
    value: Any
    blames: str = ""
    says: str = ""

    def hold(self) -> dict[str, Any]:
        """Return the whole object."""
        made = copy.deepcopy(GOOD)
        made["metadata"]["name"] = self.name
        place: Any = made
        for name in self.path[:-1]:
            place = place.setdefault(name, {}) if isinstance(place, dict) else place[name]
        if self.value is GONE:
            del place[self.path[-1]]
        else:
            place[self.path[-1]] = self.value
        return made


def _owner(name: str, value: Any, blames: str = "", says: str = "") -> Case:
    return Case(name, ("spec", "owners", 0), value, f"spec.owners[0]{blames}", says)


def _selector(name: str, value: Any, blames: str, says: str = "") -> Case:
    return _owner(name, {"labelSelector": value}, f".labelSelector{blames}", says)


def _expression(name: str, value: Any, blames: str = ".values", says: str = "") -> Case:
    return _selector(name, {"matchExpressions": [value]}, f".matchExpressions[0]{blames}", says)


def _request(name: str, value: Any, says: str = "") -> Case:
    path = ("spec", "template", "spec", "containers", 0, "resources", "requests", "cpu")
    return Case(name, path, value, f"{REQUESTS}.cpu", says)


def _spec(name: str, field: str, value: Any, blames: str = "", says: str = "") -> Case:
    return Case(name, ("spec", field), value, f"spec.{field}{blames}", says)


BAD = (
    Case("no-spec", ("spec",), GONE, "spec"),
    _spec("no-owners", "owners", GONE),
    _spec("empty-owners", "owners", [], says="at least 1"),
    _spec("too-many-owners", "owners", [{"object": {"name": "a"}}] * 33, says="at most 32"),
    _owner("owner-without-parts", {}, says="an owner rule needs at least one of object"),
    _owner("owner-object-empty", {"object": {}}, ".object", "needs a name, a namespace or a uid"),
    _owner("owner-object-bad-name", {"object": {"name": "Web_1"}}, ".object.name"),
    _owner("owner-object-not-a-pod", {"object": {"kind": "Job", "name": "a"}}, ".object.kind"),
    _owner(
        "owner-controller-empty", {"controller": {"name": ""}}, ".controller", "at least one of"
    ),
    _owner("owner-controller-bad-kind", {"controller": {"kind": "replicaset"}}, ".controller.kind"),
    _owner("owner-priority-word", {"priorityAtLeast": "high"}, ".priorityAtLeast"),
    _owner("owner-priority-out-of-reach", {"priorityAtLeast": 2147483647}, ".priorityAtLeast"),
    _owner("owner-is-a-word", "web", ""),
    _owner("owner-unknown-part", {"labelSelektor": {}}, ".labelSelektor"),
    _selector("label-key", {"matchLabels": {"a b": "c"}}, ".matchLabels", "no pod can have"),
    _selector("label-value", {"matchLabels": {"app": "-web"}}, ".matchLabels", "no pod can have"),
    _selector("label-value-type", {"matchLabels": {"app": 1}}, ".matchLabels.app"),
    _expression("operator-unknown", {"key": "app", "operator": "Is"}, ".operator"),
    _expression("operator-missing", {"key": "app"}, ".operator"),
    _expression(
        "in-without-values", {"key": "app", "operator": "In"}, says="In and NotIn need values"
    ),
    _expression(
        "notin-empty", {"key": "app", "operator": "NotIn", "values": []}, says="need values"
    ),
    _expression(
        "exists-with-values", {"key": "a", "operator": "Exists", "values": ["b"]}, says="take none"
    ),
    _expression("expression-key", {"key": "a b", "operator": "Exists"}, ".key"),
    _spec("ttl-nonsense", "ttl", "banana", says="must be a duration such as 90s"),
    _spec("ttl-negative", "ttl", "-1h", says="must be a duration such as 90s"),
    _spec("ttl-number", "ttl", 60),
    _spec("ttl-no-unit", "ttl", "60", says="must be a duration such as 90s"),
    _spec("ttl-days", "ttl", "1d", says="must be a duration such as 90s"),
    _spec("ttl-beyond-time", "ttl", "99999999h"),
    _spec("expires-nonsense", "expires", "tomorrow"),
    _spec("once-word", "allocateOnce", "true"),
    _spec("policy-unknown", "allocatePolicy", "Default"),
    _spec("policy-empty", "allocatePolicy", ""),
    _spec("taint-without-key", "taints", [{"effect": "NoSchedule"}], "[0].key"),
    _spec("taint-without-effect", "taints", [{"key": "a"}], "[0].effect"),
    _spec("taint-effect", "taints", [{"key": "a", "effect": "Never"}], "[0].effect"),
    _spec("no-template", "template", GONE),
    _spec("template-is-a-word", "template", "x"),
    _spec("template-without-spec", "template", {}, ".spec"),
    _spec(
        "no-containers", "template", {"spec": {"containers": []}}, ".spec.containers", "at least 1"
    ),
    _spec(
        "nothing-asked",
        "template",
        {"spec": {"containers": [{"name": "main"}]}},
        ".spec.containers",
        "nothing would be held",
    ),
    _request("request-negative", "-1"),
    _request("request-negative-number", -1),
    _request("request-nonsense", "lots"),
    _request("request-empty", ""),
    _request("request-bad-suffix", "1gb"),
    _request("request-object", {"a": 1}),
    _spec("unknown-field", "tttl", "1h"),
    Case(
        "unknown-field-in-template",
        ("spec", "template", "spec", "nodeSelectors"),
        {},
        "spec.template.spec.nodeSelectors",
    ),
    Case(
        "toleration-effect",
        ("spec", "template", "spec", "tolerations"),
        [{"operator": "Exists", "effect": "Sometimes"}],
        "spec.template.spec.tolerations[0].effect",
    ),
)

# A pod may say so, a CRD cannot allow it; once inside, it would do no harm.
BAD_AT_THE_DOOR = (_request("request-bare-fraction", 0.5),)

RIGHT = (
    Case("plain", ("spec", "ttl"), "24h"),
    Case("for-ever", ("spec", "ttl"), "0"),
    Case("for-ever-too", ("spec", "ttl"), "0s"),
    Case("short", ("spec", "ttl"), "1h30m0.5s"),
    Case("absolute", ("spec", "expires"), "2027-01-01T02:00:00Z"),
    Case("shared", ("spec", "allocateOnce"), False),
    Case("restricted", ("spec", "allocatePolicy"), "Restricted"),
    Case("by-name", ("spec", "owners"), [{"object": {"name": "train-0"}}]),
    Case("by-pod-kind", ("spec", "owners"), [{"object": {"kind": "Pod", "uid": "x"}}]),
    Case(
        "by-controller", ("spec", "owners"), [{"controller": {"kind": "ReplicaSet", "name": "t"}}]
    ),
    Case("by-any-controller", ("spec", "owners"), [{"controller": {"controller": True}}]),
    Case("by-priority", ("spec", "owners"), [{"priorityAtLeast": -5}]),
    Case("everybody", ("spec", "owners"), [{"labelSelector": {}}]),
    Case("empty-label", ("spec", "owners"), [{"labelSelector": {"matchLabels": {"x.y/z": ""}}}]),
    Case(
        "expressions",
        ("spec", "owners"),
        [
            {
                "labelSelector": {
                    "matchExpressions": [{"key": "a/b", "operator": "In", "values": ["c"]}]
                }
            }
        ],
    ),
    Case("many-parts", ("spec", "owners"), [{"object": {"name": "a"}, "labelSelector": {}}] * 32),
    Case("taints", ("spec", "taints"), [{"key": "a", "value": "b", "effect": "NoExecute"}]),
    Case(
        "whole-number",
        ("spec", "template", "spec", "containers", 0, "resources", "requests", "cpu"),
        2,
    ),
    Case(
        "odd-quantities",
        ("spec", "template", "spec", "containers", 0, "resources", "requests"),
        {"cpu": ".5", "memory": "1.5Gi", "a.b/c": "1e3", "d.e/f": "+12E2", "g.h/i": "3k"},
    ),
    Case(
        "only-limits",
        ("spec", "template", "spec", "containers", 0, "resources"),
        {"limits": {"cpu": "1"}},
    ),
    Case(
        "pod-level",
        ("spec", "template", "spec"),
        {"containers": [{"name": "a"}], "resources": {"requests": {"cpu": "1"}}},
    ),
    Case(
        "from-init",
        ("spec", "template", "spec"),
        {
            "initContainers": [{"name": "i", "resources": {"requests": {"cpu": "1"}}}],
            "containers": [{"name": "a"}],
        },
    ),
    Case(
        "template-metadata",
        ("spec", "template", "metadata"),
        {"labels": {"a": "b"}, "annotations": {"c": "d"}, "creationTimestamp": None},
    ),
    Case(
        "scheduling-terms",
        ("spec", "template", "spec"),
        {
            "containers": [
                {
                    "name": "a",
                    "ports": [{"containerPort": 80, "hostPort": 8080}],
                    "resources": {"requests": {"cpu": "1"}},
                }
            ],
            "nodeSelector": {"zone": "a"},
            "nodeName": "node-1",
            "tolerations": [{"operator": "Exists"}, {"key": "a", "effect": "", "value": "b"}],
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1"]}]}
                        ]
                    }
                },
                "podAntiAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [
                        {"topologyKey": "zone", "labelSelector": {"matchLabels": {"a": "b"}}}
                    ]
                },
            },
            "topologySpreadConstraints": [
                {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
            ],
            "priorityClassName": "high",
            "overhead": {"cpu": "100m"},
        },
    ),
)
