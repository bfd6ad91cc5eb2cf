"""`headroom dump`: writes everything that other commands read with --from into one file.

The file is made to be shared. It leaves out environment variables and commands of containers,
because no command needs them and they often contain secrets.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

from headroom.cli.options import Context, Dialects, From, Kubeconfig, option
from headroom.cli.output import OutputFormat, document, put, say

Json = Mapping[str, Any]
SECRETIVE = frozenset({"env", "envFrom", "command", "args"})
CONTAINERS = ("containers", "initContainers", "ephemeralContainers")
APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


class DumpFormat(StrEnum):
    JSON = "json"
    YAML = "yaml"


Form = Annotated[DumpFormat, option("--output -o", "How to write the dump.")]


def dump(
    output: Form = DumpFormat.JSON,
    source: From = None,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
    dialect: Dialects = None,
) -> None:
    """Write all that the other verbs read, for their --from."""
    from headroom.cli.source import WATCHED, Where, look_in, read_world
    from headroom.core.names import API_VERSION
    from headroom.wire import kinds
    from headroom.wire.times import format_time

    storage = (kinds.VOLUME_CLAIMS, kinds.VOLUMES, kinds.STORAGE_CLASSES, kinds.CSI_NODES)
    cluster = (
        *kinds.WORKLOADS,
        kinds.AUTOSCALERS,
        kinds.PRIORITY_CLASSES,
        kinds.BUDGETS,
        kinds.RESOURCE_QUOTAS,
        *storage,
    )
    access = (str(kubeconfig or ""), context)
    where = Where(
        tuple(source or ()),
        *access,
        kinds=(*WATCHED, *cluster, kinds.EVENTS),
        dialects=tuple(dialect or ()),
        namespace=look_in(access, "", source),
    )
    world = read_world(where)
    whole = {
        "apiVersion": API_VERSION,
        "kind": "Dump",
        "end": format_time(world.now),
        "dialects": list(world.codecs.names),
        "objects": [discreet(item) for item in world.raw],
    }
    put(document(whole, OutputFormat(output.value)))
    say(f"{len(world.raw)} objects; read them with: headroom get --from FILE")


def discreet(item: Json) -> dict[str, Any]:
    """Return the object without environments, commands and other fields that no command needs."""
    metadata = dict(item.get("metadata") or {})
    metadata.pop("managedFields", None)
    annotations = metadata.get("annotations") or {}
    if APPLIED in annotations:
        kept = {name: value for name, value in annotations.items() if name != APPLIED}
        metadata["annotations"] = kept
    clean = {**item, "metadata": metadata}
    spec = item.get("spec")
    if isinstance(spec, Mapping):
        clean["spec"] = _discreet_spec(spec)
    return clean


def _discreet_spec(spec: Json) -> dict[str, Any]:
    """The same for the spec of a pod, or of an object with a pod template."""
    clean = dict(spec)
    for name in CONTAINERS:
        if isinstance(spec.get(name), list):
            clean[name] = [_silent(each) for each in spec[name]]
    template = spec.get("template")
    if isinstance(template, Mapping) and isinstance(template.get("spec"), Mapping):
        clean["template"] = {**template, "spec": _discreet_spec(template["spec"])}
    return clean


def _silent(container: Any) -> Any:
    if not isinstance(container, Mapping):
        return container
    return {name: value for name, value in container.items() if name not in SECRETIVE}
