"""What the API server checks by schema: custom kinds by their CRDs, and workload selectors.

Kubernetes' own kinds are checked when files are read. Here only those errors are checked that make
an object useless to its controller.
"""

from __future__ import annotations

import json

from headroom.core.holds import Problem
from headroom.sim.api import kinds
from headroom.sim.api.kinds import Kind
from headroom.sim.api.values import Json, dig
from headroom.sim.errors import invalid
from headroom.sim.selectors import labels_of, selects
from headroom.wire.schema.defaults import with_defaults
from headroom.wire.schema.notation import Catalogue
from headroom.wire.schema.validation import validate

_WORKLOADS = (kinds.DEPLOYMENT, kinds.REPLICA_SET, kinds.DAEMON_SET, kinds.STATEFUL_SET)


def checked(kind: Kind, obj: Json, catalogue: Catalogue) -> Json:
    """The object with the defaults of its schema; raises what is wrong with it."""
    name = str(dig(obj, "metadata", "name"))
    if kind.custom:
        _refuse(kind, name, validate(obj, _type(kind, catalogue), catalogue))
        return with_defaults(dict(obj), _type(kind, catalogue), catalogue)
    if kind in _WORKLOADS:
        template = dig(obj, "spec", "template") or {}
        if not selects(dig(obj, "spec", "selector"), template):
            labels = json.dumps(labels_of(template), separators=(",", ":"))
            words = f"Invalid value: {labels}: `selector` does not match template `labels`"
            raise invalid(kind, name, f"spec.template.metadata.labels: {words}")
    return obj


def check_status(kind: Kind, obj: Json, catalogue: Catalogue) -> None:
    """Refuse an invalid status; errors elsewhere in the object were accepted before."""
    if kind.custom:
        found = validate(obj, _type(kind, catalogue), catalogue)
        problems = [problem for problem in found if problem.path.startswith("status")]
        _refuse(kind, str(dig(obj, "metadata", "name")), problems)


def _refuse(kind: Kind, name: str, problems: list[Problem]) -> None:
    if problems:
        raise invalid(kind, name, "; ".join(str(problem) for problem in problems))


def _type(kind: Kind, catalogue: Catalogue) -> str:
    return catalogue.kinds[f"{kind.resource.api_version}/{kind.name}"]
