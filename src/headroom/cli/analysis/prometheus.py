"""Read arrivals from Prometheus: a range query over HTTP, in several parts if needed.

The query returns how many pods arrived in each step. Prometheus returns at most 11,000 points, so a
long time is requested in parts. Only the query is sent: use a proxy or `kubectl port-forward` for a
server that needs credentials.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from math import isfinite
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import Request, urlopen

from headroom.cli.errors import Misuse
from headroom.core.quantity import shown
from headroom.errors import HeadroomError
from headroom.wire.traces.parser import Arrival

POINTS = 10_000  # in one answer
MOST_BYTES = 64 * 2**20
TIMEOUT = 30.0
LONGEST_SHOWN = 200
PODS_CREATED = "count(time() - kube_pod_created{%s} < %d)"
"""Pods that kube-state-metrics has seen and that are not older than a step."""


class PrometheusError(HeadroomError):
    """Prometheus cannot be reached, refuses the query, or sends an invalid answer."""

    exit_code = 3


@dataclass(frozen=True, slots=True)
class Query:
    """A query for one server; times are seconds since 1970."""

    url: str
    text: str
    begin: float
    end: float
    step: int


def default_query(namespace: str, step: int) -> str:
    """How many pods arrived in a step, according to kube-state-metrics."""
    chosen = f'namespace="{namespace}"' if namespace else ""
    return PODS_CREATED % (chosen, step)


def arrivals(query: Query) -> Iterator[Arrival]:
    """How many pods arrived, at the start of each step with any."""
    left = 0.0
    for begin in _parts(query):
        end = min(query.end, begin + (POINTS - 1) * query.step)
        for at, value in _points(query, _asked(query, begin, end)):
            left += value
            pods = int(left + 0.5)  # `increase()` extrapolates, so values may have fractions.
            if pods > 0:
                left -= pods
                yield Arrival(at - query.step, pods)


def _parts(query: Query) -> Iterator[float]:
    begin = query.begin
    while begin <= query.end:
        yield begin
        begin += POINTS * query.step


def _asked(query: Query, begin: float, end: float) -> Any:
    fields = {"query": query.text, "start": f"{begin:.0f}", "end": f"{end:.0f}", "step": query.step}
    where = f"{query.url.rstrip('/')}/api/v1/query_range"
    request = Request(f"{where}?{urlencode(fields)}", headers={"Accept": "application/json"})
    try:
        with urlopen(request, timeout=TIMEOUT) as answer:
            body = answer.read(MOST_BYTES + 1)
    except HTTPError as error:
        raise _refused(query, error) from error
    except (URLError, OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        hint = "is it the address of Prometheus itself, such as http://localhost:9090?"
        raise PrometheusError(f"{query.url} cannot be reached: {reason}", hint) from error
    if len(body) > MOST_BYTES:
        hint = "ask for less: a shorter --since, a longer --step, or sum() in --query"
        raise PrometheusError(f"{query.url}: an answer of more than {MOST_BYTES >> 20} MiB", hint)
    try:
        return json.loads(body)
    except ValueError as error:
        hint = "is it the address of Prometheus itself, without /graph or a login page before it?"
        text = shown(body[:LONGEST_SHOWN].decode("utf-8", "replace"))
        raise PrometheusError(f"{query.url}: the answer is no JSON: {text}", hint) from error


def _refused(query: Query, error: HTTPError) -> HeadroomError:
    """Prometheus' own message about a refused query, if there is one."""
    with error:
        body = error.read(MOST_BYTES)
    try:
        words = str(json.loads(body).get("error"))
    except (ValueError, AttributeError):
        words = error.reason if isinstance(error.reason, str) else ""
    message = f"{query.url}: HTTP {error.code}: {words[: 5 * LONGEST_SHOWN]}"
    if error.code in (400, 422):
        return Misuse(message, f"the query was: {query.text}; give another one with --query")
    hint = "if it wants credentials, go through a proxy or kubectl port-forward"
    return PrometheusError(message, hint)


def _points(query: Query, answer: Any) -> Iterator[tuple[float, float]]:
    """The points of the only series; several series would mix different pods."""
    data = answer.get("data") if isinstance(answer, Mapping) else None
    if not isinstance(data, Mapping) or data.get("resultType") != "matrix":
        told = shown(json.dumps(answer)[:LONGEST_SHOWN])
        raise PrometheusError(
            f"{query.url}: no answer to a range query: {told}", "is this a Prometheus?"
        )
    series = data.get("result")
    if not isinstance(series, list) or len(series) > 1:
        count = len(series) if isinstance(series, list) else 0
        hint = "put sum() or count() around it, so that there is one number for each step"
        raise Misuse(f"the query answers with {count} series: {query.text}", hint)
    for each in series:
        values = each.get("values") if isinstance(each, Mapping) else None
        for point in values if isinstance(values, list) else ():
            yield _point(query, point)


def _point(query: Query, point: Any) -> tuple[float, float]:
    try:
        at, value = float(point[0]), float(point[1])
    except (TypeError, ValueError, IndexError, KeyError) as error:
        words = f"{query.url}: {shown(str(point))} is no point of a series"
        raise PrometheusError(words, "is this a Prometheus?") from error
    if not isfinite(at) or not isfinite(value) or value < 0 or value > 1e9:
        words = f"{query.url}: {shown(str(point))} is not a number of pods"
        raise PrometheusError(words, "the query should say how many pods came in each step")
    return at, value


def address_problem(url: str) -> str:
    """Why an address is invalid; empty if it is valid."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        return str(error)
    if parts.scheme not in ("http", "https") or not host:
        return "write it as in http://localhost:9090"
    if parts.username or parts.password:
        return "no credentials in an address; go through a proxy or kubectl port-forward"
    return ""
