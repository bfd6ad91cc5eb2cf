"""The environment's proxies, by Go's rules."""

from __future__ import annotations

import pytest

from headroom.kube.proxies import environment_proxy


@pytest.mark.parametrize(
    ("server", "exceptions", "direct"),
    [
        ("https://api.example.com:6443", "", False),
        ("https://api.example.com:6443", "example.com", True),
        ("https://api.example.com:6443", ".example.com", True),
        ("https://api.example.com:6443", "other.com, *.example.com", True),
        ("https://api.example.com:6443", "ample.com", False),
        ("https://10.1.2.3:6443", "10.0.0.0/8", True),
        ("https://10.1.2.3:6443", "10.1.2.3", True),
        ("https://10.1.2.3:6443", "10.2.0.0/16", False),
        ("https://10.1.2.3:6443", "*", True),
        ("https://127.0.0.1:6443", "", True),
        ("https://localhost:6443", "", True),
        ("https://[::1]:6443", "", True),
    ],
)
def test_no_proxy_excepts_what_it_names(server: str, exceptions: str, direct: bool) -> None:
    environ = {"https_proxy": "http://proxy:1", "NO_PROXY": exceptions}
    assert environment_proxy(server, environ) == ("" if direct else "http://proxy:1")


def test_without_a_proxy_everything_goes_direct() -> None:
    assert environment_proxy("https://api.example.com", {"HTTP_PROXY": "http://p"}) == ""
