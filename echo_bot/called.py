"""How a person calls this command, for the messages that name it: `echo-bot` need not be on their PATH."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

COMMAND = "echo-bot"
_COMMANDS = frozenset((COMMAND, "echo-agent"))


def command(
    verb: str = "",
    *,
    argv: Sequence[str] | None = None,
    which: Callable[[str], str | None] = shutil.which,
) -> str:
    """A line for a shell: the command as it was called where PATH does not have it, and a verb."""
    called = (sys.argv if argv is None else argv)[:1]
    program = COMMAND if which(COMMAND) else _as_called(called[0] if called else "")
    return f"{program} {verb}".rstrip()


def _as_called(program: str) -> str:
    path = Path(program)
    if path.name in _COMMANDS:
        return shlex.quote(program)
    if path.name == "__main__.py" and path.parent.name == "echo_bot":
        return f"{shlex.quote(sys.executable)} -m echo_bot"
    return COMMAND


def install_extra(extra: str) -> str:
    """How to get the packages of an optional part, in a checkout and elsewhere."""
    return (
        f"In a checkout: pip install -c constraints.txt -e '.[{extra}]'; "
        f"elsewhere: pip install 'echo-bot[{extra}]'"
    )
