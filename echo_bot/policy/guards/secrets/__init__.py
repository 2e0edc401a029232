"""Secret masking: known values first, then shapes; one mask token."""

from __future__ import annotations

from echo_bot.policy.guards.secrets.mask import MASK, SecretMask

__all__ = ["MASK", "SecretMask"]
