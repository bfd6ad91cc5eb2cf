"""Ways that an object takes through the project: read, decided about, written, told, lived with.

Each takes one odd object and says what it found: nothing, or a sentence. What is foreseen (a
DecodeError, a refusal of the API server, a message for people) is no finding. What was contained
to its object is one: nobody suffered, but nobody thought of it either.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from headroom.cli.dialects import chosen
from headroom.cli.formats.forms import Layout
from headroom.cli.formats.lists import table_text
from headroom.cli.manifests import read_wanted
from headroom.cli.nouns import LISTED
from headroom.cli.output import OutputFormat, document
from headroom.cli.pages.feeds import FileFeed
from headroom.cli.source import WATCHED, decoded, documents_in
from headroom.cli.views import description
from headroom.cli.views.lists import table_of
from headroom.cli.views.lookup import explanation_of
from headroom.cli.views.plan_result import planned
from headroom.cli.views.prose import prose
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.holds import Hold
from headroom.core.policy import Policy
from headroom.dashboard.document import EVERYTHING, VisibleScope, visible
from headroom.dashboard.pod_search import Finding
from headroom.errors import HeadroomError
from headroom.sim.scenarios.loader import load_scenario
from headroom.webhook.reviews import NoReview, claims_judge
from headroom.wire.decode import DECODERS
from headroom.wire.errors import DecodeError, Unreadable
from headroom.wire.kinds import EVENTS, WORKLOADS, Resource
from headroom.wire.yamls import dump
from tests.fuzz.basics import Json
from tests.fuzz.samples import DIALECTS, EVENT, OBJECTS

CODECS = chosen(DIALECTS)
CATALOGUE = CODECS.catalogue()
NOW = datetime(2027, 1, 4, 12, 0, tzinfo=UTC)
KINDS = (*WATCHED, *WORKLOADS, EVENTS, *filter(CODECS.reads, CODECS.resources))
READ = {
    (each.api_version, each.kind): each
    for each in (*DECODERS, *CODECS.resources)
    if CODECS.reads(each)
}
NOUNS = {
    "Pod": "pod",
    "Hold": "hold",
    "Headroom": "headroom",
    "Order": "order",
    "Ticket": "ticket",
    "Reservation": "reservation",
    "CapacityBuffer": "capacitybuffer",
}
Found = str  # empty: nothing
LARGE = 200_000  # Written as YAML it would be several times as long, and mostly blanks.
FILE = Path("odd.yaml")  # as it is called; it is never written: a million files take an hour


def is_decoded(thing: Json) -> bool:
    """Whether objects of this kind are decoded at all."""
    return resource_of(thing) is not None


def resource_of(thing: Json) -> Resource | None:
    """The kind of an object, if we read it."""
    return READ.get((str(thing.get("apiVersion")), str(thing.get("kind"))))


def read(rng: Random, thing: Json, folder: Path) -> Found:
    """Decode it, from values and from text that was cut or doubled."""
    resource = resource_of(thing)
    if resource is None:
        return ""
    try:
        CODECS.thing_from(resource, thing)
    except Unreadable as error:
        return f"contained: {error.problem}"
    except DecodeError:
        pass
    if rng.random() < 0.1:
        text = _spoiled(rng, thing)
        try:
            CODECS.decode(resource, text)
        except Unreadable as error:
            return f"contained: {error.problem}"
        except DecodeError:
            pass
    return ""


def _spoiled(rng: Random, thing: Json) -> bytes:
    try:
        text = json.dumps(thing).encode()
    except (RecursionError, ValueError):
        return b"{"
    at = rng.randrange(len(text))
    match rng.randrange(5):
        case 0:
            return text[:at]
        case 1:
            return text[:at] + bytes([rng.randrange(256)]) + text[at + 1 :]
        case 2:
            deep = rng.choice((900, 5000, 100_000))
            return text.replace(b'"spec":', b'"spec": ' + b"[" * deep + b"]" * deep + b', "x":', 1)
        case 3:
            return text.replace(b'"spec":', b'"spec": {}, "spec":', 1)
        case _:
            return text[:at] + text[at:].replace(b'"', b'"\\ud800', 1)


def review(rng: Random, thing: Json, folder: Path) -> Found:
    """Ask the webhook about it."""
    request = {"uid": "u", "kind": {"kind": "Pod"}, "operation": "CREATE", "namespace": "shop"}
    try:
        text = json.dumps({"request": {**request, "object": thing}}).encode()
    except (RecursionError, ValueError):
        return ""
    judge = claims_judge(lambda namespace: None, CODECS)
    try:
        verdict = judge.answer(text)
    except NoReview:
        return ""
    return "" if json.loads(verdict.body)["response"]["allowed"] else "the webhook refused a pod"


def told(rng: Random, thing: Json, folder: Path) -> Found:
    """List it, explain it, describe it and plan it, beside sound objects."""
    kind, name = thing.get("kind"), _name(thing)
    others = [each for each in (*OBJECTS, EVENT) if (each["kind"], _name(each)) != (kind, name)]
    world = decoded([*others, thing], KINDS, NOW, CODECS)
    for noun in LISTED:
        table_text(table_of(world, noun), Layout.WIDE)
    asked: list[Headroom | Hold] = [*world.holds, *world.headrooms]
    for subject in (each for each in asked if _is_asked(rng, each.parent.kind, thing)):
        noun = NOUNS.get(subject.parent.kind, "")
        if noun:
            _explained(world, (noun, subject.key.name), subject.key.namespace)
    for pod in (each for each in world.pods if _is_asked(rng, "Pod", thing)):
        _explained(world, ("pod", pod.key.name), pod.key.namespace)
    planned(world, asked)
    return ""


def shown(rng: Random, thing: Json, folder: Path) -> Found:
    """Draw the page of it beside sound objects, look its pods up, and write all of it as JSON."""
    kind, name = thing.get("kind"), _name(thing)
    others = [each for each in OBJECTS if (each["kind"], _name(each)) != (kind, name)]
    crowd = rng.choice((1, 1, 3))  # A node's sums are those of several pods.
    odd = [{**thing, "metadata": _renamed(thing, number)} for number in range(crowd)]
    world = decoded([*others, *odd], KINDS, NOW, CODECS)
    feed = FileFeed(world, "odd")
    whole = feed.whole()
    for each in (EVERYTHING, VisibleScope(False, frozenset({"shop"}), frozenset({"shop"}))):
        msgspec.json.encode(visible(whole, each))
    msgspec.json.encode([feed.pods_of(node.name) for node in world.nodes])
    finding = Finding("e", EVERYTHING)
    finding.look(pod.key for pod in world.pods)
    msgspec.json.encode(finding.result({pod.key: pod for pod in world.pods}))
    return ""


def _renamed(thing: Json, number: int) -> Any:
    metadata = thing.get("metadata")
    if not number or not isinstance(metadata, dict):
        return metadata
    return {**metadata, "name": f"{_name(thing)}-{number}", "uid": f"uid-{number}"}


def _is_asked(rng: Random, kind: str, thing: Json) -> bool:
    """Ask about what is odd, and now and then about what stands beside it."""
    return kind == thing.get("kind") or rng.random() < 0.2


def _explained(world: Any, subject: tuple[str, str], namespace: str) -> None:
    try:
        found = explanation_of(world, subject, namespace, Policy())
    except HeadroomError as answer:
        if answer.exit_code == 4:
            raise
        return
    prose(found)
    for item in world.raw:
        if _name(item) == subject[1]:
            description.condition_rows(item, world.now)
            document(description.bare(item), OutputFormat.YAML)
            document(item, OutputFormat.JSON)
            return


def manifest(rng: Random, thing: Json, folder: Path) -> Found:
    """Give it to `simulate` or `plan` as a file; what is wrong is told with exit code 1 or 2."""
    take = rng.choice((_simulated, _planned))
    try:
        take(as_text(rng, thing))
    except HeadroomError as answer:
        if answer.exit_code not in (1, 2):
            raise
        if not answer.message.strip():
            return "an error without a message"
    return ""


def as_text(rng: Random, thing: Json) -> str:
    """An object as JSON or, since that takes ten times as long, more seldom as YAML."""
    try:
        text = json.dumps(thing)
        return text if rng.random() < 0.9 or len(text) > LARGE else dump(thing)
    except (RecursionError, UnicodeEncodeError):
        return "[" * 2000


def _simulated(text: str) -> None:
    load_scenario([FILE], CODECS, read=lambda _: text)


def _planned(text: str) -> None:
    read_wanted(documents_in([FILE], lambda _: text), "shop", DIALECTS)


def _name(thing: Json) -> str:
    metadata = thing.get("metadata")
    return str(metadata.get("name")) if isinstance(metadata, dict) else ""


Route = Callable[[Random, Json, Path], Found]
