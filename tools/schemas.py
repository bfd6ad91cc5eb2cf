"""Record the fields of Kubernetes objects, from a running API server.

`KUBECONFIG=… python -m tools.schemas` reads the server's OpenAPI v3 documents through kubectl and
rewrites `src/headroom/wire/data/kubernetes.json`: only names and types of fields, in the notation
that `headroom.wire.schema` reads. Run it again when the pinned Kubernetes version changes.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeAlias

# OpenAPI documents are open-ended JSON.
Json: TypeAlias = dict[str, Any]

TARGET = Path(__file__).parent.parent / "src/headroom/wire/data/kubernetes.json"

KINDS: dict[str, tuple[str, ...]] = {
    "v1": (
        "ConfigMap",
        "LimitRange",
        "Namespace",
        "Node",
        "PersistentVolume",
        "PersistentVolumeClaim",
        "Pod",
        "ResourceQuota",
        "Service",
        "ServiceAccount",
    ),
    "apps/v1": ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"),
    "batch/v1": ("Job",),
    "policy/v1": ("PodDisruptionBudget",),
    "scheduling.k8s.io/v1": ("PriorityClass",),
    "storage.k8s.io/v1": ("StorageClass",),
}

_PREFIX = "#/components/schemas/"
_QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
_SCALARS = {
    _QUANTITY: "quantity",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "intorstring",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time": "time",
    "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": "time",
    "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": "object",
}
_FORMATS = {"byte": "bytes", "date-time": "time", "int-or-string": "intorstring"}


class Collector:
    """Collects the types that the requested kinds use, under short names."""

    def __init__(self, schemas: Json) -> None:
        self._schemas = schemas
        self._long_names: dict[str, str] = {}
        self.types: dict[str, dict[str, str]] = {}

    def collect(self, long_name: str) -> str:
        """Add a type and everything it uses; return its short name."""
        short = long_name.rsplit(".", 1)[-1]
        known = self._long_names.setdefault(short, long_name)
        if known != long_name:
            raise SystemExit(f"{short} names both {known} and {long_name}; give one a longer name")
        if short not in self.types:
            schema = self._schemas[long_name]
            required = schema.get("required", ())
            self.types[short] = fields = {}
            for name, field in sorted(schema.get("properties", {}).items()):
                fields[name] = self.notation(field) + ("!" if name in required else "")
        return short

    def notation(self, schema: Json) -> str:
        """Write the type of one field."""
        reference = schema.get("$ref") or next(
            (part["$ref"] for part in schema.get("allOf", ()) if "$ref" in part), None
        )
        if reference:
            long_name = reference.removeprefix(_PREFIX)
            return _SCALARS.get(long_name) or self.collect(long_name)
        if "enum" in schema:
            return "=" + "|".join(schema["enum"])
        match schema.get("type"):
            case "array":
                return "[]" + self.notation(schema["items"])
            case "object" if "additionalProperties" in schema:
                return "{}" + self.notation(schema["additionalProperties"])
            case "object":
                return "object"
            case "string":
                return _FORMATS.get(schema.get("format", ""), "string")
            case "integer":
                return str(schema.get("format", "int64"))
            case "boolean":
                return "bool"
            case "number":
                return "number"
        raise SystemExit(f"cannot write down {schema}")


def facts(ask: Callable[[str], Json]) -> Json:
    """The content of the data file; `ask` gets a path from the API server."""
    kinds: dict[str, str] = {}
    documents = {version: _schemas(ask, version) for version in KINDS}
    collector = Collector({name: part for found in documents.values() for name, part in found})
    for version, wanted in KINDS.items():
        for long_name, schema in documents[version]:
            for kind in _kinds_of(schema, version):
                if kind in wanted:
                    kinds[f"{version}/{kind}"] = collector.collect(long_name)
    return {
        "kubernetes": ask("/version")["gitVersion"],
        "kinds": dict(sorted(kinds.items())),
        "types": dict(sorted(collector.types.items())),
    }


def _schemas(ask: Callable[[str], Json], version: str) -> list[tuple[str, Json]]:
    root = "apis" if "/" in version else "api"
    found = ask(f"/openapi/v3/{root}/{version}")["components"]["schemas"]
    return sorted(found.items())


def _kinds_of(schema: Json, version: str) -> Iterable[str]:
    for named in schema.get("x-kubernetes-group-version-kind", ()):
        group = f"{named['group']}/" if named["group"] else ""
        if f"{group}{named['version']}" == version:
            yield named["kind"]


def written(data: Json) -> str:
    """Format the facts with one type per line, so that a diff is readable."""

    def block(part: dict[str, Any]) -> str:
        rows = [f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in part.items()]
        return "{\n" + ",\n".join(rows) + "\n }"

    return (
        f'{{"kubernetes": {json.dumps(data["kubernetes"])},\n'
        f' "kinds": {block(data["kinds"])},\n'
        f' "types": {block(data["types"])}}}\n'
    )


def ask_kubectl(path: str) -> Json:
    """Get a path from the cluster that kubectl reaches."""
    done = subprocess.run(["kubectl", "get", "--raw", path], capture_output=True, check=True)
    answer: Json = json.loads(done.stdout)
    return answer


def main() -> int:
    TARGET.write_text(written(facts(ask_kubectl)))
    print(f"{TARGET}: {TARGET.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
