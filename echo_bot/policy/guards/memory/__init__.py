"""The memory scan: may this text be stored and shown to a model again later?"""

from __future__ import annotations

from echo_bot.policy.guards.memory.scan import scan_memory

__all__ = ["scan_memory"]
