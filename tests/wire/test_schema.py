"""What is wrong with a manifest is found before anything runs, and said with its path."""

from __future__ import annotations

from typing import Any

import pytest

from headroom.core.holds import Problem
from headroom.wire.schema.notation import (
    Catalogue,
    ListOf,
    MapOf,
    Scalar,
    SchemaRule,
    Struct,
    WordChoice,
    kubernetes,
    of,
    parse_type,
    parse_types,
)
from headroom.wire.schema.own import known
from headroom.wire.schema.structural import structural
from headroom.wire.schema.validation import check, type_of, validate
from headroom.wire.yamls import load

POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "labels": {"app": "web"}},
    "spec": {
        "containers": [
            {
                "name": "main",
                "image": "web:1",
                "resources": {"requests": {"cpu": "500m", "nvidia.com/gpu": 1, "memory": 1.5e9}},
                "ports": [{"containerPort": 80, "protocol": "TCP"}],
                "livenessProbe": {"httpGet": {"path": "/", "port": "http"}},
            }
        ],
        "tolerations": [{"operator": "Exists", "effect": "", "tolerationSeconds": 30}],
        "terminationGracePeriodSeconds": 0,
        "hostNetwork": None,
    },
}


def problems(text: str) -> list[str]:
    """Check the documents of a text against everything that is known."""
    return [str(error) for doc in load(text, "f.yaml") for error in check(doc, known())]


def pod_problems(**spec: Any) -> list[tuple[str, str]]:
    made = {**POD, "spec": {**POD["spec"], **spec}}
    return [(found.path, found.message) for found in validate(made, "Pod", kubernetes())]


def test_a_sound_pod_has_no_problems() -> None:
    assert pod_problems() == []


@pytest.mark.parametrize(
    ("notation", "meant"),
    [
        ("string", Scalar("string")),
        ("Container", Struct("Container")),
        ("[]{}quantity", ListOf(MapOf(Scalar("quantity")))),
        ("=A|B|", WordChoice(("A", "B", ""))),
    ],
)
def test_the_notation_reads_as_it_looks(notation: str, meant: object) -> None:
    assert parse_type(notation) == meant


def test_a_notation_that_means_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="'strnig' is no type"):
        parse_type("strnig")


@pytest.mark.parametrize(
    ("spec", "path", "says"),
    [
        ({"containrs": []}, "spec.containrs", "no such field; did you mean containers?"),
        ({"nodeselector": {}}, "spec.nodeselector", "did you mean nodeSelector?"),
        ({"zzz": 1}, "spec.zzz", "no such field"),
        ({"containers": None}, "spec.containers", "missing"),
        ({"containers": {}}, "spec.containers", "a list is expected, not an object"),
        ({"containers": ["x"]}, "spec.containers[0]", "an object is expected, not the string 'x'"),
        ({"containers": [{}]}, "spec.containers[0].name", "missing"),
        (
            {"nodeName": 7},
            "spec.nodeName",
            "a string is expected, not the number 7; put it in quotes",
        ),
        ({"nodeName": True}, "spec.nodeName", "yes, no, on and off mean true and false"),
        ({"hostNetwork": "true"}, "spec.hostNetwork", "true or false is expected"),
        ({"hostNetwork": ""}, "spec.hostNetwork", "true or false is expected"),
        ({"priority": "5"}, "spec.priority", "take the quotes off"),
        ({"priority": 1.5}, "spec.priority", "an integer is expected"),
        ({"priority": True}, "spec.priority", "an integer is expected"),
        ({"priority": 2**31}, "spec.priority", "out of range for int32"),
        ({"restartPolicy": "always"}, "spec.restartPolicy", "did you mean Always?"),
        ({"restartPolicy": "x"}, "spec.restartPolicy", "choose from Always, Never, OnFailure"),
        ({"nodeSelector": {"a.b/c": 1}}, "spec.nodeSelector[a.b/c]", "a string is expected"),
        ({"nodeSelector": []}, "spec.nodeSelector", "a map of values is expected"),
        ({"overhead": {"cpu": "-1"}}, "spec.overhead.cpu", "-1 is negative"),
        ({"overhead": {"cpu": -1}}, "spec.overhead.cpu", "-1 is negative"),
        ({"overhead": {"cpu": "1gb"}}, "spec.overhead.cpu", "is not a quantity"),
        ({"overhead": {"cpu": True}}, "spec.overhead.cpu", "a quantity (500m, 2, 1.5Gi)"),
        ({"overhead": {"cpu": None}}, "spec.overhead.cpu", "not nothing (null)"),
    ],
)
def test_what_is_wrong_is_named_with_its_path(spec: dict[str, Any], path: str, says: str) -> None:
    ((found, message),) = pod_problems(**spec)
    assert found == path
    assert says in message


def test_ports_may_be_numbers_or_names_but_nothing_else() -> None:
    probe = {"httpGet": {"port": 1.5}}
    container = {"name": "a", "livenessProbe": probe}
    ((path, message),) = pod_problems(containers=[container])
    assert path == "spec.containers[0].livenessProbe.httpGet.port"
    assert message == "an integer or a string is expected, not the number 1.5"


def test_all_problems_are_told_at_once_and_no_more_than_anybody_reads() -> None:
    assert [path for path, _ in pod_problems(containrs=1, hostPID=1)] == [
        "spec.containrs",
        "spec.hostPID",
    ]
    assert len(pod_problems(**{f"x{i}": 1 for i in range(500)})) == 100


def test_a_status_may_be_partial_but_its_fields_must_exist() -> None:
    node: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "a"},
        "status": {"nodeInfo": {"kubeletVersion": "v1"}, "capacity": {"cpu": 4}, "zzz": 1},
    }
    assert [found.path for found in validate(node, "Node", kubernetes())] == ["status.zzz"]


def test_times_and_bytes_are_checked() -> None:
    data = {"binaryData": {"a": "aGk=", "b": "*"}, "metadata": {"creationTimestamp": "today"}}
    assert [found.path for found in validate(data, "ConfigMap", kubernetes())] == [
        "binaryData.b",
        "metadata.creationTimestamp",
    ]


def test_documents_of_a_file_are_checked_with_their_lines() -> None:
    text = """\
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
    - name: main
      resources:
        requests:
          cpu: lots
---
apiVersion: v1
kind: Namespace
metadata:
  labels: {a: b}
"""
    first, second = problems(text)
    assert first.startswith(
        "f.yaml:9: document 1: spec.containers[0].resources.requests.cpu: 'lots' is not a quantity"
    )
    assert second == "f.yaml:13: document 2: metadata.name: missing: every object needs a name"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("kind: Pod\n", "apiVersion: missing: every object says its apiVersion and kind"),
        ("apiVersion: v1\n", "kind: missing"),
        ("apiVersion: v1\nkind: 5\n", "f.yaml:2: document 1: kind: missing"),
        ("apiVersion: v1\nkind: Deployment\n", "did you mean apps/v1/Deployment?"),
        ("apiVersion: v1\nkind: Pods\n", "v1/Pods is not a kind that is known here; did you mean"),
        ("apiVersion: example.com/v1\nkind: Order\n", "known are ClaimIndex, ConfigMap"),
        ("apiVersion: x/v1\nkind: Zebra\n", "known are ClaimIndex, ConfigMap, DaemonSet"),
    ],
)
def test_kinds_that_nobody_knows_are_refused(text: str, says: str) -> None:
    (error,) = problems(text)
    assert says in error


def test_a_generated_name_is_a_name() -> None:
    assert problems("{apiVersion: v1, kind: Namespace, metadata: {generateName: a-}}") == []


def test_every_type_that_is_named_is_there() -> None:
    catalogue = known()

    def named(wanted: object) -> list[str]:
        match wanted:
            case ListOf(inner) | MapOf(inner):
                return named(inner)
            case Struct(name):
                return [name]
        return []

    fields = [field for fields in catalogue.types.values() for field in fields.values()]
    missing = {name for field in fields for name in named(field.type)} - catalogue.types.keys()
    assert not missing
    assert not set(catalogue.kinds.values()) - catalogue.types.keys()


def by_hand() -> Catalogue:
    """A schema as somebody else would write one."""
    types = {
        **parse_types({"Story": {"apiVersion": "string", "kind": "string", "spec": "StorySpec!"}}),
        "StorySpec": {
            "until": of("duration", "How long it lasts."),
            "seed": of("int64", minimum=0),
            "pools": of("[]Pool", minItems=1, maxItems=2),
            "objects": of("[]any"),
            "where": of("object"),
        },
        "Pool": {
            "name": of("string!", pattern="^[a-z]+$", maxLength=5),
            "count": of("int32", maximum=10),
            "price": of("number"),
        },
    }
    both = SchemaRule(
        "has(self.seed) || has(self.until)",
        "set seed or until",
        lambda spec: "seed" in spec or "until" in spec,
    )
    return Catalogue(types, {"x/v1/Story": "Story"}, {"StorySpec": (both,)})


@pytest.mark.parametrize(
    ("spec", "wrong"),
    [
        ({"until": "10m", "objects": [1, "a", {}], "where": {"a.b": 1}}, []),
        ({"seed": 0, "pools": [{"name": "a", "price": 0.5}]}, []),
        ({}, [("spec", "set seed or until")]),
        ({"seed": None, "until": None}, [("spec", "set seed or until")]),
        ({"until": "banana"}, [("spec.until", "is not a duration")]),
        ({"until": "-5s"}, [("spec.until", "-5s is negative")]),
        ({"until": 5}, [("spec.until", "5 has no unit; write for example 5s")]),
        ({"until": []}, [("spec.until", "a duration such as 90s")]),
        ({"seed": -1}, [("spec.seed", "-1 is below 0")]),
        ({"seed": 1, "pools": []}, [("spec.pools", "at least 1 items needed, 0 given")]),
        ({"seed": 1, "pools": [{"name": "a"}] * 3}, [("spec.pools", "at most 2 items allowed")]),
        ({"seed": 1, "pools": [{"name": "A"}]}, [("spec.pools[0].name", "it must match")]),
        ({"seed": 1, "pools": [{"name": "abcdef"}]}, [("spec.pools[0].name", "at most 5 char")]),
        ({"seed": 1, "pools": [{"name": "a", "count": 11}]}, [("spec.pools[0].count", "above 10")]),
        ({"seed": 1, "where": []}, [("spec.where", "an object is expected, not a list")]),
        (
            {"seed": 1, "pools": [{"name": "a", "price": "1"}]},
            [("spec.pools[0].price", "a number")],
        ),
    ],
)
def test_a_schema_written_by_hand_is_checked_alike(
    spec: dict[str, Any], wrong: list[tuple[str, str]]
) -> None:
    found = validate({"apiVersion": "x/v1", "kind": "Story", "spec": spec}, "Story", by_hand())
    assert [problem.path for problem in found] == [path for path, _ in wrong]
    assert all(says in problem.message for problem, (_, says) in zip(found, wrong, strict=True))


def test_a_catalogue_grows_without_changing_the_old_one() -> None:
    grown = kubernetes().extended(by_hand().types, by_hand().kinds)
    assert type_of({"apiVersion": "x/v1", "kind": "Story"}, grown) == "Story"
    assert isinstance(type_of({"apiVersion": "x/v1", "kind": "Story"}, kubernetes()), Problem)


def test_a_structural_schema_says_the_same_in_the_words_of_openapi() -> None:
    schema = structural("Story", by_hand())
    spec = schema["properties"]["spec"]
    assert schema["required"] == ["spec"]
    assert spec["properties"]["pools"]["minItems"] == 1
    assert spec["properties"]["pools"]["items"]["properties"]["count"] == {
        "type": "integer",
        "format": "int32",
        "maximum": 10,
    }
    assert spec["x-kubernetes-validations"] == [
        {"rule": "has(self.seed) || has(self.until)", "message": "set seed or until"}
    ]
