"""One sound object of every kind that we read, with most of the fields that we look at.

Fuzzing begins with these and changes them; tests of what is printed plant their texts in them.
All are of the namespace `shop` and belong together: holds have guardians, slots have owners.
"""

from __future__ import annotations

from typing import Any

from tests.fuzz.basics import CONDITION, NOON, OURS, Json, meta, requests
from tests.fuzz.wishes import HEADROOMS


def pod_spec(**more: Any) -> Json:
    """A pod's spec with every field of placement that we read."""
    term = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}]}
    near = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "zone"}
    always = "requiredDuringSchedulingIgnoredDuringExecution"
    rather = "preferredDuringSchedulingIgnoredDuringExecution"
    return {
        "containers": [
            {
                "name": "main",
                "image": "app:1",
                "resources": {**requests(), "limits": {"cpu": "1"}},
                "ports": [{"containerPort": 80, "hostPort": 8080, "protocol": "TCP"}],
            }
        ],
        "initContainers": [{"name": "init", "image": "app:1", "resources": requests("100m")}],
        "overhead": {"cpu": "10m"},
        "nodeSelector": {"zone": "a"},
        "tolerations": [
            {"key": "gpu", "operator": "Equal", "value": "yes", "effect": "NoExecute"},
            {"operator": "Exists", "effect": "NoSchedule", "tolerationSeconds": 30},
        ],
        "affinity": {
            "nodeAffinity": {
                always: {"nodeSelectorTerms": [term]},
                rather: [{"weight": 5, "preference": term}],
            },
            "podAffinity": {rather: [{"weight": 1, "podAffinityTerm": near}]},
            "podAntiAffinity": {always: [near]},
        },
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "zone",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": "web"}},
                "minDomains": 1,
            }
        ],
        "priority": 10,
        "preemptionPolicy": "Never",
        "terminationGracePeriodSeconds": 5,
        **more,
    }


def plain_spec() -> Json:
    return {"containers": [{"name": "main", "image": "app:1", "resources": requests()}]}


NODE: Json = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": meta("a", "", labels={"zone": "a", "kubernetes.io/hostname": "a"}),
    "spec": {
        "taints": [{"key": "gpu", "value": "yes", "effect": "PreferNoSchedule"}],
        "unschedulable": False,
        "providerID": "sim://a",
    },
    "status": {
        "capacity": {"cpu": "8", "memory": "32Gi", "pods": "110", "example.com/gpu": "2"},
        "allocatable": {"cpu": "8", "memory": "32Gi", "pods": "110", "example.com/gpu": "2"},
        "conditions": [CONDITION],
        "images": [{"names": ["app:1"], "sizeBytes": 1000}],
    },
}
NAMESPACE: Json = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": meta("shop", "", labels={"headroom.dev/claims": "enabled"}),
    "status": {"phase": "Active"},
}
POD: Json = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": meta(
        "web",
        labels={"app": "web"},
        annotations={
            "headroom.dev/claimed": "Hold/shop/one",
            "example.com/room": "2",
            "scheduling.koordinator.sh/reservation-affinity": '{"reservationSelector":{}}',
        },
        ownerReferences=[
            {
                "apiVersion": "apps/v1",
                "kind": "ReplicaSet",
                "name": "web",
                "uid": "u",
                "controller": True,
            }
        ],
    ),
    "spec": pod_spec(
        schedulingGates=[{"name": "headroom.dev/claim"}, {"name": "example.com/follow"}]
    ),
    "status": {
        "phase": "Pending",
        "conditions": [{**CONDITION, "type": "PodScheduled", "status": "False"}],
        "nominatedNodeName": "a",
    },
}
RUNNING: Json = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": meta("runs", labels={"app": "other"}, annotations={"example.com/room": "1"}),
    "spec": {
        **plain_spec(),
        "nodeName": "a",
        "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}],
    },
    "status": {
        "phase": "Running",
        "startTime": NOON,
        "conditions": [CONDITION],
        "containerStatuses": [
            {
                "name": "main",
                "ready": True,
                "restartCount": 0,
                "state": {"running": {"startedAt": NOON}},
            }
        ],
    },
}
GUARDIAN: Json = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": meta(
        "one-guardian",
        labels={"headroom.dev/role": "guardian"},
        annotations={"headroom.dev/parent": "Hold/shop/one"},
        ownerReferences=[
            {
                "apiVersion": OURS,
                "kind": "Hold",
                "name": "one",
                "uid": "uid-one",
                "controller": True,
            }
        ],
    ),
    "spec": {**plain_spec(), "nodeName": "a", "priority": 1000000000},
    "status": {"phase": "Running", "conditions": [CONDITION]},
}
HOLD: Json = {
    "apiVersion": OURS,
    "kind": "Hold",
    "metadata": meta("one", generation=1),
    "spec": {
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": plain_spec()},
        "owners": [
            {
                "labelSelector": {
                    "matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]
                }
            },
            {"object": {"name": "web"}},
            {"controller": {"kind": "ReplicaSet", "name": "web"}},
            {"priorityAtLeast": 5},
        ],
        "ttl": "1h",
        "allocateOnce": False,
        "taints": [{"key": "kept", "value": "yes", "effect": "NoSchedule"}],
    },
    "status": {"phase": "Available", "conditions": [CONDITION], "nodeName": "a"},
}


def workload(kind: str, api: str = "apps/v1", **spec: Any) -> Json:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": plain_spec()}
    return {
        "apiVersion": api,
        "kind": kind,
        "metadata": meta("web", generation=1),
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": template, **spec},
        "status": {},
    }


DEPLOYMENT = workload("Deployment", replicas=2)
WORKLOADS: list[Json] = [
    DEPLOYMENT,
    workload("StatefulSet", replicas=2, serviceName="web"),
    workload("ReplicaSet", replicas=2),
    workload("DaemonSet"),
    workload("Job", "batch/v1", parallelism=2, completions=4, backoffLimit=3),
]
RESERVATION: Json = {
    "apiVersion": "scheduling.koordinator.sh/v1alpha1",
    "kind": "Reservation",
    "metadata": meta(
        "r", "", generation=1, labels={"scheduling.koordinator.sh/reservation-order": "3"}
    ),
    "spec": {
        "template": {
            "metadata": {"namespace": "shop", "labels": {"app": "web"}},
            "spec": {**plain_spec(), "schedulerName": "koord-scheduler"},
        },
        "owners": [
            {"labelSelector": {"matchLabels": {"app": "web"}}},
            {"object": {"kind": "Pod", "name": "web", "namespace": "shop"}},
            {
                "controller": {
                    "apiVersion": "apps/v1",
                    "kind": "ReplicaSet",
                    "name": "web",
                    "namespace": "shop",
                    "uid": "u",
                }
            },
        ],
        "ttl": "24h",
        "allocateOnce": True,
        "allocatePolicy": "Aligned",
        "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}],
    },
    "status": {"phase": "Available", "nodeName": "a", "conditions": [CONDITION]},
}
ORDER: Json = {
    "apiVersion": "core.korder.dev/v1alpha1",
    "kind": "Order",
    "metadata": meta("o", generation=1),
    "spec": {
        "replicas": 2,
        "strategy": {"type": "Scheduled", "schedule": "*/5 * * * *"},
        "template": {
            "spec": {
                "duration": "1h",
                "startTime": NOON,
                "window": {"timeZone": "UTC"},
                "resources": requests(),
                "nodeSelector": {"zone": "a"},
            }
        },
    },
    "status": {"conditions": [CONDITION]},
}
TICKET: Json = {
    "apiVersion": "core.korder.dev/v1alpha1",
    "kind": "Ticket",
    "metadata": meta("o-0"),
    "spec": {"duration": "1h", "startTime": NOON, "resources": requests()},
    "status": {"phase": "Reserved", "nodeName": "a", "conditions": [CONDITION]},
}
KORDER_QUOTA: Json = {
    "apiVersion": "core.korder.dev/v1alpha1",
    "kind": "Quota",
    "metadata": meta("q", "", generation=1),
    "spec": {
        "scope": {"type": "Cluster"},
        "hard": {"reserved.cpu": "10", "tickets.total": "20"},
    },
    "status": {"conditions": [CONDITION]},
}
BUFFER: Json = {
    "apiVersion": "autoscaling.x-k8s.io/v1beta1",
    "kind": "CapacityBuffer",
    "metadata": meta("spare-room", generation=1),
    "spec": {"podTemplateRef": {"name": "chunk"}, "replicas": 2, "limits": {"cpu": "2"}},
    "status": {"replicas": 2, "conditions": [CONDITION]},
}
POD_TEMPLATE: Json = {
    "apiVersion": "v1",
    "kind": "PodTemplate",
    "metadata": meta("chunk", generation=1),
    "template": {"metadata": {"labels": {"app": "chunk"}}, "spec": plain_spec()},
}
QUOTA: Json = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": meta("limit"),
    "spec": {
        "hard": {"requests.cpu": "100", "pods": "50"},
        "scopeSelector": {
            "matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["x"]}]
        },
    },
    "status": {
        "hard": {"requests.cpu": "100", "pods": "50"},
        "used": {"requests.cpu": "1", "pods": "2"},
    },
}
BUDGET: Json = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": meta("budget", generation=1),
    "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
    "status": {
        "disruptionsAllowed": 1,
        "currentHealthy": 2,
        "desiredHealthy": 1,
        "expectedPods": 2,
    },
}
PRIORITY: Json = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": meta("gold", ""),
    "value": 1000,
    "preemptionPolicy": "PreemptLowerPriority",
}
CLAIM: Json = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": meta("data"),
    "spec": {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "fast",
        "volumeName": "disk",
        "resources": {"requests": {"storage": "10Gi"}},
    },
    "status": {"phase": "Bound"},
}
VOLUME: Json = {
    "apiVersion": "v1",
    "kind": "PersistentVolume",
    "metadata": meta("disk", ""),
    "spec": {
        "capacity": {"storage": "10Gi"},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "fast",
        "claimRef": {"namespace": "shop", "name": "data", "uid": "uid-data"},
        "nodeAffinity": {
            "required": {
                "nodeSelectorTerms": [
                    {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}
                ]
            }
        },
    },
    "status": {"phase": "Bound"},
}
CLASS: Json = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": meta("fast", ""),
    "provisioner": "sim",
    "volumeBindingMode": "WaitForFirstConsumer",
    "allowedTopologies": [{"matchLabelExpressions": [{"key": "zone", "values": ["a"]}]}],
}
DRIVERS: Json = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "CSINode",
    "metadata": meta("a", ""),
    "spec": {
        "drivers": [
            {"name": "sim", "nodeID": "a", "topologyKeys": ["zone"], "allocatable": {"count": 16}}
        ]
    },
}
AUTOSCALER: Json = {
    "apiVersion": "autoscaling/v2",
    "kind": "HorizontalPodAutoscaler",
    "metadata": meta("web"),
    "spec": {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
        "minReplicas": 1,
        "maxReplicas": 8,
    },
    "status": {"currentReplicas": 2, "desiredReplicas": 4},
}
SLOT_SET: Json = {
    "apiVersion": OURS,
    "kind": "SlotSet",
    "metadata": meta(
        "spare",
        ownerReferences=[
            {
                "apiVersion": OURS,
                "kind": "Headroom",
                "name": "spare",
                "uid": "uid-spare",
                "controller": True,
            }
        ],
    ),
    "spec": {"expectedPods": 0},
}
EVENT: Json = {
    "apiVersion": "v1",
    "kind": "Event",
    "metadata": meta("e1"),
    "involvedObject": {"kind": "Hold", "namespace": "shop", "name": "one"},
    "type": "Normal",
    "reason": "Held",
    "count": 3,
    "message": "held on a",
    "lastTimestamp": NOON,
}
SCENARIO: Json = {
    "apiVersion": "sim.headroom.dev/v1alpha1",
    "kind": "Scenario",
    "metadata": {"name": "s"},
    "spec": {
        "start": "2027-01-04T07:55:00+01:00",
        "until": "2m",
        "seed": 7,
        "pools": [
            {
                "name": "general",
                "count": 1,
                "max": 2,
                "cpu": "4",
                "memory": "16Gi",
                "pods": 110,
                "labels": {"tier": "web"},
                "price": 0.2,
                "bootDelay": "5s",
            }
        ],
        "autoscaler": {"enabled": True, "scaleDownAfter": "10m"},
        "steps": [{"at": "30s", "operator": "stopped"}],
    },
}

OBJECTS: list[Json] = [
    NODE,
    NAMESPACE,
    POD,
    RUNNING,
    GUARDIAN,
    HOLD,
    *HEADROOMS,
    *WORKLOADS,
    RESERVATION,
    ORDER,
    TICKET,
    KORDER_QUOTA,
    BUFFER,
    POD_TEMPLATE,
    QUOTA,
    BUDGET,
    PRIORITY,
    CLAIM,
    VOLUME,
    CLASS,
    DRIVERS,
    AUTOSCALER,
    SLOT_SET,
]
DIALECTS = ("capacitybuffer", "koordinator", "korder", "schedulinggate")
