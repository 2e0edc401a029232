"""Properties of the shell guard: it never raises, it ends, and nothing harmless lowers a verdict."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from echo_bot.policy.decision import Verdict
from echo_bot.policy.guards.shell import judge_code, judge_command

PIECES = [
    "rm",
    "-rf",
    "/",
    "/etc",
    "$x",
    "${x:-/}",
    "$(",
    ")",
    "`",
    "'",
    '"',
    "\\",
    "\n",
    ";",
    "|",
    "&",
    "&&",
    "<<E",
    "E",
    "{",
    "}",
    "((",
    "))",
    "if",
    "then",
    "fi",
    "for",
    "in",
    "do",
    "done",
    "case",
    "esac",
    "[[",
    "]]",
    ">",
    "<",
    "<(",
    "$'",
    "$((",
    "=",
    "x=",
    "a=(",
    "*",
    "?",
    "[",
    "~",
    "#",
    "!",
    "sudo",
    "env",
    "-c",
    "sh",
    "xargs",
    "find",
    "-exec",
    "eval",
    "f()",
    "python -c",
    "echo",
    "{a,b}",
    "\t",
    " ",
    "é",
    "\ud800",
]
SAMPLES = [
    "rm -rf /etc",
    "reboot",
    "cat /etc/shadow",
    "dd if=x of=/dev/sda",
    "rm -rf build",
    "curl http://x",
    "ls",
    "echo 'rm -rf /'",
]


def verdict(command: str) -> Verdict:
    return judge_command(command, cwd="/srv/work/project", home="/home/user", env={}).verdict


@settings(max_examples=250, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=25), st.sampled_from(["", " "]))
def test_no_mixture_of_shell_syntax_raises(pieces: list[str], separator: str) -> None:
    verdict(separator.join(pieces))


@settings(max_examples=120, deadline=None)
@given(st.text(max_size=80))
def test_no_text_raises(text: str) -> None:
    verdict(text)
    judge_code(text, "python", cwd="/w", home="/h", env={})


@pytest.mark.parametrize(
    "command",
    [
        "printf '%1000000000d' 1",
        "printf '%*d' 1000000000 1",
        "head -n ² <<< a",
        "tail -n +1² <<< a",
        "x=abc; echo ${x:0:99999999999999999999}",
        "set -- a; echo ${@: -1:²}",
        "echo $((2**99999999))",
        "echo {1..999999999}",
        "a[99999999999]=1",
        "getopts",
        "x=" + "a=(" * 20_000,
        "cp a b; cp c a; cp b c; ./a",
        "find . -perm a | base64",
        "find / | xxd -p",
    ],
)
def test_odd_operands_neither_raise_nor_take_long(command: str) -> None:
    started = time.process_time()
    verdict(command)
    assert time.process_time() - started < 3


@pytest.mark.parametrize("command", SAMPLES)
@pytest.mark.parametrize(
    "around",
    [
        "true; {}",
        "{}; true",
        "sudo {}",
        "env {}",
        "({})",
        "{{ {}; }}",
        "! {}",
        "if true; then {}; fi",
        "nohup {} &",
        'echo "$({})"',
        'bash -c "{}"',
        "true && {}",
        "\n{}\n",
        "time {}",
        "{} # comment",
        "f() {{ {}; }}; f",
        "timeout 5 nice {}",
        "A=1 {}",
        "{} >/dev/null",
    ],
)
def test_nothing_harmless_around_a_command_lowers_its_verdict(command: str, around: str) -> None:
    assert verdict(around.format(command)).strictness >= verdict(command).strictness


@settings(max_examples=80, deadline=None)
@given(
    st.sampled_from(SAMPLES),
    st.lists(st.sampled_from(["true; ", "( ", "echo a b | ", "ls && ", "x=1; ", "\n"]), max_size=8),
)
def test_harmless_prefixes_in_any_order_never_lower_a_verdict(command: str, prefixes: list[str]) -> None:
    text = "".join(prefixes) + command + " )" * prefixes.count("( ")
    assert verdict(text).strictness >= verdict(command).strictness


@pytest.mark.parametrize(
    "padded",
    [
        "true; " * 3000 + "rm -rf /",
        "\n" * 18000 + "rm -rf /",
        "echo '" + "a" * 18000 + "'; rm -rf /",
        "( " * 500 + "rm -rf /" + " )" * 500,
        "$(" * 500 + "rm -rf /" + ")" * 500,
        "ls " + "a " * 9000 + "; rm -rf /",
        "sudo " * 500 + "rm -rf /",
        "x=aa; " + "x=$x$x; " * 300 + "rm -rf /",
        "f0(){ :; };" + "".join(f"f{i}(){{ f{i - 1}; f{i - 1}; }};" for i in range(1, 60)) + "f59; rm -rf /",
    ],
    ids=[
        "commands",
        "newlines",
        "argument",
        "groups",
        "substitutions",
        "words",
        "wrappers",
        "doubling",
        "functions",
    ],
)
def test_padding_does_not_lower_a_verdict(padded: str) -> None:
    assert verdict(padded) is Verdict.DENY


@pytest.mark.parametrize(
    "shape",
    [
        "$(",
        "(",
        "{ ",
        "if ",
        "`",
        '"${x:-',
        "<(",
        "$((",
        "((",
        "f() ",
        "[[ ",
        "case x in ",
        "<<A ",
        "! ",
        "{a,",
    ],
)
def test_forty_thousand_bytes_of_openings_end(shape: str) -> None:
    started = time.process_time()
    verdict(shape * (40_000 // len(shape)))
    assert time.process_time() - started < 30
