"""The supported versions of Kubernetes, and their features that Headroom uses.

The table is data: `features` checks which features a cluster has, `headroom version` prints them,
and `python -m tools.versions` writes `docs/reference/versions.md` from the table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_ADMISSION = "/apis/admissionregistration.k8s.io/v1"


@dataclass(frozen=True, order=True, slots=True)
class Version:
    """A minor version of Kubernetes."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


OLDEST = Version(1, 33)
NEWEST = Version(1, 37)
SUPPORTED = tuple(Version(1, minor) for minor in range(OLDEST.minor, NEWEST.minor + 1))
SUPPORTED_RANGE = f"{OLDEST} to {NEWEST}"


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature that not every supported cluster has.

    `since` is the first version that has it by default. If `served` names an API list and a
    resource, the cluster itself is checked.
    """

    name: str
    means: str
    since: Version
    without: str
    served: tuple[str, str] | None = None


FEATURES = (
    Feature(
        "mutating-policy",
        "owners are gated by an admission policy (MutatingAdmissionPolicy)",
        Version(1, 36),
        "headroom install --webhook, or write the gate into the manifests",
        (_ADMISSION, "mutatingadmissionpolicies"),
    ),
    Feature(
        "validating-policy",
        "our accounts and reserved names are confined by policies (ValidatingAdmissionPolicy)",
        Version(1, 30),
        "RBAC alone limits the accounts",
        (_ADMISSION, "validatingadmissionpolicies"),
    ),
    Feature(
        "kept-nominations",
        "kube-scheduler remembers nominations of gated pods when it starts",
        Version(1, 37),
        "if kube-scheduler restarts in the middle of a handover, without leader election or while "
        "the operator is down, a rival may get in",
    ),
    Feature(
        "resize",
        "pods are resized in place, and a vertical burst takes held room",
        Version(1, 33),
        "pods keep their size",
        ("/api/v1", "pods/resize"),
    ),
    Feature(
        "pod-level-resources",
        "requests of a pod as a whole (spec.resources)",
        Version(1, 34),
        "the API server drops the field: set requests of containers",
    ),
)


def read_version(text: str) -> Version | None:
    """Parse an API server's version, such as v1.33.13-eks-1; None if it is invalid."""
    match = re.match(r"v?(\d{1,4})\.(\d{1,4})(?!\d)", text)
    return Version(int(match[1]), int(match[2])) if match else None


def is_supported(version: Version) -> bool:
    """Whether we test with this version."""
    return OLDEST <= version <= NEWEST


def trouble_with(version: Version | None) -> str:
    """Why it is unknown whether this version works; empty for a supported one."""
    if version is None:
        return "the API server's version cannot be read"
    if is_supported(version):
        return ""
    age = "older" if version < OLDEST else "newer"
    return f"Kubernetes {version} is {age} than what is supported: {SUPPORTED_RANGE}"
