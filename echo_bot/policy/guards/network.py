"""The network guard's pure part: may this URL be asked for? Raw string, scheme, host form, literal address.

Names are judged again after they were resolved, by `echo_bot.net`: every answer must be a public address.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import Literal

from echo_bot.policy.decision import Finding, Verdict
from echo_bot.policy.guards.addresses import judge_address

__all__ = ["NetworkRules", "Target", "judge_address", "judge_target", "judge_url", "parse_url"]

_FORBIDDEN = re.compile(r"[\x00-\x20\x7f-\x9f\\\ud800-\udfff]")
_SCHEME = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):(?P<slashes>//)?")
_AUTHORITY_END = re.compile(r"[/?#]")
_BRACKETED = re.compile(r"\[(?P<address>[0-9A-Fa-f:.]{2,45})\](?::(?P<port>[0-9]*))?")
_NAMED = re.compile(r"(?P<host>[^:\[\]]+)(?::(?P<port>[0-9]*))?")
_LABEL = re.compile(r"(?!-)(?=[a-z0-9_-]*[a-z0-9])[a-z0-9_-]{1,63}")
_NUMERIC = re.compile(r"[0-9]+|0x[0-9a-f]*")
_OCTET = r"(?:0|[1-9][0-9]?|1[0-9]{2}|2[0-4][0-9]|25[0-5])"
_DOTTED_QUAD = re.compile(rf"{_OCTET}(?:\.{_OCTET}){{3}}")
_IDEOGRAPHIC_DOTS = "\u3002\uff0e\uff61"
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class NetworkRules:
    """`execution.network_policy` and `network_allow`: exact hosts, or `*.` and a name for its subdomains."""

    policy: Literal["deny", "allow", "restricted"] = "deny"
    allow: tuple[str, ...] = ()

    def permits(self, host: str) -> bool:
        """May this ASCII host be asked for under `restricted`?"""
        return any(_matches(host, pattern) for pattern in self.allow)


@dataclass(frozen=True, slots=True)
class Target:
    """Where a URL leads: `host` is ASCII, lower case, without the trailing dot or brackets."""

    scheme: str
    host: str
    port: int
    is_literal: bool = False

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port


def judge_url(url: str, rules: NetworkRules) -> tuple[Finding, ...]:
    """Why this URL must not be asked for; empty when it may, once its name resolves to public addresses."""
    target = parse_url(url)
    return (target,) if isinstance(target, Finding) else judge_target(target, rules)


def judge_target(target: Target, rules: NetworkRules) -> tuple[Finding, ...]:
    """Judge a parsed URL by the rules and, for a literal address, by the address table."""
    if rules.policy == "deny":
        return (_deny("network_policy", "the network is off: execution.network_policy is deny"),)
    if rules.policy == "restricted" and not rules.permits(target.host):
        return (_deny("network_policy", f"{target.host} is not among the hosts of execution.network_allow"),)
    if target.is_literal and (reason := judge_address(target.host)):
        return (_deny("private_address", reason),)
    if target.host == "localhost" or target.host.endswith(".localhost"):
        return (_deny("private_address", f"{target.host} is this machine"),)
    return ()


def parse_url(url: str) -> Target | Finding:
    """Where `url` leads, or why nobody can say so for sure."""
    if found := _FORBIDDEN.search(url):
        return _deny("bad_url", f"the URL holds U+{ord(found[0]):04X}, which clients read differently")
    scheme = _SCHEME.match(url)
    if scheme is None:
        return _deny("bad_scheme", "the URL names no scheme: write http:// or https:// before it")
    name = scheme["scheme"].lower()
    if name not in _DEFAULT_PORTS:
        return _deny("bad_scheme", f"only http and https are fetched, not {name}")
    if not scheme["slashes"]:
        return _deny("bad_url", f"{name}: must be followed by // and a host")
    end = _AUTHORITY_END.search(url, scheme.end())
    authority = url[scheme.end() : end.start() if end else len(url)]
    return _parse_authority(name, authority)


def _parse_authority(scheme: str, authority: str) -> Target | Finding:
    if "%" in authority:
        return _deny("bad_host", "the host part holds a percent sign, which clients read differently")
    place = authority.rpartition("@")[2]
    bracketed = _BRACKETED.fullmatch(place)
    named = None if bracketed else _NAMED.fullmatch(place)
    found = bracketed or named
    if found is None:
        return _deny("bad_host", f"the URL has no valid host: {authority[:80]!r}")
    port = _port(found["port"], scheme)
    if port is None:
        return _deny("bad_host", "the port must be a number from 1 to 65535")
    if bracketed:
        try:
            return Target(scheme, str(IPv6Address(bracketed["address"])), port, is_literal=True)
        except ValueError:
            return _deny("bad_host", f"[{bracketed['address']}] is not an IPv6 address")
    return _named_target(scheme, place[: named.end("host")] if named else "", port)


def _port(text: str | None, scheme: str) -> int | None:
    if not text:
        return _DEFAULT_PORTS[scheme]
    digits = text.lstrip("0")
    port = int(digits) if digits and len(digits) <= 5 else 0
    return port if 1 <= port <= 65535 else None


def _named_target(scheme: str, name: str, port: int) -> Target | Finding:
    host = _ascii_host(name)
    if host is None:
        return _deny("bad_host", f"the host {name[:80]!r} can be read in more than one way")
    host = host.removesuffix(".")
    labels = host.split(".")
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        return _deny("bad_host", f"{name[:80]!r} is not a valid host name")
    if _NUMERIC.fullmatch(labels[-1]):
        if not _DOTTED_QUAD.fullmatch(host) or name.endswith("."):
            return _deny("bad_host", f"{name[:80]!r} is an unusual spelling of an address; write a.b.c.d")
        return Target(scheme, host, port, is_literal=True)
    return Target(scheme, host, port)


def _ascii_host(name: str) -> str | None:
    """The host as it is looked up; None when mapping it could turn it into something else."""
    if name.isascii():
        return name.lower()
    if any(_is_deceptive(char) for char in name):
        return None
    import idna  # heavy tables, needed for few hosts

    try:
        return idna.encode(name.lower()).decode("ascii")
    except (idna.IDNAError, UnicodeError):
        return None


def _is_deceptive(char: str) -> bool:
    """A non-ASCII character that some step maps to ASCII, to a dot, or to nothing."""
    if char.isascii():
        return False
    if char in _IDEOGRAPHIC_DOTS or unicodedata.category(char) in ("Nd", "No", "Cf", "Zs"):
        return True
    return any(mapped.isascii() for mapped in unicodedata.normalize("NFKC", char))


def _matches(host: str, pattern: str) -> bool:
    wanted = pattern.strip().lower().removesuffix(".")
    if not wanted.isascii():
        wanted = _ascii_host(wanted) or wanted
    if wanted.startswith("*."):
        return host.endswith(wanted[1:]) and len(host) > len(wanted) - 1
    return host == wanted.strip("[]")


def _deny(kind: str, sentence: str) -> Finding:
    return Finding(kind, Verdict.DENY, sentence[:1].upper() + sentence[1:] + ".", field="url")
