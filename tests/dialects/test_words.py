"""Words of other systems mean something only in their dialect, and only while it is on."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import headroom
from headroom.cli.dialects import NAMES, chosen
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.holds import Hold
from headroom.core.objects import Pod
from headroom.dialects.proactive.names import OBJECT_NAME
from headroom.wire.kind_codecs import NATIVE, KindCodecs
from headroom.wire.kinds import HEADROOMS, HOLDS, PODS
from tests.dialects.words import foreign_keys
from tests.stories.things import headroom as headroom_json
from tests.stories.things import hold, pod

VALUES = ("true", "placeholder", "1", "{}")
SOURCES = Path(headroom.__file__).parent
FOREIGN = re.compile(r"[\"'](?:[a-z]+\.)?(?:koordinator\.sh|korder\.dev|karpenter\.azure\.com)/")


def worded(thing: dict[str, Any]) -> dict[str, Any]:
    """The thing with every foreign word that there is, on itself and on its template."""
    texts = {key: VALUES[number % len(VALUES)] for number, key in enumerate(foreign_keys())}
    texts.update({key: "true" for key in foreign_keys() if "ignored" in key or "-al" in key})
    metadata = {**thing["metadata"], "annotations": dict(texts), "uid": "u"}
    metadata["labels"] = {**metadata.get("labels", {}), **texts}
    return {**thing, "metadata": metadata}


def plain(read: Any) -> Any:
    """What was read, without the labels themselves: they are anybody's to select by."""
    assert isinstance(read, Pod | Hold | Headroom)
    return {
        name: getattr(read, name) for name in read.__dataclass_fields__ if name not in ("labels",)
    }


def test_there_are_words_of_every_system_that_has_some() -> None:
    domains = {key.split("/")[0] for key in foreign_keys()}
    assert {
        "scheduling.koordinator.sh",
        "pod.koordinator.sh",
        "node.koordinator.sh",
        "korder.dev",
        "karpenter.azure.com",
        "s3.csi.aws.com",
    } <= domains


def test_with_no_dialect_on_no_foreign_word_is_read() -> None:
    for resource, made in ((PODS, pod("p")), (HOLDS, hold("h")), (HEADROOMS, headroom_json("r"))):
        bare = {**made, "metadata": {**made["metadata"], "uid": "u"}}
        told = NATIVE.thing_from(resource, worded(made))
        assert plain(told) == plain(NATIVE.thing_from(resource, bare)), resource


@pytest.mark.parametrize("name", NAMES)
def test_a_dialect_does_not_read_the_words_of_another(name: str) -> None:
    alone = {key: value for key, value in _read(chosen([name])).items() if value}
    for other in set(NAMES) - {name}:
        told = {key: value for key, value in _read(chosen([other])).items() if value}
        assert not set(alone) & set(told), (name, other)


def _read(codecs: KindCodecs) -> dict[str, object]:
    read = codecs.thing_from(PODS, worded(pod("p", priority=-1000)))
    assert isinstance(read, Pod)
    return {
        "wish": read.wish.avoids_holds or read.wish.needs_hold,
        "spared": read.spared,
        "pre_allocatable": read.pre_allocatable is not None,
        "placeholder": read.placeholder,
        "requested": read.requested,
    }


def test_no_foreign_key_stands_where_things_are_decided() -> None:
    found = [
        str(path.relative_to(SOURCES))
        for part in ("core", "engine", "wire", "scheduling", "kube", "runtime", "webhook")
        for path in sorted((SOURCES / part).rglob("*.py"))
        if FOREIGN.search(path.read_text())
    ]
    assert found == []


@pytest.mark.parametrize("name", ["gold", "system-node-critical", "headroom-locked", ""])
def test_an_annotation_gives_nobody_a_priority_class(name: str) -> None:
    """Only the two classes that the operator itself writes there, both below every ordinary pod."""
    made = worded(headroom_json(OBJECT_NAME, mode="Preemptible"))
    made["metadata"]["labels"]["karpenter.azure.com/proactive-scaleup"] = "placeholder"
    made["metadata"]["annotations"] = {"headroom.dev/priority-class": name}
    read = chosen(["proactive"]).thing_from(HEADROOMS, made)
    assert isinstance(read, Headroom)
    assert read.slot.template is not None
    assert read.slot.template.priority_class == "karpenter-proactive-scaleup-placeholder"


def test_only_the_object_of_the_flags_stands_for_them() -> None:
    made = headroom_json("mine", mode="Preemptible")
    made["metadata"]["labels"] = {"karpenter.azure.com/proactive-scaleup": "placeholder"}
    read = chosen(["proactive"]).thing_from(HEADROOMS, made)
    assert isinstance(read, Headroom)
    assert read.slot.template is not None
    assert (read.slot.template.priority_class, read.slot.template.labels) == ("", ())


def test_a_pod_of_ordinary_priority_is_no_placeholder_whatever_its_label_says() -> None:
    labels = {"karpenter.azure.com/proactive-scaleup": "placeholder"}
    codecs = chosen(["proactive"])
    for priority, expected in ((0, False), (-1000, True)):
        made = pod("p", priority=priority)
        made["metadata"]["labels"] = labels
        read = codecs.thing_from(PODS, made)
        assert isinstance(read, Pod)
        assert read.placeholder is expected
