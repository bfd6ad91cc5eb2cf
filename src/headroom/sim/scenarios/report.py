"""The result of a run as one sorted document, so that the same run gives the same bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from headroom.core.findings.doors import OWNERS_WITHOUT_DOOR
from headroom.sim.api.values import Json, Ref, ref_of
from headroom.sim.scenarios.model import Scenario
from headroom.sim.scenarios.packed_log import Entry
from headroom.sim.scenarios.schema import API_VERSION
from headroom.sim.scenarios.unserved import UnservedObject
from headroom.sim.world import SimWorld
from headroom.wire.times import format_time


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a run.

    `failures` are failed expectations and steps, `broken` the objects that are invalid or not
    served at the end.
    """

    scenario: str
    seed: int
    start: str
    end: str
    dialects: tuple[str, ...]
    objects: tuple[Json, ...]
    events: Sequence[Json]
    journal: Sequence[Entry]
    summary: dict[str, Any]
    failures: tuple[str, ...] = ()
    broken: tuple[UnservedObject, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def violations(self) -> tuple[str, ...]:
        return tuple(self.summary["violations"])

    @property
    def ok(self) -> bool:
        """Whether all expectations were met and no violation occurred."""
        return not self.failures and not self.violations and not self.broken

    def document(self) -> dict[str, Any]:
        """The result as a document for JSON; its format is stable."""
        lists = {name: list(value) for name, value in self._lists().items()}
        return {**self.parts(), **lists}

    def parts(self) -> dict[str, Any]:
        """The same, with lists that are read from compressed memory piece by piece."""
        return {
            "apiVersion": API_VERSION,
            "kind": "Result",
            "scenario": self.scenario,
            "seed": self.seed,
            "start": self.start,
            "end": self.end,
            "dialects": list(self.dialects),
            **self._lists(),
            "summary": self.summary,
        }

    def _lists(self) -> dict[str, Sequence[Json]]:
        return {"objects": self.objects, "events": self.events, "journal": self.journal}


@dataclass(frozen=True, slots=True)
class RunObservations:
    """What the observers of the run have recorded."""

    journal: Sequence[Entry]
    events: Sequence[Json]
    summary: dict[str, Any]
    failures: tuple[str, ...] = ()
    broken: tuple[UnservedObject, ...] = ()
    notes: tuple[str, ...] = ()


def result_of(scenario: Scenario, world: SimWorld, observed: RunObservations) -> Result:
    """Collect the state of a world at the end of a scenario."""
    notes = (*world.server.notes, *observed.notes)
    kinds = [kind for kind in world.store.kinds() if kind != "Event"]
    objects = [obj for kind in kinds for obj in world.store.list(kind)]
    return Result(
        scenario=scenario.name,
        seed=scenario.seed,
        start=format_time(scenario.start),
        end=format_time(world.clock.now()),
        dialects=world.store.registry.codecs.names,
        objects=tuple(sorted(objects, key=ref_of)),
        events=observed.events,
        journal=observed.journal,
        summary={
            **observed.summary,
            "owners_without_door": _without_door(world),
            "unserved": [each.document() for each in observed.broken],
            "failures": list(observed.failures),
            "notes": list(notes),
        },
        failures=observed.failures,
        broken=observed.broken,
        notes=notes,
    )


def _without_door(world: SimWorld) -> dict[str, str]:
    """Objects whose owners used no door at some time of the run, with the message."""
    found: dict[str, str] = {}
    for event in world.events():
        if event.get("reason") == OWNERS_WITHOUT_DOOR:
            about = event["involvedObject"]
            ref = Ref(about["kind"], about.get("namespace") or "", about["name"])
            found[str(ref)] = str(event.get("message"))
    return dict(sorted(found.items()))
