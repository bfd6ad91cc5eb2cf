"""Reserved names: labels, annotations and PriorityClasses that only the operator may use.

Only the operator may write names of our group on a pod, a Hold or a Headroom, except those that are
documented for users. Only changes are checked: a client that updates a pod and keeps these names
unchanged (a kubelet, a controller, kubectl) is not affected. Users with the permission `use` of
`reservednames` in our group, such as cluster administrators, may write them too.
"""

from __future__ import annotations

from headroom.core.names import (
    ANNOTATIONS_OF_USERS,
    GROUP,
    LIMITS_ANNOTATION,
)
from headroom.wire.admission_policies.cel import Check, Match, Validating, mapping, text, texts
from headroom.wire.admission_policies.pods import guardian_classes
from headroom.wire.kind_codecs import KindCodecs
from headroom.wire.kinds import HEADROOMS, HOLDS

PODS_NAME = "reserved-on-pods.headroom.dev"
OBJECTS_NAME = "reserved-on-objects.headroom.dev"
BINDINGS_NAME = "reserved-on-bindings.headroom.dev"
NAMESPACES_NAME = "reserved-on-namespaces.headroom.dev"

RESERVED = "reservednames"  # no kind: what the right to write reserved names is about
USE = "use"

_MAY = f"authorizer.group({text(GROUP)}).resource({text(RESERVED)}).check({text(USE)}).allowed()"
_HINT = f"only the operator may (and who may {USE} {RESERVED}.{GROUP})"


def reserved(user: str, codecs: KindCodecs) -> list[Validating]:
    """The policies on what everybody but the operator writes."""
    others = {"not-the-operator": f"request.userInfo.username != {text(user)}"}
    classes = guardian_classes(codecs)
    by_class = f"!(object.spec.?priorityClassName.orValue('') in {texts(classes)})"
    return [
        Validating(
            PODS_NAME,
            (Match("", ("pods", "pods/status"), ("CREATE", "UPDATE")),),
            others,
            (
                *_words("a pod"),
                Check(
                    f"request.operation != 'CREATE' || {by_class} || {_MAY}",
                    f"the priority classes {', '.join(classes)} are for pods that keep room: "
                    f"{_HINT}",
                ),
            ),
            _variables(),
        ),
        # Annotations of a binding become those of its pod.
        Validating(
            BINDINGS_NAME,
            (Match("", ("pods/binding", "bindings"), ("CREATE",)),),
            others,
            _words("a pod"),
            _variables(),
        ),
        Validating(
            OBJECTS_NAME,
            _kinds(codecs),
            others,
            _words("an object"),
            _variables(),
        ),
        Validating(
            NAMESPACES_NAME,
            (Match("", ("namespaces",), ("CREATE", "UPDATE")),),
            {},
            (
                Check(
                    f"variables.notes[?{text(LIMITS_ANNOTATION)}] == "
                    f"variables.oldNotes[?{text(LIMITS_ANNOTATION)}] || {_MAY}",
                    f"the limits of a namespace ({LIMITS_ANNOTATION}) are for administrators: "
                    f"only who may {USE} {RESERVED}.{GROUP} writes them",
                ),
            ),
            _variables(),
        ),
    ]


def _kinds(codecs: KindCodecs) -> tuple[Match, ...]:
    """Our own kinds and those of the dialects that are on, a match for each group."""
    kinds = (HOLDS, HEADROOMS, *codecs.foreign)
    return tuple(
        Match(
            group, tuple(each.plural for each in kinds if each.group == group), ("CREATE", "UPDATE")
        )
        for group in dict.fromkeys(each.group for each in kinds)
    )


def _words(on: str) -> tuple[Check, ...]:
    label = f"key.startsWith({text(f'{GROUP}/')})"
    note = f"({label} && !(key in {texts(ANNOTATIONS_OF_USERS)}))"
    return (
        Check(
            f"({_kept('variables.oldLabels', 'variables.labels', label)}) || {_MAY}",
            f"labels of {GROUP}/ on {on} are reserved: {_HINT}",
        ),
        Check(
            f"({_kept('variables.oldNotes', 'variables.notes', note)}) || {_MAY}",
            f"annotations of {GROUP}/ on {on} are reserved: {_HINT}",
        ),
    )


def _kept(before: str, after: str, ours: str) -> str:
    """That no key of which `ours` is true is new, gone or another."""
    return (
        f"{after}.all(key, !{ours} || (key in {before} && {before}[key] == {after}[key])) && "
        f"{before}.all(key, !{ours} || key in {after})"
    )


def _variables() -> dict[str, str]:
    return {
        "labels": mapping("object", "labels"),
        "notes": mapping("object", "annotations"),
        "oldLabels": f"oldObject == null ? {{}} : {mapping('oldObject', 'labels')}",
        "oldNotes": f"oldObject == null ? {{}} : {mapping('oldObject', 'annotations')}",
    }
