"""The computer: its system, its clock, the port."""

from __future__ import annotations

import ipaddress
import socket
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from echo_bot import __file__ as program
from echo_bot.cli.doctor.finding import Finding, Severity
from echo_bot.cli.doctor.scene import Scene

CLOCK = "clock"
GATEWAY = "gateway"


def of_machine(scene: Scene) -> Iterator[Finding]:
    if not sys.platform.startswith("linux"):
        yield Finding(
            "system", Severity.NOTE, f"on {sys.platform} there is no sandbox: commands ask a person"
        )
    made = datetime.fromtimestamp(Path(program).stat().st_mtime, UTC)
    if scene.now < made:
        yield Finding(
            CLOCK,
            Severity.BROKEN,
            f"it is {scene.now:%Y-%m-%d %H:%M} UTC by the clock, before this version was installed",
            "set the clock: certificates, deadlines of approvals and schedules go by it (timedatectl)",
        )
    yield from _gateway(scene)


def _gateway(scene: Scene) -> Iterator[Finding]:
    gateway = scene.config.gateway
    if not is_loopback(gateway.host):
        yield Finding(
            GATEWAY,
            Severity.NOTE,
            f"gateway.host {gateway.host} serves other computers too, without TLS",
            "put a proxy with TLS before it, and name its host in gateway.allowed_hosts",
        )
    if scene.sight.bot is not None:
        url = scene.sight.text("url")
        yield Finding(GATEWAY, Severity.OK, f"the running bot serves {url}" if url else "nothing is served")
    elif gateway.port and (why := _taken(gateway.host, gateway.port)):
        yield Finding(
            GATEWAY,
            Severity.BROKEN,
            f"{gateway.host}:{gateway.port} cannot be had: {why}",
            "stop what holds it, or set gateway.port (ECHO_BOT_GATEWAY__PORT=0 takes any free one)",
        )
    else:
        yield Finding(GATEWAY, Severity.OK, f"{gateway.host}:{gateway.port or 'any port'} is free")


def is_loopback(host: str) -> bool:
    """Does only this computer reach that address?"""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _taken(host: str, port: int) -> str:
    """Why a start could not listen there; "" when it could."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            return error.strerror or str(error)
    return ""
