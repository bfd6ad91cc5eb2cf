"""The programs of the testbed, their versions, and how to build them: the pins, as data.

One `Recipe` is one Go module below `go/`, whose `go.mod` and `go.sum` pin every source. `binaries`
uses the recipes to find programs; `gobuild` builds a whole recipe. Kubernetes has a recipe for each
minor version that Headroom supports; `KUBERNETES=1.33` in the environment selects one, as do
`oldest` and `newest`. `python -m testbed.recipes` prints all versions.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_MODULES = Path(__file__).parent / "go"


@dataclass(frozen=True)
class Program:
    """One binary: its Go package, and how to read its version."""

    package: str
    version: str
    version_args: tuple[str, ...] = ("--version",)


@dataclass(frozen=True)
class Recipe:
    """A Go module of ours and the programs that are built from it."""

    name: str
    version: str
    programs: Mapping[str, Program]
    ldflags: tuple[str, ...] = ()
    folder: str = ""

    @property
    def module(self) -> Path:
        return _MODULES / (self.folder or self.name)

    def digest(self) -> str:
        """A digest of the build's inputs, so that a changed pin never uses an old cache."""
        inputs = hashlib.sha256()
        packages = {name: program.package for name, program in sorted(self.programs.items())}
        inputs.update(json.dumps([self.version, packages, self.ldflags]).encode())
        for source in sorted(self.module.rglob("*")):
            if source.is_file():
                inputs.update(source.relative_to(self.module).as_posix().encode())
                inputs.update(source.read_bytes())
        return inputs.hexdigest()[:10]


KWOK_VERSION = "v0.8.0"
KARPENTER_VERSION = "v1.14.1"
HELM_VERSION = "v3.22.0"

# Kubernetes by minor version, the oldest first, each with the etcd that its module asks for.
_PINS = {
    "1.33": ("v1.33.13", "3.5.21"),
    "1.34": ("v1.34.10", "3.6.4"),
    "1.35": ("v1.35.8", "3.6.5"),
    "1.36": ("v1.36.4", "3.6.8"),
    "1.37": ("v1.37.0", "3.7.0"),
}
DEFAULT_MINOR = "1.36"
OLDEST_MINOR, *_, NEWEST_MINOR = _PINS
_NAMED = {"": DEFAULT_MINOR, "oldest": OLDEST_MINOR, "newest": NEWEST_MINOR}
_VARIABLE = "KUBERNETES"


class UnknownVersion(Exception):
    """No recipe builds the requested version of Kubernetes."""


def _version_flags(version: str) -> tuple[str, ...]:
    """Set the version: without it, components assume wrong feature gates."""
    package = "k8s.io/component-base/version"
    major, minor, _ = version.removeprefix("v").split(".")
    fields = {"gitVersion": version, "gitMajor": major, "gitMinor": minor}
    return tuple(f"-X {package}.{field}={value}" for field, value in fields.items())


def _kubernetes(minor: str) -> Recipe:
    version, etcd = _PINS[minor]

    def command(name: str, *version_args: str) -> Program:
        return Program(f"k8s.io/kubernetes/cmd/{name}", version, version_args or ("--version",))

    return Recipe(
        name="k8s",
        version=version,
        programs={
            "etcd": Program("./etcd", etcd),
            "kube-apiserver": command("kube-apiserver"),
            "kube-controller-manager": command("kube-controller-manager"),
            "kube-scheduler": command("kube-scheduler"),
            "kubectl": command("kubectl", "version", "--client"),
            "kubemark": command("kubemark"),
        },
        ldflags=_version_flags(version),
        folder=f"k8s/{minor}",
    )


KUBERNETES: Mapping[str, Recipe] = {minor: _kubernetes(minor) for minor in _PINS}

KWOK = Recipe(
    name="kwok",
    version=KWOK_VERSION,
    programs={"kwok": Program("sigs.k8s.io/kwok/cmd/kwok", KWOK_VERSION)},
    ldflags=(f"-X sigs.k8s.io/kwok/pkg/consts.Version={KWOK_VERSION}",),
)

# Karpenter with its fake cloud, for the few who test against an autoscaler.
KARPENTER = Recipe(
    name="karpenter",
    version=KARPENTER_VERSION,
    programs={"karpenter": Program("sigs.k8s.io/karpenter/kwok", KARPENTER_VERSION)},
    ldflags=(f"-X sigs.k8s.io/karpenter/pkg/operator.Version={KARPENTER_VERSION}",),
)

# Helm, for the tests of the chart; as released, it takes a cluster that is not asked for 1.37.
HELM = Recipe(
    name="helm",
    version=HELM_VERSION,
    programs={
        "helm": Program("helm.sh/helm/v3/cmd/helm", HELM_VERSION, ("version", "--short")),
    },
    ldflags=(
        f"-X helm.sh/helm/v3/internal/version.version={HELM_VERSION}",
        "-X helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor=1",
        "-X helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=37",
        "-X helm.sh/helm/v3/pkg/lint/rules.k8sVersionMajor=1",
        "-X helm.sh/helm/v3/pkg/lint/rules.k8sVersionMinor=37",
    ),
)

OPTIONAL_RECIPES = (KARPENTER, HELM)


def chosen_minor() -> str:
    """The minor version that the environment selects, or the default."""
    written = os.environ.get(_VARIABLE, "").strip()
    asked = _NAMED.get(written, written).removeprefix("v")
    minor = ".".join(asked.split(".")[:2])
    if minor not in KUBERNETES or asked not in (minor, KUBERNETES[minor].version.removeprefix("v")):
        known = ", ".join(KUBERNETES)
        raise UnknownVersion(f"{_VARIABLE}={asked}: there is no recipe for it, only for {known}")
    return minor


def default_recipes(minor: str = "") -> tuple[Recipe, ...]:
    """The programs of every control plane, at this or the selected version of Kubernetes."""
    return (KUBERNETES[minor or chosen_minor()], KWOK)


if __name__ == "__main__":
    print(*KUBERNETES)
