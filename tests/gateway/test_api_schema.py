"""Whatever is sent, the HTTP API answers as its OpenAPI document says, and never with a fault of its own."""

from __future__ import annotations

import asyncio
import functools
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    ignored_auth,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from echo_bot.gateway.edge import API_PREFIX
from echo_bot.testing.api_bot import ADMIN, ORDINARY, ApiBot

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    unsupported_method,
    ignored_auth,
]
QUICK = settings(
    max_examples=3,
    deadline=None,
    database=None,
    derandomize=True,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)


def try_everything(base_url: str, token: str, mode: GenerationMode) -> int:
    """Call every endpoint with a few cases; how many endpoints there are."""
    schema = schemathesis.openapi.from_url(f"{base_url}/openapi.json")
    session = requests.Session()
    session.trust_env = False
    tried = 0
    for found in schema.get_all_operations():
        assert isinstance(found, Ok)
        operation = found.ok()

        @QUICK
        @given(case=operation.as_strategy(mode))
        def answers_as_documented(case: schemathesis.Case[Any]) -> None:
            if isinstance(case.body, dict) and case.path == "/messages" and mode.is_positive:
                case.body["wait_seconds"] = 0
            headers = {"Authorization": f"Bearer {token}"}
            case.call_and_validate(base_url, session, headers, checks=CHECKS)

        answers_as_documented()
        tried += 1
    return tried


@pytest.mark.parametrize(
    ("token", "mode"),
    [(ADMIN, GenerationMode.POSITIVE), (ORDINARY, GenerationMode.NEGATIVE)],
    ids=["admin", "ordinary"],
)
async def test_every_answer_is_a_documented_one(api: ApiBot, token: str, mode: GenerationMode) -> None:
    await api.ci.post("/messages", json={"text": "/run echo waits", "wait_seconds": 0, "thread": "held"})
    work = functools.partial(try_everything, f"{api.bot.url}{API_PREFIX}", token, mode)
    assert await asyncio.to_thread(work) == 18
