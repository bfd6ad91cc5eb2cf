"""A page beside an earlier one: what has changed, row by row.

Where a row has a yardstick, ratios are compared: each is of one run, so another machine or a busy
one changes them little. Other rows are compared by what was measured. Rows of another scale are
shown, and no change is worked out for them. `page` makes and saves pages.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.page import FOLDER, NAME, VALUE, Page, amount, cut, read_page, saved, times
from bench.page import RATIO_WIDTH as RATIO
from bench.rows import NO_LESS, OddRows, Row

SAME = 0.05  # Less than this is the noise of any machine.


def main(arguments: Sequence[str], folder: Path = FOLDER) -> int:
    """Print the newest page beside the one before, or beside the file that is named."""
    if len(arguments) > 1 or any(each.startswith("-") for each in arguments):
        sys.stderr.write('usage: make bench ARGS="compare [FILE]"\n')
        return 2
    pages = saved(folder)
    needed = 1 if arguments else 2
    if len(pages) < needed:
        sys.stderr.write(
            f"{len(pages)} pages in {folder}, {needed} needed: make bench saves one each time\n"
        )
        return 1
    earlier = Path(arguments[0]) if arguments else pages[-2]
    try:
        told = list(text_of(read_page(earlier), read_page(pages[-1])))
    except OddRows as odd:
        sys.stderr.write(f"{odd}\n")
        return 2
    sys.stdout.writelines(f"{each}\n" for each in told)
    return 0


def text_of(earlier: Page, now: Page) -> Iterator[str]:
    """Both pages side by side, at most 100 columns wide."""
    for word, page in (("earlier", earlier), ("now", now)):
        yield cut(f"{word:<8} {page.made}{', quick' if page.quick else ''}; {page.machine}", 100)
    yield (
        f"{'ROW':<{NAME}}{'EARLIER':>{VALUE}}{'RATIO':>{RATIO}}{'NOW':>{VALUE}}{'RATIO':>{RATIO}}"
        "  CHANGE"
    )
    before, after = _by_name(earlier), _by_name(now)
    for key in [*before, *(key for key in after if key not in before)]:
        yield _line(key[1], before.get(key), after.get(key))
    for word, page in (("earlier", earlier), ("now", now)):
        for part in page.parts:
            if part.failed:
                yield cut(f"failed {word}: {part.name}: {part.failed}", 100)


def _by_name(page: Page) -> dict[tuple[str, str], Row]:
    return {(part.name, row.name): row for part in page.parts for row in part.rows}


def _line(name: str, before: Row | None, after: Row | None) -> str:
    cells = "".join(_cells(row) for row in (before, after))
    change = _change(before, after) if before and after else "only earlier" if before else "new"
    return f"{cut(name, NAME - 1):<{NAME}}{cells}  {change}".rstrip()


def _cells(row: Row | None) -> str:
    if row is None:
        return f"{'-':>{VALUE}}{'':>{RATIO}}"
    measured = cut(amount(row.measured, row.unit), VALUE)
    return f"{measured:>{VALUE}}{times(row.ratio):>{RATIO}}"


def _change(before: Row, after: Row) -> str:
    """How much it changed, whether that is better, and whether the aim is met now or no more."""
    if before.scale != after.scale or before.unit != after.unit:
        return "other scale"
    old, new = before.ratio, after.ratio
    if old is None or new is None:
        old, new = before.measured, after.measured
    if not old > 0 or not new >= 0:
        return "?"
    change = new / old
    more_is_better = after.aim is not None and after.aim.sign == NO_LESS
    verdict = (
        "same" if abs(change - 1) < SAME else "better" if (change > 1) == more_is_better else ""
    )
    turned = {(False, True): ", now met", (True, False): ", NOT MET"}.get(
        (bool(before.met), bool(after.met)), ""
    )
    if before.met is None or after.met is None:
        turned = ""
    return f"{change:.2f} {verdict or 'worse'}{turned}"
