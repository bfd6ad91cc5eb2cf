"""Two kinds of reservations that do not share a node: with an allocate policy, and without one.

This is Koordinator's rule; our own holds belong to neither kind. Guardians have the kind of their
hold as a label. If both kinds exist, the newer guardians avoid the other kind by required
anti-affinity. kube-scheduler applies it in both directions, so the older guardians need none, and
clusters with one kind only do not pay for it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from headroom.core.holds import Hold
from headroom.core.names import POLICY_LABEL
from headroom.core.objects import LabelSelector, PodTerm, Requirement

WITHOUT, WITH = "none", "set"
CONFLICT = "node(s) reservation allocate policy conflict"
OWN_RULES = "node(s) didn't match pod anti-affinity rules"
RULES_OF_OTHERS = "node(s) didn't satisfy existing pods anti-affinity rules"


def with_policy_group(hold: Hold) -> Hold:
    """The hold, its guardian labelled with the group that its policy puts it in."""
    label = (POLICY_LABEL, WITH if hold.allocate_policy else WITHOUT)
    return replace(hold, template=replace(hold.template, labels=(*hold.template.labels, label)))


def policy_group_of(hold: Hold) -> str:
    """The group of a hold; empty for one that is in none."""
    return dict(hold.template.labels).get(POLICY_LABEL, "")


def kept_apart(hold: Hold) -> Hold:
    """The hold, its guardian kept away from those of the other group, whatever their namespace."""
    other = WITHOUT if policy_group_of(hold) == WITH else WITH
    theirs = LabelSelector((Requirement(POLICY_LABEL, "In", (other,)),))
    term = PodTerm(theirs, "kubernetes.io/hostname", namespace_selector=LabelSelector())
    return replace(hold, template=replace(hold.template, apart=term))


def apart_from_others(hold: Hold, holds: Mapping[str, Collection[str]]) -> Hold:
    """The hold, kept apart from the other group if it has holds, by group and name."""
    group = policy_group_of(hold)
    if not group or hold.terminal:
        return hold
    others = (name for each, names in holds.items() if each != group for name in names)
    return kept_apart(hold) if any(name != hold.parent.identity for name in others) else hold


def conflict_told(hold: Hold, message: str) -> str:
    """kube-scheduler's reason in Koordinator's words, as far as the other group is to blame for it.

    Where the template or another pod has rules of its own, it may be either.
    """
    if hold.template.apart is None:
        return message
    own = bool(hold.template.pod.placement.pod_anti_affinity.required)
    message = message.replace(OWN_RULES, f"{OWN_RULES}, or {CONFLICT}" if own else CONFLICT)
    return message.replace(RULES_OF_OTHERS, f"{RULES_OF_OTHERS}, or {CONFLICT}")
