"""Pods that ask for a hold by annotation: what each spelling means, and which are refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headroom.core.holds import Hold, OwnerRule, PodTemplate
from headroom.core.objects import Key, Parent, Pod
from headroom.core.owners import gate_keys, owner_refusal, pod_keys, rule_keys
from headroom.dialects.korder.rules.requests import (
    Asks,
    Malformed,
    Request,
    request_of,
    with_requests,
)

TICKET = Asks(
    name="web-0",
    order="web",
    group="front",
    labels=(("app", "shop"), ("tier", "front")),
)


def hold(asks: Asks = TICKET) -> Hold:
    parent = Parent("core.korder.dev/v1alpha1", "Ticket", "shop", asks.name)
    return Hold(parent, PodTemplate(Pod(Key("shop", ""))), (OwnerRule(asks=asks),))


def _named(name: str) -> Hold:
    return hold(replace(TICKET, name=name))


def pod(**annotations: str) -> Pod:
    told = {f"korder.dev/{name.replace('_', '-')}": text for name, text in annotations.items()}
    return with_requests(Pod(Key("shop", "p"), annotations=told))


@pytest.mark.parametrize(
    "asking",
    [
        pod(ticket_request="web-0"),
        pod(ticket_request=" web-0 "),
        pod(ticket_request="name:web-0"),
        pod(ticket_request="name: web-0"),
        pod(ticket_request="selector:app=shop"),
        pod(ticket_request="selector: tier = front , app = shop "),
        pod(ticket_request="group:front"),
        pod(ticket_request="group:web"),
        pod(order_request="web"),
        pod(required="true", order="web"),
    ],
    ids=lambda asking: str(dict(asking.annotations)),
)
def test_each_way_to_ask_for_a_ticket_is_understood(asking: Pod) -> None:
    assert owner_refusal(hold(), asking) is None
    assert set(rule_keys(hold())) & set(pod_keys(asking))
    assert set(gate_keys(hold(), "shop", False)) & set(pod_keys(asking))


@pytest.mark.parametrize(
    ("asking", "words"),
    [
        (pod(), "does not ask for it"),
        (pod(order="web"), "does not ask for it"),
        (pod(ticket_request="name:web-1"), "the one named web-1"),
        (pod(ticket_request="selector:app=shop,tier=back"), "the labels app=shop, tier=back"),
        (pod(ticket_request="group:back"), "one of the group back"),
        (pod(order_request="other"), "one of the order other"),
        (pod(required="true", order="other"), "one of the order other"),
    ],
    ids=lambda value: str(dict(value.annotations)) if isinstance(value, Pod) else None,
)
def test_who_asks_for_another_is_told_so(asking: Pod, words: str) -> None:
    refusal = owner_refusal(hold(), asking)
    assert refusal is not None
    assert words in refusal


@pytest.mark.parametrize(
    ("asking", "words"),
    [
        (pod(ticket_request=""), "does not say what is asked for"),
        (pod(ticket_request="name:"), "does not say what is asked for"),
        (pod(ticket_request="selector: "), "does not say what is asked for"),
        (pod(ticket_request="group:"), "does not say what is asked for"),
        (pod(order_request=" "), "does not say what is asked for"),
        (pod(ticket_request="selector:app"), "'app' of 'selector:app' is not like key=value"),
        (pod(ticket_request="selector:app=shop,"), "is not like key=value"),
        (pod(ticket_request="selector:=shop"), "is not like key=value"),
        (pod(ticket_request="selector:app==shop"), "is not like key=value"),
        (pod(ticket_request="order:web"), "begins with neither name:, selector: nor group:"),
        (pod(ticket_request="web-0", order_request="web"), "asks twice"),
        (pod(order_request="web", required="true", order="web"), "asks twice"),
    ],
    ids=lambda value: str(dict(value.annotations)) if isinstance(value, Pod) else None,
)
def test_a_request_that_means_nothing_is_refused_in_words(asking: Pod, words: str) -> None:
    request = request_of(asking.annotations)
    assert isinstance(request, Malformed)
    assert words in request.message
    assert owner_refusal(hold(), asking) == request.message
    # It is compared with the tickets of the namespace all the same, or nobody would tell it why.
    one_of_many = "asks twice" in words
    assert one_of_many or set(rule_keys(hold())) & set(pod_keys(asking))


def test_a_pod_is_compared_only_with_tickets_that_it_may_mean() -> None:
    other = replace(hold(Asks(name="db-0", order="db", labels=(("app", "db"),))))
    for asking in (
        pod(ticket_request="web-0"),
        pod(ticket_request="selector:app=shop"),
        pod(ticket_request="group:front"),
        pod(order_request="web"),
        pod(required="true", order="web"),
    ):
        assert not set(rule_keys(other)) & set(pod_keys(asking))


def test_a_thousand_tickets_need_no_more_gate_keys_than_one() -> None:
    keys = {key for n in range(1000) for key in gate_keys(_named(f"web-{n}"), "shop", False)}
    assert keys == {
        "asks:korder.dev/ticket-request",
        "asks:korder.dev/order-request",
        "asks:korder.dev/order",
    }


def test_a_selector_means_the_same_in_any_order() -> None:
    forth = request_of(pod(ticket_request="selector:a=1,b=2").annotations)
    back = request_of(pod(ticket_request="selector:b=2,a=1").annotations)
    assert forth == back == Request("selector", pairs=(("a", "1"), ("b", "2")))


def test_tickets_of_another_namespace_are_not_for_this_pod() -> None:
    stranger = replace(pod(ticket_request="web-0"), key=Key("elsewhere", "p"))
    assert owner_refusal(hold(), stranger) == (
        "the pod is in namespace elsewhere, the hold is for shop"
    )
