"""The network guard's pure part: URLs, hosts, addresses, and the operator's host list."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_bot.policy.guards.network import NetworkRules, Target, judge_address, judge_url, parse_url

ALLOW = NetworkRules("allow")
ONLY = NetworkRules("restricted", ("api.example.com", "*.docs.example", "bücher.example"))


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("ftp://example.com/", "bad_scheme"),
        ("example.com", "bad_scheme"),
        ("http:example.com", "bad_url"),
        ("http://example.com/a b", "bad_url"),
        ("http://127.0.0.1\\@example.com/", "bad_url"),
        ("http://exa\u0085mple.com/", "bad_url"),
        ("http:///path", "bad_host"),
        ("http://a..example/", "bad_host"),
        ("http://2130706433/", "bad_host"),
        ("http://0x7f.1/", "bad_host"),
        ("http://10.0.0.01/", "bad_host"),
        ("http://example.com:0/", "bad_host"),
        ("http://example.com:65536/", "bad_host"),
        ("http://[::1]x/", "bad_host"),
        ("http://①②⑦.⓪.⓪.①/", "bad_host"),
        ("http://exam%70le.com/", "bad_host"),
        ("http://user@10.0.0.1/", "private_address"),
        ("http://[::ffff:7f00:1]/", "private_address"),
        ("http://LOCALHOST/", "private_address"),
        ("http://x.localhost./", "private_address"),
    ],
)
def test_is_refused(url: str, kind: str) -> None:
    assert [finding.kind for finding in judge_url(url, ALLOW)] == [kind]


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("HTTPS://Example.COM./a?b#c", Target("https", "example.com", 443)),
        ("http://u:p@example.com:8080", Target("http", "example.com", 8080)),
        ("https://bücher.example/", Target("https", "xn--bcher-kva.example", 443)),
        ("http://8.8.8.8/", Target("http", "8.8.8.8", 80, is_literal=True)),
        ("http://[2606:4700:4700:0::1111]/", Target("http", "2606:4700:4700::1111", 80, is_literal=True)),
    ],
)
def test_is_understood(url: str, target: Target) -> None:
    assert parse_url(url) == target
    assert judge_url(url, ALLOW) == ()


@pytest.mark.parametrize(
    ("url", "passes"),
    [
        ("https://api.example.com/v1", True),
        ("https://API.example.com.:8443/", True),
        ("https://a.b.docs.example/", True),
        ("https://bücher.example/", True),
        ("https://docs.example/", False),
        ("https://evildocs.example/", False),
        ("https://api.example.com.evil.example/", False),
    ],
)
def test_restricted_passes_listed_hosts_only(url: str, passes: bool) -> None:
    assert (judge_url(url, ONLY) == ()) is passes


def test_deny_refuses_everything() -> None:
    assert judge_url("https://example.com/", NetworkRules())[0].kind == "network_policy"


@given(st.ip_addresses(v=4))
def test_no_special_ipv4_address_is_public(address: ipaddress.IPv4Address) -> None:
    special = address.is_private or address.is_multicast or address.is_reserved or address.is_loopback
    if special or address.is_link_local:
        assert judge_address(str(address)) is not None


@given(st.ip_addresses(v=4))
def test_an_address_is_judged_alike_in_every_disguise(address: ipaddress.IPv4Address) -> None:
    plain = judge_address(str(address))
    for prefix in ("::ffff:", "64:ff9b::"):
        assert (judge_address(f"{prefix}{address}") is None) is (plain is None)


@given(st.text(max_size=80) | st.text(max_size=40).map(lambda rest: "http://" + rest))
def test_never_raises(url: str) -> None:
    judge_url(url, ALLOW)
    judge_url(url, ONLY)
