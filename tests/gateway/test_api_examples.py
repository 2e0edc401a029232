"""The examples of docs/api.md, run as they stand there."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import httpx

from echo_bot.testing.api_bot import ADMIN, ORDINARY, ApiBot

StartApi = Callable[..., AbstractAsyncContextManager[ApiBot]]

TEXT = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"<!-- example: .*? -->\n```(\w+)\n(.*?)```", TEXT, re.DOTALL)


def block(language: str) -> str:
    (found,) = [text for kind, text in BLOCKS if kind == language]
    return str(found)


def as_curl_would(line: str, variables: dict[str, str]) -> httpx.Request:
    """The request of a curl line that uses -H, -d and -sS alone."""
    for name, value in variables.items():
        line = line.replace(f"${name}", value)
    command, *words = shlex.split(line)
    assert command == "curl"
    headers: list[tuple[str, str]] = []
    url, body = "", None
    while words:
        match words.pop(0):
            case "-H":
                name, _, value = words.pop(0).partition(": ")
                headers.append((name, value))
            case "-d":
                body = words.pop(0)
            case "-sS" | "-sSN":
                pass
            case word:
                assert word.startswith("http")
                url = word
    return httpx.Request("POST" if body else "GET", url, headers=headers, content=body)


async def test_every_curl_line_works(api: ApiBot) -> None:
    variables = {"ECHO_BOT_URL": api.bot.url, "ECHO_BOT_TOKEN": ORDINARY}
    lines = block("sh").splitlines()
    assert len(lines) == 4
    async with httpx.AsyncClient(trust_env=False, verify=False) as client:
        for line in lines:
            answer = await client.send(as_curl_would(line, variables))
            assert answer.status_code == 200, line
        assert "What failed?" in answer.text


async def test_the_python_example_runs_and_approves(start_api: StartApi) -> None:
    async with start_api() as api:
        program = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            block("python"),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env={**os.environ, "ECHO_BOT_URL": api.bot.url, "ECHO_BOT_TOKEN": ADMIN},
        )
        printed = (await asyncio.wait_for(program.communicate(), 30))[0].decode()
        assert program.returncode == 0, printed
        assert "/approve" in printed
        assert "exit code 0\nhello" in printed


async def test_the_table_names_every_endpoint(api: ApiBot) -> None:
    paths = (await api.nobody.get("/openapi.json")).json()["paths"]
    table = TEXT[TEXT.index("## All endpoints") :]
    for path, methods in paths.items():
        for method in methods:
            named = re.sub(r"\{\w+\}", "{id}", path)
            assert f"`{method.upper()} {named}`" in table
