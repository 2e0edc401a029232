"""The gateway's part of the configuration, checked already."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GatewaySettings:
    """Port 0 takes any free one. Hosts are `name` or `name:port`; origins are `scheme://name[:port]`."""

    host: str = "127.0.0.1"
    port: int = 8765
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    max_body_mb: int = 25

    @property
    def max_body_bytes(self) -> int:
        return self.max_body_mb * 1024 * 1024
