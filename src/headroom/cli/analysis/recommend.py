"""`headroom recommend`: how much headroom a promise needs, from past arrivals."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from headroom.cli.errors import Misuse
from headroom.cli.errors import NegativeAnswer as No
from headroom.cli.get import Labels
from headroom.cli.options import Context, Dialects, From, Kubeconfig, Output, a_namespace, option
from headroom.cli.output import OutputFormat, document, put, say
from headroom.recommend.study import Sizing

if TYPE_CHECKING:
    from headroom.cli.analysis.answers import Recommendation
    from headroom.cli.analysis.demand import KnownArrivals
    from headroom.recommend.study import Past, Question

Trace = Annotated[
    Path | None, option("--trace", "CSV, plain or gzip: second,pods; - for stdin.", "FILE")
]
Prometheus = Annotated[str, option("--prometheus", "Read arrivals from Prometheus.", "URL")]
QueryText = Annotated[
    str,
    option("--query", "Pods that arrived in each step. [default: by kube-state-metrics]", "PROMQL"),
]
Since = Annotated[str, option("--since", "How far back to query Prometheus.", "D")]
Step = Annotated[str, option("--step", "The step of the query.", "D")]
LeadTime = Annotated[
    str, option("--lead-time", "From requesting a slot to holding it: a node's boot.", "D")
]
Promise = Annotated[str, option("--promise", "The share of pods that find a slot.", "R")]
StartWithin = Annotated[str, option("--start-within", "How soon such a pod starts.", "D")]
TrainUntil = Annotated[
    str,
    option(
        "--train-until", "Judge after this second or time of the trace. [default: its middle]", "T"
    ),
]
Duration = Annotated[
    str, option("--duration", "How long pods run. [default: as the trace says, or 10m]", "D")
]
Price = Annotated[float, option("--price", "Of a slot, per hour.", "N")]
Only = Annotated[
    Sizing | None, option("--policy", "Recommend this policy, whatever the numbers say.")
]
SeriesFile = Annotated[
    Path | None, option("--series", "Write second,slots: the sizes of the adaptive policy.", "FILE")
]
Html = Annotated[Path | None, option("--html", "Write one page with pictures.", "FILE")]
Name = Annotated[str, option("--name", "Of the Headroom.", "NAME")]
OfNamespace = Annotated[
    str, option("--namespace -n", "Only pods of this one.", "NAME", callback=a_namespace)
]


def recommend(
    trace: Trace = None,
    source: From = None,
    prometheus: Prometheus = "",
    query: QueryText = "",
    since: Since = "168h",
    step: Step = "60s",
    lead_time: LeadTime = "90s",
    promise: Promise = "0.99",
    start_within: StartWithin = "2s",
    train_until: TrainUntil = "",
    duration: Duration = "",
    price: Price = 0.0,
    policy: Only = None,
    series: SeriesFile = None,
    html: Html = None,
    name: Name = "headroom",
    namespace: OfNamespace = "",
    selector: Labels = "",
    output: Output = OutputFormat.TABLE,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
    dialect: Dialects = None,
) -> None:
    """Say how much headroom a promise needs, from when pods came.

    From a trace, a dump, a simulation's result, Prometheus, or the pods of the cluster. Exits 1
    when the recommended Headroom would not have kept the promise.
    """
    from headroom.cli.analysis.inputs import ArrivalSource, question_of, read_demand
    from headroom.cli.formats.progress import waiting

    pods = (namespace, selector, (str(kubeconfig or ""), context), tuple(dialect or ()))
    given = ArrivalSource(trace, tuple(source or ()), prometheus, query, since, step, *pods)
    given.check()
    lengths = {"--lead-time": lead_time, "--start-within": start_within, "--duration": duration}
    with waiting(f"reading {given.words}") as progress:
        demand = read_demand(given)
        past, question = question_of(demand, lengths, promise, train_until)
        answer = _answered(demand, past, question, policy, progress.tell)
    answer = _with_manifest(answer, name, namespace, selector, price)
    _write(answer, series, html)
    _tell(answer, output)


def _answered(
    demand: KnownArrivals, past: Past, question: Question, only: Sizing | None, tell: object
) -> Recommendation:
    from headroom.cli.analysis.answers import Recommendation
    from headroom.recommend.recommendation import choose
    from headroom.recommend.study import study

    found = study(past, question, tell) if callable(tell) else study(past, question)
    if only is Sizing.PERCENT:
        raise Misuse(
            "--policy percent: a share of what runs needs a workload to follow",
            "write slot.from and size.percent yourself; the table has the number",
        )
    return Recommendation(demand, past, found, choose(found, only), {})


def _with_manifest(
    answer: Recommendation, name: str, namespace: str, selector: str, price: float
) -> Recommendation:
    from dataclasses import replace

    from headroom.cli.analysis.inputs import owner_labels
    from headroom.cli.analysis.manifests import headroom

    if not isfinite(price) or price < 0:
        raise Misuse(f"--price {price}: write what a slot costs an hour, such as 0.04")
    labels, notes = owner_labels(selector, name)
    demand = answer.demand
    demand.notes += notes
    if not demand.shape:
        demand.notes.append("nothing says how large the pods are: set the slot's requests")
    shape = demand.shape
    made = headroom(answer.study, answer.choice.kind, (name, namespace), labels, shape)
    return replace(answer, recommended=made, price=price)


def _write(answer: Recommendation, series: Path | None, html: Path | None) -> None:
    from headroom.cli.analysis.answers import write_series
    from headroom.cli.analysis.pictures import page
    from headroom.cli.files import write_file

    if series is not None:
        write_series(series, answer.study)
        say(f"{series}: the sizes of the adaptive policy")
    if html is not None:
        write_file(html, page(answer))
        say(f"{html}: open it in a browser")


def _tell(answer: Recommendation, output: OutputFormat) -> None:
    from headroom.cli.analysis import answers

    if output is OutputFormat.TABLE:
        put(answers.text(answer))
    else:
        put(document(answers.document(answer), output))
    if not answer.choice.kept:
        ratio = answer.study.rows[answer.choice.kind].outcome.ratio
        promise = answer.study.question.promise
        raise No(
            f"{answer.choice.kind} would not have kept the promise: {ratio:.2%} of the pods found "
            f"a slot, {promise:.6g} was promised",
            "promise less, make nodes boot faster (--lead-time), or announce bursts by a schedule",
        )
