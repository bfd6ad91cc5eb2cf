"""Bad input to the command line: one clear message, the right exit code, only data on stdout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.cli.commands import headroom

COMMAND = Path(sys.executable).with_name("headroom")
VERBS = [("get", "holds"), ("explain", "pod/x"), ("explain", "hold/h"), ("top",)]
POINTS_NOWHERE = """\
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {as: ann}}]
contexts: [{name: k, context: {cluster: c, user: u}}]
current-context: k
"""


def in_a_process(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the installed command as a person would."""
    return subprocess.run(
        [str(COMMAND), *map(str, arguments)],
        env={**os.environ, "HEADROOM_DEBUG": ""},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@dataclass(frozen=True)
class Mistake:
    """A file that cannot be run, and the words that its message must have."""

    name: str
    text: str
    says: tuple[str, ...]


def scenario(spec: str) -> str:
    return (
        "apiVersion: sim.headroom.dev/v1alpha1\nkind: Scenario\nmetadata: {name: s}\n"
        f"spec:\n  {spec}\n"
    )


def pod_file(field: str) -> str:
    return f"apiVersion: v1\nkind: Pod\nmetadata: {{name: x}}\nspec:\n  {field}\n"


MISTAKES = [
    Mistake("field", scenario("untill: 10m"), (":5: document 1: spec.untill: ", "until?")),
    Mistake("kind", pod_file("").replace("Pod", "Pood"), (":2: document 1: kind: ", "v1/Pod?")),
    Mistake(
        "quantity",
        pod_file("containers: [{name: a, resources: {requests: {cpu: lots}}}]"),
        (":5: document 1: spec.containers[0].resources.requests.cpu: 'lots'", "500m"),
    ),
    Mistake("twice", pod_file("nodeName: a\n  nodeName: b"), (":6: document 1: spec.nodeName: ",)),
    Mistake(
        "second-scenario",
        scenario("seed: 1") + "---\n" + scenario("seed: 2"),
        ("document 2: kind: a second Scenario",),
    ),
    Mistake("no-verb", scenario("steps: [{at: 3s}]"), ("spec.steps[0]: ", "exactly one of apply")),
    Mistake(
        "two-verbs",
        scenario("steps: [{at: 3s, operator: stopped, kubelet: a, state: running}]"),
        ("spec.steps[0]: ", "exactly one of apply"),
    ),
    Mistake(
        "duration",
        scenario("until: 10 minutes\n  steps: [{at: soon, operator: stopped}]"),
        (":5: document 1: spec.until: '10 minutes'", "spec.steps[0].at: 'soon'", "1h30m"),
    ),
    Mistake(
        "missing-file",
        scenario("steps: [{at: 3s, apply: [gone.yaml]}]"),
        (":5: document 1: spec.steps[0].apply[0]: ", "gone.yaml cannot be read"),
    ),
    Mistake("not-yaml", "a: [b", ("document 1: not YAML",)),
    Mistake("not-an-object", "- a\n", (":1: document 1: not an object",)),
    Mistake(
        "hold",
        scenario("seed: 1").replace("sim.headroom", "headroom").replace("Scenario", "Hold"),
        ("spec.seed: no such field", "spec.template", "spec.owners"),
    ),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_file_that_cannot_be_run_is_blamed_by_file_document_and_path(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, mistake: Mistake
) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(mistake.text)
    done = headroom(capsys, "simulate", str(file), "-o", "json")
    assert (done.code, done.out) == (2, "")
    assert str(file) in done.err
    assert all(words in done.err for words in mistake.says), done.err
    assert "nothing was run" in done.err


def test_every_mistake_of_all_files_is_told_at_once(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    first, second = tmp_path / "first.yaml", tmp_path / "second.yaml"
    first.write_text(pod_file("nodName: a"))
    second.write_text(scenario("sed: 1"))
    done = headroom(capsys, "simulate", str(first), str(second), str(tmp_path / "third.yaml"))
    assert done.code == 2
    assert "first.yaml:5: document 1: spec.nodName: no such field" in done.err
    assert "second.yaml:5: document 1: spec.sed: no such field" in done.err
    assert "third.yaml: cannot be read: No such file or directory" in done.err


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (("--until", "banana"), "--until: 'banana' is not a duration"),
        (("--until", "5m", "--start", "noon"), "--start: 'noon' is not a time"),
        (("--seed", "x"), "--seed"),
        (("--dialect", "klingon"), "--dialect klingon: there is no such dialect"),
        (("-o", "xml"), "'xml'"),
    ],
)
def test_a_flag_that_makes_no_sense_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, flags: tuple[str, ...], says: str
) -> None:
    file = tmp_path / "good.yaml"
    file.write_text(scenario("seed: 1"))
    done = headroom(capsys, "simulate", str(file), *flags)
    assert (done.code, done.out) == (2, "")
    assert says in done.err


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("kind: Result\nobjects: abc\n", "objects: a list is expected"),
        ("kind: Result\nobjects: [{}, 7]\n", "objects[1]: an object with fields is expected"),
        ("kind: Result\nend: noon\n", "end: 'noon' is not a time"),
        ("a: [b\n", "document 1: not YAML"),
    ],
)
def test_a_dump_that_cannot_be_asked_is_blamed_by_file_and_path(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, says: str
) -> None:
    file = tmp_path / "dump.yaml"
    file.write_text(text)
    for verb in VERBS:
        done = headroom(capsys, *verb, "--from", str(file))
        assert (done.code, done.out) == (2, "")
        assert str(file) in done.err
        assert says in done.err


def test_an_object_of_a_dump_that_cannot_be_read_is_named_and_passed_over(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "dump.yaml"
    broken = "apiVersion: headroom.dev/v1alpha1\nkind: Hold\nmetadata: 7\n---\n"
    file.write_text(broken + hold_text("good"))
    done = headroom(capsys, "get", "holds", "--from", str(file))
    assert done.code == 0
    assert "passed over Hold: metadata: " in done.err
    assert "good" in done.out


@pytest.mark.parametrize("threshold", ["0", "1.5", "NaN", "-0.8", "80%"])
def test_a_threshold_that_makes_no_sense_is_misuse(
    capsys: pytest.CaptureFixture[str], threshold: str
) -> None:
    flag = "--proactive-scaleup-threshold"
    done = headroom(capsys, "run", "--enable-proactive-scaleup", flag, threshold)
    assert (done.code, done.out) == (2, "")
    assert flag in done.err
    assert threshold in done.err


@pytest.mark.parametrize("flag", ["--pod-injection-limit", "--node-limit"])
def test_a_limit_below_none_is_misuse(capsys: pytest.CaptureFixture[str], flag: str) -> None:
    done = headroom(capsys, "run", "--enable-proactive-scaleup", flag, "-1")
    assert (done.code, done.out) == (2, "")
    assert flag in done.err


@pytest.mark.parametrize("threshold", ["0", "1.5", ".nan", "NaN"])
def test_a_threshold_in_a_file_that_makes_no_sense_is_blamed_by_its_field(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, threshold: str
) -> None:
    file = tmp_path / "ahead.yaml"
    file.write_text(
        "apiVersion: headroom.dev/v1alpha1\nkind: Headroom\nmetadata: {name: ahead}\n"
        "spec:\n  slot: {template: {resources: {requests: {cpu: 500m}}}}\n"
        f"  size: {{utilization: {{threshold: {threshold}}}}}\n  mode: Preemptible\n"
    )
    done = headroom(capsys, "simulate", str(file))
    assert (done.code, done.out) == (2, "")
    assert "spec.size.utilization.threshold" in done.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("run", "--http", "nonsense"), "--http: 'nonsense' is not HOST:PORT"),
        (("run", "--http", "localhost:99999"), "is not HOST:PORT"),
        (("run", "--dialect", "klingon"), "--dialect klingon: there is no such dialect"),
        (("frobnicate",), "No such command 'frobnicate'"),
        (("get", "unicorns"), "'unicorns' is not supported here"),
        (("explain", "node/a"), "'node' is not supported here"),
    ],
)
def test_a_command_that_cannot_be_understood_is_misuse(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], says: str
) -> None:
    done = headroom(capsys, *arguments)
    assert (done.code, done.out) == (2, "")
    assert says in done.err


KUBECONFIGS = {
    "malformed": ("clusters: [", "not valid YAML, line 1"),
    "misshapen": ("clusters: {a: b}", "Expected `array`, got `object` - at `$.clusters`"),
    "empty": ("", "no current-context is set"),
    "no-cluster": (
        POINTS_NOWHERE.replace("cluster: c,", "cluster: other,"),
        "'other'",
    ),
    "bad-ca": (
        POINTS_NOWHERE.replace('127.0.0.1:1"', '127.0.0.1:1", certificate-authority-data: "%%"'),
        "certificate-authority-data",
    ),
    "missing-ca": (
        POINTS_NOWHERE.replace('127.0.0.1:1"', '127.0.0.1:1", certificate-authority: nope.pem'),
        "nope.pem",
    ),
}


@pytest.mark.parametrize("verb", VERBS[:2], ids=lambda verb: verb[0])
@pytest.mark.parametrize("name", KUBECONFIGS)
def test_a_kubeconfig_that_cannot_be_used_is_blamed_by_file_and_place(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str, verb: tuple[str, ...]
) -> None:
    text, says = KUBECONFIGS[name]
    file = tmp_path / "kubeconfig"
    file.write_text(text)
    done = headroom(capsys, *verb, "--kubeconfig", str(file))
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert str(tmp_path) in done.err


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_a_kubeconfig_that_points_nowhere_is_told_with_address_and_context(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, verb: tuple[str, ...]
) -> None:
    file = tmp_path / "kubeconfig"
    file.write_text(POINTS_NOWHERE)
    done = headroom(capsys, *verb, "--kubeconfig", str(file))
    assert (done.code, done.out) == (3, "")
    assert "https://127.0.0.1:1 (context k of " in done.err
    assert "Connection refused" in done.err
    assert "is the cluster up" in done.err


class _Stranger(BaseHTTPRequestHandler):
    """A web server that is no API server."""

    def do_GET(self) -> None:
        answers: Mapping[str, tuple[int, bytes]] = {
            "lost": (404, b"not here"),
            "page": (200, b"<p>"),
        }
        code, body = answers[self.path.split("/")[1]]
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        return


@pytest.fixture
def stranger() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Stranger) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("answers", ["lost", "page"])
@pytest.mark.parametrize("verb", VERBS[:2], ids=lambda verb: verb[0])
def test_a_server_that_is_no_api_server_is_called_that(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    stranger: str,
    verb: tuple[str, ...],
    answers: str,
) -> None:
    file = tmp_path / "kubeconfig"
    file.write_text(POINTS_NOWHERE.replace("https://127.0.0.1:1", f"{stranger}/{answers}"))
    done = headroom(capsys, *verb, "--kubeconfig", str(file))
    assert (done.code, done.out) == (3, "")
    assert f"{stranger}/{answers}: the server there is not a Kubernetes API server" in done.err
    assert "check the server address" in done.err


def test_a_context_that_is_not_there_is_told_with_those_that_are(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "kubeconfig"
    file.write_text(POINTS_NOWHERE)
    done = headroom(capsys, "get", "holds", "--kubeconfig", str(file), "--context", "nope")
    assert done.code == 2
    assert "no context named 'nope'" in done.err
    assert "there: k" in done.err


@pytest.mark.e2e  # It needs no cluster, but starts the command once for each exit code.
def test_the_command_itself_keeps_streams_and_codes_apart(tmp_path: Path) -> None:
    """The same as above once for each exit code, through the installed command."""
    config = tmp_path / "kubeconfig"
    config.write_text(POINTS_NOWHERE)
    wish = tmp_path / "wish.yaml"
    wish.write_text(
        scenario(
            "pools: [{name: a, count: 1}]\n  steps: [{at: 1s, expect: {kind: Pod, name: x}},"
            " {at: 2s, expect: {kind: Node, count: 2, where: {spec.unschedulable: true}}}]"
        )
    )
    failed = in_a_process("simulate", wish, "-o", "json")
    assert failed.returncode == 1
    assert json.loads(failed.stdout)["kind"] == "Result"
    assert "expected at least 1 Pod x, found 0" in failed.stderr
    assert "expected 2 Node where spec.unschedulable=True, found 0; there were a-0" in failed.stderr
    missing = in_a_process("run", "--kubeconfig", tmp_path / "missing")
    nowhere = in_a_process("run", "--kubeconfig", config)
    assert (missing.returncode, nowhere.returncode) == (2, 3)
    assert f"kubeconfig {tmp_path / 'missing'}: no such file" in missing.stderr
    assert "cannot connect: Connection refused" in nowhere.stderr
    for done in (failed, missing, nowhere):
        assert "Traceback" not in done.stderr
    assert (missing.stdout, nowhere.stdout) == ("", "")


MUDDLE = """
apiVersion: sim.headroom.dev/v1alpha1
kind: Scenario
metadata: {name: muddle}
spec: {until: 30s, pools: [{name: a, count: 1, cpu: "8"}]}
"""
TIGHT = """
apiVersion: v1
kind: ResourceQuota
metadata: {name: tight, namespace: tight}
spec: {hard: {requests.cpu: 500m}}
"""
WEB = "[{labelSelector: {matchLabels: {app: web}}}]"
GATED = "schedulingGates: [{name: headroom.dev/claim}]"
OURS = "schedulerName: headroom-scheduler"
FORGED = "{headroom.dev/claimed: Hold/default/good}"


def hold_text(name: str, cpu: str = "1", owners: str = WEB, more: str = "") -> str:
    where, _, short = name.rpartition("/")
    return (
        "apiVersion: headroom.dev/v1alpha1\nkind: Hold\n"
        f"metadata: {{name: {short}, namespace: {where or 'default'}}}\n"
        f"spec:\n  owners: {owners}\n  template: {{spec: {{containers: [{{name: main, "
        f'resources: {{requests: {{cpu: "{cpu}"}}}}}}]{more}}}}}\n'
    )


def pod_text(name: str, cpu: str, spec: str = "", annotations: str = "{}") -> str:
    where, _, short = name.rpartition("/")
    return (
        f"apiVersion: v1\nkind: Pod\nmetadata: {{name: {short}, namespace: {where or 'default'}, "
        f"labels: {{app: api}}, annotations: {annotations}}}\n"
        f'spec:\n  containers: [{{name: main, resources: {{requests: {{cpu: "{cpu}"}}}}}}]\n'
        f"  {spec}\n"
    )


@pytest.fixture(scope="module")
def muddle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The result of a simulation in which nearly everybody made a mistake."""
    folder = tmp_path_factory.mktemp("muddle")
    both = "{key: a, operator: Exists}, {key: a, operator: DoesNotExist}"
    never = f"[{{labelSelector: {{matchExpressions: [{both}]}}}}]"
    volume = f"{OURS}\n  volumes: [{{name: data, persistentVolumeClaim: {{claimName: disk}}}}]"
    device = f"{OURS}\n  resourceClaims: [{{name: gpu, resourceClaimName: gpu-1}}]"
    documents = [
        MUDDLE,
        TIGHT,
        hold_text("good"),
        hold_text("huge", cpu="99"),
        hold_text("nowhere", more=", nodeName: zurich"),
        hold_text("never", owners=never),
        hold_text("foreign", owners="[{object: {name: x, namespace: elsewhere}}]"),
        hold_text("tight/refused"),
        hold_text("late") + '  expires: "2020-01-01T00:00:00Z"\n',
        pod_text("liar", "100m", annotations=FORGED),
        pod_text("stray", "100m", GATED),
        pod_text("volume", "100m", volume),
        pod_text("device", "100m", device),
        pod_text("big", "50", OURS),
        pod_text("patient", "100m", GATED, "{headroom.dev/wait: 'true'}"),
        pod_text("elsewhere/thief", "100m", GATED).replace("app: api", "app: web"),
    ]
    (folder / "muddle.yaml").write_text("---\n".join(documents))
    done = in_a_process("simulate", folder / "muddle.yaml", "--allow-invalid", "-o", "json")
    assert done.returncode == 0, done.stderr
    (folder / "result.json").write_text(done.stdout)
    return folder / "result.json"


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("hold/good", "is held on a-0"),
        ("hold/huge", "0/1 nodes are available: 1 Insufficient cpu"),
        ("hold/nowhere", "its template is for node zurich, which is missing"),
        ("hold/never", "spec.owners[0].labelSelector: can never match: label a would have to be"),
        ("hold/foreign", "unless the operator runs with --allow-cross-namespace-owners"),
        ("tight/hold/refused", "exceeded quota: tight, requested: requests.cpu=1"),
        ("hold/late", "is Failed: expired at 2020-01-01"),
        ("pod/liar", "is Running on a-0, without a hold"),  # Its forged claim was taken off.
        ("pod/stray", "is Running on a-0, without a hold"),
        ("pod/volume", 'persistentvolumeclaim "disk" not found'),
        ("pod/device", "cannot judge device claim gpu: leave spec.schedulerName out"),
        ("pod/big", "no hold is for it and no node has the room"),
        ("pod/patient", "waits for a hold, as it asks to (headroom.dev/wait)"),
        ("elsewhere/pod/thief", "is Running on a-0, without a hold"),
    ],
)
def test_explain_says_the_true_reason_from_a_simulation(
    capsys: pytest.CaptureFixture[str], muddle: Path, what: str, says: str
) -> None:
    *namespace, kind, name = what.split("/")
    where = ("-n", namespace[0]) if namespace else ()
    done = headroom(capsys, "explain", f"{kind}/{name}", *where, "--from", str(muddle))
    assert done.code == 0, done.err
    assert says in done.out.splitlines()[0]


def test_a_forged_claim_is_not_listed_among_claims(
    capsys: pytest.CaptureFixture[str], muddle: Path
) -> None:
    assert "liar" not in headroom(capsys, "get", "claims", "--from", str(muddle)).out
