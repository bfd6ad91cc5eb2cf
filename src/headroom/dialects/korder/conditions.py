"""Conditions and their reasons in korder's words, both ways.

Of our three conditions Degraded is called Failure, and while it is True every reason is `Failed`,
as korder's users know it, with our own word before the message; only a quota that leaves no room is
named as it is, because it is not the object that has failed. Nothing is lost on the way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from headroom.core.objects import Condition
from headroom.core.quotas.limits import QUOTA_EXCEEDED

_FAILED = "Failed"
_TYPES = {"Ready": "Ready", "Progressing": "Progressing", "Degraded": "Failure"}


class Words:
    """Our reasons by korder's names for them; one that has no other name keeps its own."""

    def __init__(self, reasons: Mapping[str, str]) -> None:
        self._told = dict(reasons)
        self._meant = {told: meant for meant, told in reasons.items()}

    def told(self, conditions: Iterable[Condition]) -> tuple[Condition, ...]:
        """Our conditions as korder would have them."""
        given = tuple(conditions)
        failed = any(each.type == "Degraded" and each.status == "True" for each in given)
        return tuple(self._as_told(each, failed) for each in given if each.type in _TYPES)

    def meant(self, conditions: Iterable[Condition]) -> tuple[Condition, ...]:
        """Korder's conditions as ours; of the others that it has, none."""
        by_type = {each.type: each for each in conditions}
        return tuple(
            self._as_meant(by_type[told], ours) for ours, told in _TYPES.items() if told in by_type
        )

    def _as_told(self, condition: Condition, failed: bool) -> Condition:
        kind, reason, message = _TYPES[condition.type], condition.reason, condition.message
        if failed and reason != QUOTA_EXCEEDED:
            message = f"{reason}: {message}" if message else reason
            return replace(condition, type=kind, reason=_FAILED, message=message)
        return replace(condition, type=kind, reason=self._told.get(reason, reason))

    def _as_meant(self, condition: Condition, kind: str) -> Condition:
        if condition.reason == _FAILED:
            reason, _, message = condition.message.partition(": ")
            return replace(condition, type=kind, reason=reason, message=message)
        reason = self._meant.get(condition.reason, condition.reason)
        return replace(condition, type=kind, reason=reason)
