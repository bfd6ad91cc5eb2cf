"""Where each object of a scenario is defined, so that messages can name file and line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from headroom.sim.api.registry import Registry
from headroom.sim.api.values import Ref
from headroom.sim.scenarios.model import Source
from headroom.wire.yamls import Document


class SourceIndex:
    """The sources of all objects that were read, by object."""

    def __init__(self, registry: Registry) -> None:
        self.found: dict[Ref, Source] = {}
        self._registry = registry

    def manifest(self, document: Document) -> None:
        """Add an object that is a separate document."""
        self._note(document.data, Source(document))

    def inline(self, scenario: Document) -> None:
        """Add the inline objects in the steps of a scenario."""
        for path, given in _inline(scenario.data.get("spec") or {}):
            self._note(given, Source(scenario, path))

    def _note(self, given: dict[str, Any], source: Source) -> None:
        metadata = given.get("metadata") or {}
        kind = self._registry.get(str(given.get("kind")))
        if kind is None or not isinstance(metadata, dict):
            return
        namespace = str(metadata.get("namespace") or "default") if kind.namespaced else ""
        self.found.setdefault(Ref(kind.name, namespace, str(metadata.get("name"))), source)


def _inline(spec: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for index, step in enumerate(spec.get("steps") or ()):
        for place, given in enumerate(step.get("objects") or ()):
            yield f"spec.steps[{index}].objects[{place}]", given
