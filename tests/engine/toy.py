"""A cluster as small as can be: core values in dicts, actions applied to them, events told.

No time, no JSON, no faults of its own: what the engine asked for is true at once, and told in
order. `Toy.schedule` stands in for kube-scheduler: nominated node first, then the first with room.
"""

from __future__ import annotations

from dataclasses import replace

from headroom.core.actions import (
    Action,
    Bind,
    ClaimInPlace,
    CreateFence,
    CreateGuardian,
    CreateLatch,
    CreateSlotObject,
    CreateSlotSet,
    DeleteObject,
    DeletePod,
    Disclaim,
    Done,
    EndPod,
    Gone,
    LabelPod,
    MarkPreempted,
    MarkUnschedulable,
    MoveLatch,
    Nominate,
    Outcome,
    PromiseVolume,
    RestoreObject,
    SelectNode,
    SetFinalizers,
    Stale,
    Taken,
    Tell,
    Ungate,
    WriteHeadroomStatus,
    WriteHoldStatus,
    WriteIndex,
    WriteOverhead,
    WriteQuotaStatus,
)
from headroom.core.allocation import beside_text
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.hold_state.own_pods import latch_annotations, pod_made
from headroom.core.holds import Hold
from headroom.core.names import (
    CLAIMED_ANNOTATION,
    CLAIMED_BESIDE_ANNOTATION,
    CLAIMED_SLOT_ANNOTATION,
    CLAIMED_UID_ANNOTATION,
)
from headroom.core.objects import Key, Node, Parent, Pod
from headroom.core.resources import EMPTY
from headroom.ports import Event, Lost, Seen, Thing


class Toy:
    """What is true; `events` is what has not been told yet."""

    def __init__(self, *things: Thing) -> None:
        self.pods: dict[Key, Pod] = {}
        self.holds: dict[str, Hold] = {}
        self.headrooms: dict[str, Headroom] = {}
        self.nodes: dict[str, Node] = {}
        self.pins: dict[Key, str] = {}  # guardians that may stand on one node only
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
            case Headroom():
                thing = replace(thing, version=str(self._count))
                self.headrooms[str(thing.parent)] = thing
            case Node():
                self.nodes[thing.name] = thing
        self.events.append(Seen(thing))

    def remove(self, thing: Pod | Hold | Headroom | Node) -> None:
        match thing:
            case Pod(key=key):
                thing = self.pods.pop(key)
            case Hold(parent=parent):
                del self.holds[str(parent)]
            case Headroom(parent=parent):
                del self.headrooms[str(parent)]
            case Node(name=name):
                del self.nodes[name]
        self.events.append(Lost(thing))

    def perform(self, action: Action) -> Outcome:
        """Do what an action says, as an API server would."""
        match action:
            case CreateGuardian() | CreateLatch() | CreateFence():
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
            case WriteHeadroomStatus(parent=parent, status=wanted):
                if str(parent) not in self.headrooms:
                    return Gone()
                self.put(replace(self.headrooms[str(parent)], status=wanted))
                return Done()
            case WriteQuotaStatus() | CreateSlotObject() | RestoreObject():
                return Gone()
            case DeleteObject() | SetFinalizers() | WriteOverhead() | CreateSlotSet():
                return Gone()
            case SelectNode() | PromiseVolume():
                return Gone()
            case _:
                return self._change(action)

    def _create(self, action: CreateGuardian | CreateLatch | CreateFence) -> Outcome:
        made = pod_made(action, f"made-{self._count}")
        if made.key in self.pods:
            return Taken()
        if isinstance(action, CreateGuardian):
            self.pins[made.key] = action.node or action.hold.template.node
        self.put(made)
        return Done(self.pods[made.key].uid)

    def _change(
        self,
        action: Nominate
        | MoveLatch
        | DeletePod
        | MarkPreempted
        | EndPod
        | Ungate
        | LabelPod
        | Bind
        | ClaimInPlace
        | Disclaim
        | MarkUnschedulable,
    ) -> Outcome:
        pod = self.pods.get(action.key)
        if pod is None:
            return Gone()
        if action.uid not in ("", pod.uid):
            return Stale()
        match action:
            case DeletePod():
                self.remove(pod)
            case MarkPreempted():
                self.put(replace(pod, preempted=True))
            case EndPod(at=at):
                self.put(replace(pod, deleted=at))
            case Nominate(node=node, claimed=claimed):
                self.put(_claimed(replace(pod, nominated=node), claimed))
            case MoveLatch(node=node):
                self.put(replace(pod, nominated=node, annotations=latch_annotations(action)))
            case Ungate(gate=gate, index=index):
                if pod.gates[index : index + 1] != (gate,):
                    return Stale()
                gates = tuple(each for each in pod.gates if each != gate)
                self.put(replace(pod, gates=gates))
            case LabelPod(label=label, value=value):
                labels = {key: text for key, text in pod.labels.items() if key != label}
                self.put(replace(pod, labels=labels | ({label: value} if value else {})))
            case Bind(node=node, claimed=claimed):
                if pod.node or pod.gates:
                    return Stale()
                self.put(_claimed(replace(pod, node=node), claimed))
            case ClaimInPlace(claimed=claimed, beside=beside):
                told = {**pod.annotations, CLAIMED_BESIDE_ANNOTATION: beside_text(beside)}
                self.put(_claimed(replace(pod, annotations=told), claimed))
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
        if self.pins.get(pod.key, "") not in ("", node) or self.nodes[node].unschedulable:
            return False
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
    claim = {CLAIMED_ANNOTATION: parent.whole, CLAIMED_UID_ANNOTATION: parent.uid}
    if parent.slot:
        claim[CLAIMED_SLOT_ANNOTATION] = parent.slot
    return replace(pod, annotations={**pod.annotations, **claim})


def _disclaimed(pod: Pod) -> Pod:
    gone = (CLAIMED_ANNOTATION, CLAIMED_UID_ANNOTATION, CLAIMED_SLOT_ANNOTATION)
    kept = {name: value for name, value in pod.annotations.items() if name not in gone}
    return replace(pod, annotations=kept)
