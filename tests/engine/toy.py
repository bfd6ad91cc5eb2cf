"""A cluster as small as can be: core values in dicts, actions applied to them, events told.

No time, no JSON, no faults of its own: what the engine asked for is true at once, and told in
order. `Toy.schedule` stands in for kube-scheduler: nominated node first, then the first with room.
"""

from __future__ import annotations

from dataclasses import replace

from headroom.core.actions import (
    Action,
    Bind,
    CreateGuardian,
    CreateLatch,
    DeletePod,
    Disclaim,
    Done,
    Gone,
    MarkUnschedulable,
    MoveLatch,
    Nominate,
    Outcome,
    Stale,
    Taken,
    Tell,
    Ungate,
    WriteHoldStatus,
    WriteIndex,
)
from headroom.core.holds import Hold
from headroom.core.latches import claims_text
from headroom.core.names import (
    CLAIMED_ANNOTATION,
    CLAIMED_UID_ANNOTATION,
    CLAIMS_ANNOTATION,
    LATCH_GATE,
    LOCKED_PRIORITY,
    PARENT_ANNOTATION,
    ROLE_GUARDIAN,
    ROLE_LABEL,
    ROLE_LATCH,
)
from headroom.core.objects import Key, Node, OwnerReference, Parent, Pod
from headroom.core.resources import EMPTY
from headroom.ports import Event, HoldGone, NodeGone, PodGone, Seen, Thing


class Toy:
    """What is true; `events` is what has not been told yet."""

    def __init__(self, *things: Thing) -> None:
        self.pods: dict[Key, Pod] = {}
        self.holds: dict[str, Hold] = {}
        self.nodes: dict[str, Node] = {}
        self.events: list[Event] = []
        self.told: list[Tell] = []
        self.indexes: list[WriteIndex] = []
        self._count = 0
        for thing in things:
            self.put(thing)

    def put(self, thing: Thing) -> None:
        """Make something true, and tell of it."""
        self._count += 1
        match thing:
            case Pod():
                thing = self.pods[thing.key] = replace(thing, version=str(self._count))
            case Hold():
                thing = self.holds[str(thing.parent)] = replace(thing, version=str(self._count))
            case Node():
                self.nodes[thing.name] = thing
        self.events.append(Seen(thing))

    def remove(self, thing: Pod | Hold | Node) -> None:
        match thing:
            case Pod(key=key):
                self.events.append(PodGone(key, self.pods.pop(key).uid))
            case Hold(parent=parent):
                del self.holds[str(parent)]
                self.events.append(HoldGone(parent))
            case Node(name=name):
                del self.nodes[name]
                self.events.append(NodeGone(name))

    def perform(self, action: Action) -> Outcome:
        """Do what an action says, as an API server would."""
        match action:
            case CreateGuardian() | CreateLatch():
                return self._create(action)
            case WriteHoldStatus(parent=parent, status=status):
                known = self.holds.get(str(parent))
                if known is None or known.parent.uid != parent.uid:
                    return Gone()
                self.put(replace(known, status=status))
                return Done()
            case Tell():
                self.told.append(action)
                return Done()
            case WriteIndex():
                self.indexes.append(action)
                return Done()
            case _:
                return self._change(action)

    def _create(self, action: CreateGuardian | CreateLatch) -> Outcome:
        made = _guardian(action) if isinstance(action, CreateGuardian) else _latch(action)
        if made.key in self.pods:
            return Taken()
        self.put(replace(made, uid=f"made-{self._count}"))
        return Done(self.pods[made.key].uid)

    def _change(
        self,
        action: Nominate | MoveLatch | DeletePod | Ungate | Bind | Disclaim | MarkUnschedulable,
    ) -> Outcome:
        pod = self.pods.get(action.key)
        if pod is None:
            return Gone()
        if action.uid not in ("", pod.uid):
            return Stale()
        match action:
            case DeletePod():
                self.remove(pod)
            case Nominate(node=node, claimed=claimed):
                self.put(_claimed(replace(pod, nominated=node), claimed))
            case MoveLatch(node=node):
                self.put(replace(pod, nominated=node, annotations=_latch_words(action)))
            case Ungate(gate=gate, index=index):
                if pod.gates[index : index + 1] != (gate,):
                    return Stale()
                gates = tuple(each for each in pod.gates if each != gate)
                self.put(replace(pod, gates=gates))
            case Bind(node=node, claimed=claimed):
                if pod.node or pod.gates:
                    return Stale()
                self.put(_claimed(replace(pod, node=node), claimed))
            case Disclaim(nominated=nominated):
                pod = replace(pod, nominated="") if nominated else pod
                self.put(_disclaimed(pod))
            case MarkUnschedulable(message=message, at=at):
                self.put(replace(pod, unschedulable_since=at, unschedulable_message=message))
        return Done()

    def schedule(self) -> bool:
        """Bind one pod of kube-scheduler's that has a place; say whether there was one."""
        for key in sorted(self.pods):
            pod = self.pods[key]
            if pod.node or pod.gates or pod.finished or pod.scheduler != "default-scheduler":
                continue
            order = sorted(self.nodes, key=lambda name: (name != pod.nominated, name))
            for name in order:
                if self._fits(pod, name):
                    self.put(replace(pod, node=name, nominated=""))
                    return True
        return False

    def used(self, node: str) -> object:
        """What the pods bound to a node ask for."""
        return sum((pod.requests for pod in self.pods.values() if pod.node == node), EMPTY)

    def _fits(self, pod: Pod, node: str) -> bool:
        beside = sum(
            (
                other.requests
                for other in self.pods.values()
                if other.key != pod.key and not other.finished
                if node in (other.node, other.nominated if not other.node else "")
            ),
            EMPTY,
        )
        return (beside + pod.requests).fits_in(self.nodes[node].allocatable)


def _claimed(pod: Pod, parent: Parent | None) -> Pod:
    if parent is None:
        return pod
    claim = {CLAIMED_ANNOTATION: str(parent), CLAIMED_UID_ANNOTATION: parent.uid}
    return replace(pod, annotations={**pod.annotations, **claim})


def _disclaimed(pod: Pod) -> Pod:
    gone = (CLAIMED_ANNOTATION, CLAIMED_UID_ANNOTATION)
    kept = {name: value for name, value in pod.annotations.items() if name not in gone}
    return replace(pod, annotations=kept)


def _guardian(action: CreateGuardian) -> Pod:
    parent = action.hold.parent
    return replace(
        action.hold.template.pod,
        key=Key(parent.namespace, action.name),
        labels={ROLE_LABEL: ROLE_GUARDIAN},
        annotations={PARENT_ANNOTATION: str(parent)},
        owners=(OwnerReference(parent.api_version, parent.kind, parent.name, parent.uid, True),),
        priority=LOCKED_PRIORITY,
        requests=action.requests,
        node=action.node if action.bound else "",
    )


def _latch(action: CreateLatch) -> Pod:
    return Pod(
        key=action.key,
        labels={ROLE_LABEL: ROLE_LATCH},
        annotations=_latch_words(action),
        gates=(LATCH_GATE,),
        priority=LOCKED_PRIORITY,
        requests=action.requests,
    )


def _latch_words(action: CreateLatch | MoveLatch) -> dict[str, str]:
    return {
        PARENT_ANNOTATION: str(action.parent),
        CLAIMS_ANNOTATION: claims_text(action.claims),
    }
