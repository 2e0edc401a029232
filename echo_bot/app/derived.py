"""What single parts are told that the configuration says in several places."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

from echo_bot.config.channels import accounts, sections
from echo_bot.config.model import Config
from echo_bot.inbox.admission import GroupPolicy
from echo_bot.policy.risk import RiskLevel


def timezone_of(config: Config) -> tzinfo:
    """The configured zone, or the system's."""
    if config.timezone:
        return ZoneInfo(config.timezone)
    return datetime.now().astimezone().tzinfo or UTC


def timeout_for(config: Config) -> Callable[[str, RiskLevel], int]:
    """How many seconds a question waits, by channel and risk."""
    approval = config.permissions.approval

    def timeout(channel: str, risk: RiskLevel) -> int:
        by_risk = approval.timeouts.get(risk.value)
        return by_risk or approval.timeouts.get(channel) or approval.wait_timeout_seconds

    return timeout


def group_policies(config: Config) -> dict[str, GroupPolicy]:
    """By channel and account."""
    return {
        f"{name}/{account}" if account else name: section.group_policy
        for name, channel in sections(config.channels).items()
        for account, section in accounts(channel).items()
    }
