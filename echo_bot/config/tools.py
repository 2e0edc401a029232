"""`tools`: which tools are offered and how they behave."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from echo_bot.config.base import EMPTY_SECRET, Amount, HttpAddress, Listed, Positive, Secret, Section
from echo_bot.policy.settings import ExecSecurity, ToolProfile

ExecHost = Literal["auto", "sandbox", "local", "container", "remote"]
McpName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,40}$")]
Risk = Literal["read_only", "write", "exec", "dangerous"]


def _language(value: str) -> str:
    if re.fullmatch(r"(?:[a-z]{2,3})?", value) is None:
        raise ValueError("write the two or three letters of a language, such as de or pt")
    return value


Language = Annotated[str, AfterValidator(_language)]


class ExecLimits(Section):
    memory_mb: Positive = 2048
    """MiB that one command may use."""
    cpu_seconds: Positive = 300
    """CPU seconds that one command may use."""
    processes: Positive = 256
    """Processes that one command may have at once."""
    file_mb: Positive = 1024
    """MiB that one file may grow to."""


class Exec(Section):
    enabled: bool = True
    """Offer exec and process."""
    host: ExecHost = "auto"
    """Where commands run: the sandbox, or without one this computer with a question (auto); or one place."""
    security: ExecSecurity = "allowlist"
    """deny: nothing runs. full: every caller must be elevated, on every host."""
    timeout_seconds: Positive = 30
    """Seconds a command may take when the call names none."""
    max_output_chars: Positive = 2_000_000
    """Characters of output that are kept."""
    env: Listed[str] = ()
    """Names of environment variables that commands may see besides PATH, HOME, LANG, TERM and TMPDIR."""
    limits: ExecLimits = ExecLimits()
    """What one command may use."""


class CodeExec(Section):
    enabled: bool = True
    """Offer execute_code."""
    languages: Listed[Literal["python", "javascript", "bash"]] = ("python", "javascript", "bash")
    """The languages it takes."""
    timeout_seconds: Positive = 30
    """Seconds a program may take when the call names none."""


class Web(Section):
    enabled: bool = False
    """Offer web_fetch and web_search."""
    search_provider: Literal["brave", "tavily", "searxng", "ddgs"] = "brave"
    """brave and tavily need a key, searxng the address of a server; ddgs reads search engines' own pages."""
    search_api_key: Secret = EMPTY_SECRET
    """The provider's key."""
    search_api_base: HttpAddress = ""
    """The provider's address: of a SearXNG server, or one that stands in for the provider's own."""
    timeout_seconds: Positive = 30
    """Seconds a page or a search may take in all."""
    max_bytes: Positive = 10_485_760
    """Bytes of one page, before and after decoding."""


class MediaTool(Section):
    enabled: bool = True
    """Offer the tool."""
    backend: Literal["", "openai"] = ""
    """The service's kind: openai, which many servers speak; empty means the same."""
    api_key: Secret = EMPTY_SECRET
    """The service's key."""
    api_base: HttpAddress = ""
    """The service's address, up to and with /v1; empty: OpenAI's own."""
    model: str = ""
    """The service's model; empty: a usual one of OpenAI, or the server's own."""


class Speech(Section):
    enabled: bool = True
    """Offer the tool."""
    backend: Literal["", "openai", "edge"] = ""
    """openai, which many servers speak and empty means, or edge: Microsoft's voices, which need no key."""
    api_key: Secret = EMPTY_SECRET
    """The service's key."""
    api_base: HttpAddress = ""
    """The service's address, up to and with /v1; empty: OpenAI's own."""
    model: str = ""
    """The service's model; empty: a usual one of OpenAI, or the server's own."""


class Transcription(Section):
    enabled: bool = True
    """Transcribe voice messages, once a key or an address is set."""
    api_key: Secret = EMPTY_SECRET
    """The service's key."""
    api_base: HttpAddress = ""
    """The address of an OpenAI-compatible service, up to and with /v1; empty: OpenAI's own."""
    model: str = ""
    """The service's model; empty: a usual one of OpenAI, or the server's own."""
    language: Language = ""
    """The language people speak, as de or pt; empty: the service finds out."""
    timeout_seconds: Positive = 120
    """Seconds that one message may take; the turn waits for its words."""
    price_per_minute: Amount | None = None
    """US dollars for a minute of recording, 0 where it costs nothing; unset: not known."""


class McpServer(Section):
    command: str = ""
    """The program of a server that talks over standard input and output; it runs in a folder of its own."""
    args: Listed[str] = ()
    """Its arguments; write paths whole."""
    env: dict[str, Secret] = Field(default_factory=dict)
    """Its environment variables, besides PATH, HOME, LANG, TERM and TMPDIR."""
    url: str = ""
    """The address of a server that talks over HTTP."""
    headers: dict[str, Secret] = Field(default_factory=dict)
    """Headers sent to it, such as Authorization."""
    enabled: bool = True
    """Start it and offer its tools."""
    timeout: Positive = 30
    """Seconds a call may take."""
    tools_include: Listed[str] = ()
    """Only these of its tools (`*` stands for any characters)."""
    tools_exclude: Listed[str] = ()
    """All but these of its tools."""
    risk: Risk | None = None
    """The risk of its tools; unset: exec. What a server says of itself never counts."""


class Mcp(Section):
    enabled: bool = True
    """Offer the tools of MCP servers."""


class Tools(Section):
    profile: ToolProfile = "full"
    """The set of tools: minimal, messaging, coding or full."""
    allow: Listed[str] = ()
    """If not empty, only these tools (`*` stands for any characters); the profile no longer counts."""
    also_allow: Listed[str] = ()
    """Tools on top of the profile."""
    deny: Listed[str] = ()
    """Tools taken away whatever the other lists say."""
    restrict_to_workspace: bool = False
    """File tools stay inside the workspace."""
    safe_write_root: str = ""
    """File tools write only below this folder; empty: no such limit."""
    exec: Exec = Exec()
    """Commands."""
    code_exec: CodeExec = CodeExec()
    """Programs in one of a few languages."""
    web: Web = Web()
    """Pages and web search."""
    image_gen: MediaTool = MediaTool()
    """Making images."""
    tts: Speech = Speech()
    """Speech from text."""
    stt: Transcription = Transcription()
    """Text from voice messages."""
    vision: MediaTool = MediaTool()
    """Looking at images; with nothing set here but enabled, the chat model looks."""
    mcp: Mcp = Mcp()
    """Tools of MCP servers."""
    mcp_servers: dict[McpName, McpServer] = Field(default_factory=dict)
    """MCP servers by name, such as {notes: {command: notes-mcp, args: [/srv/notes]}} or {wiki: {url: …}};
    their tools are called mcp_<server>_<tool>, and the keys of a server stand in docs/mcp.md."""
    paths: Listed[str] = ()
    """Python files with tools of your own."""


class Security(Section):
    profile: Literal["personal_cli", "daemon", "public_gateway"] = "personal_cli"
    """personal_cli trusts who sits here; daemon runs no code; public_gateway also writes no files."""


class Container(Section):
    image: str = ""
    """An image with bash that the container engine has; nothing is fetched unasked."""
    socket: str = ""
    """Docker's or Podman's socket; empty: the usual places."""


class Remote(Section):
    host: str = ""
    """Name or address, with :port if it is not 22."""
    user: str = ""
    """The user to log in as."""
    key_path: str = ""
    """The file of a private key without a passphrase."""
    known_hosts: str = ""
    """The file with the host's key; an unknown or changed one is refused."""


class Execution(Section):
    network_policy: Literal["deny", "allow", "restricted"] = "deny"
    """deny: no network tools; restricted: for the hosts below; allow: also commands in the sandbox."""
    network_allow: Listed[str] = ()
    """Hosts for restricted: exact, or *.example.com for subdomains."""
    container: Container = Container()
    """The container that tools.exec.host: container uses."""
    remote: Remote = Remote()
    """The computer that tools.exec.host: remote uses."""
