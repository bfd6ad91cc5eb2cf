"""The operator's log: the names of its events, and the format of its lines.

Every event name is a member of `LogEvent`, so that users can search for it and the docs can list
it. A terminal gets short text, anything else one JSON object for each line. The driver calls
`configure` once; all other code gets a logger from `get_logger` and passes facts as keywords, never
sentences.
"""

from __future__ import annotations

import json
import logging
import sys
from enum import StrEnum
from typing import TextIO, cast

import structlog
from structlog.typing import EventDict, FilteringBoundLogger, Processor, WrappedLogger

from headroom.core.objects import Key
from headroom.runtime.loglimits import LogLimits
from headroom.terminal_text import escaped, plain_stream, quoted

LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}

LONGEST_VALUE = 2000


class LogEvent(StrEnum):
    """Every event name that the operator logs; `docs/reference/events.md` explains each."""

    STARTING = "starting"
    FEATURES = "features"
    UNSUPPORTED = "unsupported_kubernetes"
    SYNCED = "synced"
    LEADING = "leading"
    READY = "ready"
    PLAN = "plan"
    ACTION = "action"
    SLOT_HELD = "slot_held"
    SLOT_LOST = "slot_lost"
    CLAIMED = "claimed"
    RETURNED = "returned"
    MISSED = "missed"
    EXPIRED = "expired"
    HANDOVER_FAILED = "handover_failed"
    STOLEN = "stolen"
    DENIED = "denied"
    UNAVAILABLE = "unavailable"
    INVALID = "invalid"
    LEADERSHIP_LOST = "leadership_lost"
    HTTP_LISTENING = "http_listening"
    STOPPING = "stopping"
    STOPPED = "stopped"
    CONTAINED = "contained"
    CLOCK_SKEW = "clock_skew"
    PAGE_FAILED = "page_failed"
    BUG = "bug"
    SUPPRESSED = "suppressed"


def configure(
    level: str = "info", *, form: str = "auto", stream: TextIO | None = None
) -> LogLimits:
    """Configure logging for this process: `form` is prose, json, or auto (prose on a terminal).

    Returns the limits for its lines; `tell_suppressed` reports at intervals what was dropped.
    """
    target = stream or plain_stream(sys.stderr)  # We set the colours; values are escaped below.
    limits = LogLimits()
    prose = form == "prose" or (form == "auto" and target.isatty())
    structlog.configure(
        processors=[limits, *_processors(prose=prose, colors=prose and target.isatty())],
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
        logger_factory=structlog.PrintLoggerFactory(file=target),
        cache_logger_on_first_use=False,
    )
    return limits


def tell_suppressed(limits: LogLimits) -> None:
    """Log how many lines were dropped since the last call, one line for each namespace."""
    for event, where, count in limits.summaries():
        get_logger().warning(LogEvent.SUPPRESSED, lines=event, where=where, more=count)


def get_logger(**facts: object) -> FilteringBoundLogger:
    """Return a logger that adds `facts` to each of its lines."""
    return cast(FilteringBoundLogger, structlog.get_logger(**facts))


def _processors(*, prose: bool, colors: bool) -> list[Processor]:
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        _plain_values,
    ]
    if prose:
        return [
            *shared,
            structlog.processors.format_exc_info,
            _harmless_values,
            structlog.processors.TimeStamper(fmt="%H:%M:%S", utc=False),
            structlog.dev.ConsoleRenderer(colors=colors, pad_event_to=16, sort_keys=False),
        ]
    return [
        *shared,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="ts"),
        structlog.processors.format_exc_info,
        structlog.processors.JSONRenderer(sort_keys=False, serializer=_json),
    ]


def _harmless_values(logger: WrappedLogger, method: str, facts: EventDict) -> EventDict:
    """Escape values, so that text of others cannot control the terminal."""
    return {name: _harmless(value) for name, value in facts.items()}


def _harmless(value: object) -> object:
    match value:
        case None | bool() | int() | float():
            return value
        case str():
            return escaped(value)
        case Key():  # It is a tuple, and has a text of its own.
            return escaped(str(value))
        case dict():
            return {escaped(str(name)): _harmless(item) for name, item in value.items()}
        case list() | tuple():
            return [_harmless(item) for item in value]
    return escaped(str(value))


def _json(value: object, **options: object) -> str:
    return quoted(json.dumps(value, **options))  # type: ignore[arg-type]  # structlog's own


def _plain_values(logger: WrappedLogger, method: str, facts: EventDict) -> EventDict:
    """Format keys, parents and similar values as short text, not as their repr."""
    return {
        name: value
        if value is None
        or (
            isinstance(value, bool | int | float | list | dict | tuple | BaseException)
            and not isinstance(value, Key)
        )
        else _shortened(str(value))
        for name, value in facts.items()
    }


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + "…"
