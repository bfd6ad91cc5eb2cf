"""Check that a write is about the stored object: by name, uid and version."""

from __future__ import annotations

from typing import Any

from headroom.sim.api.kinds import Kind
from headroom.sim.api.values import Json, dig, uid_of
from headroom.sim.errors import bad_request, conflict, invalid


def check_identity(kind: Kind, old: Json, new: Json) -> None:
    """Refuse an update of another object, or one based on an older version of this one."""
    name, meant = dig(old, "metadata", "name"), dig(new, "metadata", "name")
    if meant != name:
        words = f"the name of the object ({meant}) does not match the name on the URL ({name})"
        raise bad_request(words)
    uid = str(dig(new, "metadata", "uid") or "")
    if uid and uid != uid_of(old):
        words = f'metadata.uid: Invalid value: "{uid}": field is immutable'
        raise invalid(kind, str(name), words)
    check_version(kind, old, dig(new, "metadata", "resourceVersion"))


def check_deletion(kind: Kind, old: Json, uid: str, version: str) -> None:
    """Refuse to delete another object than the requested one."""
    if uid and uid != uid_of(old):
        words = f"the UID in the precondition ({uid}) does not match the UID in record"
        why = f"{words} ({uid_of(old)}). The object might have been deleted and then recreated"
        raise conflict(old["kind"], str(dig(old, "metadata", "name")), why)
    check_version(kind, old, version)


def check_version(kind: Kind, old: Json, version: Any) -> None:
    """Refuse a write that is based on an older version."""
    if version and str(version) != str(dig(old, "metadata", "resourceVersion")):
        words = "the object has been modified; please apply your changes to the latest version"
        name = str(dig(old, "metadata", "name"))
        raise conflict(kind.resource, name, f"{words} and try again")
