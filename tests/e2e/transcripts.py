"""Installations on a fresh control plane, told as commands that a person types and their output.

A story runs real commands (helm, kubectl, headroom) and keeps what they print. No kubelet of the
testbed runs containers: the pods of the Deployment are there and ready by kwok's word, and the
program itself runs beside the cluster, with the arguments of the Deployment and a token of its
account.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from headroom import __version__
from headroom.wire.yamls import dump
from testbed.api import ApiFailure, Json
from testbed.controlplane import ControlPlane
from testbed.helm import Helm
from testbed.ports import Ports
from tests.e2e.installing import until
from tests.e2e.processes import HeadroomProcess
from tests.versions import has

ROOT = Path(__file__).parent.parent.parent
HOME, ACCOUNT = "headroom-system", "headroom-operator"
SHOP, BANK = "shop", "bank"
KINDS = ("holds", "headrooms", "slotsets", "claimindexes")
OURS = " ".join(f"{kind}.headroom.dev" for kind in KINDS)
IMAGE = "registry.example.com/headroom"
HOLDS_PATH = "/apis/headroom.dev/v1alpha1/namespaces"
NO_ROLES = "No resources found in {} namespace.\n"
WAIT_S = 180.0
PATIENCE = "--timeout=300s"
# What nobody installs: told anew all the time, or made by the control plane for itself.
_UNCOUNTED = {"events", "componentstatuses", "leases", "endpointslices", "endpoints", "nodes"}
_TIMES = re.compile(r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4}\b")


@dataclass
class Transcript:
    """Commands as they were typed, each with what it printed."""

    plane: ControlPlane
    folder: Path
    helm: Helm
    parts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        (self.folder / "deploy").symlink_to(ROOT / "deploy")

    def note(self, text: str) -> None:
        self.parts.append(f"# {text}")

    def file(self, name: str, *objects: Json) -> None:
        """Write a manifest, and show it."""
        text = "---\n".join(dump(each) for each in objects)
        (self.folder / name).write_text(text, encoding="utf-8")
        self.parts.append(f"$ cat {name}\n{text.rstrip()}")

    def run(self, line: str, *, last: int = 0, code: int | None = 0) -> str:
        """Run a command; `last` keeps only so many lines of what it says. No code: any will do."""
        program, *arguments = shlex.split(line)
        done = subprocess.run(
            [*self._command(program), *arguments],
            cwd=self.folder,
            env={**self.helm.environment(), "HEADROOM_KUBECONFIG": str(self.plane.kubeconfig)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=600,
        )
        assert code in (None, done.returncode), f"{line}\n{done.stdout}"
        said = _TIMES.sub("(a time)", done.stdout).rstrip().splitlines()
        self.parts.append("\n".join([f"$ {line}", *said[-last:]]))
        return done.stdout

    def _command(self, program: str) -> Sequence[str | Path]:
        if program == "headroom":
            return (sys.executable, "-m", "headroom")
        return (self.helm.binary if program == "helm" else self.plane.binaries / program,)

    def commands(self) -> list[str]:
        return [part.splitlines()[0] for part in self.parts]

    def text(self) -> str:
        return "\n".join(self.parts) + "\n"


@contextmanager
def operator(plane: ControlPlane, log: Path) -> Iterator[HeadroomProcess]:
    """The operator with the arguments that its Deployment has, under a token of its account."""
    path = f"/apis/apps/v1/namespaces/{HOME}/deployments/{ACCOUNT}"
    template = plane.api.get(path)["spec"]["template"]["spec"]
    assert template["serviceAccountName"] == ACCOUNT
    account = plane.service_account_kubeconfig(HOME, ACCOUNT)
    ports = Ports()
    arguments = []
    for each in template["containers"][0]["args"]:
        if each == "--in-cluster":
            arguments += ["--kubeconfig", str(account), "--namespace", HOME]
        else:
            arguments.append(re.sub(r":\d+$", f":{ports.take()}", each))
    try:
        with HeadroomProcess(log, *arguments) as process:
            yield process
    finally:
        ports.close()


def inventory(plane: ControlPlane) -> set[tuple[str, str, str]]:
    """Everything that is in the cluster, by resource, namespace and name."""
    groups = plane.api.get("/apis")["groups"]
    versions = [f"/apis/{group['preferredVersion']['groupVersion']}" for group in groups]
    found = set()
    for version in ("/api/v1", *versions):
        try:
            resources = plane.api.get(version)["resources"]
            for resource in resources:
                name = resource["name"]
                if "/" in name or "list" not in resource["verbs"] or name in _UNCOUNTED:
                    continue
                for item in plane.api.items(f"{version}/{name}"):
                    metadata = item["metadata"]
                    found.add((name, metadata.get("namespace", ""), metadata["name"]))
        except ApiFailure:  # A kind that is just going.
            found.add(("going", "", version))
    return found


HOLD: Json = {
    "apiVersion": "headroom.dev/v1alpha1",
    "kind": "Hold",
    "metadata": {"name": "checkout", "namespace": SHOP},
    "spec": {
        "template": {
            "spec": {
                "containers": [
                    {"name": "main", "resources": {"requests": {"cpu": "2", "memory": "1Gi"}}}
                ]
            }
        },
        "owners": [{"labelSelector": {"matchLabels": {"app": "checkout"}}}],
    },
}
KEPT: Json = {**HOLD, "metadata": {"name": "kept", "namespace": SHOP}}
KEPT = {**KEPT, "spec": {**KEPT["spec"], "owners": [{"priorityAtLeast": 1000}]}}


def workload() -> Json:
    """A Deployment whose pod is an owner; it says the gate itself where no policy puts it on."""
    labels = {"app": "checkout"}
    gate = {} if has("mutating-policy") else {"schedulingGates": [{"name": "headroom.dev/claim"}]}
    containers = [
        {
            "name": "main",
            "image": "checkout:1",
            "resources": {"requests": {"cpu": "2", "memory": "1Gi"}},
        }
    ]
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "checkout", "namespace": SHOP},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {**gate, "containers": containers},
            },
        },
    }


def claim(story: Transcript) -> None:
    """A namespace that says so, a hold in it, and a Deployment whose pod takes the room."""
    story.run(f"kubectl create namespace {SHOP}")
    claim_there(story)


def claim_there(story: Transcript) -> None:
    """The same where the namespace is there already."""
    plane = story.plane
    story.run(f"kubectl label namespace {SHOP} headroom.dev/claims=enabled")
    story.file("holds.yaml", HOLD, KEPT)
    story.run("kubectl apply -f holds.yaml")
    for name in ("checkout", "kept"):
        wait = f"--for=jsonpath={{.status.phase}}=Available {PATIENCE}"
        story.run(f"kubectl -n {SHOP} wait hold/{name} {wait}")
    story.run(f"headroom get holds -n {SHOP}")
    until("new owners are gated", lambda: is_gated(plane), seconds=WAIT_S)
    story.file("checkout.yaml", workload())
    story.run("kubectl apply -f checkout.yaml")
    story.run(f"kubectl -n {SHOP} rollout status deployment/checkout {PATIENCE}", last=1)
    ended = f"--for=jsonpath={{.status.phase}}=Succeeded {PATIENCE}"
    story.run(f"kubectl -n {SHOP} wait hold/checkout {ended}")
    path = "{.items[*].metadata.annotations.headroom\\.dev/claimed}"
    said = story.run(f"kubectl -n {SHOP} get pods -l app=checkout -o 'jsonpath={path}{{\"\\n\"}}'")
    assert said.strip() == f"Hold/{SHOP}/checkout"


def is_gated(plane: ControlPlane) -> bool:
    """Whether a new pod of the Deployment would wait at the gate."""
    template = workload()["spec"]["template"]
    pod = {"metadata": {"name": "probe", **template["metadata"]}, "spec": template["spec"]}
    made = plane.api.create(f"/api/v1/namespaces/{SHOP}/pods?dryRun=All", pod)
    return {"name": "headroom.dev/claim"} in made["spec"].get("schedulingGates", [])


def guardian(plane: ControlPlane) -> str:
    """The uid of the pod that keeps the room of the hold that nobody claims."""
    label = "labelSelector=headroom.dev/role=guardian"
    found = plane.api.items(f"/api/v1/namespaces/{SHOP}/pods?{label}")
    return ",".join(
        str(each["metadata"]["uid"])
        for each in found
        if each["metadata"]["ownerReferences"][0]["name"] == "kept"
    )


def rollout(story: Transcript) -> None:
    wait = f"kubectl -n {HOME} rollout status deployment/{ACCOUNT} {PATIENCE}"
    story.run(wait, last=1)


def by_helm(story: Transcript, log: Path) -> None:
    """Install, claim, upgrade, roll back, uninstall: with Helm."""
    plane, release = story.plane, f"headroom deploy/chart -n {HOME}"
    story.run(f"helm install {release} --create-namespace --set image.repository={IMAGE}")
    rollout(story)
    with operator(plane, log):
        claim(story)
        before = guardian(plane)
    story.run(f"helm upgrade {release} --reuse-values --set operator.mostSlots=50", last=0)
    rollout(story)
    with operator(plane, log) as running:
        until("it serves on", lambda: running.alive and guardian(plane) == before, seconds=WAIT_S)
    assert "--most-slots=50" in arguments(plane)
    story.run(f"helm rollback headroom 1 -n {HOME}")
    rollout(story)
    with operator(plane, log):
        assert guardian(plane) == before
    assert "--most-slots=50" not in arguments(plane)
    story.run(f"kubectl delete namespace {SHOP}")
    story.run(f"helm uninstall headroom -n {HOME}")
    story.run("kubectl get crd -o name")
    story.run(f"kubectl delete crd {OURS}")
    story.run(f"kubectl delete namespace {HOME}")


def by_headroom(story: Transcript, log: Path) -> None:
    """The same with `headroom install`."""
    plane = story.plane
    story.run(f"headroom install --image {IMAGE}:{__version__}")
    rollout(story)
    with operator(plane, log):
        claim(story)
        before = guardian(plane)
    story.run(f"headroom install --image {IMAGE}:{__version__} -- --most-slots 50", last=3)
    rollout(story)
    assert "--most-slots=50" in arguments(plane)
    with operator(plane, log):
        assert guardian(plane) == before
    story.run(f"kubectl delete namespace {SHOP}")
    story.run("headroom uninstall --crds", last=6)
    story.run(f"kubectl delete namespace {HOME}")


def by_helm_for_some(story: Transcript, log: Path) -> None:
    """For one namespace, later for two: with Helm."""
    release = f"headroom deploy/chart -n {HOME}"
    for name in (SHOP, BANK):
        story.run(f"kubectl create namespace {name}")
    image = f"--set image.repository={IMAGE}"
    story.run(f"helm install {release} --create-namespace {image} --set namespaces={{{SHOP}}}")
    before = serve_one_namespace(story, log)
    wider = f"--reuse-values --set namespaces={{{SHOP},{BANK}}}"
    story.run(f"helm upgrade {release} {wider}", last=0)
    serve_both_namespaces(story, log, before)
    story.run(f"helm uninstall headroom -n {HOME}")
    tidy_up_namespaces(story)
    story.run(f"kubectl delete crd {OURS}")
    story.run(f"kubectl delete namespace {HOME}")


def by_headroom_for_some(story: Transcript, log: Path) -> None:
    """The same with `headroom install`."""
    install = f"headroom install --image {IMAGE}:{__version__}"
    for name in (SHOP, BANK):
        story.run(f"kubectl create namespace {name}")
    story.run(f"{install} --namespaces {SHOP}")
    before = serve_one_namespace(story, log)
    story.run(f"{install} --namespaces {SHOP},{BANK}", last=3)
    serve_both_namespaces(story, log, before)
    story.run(f"headroom uninstall --namespaces {SHOP},{BANK} --crds", last=6)
    tidy_up_namespaces(story)
    story.run(f"kubectl delete namespace {HOME}")


def serve_one_namespace(story: Transcript, log: Path) -> str:
    """A claim where it is served, and a hold elsewhere that nobody answers."""
    plane, elsewhere = story.plane, hold_in(BANK)
    rollout(story)
    with operator(plane, log) as running:
        story.file("elsewhere.yaml", elsewhere)
        story.run("kubectl apply -f elsewhere.yaml")
        claim_there(story)
        assert running.alive
        assert "status" not in plane.api.get(f"{HOLDS_PATH}/{BANK}/holds/elsewhere")
        assert not plane.api.items(f"/api/v1/namespaces/{BANK}/pods")
        before = guardian(plane)
    who = f"--as=system:serviceaccount:{HOME}:{ACCOUNT}"
    for namespace, answer in ((SHOP, "yes"), (BANK, "no")):
        said = story.run(f"kubectl auth can-i create pods -n {namespace} {who}", code=None)
        assert said.strip() == answer
    return before


def serve_both_namespaces(story: Transcript, log: Path, before: str) -> None:
    """The hold elsewhere is served once its namespace is; nothing else is replaced for it."""
    plane = story.plane
    rollout(story)
    with operator(plane, log):
        wait = f"--for=jsonpath={{.status.phase}}=Available {PATIENCE}"
        story.run(f"kubectl -n {BANK} wait hold/elsewhere {wait}")
        assert guardian(plane) == before


def tidy_up_namespaces(story: Transcript) -> None:
    """No right is left in the namespaces; then the namespaces go."""
    for name in (SHOP, BANK):
        assert story.run(f"kubectl -n {name} get roles,rolebindings") == NO_ROLES.format(name)
    story.run(f"kubectl delete namespace {SHOP} {BANK}")


def hold_in(namespace: str) -> Json:
    return {**KEPT, "metadata": {"name": "elsewhere", "namespace": namespace}}


def arguments(plane: ControlPlane) -> list[str]:
    path = f"/apis/apps/v1/namespaces/{HOME}/deployments/{ACCOUNT}"
    found: list[str] = plane.api.get(path)["spec"]["template"]["spec"]["containers"][0]["args"]
    return found


def page(texts: dict[str, str], kubernetes: str) -> str:
    """The page with all transcripts."""
    told = f"""
`make transcripts` writes this page, and a test runs it too. Commands and answers are from a real
control plane (Kubernetes {kubernetes}). Its nodes run no containers: the operator ran as a
separate process, with the arguments of its Deployment and a token of its account. At the end the
test compares all objects of the cluster with those before."""
    lines = ["# Installing, step by step", told]
    for title, text in texts.items():
        lines += ["", f"## {title}", "", "```", text.rstrip(), "```"]
    lines += [
        "",
        "## When not to follow this",
        "",
        "The image is a placeholder: there is no published one.",
    ]
    return "\n".join(lines) + "\n"
