"""The calculations for a Job: how many pods should run, when it is complete, when it has failed."""

from __future__ import annotations

from dataclasses import dataclass

from headroom.sim.api.values import Json, dig

DEFAULT_LIMIT = 6
FIRST_PAUSE = 10.0
LONGEST_PAUSE = 600.0


@dataclass(frozen=True, slots=True)
class Counts:
    """The pods of a Job so far; `streak` is the number of failures since the last success."""

    succeeded: int = 0
    failed: int = 0
    streak: int = 0
    failed_at: float = 0.0


def wanted_active(job: Json, counts: Counts, active: int) -> int:
    """How many pods should run now."""
    if dig(job, "spec", "suspend"):
        return 0
    parallelism = dig(job, "spec", "parallelism")
    most = 1 if parallelism is None else int(parallelism)
    completions = _completions(job)
    if completions is None:  # A work queue: no new pods after one has succeeded.
        return active if counts.succeeded else most
    return min(completions - counts.succeeded, most)


def is_satisfied(job: Json, counts: Counts, active: int) -> bool:
    completions = _completions(job)
    if completions is None:
        return counts.succeeded > 0 and active == 0
    return counts.succeeded >= completions


def is_exhausted(job: Json, counts: Counts) -> bool:
    limit = dig(job, "spec", "backoffLimit")
    return counts.failed > (DEFAULT_LIMIT if limit is None else int(limit))


def pause(counts: Counts) -> float:
    """How long after the last failure the next pod may start."""
    if counts.streak == 0:
        return 0.0
    doubled: float = FIRST_PAUSE * 2 ** min(counts.streak - 1, 10)
    return min(LONGEST_PAUSE, doubled)


def conditions(how: str, now: str) -> list[Json]:
    """The two conditions with which a Job ends."""
    if how == "Complete":
        first, reason = "SuccessCriteriaMet", "CompletionsReached"
        message = "Reached expected number of succeeded pods"
    else:
        first, reason = "FailureTarget", "BackoffLimitExceeded"
        message = "Job has reached the specified backoff limit"
    return [
        {
            "type": kind,
            "status": "True",
            "reason": reason,
            "message": message,
            "lastProbeTime": now,
            "lastTransitionTime": now,
        }
        for kind in (first, how)
    ]


def _completions(job: Json) -> int | None:
    """How many pods must succeed; a Job without a number needs one."""
    asked = dig(job, "spec", "completions")
    if asked is None:
        return 1 if dig(job, "spec", "parallelism") is None else None
    return int(asked)
