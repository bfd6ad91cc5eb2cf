"""The algebra of resource vectors."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headroom.core.resources import EMPTY, Resources
from tests.samples import examples

_NAMES = ("cpu", "memory", "pods", "example.com/gpu")
_VECTORS = st.builds(
    Resources, st.dictionaries(st.sampled_from(_NAMES), st.integers(min_value=0, max_value=9))
)


@given(_VECTORS, _VECTORS, _VECTORS)
@examples(60)
def test_adding_is_the_same_in_any_order(one: Resources, two: Resources, three: Resources) -> None:
    assert one + two == two + one
    assert (one + two) + three == one + (two + three)
    assert one + EMPTY == one


@given(_VECTORS, _VECTORS)
@examples(60)
def test_what_was_added_can_be_taken_away_again(one: Resources, two: Resources) -> None:
    assert (one + two) - two == one
    assert (one + two).minus(two) == one


@given(_VECTORS, _VECTORS)
@examples(60)
def test_the_largest_holds_both_and_nothing_smaller_does(one: Resources, two: Resources) -> None:
    both = one.largest(two)
    assert one.fits_in(both)
    assert two.fits_in(both)
    assert all(both[name] in (one[name], two[name]) for name in _NAMES)


@given(_VECTORS, _VECTORS)
@examples(60)
def test_what_fits_leaves_nothing_negative(asked: Resources, room: Resources) -> None:
    assert asked.fits_in(room) == all((room - asked)[name] >= 0 for name in _NAMES)


@given(_VECTORS, _VECTORS)
@examples(60)
def test_vectors_are_equal_when_all_amounts_are(one: Resources, two: Resources) -> None:
    same = all(one[name] == two[name] for name in _NAMES)
    assert (one == two) == same
    assert hash(one) == hash(two) or not same


@given(_VECTORS)
@examples(50)
def test_a_vector_reads_like_the_mapping_it_is(one: Resources) -> None:
    assert dict(one.items()) == {name: one[name] for name in one}
    assert list(one.keys()) == list(one)
    assert sum(one.values()) == sum(one[name] for name in one)
