"""A real Prometheus with given samples: Debian's package, unpacked and not installed.

`Prometheus.start(folder, samples)` puts samples (OpenMetrics text, with times) into a database and
serves it. The programs are taken from PATH, or from the cache, which `apt-get download` fills.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Self

from testbed.binaries import BinariesUnavailable
from testbed.cache import cache_root, fill
from testbed.components import LOOPBACK, http_probe
from testbed.gobuild import say
from testbed.ports import Ports
from testbed.processes import Component

PROGRAMS = ("prometheus", "promtool")
_HINT = "install Debian's package prometheus, or put prometheus and promtool into PATH"
_FETCH_S = 300.0


def prometheus_programs() -> Path:
    """Return the folder of the programs, fetching them if need be."""
    found = shutil.which("prometheus")
    if found and shutil.which("promtool"):
        return Path(found).parent
    place = cache_root() / "prometheus-debian"
    try:
        return fill(place, _fetch, lambda: say("waiting for another fetch of Prometheus"))
    except (OSError, subprocess.SubprocessError) as trouble:
        told = " ".join(str(getattr(trouble, "stderr", "") or trouble).split())[-300:]
        raise BinariesUnavailable(f"no Prometheus: {told}; {_HINT}") from trouble


def _fetch(folder: Path) -> None:
    say("fetching Debian's package prometheus, once")
    _run(["apt-get", "download", "prometheus"], folder)
    packages = sorted(folder.glob("prometheus_*.deb"))
    if not packages:
        raise OSError("apt-get download left no package")
    _run(["dpkg", "-x", str(packages[0]), "unpacked"], folder)
    for program in PROGRAMS:
        (folder / "unpacked/usr/bin" / program).rename(folder / program)
    shutil.rmtree(folder / "unpacked")
    packages[0].unlink()


def _run(command: list[str], folder: Path) -> None:
    environment = {**os.environ, "LC_ALL": "C"}
    subprocess.run(
        command,
        cwd=folder,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
        timeout=_FETCH_S,
    )


class Prometheus:
    """A running Prometheus; get one from `start`, end it with `stop`."""

    def __init__(self, component: Component, ports: Ports, url: str) -> None:
        self.url = url
        self._component = component
        self._ports = ports

    @classmethod
    def start(cls, folder: Path, samples: str) -> Self:
        """Serve these samples; the folder is its database."""
        programs = prometheus_programs()
        (folder / "samples.txt").write_text(samples, encoding="utf-8")
        (folder / "prometheus.yml").write_text("scrape_configs: []\n", encoding="utf-8")
        made = [str(programs / "promtool"), "tsdb", "create-blocks-from", "openmetrics"]
        _run([*made, "samples.txt", "data"], folder)
        ports = Ports()
        port = ports.take()
        command = [
            str(programs / "prometheus"),
            f"--config.file={folder / 'prometheus.yml'}",
            f"--storage.tsdb.path={folder / 'data'}",
            f"--web.listen-address={LOOPBACK}:{port}",
        ]
        probe = http_probe(port, "/-/ready", tls=False)
        component = Component("prometheus", command, folder / "prometheus.log", probe)
        component.start()
        try:
            component.wait_ready(120.0)
        except BaseException:
            component.kill()
            ports.close()
            raise
        return cls(component, ports, f"http://{LOOPBACK}:{port}")

    def stop(self) -> None:
        """End it and wait until it is gone."""
        self._component.stop()
        self._ports.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
