"""What the files that people sent are, where they lie, and how much Slack takes itself."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from io import BytesIO
from typing import Any
from urllib.parse import urlsplit

from slack_sdk.web.async_client import AsyncWebClient

from channels.slack.client import Clients
from channels.slack.failures import SDK_ERRORS
from echo_bot.channel import FileLocation
from echo_bot.errors import ChannelError, TemporaryFailure

MAX_UPLOAD_BYTES = 1024 * 1024 * 1024
_ASK = "check_file_info"
_TELL_SECONDS = 1.0
_FILE_HOST = "https://files.slack.com/"
_SLACK_DOMAINS = ("slack.com", "slack-edge.com", "slack-files.com", "slack-gov.com")


async def with_files_told(body: Mapping[str, Any], web: AsyncWebClient) -> Mapping[str, Any]:
    """`body` with the files of its event described; of those from another workspace Slack tells the id alone.

    What it does not tell within a second stays as it is.
    """
    event = body.get("event") or {}
    files = event.get("files") or ()
    if not any(_is_untold(file) for file in files):
        return body
    told = await asyncio.gather(*(_told(file, web) for file in files))
    return {**body, "event": {**event, "files": told}}


def _is_untold(file: object) -> bool:
    return isinstance(file, Mapping) and file.get("file_access") == _ASK


async def _told(file: Any, web: AsyncWebClient) -> Any:
    if not _is_untold(file):
        return file
    try:
        async with asyncio.timeout(_TELL_SECONDS):
            return (await web.files_info(file=str(file.get("id") or ""))).get("file") or file
    except SDK_ERRORS:
        return file


async def upload(clients: Clients, name: str, content: bytes) -> str:
    """Give Slack a file that nobody sees yet; returns its id.

    Raises the SDK's and the session's errors, and TemporaryFailure.
    """
    begun = await clients.web.files_getUploadURLExternal(filename=name, length=len(content))
    url = str(begun["upload_url"])
    async with clients.session.post(url, data=BytesIO(content), proxy=clients.proxy) as answer:
        if answer.status != 200:
            raise TemporaryFailure(f"Slack did not take the file: status {answer.status}")
    return str(begun["file_id"])


async def locate(ref: str, web: AsyncWebClient, api_base: str) -> FileLocation:
    """Where a received file is. Raises the SDK's errors; ChannelError when it is not kept at Slack."""
    if "://" not in ref:
        file = (await web.files_info(file=ref)).get("file") or {}
        ref = str(file.get("url_private_download") or file.get("url_private") or "")
    if not is_slacks(ref, api_base):
        # The bearer token must not go anywhere else, and a file linked from elsewhere is not Slack's to give.
        raise ChannelError("it is not kept at Slack, only linked from there, so it cannot be fetched")
    headers = {"Authorization": f"Bearer {web.token}"}
    return FileLocation(url=ref, headers=headers, at_platform=ref.startswith(_FILE_HOST))


def is_slacks(url: str, api_base: str) -> bool:
    """Is this an address of Slack's own hosts, or of the configured server?"""
    try:
        parts = urlsplit(url)
        base = urlsplit(api_base)
        if api_base and (parts.scheme, parts.hostname, parts.port) == (base.scheme, base.hostname, base.port):
            return True
        host = parts.hostname or ""
    except ValueError:
        return False
    of_slack = any(host == domain or host.endswith(f".{domain}") for domain in _SLACK_DOMAINS)
    return parts.scheme == "https" and parts.port in (None, 443) and parts.username is None and of_slack
