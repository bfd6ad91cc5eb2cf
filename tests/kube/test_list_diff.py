"""What was told of a kind, and how a fresh list becomes a difference."""

from __future__ import annotations

from headroom.core.objects import Key, Namespace
from headroom.kube.list_diff import KnownObjects, key_of
from headroom.ports import Lost, Seen
from tests.builders import hold, node, pod


def test_every_change_is_told() -> None:
    mirror = KnownObjects()
    web = pod("web")
    assert mirror.update(web) == [Seen(web)]
    assert mirror.update(web) == [Seen(web)]
    assert mirror.remove(web.key) == [Lost(web)]
    assert mirror.remove(web.key) == []
    assert len(mirror) == 0


def test_a_list_tells_only_what_is_new_changed_or_gone() -> None:
    mirror = KnownObjects()
    same, changed, lost = pod("same"), pod("changed"), pod("lost")
    for thing in (same, changed, lost):
        mirror.update(thing)
    newer = pod("changed", labels={"a": "b"})
    mirror.begin()
    assert mirror.listing
    assert mirror.update(same) == []
    assert mirror.update(newer) == [Seen(newer)]
    assert mirror.finish() == [Lost(lost)]
    assert not mirror.listing


def test_the_same_version_of_the_same_object_is_known() -> None:
    mirror = KnownObjects()
    web, here = pod("web", uid="1", version="7"), Namespace("here", version="3")
    mirror.update(web)
    mirror.update(here)
    assert mirror.has_version(web.key, "1", "7")
    assert not mirror.has_version(web.key, "1", "8")
    assert not mirror.has_version(web.key, "2", "7")
    assert not mirror.has_version(Key("default", "other"), "1", "7")
    assert mirror.has_version(Key("", "here"), "any", "3")


def test_what_is_deleted_while_a_list_is_read_is_told_once() -> None:
    mirror = KnownObjects()
    web = pod("web")
    mirror.update(web)
    mirror.begin()
    mirror.update(web)
    assert mirror.remove(web.key) == [Lost(web)]
    assert mirror.finish() == []


def test_a_pod_made_anew_under_its_name_is_another_pod() -> None:
    mirror = KnownObjects()
    first, second = pod("web", uid="1"), pod("web", uid="2")
    mirror.update(first)
    assert mirror.update(second) == [Lost(first), Seen(second)]


def test_a_list_that_starts_anew_forgets_what_it_had_listed() -> None:
    mirror = KnownObjects()
    web = pod("web")
    mirror.begin()
    mirror.update(web)
    mirror.begin()
    assert mirror.finish() == [Lost(web)]


def test_what_is_kept_unread_is_not_gone() -> None:
    mirror = KnownObjects()
    web = pod("web")
    mirror.update(web)
    mirror.begin()
    mirror.mark_listed(web.key)
    mirror.mark_listed(Key("default", "never seen"))
    assert mirror.finish() == []


def test_every_kind_has_its_end() -> None:
    for thing in (node("a"), Namespace("shop"), hold("nightly")):
        mirror = KnownObjects()
        mirror.update(thing)
        assert mirror.remove(key_of(thing)) == [Lost(thing)]
