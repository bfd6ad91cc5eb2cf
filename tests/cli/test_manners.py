"""kubectl's manners: kinds and names, forms of output, labels, namespaces, versions, help."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from headroom import __version__
from headroom.cli.spans import length
from tests.cli.commands import Finished, headroom
from tests.cli.test_get import MANIFESTS
from tests.cli.test_get_headrooms import MANIFESTS as SPARE

MORE = """
---
apiVersion: headroom.dev/v1alpha1
kind: Hold
metadata: {name: other, namespace: web, labels: {team: red}}
spec:
  template: {spec: {containers: [{name: main, resources: {requests: {cpu: "1"}}}]}}
  owners: [{labelSelector: {matchLabels: {app: other}}}]
---
apiVersion: scheduling.koordinator.sh/v1alpha1
kind: Reservation
metadata: {name: r, creationTimestamp: "2027-01-04T08:00:00Z"}
spec:
  template: {spec: {containers: [{name: main, resources: {requests: {cpu: "1"}}}]}}
  owners: [{labelSelector: {matchLabels: {app: other}}}]
  ttl: 5h1m
status: {phase: Available, nodeName: a}
---
apiVersion: v1
kind: Pod
metadata:
  name: keeps-r
  namespace: default
  labels: {headroom.dev/role: guardian}
  annotations: {headroom.dev/parent: Reservation//r}
spec: {nodeName: a, containers: [{name: p, resources: {requests: {cpu: "1"}}}]}
status: {phase: Running}
---
apiVersion: autoscaling.x-k8s.io/v1beta1
kind: CapacityBuffer
metadata: {name: spare, namespace: web}
spec: {podTemplateRef: {name: chunk}, replicas: 2}
status: {replicas: 2, conditions: [{type: Provisioning, status: "True", reason: FitsExisting}]}
---
apiVersion: v1
kind: PodTemplate
metadata: {name: chunk, namespace: web}
template: {spec: {containers: [{name: main, image: x, resources: {requests: {cpu: "1"}}}]}}
"""


@pytest.fixture
def cluster(tmp_path: Path) -> str:
    file = tmp_path / "cluster.yaml"
    file.write_text(MANIFESTS + "---" + SPARE.replace("kind: Node\n", "kind: Node\n") + MORE)
    return str(file)


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str], cluster: str) -> Ask:
    return Ask(capsys, cluster)


class Ask:
    def __init__(self, capsys: pytest.CaptureFixture[str], cluster: str) -> None:
        self._capsys, self._cluster = capsys, cluster

    def __call__(self, line: str, *more: str) -> Finished:
        return headroom(self._capsys, *line.split(), *more, "--from", self._cluster)


def test_a_kind_and_a_name_are_written_in_any_way_that_kubectl_knows(ask: Ask) -> None:
    wanted = ask("get headroom spare").out
    assert "spare" in wanted
    for line in ("get hr/spare", "get headrooms/spare", "get headrooms.headroom.dev spare"):
        assert ask(line).out == wanted
    assert ask("explain hr spare -n shop").out == ask("explain hr/spare -n shop").out
    assert ask("describe hold checkout -n shop").code == 0
    both = ask("get hold/checkout hold/other").out.splitlines()
    assert [line.split()[1] for line in both] == ["NAME", "checkout", "other"]


def test_several_kinds_are_listed_one_after_the_other(ask: Ask) -> None:
    headings = [line.split()[:2] for line in ask("get hr,slots").out.splitlines() if "NAME" in line]
    assert headings == [["NAMESPACE", "NAME"], ["NAMESPACE", "HEADROOM"]]
    found = json.loads(ask("get holds,slots -o json").out)
    assert [item["kind"] for item in found["items"]][-1] == "Slot"
    assert ask("get hr,slots x").code == 2


def test_a_kind_that_is_mistyped_is_met_with_the_right_one(ask: Ask) -> None:
    for typed, meant in (("headrom", "headrooms"), ("hodls", "holds"), ("tikets", "tickets")):
        done = ask(f"get {typed}")
        assert done.code == 2
        assert f"did you mean {meant}?" in done.err


def test_a_namespace_or_all_of_them(ask: Ask) -> None:
    every = ask("get holds -A").out
    assert every.split()[0] == "NAMESPACE"
    assert "shop" in every
    assert "web" in every
    one = ask("get holds -n shop").out
    assert one.split()[0] == "NAME"  # As in kubectl: there is nothing to tell apart.
    assert "other" not in one
    assert ask("get holds nope -n shop").err.startswith(
        "headroom: there is no hold nope in namespace shop"
    )


def test_labels_choose(ask: Ask) -> None:
    assert [line.split()[1] for line in ask("get holds -l team=red").out.splitlines()[1:]] == [
        "other"
    ]
    assert "other" not in ask("get holds -l !team").out
    assert ask("get holds -l", "a=b=c!").code == 2


def test_wide_shows_more(ask: Ask) -> None:
    for kind in ("holds", "hr", "nodes", "slots", "guardians", "reservations"):
        narrow, wide = ask(f"get {kind}").out, ask(f"get {kind} -o wide").out
        assert len(wide.splitlines()[0].split()) > len(narrow.splitlines()[0].split()), kind


def test_names_are_those_that_kubectl_takes(ask: Ask) -> None:
    assert ask("get holds -o name").out == ("hold.headroom.dev/checkout\nhold.headroom.dev/other\n")
    assert ask("get nodes -o name").out.splitlines()[0] == "node/a"
    assert ask("get slots -o name").out.splitlines()[0] == "slot/spare/a"


def test_one_object_is_itself_and_a_kind_is_a_list(ask: Ask) -> None:
    assert json.loads(ask("get hold checkout -o json").out)["kind"] == "Hold"
    assert yaml.safe_load(ask("get holds -l team=red -o yaml").out)["kind"] == "List"


def test_a_jsonpath_is_filled_in(ask: Ask) -> None:
    assert ask("get holds -o", "jsonpath={.items[*].metadata.name}").out == "checkout other\n"
    assert ask("get hold checkout -o", "jsonpath={.status.phase}").out == "Available\n"
    each = 'jsonpath={range .items[*]}{.metadata.name}={.spec.ttl}{"\\n"}{end}'
    assert ask("get holds -o", each).out == "checkout=1h\nother=\n"
    wrong = ask("get holds -o", "jsonpath={.items[")
    assert wrong.code == 2
    assert "character" in wrong.err


def test_columns_of_ones_own(ask: Ask) -> None:
    done = ask("get holds -o", "custom-columns=WHO:.metadata.name,ON:.status.nodeName")
    assert [line.split() for line in done.out.splitlines()] == [
        ["WHO", "ON"],
        ["checkout", "a"],
        ["other", "<none>"],
    ]


@pytest.mark.parametrize(
    "form", ["nothing", "json=x", "jsonpath", "jsonpath=", "custom-columns", "custom-columns=A"]
)
def test_a_form_that_is_none_is_misuse(ask: Ask, form: str) -> None:
    done = ask("get holds -o", form)
    assert (done.code, done.out) == (2, "")
    assert "-o " in done.err


def test_files_do_not_change_and_cannot_be_watched(ask: Ask) -> None:
    done = ask("get holds -w")
    assert done.code == 2
    assert "live cluster" in done.err


def test_buffers_are_listed_in_their_own_words_and_explained(ask: Ask) -> None:
    for kind in ("capacitybuffers", "cb", "capacitybuffer"):
        heading, row = (line.split() for line in ask(f"get {kind}").out.splitlines())
        assert heading[:5] == ["NAMESPACE", "NAME", "STRATEGY", "PODTEMPLATE", "REPLICAS"]
        assert row[:5] == ["web", "spare", "-", "-", "2"]
    told = ask("explain cb/spare -n web").out
    assert "capacitybuffer web/spare wants 2 slots and has 0" in told
    assert "cpu 1" in told


def test_an_object_without_a_namespace_has_none_in_its_name(ask: Ask) -> None:
    told = ask("get guardians").out + ask("top").out + ask("get reservations").out
    assert "Reservation/r" in told
    assert "//" not in told
    heading, row = (line.split() for line in ask("get reservations").out.splitlines())
    assert heading == ["NAME", "PHASE", "AGE", "NODE", "TTL", "EXPIRES"]
    assert (row[0], row[4]) == ("r", "5h1m")


def test_the_version_is_a_flag_too(capsys: pytest.CaptureFixture[str]) -> None:
    done = headroom(capsys, "--version")
    assert (done.code, done.out) == (0, f"{__version__}\n")


def test_no_line_of_the_help_is_cut(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    done = headroom(capsys, "--help")
    assert [line for line in done.out.splitlines() if line.rstrip().endswith("...")][1:] == []


@pytest.mark.parametrize(
    ("seconds", "text"), [(18060, "5h1m"), (90, "1m30s"), (0, "0s"), (172800, "2d"), (59, "59s")]
)
def test_durations_are_written_as_people_write_them(seconds: int, text: str) -> None:
    from datetime import timedelta

    assert length(timedelta(seconds=seconds)) == text


def test_the_kubeconfig_says_which_namespace(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config"
    config.write_text(
        "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]\n"
        "contexts: [{name: k, context: {cluster: c, namespace: shop}}]\ncurrent-context: k\n"
    )
    monkeypatch.setenv("KUBECONFIG", str(config))
    ask = ("reserve", "x", "--cpu", "1", "--owner", "app=web", "--dry-run=client")
    assert "namespace: shop" in headroom(capsys, *ask).out
    assert "namespace: own" in headroom(capsys, *ask, "-n", "own").out
    odd = headroom(capsys, *ask[:-1], "--dry-run=maybe")
    assert odd.code == 2


def complete(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, line: str
) -> list[str]:
    """What a shell is offered at the end of a line."""
    monkeypatch.setenv("_HEADROOM_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(re.split(r"\s+", line)) - 1))
    return headroom(capsys).out.split()


def test_a_shell_completes_kinds_names_stories_dialects_and_contexts(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    cluster: str,
    tmp_path: Path,
) -> None:
    config = tmp_path / "config"
    config.write_text(
        "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]\n"
        "contexts: [{name: here, context: {cluster: c}}, {name: there, context: {cluster: c}}]\n"
        "current-context: here\n"
    )
    monkeypatch.setenv("KUBECONFIG", str(config))

    def offered(line: str) -> list[str]:
        return complete(capsys, monkeypatch, line)

    assert offered("headroom get he") == ["headrooms"]
    assert offered("headroom explain re") == ["reservations"]
    assert offered("headroom demo th") == ["thief"]
    assert offered("headroom run --dialect ko") == ["koordinator", "korder"]
    assert offered("headroom get --context t") == ["there"]
    assert offered(f"headroom get --from {cluster} holds c") == ["checkout"]
    assert offered(f"headroom explain --from {cluster} hold/o") == ["hold/other"]
    assert offered("headroom get holds x") == []  # No cluster answers: no offer, no noise.
