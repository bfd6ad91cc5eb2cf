"""Supported versions of Kubernetes: the table, what a cluster is asked, and the page about it."""

from __future__ import annotations

import pytest

from headroom.kube.client import Client, Tuning
from headroom.kube.features import Abilities, abilities
from headroom.kube.versions import FEATURES, SUPPORTED, Version, read_version, trouble_with
from testbed.recipes import KUBERNETES
from tests.kube.fakeapi import FakeApi, Reply, refusal, run
from tools import tried
from tools.versions import PAGE, page

ADMISSION = "/apis/admissionregistration.k8s.io/v1"
BOTH = ("mutatingadmissionpolicies", "validatingadmissionpolicies")


def listed(*names: str) -> Reply:
    return Reply(body={"resources": [{"name": name, "kind": "X"} for name in names]})


async def found_by(api: FakeApi, kubernetes: str) -> Abilities:
    client = Client(api.access(), Tuning(attempts=1))
    try:
        return await abilities(client, kubernetes)
    finally:
        await client.close()


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("v1.33.13", Version(1, 33)),
        ("v1.35.2-gke.1300", Version(1, 35)),
        ("1.37", Version(1, 37)),
        ("v1.34+", Version(1, 34)),
        ("latest", None),
        ("v1", None),
        ("", None),
    ],
)
def test_versions_are_read_as_vendors_write_them(said: str, version: Version | None) -> None:
    assert read_version(said) == version


def test_an_unsupported_version_is_said_with_those_that_are() -> None:
    assert all(not trouble_with(version) for version in SUPPORTED)
    assert "1.32 is older than what is supported: 1.33 to 1.37" in trouble_with(Version(1, 32))
    assert "1.38 is newer" in trouble_with(Version(1, 38))
    assert "cannot be read" in trouble_with(None)


def test_what_the_cluster_lists_is_believed_and_the_rest_follows_from_its_version() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script(ADMISSION, listed(*BOTH), listed(BOTH[1]))
            api.script("/api/v1", listed("pods", "pods/resize"), listed("pods"))
            newest = await found_by(api, "v1.37.0")
            assert newest.named(False) == []
            switched_off = await found_by(api, "v1.37.0")
            assert switched_off.named(False) == ["mutating-policy", "resize"]

    run(main())


def test_a_cluster_that_hides_its_lists_is_judged_by_its_version() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script(ADMISSION, refusal(403))
            api.script("/api/v1", Reply(body={"resources": 7}))
            oldest = await found_by(api, "v1.33.13")
            assert oldest.named(False) == [
                "mutating-policy",
                "kept-nominations",
                "pod-level-resources",
            ]
            assert oldest.trouble == ""

    run(main())


def test_every_supported_version_has_a_recipe_and_no_other() -> None:
    assert [str(version) for version in SUPPORTED] == list(KUBERNETES)


def test_the_page_is_that_of_the_code() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m tools.versions"
    assert all(f"`{feature.name}`" in page() for feature in FEATURES)


def test_runs_that_passed_are_written_down_and_read_again() -> None:
    one = tried.Tried("v1.37.0", '-m "every_version and e2e"', 14, 1, "2026-11-17")
    two = tried.Tried("v1.33.13", "tests/stories -k real", 3, 0, "2026-11-17")
    assert tried.read(tried.written([one, two])) == [two, one]
    assert tried.read("") == []


def test_a_report_is_counted_by_outcome() -> None:
    report = """<testsuites><testsuite><testcase name="a"/><testcase name="b"><skipped/></testcase>
    <testcase name="c"><failure/></testcase><testcase name="d"><error/></testcase></testsuite>
    </testsuites>"""
    assert tried.counted(report) == (1, 1, 2)
