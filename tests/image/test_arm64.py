"""The image for arm64, started: by an emulator of its processor, in nothing but its own files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from headroom import __version__
from testbed.packages import PackageUnavailable, program
from tests.image.bundle import unpack_image
from tools.image.__main__ import LIBRARY, USER, build
from tools.image.packages import ImageUnavailable

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
EMULATOR = "qemu-aarch64-static"
# Every compiled module of the image is loaded: a wheel for another processor fails here.
LOAD_ALL = """
import importlib, pathlib, sysconfig
root, count = pathlib.Path("/LIBRARY"), 0
for file in sorted(root.rglob("*.so")):
    parts = file.relative_to(root).parts
    if not any(part.endswith(".libs") for part in parts):
        importlib.import_module(".".join([*parts[:-1], parts[-1].split(".")[0]]))
        count += 1
print(count, sysconfig.get_platform())
""".replace("LIBRARY", LIBRARY)


class Emulated:
    """The unpacked image, as the root of whatever runs in it."""

    def __init__(self, root: Path, entrypoint: list[str]) -> None:
        self._root = root
        self._entrypoint = entrypoint

    def __call__(self, *arguments: str) -> str:
        """Run what the image starts, with these arguments, as its user."""
        return self._run(*self._entrypoint, *arguments)

    def python(self, code: str) -> str:
        return self._run(*self._entrypoint[:3], "-c", code)

    def _run(self, *command: str) -> str:
        account = f"--userspec={USER}:{USER}"
        done = subprocess.run(
            ["/usr/sbin/chroot", account, str(self._root), f"/{EMULATOR}", *command],
            env={"LANG": "C.UTF-8"},
            capture_output=True,
            text=True,
            check=False,
            timeout=580,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulated]:
    if os.getuid() != 0:
        skip("chroot needs root")
    try:
        emulator = program("qemu-user-static", [EMULATOR], alone=True)
        archive, _ = build(["arm64"])
    except (PackageUnavailable, ImageUnavailable) as trouble:
        skip(str(trouble))
    root = tmp_path_factory.mktemp("arm64") / "rootfs"
    entrypoint = unpack_image(archive, root)["Entrypoint"]
    shutil.copy(emulator.path, root / EMULATOR)
    (root / EMULATOR).chmod(0o755)
    for folder in (root, *root.parents[:2]):
        folder.chmod(0o755)
    yield Emulated(root, entrypoint)
    shutil.rmtree(root)


def skip(why: str) -> None:
    print(f"\nTESTS OF THE IMAGE FOR ARM64 SKIPPED: {why}", file=sys.stderr)
    pytest.skip(why)


def test_the_image_for_arm64_starts(image: Emulated) -> None:
    assert image("version").splitlines()[0] == __version__
    assert "--in-cluster" in image("run", "--help")


def test_every_compiled_module_of_the_image_is_for_its_processor(image: Emulated) -> None:
    count, platform = image.python(LOAD_ALL).split()
    assert platform == "linux-aarch64"
    assert int(count) > 10


def test_a_handover_is_decided_in_it_as_anywhere(image: Emulated) -> None:
    told = subprocess.run(
        [sys.executable, "-m", "headroom", "demo", "thief", "--fast"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert image("demo", "thief", "--fast") == told
