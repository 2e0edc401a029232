"""Options through which a harmless program runs another one: git -c, tar --to-command, ssh -o, vim -c."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from echo_bot.policy.guards.shell import effects
from echo_bot.policy.guards.shell.commandoptions import COMMAND_OPTIONS
from echo_bot.policy.guards.shell.filters import input_of
from echo_bot.policy.guards.shell.foreign import judge_foreign
from echo_bot.policy.guards.shell.gitcarrier import git_commands
from echo_bot.policy.guards.shell.interpreters import is_awk
from echo_bot.policy.guards.shell.launchers import LAUNCHERS
from echo_bot.policy.guards.shell.marks import UNKNOWN
from echo_bot.policy.guards.shell.options import OptionTable, is_option, names, read_options, same_option
from echo_bot.policy.guards.shell.started import started
from echo_bot.policy.guards.shell.trampoline import Steps, call

if TYPE_CHECKING:
    from echo_bot.policy.guards.shell.invocation import Invocation
    from echo_bot.policy.guards.shell.machine import Machine

_EDITORS = names("vim vi nvim ex view vimdiff rvim gvim vifm")
_SSH_OPTION = re.compile(
    r"\s*(?:ProxyCommand|LocalCommand|RemoteCommand|KnownHostsCommand|Match\s+exec|"
    r"PKCS11Provider|XAuthLocation|SmartcardDevice|ProxyUseFdpass)(?:\s*=\s*|\s+)(.*)\Z",
    re.IGNORECASE | re.DOTALL,
)
_SSH = OptionTable("BbcDEeFIiJLlmOopQRSWw")
_AUTOSSH = OptionTable("BbcDEeFIiJLlMmOopQRSWw")
_EDITOR_SHELL = re.compile(r"(?:^|[:|\s])(?:silent\s+)?[\d,$%.']*[rw]?\s*!+\s*(.+)\Z", re.DOTALL)
_EDITOR_FILE = re.compile(
    r"(?:^|[|:])\s*(?:sil\w*!?\s+|exe\w*\s+['\"]|[\d,$%.']*)"
    r"(?P<verb>w|wq|write|x|sav|saveas|up|update|r|read|e|ed|edit|sp|split|vs|tabe|tabedit|so|source)"
    r"!?\s+(?P<path>[/~][^\s|'\"]*)"
)
_AWK_TO_SHELL = re.compile(r'\bprintf?\s+"((?:[^"\\]|\\.)*)"\s*\|\s*"\s*(?:/bin/)?(?:ba|da|z|k)?sh\b')
_SED_EXECUTE = re.compile(
    r"(?:^|[;{}\n]|\d|/|\$)\s*e\s+([^\n]+)|(?:^|[;{}\n])\s*(?:[\d,$]+|/[^/\n]*/)\s*e(\S[^\n]*)|(?:^|[;{}\n]|\d)\s*s(.)(?:\\.|"
    r"(?!\3).)*\3((?:\\.|(?!\3).)*)\3[gpiI0-9]*e",
    re.DOTALL,
)


def judge_carriers(machine: Machine, inv: Invocation) -> Steps[None]:
    name = inv.name
    options = COMMAND_OPTIONS.get(name)
    if options:
        yield from command_options(machine, inv, options)
    reader = _READERS.get(name)
    if reader is not None:
        yield from reader(machine, inv)
    elif is_awk(name):
        yield from _awk(machine, inv)


def command_options(machine: Machine, inv: Invocation, options: frozenset[str]) -> Steps[None]:
    args = inv.args
    for index, arg in enumerate(args):
        if arg[:1] == "+" and inv.name in (*_EDITORS, "less"):
            yield from _option_value(machine, inv, arg[1:])
        if not is_option(arg):
            continue
        following = args[index + 1] if index + 1 < len(args) else ""
        if arg.startswith("--"):
            given, equals, value = arg[2:].partition("=")
            if any(
                option == "--" + given
                or (option.startswith("--") and len(given) > 2 and same_option("--" + given, option[2:]))
                for option in options
            ):
                yield from _option_value(machine, inv, value if equals else following)
        elif arg.partition("=")[0] in options and "=" in arg and len(arg.partition("=")[0]) > 2:
            yield from _option_value(machine, inv, arg.partition("=")[2], arg.partition("=")[0])
        elif arg in options:
            yield from _option_value(machine, inv, following, arg)
        elif arg[:2] in options and len(arg) > 2:
            yield from _option_value(machine, inv, arg[2:], arg[:2])


def _option_value(machine: Machine, inv: Invocation, value: str, flag: str = "") -> Steps[None]:
    name = inv.name
    if name in ("ssh", "scp", "sftp") and flag != "-S":
        found = _SSH_OPTION.match(value)
        if found is None:
            return
        value = re.sub(r"^([\"'])(.*)\1$", r"\2", found.group(1).strip(), flags=re.DOTALL)
    elif name in (*_EDITORS, "less"):
        found = _EDITOR_SHELL.search(value)
        _editor_files(machine, inv, value)
        if found is None:
            yield from judge_foreign(machine, inv, value, [])
            return
        value = found.group(1)
    elif name in ("gdb", "lldb"):
        found = re.match(
            r"\s*(?:shell|!|platform shell|make|pipe [^|]*\||python|py|script)\s*(.*)\Z", value, re.DOTALL
        )
        if found is None:
            yield from judge_foreign(machine, inv, value, [])
            return
        if value.strip().startswith(("py", "script")):
            yield from judge_foreign(machine, inv, found.group(1), [])
            return
        value = found.group(1)
    elif name == "fzf" and "execute" in value:
        value = re.sub(r".*?execute(?:-silent)?[(:\[{]", "", value).rstrip(")]}")
    elif name in ("apt", "apt-get", "hg", "cargo", "make"):
        if name == "make":
            value = re.sub(r".*?\$\(shell (.*)\)\Z", r"\1", value, flags=re.DOTALL)
        else:
            value = value.partition("=")[2] if "=" in value else value
        value = value.strip().strip("[]\"'").lstrip("!")
    elif name == "strace":
        if value[:1] not in ("|", "!"):
            effects.write(machine, inv, value)
            return
        value = value[1:]
    elif flag == "-wrapper":
        value = shlex.join(value.split(","))
    elif name in ("restic", "ugrep"):
        value = re.sub(r"^[\w.*,-]+[=:]", "", value)
    elif name in ("ranger", "lf"):
        value = re.sub(r"^\s*(?:shell\s+(?:-\w+\s+)?|[!$%&])", "", value)
    elif name == "lftp":
        for part in value.split(";"):
            if part.strip().startswith("!"):
                yield from started(machine, inv, part.strip()[1:])
        return
    elif name in ("blender", "gimp", "pdb", "sqlmap"):
        yield from judge_foreign(machine, inv, value, [])
        return
    yield from started(machine, inv, value)


def _editor_files(machine: Machine, inv: Invocation, text: str) -> None:
    """Ex commands that open a file: `:w path`, `:r path`, `:e path`."""
    for found in _EDITOR_FILE.finditer(text):
        writes = found["verb"].startswith(("w", "x", "sav", "up"))
        (effects.write if writes else effects.read)(machine, inv, found["path"])


def _tar(machine: Machine, inv: Invocation) -> Steps[None]:
    args = inv.args
    if args and not is_option(args[0]):
        values = iter(args[1:])
        for letter in args[0]:
            value = next(values, "") if letter in "bfCFIKNTVXgHL" else ""
            if value and letter in "IF":
                yield from started(machine, inv, value)
    for index, arg in enumerate(args):
        given, equals, value = arg.partition("=")
        if len(given) > 14 and "--checkpoint-action".startswith(given):
            value = value if equals else (args[index + 1] if index + 1 < len(args) else "")
            if value.startswith("exec="):
                yield from started(machine, inv, value[5:])


def _ssh(machine: Machine, inv: Invocation) -> Steps[None]:
    """The remote command is judged like a local one."""
    options = read_options(inv.args, _AUTOSSH if inv.name == "autossh" else _SSH, permute=False)
    if len(options.rest) > 1:
        machine.carries_code = True
        rest = read_options(options.rest[1:], _SSH, permute=False).rest
        yield from started(machine, inv, " ".join(rest))
    elif len(options.rest) == 1 and inv.stdin.text is not None and inv.stdin.text != UNKNOWN:
        machine.carries_code = True
        yield from started(machine, inv, inv.stdin.text)


def _sshpass(machine: Machine, inv: Invocation) -> Steps[None]:
    options = read_options(inv.args, OptionTable("fdpP"), permute=False)
    if options.rest:
        yield from call(machine.dispatch(machine, inv.inner(options.rest)))


def _sed(machine: Machine, inv: Invocation) -> Steps[None]:
    options = read_options(
        inv.args,
        OptionTable("efl", names("expression file line-length")),
    )
    scripts = options.values("e", "expression") or options.rest[:1]
    for script in scripts:
        if re.fullmatch(r"[\d,$]*\s*e", script.strip()):
            files = options.rest[not options.has("e", "expression") :]
            yield from started(machine, inv, input_of(inv, files) if files or inv.stdin.text else "")
        for found in _SED_EXECUTE.finditer(script):
            text = (found.group(1) or found.group(2) or found.group(4) or "").replace("\\/", "/")
            if text:
                yield from started(machine, inv, text)
        for found in re.finditer(
            r"(?:^|[;\s/0-9])(?:w|W)\s+(/\S+)|s(.)(?:(?!\2).)*\2(?:(?!\2).)*\2\w*w\s+(/\S+)", script
        ):
            effects.write(machine, inv, found.group(1) or found.group(3))
        for found in re.finditer(r"(?:^|[;\s/0-9])[rR]\s+(/\S+)", script):
            effects.read(machine, inv, found.group(1))


def _quoted_text(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _awk(machine: Machine, inv: Invocation) -> Steps[None]:
    options = read_options(
        inv.args,
        OptionTable("FfveiElp", names("assign file field-separator source exec include load")),
        permute=False,
    )
    programs = options.values("e", "source") or (
        [] if options.has("f", "file", "E", "exec") else options.rest[:1]
    )
    given = [value.partition("=") for value in options.values("v", "assign")]
    constants = "".join(f"{name}={_quoted_text(value)};" for name, equals, value in given if equals)
    for program in programs:
        program = constants + program
        found = re.findall(r'"((?:[^"\\]|\\.)*)"\s*\|\s*(?:getline|&)|\|\s*"((?:[^"\\]|\\.)*)"', program)
        if found or re.search(r"\bsystem\s*\(", program):
            machine.ask("inline_interpreter", "Runs commands from an awk program.", inv)
        yield from judge_foreign(machine, inv, program, [])
        for text in _AWK_TO_SHELL.findall(program):
            yield from started(machine, inv, text)
        for before, after in found:
            yield from started(machine, inv, before or after)
        for target in re.findall(r'>{1,2}\s*"((?:[^"\\]|\\.)*)"', program):
            effects.write(machine, inv, target)
        for target in re.findall(r'getline\s*(?:\w+\s*)?<\s*"((?:[^"\\]|\\.)*)"', program):
            effects.read(machine, inv, target)


def _editor_input(machine: Machine, inv: Invocation) -> Steps[None]:
    """ed and ex read commands from standard input; `!` runs a shell command."""
    for line in (inv.stdin.text or "").splitlines():
        found = re.match(r"\s*[\d,$%.]*\s*[rwe]?\s*!(.*)", line)
        if found:
            yield from started(machine, inv, found.group(1))
        elif (written := re.match(r"\s*[\d,$%.]*w\s+(/\S+)", line)) is not None:
            effects.write(machine, inv, written.group(1))
        elif (shown_file := re.match(r"\s*[re]\s+(/\S+)", line)) is not None:
            effects.read(machine, inv, shown_file.group(1))


_READING = re.compile(
    r"(?:\.(?:import|read|load|restore|open)|\\(?:i|ir|copy\s[^']*from)|\bsource|\binfile|\bload_file\s*\(|"
    r"\bpg_read_(?:binary_)?file\s*\(|\breadfile\s*\(|\bfrom|\bput)\s*['\"]?((?:/|~/)[^\s'\")]+)",
    re.IGNORECASE,
)
_WRITING = re.compile(
    r"(?:\.(?:output|once|backup|save|log)|\\(?:o|w)|\b(?:out|dump)file|\bwritefile\s*\()"
    r"\s*['\"]?((?:/|~/)[^\s'\")]+)",
    re.IGNORECASE,
)


def _opened_by_statement(machine: Machine, inv: Invocation, text: str) -> None:
    """Statements of database and transfer clients that open local files."""
    text = text[:20_000]
    for found in _READING.finditer(text):
        effects.read(machine, inv, found.group(1))
    for found in _WRITING.finditer(text):
        effects.write(machine, inv, found.group(1))


def _ftp_input(machine: Machine, inv: Invocation) -> Steps[None]:
    _opened_by_statement(machine, inv, inv.stdin.text or "")
    for line in (inv.stdin.text or "").splitlines():
        if line.strip().startswith(("!", "\\!", "system ", "shell ", ".shell ", ".system ")):
            yield from started(machine, inv, re.sub(r"^\s*(?:\\?!|\.?system |\.?shell )", "", line))
    for arg in inv.args:
        _opened_by_statement(machine, inv, arg)
        found = re.match(r"\s*(?:\\?!|\.shell\s|\.system\s|system\s)\s*(.*)", arg, re.DOTALL)
        if found:
            yield from started(machine, inv, found.group(1))
        elif (
            program := re.search(
                r"\bto\s+program\s+'([^']*)'|\bfrom\s+program\s+'([^']*)'", arg, re.IGNORECASE
            )
        ) is not None:
            yield from started(machine, inv, program.group(1) or program.group(2) or "")


def _at(machine: Machine, inv: Invocation) -> Steps[None]:
    if inv.stdin.text is not None:
        machine.carries_code = True
        yield from started(machine, inv, inv.stdin.text)


def _crontab(machine: Machine, inv: Invocation) -> Steps[None]:
    """The command column of every line."""
    for line in (inv.stdin.text or "").splitlines():
        line = line.lstrip(UNKNOWN)
        found = re.match(r"\s*(?:@\w+|(?:\S+\s+){4}\S+)\s+(.*)", line)
        if found and not line.lstrip().startswith("#"):
            yield from started(machine, inv, found.group(1))


def _socat(machine: Machine, inv: Invocation) -> Steps[None]:
    for arg in inv.args:
        if arg[:1] == "/":
            effects.write(machine, inv, arg.split(",")[0])
        found = re.match(r"(?:EXEC|SYSTEM|SHELL)\s*:\s*(.*)", arg, re.IGNORECASE | re.DOTALL)
        if found:
            yield from started(machine, inv, found.group(1).split(",")[0].strip("'\""))
        elif (
            opened := re.match(r"(?:OPEN|CREATE|FILE|GOPEN)\s*:\s*([^,]*)", arg, re.IGNORECASE)
        ) is not None:
            effects.read(machine, inv, opened.group(1))
            if not re.search(r"rdonly", arg, re.IGNORECASE):
                effects.write(machine, inv, opened.group(1))


def _tmux(machine: Machine, inv: Invocation) -> Steps[None]:
    args = inv.args
    for index, arg in enumerate(args):
        if arg in (
            "new-session",
            "new",
            "new-window",
            "neww",
            "split-window",
            "splitw",
            "respawn-pane",
            "respawn-window",
            "run-shell",
            "run",
            "if-shell",
            "popup",
            "display-popup",
            "pipe-pane",
        ):
            options = read_options(args[index + 1 :], OptionTable("cefFnstxytlhw"), permute=False)
            yield from started(machine, inv, " ".join(options.rest))
        elif arg in ("send-keys", "send"):
            options = read_options(args[index + 1 :], OptionTable("Nt"), permute=False)
            text = " ".join(word for word in options.rest if word not in ("Enter", "C-m", "ENTER"))
            yield from started(machine, inv, text)
    if args and args[0] == "-c" and len(args) > 1:
        yield from started(machine, inv, args[1])


_READERS = {
    **LAUNCHERS,
    "git": git_commands,
    "tar": _tar,
    "gtar": _tar,
    "ssh": _ssh,
    "mosh": _ssh,
    "autossh": _ssh,
    "sshpass": _sshpass,
    "sed": _sed,
    "gsed": _sed,
    "ed": _editor_input,
    "red": _editor_input,
    "ex": _editor_input,
    "vi": _editor_input,
    "vim": _editor_input,
    "ftp": _ftp_input,
    "sftp": _ftp_input,
    "psql": _ftp_input,
    "mysql": _ftp_input,
    "sqlite3": _ftp_input,
    "lftp": _ftp_input,
    "bc": _ftp_input,
    "dc": _ftp_input,
    "gnuplot": _ftp_input,
    "telnet": _ftp_input,
    "mariadb": _ftp_input,
    "at": _at,
    "batch": _at,
    "crontab": _crontab,
    "socat": _socat,
    "tmux": _tmux,
}
