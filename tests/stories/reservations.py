"""Worlds in which Koordinator's dialect is on, and Reservations in a few words."""

from __future__ import annotations

import json
from typing import Any

from headroom.dialects.koordinator import KOORDINATOR
from headroom.wire.kind_codecs import KindCodecs
from testbed.controlplane import ControlPlane
from tests.stories.embedded import EmbeddedWorld
from tests.stories.real import RealWorld
from tests.stories.things import Json, pod, requests

KOORD = "koord-scheduler"
PREFIX = "scheduling.koordinator.sh"
CODECS = KindCodecs([KOORDINATOR])


class EmbeddedReservations(EmbeddedWorld):
    """The embedded cluster with the kind Reservation."""

    def __init__(self) -> None:
        super().__init__(codecs=CODECS)

    def start_operator(self, **settings: Any) -> None:
        super().start_operator(scheduler_names=CODECS.schedulers, **settings)


class RealReservations(RealWorld):
    """A real cluster with the kind Reservation."""

    def __init__(self, plane: ControlPlane) -> None:
        super().__init__(plane, CODECS)

    def start_operator(self, **settings: Any) -> None:
        super().start_operator(scheduler_names=CODECS.schedulers, **settings)


def reservation(name: str, cpu: str | int = 1, app: str = "web", **spec: Any) -> Json:
    """A Reservation for pods labelled `app` of namespace default, unless `owners` says otherwise.

    `template` adds to the pod spec of its template; `labels` and `annotations` are its own.
    """
    metadata: Json = {"name": name}
    for part in ("labels", "annotations"):
        metadata[part] = spec.pop(part, {})
    shape: Json = {"containers": [requests(cpu, spec.pop("memory", ""))], "schedulerName": KOORD}
    shape.update(spec.pop("template", {}))
    owners = spec.pop("owners", [{"labelSelector": {"matchLabels": {"app": app}}}])
    return {
        "apiVersion": f"{PREFIX}/v1alpha1",
        "kind": "Reservation",
        "metadata": metadata,
        "spec": {"template": {"spec": shape}, "owners": owners, **spec},
    }


def owner(name: str, cpu: str | int = 1, app: str = "web", **spec: Any) -> Json:
    """A pod for koord-scheduler; `affinity` and `exact` are its annotations, as JSON.

    `placing` are fields of its spec, such as an affinity to nodes or pods.
    """
    annotations = dict(spec.pop("annotations", {}))
    for part, key in (("affinity", "reservation-affinity"), ("exact", "exact-match-reservation")):
        if part in spec:
            annotations[f"{PREFIX}/{key}"] = json.dumps(spec.pop(part))
    spec.update(spec.pop("placing", {}))
    return pod(name, cpu, app, schedulerName=KOORD, annotations=annotations, **spec)
