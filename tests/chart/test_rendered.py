"""The chart, rendered by Helm, is what `headroom install` applies, object by object."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from headroom import __version__
from headroom.cli.dialects import NAMES
from headroom.kube.versions import FEATURES, read_version
from testbed.binaries import BinariesUnavailable
from testbed.helm import Helm, HelmFailed
from testbed.recipes import KUBERNETES
from tests.cli.commands import headroom

pytestmark = pytest.mark.e2e
DEPLOY = Path(__file__).parent.parent.parent / "deploy"
CHART, KUSTOMIZE = str(DEPLOY / "chart"), DEPLOY / "kustomize"
HOME = "headroom-system"

Json = dict[str, Any]
Objects = dict[tuple[str, str, str], Json]
Render = Callable[..., Objects]
EVERY = ("--dialect", "capacitybuffer"), ("--dialect", "koordinator"), ("--dialect", "korder")
AHEAD = ("--dialect", "proactive")
GATE = ("--dialect", "schedulinggate")
ALL = [word for pair in (*EVERY, AHEAD, GATE) for word in pair]
ALL_VALUE = {"dialects": "{" + ",".join(NAMES) + "}"}

# Values of the chart, and the flags of `headroom install` that mean the same.
PAIRS: dict[str, tuple[Mapping[str, str], list[str]]] = {
    "defaults": ({}, []),
    "image": (
        {"image.repository": "mine/headroom", "image.tag": "v7", "pauseImage": "mine/pause:1"},
        ["--image", "mine/headroom:v7", "--pause-image", "mine/pause:1"],
    ),
    "digest": (
        {"image.repository": "mine/headroom", "image.digest": "sha256:" + "a" * 64},
        ["--image", "mine/headroom@sha256:" + "a" * 64],
    ),
    "no policies": (
        {"policies.gate": "false", "policies.confine": "false"},
        ["--no-policy", "--no-confine"],
    ),
    "webhook": (
        {"policies.gate": "false", "webhook.enabled": "true"},
        ["--no-policy", "--webhook"],
    ),
    "webhook and metrics": (
        {"webhook.enabled": "true", "metrics.enabled": "true"},
        ["--webhook", "--metrics"],
    ),
    "page": ({"dashboard.enabled": "true"}, ["--dashboard"]),
    "tenants": ({"tenantEdit": "true"}, ["--tenant-edit"]),
    "namespaces": ({"namespaces": "{shop,bank}"}, ["--namespaces", "shop,bank"]),
    "its own namespace too": (
        {"namespaces": f"{{shop,{HOME}}}"},
        ["--namespaces", f"shop,{HOME}"],
    ),
    "flags of run": (
        {
            "operator.allowCrossNamespaceOwners": "true",
            "operator.mostSlots": "1000000",
            "operator.nodeOverhead": "never",
            "operator.namespaceLimits": "slots=3\\,cpu=8",
            "operator.logLevel": "debug",
        },
        [
            "--",
            "--allow-cross-namespace-owners",
            "--most-slots=1000000",
            "--node-overhead=never",
            "--namespace-limits=slots=3,cpu=8",
            "--log-level=debug",
        ],
    ),
    "prices": (
        {"operator.price": "{gpu=3,*=0.2}", "operator.poolLabel": "example.com/pool"},
        ["--", "--price=gpu=3", "--price=*=0.2", "--pool-label=example.com/pool"],
    ),
    "proactive": (
        {
            "dialects": "{proactive}",
            "proactive.podInjectionLimit": "50",
            "proactive.threshold": "0.7",
            "proactive.requests": "cpu=1\\,memory=1Gi",
            "proactive.profile": "clusterAutoscaler",
        },
        [
            *AHEAD,
            "--",
            "--pod-injection-limit=50",
            "--proactive-scaleup-threshold=0.7",
            "--proactive-scaleup-requests=cpu=1,memory=1Gi",
            "--proactive-scaleup-profile=clusterAutoscaler",
        ],
    ),
    "mountpoint": (
        {
            "dialects": "{schedulinggate}",
            "mountpoint.namespace": "s3",
            "mountpoint.headroomClass": "low",
            "namespaces": "{shop,s3}",
        },
        [*GATE, "--mountpoint-names", "namespace=s3,headroom-class=low", "--namespaces", "shop,s3"],
    ),
    **{name: ({"dialects": f"{{{name}}}"}, ["--dialect", name]) for name in NAMES},
    "every dialect": (ALL_VALUE, ALL),
    "every dialect in two namespaces": (
        {**ALL_VALUE, "namespaces": "{shop,bank}"},
        [*ALL, "--namespaces", "shop,bank"],
    ),
    "everything": (
        {
            **ALL_VALUE,
            "webhook.enabled": "true",
            "metrics.enabled": "true",
            "tenantEdit": "true",
            "namespaces": "{shop}",
            "pauseImage": "mine/pause:1",
        },
        [
            *ALL,
            "--webhook",
            "--metrics",
            "--tenant-edit",
            "--namespaces",
            "shop",
            "--pause-image",
            "mine/pause:1",
        ],
    ),
}


@pytest.fixture(scope="module")
def helm(tmp_path_factory: pytest.TempPathFactory) -> Helm:
    try:
        return Helm(tmp_path_factory.mktemp("helm"))
    except BinariesUnavailable as trouble:
        print(f"\nTESTS OF THE CHART SKIPPED: {trouble}", file=sys.stderr)
        pytest.skip(str(trouble))


@pytest.fixture(scope="module")
def render(helm: Helm) -> Render:
    def rendered(values: Mapping[str, str] | None = None, *more: str) -> Objects:
        asked = ("template", "headroom", CHART, "-n", HOME, *more)
        return by_name(helm(*asked, values=values))

    return rendered


def documents(text: str) -> Iterator[Json]:
    """The documents of a text, by a reader that is quick."""
    yield from yaml.load_all(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def by_name(text: str) -> Objects:
    found: Objects = {}
    for made in documents(text):
        if not made:
            continue
        metadata = made["metadata"]
        annotations = metadata.get("annotations") or {}
        if annotations.pop("helm.sh/resource-policy", None) and not annotations:
            del metadata["annotations"]
        name = (made["kind"], metadata.get("namespace", ""), metadata["name"])
        assert name not in found, name
        found[name] = made
    return found


@pytest.mark.parametrize("case", PAIRS)
def test_values_and_flags_give_the_same_objects(
    capsys: pytest.CaptureFixture[str], render: Render, case: str
) -> None:
    values, flags = PAIRS[case]
    printed = headroom(capsys, "install", "--dry-run", "-n", HOME, *flags)
    assert printed.code == 0, printed.err
    wanted = by_name(printed.out)
    del wanted["Namespace", "", HOME]  # Helm makes it: --create-namespace.
    found = render(values)
    assert sorted(found) == sorted(wanted)
    for name, made in wanted.items():
        assert found[name] == made, name


def test_another_namespace_is_named_wherever_it_matters(
    capsys: pytest.CaptureFixture[str], helm: Helm
) -> None:
    values = {**ALL_VALUE, "webhook.enabled": "true"}
    found = by_name(helm("template", "x", CHART, "-n", "capacity", values=values))
    wanted = by_name(
        headroom(capsys, "install", "--dry-run", "-n", "capacity", "--webhook", *ALL).out
    )
    del wanted["Namespace", "", "capacity"]
    assert found == wanted


def test_a_cluster_without_the_policy_is_given_none(render: Render) -> None:
    def kinds(*more: str) -> set[str]:
        return {kind for kind, _, _ in render(None, *more)}

    gate, confining = "MutatingAdmissionPolicy", "ValidatingAdmissionPolicy"
    assert {gate, confining} <= kinds("--kube-version", "1.36.0")
    assert kinds("--kube-version", "1.35.9") & {gate, confining} == {confining}
    # What a cluster says that it serves counts more than its version.
    served = ("v1/Pod", f"admissionregistration.k8s.io/v1/{gate}")
    apis = [word for each in served for word in ("--api-versions", each)]
    assert kinds("--kube-version", "1.35.9", *apis) & {gate, confining} == {gate}


@pytest.mark.parametrize("minor", KUBERNETES)
@pytest.mark.parametrize("case", ["defaults", "webhook", "everything"])
def test_every_supported_version_is_given_the_kinds_that_it_has(
    render: Render, minor: str, case: str
) -> None:
    known = read_version(minor)
    assert known is not None
    has = {feature.name for feature in FEATURES if known >= feature.since}
    values = PAIRS[case][0]
    kinds = {kind for kind, _, _ in render(values, "--kube-version", KUBERNETES[minor].version)}
    gated = "mutating-policy" in has and values.get("policies.gate") != "false"
    assert ("MutatingAdmissionPolicy" in kinds) == gated
    assert ("ValidatingAdmissionPolicy" in kinds) == ("validating-policy" in has)
    assert ("MutatingWebhookConfiguration" in kinds) == ("webhook.enabled" in values)


def test_an_older_kubernetes_is_refused(helm: Helm) -> None:
    with pytest.raises(HelmFailed, match="kubeVersion"):
        helm("template", "x", CHART, "--kube-version", "1.32.0")


def test_a_newer_kubernetes_is_said_to_be_untested(helm: Helm, tmp_path: Path) -> None:
    chart = tmp_path / "chart"
    shutil.copytree(CHART, chart)
    shown = 'metadata: {name: told}\nsaid: {{ include "headroom.unsupported" . | trim | quote }}\n'
    (chart / "templates/told.yaml").write_text(f"kind: Told\n{shown}", encoding="utf-8")
    assert '"headroom.unsupported"' in (chart / "templates/NOTES.txt").read_text(encoding="utf-8")

    def told(version: str) -> str:
        asked = ("template", "x", str(chart), "--kube-version", version)
        return str(by_name(helm(*asked))["Told", "", "told"]["said"])

    newest = KUBERNETES[[*KUBERNETES][-1]].version
    assert told(newest) == ""
    assert "newer than what is supported" in told("1.99.0")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"dialects": "{klingon}"}, "dialects"),
        ({"operator.mostSlots": "0"}, "mostSlots"),
        ({"operator.replicsa": "3"}, "replicsa"),
        ({"namespaces": "{Shop}"}, "namespaces"),
        ({"image.tag": "a b"}, "tag"),
        ({"image.digest": "sha256:short"}, "digest"),
        ({"metrics.serviceMonitor.enabled": "true"}, "metrics.enabled"),
        ({"operator.resources.request.cpu": "1"}, "request"),
        ({"webhook.affinity.podAntiaffinity.a": "1"}, "podAntiaffinity"),
        ({"operator.tolerations[0].efect": "NoSchedule"}, "efect"),
        ({"operator.topologySpreadConstraints[0].maxSkew": "1"}, "topologyKey"),
        ({"imagePullSecrets": "{registry}"}, "imagePullSecrets"),
        ({"operator.price": "{gpu=cheap}"}, "price"),
    ],
)
def test_a_wrong_value_is_refused_by_name(helm: Helm, values: Mapping[str, str], said: str) -> None:
    with pytest.raises(HelmFailed, match=said):
        helm("template", "x", CHART, values=values)


def test_what_is_customary_can_be_set(render: Render) -> None:
    values = {
        "operator.replicas": "3",
        "operator.nodeSelector.pool": "system",
        "operator.priorityClassName": "mine",
        "imagePullSecrets[0].name": "registry",
        "podDisruptionBudget.enabled": "false",
        "networkPolicy.enabled": "false",
        "crds.install": "false",
    }
    found = render(values)
    spec = found["Deployment", HOME, "headroom-operator"]["spec"]
    pod = spec["template"]["spec"]
    assert (spec["replicas"], pod["nodeSelector"]) == (3, {"pool": "system"})
    assert (pod["priorityClassName"], pod["imagePullSecrets"]) == ("mine", [{"name": "registry"}])
    assert not {"PodDisruptionBudget", "NetworkPolicy", "CustomResourceDefinition"} & {
        kind for kind, _, _ in found
    }


def test_a_service_monitor_finds_the_operators_metrics(render: Render) -> None:
    values = {"metrics.enabled": "true", "metrics.serviceMonitor.enabled": "true"}
    found = render(values)
    service = found["Service", HOME, "headroom-operator-metrics"]
    monitor = found["ServiceMonitor", HOME, "headroom-operator"]
    labels = service["metadata"]["labels"]
    assert monitor["spec"]["selector"]["matchLabels"].items() <= labels.items()
    pod = found["Deployment", HOME, "headroom-operator"]["spec"]["template"]
    assert service["spec"]["selector"].items() <= pod["metadata"]["labels"].items()
    ports = {port["name"] for port in pod["spec"]["containers"][0]["ports"]}
    assert service["spec"]["ports"][0]["targetPort"] in ports


@pytest.mark.parametrize("whole", [False, True], ids=["a file of rules", "an object"])
def test_rules_and_dashboards_of_the_chart_become_objects(
    helm: Helm, tmp_path: Path, whole: bool
) -> None:
    chart = tmp_path / "chart"
    shutil.copytree(CHART, chart)
    shutil.rmtree(chart / "files", ignore_errors=True)
    on = {"metrics.prometheusRule.enabled": "true", "metrics.dashboards.enabled": "true"}
    with pytest.raises(HelmFailed, match="no alert rules"):
        helm("template", "x", str(chart), values=on)
    rules: Json = {"groups": [{"name": "g", "rules": [{"alert": "A", "expr": "up == 0"}]}]}
    for folder in ("rules", "dashboards"):
        (chart / "files" / folder).mkdir(parents=True)
    written = yaml.safe_dump({"spec": rules} if whole else rules)
    (chart / "files/rules/alerts.yaml").write_text(written, encoding="utf-8")
    picture = '{"title": "{{ legend }}", "panels": []}'
    (chart / "files/dashboards/overview.json").write_text(picture, encoding="utf-8")
    found = by_name(helm("template", "x", str(chart), "-n", HOME, values=on))
    assert found["PrometheusRule", HOME, "headroom-alerts"]["spec"] == rules
    config = found["ConfigMap", HOME, "headroom-dashboard-overview"]
    assert config["data"] == {"overview.json": picture}
    assert config["metadata"]["labels"]["grafana_dashboard"] == "1"


def test_definitions_and_what_others_may_use_stay_when_the_release_goes(helm: Helm) -> None:
    text = helm("template", "x", CHART, values=ALL_VALUE)
    kept = {
        (made["kind"], made["metadata"]["name"])
        for made in documents(text)
        if made and "helm.sh/resource-policy" in (made["metadata"].get("annotations") or {})
    }
    kinds = {kind for kind, _ in kept}
    assert kinds == {"CustomResourceDefinition", "Namespace", "PriorityClass"}
    assert ("CustomResourceDefinition", "holds.headroom.dev") in kept
    assert ("Namespace", "headroom-reservations") not in kept
    assert ("PriorityClass", "headroom-locked") not in kept


def test_the_chart_has_nothing_that_lint_warns_of(helm: Helm) -> None:
    said = helm("lint", CHART, "--strict")
    assert "[WARNING]" not in said
    assert "[ERROR]" not in said


def test_what_a_plain_release_brings_is_written_down(
    helm: Helm, golden: Callable[[str, str], None]
) -> None:
    # The definitions and the policies are compared above; here is what people look at.
    values = {"crds.install": "false", "policies.confine": "false", "image.tag": "v1"}
    text = helm(
        "template", "headroom", CHART, "-n", HOME, "--kube-version", "1.36.0", values=values
    )
    golden("chart/plain.yaml", text.replace(f"headroom/{__version__}", "headroom/VERSION"))


def test_kustomize_has_the_objects_of_an_installation(
    capsys: pytest.CaptureFixture[str], binaries: Path
) -> None:
    def built(folder: str) -> Objects:
        command = [str(binaries / "kubectl"), "kustomize", str(KUSTOMIZE / folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        return by_name(done.stdout)

    assert built("gate") == by_name(headroom(capsys, "install", "--dry-run").out)
    assert built("base") == by_name(headroom(capsys, "install", "--dry-run", "--no-policy").out)
