"""What an API server writes into an object of a CRD where its author wrote nothing.

As there, a default counts only inside what is present: a struct that is left out stays out. Types
of Kubernetes itself have no defaults here; whoever plays the API server knows those.
"""

from __future__ import annotations

from typing import Any

from headroom.wire.schema.notation import Catalogue, ListOf, MapOf, Struct, Type


def with_defaults(data: dict[str, Any], type_name: str, catalogue: Catalogue) -> dict[str, Any]:
    """Return the object with its defaults; it must be sound. What has none is shared."""
    changed: dict[str, Any] = {}
    for name, field in catalogue.types[type_name].items():
        given = data.get(name)
        if given is None:
            if "default" in field.facts:
                changed[name] = field.facts["default"]
            continue
        filled = _filled(given, field.type, catalogue)
        if filled is not given:
            changed[name] = filled
    return {**data, **changed} if changed else data


def _filled(value: Any, wanted: Type, catalogue: Catalogue) -> Any:
    match wanted:
        case Struct(name) if name not in catalogue.foreign and isinstance(value, dict):
            return with_defaults(value, name, catalogue)
        case ListOf(item) if isinstance(value, list):
            filled = [_filled(part, item, catalogue) for part in value]
            return filled if _differ(filled, value) else value
        case MapOf(inner) if isinstance(value, dict):
            parts = {key: _filled(part, inner, catalogue) for key, part in value.items()}
            return parts if _differ(list(parts.values()), list(value.values())) else value
        case _:
            return value


def _differ(new: list[Any], old: list[Any]) -> bool:
    return any(ours is not theirs for ours, theirs in zip(new, old, strict=True))
