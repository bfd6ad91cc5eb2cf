"""Which documents of a file are simulated: the output of a chart has many irrelevant kinds.

Kinds that cannot affect the placement of pods are skipped and counted. Kinds that would affect it
and are not simulated are named, with the consequence. Objects of other APIs are named too, because
it is unknown what they would create. Everything else is simulated, or refused: an unknown kind of
Kubernetes or of Headroom.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from headroom.core.names import GROUP
from headroom.sim.scenarios.parser import Known
from headroom.sim.scenarios.schema import API_VERSION
from headroom.wire.yamls import Document

_IRRELEVANT = {
    "": ("ConfigMap", "Endpoints", "Secret", "ServiceAccount"),
    "admissionregistration.k8s.io": (
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
        "MutatingWebhookConfiguration",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
    ),
    "apiextensions.k8s.io": ("CustomResourceDefinition",),
    "apiregistration.k8s.io": ("APIService",),
    "certificates.k8s.io": ("CertificateSigningRequest", "ClusterTrustBundle"),
    "coordination.k8s.io": ("Lease",),
    "discovery.k8s.io": ("EndpointSlice",),
    "flowcontrol.apiserver.k8s.io": ("FlowSchema", "PriorityLevelConfiguration"),
    "networking.k8s.io": ("Ingress", "IngressClass", "NetworkPolicy"),
    "rbac.authorization.k8s.io": ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"),
}
_UNPLAYED = {
    "autoscaling": {"HorizontalPodAutoscaler": "the number of replicas stays as it is written"},
    "batch": {"CronJob": "no Job is made from it; write a Job at the time of a step"},
    "": {"ReplicationController": "no pod is made from it; a ReplicaSet is simulated"},
    "node.k8s.io": {"RuntimeClass": "the overhead of its pods is not counted"},
    "resource.k8s.io": {
        "DeviceClass": "device claims do not constrain placement",
        "ResourceClaim": "device claims do not constrain placement",
        "ResourceClaimTemplate": "device claims do not constrain placement",
        "ResourceSlice": "device claims do not constrain placement",
    },
}
_HOOK = "helm.sh/hook"
_ON_DEMAND = frozenset(
    {"test", "test-success", "pre-delete", "post-delete", "pre-rollback", "post-rollback"}
)
OURS = (GROUP, API_VERSION.partition("/")[0])


@dataclass(slots=True)
class Relevance:
    """Choose the documents to simulate; notes about the others, and the errors if strict."""

    skipped: dict[str, int] = field(default_factory=dict)
    unplayed: dict[str, tuple[int, str]] = field(default_factory=dict)
    foreign: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def sort(self, documents: Iterable[Document], known: Known, strict: bool) -> Sequence[Document]:
        """Add documents; return those that are simulated."""
        chosen = []
        for document in documents:
            words = self._set_aside(document, known)
            if not words:
                chosen.append(document)
            elif strict:
                self.problems.append(str(document.error("kind", f"{words} (--strict)")))
        return chosen

    def notes(self) -> tuple[str, ...]:
        """What a reader should know about everything that is not simulated, in few lines."""
        found = []
        if self.skipped:
            count = sum(self.skipped.values())
            told = _counted(self.skipped)
            found.append(f"skipped {count} that do not affect where pods are placed: {told}")
        for kind, (count, words) in sorted(self.unplayed.items()):
            found.append(f"{kind} is not simulated ({count} in the files): {words}")
        if self.foreign:
            told = _counted(self.foreign)
            found.append(f"not simulated, because it is unknown what they would create: {told}")
        return tuple(found)

    def _set_aside(self, document: Document, known: Known) -> str:
        """Why a document is not simulated, and count it; empty if it is simulated."""
        data = document.data
        group, slash, _ = str(data.get("apiVersion", "")).partition("/")
        group, kind = (group if slash else ""), str(data.get("kind", ""))
        if kind in _IRRELEVANT.get(group, ()):
            self.skipped[kind] = self.skipped.get(kind, 0) + 1
            return f"{kind} does not affect where pods are placed"
        if kind in _UNPLAYED.get(group, {}):
            words = _UNPLAYED[group][kind]
            self.unplayed[kind] = (self.unplayed.get(kind, (0, ""))[0] + 1, words)
            return f"{kind} is not simulated: {words}"
        if _is_foreign(group, known):
            name = f"{kind}.{group}"
            self.foreign[name] = self.foreign.get(name, 0) + 1
            return f"{name} is not known here, and is not simulated"
        if _on_demand(document):
            self.skipped["helm hooks"] = self.skipped.get("helm hooks", 0) + 1
            return "a hook that helm runs on demand is not simulated"
        return ""


def _is_foreign(group: str, known: Known) -> bool:
    """Whether a group belongs neither to Kubernetes, nor to Headroom, nor to a dialect."""
    if "." not in group or group.endswith(".k8s.io") or group in OURS:
        return False
    return not any(name.startswith(f"{group}/") for name in known.catalogue.kinds)


def _on_demand(document: Document) -> bool:
    metadata = document.data.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    hooks = annotations.get(_HOOK) if isinstance(annotations, dict) else None
    named = [each.strip() for each in str(hooks).split(",")] if hooks else []
    return bool(named) and all(each in _ON_DEMAND for each in named)


def _counted(found: dict[str, int]) -> str:
    return ", ".join(f"{name} {found[name]}" for name in sorted(found))
