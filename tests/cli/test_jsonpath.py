"""The JSONPath of `-o jsonpath=`: what people write for kubectl works; else it says where not."""

from __future__ import annotations

import pytest

from headroom.cli.formats.evaluate import filled_in, found_by, shown
from headroom.cli.formats.jsonpath import BadPath, parse_path, parse_template

LIST = {
    "items": [
        {
            "metadata": {"name": "a", "labels": {"app.kubernetes.io/name": "web", "n": "1"}},
            "spec": {"ttl": "1h", "ports": [80, 443, 8080]},
            "status": {
                "phase": "Available",
                "held": 3,
                "conditions": [
                    {"type": "Ready", "status": "True"},
                    {"type": "Degraded", "status": "False"},
                ],
            },
        },
        {"metadata": {"name": "b"}, "status": {"phase": "Pending", "held": 1, "on": True}},
    ]
}


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{.items[*].metadata.name}", "a b"),
        (".items[*].metadata.name", "a b"),
        ("{$.items[0].metadata.name}", "a"),
        ("{.items[-1:].metadata.name}", "b"),
        ("{.items[-1].metadata.name}", "b"),
        ("{.items[0].spec.ports[0:2]}", "80 443"),
        ("{.items[0].spec.ports[::2]}", "80 8080"),
        ("{.items[0].spec.ports[0,2]}", "80 8080"),
        ("{.items[0].spec.ports}", "[80,443,8080]"),
        ("{.items[0].metadata.labels}", '{"app.kubernetes.io/name":"web","n":"1"}'),
        (r"{.items[0].metadata.labels.app\.kubernetes\.io/name}", "web"),
        ("{.items[0].metadata.labels['app.kubernetes.io/name']}", "web"),
        ("{.items[0]['metadata', 'status']['name', 'phase']}", "a Available"),
        ("{..name}", "a b"),
        ("{.items[*]..type}", "Ready Degraded"),
        ('{.items[?(@.status.phase=="Pending")].metadata.name}', "b"),
        ("{.items[?(@.status.phase!='Pending')].metadata.name}", "a"),
        ("{.items[?(@.status.held >= 2)].metadata.name}", "a"),
        ("{.items[?(@.status.held<2)].metadata.name}", "b"),
        ("{.items[?(@.status.on==true)].metadata.name}", "b"),
        ("{.items[?(@.spec)].metadata.name}", "a"),
        ('{.items[0].status.conditions[?(@.type=="Ready")].status}', "True"),
        (
            '{range .items[*]}{.metadata.name}{"\\t"}{.status.phase}{"\\n"}{end}',
            "a\tAvailable\nb\tPending\n",
        ),
        ("{range .items[*]}[{.metadata.name}] {end}", "[a] [b] "),
        ("{range .items[*]}{range .spec.ports[*]}{@},{end};{end}", "80,443,8080,;;"),
        ("{range .items[*]}{.metadata.name} {$.items[0].metadata.name},{end}", "a a,b a,"),
        ("name: {.items[0].metadata.name}!", "name: a!"),
        ("{.items[0].metadata.name .items[1].metadata.name}", "ab"),
        ("{.nothing.here}", ""),
        ("{.items[9].metadata.name}", ""),
    ],
)
def test_a_template_is_filled_in_as_kubectl_does(template: str, text: str) -> None:
    assert filled_in(parse_template(template), LIST, LIST) == text


@pytest.mark.parametrize(
    ("template", "says"),
    [
        ("{.items[*}", "']' is expected"),
        ("{.items[x]}", "an index, a slice"),
        ("{.items[0:1:0]}", "an index, a slice"),
        ("{.items", "a closing } is missing"),
        ("{range .items[*]}x", "{range} without {end}"),
        ("x{end}", "{end} without {range}"),
        ("{.items[?(@.x=~'y')]}", "one comparison"),
        ("{.items[?(@.x==y)]}", "a number, true, false or a quoted text"),
        ("{.items[?(.x=='y')]}", "compares something of @"),
        ("{.items[?(@.x=='y' && @.z)]}", "one comparison"),
        ("{}{", "a path such as"),
        ("{range .items[*]}" * 30, "nested too deeply"),
        ("{!}", "a path such as"),
    ],
)
def test_what_is_not_understood_says_where(template: str, says: str) -> None:
    with pytest.raises(BadPath) as trouble:
        parse_template(template)
    assert says in str(trouble.value)
    assert "character" in str(trouble.value)


@pytest.mark.parametrize("text", [".metadata.name", "metadata.name", "{.metadata.name}"])
def test_a_path_may_be_written_with_braces_or_without(text: str) -> None:
    item = LIST["items"][0]
    assert [shown(each) for each in found_by(parse_path(text), item, item)] == ["a"]
