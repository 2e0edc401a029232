"""Received images: shown to a model that sees, in the requests of their turn alone, and stored nowhere."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.profiles import ModelProfile

from echo_bot.agent.received import files
from echo_bot.events import BlockType, ContentBlock
from echo_bot.testing.bot import running_bot
from echo_bot.testing.fake_channel import FakeChannel, FakeMessage
from echo_bot.testing.file_host import FileHost
from echo_bot.testing.model_server import ModelServer, Refuse
from echo_bot.testing.scripted_model import CallTool, Say, ScriptedModel
from echo_bot.testing.waiting import eventually

Config = dict[str, object]
Is = Callable[[FakeMessage], bool]
Says = Callable[[str], Is]

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4
JPEG = b"\xff\xd8\xff\xe0" + bytes(64)
RUN = CallTool("exec", {"command": "echo done"})


def served_by(server: ModelServer, **more: object) -> Config:
    return {"models.default": "openai:sees", "models.base_url": server.base_url, **more}


def images_in(request: Mapping[str, Any]) -> list[bytes]:
    """Every image of a request, in the order of its messages."""
    parts = (part for message in request["messages"] for part in _parts(message))
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    assert all(url.startswith("data:image/") for url in urls)
    return [base64.b64decode(url.partition(";base64,")[2]) for url in urls]


def words_in(request: Mapping[str, Any]) -> str:
    parts = (part for message in request["messages"] for part in _parts(message))
    return "\n".join(part["text"] for part in parts if part["type"] == "text")


def _parts(message: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    content = message.get("content") or ""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


async def test_the_model_sees_the_image_beside_its_line(
    tmp_path: Path, local: Config, host: FileHost, says: Says, is_open: Is
) -> None:
    async with ModelServer([RUN, Say("A quay.")]).serving() as server:
        async with running_bot(tmp_path, local | host.config | served_by(server)) as bot:
            picture = host.image(bot.channel, PNG)
            await bot.channel.say("What is this?", files=[picture])
            await bot.channel.wait_for(is_open)
            await bot.channel.press("Approve once")
            await bot.channel.wait_for(says("A quay."))
        first, second = server.requests
        assert images_in(first) == images_in(second) == [PNG]
        (asked,) = (m for m in first["messages"] if not isinstance(m.get("content"), str))
        assert asked["role"] == "user"
        assert asked["content"][0]["text"].endswith("What is this?")
        assert "[received file: incoming/" in asked["content"][0]["text"]
        assert server.problems == []


async def test_the_next_turn_has_only_the_line_and_nothing_is_stored(
    tmp_path: Path, host: FileHost, says: Says
) -> None:
    async with ModelServer([Say("A quay."), Say("The one before.")]).serving() as server:
        async with running_bot(tmp_path, host.config | served_by(server)) as bot:
            await bot.channel.say("What is this?", files=[host.image(bot.channel, PNG)])
            await bot.channel.wait_for(says("A quay."))
            await bot.channel.say("And which one did I send?")
            await bot.channel.wait_for(says("The one before."))
        assert images_in(server.requests[1]) == []
        assert "view.png (image/png" in words_in(server.requests[1])
    for file in (tmp_path / "state").glob("echo-bot.db*"):
        stored = file.read_bytes()
        assert base64.b64encode(PNG)[:60] not in stored
        assert PNG not in stored


async def test_what_is_an_image_is_known_by_its_content(tmp_path: Path, host: FileHost, says: Says) -> None:
    async with ModelServer([Say("One image.")]).serving() as server:
        async with running_bot(tmp_path, host.config | served_by(server)) as bot:
            lies = host.image(bot.channel, b"<svg/>", "drawing.png")
            hidden = host.put(bot.channel, BlockType.FILE, JPEG, "notes.txt", "text/plain")
            await bot.channel.say("", files=[lies, hidden])
            await bot.channel.wait_for(says("One image."))
        assert images_in(server.requests[0]) == [JPEG]


@dataclass(init=False)
class Blind(WrapperModel):
    """A model whose profile says that it takes no images."""

    @property
    def profile(self) -> ModelProfile:
        return {**self.wrapped.profile, "supports_image_input": False}


@pytest.mark.parametrize(
    ("setting", "is_blind", "is_shown"),
    [
        pytest.param("auto", False, True, id="auto shows a model that sees"),
        pytest.param("auto", True, False, id="auto shows nothing to one that does not"),
        pytest.param("on", True, True, id="on shows everything to everybody"),
        pytest.param("off", False, False, id="off shows nothing"),
    ],
)
async def test_who_is_shown_images(
    tmp_path: Path, host: FileHost, says: Says, setting: str, is_blind: bool, is_shown: bool
) -> None:
    script = ScriptedModel([Say("Looked.")])
    model = Blind(script.model) if is_blind else script.model
    async with running_bot(tmp_path, host.config | {"models.images": setting}, model=model) as bot:
        await bot.channel.say("", files=[host.image(bot.channel, PNG)])
        told = await bot.channel.wait_for(says("Looked."))
        assert told.body == "Looked."
    assert ("BinaryContent" in repr(script.seen[0])) is is_shown
    assert "view.png (image/png" in repr(script.seen[0])


REFUSALS = [
    Refuse(400, "model does not take content of this type"),
    Refuse(413, "too large"),
    Refuse(415, "unsupported"),
    Refuse(422, "messages.1.content: wrong type"),
    Refuse(404, "No endpoints found that take image input"),
    Refuse(500, "image input is not supported"),
]


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda each: str(each.status))
async def test_a_refused_image_is_left_out_and_the_person_hears_of_it(
    tmp_path: Path, local: Config, host: FileHost, says: Says, is_open: Is, refusal: Refuse
) -> None:
    async with ModelServer([refusal, RUN, Say("I cannot see it.")]).serving() as server:
        async with running_bot(tmp_path, local | host.config | served_by(server)) as bot:
            await bot.channel.say("", files=[host.image(bot.channel, PNG)])
            await bot.channel.wait_for(is_open)
            await bot.channel.press("Approve once")
            told = await bot.channel.wait_for(says("I cannot see it."))
            assert told.body.endswith("(openai:sees refused images, so it did not see them.)")
        assert [images_in(request) for request in server.requests] == [[PNG], [], []]


async def test_a_request_that_fails_without_images_too_fails_once_more_and_no_oftener(
    tmp_path: Path, host: FileHost, says: Says
) -> None:
    async with ModelServer([Refuse(400, "no"), Refuse(400, "no such tool format")]).serving() as server:
        async with running_bot(tmp_path, host.config | served_by(server)) as bot:
            await bot.channel.say("", files=[host.image(bot.channel, PNG)])
            await bot.channel.wait_for(says("no such tool format"))
        assert [len(images_in(request)) for request in server.requests] == [1, 0]


async def test_each_model_of_the_chain_is_asked_by_its_own_ability(
    tmp_path: Path, host: FileHost, says: Says
) -> None:
    refusing = [Refuse(422, "no images"), *[Refuse(503, "moving house")] * 3]
    async with (
        ModelServer(refusing).serving() as first,
        ModelServer([Say("A quay.")]).serving() as second,
    ):
        config = served_by(first) | {
            "models.fallback": ["spare:two"],
            "models.providers": {"spare": {"base_url": second.base_url}},
        }
        async with running_bot(tmp_path, host.config | config) as bot:
            await bot.channel.say("", files=[host.image(bot.channel, PNG)])
            told = await bot.channel.wait_for(says("A quay."))
            assert told.body == "A quay.\n\n(Answered by spare:two: openai:sees failed.)"
        assert [len(images_in(request)) for request in first.requests] == [1, 0, 0, 0]
        assert [images_in(request) for request in second.requests] == [[PNG]]


@pytest.mark.parametrize("is_gone", [False, True])
async def test_a_turn_that_goes_on_after_a_restart_shows_the_image_again_if_it_is_there(
    tmp_path: Path, local: Config, host: FileHost, says: Says, is_open: Is, is_gone: bool
) -> None:
    async with ModelServer([RUN, Say("A quay.")]).serving() as server:
        config = local | host.config | served_by(server)
        async with running_bot(tmp_path, config) as bot:
            await bot.channel.say("What is this?", files=[host.image(bot.channel, PNG)])
            await bot.channel.wait_for(is_open)
        (file,) = (tmp_path / "workspace" / "incoming").rglob("*.png")
        if is_gone:
            file.unlink()
        async with running_bot(tmp_path, config) as bot:
            (pending,) = await bot.store.approvals.pending()
            await bot.channel.say(f"/approve {pending.approval_id[-6:]}", event_id="a1")
            await bot.channel.wait_for(says("A quay."))
        assert images_in(server.requests[0]) == [PNG]
        assert images_in(server.requests[1]) == ([] if is_gone else [PNG])
        assert "view.png (image/png" in words_in(server.requests[1])
    assert host.fetches == 1


async def test_a_model_that_refused_images_is_not_shown_them_after_a_restart(
    tmp_path: Path, local: Config, host: FileHost, says: Says, is_open: Is
) -> None:
    async with ModelServer([Refuse(400, "no images"), RUN, Say("Blind.")]).serving() as server:
        config = local | host.config | served_by(server)
        async with running_bot(tmp_path, config) as bot:
            await bot.channel.say("", files=[host.image(bot.channel, PNG)])
            await bot.channel.wait_for(is_open)
        async with running_bot(tmp_path, config) as bot:
            (pending,) = await bot.store.approvals.pending()
            await bot.channel.say(f"/approve {pending.approval_id[-6:]}", event_id="a1")
            told = await bot.channel.wait_for(says("Blind."))
            assert "refused images" in told.body
        assert [len(images_in(request)) for request in server.requests] == [1, 0, 0]


async def test_a_link_in_the_place_of_an_image_shows_nothing_from_outside(
    tmp_path: Path, local: Config, host: FileHost, says: Says, is_open: Is
) -> None:
    secret = tmp_path / "secret.png"
    secret.write_bytes(PNG + b"secret")
    async with ModelServer([RUN, Say("Nothing.")]).serving() as server:
        async with running_bot(tmp_path, local | host.config | served_by(server)) as bot:
            await bot.channel.say("", files=[host.image(bot.channel, PNG)])
            await bot.channel.wait_for(is_open)
            (file,) = (bot.workspace / "incoming").rglob("*.png")
            file.unlink()
            file.symlink_to(secret)
            await bot.channel.press("Approve once")
            await bot.channel.wait_for(says("Nothing."))
        assert images_in(server.requests[1]) == []


async def test_more_than_the_limits_are_lines_that_say_so(
    tmp_path: Path, host: FileHost, says: Says, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MOST_IMAGES", 2)
    monkeypatch.setattr(files, "MOST_IMAGE_BYTES", 4 * len(PNG))
    sizes = {"huge.png": 5, "first.png": 1, "second.png": 1, "third.png": 1}
    channel = FakeChannel("telegram")
    async with ModelServer([Say("Two of four.")]).serving() as server:
        async with running_bot(tmp_path, host.config | served_by(server), channel=channel):
            sent: list[ContentBlock] = [
                host.image(channel, PNG * times, name) for name, times in sizes.items()
            ]
            await channel.say("", files=sent)
            await channel.wait_for(says("Two of four."))
        assert images_in(server.requests[0]) == [PNG, PNG]
        lines = [line for line in words_in(server.requests[0]).splitlines() if "received file" in line]
        assert ["to be shown" in line for line in lines] == [True, False, False, True]


async def test_an_image_takes_no_room_as_text(tmp_path: Path, host: FileHost, says: Says) -> None:
    """A conversation whose text is short is not shortened because of an image."""
    large = PNG + bytes(1_000_000)
    script = ScriptedModel([Say("One."), Say("Two.")])
    config = host.config | {"models.compaction.at_tokens": 4_000}
    async with running_bot(tmp_path, config, model=script.model) as bot:
        await bot.channel.say("The first words", files=[host.image(bot.channel, large)])
        await bot.channel.wait_for(says("One."))
        await bot.channel.say("", files=[host.image(bot.channel, large)])
        await bot.channel.wait_for(says("Two."))
    assert len(script.seen) == 2
    assert "The first words" in repr(script.seen[1])


async def test_a_retry_shows_the_image_again(tmp_path: Path, host: FileHost, says: Says) -> None:
    async with ModelServer([Refuse(401, "no key"), Say("A quay.")]).serving() as server:
        async with running_bot(tmp_path, host.config | served_by(server)) as bot:
            await bot.channel.say("What is this?", files=[host.image(bot.channel, PNG)])
            await bot.channel.wait_for(says("answered with status 401"))
            await eventually(lambda: bot.parts.queues.total() == (0, 0), "the turn to end")
            await bot.channel.say("/retry")
            await bot.channel.wait_for(says("A quay."))
        assert [images_in(request) for request in server.requests] == [[PNG], [PNG]]
    assert host.fetches == 1


async def test_workers_are_shown_no_images(tmp_path: Path, local: Config, host: FileHost, says: Says) -> None:
    steps: list[CallTool | Say] = [
        CallTool("delegate_task", {"goal": "Name a colour"}),
        Say("Blue."),
        Say("It is blue."),
    ]
    async with ModelServer(steps).serving() as server:
        config = local | host.config | served_by(server) | {"permissions.approval.mode": "off"}
        async with running_bot(tmp_path, config) as bot:
            await bot.channel.say("", files=[host.image(bot.channel, PNG)])
            await bot.channel.wait_for(says("It is blue."))
        assert [len(images_in(request)) for request in server.requests] == [1, 0, 1]


async def test_a_conversation_that_is_shortened_shows_the_image_where_it_belongs(
    tmp_path: Path, host: FileHost, says: Says
) -> None:
    def answer(body: Mapping[str, Any]) -> Say:
        said = str(body["messages"][-1]["content"])
        return Say(f"Answer {said[:1]}.") if body.get("tools") else Say("A summary.")

    async with ModelServer(otherwise=answer).serving() as server:
        config = host.config | served_by(server) | {"models.compaction.at_tokens": 2_000}
        async with running_bot(tmp_path, config) as bot:
            for number in range(3):
                await bot.channel.say(f"{number} " + "words " * 600)
                await bot.channel.wait_for(says(f"Answer {number}."))
            await bot.channel.say("What is this?", files=[host.image(bot.channel, PNG)])
            await bot.channel.wait_for(says("Answer [."))
        assert "A summary." in words_in(server.requests[-1])
        assert images_in(server.requests[-1]) == [PNG]
        assert server.requests[-1]["messages"][-1]["content"][0]["text"].endswith("What is this?")
        assert server.problems == []
