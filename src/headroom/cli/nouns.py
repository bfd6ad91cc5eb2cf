"""The kinds that commands accept, with all their names: `hr`, `headrooms`, `po`.

The syntax is kubectl's: `hr x`, `hr/x`, `hr,slots`, `hold/a hold/b`. For an unknown name, the error
suggests the most similar known name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headroom.cli.errors import Misuse

NAMES = {
    "hold": ("hold", "holds", "hld"),
    "headroom": ("headroom", "headrooms", "hr"),
    "slot": ("slot", "slots"),
    "node": ("node", "nodes", "no"),
    "guardian": ("guardian", "guardians"),
    "claim": ("claim", "claims"),
    "pod": ("pod", "pods", "po"),
    "order": ("order", "orders"),
    "ticket": ("ticket", "tickets"),
    "reservation": ("reservation", "reservations"),
    "capacitybuffer": ("capacitybuffer", "capacitybuffers", "cb"),
}
# Nouns of a dialect: using one enables the dialect.
DIALECT_OF = {
    "order": "korder",
    "ticket": "korder",
    "reservation": "koordinator",
    "capacitybuffer": "capacitybuffer",
}
KINDS = {
    "hold": "Hold",
    "headroom": "Headroom",
    "pod": "Pod",
    "order": "Order",
    "ticket": "Ticket",
    "reservation": "Reservation",
    "capacitybuffer": "CapacityBuffer",
}
LISTED = tuple(noun for noun in NAMES if noun != "pod")
EXPLAINED = tuple(KINDS)
_BY_NAME = {name: noun for noun, names in NAMES.items() for name in names}


@dataclass(frozen=True, slots=True)
class Inquiry:
    """One kind and the requested names; no names mean all objects."""

    noun: str
    names: tuple[str, ...] = ()

    @property
    def plural(self) -> str:
        return NAMES[self.noun][1]


def dialects_for(found: str, named: Sequence[str] | None) -> tuple[str, ...]:
    """The named dialects, and the dialect of a noun."""
    own = (DIALECT_OF[found],) if found in DIALECT_OF else ()
    return (*(named or ()), *own)


def noun(word: str, allowed: Sequence[str]) -> str:
    """The noun of a word; Misuse suggests a similar one, or lists those that are allowed here."""
    bare = word.lower().partition(".")[0]  # `holds.headroom.dev` is the full name of a kind.
    found = _BY_NAME.get(bare, "")
    if found in allowed:
        return found
    known = ", ".join(NAMES[each][1] for each in allowed)
    near = "" if found else _nearest(bare, allowed)
    hint = f"did you mean {near}? there are: {known}" if near else f"there are: {known}"
    raise Misuse(f"{word!r} is not supported here", hint)


def _nearest(word: str, allowed: Sequence[str]) -> str:
    from difflib import get_close_matches

    names = [name for each in allowed for name in NAMES[each] if len(name) > 3]
    found = get_close_matches(word, names, 1)
    return NAMES[_BY_NAME[found[0]]][1] if found else ""


def subjects(words: Sequence[str], allowed: Sequence[str], default: str = "") -> list[Inquiry]:
    """Parse the arguments of `get`: kinds and names, or any number of kind/name."""
    given = list(words) or [default]
    if any("/" in word for word in given):
        return _by_slash(given, allowed)
    kinds = [noun(word, allowed) for word in given[0].split(",")]
    names = tuple(given[1:])
    if names and len(kinds) > 1:
        raise Misuse(f"names with several kinds: {given[0]}", "write hr/NAME slots/NAME instead")
    return [Inquiry(each, names) for each in dict.fromkeys(kinds)]


def _by_slash(words: Sequence[str], allowed: Sequence[str]) -> list[Inquiry]:
    found: dict[str, list[str]] = {}
    for word in words:
        kind, slash, name = word.partition("/")
        if not slash or not name or not kind:
            raise Misuse(f"{word!r} is no KIND/NAME", "write each as KIND/NAME: hr/a hold/b")
        found.setdefault(noun(kind, allowed), []).append(name)
    return [Inquiry(kind, tuple(dict.fromkeys(names))) for kind, names in found.items()]


def subject(words: Sequence[str], allowed: Sequence[str]) -> tuple[str, str]:
    """Parse `hr/web-burst` or `hr web-burst`: the noun and the name of one object."""
    forms = "write KIND/NAME or KIND NAME, such as hr/web or pod/web-0"
    if not words:
        raise Misuse("the object is missing", forms)
    found = subjects(words, allowed)
    names = [(each.noun, name) for each in found for name in each.names]
    if len(names) != 1:
        told = " ".join(words)
        what = "one object at a time" if len(names) > 1 else "the name of the object is missing"
        raise Misuse(f"{told!r}: {what}", forms)
    return names[0]
