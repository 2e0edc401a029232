"""What is run on another computer over SSH, as shell text: the start of a command, and the guardian of all.

Only POSIX shell and the programs of any Linux system: cat, env, grep, kill.
"""

from __future__ import annotations

import base64
import shlex
from collections.abc import Mapping

from echo_bot.execution.group import MARK_NAME
from echo_bot.execution.limits import limited
from echo_bot.execution.protocol import CommandSpec

STARTED, NO_FOLDER = "started", "no-folder"
END = "=="

# The program comes as the first line of input: an argument may not be longer than 128 KiB, and anybody on the
# machine may read it.
READ_PROGRAM = "exec /bin/sh -c " + shlex.quote('IFS= read -r line; eval "$(printf %s "$line" | base64 -d)"')

_NEEDED = ("bash", "base64", "grep", "env")
_LACKS = "lacks: "


def probe(workspace: str) -> str:
    """A program whose output `lacking` reads. `proc` and `folder` stand for what is no program."""
    tests = {"proc": "[ -r /proc/self/environ ]", "folder": f"[ -d {shlex.quote(workspace)} ]"}
    tests |= {name: f"command -v {name} >/dev/null" for name in _NEEDED}
    return "\n".join(f"{test} || echo '{_LACKS}{name}'" for name, test in tests.items())


def lacking(said: str) -> list[str]:
    """What a probe found to be missing; a greeting at the log-in is passed over."""
    return [line.removeprefix(_LACKS) for line in said.splitlines() if line.startswith(_LACKS)]


# Answers questions and passes signals on. When its input ends, whether the bot closed it, was killed or was
# cut off, everything that was started over the same connection is ended: by its mark, and by its session.
GUARDIAN = """\
marked() {
  grep -lzs "^$mark_name=$1" /proc/[0-9]*/environ | while IFS=/ read -r _ _ pid _; do echo $pid; done
}
in_sessions() {
  ps -e -o sid= -o pid= 2>/dev/null | while read -r sid pid; do
    case " $roots " in *" $sid "*) echo $pid ;; esac
  done
}
roots=
while read -r word mark rest; do
  case $word in
    began) roots="$roots $rest" ;;
    ended) roots=$(for root in $roots; do [ $root = $rest ] || printf '%s ' $root; done) ;;
    look) cat /proc/[0-9]*/stat 2>/dev/null; echo --; marked "$mark\\$" ;;
    kill) kill -s $mark -- $rest 2>/dev/null ;;
  esac
  echo ==
done
exec >/dev/null 2>&1
round=0
while [ $round -lt 100 ]; do
  left="$(marked "$connection\\.") $(in_sessions)"
  [ -n "${left# }" ] || exit 0
  kill -s KILL -- $left
  round=$((round + 1))
done
"""


def guardian(connection: str) -> str:
    """The guardian of the runs whose marks begin with this connection's name."""
    return f"mark_name={MARK_NAME} connection={connection}\n{GUARDIAN}"


# The first process waits for the command instead of becoming it: an SSH server does not tell every signal
# that ends what it started. It outlives the signals sent to all.
_SIGNALS = "HUP INT QUIT TERM USR1 USR2 ALRM PIPE"


def start(spec: CommandSpec, mark: str, env: Mapping[str, str]) -> str:
    """Goes to the folder, says `<mark> started <pid>`, and runs the command with a clean environment."""
    clean = [f"{name}={shlex.quote(value)}" for name, value in {**env, **spec.env, MARK_NAME: mark}.items()]
    command = shlex.join(limited(spec.argv, spec.limits, count_processes=False))
    return "\n".join(
        (
            f"cd -- {shlex.quote(spec.cwd)} 2>/dev/null || {{ echo {mark} {NO_FOLDER}; exit 125; }}",
            f"echo {mark} {STARTED} $$",
            f"trap : {_SIGNALS}",
            f"exec 3>&{1 if spec.merged else 2} 2>/dev/null",
            '(exec env -i PATH="$PATH" HOME="$HOME" LANG="${LANG:-C.UTF-8}" TERM=dumb \\',
            f'  TMPDIR="${{TMPDIR:-/tmp}}" {" ".join(clean)} {command} 2>&3 3>&-)',
            "exit $?",
        )
    )


def as_line(program: str) -> bytes:
    """A program as the line that READ_PROGRAM reads."""
    return base64.b64encode(program.encode("utf-8", "surrogateescape")) + b"\n"
