"""What is true of every size of a kind, as far as others have to know; asked of the size itself.

A new kind of size inherits from `SizeKind`, says where it differs from the usual, and is asked
nothing else by whom it does not concern. Who works with one kind alone still asks for that kind.
"""

from __future__ import annotations

from typing import ClassVar


class SizeKind:
    """The usual: a number of slots with names of their own, which nothing but the spec decides."""

    __slots__ = ()

    by_node: ClassVar[bool] = False  # Each eligible node has its slots, which are named after it.
    by_load: ClassVar[bool] = False  # What the pods of the cluster ask for decides, within quotas.
    learns: ClassVar[bool] = False  # Owners that came decide, and pods that are announced.
    of_workload: ClassVar[bool] = False  # It is a part of a workload's replicas.
    shares_quotas: ClassVar[bool] = False  # All such sizes of a namespace share what quotas leave.
    held_once: ClassVar[bool] = False  # What was claimed is not held again, whatever refill says.

    with_auto: ClassVar[bool] = False  # It goes with shapes that are chosen.
    with_node_chunks: ClassVar[bool] = False  # It may be held in pieces as large as a node.
    with_window_replicas: ClassVar[bool] = False  # A window may put a number in its place.

    @property
    def in_parts(self) -> bool:
        """Whether the size itself says how much a slot keeps."""
        return False

    @property
    def reads_volumes(self) -> bool:
        """Whether volumes of pods decide."""
        return False

    def number(self, replicas: int) -> int:
        """How many slots the spec asks for, of a workload with so many; 0 where others decide."""
        return 0
