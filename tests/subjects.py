"""Subjects as tests write them: by the text that logs have of them."""

from __future__ import annotations

from headroom.core.objects import Key
from headroom.core.subjects import Subject, Topic, pod_subject


def subject(text: str) -> Subject:
    """Read a text such as `pod shop/web`, `hold Hold/shop/h` or `node a`."""
    word, _, name = text.partition(" ")
    topic = Topic(word)
    if topic in (Topic.POD, Topic.FOLLOW):
        return pod_subject(Key(*name.split("/")), topic)
    if topic is Topic.INDEX:
        return Subject(topic, name, name)
    return Subject(topic, name, name.split("/", 2)[1] if name.count("/") >= 2 else "")
