"""Run Helm as a user would; it is found or built like the programs of a control plane."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from testbed.binaries import provide
from testbed.recipes import HELM


class HelmFailed(Exception):
    """Helm failed; the text is its output."""


class Helm:
    """One helm with its own home directory, and its cluster, if any."""

    def __init__(self, home: Path, kubeconfig: Path | None = None) -> None:
        self.binary = provide([HELM]) / "helm"
        self._home = home
        self._kubeconfig = kubeconfig

    def __call__(self, *arguments: str, values: Mapping[str, str] | None = None) -> str:
        """Run it and return what it prints; HelmFailed if it fails."""
        given = [f"--set={name}={value}" for name, value in (values or {}).items()]
        done = subprocess.run(
            [self.binary, *arguments, *given],
            env=self.environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        if done.returncode != 0:
            raise HelmFailed(done.stderr.strip())
        return done.stdout

    def environment(self) -> dict[str, str]:
        """The variables that it runs with."""
        places = {
            f"HELM_{name}_HOME": str(self._home / name.lower())
            for name in ("CACHE", "CONFIG", "DATA")
        }
        cluster = {"KUBECONFIG": str(self._kubeconfig)} if self._kubeconfig else {}
        return {**os.environ, "KUBECONFIG": os.devnull, **places, **cluster}
