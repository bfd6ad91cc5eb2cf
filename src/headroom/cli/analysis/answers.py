"""A recommendation as a table, as a document, and as one page with pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headroom.cli.analysis.demand import KnownArrivals
from headroom.cli.files import write_file
from headroom.cli.output import columns
from headroom.core.names import API_VERSION
from headroom.core.promise.settings import DAY, HOUR
from headroom.plot.text import number, percent, span
from headroom.recommend.recommendation import Choice, next_nine
from headroom.recommend.study import Past, Row, Sizing, Study
from headroom.wire.yamls import dump

HEADINGS = ("POLICY", "SETTING", "HITS", "WORST DAY", "SLOTS", "MOST", "IDLE", "IDLE A DAY")
HOURS_A_DAY = DAY / HOUR
DIGITS = 5


@dataclass(frozen=True, slots=True)
class Recommendation:
    """A recommendation with its inputs; `price` is for one slot and hour (0: unknown)."""

    demand: KnownArrivals
    past: Past
    study: Study
    choice: Choice
    recommended: dict[str, Any]
    price: float = 0.0

    @property
    def cost_heading(self) -> tuple[str, ...]:
        return ("COST A DAY",) if self.price else ()


def text(answer: Recommendation) -> str:
    """For people: the policies, the curve, how certain it is, and the manifest to copy."""
    study, choice = answer.study, answer.choice
    curve = [
        (percent(promise), *_cells(answer, study.curve[promise][kind]))
        for promise in sorted(study.curve)
        for kind in Sizing
    ]
    headings = (*HEADINGS, *answer.cost_heading)
    told = "\n".join(f"- {words}" for words in reasons(answer))
    parts = [
        about(answer),
        columns(headings, table_rows(answer)),
        f"The price of a promise ({_curve_span(answer)}):",
        columns(("PROMISE", *headings), curve),
        f"Recommended: {choice.kind}. How sure: {choice.sure}.\n{told}",
        dump(answer.recommended).rstrip(),
    ]
    return "\n\n".join(parts)


def document(answer: Recommendation) -> dict[str, Any]:
    """For programs."""
    study, question = answer.study, answer.study.question
    begin, end = answer.past.begin, answer.past.end
    after = study.rows[Sizing.ADAPTIVE].outcome
    return {
        "apiVersion": API_VERSION,
        "kind": "Recommendation",
        "source": answer.demand.source,
        "promise": {"ratio": question.promise, "startWithin": question.start_within},
        "leadTime": question.lead,
        "trained": {"from": begin, "until": question.train_until, "pods": study.trained.pods},
        "judged": {"from": question.train_until, "until": end, "pods": after.pods},
        "rows": [_row(answer, study.rows[kind]) for kind in Sizing],
        "curve": [
            {"promise": promise, "rows": [_row(answer, rows[kind]) for kind in Sizing]}
            for promise, rows in sorted(study.curve.items())
        ],
        "policy": str(answer.choice.kind),
        "promiseKept": answer.choice.kept,
        "sure": {"level": str(answer.choice.sure), "why": list(_why(answer))},
        "recommended": answer.recommended,
        "notes": list(answer.demand.notes),
    }


def _row(answer: Recommendation, row: Row) -> dict[str, Any]:
    outcome = row.outcome
    found: dict[str, Any] = {
        "policy": str(row.kind),
        "hits": round(outcome.ratio, DIGITS + 1),
        "idle": round(outcome.idle, DIGITS),
        "slots": round(outcome.slots, DIGITS),
        "worstDayHits": round(outcome.worst_day(), DIGITS + 1),
        "mostSlots": outcome.most,
        "pods": outcome.pods,
        "misses": outcome.misses,
        "missesFromSilence": outcome.from_silence,
        "idleSlotHours": round(outcome.held_time / HOUR, 3),
    }
    if row.setting:
        found["setting"] = [int(value) for value in row.setting]
    if answer.price:
        found["costADay"] = round(_cost(answer, row), 4)
    return found


def _cost(answer: Recommendation, row: Row) -> float:
    return row.outcome.idle * HOURS_A_DAY * answer.price


def _cells(answer: Recommendation, row: Row) -> tuple[str, ...]:
    outcome = row.outcome
    cost = (f"{_cost(answer, row):.2f}",) if answer.price else ()
    return (
        str(row.kind),
        setting(row),
        f"{outcome.ratio:.2%}",
        f"{outcome.worst_day():.2%}",
        f"{outcome.slots:.1f}",
        str(outcome.most),
        f"{outcome.idle:.1f}",
        f"{outcome.idle * HOURS_A_DAY:.0f} slot hours",
        *cost,
    )


def setting(row: Row) -> str:
    """A short text for the fitted parameters of a policy."""
    match row.kind:
        case Sizing.STATIC:
            return f"replicas: {row.setting[0]:.0f}"
        case Sizing.PERCENT:
            return f"{row.setting[0]:.0f} % of what runs"
        case Sizing.SCHEDULED:
            return f"{min(row.setting):.0f} to {max(row.setting):.0f} by the hour"
        case _:
            return "learnt as it goes"


def about(answer: Recommendation) -> str:
    question, study = answer.study.question, answer.study
    pods = number(study.trained.pods + study.rows[Sizing.ADAPTIVE].outcome.pods)
    return (
        f"{pods} pods in {span(answer.past.end - answer.past.begin)}, from {answer.demand.source}. "
        f"A slot takes {span(question.lead)} from asked for to held; promised is that "
        f"{percent(question.promise)} of the pods find one. Fitted to the first "
        f"{span(question.train_until - answer.past.begin)}, judged on the rest."
    )


def _curve_span(answer: Recommendation) -> str:
    outcome = answer.study.curve[answer.study.question.promise][Sizing.STATIC].outcome
    return f"over {span(outcome.seconds)} of the rest"


def _why(answer: Recommendation) -> Sequence[str]:
    words = list(answer.choice.why)
    found = next_nine(answer.study, answer.choice.kind)
    if found is not None:
        promise, now, then = found
        times = f", {then.idle / now.idle:.1f} times as many" if now.idle > 0 else ""
        words.append(
            f"sized for {percent(promise)}, it leaves {then.idle:.1f} slots unused{times}, "
            f"and {then.ratio:.2%} find one"
        )
    return words


def reasons(answer: Recommendation) -> tuple[str, ...]:
    """Why it is recommended, and what the user should know, one sentence each."""
    return (*_why(answer), *answer.demand.notes)


def table_rows(answer: Recommendation) -> tuple[tuple[str, ...], ...]:
    """The policies as rows of a table."""
    return tuple(_cells(answer, answer.study.rows[kind]) for kind in Sizing)


def write_series(path: Path, study: Study) -> None:
    """Write the size at each change, in seconds of the trace, with the training part first."""
    outcomes = (study.trained, study.rows[Sizing.ADAPTIVE].outcome)
    lines = ["second,slots"]
    last = -1
    for outcome in outcomes:
        for second, slots in zip(*outcome.sizes, strict=True):
            if slots != last:
                lines.append(f"{second:.12g},{slots}")
                last = slots
    write_file(path, "\n".join([*lines, ""]))
