"""`headroom crds`: the definitions of our kinds, for `kubectl apply --server-side -f -`."""

from __future__ import annotations

from headroom.cli.dialects import chosen
from headroom.cli.options import Dialects
from headroom.cli.output import documents, put


def crds(dialect: Dialects = None) -> None:
    """Print the CustomResourceDefinitions as YAML, those of dialects too."""
    put(documents(chosen(dialect).definitions()))
