"""What simple text tools print, as far as the command alone tells: echo, printf, base64, tr, cat, …"""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING

from echo_bot.policy.guards.shell import filters, pathnames
from echo_bot.policy.guards.shell.filters import input_of
from echo_bot.policy.guards.shell.marks import UNKNOWN, UNKNOWN_FIELDS, has_glob, is_open, shown
from echo_bot.policy.guards.shell.options import OptionTable, names, read_options
from echo_bot.policy.guards.shell.unescape import backslashes

if TYPE_CHECKING:
    from echo_bot.policy.guards.shell.invocation import Invocation

_SILENT = names(
    "cd pushd export declare typeset local readonly unset set shopt alias true false : "
    "test [ rm mkdir touch cp mv ln chmod "
    "chown sleep wait read mapfile trap exit return break continue shift let umask ulimit kill"
)
_COUNT = re.compile(r"[0-9]{1,18}\Z")
_FORMAT = re.compile(r"%(?:%|[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:[hlqjzt]*)([sdiouxXbcqeEfgGQ]))")


def output_of(inv: Invocation) -> str:
    """The text a command writes; UNKNOWN where the command line alone does not tell."""
    if inv.name in _SILENT:
        return ""
    printer = _PRINTERS.get(inv.name)
    if printer is None:
        return UNKNOWN
    return printer(inv)


def echo(inv: Invocation) -> str:
    args = inv.args
    escapes, newline = False, True
    while args and re.fullmatch(r"-[neE]+", args[0]):
        escapes = escapes or "e" in args[0]
        newline = newline and "n" not in args[0]
        args = args[1:]
    text = " ".join(args)
    if has_glob(text):
        text = " ".join(name for arg in args for name in pathnames.globbed_roots(arg, inv))
    text = shown(text, inv.state.home).replace(UNKNOWN_FIELDS, UNKNOWN)
    if escapes:
        text = backslashes(text)
    return text + ("\n" if newline else "")


def printf(inv: Invocation) -> str:
    args = [shown(arg, inv.state.home) for arg in inv.args]
    if args[:1] == ["-v"]:
        return ""
    if args[:1] == ["--"]:
        args = args[1:]
    return formatted(args[0], args[1:]) if args else ""


def formatted(template: str, args: list[str]) -> str:
    """printf's text; the format is used again while arguments are left."""
    if is_open(template):
        return UNKNOWN
    template = backslashes(template)
    output: list[str] = []
    left = list(reversed(args))
    while True:
        before = len(left)

        def fill(found: re.Match[str]) -> str:
            kind = found.group(1)
            if kind is None:
                return "%"
            value = left.pop() if left else ""
            return _converted(kind, found.group(), value)

        output.append(_FORMAT.sub(fill, template))
        if not left or len(left) == before:
            return "".join(output).replace(UNKNOWN_FIELDS, UNKNOWN)


def _converted(kind: str, spec: str, value: str) -> str:
    if kind == "b":
        return backslashes(value)
    if kind == "c":
        return value[:1]
    if kind in "diouxX":
        if "*" in spec or re.search(r"\d{4}", spec):
            return UNKNOWN
        try:
            number = int(value or "0", 0) if value[:1] not in ("'", '"') else ord(value[1:2] or "\0")
        except ValueError:
            return UNKNOWN
        return ("%" + spec[1:-1].lstrip("hlqjzt") + kind.replace("i", "d").replace("u", "d")) % number
    if kind in "eEfgG":
        return UNKNOWN
    precision = re.search(r"\.(\d+)", spec)
    return value[: int(precision.group(1))] if precision else value


def cat(inv: Invocation) -> str:
    options = read_options(inv.args, OptionTable())
    text = input_of(inv, options.rest)
    return text if not options.given or is_open(text) else _numbered(text, options.has("n", "b"))


def _numbered(text: str, numbered: bool) -> str:
    return UNKNOWN if numbered else text


def base64_tool(inv: Invocation) -> str:
    options = read_options(inv.args, OptionTable("w", names("wrap")))
    text = input_of(inv, options.rest)
    if is_open(text):
        return UNKNOWN
    width = 32 if "32" in inv.name else 64
    if not options.has("d", "D", "decode"):
        raw = text.encode("utf-8", "replace")
        return (base64.b32encode(raw) if width == 32 else base64.b64encode(raw)).decode() + "\n"
    body = re.sub(r"[^A-Za-z0-9+/]", "", text.split("=", 1)[0] if width == 64 else text)
    try:
        if width == 32:
            return _text(base64.b32decode(body + "=" * (-len(body) % 8)))
        return _text(base64.b64decode(body + "=" * (-len(body) % 4)))
    except (binascii.Error, ValueError):
        return UNKNOWN


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace").replace("\0", "")


def xxd(inv: Invocation) -> str:
    options = read_options(inv.args, OptionTable("cgslo", names("cols groupsize seek len")))
    text = input_of(inv, options.rest)
    if is_open(text):
        return UNKNOWN
    if not options.has("r", "revert"):
        return (
            text.encode("utf-8", "replace").hex() + "\n"
            if options.has("p", "ps", "plain", "postscript")
            else UNKNOWN
        )
    if not options.has("p", "ps", "plain", "postscript"):
        lines = (line.partition(":")[2].split("  ")[0] for line in text.splitlines())
        text = "".join(lines)
    digits = re.sub(r"[^0-9A-Fa-f]", "", text)
    return _text(bytes.fromhex(digits[: len(digits) // 2 * 2]))


def openssl(inv: Invocation) -> str:
    words = [arg.lstrip("-") for arg in inv.args]
    if words[:1] == ["base64"] or (words[:1] == ["enc"] and ("base64" in words or "a" in words)):
        if any(word.startswith(("aes", "des", "in", "pass")) or word == "k" for word in words[1:]):
            return UNKNOWN
        decode = "d" in words
        return base64_tool(inv.inner(["base64", "-d"] if decode else ["base64"]))
    return UNKNOWN


def rev(inv: Invocation) -> str:
    text = input_of(inv, [arg for arg in inv.args if arg[:1] != "-"])
    if is_open(text):
        return UNKNOWN
    return "\n".join(line[::-1] for line in text.split("\n"))


def tac(inv: Invocation) -> str:
    text = input_of(inv, [arg for arg in inv.args if arg[:1] != "-"])
    return UNKNOWN if is_open(text) else "".join(reversed(text.splitlines(keepends=True)))


def tr(inv: Invocation) -> str:
    options = read_options(inv.args, OptionTable(), permute=False)
    text = inv.stdin.text
    if text is None or is_open(text) or not options.rest or any(is_open(arg) for arg in options.rest):
        return UNKNOWN
    try:
        source = _character_set(options.rest[0])
        target = _character_set(options.rest[1]) if len(options.rest) > 1 else ""
    except ValueError:
        return UNKNOWN
    if options.has("c", "C", "complement"):
        if not options.has("d", "delete"):
            return UNKNOWN
        keep = set(source)
        return "".join(char for char in text if char in keep)
    if options.has("d", "delete"):
        return text.translate({ord(char): None for char in source})
    if options.has("s", "squeeze-repeats") and not target:
        return re.sub("([" + re.escape(source) + r"])\1+", r"\1", text)
    if not target:
        return UNKNOWN
    target = target.ljust(len(source), target[-1])
    return text.translate(
        {
            ord(one): other
            for one, other in zip(reversed(source), reversed(target[: len(source)]), strict=False)
        }
    )


_CLASSES = {
    "upper": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "lower": "abcdefghijklmnopqrstuvwxyz",
    "digit": "0123456789",
    "space": " \t\n\r\f\v",
    "blank": " \t",
    "punct": "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
}
_CLASSES["alpha"] = _CLASSES["upper"] + _CLASSES["lower"]
_CLASSES["alnum"] = _CLASSES["digit"] + _CLASSES["alpha"]


def _character_set(text: str) -> str:
    text = backslashes(text)
    pieces: list[str] = []
    index = 0
    while index < len(text):
        named = re.compile(r"\[:(\w+):\]").match(text, index)
        if named is not None:
            pieces.append(_CLASSES.get(named.group(1), ""))
            index = named.end()
        elif text[index + 1 : index + 2] == "-" and index + 2 < len(text):
            start, stop = ord(text[index]), ord(text[index + 2])
            if not 0 <= stop - start < 4096:
                raise ValueError
            pieces.append("".join(map(chr, range(start, stop + 1))))
            index += 3
        else:
            pieces.append(text[index])
            index += 1
    return "".join(pieces)


def head(inv: Invocation) -> str:
    options = read_options(inv.args, OptionTable("nc", names("lines bytes")))
    text = input_of(inv, options.rest)
    if is_open(text):
        return UNKNOWN
    count = next((value for _, value in options.given if _COUNT.match(value.lstrip("-+"))), "10")
    if options.has("c", "bytes"):
        number = int(count) if _COUNT.match(count) else 0
        return UNKNOWN if not number else text[:number] if inv.name == "head" else text[-number:]
    digits = next((name for name, _ in options.given if _COUNT.match(name)), count)
    lines = text.splitlines(keepends=True)
    amount = int(digits.lstrip("+"))
    if inv.name == "head":
        return "".join(lines[:amount])
    return "".join(lines[amount - 1 :] if digits[:1] == "+" else lines[-abs(amount) :] if amount else [])


def expr(inv: Invocation) -> str:
    """`expr text` prints the text; what it calculates is not followed."""
    return shown(inv.args[0], inv.state.home) + "\n" if len(inv.args) == 1 else UNKNOWN


def seq(inv: Invocation) -> str:
    numbers = [arg for arg in inv.args if re.fullmatch(r"\d{1,6}", arg)]
    if len(numbers) != len(inv.args) or not 1 <= len(numbers) <= 2:
        return UNKNOWN
    first, last = (1, int(numbers[0])) if len(numbers) == 1 else (int(numbers[0]), int(numbers[1]))
    return "".join(f"{number}\n" for number in range(first, last + 1)) if last - first < 50 else UNKNOWN


def yes(inv: Invocation) -> str:
    """Without end; a few lines stand for all of them."""
    return 20 * (shown(" ".join(inv.args) or "y", inv.state.home).replace(UNKNOWN_FIELDS, UNKNOWN) + "\n")


_PRINTERS = {
    "echo": echo,
    "printf": printf,
    "print": echo,
    "cat": cat,
    **dict.fromkeys(
        ("gzip", "gunzip", "zcat", "bzip2", "bunzip2", "bzcat", "xz", "unxz", "xzcat", "zstd", "zstdcat"),
        filters.through,
    ),
    "base64": base64_tool,
    "gbase64": base64_tool,
    "base32": base64_tool,
    "xxd": xxd,
    "openssl": openssl,
    "rev": rev,
    "tac": tac,
    "tr": tr,
    "head": head,
    "tail": head,
    "sed": filters.sed,
    "cut": filters.cut,
    "tee": filters.through,
    "pv": filters.through,
    "sponge": filters.through,
    "which": pathnames.which,
    "type": pathnames.command_lookup,
    "command": pathnames.command_lookup,
    "pwd": pathnames.pwd,
    "ls": pathnames.ls,
    "dirname": pathnames.dirname,
    "basename": pathnames.basename,
    "realpath": pathnames.realpath,
    "readlink": pathnames.realpath,
    "mktemp": pathnames.mktemp,
    "seq": seq,
    "expr": expr,
    "sort": filters.through,
    "uniq": filters.through,
    "yes": yes,
    "grep": filters.grep,
    "awk": filters.awk,
    "gawk": filters.awk,
    "mawk": filters.awk,
    "fold": filters.through,
    "buffer": filters.through,
    "mbuffer": filters.through,
    "cstream": filters.through,
}
