"""What a message asks for: a direct tool call, or a chat with the model."""

from __future__ import annotations

import io
import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from echo_bot.policy.call import JsonValue
from echo_bot.text.language import N_, Say

SchemaOf = Callable[[str], Mapping[str, JsonValue] | None]
"""The parameters schema of a tool by name, None for an unknown one."""

_COMMAND = re.compile(r"/([^\W\d]+)(?:@\S*)?(?:\s+(.*))?\Z", re.DOTALL)

_BLANKS = re.compile(r"[ \t\r\n]*")
_JSON_VALUE = re.compile(r"\w+=(?=[\[{])")

RUN_USAGE = N_("Write the command after /run, for example: /run ls -la")
_NO_JSON = N_("The arguments are not valid JSON: {problem}. {usage}")
_NOT_SPLIT = N_("The arguments cannot be split: {problem}. Quote values that hold blanks.")
TOOL_USAGE = N_("Write: /tool NAME key=value …, for example: /tool read_file path=README.md")


@dataclass(frozen=True, slots=True)
class DirectCall:
    tool: str
    args: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Chat:
    text: str


@dataclass(frozen=True, slots=True)
class Misused:
    """A direct call that cannot be read; the sentence says how to write it."""

    template: str
    problem: str = ""

    def said(self, say: Say) -> str:
        return say(self.template).format(problem=self.problem, usage=say(TOOL_USAGE))


@dataclass(frozen=True, slots=True)
class Compact:
    """Summarise the older part of the conversation now."""


Directive = DirectCall | Chat | Compact | Misused


def split_command(text: str) -> tuple[str, str]:
    """("run", "ls -la") for "/run ls -la" or "/run@bot ls -la"; ("", text) for what is no command."""
    found = _COMMAND.match(text.strip())
    return (found[1].lower(), (found[2] or "").strip()) if found else ("", text)


def read_directive(text: str, schema_of: SchemaOf) -> Directive:
    """`/run …`, `/tool …` and `/compact` are for the bot itself; everything else is for the model."""
    name, rest = split_command(text)
    if name == "run":
        return DirectCall("exec", {"command": rest}) if rest else Misused(RUN_USAGE)
    if name == "tool":
        return _read_tool(rest, schema_of)
    if name == "compact" and not rest:
        return Compact()
    return Chat(text)


def _read_tool(rest: str, schema_of: SchemaOf) -> Directive:
    if not rest:
        return Misused(TOOL_USAGE)
    name, arguments = (*rest.split(None, 1), "")[:2]
    if arguments.startswith("{"):
        try:
            args = json.loads(arguments)
        except (ValueError, RecursionError) as error:
            return Misused(_NO_JSON, str(error))
        return DirectCall(name, args)
    try:
        pairs = [word.partition("=") for word in _words(arguments)]
    except ValueError as error:
        return Misused(_NOT_SPLIT, str(error))
    if any(not equals for _, equals, _ in pairs):
        return Misused(TOOL_USAGE)
    properties = (schema_of(name) or {}).get("properties")
    types = properties if isinstance(properties, dict) else {}
    return DirectCall(name, {key: _value(types.get(key), value) for key, _, value in pairs})


def _words(text: str) -> Iterator[str]:
    """As a shell splits them, but a JSON list or object behind `key=` is one word as it is written."""
    stream = io.StringIO(text)
    shell = shlex.shlex(stream, posix=True)
    shell.whitespace_split, shell.commenters = True, ""
    while True:
        blanks = _BLANKS.match(text, stream.tell())
        start = blanks.end() if blanks else len(text)
        end = _end_of_json(text, start)
        if end:
            stream.seek(end)
            yield text[start:end]
            continue
        stream.seek(start)
        word = shell.get_token()
        if word is None:
            return
        yield word


def _end_of_json(text: str, start: int) -> int:
    """Where the word `key=[…]` or `key={…}` ends that begins there; 0 where there is none."""
    found = _JSON_VALUE.match(text, start)
    if found is None:
        return 0
    try:
        _, end = json.JSONDecoder().raw_decode(text, found.end())
    except (ValueError, RecursionError):
        return 0
    return end if not text[end : end + 1].strip() else 0


def _value(schema: JsonValue, text: str) -> JsonValue:
    """A string where the schema wants one, else JSON where it reads as JSON."""
    if isinstance(schema, dict) and schema.get("type") == "string":
        return text
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value
