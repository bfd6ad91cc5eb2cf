"""`python -m tools.image`: build the image, or its layers alone, or pin its packages (`--lock`).

The digest of each image goes to stdout; the same sources and pins give the same one.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from headroom import __version__
from tools.image import packages, wheels
from tools.image.layers import Layer
from tools.image.oci import Layout

OUT = wheels.ROOT / "build/image"
LIBRARY = f"usr/local/lib/python{wheels.PYTHON}/dist-packages"
# Isolated: no variable of the environment and no directory but the image's own is searched for
# code. Nothing is written, since the root is read-only.
ENTRYPOINT = [f"/usr/bin/python{wheels.PYTHON}", "-I", "-B", "-m", "headroom"]
USER = 65532  # as in the manifests of `headroom install`
TAG = f"headroom:{__version__}"
# The layers by name, the lowest first, and what the history of the image says of each.
LAYERS = {"python": "Python from Debian packages", "libraries": "pinned wheels", "headroom": TAG}


def config() -> dict[str, object]:
    """Return how the image starts, and what it is."""
    return {
        "User": f"{USER}:{USER}",
        "Entrypoint": ENTRYPOINT,
        "Cmd": ["--help"],
        "WorkingDir": "/",
        "Env": ["PATH=/usr/bin", "LANG=C.UTF-8"],
        "Labels": {
            "org.opencontainers.image.title": "headroom",
            "org.opencontainers.image.version": __version__,
            "org.opencontainers.image.licenses": "Apache-2.0",
        },
    }


def runtime_layer(arch: str) -> bytes:
    """Python, its libraries, and an account for it."""
    layer = Layer()
    for file in packages.fetched(packages.of_image(arch)):
        for entry, body in packages.contents(file):
            layer.add(entry, body)
    account = f"headroom:x:{USER}:{USER}:headroom:/nonexistent:/nonexistent\n"
    layer.file("etc/passwd", f"root:x:0:0:root:/nonexistent:/nonexistent\n{account}".encode())
    layer.file("etc/group", f"root:x:0:\nheadroom:x:{USER}:\n".encode())
    for path in ("dev", "proc", "sys", "run", "var"):
        layer.directory(path)
    layer.directory("tmp", 0o1777)
    layer.link("var/run", "/run")
    return layer.tar()


def library_layer(files: Sequence[Path]) -> bytes:
    layer = Layer()
    for wheel in files:
        for path, body in wheels.contents(wheel):
            layer.file(f"{LIBRARY}/{path}", body)
    return layer.tar()


def layers_of(arches: Sequence[str]) -> Iterator[tuple[str, dict[str, bytes]]]:
    """Yield each architecture with its layers, as tar files by name, the lowest first."""
    with tempfile.TemporaryDirectory() as work:
        own = library_layer([wheels.our_own(Path(work))])
        for arch in arches:
            libraries = library_layer(wheels.dependencies(arch))
            made = (runtime_layer(arch), libraries, own)
            yield arch, dict(zip(LAYERS, made, strict=True))


def build(arches: Sequence[str]) -> tuple[bytes, list[str]]:
    """Return the archive of the layout and the digest of each image."""
    layout = Layout(TAG)
    digests = []
    for arch, layers in layers_of(arches):
        named = [(LAYERS[name], tar) for name, tar in layers.items()]
        digests.append(layout.add_image(arch, named, config()))
    return layout.archive(), digests


def write_layers(arches: Sequence[str], target: Path) -> list[Path]:
    """Write the layers for deploy/image/Containerfile, and return the files."""
    written = []
    for arch, layers in layers_of(arches):
        (target / arch).mkdir(parents=True, exist_ok=True)
        for name, tar in layers.items():
            written.append(target / arch / f"{name}.tar")
            written[-1].write_bytes(tar)
    return written


def main(arguments: Sequence[str] | None = None) -> int:
    """Build, or pin; what is not available is reported in one line."""
    parser = argparse.ArgumentParser(prog="python -m tools.image", description=__doc__)
    parser.add_argument("--arch", action="append", choices=tuple(wheels.MACHINES), default=[])
    parser.add_argument("--lock", action="store_true", help="pin the packages anew")
    text = "write the layers for deploy/image/Containerfile instead"
    parser.add_argument("--layers", action="store_true", help=text)
    options = parser.parse_args(arguments)
    arches = options.arch or ["amd64"]
    try:
        if options.lock:
            for arch in arches:
                packages.write_lock(packages.of_image(arch))
                packages.write_lock(packages.of_runtime(arch))
            return 0
        if options.layers:
            for file in write_layers(arches, OUT / "layers"):
                print(file.relative_to(wheels.ROOT))
            return 0
        archive, digests = build(arches)
    except packages.ImageUnavailable as trouble:
        print(trouble, file=sys.stderr)
        return 1
    OUT.mkdir(parents=True, exist_ok=True)
    target = OUT / f"headroom-{__version__}.tar"
    target.write_bytes(archive)
    print(f"{target.relative_to(wheels.ROOT)}: {len(archive) // 1_000_000} MB", file=sys.stderr)
    for arch, digest in zip(arches, digests, strict=True):
        print(f"{arch} {digest}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
