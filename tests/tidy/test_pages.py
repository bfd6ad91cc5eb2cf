"""What users read: manifests that pass every check, and no lists of our tests."""

from __future__ import annotations

import re

import pytest

from headroom.cli.dialects import NAMES, chosen
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.holds import Hold
from headroom.wire.schema.validation import check
from headroom.wire.yamls import Document, load
from tests.tidy.tree import ROOT

USERS = ("tutorial", "guides", "concepts", "operating", "reference")
BLOCK = re.compile(r"^```yaml\n(.*?)^```", re.M | re.S)
CODECS = chosen(NAMES)
KINDS = {(kind.api_version, kind.kind): kind for kind in CODECS.resources}


def pages() -> list[str]:
    files = [path for folder in USERS for path in (ROOT / "docs" / folder).glob("*.md")]
    return sorted(str(path.relative_to(ROOT)) for path in [*files, ROOT / "README.md"])


def manifests(page: str) -> list[Document]:
    """The objects of ours and of dialects that a page shows whole."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = [
        document
        for block in BLOCK.findall(text)
        if block.startswith(("apiVersion:", "---"))
        for document in load(block, page)
    ]
    return [each for each in found if _kind(each) in KINDS]


def _kind(document: Document) -> tuple[str, str]:
    return str(document.data.get("apiVersion")), str(document.data.get("kind"))


@pytest.mark.parametrize("page", pages())
def test_every_manifest_of_a_page_is_valid(page: str) -> None:
    catalogue = CODECS.catalogue()
    for document in manifests(page):
        assert [str(error) for error in check(document, catalogue)] == []
        thing = CODECS.thing_from(KINDS[_kind(document)], document.data)
        if isinstance(thing, Hold | Headroom):
            assert [str(problem) for problem in thing.problems] == []


@pytest.mark.parametrize("page", pages())
def test_a_page_for_users_lists_no_tests_of_ours(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert re.findall(r"`test_\w+`", text) == []
    assert "our notes" not in text


@pytest.mark.parametrize("page", pages())
def test_a_share_of_a_workload_is_never_suggested_beside_a_template(page: str) -> None:
    """`size.percent` needs `slot.from`: a comment beside a template must say so."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for block in BLOCK.findall(text):
        for line in block.splitlines():
            before, _, comment = line.partition("#")
            offers = re.sub(r"perNode: \{[^}]*\}", "", comment)
            if "template:" in block and "size:" in before and "percent" in offers:
                assert "slot.from" in offers, line


def test_every_part_of_an_owner_rule_is_in_the_reference() -> None:
    text = (ROOT / "docs/reference/api.md").read_text(encoding="utf-8")
    for part in ("object", "controller", "labelSelector", "priorityAtLeast"):
        assert re.search(rf"^\| `{part}\b", text, re.M), part


def test_the_page_of_scenarios_is_linked_from_the_start() -> None:
    text = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    assert "(reference/scenario.md)" in text
