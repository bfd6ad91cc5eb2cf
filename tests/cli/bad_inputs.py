"""Hundreds of bad inputs, made from lists of what people get wrong in each place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

NOT_NAMES = ("X_y", "-a", "a-", "a b", "a\nb", "ä", "a/b", ".", "a" * 300, "A", "a\x1b[31m", "a..b")
NOT_QUANTITIES = (
    "lots",
    "1e",
    "1 Gi",
    "--1",
    "1Zi",
    "0x10",
    "1.5.5",
    "１",
    "9" * 40 + "Ei",
    "-1",
)
NOT_COUNTS = ("-1", "x", "1.5", "99999999999", "[]", "{}", "''", "1e400")
NOT_DURATIONS = ("soon", "10 minutes", "-5m", "1h30", "h", "1d", "''", "[]", "5", "9" * 30 + "h")
NOT_TIMES = (
    "noon",
    "2027-01-04",
    "2027-02-30T12:00:00Z",
    "2027-01-04T25:00:00Z",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
    "10000-01-01T00:00:00Z",
    "2027-01-04T12:00:00",
    "1969-12-31T23:59:59Z",
)
NOT_OBJECTS = ("''", "x", "3", "[]", "[x]", "true")
NOT_YAML = (
    "a: [b",
    "a: b: c",
    "\t- a",
    "{a: b",
    "a: 'b",
    "- a",
    "just words",
    "a: *nowhere",
    "a: !!python/object:os.system x",
    "a: !secret x",
    "%YAML 9.9\n---\na",
    "a: b\na: c",
    "? [a, b]\n: c",
    "[" * 3000,
    "{" * 3000,
    "a: &a [*a]",
    '{"a": "\\ud800"}',
    '{"a": NaN, "kind": "Pod"}',
    "apiVersion: v1",
    "kind: Pod",
    "apiVersion: v1\nkind: Pood",
    "apiVersion: v9\nkind: Pod",
    "apiVersion: 1\nkind: 2",
    "",
    "# nothing\n",
    "---\n---\n",
    "null",
    "\x00",
    "\x01\x02",
)
NOT_FLAGS = (
    ("--until", ""),
    ("--until", "banana"),
    ("--until", "-1h"),
    ("--until", "0"),
    ("--until", "1h 1m"),
    ("--start", ""),
    ("--start", "noon"),
    ("--start", "9999-12-31T23:59:59Z"),
    ("--start", "0001-01-01T00:00:00Z"),
    ("--seed", ""),
    ("--seed", "x"),
    ("--seed", "1.5"),
    ("--dialect", ""),
    ("--dialect", "klingon"),
    ("--dialect", "Korder"),
    ("-o", "xml"),
    ("-o", ""),
    ("--nonsense",),
    ("--until",),
)
NOT_SUBJECTS = ("", "/", "pod/", "/x", "pod", "node/a", "klingon/x", "pod/x/y/z", "hold", "a b/c")
NOT_IMAGES = (
    "BAD IMAGE!!",
    "",
    "Upper:1",
    "a:b:c:d",
    "a@sha256:x",
    ":1",
    "a/",
    "/a",
    "a b",
    "a\nb",
)
NOT_ADDRESSES = ("8080", "host:port", "host:99999", "a:-1", "::", "127.0.0.1", "[::1")
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "\n".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@dataclass(frozen=True)
class Bad:
    """A command line that cannot be done; FILE in it stands for a file with `text`."""

    name: str
    arguments: tuple[str, ...]
    text: str = ""


def scenario(*lines: str) -> str:
    head = "apiVersion: sim.headroom.dev/v1alpha1\nkind: Scenario\nmetadata: {name: s}\nspec:\n"
    return head + "".join(f"  {line}\n" for line in lines)


def pool(field: str) -> str:
    name = "" if field.startswith("name:") else "name: a, "
    return scenario(f"pools: [{{{name}count: 1, {field}}}]".replace("count: 1, count", "count"))


def pod(*lines: str, request: str = "cpu: '1'") -> str:
    head = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n"
    container = f"containers: [{{name: a, image: i, resources: {{requests: {{{request}}}}}}}]"
    return head + "".join(f"  {line}\n" for line in (container, *lines))


def hold(*lines: str, owners: str = "[{labelSelector: {matchLabels: {app: web}}}]") -> str:
    head = "apiVersion: headroom.dev/v1alpha1\nkind: Hold\nmetadata: {name: h}\nspec:\n"
    shape = "template: {spec: {containers: [{name: a, resources: {requests: {cpu: '1'}}}]}}"
    return head + "".join(f"  {line}\n" for line in (shape, f"owners: {owners}", *lines))


def headroom(*lines: str, size: str = "{replicas: 1}") -> str:
    head = "apiVersion: headroom.dev/v1alpha1\nkind: Headroom\nmetadata: {name: h}\nspec:\n"
    slot = "slot: {template: {resources: {requests: {cpu: '1'}}}}"
    owners = "owners: [{labelSelector: {matchLabels: {app: web}}}]"
    parts = (slot, f"size: {size}", owners, *lines)
    return head + "".join(f"  {line}\n" for line in parts)


def quoted(text: str) -> str:
    """As YAML in double quotes."""
    escaped = text.encode("unicode_escape").decode().replace('"', '\\"')
    return f'"{escaped}"'


def _files() -> Iterator[tuple[str, str]]:
    """Files that cannot be run, and what is wrong with them."""
    for index, text in enumerate(NOT_YAML):
        yield f"yaml-{index}", text
    yield "bomb", BOMB
    for name in NOT_NAMES:
        yield f"pool-name-{name[:9]!r}", pool(f"name: {quoted(name)}")
        yield f"pod-name-{name[:9]!r}", pod().replace("name: p", f"name: {quoted(name)}")
        yield f"label-{name[:9]!r}", pool(f"labels: {{{quoted(name + '!')}: x}}")
        yield f"label-value-{name[:9]!r}", pool(f"labels: {{x: {quoted(name + '!')}}}")
    for text in NOT_QUANTITIES:
        yield f"pool-cpu-{text[:9]}", pool(f"cpu: {quoted(text)}")
        yield f"pool-memory-{text[:9]}", pool(f"memory: {quoted(text)}")
        yield f"pool-gpu-{text[:9]}", pool(f"resources: {{example.com/gpu: {quoted(text)}}}")
        yield f"pod-cpu-{text[:9]}", pod(request=f"cpu: {quoted(text)}")
        yield f"pod-memory-{text[:9]}", pod(request=f"memory: {quoted(text)}")
    for text in ("0.5", "100m", "1500m", "1n"):
        yield f"pool-device-{text}", pool(f"resources: {{example.com/gpu: '{text}'}}")
        yield f"pod-device-{text}", pod(request=f"example.com/gpu: '{text}'")
    for text in NOT_COUNTS:
        for field in ("count", "pods", "max", "price"):
            if (field, text) not in (
                ("price", "1.5"),
                ("price", "99999999999"),
                ("pods", "''"),
                ("pods", "99999999999"),
            ):
                yield f"pool-{field}-{text[:9]}", pool(f"{field}: {text}")
        yield f"seed-{text[:9]}", scenario(f"seed: {text if text[0] in '[{x' else '[1]'}")
        yield f"replicas-{text[:9]}", headroom(size=f"{{replicas: {text}}}")
        yield f"percent-{text[:9]}", headroom(size=f"{{percent: {text}}}")
        yield f"per-node-{text[:9]}", headroom(size=f"{{perNode: {{slots: {text}}}}}")
    for text in NOT_DURATIONS:
        value = text if text[0] in "'[" else quoted(text)
        yield f"until-{text[:9]}", scenario(f"until: {value}")
        yield f"at-{text[:9]}", scenario(f"steps: [{{at: {value}, operator: stopped}}]")
        yield f"boot-{text[:9]}", pool(f"bootDelay: {value}")
        yield f"ttl-{text[:9]}", hold(f"ttl: {value}")
        yield f"lifetime-{text[:9]}", headroom(f"slotLifetime: {value}")
    for text in NOT_TIMES:
        yield f"start-{text[:12]}", scenario(f"start: '{text}'")
    for text in NOT_OBJECTS:
        for field in ("pools", "steps", "autoscaler"):
            if (field, text) not in (("pools", "[]"), ("steps", "[]")):
                yield f"{field}-{text}", scenario(f"{field}: {text}")
        yield (
            f"template-{text}",
            hold().replace("template: {spec", f"template: {text}\n  x: {{spec"),
        )
        yield f"owners-{text}", hold(owners=text)
        yield f"size-{text}", headroom(size=text)
        yield f"spec-{text}", f"apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec: {text}\n"
        yield f"metadata-{text}", f"apiVersion: v1\nkind: Pod\nmetadata: {text}\nspec: {{}}\n"
    yield from _single()


def _single() -> Iterator[tuple[str, str]]:
    always = "requiredDuringSchedulingIgnoredDuringExecution"
    terms = "{nodeSelectorTerms: [{matchExpressions: [%s]}]}"
    expressions = f"affinity: {{nodeAffinity: {{{always}: {terms}}}}}"
    for operator, values in (("Gt", "[x]"), ("Lt", "[]"), ("Gt", "['1', '2']"), ("Gt", "['1.5']")):
        part = f"{{key: a, operator: {operator}, values: {values}}}"
        yield f"{operator}-{values}", pod(expressions % part)
    yield "operator", pod(expressions % "{key: a, operator: Near, values: [x]}")
    yield "gate-twice", pod("schedulingGates: [{name: a.b/c}, {name: a.b/c}]")
    yield "same-pod-twice", f"{pod()}---\n{pod()}"
    yield "same-hold-twice", f"{hold()}---\n{hold()}"
    yield "pool-twice", scenario("pools: [{name: a, count: 1}, {name: a, count: 1}]")
    yield "two-scenarios", f"{scenario('seed: 1')}---\n{scenario('seed: 2')}"
    yield "no-such-step", scenario("steps: [{at: 1s, explode: now}]")
    yield "two-acts", scenario("steps: [{at: 1s, operator: stopped, kubelet: a, state: stopped}]")
    yield "missing-file", scenario("steps: [{at: 1s, apply: [gone.yaml]}]")
    yield "late-step", scenario("until: 1s", "steps: [{at: 9s, operator: stopped}]")
    yield "field", scenario("untill: 10m")
    yield (
        "no-containers",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: []}\n",
    )
    yield "over-limit", pod().replace("requests:", "limits: {cpu: '0.5'}, requests:")


def _commands() -> Iterator[Bad]:
    for flags in NOT_FLAGS:
        yield Bad(f"simulate {' '.join(flags)}", ("simulate", "FILE", *flags), scenario("seed: 1"))
    for text in NOT_SUBJECTS:
        for verb in ("explain", "describe"):
            yield Bad(f"{verb} {text!r}", (verb, text, "--from", "FILE"), hold())
    for text in ("", "holdz", "hold/", "klingons", "pods", "hr,klingons", "!"):
        yield Bad(f"get {text!r}", ("get", text, "--from", "FILE"), hold())
    for text in NOT_NAMES:
        reserving = ("--cpu", "1", "--owner", "app=web", "--dry-run")
        yield Bad(
            f"reserve {text[:9]!r}",
            ("reserve", "--", text) if text[0] == "-" else ("reserve", text, *reserving),
        )
        for verb in ("get", "top"):
            yield Bad(
                f"{verb} -n {text[:9]!r}", (verb, f"--namespace={text}", "--from", "FILE"), hold()
            )
        yield Bad(f"install -n {text[:9]!r}", ("install", f"--namespace={text}", "--dry-run"))
    for text in NOT_IMAGES:
        yield Bad(f"install --image {text!r}", ("install", f"--image={text}", "--dry-run"))
    for text in NOT_QUANTITIES:
        yield Bad(
            f"reserve --cpu {text[:9]}",
            ("reserve", "h", f"--cpu={text}", "--owner", "a=b", "--dry-run"),
        )
    for text in NOT_DURATIONS[:5]:
        yield Bad(
            f"reserve --ttl {text}",
            ("reserve", "h", "--cpu=1", f"--ttl={text}", "--owner", "a=b", "--dry-run"),
        )
    for text in NOT_ADDRESSES:
        yield Bad(f"run --http {text}", ("run", f"--http={text}", "--kubeconfig", "FILE"), "{}")
        yield Bad(
            f"webhook --listen {text}",
            ("webhook", f"--listen={text}", "--kubeconfig", "FILE"),
            "{}",
        )
    for text in NOT_TIMES[:4]:
        yield Bad(f"plan --at {text}", ("plan", "FILE", "--at", text, "--from", "FILE"), hold())
    for index, text in enumerate(NOT_YAML):
        yield Bad(f"kubeconfig-{index}", ("get", "holds", "--kubeconfig", "FILE"), text)
        yield Bad(f"plan-{index}", ("plan", "FILE", "-n", "shop"), text)
    for index, text in enumerate((*NOT_YAML[:17], *NOT_YAML[23:], BOMB)):
        yield Bad(f"from-{index}", ("get", "holds", "--from", "FILE"), text)
    for verb in ("simulate", "plan", "get", "demo", "explode", ""):
        yield Bad(f"nowhere {verb}", (verb, "/nowhere/at/all"))


def bad_inputs() -> list[Bad]:
    """All of them, each once."""
    files = [Bad(f"file {name}", ("simulate", "FILE"), text) for name, text in _files()]
    return list({each.name: each for each in (*files, *_commands())}.values())
