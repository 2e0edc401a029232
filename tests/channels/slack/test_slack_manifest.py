"""The app manifest in the docs asks for what the code uses, and nothing of the SDK is imported too early."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from channels.slack.commands import SHORTCUT_ANYWHERE, SHORTCUT_MESSAGE
from channels.slack.permissions import EVENTS, SCOPES
from echo_bot.testing.slack.api import SCOPES_OF
from echo_bot.testing.slack.emulator import ALL_SCOPES

ROOT = Path(__file__).parents[3]
MANIFEST: dict[str, Any] = YAML(typ="safe").load((ROOT / "docs" / "slack-manifest.yaml").read_text())
_CALL = re.compile(
    r"\b(?:web|_web\(\)|self\._web)\.((?:chat|views|users|files|conversations|auth|assistant|apps|reactions)_\w+)"
)


def test_the_manifest_asks_for_the_scopes_and_events_that_the_code_names() -> None:
    assert set(MANIFEST["oauth_config"]["scopes"]["bot"]) == set(SCOPES) == ALL_SCOPES
    assert set(MANIFEST["settings"]["event_subscriptions"]["bot_events"]) == set(EVENTS)


def test_every_method_that_the_code_calls_is_covered_by_a_scope() -> None:
    sources = [path.read_text() for path in (ROOT / "channels" / "slack").glob("*.py")]
    called = {name.replace("_", ".") for source in sources for name in _CALL.findall(source)}
    needs_none = {"auth.test", "apps.connections.open", "views.open", "views.update", "views.publish"}
    methods = called
    assert "chat.postMessage" in methods
    assert methods - needs_none == set(SCOPES_OF)
    assert set(SCOPES_OF.values()) <= set(SCOPES)


def test_the_manifest_switches_on_what_the_code_listens_to() -> None:
    features = MANIFEST["features"]
    assert features["app_home"]["home_tab_enabled"]
    assert not features["app_home"]["messages_tab_read_only_enabled"]
    assert [command["command"] for command in features["slash_commands"]] == ["/echo"]
    assert {(one["type"], one["callback_id"]) for one in features["shortcuts"]} == {
        ("message", SHORTCUT_MESSAGE),
        ("global", SHORTCUT_ANYWHERE),
    }
    assert MANIFEST["settings"]["interactivity"]["is_enabled"]
    assert MANIFEST["settings"]["socket_mode_enabled"]


def test_the_sdk_is_imported_only_with_the_adapter() -> None:
    code = (
        "import sys, channels.slack; print([m for m in sys.modules if m.startswith(('slack_', 'aiohttp'))])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert found.stdout.strip() == "[]"
