"""The proxy from the environment, by the rules of Go's clients, so that kubectl and we agree.

HTTPS_PROXY or HTTP_PROXY (or lower case) names it. NO_PROXY lists hosts, `.suffixes`, addresses and
networks without a proxy. Loopback never uses a proxy. It is read once at the start: a lookup for
every request is slow.
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit


def environment_proxy(server: str, environ: Mapping[str, str]) -> str:
    """The proxy for this server, or an empty text."""
    parts = urlsplit(server)
    host = parts.hostname or ""
    name = f"{parts.scheme}_proxy"
    proxy = environ.get(name.upper()) or environ.get(name) or ""
    if not proxy or _goes_direct(host, environ.get("NO_PROXY") or environ.get("no_proxy") or ""):
        return ""
    return proxy if "://" in proxy else f"http://{proxy}"


def _goes_direct(host: str, exceptions: str) -> bool:
    address = _address(host)
    if host == "localhost" or (address is not None and address.is_loopback):
        return True
    rules = (part.strip().lower() for part in exceptions.split(","))
    return any(_excepts(rule.partition(":")[0], host, address) for rule in rules if rule)


def _excepts(rule: str, host: str, address: IPv4Address | IPv6Address | None) -> bool:
    if rule == "*":
        return True
    if address is not None:
        try:
            return address in ip_network(rule, strict=False)
        except ValueError:
            return False
    bare = rule.lstrip("*").lstrip(".")
    return host == bare or host.endswith(f".{bare}")


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None
