"""Slots for the pods that will follow a gated pod: number, size, and when the gate is removed.

A pod with the gate is an owner: a helper pod will appear on its node and needs room there. The
slots are created first and tied to the owner by affinity. Then the gate is removed.

    gated ──slots created──▶ released ──placed, pending──▶ runs or ends ──▶ slots deleted
      │                         │ a lost slot is created again until then
      └─ nothing to follow, or deadline over: released without slots, with an event

`volumes` describes the owner's claims. The engine keeps the slots; a dialect chooses their names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from headroom.core.actions import LabelPod, Tell, Ungate
from headroom.core.amounts import parse_resources
from headroom.core.demand.volumes import Binding, Mount
from headroom.core.objects import LabelSelector, Pod, PodTerm, Requirement
from headroom.core.quantity import QuantityError, shown, whole_number
from headroom.core.resources import Resources
from headroom.core.statuses import tell_pod

if TYPE_CHECKING:
    from headroom.core.sizes.follow import Follow

HOSTNAME = "kubernetes.io/hostname"
MOST_SLOTS = 32
DEADLINE = timedelta(minutes=5)
FIRST_TRY = timedelta(seconds=30)
PATIENCE = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class FixedCount:
    """So many slots for every owner."""

    count: int = 1


@dataclass(frozen=True, slots=True)
class PerVolume:
    """A slot for each bound volume of a CSI driver.

    `requests` and `limits` name the volume's attributes that size the slot, by resource; a limit
    counts where there is no request, as it does for any container. Without them every slot has the
    size of the headroom's template.
    """

    driver: str
    requests: tuple[tuple[str, str], ...] = ()
    limits: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class FromAnnotation:
    """As many slots as the owner's annotation says."""

    key: str


@dataclass(frozen=True, slots=True)
class Marks:
    """How a dialect marks owners and guardians: labels, the guardians' class and their names.

    `owner`, `pod` and `part` are keys of labels: on the owner and on its guardians with its uid,
    and on each guardian with the part that it stands for.
    """

    owner: str
    pod: str
    part: str
    prefix: str
    priority_class: str


@dataclass(frozen=True, slots=True)
class FollowerSlot:
    """One slot beside an owner; `requests` is None where the headroom's template has the size."""

    part: str
    requests: Resources | None = None


@dataclass(frozen=True, slots=True)
class Following:
    """What an owner needs now. When it is `over`, every slot of it goes."""

    slots: tuple[FollowerSlot, ...] = ()
    release: bool = False
    over: bool = False
    reason: str = ""
    message: str = ""
    look_again: datetime | None = None


@dataclass(frozen=True, slots=True)
class Followed:
    """An owner and what it needs now; since when we could serve it, and its last message."""

    owner: Pod
    needs: Following
    since: datetime | None = None
    told: str = ""


def followed(
    owner: Pod, rule: Follow, mounted: Sequence[Mount], made: frozenset[str], now: datetime
) -> Following:
    """Say what an owner needs: `made` are the parts whose slot exists, wherever it is.

    Asked for pods that carry the gate, and for those that were released until they are over.
    """
    if is_over(owner):
        return Following(over=True, reason="OwnerEnded" if owner.deleted else "OwnerRuns")
    slots, waits, troubles = _slots(owner, rule.slots, mounted)
    if rule.gate not in owner.gates:
        return Following(slots, reason="Released")
    missing = [slot.part for slot in slots if slot.part not in made]
    if not missing and not waits and not troubles:
        reason = "SlotsHeld" if slots else "NothingToFollow"
        return Following(slots, release=True, reason=reason)
    reason, message = _lack(missing, waits, troubles)
    due = None if rule.deadline is None else (owner.created or now) + rule.deadline
    if due is not None and now >= due:
        words = f"released without all its slots: {message}"
        return Following(slots, release=True, reason="DeadlinePassed", message=words)
    return Following(slots, reason=reason, message=message, look_again=due)


def needs_of(
    known: Followed, rule: Follow, mounted: Sequence[Mount], made: frozenset[str], now: datetime
) -> Following:
    """What an owner needs; if we could not serve it earlier, its deadline comes later."""
    owner, since = known.owner, known.since or now
    if rule.deadline is not None and owner.created is not None:
        latest = since - max(timedelta(), rule.deadline - FIRST_TRY)
        owner = replace(owner, created=max(owner.created, min(latest, now)))
    needs = followed(owner, rule, mounted, made, now)
    if needs.reason == "CannotFollow" and now < since + PATIENCE:
        # Claims and pods arrive by different streams: what is missing may come in a moment.
        sure_at = since + PATIENCE
        again = min(needs.look_again or sure_at, sure_at)
        return replace(needs, reason="Settling", look_again=again)
    return needs


def next_write(owner: Pod, needs: Following, rule: Follow, label: str) -> LabelPod | Ungate | None:
    """The one write that an owner needs next: labelled before it is released."""
    if needs.over:
        left = label in owner.labels and owner.deleted is None
        return LabelPod(owner.key, owner.uid, label, None) if left else None
    if needs.slots and owner.labels.get(label) != owner.uid:
        return LabelPod(owner.key, owner.uid, label, owner.uid)
    if needs.release:
        return Ungate(owner.key, owner.uid, rule.gate, owner.gates.index(rule.gate))
    return None


def owner_event(owner: Pod, needs: Following, now: datetime) -> Tell | None:
    """The event on a pod that says why it waits or gets no slots."""
    match needs.reason:
        case "CannotFollow":
            words = f"no slots can be made for what follows it: {needs.message}"
        case "DeadlinePassed":
            words = needs.message
        case _:
            return None
    return tell_pod(owner, needs.reason, words, now, warn=True)


def is_over(owner: Pod) -> bool:
    """Whether what follows an owner has come by now, or never will."""
    runs = bool(owner.node) and owner.phase != "Pending"
    return owner.deleted is not None or runs or owner.finished


def beside(owner: Pod, label: str) -> PodTerm:
    """The affinity that puts a slot onto its owner's node; the owner carries its uid as `label`.

    The slot itself must not carry it, or kube-scheduler would take it for the first of its group
    and place it without its owner.
    """
    selector = LabelSelector((Requirement(label, "In", (owner.uid,)),))
    return PodTerm(selector, HOSTNAME, namespaces=(owner.key.namespace,))


def slot_of(owner: Pod, part: str) -> str:
    """The name of a slot: an owner made anew under its old name has slots of its own."""
    return f"{owner.uid}/{part}"


def owner_uid(slot: str) -> str:
    """The uid of the owner of a slot."""
    return slot.partition("/")[0]


def sized(slots: PerVolume, mount: Mount) -> Resources | None:
    """What a volume's attributes ask for; QuantityError says which of them cannot be read."""
    if mount.volume is None or not (slots.requests or slots.limits):
        return None
    asked = {}
    for resource, key in (*slots.limits, *slots.requests):
        if text := mount.volume.attributes.get(key):
            parse_resources({resource: text})
            asked[resource] = text
    return parse_resources(asked)


_Found = tuple[tuple[FollowerSlot, ...], list[str], list[str]]


def _slots(
    owner: Pod, rule: FixedCount | PerVolume | FromAnnotation, mounted: Iterable[Mount]
) -> _Found:
    """The slots of an owner, what it still waits for, and what is wrong with it."""
    match rule:
        case FixedCount(count):
            return _numbered(count), [], []
        case FromAnnotation(key):
            return _annotated(owner.annotations.get(key), key)
        case PerVolume():
            return _by_volume(rule, mounted)


def _numbered(count: int) -> tuple[FollowerSlot, ...]:
    return tuple(FollowerSlot(str(number)) for number in range(count))


def _annotated(text: str | None, key: str) -> _Found:
    if text is None:
        return (), [], []
    count = whole_number(text, MOST_SLOTS)
    if count is not None:
        return _numbered(count), [], []
    return (), [], [f"annotation {key} is {shown(text)}; it must be a number up to {MOST_SLOTS}"]


def _by_volume(rule: PerVolume, mounted: Iterable[Mount]) -> _Found:
    slots: dict[str, FollowerSlot] = {}
    waits, troubles = [], []
    for mount in mounted:
        if mount.binding is Binding.MISSING:
            troubles.append(mount.trouble)
        elif mount.binding is Binding.UNBOUND and mount.driver in ("", rule.driver):
            waits.append(f"claim {mount.claim} is not bound")
        elif mount.volume is not None and mount.driver == rule.driver:
            try:
                requests = sized(rule, mount)
            except QuantityError as error:
                troubles.append(f"volume {mount.volume.name}: {error}")
            else:
                name = mount.volume.name
                slots[name] = FollowerSlot(name, requests)
    return tuple(slots.values()), waits, troubles


def _lack(missing: list[str], waits: list[str], troubles: list[str]) -> tuple[str, str]:
    if troubles:
        return "CannotFollow", "; ".join(troubles)
    if waits:
        return "VolumeUnbound", "; ".join(waits)
    return "SlotsPending", f"slots to be made: {', '.join(missing)}"
