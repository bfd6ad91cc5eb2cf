"""`--dialect`: switched on by name, in what is printed, installed and simulated."""

from __future__ import annotations

import pytest

from headroom.cli.dialects import NAMES, chosen, dialect_of
from headroom.cli.errors import Misuse
from headroom.core.holds import Problem
from headroom.wire.kind_codecs import NATIVE
from headroom.wire.kinds import FOREIGN_GROUPS, Resource
from headroom.wire.schema.validation import type_of
from headroom.wire.yamls import load
from tests.cli.commands import headroom


@pytest.mark.parametrize("name", NAMES)
def test_every_dialect_has_its_name_and_defines_and_reads_its_kinds(name: str) -> None:
    dialect = dialect_of(name)
    assert dialect.name == name
    defined = {
        (made["spec"]["group"], version["name"], made["spec"]["names"]["kind"])
        for made in dialect.definitions()
        for version in made["spec"]["versions"]
    }
    assert {(kind.group, kind.version, kind.kind) for kind in dialect.kinds} <= defined


@pytest.mark.parametrize("name", NAMES)
def test_the_manifests_of_every_dialect_can_be_checked(name: str) -> None:
    catalogue = chosen([name]).catalogue()
    kinds: tuple[Resource, ...] = dialect_of(name).kinds
    assert [f"{kind.api_version}/{kind.kind}" in catalogue.kinds for kind in kinds] == [True] * len(
        kinds
    )


@pytest.mark.parametrize("name", NAMES)
def test_every_dialect_may_look_at_what_it_follows(name: str) -> None:
    granted = {
        (group, resource, verb)
        for rule in dialect_of(name).rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    needed = {
        (kind.group, kind.plural, verb)
        for kind in dialect_of(name).kinds
        for verb in ("get", "list", "watch")
    }
    assert needed <= granted
    assert not [right for right in granted if "*" in right]


def test_without_a_name_only_our_own_kinds_are_spoken() -> None:
    assert chosen(None) is NATIVE


def test_a_dialect_named_twice_is_on_once() -> None:
    assert chosen(["korder", "korder"]).names == ("korder",)


def test_an_unknown_name_is_told_with_those_there_are() -> None:
    with pytest.raises(Misuse) as refused:
        chosen(["klingon"])
    assert "klingon" in refused.value.message
    assert refused.value.hint == f"known: {', '.join(NAMES)}"


def test_the_crds_of_a_dialect_are_printed_with_ours(capsys: pytest.CaptureFixture[str]) -> None:
    finished = headroom(capsys, "crds", "--dialect", "korder", "--dialect", "koordinator")
    names = [item.data["metadata"]["name"] for item in load(finished.out, "stdout")]
    assert names[0] == "holds.headroom.dev"
    assert "orders.core.korder.dev" in names
    assert "reservations.scheduling.koordinator.sh" in names


def test_an_installation_speaks_the_dialect(capsys: pytest.CaptureFixture[str]) -> None:
    finished = headroom(capsys, "install", "--dry-run", "--dialect", "korder")
    made = {
        (item.data["kind"], item.data["metadata"]["name"]): item.data
        for item in load(finished.out, "stdout")
    }
    deployment = made["Deployment", "headroom-operator"]
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert "--dialect=korder" in container["args"]
    assert ("MutatingAdmissionPolicy", "asks-gate.headroom.dev") in made
    assert ("CustomResourceDefinition", "tickets.core.korder.dev") in made
    edit = made["ClusterRole", "headroom-edit"]
    assert [rule["resources"] for rule in edit["rules"] if "core.korder.dev" in rule["apiGroups"]]


def test_uninstalling_takes_what_a_dialect_brought_but_not_its_definitions(
    capsys: pytest.CaptureFixture[str],
) -> None:
    finished = headroom(capsys, "uninstall", "--dry-run", "--crds")
    names = [item.data["metadata"]["name"] for item in load(finished.out, "stdout")]
    assert names.count("asks-gate.headroom.dev") == 2
    assert not [name for name in names if "korder" in name or "koordinator" in name]


def test_whoever_meets_a_foreign_kind_is_told_which_dialect_serves_it() -> None:
    for name in NAMES:
        for kind in dialect_of(name).kinds:
            assert FOREIGN_GROUPS[kind.group] == name
            told = type_of({"apiVersion": kind.api_version, "kind": kind.kind}, NATIVE.catalogue())
            assert isinstance(told, Problem)
            assert f"--dialect {name}" in told.message
