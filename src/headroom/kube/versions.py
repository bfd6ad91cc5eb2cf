"""Which versions of Kubernetes are supported, and what each of them can do for Headroom.

The table is data: `features` asks a cluster which of it is true there, `headroom version` prints
it, and `python -m tools.versions` writes `docs/reference/versions.md` from it.
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
    """Something that not every supported cluster has.

    `since` is the first version that has it unless somebody switched it off. Where `served` names
    a list of the API and a resource in it, the cluster itself is asked.
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
        "if kube-scheduler restarts while the operator is down in the middle of a handover, a "
        "rival may get in",
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
        "the API server drops the field: ask by containers",
    ),
)


def read_version(text: str) -> Version | None:
    """Read what an API server says of itself, such as v1.33.13-eks-1; None if it is no version."""
    match = re.match(r"v?(\d{1,4})\.(\d{1,4})(?!\d)", text)
    return Version(int(match[1]), int(match[2])) if match else None


def is_supported(version: Version) -> bool:
    """Whether we test with this version."""
    return OLDEST <= version <= NEWEST


def trouble_with(version: Version | None) -> str:
    """Say why nobody knows whether this version works; empty for a supported one."""
    if version is None:
        return "the API server's version cannot be read"
    if is_supported(version):
        return ""
    age = "older" if version < OLDEST else "newer"
    return f"Kubernetes {version} is {age} than what is supported: {SUPPORTED_RANGE}"
