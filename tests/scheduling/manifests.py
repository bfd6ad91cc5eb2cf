"""Random but seeded manifests of small, crowded clusters, for comparison with the real scheduler.

Few names and few values, so that taints meet tolerations, ports meet ports and pods meet pods.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, TypeVar

Json = dict[str, Any]
T = TypeVar("T")

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
PRIORITIES = {"low": 1, "middle": 100, "polite": 100, "high": 10_000}
"""Classes by value; pods of the polite one do not preempt."""

APPS = ("web", "db", "job")
TEAMS = {"default": "core", "other": "data"}
REPLICA_SET = {
    "apiVersion": "apps/v1",
    "kind": "ReplicaSet",
    "name": "job",
    "uid": "2b3ce3a1-0000-4000-8000-000000000000",
    "controller": True,
}


class Maker:
    """Makes one manifest after the other; the same seed makes the same ones."""

    def __init__(self, seed: int) -> None:
        self._chance = Random(seed)
        self.nodes: list[str] = []

    def one_of(self, several: Sequence[T]) -> T:
        return self._chance.choice(several)

    def happens(self, probability: float) -> bool:
        return self._chance.random() < probability

    def node(self, name: str) -> Json:
        chance = self._chance
        self.nodes.append(name)
        labels = {
            HOSTNAME: name,
            "disk": chance.choice(("ssd", "hdd")),
            "size": str(chance.randrange(9)),
        }
        if chance.random() < 0.9:
            labels[ZONE] = chance.choice("xyz")
        if chance.random() < 0.7:
            labels["rack"] = chance.choice("123")
        room = {
            "cpu": chance.choice(("1", "2", "4", "3900m")),
            "memory": chance.choice(("2Gi", "4Gi", "7Gi")),
            "pods": str(chance.choice((3, 8, 110))),
            "ephemeral-storage": chance.choice(("0", "10Gi")),
        }
        if chance.random() < 0.3:
            room["example.com/gpu"] = str(chance.randrange(1, 4))
        return {
            "metadata": {"name": name, "labels": labels},
            "spec": {"taints": self.taints(), "unschedulable": chance.random() < 0.08},
            "status": {"capacity": room, "allocatable": room},
        }

    def taints(self) -> list[Json]:
        chance = self._chance
        keys = [key for key in ("dedicated", "spot", "old") if chance.random() < 0.15]
        effects = ("NoSchedule", "NoExecute", "PreferNoSchedule", "PreferNoSchedule")
        return [
            {"key": key, "value": chance.choice(("", "a")), "effect": chance.choice(effects)}
            for key in keys
        ]

    def pod(self, name: str) -> Json:
        chance = self._chance
        labels = {"app": chance.choice(APPS)}
        if chance.random() < 0.5:
            labels["track"] = chance.choice(("stable", "canary"))
        spec: Json = {
            "containers": [
                self._container(f"c{index}") for index in range(chance.choice((1, 1, 2)))
            ],
            "terminationGracePeriodSeconds": 0,
            "priorityClassName": chance.choices(tuple(PRIORITIES), (6, 2, 1, 1))[0],
            "tolerations": self._tolerations(),
        }
        if chance.random() < 0.2:
            spec["nodeSelector"] = {"disk": chance.choice(("ssd", "hdd"))}
        affinity = self._affinity()
        if affinity:
            spec["affinity"] = affinity
        if chance.random() < 0.35:
            spec["topologySpreadConstraints"] = self._spread()
        if chance.random() < 0.1:
            spec["initContainers"] = [self._container("init")]
        namespace = chance.choices(tuple(TEAMS), (4, 1))[0]
        metadata: Json = {"name": name, "namespace": namespace, "labels": labels}
        if labels["app"] == "job" and chance.random() < 0.6:
            metadata["ownerReferences"] = [REPLICA_SET]
        return {"metadata": metadata, "spec": spec}

    def latch(self, name: str) -> Json:
        """Make a pod that is never tried but can be nominated."""
        return {
            "metadata": {
                "name": name,
                "namespace": "default",
                "labels": {"app": self.one_of(APPS)},
            },
            "spec": {
                "containers": [self._container("c0")],
                "terminationGracePeriodSeconds": 0,
                "priorityClassName": self.one_of(tuple(PRIORITIES)),
                "schedulingGates": [{"name": "example.com/wait"}],
                "affinity": self._affinity(),
            },
        }

    def _container(self, name: str) -> Json:
        chance = self._chance
        requests: Json = {}
        if chance.random() < 0.85:
            requests["cpu"] = chance.choice(("50m", "100m", "333m", "500m", "1", "1500m"))
        if chance.random() < 0.8:
            requests["memory"] = chance.choice(("64Mi", "200Mi", "512Mi", "1Gi", "1500M"))
        if chance.random() < 0.1:
            requests["ephemeral-storage"] = chance.choice(("1Gi", "6Gi"))
        limits: Json = {}
        if chance.random() < 0.1:
            requests["example.com/gpu"] = limits["example.com/gpu"] = "1"
        container: Json = {
            "name": name,
            "image": "none",
            "resources": {"requests": requests, "limits": limits},
        }
        if chance.random() < 0.12:
            # One pod may not ask for a port twice, so each of its containers has its own.
            number = 9090 if name == "c1" else 8080
            container["ports"] = [{"containerPort": number, "hostPort": number}]
            if chance.random() < 0.3:
                container["ports"][0]["hostIP"] = "10.0.0.1"
        return container

    def _tolerations(self) -> list[Json]:
        chance = self._chance
        found: list[Json] = []
        for key in ("dedicated", "spot", "old"):
            if chance.random() < 0.25:
                operator = chance.choice(("Exists", "Equal"))
                one: Json = {"key": key, "operator": operator}
                if operator == "Equal":
                    one["value"] = chance.choice(("", "a"))
                if chance.random() < 0.4:
                    one["effect"] = chance.choice(("NoSchedule", "PreferNoSchedule"))
                found.append(one)
        if chance.random() < 0.05:
            found.append({"operator": "Exists"})
        return found

    def _affinity(self) -> Json:
        chance = self._chance
        found: Json = {}
        if chance.random() < 0.3:
            found["nodeAffinity"] = self._node_affinity()
        if chance.random() < 0.2:
            found["podAffinity"] = self._pod_affinity(0.35)
        if chance.random() < 0.25:
            found["podAntiAffinity"] = self._pod_affinity(0.5)
        return found

    def _node_affinity(self) -> Json:
        chance = self._chance
        found: Json = {}
        if chance.random() < 0.5:
            terms = [self._node_term() for _ in range(chance.randrange(1, 3))]
            found["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}
        if chance.random() < 0.7:
            found["preferredDuringSchedulingIgnoredDuringExecution"] = [
                {"weight": chance.randrange(1, 101), "preference": self._node_term()}
                for _ in range(chance.randrange(1, 4))
            ]
        return found

    def _node_term(self) -> Json:
        chance = self._chance
        expressions: tuple[Json, ...] = (
            {"key": ZONE, "operator": "In", "values": [chance.choice("xyz"), "x"]},
            {"key": ZONE, "operator": "NotIn", "values": [chance.choice("xyz")]},
            {"key": "rack", "operator": "Exists"},
            {"key": "rack", "operator": "DoesNotExist"},
            {"key": "size", "operator": "Gt", "values": ["3"]},
            {"key": "size", "operator": "Lt", "values": ["6"]},
        )
        found: Json = {"matchExpressions": chance.sample(expressions, chance.choice((1, 1, 2)))}
        if chance.random() < 0.15:
            name = chance.choice([*self.nodes, "gone"])
            fields = [{"key": "metadata.name", "operator": "In", "values": [name]}]
            return {"matchFields": fields, **(found if chance.random() < 0.3 else {})}
        return found

    def _pod_affinity(self, required: float) -> Json:
        chance = self._chance
        found: Json = {}
        if chance.random() < required:
            found["requiredDuringSchedulingIgnoredDuringExecution"] = [
                self._pod_term() for _ in range(chance.choice((1, 1, 2)))
            ]
        if chance.random() < 0.7:
            found["preferredDuringSchedulingIgnoredDuringExecution"] = [
                {"weight": chance.randrange(1, 101), "podAffinityTerm": self._pod_term()}
                for _ in range(chance.randrange(1, 3))
            ]
        return found

    def _pod_term(self) -> Json:
        chance = self._chance
        term: Json = {
            "topologyKey": chance.choice((HOSTNAME, ZONE, "rack")),
            "labelSelector": self._selector(),
        }
        kind = chance.random()
        if kind < 0.15:
            term["namespaces"] = ["other"]
        elif kind < 0.3:
            term["namespaceSelector"] = {"matchLabels": {"team": chance.choice(("core", "data"))}}
        elif kind < 0.35:
            term["namespaceSelector"] = {}
        if chance.random() < 0.1 and "track" not in str(term["labelSelector"]):
            term["matchLabelKeys"] = ["track"]
        return term

    def _selector(self) -> Json:
        chance = self._chance
        kind = chance.random()
        if kind < 0.6:
            return {"matchLabels": {"app": chance.choice(APPS)}}
        if kind < 0.8:
            values = chance.sample(APPS, 2)
            operator = chance.choice(("In", "NotIn"))
            return {"matchExpressions": [{"key": "app", "operator": operator, "values": values}]}
        operator = chance.choice(("Exists", "DoesNotExist"))
        return {"matchExpressions": [{"key": "track", "operator": operator}]}

    def _spread(self) -> list[Json]:
        chance = self._chance
        found: list[Json] = []
        for key in chance.sample((HOSTNAME, ZONE, "rack"), chance.choice((1, 1, 2))):
            hard = chance.random() < 0.5
            one: Json = {
                "maxSkew": chance.randrange(1, 4),
                "topologyKey": key,
                "whenUnsatisfiable": "DoNotSchedule" if hard else "ScheduleAnyway",
                "labelSelector": self._selector(),
            }
            if hard and chance.random() < 0.2:
                one["minDomains"] = chance.randrange(1, 5)
            if chance.random() < 0.25:
                one["nodeTaintsPolicy"] = chance.choice(("Honor", "Ignore"))
            if chance.random() < 0.25:
                one["nodeAffinityPolicy"] = chance.choice(("Honor", "Ignore"))
            if chance.random() < 0.15 and "track" not in str(one["labelSelector"]):
                one["matchLabelKeys"] = ["track"]
            found.append(one)
        return found
