"""The fields of a promise: what `size.adaptive` asks for, and what `status.promise` answers.

A part of `own`, next to `headrooms`.
"""

from __future__ import annotations

from headroom.wire.durations import parse_duration
from headroom.wire.schema.notation import Field, SchemaRule, of
from headroom.wire.schema.structural import DURATION_PATTERN
from headroom.wire.schema.terms import differs, lacks, longer_than_zero, rule

MOST_SLOTS = 100_000
_LONGEST_WORDS = 1024
_LONGEST_RECORD = 32_768

TYPES: dict[str, dict[str, Field]] = {
    "SizeAdaptive": {
        "startWithin": of(
            "duration!",
            "How soon a pod should start; more than 0.",
        ).needed("how soon a pod should start, such as 2s"),
        "ratio": of(
            "number!",
            "For which part of the pods; more than 0, less than 1.",
            minimum=0,
            maximum=1,
        ).needed("the part of the pods that should, such as 0.99"),
        "min": of("int32", "Never fewer slots; 0.", minimum=0, maximum=MOST_SLOTS),
        "max": of("int32", "Never more slots.", minimum=0, maximum=MOST_SLOTS),
        "memory": of("duration", "How long pods that came count, 1h to 2160h; 336h (14 days)."),
        "releaseAfter": of(
            "duration",
            "A slot that is not needed any more is given back after this time; one lead time.",
        ),
    },
    "HeadroomPromise": {
        "ratio": of("number", "The part of the owners that should start in time."),
        "startWithin": of("duration", "What in time means."),
        "lastHour": of("PromiseShare", "Owners that came in the last hour."),
        "lastDay": of("PromiseShare", "Owners that came in the last day."),
        "lastWeek": of("PromiseShare", "Owners that came in the last week."),
        "leadTime": of("duration", "From asking for a slot to holding it; nine of ten."),
        "size": of("int32", "Slots that the promise needs now."),
        "decidedBy": of("string", "The term that decided the size.", maxLength=63),
        "why": of("string", "The same in words.", maxLength=_LONGEST_WORDS),
        "nextNine": of("PromisePrice", "What a promise with one nine more would need."),
        "record": of(
            "string",
            "What was learnt, for the operator to go on with after a restart.",
            maxLength=_LONGEST_RECORD,
        ),
    },
    "PromiseShare": {
        "owners": of("int64", "Owners that came."),
        "misses": of("int64", "Those that waited longer than startWithin."),
        "ratio": of("number", "The part of them that did not."),
    },
    "PromisePrice": {
        "ratio": of("number", "The promise with one nine more."),
        "slots": of("int32", "Slots that it would need now."),
        "idle": of("number", "Slots unused on average."),
    },
}


ON_SPEC = (
    rule(
        lacks("size.adaptive") | differs("mode", "Preemptible"),
        "adaptive learns from owners, and mode Preemptible has none",
        at="size",
    ),
)

RULES: dict[str, tuple[SchemaRule, ...]] = {
    "SizeAdaptive": (
        SchemaRule(
            # The API server compares a whole number with the whole part of a bound only.
            "self.ratio > 0.0 && self.ratio < 1.0",
            "must be more than 0 and less than 1: no headroom keeps a promise to all",
            lambda adaptive: 0 < adaptive["ratio"] < 1,
            at="ratio",
        ),
        rule(
            longer_than_zero("startWithin"),
            "must be longer than 0; write for example 2s",
            at="startWithin",
        ),
        SchemaRule(
            f"!has(self.memory) || !self.memory.matches('{DURATION_PATTERN}') || "
            "(duration(self.memory) >= duration('1h') && "
            "duration(self.memory) <= duration('2160h'))",
            "may be 1h to 2160h",
            lambda adaptive: (
                "memory" not in adaptive
                or 3600 <= parse_duration(adaptive["memory"]).total_seconds() <= 2160 * 3600
            ),
            at="memory",
        ),
        SchemaRule(
            "!has(self.min) || !has(self.max) || self.min <= self.max",
            "is less than min",
            lambda adaptive: (
                "min" not in adaptive or "max" not in adaptive or adaptive["min"] <= adaptive["max"]
            ),
            at="max",
        ),
    ),
}
