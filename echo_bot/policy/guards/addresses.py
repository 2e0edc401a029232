"""Which IP addresses are public: an explicit table, as the standard library's answers change by version."""

from __future__ import annotations

import ipaddress

_V4_TABLE = (
    ("0.0.0.0/8", "this network"),
    ("10.0.0.0/8", "a private network"),
    ("100.64.0.0/10", "a carrier's inner network"),
    ("127.0.0.0/8", "this machine"),
    ("169.254.0.0/16", "link-local, cloud metadata included"),
    ("172.16.0.0/12", "a private network"),
    ("192.0.0.0/24", "reserved for protocols"),
    ("192.0.2.0/24", "for documentation"),
    ("192.88.99.0/24", "a 6to4 relay"),
    ("192.168.0.0/16", "a private network"),
    ("198.18.0.0/15", "for benchmarks"),
    ("198.51.100.0/24", "for documentation"),
    ("203.0.113.0/24", "for documentation"),
    ("224.0.0.0/4", "multicast"),
    ("240.0.0.0/4", "reserved"),
    ("168.63.129.16/32", "a cloud's control service"),
)

_V6_TABLE = (
    ("2001::/23", "reserved for protocols"),
    ("2001:db8::/32", "for documentation"),
    ("2002::/16", "a 6to4 tunnel"),
    ("3fff::/20", "for documentation"),
)

_V4_BLOCKED = tuple((ipaddress.IPv4Network(net), what) for net, what in _V4_TABLE)
_V6_BLOCKED = tuple((ipaddress.IPv6Network(net), what) for net, what in _V6_TABLE)
_V6_GLOBAL = ipaddress.IPv6Network("2000::/3")
_V4_IN_V6 = (ipaddress.IPv6Network("::ffff:0:0/96"), ipaddress.IPv6Network("64:ff9b::/96"))
"""IPv4-mapped addresses and the well-known NAT64 prefix: the packet ends at the inner IPv4 address."""


def judge_address(address: str) -> str | None:
    """Why `address` must not be connected to; None when it is public."""
    if "%" in address:
        return f"{address} carries a zone, which no public address has"
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return f"{address!r} is not an IP address"
    what = _judge_v4(parsed) if isinstance(parsed, ipaddress.IPv4Address) else _judge_v6(parsed)
    return f"{address} is not a public address: it is {what}" if what else None


def _judge_v4(address: ipaddress.IPv4Address) -> str | None:
    return next((what for network, what in _V4_BLOCKED if address in network), None)


def _judge_v6(address: ipaddress.IPv6Address) -> str | None:
    if any(address in network for network in _V4_IN_V6):
        inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        what = _judge_v4(inner)
        return f"{inner} in disguise, {what}" if what else None
    if address == ipaddress.IPv6Address("::1"):
        return "this machine"
    if address not in _V6_GLOBAL:
        return "outside the public IPv6 range"
    return next((what for network, what in _V6_BLOCKED if address in network), None)
