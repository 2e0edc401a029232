"""Which operands of which program are read and which are written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from echo_bot.policy.guards.shell import effects
from echo_bot.policy.guards.shell.marks import UNKNOWN, UNKNOWN_FIELDS, is_open
from echo_bot.policy.guards.shell.options import OptionTable, is_option, names, read_options
from echo_bot.policy.guards.shell.roots import Match, secret_match

if TYPE_CHECKING:
    from echo_bot.policy.guards.shell.invocation import Invocation
    from echo_bot.policy.guards.shell.machine import Machine

# Programs whose operands are text, names or places that are only looked at, not opened for their content.
UNTOUCHING = names(
    "echo printf print ls dir vdir ll stat test [ [[ man which whereis type command hash "
    "help info whatis apropos tldr file du df "
    "lsblk blkid findmnt lsof basename dirname realpath readlink pwd cd pushd popd mkdir "
    "rmdir true false : exit return "
    "sleep export declare typeset local readonly unset set alias unalias read let shift "
    "wait jobs fg bg umask ulimit times "
    "logger notify-send figlet cowsay toilet banner say espeak yes seq expr date cal rm "
    "unlink chmod chown chgrp chattr setfacl "
    "getfacl lsattr namei pathchk dpkg rpm apt apt-get yum dnf pacman brew pip npm yarn "
    "pnpm cargo go make cmake ninja gcc g++ "
    "clang systemctl service journalctl ssh-add exa eza lsd tree locate mlocate plocate "
    "updatedb ps kill pkill killall pgrep pidof "
    "log complete compgen bind trap shopt enable inotifywait watchman test-path dialog "
    "whiptail zenity kdialog gum osascript "
    "kubectl docker podman terraform helm ansible crontab getent sudo doas env time "
    "useradd usermod passwd restorecon chcon chsh mktemp touch "
    "svn hg ssh-keygen ssh mosh sestatus ausearch smartctl hdparm fdisk parted umount "
    "mount swapon sync fsck xfs_info dumpe2fs tune2fs"
)


@dataclass(frozen=True, slots=True)
class Operands:
    """How a program uses its operands.

    letters, long: options that take a value. writes: "last", "all", "none". skip: leading operands that are
    no paths (a pattern, a script). output: options whose value is written. target: options naming the target
    folder. pattern: options that replace the leading operands.
    """

    letters: str = ""
    long: frozenset[str] = frozenset()
    writes: str = "none"
    skip: int = 0
    output: frozenset[str] = frozenset()
    target: frozenset[str] = frozenset()
    pattern: frozenset[str] = frozenset()
    in_place: frozenset[str] = frozenset()
    single_dash: bool = False


def o(
    letters: str = "",
    long: str = "",
    writes: str = "none",
    skip: int = 0,
    output: str = "",
    target: str = "",
    pattern: str = "",
    in_place: str = "",
    single_dash: bool = False,
) -> Operands:
    return Operands(
        letters,
        names(long),
        writes,
        skip,
        names(output),
        names(target),
        names(pattern),
        names(in_place),
        single_dash,
    )


_GREP = o(
    "ABCDdefmg",
    "regexp file include exclude exclude-dir exclude-from context after-context "
    "before-context max-count label type glob color",
    skip=1,
    pattern="e f regexp file",
)
OPERANDS: dict[str, Operands] = {
    "cp": o("tS", "target-directory suffix", writes="last", target="t target-directory"),
    "mv": o("tS", "target-directory suffix", writes="last", target="t target-directory"),
    "ln": o("tS", "target-directory suffix", writes="last", target="t target-directory"),
    "link": o(writes="last"),
    "install": o(
        "gmotS",
        "group mode owner target-directory suffix strip-program context",
        writes="last",
        target="t target-directory",
    ),
    "ditto": o(writes="last"),
    "scp": o("cFiJloPSDX", writes="last"),
    "rcp": o(writes="last"),
    "pscp": o("PlpwiC", writes="last"),
    "cpio": o("FIOEHCDMR", "file", output="O"),
    "pax": o("fbsx", output="f"),
    "tee": o(writes="all"),
    "sponge": o("a", writes="all"),
    "truncate": o("srS", "size reference", writes="all"),
    "fallocate": o("lon", "length offset", writes="all"),
    "ed": o("p", writes="all"),
    "ex": o("c", writes="all"),
    "touch": o("drt", "date reference time", writes="all"),
    "patch": o("pdioDrVBzgY", "strip directory input output reject-file", writes="first", output="o output"),
    "dd_rescue": o(writes="last"),
    "ddrescue": o("bcimorsKTaEeLPv", writes="second"),
    "shred": o("ns", "iterations size random-source", writes="all"),
    "sort": o(
        "koStT",
        "key output field-separator temporary-directory buffer-size files0-from "
        "compress-program parallel random-source batch-size",
        output="o output",
    ),
    "uniq": o("fsw", writes="second"),
    "split": o("abClnt", "suffix-length bytes lines number", writes="second"),
    "csplit": o("fbn"),
    "sed": o(
        "ef", "expression file line-length", skip=1, pattern="e f expression file", in_place="i in-place"
    ),
    "gsed": o("ef", "expression file", skip=1, pattern="e f expression file", in_place="i in-place"),
    "perl_files": o(),
    "grep": _GREP,
    "egrep": _GREP,
    "fgrep": _GREP,
    "rg": _GREP,
    "ag": _GREP,
    "ack": _GREP,
    "zgrep": _GREP,
    "ggrep": _GREP,
    "ugrep": _GREP,
    "pcregrep": _GREP,
    "bzgrep": _GREP,
    "git-grep": _GREP,
    "jq": o("Lf", "arg argjson slurpfile rawfile from-file indent", skip=1, pattern="f from-file"),
    "yq": o("I", skip=1, in_place="i inplace"),
    "tr": o(skip=2),
    "awk": o("Ffv", "assign file field-separator", skip=1, pattern="f file"),
    "curl": o(
        "AbcCdDeEFhHKmoPQrtTuUwxXyYz",
        "output data data-binary data-raw data-urlencode form header user upload-file "
        "request url cookie cookie-jar config cert key cacert netrc-file json url-query "
        "referer user-agent max-time connect-timeout proxy resolve retry dump-header trace "
        "trace-ascii stderr write-out output-dir",
        output="o output c cookie-jar D dump-header trace trace-ascii stderr",
        skip=99,
    ),
    "wget": o(
        "aBeioOPQtTUwDGXAR",
        "output-document output-file append-output post-file body-file post-data header "
        "user-agent input-file directory-prefix user password timeout tries load-cookies "
        "save-cookies",
        output="O output-document o output-file a append-output save-cookies",
        skip=99,
    ),
    "openssl": o(
        "",
        "in out inkey passin pass k K iv keyout CAfile signkey key cert subj days connect "
        "newkey config extensions",
        output="out keyout",
        skip=99,
        single_dash=True,
    ),
    "gpg": o("oru", "output recipient local-user homedir", output="o output"),
    "age": o("roi", "recipient output identity", output="o output"),
    "zip": o("bntiTxO", writes="first", output="O"),
    "7z": o(skip=1, writes="first"),
    "7za": o(skip=1, writes="first"),
    "rar": o(skip=1),
    "unzip": o("dxP", ""),
    "tar": o(
        "fCTXbgHIKLNV",
        "file directory files-from exclude exclude-from transform owner group mode "
        "to-command checkpoint-action use-compress-program rsh-command",
        skip=0,
    ),
    "xxd": o("cgslo", "cols groupsize seek len", writes="second"),
    "base64": o("wo", "wrap", output="o"),
    "strings": o("nteTao"),
    "cmp": o("in"),
    "objcopy": o("OIBFjR", writes="last"),
    "gcc": o("o", output="o"),
    "cc": o("o", output="o"),
    "ld": o("o", output="o"),
    "rsync": o(skip=99),
    "dd": o(skip=99),
    "ffmpeg": o(writes="last", single_dash=True),
    "convert": o(writes="last", single_dash=True),
    "pandoc": o("oft", "output from to", output="o output"),
    "wkhtmltopdf": o(writes="last"),
    "sqlite3": o(skip=9),
    "iconv": o("fto", "output from-code to-code", output="o output"),
    "vim": o("cSuUiTw", writes="all"),
    "vi": o("cSuUiTw", writes="all"),
    "nvim": o("cSuUiTw", writes="all"),
    "view": o("c"),
    "nano": o("", writes="all"),
    "emacs": o("", "eval", writes="all"),
    "micro": o(writes="all"),
    "code": o(skip=99),
    "pv": o("NLsDdFRXo", "output", output="o output"),
    "script": o("c", writes="all"),
    "hexedit": o(writes="all"),
    "qemu-img": o("fO", writes="last", skip=1),
    "partclone.restore": o("so", output="o"),
    "partclone.dd": o("so", output="o"),
    "pigz": o(),
    **dict.fromkeys(("zstd", "lz4", "brotli", "xz"), o("oDT", "output", output="o output")),
    "rename": o(skip=1),
    "mmv": o(),
    "dos2unix": o(),
    "tshark": o("w", output="w"),
    "tcpdump": o("wirFc", output="w", skip=99),
    "mail": o("Aasrbc", skip=99),
    "mutt": o("asbcFe", skip=99),
    "uuencode": o(),
    "logrotate": o("s"),
    "aws": o("", "region profile", skip=99),
    "minicom": o("CDS"),
    "nc": o("", skip=99),
    "dcfldd": o(skip=99),
    "dc3dd": o(skip=99),
    "xorriso": o("", "outdev dev", output="outdev dev", single_dash=True),
    "wodim": o(),
    "unsquashfs": o("d"),
    "gunzip": o(),
    "python_files": o(),
    "diff": o("U"),
    "busybox": o(skip=99),
    "su": o(skip=99),
    "find": o(skip=99),
    "xargs": o(skip=99),
    "rm": o(skip=99),
    "bmaptool": o(skip=1, writes="last"),
    "etcher": o(writes="last"),
    "nwipe": o(writes="all"),
    "ntfsclone": o("O", "overwrite", output="O overwrite"),
    "restore": o(),
    "image_writer": o(writes="last"),
    "efibootmgr": o("d"),
    "sshfs": o(skip=99),
    "docker": o(skip=99),
}
_PATH_IN_VALUE = re.compile(r"(?:^|[=@<:])@?((?:/|~|\ud804|\.{1,2}/)[^\s,;]*)")


def judge_touching(machine: Machine, inv: Invocation) -> None:
    """Findings for the paths among a command's words."""
    name = inv.name
    if name in UNTOUCHING or not inv.args:
        if name == "touch":
            for path in inv.args:
                if not is_option(path):
                    effects.secret(machine, inv, path, "Writes")
        return
    if len(inv.args) == 1 and inv.args[0] in ("--help", "--version"):
        return
    for arg in inv.args:
        if arg.lower().startswith("file://"):
            effects.read(machine, inv, "/" + arg[7:].lstrip("/"))
    use = OPERANDS.get(name)
    if use is None:
        _unlisted(machine, inv)
        return
    options = read_options(inv.args, OptionTable(use.letters, use.long, use.single_dash))
    operands = list(options.rest)
    skip = 0 if use.pattern and options.has(*use.pattern) else use.skip
    for given, value in options.given:
        if value and any(given.lstrip("-") == known for known in use.output):
            effects.write(machine, inv, value)
        elif value and not (use.target and options.values(*use.target) == [value]):
            _value(machine, inv, value)
    if use.in_place and any(given.lstrip("-") in use.in_place for given, _ in options.given):
        for path in operands[skip:]:
            effects.write(machine, inv, path, unknown_asks=False)
        return
    folders = options.values(*use.target) if use.target else []
    targets = _targets(use, folders, operands[skip:])
    for path in operands[skip:]:
        if path not in targets:
            _read_operand(machine, inv, path)
    for path in targets:
        _written(machine, inv, name, path, operands[skip:])
    if name in ("cp", "mv", "install") and len(operands) == 2:
        _carry(inv, operands[0], operands[1])
    if name == "ln" and len(operands) == 2 and not folders:
        _link(inv, operands[0], operands[1])
    if name == "tee":
        _remember(inv, operands)


def _targets(use: Operands, folders: list[str], operands: list[str]) -> list[str]:
    if folders:
        names_only = [path.rstrip("/").rsplit("/", 1)[-1] for path in operands]
        return [f"{folders[0].rstrip('/')}/{name}" for name in names_only] or folders
    if use.writes == "all":
        return operands
    if use.writes == "last":
        return operands[-1:] if len(operands) > 1 else []
    if use.writes == "first":
        return operands[:1]
    return operands[1:2] if use.writes == "second" else []


def _written(machine: Machine, inv: Invocation, name: str, path: str, operands: list[str]) -> None:
    if re.match(r"[\w.@-]+:(?!/dev)", path) and name in ("scp", "rcp", "rsync", "pscp"):
        return
    effects.write(
        machine,
        inv,
        path,
        unknown_asks=path[:1] in (UNKNOWN, UNKNOWN_FIELDS) and name in ("tee", "cp", "mv", "ln", "install"),
    )
    if name in ("cp", "mv", "install", "ln", "rsync") and len(operands) >= 2:
        for source in operands[:-1]:
            inside = f"{path.rstrip('/')}/{source.rstrip('/').rsplit('/', 1)[-1]}"
            if (
                not is_open(inside)
                and (secret_match(inside, inv.place) is Match.YES)
                and path.rstrip("/") != source
            ):
                effects.write(machine, inv, inside)


def _link(inv: Invocation, target: str, link: str) -> None:
    from echo_bot.policy.guards.shell.paths import resolve

    if not is_open(target) and not is_open(link):
        inv.state.links[resolve(link, inv.place)] = resolve(target, inv.place)


def _carry(inv: Invocation, source: str, target: str) -> None:
    """A file written in this text keeps its known content under its new name."""
    from echo_bot.policy.guards.shell.paths import resolve

    content = inv.state.files.get(resolve(source, inv.place))
    if content is not None and not is_open(target):
        inv.state.files[resolve(target, inv.place)] = content


def _remember(inv: Invocation, operands: list[str]) -> None:
    from echo_bot.policy.guards.shell.paths import resolve

    for path in operands:
        if not is_open(path) and not path.startswith("/dev/") and inv.stdin.text is not None:
            inv.state.files[resolve(path, inv.place)] = inv.stdin.text


def _read_operand(machine: Machine, inv: Invocation, path: str) -> None:
    if path[:1] == "@":
        path = path[1:]
    effects.read(machine, inv, path)
    if ":" in path and not path.startswith(("http:", "https:")):
        effects.read(machine, inv, path.split(":", 1)[0])


def _value(machine: Machine, inv: Invocation, value: str) -> None:
    """An option's value: `@file`, `name=@file`, or a path."""
    for found in _PATH_IN_VALUE.finditer(value):
        effects.read(machine, inv, found.group(1))
    if not _PATH_IN_VALUE.search(value):
        bare = value.rsplit("@", 1)[-1] if "@" in value else value
        if secret_match(bare, inv.place) is Match.YES and not re.search(r"\s", bare):
            effects.read(machine, inv, bare)


def _unlisted(machine: Machine, inv: Invocation) -> None:
    """A program without an entry: every operand and option value may be a file it reads."""
    for arg in inv.args:
        if is_option(arg):
            _, equals, value = arg.partition("=")
            if equals:
                _value(machine, inv, value)
            elif len(arg) > 2 and arg[1] != "-":
                _value(machine, inv, arg[2:])
        elif "=" in arg and not arg.startswith(("/", "~")):
            _value(machine, inv, arg.partition("=")[2])
        elif " " not in arg.strip() or arg.startswith(("/", "\ud804")):
            _read_operand(machine, inv, arg)
