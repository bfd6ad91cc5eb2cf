"""The page of an operator on a real control plane: live, and with rights where it is open."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from testbed.browser import Browser, Page
from testbed.controlplane import ControlPlane
from tests.dashboard.fixtures import browser as browser
from tests.dashboard.looking import assert_well
from tests.dashboard.terminal import terminal
from tests.e2e.installing import until
from tests.e2e.test_cli import Running, headroom

pytestmark = pytest.mark.e2e
WHY = "document.querySelector('#login-why').innerText"
DETAILS = "document.querySelector('#details-area').innerText"
REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
OURS, OTHERS = "dash-shop", "dash-bank"
HEADROOMS = "/apis/headroom.dev/v1alpha1/namespaces/{}/headrooms"


@dataclass(frozen=True)
class Served:
    plane: ControlPlane
    local: str
    exposed: str

    def token(self, account: str) -> str:
        return self.plane.kubectl("-n", OURS, "create", "token", account).strip()


@contextmanager
def operator(plane: ControlPlane, address: str) -> Iterator[Running]:
    """An operator whose page listens at an address; the second one stands by and shows it too."""
    command = [sys.executable, "-m", "headroom", "run", "--http", address, "--price", "*=1"]
    environment = {**os.environ, "HEADROOM_KUBECONFIG": str(plane.kubeconfig)}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        running = Running(process)
        try:
            running.address = str(running.wait_for_log("http_listening")["address"])
            running.wait_for_log("synced")
            yield running
        finally:
            process.terminate()
            process.communicate()


def headroom_object(namespace: str) -> dict[str, object]:
    return {
        "apiVersion": "headroom.dev/v1alpha1",
        "kind": "Headroom",
        "metadata": {"name": "spare", "namespace": namespace},
        "spec": {
            "slot": {"template": {"resources": {"requests": {"cpu": "50m"}}}},
            "size": {"replicas": 2},
            "owners": [{"labelSelector": {"matchLabels": {"app": "web"}}}],
        },
    }


@pytest.fixture(scope="module")
def served(control_plane: ControlPlane) -> Iterator[Served]:
    plane = control_plane
    flags = ("--image", "headroom:test", "--no-policy", "--dashboard")
    done = headroom(plane.kubeconfig, "install", *flags)
    assert done.returncode == 0, done.stderr
    for name in (OURS, OTHERS):
        plane.kubectl("create", "namespace", name)
    for account in ("tenant", "admin", "nobody"):
        plane.kubectl("-n", OURS, "create", "serviceaccount", account)
    whole = ("--clusterrole=cluster-admin", f"--serviceaccount={OURS}:admin")
    plane.kubectl("create", "clusterrolebinding", "dash-admin", *whole)
    part = ("--clusterrole=view", f"--serviceaccount={OURS}:tenant")
    plane.kubectl("-n", OURS, "create", "rolebinding", "looks", *part)
    with operator(plane, "127.0.0.1:0") as leader, operator(plane, "0.0.0.0:0") as standby:
        port = str(standby.address).rpartition(":")[2]
        yield Served(plane, f"http://{leader.address}/", f"http://127.0.0.1:{port}/")
    plane.kubectl("delete", "namespace", OURS, OTHERS, "--wait=false")
    plane.kubectl("delete", "clusterrolebinding", "dash-admin")
    gone = headroom(plane.kubeconfig, "uninstall")
    assert gone.returncode == 0, gone.stderr
    left = plane.kubectl("get", "clusterroles", "-o", "name")
    assert "headroom-token-reviews" not in left


def row(namespace: str) -> str:
    return f"document.querySelector('[data-row=\"Headroom/{namespace}/spare\"]')"


def test_a_headroom_appears_is_held_is_explained_and_goes_while_one_looks(
    served: Served, browser: Browser
) -> None:
    path = HEADROOMS.format(OURS)
    with browser.page(served.local) as page:
        page.until("document.documentElement.dataset.connection === 'live'")
        page.until("document.querySelectorAll('[data-node]').length === 3")
        served.plane.api.create(path, headroom_object(OURS))
        page.until(f"{row(OURS)}?.cells[4].innerText === '2'")
        page.until("document.querySelector('#cost-area').innerText.includes('per hour')")
        page.until("document.querySelector('#summary').innerText.includes('2 of 2')")
        page.until("!!document.querySelector('#timeline svg .line.held')")
        page.click(f'[data-object="Headroom/{OURS}/spare"]')
        page.until(f"{DETAILS}.includes('wants 2')")
        page.key("Escape")
        page.until("!document.querySelector('#details').open")
        held = page.eval(
            "[...document.querySelectorAll('.node .held')].findIndex(b => b.offsetWidth > 0)"
        )
        page.eval(f"document.querySelectorAll('[data-node]')[{held}].click()")
        page.until(
            "document.querySelector('#details-area').innerText.includes('Headroom/dash-shop/spare')"
        )
        page.key("Escape")
        assert_well(page)
        served.plane.api.delete(f"{path}/spare")
        page.until(f"{row(OURS)} === null")
        assert_well(page)


def log_in(page: Page, token: str) -> None:
    page.until("!document.querySelector('#login').hidden")
    page.eval(f"document.querySelector('#token').value = {json.dumps(token)}")
    page.click("#login button")


def test_an_exposed_page_shows_each_token_what_its_rights_allow(
    served: Served, browser: Browser
) -> None:
    for namespace in (OURS, OTHERS):
        served.plane.api.create(HEADROOMS.format(namespace), headroom_object(namespace))
    try:
        with browser.page(served.exposed) as page:
            log_in(page, "forged")
            page.until(f"{WHY}.includes('not one of the')")
            log_in(page, served.token("nobody"))
            page.until(
                "document.querySelector('#login-why').innerText.includes('may list neither')"
            )
            log_in(page, served.token("tenant"))
            page.until(f"{row(OURS)} !== null")
            assert page.eval(f"{row(OTHERS)} === null")
            assert OTHERS not in page.text("body")
            assert "the timeline" in page.text("#hidden")
            page.until(f"{row(OURS)}?.cells[4].innerText === '2'")
            page.choose("#pod", "spare")
            page.click("#find button")
            page.until("document.querySelectorAll('#pod-area [data-object]').length === 2")
            assert OTHERS not in page.text("#pod-area")
            refused = ("401 (Unauthorized)", "403 (Forbidden)")
            page.errors[:] = [each for each in page.errors if not any(r in each for r in refused)]
            assert_well(page)
        with browser.page(served.exposed) as page:
            log_in(page, served.token("admin"))
            page.until(f"{row(OURS)} !== null && {row(OTHERS)} !== null")
            page.until("document.querySelectorAll('[data-node]').length === 3")
    finally:
        for namespace in (OURS, OTHERS):
            served.plane.api.delete(f"{HEADROOMS.format(namespace)}/spare")


def test_the_installed_account_may_review_tokens_and_nothing_more_than_that(served: Served) -> None:
    account = "system:serviceaccount:headroom-system:headroom-operator"

    def may(group: str, plural: str, part: str = "") -> bool:
        wanted = {"verb": "create", "group": group, "resource": plural, "subresource": part}
        spec = {"user": account, "resourceAttributes": wanted}
        return bool(served.plane.api.create(REVIEWS, {"spec": spec})["status"]["allowed"])

    until("tokens may be reviewed", lambda: may("authentication.k8s.io", "tokenreviews"))
    until("rights may be reviewed", lambda: may("authorization.k8s.io", "subjectaccessreviews"))
    assert not may("", "pods", "portforward")


def test_top_draws_nodes_live_and_follows_the_size_of_the_window(served: Served) -> None:
    path = HEADROOMS.format(OURS)
    with terminal(served.plane.kubeconfig, "top", "-w", "--sort", "name", columns=50) as screen:
        screen.until("cluster")
        screen.until("█")
        served.plane.api.create(path, headroom_object(OURS))
        try:
            screen.until("░")
            before = len(screen.seen)
            screen.resize(120)
            screen.until("held 3 nodes", since=before)
        finally:
            served.plane.api.delete(f"{path}/spare")
