"""What the scenarios of workflows and tasks share: direct calls of their tools, and the message of a run."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from echo_bot.storage.flow_records import StepRecord, WorkflowRecord, WorkflowState
from echo_bot.testing.bot import RunningBot
from echo_bot.testing.fake_channel import FakeMessage
from echo_bot.testing.waiting import PATIENCE_SECONDS, eventually

Config = dict[str, object]


@dataclass(frozen=True, slots=True)
class Hand:
    """Calls the tools directly, as one person in one chat."""

    bot: RunningBot
    sender: str = "1"
    chat: str = "1"

    async def call(self, tool: str, **args: object) -> str:
        """What the tool answers."""
        before = len(self.answers())
        text = f"/tool {tool} {json.dumps(args)}"
        await self.bot.channel.say(text, sender_id=self.sender, chat_id=self.chat)
        await eventually(lambda: len(self.answers()) > before, f"an answer to {text}")
        return self.answers()[-1].body.strip("`\n")

    async def flow(self, action: str, name: str = "release", **args: object) -> str:
        return await self.call("workflow", action=action, name=name, **args)

    async def run(self, *steps: dict[str, object], name: str = "release") -> None:
        """Create a workflow of these steps and start it."""
        created = await self.flow("create", name, steps=list(steps))
        assert created.startswith(f"Workflow {name} "), created
        started = await self.flow("start", name)
        assert "is running" in started, started

    def answers(self) -> list[FakeMessage]:
        """What was said in the chat but for cards and the messages of runs."""
        said = [
            m for m in self.bot.channel.messages if m.text is not None and m.ref.address.chat_id == self.chat
        ]
        return [message for message in said if not message.body.startswith(("Workflow ", "It is time"))]

    def shown(self, name: str = "release") -> list[FakeMessage]:
        """The messages of its runs, oldest first."""
        return [m for m in self.bot.channel.messages if m.body.startswith(f"Workflow {name} ")]

    async def shows(self, part: str, name: str = "release") -> str:
        """The message of the run, once it says this."""
        await eventually(lambda: any(part in m.body for m in self.shown(name)), f"{part!r} of {name}")
        return next(m.body for m in self.shown(name) if part in m.body)

    async def record(self, name: str = "release") -> WorkflowRecord:
        found = await self.bot.store.workflows.named(f"telegram:{self.sender}", name)
        assert found is not None
        return found

    async def steps(self, name: str = "release") -> dict[str, StepRecord]:
        stored = await self.bot.store.workflows.steps((await self.record(name)).workflow_id)
        return {each.step_id: each for each in stored}

    async def until(self, state: WorkflowState, name: str = "release") -> dict[str, StepRecord]:
        """The steps once the workflow is in this state, as it is stored."""
        deadline = asyncio.get_running_loop().time() + PATIENCE_SECONDS
        while (record := await self.record(name)).state is not state:
            if asyncio.get_running_loop().time() > deadline:
                raise AssertionError(f"{name} is {record.state}, not {state}: {await self.steps(name)}")
            await asyncio.sleep(0.01)
        return await self.steps(name)


@pytest.fixture
def hand() -> Callable[..., Hand]:
    return Hand


@pytest.fixture
def free(local: Config) -> Config:
    """Nobody is asked."""
    return local | {"permissions.approval.mode": "off"}
