"""Help with the set-up: what the tokens are worth and which scopes the app lacks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from channels.slack.client import Clients
from channels.slack.directs import Directs
from channels.slack.failures import app_token_refused, error_code, require_bot, translated
from channels.slack.permissions import SCOPES, missing_scopes
from channels.slack.redaction import Redaction, sdk_logger
from channels.slack.render import render_card
from echo_bot.channel import ChannelSettings, SetupReport, Wanted
from echo_bot.events import Card

_APPS = "https://api.slack.com/apps"
_BOT_TOKEN = Wanted(
    "bot_token",
    "Bot User OAuth Token (xoxb-…)",
    f"Open {_APPS}, make an app from docs/slack-manifest.yaml, install it, look under OAuth & Permissions.",
    begins="xoxb-",
)
_APP_TOKEN = Wanted(
    "app_token",
    "App-level token (xapp-…)",
    "Under Basic Information, make an app-level token with the scope connections:write.",
    begins="xapp-",
)
_SIGNING_SECRET = Wanted(
    "signing_secret", "Signing secret", "Under Basic Information, App Credentials, show the Signing Secret."
)
_REFUSED_APP_TOKEN = frozenset(
    {"invalid_auth", "not_authed", "not_allowed_token_type", "missing_scope", "token_revoked"}
)


class SlackSetup:
    """See `ChannelSetup`."""

    def wanted(self, options: Mapping[str, str]) -> tuple[Wanted, ...]:
        return (_BOT_TOKEN, _SIGNING_SECRET if options.get("mode") == "http" else _APP_TOKEN)

    async def check(self, settings: ChannelSettings) -> SetupReport:
        async with _opened(settings) as clients:
            own = await clients.web.auth_test()
            require_bot(str(own.get("bot_id") or ""), clients.web.token or "")
            missing = missing_scopes(str(own.headers.get("x-oauth-scopes") or ""))
            problems = [f"the scope {scope}, to {SCOPES[scope]}" for scope in missing]
            is_socket = settings.options.get("mode", "socket") != "http"
            if is_socket:
                await _try_app_token(clients.web, clients.app_token)
        name, team = own.get("user") or "?", own.get("team") or own.get("team_id") or "?"
        steps = [f"Invite it to a channel: /invite @{name}"]
        if missing:
            steps.insert(
                0, "Get the scopes: paste docs/slack-manifest.yaml as the app's manifest, reinstall it"
            )
        if not is_socket:
            path = f"/slack/{settings.account}/events" if settings.account else "/slack/events"
            steps.append(
                f"Set the request URLs of events, interactivity, /echo to https://<your address>{path}"
            )
        return SetupReport(f"{name} in {team}", tuple(problems), tuple(steps))

    async def send_card(self, settings: ChannelSettings, to: str, card: Card) -> None:
        shown = render_card(card)
        async with _opened(settings) as clients:
            channel = await Directs(clients.web).channel_of(to)
            await clients.web.chat_postMessage(channel=channel, text=shown.text, blocks=list(shown.blocks))


SETUP = SlackSetup()


async def _try_app_token(web: AsyncWebClient, app_token: str) -> None:
    """Raises ChannelFatal where it opens no connection."""
    try:
        await web.apps_connections_open(app_token=app_token)
    except SlackApiError as error:
        if error_code(error) in _REFUSED_APP_TOKEN:
            raise app_token_refused(error_code(error)) from None
        raise


@asynccontextmanager
async def _opened(settings: ChannelSettings) -> AsyncIterator[Clients]:
    """Raises the port's errors for whatever is asked of the clients."""
    redaction = Redaction(secret.strip() for secret in settings.secrets.values())
    clients = Clients(settings, sdk_logger(settings.account, redaction))
    try:
        with translated(redaction.clean):
            yield clients
    finally:
        await clients.close()
