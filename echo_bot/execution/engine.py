"""The HTTP API of a container engine (Docker's, which Podman speaks too), as far as it is needed."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote

import httpcore
import httpx

from echo_bot.errors import StartError

_BASE = "http://engine/v1.40"
_PATIENCE = httpx.Timeout(30.0)
_FOREVER = httpx.Timeout(30.0, read=None)


class EngineError(StartError):
    """The engine refused or was not reached. `status` is its HTTP status; 0 when there was no answer."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class Attached:
    """The standard streams of a container: raw bytes, output in the engine's frames."""

    def __init__(self, response: httpx.Response) -> None:
        self._stream = response.extensions["network_stream"]

    async def read(self) -> bytes:
        """Up to 64 KiB; b"" at the end. Raises EngineError."""
        try:
            return bytes(await self._stream.read(1 << 16))
        except (httpcore.NetworkError, httpcore.TimeoutException) as error:
            raise EngineError(f"the container's output broke off: {error}") from error

    async def write(self, data: bytes) -> None:
        """Waits until the engine takes it. Raises BrokenPipeError."""
        try:
            await self._stream.write(data)
        except (httpcore.NetworkError, httpcore.TimeoutException) as error:
            raise BrokenPipeError("the process takes no more input") from error

    def end_input(self) -> None:
        connection = self._stream.get_extra_info("socket")
        try:
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # its end is gone


class Engine:
    """Every method raises EngineError, with the engine's own words."""

    def __init__(self, socket_path: str) -> None:
        self.socket_path = socket_path
        transport = httpx.AsyncHTTPTransport(uds=socket_path, limits=httpx.Limits(max_connections=None))
        self._client = httpx.AsyncClient(
            transport=transport, base_url=_BASE, timeout=_PATIENCE, trust_env=False
        )

    async def close(self) -> None:
        await self._client.aclose()

    async def version(self) -> dict[str, Any]:
        return await self._json("GET", "/version")

    async def info(self) -> dict[str, Any]:
        return await self._json("GET", "/info")

    async def image(self, name: str) -> dict[str, Any]:
        return await self._json("GET", f"/images/{quote(name, safe='/:@')}/json")

    async def create(self, body: Mapping[str, Any]) -> str:
        """The new container's id."""
        return str((await self._json("POST", "/containers/create", body))["Id"])

    @asynccontextmanager
    async def attached(self, container: str) -> AsyncIterator[Attached]:
        path = f"/containers/{container}/attach?stream=1&stdin=1&stdout=1&stderr=1"
        headers = {"Upgrade": "tcp", "Connection": "Upgrade"}
        request = self._client.build_request("POST", path, headers=headers, timeout=_FOREVER)
        try:
            response = await self._client.send(request, stream=True)
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error
        try:
            if response.status_code != 101:
                await response.aread()
                raise _refused(response)
            yield Attached(response)
        finally:
            await response.aclose()

    async def start(self, container: str) -> None:
        await self._send("POST", f"/containers/{container}/start")

    async def wait(self, container: str) -> int:
        """The exit code, once it ended."""
        done = await self._json("POST", f"/containers/{container}/wait", timeout=_FOREVER)
        return int(done["StatusCode"])

    async def state(self, container: str) -> dict[str, Any]:
        state: dict[str, Any] = (await self._json("GET", f"/containers/{container}/json"))["State"]
        return state

    async def run_inside(self, container: str, command: list[str]) -> int:
        """Run one more command in it as its user; the exit code."""
        body = {"Cmd": command, "AttachStdout": True, "AttachStderr": True}
        number = (await self._json("POST", f"/containers/{container}/exec", body))["Id"]
        await self._send("POST", f"/exec/{number}/start", {"Detach": False, "Tty": False})
        return int((await self._json("GET", f"/exec/{number}/json"))["ExitCode"] or 0)

    async def kill(self, container: str) -> None:
        """By force, with everything in it; one that is over is fine."""
        try:
            await self._send("POST", f"/containers/{container}/kill?signal=KILL")
        except EngineError as error:
            if error.status not in (404, 409, 500):
                raise

    async def remove(self, container: str) -> None:
        """With everything that runs in it; one that is gone is fine."""
        try:
            await self._send("DELETE", f"/containers/{container}?force=1&v=1")
        except EngineError as error:
            if error.status not in (404, 409):
                raise

    async def labelled(self, label: str) -> dict[str, str]:
        """All containers with this label, running or not: the label's value by container id."""
        found = await self._send(
            "GET", "/containers/json", params={"all": "1", "filters": f'{{"label":["{label}"]}}'}
        )
        return {row["Id"]: row["Labels"].get(label, "") for row in found.json()}

    async def _json(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        timeout: httpx.Timeout = _PATIENCE,
    ) -> dict[str, Any]:
        answer = (await self._send(method, path, body, timeout=timeout)).json()
        if not isinstance(answer, dict):
            raise EngineError(f"the container engine gave an answer that is none to {path}")
        return answer

    async def _send(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        params: Mapping[str, str] | None = None,
        timeout: httpx.Timeout = _PATIENCE,
    ) -> httpx.Response:
        try:
            response = await self._client.request(method, path, json=body, params=params, timeout=timeout)
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error
        if response.is_error:
            raise _refused(response)
        return response

    def _unreachable(self, error: Exception) -> EngineError:
        said = str(error) or type(error).__name__
        return EngineError(f"the container engine at {self.socket_path} is not reached ({said})")


def _refused(response: httpx.Response) -> EngineError:
    try:
        said = str(response.json()["message"])
    except (ValueError, KeyError, TypeError):
        said = response.text[:300]
    return EngineError(f"the container engine refused: {said.strip()}", response.status_code)
