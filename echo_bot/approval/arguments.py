"""The arguments of a call as card blocks: everything shown, what can do harm first.

They are shown as code only, so that no argument looks like a line of the card itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from echo_bot.approval.escape import escape_block, escape_line, escape_lines
from echo_bot.approval.words import Words
from echo_bot.events import CardBlock, CodeBlock
from echo_bot.policy.call import JsonValue
from echo_bot.policy.guards.secrets import SecretMask
from echo_bot.text.language import _

DANGEROUS_FIELDS = ("command", "code", "path", "url", "env", "cwd", "stdin", "text", "data", "script", "args")
"""Fields that decide what happens, in the order in which they are shown; all others follow."""

_CODE_FIELDS = frozenset(
    ("command", "code", "stdin", "text", "data", "script", "content", "patch", "message", "diff")
)
_LANGUAGES = {"command": "bash", "patch": "diff", "diff": "diff"}
_LONGEST_SHORT = 80


def argument_blocks(
    args: Mapping[str, JsonValue], mask: SecretMask, *, hide: frozenset[str]
) -> tuple[CardBlock, ...]:
    """Blocks that show `args`, except the fields in `hide`, which another block of the card shows."""
    blocks: list[CardBlock] = []
    short: list[str] = []

    def flush() -> None:
        if short:
            blocks.append(CodeBlock("\n".join(short), label=Words.arguments))
            short.clear()

    for name in _ordered(args):
        if name in hide:
            continue
        shown = mask.mask(_as_text(args[name]))
        if _is_short(name, shown):
            short.append(f"{escape_line(name)}: {escape_line(shown) or Words.empty}")
        else:
            flush()
            blocks.append(_code(name, shown))
    flush()
    return tuple(blocks)


def plan_blocks(lines: Iterable[tuple[str, str]], mask: SecretMask) -> Iterator[CardBlock]:
    """What a call comes to: short lines in one block, a long or broken one in a block of its own."""
    short = []
    for label, text in lines:
        shown = mask.mask(text)
        if "\n" in shown:
            yield CodeBlock(escape_block(shown), label=_(label))
        else:
            short.append(f"{_(label)}: {escape_line(shown) or Words.empty}")
    if short:
        yield CodeBlock("\n".join(short), label=Words.plan)


def argument_texts(args: Mapping[str, JsonValue]) -> Iterator[str]:
    """Names and values as text, for notes about look-alike letters."""
    for name, value in args.items():
        yield name
        yield _as_text(value)


def _ordered(args: Mapping[str, JsonValue]) -> list[str]:
    rank = {name: place for place, name in enumerate(DANGEROUS_FIELDS)}
    return sorted(args, key=lambda name: rank.get(name.casefold(), len(rank)))


def _as_text(value: JsonValue) -> str:
    """Text as it is, anything else as JSON in its own letters."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


def _is_short(name: str, shown: str) -> bool:
    return name not in _CODE_FIELDS and len(shown) <= _LONGEST_SHORT and "\n" not in shown


def _code(name: str, shown: str) -> CodeBlock:
    known = name in _CODE_FIELDS or name in DANGEROUS_FIELDS
    label = name if known else Words.argument.format(name=escape_line(name))
    language = _LANGUAGES.get(name, "")
    text = escape_lines(shown) if language == "diff" else escape_block(shown)
    return CodeBlock(text or Words.empty, language=language, label=label)
