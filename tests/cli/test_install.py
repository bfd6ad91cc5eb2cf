"""What would be installed, printed; every kind of it has a path."""

from __future__ import annotations

import pytest

from headroom.cli.installation.object_client import path_of
from headroom.wire.manifests import Installation, install_objects
from headroom.wire.yamls import load
from tests.cli.commands import headroom


def kinds(text: str) -> list[str]:
    return [str(item.data["kind"]) for item in load(text, "stdout")]


def test_a_dry_run_prints_everything_and_touches_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    finished = headroom(capsys, "install", "--dry-run", "--kubeconfig", "/nonexistent")
    assert finished.code == 0
    printed = kinds(finished.out)
    assert printed[0] == "CustomResourceDefinition"
    assert {"PriorityClass", "ClusterRole", "Deployment", "MutatingAdmissionPolicy"} <= set(printed)


def test_the_policy_can_be_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    finished = headroom(capsys, "install", "--dry-run", "--no-policy")
    assert "MutatingAdmissionPolicy" not in kinds(finished.out)


def test_the_webhook_comes_when_it_is_asked_for_and_goes_unasked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    kind = "MutatingWebhookConfiguration"
    assert kind not in kinds(headroom(capsys, "install", "--dry-run").out)
    assert kinds(headroom(capsys, "install", "--dry-run", "--webhook").out)[-1] == kind
    assert kind in kinds(headroom(capsys, "uninstall", "--dry-run").out)


def test_the_image_and_the_namespace_are_those_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    finished = headroom(
        capsys, "install", "--dry-run", "--image", "mine/headroom:7", "-n", "capacity"
    )
    deployment = next(
        item.data for item in load(finished.out, "stdout") if item.data["kind"] == "Deployment"
    )
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    assert (deployment["metadata"]["namespace"], container["image"]) == (
        "capacity",
        "mine/headroom:7",
    )


def test_every_object_of_an_installation_has_a_path() -> None:
    for item in install_objects(Installation(image="x", webhook=True)):
        assert path_of(item).endswith(f"/{item['metadata']['name']}")


def test_uninstalling_keeps_holds_and_the_namespace_unless_asked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    kept = kinds(headroom(capsys, "uninstall", "--dry-run").out)
    assert not {"Namespace", "CustomResourceDefinition"} & set(kept)
    everything = kinds(headroom(capsys, "uninstall", "--dry-run", "--crds").out)
    assert everything[-1] == "CustomResourceDefinition"
    assert "Namespace" not in everything


def test_the_crds_are_printed_for_kubectl(capsys: pytest.CaptureFixture[str]) -> None:
    finished = headroom(capsys, "crds")
    assert finished.code == 0
    assert set(kinds(finished.out)) == {"CustomResourceDefinition"}


def test_an_unknown_dialect_is_misuse(capsys: pytest.CaptureFixture[str]) -> None:
    finished = headroom(capsys, "crds", "--dialect", "klingon")
    assert finished.code == 2
    assert "klingon" in finished.err


def test_names_of_mountpoint_go_with_its_dialect_only(capsys: pytest.CaptureFixture[str]) -> None:
    flag = "--mountpoint-names=namespace=s3"
    refused = headroom(capsys, "install", "--dry-run", flag)
    assert (refused.code, "goes with --dialect schedulinggate" in refused.err) == (2, True)
    wrong = headroom(capsys, "install", "--dry-run", "--dialect", "schedulinggate", f"{flag},x=y")
    assert (wrong.code, "'x' is not known" in wrong.err) == (2, True)


def test_a_pause_image_that_is_none_is_misuse(capsys: pytest.CaptureFixture[str]) -> None:
    refused = headroom(capsys, "install", "--dry-run", "--pause-image", "no image")
    assert (refused.code, "--pause-image" in refused.err) == (2, True)


def operator_arguments(text: str) -> list[str]:
    found = (item.data for item in load(text, "stdout") if item.data["kind"] == "Deployment")
    arguments: list[str] = next(found)["spec"]["template"]["spec"]["containers"][0]["args"]
    return arguments


def test_flags_of_run_after_two_dashes_go_to_the_operator(
    capsys: pytest.CaptureFixture[str],
) -> None:
    flags = ("--most-slots", "50", "--allow-cross-namespace-owners", "--namespace-limits=slots=3")
    finished = headroom(capsys, "install", "--dry-run", "--", *flags)
    assert finished.code == 0, finished.err
    assert set(operator_arguments(finished.out)[-3:]) == {
        "--most-slots=50",
        "--allow-cross-namespace-owners",
        "--namespace-limits=slots=3",
    }
    ahead = ("--dialect", "proactive", "--", "--pod-injection-limit", "100")
    finished = headroom(capsys, "install", "--dry-run", *ahead)
    assert operator_arguments(finished.out)[-1] == "--pod-injection-limit=100"


def test_a_flag_of_run_that_is_given_twice_is_written_twice(
    capsys: pytest.CaptureFixture[str],
) -> None:
    flags = ("--price", "gpu=3", "--pool-label", "pool", "--price", "*=0.2")
    finished = headroom(capsys, "install", "--dry-run", "--", *flags)
    assert finished.code == 0, finished.err
    wanted = ["--price=gpu=3", "--price=*=0.2", "--pool-label=pool"]
    assert operator_arguments(finished.out)[-3:] == wanted


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--most-slots", "0"), "--most-slots"),
        (("--no-such-flag",), "--no-such-flag"),
        (("word",), "word"),
        (("--namespace-limits", "slots=many"), "slots"),
        (("--dialect", "korder"), "before --"),
        (("--http", ":1"), "has its own"),
        (("--enable-proactive-scaleup",), "--dialect proactive"),
        (("--pod-injection-limit", "few"), "--pod-injection-limit"),
        (("--price", "cheap"), "POOL=PRICE"),
        (("--price-file", "prices.yaml"), "no such file"),
    ],
)
def test_flags_that_run_would_refuse_are_refused_before_anything_is_done(
    capsys: pytest.CaptureFixture[str], flags: tuple[str, ...], said: str
) -> None:
    finished = headroom(capsys, "install", "--dry-run", "--", *flags)
    assert (finished.code, finished.out) == (2, "")
    assert said in finished.err
