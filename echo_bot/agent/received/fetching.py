"""Fetching what people sent: the adapter says where it is, the guarded client gets it, once per turn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import cast

import httpx
import structlog

from echo_bot.agent.received.files import FileJournal, ReceivedFile, heard_key
from echo_bot.agent.received.hearing import Hearing
from echo_bot.agent.received.names import clean_mime, clean_name
from echo_bot.agent.received.storing import Storing
from echo_bot.channel import Channel, FileLocation, FileSource
from echo_bot.errors import ChannelError, RetryAfter, TargetGone, TemporaryFailure
from echo_bot.events import Address, BlockType, ContentBlock, InboundEvent, SessionKey
from echo_bot.files import FileRefusal
from echo_bot.net import Fetch, Fetched, FetchLimits, GuardedClient, Refused, guarded_transport
from echo_bot.policy.guards.network import NetworkRules, Target, parse_url
from echo_bot.policy.settings import PlaceSettings
from echo_bot.text.language import N_
from echo_bot.tools.media.kinds import image_kind

log = structlog.get_logger(__name__)

MAX_FILE_BYTES = 25 * 1024 * 1024
_LIMITS = FetchLimits(max_bytes=MAX_FILE_BYTES, total_seconds=120.0, max_redirects=5)
_TOTAL_SECONDS = 180.0
_TRIES = 3
_RULES = NetworkRules("allow")
"""What tools may reach is another matter: these are the platform's own files."""

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class FileSources:
    """By (channel, account): the configured endpoints, whose origins may be private, and a proxy to them."""

    endpoints: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    proxies: Mapping[tuple[str, str], str] = field(default_factory=dict, repr=False)


class ReceivedFiles:
    """`channel_of` finds the channel that runs at an address; without `hearing` voices stay files."""

    def __init__(
        self,
        channel_of: Callable[[Address], Channel | None],
        sources: FileSources,
        places: PlaceSettings,
        mask: Callable[[str], str],
        hearing: Hearing | None = None,
    ) -> None:
        self._channel_of, self._sources, self._mask = channel_of, sources, mask
        self._hearing = hearing
        self._storing = Storing(places)

    async def fetch(
        self, session: SessionKey, event: InboundEvent, journal: FileJournal
    ) -> tuple[ReceivedFile, ...]:
        """All attachments of the event, those of an earlier run from the journal. A failure is in words.

        What people said by voice is in words too; its line in the transcript then has them.
        """
        found: dict[int, ReceivedFile] = {}
        for index, block in enumerate(event.content):
            if block.type is BlockType.TEXT:
                continue
            found[index] = await self._received(session, event.address, block, str(index), journal)
            if block.type is BlockType.VOICE and self._hearing is not None:
                found[index] = await self._hearing.heard(session, event, index, found, journal)
        return tuple(found.values())

    async def _received(
        self, session: SessionKey, address: Address, block: ContentBlock, key: str, journal: FileJournal
    ) -> ReceivedFile:
        stored = journal.file(heard_key(key)) or journal.file(key)
        if stored is not None:
            return ReceivedFile.from_json(stored)
        file = await self._fetch(session, address, block)
        await journal.add_file(key, file.to_json())
        return file

    async def _fetch(self, session: SessionKey, address: Address, block: ContentBlock) -> ReceivedFile:
        name, mime = clean_name(block), clean_mime(block.mime)
        try:
            async with asyncio.timeout(_TOTAL_SECONDS):
                data = await self._data(address, block)
        except _NotReceived as error:
            problem = str(error)
        except TimeoutError:
            problem = N_("fetching it took too long")
        else:
            path = await asyncio.to_thread(self._storing.store, session, name, data)
            if isinstance(path, str):
                image = image_kind(data)
                return ReceivedFile(name, path, mime, len(data), image=image.mime if image else "")
            problem = path.sentence
        problem = self._mask(problem)
        log.warning("file_not_received", channel=address.channel, problem=problem)
        return ReceivedFile(name, mime=mime, size=block.size, problem=problem)

    async def _data(self, address: Address, block: ContentBlock) -> bytes:
        if block.size > MAX_FILE_BYTES:
            raise _NotReceived(_TOO_BIG)
        channel = self._channel_of(address)
        if channel is None:
            raise _NotReceived(f"{address.channel} is not running; send it again")
        if not channel.capabilities.receives_files:
            raise _NotReceived(f"files cannot be received on {channel.name}")
        source = cast(FileSource, channel)
        problem = ""
        for attempt in range(_TRIES):
            try:
                return await self._located(channel, await source.locate(block), _may_be_page(block))
            except TargetGone as error:
                raise _NotReceived(f"it is not there any more ({error})") from error
            except (RetryAfter, TemporaryFailure) as error:
                problem = str(error)
                if attempt < _TRIES - 1:
                    await asyncio.sleep(
                        error.seconds + 0.1 if isinstance(error, RetryAfter) else 0.5 * 2**attempt
                    )
            except ChannelError as error:
                raise _NotReceived(str(error)) from error
        raise _NotReceived(problem)

    async def _located(self, channel: Channel, location: FileLocation, may_be_page: bool) -> bytes:
        """Raises TemporaryFailure for what may go better the next time.

        Some platforms show whom they do not let in a page with status 200.
        """
        key = (channel.name, channel.account)
        endpoints, proxy = self._sources.endpoints.get(key, ()), self._sources.proxies.get(key, "")
        if location.path:
            return await self._local(endpoints, location.path)
        if proxy and location.at_platform and location.url.startswith("https://"):
            # Named by the adapter, and behind a proxy its address cannot be checked anyway.
            endpoints = (*endpoints, location.url)
        transport = guarded_transport(_RULES, endpoints=endpoints, proxy=proxy)
        client = GuardedClient(transport, _LIMITS)
        try:
            answer = await client.fetch(Fetch(location.url, headers=location.headers))
        finally:
            await client.aclose()
        if isinstance(answer, Refused):
            raise _NotReceived(_TOO_BIG if answer.finding.kind == "too_large" else answer.finding.sentence)
        if not isinstance(answer, Fetched):
            raise TemporaryFailure(f"{channel.name} could not be reached for it")
        if answer.status == httpx.codes.TOO_MANY_REQUESTS or answer.status >= 500:
            raise TemporaryFailure(f"{channel.name} answered {answer.status}")
        if answer.status != httpx.codes.OK:
            raise _NotReceived(f"{channel.name} answered {answer.status}")
        if _is_page(answer.headers.get("content-type", "")) and not may_be_page:
            raise _NotReceived(f"{channel.name} gave a web page in its place")
        return answer.body

    async def _local(self, endpoints: tuple[str, ...], path: str) -> bytes:
        """Only a server that the operator runs here may name files of this machine."""
        if not any(_is_loopback(endpoint) for endpoint in endpoints):
            raise _NotReceived("it is said to lie on this machine, but api_base is no address of it")
        data = await asyncio.to_thread(self._storing.read_local, path, MAX_FILE_BYTES)
        if isinstance(data, FileRefusal):
            raise _NotReceived(_TOO_BIG if data.kind == "too_big" else data.sentence)
        return data


_TOO_BIG = N_("it is larger than 25 MB, the most that is received")


class _NotReceived(Exception):
    """Why a file is not there, as a sentence for people and for the model."""


def _may_be_page(block: ContentBlock) -> bool:
    """Programs that send a page do not all name its type."""
    is_named_so = block.name.lower().endswith((".html", ".htm", ".xhtml"))
    return is_named_so or not block.mime or _is_page(block.mime)


def _is_page(mime: str) -> bool:
    return mime.partition(";")[0].strip().lower() in ("text/html", "application/xhtml+xml")


def _is_loopback(endpoint: str) -> bool:
    target = parse_url(endpoint)
    return isinstance(target, Target) and target.host in _LOOPBACK
