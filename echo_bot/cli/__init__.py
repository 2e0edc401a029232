"""The command `echo-bot`: one verb a file, imported when it is called."""

from __future__ import annotations

import sys
from difflib import get_close_matches
from importlib import import_module

import click

from echo_bot import __version__

VERBS = {
    "run": "Start the bot.",
    "status": "Show what runs, what waits and what is missing.",
    "doctor": "Examine this installation and say what mends it.",
    "explain": "Say what the gate would decide about a call, running nothing.",
    "guard": "Say what a guard sees in a command or in a file of cases.",
    "pause": "Let nothing new begin, anywhere, until resume.",
    "resume": "Let everything go on after a pause.",
    "approvals": "List open questions and decide them.",
    "grants": "List and revoke remembered approvals.",
    "jobs": "List scheduled jobs; hold, run or delete one.",
    "outbox": "List messages that were not delivered; try again or drop them.",
    "mcp": "List the tools of MCP servers and approve their definitions.",
    "knowledge": "Look into the index of documents, bring it up to date.",
    "audit": "Read and verify the audit.",
    "setup": "Set a channel up: check its tokens, write the configuration.",
    "config": "Check the configuration, print its schema.",
    "credentials": "Make a key, store and list credentials.",
    "pair": "Let a new person in with a one-time code.",
    "login": "Print a new log-in link of the running bot's page.",
}
"""Every verb with its line in the help; the verb's module and command have its name."""

USAGE_OR_CONFIG = 2


class VerbGroup(click.Group):
    """A group that knows its verbs by name and imports only the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        command = getattr(import_module(f"echo_bot.cli.{cmd_name}"), cmd_name)
        if not isinstance(command, click.Command):
            raise TypeError(f"echo_bot.cli.{cmd_name}.{cmd_name} is not a command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """A misspelt verb is told with the nearest one; click itself looks only at those it has imported."""
        if args[0] not in VERBS and (near := get_close_matches(args[0], VERBS, n=1)):
            ctx.fail(f"No such command '{args[0]}'. Did you mean '{near[0]}'?")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of verbs, without importing one."""
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))


@click.group(cls=VerbGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="echo-bot")
def echo_bot() -> None:
    """An agent in your chats whose risky calls wait for a person.

    Exit codes: 0 ok, 1 negative answer, 2 usage or configuration, 3 not reachable.
    """


def main() -> None:
    """Run the command. What goes wrong on purpose is one line on stderr and exit code 2."""
    from echo_bot.errors import EchoBotError

    try:
        echo_bot()
    except EchoBotError as error:
        click.echo(f"echo-bot: {error}", err=True)
        sys.exit(USAGE_OR_CONFIG)
