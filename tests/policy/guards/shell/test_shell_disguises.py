"""Every hard rule's examples, run in every disguise a shell knows, and named without being run."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from shlex import quote

import pytest

from echo_bot.policy.decision import Verdict
from echo_bot.policy.guards.shell import judge_command
from echo_bot.policy.guards.shell.hard import HARD_RULES

Wrapping = Callable[[str], str]
DEADLY = tuple(example for rule in HARD_RULES for example in rule.match)

RUN: dict[str, Wrapping] = {
    "separator": lambda c: f"ls; {c}",
    "newline": lambda c: f"ls\n{c}\npwd",
    "or": lambda c: f"false || {c}",
    "background": lambda c: f"{c} &",
    "group": lambda c: f"{{ {c}; }} 2>/dev/null",
    "subshell": lambda c: f"( {c} )",
    "if": lambda c: f"if [ -e x ]; then {c}; fi",
    "for": lambda c: f"for i in 1 2; do {c}; done",
    "case": lambda c: f"case $x in a) ;; *) {c} ;; esac",
    "pipe": lambda c: f"yes | {{ {c}; }}",
    "negated": lambda c: f"! {c}",
    "substitution": lambda c: f"echo $({c})",
    "test": lambda c: f"[[ -n $({c}) ]]",
    "arithmetic": lambda c: f"echo $(( $({c}) + 1 ))",
    "expanding here-document": lambda c: f"cat <<E\n$({c})\nE",
    "co-process": lambda c: f"coproc {{ {c}; }}",
    "function": lambda c: f"f() {{ {c}; }}; f",
    "padding": lambda c: "true; " * 80 + c,
    "newlines": lambda c: "\n" * 3000 + c,
    "sh -c": lambda c: f"sh -c {quote(c)}",
    "nested sh -c": lambda c: f"bash -euxc {quote('dash -c ' + quote(c))}",
    "eval": lambda c: f"eval {quote(c)}",
    "eval of words": lambda c: f'f() {{ eval "$*"; }}; f {quote(c)}',
    "here-document": lambda c: f"bash <<'E'\n{c}\nE",
    "piped here-document": lambda c: f"cat <<'E' | sh\n{c}\nE",
    "here-string": lambda c: f"sh <<< {quote(c)}",
    "process substitution": lambda c: f"bash <(echo {quote(c)})",
    "source": lambda c: f". <(printf %s {quote(c)})",
    "written file": lambda c: f"echo {quote(c)} > a.sh; sh a.sh",
    "written script": lambda c: f"cat > b <<'E'\n#!/bin/sh\n{c}\nE\nchmod +x b; ./b",
    "tee": lambda c: f"echo {quote(c)} | tee z >/dev/null; . ./z",
    "trap": lambda c: f"trap {quote(c)} EXIT",
    "variable": lambda c: f'c={quote(c)}; sh -c "$c"',
    "array": lambda c: f'a=({quote(c)}); bash -c "${{a[0]}}"',
    "named array": lambda c: f'declare -A a=([k]={quote(c)}); bash -c "${{a[k]}}"',
    "indirection": lambda c: f'a={quote(c)}; n=a; eval "${{!n}}"',
    "slice": lambda c: f'x={quote("XX" + c)}; eval "${{x:2}}"',
    "trimmed": lambda c: f'x={quote("XX" + c)}; eval "${{x#XX}}"',
    "replaced": lambda c: f'x={quote(c.replace("e", "Q"))}; eval "${{x//Q/e}}"',
    "prompt expansion": lambda c: f'x={quote(f"$({c})")}; echo "${{x@P}}"',
    "read": lambda c: f'read -r x <<< {quote(c)}; eval "$x"',
    "mapfile": lambda c: f'mapfile -t a <<< {quote(c)}; eval "${{a[0]}}"',
    "printf -v": lambda c: f'printf -v x %s {quote(c)}; eval "$x"',
    "positional": lambda c: f'set -- a {quote(c)}; sh -c "${{@: -1}}"',
    "alias": lambda c: f"alias zz={quote(c)}\nzz",
    "base64": lambda c: f"echo {base64.b64encode(c.encode()).decode()} | base64 -d | sh",
    "base32": lambda c: f"echo {base64.b32encode(c.encode()).decode()} | base32 -d | sh",
    "hex": lambda c: f"echo {c.encode().hex()} | xxd -r -p | sh",
    "octal": lambda c: "printf '" + "".join(f"\\{byte:03o}" for byte in c.encode()) + "' | bash",
    "escapes": lambda c: "bash -c $'" + "".join(f"\\x{byte:02x}" for byte in c.encode()) + "'",
    "reversed": lambda c: f"echo {quote(c[::-1])} | rev | sh",
    "translated": lambda c: f"echo {quote(c.swapcase())} | tr A-Za-z a-zA-Z | sh",
    "edited": lambda c: f"echo {quote(c.replace('e', 'Q'))} | sed s/Q/e/g | sh",
    "packed": lambda c: f"echo {quote(c)} | gzip | gunzip | sh",
    "sudo": lambda c: f"sudo -u root -- sh -c {quote(c)}",
    "su": lambda c: f"su - root -c {quote(c)}",
    "env -S": lambda c: f"env -S {quote('sh -c ' + quote(c))}",
    "timeout": lambda c: f"timeout 9 nice -n 5 bash -c {quote(c)}",
    "nohup": lambda c: f"nohup setsid sh -c {quote(c)} >/dev/null 2>&1 &",
    "ssh": lambda c: f"ssh h {quote(c)}",
    "xargs": lambda c: f"printf '%s\\0' {quote(c)} | xargs -0 sh -c",
    "parallel": lambda c: f"parallel ::: {quote(c)}",
    "watch": lambda c: f"watch -n5 {quote(c)}",
    "script": lambda c: f"script -qc {quote(c)} /dev/null",
    "tmux": lambda c: f"tmux new -d {quote(c)}",
    "at": lambda c: f"echo {quote(c)} | at now",
    "crontab": lambda c: f"echo {quote('* * * * * ' + c)} | crontab -",
    "busybox": lambda c: f"busybox sh -c {quote(c)}",
    "nsenter": lambda c: f"nsenter -t 1 -a sh -c {quote(c)}",
    "chroot": lambda c: f"chroot / sh -c {quote(c)}",
    "systemd-run": lambda c: f"systemd-run --wait bash -c {quote(c)}",
    "mounted host": lambda c: f"docker run -v /:/h alpine chroot /h sh -c {quote(c)}",
    "git alias": lambda c: f"git -c alias.x={quote('!' + c)} x",
    "pager": lambda c: f"GIT_PAGER={quote(c)} git log",
    "tar checkpoint": lambda c: f"tar cf x . --checkpoint=1 --checkpoint-action=exec={quote(c)}",
    "ssh option": lambda c: f"ssh -o ProxyCommand={quote(c)} h",
    "editor": lambda c: f"vim -c {quote('!' + c)} -c q",
    "ed": lambda c: f"ed <<< {quote('!' + c)}",
    "debugger": lambda c: f"gdb -batch -ex {quote('shell ' + c)}",
    "less": lambda c: f"less {quote('+!' + c)} f",
    "split": lambda c: f"split --filter={quote(c)} f",
    "expect": lambda c: f"expect -c {quote('spawn sh -c ' + json.dumps(c))}",
    "database client": lambda c: f"sqlite3 x {quote('.shell ' + c)}",
    "BASH_ENV": lambda c: f"echo {quote(c)} > e; BASH_ENV=e bash -c :",
    "PROMPT_COMMAND": lambda c: f"PROMPT_COMMAND={quote(c)} bash -i",
    "PS4": lambda c: f"PS4={quote(f'$({c})')} bash -xc :",
    "python": lambda c: f"python3 -c {quote(f'import os; os.system({c!r})')}",
    "python text": lambda c: f"python3 -c {quote(f'print({c!r})')} | sh",
    "node": lambda c: "node -e " + quote(f'require("child_process").execSync({json.dumps(c)})'),
    "ruby": lambda c: f"ruby -e {quote(f'system({json.dumps(c)})')}",
    "lua": lambda c: f"lua -e {quote(f'os.execute({json.dumps(c)})')}",
}
"""Ways of running a command line."""

SPOKEN: dict[str, Wrapping] = {
    "echo": lambda c: f"echo {quote(c)}",
    "printf": lambda c: f"printf '%s\\n' {quote(c)}",
    "commit message": lambda c: f"git commit -m {quote(c)}",
    "search": lambda c: f"grep -rnF {quote(c)} docs",
    "history": lambda c: f"history | grep {quote(c)}",
    "quoted here-document": lambda c: f"cat <<'E' > notes.md\n{c}\nE",
    "script for later": lambda c: f"cat > a/b.sh <<'E'\n#!/bin/sh\n{c}\nE",
    "comment": lambda c: f"ls # {c}",
    "value": lambda c: f'x={quote(c)}; echo "$x"',
    "comparison": lambda c: f"[[ $a == {quote(c)} ]]",
    "appended": lambda c: f"echo {quote(c)} >> notes.txt",
    "counted": lambda c: f"echo {quote(c)} | wc -c",
    "encoded": lambda c: f"echo {quote(c)} | base64",
    "function that speaks": lambda c: f"f() {{ echo {quote(c)}; }}; f",
    "here-string": lambda c: f"grep x <<< {quote(c)}",
    "length": lambda c: f"x={quote(c)}; echo ${{#x}}",
    "loop that speaks": lambda c: f'for c in {quote(c)} b; do echo "$c"; done',
    "argument of make": lambda c: f"make test ARGS={quote(c)}",
}
"""Ways of naming a command line without running it."""


def verdict(command: str) -> Verdict:
    return judge_command(command, cwd="/srv/projects/echo/workspace", home="/home/user", env={}).verdict


@pytest.mark.parametrize("way", RUN)
def test_a_disguise_does_not_lower_a_denial(way: str) -> None:
    assert [c for c in DEADLY if verdict(RUN[way](c)) is not Verdict.DENY] == []


@pytest.mark.parametrize("way", SPOKEN)
def test_naming_a_deadly_command_is_allowed(way: str) -> None:
    assert [c for c in DEADLY if verdict(SPOKEN[way](c)) is not Verdict.ALLOW] == []
