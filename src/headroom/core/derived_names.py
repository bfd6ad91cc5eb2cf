"""Names that we give to pods, and label values that we derive from other names.

A name is derived from the object that the pod belongs to, so a repeated creation uses the same
name. It is short enough for a host name and a label (63 characters, DNS-1123). The parent's uid is
in the hash: a new object under an old name gets another guardian name.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

from headroom.core.headrooms.slot_values import SlotObjects
from headroom.core.holds import Hold
from headroom.core.objects import Parent

LIMIT = 63
_UNSAFE = re.compile(r"[^a-z0-9-]+")
_LABEL_VALUE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?")
_HASH_LENGTH = 8
LONGEST_REMEMBERED = 4096  # Memory is not there for tenants to fill with long templates.


def short_hash(*parts: str) -> str:
    """Eight hexadecimal digits for a tuple of texts."""
    joined = "\0".join(parts).encode()
    return hashlib.sha256(joined).hexdigest()[:_HASH_LENGTH]


def hashed(name: str, limit: int = LIMIT) -> str:
    """Keep a name that is short enough; cut a longer one and end it with a hash of the whole."""
    if len(name) <= limit:
        return name
    stem = name[: limit - _HASH_LENGTH - 1].rstrip("-._")
    return f"{stem}-{short_hash(name)}"


def dns_label(name: str, *about: str) -> str:
    """Make a DNS-1123 label from a name, ending with a hash of `about` when there is any."""
    suffix = f"-{short_hash(*about)}" if about else ""
    safe = _UNSAFE.sub("-", name.lower()).strip("-") or "x"
    if safe != name and not about:
        suffix = f"-{short_hash(name)}"
    return hashed(safe, LIMIT - len(suffix)) + suffix


def label_value(name: str) -> str:
    """Make a label value from a name: itself where it may stand, else a safe form with a hash."""
    if len(name) <= LIMIT and _LABEL_VALUE.fullmatch(name):
        return name
    return dns_label(name, name) if name else ""


def guardian_name(hold: Hold) -> str:
    """The name of the pod that keeps a hold's room; the same each time for the same object."""
    return guardian_names(hold)[0]


def guardian_names(hold: Hold) -> tuple[str, str]:
    """The guardian's name, and that of its successor while both stand; they take turns."""
    about = _about(hold)
    names = _names.get(about)
    if names is None:
        if len(_names) >= MOST_NAMES:
            _names.clear()
        names = _names[about] = _named(*about)
    return names


def forget_names(hold: Hold) -> None:
    """A hold is gone: drop its names from the cache."""
    _names.pop(_about(hold), None)


def _about(hold: Hold) -> tuple[str, str, str, str, str]:
    parent, slot = hold.parent, hold.slot
    name = f"{parent.name}-{slot}" if slot else parent.name
    return hold.guardian, name, parent.kind, parent.uid, slot


def named_after(prefix: str, *parts: str) -> str:
    """A prescribed name: a prefix and the SHA-224 of texts put together, in 56 digits."""
    return prefix + hashlib.sha224("".join(parts).encode()).hexdigest()


def shape_of(hold: Hold) -> str:
    """A short text that changes when a hold's guardian would be made differently."""
    shape, mode = hold.template.shape, hold.mode
    short = len(shape) <= LONGEST_REMEMBERED
    return _shape_of(shape, mode) if short else short_hash(shape, mode)


# Both are asked at every look at a hold; the hash alone costs more than the look. Names are kept
# for as long as their hold is there; more than so many would be memory that huge Headrooms fill.
MOST_NAMES = 16_384
_names: dict[tuple[str, str, str, str, str], tuple[str, str]] = {}


def _named(prescribed: str, name: str, *about: str) -> tuple[str, str]:
    first = prescribed or dns_label(name, *about)
    return first, dns_label(prescribed or name, *about, "successor")


_shape_of = lru_cache(maxsize=1024)(short_hash)


def object_of(objects: SlotObjects, of: Parent, slot: str) -> Parent:
    """The object that stands for a slot of a headroom, by the name that derives from both."""
    name = hashed(f"{of.name}-{slot.replace('/', '-')}")
    return Parent(objects.api_version, objects.kind, of.namespace, name)
