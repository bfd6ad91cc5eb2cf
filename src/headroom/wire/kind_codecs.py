"""The decoders and requests of all kinds: our own kinds, and those of the enabled dialects.

Adapters get one `KindCodecs` and use it instead of the tables of `decode`, `render` and `kinds`;
`NATIVE` is the one without dialects. A dialect renders the actions about its own objects, and
`render` all others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import msgspec
from msgspec import Raw

from headroom.core.actions import Action, CreateGuardian, Disclaim
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.names import SCHEDULER_NAME
from headroom.core.objects import OwnObject, Parent, Pod
from headroom.ports import Thing
from headroom.wire.crds import crds
from headroom.wire.decode import DECODERS, Decode
from headroom.wire.dialect import Dialect, Rival
from headroom.wire.guardians import PAUSE_IMAGE
from headroom.wire.kinds import HEADROOMS, HOLDS, NAMESPACES, NODES, PODS, Json, Resource, find_kind
from headroom.wire.objects.metadata import KEPT_ANNOTATIONS, AnnotationReader
from headroom.wire.objects.pods import decode_pod
from headroom.wire.objects.reader import to_text
from headroom.wire.rbac import named
from headroom.wire.render import render
from headroom.wire.safe_decode import contained
from headroom.wire.schema.notation import Catalogue
from headroom.wire.schema.own import known
from headroom.wire.writes import Write

WATCHED = (NAMESPACES, NODES, PODS, HOLDS, HEADROOMS)


class KindCodecs:
    """Our own kinds and those of some dialects.

    `also` are further kinds to follow, `image` is what the pods run that we make.
    """

    def __init__(
        self,
        dialects: Sequence[Dialect] = (),
        also: Sequence[Resource] = (),
        image: str = PAUSE_IMAGE,
    ) -> None:
        self.dialects = tuple(dialects)
        self.image = image
        self._also = tuple(also)
        foreign = tuple(kind for dialect in self.dialects for kind in dialect.kinds)
        seen = (kind for dialect in self.dialects for kind in dialect.follows)
        self.resources: tuple[Resource, ...] = tuple(
            dict.fromkeys((*WATCHED, *also, *foreign, *seen))
        )
        self.foreign = foreign
        self.annotation_prefixes = _once(
            KEPT_ANNOTATIONS, *(dialect.annotations for dialect in self.dialects)
        )
        self.asks = _once(*(dialect.asks for dialect in self.dialects))
        self.rivals: tuple[Rival, ...] = tuple(
            rival for dialect in self.dialects for rival in dialect.rivals
        )
        self.schedulers = frozenset({SCHEDULER_NAME}).union(
            *(dialect.schedulers for dialect in self.dialects)
        )
        self._avoided: frozenset[str] = frozenset()
        self._by_kind = {(kind.api_version, kind.kind): kind for kind in foreign}
        self._decoders: dict[Resource, Decode] = dict(DECODERS)
        if self.annotation_prefixes != KEPT_ANNOTATIONS:
            self._decoders[PODS] = partial(
                decode_pod, kept=AnnotationReader(self.annotation_prefixes)
            )
        for dialect in self.dialects:
            self._decoders.update({**dialect.reads, **dialect.decoders})
        self._dressing = tuple(each.dress for each in self.dialects if each.dress is not None)
        self._pod_dressing = tuple(
            each.dress_pod for each in self.dialects if each.dress_pod is not None
        )

    @property
    def guardian_classes(self) -> tuple[str, ...]:
        """The PriorityClasses that guardians of the dialects may have."""
        return _once(*(dialect.guardian_classes for dialect in self.dialects))

    @property
    def names(self) -> tuple[str, ...]:
        """The dialects that are on."""
        return tuple(dialect.name for dialect in self.dialects)

    def decode(self, resource: Resource, data: bytes | Raw) -> Thing:
        """Read one object; KeyError for a kind that nobody here reads."""
        return contained(resource.kind, data, partial(self.read, resource))

    def read(self, resource: Resource, data: bytes | Raw) -> Thing:
        """The same for who contains all exceptions, as everything in `wire.decode` does."""
        thing = self._decoders[resource](data)
        if self._dressing and isinstance(thing, Headroom):
            for dress in self._dressing:
                thing = dress(thing, data)
        elif self._pod_dressing and isinstance(thing, Pod):
            for read_words in self._pod_dressing:
                thing = read_words(thing)
        return thing

    def thing_from(self, resource: Resource, thing: Mapping[str, Any]) -> Thing:
        """Read one object held as plain dicts."""
        return self.decode(resource, to_text(resource.kind, thing))

    def reads_plainly(self, resource: Resource) -> bool:
        """Whether objects of a kind are read without anything that a dialect adds."""
        dressed = resource == PODS and bool(self._pod_dressing)
        return not dressed and self._decoders[resource] is DECODERS[resource]

    def reads(self, resource: Resource) -> bool:
        return resource in self._decoders

    def following(self, also: Sequence[Resource]) -> KindCodecs:
        """The same, and further kinds to follow."""
        return KindCodecs(self.dialects, (*self._also, *also), self.image)

    def render(self, action: Action) -> Write:
        """Turn an action into the request that does it."""
        if isinstance(action, Disclaim):
            return self._disclaim(action)
        if isinstance(action, CreateGuardian):
            action = self._classed(action)
        for dialect in self.dialects:
            write = dialect.render(action)
            if write is not None:
                return write
        return render(action, self.image)

    def avoid(self, classes: Iterable[str]) -> None:
        """These PriorityClasses of the cluster preempt: guardians get the class of their mode."""
        self._avoided = frozenset(classes)

    def _classed(self, action: CreateGuardian) -> CreateGuardian:
        template = action.hold.template
        if template.priority_class not in self._avoided:
            return action
        hold = replace(action.hold, template=replace(template, priority_class=""))
        return replace(action, hold=hold)

    def _disclaim(self, action: Disclaim) -> Write:
        """Take a claim off in everybody's words: it does not say whose it was.

        To take off what is not there does no harm.
        """
        write = render(action)
        gone = dict.fromkeys(name for dialect in self.dialects for name in dialect.claims)
        if not gone or not isinstance(write.body, dict):
            return write
        metadata = write.body["metadata"]
        annotations = {**metadata["annotations"], **gone}
        body = {**write.body, "metadata": {**metadata, "annotations": annotations}}
        return replace(write, body=body)

    def find_kind(self, api_version: str, kind: str) -> Resource | None:
        """Look a kind up by what an object says of itself."""
        return find_kind(api_version, kind) or self._by_kind.get((api_version, kind))

    def definitions(self) -> list[Json]:
        """The CustomResourceDefinitions of every kind that is served."""
        return [*crds(), *(made for dialect in self.dialects for made in dialect.definitions())]

    def objects(self) -> list[Json]:
        """What has to stand in the cluster for the dialects, besides classes and definitions."""
        return [dict(made) for dialect in self.dialects for made in dialect.objects]

    def own_objects(self, more: Iterable[Json] = ()) -> tuple[OwnObject, ...]:
        """The Headrooms among them, and more of their kind: the operator keeps them for itself."""
        return tuple(
            OwnObject(_parent(made), msgspec.json.encode(made).decode())
            for made in (*self.objects(), *more)
            if made["kind"] == HEADROOMS.kind
        )

    def classes(self) -> list[Json]:
        """The PriorityClasses that guardians have beyond our own."""
        return [dict(made) for dialect in self.dialects for made in dialect.classes]

    def rules(self) -> list[Json]:
        """The rights that the operator needs beyond its own, as RBAC rules."""
        rules = [dict(rule) for dialect in self.dialects for rule in dialect.rules]
        leases = list(dict.fromkeys(rival.lease for rival in self.rivals))
        if leases:
            rules.append(named("coordination.k8s.io", ("leases",), ("list",), tuple(leases)))
        return rules

    def catalogue(self) -> Catalogue:
        """The fields of every kind that a manifest may hold."""
        catalogue = known()
        for dialect in self.dialects:
            if dialect.catalogue is not None:
                catalogue = dialect.catalogue(catalogue)
        return catalogue


def _once(*texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for some in texts for text in some))


NATIVE = KindCodecs()


def _parent(made: Json) -> Parent:
    metadata = made["metadata"]
    return Parent(made["apiVersion"], made["kind"], metadata["namespace"], metadata["name"])
