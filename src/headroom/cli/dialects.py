"""The dialects by the names that `--dialect` takes.

Names alone are cheap to know, so that a wrong one is told at once; a dialect itself is imported
only when it is switched on. This is the one place that knows all of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING

from headroom.cli.errors import Misuse

if TYPE_CHECKING:
    from headroom.wire.dialect import Dialect
    from headroom.wire.speech import Speech

_PLACES = {
    "capacitybuffer": ("headroom.dialects.capacitybuffer", "CAPACITYBUFFER"),
    "koordinator": ("headroom.dialects.koordinator", "KOORDINATOR"),
    "proactive": ("headroom.dialects.proactive", "PROACTIVE"),
    "korder": ("headroom.dialects.korder", "KORDER"),
    "schedulinggate": ("headroom.dialects.schedulinggate", "SCHEDULING_GATE"),
}
NAMES = tuple(sorted(_PLACES))


def dialect_of(name: str) -> Dialect:
    """The dialect of a name; Misuse says which there are."""
    if name not in _PLACES:
        raise Misuse(
            f"--dialect {name}: there is no such dialect", f"known: {', '.join(NAMES) or 'none'}"
        )
    module, value = _PLACES[name]
    found: Dialect = getattr(import_module(module), value)
    return found


def chosen(names: Iterable[str] | None) -> Speech:
    """Our own kinds and those of the dialects named, each once."""
    from headroom.wire.speech import NATIVE, Speech

    wanted = tuple(dict.fromkeys(names or ()))
    return Speech([dialect_of(name) for name in wanted]) if wanted else NATIVE
