"""Quotas as people write them: sound ones, and one for each thing that is refused or told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

CLUSTER = {"type": "Cluster"}


@dataclass(frozen=True)
class Case:
    """`spec` replaces parts of a sound one; `blames` is a field, `says` part of a sentence."""

    name: str
    spec: Mapping[str, Any]
    blames: str = ""
    says: str = ""

    def quota(self) -> dict[str, Any]:
        spec: dict[str, Any] = {"scope": CLUSTER, "hard": {"tickets": 10}, **self.spec}
        return {
            "apiVersion": "core.korder.dev/v1alpha1",
            "kind": "Quota",
            "metadata": {"name": self.name},
            "spec": {name: value for name, value in spec.items() if value is not None},
        }


def _window(**parts: Any) -> list[dict[str, Any]]:
    return [{"name": "w", "schedule": "0 9-17 * * 1-5", "multiplier": "2.0", **parts}]


def _share(**parts: Any) -> list[dict[str, Any]]:
    return [{"namespace": "dev", "limits": {"tickets": 1}, **parts}]


# The same kinds, fields and values as korder's own samples.
SOUND = (
    Case(
        "whole-cluster",
        {
            "hard": {
                "orders": "100",
                "tickets": "1000",
                "reserved.cpu": "1000",
                "reserved.memory": "2000Gi",
                "max-duration": "604800",
            }
        },
    ),
    Case(
        "three-namespaces",
        {
            "scope": {"type": "NamespaceList", "namespaces": ["dev", "staging", "production"]},
            "hard": {"reserved.cpu": "200", "reserved.memory": "400Gi"},
            "allocation": [
                {"namespace": "production", "limits": {"reserved.cpu": "120"}},
                {"namespace": "staging", "limits": {"reserved.cpu": "50"}},
                {"namespace": "dev", "limits": {"reserved.cpu": "30", "orders": 5}},
            ],
        },
    ),
    Case(
        "one-team",
        {
            "scope": {
                "type": "NamespaceSelector",
                "namespaceSelector": {"matchLabels": {"team": "backend-team"}},
            }
        },
    ),
    Case(
        "by-the-clock",
        {
            "timeWindows": [
                {"name": "office", "schedule": "0 9-17 * * 1-5", "multiplier": "2.0"},
                {"name": "night", "schedule": "0 18-8 * * *", "multiplier": "0.5"},
                {"name": "upkeep", "schedule": "0 2-4 * * 0", "multiplier": "0.1"},
            ]
        },
    ),
    Case(
        "machine-learning",
        {
            "scope": {
                "type": "ObjectSelector",
                "objectSelector": {
                    "matchExpressions": [
                        {"key": "workload-type", "operator": "In", "values": ["ml-training"]}
                    ]
                },
            },
            "hard": {"reserved.nvidia.com/gpu": 8, "max-duration": "24h"},
        },
    ),
    Case("no-limits-said", {"hard": None}),
    Case("empty-limits", {"hard": {}}),
    Case("no-type-said", {"scope": {}}),
)

# Refused by the API server, and by ourselves where there is none.
REFUSED = (
    Case("no-scope", {"scope": None}, "spec.scope", "equired"),
    Case("odd-scope", {"scope": {"type": "Galaxy"}}, "spec.scope.type", "Galaxy"),
    Case(
        "no-namespaces", {"scope": {"type": "NamespaceList"}}, "spec.scope", "namespaces are needed"
    ),
    Case(
        "an-empty-namespace",
        {"scope": {"type": "NamespaceList", "namespaces": ["dev", ""]}},
        "spec.scope.namespaces",
        "none of them empty",
    ),
    Case(
        "no-selector", {"scope": {"type": "NamespaceSelector"}}, "spec.scope", "namespaceSelector"
    ),
    Case("no-object-selector", {"scope": {"type": "ObjectSelector"}}, "spec.scope", "is needed"),
    Case("negative", {"hard": {"tickets": "-1"}}, "spec.hard", "tickets"),
    Case("negative-number", {"hard": {"tickets": -1}}, "spec.hard", "tickets"),
    Case("negative-duration", {"hard": {"max-duration": "-24h"}}, "spec.hard", "max-duration"),
    Case("a-duration-of-cpu", {"hard": {"reserved.cpu": "24h"}}, "spec.hard", "only max-duration"),
    Case("nonsense", {"hard": {"reserved.cpu": "much"}}, "spec.hard", "reserved.cpu"),
    Case("no-window-name", {"timeWindows": _window(name="")}, "spec.timeWindows[0].name", "1"),
    Case("no-window-hours", {"timeWindows": _window(schedule="")}, "timeWindows[0].schedule", "1"),
    Case("no-share", {"allocation": _share(namespace="")}, "spec.allocation[0].namespace", ""),
    Case(
        "negative-share",
        {"allocation": _share(limits={"tickets": "-3"})},
        "spec.allocation[0].limits",
        "tickets",
    ),
)

# Taken, in force, and told of in a condition.
ODD = (
    Case("unknown-name", {"hard": {"pods": 3, "tickets": 1}}, "spec.hard[pods]", "not counted"),
    Case("bare-prefix", {"hard": {"reserved.": 3}}, "spec.hard[reserved.]", "not counted"),
    Case("bad-hours", {"timeWindows": _window(schedule="nine to five")}, "schedule", "five fields"),
    Case("no-such-hour", {"timeWindows": _window(schedule="0 25 * * *")}, "schedule", "'25'"),
    Case("no-multiplier", {"timeWindows": _window(multiplier="twice")}, "multiplier", "'twice'"),
    Case("times-nothing", {"timeWindows": _window(multiplier="0.0")}, "multiplier", "above 0"),
    Case("times-less", {"timeWindows": _window(multiplier="-2")}, "multiplier", "above 0"),
    Case(
        "large-share",
        {"allocation": _share(limits={"tickets": 11})},
        "spec.allocation[0].limits[tickets]",
        "11 is more than spec.hard, 10",
    ),
    Case(
        "long-share",
        {"allocation": _share(limits={"max-duration": "200h"})},
        "spec.allocation[0].limits[max-duration]",
        "more than spec.hard",
    ),
    Case(
        "share-of-a-stranger",
        {
            "scope": {"type": "NamespaceList", "namespaces": ["shop"]},
            "allocation": _share(),
        },
        "spec.allocation[0].namespace",
        "dev is not in spec.scope.namespaces",
    ),
    Case(
        "two-scopes",
        {"scope": {"type": "Cluster", "namespaces": ["shop"]}},
        "spec.scope.namespaces",
        "ignored with type Cluster",
    ),
)
