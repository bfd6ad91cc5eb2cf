"""The namespace and the classes of Mountpoint's helpers, where its chart was given other ones."""

from __future__ import annotations

import json

import pytest

from headroom.core.headrooms.headrooms import Headroom
from headroom.core.sizes.follow import Follow
from headroom.dialects.schedulinggate import scheduling_gate
from headroom.dialects.schedulinggate.names import BadNames, Names, read_names
from headroom.wire.kind_codecs import KindCodecs
from headroom.wire.kinds import HEADROOMS
from headroom.wire.manifests import Installation, install_objects

OTHER = "namespace=s3,helper-class=h,preempting-class=p,headroom-class=low"


def test_a_text_gives_the_names_and_is_given_back() -> None:
    names = read_names(OTHER)
    assert names == Names("s3", "h", "p", "low")
    assert names.text == OTHER
    assert read_names("") == Names()
    assert Names().text == ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("place=s3", "'place' is not known; known: namespace, helper-class"),
        ("namespace=S3", "namespace: "),
        ("headroom-class=", "headroom-class: "),
        ("helper-class=x,headroom-class=x", "must differ"),
    ],
)
def test_what_is_wrong_with_a_text_is_said(text: str, words: str) -> None:
    with pytest.raises(BadNames, match=words):
        read_names(text)


def test_everything_that_is_installed_follows_the_names() -> None:
    codecs = KindCodecs([scheduling_gate(read_names(OTHER))], image="example.com/pause:1")
    installed = install_objects(Installation("example.com/headroom:1", codecs=codecs))
    text = json.dumps(installed)
    assert "mount-s3" not in text
    assert "registry.k8s.io/pause" not in text
    made = {(each["kind"], each["metadata"]["name"]) for each in installed}
    wanted = {("Namespace", "s3"), *(("PriorityClass", name) for name in ("h", "p", "low"))}
    assert wanted <= made
    (deployment,) = [each for each in installed if each["kind"] == "Deployment"]
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert f"--mountpoint-names={OTHER}" in container["args"]
    assert "--pause-image=example.com/pause:1" in container["args"]
    policies = {
        each["metadata"]["name"]: json.dumps(each["spec"])
        for each in installed
        if each["kind"] == "ValidatingAdmissionPolicy"
    }
    for name in ("operator-pods.headroom.dev", "operator-daemonsets.headroom.dev"):
        assert "example.com/pause:1" in policies[name]
    assert "'low'" in policies["operator-pods.headroom.dev"]
    assert "s3/mountpoint" in policies["operator-headrooms.headroom.dev"]


def test_the_headroom_in_that_namespace_is_the_drivers_and_no_other() -> None:
    names = read_names(OTHER)
    codecs = KindCodecs([scheduling_gate(names)])
    (wish,) = [each for each in codecs.objects() if each["kind"] == "Headroom"]
    assert wish["metadata"]["namespace"] == "s3"
    followed = _size(codecs, wish)
    assert followed.marks is not None
    assert followed.marks.priority_class == "low"
    elsewhere = {**wish, "metadata": {**wish["metadata"], "namespace": "mount-s3"}}
    assert _size(codecs, elsewhere).marks is None


def _size(codecs: KindCodecs, wish: dict[str, object]) -> Follow:
    read = codecs.thing_from(HEADROOMS, wish)
    assert isinstance(read, Headroom)
    assert isinstance(read.size, Follow)
    return read.size
