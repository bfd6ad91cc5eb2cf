"""Conditions and their reasons in korder's format: encode and decode.

Our condition Degraded is called Failure. While it is True, every reason is `Failed`, as korder's
users know it, and our own reason is the first word of the message. Only `QuotaExceeded` keeps its
name, because then the object itself has not failed. Decoding returns the same conditions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from headroom.core.objects import Condition
from headroom.core.quotas.limits import QUOTA_EXCEEDED

_FAILED = "Failed"
_TYPES = {"Ready": "Ready", "Progressing": "Progressing", "Degraded": "Failure"}


class ConditionCodec:
    """Korder's names of our reasons; a reason without another name keeps its own."""

    def __init__(self, reasons: Mapping[str, str]) -> None:
        self._korder_names = dict(reasons)
        self._our_names = {told: meant for meant, told in reasons.items()}

    def encode(self, conditions: Iterable[Condition]) -> tuple[Condition, ...]:
        """Our conditions in korder's format."""
        given = tuple(conditions)
        failed = any(each.type == "Degraded" and each.status == "True" for each in given)
        return tuple(self._encoded(each, failed) for each in given if each.type in _TYPES)

    def decode(self, conditions: Iterable[Condition]) -> tuple[Condition, ...]:
        """Korder's conditions in our format; other conditions are dropped."""
        by_type = {each.type: each for each in conditions}
        return tuple(
            self._decoded(by_type[told], ours) for ours, told in _TYPES.items() if told in by_type
        )

    def _encoded(self, condition: Condition, failed: bool) -> Condition:
        kind, reason, message = _TYPES[condition.type], condition.reason, condition.message
        if failed and reason != QUOTA_EXCEEDED:
            message = f"{reason}: {message}" if message else reason
            return replace(condition, type=kind, reason=_FAILED, message=message)
        return replace(condition, type=kind, reason=self._korder_names.get(reason, reason))

    def _decoded(self, condition: Condition, kind: str) -> Condition:
        if condition.reason == _FAILED:
            reason, _, message = condition.message.partition(": ")
            return replace(condition, type=kind, reason=reason, message=message)
        reason = self._our_names.get(condition.reason, condition.reason)
        return replace(condition, type=kind, reason=reason)
