"""The files for Grafana, Prometheus and k9s name what there is, and their own tools take them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from headroom.cli.dialects import NAMES, chosen
from headroom.runtime.metrics import Metrics
from testbed.packages import PackageUnavailable, Program, program

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
ALERTS = DEPLOY / "prometheus" / "alerts.yaml"
TESTS = Path(__file__).with_name("alerts_test.yaml")
GRAFANA = DEPLOY / "grafana" / "headroom.json"
VIEWS = DEPLOY / "k9s" / "views.yaml"
METRIC = re.compile(r"\bheadroom_\w+")
SUFFIXES = ("_bucket", "_count", "_sum")


def published() -> set[str]:
    """Every name that can be asked for at /metrics."""
    names = set()
    for family in Metrics("1").registry.collect():
        ends = {"counter": ("_total",), "histogram": SUFFIXES}.get(family.type, ("",))
        names |= {f"{family.name}{end}" for end in ends}
    return names


def expressions() -> list[str]:
    panels = json.loads(GRAFANA.read_text())["panels"]
    drawn = [each["expr"] for panel in panels for each in panel.get("targets", ())]
    rules = yaml.safe_load(ALERTS.read_text())["groups"][0]["rules"]
    return [*drawn, *(rule["expr"] for rule in rules)]


def test_every_metric_of_the_dashboard_and_the_alerts_is_published() -> None:
    asked = {name for each in expressions() for name in METRIC.findall(each)}
    assert asked - published() == set()


def test_every_metric_but_information_is_on_the_dashboard() -> None:
    text = GRAFANA.read_text()
    families = {family.name for family in Metrics("1").registry.collect()}
    missing = {name for name in families if name not in text}
    assert missing <= {"headroom_synced"} | {name for name in families if "promise" in name}


def test_panels_have_names_places_and_ids_of_their_own() -> None:
    panels = json.loads(GRAFANA.read_text())["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert len({(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels}) == len(panels)
    assert all(panel["title"] for panel in panels)


def test_every_alert_says_what_to_do() -> None:
    for rule in yaml.safe_load(ALERTS.read_text())["groups"][0]["rules"]:
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert rule["annotations"]["summary"]
        assert rule["annotations"]["description"]


def test_columns_for_k9s_are_those_of_our_kinds() -> None:
    columns = {}
    for made in chosen(NAMES).definitions():
        spec = made["spec"]
        for version in spec["versions"]:
            key = f"{spec['group']}/{version['name']}/{spec['names']['plural']}"
            names = [each["name"].upper() for each in version.get("additionalPrinterColumns", ())]
            columns[key] = {"NAME", "NAMESPACE", "AGE", *names}
    views = yaml.safe_load(VIEWS.read_text())["views"]
    assert {"headroom.dev/v1alpha1/headrooms", "headroom.dev/v1alpha1/holds"} <= set(views)
    for kind, view in views.items():
        assert set(view["columns"]) - columns[kind] == set(), kind


@pytest.fixture(scope="module")
def promtool(pytestconfig: pytest.Config) -> Program:
    capture = pytestconfig.pluginmanager.getplugin("capturemanager")
    try:
        return program("prometheus", ("promtool",), alone=True)
    except PackageUnavailable as trouble:
        with capture.global_and_fixture_disabled():
            print(f"\nALERT RULES NOT CHECKED BY PROMTOOL: {trouble}", file=sys.stderr)
        pytest.skip(str(trouble))


@pytest.mark.e2e
@pytest.mark.parametrize(
    "command", [("check", "rules", str(ALERTS)), ("test", "rules", str(TESTS))]
)
def test_promtool_takes_the_alert_rules(promtool: Program, command: tuple[str, ...]) -> None:
    done = subprocess.run(
        [promtool.path, *command],
        env={**os.environ, **promtool.environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
