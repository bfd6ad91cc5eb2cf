"""Files say what they are: charts, worlds to start from, dialects, standard input."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from headroom.cli.live.dialects import dialects_of
from headroom.wire.yamls import load
from tests.cli.commands import Finished, headroom

Json = dict[str, Any]
POOLS = """apiVersion: sim.headroom.dev/v1alpha1
kind: Scenario
metadata: {name: files}
spec: {until: 2m, pools: [{name: g, count: 2, cpu: "4"}]}
"""
CHART = """---
# Source: shop/templates/rights.yaml
apiVersion: v1
kind: ServiceAccount
metadata: {name: shop}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: shop}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
---
apiVersion: v1
kind: Secret
metadata: {name: shop}
data: {password: c2VjcmV0}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: shop}
data: {colour: green}
---
apiVersion: v1
kind: Service
metadata: {name: shop}
spec: {ports: [{port: 80, targetPort: http, name: http}], selector: {app: shop}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: shop}
spec: {rules: [{host: shop.example.com}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop}
spec:
  replicas: 2
  revisionHistoryLimit: 3
  strategy: {rollingUpdate: {maxSurge: 25%, maxUnavailable: 0}}
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}, annotations: {checksum/config: abc}}
    spec:
      serviceAccountName: shop
      securityContext: {fsGroup: 2000}
      containers:
        - name: shop
          image: example.com/shop:1.0
          imagePullPolicy: IfNotPresent
          securityContext: {runAsNonRoot: true, capabilities: {drop: [ALL]}}
          ports: [{name: http, containerPort: 8080, protocol: TCP}]
          env: [{name: PASSWORD, valueFrom: {secretKeyRef: {name: shop, key: password}}}]
          envFrom: [{configMapRef: {name: shop}}]
          readinessProbe: {httpGet: {path: /, port: http}}
          resources: {limits: {memory: 512Mi}, requests: {cpu: 250m, memory: 256Mi}}
          volumeMounts: [{name: config, mountPath: /etc/shop, readOnly: true}]
      volumes: [{name: config, configMap: {name: shop}}]
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: shop}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: shop}, maxReplicas: 10}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: sweep}
spec: {schedule: "0 3 * * *"}
---
apiVersion: monitoring.example.com/v1
kind: Monitor
metadata: {name: shop}
spec: {}
---
apiVersion: v1
kind: Pod
metadata: {name: try-it, annotations: {helm.sh/hook: test}}
spec: {containers: [{name: c, image: x}]}
"""
HELD = """apiVersion: headroom.dev/v1alpha1
kind: Hold
metadata: {name: kept}
spec:
  template: {spec: {containers: [{name: main, resources: {requests: {cpu: "2"}}}]}}
  owners: [{labelSelector: {matchLabels: {app: owner}}}]
  ttl: 1h
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: m, image: web, resources: {requests: {cpu: "1"}}}]}
"""
OWNER = """apiVersion: v1
kind: Pod
metadata: {name: owner, labels: {app: owner}}
spec:
  schedulingGates: [{name: headroom.dev/claim}]
  containers: [{name: m, image: x, resources: {requests: {cpu: "2"}}}]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    texts = {"pools": POOLS, "chart": CHART, "held": HELD, "owner": OWNER}
    for name, text in texts.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    return tmp_path


def simulated(
    capsys: pytest.CaptureFixture[str], folder: Path, *words: str
) -> tuple[Finished, Json]:
    """Run `simulate -o json`; words that name a file of the folder stand for it."""
    placed = [str(folder / word) if (folder / word).exists() else word for word in words]
    finished = headroom(capsys, "simulate", *placed, "-o", "json")
    return finished, json.loads(finished.out) if finished.out else {}


def test_a_charts_output_is_played_and_what_cannot_matter_counted_in_one_line(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    done, result = simulated(capsys, folder, "pools.yaml", "chart.yaml")
    assert done.code == 0, done.err
    assert result["summary"]["pods"]["started"] == 2
    counted = "ConfigMap 1, Ingress 1, Role 1, Secret 1, ServiceAccount 1, helm hooks 1"
    assert f"skipped 6 that do not affect where pods are placed: {counted}" in done.err
    assert "HorizontalPodAutoscaler is not simulated (1 in the files)" in done.err
    assert "CronJob is not simulated (1 in the files)" in done.err
    assert "Monitor.monitoring.example.com 1" in done.err


def test_strict_refuses_what_is_not_played(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    done, _ = simulated(capsys, folder, "pools.yaml", "chart.yaml", "--strict")
    assert done.code == 2
    file = folder / "chart.yaml"
    assert f"{file}:4: document 1: kind: ServiceAccount does not affect" in done.err
    for kind in ("Secret", "HorizontalPodAutoscaler", "CronJob", "Monitor"):
        assert f"kind: {kind}" in done.err
    assert simulated(capsys, folder, "pools.yaml", "held.yaml", "--strict")[0].code == 0


def test_a_kind_that_kubernetes_should_know_is_still_refused(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    (folder / "typo.yaml").write_text(HELD.replace("kind: Deployment", "kind: Deploymnet"))
    done, _ = simulated(capsys, folder, "pools.yaml", "typo.yaml")
    assert done.code == 2
    assert "Deploymnet" in done.err


def test_a_dash_is_standard_input(
    capsys: pytest.CaptureFixture[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(CHART))
    done, result = simulated(capsys, folder, "pools.yaml", "-")
    assert done.code == 0, done.err
    assert result["summary"]["pods"]["started"] == 2
    monkeypatch.setattr("sys.stdin", io.StringIO(done.out))
    assert "g-0" in headroom(capsys, "get", "nodes", "--from", "-").out


@pytest.mark.parametrize("form", ["result", "dump"])
def test_a_run_goes_on_from_a_result_or_a_dump(
    capsys: pytest.CaptureFixture[str], folder: Path, form: str
) -> None:
    first, was = simulated(capsys, folder, "pools.yaml", "held.yaml")
    file = folder / "world.json"
    file.write_text(first.out)
    if form == "dump":
        file.write_text(headroom(capsys, "dump", "--from", str(file)).out)
    done, result = simulated(capsys, folder, "world.json", "owner.yaml", "--until", "5m")
    assert done.code == 0, done.err
    assert result["start"] == was["end"]
    assert (result["summary"]["claims"], result["summary"]["pods"]["created"]) == (1, 1)
    assert result["summary"]["owners"]["p99_wait_s"] < 1

    def uids(of: Json, kind: str) -> set[str]:
        return {each["metadata"]["uid"] for each in of["objects"] if each["kind"] == kind}

    for kind in ("Node", "Deployment", "ReplicaSet", "Hold"):
        assert uids(result, kind) == uids(was, kind)
    again, _ = simulated(capsys, folder, "world.json", "owner.yaml", "--until", "5m")
    assert again.out == done.out


def test_pods_whose_controllers_are_not_in_the_file_are_kept(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    _, was = simulated(capsys, folder, "pools.yaml", "held.yaml")
    kept = [each for each in was["objects"] if each["kind"] not in ("Deployment", "ReplicaSet")]
    (folder / "world.json").write_text(json.dumps({**was, "objects": kept}))
    done, result = simulated(capsys, folder, "world.json", "--until", "5m")
    assert "have no controller and are not replaced: 3" in done.err
    pods = [each for each in result["objects"] if each["kind"] == "Pod"]
    assert len(pods) == 4


@pytest.mark.parametrize(
    ("world", "words"),
    [
        ({"kind": "Dump", "objects": {}}, "objects: a list is expected"),
        ({"kind": "Dump", "objects": [3]}, "objects[0]: not an object"),
        ({"kind": "Dump", "objects": [], "end": "soon"}, "end: "),
        (
            {"kind": "Dump", "objects": [{"kind": "Pod", "metadata": {"name": "p"}, "spec": 1}]},
            "objects[0].spec: an object with fields is expected",
        ),
    ],
)
def test_a_world_that_makes_no_sense_is_misuse(
    capsys: pytest.CaptureFixture[str], folder: Path, world: Json, words: str
) -> None:
    (folder / "world.json").write_text(json.dumps(world))
    done, _ = simulated(capsys, folder, "world.json")
    assert done.code == 2
    assert words in done.err


def test_a_result_says_which_dialects_were_on(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    done, result = simulated(capsys, folder, "pools.yaml", "--dialect", "schedulinggate")
    assert result["dialects"] == ["schedulinggate"]
    file = folder / "result.json"
    file.write_text(done.out)
    dumped = json.loads(headroom(capsys, "dump", "--from", str(file)).out)
    assert dumped["dialects"] == ["schedulinggate"]


def test_objects_of_a_dialect_switch_it_on(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    reservation = {
        "apiVersion": "scheduling.koordinator.sh/v1alpha1",
        "kind": "Reservation",
        "metadata": {"name": "r"},
        "spec": {
            "template": {
                "metadata": {"namespace": "default"},
                "spec": {
                    "schedulerName": "koord-scheduler",
                    "containers": [
                        {"name": "m", "image": "x", "resources": {"requests": {"cpu": "1"}}}
                    ],
                },
            },
            "owners": [{"labelSelector": {"matchLabels": {"app": "x"}}}],
            "ttl": "1h",
        },
    }
    (folder / "late.yaml").write_text(json.dumps(reservation))
    steps = POOLS.replace("until: 2m,", "until: 2m, steps: [{at: 5s, apply: [late.yaml]}],")
    (folder / "steps.yaml").write_text(steps)
    for files in (("pools.yaml", "late.yaml"), ("steps.yaml",)):
        done, result = simulated(capsys, folder, *files)
        assert done.code == 0, done.err
        assert result["dialects"] == ["koordinator"]
        assert result["summary"]["slots"]["held"] == 1


def test_get_plan_and_top_use_the_pools_of_a_scenario(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    scenario, wish = str(folder / "pools.yaml"), str(folder / "held.yaml")
    assert "g-1    4 " in headroom(capsys, "get", "nodes", "--from", scenario).out
    assert "g-1 " in headroom(capsys, "top", "--from", scenario).out
    planned = headroom(capsys, "plan", wish, "--from", scenario)
    assert planned.code == 0, planned.err
    assert "hold default/kept" in planned.out
    (folder / "bad.yaml").write_text(POOLS.replace("count: 2", "count: many"))
    refused = headroom(capsys, "get", "nodes", "--from", str(folder / "bad.yaml"))
    assert refused.code == 2
    assert "spec.pools[0].count" in refused.err


def test_the_operators_deployment_says_which_dialects_are_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    flags = ("--dialect", "korder", "--dialect", "schedulinggate")
    printed = headroom(capsys, "install", "--dry-run", *flags)
    objects = [each.data for each in load(printed.out, "install")]
    (operator,) = [each for each in objects if each["kind"] == "Deployment"]
    assert list(dialects_of(operator)) == ["korder", "schedulinggate"]
    container = {"args": ["run", "--dialect", "koordinator", "--enable-proactive-scaleup"]}
    env = {"env": [{"name": "HEADROOM_DIALECT", "value": "capacitybuffer korder"}]}
    other = {"spec": {"template": {"spec": {"containers": [container, env]}}}}
    assert list(dialects_of(other)) == ["koordinator", "proactive", "capacitybuffer", "korder"]
    assert list(dialects_of({})) == []
