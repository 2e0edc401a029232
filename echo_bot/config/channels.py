"""`channels`: one section per channel, flat or with several accounts, and what all channels share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, SecretStr, create_model, model_validator

from echo_bot.channel import ChannelManifest, ChannelSettings
from echo_bot.config.base import EMPTY_SECRET, Count, HttpAddress, Id, Listed, Positive, Secret, Section

ACCOUNT_NAME = r"^[A-Za-z0-9_-]{1,32}$"
AccountName = Annotated[str, Field(pattern=ACCOUNT_NAME)]


class Reach(Section):
    """The keys that every channel has."""

    allow_from: Listed[Id] = ()
    """Sender ids that may chat; "*": everybody; empty: nobody."""
    group_policy: Literal["mention", "open", "off"] = "mention"
    """In groups: answer when mentioned, always, or never."""
    proxy: Secret = EMPTY_SECRET
    """A proxy address for this channel's own connection."""
    api_base: HttpAddress = ""
    """The platform's API at another address."""


class Account(Reach):
    """One account of a platform."""

    enabled: bool = False
    """Connect this account."""


class TelegramAccount(Account):
    token: Secret = EMPTY_SECRET
    """The bot token that @BotFather gave."""
    api_file_base: HttpAddress = ""
    """Where files are fetched; empty: <api_base>/file."""
    webhook_url: str = ""
    """Where Telegram delivers, instead of being polled."""
    webhook_secret: Secret = EMPTY_SECRET
    """The secret that proves it is Telegram."""


class DiscordAccount(Account):
    token: Secret = EMPTY_SECRET
    """The bot token."""
    gateway_url: str = ""
    """The gateway at another address."""


class SlackAccount(Account):
    bot_token: Secret = EMPTY_SECRET
    """The bot token (xoxb-…)."""
    app_token: Secret = EMPTY_SECRET
    """The app token (xapp-…) for mode socket."""
    signing_secret: Secret = EMPTY_SECRET
    """The signing secret for mode http."""
    mode: Literal["socket", "http"] = "socket"
    """socket, or http."""


class WebhookAccount(Account):
    secret: Secret = EMPTY_SECRET
    """What callers sign with."""
    path: str = ""
    """The path that is called."""
    callback_url: HttpAddress = ""
    """Where answers are sent."""


class Several(Reach):
    """Either the keys themselves or `accounts`."""

    @model_validator(mode="after")
    def _flat_or_accounts(self) -> Self:
        flat = self.model_fields_set - {"accounts"}
        if self.accounts_by_name() and flat:
            raise ValueError(f"write {', '.join(sorted(flat))} below each account, or drop accounts")
        return self

    def accounts_by_name(self) -> Mapping[str, Account]:
        accounts: Mapping[str, Account] = getattr(self, "accounts", {})
        return accounts


class Telegram(TelegramAccount, Several):
    accounts: dict[AccountName, TelegramAccount] = Field(default_factory=dict)
    """Several bots, each with the keys above."""


class Discord(DiscordAccount, Several):
    accounts: dict[AccountName, DiscordAccount] = Field(default_factory=dict)
    """Several bots, each with the keys above."""


class Slack(SlackAccount, Several):
    accounts: dict[AccountName, SlackAccount] = Field(default_factory=dict)
    """Several workspaces, each with the keys above."""


class Webhook(WebhookAccount, Several):
    accounts: dict[AccountName, WebhookAccount] = Field(default_factory=dict)
    """Several webhooks, each with the keys above."""


class WebPage(Reach):
    enabled: bool = True
    """Serve the chat page."""


class Terminal(Reach):
    enabled: bool | None = None
    """Chat in the terminal. Unset: when attached to one."""


class Stream(Section):
    enabled: bool = True
    """Show answers while they are written, where messages can be edited."""
    min_interval_ms: Count = 0
    """Milliseconds between two edits; 0: what the channel bears (1000, in Telegram groups 3000)."""


class Channels(Section):
    telegram: Telegram = Telegram()
    """Telegram, by long polling or a webhook."""
    discord: Discord = Discord()
    """Discord."""
    slack: Slack = Slack()
    """Slack."""
    webhook: Webhook = Webhook()
    """Messages by HTTP."""
    web: WebPage = WebPage()
    """The chat page, served by the gateway."""
    cli: Terminal = Terminal()
    """The terminal."""
    max_backlog_minutes: Positive = 60
    """Messages older than this after a pause are not run."""
    stream: Stream = Stream()
    """Answers shown while they are written."""


BUILT_IN = frozenset({"telegram", "discord", "slack", "webhook", "web", "cli"})


def with_plugins(manifests: Iterable[ChannelManifest]) -> type[Channels]:
    """The section with one more field for each installed channel that is not ours, by its manifest."""
    plugins: dict[str, Any] = {}
    for manifest in manifests:
        if manifest.name not in BUILT_IN:
            section = _plugin_section(manifest)
            plugins[manifest.name] = (section, section())
    return create_model("Channels", __base__=Channels, **plugins) if plugins else Channels


def sections(channels: Channels) -> Mapping[str, Reach]:
    """Every channel's section by name."""
    found = {name: getattr(channels, name) for name in type(channels).model_fields}
    return {name: section for name, section in found.items() if isinstance(section, Reach)}


def accounts(section: Reach) -> Mapping[str, Reach]:
    """The accounts of a channel by name; a flat section is the one account named ""."""
    several: Mapping[str, Reach] = section.accounts_by_name() if isinstance(section, Several) else {}
    return several or {"": section}


def is_enabled(account: Reach) -> bool:
    """Is this account switched on? The terminal's unset counts as off here: whoever attaches it decides."""
    return getattr(account, "enabled", False) is True


def adapter_settings(section: Reach) -> tuple[ChannelSettings, ...]:
    """What the adapter of each enabled account gets."""
    return tuple(
        _adapter_settings(name, account) for name, account in accounts(section).items() if is_enabled(account)
    )


def account_settings(section: Reach, account: str) -> ChannelSettings:
    """What the adapter of one account gets, enabled or not. Raises KeyError for an unknown account."""
    return _adapter_settings(account, accounts(section)[account])


def _adapter_settings(name: str, account: Reach) -> ChannelSettings:
    own = set(type(account).model_fields) - set(Account.model_fields) - {"accounts"}
    values = {key: getattr(account, key) for key in own}
    return ChannelSettings(
        account=name,
        api_base=account.api_base,
        proxy=account.proxy.get_secret_value(),
        options={key: str(value) for key, value in values.items() if not isinstance(value, SecretStr)},
        secrets={k: value.get_secret_value() for k, value in values.items() if isinstance(value, SecretStr)},
    )


def _plugin_section(manifest: ChannelManifest) -> type[Reach]:
    fields: dict[str, Any] = dict.fromkeys(manifest.options, (str, ""))
    fields |= dict.fromkeys(manifest.secrets, (Secret, EMPTY_SECRET))
    account = create_model(f"{manifest.name}_account", __base__=Account, **fields)
    listed: Any = dict[AccountName, account]
    several: dict[str, Any] = {"accounts": (listed, Field(default_factory=dict))}
    bases: tuple[type[Reach], ...] = (account, Several)
    return create_model(manifest.name, __base__=bases, **several)
