"""Files are read as kubectl reads them, and what is wrong in them is told with its line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headroom.wire.yamls import Document, ManifestError, dump, dump_all, load


def value(text: str) -> Any:
    """Read one plain value the way a manifest holds it."""
    return load(f"it: {text}\n", "f.yaml")[0].data["it"]


@pytest.mark.parametrize(
    "text", ["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"]
)
def test_these_words_are_true(text: str) -> None:
    assert value(text) is True


@pytest.mark.parametrize(
    "text", ["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"]
)
def test_these_words_are_false(text: str) -> None:
    assert value(text) is False


@pytest.mark.parametrize("text", ["", "~", "null", "Null", "NULL"])
def test_these_words_are_nothing(text: str) -> None:
    assert value(text) is None


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("12", 12),
        ("-3", -3),
        ("+3", 3),
        ("0644", 0o644),
        ("0o17", 15),
        ("0x1F", 31),
        ("0b101", 5),
        ("-0b101", -5),
        ("1_000", 1000),
        ("1e3", 1000),
        ("3.0", 3),
        ("0899", 899),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1.e2", 100),
        ("-2.5e-1", -0.25),
        ("9223372036854775807", 2**63 - 1),
        ("18446744073709551615", 2.0**64),
        ("1e21", 1e21),
    ],
)
def test_these_words_are_numbers(text: str, number: float) -> None:
    read = value(text)
    assert read == number
    assert type(read) is type(number)


@pytest.mark.parametrize(
    "text",
    ["1:30", "2027-01-04", "2027-01-04T07:55:00Z", "1.2.3", "100m", "1Gi", "0x", "yep", "nO"],
)
def test_everything_else_stays_a_word(text: str) -> None:
    assert value(text) == text


@pytest.mark.parametrize("text", ["'yes'", '"0644"', "!!str 12", "'1e3'"])
def test_what_is_quoted_stays_a_word(text: str) -> None:
    assert isinstance(value(text), str)


def test_names_of_fields_become_text_as_kubectl_writes_it() -> None:
    (document,) = load("{n: 1, yes: 2, 0x10: 3, 'n': 4, 1.5: 5}", "f.yaml")
    assert document.data == {"false": 1, "true": 2, "16": 3, "n": 4, "1.5": 5}


def test_many_documents_keep_their_number_and_line() -> None:
    text = "# nothing\n---\nkind: A\n---\n# only a comment\n---\n\nkind: B\n"
    found = [(document.index, document.line, document.data) for document in load(text, "f.yaml")]
    assert found == [(1, 3, {"kind": "A"}), (3, 8, {"kind": "B"})]


def test_an_empty_file_has_no_documents() -> None:
    assert load("", "f.yaml") == []
    assert load("---\n# nothing\n", "f.yaml") == []


def test_the_line_of_a_field_is_found_by_its_path() -> None:
    text = "a:\n  b:\n    - x: 1\n    - y: 2\n      z: 3\n  'c.d/e': 4\n"
    (document,) = load(text, "f.yaml")
    assert document.line_of("a.b[1].z") == 5
    assert document.line_of("a[c.d/e]") == 6
    assert document.line_of("a.b[1].missing.deeper") == 4
    assert document.line_of("nowhere") == 1


def test_the_error_of_a_field_names_file_line_document_and_path() -> None:
    document = load("---\na: 1\n---\na:\n  b: 2\n", "dir/f.yaml")[1]
    trouble = document.error("a.b", "must be\n  a word")
    assert str(trouble) == "dir/f.yaml:5: document 2: a.b: must be a word"
    assert trouble.exit_code == 2


def test_lists_are_taken_apart() -> None:
    text = """
apiVersion: v1
kind: List
items:
  - {apiVersion: v1, kind: Pod, metadata: {name: a}}
  - apiVersion: v1
    kind: PodList
    items:
      - metadata:
          name: b
"""
    first, second = load(text, "f.yaml")
    assert first.data["metadata"] == {"name": "a"}
    assert second.data == {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "b"}}
    assert (second.prefix, second.line) == ("items[1].items[0]", 9)
    assert second.line_of("metadata.name") == 10
    assert second.error("metadata.name", "no").path == "items[1].items[0].metadata.name"


def test_an_object_that_merely_has_items_is_left_whole() -> None:
    (document,) = load("kind: Thing\nitems: [1]\n", "f.yaml")
    assert document.data["items"] == [1]


def test_anchors_and_merges_work_and_what_is_written_out_wins() -> None:
    text = "base: &b {x: 1, v: 2}\nmade: {v: 3, <<: *b}\nboth: {<<: [*b, {v: 9, z: 8}]}\nsame: *b\n"
    (document,) = load(text, "f.yaml")
    assert document.data["made"] == {"x": 1, "v": 3}
    assert document.data["both"] == {"x": 1, "v": 2, "z": 8}
    assert document.data["same"] == {"x": 1, "v": 2}


def test_json_is_read_with_its_lines() -> None:
    text = '{"a": {\n\t"b": [1,\n2e0, "\\ud83d\\ude00"]}}\n\n{"c":\n 1.5}'
    first, second = load(text, "f.json")
    assert first.data == {"a": {"b": [1, 2.0, "\U0001f600"]}}
    assert (second.index, second.line, second.data) == (2, 5, {"c": 1.5})
    assert second.line_of("c") == 5
    (document,) = load('{"a": {\n"b": [1,\n2]}}', "f.json")
    assert document.line_of("a.b[1]") == 3


def refusal(text: str) -> ManifestError:
    with pytest.raises(ManifestError) as caught:
        load(text, "f.yaml")
    return caught.value


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("a: 1\nb: {c: 1, c: 2}\n", 2, "b.c: written twice; keep one of them"),
        ('{"a": 1,\n "a": 2}', 2, "a: written twice"),
        ("n: 1\nno: 2\n", 2, "false: written twice"),
        ("a: 1\n---\nb: [1\n", 4, "document 2: not YAML: "),
        ("a: b: c\n", 1, "not YAML: mapping values are not allowed"),
        ("- 1\n- 2\n", 1, "not an object"),
        ("just words\n", 1, "not an object"),
        ("a: .inf\n", 1, "a: .inf has no form in JSON"),
        ("a: !!python/name:os.system x\n", 1, "is not understood"),
        ("a: !!binary aGk=\n", 1, "is not understood"),
        ("a: &x\n  b: *x\n", 1, "a.b: an alias that contains itself"),
        ("a: *nobody\n", 1, "undefined alias"),
        ("a:\n  ? [x]\n  : 1\n", 2, "the name of a field must be a string"),
        ("~: 1\n", 1, "must not be null"),
        ("kind: List\nitems:\n  - 1\n", 3, "items[0]: not an object"),
        ("a: {<<: 1}\n", 1, "<< takes a mapping"),
    ],
)
def test_what_cannot_be_taken_is_told_in_one_line(text: str, line: int, says: str) -> None:
    trouble = refusal(text)
    assert trouble.line == line
    assert says in str(trouble)
    assert "\n" not in str(trouble)


def test_aliases_that_multiply_are_stopped() -> None:
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)]
    assert "more than 5000000 values" in str(refusal("\n".join(rows)))


def test_deep_nesting_is_refused_and_does_not_crash() -> None:
    assert "nested too deeply" in str(refusal("a: " + "[" * 3000 + "]" * 3000))


WORDS = st.one_of(
    st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=20),
    st.from_regex(r"[-+]?[0-9._xob]{1,5}([eE][-+]?[0-9]+)?", fullmatch=True),
    st.sampled_from(["y", "n", "yes", "on", "~", "null", "0o17", "1:30", "<<", "2027-01-04"]),
)
VALUES = st.recursive(
    st.one_of(WORDS, st.booleans(), st.none(), st.integers(-(2**63), 2**63 - 1)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=3)),
    max_leaves=8,
)


@example([{"a": "\x85 \u2028 \u2029 \ufeff", "b\nc": "\r\n", "d": " \n ", "\t": "\x7f"}])
@given(st.lists(st.dictionaries(WORDS, VALUES, max_size=4), max_size=3))
def test_what_we_write_is_read_back_the_same(objects: list[dict[str, Any]]) -> None:
    objects = [{"kind": "Thing", **{k: v for k, v in o.items() if k != "kind"}} for o in objects]
    assert [document.data for document in load(dump_all(objects), "f.yaml")] == objects
    as_json = "\n".join(json.dumps(item) for item in objects)
    assert [document.data for document in load(as_json, "f.json")] == objects


PIECES = (
    *("a: ", "- ", "{", "}", "[", "]", ":", "---\n", "\n", "  ", "&x ", "*x", "!!str ", "'", '"'),
    *("|", "\t", "#", "<<: ", "? ", "\x00", "\ud800", "1e999", ".nan", '{"a":', "%"),
    "kind: List\nitems: ",
)


@given(st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=25).map("".join)))
def test_whatever_the_file_holds_it_is_read_or_refused_in_one_line(text: str) -> None:
    try:
        documents, said = load(text, "f.yaml"), ""
    except ManifestError as trouble:
        documents, said = [], str(trouble)
    assert "\n" not in said
    assert all(isinstance(document.data, dict) for document in documents)
    assert all(document.line >= 1 for document in documents)


def test_words_that_kubectl_misreads_are_quoted_and_long_texts_are_blocks() -> None:
    assert dump({"a": "y", "b": "0o17", "c": ["two\nlines\n"]}) == (
        "a: 'y'\nb: '0o17'\nc:\n- |\n  two\n  lines\n"
    )


def test_a_byte_order_mark_is_no_matter() -> None:
    assert [d.data for d in load("\ufeff{a: 1}", "f.yaml")] == [{"a": 1}]
    assert isinstance(load('\ufeff{"a": 1}', "f.json")[0], Document)
