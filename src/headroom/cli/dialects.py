"""The dialects, by the names that `--dialect` accepts.

A wrong name is reported without importing any dialect; a dialect is imported only when it is
enabled. This is the only list of all dialects.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING

from headroom.cli.errors import Misuse

if TYPE_CHECKING:
    from headroom.wire.dialect import Dialect
    from headroom.wire.kind_codecs import KindCodecs

_PLACES = {
    "capacitybuffer": ("headroom.dialects.capacitybuffer", "CAPACITYBUFFER"),
    "koordinator": ("headroom.dialects.koordinator", "KOORDINATOR"),
    "proactive": ("headroom.dialects.proactive", "PROACTIVE"),
    "korder": ("headroom.dialects.korder", "KORDER"),
    "schedulinggate": ("headroom.dialects.schedulinggate", "SCHEDULING_GATE"),
}
NAMES = tuple(sorted(_PLACES))


def dialect_of(name: str, mountpoint: str = "") -> Dialect:
    """Return a dialect by name, or raise Misuse; `mountpoint` are the driver's names."""
    if name not in _PLACES:
        raise Misuse(
            f"--dialect {name}: there is no such dialect", f"known: {', '.join(NAMES) or 'none'}"
        )
    if name == "schedulinggate" and mountpoint:
        return _gate(mountpoint)
    module, value = _PLACES[name]
    found: Dialect = getattr(import_module(module), value)
    return found


def chosen(names: Iterable[str] | None, mountpoint: str = "", image: str = "") -> KindCodecs:
    """Our own kinds and those of the named dialects; `image` is the image of our pods."""
    from headroom.wire.guardians import PAUSE_IMAGE
    from headroom.wire.kind_codecs import NATIVE, KindCodecs

    wanted = tuple(dict.fromkeys(names or ()))
    if mountpoint and "schedulinggate" not in wanted:
        raise Misuse("--mountpoint-names goes with --dialect schedulinggate")
    if not wanted and image in ("", PAUSE_IMAGE):
        return NATIVE
    dialects = [dialect_of(name, mountpoint) for name in wanted]
    return KindCodecs(dialects, image=image or PAUSE_IMAGE)


def _gate(mountpoint: str) -> Dialect:
    from headroom.dialects.schedulinggate import scheduling_gate
    from headroom.dialects.schedulinggate.names import BadNames, read_names

    try:
        return scheduling_gate(read_names(mountpoint))
    except BadNames as trouble:
        raise Misuse(
            f"--mountpoint-names: {trouble}", "as in namespace=s3,headroom-class=low"
        ) from trouble
