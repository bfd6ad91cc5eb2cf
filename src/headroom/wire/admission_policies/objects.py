"""What the operator may write besides pods: indexes where they are asked for, its lease, its words.

A dialect says itself what may be written of its own kinds (`Dialect.confined`).
"""

from __future__ import annotations

from headroom.core.names import CLAIMS_NAMESPACE_LABEL, INDEX_NAME, LEASE_NAME
from headroom.wire.admission_policies.cel import (
    Check,
    Confined,
    Match,
    Validating,
    made_by,
    text,
    texts,
)
from headroom.wire.admission_policies.pods import controlled_by
from headroom.wire.admission_policies.volumes import claims, volumes
from headroom.wire.events import COMPONENT
from headroom.wire.kind_codecs import KindCodecs
from headroom.wire.kinds import CLAIM_INDEXES, EVENTS, HEADROOMS, HOLDS, LEASES, SLOT_SETS
from headroom.wire.policy import never_gated

INDEXES_NAME = "operator-claimindexes.headroom.dev"
LEASES_NAME = "operator-leases.headroom.dev"
EVENTS_NAME = "operator-events.headroom.dev"
HOLDS_NAME = "operator-holds.headroom.dev"
HEADROOMS_NAME = "operator-headrooms.headroom.dev"
SLOT_SETS_NAME = "operator-slotsets.headroom.dev"

CLAIMS_NAME = "operator-persistentvolumeclaims.headroom.dev"
VOLUMES_NAME = "operator-persistentvolumes.headroom.dev"

ENDED = ("Succeeded", "Failed")


def objects(user: str, home: str, speech: KindCodecs) -> list[Validating]:
    """The policies on everything that the operator writes and that is no pod."""
    who = made_by(user)
    confined = {
        INDEXES_NAME: _indexes(home, speech),
        LEASES_NAME: _leases(home),
        EVENTS_NAME: _events(),
        HOLDS_NAME: _holds(),
        HEADROOMS_NAME: _own_headrooms(home, speech),
        SLOT_SETS_NAME: _slot_sets(speech),
        CLAIMS_NAME: claims(),
        VOLUMES_NAME: volumes(),
    }
    for dialect in speech.dialects:
        for each in dialect.confined:
            confined[f"operator-{each.match.resources[0]}.headroom.dev"] = each
    return [Validating(name, (each.match,), who, each.checks) for name, each in confined.items()]


def _indexes(home: str, speech: KindCodecs) -> Confined:
    return Confined(
        Match(CLAIM_INDEXES.group, (CLAIM_INDEXES.plural,), ("CREATE", "UPDATE")),
        (
            Check(
                f"object.metadata.name == {text(INDEX_NAME)}",
                f"a claim index is called {INDEX_NAME}",
            ),
            Check(
                _asked_for(home, speech),
                f"claim indexes are for namespaces with the label {CLAIMS_NAMESPACE_LABEL}",
            ),
        ),
    )


def _leases(home: str) -> Confined:
    here = f"request.namespace == {text(home)} && object.metadata.name == {text(LEASE_NAME)}"
    return Confined(
        Match(LEASES.group, (LEASES.plural,), ("CREATE", "UPDATE")),
        (Check(here, f"the operator's lease is {home}/{LEASE_NAME}"),),
    )


def _events() -> Confined:
    ours = f"object.?source.?component.orValue('') == {text(COMPONENT)}"
    return Confined(
        Match(EVENTS.group, (EVENTS.plural,), ("CREATE", "UPDATE")),
        (Check(ours, "the operator tells events in its own name"),),
    )


def _holds() -> Confined:
    ended = f"oldObject.?status.?phase.orValue('') in {texts(ENDED)}"
    return Confined(
        Match(HOLDS.group, (HOLDS.plural,), ("DELETE",)),
        (Check(ended, "the operator deletes holds that have ended"),),
    )


def _own_headrooms(home: str, speech: KindCodecs) -> Confined:
    # The name of an object that is created is in the object alone.
    name = "(request.operation == 'CREATE' ? object.metadata.name : request.name)"
    known = f"(request.namespace + '/' + {name}) in {texts(_headrooms(home, speech))}"
    return Confined(
        Match(HEADROOMS.group, (HEADROOMS.plural,), ("CREATE", "UPDATE", "DELETE")),
        (Check(known, "the operator writes only those headrooms that a dialect stands on"),),
    )


def _slot_sets(speech: KindCodecs) -> Confined:
    return Confined(
        Match(SLOT_SETS.group, (SLOT_SETS.plural,), ("CREATE",)),
        (
            Check(
                controlled_by("object", (HEADROOMS, *speech.foreign)),
                "a SlotSet belongs to an object that is served",
            ),
        ),
    )


def _headrooms(home: str, speech: KindCodecs) -> list[str]:
    """The headrooms that are the operator's own, as namespace/name."""
    return [
        f"{namespace or home}/{name}"
        for dialect in speech.dialects
        for namespace, name in dialect.headrooms
    ]


def _asked_for(home: str, speech: KindCodecs) -> str:
    label = text(CLAIMS_NAMESPACE_LABEL)
    labelled = f"namespaceObject.metadata.?labels[?{label}].orValue('') == 'enabled'"
    # The last write to a namespace that no longer asks says that nobody is gated.
    closing = "size(object.spec.?keys.orValue({})) == 0"
    where = [labelled, closing]
    if speech.asks:
        where.append(f"!(request.namespace in {texts(never_gated(home))})")
    return " || ".join(where)
