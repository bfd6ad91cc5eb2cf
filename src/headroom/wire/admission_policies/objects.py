"""What the operator may write besides pods: claim indexes, its Lease, events, Headrooms, volumes.

A dialect defines what the operator may write of its own kinds (`Dialect.confined`).
"""

from __future__ import annotations

from headroom.core.names import CLAIMS_NAMESPACE_LABEL, INDEX_NAME, LEASE_NAME
from headroom.wire.admission_policies.cel import (
    Check,
    Confined,
    Validating,
    confined,
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

HAS_ENDED = "oldObject.?status.?phase.orValue('') in ['Succeeded', 'Failed']"


def objects(user: str, home: str, codecs: KindCodecs) -> list[Validating]:
    """The policies on everything that the operator writes and that is no pod, a policy a kind."""
    policies = (
        *(_indexes(home, codecs), _leases(home), _events(), _holds()),
        *(_own_headrooms(home, codecs), _slot_sets(codecs), claims(), volumes()),
        *(each for dialect in codecs.dialects for each in dialect.confined),
    )
    return [Validating(_name(each), (each.match,), made_by(user), each.checks) for each in policies]


def _name(policy: Confined) -> str:
    return f"operator-{policy.match.resources[0]}.headroom.dev"


def _indexes(home: str, codecs: KindCodecs) -> Confined:
    name = f"object.metadata.name == {text(INDEX_NAME)}"
    label = f"claim indexes are for namespaces with the label {CLAIMS_NAMESPACE_LABEL}"
    return confined(
        CLAIM_INDEXES,
        ("CREATE", "UPDATE"),
        Check(name, f"a claim index is called {INDEX_NAME}"),
        Check(_asked_for(home, codecs), label),
    )


def _leases(home: str) -> Confined:
    here = f"request.namespace == {text(home)} && object.metadata.name == {text(LEASE_NAME)}"
    message = f"the operator's lease is {home}/{LEASE_NAME}"
    return confined(LEASES, ("CREATE", "UPDATE"), Check(here, message))


def _events() -> Confined:
    ours = f"object.?source.?component.orValue('') == {text(COMPONENT)}"
    told = Check(ours, "the operator tells events in its own name")
    return confined(EVENTS, ("CREATE", "UPDATE"), told)


def _holds() -> Confined:
    ended = Check(HAS_ENDED, "the operator deletes holds that have ended")
    return confined(HOLDS, ("DELETE",), ended)


def _own_headrooms(home: str, codecs: KindCodecs) -> Confined:
    # The name of an object that is created is in the object alone.
    name = "(request.operation == 'CREATE' ? object.metadata.name : request.name)"
    known = f"(request.namespace + '/' + {name}) in {texts(_headrooms(home, codecs))}"
    ours = Check(known, "the operator writes only those headrooms that a dialect stands on")
    return confined(HEADROOMS, ("CREATE", "UPDATE", "DELETE"), ours)


def _slot_sets(codecs: KindCodecs) -> Confined:
    served = controlled_by("object", (HEADROOMS, *codecs.foreign))
    return confined(
        SLOT_SETS, ("CREATE",), Check(served, "a SlotSet belongs to an object that is served")
    )


def _headrooms(home: str, codecs: KindCodecs) -> list[str]:
    """The headrooms that are the operator's own, as namespace/name."""
    return [
        f"{namespace or home}/{name}"
        for dialect in codecs.dialects
        for namespace, name in dialect.headrooms
    ]


def _asked_for(home: str, codecs: KindCodecs) -> str:
    label = text(CLAIMS_NAMESPACE_LABEL)
    labelled = f"namespaceObject.metadata.?labels[?{label}].orValue('') == 'enabled'"
    # The last write to a namespace that no longer asks says that nobody is gated.
    closing = "size(object.spec.?keys.orValue({})) == 0"
    where = [labelled, closing]
    if codecs.asks:
        where.append(f"!(request.namespace in {texts(never_gated(home))})")
    return " || ".join(where)
