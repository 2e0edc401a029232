"""Drawing and speaking: what each service is asked, what counts as an answer, where keys go."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from websockets.asyncio.server import ServerConnection, serve

from echo_bot.policy.guards.network import NetworkRules
from echo_bot.testing.site import Site, guarded, json_reply, reply, serving
from echo_bot.tools.base import ToolResult
from echo_bot.tools.media import speaking
from echo_bot.tools.media.drawing import OPENAI, Drawing
from echo_bot.tools.media.kinds import MP3, PNG
from echo_bot.tools.media.speaking import EdgeSpeaker, ServiceSpeaker
from echo_bot.tools.services import Service

IMAGE = b"\x89PNG\r\n\x1a\n" + bytes(20)
SOUND = b"\xff\xfb\x90\x64" + bytes(50)
KEY = "sk-media-secret"


def service(base: str, key: str = KEY) -> Service:
    return Service("the service", base, "tools.x.api_base", "tools.x.api_key", key)


def drawing(site: Site, model: str = "") -> Drawing:
    return Drawing(service(site.base), model, guarded())


def encoded(data: bytes) -> bytes:
    return json_reply({"data": [{"b64_json": base64.b64encode(data).decode()}]})


async def test_an_image_within_the_answer() -> None:
    async with serving(encoded(IMAGE)) as site:
        made = await drawing(site, "painter").draw("a tide", "landscape")
    assert made == (IMAGE, PNG)
    assert site.sent == {"prompt": "a tide", "n": 1, "size": "1536x1024", "model": "painter"}
    assert f"authorization: Bearer {KEY}" in site.heads[0]


async def test_an_image_behind_an_address_is_fetched_without_the_key() -> None:
    def answer(head: str, body: bytes) -> bytes:
        return reply(IMAGE) if head.startswith("GET") else json_reply({"data": [{"url": site.url("/i")}]})

    async with serving(answer) as site:
        made = await drawing(site).draw("a tide", "square")
    assert made == (IMAGE, PNG)
    assert KEY not in site.heads[1]
    assert "model" not in site.sent if site.bodies[-1] else True


@pytest.mark.parametrize(
    "url", ["http://169.254.169.254/i.png", "http://10.0.0.1/i.png", "file:///etc/passwd", "ftp://a.example/"]
)
async def test_a_service_cannot_name_an_address_inside(url: str) -> None:
    async with serving(json_reply({"data": [{"url": url}]})) as site:
        made = await drawing(site).draw("a tide", "square")
    assert isinstance(made, ToolResult)
    assert made.error_kind == "denied"


@pytest.mark.parametrize(
    ("answer", "kind", "said"),
    [
        (encoded(b"<svg/>"), "dependency", "sent no image of a known kind"),
        (json_reply({"data": [{"b64_json": "!!"}]}), "dependency", "something else than expected"),
        (json_reply({"data": []}), "dependency", "something else than expected"),
        (json_reply([1]), "dependency", "something else than expected"),
        (
            json_reply(
                {"error": {"message": "Your request was rejected by the safety system"}}, status="400 No"
            ),
            "business",
            "400 Bad Request: Your request was rejected by the safety system",
        ),
        (json_reply({"error": f"key {KEY}"}, status="401 No"), "business", "key ***; check tools.x.api_key"),
        (reply("", status="500 Oops"), "dependency", "500 Internal Server Error"),
    ],
)
async def test_failures_of_drawing(answer: bytes, kind: str, said: str) -> None:
    async with serving(answer) as site:
        made = await drawing(site).draw("a tide", "square")
    assert isinstance(made, ToolResult)
    assert made.error_kind == kind
    assert said in made.error
    assert KEY not in made.error


async def test_a_text_is_spoken() -> None:
    async with serving(reply(SOUND, "content-type: audio/mpeg")) as site:
        made = await ServiceSpeaker(service(site.base), "tts-1", guarded()).speak("hello", "nova")
    assert made == (SOUND, MP3)
    assert site.heads[0].startswith("POST /v1/audio/speech ")
    assert site.sent == {"input": "hello", "voice": "nova", "response_format": "mp3", "model": "tts-1"}


async def test_an_answer_that_is_no_recording_is_refused() -> None:
    async with serving(json_reply({"oops": 1})) as site:
        made = await ServiceSpeaker(service(site.base), "", guarded()).speak("hello", "")
    assert isinstance(made, ToolResult)
    assert "sent no recording of a known kind" in made.error


@pytest.mark.parametrize(
    ("base", "key", "rules", "reason"),
    [
        (OPENAI, "", None, "no key for the service: set tools.x.api_key (ECHO_BOT_TOOLS__X__API_KEY)"),
        (OPENAI, KEY, None, ""),
        ("http://127.0.0.1:1/v1", "", None, ""),
        ("speech.local", "", None, "tools.x.api_base is no address"),
        (
            OPENAI,
            KEY,
            NetworkRules("restricted"),
            "execution.network_policy is restricted: add api.openai.com to execution.network_allow",
        ),
        (OPENAI, "schlüssel", None, "tools.x.api_key holds characters that no key has"),
    ],
)
def test_what_is_missing_is_named(base: str, key: str, rules: NetworkRules | None, reason: str) -> None:
    clients = guarded(rules=rules)
    for made in (Drawing(service(base, key), "", clients), ServiceSpeaker(service(base, key), "", clients)):
        assert made.problem().startswith(reason)
        assert bool(made.problem()) == bool(reason)


@asynccontextmanager
async def edge_server(monkeypatch: pytest.MonkeyPatch, sound: bytes) -> AsyncIterator[list[str]]:
    """Speaks the part of the service's protocol that the package needs."""
    heard: list[str] = []

    async def answer(connection: ServerConnection) -> None:
        heard.append(str(await connection.recv()))
        heard.append(str(await connection.recv()))
        head = b"X-RequestId:1\r\nContent-Type:audio/mpeg\r\nPath:audio\r\n"
        if sound:
            await connection.send(len(head).to_bytes(2, "big") + head + sound)
        await connection.send("Path:turn.end\r\n\r\n{}")
        await asyncio.wait_for(connection.wait_closed(), 20)

    async with serve(answer, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        from edge_tts import communicate

        monkeypatch.setattr(communicate, "WSS_URL", f"ws://127.0.0.1:{port}/edge?x=1")
        yield heard


async def test_edges_voices_speak_through_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    async with edge_server(monkeypatch, SOUND) as heard:
        made = await EdgeSpeaker(NetworkRules("allow")).speak("a < b & c", "en-GB-SoniaNeural")
    assert made == (SOUND, MP3)
    assert "a &lt; b &amp; c" in heard[1]
    assert "en-GB, SoniaNeural" in heard[1]


async def test_silence_from_edge_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    async with edge_server(monkeypatch, b""):
        made = await EdgeSpeaker(NetworkRules("allow")).speak("hello", "")
    assert isinstance(made, ToolResult)
    assert (made.error_kind, "NoAudioReceived" in made.error) == ("dependency", True)


async def test_a_voice_that_edge_cannot_have_is_invalid() -> None:
    made = await EdgeSpeaker(NetworkRules("allow")).speak("hello", "nova")
    assert isinstance(made, ToolResult)
    assert (made.error_kind, made.error) == ("validation", "Edge has no voice 'nova'")


def test_what_edge_needs_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert EdgeSpeaker(NetworkRules("allow")).problem() == ""
    assert "add speech.platform.bing.com" in EdgeSpeaker(NetworkRules("restricted")).problem()
    monkeypatch.setattr(speaking, "find_spec", lambda name: None)
    assert "pip install 'echo-bot[tts]'" in EdgeSpeaker(NetworkRules("allow")).problem()
