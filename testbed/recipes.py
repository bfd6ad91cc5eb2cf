"""What is run, at which version, and how to build it: the pins of the testbed, as data.

One `Recipe` is one Go module below `go/`, whose `go.mod` and `go.sum` pin every source. `binaries`
asks each recipe where its programs may be found; `gobuild` builds a recipe as a whole.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_MODULES = Path(__file__).parent / "go"


@dataclass(frozen=True)
class Program:
    """One binary: the Go package that makes it, and how it is asked for its version."""

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

    @property
    def module(self) -> Path:
        return _MODULES / self.name

    def digest(self) -> str:
        """Name the inputs of the build, so that a changed pin is never served from an old cache."""
        inputs = hashlib.sha256()
        packages = {name: program.package for name, program in sorted(self.programs.items())}
        inputs.update(json.dumps([self.version, packages, self.ldflags]).encode())
        for source in sorted(self.module.rglob("*")):
            if source.is_file():
                inputs.update(source.relative_to(self.module).as_posix().encode())
                inputs.update(source.read_bytes())
        return inputs.hexdigest()[:10]


KUBERNETES_VERSION = "v1.36.4"
ETCD_VERSION = "3.6.8"
KWOK_VERSION = "v0.8.0"
KARPENTER_VERSION = "v1.14.1"


def _kubernetes(command: str, *version_args: str) -> Program:
    package = f"k8s.io/kubernetes/cmd/{command}"
    return Program(package, KUBERNETES_VERSION, version_args or ("--version",))


def _version_flags(version: str) -> tuple[str, ...]:
    """Stamp the version: without it, components misjudge which feature gates exist."""
    package = "k8s.io/component-base/version"
    major, minor, _ = version.removeprefix("v").split(".")
    fields = {"gitVersion": version, "gitMajor": major, "gitMinor": minor}
    return tuple(f"-X {package}.{field}={value}" for field, value in fields.items())


KUBERNETES = Recipe(
    name="k8s",
    version=KUBERNETES_VERSION,
    programs={
        "etcd": Program("./etcd", ETCD_VERSION),
        "kube-apiserver": _kubernetes("kube-apiserver"),
        "kube-controller-manager": _kubernetes("kube-controller-manager"),
        "kube-scheduler": _kubernetes("kube-scheduler"),
        "kubectl": _kubernetes("kubectl", "version", "--client"),
        "kubemark": _kubernetes("kubemark"),
    },
    ldflags=_version_flags(KUBERNETES_VERSION),
)

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

DEFAULT_RECIPES = (KUBERNETES, KWOK)
OPTIONAL_RECIPES = (KARPENTER,)
