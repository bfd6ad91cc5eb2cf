"""Tables line up, documents keep their order."""

from __future__ import annotations

import json

import pytest

from headroom.cli.output import (
    MOST_TOGETHER,
    OutputFormat,
    columns,
    document,
    documents,
    objects,
    put_document,
)


def test_columns_line_up_and_an_empty_cell_is_a_dash() -> None:
    table = columns(("NAME", "NODE"), [("a", "general-0"), ("nightly", "")])
    assert table == "NAME      NODE\na         general-0\nnightly   -"


def test_a_table_without_rows_still_has_its_headings() -> None:
    assert columns(("NAME", "NODE"), []) == "NAME   NODE"


def test_json_keeps_the_order_it_is_given() -> None:
    assert document({"b": 1, "a": "ü"}, OutputFormat.JSON) == '{\n  "b": 1,\n  "a": "ü"\n}'


def test_yaml_documents_are_separated_as_kubectl_reads_them() -> None:
    assert documents([{"b": 1}, {"a": 2}]) == "b: 1\n---\na: 2\n"
    assert document({"b": 1, "a": 2}, OutputFormat.YAML) == "b: 1\na: 2\n"


def test_several_objects_are_a_list_and_one_is_itself() -> None:
    assert objects([{"kind": "Hold"}], OutputFormat.YAML) == "kind: Hold\n"
    assert objects([], OutputFormat.YAML) == "apiVersion: v1\nkind: List\nitems: []\n"


def test_json_is_indented_as_python_does_it() -> None:
    odd = {"empty": {}, "none": [], "in": [[], {"a": [1, 2.5, 1e300, -0.0]}], "text": 'ü"\\/\n'}
    assert document(odd, OutputFormat.JSON) == json.dumps(odd, indent=2, ensure_ascii=False)


def test_json_with_half_a_character_or_no_number_is_printed_all_the_same() -> None:
    assert document(["\ud83d"], OutputFormat.JSON) == '[\n  "\\ud83d"\n]'
    assert document([float("nan")], OutputFormat.JSON) == "[\n  NaN\n]"


def test_an_object_with_long_lists_is_printed_in_parts_with_the_same_text(
    capsys: pytest.CaptureFixture[str],
) -> None:
    many = [{"a": [n, "ü\n"]} for n in range(2 * MOST_TOGETHER + 1)]
    lists = {"none": [], "one": [1], "many": many}
    whole = {"text": "x", "ö": {"b": {}, "c": [1]}, **lists, "rest": None, "tail": (1, 2, 3)}
    for value in (whole, {"odd": ["a", "\ud83d"]}, {}):
        put_document(value, OutputFormat.JSON)
        assert capsys.readouterr().out == f"{document(value, OutputFormat.JSON)}\n"
    put_document(whole, OutputFormat.YAML)
    assert capsys.readouterr().out == document({**whole, "tail": [1, 2, 3]}, OutputFormat.YAML)
