"""Prices of nodes from the command line: by flag, by file, by label."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from headroom.cli.errors import Misuse
from headroom.cli.options import setting

if TYPE_CHECKING:
    from headroom.dashboard.prices import Prices

Price = Annotated[
    list[str] | None,
    setting(
        "--price",
        "Price of a node per hour, by pool or instance type; * is every other. Repeatable.",
        "POOL=PRICE",
    ),
]
PriceFile = Annotated[
    Path | None,
    setting(
        "--price-file",
        "Prices as YAML or JSON: names of pools or instance types, and prices per hour.",
        "FILE",
    ),
]
PoolLabel = Annotated[
    str,
    setting(
        "--pool-label", "The label of a node that names its pool, before the usual ones.", "LABEL"
    ),
]


def read_prices(given: Sequence[str] | None, file: Path | None, pool_label: str) -> Prices:
    """The prices from flags and file; a flag overrides the file. Raises Misuse if one is wrong."""
    from headroom.dashboard.prices import Prices, parse_prices

    prices = _from_file(file) if file is not None else {}
    try:
        prices.update(parse_prices(given or ()))
    except ValueError as trouble:
        raise Misuse(f"--price: {trouble}") from trouble
    return Prices(prices, pool_label)


def _from_file(file: Path) -> dict[str, float]:
    from headroom.cli.files import text_of
    from headroom.dashboard.prices import read_price
    from headroom.wire.yamls import load
    from headroom.wire.yamls.documents import read_text

    found: dict[str, float] = {}
    for document in load(text_of(file, read_text, "--price-file"), str(file)):
        for name, value in document.data.items():
            price = None if isinstance(value, bool) else read_price(str(value))
            if price is None:
                raise Misuse(
                    f"--price-file {file}: {name}: {value!r} is not a price per hour",
                    "write NAME: PRICE, as in general: 0.20",
                )
            found[str(name)] = price
    return found
