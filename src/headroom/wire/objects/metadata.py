"""Labels, annotations and owner references of any object, each spelling read once and shared.

Annotations are kept only under the prefixes that we or a dialect read: most of their text (what
kubectl applied last, what a service mesh noted) decides nothing and would fill the memory. A
dialect that is on adds its own prefixes (`AnnotationReader`). While it is off, nobody reads its
annotations.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from headroom.core.names import GROUP
from headroom.core.objects import NO_LABELS, Key, OwnerReference, Parent
from headroom.wire.kinds import Json, Resource
from headroom.wire.objects.codec import TEXT, Codec, Part
from headroom.wire.objects.intern import Interned
from headroom.wire.objects.podjson import CustomObject, Metadata
from headroom.wire.objects.reader import Reader, spelling
from headroom.wire.times import bounded

KEPT_ANNOTATIONS: tuple[str, ...] = (f"{GROUP}/",)


_read_texts = Reader(dict[str, str])
_OWNER = Codec(
    OwnerReference,
    api_version=TEXT,
    kind=TEXT,
    name=TEXT,
    uid=TEXT,
    controller=Part(bool, False),
)


METADATA = Part(Metadata, Metadata())  # of an object that a `Codec` reads


def key_of(metadata: Metadata) -> Key:
    return Key(metadata.namespace or "", metadata.name or "")


def version_of(metadata: Metadata) -> Json:
    """Which object it is, and which version of it: two attributes that most core values have."""
    return {"uid": metadata.uid or "", "version": metadata.resource_version or ""}


def life_of(metadata: Metadata) -> Json:
    """When an object of a custom kind was made and deleted, and which version this is."""
    return {
        "created": bounded(metadata.creation_timestamp),
        "deleted": bounded(metadata.deletion_timestamp),
        "generation": metadata.generation or 1,
        "version": metadata.resource_version or "",
    }


def controller_of(metadata: Metadata) -> str:
    """The uid of the object that manages this one; empty where there is none."""
    return next((each.uid for each in owners_of(metadata) if each.controller), "")


def labels_of(metadata: Metadata) -> Mapping[str, str]:
    """The labels; shared between objects, so they cannot be changed."""
    return spelled_labels(spelling(metadata.labels))


def spelled_labels(text: bytes) -> Mapping[str, str]:
    """The labels that a text spells."""
    return _labels(text) if text else NO_LABELS


class AnnotationReader:
    """Reads the annotations under some prefixes."""

    __slots__ = ("_in_bytes", "_read", "prefixes")

    def __init__(self, prefixes: tuple[str, ...]) -> None:
        self.prefixes = prefixes
        self._in_bytes = tuple(prefix.encode() for prefix in prefixes)
        self._read: Interned[bytes, Mapping[str, str]] = Interned(self._chosen, limit=512)

    def __call__(self, metadata: Metadata) -> Mapping[str, str]:
        """The annotations that are kept; shared between objects, so they cannot be changed."""
        text = spelling(metadata.annotations)
        # JSON may spell `/` in other ways; the API server and our own encoder never do.
        if text:
            for prefix in self._in_bytes:
                if prefix in text:
                    return self._read(text)
        return NO_LABELS

    def _chosen(self, text: bytes) -> Mapping[str, str]:
        found = _read_texts(text, "metadata.annotations")
        return MappingProxyType(
            {key: value for key, value in found.items() if key.startswith(self.prefixes)}
        )


annotations_of = AnnotationReader(KEPT_ANNOTATIONS)


def owners_of(metadata: Metadata) -> tuple[OwnerReference, ...]:
    """The owner references, in their order."""
    text = spelling(metadata.owner_references)
    return _owners(text) if text else ()


def parent_of(thing: CustomObject, resource: Resource) -> Parent:
    """The object itself, as what asks for guardians."""
    metadata = thing.metadata or Metadata()
    return Parent(
        api_version=thing.api_version or resource.api_version,
        kind=thing.kind or resource.kind,
        namespace=metadata.namespace or "",
        name=metadata.name or "",
        uid=metadata.uid or "",
    )


def _read_labels(text: bytes) -> Mapping[str, str]:
    return MappingProxyType(_read_texts(text, "metadata.labels"))


def _read_owners(text: bytes) -> tuple[OwnerReference, ...]:
    return _OWNER.decode_list(text, "metadata.ownerReferences")


_labels: Interned[bytes, Mapping[str, str]] = Interned(_read_labels)
_owners: Interned[bytes, tuple[OwnerReference, ...]] = Interned(_read_owners)
