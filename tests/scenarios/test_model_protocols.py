"""The three protocols against `@copilotkit/aimock`: chat, streaming, tools, and faults that it injects."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from echo_bot.channel import ChannelCapabilities
from echo_bot.testing.bot import running_bot
from echo_bot.testing.fake_channel import FakeChannel, FakeMessage
from tests.node_tools import npm_package

pytestmark = [
    pytest.mark.timeout(300),  # the first run fetches the package
    pytest.mark.filterwarnings("ignore:FUNCTION_CALL is not a valid FinishReason:UserWarning"),
]

PACKAGE, VERSION = "@copilotkit/aimock", "1.43.0"

Config = dict[str, object]
Is = Callable[[FakeMessage], bool]
Says = Callable[[str], Is]

QUICK = ChannelCapabilities(max_length=400, buttons=True, edits=True, stream_interval_ms=10)
LONG = "The answer comes in many pieces, one after the other, and is whole at the end."
KEY = "sk-of-the-operator-0123456789"


def says_when(
    words: str,
    response: dict[str, object],
    *,
    sequence: int | None = None,
    after_a_result: bool | None = None,
    **more: object,
) -> dict[str, object]:
    match: dict[str, object] = {"userMessage": words}
    if sequence is not None:
        match["sequenceIndex"] = sequence
    if after_a_result is not None:
        match["hasToolResult"] = after_a_result
    return {"match": match, "response": response, **more}


def failing(words: str, status: int, times: int = 1) -> list[dict[str, object]]:
    error = {"error": {"message": "injected", "type": "server_error"}, "status": status}
    return [says_when(words, error, sequence=number) for number in range(times)]


def calling(*commands: str) -> dict[str, object]:
    calls = [
        {"id": f"call_{n}", "name": "exec", "arguments": json.dumps({"command": command})}
        for n, command in enumerate(commands)
    ]
    return {"toolCalls": calls}


PROTOCOLS = ("openai", "anthropic", "google")


def once_for(protocol: str) -> list[dict[str, object]]:
    """Faults that happen once; how often something was asked is counted by its words."""
    return [
        *failing(f"a moment, {protocol}", 500),
        says_when(f"a moment, {protocol}", {"content": "Recovered."}),
        *failing(f"too many, {protocol}", 429),
        says_when(f"too many, {protocol}", {"content": "Let in."}),
        says_when(f"half of it, {protocol}", {"content": LONG}, sequence=0, truncateAfterChunks=2),
        says_when(f"half of it, {protocol}", {"content": "Whole now."}),
    ]


FIXTURES = [
    says_when("stream it", {"content": LONG}),
    says_when("two files", calling("echo a > a", "echo b > b"), after_a_result=False),
    says_when("two files", {"content": "Both are there."}, after_a_result=True),
    says_when("garbled", {"content": "x"}, chaos={"malformedRate": 1.0}),
    says_when("cut off", {"content": "x"}, chaos={"disconnectRate": 1.0}),
    says_when("hello", {"content": "Hi there!"}),
    *(fixture for protocol in PROTOCOLS for fixture in once_for(protocol)),
]


@dataclass(frozen=True, slots=True)
class Mock:
    url: str

    def config(self, protocol: str) -> Config:
        base = {"openai": f"{self.url}/v1"}.get(protocol, self.url)
        return {
            "models.default": f"{protocol}:some-model",
            "models.base_url": base,
            "models.api_key": KEY,
            "credentials.require_encryption": False,
            "channels.stream.min_interval_ms": 10,
        }


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mock]:
    installed = npm_package(PACKAGE, VERSION)
    fixtures = tmp_path_factory.mktemp("aimock") / "fixtures.json"
    fixtures.write_text(json.dumps({"fixtures": FIXTURES}))
    words = ("-p", "0", "-f", str(fixtures), "--chunk-size", "8", "--latency", "5")
    process = subprocess.Popen(
        [installed.node, str(installed.folder / "dist" / "cli.js"), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    found = next((m for line in process.stdout if (m := re.search(r"listening on (\S+)", line))), None)
    assert found, "aimock did not start"
    yield Mock(found[1])
    process.terminate()
    process.wait(10)
    process.stdout.close()


@pytest.fixture(params=PROTOCOLS)
def model(request: pytest.FixtureRequest, served: Mock) -> Config:
    return served.config(request.param)


async def test_an_answer_streams_into_one_message(
    tmp_path: Path, local: Config, model: Config, says: Says
) -> None:
    channel = FakeChannel("telegram", capabilities=QUICK)
    async with running_bot(tmp_path, local | model, channel=channel) as bot:
        await channel.say("stream it")
        told = await channel.wait_for(lambda m: m.body == LONG)
        assert len(channel.messages) == 1
        assert len(told.versions) > 1
        [total] = await bot.parts.models.ledger.today()
        assert total.output_tokens > 0


async def test_two_calls_of_one_answer_pass_the_gate_each_and_their_results_go_back(
    tmp_path: Path, local: Config, model: Config, is_open: Is, says: Says
) -> None:
    async with running_bot(tmp_path, local | model) as bot:
        await bot.channel.say("two files")
        first = await bot.channel.wait_for(lambda m: is_open(m) and "echo a" in m.body)
        second = await bot.channel.wait_for(lambda m: is_open(m) and "echo b" in m.body)
        await bot.channel.press("Deny", message=second)
        await bot.channel.press("Approve once", message=first)
        await bot.channel.wait_for(says("Both are there."))
        assert [name for name in "ab" if (bot.workspace / name).exists()] == ["a"]


@pytest.mark.parametrize(
    ("words", "answer"),
    [("a moment", "Recovered."), ("too many", "Let in."), ("half of it", "Whole now.")],
)
async def test_a_fault_is_asked_again_after(
    tmp_path: Path, local: Config, model: Config, says: Says, words: str, answer: str
) -> None:
    protocol = str(model["models.default"]).partition(":")[0]
    channel = FakeChannel("telegram", capabilities=QUICK)
    async with running_bot(tmp_path, local | model, channel=channel):
        await channel.say(f"{words}, {protocol}")
        told = await channel.wait_for(says(answer))
        assert told.body == answer
        assert len(channel.messages) == 1


@pytest.mark.parametrize(
    ("protocol", "words"), [("openai", "garbled"), ("anthropic", "cut off"), ("google", "garbled")]
)
async def test_a_fault_that_stays_is_told_of_the_model_and_of_its_fallback(
    tmp_path: Path, local: Config, says: Says, protocol: str, words: str, served: Mock
) -> None:
    fallback = {
        "models.fallback": ["spare:other"],
        "models.providers": {"spare": {"base_url": f"{served.url}/v1"}},
    }
    async with running_bot(tmp_path, local | served.config(protocol) | fallback) as bot:
        await bot.channel.say(words)
        told = await bot.channel.wait_for(says("The model did not get this done"))
        assert "some-model" in told.body
        assert "spare:other" in told.body
        assert KEY not in told.body


async def test_a_conversation_goes_on_with_its_history(
    tmp_path: Path, local: Config, model: Config, says: Says, is_open: Is
) -> None:
    async with running_bot(tmp_path, local | model | {"permissions.approval.mode": "off"}) as bot:
        await bot.channel.say("two files")
        await bot.channel.wait_for(says("Both are there."))
        await bot.channel.say("hello")
        await bot.channel.wait_for(says("Hi there!"))
        assert {name for name in "ab" if (bot.workspace / name).exists()} == {"a", "b"}
