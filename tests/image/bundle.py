"""A container from an image archive and a Deployment, run by runc as a kubelet would have it run.

The network is the machine's own, since the control plane listens on loopback; everything else that
the Deployment's security context forbids is forbidden.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from testbed.api import Json
from testbed.cache import cache_root, fill
from testbed.tether import tethered
from tools.image.packages import contents, fetched, of_runtime

ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
STOP_S = 30


def find_runc() -> list[str]:
    """Return the command line of runc: the machine's, or the pinned one from the cache."""
    on_path = shutil.which("runc")
    if on_path:
        return [on_path]
    files = fetched(of_runtime("amd64"))

    def unpack(part: Path) -> None:
        for file in files:
            for entry, body in contents(file):
                path, name = Path(entry.name), ""
                if path.parent.name.endswith("bin"):
                    name = "runc"
                elif path.name.startswith("libseccomp.so.2."):
                    name = "libseccomp.so.2"
                if name and entry.isreg():
                    (part / name).write_bytes(body)
                    (part / name).chmod(0o755)

    home = fill(cache_root() / f"{files[0].parent.name}-unpacked", unpack, lambda: None)
    return ["env", f"LD_LIBRARY_PATH={home}", str(home / "runc")]


def unpack_image(archive: bytes, target: Path) -> Json:
    """Unpack the layers of the first image into a directory and return its configuration."""
    target.mkdir()
    with tarfile.open(fileobj=io.BytesIO(archive)) as layout:

        def blob(digest: str) -> bytes:
            file = layout.extractfile(f"blobs/{digest.replace(':', '/')}")
            assert file is not None
            return file.read()

        index = layout.extractfile("index.json")
        assert index is not None
        manifest = json.loads(blob(json.load(index)["manifests"][0]["digest"]))
        for layer in manifest["layers"]:
            with tarfile.open(fileobj=io.BytesIO(blob(layer["digest"]))) as tar:
                # The image is ours; its links to absolute paths are meant.
                tar.extraction_filter = getattr(tarfile, "fully_trusted_filter", None)
                tar.extractall(target)
        image: Json = json.loads(blob(manifest["config"]["digest"]))["config"]
    return image


def bundle_config(image: Json, pod: Json, hostname: str, variables: Mapping[str, str]) -> Json:
    """The runtime's configuration of the pod's only container."""
    (container,) = pod["containers"]
    context = container["securityContext"]
    assert context["capabilities"] == {"drop": ["ALL"]}
    account = pod["securityContext"]
    environment = [*image["Env"], *(f"{name}={value}" for name, value in variables.items())]
    nothing: list[str] = []
    kinds = ("bounding", "effective", "permitted", "inheritable", "ambient")
    return {
        "ociVersion": "1.0.2",
        "hostname": hostname,
        "process": {
            "user": {"uid": account["runAsUser"], "gid": account["runAsGroup"]},
            "args": [*image["Entrypoint"], *container["args"]],
            "env": environment,
            "cwd": image["WorkingDir"],
            "noNewPrivileges": not context["allowPrivilegeEscalation"],
            "capabilities": dict.fromkeys(kinds, nothing),
        },
        "root": {"path": "rootfs", "readonly": context["readOnlyRootFilesystem"]},
        "mounts": [
            {"destination": "/proc", "type": "proc", "source": "proc"},
            {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid"]},
            {
                "destination": ACCOUNT,
                "type": "bind",
                "source": "account",
                "options": ["rbind", "ro", "nosuid", "nodev", "noexec"],
            },
        ],
        "linux": {"namespaces": [{"type": kind} for kind in ("pid", "mount", "ipc", "uts")]},
    }


class Container:
    """One container after the other, from the same bundle."""

    def __init__(self, runc: Sequence[str], bundle: Path, name: str) -> None:
        self._runc = [*runc, "--root", str(bundle / "state")]
        self._bundle = bundle
        self._name = name
        self.log = bundle / "log"
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> Self:
        """Start it and wait for the line that says that it is ready."""
        command = [*self._runc, "run", "--bundle", str(self._bundle), self._name]
        with self.log.open("a", encoding="utf-8") as log:
            self._process = subprocess.Popen(
                tethered(command),
                cwd=self._bundle,
                env={**os.environ},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        line = self._process.stdout.readline() if self._process.stdout else ""
        assert line.strip() == "ready", self.log.read_text(encoding="utf-8")
        return self

    def status(self) -> dict[str, str]:
        """What the kernel says of the first process: its user, its capabilities and so on."""
        state = json.loads(self._tell("state", self._name))
        text = Path(f"/proc/{state['pid']}/status").read_text(encoding="utf-8")
        rows = (line.partition(":") for line in text.splitlines())
        return {name: value.strip() for name, _, value in rows}

    def end(self, signal: str) -> int:
        """Send a signal and return the exit code, or that of a shell for a signal."""
        assert self._process is not None
        self._tell("kill", self._name, signal)
        code = self._process.wait(STOP_S)
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._process = None
        return code

    def close(self) -> None:
        if self._process is not None:
            self.end("KILL")

    def _tell(self, *words: str) -> str:
        return subprocess.run(
            [*self._runc, *words], check=True, capture_output=True, text=True, timeout=STOP_S
        ).stdout
