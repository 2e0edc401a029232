"""The documents' tables of tools against every combination of profile, security profile and network policy.

The rows stand in `tests/data/documented_tools.tsv`, copied from the documents and not from the code.
"""

from __future__ import annotations

import csv
from functools import cache
from itertools import product
from pathlib import Path

import pytest

from echo_bot.config.loader import config_from_keys
from echo_bot.config.policy import policy_settings
from echo_bot.policy.capabilities import CAPABILITIES
from echo_bot.policy.catalogue import CATALOGUE, RESERVED, registered
from echo_bot.policy.profiles import TOOL_PROFILES, filter_reason
from echo_bot.policy.settings import ToolSettings

_TABLE = Path(__file__).parents[1] / "data" / "documented_tools.tsv"

PROFILES = ("minimal", "messaging", "coding", "full")
SECURITY = ("personal_cli", "daemon", "public_gateway")
NETWORK = ("deny", "restricted", "allow")

CAPABILITY_LIST = (
    "fs.read fs.write process.exec process.manage code.exec network.outbound scheduler.write skill.install "
    "skill.write skill.read workflow.write memory.read memory.write message.send message.ask media.generate "
    "media.read knowledge.read knowledge.write session.read task.write agent.read agent.dispatch mcp.call"
)


def documented() -> list[dict[str, str]]:
    lines = [line for line in _TABLE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines, delimiter="\t"))


ROWS = documented()
TOOLS = {row["tool"]: row for row in ROWS}
EVERYTHING_ON = {"tools.web.enabled": True}


@cache
def settings(profile: str, security: str, network: str) -> ToolSettings:
    keys = {"tools.profile": profile, "security.profile": security, "execution.network_policy": network}
    return policy_settings(config_from_keys({**EVERYTHING_ON, **keys})).tools


def taken_by(row: dict[str, str], profile: str, security: str, network: str) -> set[str]:
    """The keys that take a documented tool away under a combination."""
    taken = set()
    if PROFILES.index(profile) < PROFILES.index(row["profile"]):
        taken.add("tools.profile")
    if row["gone_from"] != "-" and SECURITY.index(security) >= SECURITY.index(row["gone_from"]):
        taken.add("security.profile")
    if row["network"] == "yes" and network == "deny":
        taken.add("execution.network_policy")
    return taken


def said(combination: tuple[str, str, str, str]) -> str:
    tool, profile, security, network = combination
    taken = taken_by(TOOLS[tool], profile, security, network)
    how = f"is taken away by {' and '.join(sorted(taken))}" if taken else "is offered"
    return f"{tool} {how} under {profile}, {security} and network {network}"


COMBINATIONS = list(product(TOOLS, PROFILES, SECURITY, NETWORK))


def test_the_documents_name_exactly_the_tools_there_are() -> None:
    assert set(TOOLS) == set(CATALOGUE)
    assert {"agents_list", "agents_route"} == RESERVED


@pytest.mark.parametrize("combination", COMBINATIONS, ids=said)
def test_every_tool_under_every_combination(combination: tuple[str, str, str, str]) -> None:
    tool, *where = combination
    key = filter_reason(CATALOGUE[tool], settings(*where))
    taken = taken_by(TOOLS[tool], *where)
    assert key in taken if taken else key is None


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['tool']} is {row['risk']}" for row in ROWS])
def test_every_tool_has_its_risk(row: dict[str, str]) -> None:
    assert CATALOGUE[row["tool"]].static_risk == row["risk"]


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['tool']} carries {row['capabilities']}" for row in ROWS])
def test_every_tool_has_its_capabilities(row: dict[str, str]) -> None:
    assert CATALOGUE[row["tool"]].capabilities == set(row["capabilities"].replace("-", "").split())


def test_there_are_exactly_the_documented_capabilities() -> None:
    assert list(CAPABILITIES) == CAPABILITY_LIST.split()


@pytest.mark.parametrize(
    "row",
    [row for row in ROWS if row["disabled_by"] != "-"],
    ids=[f"{r['tool']} is switched off by {r['disabled_by']}" for r in ROWS if r["disabled_by"] != "-"],
)
def test_every_subsystem_has_its_switch(row: dict[str, str]) -> None:
    keys = {**EVERYTHING_ON, "execution.network_policy": "allow", row["disabled_by"]: False}
    off = policy_settings(config_from_keys(keys)).tools
    gone = {name for name, entry in CATALOGUE.items() if filter_reason(entry, off) == row["disabled_by"]}
    assert gone == {each["tool"] for each in ROWS if each["disabled_by"] == row["disabled_by"]}


@pytest.mark.parametrize("profile", PROFILES)
def test_a_profile_holds_all_of_the_smaller_ones(profile: str) -> None:
    offered = {row["tool"] for row in ROWS if PROFILES.index(row["profile"]) <= PROFILES.index(profile)}
    listed = TOOL_PROFILES[profile]  # type: ignore[index]  # one of the four, by the list above
    assert (set(CATALOGUE) if listed is None else set(listed) - RESERVED) == offered


@pytest.mark.parametrize("security", SECURITY)
@pytest.mark.parametrize("network", NETWORK)
def test_an_mcp_tool_is_there_only_under_personal_cli_and_profile_full(security: str, network: str) -> None:
    entry = registered("mcp_git_log", parameters={})
    assert entry is not None
    assert entry.capabilities == {"mcp.call"}
    for profile in PROFILES:
        key = filter_reason(entry, settings(profile, security, network))
        if security != "personal_cli":
            assert key == "security.profile"
        else:
            assert key == (None if profile == "full" else "tools.profile")


LISTS = [
    ({"tools.deny": ["exec"]}, "exec", "tools.deny"),
    ({"tools.deny": ["exec"], "tools.allow": ["exec"]}, "exec", "tools.deny"),
    ({"tools.deny": ["exec"], "tools.also_allow": ["exec"]}, "exec", "tools.deny"),
    ({"tools.deny": ["bash"]}, "exec", "tools.deny"),
    ({"tools.deny": ["skill_*"]}, "skill_manage", "tools.deny"),
    ({"tools.allow": ["read_file"]}, "exec", "tools.allow"),
    ({"tools.allow": ["exec"], "tools.profile": "minimal"}, "exec", None),
    ({"tools.allow": ["read_file"], "tools.also_allow": ["exec"]}, "exec", "tools.allow"),
    ({"tools.profile": "coding", "tools.also_allow": ["exec"]}, "exec", None),
    ({"tools.profile": "coding", "tools.also_allow": ["exec"]}, "process", "tools.profile"),
    ({"tools.allow": ["exec"], "security.profile": "daemon"}, "exec", "security.profile"),
    ({"tools.also_allow": ["exec"], "security.profile": "public_gateway"}, "exec", "security.profile"),
    ({"tools.allow": ["web_fetch"]}, "web_fetch", "execution.network_policy"),
    ({"tools.profile": "coding", "execution.network_policy": "allow"}, "web_fetch", "tools.profile"),
    (
        {"tools.profile": "coding", "tools.also_allow": ["web_*"], "execution.network_policy": "allow"},
        "web_fetch",
        None,
    ),
    ({"tools.allow": []}, "exec", None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("keys", "tool", "expected"),
    LISTS,
    ids=[
        f"{keys} {'offers' if by is None else 'takes away'} {tool}{f' by {by}' if by else ''}"
        for keys, tool, by in LISTS
    ],
)
def test_lists(keys: dict[str, object], tool: str, expected: str | None) -> None:
    found = policy_settings(config_from_keys({**EVERYTHING_ON, **keys})).tools
    assert filter_reason(CATALOGUE[tool], found) == expected
