"""How much of a hold an owner may have, how much of it is then used, and how much stays held.

    Aligned, or no policy   the hold and free room of the node together; never two holds
    Restricted              for resources that the hold has, the hold's room only

The usage of owners counts up to the size of the hold. The guardian keeps exactly the rest, so no
room is counted as free twice: neither for other pods, nor for owners of another hold. The
scheduling rules decide whether the pod fits on the node; `hold_lifecycle` keeps guardians of the
sizes that this module calculates.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import lru_cache

from headroom.core.amounts import format_amount, format_resources, parse_resources
from headroom.core.holds import LOCKED, Hold
from headroom.core.names import CLAIMED_BESIDE_ANNOTATION
from headroom.core.objects import HostPort, Pod
from headroom.core.quantity import QuantityError
from headroom.core.resources import EMPTY, Resources

LONGEST_REMEMBERED = 4096  # Memory is not there for tenants to fill with long annotations.

RESTRICTED = "Restricted"


def counted(hold: Hold) -> frozenset[str]:
    """The resources that owners use up: all that the hold has, unless its terms name some."""
    room = frozenset(hold.template.pod.requests)
    if hold.allocate_policy != RESTRICTED:
        return room
    return room.intersection(hold.terms.counted) or room


def asked_by(users: Iterable[Pod]) -> Resources:
    """What pods ask of a hold together; one that grew into it had the rest before."""
    total = EMPTY
    for pod in users:
        beside = pod.annotations.get(CLAIMED_BESIDE_ANNOTATION)
        total = total + (pod.requests.minus(beside_of(beside)) if beside else pod.requests)
    return total


def beside_text(amounts: Resources) -> str:
    """Format what a pod has without its hold: `cpu=500m memory=1Gi`."""
    return " ".join(f"{name}={text}" for name, text in format_resources(amounts).items())


def beside_of(text: str) -> Resources:
    """Parse this text; empty if it has another format."""
    return _remembered(text) if len(text) <= LONGEST_REMEMBERED else _beside(text)


def _beside(text: str) -> Resources:
    pairs = (part.partition("=") for part in text.split())
    try:
        return parse_resources({name: amount for name, _, amount in pairs})
    except QuantityError:
        return EMPTY


_remembered = lru_cache(maxsize=512)(_beside)


def used_up(hold: Hold, users: Iterable[Pod]) -> Resources:
    """What owners use of a hold, at most what it has: the rest is free room of the node."""
    room = hold.template.pod.requests.minus(hold.terms.withheld)
    return asked_by(users).only(counted(hold)).at_most(room)


def room_to_keep(hold: Hold, users: Iterable[Pod]) -> Resources:
    """What the guardian keeps beside these owners."""
    return hold.template.pod.requests.minus(used_up(hold, users))


def reported_use(hold: Hold, users: Iterable[Pod]) -> Resources:
    """What the status shows as used by owners: only resources that the hold has."""
    room = hold.template.pod.requests
    total = asked_by(users).only(frozenset(room))
    return total if hold.terms.tells_all else total.at_most(room)


def kept_beside(hold: Hold, guardian: Resources, asked: Resources) -> Resources:
    """What stays held of a guardian's room when an owner that asks for this comes in.

    Nothing of a hold for one owner: what that owner leaves goes back to the node. A slot is not
    used up by its owner: what that one does not use stays the slot's.
    """
    if hold.allocate_once and not keeps_rest(hold):
        return EMPTY
    free = guardian.minus(hold.terms.withheld).only(counted(hold))
    given = {name: min(asked[name], amount) for name, amount in free.items()}
    return guardian.minus(Resources(given))


def keeps_rest(hold: Hold) -> bool:
    """Whether a hold is a slot that is held anew when an owner has got it."""
    anew = bool(hold.slot) and hold.allocate_once and hold.mode == LOCKED
    return anew and hold.template.beside is None


def is_short(hold: Hold, guardian: Pod) -> bool:
    """Whether a guardian keeps only a part of a slot that could be whole on another node."""
    anywhere = keeps_rest(hold) and not hold.template.node
    return anywhere and not hold.template.pod.requests.fits_in(guardian.requests)


def ports_beside(ports: Iterable[HostPort], users: Iterable[Pod]) -> tuple[HostPort, ...]:
    """The host ports that are left of some when these pods have theirs: each is given once."""
    used = {(port.port, port.protocol) for pod in users for port in pod.placement.ports}
    return tuple(port for port in ports if (port.port, port.protocol) not in used)


def policy_refusal(hold: Hold, users: Collection[Pod], pod: Pod) -> str | None:
    """Say why a hold's own limits keep this pod out, whatever room the node has, or None."""
    room = hold.template.pod.requests
    wanted = pod.wish.needs_hold or any(rule.asks is not None for rule in hold.owners)
    if not wanted and not any(name in room for name in pod.requests):
        return "it has nothing of what the pod asks for"
    if hold.allocate_policy != RESTRICTED:
        return None
    most = hold.terms.most_owners
    if most is not None and len(users) >= most:
        return f"Too many pods: {len(users)} of {most} owners are there"
    used = asked_by(users)
    short = [
        _shortage(name, pod.requests[name], used[name], room[name] - hold.terms.withheld[name])
        for name in sorted(counted(hold))
        if 0 < pod.requests[name] > room[name] - hold.terms.withheld[name] - used[name]
    ]
    return "; ".join(short) if short else None


def _shortage(name: str, asked: int, used: int, capacity: int) -> str:
    written = (format_amount(name, amount) for amount in (asked, used, capacity))
    return "Insufficient {}: requested {}, used {}, capacity {}".format(name, *written)
