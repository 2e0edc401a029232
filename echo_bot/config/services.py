"""The other sections: gateway, sessions, delivery, workers, schedules, memory, storage, logs."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from echo_bot.config.base import EMPTY_SECRET, Count, Id, Interval, Listed, Port, Positive, Secret, Section
from echo_bot.config.tokens import ApiToken


class Gateway(Section):
    host: str = "127.0.0.1"
    """The address to listen on."""
    port: Port = 8765
    """The port; 0: any free one."""
    api_tokens: Listed[ApiToken] = ()
    """Who may use the HTTP API, each as {name: ci, token: "…"}; without any it is closed."""
    admin_tokens: Listed[ApiToken] = ()
    """Who may do everything there, written alike; no token may stand in both."""
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
    """Messages that the model is shown again."""
    expiry_hours: Positive = 72
    """Hours of silence after which a conversation starts anew."""


class RateLimit(Section):
    per_minute: Count = 20
    """Messages a minute from one sender; 0: no limit."""
    burst: Positive = 5
    """Messages that may come at once."""


class Delivery(Section):
    targets: dict[str, Id] = Field(default_factory=dict)
    """Names for chats, such as {ops: "telegram:-100123"}."""
    allowed_targets: Listed[Id] = ()
    """Chats that messages may go to without a question, as alias or channel:chat."""
    max_tries: Positive = 8
    """How often a message is sent before it is given up."""


class Agent(Section):
    max_iterations: Positive = 40
    """Model answers in one turn at most."""
    parallel_tools: Positive = 4
    """Tool calls of one answer that run at once."""


class Workers(Section):
    max_depth: Positive = 3
    """How deep workers may start workers: 1 lets only a conversation start them."""
    max_parallel: Positive = 4
    """Workers at once, over all chats; the others wait."""
    max_iterations: Positive = 12
    """Model answers of one worker at most."""


class Scheduler(Section):
    enabled: bool = True
    """Offer cronjob and run jobs."""
    missed_runs: Literal["once", "skip"] = "once"
    """What was missed while the bot was off or paused: once (run one time, late), or skip."""
    max_parallel: Positive = 10
    """Jobs that run at once; others wait."""


class Inspection(Section):
    enabled: bool = False
    """Go through the checklist below at intervals, unattended and never authorised."""
    every: Interval = "1h"
    """The interval: a number and m, h or d."""
    file: str = ""
    """A text that says what to look at; counts from the workspace."""
    target: Id = ""
    """Where findings are sent, as alias or channel:chat; empty: to the first admin."""


class Memory(Section):
    enabled: bool = True
    """Offer the memory tool."""
    max_entries: Positive = 1000
    """Entries of one person or group at most."""
    max_entry_chars: Positive = 2000
    """Characters of one entry."""


class Knowledge(Section):
    paths: Listed[str] = ()
    """Files and folders to index; relative ones count from the workspace."""
    extensions: Listed[str] = (".md", ".txt", ".rst", ".html")
    """File name endings to index."""
    chunk_chars: Positive = 1500
    """Characters of one piece."""


class Skills(Section):
    paths: Listed[str] = ()
    """Folders with skills of your own: each holds skill folders, or is one."""
    disabled: Listed[str] = ()
    """Skills that are not offered."""
    python: str = ""
    """The Python that runs their scripts, such as one of a virtual environment; empty: the bot's own."""


class Spill(Section):
    max_inline_chars: Positive = 6000
    """Longer tool results are kept in a file, with head and tail shown."""
    retention_days: Positive = 7
    """Days they are kept."""
    max_total_mb: Positive = 512
    """MiB of all of them."""


class Checkpoints(Section):
    enabled: bool = True
    """Keep what a file holds before a file tool writes it, for /undo."""
    retention_days: Positive = 7
    """Days it is kept."""
    max_total_mb: Positive = 512
    """MiB of all of it."""
    max_file_mb: Positive = 50
    """MiB of one file; larger ones cannot be undone."""


class Storage(Section):
    url: Secret = EMPTY_SECRET
    """A database address; empty: SQLite in the data folder."""


class Retention(Section):
    audit_days: Positive = 365
    """Days of audit."""
    history_days: Positive = 90
    """Days of conversations."""


class Observability(Section):
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    """DEBUG, INFO, WARNING or ERROR."""
    log_format: Literal["auto", "console", "json"] = "auto"
    """auto, console or json."""
    metrics: bool = True
    """Serve measures."""
    otel_endpoint: str = ""
    """Where traces are sent."""
