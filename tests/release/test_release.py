"""A release is the same from the same sources, complete, and says what it was made from."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from pathlib import Path

import pytest

from headroom import __version__
from headroom.wire.yamls import load
from testbed.binaries import BinariesUnavailable
from testbed.helm import Helm
from tools.audit import audit, licence_problems, pins, problems
from tools.release import sbom
from tools.release.__main__ import build
from tools.release.archives import CHART, chart, tar_gz
from tools.release.provenance import statement

ADVISORY = {"package": "PyYAML", "id": "CVE-0", "affected": "<5.4", "about": "runs code"}


def test_the_bill_of_materials_has_every_pin_and_is_the_same_twice() -> None:
    made = sbom.document(("amd64",))
    assert made == sbom.document(("amd64",))
    listed = {(each["name"], each["version"]) for each in made["components"]}
    text = sbom.RUNTIME.read_text(encoding="utf-8")
    lines = [line.split(" ")[0] for line in text.splitlines() if "==" in line]
    assert len(lines) > 20
    assert {tuple(line.split("==")) for line in lines} <= listed
    assert ("libc6", next(v for name, v in listed if name == "libc6")) in listed
    assert all(each["purl"].startswith("pkg:") for each in made["components"])


def test_what_a_release_was_made_from_is_named_by_digests() -> None:
    made = statement({"b": b"2", "a": b"1"}, {})
    assert [each["name"] for each in made["subject"]] == ["a", "b"]
    assert made["subject"][0]["digest"]["sha256"] == hashlib.sha256(b"1").hexdigest()
    sources = made["predicate"]["buildDefinition"]["resolvedDependencies"]
    assert {"file:requirements/runtime.txt", "git+."} <= {each["uri"] for each in sources}


def test_archives_have_no_times_and_no_owners() -> None:
    archive = tar_gz({"b/two": b"2", "a": b"1"}, frozenset({"a"}))
    with tarfile.open(fileobj=io.BytesIO(archive)) as read:
        entries = read.getmembers()
    assert [entry.name for entry in entries] == ["a", "b/two"]
    assert {(entry.mtime, entry.uid, entry.uname) for entry in entries} == {(0, 0, "")}
    assert [entry.mode for entry in entries] == [0o755, 0o644]
    assert tar_gz({"a": b"1", "b/two": b"2"}, frozenset({"a"})) == archive


def test_the_audit_finds_nothing_wrong() -> None:
    assert audit() == []


def test_the_audit_finds_a_version_that_has_an_advisory() -> None:
    (told,) = problems({"runtime": {"pyyaml": ["5.3"]}, "dev": {"pyyaml": ["5.3"]}}, [ADVISORY])[:1]
    assert "PyYAML 5.3 in runtime.txt has CVE-0" in told
    assert problems({"runtime": {"pyyaml": ["6.0"]}}, [ADVISORY]) == []


def test_the_audit_finds_lock_files_that_disagree() -> None:
    (told,) = problems({"runtime": {"rich": ["1"]}, "dev": {"rich": ["2"]}}, [])
    assert "rich" in told


def test_the_audit_knows_the_licences_of_what_is_shipped() -> None:
    assert list(licence_problems(pins("runtime"))) == []


@pytest.mark.e2e
def test_a_release_is_the_same_twice_and_its_checksums_hold(tmp_path: Path) -> None:
    made = build(())
    assert build(()) == made
    assert {name.replace(__version__, "V") for name in made} == {
        "kube_headroom-V-py3-none-any.whl",
        "kube_headroom-V.tar.gz",
        "headroom-V-chart.tgz",
        "install.yaml",
        "kubectl-headroom-V.tar.gz",
        "krew.yaml",
        "sbom.cdx.json",
        "provenance.intoto.json",
        "SHA256SUMS",
    }
    for line in made["SHA256SUMS"].decode().splitlines():
        digest, _, name = line.partition("  ")
        assert hashlib.sha256(made[name]).hexdigest() == digest
    about = json.loads(made["provenance.intoto.json"])
    told = {each["name"]: each["digest"]["sha256"] for each in about["subject"]}
    assert told["install.yaml"] == hashlib.sha256(made["install.yaml"]).hexdigest()
    (plugin,) = load(made["krew.yaml"].decode(), "krew.yaml")
    archive = f"kubectl-headroom-{__version__}.tar.gz"
    wanted = plugin.data["spec"]["platforms"][0]["sha256"]
    assert hashlib.sha256(made[archive]).hexdigest() == wanted


@pytest.mark.e2e
def test_helm_reads_the_packed_chart_as_it_reads_the_folder(tmp_path: Path) -> None:
    try:
        helm = Helm(tmp_path / "helm")
    except BinariesUnavailable as trouble:
        pytest.skip(str(trouble))
    packed = tmp_path / "chart.tgz"
    packed.write_bytes(chart())
    assert helm("template", "x", str(packed)) == helm("template", "x", str(CHART))
