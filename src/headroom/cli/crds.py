"""`headroom crds`: the definitions of our kinds, for `kubectl apply --server-side -f -`."""

from __future__ import annotations

from headroom.cli.options import Dialects, known_dialects
from headroom.cli.output import put


def crds(dialect: Dialects = None) -> None:
    """Print the CustomResourceDefinitions as YAML."""
    from headroom.wire.crds import crds_yaml

    known_dialects(dialect)
    put(crds_yaml())
