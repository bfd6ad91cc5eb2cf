"""Which DaemonSets the operator may write: those of Headrooms, which create no pods.

A DaemonSet runs its pods on every node, so who may write one controls the cluster. Ours creates no
pods: each term of its required node affinity names a node that does not exist.
"""

from __future__ import annotations

from headroom.core.headrooms.node_overhead import NOWHERE
from headroom.wire.admission_policies import cel
from headroom.wire.admission_policies.pods import controlled_by, harmless
from headroom.wire.kind_codecs import KindCodecs
from headroom.wire.kinds import DAEMON_SETS, HEADROOMS

NAME = "operator-daemonsets.headroom.dev"
_SPEC = "object.spec.template.spec"
_TERMS = (
    f"{_SPEC}.?affinity.?nodeAffinity.?requiredDuringSchedulingIgnoredDuringExecution"
    ".?nodeSelectorTerms.orValue([])"
)


def daemon_sets(user: str, image: str, codecs: KindCodecs) -> cel.Validating:
    """The policy on DaemonSets that the operator writes."""
    served = (HEADROOMS, *codecs.foreign)
    old = controlled_by("oldObject", served)
    same = cel.unchanged("metadata", ("ownerReferences", "finalizers"))
    return cel.Validating(
        NAME,
        (cel.Match(DAEMON_SETS.group, (DAEMON_SETS.plural,), ("CREATE", "UPDATE")),),
        cel.made_by(user),
        (
            cel.Check(
                controlled_by("object", served),
                "the operator writes only DaemonSets that belong to an object that is served",
            ),
            cel.Check(
                f"request.operation != 'UPDATE' || {cel.both([old, same])}",
                "the operator takes no DaemonSet of others, and gives none away",
            ),
            cel.Check(
                _nowhere(), "a DaemonSet of the operator has no pods: it wants a node that is not"
            ),
            *harmless(_SPEC, image),
        ),
        {"container": f"{_SPEC}.containers[0]"},
    )


def _nowhere() -> str:
    field = "field.key == 'metadata.name' && field.operator == 'In'"
    named = f"{field} && field.values == [{cel.text(NOWHERE)}]"
    each = f"term.?matchFields.orValue([]).exists(field, {named})"
    return f"size({_TERMS}) > 0 && {_TERMS}.all(term, {each})"
