"""What people may ask about, under all the names that they know it by: `hr`, `headrooms`, `po`."""

from __future__ import annotations

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
}
# Nouns of a dialect: to ask for one is to have the dialect on.
DIALECT_OF = {"order": "korder", "ticket": "korder", "reservation": "koordinator"}
_BY_NAME = {name: noun for noun, names in NAMES.items() for name in names}


def dialects_for(found: str, named: list[str] | None) -> tuple[str, ...]:
    """The dialects that are named, and the one that a noun is of."""
    own = (DIALECT_OF[found],) if found in DIALECT_OF else ()
    return (*(named or ()), *own)


def noun(word: str, allowed: tuple[str, ...]) -> str:
    """The noun that a word stands for; Misuse names those that are allowed here."""
    found = _BY_NAME.get(word.lower(), "")
    if found not in allowed:
        known = ", ".join(NAMES[each][1] for each in allowed)
        raise Misuse(f"{word!r} cannot be asked for here", f"there are: {known}")
    return found


def subject(text: str, allowed: tuple[str, ...]) -> tuple[str, str]:
    """Read `hr/web-burst`: the noun and the name."""
    word, slash, name = text.partition("/")
    if not slash or not name or _BY_NAME.get(word.lower(), "") not in allowed:
        forms = ", ".join(f"{each}/NAME" for each in allowed)
        raise Misuse(f"{text!r} is none of {forms}")
    return _BY_NAME[word.lower()], name
