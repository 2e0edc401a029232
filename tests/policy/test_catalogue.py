"""The catalogue's names, schemas and declarations; `test_documented_tools.py` holds it to the tables."""

from __future__ import annotations

import pytest
from jsonschema import Draft202012Validator

from echo_bot.policy.capabilities import CAPABILITIES
from echo_bot.policy.catalogue import (
    ALIASES,
    CATALOGUE,
    RESERVED,
    TOOL_NAME,
    canonical_name,
    classify_risk,
    is_mcp_name,
    is_registrable,
    registered,
)
from echo_bot.policy.profiles import CODING, MESSAGING, MINIMAL
from echo_bot.policy.risk import RiskLevel
from echo_bot.policy.schemas import FREE


def test_every_capability_is_one_of_the_list() -> None:
    assert {cap for entry in CATALOGUE.values() for cap in entry.capabilities} <= set(CAPABILITIES)


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_schema_is_a_schema(name: str) -> None:
    Draft202012Validator.check_schema(CATALOGUE[name].parameters)
    assert TOOL_NAME.fullmatch(name)


def test_profiles_name_only_known_tools() -> None:
    assert {*MINIMAL, *MESSAGING, *CODING} <= {*CATALOGUE, *RESERVED}
    assert MINIMAL < MESSAGING < CODING


def test_aliases_lead_to_tools_and_no_further() -> None:
    assert {canonical_name(alias) for alias in ALIASES} == {"exec", "execute_code"}


@pytest.mark.parametrize("name", ["exec", "bash", "agents_list", "", "a b", "a" * 65, "a\n"])
def test_these_names_cannot_be_registered(name: str) -> None:
    assert not is_registrable(name)


@pytest.mark.parametrize(
    ("name", "is_mcp"),
    [
        ("mcp_git_list", True),
        ("mcp_my_git_list", True),
        ("mcp_git", False),
        ("mcp__x", False),
        ("MCP_a_b", False),
    ],
)
def test_mcp_names(name: str, is_mcp: bool) -> None:
    assert is_mcp_name(name) is is_mcp


def test_an_own_tool_keeps_its_schema_and_any_other_takes_anything() -> None:
    own = registered("mine", declared_risk="write", parameters={"type": "object", "required": ["a"]})
    assert own is not None
    assert own.parameters == {"type": "object", "required": ["a"]}
    other = registered("mine", declared_risk="write")
    assert other is not None
    assert other.parameters == FREE


def test_a_built_in_keeps_its_own_schema() -> None:
    entry = registered("exec", declared_risk="dangerous", parameters=FREE, capabilities=("fs.read",))
    assert entry is not None
    assert entry.parameters == CATALOGUE["exec"].parameters
    assert entry.capabilities == {"process.exec", "fs.read"}
    assert classify_risk(entry, {}) is RiskLevel.DANGEROUS
