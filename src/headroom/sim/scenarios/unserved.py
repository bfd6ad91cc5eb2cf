"""Holds, headrooms and objects of a dialect that are not served at the end, and their sources.

`core.findings.unserved` has the rule. This module records what the rule needs beyond the status:
which objects were fully held at some time with their current spec. If a run ends while a machine
boots, it has shown nothing about the objects that wait for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from headroom.core.eviction.preallocation import permitted
from headroom.core.findings.unserved import INVALID_SPEC, Unserved, unserved, was_whole
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.headrooms.windows import judged
from headroom.core.holds import Hold
from headroom.core.owners import judged as judged_rules
from headroom.core.policy import Policy
from headroom.core.quotas.quota import Quota
from headroom.engine.cron import calendar
from headroom.sim.api.decoder import readable
from headroom.sim.api.store import ObjectChange, Store, Verb
from headroom.sim.api.values import Json, Ref, dig, ref_of
from headroom.sim.scenarios.model import Sources
from headroom.wire.errors import DecodeError
from headroom.wire.kinds import HEADROOMS, HOLDS


@dataclass(frozen=True, slots=True)
class UnservedObject:
    """An object that was not served at the end."""

    subject: str
    where: str
    found: Unserved

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        return f"{place}{self.subject}: {self.found.reason}: {self.found.message}"

    def document(self) -> dict[str, Any]:
        return {
            "object": self.subject,
            "where": self.where,
            "field": self.found.path,
            "reason": self.found.reason,
            "message": self.found.message,
        }


class ServedObjects:
    """Records which objects were fully held at some time."""

    def __init__(self, store: Store, policy: Policy) -> None:
        self._store = store
        self._policy = policy
        self._kinds = (HOLDS, HEADROOMS, *store.registry.codecs.foreign)
        self._whole: dict[Ref, int] = {}
        for kind in self._kinds:
            store.listen(kind.kind, self._on_change)

    def broken(
        self, sources: Sources, growing: bool
    ) -> tuple[tuple[UnservedObject, ...], list[str]]:
        """The objects that are not served now, and notes about those that are only short."""
        broken: list[UnservedObject] = []
        notes: list[str] = []
        for ref, found in sorted(self._found(), key=lambda each: each[0]):
            if found.short and (growing or ref in self._whole):
                why = "a node is on its way" if growing else "it was whole before"
                notes.append(f"{ref} ends short, though {why}: {found.message}")
                continue
            source = sources.get(ref)
            broken.append(UnservedObject(str(ref), source.at(found.path) if source else "", found))
        return tuple(broken), notes

    def _found(self) -> Iterator[tuple[Ref, Unserved]]:
        for kind in self._kinds:
            for obj in self._store.list(kind.kind):
                found = self._judged(obj)
                if found is not None:
                    yield ref_of(obj), found

    def _judged(self, obj: Json) -> Unserved | None:
        try:
            thing = self._store.registry.decode(obj)
        except DecodeError as error:
            return Unserved(INVALID_SPEC, error.message, error.path)
        if isinstance(thing, Hold):
            if thing.member is not None:
                return None  # The object that it is a slot of reports it.
            across = self._policy.across_namespaces
            return unserved(permitted(judged_rules(thing, across), self._policy))
        if isinstance(thing, Headroom):
            across = self._policy.across_namespaces
            return unserved(judged_rules(judged(thing, calendar), across)) if thing.served else None
        if isinstance(thing, Quota) and thing.problems and thing.deleted is None:
            told = "; ".join(map(str, thing.problems))
            return Unserved(INVALID_SPEC, told, thing.problems[0].path)
        return None

    def _on_change(self, change: ObjectChange) -> None:
        ref = change.ref
        if change.verb is Verb.DELETED:
            self._whole.pop(ref, None)
            return
        generation = int(dig(change.obj, "metadata", "generation") or 1)
        if self._whole.get(ref, generation) != generation:
            del self._whole[ref]  # It has changed.
        thing = readable(change)
        if isinstance(thing, Hold | Headroom) and was_whole(thing):
            self._whole[ref] = generation
