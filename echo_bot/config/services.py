"""The other sections: gateway, sessions, delivery, models, workers, schedules, memory, storage, logs."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from echo_bot.config.base import EMPTY_SECRET, Count, Id, Listed, Port, Positive, Secret, Section


class Gateway(Section):
    host: str = "127.0.0.1"
    """The address to listen on."""
    port: Port = 8765
    """The port; 0: any free one."""
    api_tokens: Listed[Secret] = ()
    admin_tokens: Listed[Secret] = ()
    allowed_hosts: Listed[str] = ()
    """Host names the page may be asked for besides loopback."""
    allowed_origins: Listed[str] = ()
    """Other origins whose pages may talk to the gateway."""
    max_body_mb: Positive = 25
    """MiB of one request at most."""


class Session(Section):
    group_scope: Literal["per_user", "shared"] = "per_user"
    """In groups: one conversation per person, or one for all."""
    max_history_messages: Positive = 500
    expiry_hours: Positive = 72
    """Hours of silence after which a conversation starts anew."""


class RateLimit(Section):
    per_minute: Count = 20
    """Messages a minute from one sender; 0: no limit."""
    burst: Positive = 5


class Delivery(Section):
    targets: dict[str, Id] = Field(default_factory=dict)
    """Names for chats: alias to channel:chat."""
    allowed_targets: Listed[Id] = ()
    """Chats that messages may go to without a question, as alias or channel:chat."""
    max_tries: Positive = 8


class ModelLimits(Section):
    max_output_tokens: Count = 0
    """Tokens of one answer; 0: the provider's own limit."""
    total_tokens_per_turn: Count = 0
    """Tokens of one turn; 0: no limit."""
    timeout_seconds: Positive = 120
    """Seconds that one answer may take."""


class Compaction(Section):
    enabled: bool = False
    """Summarise old messages when the context fills up."""
    at_tokens: Positive = 100_000


class Models(Section):
    default: str = ""
    """provider:name, such as openai:gpt-5 or anthropic:claude-sonnet-4-5; empty: direct calls only."""
    fallback: Listed[str] = ()
    base_url: str = ""
    """An OpenAI-compatible server."""
    api_key: Secret = EMPTY_SECRET
    system_prompt: str = ""
    """What the model is told about its task."""
    limits: ModelLimits = ModelLimits()
    compaction: Compaction = Compaction()


class Agent(Section):
    max_iterations: Positive = 40
    """Model answers in one turn at most."""
    parallel_tools: Positive = 4
    """Tool calls of one answer that run at once."""


class Workers(Section):
    max_depth: Positive = 3
    max_parallel: Positive = 4
    max_iterations: Positive = 12


class Scheduler(Section):
    enabled: bool = True
    """Offer cronjob and run jobs."""
    missed_runs: Literal["once", "skip"] = "once"
    max_parallel: Positive = 10


class Inspection(Section):
    enabled: bool = False
    every: str = "1h"
    file: str = ""
    target: Id = ""


class Memory(Section):
    enabled: bool = True
    """Offer the memory tool."""
    max_entries: Positive = 1000
    max_entry_chars: Positive = 2000


class Knowledge(Section):
    paths: Listed[str] = ()
    extensions: Listed[str] = (".md", ".txt", ".rst", ".html")
    chunk_chars: Positive = 1500


class Skills(Section):
    paths: Listed[str] = ()
    disabled: Listed[str] = ()


class Spill(Section):
    max_inline_chars: Positive = 6000
    """Longer tool results are kept in a file, with head and tail shown."""
    retention_days: Positive = 7
    max_total_mb: Positive = 512


class Storage(Section):
    url: Secret = EMPTY_SECRET
    """A database address; empty: SQLite in the data folder."""


class Retention(Section):
    audit_days: Positive = 365
    history_days: Positive = 90


class Observability(Section):
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    log_format: Literal["auto", "console", "json"] = "auto"
    metrics: bool = True
    otel_endpoint: str = ""
