"""deploy/image/Containerfile, built by buildah: the same files and the same start as `make image`.

buildah needs no daemon and, since there is no base image, no registry either.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from testbed.api import Json
from testbed.packages import PackageUnavailable, program
from tests.image.bundle import unpack_image
from tools.image.__main__ import LAYERS, build, write_layers
from tools.image.packages import ImageUnavailable
from tools.image.wheels import ROOT

CONTAINERFILE = ROOT / "deploy/image/Containerfile"
STARTS = ("User", "Entrypoint", "Cmd", "Env", "WorkingDir")


def test_the_containerfile_has_no_base_image_and_runs_nothing() -> None:
    lines = CONTAINERFILE.read_text(encoding="utf-8").splitlines()
    words = [line.split() for line in lines if line and not line.startswith("#")]
    assert [each[1] for each in words if each[0] == "FROM"] == ["scratch"]
    assert not [each for each in words if each[0] in ("RUN", "SHELL", "COPY")]
    added = [Path(each[1]).stem for each in words if each[0] == "ADD"]
    assert added == list(LAYERS)


@pytest.mark.e2e
def test_an_engine_builds_the_image_that_make_image_builds(tmp_path: Path) -> None:
    archive = by_buildah(tmp_path)
    ours, _ = build(["amd64"])
    started = unpack_image(archive.read_bytes(), tmp_path / "theirs")
    expected = unpack_image(ours, tmp_path / "ours")
    assert {name: started.get(name) for name in STARTS} == {
        name: expected.get(name) for name in STARTS
    }
    found = files(tmp_path / "theirs")
    assert found == files(tmp_path / "ours")
    assert not [path for path in found if Path(path).name in ("sh", "bash", "dash", "busybox")]


def files(root: Path) -> dict[str, tuple[int, str | int]]:
    """The mode of everything below a directory, with the target of a link or a file's hash."""
    found: dict[str, tuple[int, str | int]] = {}
    for path in root.rglob("*"):
        name = path.relative_to(root).as_posix()
        if path.is_symlink():
            found[name] = (0, os.readlink(path))
        else:
            content = hash(path.read_bytes()) if path.is_file() else "directory"
            found[name] = (path.stat().st_mode, content)
    return found


def by_buildah(work: Path) -> Path:
    """Build with the Containerfile and return the archive; where that cannot be, skip loudly."""
    if os.getuid() != 0:
        skip("buildah needs root here")
    try:
        buildah = program("buildah", ["buildah"])
        write_layers(["amd64"], work / "build/image/layers")
    except (PackageUnavailable, ImageUnavailable) as trouble:
        skip(str(trouble))
    accept: Json = {"default": [{"type": "insecureAcceptAnything"}]}
    (work / "policy.json").write_text(json.dumps(accept), encoding="utf-8")
    (work / "registries.conf").write_text("unqualified-search-registries = []\n", encoding="utf-8")
    storage = f'[storage]\ndriver = "vfs"\nrunroot = "{work}/run"\ngraphroot = "{work}/graph"\n'
    (work / "storage.conf").write_text(storage, encoding="utf-8")
    archive = work / "image.tar"
    command = [str(buildah.path), "bud", "--signature-policy", str(work / "policy.json")]
    command += ["-t", f"oci-archive:{archive}:headroom:test", "-f", str(CONTAINERFILE), str(work)]
    done = subprocess.run(
        command,
        env={
            **os.environ,
            **buildah.environment,
            "BUILDAH_ISOLATION": "chroot",
            "CONTAINERS_CONF": "/dev/null",
            "CONTAINERS_STORAGE_CONF": str(work / "storage.conf"),
            "REGISTRIES_CONFIG_PATH": str(work / "registries.conf"),
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return archive


def skip(why: str) -> None:
    print(f"\nTEST OF THE CONTAINERFILE SKIPPED: {why}", file=sys.stderr)
    pytest.skip(why)
