"""The HTTP API of a running bot: its tokens from the configuration, its parts from the bot's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from echo_bot.app.parts import Parts
from echo_bot.app.setting import Setting
from echo_bot.audit import check_stored
from echo_bot.config.model import Config
from echo_bot.gateway.api.channel import ApiChannel
from echo_bot.gateway.api.parts import ApiParts
from echo_bot.gateway.tokens import Scope, Token, Tokens

StatusOf = Callable[[], Mapping[str, object]]


def api_tokens(config: Config) -> Tokens:
    """What the API compares: hashes alone."""
    ordinary, admin = config.gateway.api_tokens, config.gateway.admin_tokens
    return Tokens(
        (
            *(Token(each.name, Scope.READ, each.digest) for each in ordinary),
            *(Token(each.name, Scope.ADMIN, each.digest) for each in admin),
        )
    )


def add_api(setting: Setting, parts: Parts, status: StatusOf) -> ApiParts | None:
    """The API with its channel among the bot's; None without a token."""
    tokens = api_tokens(setting.config)
    if not tokens:
        return None
    _warn_of_plain(setting, parts)
    channel = ApiChannel()
    parts.channels.add(channel)
    key = setting.secrets.key.raw if setting.secrets.key else None
    return ApiParts(
        tokens=tokens,
        channel=channel,
        port=parts.inbox,
        store=setting.store,
        queues=parts.queues,
        broker=parts.broker,
        audit=parts.audit,
        verify_audit=partial(check_stored, setting.store.audit, key),
        status=status,
        tools=parts.overview.tool_rows,
        mask=setting.secrets.mask.mask,
        clock=setting.clock,
        has_limits=setting.config.rate_limit.per_minute > 0,
    )


def _warn_of_plain(setting: Setting, parts: Parts) -> None:
    """A token that stands readable in the file could be a hash there, which is all that is needed."""
    for key in ("api_tokens", "admin_tokens"):
        name = f"gateway.{key}"
        plain = [each.name for each in getattr(setting.config.gateway, key) if not each.is_hashed]
        if plain and name not in setting.loaded.from_environment:
            parts.overview.warn(
                f"{name} holds readable tokens ({', '.join(plain)}): write each as sha256: and its hash"
            )
