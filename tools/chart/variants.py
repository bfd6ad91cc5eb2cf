"""The objects of an installation under combinations of switches, with marks where values go.

What a value replaces as a whole (an image, a namespace) is a mark in the texts; what switches
something on or off is a switch. `headroom.wire.manifests` is asked for everything.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import chain, combinations
from typing import Any, TypeAlias

from headroom.cli.dialects import NAMES, chosen
from headroom.wire.manifests import (
    NAMESPACE,
    Installation,
    everything_installed,
    install_objects,
)
from tools.chart.conditions import Combination

Json: TypeAlias = dict[str, Any]
Name: TypeAlias = tuple[str, str, str]  # kind, namespace, name

HOME, SERVED = "zz-home-zz", "zz-served-zz"
MOUNTPOINT = {
    "namespace": "zz-mountpoint-namespace-zz",
    "helper-class": "zz-mountpoint-helper-zz",
    "preempting-class": "zz-mountpoint-preempting-zz",
    "headroom-class": "zz-mountpoint-headroom-zz",
}
MARKS: Mapping[str, str] = {
    HOME: "$.Release.Namespace",
    SERVED: "$there",
    "zz-image-zz": 'include "headroom.image" $',
    "zz-pause-zz": "$.Values.pauseImage",
    "zz-only-zz": 'join "," $.Values.namespaces',
    MOUNTPOINT["namespace"]: "$.Values.mountpoint.namespace",
    MOUNTPOINT["helper-class"]: "$.Values.mountpoint.helperClass",
    MOUNTPOINT["preempting-class"]: "$.Values.mountpoint.preemptingClass",
    MOUNTPOINT["headroom-class"]: "$.Values.mountpoint.headroomClass",
}
# How a template asks for each switch.
TESTS: Mapping[str, str] = {
    **{name: f'has "{name}" $.Values.dialects' for name in NAMES},
    "confine": 'include "headroom.confine" $',
    "dashboard": "$.Values.dashboard.enabled",
    "gate": 'include "headroom.gate" $',
    "metrics": "$.Values.metrics.enabled",
    "scoped": "$.Values.namespaces",
    "tenantEdit": "$.Values.tenantEdit",
    "webhook": "$.Values.webhook.enabled",
}
SWITCHES = tuple(TESTS)


def name_of(made: Json) -> Name:
    """By what an object is known."""
    metadata = made["metadata"]
    return made["kind"], metadata.get("namespace", ""), metadata["name"]


@cache
def installed(on: Combination) -> Mapping[Name, Json]:
    """Every object of the installation with these switches on, but the operator's namespace."""
    dialects = [name for name in NAMES if name in on]
    names = ",".join(f"{key}={value}" for key, value in MOUNTPOINT.items())
    mountpoint = names if "schedulinggate" in on else ""
    made = install_objects(
        Installation(
            "zz-image-zz",
            HOME,
            policy="gate" in on,
            confined="confine" in on,
            webhook="webhook" in on,
            metrics="metrics" in on,
            tenant_edit="tenantEdit" in on,
            dashboard="dashboard" in on,
            namespaces=(SERVED,) if "scoped" in on else (),
            codecs=chosen(dialects, mountpoint, "zz-pause-zz"),
            arguments=("zz:arguments",),
        )
    )
    found = {name_of(each): _marked(each) for each in made}
    del found["Namespace", "", HOME]  # Helm makes it, or it is there.
    return found


@cache
def matters(name: Name) -> tuple[str, ...]:
    """The switches that change an object, or whether it is there at all."""
    everything = frozenset(SWITCHES)
    found = []
    for switch in SWITCHES:
        alone, beside = frozenset({switch}), everything - {switch}
        pairs = [(frozenset[str](), alone), (beside, everything)]
        # Rights of a dialect move into Roles where namespaces are served.
        pairs += [(each, each | alone) for each in _others(switch)]
        if any(installed(off).get(name) != installed(on).get(name) for off, on in pairs):
            found.append(switch)
    return tuple(found)


def _others(switch: str) -> Iterable[Combination]:
    return (frozenset({each}) for each in SWITCHES if each != switch)


def variants(name: Name) -> Mapping[Combination, Json]:
    """An object under every combination of the switches that matter to it, where it is there."""
    switches = matters(name)
    choices = chain.from_iterable(
        combinations(switches, count) for count in range(len(switches) + 1)
    )
    found = {frozenset(each): installed(frozenset(each)).get(name) for each in choices}
    return {each: made for each, made in found.items() if made is not None}


def universe(name: Name) -> frozenset[Combination]:
    """Every combination of the switches that matter to an object."""
    switches = matters(name)
    return frozenset(
        frozenset(each)
        for count in range(len(switches) + 1)
        for each in combinations(switches, count)
    )


def all_names() -> list[Name]:
    """Every object there can be, in the order of an installation."""
    rest = frozenset(SWITCHES) - {"webhook"}
    return list(dict.fromkeys([*installed(frozenset(SWITCHES)), *installed(rest)]))


@cache
def staying() -> frozenset[Name]:
    """What an uninstallation leaves alone: definitions, and what other systems may use."""
    gone = everything_installed(
        Installation("x", HOME, namespaces=(SERVED,)), chosen([*NAMES], "", "")
    )
    ours = {name_of(each) for each in gone if each["kind"] != "CustomResourceDefinition"}
    with_roles = {each for each in all_names() if each[0] in ("Role", "RoleBinding")}
    return frozenset(all_names()) - ours - with_roles


@cache
def foreign() -> frozenset[Name]:
    """Of these, what may be there already because of another system."""
    own = {name_of(each) for each in install_objects(Installation("x", HOME))}
    return frozenset(each for each in staying() if each not in own)


def _marked(made: Json) -> Json:
    """Put marks where the chart has a value for something that the source has written out."""
    kind, name = made["kind"], made["metadata"]["name"]
    if kind not in ("Deployment", "ServiceAccount"):
        return made
    made = copy.deepcopy(made)
    program = "webhook" if name.endswith("-webhook") else "operator"
    if kind == "Deployment":
        made["spec"]["replicas"] = f"zz:value:{program}.replicas"
        _mark_pod(made["spec"]["template"], program)
    if kind == "ServiceAccount":
        made["metadata"]["annotations"] = f"zz:with:{program}.serviceAccountAnnotations"
    return made


def _mark_pod(template: Json, program: str) -> None:
    spec = template["spec"]
    template["metadata"]["annotations"] = f"zz:with:{program}.podAnnotations"
    spec["priorityClassName"] = f"zz:text:{program}.priorityClassName"
    spec["imagePullSecrets"] = "zz:with:imagePullSecrets"
    for field in ("affinity", "topologySpreadConstraints", "nodeSelector", "tolerations"):
        spec[field] = f"zz:with:{program}.{field}"
    (container,) = spec["containers"]
    container["args"] = [
        each.replace(f"--namespaces={SERVED}", "--namespaces=zz-only-zz")
        for each in container["args"]
    ]
    container["imagePullPolicy"] = "zz:text:image.pullPolicy"
    container["resources"] = f"zz:yaml:{program}.resources"


def program_defaults(program: str) -> Json:
    """What the source has written out of one of our programs: the defaults of its values."""
    made = install_objects(Installation("x", NAMESPACE, webhook=True))
    name = f"headroom-{program}"
    (found,) = (
        each for each in made if each["kind"] == "Deployment" and each["metadata"]["name"] == name
    )
    spec = found["spec"]["template"]["spec"]
    return {
        "replicas": found["spec"]["replicas"],
        "resources": spec["containers"][0]["resources"],
        "priorityClassName": spec["priorityClassName"],
        "affinity": spec["affinity"],
        "topologySpreadConstraints": spec["topologySpreadConstraints"],
    }
