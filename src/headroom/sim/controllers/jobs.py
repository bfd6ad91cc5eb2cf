"""Jobs: pods until enough have succeeded, or too many have failed.

As in the real controller, a deleted pod counts as failed and is replaced at once, failures delay
the next pod (10 s, doubling to 10 min), and every pod has a finalizer until it is counted. Indexes,
pod failure policies and deadlines are not modelled: the run says so. `jobcounts` calculates how
many pods should run.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from headroom.sim.actor_context import ActorContext
from headroom.sim.api.store import ObjectChange, Verb
from headroom.sim.api.values import (
    Json,
    Ref,
    condition_of,
    dig,
    drop,
    new_condition,
    put,
    ref_of,
    uid_of,
    with_condition,
)
from headroom.sim.controllers.jobcounts import (
    Counts,
    conditions,
    is_exhausted,
    is_satisfied,
    pause,
    wanted_active,
)
from headroom.sim.controllers.pod_control import (
    PodController,
    is_active,
    is_ending,
    is_ready,
    pod_from_template,
)
from headroom.sim.loop import DIGITS

TRACKED = "batch.kubernetes.io/job-tracking"
_UNMODELLED = {
    "activeDeadlineSeconds": "jobs do not end at activeDeadlineSeconds",
    "podFailurePolicy": "every failure counts alike",
    "successPolicy": "all completions are waited for",
    "backoffLimitPerIndex": "failures are counted for the whole job",
}


class Jobs(PodController):
    """Runs every Job's pods."""

    name = "job-controller"
    kind = "Job"

    def __init__(self, stage: ActorContext) -> None:
        self._counts: dict[str, Counts] = {}
        self._expiring: set[str] = set()
        super().__init__(stage)

    def on_change(self, change: ObjectChange) -> None:
        if change.verb is Verb.DELETED:
            for pod in self.pods_of(change.obj):
                self._untrack(pod)
            self._counts.pop(uid_of(change.obj), None)
            self._expiring.discard(uid_of(change.obj))
        super().on_change(change)

    def pod_changed(self, owner: Json, change: ObjectChange) -> None:
        """Remove the finalizer of a pod whose Job is gone."""
        if self.store.by_uid(str(owner["uid"])) is None and change.verb is not Verb.DELETED:
            self.stage.loop.call_soon(self._let_go, change.ref, uid_of(change.obj))

    async def sync(self, ref: Ref) -> None:
        wish = self.wanted(ref)
        if wish is None:
            return
        self._mention(wish)
        self._count_ended(wish)
        counts = self._counts.setdefault(uid_of(wish), Counts())
        if _has_ended(wish):
            self._expire(wish)
            return
        active = [pod for pod in self.pods_of(wish) if is_active(pod)]
        if is_exhausted(wish, counts):
            await self._finish(wish, active, "Failed")
        elif is_satisfied(wish, counts, len(active)):
            await self._finish(wish, active, "Complete")
        else:
            await self._adjust(wish, active, counts)
            self._write(ref)

    def _count_ended(self, wish: Json) -> None:
        """Count ended and deleted pods once, and remove their finalizer."""
        uid = uid_of(wish)
        for pod in self.pods_of(wish):
            if is_active(pod) or TRACKED not in (dig(pod, "metadata", "finalizers") or ()):
                continue
            counts = self._counts.get(uid, Counts())
            if dig(pod, "status", "phase") == "Succeeded":
                counts = replace(counts, succeeded=counts.succeeded + 1, streak=0)
            else:
                counts = replace(
                    counts,
                    failed=counts.failed + 1,
                    streak=counts.streak + 1,
                    failed_at=self.stage.loop.now,
                )
            self._counts[uid] = counts
            self._untrack(pod)

    async def _adjust(self, wish: Json, active: list[Json], counts: Counts) -> None:
        """Start missing pods, or delete surplus ones."""
        missing = wanted_active(wish, counts, len(active)) - len(active)
        if missing < 0:
            for pod in sorted(active, key=lambda pod: (is_ready(pod), ref_of(pod).name))[:-missing]:
                await self.turn()
                self._untrack(pod)  # This is not a failure of the pod: it is not counted.
                self.end(wish, pod)
        elif missing > 0:
            due = counts.failed_at + pause(counts)
            wait = round(due - self.stage.loop.now, DIGITS)
            if wait > 0:
                self.enqueue(ref_of(wish), after=wait)
                return
            for _ in range(missing):
                await self.turn()
                current = self.wanted(ref_of(wish))
                if current is None or self.make(current, _pod(current)) is None:
                    return

    async def _finish(self, wish: Json, active: list[Json], how: str) -> None:
        """Delete the remaining pods and write how the Job ended."""
        for pod in active:
            await self.turn()
            self.end(wish, pod)
        self._count_ended(wish)
        self._write(ref_of(wish), how)
        if how == "Complete":
            self.recorder.record(wish, "Normal", "Completed", "Job completed")
        else:
            words = "Job has reached the specified backoff limit"
            self.recorder.record(wish, "Warning", "BackoffLimitExceeded", words)

    def _write(self, ref: Ref, how: str = "") -> None:
        wish = self.wanted(ref)
        if wish is None:
            return
        counts = self._counts[uid_of(wish)]
        pods = self.pods_of(wish)
        active = [pod for pod in pods if is_active(pod)]
        numbers = {
            "active": len(active),
            "succeeded": counts.succeeded,
            "failed": counts.failed,
        }
        now = self.store.timestamp()
        status: dict[str, Any] = {
            **self._suspension(wish, now),
            "ready": sum(map(is_ready, active)),
            "terminating": 0 if how else sum(map(is_ending, pods)),
            "uncountedTerminatedPods": {},
            **{name: value for name, value in numbers.items() if value},
        }
        if how:
            status["conditions"] = [*status.get("conditions", ()), *conditions(how, now)]
        if how == "Complete":
            status["completionTime"] = now
        self.write_status(wish, status)

    def _suspension(self, wish: Json, now: str) -> dict[str, Any]:
        """When the Job started, and whether it is suspended; a change gets an event."""
        before = condition_of(wish, "Suspended")
        held = bool(dig(wish, "spec", "suspend"))
        start = dig(wish, "status", "startTime")
        kept: dict[str, Any] = {} if held else {"startTime": start or now}
        if before is None and not held:
            return kept
        what = "suspended" if held else "resumed"
        if before is None or (before["status"] == "True") is not held:
            self.recorder.record(wish, "Normal", what.capitalize(), f"Job {what}")
        condition = new_condition("Suspended", held, f"Job{what.capitalize()}", f"Job {what}")
        known = {"conditions": list(dig(wish, "status", "conditions") or ())}
        return {**kept, **with_condition(known, condition, now)}

    def _expire(self, wish: Json) -> None:
        """Delete a finished Job when its time to live is over."""
        ttl = dig(wish, "spec", "ttlSecondsAfterFinished")
        if ttl is not None and uid_of(wish) not in self._expiring:
            self._expiring.add(uid_of(wish))
            self.stage.loop.call_later(float(ttl), self._remove, ref_of(wish), uid_of(wish))

    def _remove(self, ref: Ref, uid: str) -> None:
        wish = self.store.get(ref)
        if wish is not None and uid_of(wish) == uid:
            self.server.delete(ref, uid=uid)

    def _let_go(self, ref: Ref, uid: str) -> None:
        pod = self.store.get(ref)
        if pod is not None and uid_of(pod) == uid:
            self._untrack(pod)

    def _untrack(self, pod: Json) -> None:
        finalizers = dig(pod, "metadata", "finalizers") or []
        if TRACKED in finalizers:
            kept = [each for each in finalizers if each != TRACKED]
            pod = put(pod, kept, "metadata", "finalizers") if kept else _bare(pod)
            self.server.update(pod)

    def _mention(self, wish: Json) -> None:
        for field, words in _UNMODELLED.items():
            if dig(wish, "spec", field):
                self.server.note(f"jobs with {field}: {words}")
        if dig(wish, "spec", "completionMode") == "Indexed":
            self.server.note("indexed jobs: their pods have no index")


def _pod(wish: Json) -> Json:
    """A pod of a Job: with the old and the new labels, and the tracking finalizer."""
    name, uid = ref_of(wish).name, uid_of(wish)
    labels = {
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": name,
        "controller-uid": uid,
        "job-name": name,
    }
    template = dig(wish, "spec", "template") or {}
    pod = pod_from_template(wish, template, {"generateName": f"{name}-"}, labels)
    pod["metadata"]["finalizers"] = [TRACKED]
    return pod


def _bare(pod: Json) -> Json:
    return drop(pod, "metadata", "finalizers")


def _has_ended(wish: Json) -> bool:
    found = (condition_of(wish, name) for name in ("Complete", "Failed"))
    return any(condition is not None for condition in found)
