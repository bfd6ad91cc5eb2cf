"""The Debian packages of an image: pinned by version and hash, fetched by apt, unpacked by us.

apt uses the sources of this machine, but lists and files of its own, so nothing of the machine
changes and no rights are needed. `write_lock` pins what those sources have now.
"""

from __future__ import annotations

import hashlib
import io
import lzma
import re
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from testbed.cache import cache_root, fill

LOCKS = Path(__file__).parent.parent.parent / "deploy/image"
# Python's interpreter and standard library, and what its modules and our wheels are linked with.
# Nothing here is a shell, a package manager or a program but Python itself.
NAMES = (
    "libbz2-1.0",
    "libc6",
    "libcrypt1",
    "libexpat1",
    "libffi8",
    "libgcc-s1",
    "liblzma5",
    "libpython3.11-minimal",
    "libpython3.11-stdlib",
    "libssl3",
    "libstdc++6",
    "libuuid1",
    "python3.11-minimal",
    "zlib1g",
)
_LEFT_OUT = ("./usr/share/man/", "./usr/share/lintian/", "./usr/share/bug/", "./usr/share/gdb/")
_URI = re.compile(r"^'[^']+' (\S+) \d+ SHA256:([0-9a-f]{64})$")
_AR_MAGIC = b"!<arch>\n"
_AR_HEADER = 60


class ImageUnavailable(Exception):
    """What an image is made of cannot be had; the text says what to do about it."""


@dataclass(frozen=True)
class Package:
    """One pinned package."""

    name: str
    version: str
    sha256: str


@dataclass(frozen=True)
class Lock:
    """The pins of some packages for one architecture, in a file."""

    name: str
    names: tuple[str, ...]
    arch: str

    @property
    def file(self) -> Path:
        return LOCKS / f"{self.name}-{self.arch}.lock"


def of_image(arch: str) -> Lock:
    """What an image is made of."""
    return Lock("debian", NAMES, arch)


def of_runtime(arch: str) -> Lock:
    """What runs an image in tests."""
    return Lock("runtime", ("libseccomp2", "runc"), arch)


def read_lock(lock: Lock) -> list[Package]:
    """Return the pinned packages."""
    try:
        text = lock.file.read_text(encoding="utf-8")
    except OSError as error:
        wrong = f"no packages are pinned for {lock.arch}: make image-lock"
        raise ImageUnavailable(wrong) from error
    lines = (line.split() for line in text.splitlines() if not line.startswith("#"))
    return [Package(*line) for line in lines if line]


def write_lock(lock: Lock) -> None:
    """Pin every package at the version that the sources of this machine have."""
    with tempfile.TemporaryDirectory() as state:
        pinned = _Apt(Path(state), lock.arch).offered(lock.names)
    lines = [f"{each.name} {each.version} {each.sha256}" for each in pinned]
    head = "# Written by `make image-lock`: package, version, SHA-256 of its file."
    lock.file.write_text("\n".join([head, *lines, ""]), encoding="utf-8")


def fetched(lock: Lock) -> list[Path]:
    """Return the files of all pinned packages, from the cache or by apt."""
    packages = read_lock(lock)
    digest = hashlib.sha256(lock.file.read_bytes()).hexdigest()[:12]

    def fetch(part: Path) -> None:
        with tempfile.TemporaryDirectory() as state:
            _Apt(Path(state), lock.arch).download(packages, part)

    place = fill(cache_root() / f"image-{lock.file.stem}-{digest}", fetch, lambda: None)
    return [place / f"{package.name}.deb" for package in packages]


def contents(file: Path) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
    """Yield every entry of a package that belongs into an image."""
    with tarfile.open(fileobj=io.BytesIO(_data_of(file.read_bytes())), mode="r:") as archive:
        for entry in archive:
            if entry.name.startswith(_LEFT_OUT):
                continue
            source = archive.extractfile(entry) if entry.isreg() else None
            yield entry, source.read() if source else b""


def _data_of(package: bytes) -> bytes:
    """Return the tar file with the files of a package, which is an ar archive."""
    if not package.startswith(_AR_MAGIC):
        raise ImageUnavailable("this is no Debian package")
    at = len(_AR_MAGIC)
    while at < len(package):
        header = package[at : at + _AR_HEADER]
        name, size = header[:16].decode().rstrip(" /"), int(header[48:58])
        at += _AR_HEADER
        if name == "data.tar.xz":
            return lzma.decompress(package[at : at + size])
        at += size + size % 2
    raise ImageUnavailable("the package has no data.tar.xz")


class _Apt:
    """apt-get with the sources of this machine, and everything else in a directory of its own."""

    def __init__(self, state: Path, arch: str) -> None:
        self._state = state
        for name in ("lists/partial", "archives/partial", "got"):
            (state / name).mkdir(parents=True)
        (state / "status").touch()
        self._options = [
            f"Dir::State={state}",
            f"Dir::State::status={state / 'status'}",
            f"Dir::State::lists={state / 'lists'}",
            f"Dir::Cache={state}",
            f"APT::Architecture={arch}",
            f"APT::Architectures={arch}",
            "APT::Sandbox::User=root",
            "Acquire::Languages=none",
        ]
        self._run("update", "--quiet")

    def offered(self, names: Sequence[str]) -> list[Package]:
        """Return the packages as the sources have them now."""
        found = {}
        for line in self._run("download", "--print-uris", *names).splitlines():
            match = _URI.match(line)
            if match:
                name, version, _ = match[1].split("_")
                found[name] = Package(name, version.replace("%3a", ":"), match[2])
        if missing := sorted(set(names) - set(found)):
            raise ImageUnavailable(f"apt says nothing of the hash of {', '.join(missing)}")
        return [found[name] for name in names]

    def download(self, packages: Sequence[Package], target: Path) -> None:
        """Fetch the packages into a directory; what is not the pinned file is refused."""
        self._run("download", "--quiet", *(f"{each.name}={each.version}" for each in packages))
        for package in packages:
            (file,) = (self._state / "got").glob(f"{package.name}_*.deb")
            body = file.read_bytes()
            if hashlib.sha256(body).hexdigest() != package.sha256:
                wrong = f"{package.name} {package.version} is not the file that was pinned"
                raise ImageUnavailable(wrong)
            (target / f"{package.name}.deb").write_bytes(body)

    def _run(self, *arguments: str) -> str:
        options = [word for option in self._options for word in ("-o", option)]
        try:
            done = subprocess.run(
                ["apt-get", *options, *arguments],
                cwd=self._state / "got",
                capture_output=True,
                text=True,
                check=False,
            )
        except OSError as error:
            raise ImageUnavailable(
                "an image is made of Debian packages: apt-get is needed"
            ) from error
        if done.returncode != 0:
            said = (done.stderr.strip().splitlines() or ["apt-get said nothing"])[-1]
            raise ImageUnavailable(
                f"apt-get {arguments[0]}: {said} -- this machine's sources must be of Debian 12; "
                "where they have newer versions than the pinned ones: make image-lock"
            )
        return done.stdout
