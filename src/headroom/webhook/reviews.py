"""AdmissionReviews: parse, decide with `core.claim_gate`, and answer with the gate or unchanged.

The answer always allows the pod, and is the same for a dry run: at most one gate is added, nothing
is written. The creation time is the API server's timestamp on the pod, as for the policy, so the
webhook's own clock decides nothing.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Raw

from headroom.core.claim_gate import ClaimIndex, asking_pod_refusal, claim_refusal
from headroom.core.names import CLAIM_GATE
from headroom.core.objects import Pod
from headroom.wire.errors import UNREADABLE_JSON, DecodeError
from headroom.wire.kind_codecs import KindCodecs
from headroom.wire.kinds import PODS
from headroom.wire.objects.reader import Time

Lookup = Callable[[str], ClaimIndex | None]
Rule = Callable[[Pod, ClaimIndex | None, datetime | None], str | None]


class NoReview(ValueError):
    """The request is not an AdmissionReview of a new object."""


class _Kind(msgspec.Struct):
    group: str = ""
    kind: str = ""


class _Request(msgspec.Struct):
    uid: str
    kind: _Kind
    operation: str
    namespace: str = ""
    object: Raw = Raw(b"null")


class _Review(msgspec.Struct):
    request: _Request


class _Entry(msgspec.Struct):
    time: Time | None = None


class _Stamps(msgspec.Struct, rename="camel"):
    managed_fields: tuple[_Entry, ...] = ()


class _Stamped(msgspec.Struct):
    metadata: _Stamps


_read_review = msgspec.json.Decoder(_Review)
_read_stamps = msgspec.json.Decoder(_Stamped)


@dataclass(frozen=True, slots=True)
class ReviewVerdict:
    """The answer to one review, and why the pod is not gated (empty if it is)."""

    body: bytes
    namespace: str
    why: str = ""
    unreadable: bool = False


class Judge:
    """Answers reviews by one rule, with the index of the pod's namespace."""

    def __init__(self, rule: Rule, index_of: Lookup, codecs: KindCodecs) -> None:
        self._rule = rule
        self._index_of = index_of
        self._codecs = codecs

    def answer(self, text: bytes) -> ReviewVerdict:
        """Answer one review; raise NoReview if it is none."""
        try:
            request = _read_review.decode(text).request
        except UNREADABLE_JSON as error:
            raise NoReview(f"not an AdmissionReview: {error}") from error
        if (request.kind.group, request.kind.kind) != (PODS.group, PODS.kind):
            return self._left_alone(request, "it is no pod")
        if request.operation != "CREATE":
            return self._left_alone(request, "it is not new")
        try:
            pod, at = self._codecs.decode(PODS, request.object), _stamped(request.object)
        except (DecodeError, *UNREADABLE_JSON) as error:
            return self._left_alone(request, str(error), unreadable=True)
        if not isinstance(pod, Pod):
            raise NoReview(f"decoded as {type(pod).__name__}, not as a pod")
        refusal = self._rule(pod, self._index_of(request.namespace), at)
        if refusal is not None:
            return self._left_alone(request, refusal)
        return ReviewVerdict(_answer(request.uid, gate_patch(pod)), request.namespace)

    def _left_alone(self, request: _Request, why: str, unreadable: bool = False) -> ReviewVerdict:
        return ReviewVerdict(_answer(request.uid), request.namespace, why, unreadable)


def claims_judge(index_of: Lookup, codecs: KindCodecs) -> Judge:
    """The judge for pods in namespaces that have opted in."""
    return Judge(claim_refusal, index_of, codecs)


def asks_judge(index_of: Lookup, codecs: KindCodecs) -> Judge:
    """The judge for pods that may ask by an annotation of a dialect."""
    return Judge(
        lambda pod, index, at: asking_pod_refusal(pod, index, at, codecs.asks), index_of, codecs
    )


def gate_patch(pod: Pod) -> list[dict[str, Any]]:
    """The JSON patch that adds our gate and keeps those of others."""
    gate = {"name": CLAIM_GATE}
    if pod.gates:
        return [{"op": "add", "path": "/spec/schedulingGates/-", "value": gate}]
    return [{"op": "add", "path": "/spec/schedulingGates", "value": [gate]}]


def _stamped(text: Raw) -> datetime | None:
    """When the API server admitted the pod, by its own clock."""
    fields = _read_stamps.decode(text).metadata.managed_fields
    return fields[0].time if fields else None


def _answer(uid: str, patch: list[dict[str, Any]] | None = None) -> bytes:
    response: dict[str, Any] = {"uid": uid, "allowed": True}
    if patch is not None:
        response["patchType"] = "JSONPatch"
        response["patch"] = base64.b64encode(msgspec.json.encode(patch)).decode()
    return msgspec.json.encode(
        {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}
    )
