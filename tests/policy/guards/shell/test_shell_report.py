"""What the shell guard reports besides its verdict: commands, spans, scripts, carried code, foreign code."""

from __future__ import annotations

import pytest

from echo_bot.policy.decision import Verdict
from echo_bot.policy.guards.shell import ShellReport, judge_code, judge_command


def judge(command: str, env: dict[str, str] | None = None, cwd: str = "/srv/work/project") -> ShellReport:
    return judge_command(command, cwd=cwd, home="/home/user", env=env or {})


def code(text: str, language: str) -> Verdict:
    return judge_code(text, language, cwd="/srv/work/project", home="/home/user", env={}).verdict


def test_every_simple_command_is_reported_also_inside_substitutions() -> None:
    report = judge("git status && echo $(date +%s) > out.txt")
    assert [(command.words, command.plain) for command in report.commands] == [
        (("git", "status"), True),
        (("date", "+%s"), True),
        (("echo", None), False),
    ]


@pytest.mark.parametrize(
    ("command", "texts"),
    [
        ("echo done `id -u` end", ("id -u", "echo done `id -u` end")),
        ('echo "hé `id -u` `whoami`"', ("id -u", "whoami", 'echo "hé `id -u` `whoami`"')),
        ("echo $(echo `id`)", ("id", "echo `id`", "echo $(echo `id`)")),
        ("echo `echo $(id -u)`", ("id -u", "echo $(id -u)", "echo `echo $(id -u)`")),
        ("echo ${x:-`id -u`}", ("id -u", "echo ${x:-`id -u`}")),
        ("cat <<-E\n\t$(id -u)\nE", ("id -u", "cat <<-E")),
        ("eval 'f() { id -u; }'; f", ("eval 'f() { id -u; }'", "f", "id -u")),
    ],
)
def test_a_command_is_shown_as_it_is_written_wherever_it_stands(command: str, texts: tuple[str, ...]) -> None:
    assert {each.text for each in judge(command).commands} == set(texts)


def test_an_assignment_makes_a_command_not_plain() -> None:
    (command,) = judge("A=1 make test").commands
    assert (command.words, command.plain) == (("make", "test"), False)


def test_an_active_glob_is_an_unknown_word() -> None:
    (command,) = judge("ls *.py 'a*'").commands
    assert command.words == ("ls", None, "a*")


def test_the_inner_command_of_a_wrapper_is_judged_by_the_reported_outer_words() -> None:
    report = judge("sudo rm -rf build")
    assert report.commands[0].words == ("sudo", "rm", "-rf", "build")
    assert report.verdict is Verdict.ASK


@pytest.mark.parametrize(
    ("command", "marked"),
    [
        ("ls; rm -rf /etc; pwd", "rm -rf /etc"),
        ("echo $(cat /etc/shadow)", "cat /etc/shadow"),
        ("cat x > /dev/sda", "> /dev/sda"),
        ("echo hé; reboot", "reboot"),
    ],
)
def test_a_finding_spans_the_command_it_is_about(command: str, marked: str) -> None:
    finding = judge(command).findings[0]
    assert finding.span is not None
    assert command[slice(*finding.span)] == marked


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("./build.sh --fast", ("./build.sh",)),
        ("bash scripts/x.sh a", ("scripts/x.sh",)),
        ("python tools/gen.py", ("tools/gen.py",)),
        ("node -r dotenv x.js", ("x.js",)),
        ("sudo ./x", ("./x",)),
        ("source env.sh", ("env.sh",)),
        ("ls -la", ()),
        ("python -m pytest", ()),
    ],
)
def test_script_files_are_named_as_written(command: str, files: tuple[str, ...]) -> None:
    assert judge(command).script_files == files


@pytest.mark.parametrize(
    "command",
    [
        "sh -c ls",
        "python -c 1",
        "env ls",
        "bash <<X\nls\nX",
        "echo ls | sh",
        "eval ls",
        "node -e 1",
        "ssh h ls",
    ],
)
def test_carried_code_is_said(command: str) -> None:
    assert judge(command).carries_code


@pytest.mark.parametrize("command", ["ls", "python x.py", "git commit -m 'sh -c x'", "sudo ls"])
def test_plain_commands_carry_no_code(command: str) -> None:
    assert not judge(command).carries_code


def test_network_use_is_said() -> None:
    assert judge("curl https://example.com").needs_network
    assert not judge("ls").needs_network


@pytest.mark.parametrize("command", ["echo 'x", "echo $(", "if true", "cat <<", "a )", "\0", "${x!}"])
def test_what_cannot_be_read_is_asked_and_never_denied(command: str) -> None:
    report = judge(command)
    assert report.verdict is Verdict.ASK
    assert not report.complete


def test_complete_lines_before_an_error_count_as_bash_would_run_them() -> None:
    assert judge("rm -rf /etc\n)").verdict is Verdict.DENY


@pytest.mark.parametrize(
    "name", ["PATH", "BASH_ENV", "LD_PRELOAD", "PYTHONPATH", "NODE_OPTIONS", "GIT_DIR", "PAGER"]
)
def test_steering_environment_of_the_call_is_at_least_asked(name: str) -> None:
    assert judge("ls", env={name: "x"}).verdict is Verdict.ASK


def test_environment_of_the_call_is_known_to_the_command() -> None:
    assert judge("rm -rf $T", env={"T": "/etc"}).verdict is Verdict.DENY
    assert judge("git log", env={"GIT_PAGER": "rm -rf /etc"}).verdict is Verdict.DENY
    assert judge("ls", env={"MY_FLAG": "1"}).verdict is Verdict.ALLOW


def test_the_starting_folder_counts() -> None:
    assert judge("rm -rf *", cwd="/").verdict is Verdict.DENY
    assert judge("rm -rf *", cwd="/srv/work/project").verdict is Verdict.ASK
    assert judge("cat shadow", cwd="/etc").verdict is Verdict.DENY


@pytest.mark.parametrize(
    ("language", "text", "verdict"),
    [
        ("python", "import shutil\nshutil.rmtree('/')", Verdict.DENY),
        ("python", "import shutil\nshutil.rmtree('build')", Verdict.ALLOW),
        ("python", "import os\nos.system('reboot')", Verdict.DENY),
        ("python", "import os\nos.system('ls')", Verdict.ALLOW),
        ("python", "print(open('/etc/shadow').read())", Verdict.DENY),
        ("python", "print('rm -rf /')", Verdict.ALLOW),
        ("python", "import subprocess\nsubprocess.run(['rm', '-rf', '/'])", Verdict.DENY),
        ("python", "open('/dev/sda', 'wb').write(b'0')", Verdict.DENY),
        ("python", "# os.system('reboot')\nx = 1", Verdict.ALLOW),
        ("python", "open('/proc/1/environ').read()", Verdict.DENY),
        ("javascript", "require('fs').readFileSync('/root/.ssh/id_rsa')", Verdict.DENY),
        ("javascript", "require('child_process').execSync('shutdown now')", Verdict.DENY),
        ("javascript", "console.log('reboot')", Verdict.ALLOW),
        ("bash", "rm -rf /", Verdict.DENY),
        ("bash", "rm -rf build", Verdict.ASK),
        ("bash", "ls", Verdict.ALLOW),
    ],
)
def test_code_is_judged_by_its_literal_effects(language: str, text: str, verdict: Verdict) -> None:
    assert code(text, language) is verdict
