"""The inputs of `recommend`: check flags, fetch arrivals, build the question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path

from headroom.cli.analysis.demand import KnownArrivals, from_files, from_pods, from_trace
from headroom.cli.errors import Misuse
from headroom.core.objects import LabelSelector
from headroom.recommend.study import Past, Question
from headroom.wire.durations import parse_duration
from headroom.wire.times import parse_time
from headroom.wire.traces.series import series_of

DURATION = 600.0  # how long pods run by default
LONGEST = 10 * 366 * 86400.0
MOST_PROMISE = 0.99999


@dataclass(frozen=True, slots=True)
class ArrivalSource:
    """The source of the arrivals, from the command line."""

    trace: Path | None
    files: tuple[Path, ...]
    prometheus: str
    query: str
    since: str
    step: str
    namespace: str = ""
    selector: str = ""
    access: tuple[str, str] = ("", "")
    dialects: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        if self.trace is not None:
            return str(self.trace)
        if self.prometheus:
            return f"Prometheus at {self.prometheus}"
        return ", ".join(map(str, self.files)) or "the pods of the cluster"

    def check(self) -> None:
        """Raise Misuse if flags do not fit together."""
        from headroom.cli.analysis.prometheus import address_problem

        flags = (("--trace", self.trace), ("--from", self.files), ("--prometheus", self.prometheus))
        given = [flag for flag, value in flags if value]
        if len(given) > 1:
            raise Misuse(f"{' and '.join(given)}: one source at a time, please")
        if self.query and not self.prometheus:
            raise Misuse("--query is for --prometheus URL")
        if self.prometheus and (problem := address_problem(self.prometheus)):
            raise Misuse(f"--prometheus: {problem}")
        if self.selector and (self.trace or self.prometheus):
            return  # It then selects the owners of the Headroom.
        _selected(self.selector)


def read_demand(given: ArrivalSource) -> KnownArrivals:
    """Fetch the arrivals; raise an error if there are none."""
    if given.trace is not None:
        return from_trace(given.trace)
    found = _from_prometheus(given) if given.prometheus else _from_cluster(given)
    if not found.series.pods:
        hint = "look elsewhere: -n, -l, --trace FILE, --prometheus URL, --query"
        raise Misuse(f"no pods arrived, as far as visible: {found.source}", hint)
    return found


def _from_cluster(given: ArrivalSource) -> KnownArrivals:
    from headroom.cli.source import Where, read_world
    from headroom.wire.kinds import PODS

    where = Where(
        given.files,
        *given.access,
        kinds=(PODS,),
        dialects=given.dialects,
        namespace=given.namespace,
        local=bool(given.namespace),
        foreign=False,
        needed=(PODS,),
    )
    chosen = _selected(given.selector)
    if given.files:
        return from_files(given.files, where, chosen)
    pods = [
        pod
        for pod in read_world(where).pods
        if not given.namespace or pod.key.namespace == given.namespace
    ]
    return from_pods(pods, "the pods of the cluster", chosen)


def _selected(selector: str) -> LabelSelector | None:
    from headroom.cli.formats.lists import RowFilter

    return RowFilter.by("", selector).labels if selector else None


def _from_prometheus(given: ArrivalSource) -> KnownArrivals:
    from headroom.cli.analysis.prometheus import Query, arrivals, default_query

    step = int(length("--step", given.step))
    since = length("--since", given.since)
    if step < 1 or step > since:
        raise Misuse(f"--step {given.step}: write a time from 1s to what --since says")
    now = datetime.now(UTC).timestamp() // step * step
    text = given.query or default_query(given.namespace, step)
    query = Query(given.prometheus, text, now - since // step * step, now, step)
    series = series_of(arrivals(query), given.prometheus)
    demand = KnownArrivals(series, f"Prometheus ({text})")
    words = f"pods are counted in steps of {given.step}, and taken to come all at once in each"
    demand.notes.append(words)
    return demand


def question_of(
    demand: KnownArrivals, lengths: Mapping[str, str], promise: str, train_until: str
) -> tuple[Past, Question]:
    """The arrivals and the question; raise Misuse if a flag is wrong."""
    series = demand.series
    past = Past(series.seconds, series.counts)
    if not series.pods:
        raise Misuse(
            f"{demand.source}: no pods arrived: every line says 0",
            "use a trace in which pods arrive",
        )
    lead = length("--lead-time", lengths["--lead-time"])
    within = length("--start-within", lengths["--start-within"])
    if lead <= 0:
        raise Misuse("--lead-time 0: slots that are there at once need no headroom")
    if within >= lead:
        words = f"--start-within {lengths['--start-within']} is not shorter than the lead time"
        raise Misuse(
            f"{words} ({lengths['--lead-time']}): a pod that may wait for a node needs no headroom",
            "promise a shorter wait, or give the lead time that you measured",
        )
    until = _train_until(past, train_until, demand.source)
    return past, Question(
        ratio("--promise", promise), lead, until, _duration(demand, lengths), within
    )


def _duration(demand: KnownArrivals, lengths: Mapping[str, str]) -> float:
    series = demand.series
    if lengths["--duration"]:
        return length("--duration", lengths["--duration"])
    if series.lasting:
        return series.running / series.lasting
    demand.notes.append(
        "unknown how long pods run: 10 minutes are assumed, for the policy percent (--duration)"
    )
    return DURATION


def _train_until(past: Past, text: str, source: str) -> float:
    begin, end = past.begin, past.end
    moment = _moment(text, begin) if text else (begin + end) / 2
    before = past.index(moment) if begin < moment < end else 0
    if not text and not 0 < before < len(past.seconds):  # No pods arrived in one of the halves.
        moment = past.seconds[len(past.seconds) // 2]
        before = past.index(moment)
    if not 0 < before < len(past.seconds):
        if not text:
            words = "all pods arrived at once: there is nothing to learn from and nothing to judge"
            raise Misuse(f"{source}: {words}", "use a trace of at least some hours")
        raise Misuse(
            f"--train-until {text}: pods must come before and after it; the trace is from "
            f"{begin:.0f} to {end:.0f}"
        )
    return moment


def _moment(text: str, begin: float) -> float:
    """Parse a second of the trace, a time, or a duration from its beginning."""
    try:
        second = float(text)
    except ValueError:
        pass
    else:
        return second
    try:
        return parse_time(text).timestamp()
    except ValueError:
        pass
    try:
        return begin + parse_duration(text).total_seconds()
    except ValueError:
        words = "write a second of the trace (604800), a time, or a length from its begin (168h)"
        raise Misuse(f"--train-until {text!r}: {words}") from None


def ratio(flag: str, text: str) -> float:
    """Parse a share between 0 and 1, or a percentage."""
    part = text.strip()
    try:
        found = float(part.removesuffix("%")) / (100.0 if part.endswith("%") else 1.0)
    except ValueError:
        found = float("nan")
    if not isfinite(found) or not 0.0 < found < 1.0:
        hint = "nobody can promise all of them, and a promise to none needs nothing"
        raise Misuse(f"{flag} {text!r}: write a part between 0 and 1, such as 0.99 or 99%", hint)
    if found > MOST_PROMISE:
        raise Misuse(f"{flag} {text!r}: at most {MOST_PROMISE} can be told from all")
    return found


def length(flag: str, text: str) -> float:
    """Parse a duration in seconds, not negative; a plain number means seconds."""
    plain = text.strip().replace(".", "", 1).isdecimal()
    try:
        seconds = float(text) if plain else parse_duration(text).total_seconds()
    except ValueError as error:
        raise Misuse(f"{flag}: {error}") from error
    if seconds < 0:
        raise Misuse(f"{flag} {text}: less than nothing; write for example 90s")
    if seconds > LONGEST:
        raise Misuse(f"{flag} {text}: more than ten years")
    return seconds


def owner_labels(selector: str, name: str) -> tuple[dict[str, str], list[str]]:
    """The labels of the Headroom's owners, and a note about them."""
    pairs = [part.strip().partition("=") for part in selector.split(",")] if selector else []
    labels = {key: value.lstrip("=") for key, equals, value in pairs if equals and key[-1:] != "!"}
    if labels:
        return labels, []
    return {"app": name}, [f"set owners to the labels of your pods; app: {name} is a placeholder"]
