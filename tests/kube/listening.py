"""What a cluster tells first, each event in a word or two."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing

from headroom.kube.cluster import KubeCluster
from headroom.ports import Event


async def first_words(cluster: KubeCluster, count: int, word: Callable[[Event], str]) -> list[str]:
    """The first events of a cluster's stream; then it is closed."""
    words: list[str] = []
    try:
        async with aclosing(cluster.watch()) as stream:
            async for event in stream:
                words.append(word(event))
                if len(words) == count:
                    break
    finally:
        await cluster.close()
    return words
