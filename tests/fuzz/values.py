"""Values that break things: extremes of every type that a field may have, and wrong types."""

from __future__ import annotations

from random import Random
from typing import Any

from headroom.core.promise.record import History, written
from headroom.core.promise.stock import stock
from headroom.wire.schema.notation import Catalogue, ListOf, MapOf, Scalar, Struct, Type, WordChoice

NUMBERS: tuple[Any, ...] = (
    0,
    1,
    -1,
    2,
    7,
    32,
    33,
    100,
    110,
    1000,
    1001,
    65535,
    65536,
    10**6,
    2**31 - 1,
    2**31,
    -(2**31),
    2**32,
    2**53,
    2**53 + 1,
    2**63 - 1,
    2**63,
    -(2**63),
    2**64,
    10**30,
    0.5,
    1.5,
    -0.5,
    1e-9,
    1e18,
    1e308,
    -1e308,
    5e-324,
)
QUANTITIES: tuple[Any, ...] = (
    "0",
    "1",
    "-1",
    "500m",
    "1n",
    "1u",
    "1.5",
    ".5",
    "5.",
    "+1",
    "1e3",
    "1E3",
    "1e-3",
    "9e18",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "1e18",
    "1e19",
    "1e30",
    "9" * 40 + "Ei",
    "16Ei",
    "8Ei",
    "7Ei",
    "1Ki",
    "1k",
    "1K",
    "1ki",
    "1E",
    "Ki",
    "e3",
    "1e",
    "1e999",
    "1e999999999",
    "1e-999999999",
    "0x10",
    "1_000",
    " 1",
    "1 ",
    "",
    "NaN",
    "Infinity",
    "--1",
    "1m1",
    "9" * 5000,
    "0." + "0" * 5000 + "1",
    "１",
    "1e+5",
    "1e-5",
    0,
    1,
    -1,
    2**63,
    1.5,
    10**25,
)
TIMES: tuple[Any, ...] = (
    "2027-01-04T12:00:00Z",
    "9999-12-31T23:59:59Z",
    "0001-01-01T00:00:00Z",
    "0000-00-00T00:00:00Z",
    "9999-12-31T23:59:59-14:00",
    "0001-01-01T00:00:00+14:00",
    "2027-01-04T12:00:00+23:59",
    "2027-01-04T12:00:00.123456789Z",
    "2027-01-04T12:00:00." + "1" * 40 + "Z",
    "2027-02-30T12:00:00Z",
    "2027-01-04T24:00:00Z",
    "2016-12-31T23:59:60Z",
    "2027-01-04",
    "12:00",
    "10000-01-01T00:00:00Z",
    "-001-01-01T00:00:00Z",
    "2027-01-04T12:00:00",
    "2027-01-04t12:00:00z",
    "1970-01-01T00:00:00Z",
    "2027-W01-1T00:00:00Z",
    "2027-01-04T12:00:00+99:99",
    "now",
    "",
    " ",
    "２０２７-01-04T12:00:00Z",
)
DURATIONS: tuple[Any, ...] = (
    "0",
    "1h",
    "90s",
    "1h30m",
    "-1h",
    "1ns",
    "1us",
    "1µs",
    "0.000000001s",
    "2562047h47m16.854775807s",
    "2562048h",
    "9999999h",
    "999999999h",
    "9999999999999999999h",
    "1e3s",
    "1h1h",
    "1d",
    "1y",
    "h",
    "1",
    ".5h",
    "1.h",
    "+1h",
    "1 h",
    "１h",
    "",
    "0s0s",
    "inf",
    "9" * 400 + "h",
    "24h",
    "876000h",
)
ZONES: tuple[Any, ...] = (
    "UTC",
    "Europe/Zurich",
    "Mars/Olympus",
    "Pacific/Apia",
    "Pacific/Kiritimati",
    "Etc/GMT+12",
    "Asia/Kathmandu",
    "America/Sao_Paulo",
    "Africa/Casablanca",
    "../../etc/passwd",
    "/etc/passwd",
    "posixrules",
    "localtime",
    "leapseconds",
    "tzdata.zi",
    "zone.tab",
    "Europe",
    "Europe/",
    "Europe/Zurich\x00",
    "",
    " ",
    "a" * 1000,
    "europe/zurich",
    "+01:00",
    "Factory",
    ".",
    "..",
)
CRONS: tuple[Any, ...] = (
    "0 8 * * 1-5",
    "* * * * *",
    "*/5 * * * *",
    "61 * * * *",
    "*/0 * * * *",
    "0 0 31 2 *",
    "0 0 30 2 *",
    "0 0 29 2 *",
    "0 0 29 2 1",
    "59 23 31 12 *",
    "0 0 L * *",
    "@daily",
    "@reboot",
    "@every 1ns",
    "@yearly",
    "0 2 * 3 0",
    "0 3 * 10 0",
    "0-59/59 * * * *",
    "5-1 * * * *",
    "* * * *",
    "* * * * * *",
    "",
    "a b c d e",
    "0 0 1 1 7",
    ",".join(["1"] * 5000) + " * * * *",
    "1-1-1 * * * *",
    "TZ=Europe/Zurich 0 8 * * *",
    "CRON_TZ=Mars/X 0 8 * * *",
    "０ 8 * * *",
    "-1 * * * *",
)
TEXTS: tuple[Any, ...] = (
    "",
    " ",
    "a",
    "a" * 64,
    "a" * 254,
    "a" * 10_000,
    "\x00",
    "\x1b[31m",
    "\u202eevil",
    "\ud7ff",
    "😀" * 70,
    "a/b/c",
    "/",
    "..",
    "-",
    "A_b",
    "a\nb",
    "a\tb",
    "{}",
    "[]",
    "null",
    "true",
    "1",
    "*",
    "%s%n",
    "ß",
    "İ",
    "é",
    "e\u0301",
    "\ufeff",
    "a.b.c",
    "kubernetes.io/hostname",
    "headroom.dev/claim",
    "=",
    "!x",
    "Hold/shop/one",
    "Hold/other/one",
    "Hold/shop/one/more",
    "9" * 5000,
    "-1",
    "1e9",
    "0x1f",
    "٣",
    '{"a":' * 500,
    '{"reservationSelector":{"a":"b"}}',
    '["a"]',
    "\\",
    "'",
    '"',
    "zone",
    "default",
)
_RECORD = written(History(stock(0.9)))
_NUMBERS = ("-1", "1e14", "0.5", "nan", "inf", "9" * 5000, "x", "")
RECORDS: tuple[Any, ...] = (
    "",
    _RECORD[:200],
    _RECORD.replace("version 2", "version 1"),
    _RECORD * 2,
    f"{_RECORD}\nleads: {'1 ' * 20_000}",
    *(f"{_RECORD}\n{name}: {number}" for name in ("at", "factor", "mean") for number in _NUMBERS),
    *(f"{_RECORD}\n{name}: {number}" for name in ("leads", "pods", "ratio") for number in _NUMBERS),
    *(f"{_RECORD}\nsizes: {at} {slots}" for at in _NUMBERS for slots in ("1", "1e14", "-1")),
)
OPERATORS = (
    "In",
    "NotIn",
    "Exists",
    "DoesNotExist",
    "Gt",
    "Lt",
    "Equal",
    "Foo",
    "",
)
BY_NAME: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("timezone", ZONES),
    ("schedule", CRONS),
    ("start", (*CRONS, *TIMES)),
    ("time", TIMES),
    ("expires", TIMES),
    ("timestamp", TIMES),
    ("duration", DURATIONS),
    ("ttl", DURATIONS),
    ("lifetime", DURATIONS),
    ("operator", OPERATORS),
    ("record", RECORDS),
    ("until", DURATIONS),
    ("delay", DURATIONS),
)
SCALARS: dict[str, tuple[Any, ...]] = {
    "bool": (True, False, None, "true", 0, 1),
    "bytes": ("", "====", "YQ==", "\x00"),
    "duration": DURATIONS,
    "int32": NUMBERS,
    "int64": NUMBERS,
    "intorstring": (*NUMBERS, "50%", "-1%", "101%", "1e9%", "%", "9" * 50 + "%", "x", *TEXTS[:6]),
    "number": NUMBERS,
    "quantity": QUANTITIES,
    "time": TIMES,
}


def odd_value(rng: Random, name: str = "", deep: int = 2) -> Any:
    """A value of any type, for a field of that name if a name says something."""
    small = name.lower()
    for part, values in BY_NAME:
        if part in small and rng.random() < 0.7:
            return rng.choice(values)
    match rng.randrange(12 if deep else 9):
        case 0 | 1:
            return rng.choice(NUMBERS)
        case 2 | 3:
            return rng.choice(QUANTITIES)
        case 4 | 5 | 6:
            return rng.choice(TEXTS)
        case 7:
            return rng.choice((*TIMES, *DURATIONS))
        case 8:
            return rng.choice((None, True, False, [], {}, [None], [[]], [{}], {"": ""}))
        case 9:
            return [odd_value(rng, "", deep - 1) for _ in range(rng.choice((1, 2, 3, 40)))]
        case 10:
            return {
                str(rng.choice(TEXTS)): odd_value(rng, "", deep - 1)
                for _ in range(rng.choice((1, 2, 3, 40)))
            }
        case _:
            return nested(rng.choice((5, 60, 300)), rng.random() < 0.5)


def nested(depth: int, lists: bool) -> Any:
    found: Any = "x"
    for _ in range(depth):
        found = [found] if lists else {"a": found}
    return found


def of_type(rng: Random, kind: Type, catalogue: Catalogue, depth: int = 4, name: str = "") -> Any:
    """A value that the schema might take, with extremes where it allows any."""
    if rng.random() < 0.03:
        return odd_value(rng, name)
    match kind:
        case Scalar(name=scalar):
            return _scalar(rng, scalar, name)
        case WordChoice(words=words):
            return rng.choice((*words, *words, *words, "", "Foo"))
        case ListOf(item=item):
            many = rng.choice((0, 1, 1, 2, 3))
            return [of_type(rng, item, catalogue, depth - 1, name) for _ in range(many)]
        case MapOf(value=value):
            many = rng.choice((0, 1, 1, 2, 3))
            return {_key(rng, name): of_type(rng, value, catalogue, depth - 1) for _ in range(many)}
        case Struct(name=struct):
            return struct_of(rng, struct, catalogue, depth)


def struct_of(rng: Random, struct: str, catalogue: Catalogue, depth: int) -> Any:
    """Some of the fields of a type; the required ones nearly always."""
    fields = catalogue.types.get(struct, {})
    found = {}
    for name, field in fields.items():
        if depth <= 0 or rng.random() > (0.95 if field.required else 0.25):
            continue
        found[name] = of_type(rng, field.type, catalogue, depth - 1, name)
    return found


def _scalar(rng: Random, scalar: str, name: str) -> Any:
    values = SCALARS.get(scalar)
    if values is not None:
        return rng.choice(values)
    small = name.lower()
    for part, named in BY_NAME:
        if part in small:
            return rng.choice(named)
    return rng.choice(TEXTS)


def _key(rng: Random, name: str) -> str:
    if name in ("requests", "limits", "allocatable", "capacity", "hard", "used", "overhead"):
        return rng.choice(
            (
                "cpu",
                "memory",
                "ephemeral-storage",
                "pods",
                "example.com/gpu",
                "requests.cpu",
                "x",
                "",
            )
        )
    return str(rng.choice(("app", "zone", "headroom.dev/role", *TEXTS)))
