"""Every value of the chart: its default, its schema, what it is for, and the flag that means it.

Defaults that the source has written out come from there. Values that are flags of `headroom run`
have the words of its help.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import typer

from headroom.cli.dialects import NAMES
from headroom.cli.run import run
from headroom.dialects.schedulinggate.names import USUAL
from headroom.wire.guardians import PAUSE_IMAGE
from headroom.wire.yamls import dump
from tools.chart.variants import program_defaults

Json: TypeAlias = dict[str, Any]

_DNS = r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"
_IMAGE = r"^[A-Za-z0-9][A-Za-z0-9._/:@-]*$"
_BOOL: Json = {"type": "boolean"}
_AUTO: Json = {"enum": ["auto", True, False]}
_TEXT: Json = {"type": "string"}
_TEXTS: Json = {"type": "object", "additionalProperties": {"type": "string"}}
_NAME: Json = {"type": "string", "pattern": _DNS}


def _fields(*names: str, **typed: Json) -> Json:
    """An object of Kubernetes with these fields and no other: a mistyped one would be dropped."""
    known: Json = {**{name: {} for name in names}, **typed}
    return {"type": "object", "additionalProperties": False, "properties": known}


def _each(item: Json, *required: str) -> Json:
    return {"type": "array", "items": {**item, "required": [*required]} if required else item}


_AMOUNTS: Json = {"type": "object", "additionalProperties": {"type": ["string", "number"]}}
_RESOURCES = _fields(requests=_AMOUNTS, limits=_AMOUNTS, claims={"type": "array"})
_AFFINITY = _fields("nodeAffinity", "podAffinity", "podAntiAffinity")
_SECRETS = _each(_fields(name=_TEXT), "name")
_TOLERATIONS = _each(
    _fields(
        key=_TEXT,
        operator={"enum": ["Exists", "Equal", "Lt", "Gt"]},
        value=_TEXT,
        effect={"enum": ["", "NoSchedule", "PreferNoSchedule", "NoExecute"]},
        tolerationSeconds={"type": "integer"},
    )
)
_SPREAD = _each(
    _fields(
        "labelSelector",
        maxSkew={"type": "integer", "minimum": 1},
        topologyKey=_TEXT,
        whenUnsatisfiable={"enum": ["DoNotSchedule", "ScheduleAnyway"]},
        minDomains={"type": "integer", "minimum": 1},
        matchLabelKeys={"type": "array", "items": _TEXT},
        nodeAffinityPolicy={"enum": ["Honor", "Ignore"]},
        nodeTaintsPolicy={"enum": ["Honor", "Ignore"]},
    ),
    "maxSkew",
    "topologyKey",
    "whenUnsatisfiable",
)


@dataclass(frozen=True)
class Value:
    """One value; `flag` is the one of `headroom install` that means the same."""

    path: str
    default: Any
    schema: Json
    about: str
    flag: str = ""


@dataclass(frozen=True)
class RunFlag:
    """A value that is a flag of `headroom run`; unset, the program's own default holds."""

    path: str
    name: str  # of the parameter
    schema: Json
    dialect: str = ""  # only with this dialect
    default: Any = None

    @property
    def flag(self) -> str:
        return f"--{self.name.replace('_', '-')}"

    @property
    def is_list(self) -> bool:
        return bool(self.schema.get("type") == "array")

    @property
    def is_switch(self) -> bool:
        return self.schema == _BOOL


_NUMBER: Json = {"type": ["integer", "null"], "minimum": 1}
_MAYBE: Json = {"type": ["string", "null"]}

_PRICES: Json = {"type": "array", "items": {"type": "string", "pattern": r"^[^=,]+=[0-9.]+$"}}

RUN_FLAGS = (
    RunFlag("operator.price", "price", _PRICES, "", []),
    RunFlag("operator.poolLabel", "pool_label", _MAYBE),
    RunFlag("operator.allowCrossNamespaceOwners", "allow_cross_namespace_owners", _BOOL, "", False),
    RunFlag("operator.allowClusterPreallocation", "allow_cluster_preallocation", _BOOL, "", False),
    RunFlag("operator.mostSlots", "most_slots", _NUMBER),
    RunFlag("operator.nodeOverhead", "node_overhead", {"enum": ["auto", "always", "never", None]}),
    RunFlag("operator.reservationTaintsForAll", "reservation_taints_for_all", _BOOL, "", False),
    RunFlag("operator.namespaceLimits", "namespace_limits", _MAYBE),
    RunFlag("proactive.podInjectionLimit", "pod_injection_limit", _NUMBER, "proactive"),
    RunFlag("proactive.nodeLimit", "node_limit", _NUMBER, "proactive"),
    RunFlag(
        "proactive.threshold",
        "proactive_scaleup_threshold",
        {"type": ["number", "null"], "exclusiveMinimum": 0},
        "proactive",
    ),
    RunFlag(
        "proactive.profile",
        "proactive_scaleup_profile",
        {"enum": ["karpenter", "clusterAutoscaler", None]},
        "proactive",
    ),
    RunFlag("proactive.requests", "proactive_scaleup_requests", _MAYBE, "proactive"),
    RunFlag("proactive.namespace", "proactive_scaleup_namespace", _MAYBE, "proactive"),
    RunFlag(
        "operator.logLevel", "log_level", {"enum": ["debug", "info", "warning", "error", None]}
    ),
    RunFlag("operator.logFormat", "log_format", {"enum": ["auto", "prose", "json", None]}),
)


def _help_of(flag: RunFlag) -> str:
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command("run")(run)
    for parameter in typer.main.get_command(alone).params:
        if parameter.name == flag.name:
            return str(getattr(parameter, "help", "")).partition(" [default")[0]
    raise LookupError(f"headroom run has no {flag.flag}")


def _general() -> Iterator[Value]:
    image = {"type": "string", "pattern": _IMAGE}
    yield Value("image.repository", "headroom", image, "The operator's image.", "--image")
    tag = {"type": "string", "pattern": r"^[A-Za-z0-9_.-]*$"}
    yield Value("image.tag", "", tag, "Its tag; empty: the chart's appVersion.")
    digest = {"type": "string", "pattern": "^(sha256:[0-9a-f]{64})?$"}
    yield Value("image.digest", "", digest, "Its digest, in place of a tag.")
    policy = {"enum": ["", "Always", "IfNotPresent", "Never"]}
    yield Value("image.pullPolicy", "", policy, "When it is pulled; empty: as Kubernetes decides.")
    yield Value("imagePullSecrets", [], _SECRETS, "Secrets of a private registry.")
    about = "The image of guardians, latches and fences; the policies name it."
    yield Value("pauseImage", PAUSE_IMAGE, image, about, "--pause-image")
    dialects = {"type": "array", "uniqueItems": True, "items": {"enum": [*NAMES]}}
    about = f"Other systems whose manifests are served: {', '.join(NAMES)}."
    yield Value("dialects", [], dialects, about, "--dialect")
    names = {"type": "array", "uniqueItems": True, "items": _NAME}
    about = "The served namespaces, which must exist; empty: all."
    yield Value("namespaces", [], names, about, "--namespaces")
    about = "Users who may edit a namespace may reserve there."
    yield Value("tenantEdit", False, _BOOL, about, "--tenant-edit")
    about = "The permissions for the dashboard: who may open it, and token reviews."
    yield Value("dashboard.enabled", False, _BOOL, about, "--dashboard")
    about = "The admission policy that gates owners; auto: where the cluster has that kind (1.36)."
    yield Value("policies.gate", "auto", _AUTO, about, "--policy, --no-policy")
    about = "The policies that limit our accounts and reserve our names; auto: same."
    yield Value("policies.confine", "auto", _AUTO, about, "--confine, --no-confine")
    about = "CRDs, those of dialects too. They stay when the release is uninstalled."
    yield Value("crds.install", True, _BOOL, about)
    yield Value(
        "podDisruptionBudget.enabled", True, _BOOL, "At most one replica is evicted at a time."
    )
    about = "Allow connections only to the served ports."
    yield Value("networkPolicy.enabled", True, _BOOL, about)


def _mountpoint() -> Iterator[Value]:
    about = "Mountpoint's names, for the dialect schedulinggate: its namespace."
    yield Value("mountpoint.namespace", USUAL.namespace, _NAME, about, "--mountpoint-names")
    about = "The PriorityClass of helpers."
    yield Value("mountpoint.helperClass", USUAL.helper_class, _NAME, about)
    about = "The one of helpers that preempt."
    yield Value("mountpoint.preemptingClass", USUAL.preempting_class, _NAME, about)
    yield Value("mountpoint.headroomClass", USUAL.headroom_class, _NAME, "The one of held room.")


def _program(name: str, what: str) -> Iterator[Value]:
    usual = program_defaults(name)
    count = {"type": "integer", "minimum": 0}
    yield Value(f"{name}.replicas", usual["replicas"], count, f"Replicas of {what}.")
    yield Value(f"{name}.resources", usual["resources"], _RESOURCES, "The resources of a replica.")
    about = "Without room for it, no hold is handed over."
    yield Value(f"{name}.priorityClassName", usual["priorityClassName"], _TEXT, about)
    yield Value(
        f"{name}.affinity", usual["affinity"], _AFFINITY, "Prefer different nodes for the replicas."
    )
    spread = usual["topologySpreadConstraints"]
    yield Value(f"{name}.topologySpreadConstraints", spread, _SPREAD, "Prefer different zones.")
    yield Value(f"{name}.nodeSelector", {}, _TEXTS, "Where its pods run.")
    yield Value(f"{name}.tolerations", [], _TOLERATIONS, "Taints that its pods tolerate.")
    yield Value(f"{name}.podAnnotations", {}, _TEXTS, "Annotations of its pods.")
    about = "Annotations of its account."
    yield Value(f"{name}.serviceAccountAnnotations", {}, _TEXTS, about)


def _observed() -> Iterator[Value]:
    about = "Metrics are open to the pod network."
    yield Value("metrics.enabled", False, _BOOL, about, "--metrics")
    for name, what in (
        ("serviceMonitor", "A ServiceMonitor for Prometheus Operator; needs metrics.enabled."),
        ("prometheusRule", "Alerts, as a PrometheusRule."),
        ("dashboards", "Grafana dashboards, as ConfigMaps."),
    ):
        yield Value(f"metrics.{name}.enabled", False, _BOOL, what)
        labels = {"grafana_dashboard": "1"} if name == "dashboards" else {}
        yield Value(f"metrics.{name}.labels", labels, _TEXTS, "Labels by which it is found.")
    yield Value("metrics.serviceMonitor.interval", "30s", _TEXT, "The scrape interval.")


def all_values() -> list[Value]:
    """Every value, in the order of values.yaml."""
    flags = [
        Value(each.path, each.default, each.schema, _help_of(each), f"-- {each.flag}")
        for each in RUN_FLAGS
    ]
    about = "The webhook that gates owners, for clusters without that policy (before 1.36)."
    return [
        *_general(),
        *_program("operator", "the operator; one leads"),
        *(each for each in flags if each.path.startswith("operator.")),
        *(each for each in flags if each.path.startswith("proactive.")),
        *_mountpoint(),
        Value("webhook.enabled", False, _BOOL, about, "--webhook"),
        *_program("webhook", "the webhook"),
        *_observed(),
    ]


def _tree(values: list[Value]) -> Json:
    tree: Json = {}
    for value in values:
        *above, last = value.path.split(".")
        place = tree
        for name in above:
            place = place.setdefault(name, {})
        place[last] = value
    return tree


def values_yaml() -> str:
    """The file of defaults, with a line about each."""
    head = "# Written by `make chart`. README.md has the same as a table.\n"
    return head + "".join(_yaml_lines(_tree(all_values()), 0))


def _yaml_lines(tree: Json, indent: int) -> Iterator[str]:
    space = " " * indent
    for name, value in tree.items():
        if isinstance(value, Value):
            yield f"{space}# {value.about}\n"
            for line in dump({name: value.default}).splitlines():
                yield f"{space}{line}\n"
            continue
        yield f"{space}{name}:\n"
        yield from _yaml_lines(value, indent + 2)


def schema_json() -> str:
    """The schema by which Helm checks what it is given."""
    top = {"$schema": "http://json-schema.org/draft-07/schema#", "title": "Values of headroom"}
    return json.dumps({**top, **_schema(_tree(all_values()), top=True)}, indent=2) + "\n"


def _schema(tree: Json, *, top: bool = False) -> Json:
    properties: Json = {}
    for name, value in tree.items():
        if isinstance(value, Value):
            properties[name] = {**value.schema, "description": value.about}
        else:
            properties[name] = _schema(value)
    if top:
        properties["global"] = {"type": "object"}  # Charts that have this one in them set it.
    return {"type": "object", "additionalProperties": False, "properties": properties}


def table() -> str:
    """The values as a table for README.md."""
    rows = ["| value | default | what it is | flag of `headroom install` |", "|---|---|---|---|"]
    for value in all_values():
        default = json.dumps(value.default)
        shown = default if len(default) <= 70 else "see values.yaml"
        flag = f"`{value.flag}`" if value.flag else ""
        about = value.about.replace("|", "\\|")
        rows.append(f"| `{value.path}` | `{shown}` | {about} | {flag} |")
    return "\n".join(rows) + "\n"
