"""`python -m tools.chart`: write `deploy/chart` from the code, or say that it is out of date."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from headroom import __version__
from headroom.cli.dialects import NAMES, chosen
from headroom.kube.versions import NEWEST, OLDEST, SUPPORTED_RANGE
from headroom.wire.guardians import PAUSE_IMAGE
from headroom.wire.yamls import dump
from tools.chart import values
from tools.chart.conditions import expression
from tools.chart.merging import Node, Same, merge
from tools.chart.variants import (
    MARKS,
    MOUNTPOINT,
    SERVED,
    TESTS,
    Name,
    all_names,
    foreign,
    installed,
    staying,
    universe,
    variants,
)
from tools.chart.writing import conditional, template

ROOT = Path(__file__).parent.parent.parent
CHART = ROOT / "deploy/chart"
HEAD = "{{- /* Written by `make chart` from the objects of `headroom install`. */}}\n"
# What other folders of deploy/ have for Prometheus and Grafana goes into the chart.
COPIED = {"prometheus": ("yaml", "rules"), "grafana": ("json", "dashboards")}


def files() -> dict[str, str]:
    """Every file that is written, by its path in the chart."""
    made = {
        "Chart.yaml": chart_yaml(),
        "values.yaml": values.values_yaml(),
        "values.schema.json": values.schema_json(),
        "README.md": readme(),
        "templates/_generated.tpl": helpers(),
    }
    for name in all_names():
        path = f"templates/{_file_of(name)}"
        made[path] = made.get(path, HEAD) + written(name)
    for folder, (ending, target) in COPIED.items():
        for source in sorted((ROOT / "deploy" / folder).glob(f"*.{ending}")):
            made[f"files/{target}/{source.name}"] = source.read_text(encoding="utf-8")
    return made


def written(name: Name) -> str:
    """The template of one object, with the conditions under which it exists."""
    found = variants(name)
    there = frozenset(found)
    body = template(_kept(name, merge(found)), there)
    lines = ["---", *body.splitlines()]
    tests = [f"({test})" for test in _tests(name)]
    if there != universe(name):
        tests.insert(0, f"({expression(there, universe(name), TESTS)})")
    if tests:
        lines = conditional(f"and {' '.join(tests)}" if len(tests) > 1 else tests[0], lines)
    if name[1] == SERVED:
        others = 'include "headroom.alsoServed" $ | splitList ","'
        lines = [
            "{{- range $there := $.Values.namespaces }}",
            *conditional(f"not (has $there ({others}))", lines),
            "{{- end }}",
        ]
    return "\n".join(lines) + "\n"


def _tests(name: Name) -> Iterator[str]:
    """What the chart asks besides the switches of an installation."""
    kind, _, called = name
    if kind == "CustomResourceDefinition":
        yield "$.Values.crds.install"
    if kind == "PodDisruptionBudget":
        yield "$.Values.podDisruptionBudget.enabled"
    if kind == "NetworkPolicy":
        yield "$.Values.networkPolicy.enabled"
    if name in foreign():
        version = next(iter(variants(name).values()))["apiVersion"]
        shown = MARKS.get(called, f'"{called}"')
        yield f'include "headroom.isFree" (list $ "{version}" "{kind}" {shown})'


def _kept(name: Name, node: Node) -> Node:
    """The object with Helm's annotation to keep it, if it must stay."""
    if name not in staying():
        return node
    keep = {"helm.sh/resource-policy": "keep"}
    if isinstance(node, Same):
        metadata = node.value["metadata"]
        annotations = {**metadata.get("annotations", {}), **keep}
        return Same({**node.value, "metadata": {**metadata, "annotations": annotations}})
    raise TypeError(f"{name} stays, but differs between installations")


def _file_of(name: Name) -> str:
    kind, _, called = name
    if name not in installed(frozenset(TESTS) - {"webhook"}):
        return "webhook.yaml"
    if kind == "CustomResourceDefinition":
        return f"crd-{called}.yaml"
    return {
        "PriorityClass": "priorityclasses.yaml",
        "Namespace": "namespaces.yaml",
        "ValidatingAdmissionPolicy": "confinement.yaml",
        "ValidatingAdmissionPolicyBinding": "confinement.yaml",
        "MutatingAdmissionPolicy": "gate.yaml",
        "MutatingAdmissionPolicyBinding": "gate.yaml",
        "Deployment": "operator.yaml",
        "PodDisruptionBudget": "operator.yaml",
        "NetworkPolicy": "operator.yaml",
    }.get(kind, "rights.yaml")


def helpers() -> str:
    """Helper templates that follow from the code: the default image, namespaces, flags of run."""
    lines = [HEAD.rstrip(), '{{- define "headroom.usualPauseImage" -}}', PAUSE_IMAGE, "{{- end }}"]
    lines += ['{{- define "headroom.alsoServed" -}}', "{{ $.Release.Namespace }}"]
    mountpoint = ",".join(f"{key}={value}" for key, value in MOUNTPOINT.items())
    for name in NAMES:
        (dialect,) = chosen([name], mountpoint if name == "schedulinggate" else "").dialects
        for there in (*(space for space, _ in dialect.headrooms if space), *dialect.namespaces):
            shown = f"{{{{ {MARKS[there]} }}}}" if there in MARKS else there
            lines += [f"{{{{- if {TESTS[name]} }}}},{shown}{{{{- end }}}}"]
    lines += ["{{- end }}", *_unsupported(), '{{- define "headroom.runFlags" -}}']
    for flag in values.RUN_FLAGS:
        lines += _run_flag(flag)
    return "\n".join([*lines, "{{- end }}"]) + "\n"


def _unsupported() -> list[str]:
    """The note for clusters newer than the tested versions; Helm refuses older ones by itself."""
    ours = "$.Capabilities.KubeVersion.Version"
    test = f'semverCompare ">={NEWEST.major}.{NEWEST.minor + 1}.0-0" {ours}'
    said = f"Kubernetes {{{{ {ours} }}}} is newer than what is supported: {SUPPORTED_RANGE}."
    lines = conditional(test, [f"{said} Nobody has tested it."])
    return ['{{- define "headroom.unsupported" -}}', *lines, "{{- end }}"]


def _run_flag(flag: values.RunFlag) -> list[str]:
    value = f"$.Values.{flag.path}"
    if flag.is_list:
        one = f'- {{{{ printf "{flag.flag}=%v" . | quote }}}}'
        return [f"{{{{- range {value} }}}}", one, "{{- end }}"]
    test = value if flag.is_switch else f'not (kindIs "invalid" {value})'
    if flag.dialect:
        test = f"and ({TESTS[flag.dialect]}) ({test})"
    if flag.is_switch:
        return conditional(test, [f"- {flag.flag}"])
    number = flag.schema.get("type") == ["integer", "null"]
    shown = f"{value} | int64" if number else f"{value} | toString"
    return conditional(test, [f'- {{{{ printf "{flag.flag}=%v" ({shown}) | quote }}}}'])


def chart_yaml() -> str:
    """What the chart is, for Helm and for Artifact Hub."""
    about = "Keeps Kubernetes capacity ready, and hands it to the pods it was kept for"
    return "# Written by `make chart`.\n" + dump(
        {
            "apiVersion": "v2",
            "name": "headroom",
            "description": about,
            "type": "application",
            "version": __version__,
            "appVersion": __version__,
            "kubeVersion": f">={OLDEST}.0-0",
            "keywords": ["capacity", "scheduling", "autoscaling", "headroom", "overprovisioning"],
            "annotations": {
                "artifacthub.io/license": "Apache-2.0",
                "artifacthub.io/operator": "true",
                "artifacthub.io/operatorCapabilities": "Seamless Upgrades",
                "artifacthub.io/prerelease": "true",
                "artifacthub.io/category": "integration-delivery",
                "artifacthub.io/crds": dump(_kinds()),
                "artifacthub.io/images": dump(
                    [{"name": "headroom", "image": f"headroom:{__version__}"}]
                ),
            },
        }
    )


def _kinds() -> list[dict[str, str]]:
    return [
        {
            "kind": made["spec"]["names"]["kind"],
            "version": made["spec"]["versions"][0]["name"],
            "name": made["metadata"]["name"],
            "displayName": made["spec"]["names"]["kind"],
            "description": " ".join(
                made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
                .get("description", made["spec"]["names"]["kind"])
                .split()
            ),
        }
        for made in chosen(()).definitions()
    ]


def readme() -> str:
    """The page about the chart: a text by hand and the table of values."""
    text = (Path(__file__).parent / "readme.md").read_text(encoding="utf-8")
    return text.replace("VALUES\n", values.table()).replace("VERSION", __version__)


def out_of_date(made: Mapping[str, str]) -> list[str]:
    """Files that differ from the generated ones, and files that are no longer generated."""
    wrong = [path for path, text in made.items() if _read(CHART / path) != text]
    head = HEAD.strip()
    left = [
        short
        for path in (CHART / "templates").glob("*")
        for short in (f"templates/{path.name}",)
        if short not in made and (_read(path) or "").startswith(head)
    ]
    return sorted([*wrong, *left])


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


def main(arguments: Sequence[str] | None = None) -> int:
    """Write what differs; with --check only report it."""
    parser = argparse.ArgumentParser(prog="python -m tools.chart", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if it differs")
    options = parser.parse_args(arguments)
    made = files()
    wrong = out_of_date(made)
    for path in wrong:
        print(path, file=sys.stderr)
        if options.check:
            continue
        if path not in made:
            (CHART / path).unlink()
            continue
        (CHART / path).parent.mkdir(parents=True, exist_ok=True)
        (CHART / path).write_text(made[path], encoding="utf-8")
    return 1 if options.check and wrong else 0


if __name__ == "__main__":
    sys.exit(main())
