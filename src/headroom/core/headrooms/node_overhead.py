"""What slots per node add to every new node, for autoscalers that count DaemonSets in advance.

Karpenter chooses the size of machines before they exist. It knows the overhead of a node only from
DaemonSets. So a Headroom with slots per node has a DaemonSet whose template requests what its slots
keep on a node. It never creates a pod: its template requires a node that does not exist by name,
which Karpenter ignores. Guardians belong to it as well, so that they count as pods of a DaemonSet:
they order no machine, keep none, and are not counted twice.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from headroom.core.derived_names import dns_label, short_hash
from headroom.core.headrooms.eligibility import eligible
from headroom.core.headrooms.headrooms import Headroom, Workload, WorkloadRef
from headroom.core.headrooms.windows import ActiveWindow
from headroom.core.holds import PodTemplate
from headroom.core.objects import Key, Node, Parent
from headroom.core.resources import EMPTY, Resources

if TYPE_CHECKING:
    from headroom.core.headrooms.wanted_slots import WantedSlots

NOWHERE = "no-node.headroom.dev"  # the name that no node has
DAEMON_SET = ("apps/v1", "DaemonSet")


@dataclass(frozen=True, slots=True)
class Overhead:
    """What the DaemonSet of a headroom requests on every new node; nothing while EMPTY."""

    parent: Parent
    template: PodTemplate
    requests: Resources = EMPTY

    @property
    def key(self) -> Key:
        """The namespace and name of the DaemonSet."""
        return Key(self.parent.namespace, daemon_set_ref(self.parent).name)

    @property
    def shape(self) -> str:
        """A short text that changes when the DaemonSet is to be written anew."""
        amounts = (f"{name}={self.requests[name]}" for name in sorted(self.requests))
        return short_hash(self.template.shape, *amounts)


def daemon_set_ref(parent: Parent) -> WorkloadRef:
    """The DaemonSet of a headroom; a new headroom under an old name has another one."""
    return WorkloadRef(*DAEMON_SET, dns_label(f"{parent.name}-slots", parent.kind, parent.uid))


def has_daemon_set(headroom: Headroom) -> bool:
    """Whether every new node gets slots."""
    return headroom.size.by_node


def overhead_of(
    headroom: Headroom,
    template: PodTemplate,
    window: ActiveWindow | None,
    wished: WantedSlots | None,
    nodes: Collection[Node],
) -> Overhead:
    """What is to be counted on a new node: the slots that it would get, if they can stand there.

    `wished` is the last wish, if there was one. Nothing is counted for slots beyond a limit, nor
    for those that no node has room for: machines that large may not be for sale, and then nobody
    would get one.
    """
    idle = Overhead(headroom.parent, template)
    if not has_daemon_set(headroom) or window is None or headroom.paused:
        return idle
    if wished is not None and (wished.frozen or wished.count < wished.asked):
        return idle
    requests = window.size.on_new_node(template, wished)
    return replace(idle, requests=requests) if _could_stand(requests, template, nodes) else idle


def is_of(there: Workload, parent: Parent) -> bool:
    """Whether a DaemonSet or a SlotSet belongs to this very object."""
    return bool(parent.uid) and there.controller == parent.uid


def _could_stand(requests: Resources, template: PodTemplate, nodes: Collection[Node]) -> bool:
    """Whether an empty node would have room: one that gets slots, or any while there is none."""
    known = [node for node in nodes if eligible(node, template.pod) is None] or nodes
    return not known or any(requests.fits_in(node.allocatable) for node in known)
