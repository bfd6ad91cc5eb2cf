"""Certain demand: pods that a workload wants and that do not exist yet.

Between a decision to scale and the pods there are a controller's queue, its client limit and its
quota. The missing pods will most likely be created next, so their placeholders come before those of
a general rule. A workload that cannot create its pods is no longer counted.
"""

from __future__ import annotations


def job_size(parallelism: int | None, completions: int | None, succeeded: int) -> int:
    """How many pods a Job wants at once.

    One without completions is a queue of work: any success says that the queue is empty.
    """
    at_once = 1 if parallelism is None else parallelism
    if completions is None and parallelism is not None:
        return at_once if succeeded == 0 else 0
    left = (1 if completions is None else completions) - succeeded
    return max(0, min(left, at_once))


def missing(desired: int, present: int, *, in_order: bool = False, refused: bool = False) -> int:
    """How many pods of a workload are still to come.

    `present` are its pods that have not ended, gated ones too. Where pods are made `in_order` only
    the next one is on its way. A workload that is `refused` new pods, by a quota for example, gets
    none, or room would be kept for ever.
    """
    if refused:
        return 0
    gap = max(0, desired - present)
    return min(gap, 1) if in_order else gap
