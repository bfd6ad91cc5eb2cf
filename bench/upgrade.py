"""Upgrade and downgrade under load: is a hold lost, a rival let in, a guardian replaced?

The release before this one (`testbed/previous-release.txt`) is installed and serves. Owners claim
holds through both doors at a pace, and rivals wait for the same room. Meanwhile this version is
installed over it and takes over as a Deployment would have it: the new replica starts, then the old
one is told to stop; at that moment a burst of owners comes, and the window of a Headroom opens.
Later the same back. Holds and slots that nobody claims must keep their guardians all the time.
Exit 1 if anything was lost, let in or replaced.

    python -m bench.upgrade [--holds 600] [--pace 20] [--burst 100] [--standing 50] [--no-window]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.lab import Json
from headroom.wire.kinds import HEADROOMS, HOLDS, PODS
from headroom.wire.yamls import dump_all, load
from testbed.controlplane import ControlPlane
from testbed.previous import PreviousUnavailable, environment, previous_sources

HOME, NAMESPACE = "headroom-system", "default"
ADMISSION = "admissionregistration.k8s.io/v1"  # Not every version of Kubernetes serves all of it.
NEW = Path(__file__).resolve().parent.parent / "src"
NODE_CPU = 10
WINDOW_SLOTS = 10
PATIENCE_S = 300.0
STOP_S = 60.0
STARTS = 5
CLAIMED = "headroom.dev/claimed"
POOL = {"key": "pool", "operator": "Equal", "value": "window", "effect": "NoSchedule"}
# Printed by the code of the version in question: its objects, without replicas of its own.
PRINT = """
from headroom.wire.manifests import Installation, install_objects
from headroom.wire.yamls import dump_all
print(dump_all(install_objects(Installation("headroom:bench", replicas=0))))
"""


@dataclass
class Version:
    """One version of our code: what it installs, and its operator as a process."""

    name: str
    sources: Path
    plane: ControlPlane
    folder: Path
    process: subprocess.Popen[str] | None = None

    def install(self) -> None:
        """Apply its objects, as an upgrade does before its pods are replaced."""
        command = [sys.executable, "-c", PRINT]
        done = subprocess.run(
            command, env=environment(self.sources), capture_output=True, text=True, check=True
        )
        served = {each["kind"] for each in self.plane.api.get(f"/apis/{ADMISSION}")["resources"]}
        made = [
            each.data
            for each in load(done.stdout, "install.yaml")
            if each.data["apiVersion"] != ADMISSION or each.data["kind"] in served
        ]
        applied = ("apply", "--server-side", "--force-conflicts", "-f", "-")
        self.plane.kubectl(*applied, input=dump_all(made))

    def start(self) -> None:
        """Start a replica; it waits for the Lease while another one leads."""
        account = self.plane.service_account_kubeconfig(HOME, "headroom-operator", seconds=7200)
        command = [sys.executable, "-m", "headroom", "run", "--kubeconfig", str(account)]
        with (self.folder / f"{self.name}.log").open("a", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                command,
                env=environment(self.sources),
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )

    def wait_ready(self) -> None:
        """Wait until it leads; one that ends before is started again, as a kubelet would."""
        for _ in range(STARTS):
            line = self.process.stdout.readline() if self.process and self.process.stdout else ""
            if line.strip() == "ready":
                return
            self.start()
        log = (self.folder / f"{self.name}.log").read_text(encoding="utf-8")
        raise RuntimeError(f"the {self.name} operator did not get ready:\n{log[-3000:]}")

    def revive(self) -> bool:
        """Start it again if it ended by itself: on a busy machine it may lose its Lease."""
        if self.process is None or self.process.poll() is None:
            return False
        self.start()
        return True

    def stop(self) -> None:
        """Tell it to stop, and end it if it takes longer than a kubelet would give it."""
        if self.process is None:
            return
        self.process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(STOP_S)
        self.process.kill()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()
        self.process = None


@dataclass
class Found:
    """What went wrong, by name."""

    lost: list[str] = field(default_factory=list)
    let_in: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    unopened: int = 0
    handovers: int = 0
    revived: int = 0  # operators that ended by themselves and were started again

    @property
    def clean(self) -> bool:
        return not (self.lost or self.let_in or self.replaced or self.unopened)

    def text(self) -> str:
        return (
            f"handovers {self.handovers}\nholds lost {len(self.lost)}\n"
            f"rivals let in {len(self.let_in)}\nguardians replaced {len(self.replaced)}\n"
            f"slots of the window missing {self.unopened}\n"
            f"operators started again {self.revived}\n"
        )


def pod(name: str, app: str = "", **spec: object) -> Json:
    container = {"name": "main", "image": "app", "resources": {"requests": {"cpu": "1"}}}
    return {
        "metadata": {"name": name, "labels": {"app": app} if app else {}},
        "spec": {"containers": [container], "terminationGracePeriodSeconds": 0, **spec},
    }


def owner(number: int, name: str) -> Json:
    """A pod for the hold of this name; every other one comes through the second door."""
    if number % 2:
        return pod(f"o-{name}", name, schedulerName="headroom-scheduler")
    return pod(f"o-{name}", name, schedulingGates=[{"name": "headroom.dev/claim"}])


def hold(name: str) -> Json:
    container = {"name": "main", "resources": {"requests": {"cpu": "1"}}}
    return {
        "apiVersion": HOLDS.api_version,
        "kind": "Hold",
        "metadata": {"name": name},
        "spec": {
            "template": {"spec": {"containers": [container]}},
            "owners": [{"labelSelector": {"matchLabels": {"app": name}}}],
        },
    }


def window(opens: datetime) -> Json:
    """Slots on nodes of their own, from this minute on."""
    slot = {"resources": {"requests": {"cpu": "1"}}, "tolerations": [POOL]}
    slot["nodeSelector"] = {"pool": "window"}
    return {
        "apiVersion": HEADROOMS.api_version,
        "kind": "Headroom",
        "metadata": {"name": "window"},
        "spec": {
            "slot": {"template": slot},
            "size": {"replicas": WINDOW_SLOTS},
            "owners": [{"labelSelector": {"matchLabels": {"app": "nobody"}}}],
            "schedule": [
                {"start": f"{opens.minute} {opens.hour} * * *", "duration": "2h", "timeZone": "UTC"}
            ],
        },
    }


class Run:
    """One upgrade and one downgrade on one cluster."""

    def __init__(self, plane: ControlPlane, folder: Path, options: argparse.Namespace) -> None:
        self.plane = plane
        self.options = options
        self.old = Version("old", previous_sources(), plane, folder)
        self.new = Version("new", NEW, plane, folder)
        self.claimed = [f"h{number}" for number in range(options.holds)]
        self.burst = [f"b{number}" for number in range(options.burst)]
        self.standing = [f"s{number}" for number in range(options.standing)]
        self.found = Found()
        self._opens: datetime | None = None
        self._trouble: list[BaseException] = []

    def go(self) -> Found:
        """Do all of it."""
        self.old.install()
        self.old.start()
        try:
            self.old.wait_ready()
            self._prepare()
            before = self._guardians()
            self._load()
            self._judge(before)
        finally:
            for version in (self.old, self.new):
                version.stop()
        return self.found

    def _prepare(self) -> None:
        names = [*self.claimed, *self.burst, *self.standing]
        api = self.plane.api
        nodes = -(-len(names) // NODE_CPU)
        made = self.plane.add_fake_nodes(nodes, cpu=str(NODE_CPU), memory="64Gi", pods=250)
        self.plane.wait_nodes_ready(nodes, made)
        for name in names:
            api.create(HOLDS.path(NAMESPACE), hold(name))
        # What the last node has left over is nobody's: rivals could have it.
        for number in range(nodes * NODE_CPU - len(names)):
            api.create(PODS.path(NAMESPACE), pod(f"filler-{number}"))
        if not self._until("every hold is available", lambda: self._phases() == {"Available"}, 3.0):
            raise RuntimeError("not every hold is available: nothing can be said of an upgrade")
        if self.options.window:  # Before rivals come: they would take its node while it is new.
            self._open_a_window()
        for number in range(self.options.rivals):
            api.create(PODS.path(NAMESPACE), pod(f"rival-{number}"))

    def _open_a_window(self) -> None:
        labels = {"pool": "window"}
        name, *_ = self.plane.add_fake_nodes(1, cpu=str(WINDOW_SLOTS), labels=labels, prefix="win")
        self.plane.kubectl("taint", "node", name, "pool=window:NoSchedule")
        later = datetime.now(UTC) + timedelta(seconds=75)
        self._opens = later.replace(second=0, microsecond=0)
        self.plane.api.create(HEADROOMS.path(NAMESPACE), window(self._opens))

    def _load(self) -> None:
        """Owners at a pace; two changes of versions while they come."""
        count = len(self.claimed)
        if self._opens:  # The first change comes with the window.
            ahead = (self._opens - datetime.now(UTC)).total_seconds()
            time.sleep(max(0.0, ahead - count / 4 / self.options.pace))
        changes = {count // 4: self._upgrade, count * 5 // 8: self._downgrade}
        under_way: list[threading.Thread] = []
        started = time.monotonic()
        for number, name in enumerate(self.claimed):
            time.sleep(max(0.0, started + number / self.options.pace - time.monotonic()))
            self.plane.api.create(PODS.path(NAMESPACE), owner(number, name))
            if number in changes:
                for thread in under_way:  # One change after the other, however slow.
                    thread.join()
                under_way.append(threading.Thread(target=self._guarded, args=(changes[number],)))
                under_way[-1].start()
                half = len(self.burst) // 2
                some = self.burst[:half] if len(under_way) == 1 else self.burst[half:]
                for place, burst in enumerate(some):
                    self.plane.api.create(PODS.path(NAMESPACE), owner(place, burst))
        for thread in under_way:
            thread.join()
        if self._trouble:
            raise self._trouble[0]

    def _guarded(self, change: Callable[[], None]) -> None:
        try:
            change()
        except BaseException as trouble:
            self._trouble.append(trouble)

    def _upgrade(self) -> None:
        self._change(self.old, self.new)

    def _downgrade(self) -> None:
        self._change(self.new, self.old)

    def _change(self, leaving: Version, coming: Version) -> None:
        """As a Deployment does it: one more comes, then one goes."""
        coming.install()
        coming.start()
        leaving.stop()
        coming.wait_ready()

    def _judge(self, before: dict[str, tuple[str, str]]) -> None:
        wanted = [*self.claimed, *self.burst]
        done = self._until("every owner has its room", lambda: self._missing(wanted) == [])
        self.found.lost = [] if done else self._missing(wanted)
        pods = self._pods()
        for name in wanted:
            where = pods[f"o-{name}"]["spec"].get("nodeName")
            if where and where != before[name][1] and name not in self.found.lost:
                self.found.lost.append(name)
        self.found.handovers = len(wanted) - len(self.found.lost)
        if self._opens:
            self._until("the window is open", lambda: self._held() == WINDOW_SLOTS)
            self.found.unopened = WINDOW_SLOTS - self._held()
        after = self._guardians()
        self.found.replaced = [name for name in self.standing if after.get(name) != before[name]]
        self.found.let_in = [
            name
            for name, each in self._pods().items()
            if name.startswith("rival-") and each["spec"].get("nodeName")
        ]

    def _missing(self, names: Sequence[str]) -> list[str]:
        pods = self._pods()
        return [
            name
            for name in names
            if not pods[f"o-{name}"]["spec"].get("nodeName")
            or pods[f"o-{name}"]["metadata"].get("annotations", {}).get(CLAIMED)
            != f"Hold/{NAMESPACE}/{name}"
        ]

    def _pods(self) -> dict[str, Json]:
        found = self.plane.api.items(PODS.path(NAMESPACE))
        return {each["metadata"]["name"]: each for each in found}

    def _phases(self) -> set[str]:
        holds = self.plane.api.items(HOLDS.path(NAMESPACE))
        return {str(each.get("status", {}).get("phase")) for each in holds}

    def _held(self) -> int:
        found = self.plane.api.get(HEADROOMS.path(NAMESPACE, "window"))
        return int(found.get("status", {}).get("held") or 0)

    def _guardians(self) -> dict[str, tuple[str, str]]:
        """The uid and the node of the guardian of each hold."""
        return {
            each["metadata"]["ownerReferences"][0]["name"]: (
                each["metadata"]["uid"],
                each["spec"].get("nodeName", ""),
            )
            for each in self._pods().values()
            if each["metadata"].get("labels", {}).get("headroom.dev/role") == "guardian"
            and each["metadata"]["ownerReferences"][0]["kind"] == "Hold"
        }

    def _until(self, what: str, true: Callable[[], bool], times: float = 1.0) -> bool:
        patience = PATIENCE_S * times
        deadline = time.monotonic() + patience
        while not true():
            self.found.revived += sum(version.revive() for version in (self.old, self.new))
            if time.monotonic() > deadline:
                print(f"not within {patience:g} s: {what}", file=sys.stderr)
                return False
            time.sleep(0.5)
        return True


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it and print what was found; exit 1 if anything was."""
    parser = argparse.ArgumentParser(prog="python -m bench.upgrade", description=__doc__)
    parser.add_argument("--holds", type=int, default=600)
    parser.add_argument("--pace", type=float, default=20.0, help="owners a second")
    parser.add_argument("--burst", type=int, default=100)
    parser.add_argument("--standing", type=int, default=50)
    parser.add_argument("--rivals", type=int, default=20)
    parser.add_argument("--window", action=argparse.BooleanOptionalAction, default=True)
    options = parser.parse_args(arguments)
    try:
        previous_sources()
    except PreviousUnavailable as trouble:
        print(f"no upgrade without the previous release: {trouble}", file=sys.stderr)
        return 3
    with tempfile.TemporaryDirectory() as folder, ControlPlane.start(kwok=True) as plane:
        found = Run(plane, Path(folder), options).go()
        print(found.text(), end="")
        for name in ("lost", "let_in", "replaced"):
            if getattr(found, name):
                print(f"{name}: {', '.join(getattr(found, name)[:20])}")
        if not found.clean:
            for version in ("old", "new"):
                log = Path(folder) / f"{version}.log"
                if log.exists():
                    print(log.read_text(encoding="utf-8")[-4000:], file=sys.stderr)
    return 0 if found.clean else 1


if __name__ == "__main__":
    sys.exit(main())
