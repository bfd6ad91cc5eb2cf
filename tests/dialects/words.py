"""Every word of another system that stands in our sources, gathered by reading them."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator

import headroom.dialects
from headroom.cli.dialects import NAMES, chosen

_KEY = re.compile(r"(?=[^/]*\.)[a-z0-9.-]+/[A-Za-z0-9._-]+")
_OURS = ("headroom.dev/", "kubernetes.io/", "app.kubernetes.io/", "rbac.authorization.k8s.io/")


def foreign_keys() -> tuple[str, ...]:
    """Each key of a label, annotation or gate that a module of a dialect names."""
    found = {text for module in _modules() for text in _texts(module)}
    found.update(chosen(NAMES).asks)
    return tuple(sorted(key for key in found if _KEY.fullmatch(key) and not _is_ours(key)))


def _is_ours(key: str) -> bool:
    return key.startswith(_OURS)


def _modules() -> Iterator[object]:
    path = headroom.dialects.__path__
    for each in pkgutil.walk_packages(path, "headroom.dialects."):
        yield importlib.import_module(each.name)


def _texts(module: object) -> Iterator[str]:
    for value in vars(module).values():
        yield from _within(value)


def _within(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple | list | frozenset):
        for each in value:
            yield from _within(each)
    elif type(value).__name__ == "Marks":
        yield from (getattr(value, name) for name in ("owner", "pod", "part"))
