"""A small API server: the verbs, and the rules that decide what is stored.

A create runs admission (`admission`, `limitranges`, `quota`), an update runs the pod rules (`pods`)
and the schema of our own kinds, a delete respects grace periods and finalizers. Every refusal is an
`ApiError` with the message of the real server. A call takes no virtual time; callers that simulate
a client on the network wait before they call.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from sys import intern
from typing import Any

from headroom.core.holds import Problem
from headroom.core.objects import Pod
from headroom.sim.api import (
    admission,
    basic_validation,
    claimgate,
    eviction,
    kinds,
    limitranges,
    nodes,
    patches,
    pods,
    preconditions,
    quota,
    schemas,
    unmodelled,
)
from headroom.sim.api.decoder import pod_of
from headroom.sim.api.kinds import Depth, Kind
from headroom.sim.api.store import SERVER_FIELDS, Store
from headroom.sim.api.templates import AdmittedSpecs
from headroom.sim.api.values import Json, Ref, dig, drop, put, ref_of, uid_of
from headroom.sim.errors import (
    ApiError,
    already_exists,
    bad_request,
    ending,
    invalid,
    not_found,
)
from headroom.wire.errors import DecodeError


class ApiServer:
    """The verbs over a store."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.notes: dict[str, None] = {}
        self._specs = AdmittedSpecs(store)
        self._quotas = store.all_of("ResourceQuota")
        self.acting = ""  # the operator that sends the current write, if any
        self.knows = 0  # the last version of a pod that it had been shown when it sent the write

    def get(self, ref: Ref) -> Json:
        obj = self.store.get(ref)
        if obj is None:
            raise not_found(self._kind(ref.kind), ref.name)
        return obj

    def create(self, given: Json) -> Json:
        """Store a new object after admission."""
        kind = self._kind_of(given)
        obj = self._named(kind, given)
        ref = ref_of(obj)
        if kind.namespaced:
            self._require_namespace(ref, kind)
        if self.store.get(ref) is not None:
            raise already_exists(kind, ref.name)
        if kind is kinds.POD:
            return self._create_pod(obj)
        _check_sanity(kind, obj)
        if kind is kinds.NODE:
            obj = nodes.registered(obj)
            if not dig(obj, "status", "capacity"):
                self.note(f"{ref} has no status.capacity: no pod fits there")
        elif kind.has_status and kind is not kinds.NAMESPACE:
            obj = drop(obj, "status")
        obj = schemas.checked(kind, obj, self.store.registry.catalogue)
        if kind is kinds.QUOTA and (ignored := quota.unmodelled(obj)):
            self.note(f"{ref}: not modelled in a ResourceQuota: {', '.join(ignored)}")
        return self.store.insert(obj)

    def _create_pod(self, given: Json) -> Json:
        """Store a new pod after admission, which is shorter if its spec was admitted before."""
        known = self._specs.find(given)
        if known is not None:
            _check_sanity(kinds.POD, given, basic_validation.metadata_problems("Pod", given))
            prioritized: Json = {**given, "spec": known.prioritized}
            if claimgate.gated(prioritized, self.store) is prioritized:
                obj: Json = {**given, "spec": known.spec, "status": known.status}
                fields = known.fields(obj["metadata"])
                if fields is not None:
                    self._check_quota(obj, known.pod)
                    return self.store.insert(obj, pod=known.pod, **fields)
        _check_sanity(kinds.POD, given)
        prioritized = admission.prioritized(given, self.store.list)
        obj = claimgate.gated(prioritized, self.store)
        obj = self._within_limits(admission.admit_pod(obj, self.store.timestamp()))
        pod = _readable(obj)
        self._check_quota(obj, pod)
        for words in unmodelled.notes(obj):
            self.note(words)
        self._specs.note(given, prioritized["spec"], obj, pod)
        return self.store.insert(obj, pod=pod)

    def restore(self, obj: Json) -> Json:
        """Store an object again with its former uid, times and status."""
        kind = self._kind_of(obj)
        obj = self._named(kind, obj)
        ref = ref_of(obj)
        old = self.store.get(ref)
        if old is not None:
            return self.store.replace(old, put(obj, uid_of(old), "metadata", "uid"))
        if kind.namespaced:
            self._make_namespace(ref.namespace)
        return self.store.insert(obj, as_it_was=True)

    def update(self, new: Json, subresource: str = "") -> Json:
        """Replace an object (or its status); a resourceVersion in it must be the stored one."""
        ref = ref_of(new)
        return self._store_update(self._kind(ref.kind), self.get(ref), new, subresource)

    def merge_patch(
        self, ref: Ref, patch: Json, subresource: str = "", strategic: bool = False
    ) -> Json:
        """Merge a patch; a uid or resourceVersion in it must be the stored one."""
        old = self.get(ref)
        new = (patches.strategic_merge if strategic else patches.merge)(old, patch)
        return self._store_update(self._kind(ref.kind), old, new, subresource)

    def json_patch(self, ref: Ref, operations: Sequence[Json], subresource: str = "") -> Json:
        old = self.get(ref)
        new = patches.json_patch(old, operations)
        return self._store_update(self._kind(ref.kind), old, new, subresource)

    def apply(self, obj: Json, owned: bool = False) -> Json:
        """Create the object, or merge it into the existing one.

        Field ownership is not modelled: with `owned`, the whole spec is assumed to be the caller's.
        """
        kind = self._kind_of(obj)
        named = self._named(kind, obj)
        old = self.store.get(ref_of(named))
        if old is None:
            if kind.namespaced and not owned:
                self._make_namespace(ref_of(named).namespace)
            return self.create(named)
        patch = drop(named, "status") if kind.has_status else named
        new = patches.merge(drop(old, "spec") if owned and "spec" in patch else old, patch)
        return self._store_update(kind, old, new, "")

    def scale(self, ref: Ref, replicas: int) -> Json:
        """Set the number of replicas at the path that the kind defines."""
        kind = self._kind(ref.kind)
        old = self.get(ref)
        path = "." + ".".join(kind.scale)
        if not kind.scale:
            raise ApiError(404, "NotFound", f"{kind.resource} has no scale subresource")
        if kind.custom and dig(old, *kind.scale) is None:
            words = f'the spec replicas field "{path}" does not exist'
            raise ApiError(500, "InternalError", f"Internal error occurred: {words}")
        return self._store_update(kind, old, put(old, replicas, *kind.scale), "")

    def delete(self, ref: Ref, grace: int | None = None, uid: str = "", version: str = "") -> None:
        """Delete the object, or mark it if a kubelet or a finalizer must finish first."""
        old = self.get(ref)
        preconditions.check_deletion(self._kind(ref.kind), old, uid, version)
        seconds = pods.grace_of(old, grace) if ref.kind == "Pod" else 0
        if seconds == 0 and not old["metadata"].get("finalizers") and ref.kind != "Namespace":
            self.store.remove(old)
            return
        already = dig(old, "metadata", "deletionGracePeriodSeconds")
        if dig(old, "metadata", "deletionTimestamp") and (already is None or already <= seconds):
            return
        marked = {
            **old["metadata"],
            "deletionTimestamp": self.store.timestamp_in(seconds),
            "deletionGracePeriodSeconds": seconds,
        }
        ending = {**old, "metadata": marked}
        if ref.kind == "Namespace":  # Its controller removes it once it is empty.
            ending = put(ending, "Terminating", "status", "phase")
        self.store.replace(old, ending)

    def bind(self, ref: Ref, binding: Json) -> Json:
        """Bind a pod to a node; as in the real API server, everything except room is checked."""
        old = self.get(ref)
        name = pods.target_of(binding)
        labels = nodes.topology(self.store.find("Node", "", name))
        new = pods.bound(old, binding, self.store.timestamp(), labels)
        if new["metadata"] is not old["metadata"] or pod_of(old).unsupported:
            return self.store.replace(old, new)
        return self.store.replace(old, new, node=intern(name), **pods.PLACED)

    def evict(self, ref: Ref, grace: int | None = None, uid: str = "") -> None:
        """Delete a pod if its disruption budget allows it."""
        pod = self.get(ref)
        preconditions.check_deletion(kinds.POD, pod, uid, "")
        budgets = self.store.list("PodDisruptionBudget", ref.namespace)
        left = eviction.charged(pod, budgets, self.store.timestamp())
        if left is not None:
            self.update(left, "status")
        if not dig(pod, "metadata", "deletionTimestamp"):
            self.update(eviction.evicted(pod, self.store.timestamp()), "status")
        self.delete(ref, grace)

    def write_pod_status(self, pod: Json, status: Json, **fields: Any) -> Json:
        """Store another status of a pod that was read in this moment: there is nothing to check."""
        return self.store.replace_status(pod, status, **fields)

    def note(self, words: str) -> None:
        """Add a note for the user about this run, once."""
        self.notes.setdefault(words)

    def _store_update(self, kind: Kind, old: Json, new: Json, subresource: str) -> Json:
        preconditions.check_identity(kind, old, new)
        catalogue = self.store.registry.catalogue
        if subresource == "status":
            new = _status_update(kind, old, new)
            schemas.check_status(kind, new, catalogue)
        elif subresource:
            raise bad_request(f"subresource {subresource} of {kind.resource} is not modelled")
        elif kind.has_status and kind not in (kinds.NODE, kinds.NAMESPACE):
            new = put(new, old["status"], "status") if "status" in old else drop(new, "status")
        new = {**new, "metadata": _kept_metadata(old, new)}
        if new.get("spec") != old.get("spec"):
            if kind is kinds.POD:
                pods.check_update(old, new)
            generation = int(old["metadata"].get("generation", 1))
            new = schemas.checked(kind, new, catalogue)
            new = put(new, generation + 1, "metadata", "generation")
        if kind is not kinds.NAMESPACE and _is_over(new["metadata"]):
            self.store.remove(old)
            return new
        return self.store.replace(old, new)

    def _kind(self, name: str) -> Kind:
        return self.store.registry.served(name)

    def _kind_of(self, obj: Json) -> Kind:
        kind = self._kind(str(obj.get("kind", "")))
        expected = kind.resource.api_version
        if obj.get("apiVersion") != expected:
            raise bad_request(f"{kind.name} is served as {expected}, not {obj.get('apiVersion')!r}")
        if kind.depth is Depth.INERT:
            self.note(f"{kind.name}: kept and shown, but nothing acts on it")
        return kind

    def _named(self, kind: Kind, obj: Json) -> Json:
        meta = dict(obj.get("metadata") or {})
        if kind.namespaced:
            meta["namespace"] = meta.get("namespace") or "default"
        else:
            meta.pop("namespace", None)
        if not meta.get("name") and meta.get("generateName"):
            meta["name"] = self.store.fresh_name(meta["generateName"])
        if not meta.get("name"):
            raise invalid(
                kind, "", "metadata.name: Required value: name or generateName is required"
            )
        return {**obj, "metadata": meta}

    def _require_namespace(self, ref: Ref, kind: Kind) -> None:
        namespace = self.store.find("Namespace", "", ref.namespace)
        if namespace is None:
            raise not_found(kinds.NAMESPACE, ref.namespace)
        if namespace["metadata"].get("deletionTimestamp"):
            words = f"unable to create new content in namespace {ref.namespace} because it is"
            raise ending(kind, ref.name, f"{words} being terminated")

    def _make_namespace(self, name: str) -> None:
        """Create a namespace that manifests use but do not contain, and note it."""
        if self.store.get(Ref("Namespace", "", name)) is None:
            self.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
            self.note(f"namespace {name} was not in the files and has been made")

    def _within_limits(self, obj: Json) -> Json:
        """A new pod with the defaults of LimitRanges; raises their refusal."""
        ranges = list(self.store.list("LimitRange", ref_of(obj).namespace))
        if not ranges:
            return obj
        obj = limitranges.with_defaults(obj, ranges)
        _check_sanity(kinds.POD, obj)
        refused = limitranges.refusal(obj, ranges)
        if refused is not None:
            raise refused
        return obj

    def _check_quota(self, obj: Json, pod: Pod) -> None:
        if not self._quotas:
            return
        ref = ref_of(obj)
        for item in self.store.list("ResourceQuota", ref.namespace):
            others = (
                pod_of(other).requests
                for other in self.store.list("Pod", ref.namespace)
                if dig(other, "status", "phase") not in pods.FINISHED
            )
            refused = quota.refusal(ref.name, pod.requests, others, item)
            if refused is not None:
                raise refused


def _is_over(meta: Json) -> bool:
    """Whether a deleted object has nothing left that keeps it."""
    waits = meta.get("finalizers") or meta.get("deletionGracePeriodSeconds")
    return bool(meta.get("deletionTimestamp")) and not waits


def _check_sanity(kind: Kind, obj: Json, problems: Iterable[Problem] | None = None) -> None:
    """Refuse an object with problems; by default all its parts are checked."""
    problems = basic_validation.problems(obj) if problems is None else problems
    found = [f"{problem.path}: {problem.message}" for problem in problems]
    if found:
        raise invalid(kind, str(dig(obj, "metadata", "name")), ", ".join(found))


def _readable(obj: Json) -> Pod:
    """Decode a new pod; an unreadable value (such as a wrong quantity) is refused with its path."""
    try:
        return pod_of(obj)
    except DecodeError as error:
        name = str(dig(obj, "metadata", "name"))
        raise invalid(kinds.POD, name, f"{error.path}: {error.problem}") from error


def _status_update(kind: Kind, old: Json, new: Json) -> Json:
    """The allowed changes of a status write; for pods also labels and annotations."""
    if kind is kinds.POD:
        meta: dict[str, Any] = {**old["metadata"]}
        for field in ("labels", "annotations"):
            meta.pop(field, None)
            if dig(new, "metadata", field):
                meta[field] = new["metadata"][field]
        return {**old, "metadata": meta, "status": new.get("status") or {}}
    if not kind.has_status:
        raise ApiError(404, "NotFound", f"{kind.resource} has no status subresource")
    return {**old, "status": new.get("status") or {}}


def _kept_metadata(old: Json, new: Json) -> dict[str, Any]:
    """The metadata that a client cannot change."""
    meta = dict(new.get("metadata") or {})
    for field in SERVER_FIELDS:
        meta.pop(field, None)
        if field in old["metadata"]:
            meta[field] = old["metadata"][field]
    return meta
