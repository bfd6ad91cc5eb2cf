"""What a decision is about: the key of the agenda, the wait-lists and the lanes.

Its text is for logs only. Subjects sort as their texts do, so that simultaneous timers fire in an
order that people can follow.
"""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from headroom.core.objects import Key, Parent

MOST_SUBJECTS = 4096  # of pods, and as many of holds, that are remembered
NO_KEY = Key("", "")


class Topic(StrEnum):
    """The kinds of subjects."""

    POD = "pod"
    FOLLOW = "follow"  # an owner, for the sake of its slots
    HOLD = "hold"
    STATUS = "status"  # of a hold
    OBJECT = "object"  # that is made for a hold or a headroom, or deleted
    HEADROOM = "headroom"
    ANNOUNCE = "announce"  # the status of a headroom
    OVERHEAD = "overhead"  # the DaemonSet that counts a headroom's nodes
    OWN = "own"  # an object that the operator makes for itself
    NODE = "node"
    FENCE = "fence"  # by node
    QUOTA = "quota"
    INDEX = "index"  # the claim index of a namespace
    STATUSES = "statuses"  # the pace of status writes in a namespace
    PACE = "pace"  # of making guardians
    BULK = "bulk"
    WAKING = "waking"
    DOORS = "doors"


class Change(StrEnum):
    """What subjects wait for; `Agenda.wait` says of what."""

    NODE = "node"  # it, a pod on it or on its way there is not as it was, or a handover has ended
    ARRIVALS = "arrivals"  # no owner is on its way to a node; without a node: to any
    GUARDIAN_GONE = "guardian gone"  # of a headroom
    HEADROOM_DECIDED = "headroom decided"  # which slots it wants now
    LOAD = "load"  # pods or nodes of the cluster, of whatever name
    USAGE = "usage"  # of the limits of a namespace, or the limits themselves
    OWNER_PLACED = "owner placed"  # that went on without a hold or headroom, or waits no more
    ROOM = "room"  # on a node: a pod that counted there does not any more, or the node changed;
    # without a node: on any
    RUNNING_POD = "running pod"  # whose place a hold may take; of nothing
    LIMITS = "limits"  # of a namespace
    QUOTA = "quota"  # it has more room, perhaps
    RENEWAL = "renewal"  # of a slot of a headroom has ended
    REPLACEMENT = "replacement"  # a slot of a headroom, for one whose time is over


class Awaited(NamedTuple):
    """A change, and the name of the node, hold, headroom or namespace that changes."""

    change: Change
    of: str


class Subject(NamedTuple):
    """A kind and an identity, as the engine uses them as a key.

    Namespaces take turns by `namespace`; it is empty for cluster-scoped objects, such as a node.
    `key` is that of the pod, only for pods.
    """

    topic: Topic
    identity: str
    namespace: str = ""
    key: Key = NO_KEY

    def __str__(self) -> str:
        return f"{self.topic} {self.identity}" if self.identity else self.topic


@lru_cache(maxsize=MOST_SUBJECTS)
def pod_subject(key: Key, topic: Topic = Topic.POD) -> Subject:
    """The subject of a pod. Each is asked for dozens of times while its owner comes."""
    namespace, name = key
    return Subject(topic, f"{namespace}/{name}", namespace, key)


def hold_subject(parent: Parent, topic: Topic = Topic.HOLD) -> Subject:
    return _hold_subject(parent.identity, parent.namespace, topic)


@lru_cache(maxsize=MOST_SUBJECTS)
def _hold_subject(identity: str, namespace: str, topic: Topic) -> Subject:
    return Subject(topic, identity, namespace)


def kept_hold_subject(identity: str) -> Subject:
    """The subject of a hold whose identity is written on a pod of ours."""
    return Subject(Topic.HOLD, identity, identity.split("/", 2)[1])


def headroom_subject(parent: Parent, topic: Topic = Topic.HEADROOM) -> Subject:
    return Subject(topic, parent.whole, parent.namespace)


def node_subject(name: str) -> Subject:
    return Subject(Topic.NODE, name)


def fence_subject(node: str) -> Subject:
    return Subject(Topic.FENCE, node)


BURST = Subject(Topic.BULK, "burst")
RETRIES = Subject(Topic.WAKING, "preemptors")
ANY_ROOM = Awaited(Change.ROOM, "")


def node_changed(node: str) -> Awaited:
    """A temporary state of a node has ended, perhaps.

    During a handover room is counted twice, and what an owner has returned is free for a moment.
    Whoever is refused only for that reason goes on as soon as the node has changed.
    """
    return Awaited(Change.NODE, node)
