"""A sound object made odd: by its structure, by extremes, by what its schema would allow."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

from headroom.wire.schema.notation import Catalogue, Struct
from tests.fuzz.basics import Json
from tests.fuzz.values import odd_value, of_type

Path = tuple[Any, ...]
MANY = (2, 2, 3, 3, 10, 10, 50, 300)  # Seldom very many: those take most of the time.


def mutated(rng: Random, thing: Json, catalogue: Catalogue, others: list[Json]) -> Json:
    """The object with one to four changes; what it is called and what kind it is stay."""
    made = copy.deepcopy(thing)
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        _change(rng, made, catalogue, others)
    if rng.random() < 0.9:  # Mostly of its kind still: otherwise nothing else is looked at.
        made["apiVersion"], made["kind"] = thing["apiVersion"], thing["kind"]
        if not isinstance(made.get("metadata"), dict):
            made["metadata"] = copy.deepcopy(thing["metadata"])
    return made


def _change(rng: Random, made: Json, catalogue: Catalogue, others: list[Json]) -> None:
    path = rng.choice(_places(made) or [("metadata",)])
    parent, key = _parent(made, path)
    if parent is None:
        return
    match rng.randrange(10):
        case 0:
            _drop(parent, key)
        case 1:
            _multiply(rng, parent, key)
        case 2:
            _from_schema(rng, made, catalogue)
        case 3 | 4:
            _from_schema_here(rng, made, path, catalogue)
        case 5:
            other = rng.choice(others)
            parent[key] = copy.deepcopy(_at(other, rng.choice(_places(other))))
        case 6:
            _rename(rng, parent, key)
        case _:
            parent[key] = odd_value(rng, str(key))


def _drop(parent: Any, key: Any) -> None:
    if isinstance(parent, dict):
        parent.pop(key, None)
    elif isinstance(parent, list) and len(parent) > key:
        parent.pop(key)


def _multiply(rng: Random, parent: Any, key: Any) -> None:
    """The same item many times, or the same field under many names."""
    many = rng.choice(MANY)
    if isinstance(parent, list):
        parent.extend(copy.deepcopy(parent[key]) for _ in range(many))
    else:
        parent.update({f"{key}-{number}": copy.deepcopy(parent[key]) for number in range(many)})


def _rename(rng: Random, parent: Any, key: Any) -> None:
    if isinstance(parent, dict) and key in parent:
        parent[str(odd_value(rng))[:2000]] = parent.pop(key)


def _from_schema(rng: Random, made: Json, catalogue: Catalogue) -> None:
    """A whole part anew, by the schema of the kind."""
    struct = catalogue.kinds.get(f"{made.get('apiVersion')}/{made.get('kind')}")
    if struct is None:
        return
    fields = {name: field for name, field in catalogue.types[struct].items() if name != "metadata"}
    names = [name for name in fields if name not in ("apiVersion", "kind")]
    if names:
        name = rng.choice(names)
        made[name] = of_type(rng, fields[name].type, catalogue, 6, name)


def _from_schema_here(rng: Random, made: Json, path: Path, catalogue: Catalogue) -> None:
    """A field that the schema has near this place, whether or not it was there."""
    struct = catalogue.kinds.get(f"{made.get('apiVersion')}/{made.get('kind')}")
    place: Any = made
    for key in path[:-1]:
        if struct is None or not isinstance(place, dict | list):
            return
        if isinstance(place, dict):
            field = catalogue.types.get(struct, {}).get(str(key))
            kind = field.type if field is not None else None
            while kind is not None and hasattr(kind, "item"):
                kind = kind.item
            if kind is not None and hasattr(kind, "value"):
                kind = kind.value
            struct = kind.name if isinstance(kind, Struct) else None
        place = place[key]
    fields = catalogue.types.get(struct or "", {})
    if fields and isinstance(place, dict):
        name = rng.choice(list(fields))
        place[name] = of_type(rng, fields[name].type, catalogue, 4, name)


def _places(thing: Any, path: Path = ()) -> list[Path]:
    """Every place in an object where something could stand instead; of long lists a few."""
    found: list[Path] = [path] if path else []
    if isinstance(thing, dict):
        for key, value in list(thing.items())[:40]:
            found += _places(value, (*path, key)) if len(path) < 12 else []
    elif isinstance(thing, list):
        for key, value in enumerate(thing[:5]):
            found += _places(value, (*path, key)) if len(path) < 12 else []
    return found


def _at(thing: Any, path: Path) -> Any:
    for key in path:
        thing = thing[key]
    return thing


def _parent(made: Any, path: Path) -> tuple[Any, Any]:
    place = made
    for key in path[:-1]:
        try:
            place = place[key]
        except (KeyError, IndexError, TypeError):
            return None, None
    return (place, path[-1]) if isinstance(place, dict | list) else (None, None)
