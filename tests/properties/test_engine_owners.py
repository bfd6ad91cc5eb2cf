"""Owner rules and their index: whoever matches a rule is found by its keys."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headroom.core.holds import ControllerMatch, Hold, ObjectMatch, OwnerRule
from headroom.core.objects import LabelSelector, OwnerReference, Pod, Requirement
from headroom.core.owners import index_keys, owner_refusal, pod_keys, rule_keys
from headroom.engine.hold_index import HoldIndex
from tests.builders import hold, pod
from tests.samples import examples

NAMES = st.sampled_from(("a", "b", ""))
KEYS = st.sampled_from(("app", "tier"))
VALUES = st.sampled_from(("x", "y", "z"))

requirements = st.one_of(
    st.builds(Requirement, KEYS, st.just("In"), st.lists(VALUES, max_size=3).map(tuple)),
    st.builds(Requirement, KEYS, st.just("NotIn"), st.lists(VALUES, max_size=2).map(tuple)),
    st.builds(Requirement, KEYS, st.sampled_from(("Exists", "DoesNotExist"))),
)
selectors = st.builds(LabelSelector, st.lists(requirements, max_size=2).map(tuple))
rules = st.builds(
    OwnerRule,
    object=st.none() | st.builds(ObjectMatch, name=NAMES),
    controller=st.none() | st.builds(ControllerMatch, name=NAMES, kind=NAMES),
    selector=st.none() | selectors,
    priority_at_least=st.none() | st.integers(0, 2),
)
pods = st.builds(
    lambda name, labels, owner, priority, namespace: pod(
        name, labels=labels, owners=owner, priority=priority, namespace=namespace
    ),
    st.sampled_from(("a", "b", "c")),
    st.dictionaries(KEYS, VALUES),
    st.lists(st.builds(OwnerReference, st.just("v1"), NAMES, NAMES, st.just("u")), max_size=2).map(
        tuple
    ),
    st.integers(0, 2),
    st.sampled_from(("here", "there")),
)
holds = st.lists(
    st.tuples(st.lists(rules, max_size=2).map(tuple), st.sampled_from(("here", "there"))),
    max_size=5,
).map(
    lambda found: [
        hold(f"h{number}", owners=owners, namespace=namespace)
        for number, (owners, namespace) in enumerate(found)
    ]
)


@given(rules, pods)
def test_a_pod_that_matches_a_rule_carries_one_of_its_keys(rule: OwnerRule, owner: Pod) -> None:
    only = hold("h", owners=(rule,), namespace=owner.key.namespace)
    if owner_refusal(only, owner) is None:
        assert set(index_keys(rule)) & set(pod_keys(owner))


@examples(60)
@given(holds, pods, st.data())
def test_the_index_misses_no_hold_that_a_pod_may_claim(
    all_of_them: list[Hold], owner: Pod, data: st.DataObject
) -> None:
    hold_index = HoldIndex(across_namespaces=False)
    for each in all_of_them:
        hold_index.add(each)
    gone = data.draw(st.sets(st.sampled_from([str(each.parent) for each in all_of_them] or ["-"])))
    for parent in sorted(gone):
        hold_index.remove(parent)
    left = [each for each in all_of_them if str(each.parent) not in gone]
    found = list(hold_index.for_pod(owner))
    assert found == sorted(set(found))
    mine = {str(each.parent) for each in left if owner_refusal(each, owner) is None}
    assert mine <= set(found)
    carried = set(pod_keys(owner))
    near = {
        str(each.parent)
        for each in left
        if each.parent.namespace == owner.key.namespace and carried & set(rule_keys(each))
    }
    assert set(found) == near
