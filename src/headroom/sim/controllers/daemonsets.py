"""DaemonSets: one pod on every eligible node, as in kube-controller-manager.

A node that is no longer eligible loses its pod. A failed pod is deleted and created again with a
growing backoff. A changed template is rolled out node by node (with OnDelete, when somebody deletes
the pods). The next pod of a node is created only after the last one is deleted. Surge updates and
ControllerRevisions are not modelled. `daemonplan` has the rules.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from headroom.core.objects import Pod
from headroom.sim.actor_context import ActorContext
from headroom.sim.api.decoder import node_of, pod_of
from headroom.sim.api.store import ObjectChange, Verb
from headroom.sim.api.values import Json, Ref, dig, ref_of, uid_of
from headroom.sim.controllers.daemonplan import (
    GENERATION_LABEL,
    Eligibility,
    daemon_spec,
    eligibility,
    most_unavailable,
    pinned,
    target_of,
)
from headroom.sim.controllers.pod_control import (
    REVISION_LABEL,
    PodController,
    age_rank,
    is_ending,
    is_finished,
    is_ready,
    pod_from_template,
    revision_of,
)
from headroom.sim.controllers.revisions import Backoff, template_hash

_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 900.0
_LOOK_AT_A_NODE = 50e-6
"""Seconds; many changes on many nodes are handled together, as in the real controller."""


@dataclass(slots=True)
class _Template:
    """The pods of a DaemonSet for one generation, and which nodes are eligible."""

    generation: int
    number: int
    revision: str
    pattern: Pod
    node_name: str
    judged: dict[str, tuple[str, Eligibility]] = field(default_factory=dict)

    def judge(self, node: Json) -> Eligibility:
        name, version = ref_of(node).name, str(dig(node, "metadata", "resourceVersion"))
        known = self.judged.get(name)
        if known is None or known[0] != version:
            answer = eligibility(self.pattern.placement, self.node_name, node_of(node))
            known = self.judged[name] = (version, answer)
        return known[1]


@dataclass(slots=True)
class _Work:
    """The result of one check of a DaemonSet: what to create and what to delete."""

    make: list[str] = field(default_factory=list)
    end: list[Json] = field(default_factory=list)


class DaemonSets(PodController):
    """Reconciles the pods of every DaemonSet, one for each node."""

    name = "daemonset-controller"
    kind = "DaemonSet"

    def __init__(self, stage: ActorContext) -> None:
        self._templates: dict[str, _Template] = {}
        self._backoff = Backoff(_FIRST_PAUSE, _LONGEST_PAUSE)
        super().__init__(stage)
        self.store.listen("Node", self._on_node)

    def on_change(self, change: ObjectChange) -> None:
        super().on_change(change)
        if change.verb is Verb.DELETED:
            self._templates.pop(uid_of(change.obj), None)

    def _on_node(self, change: ObjectChange) -> None:
        if change.verb is not Verb.MODIFIED or _looks_otherwise(change):
            for item in self.store.list("DaemonSet"):
                self.enqueue(ref_of(item))

    async def sync(self, ref: Ref) -> None:
        await asyncio.sleep(_LOOK_AT_A_NODE * self.store.count("Node"))
        wish = self.wanted(ref)
        if wish is None:
            return
        self.adopt(wish)
        template = self._template(wish)
        work = self._manage(wish, template)
        if not await self._carry_out(ref, template, work):
            return
        if not work.make and not work.end:
            await self._carry_out(ref, template, _Work(end=self._outdated(wish, template)))
        self._count(ref, template)

    def _template(self, wish: Json) -> _Template:
        """The current template of a DaemonSet; checked nodes are cached until it changes."""
        generation = int(dig(wish, "metadata", "generation") or 1)
        known = self._templates.get(uid_of(wish))
        if known is None or known.generation != generation:
            given = dig(wish, "spec", "template") or {}
            spec = daemon_spec(given.get("spec") or {})
            meta = {"name": ref_of(wish).name, "namespace": ref_of(wish).namespace}
            pattern = pod_of({"metadata": meta, "spec": spec})
            revision, node_name = template_hash(given), str(spec.get("nodeName") or "")
            number = 1 if known is None else known.number + (known.revision != revision)
            known = _Template(generation, number, revision, pattern, node_name)
            self._templates[uid_of(wish)] = known
        return known

    def _manage(self, wish: Json, template: _Template) -> _Work:
        """Compare nodes and pods: what is missing, and what must be deleted."""
        here = self._by_node(wish)
        work = _Work()
        for node in self.store.list("Node"):
            name = ref_of(node).name
            suits = template.judge(node)
            pods = here.pop(name, [])
            if suits.run and not pods:
                work.make.append(name)
            elif suits.stay:
                work.end += self._surplus(wish, template, name, pods)
            else:
                work.end += [pod for pod in pods if not is_ending(pod)]
        for pods in here.values():  # Their nodes are gone; the collector has the bound ones.
            work.end += [p for p in pods if not dig(p, "spec", "nodeName") and not is_ending(p)]
        return work

    def _by_node(self, wish: Json) -> dict[str, list[Json]]:
        found: dict[str, list[Json]] = {}
        for pod in self.pods_of(wish):
            if not (is_finished(pod) and is_ending(pod)):
                found.setdefault(target_of(pod), []).append(pod)
        return found

    def _surplus(self, wish: Json, template: _Template, node: str, pods: list[Json]) -> list[Json]:
        """The ended pods of one node, and all but the oldest of the others."""
        alive: list[Json] = []
        surplus: list[Json] = []
        for pod in (pod for pod in pods if not is_ending(pod)):
            phase = dig(pod, "status", "phase")
            if phase == "Failed":
                if not self._must_wait(wish, template, node):
                    self._tell_ended(wish, "Warning", "Failed", pod, node)
                    surplus.append(pod)
            elif phase == "Succeeded":
                self._tell_ended(wish, "Normal", "Succeeded", pod, node)
                surplus.append(pod)
            else:
                alive.append(pod)
        return [*surplus, *sorted(alive, key=age_rank)[1:]]

    def _tell_ended(self, wish: Json, kind: str, phase: str, pod: Json, node: str) -> None:
        what = f"Found {phase.lower()} daemon pod {ref_of(pod).namespace}/{ref_of(pod).name}"
        words = f"{what} on node {node}, will try to {'kill' if kind == 'Warning' else 'delete'} it"
        self.recorder.record(wish, kind, f"{phase}DaemonPod", words)

    def _must_wait(self, wish: Json, template: _Template, node: str) -> bool:
        key = f"{uid_of(wish)}/{template.generation}/{node}"
        left = self._backoff.left(key, self.stage.loop.now)
        if left > 0:
            self.enqueue(ref_of(wish), after=left)
            return True
        self._backoff.next(key, self.stage.loop.now)
        return False

    async def _carry_out(self, ref: Ref, template: _Template, work: _Work) -> bool:
        """Create and delete pods; False if the DaemonSet has changed and must be checked again."""
        for node in work.make:
            await self.turn()
            wish = self._same(ref, template)
            if wish is None:
                return False
            if self.make(wish, _pod(wish, template, node)) is None:
                break
        for pod in work.end:
            await self.turn()
            wish = self._same(ref, template)
            if wish is None:
                return False
            self.end(wish, pod)
        return True

    def _same(self, ref: Ref, template: _Template) -> Json | None:
        wish = self.wanted(ref)
        if wish is None or self._templates.get(uid_of(wish)) is not template:
            return None
        return wish if dig(wish, "metadata", "generation") == template.generation else None

    def _outdated(self, wish: Json, template: _Template) -> list[Json]:
        """The pods of an old template that may be deleted now."""
        if dig(wish, "spec", "updateStrategy", "type") == "OnDelete":
            return []
        here = self._by_node(wish)
        unavailable = 0
        broken: list[Json] = []
        candidates: list[Json] = []
        for name in sorted(here):
            pods = [pod for pod in here[name] if not is_ending(pod)]
            if len(pods) != 1:
                unavailable += 1
            elif revision_of(pods[0]) == template.revision:
                unavailable += not is_ready(pods[0])
            else:
                (candidates if is_ready(pods[0]) else broken).append(pods[0])
        spare = max(0, most_unavailable(wish, len(self._eligible(template))) - unavailable)
        return [*broken, *candidates[:spare]]

    def _eligible(self, template: _Template) -> list[str]:
        nodes = self.store.list("Node")
        return [ref_of(node).name for node in nodes if template.judge(node).run]

    def _count(self, ref: Ref, template: _Template) -> None:
        wish = self._same(ref, template)
        if wish is None:
            return
        here = self._by_node(wish)
        eligible = self._eligible(template)
        first = [sorted(here[name], key=age_rank)[0] for name in eligible if name in here]
        ready = sum(map(is_ready, first))
        unsuited = here.keys() - set(eligible)
        known = {name for name in unsuited if self.store.get(Ref("Node", "", name))}
        must = {
            "currentNumberScheduled": len(first),
            "desiredNumberScheduled": len(eligible),
            "numberMisscheduled": len(known),
            "numberReady": ready,
        }
        may = {
            "numberAvailable": ready,
            "numberUnavailable": len(eligible) - ready,
            "observedGeneration": template.generation,
            "updatedNumberScheduled": sum(revision_of(p) == template.revision for p in first),
        }
        self.write_status(wish, {**must, **{name: value for name, value in may.items() if value}})


def _pod(wish: Json, template: _Template, node: str) -> Json:
    given = dig(wish, "spec", "template") or {}
    labels = {REVISION_LABEL: template.revision, GENERATION_LABEL: str(template.number)}
    name = {"generateName": f"{ref_of(wish).name}-"}
    pod = pod_from_template(wish, given, name, labels)
    return {**pod, "spec": pinned(daemon_spec(pod["spec"]), node)}


def _looks_otherwise(change: ObjectChange) -> bool:
    """Whether a node changed in a way that can matter to a DaemonSet."""
    return change.differs_in(("metadata", "labels"), ("spec", "taints"), ("spec", "unschedulable"))
