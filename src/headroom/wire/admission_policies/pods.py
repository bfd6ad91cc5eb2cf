"""What a pod that the operator creates must look like: one of ours, with minimal permissions.

These are the properties of the pods of `wire.guardians` that an API server can check: role, image,
restricted security context, no volumes, nothing of the host, no token, a priority class of ours,
and an owner of a kind that is served. Mutating webhooks run before: what they add is checked as
well.
"""

from __future__ import annotations

from collections.abc import Iterable

from headroom.core import names
from headroom.wire.admission_policies.cel import (
    Check,
    Match,
    Validating,
    both,
    made_by,
    text,
    texts,
)
from headroom.wire.guardians import LONGEST_GRACE_S, SLEEP_S
from headroom.wire.kind_codecs import KindCodecs
from headroom.wire.kinds import HEADROOMS, HOLDS, SLOT_SETS, Resource

NAME = "operator-pods.headroom.dev"
ROLES = (names.ROLE_GUARDIAN, names.ROLE_LATCH, names.ROLE_FENCE)
OUR_CLASSES = (names.LOCKED_CLASS, names.PREEMPTIBLE_CLASS)

# What a container of ours never has; what is empty is as good as missing.
_NO_LISTS = ("command", "args", "env", "envFrom", "volumeMounts", "volumeDevices")
_NO_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_NO_POD_LISTS = ("volumes", "initContainers", "ephemeralContainers", "resourceClaims")
_NO_HOST = ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace")


def role_of(root: str) -> str:
    """The role that a pod says it has; empty for a pod that is not ours."""
    return f"{root}.metadata.?labels[?{text(names.ROLE_LABEL)}].orValue('')"


def creation(user: str, home: str, image: str, codecs: KindCodecs) -> Validating:
    """The policy on pods that the operator creates."""
    return Validating(
        NAME,
        (Match("", ("pods",), ("CREATE",)),),
        made_by(user),
        (
            Check(
                f"variables.role in {texts(ROLES)}",
                "the operator creates only pods with a role of ours in the label "
                f"{names.ROLE_LABEL}",
            ),
            *harmless("object.spec", image),
            Check(_modest(codecs), "our pods have a priority class of ours and never preempt"),
            Check(_owned(codecs), "guardians and fences belong to an object that is served"),
            Check(_latch_at_home(home), f"latches live in {home} and wait at a gate of ours"),
        ),
        {"role": role_of("object"), "container": "object.spec.containers[0]"},
    )


def harmless(spec: str, image: str) -> tuple[Check, ...]:
    """That pods of a spec can do nothing; `variables.container` is its first container."""
    lists = [_empty(spec, name) for name in _NO_POD_LISTS]
    return (
        Check(_plain_container(spec, image), f"our pods have one container, of the image {image}"),
        Check(both(lists), "our pods have no volumes, no further containers, no resource claims"),
        Check(_nothing_of_the_host(spec), "our pods have nothing of the host"),
        Check(_no_identity(spec), "our pods have no service account of their own and no token"),
        Check(_restricted(spec), "our pods have a restricted security context"),
    )


def guardian_classes(codecs: KindCodecs) -> tuple[str, ...]:
    """The priority classes that pods of ours may have."""
    return tuple(dict.fromkeys((*OUR_CLASSES, *codecs.guardian_classes)))


def _empty(root: str, name: str) -> str:
    return f"size({root}.?{name}.orValue([])) == 0"


def _plain_container(spec: str, image: str) -> str:
    container = "variables.container"
    return both(
        [
            f"size({spec}.containers) == 1",
            f"{container}.image == {text(image)}",
            *(_empty(container, name) for name in _NO_LISTS),
            *(f"!has({container}.{name})" for name in _NO_PROBES),
            f"!has({container}.lifecycle) || ({_sleeps_only(f'{container}.lifecycle')})",
            # A guardian keeps the host ports of its template, and listens on none.
            f"{container}.?ports.orValue([]).all(port, has(port.hostPort))",
        ]
    )


def _sleeps_only(lifecycle: str) -> str:
    """That the kubelet waits a while before it ends a container, and runs nothing in it."""
    return both(
        [
            f"!has({lifecycle}.postStart) && !has({lifecycle}.stopSignal)",
            f"{lifecycle}.?preStop.?sleep.?seconds.orValue({SLEEP_S + 1}) <= {SLEEP_S}",
        ]
    )


def _nothing_of_the_host(spec: str) -> str:
    flags = [f"!{spec}.?{name}.orValue(false)" for name in _NO_HOST]
    return both([*flags, f"!has({spec}.hostUsers)"])


def _no_identity(spec: str) -> str:
    return both(
        [
            f"!{spec}.?automountServiceAccountToken.orValue(true)",
            f"{spec}.?serviceAccountName.orValue('default') in ['', 'default']",
        ]
    )


def _restricted(spec: str) -> str:
    pod, own = f"{spec}.securityContext", "variables.container.securityContext"
    return both(
        [
            f"{spec}.?securityContext.?runAsNonRoot.orValue(false)",
            f"{pod}.?runAsUser.orValue(0) > 0",
            f"{pod}.?seccompProfile.?type.orValue('') == 'RuntimeDefault'",
            *(f"!has({pod}.{name})" for name in ("seLinuxOptions", "windowsOptions")),
            f"size({pod}.?sysctls.orValue([])) == 0",
            f"has(variables.container.securityContext) && !{own}.?privileged.orValue(false)",
            f"!{own}.?allowPrivilegeEscalation.orValue(true)",
            f"{own}.?readOnlyRootFilesystem.orValue(false)",
            f"{own}.?capabilities.?drop.orValue([]) == ['ALL']",
            f"size({own}.?capabilities.?add.orValue([])) == 0",
            *(
                f"!has({own}.{name})"
                for name in ("procMount", "seLinuxOptions", "seccompProfile", "windowsOptions")
            ),
            f"{own}.?runAsUser.orValue(1) > 0 && {own}.?runAsNonRoot.orValue(true)",
        ]
    )


def _modest(codecs: KindCodecs) -> str:
    return both(
        [
            f"object.spec.?priorityClassName.orValue('') in {texts(guardian_classes(codecs))}",
            "object.spec.?preemptionPolicy.orValue('') == 'Never' || "
            "object.spec.?priority.orValue(0) < 0",
            f"object.spec.?terminationGracePeriodSeconds.orValue(30) <= {LONGEST_GRACE_S}",
        ]
    )


def controlled_by(root: str, kinds: Iterable[Resource]) -> str:
    """That the controller of an object is of one of these kinds."""
    named = texts(dict.fromkeys(f"{each.api_version}/{each.kind}" for each in kinds))
    return (
        f"{root}.metadata.?ownerReferences.orValue([]).exists(owner, "
        f"owner.?controller.orValue(false) && (owner.apiVersion + '/' + owner.kind) in {named})"
    )


def _owned(codecs: KindCodecs) -> str:
    served = controlled_by("object", (HOLDS, HEADROOMS, SLOT_SETS, *codecs.foreign))
    return f"variables.role == {text(names.ROLE_LATCH)} || ({served})"


def _latch_at_home(home: str) -> str:
    latch = both(
        [
            f"object.metadata.namespace == {text(home)}",
            "!has(object.spec.nodeName)",
            "object.spec.?schedulingGates.orValue([])"
            f".exists(gate, gate.name == {text(names.LATCH_GATE)})",
        ]
    )
    return f"variables.role != {text(names.ROLE_LATCH)} || ({latch})"
