"""Our calendar beside the real API server: what a CronJob's schedule may be, a window's start may.

Differences that are meant: Kubernetes takes `@every` and what never fires, we take 7 for Sunday.
Time zones are the same names.
"""

from __future__ import annotations

import pytest

from headroom.core.headrooms.windows import WindowRefused
from headroom.engine.cron import calendar
from testbed.api import ApiFailure
from testbed.controlplane import ControlPlane

pytestmark = pytest.mark.e2e
PATH = "/apis/batch/v1/namespaces/default/cronjobs?dryRun=All"
EXPRESSIONS = (
    "* * * * *",
    "0 8 * * 1-5",
    "*/15 * * * *",
    "0-30/10 8,12 1 * *",
    "0 0 1 JAN *",
    "0 0 * * MON",
    "0 0 * * mon-fri",
    "0 0 ? * *",
    "5 4 29 2 *",
    "@daily",
    "@hourly",
    "@midnight",
    "@weekly",
    "@yearly",
    "@never",
    "60 * * * *",
    "* 24 * * *",
    "* * 0 * *",
    "* * 32 * *",
    "* * * 13 *",
    "* * * * 8",
    "* * * *",
    "* * * * * *",
    "a b c d e",
    "5-1 * * * *",
    "*/0 * * * *",
    "-1 * * * *",
    "",
)
ZONES = (
    "UTC",
    "Etc/UTC",
    "Europe/Zurich",
    "America/New_York",
    "Asia/Kathmandu",
    "Pacific/Chatham",
    "Mars/Olympus",
    "Europe/Zürich",
    "../etc/passwd",
    "/etc/localtime",
)


def taken_there(plane: ControlPlane, schedule: str, zone: str) -> bool:
    container = {"name": "main", "image": "none"}
    template = {"spec": {"containers": [container], "restartPolicy": "Never"}}
    spec = {"schedule": schedule, "timeZone": zone, "jobTemplate": {"spec": {"template": template}}}
    try:
        plane.api.create(PATH, {"metadata": {"name": "probe"}, "spec": spec})
    except ApiFailure:
        return False
    return True


def taken_here(schedule: str, zone: str) -> bool:
    return not isinstance(calendar(schedule, zone), WindowRefused)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_expression_is_taken_by_both_or_by_neither(
    control_plane: ControlPlane, expression: str
) -> None:
    assert taken_here(expression, "UTC") == taken_there(control_plane, expression, "UTC")


@pytest.mark.parametrize("zone", ZONES)
def test_a_time_zone_is_known_to_both_or_to_neither(control_plane: ControlPlane, zone: str) -> None:
    assert taken_here("0 8 * * *", zone) == taken_there(control_plane, "0 8 * * *", zone)


@pytest.mark.parametrize(
    ("expression", "here", "there"),
    [("@every 5m", False, True), ("0 0 30 2 *", False, True), ("0 0 * * 7", True, False)],
)
def test_where_we_differ_on_purpose(
    control_plane: ControlPlane, expression: str, here: bool, there: bool
) -> None:
    assert taken_here(expression, "UTC") is here
    assert taken_there(control_plane, expression, "UTC") is there
