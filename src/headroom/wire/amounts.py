"""Lists of resources in JSON (`{"cpu": "500m"}`) as exact amounts, and what a container asks for.

`core.amounts` parses and formats amounts; this module adds the path of the field to errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from headroom.core.amounts import amount, format_resources
from headroom.core.quantity import QuantityError
from headroom.core.resources import EMPTY, PODS, Resources
from headroom.wire.errors import DecodeError
from headroom.wire.objects.reader import Reader

_read = Reader(dict[str, Any])
_HUGE_PAGES = "hugepages-"


def amounts_of(text: bytes, path: str) -> Resources:
    """Read a list of resources; DecodeError names the path of a quantity that is none."""
    return Resources(read_amounts(text, path)) if text else EMPTY


def read_amounts(text: bytes, path: str) -> Mapping[str, int]:
    """Read a list of resources by name; a name with zero is kept, unlike in Resources."""
    return amounts_in(_read(text, path), path) if text else EMPTY


def amounts_in(written: Mapping[str, Any], path: str) -> dict[str, int]:
    """The same of a list held as plain dicts."""
    return {name: _amount(name, each, path) for name, each in written.items()}


def _amount(name: str, written: object, path: str) -> int:
    path = f"{path}.{name}"
    # Kubernetes takes a quantity as text or as a bare number.
    if isinstance(written, bool) or not isinstance(written, str | int | float):
        raise DecodeError("", path, "is not a quantity; write for example 500m, 2 or 1Gi")
    try:
        return amount(name, str(written))
    except QuantityError as error:
        raise DecodeError("", path, str(error)) from error


def requirements_json(requests: Resources) -> dict[str, dict[str, str]]:
    """The `resources` of a container that asks for these amounts and is held to no others.

    Extended resources and huge pages cannot be overcommitted: they need a limit equal to the
    request. How many pods there are is nothing that a container asks for.
    """
    asked = format_resources(requests.without(PODS))
    limits = {name: text for name, text in asked.items() if _needs_limit(name)}
    return {field: texts for field, texts in (("requests", asked), ("limits", limits)) if texts}


def _needs_limit(name: str) -> bool:
    if name.startswith(_HUGE_PAGES):
        return True
    domain, slash, _ = name.partition("/")
    return bool(slash) and not (domain == "kubernetes.io" or domain.endswith(".kubernetes.io"))


def overhead_of(spec: Mapping[str, Any]) -> Resources:
    """What a pod spec held as plain dicts adds to its containers' requests."""
    overhead = spec.get("overhead")
    return amounts_of(msgspec.json.encode(overhead), "spec.overhead") if overhead else EMPTY
