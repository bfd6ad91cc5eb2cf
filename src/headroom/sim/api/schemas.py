"""What the API server checks by schema: our own kinds as their CRDs do, workloads' selectors.

Kubernetes' own kinds are checked when files are read; here only what can make an object that is
written through the API senseless to its controller.
"""

from __future__ import annotations

import json

from headroom.sim.api import kinds
from headroom.sim.api.kinds import Kind
from headroom.sim.api.values import Json, dig, put
from headroom.sim.errors import invalid
from headroom.sim.selecting import labels_of, selects
from headroom.wire.schema.checking import validate
from headroom.wire.schema.own import known

_OWN = (kinds.HOLD, kinds.CLAIM_INDEX)
_WORKLOADS = (kinds.DEPLOYMENT, kinds.REPLICA_SET, kinds.DAEMON_SET, kinds.STATEFUL_SET)


def checked(kind: Kind, obj: Json) -> Json:
    """Return the object with its schema's defaults, or raise what is wrong with it."""
    name = str(dig(obj, "metadata", "name"))
    if kind in _OWN:
        problems = validate(obj, kind.name, known())
        if problems:
            raise invalid(kind, name, "; ".join(str(problem) for problem in problems))
        return _defaulted(kind, obj)
    if kind in _WORKLOADS:
        template = dig(obj, "spec", "template") or {}
        if not selects(dig(obj, "spec", "selector"), template):
            labels = json.dumps(labels_of(template), separators=(",", ":"))
            words = f"Invalid value: {labels}: `selector` does not match template `labels`"
            raise invalid(kind, name, f"spec.template.metadata.labels: {words}")
    return obj


def _defaulted(kind: Kind, obj: Json) -> Json:
    for field, facts in known().types.get(f"{kind.name}Spec", {}).items():
        if "default" in facts.facts and dig(obj, "spec", field) is None:
            obj = put(obj, facts.facts["default"], "spec", field)
    return obj
