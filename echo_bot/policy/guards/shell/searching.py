"""find, fd, xargs and parallel: programs that hand found or read names to another program."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from echo_bot.policy.guards.shell import effects
from echo_bot.policy.guards.shell.marks import (
    GLOB_STAR,
    HOME,
    UNKNOWN,
    UNKNOWN_FIELDS,
    globbed,
    is_open,
    unglobbed,
)
from echo_bot.policy.guards.shell.options import OptionTable, names, read_options
from echo_bot.policy.guards.shell.paths import resolve
from echo_bot.policy.guards.shell.roots import Match, root_match
from echo_bot.policy.guards.shell.shells import is_shell
from echo_bot.policy.guards.shell.trampoline import Steps, call

if TYPE_CHECKING:
    from echo_bot.policy.guards.shell.invocation import Invocation
    from echo_bot.policy.guards.shell.machine import Machine

_EXECUTING = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_FILTERS = names(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname "
    "-newer -anewer -cnewer -mtime -mmin "
    "-atime -amin -ctime -cmin -size -user -group -uid -gid -perm -empty -inum -samefile "
    "-links -nouser -nogroup -newermt"
)
_XARGS = OptionTable(
    "aEILnPsdJRS",
    names("arg-file delimiter max-args max-procs max-chars process-slot-var"),
    glued="ile",
)
_PARALLEL = OptionTable(
    "jnNLaIdES",
    names(
        "jobs max-args arg-file delay timeout joblog results colsep delimiter retries sshlogin tmpdir workdir"
    ),
)


def find(machine: Machine, inv: Invocation) -> Steps[str]:
    starts: list[str] = []
    args = inv.args
    machine.charge(len(args) // 4)
    index = 0
    while index < len(args) and (
        args[index] in ("-H", "-L", "-P", "-E", "-X", "-d", "-s", "-x") or args[index][:2] in ("-D", "-O")
    ):
        index += 2 if args[index] in ("-D",) else 1
    while index < len(args) and not args[index].startswith(("-", "(", "!")):
        starts.append(args[index])
        index += 1
    starts = starts or ["."]
    tests = args[index:]
    names_given = [
        tests[at + 1]
        for at, word in enumerate(tests[:-1])
        if word in ("-name", "-iname", "-path", "-wholename")
    ]
    is_filtered = any(
        word in _FILTERS
        and (at == 0 or tests[at - 1] not in ("!", "-not"))
        and not _is_any(tests[at + 1 : at + 2])
        for at, word in enumerate(tests)
    )
    while index < len(args):
        word = args[index]
        index += 1
        if word == "-delete":
            _deleted(machine, inv, starts, is_filtered)
        elif word in _EXECUTING:
            end = index
            while end < len(args) and args[end] not in (";", "+"):
                end += 1
            yield from _executed(machine, inv, args[index:end], starts, names_given, is_filtered)
            index = end + 1
        elif word in ("-fprint", "-fprint0", "-fprintf", "-fls") and index < len(args):
            effects.write(machine, inv, args[index])
    found = _found(starts, names_given, is_filtered)
    if not is_filtered:
        found = [*found, *(f"{start.rstrip('/')}/{GLOB_STAR}/{GLOB_STAR}" for start in starts)]
    return "".join(f"{path}\n" for path in found)


def _is_any(pattern: list[str]) -> bool:
    """Is a test's pattern one that every name passes: `*`, `*/*`, `.*`?"""
    return bool(pattern) and re.fullmatch(r"[.*/^$]*\*[.*/^$]*", unglobbed(pattern[0])) is not None


def _deleted(machine: Machine, inv: Invocation, starts: list[str], is_filtered: bool) -> None:
    for path in starts:
        if is_filtered and root_match(path, inv.place) is Match.YES:
            machine.ask("recursive_delete", f"Deletes what is found under {effects.spoken(path)}.", inv)
        else:
            effects.delete_tree(machine, inv, path)


def _found(starts: list[str], patterns: list[str], is_filtered: bool) -> list[str]:
    """What the names handed on may be: the starting points themselves, or names below them."""
    if not is_filtered:
        return starts
    below = [globbed(pattern.rsplit("/", 1)[-1]) for pattern in patterns] or [UNKNOWN]
    return [_usual_place(start, name) for start in starts for name in below]


def _usual_place(start: str, name: str) -> str:
    """Where a well-known secret lies when the search begins above it."""
    if start in ("/", "/etc") and name in ("shadow", "gshadow", "sudoers"):
        return f"/etc/{name}"
    if start.startswith("/proc") and name in ("environ", "mem"):
        return f"/proc/1/{name}"
    if start in ("/", "/root", "/home", "~", HOME) and name.startswith(("id_", "authorized_keys")):
        return f"{HOME}/.ssh/{name}"
    return f"{start.rstrip('/')}/{name}"


def _executed(
    machine: Machine,
    inv: Invocation,
    command: list[str],
    starts: list[str],
    patterns: list[str],
    is_filtered: bool,
) -> Steps[None]:
    if not command:
        return
    for path in _found(starts, patterns, is_filtered):
        if is_filtered and path.rsplit("/", 1)[-1] == UNKNOWN:
            path = f"{path.rsplit('/', 1)[0]}/found/{UNKNOWN}"
        argv = [word.replace("{}", path) for word in command]
        if (
            command[0].rsplit("/", 1)[-1].lower() in ("rm", "unlink", "shred", "gio", "trash")
            and "{}" in command
        ):
            if not is_filtered or "rm" not in command[0].lower():
                yield from call(machine.dispatch(machine, inv.inner(argv)))
            if not command[0].lower().endswith("shred") or {"-u", "--remove", "-uz", "-zu"} & set(command):
                _deleted(machine, inv, [path if not is_filtered else starts[0]], is_filtered)
        else:
            yield from call(machine.dispatch(machine, inv.inner(argv)))


def fd(machine: Machine, inv: Invocation) -> Steps[str]:
    """fd runs what follows -x or -X."""
    for at, word in enumerate(inv.args):
        if word in ("-x", "-X", "--exec", "--exec-batch"):
            command = inv.args[at + 1 :]
            if command and "{}" not in command:
                command = [*command, "{}"]
            if command and command[0].rsplit("/", 1)[-1].lower() in ("rm", "unlink", "shred"):
                machine.ask("recursive_delete", "Deletes every file it finds.", inv)
            for path in _fd_found(inv.args[:at]) if command else []:
                argv = [part.replace("{}", path) for part in command]
                yield from call(machine.dispatch(machine, inv.inner(argv)))
            break
    return UNKNOWN


def _fd_found(args: list[str]) -> list[str]:
    """What fd hands on: everything below its folders when nothing filters, else names not known."""
    table = OptionTable("etdSEjcCg", names("extension type max-depth size exclude changed-within owner"))
    options = read_options(args, table)
    pattern, folders = (options.rest or [""])[0], options.rest[1:] or ["."]
    is_filtered = pattern.strip(".*^$") or any(
        options.has(*flags) for flags in (("e", "extension"), ("S", "size"), ("changed-within", "owner"))
    )
    if is_filtered:
        named = re.fullmatch(r"\^?([\w-]+)\$?", pattern)
        below = [f"{folder.rstrip('/')}/{named.group(1)}" for folder in options.rest[1:]] if named else []
        return [*below, UNKNOWN]
    return [path for folder in folders for path in (folder, f"{folder.rstrip('/')}/{GLOB_STAR}/{GLOB_STAR}")]


def xargs(machine: Machine, inv: Invocation) -> Steps[str]:
    from echo_bot.policy.guards.shell.stream import Stream

    options = read_options(inv.args, _XARGS, permute=False)
    command = options.rest or ["echo"]
    for path in options.values("a", "arg-file"):
        effects.read(machine, inv, path)
    text = inv.stdin.text
    for path in options.values("a", "arg-file"):
        text = inv.state.files.get(resolve(path, inv.place), UNKNOWN)
    items = _items(text, options.values("d", "delimiter"), options.has("0", "null"))
    replacement = next(iter(options.values("I", "i", "replace", "J")), None)
    if replacement is not None or options.has("i", "replace"):
        mark = replacement or "{}"
        lines = (
            items
            if text is None or is_open(text)
            else [line.strip() for line in text.splitlines() if line.strip()]
        )
        argvs = [[word.replace(mark, item) for word in command] for item in lines[:200]]
        if len(lines) > 200:
            argvs.append([word.replace(mark, UNKNOWN) for word in command])
    else:
        argvs = [[*command, *items]]
        per_call = options.values("n", "L", "max-args", "l", "max-lines")
        if per_call and len(items) > 1 and is_shell(command[0].rsplit("/", 1)[-1].lower()):
            argvs = [[*command, item] for item in items[:50]]
    output: list[str] = []
    for argv in argvs or [command]:
        machine.charge(len(argv))
        output.append((yield from call(machine.dispatch(machine, inv.inner(argv, Stream(""))))))
    return "".join(output)


def _items(text: str | None, delimiters: list[str], nul: bool) -> list[str]:
    if text is None or text == UNKNOWN:
        return [UNKNOWN_FIELDS]
    if nul:
        return [item for item in re.split("[\0\n]", text) if item]
    if delimiters:
        mark = {"\\n": "\n", "\\t": "\t", "\\0": "\0"}.get(delimiters[0], delimiters[0][:1] or "\n")
        return [item.strip("\n") for item in text.split(mark) if item.strip("\n")]
    return [_unquoted(item) for item in re.findall(r"(?:[^\s'\"\\]|'[^']*'|\"[^\"]*\"|\\.)+", text)]


def _unquoted(item: str) -> str:
    return re.sub(
        r"'([^']*)'|\"([^\"]*)\"|\\(.)", lambda found: "".join(part or "" for part in found.groups()), item
    )


def parallel(machine: Machine, inv: Invocation) -> Steps[str]:
    """GNU parallel: the command is shell text; `:::` brings arguments, else standard input does."""
    from echo_bot.policy.guards.shell.stream import Stream

    options = read_options(inv.args, _PARALLEL, permute=False)
    if options.has("version", "help", "minversion", "citation"):
        return UNKNOWN
    command: list[str] = []
    items: list[str] = []
    into = command
    for word in options.rest:
        if word in (":::", ":::+", "::::"):
            into = items
            if word == "::::":
                items.append(UNKNOWN)
        else:
            into.append(word)
    if into is command:
        text = inv.stdin.text
        for path in options.values("a", "arg-file"):
            text = inv.state.files.get(resolve(path, inv.place), UNKNOWN)
        items = [UNKNOWN] if text is None or is_open(text) else [line for line in text.splitlines() if line]
    if not command:
        for item in items[:200]:
            yield from call(machine.code(item, inv.state.copy(), Stream(""), inv.span))
        if UNKNOWN in items:
            machine.ask("pipe_to_shell", "Runs every line it reads as a command.", inv)
        return UNKNOWN
    text = " ".join(command)
    for item in items[:200] or [UNKNOWN]:
        if re.search(r"\{[#%./]*\}", text):
            line = item.join(re.split(r"\{[./]*\}", text))
        else:
            line = f"{text} {item}"
        yield from call(machine.code(line, inv.state.copy(), Stream(""), inv.span))
    return UNKNOWN
