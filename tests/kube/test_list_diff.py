"""What was told of a kind, and how a fresh list becomes a difference."""

from __future__ import annotations

from headroom.core.objects import Key, Namespace
from headroom.kube.list_diff import Mirror
from headroom.ports import HoldGone, NamespaceGone, NodeGone, PodGone, Seen, gone
from tests.builders import hold, node, pod


def test_every_change_is_told() -> None:
    mirror = Mirror()
    web = pod("web")
    assert mirror.see(web) == [Seen(web)]
    assert mirror.see(web) == [Seen(web)]
    assert mirror.lose(web.key) == [PodGone(web.key, web.uid)]
    assert mirror.lose(web.key) == []
    assert len(mirror) == 0


def test_a_list_tells_only_what_is_new_changed_or_gone() -> None:
    mirror = Mirror()
    same, changed, lost = pod("same"), pod("changed"), pod("lost")
    for thing in (same, changed, lost):
        mirror.see(thing)
    newer = pod("changed", labels={"a": "b"})
    mirror.begin()
    assert mirror.listing
    assert mirror.see(same) == []
    assert mirror.see(newer) == [Seen(newer)]
    assert mirror.finish() == [PodGone(lost.key, lost.uid)]
    assert not mirror.listing


def test_the_same_version_of_the_same_object_is_known() -> None:
    mirror = Mirror()
    web, here = pod("web", uid="1", version="7"), Namespace("here", version="3")
    mirror.see(web)
    mirror.see(here)
    assert mirror.has(web.key, "1", "7")
    assert not mirror.has(web.key, "1", "8")
    assert not mirror.has(web.key, "2", "7")
    assert not mirror.has(Key("default", "other"), "1", "7")
    assert mirror.has(Key("", "here"), "any", "3")


def test_what_is_deleted_while_a_list_is_read_is_told_once() -> None:
    mirror = Mirror()
    web = pod("web")
    mirror.see(web)
    mirror.begin()
    mirror.see(web)
    assert mirror.lose(web.key) == [PodGone(web.key, web.uid)]
    assert mirror.finish() == []


def test_a_pod_made_anew_under_its_name_is_another_pod() -> None:
    mirror = Mirror()
    first, second = pod("web", uid="1"), pod("web", uid="2")
    mirror.see(first)
    assert mirror.see(second) == [PodGone(first.key, "1"), Seen(second)]


def test_a_list_that_starts_anew_forgets_what_it_had_listed() -> None:
    mirror = Mirror()
    web = pod("web")
    mirror.begin()
    mirror.see(web)
    mirror.begin()
    assert mirror.finish() == [PodGone(web.key, web.uid)]


def test_what_is_kept_unread_is_not_gone() -> None:
    mirror = Mirror()
    web = pod("web")
    mirror.see(web)
    mirror.begin()
    mirror.keep(web.key)
    mirror.keep(Key("default", "never seen"))
    assert mirror.finish() == []


def test_every_kind_has_its_end() -> None:
    assert gone(node("a")) == NodeGone("a")
    assert gone(Namespace("shop")) == NamespaceGone("shop")
    nightly = hold("nightly")
    assert gone(nightly) == HoldGone(nightly.parent)
