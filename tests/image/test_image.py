"""The operator's image: the same bytes from the same files, and a start as the manifests expect."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from pathlib import Path

import pytest

from headroom.wire.manifests import Installation, install_objects
from tools.image.__main__ import ENTRYPOINT, USER, config
from tools.image.layers import Layer
from tools.image.oci import Layout
from tools.image.packages import (
    NAMES,
    ImageUnavailable,
    Lock,
    contents,
    of_image,
    of_runtime,
    read_lock,
)
from tools.image.wheels import MACHINES, REQUIREMENTS, applying
from tools.image.wheels import contents as files_of

CONTAINERFILE = Path(__file__).parent.parent.parent / "deploy/image/Containerfile"
LOCKED = """\
both==1.0 \\
    --hash=sha256:aa
    # via us
old==2.0 ; python_full_version < '3.12' \\
    --hash=sha256:bb
new==3.0 ; python_full_version >= '3.12' \\
    --hash=sha256:cc
windows==4.0 ; sys_platform == 'win32' \\
    --hash=sha256:dd
"""


def test_a_layer_is_the_same_in_whatever_order_it_was_filled() -> None:
    one, two = Layer(), Layer()
    one.file("usr/bin/python", b"elf", program=True)
    one.link("usr/bin/py", "python")
    two.link("usr/bin/py", "python")
    two.file("usr/bin/python", b"older")
    two.file("usr/bin/python", b"elf", program=True)
    assert one.tar() == two.tar()
    with tarfile.open(fileobj=io.BytesIO(one.tar())) as archive:
        entries = archive.getmembers()
    assert [entry.name for entry in entries] == ["usr", "usr/bin", "usr/bin/py", "usr/bin/python"]
    assert {(entry.uid, entry.gid, entry.mtime) for entry in entries} == {(0, 0, 0)}
    assert entries[-1].mode == 0o755


def test_a_device_has_no_place_in_a_layer() -> None:
    entry = tarfile.TarInfo("./dev/null")
    entry.type = tarfile.CHRTYPE
    with pytest.raises(ValueError, match="dev/null is neither"):
        Layer().add(entry, b"")


def test_every_blob_of_a_layout_is_found_by_its_digest() -> None:
    layout = Layout("headroom:1")
    digest = layout.add_image("amd64", [("files", b"tar")], {"User": "1"})
    with tarfile.open(fileobj=io.BytesIO(layout.archive())) as archive:
        read = {entry.name: archive.extractfile(entry) for entry in archive if entry.isreg()}
        files = {name: body.read() for name, body in read.items() if body}
    (described,) = json.loads(files["index.json"])["manifests"]
    assert described["digest"] == digest
    assert described["platform"] == {"architecture": "amd64", "os": "linux"}
    manifest = json.loads(files[f"blobs/{digest.replace(':', '/')}"])
    for part in (manifest["config"], *manifest["layers"]):
        assert len(files[f"blobs/{part['digest'].replace(':', '/')}"]) == part["size"]


def test_requirements_are_those_of_the_images_python_and_keep_their_hashes() -> None:
    kept = applying(LOCKED, "x86_64")
    assert [line for line in kept.splitlines() if "==" in line] == ["both==1.0 \\", "old==2.0 \\"]
    assert ("sha256:bb" in kept, "sha256:cc" in kept, "sha256:dd" in kept) == (True, False, False)


def test_every_requirement_of_the_lock_file_is_understood() -> None:
    for machine in MACHINES.values():
        kept = applying(REQUIREMENTS.read_text(encoding="utf-8"), machine)
        assert "aiohttp==" in kept
        assert kept.count("\nnumpy==") == 1
        assert " ; " not in kept


@pytest.mark.parametrize("arch", MACHINES)
def test_every_package_is_pinned_for_each_architecture(arch: str) -> None:
    assert tuple(package.name for package in read_lock(of_image(arch))) == NAMES
    assert [package.name for package in read_lock(of_runtime(arch))] == ["libseccomp2", "runc"]


def test_an_architecture_without_pins_is_told_with_the_remedy() -> None:
    with pytest.raises(ImageUnavailable, match="no packages are pinned for s390x: make image-lock"):
        read_lock(Lock("debian", NAMES, "s390x"))


def test_what_is_no_package_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.deb"
    file.write_bytes(b"<html>not here</html>")
    with pytest.raises(ImageUnavailable, match="no Debian package"):
        list(contents(file))


def test_scripts_of_a_wheel_are_left_out_and_its_libraries_are_not(tmp_path: Path) -> None:
    wheel = tmp_path / "w.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("w/__init__.py", "")
        archive.writestr("w-1.data/platlib/fast.so", "elf")
        archive.writestr("w-1.data/scripts/w", "#!python")
    assert [path for path, _ in files_of(wheel)] == ["fast.so", "w/__init__.py"]


def test_entry_point_and_account_are_those_that_the_manifests_expect() -> None:
    (deployment,) = (
        made for made in install_objects(Installation("headroom:1")) if made["kind"] == "Deployment"
    )
    spec = deployment["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    assert spec["securityContext"]["runAsUser"] == USER
    assert config()["User"] == f"{USER}:{USER}"
    assert "command" not in container
    assert container["args"][0] == "run"
    assert ENTRYPOINT[-2:] == ["-m", "headroom"]


def test_the_containerfile_starts_alike() -> None:
    lines = CONTAINERFILE.read_text(encoding="utf-8").splitlines()
    said = {line.partition(" ")[0]: line.partition(" ")[2] for line in lines}
    assert said["USER"] == config()["User"]
    assert json.loads(said["ENTRYPOINT"]) == ENTRYPOINT
    assert json.loads(said["CMD"]) == config()["Cmd"]
    assert said["ENV"].split() == config()["Env"]
