"""A release is signed with a key that its maker gives, and checked without the network."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tools.release import signing
from tools.release.__main__ import build
from tools.release.verify import main, problems, source_problems


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two throw-away keys, made as the documentation says."""
    folder = tmp_path_factory.mktemp("keys")
    for name in ("release", "other"):
        secret, public = folder / f"{name}.key", folder / f"{name}.pub"
        openssl("genpkey", "-algorithm", "ed25519", "-out", str(secret))
        openssl("pkey", "-in", str(secret), "-pubout", "-out", str(public))
    return folder


def openssl(*arguments: str) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("keys are made with openssl, which this machine has not")
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


@pytest.fixture(scope="module")
def release(keys: Path) -> dict[str, bytes]:
    return build((), signing.private_key(keys / "release.key"))


@pytest.mark.slow
def test_a_signed_release_is_found_whole(release: dict[str, bytes], keys: Path) -> None:
    assert list(problems(release, signing.public_key(keys / "release.pub"))) == []
    assert list(problems(release)) == []


def test_the_same_key_gives_the_same_signatures(release: dict[str, bytes], keys: Path) -> None:
    key = signing.private_key(keys / "release.key")
    again = signing.signed(release["provenance.intoto.json"], release["SHA256SUMS"], key)
    assert again == {name: release[name] for name in again}


def test_openssl_checks_the_checksums_without_our_code(
    release: dict[str, bytes], keys: Path, tmp_path: Path
) -> None:
    for name in ("SHA256SUMS", "SHA256SUMS.sig"):
        (tmp_path / name).write_bytes(release[name])
    public = ("-verify", "-pubin", "-inkey", str(keys / "release.pub"), "-rawin")
    sums, signature = str(tmp_path / "SHA256SUMS"), str(tmp_path / "SHA256SUMS.sig")
    openssl("pkeyutl", *public, "-in", sums, "-sigfile", signature)


@pytest.mark.parametrize("name", ["install.yaml", "SHA256SUMS", "provenance.intoto.json"])
def test_a_changed_file_is_found(release: dict[str, bytes], keys: Path, name: str) -> None:
    changed = {**release, name: release[name] + b" "}
    told = list(problems(changed, signing.public_key(keys / "release.pub")))
    assert told
    assert name in told[0]


def test_what_was_changed_and_summed_again_is_found_by_the_key_alone(
    release: dict[str, bytes], keys: Path
) -> None:
    other = signing.private_key(keys / "other.key")
    forged = {**release, **signing.signed(b"{}", b"", other)}
    assert list(problems(forged)) == []
    told = list(problems(forged, signing.public_key(keys / "release.pub")))
    assert [line.split(" is ")[0] for line in told] == [signing.SIGNATURE, signing.ENVELOPE]


def test_files_that_are_missing_or_foreign_are_told(release: dict[str, bytes]) -> None:
    without = {name: body for name, body in release.items() if name != "krew.yaml"}
    assert list(problems(without)) == ["krew.yaml is missing"]
    told = list(problems({**release, "setup.sh": b""}))
    assert told[0] == "setup.sh is not named by SHA256SUMS"
    assert next(problems({})).startswith("SHA256SUMS and provenance.intoto.json missing")


def test_an_unsigned_release_is_no_signed_one(release: dict[str, bytes], keys: Path) -> None:
    kept = {name: body for name, body in release.items() if name != signing.ENVELOPE}
    assert list(problems(kept, signing.public_key(keys / "release.pub"))) == ["it is not signed"]


@pytest.mark.parametrize("envelope", [b"", b"[]", b'{"payload": 1}', b"\xff", b"{}"])
def test_an_odd_envelope_is_no_signature(keys: Path, envelope: bytes) -> None:
    assert signing.opened(envelope, signing.public_key(keys / "release.pub")) is None


def test_a_key_of_another_kind_is_told_with_the_remedy(keys: Path, tmp_path: Path) -> None:
    rsa = tmp_path / "rsa.key"
    openssl("genpkey", "-algorithm", "RSA", "-out", str(rsa))
    with pytest.raises(signing.BadKey, match="openssl genpkey -algorithm ed25519"):
        signing.private_key(rsa)
    for read in (signing.private_key, signing.public_key):
        with pytest.raises(signing.BadKey, match="nowhere"):
            read(tmp_path / "nowhere")


def test_the_command_checks_a_directory(
    release: dict[str, bytes], keys: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, body in release.items():
        (tmp_path / name).write_bytes(body)
    assert main([str(tmp_path), "--key", str(keys / "release.pub")]) == 0
    assert "signed by" in capsys.readouterr().out
    assert main([str(tmp_path)]) == 0
    assert "who made them is not checked" in capsys.readouterr().out
    assert main([str(tmp_path), "--key", str(keys / "other.pub")]) == 1
    assert "by this key" in capsys.readouterr().err


def test_other_sources_are_told(release: dict[str, bytes]) -> None:
    statement = json.loads(release["provenance.intoto.json"])
    definition = statement["predicate"]["buildDefinition"]
    for each in definition["resolvedDependencies"]:
        if each["uri"] == "git+.":
            each["digest"] = {"gitCommit": "0" * 40}
        if each["uri"] == "file:requirements/runtime.txt":
            each["digest"] = {"sha256": "0" * 64}
    told = list(source_problems(json.dumps(statement).encode()))
    assert f"it was made from commit {'0' * 40}" in told
    assert "requirements/runtime.txt was another file then" in told
