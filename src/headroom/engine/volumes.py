"""Claims, volumes and classes as they were last seen, and the pods at our doors that name them.

A pod that waits at a door carries what its volumes ask of a node (`core.demand.volumes`), so that
everybody who judges where it fits minds them. When a claim, a volume or a class changes, the pods
that it concerns are judged anew. `core.demand.volume_decision` decides about claims that wait for
their pod.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from headroom.core.actions import PromiseVolume, SelectNode
from headroom.core.demand.volume_decision import BindingView, decide
from headroom.core.demand.volumes import Stored, Volume, VolumeClaim
from headroom.core.index_entries import By
from headroom.core.objects import Key, Pod
from headroom.core.plan import Sequence, Work
from headroom.core.subjects import Subject, pod_subject
from headroom.engine.ledger import Ledger


def see(ledger: Ledger, thing: Stored) -> tuple[Key, ...]:
    """A claim, volume or class was observed; return the pods that it concerns."""
    table, name = ledger.stored[type(thing)], _name(thing)
    before = _concerned(ledger, table.get(name))
    table[name] = thing
    if isinstance(thing, VolumeClaim) and (thing.selected or thing.bound):
        ledger.node_asked[thing.uid] = "" if thing.bound else thing.selected
    return tuple(dict.fromkeys((*before, *_concerned(ledger, thing))))


def lose(ledger: Ledger, thing: Stored) -> tuple[Key, ...]:
    """A claim, volume or class is gone."""
    ledger.stored[type(thing)].pop(_name(thing), None)
    ledger.node_asked.pop(thing.uid, None)
    return tuple(_concerned(ledger, thing))


def wrote(ledger: Ledger, action: SelectNode | PromiseVolume) -> tuple[Key, ...]:
    """A write is done, and counts before the watch shows it; return the pods that it concerns."""
    if isinstance(action, SelectNode):
        claim = ledger.storage.claims.get(action.key)
        if claim is not None and claim.uid == action.uid:
            ledger.stored[VolumeClaim][action.key] = replace(claim, selected=action.node)
        return tuple(ledger.index.of(By.VOLUME_CLAIM, action.key))
    volume = ledger.storage.volumes.get(action.volume)
    if volume is not None:
        given = replace(volume, claim=action.claim, claim_uid=action.claim_uid, free=False)
        ledger.stored[Volume][action.volume] = given
    return tuple(_concerned(ledger, volume))


def prepare(
    ledger: Ledger, pod: Pod, node: str, subject: Subject, now: datetime
) -> tuple[Sequence, ...] | str:
    """Bind the claims that wait for a pod, or return why they get no volume on this node.

    `subject` keeps the pod's room meanwhile, and is decided again.
    """
    claims = (ledger.storage.claims.get(Key(pod.key.namespace, name)) for name in pod.claims)
    asked = (claim.key.name for claim in claims if claim and ledger.node_asked[claim.uid])
    there, memory = ledger.nodes.get(node), ledger.pod_memory[pod.uid]
    decision = decide(BindingView(pod, there, ledger.storage, memory, frozenset(asked)), now)
    ledger.pod_memory[pod.uid] = decision.memory
    if decision.failed is not None:
        ledger.node_asked.pop(decision.failed.uid, None)
    if decision.refusal:
        return decision.refusal
    if decision.wake_at is not None:
        ledger.agenda.later(subject, decision.wake_at)
    subjects = tuple(dict.fromkeys((pod_subject(pod.key), subject)))
    return (Sequence(Work.VOLUMES, subjects, (decision.writes,)),) if decision.writes else ()


def _name(thing: Stored) -> Key | str:
    return thing.key if isinstance(thing, VolumeClaim) else thing.name


def _concerned(ledger: Ledger, thing: Stored | None) -> Iterable[Key]:
    """The pods that an object concerns; a class or a free volume may concern all that wait."""
    match thing:
        case None:
            return ()
        case VolumeClaim(key=claim) | Volume(claim=Key() as claim):
            return ledger.index.of(By.VOLUME_CLAIM, claim)
        case _:
            every = ledger.index.all(By.VOLUME_CLAIM).values()
            return [key for pods in every for key in pods]
