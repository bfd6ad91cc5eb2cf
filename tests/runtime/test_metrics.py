"""Numbers have bounded labels and our prefix."""

from __future__ import annotations

from collections.abc import Iterator

from headroom.runtime.metrics import PHASES, LoopCounter, Metrics

UNBOUNDED = {"pod", "node", "name", "hold", "namespace", "uid", "owner"}


def test_every_metric_has_our_prefix_and_a_help_text() -> None:
    for family in Metrics("1").registry.collect():
        assert family.name.startswith("headroom_")
        assert family.documentation.endswith(".")


def test_no_label_can_grow_with_the_cluster() -> None:
    labels = {
        label
        for family in Metrics("1").registry.collect()
        for sample in family.samples
        for label in sample.labels
    }
    assert labels & UNBOUNDED == set()


def test_what_is_counted_during_a_scrape_does_not_break_it() -> None:
    counter = LoopCounter("headroom_x", "Text.", ("kind",))

    class CountsMeanwhile(tuple[str, ...]):
        """Labels whose reading lets the event loop's thread count something new."""

        __slots__ = ()

        def __iter__(self) -> Iterator[str]:
            counter.counts["new",] += 1
            return super().__iter__()

    counter.counts[CountsMeanwhile(("old",))] = 1
    assert [sample.labels for sample in next(counter.collect()).samples] == [{"kind": "old"}]


def test_two_operators_in_one_process_count_apart() -> None:
    first, second = Metrics("1"), Metrics("1")
    first.hits.inc()
    assert first.registry.get_sample_value("headroom_hits_total") == 1
    assert second.registry.get_sample_value("headroom_hits_total") == 0


def test_a_phase_that_is_not_named_has_no_holds() -> None:
    metrics = Metrics("1")
    metrics.count_holds({"Pending": 2})
    metrics.count_holds({"Available": 2})
    counts = {
        phase: metrics.registry.get_sample_value("headroom_holds", {"phase": phase})
        for phase in PHASES
    }
    assert counts == {"Pending": 0, "Waiting": 0, "Available": 2, "Succeeded": 0, "Failed": 0}
