"""SKILL.md: front matter in the public Agent Skills format with some fields of our own, and a body."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated

from packaging.requirements import InvalidRequirement, Requirement
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from echo_bot.config.complaint import complaints
from echo_bot.config.written import WrittenInt
from echo_bot.config.yaml_tree import parse_yaml
from echo_bot.errors import ConfigError
from echo_bot.skills.errors import SkillError
from echo_bot.skills.paths import path_problem

SKILL_FILE = "SKILL.md"
MAX_SKILL_FILE_BYTES = 256 * 1024

NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_FENCE = re.compile(r"---[ \t]*")
_BINARY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_LINE_BREAKS = re.compile(r"[\x00-\x1f\x7f\u0085\u2028\u2029]")


def _as_text(value: object) -> object:
    """`version: 1.0` is a number in YAML and a text here."""
    if isinstance(value, WrittenInt):
        return value.text
    return repr(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _words(value: object) -> object:
    """`allowed-tools` is a text of words in the public format; a list is taken as well."""
    return tuple(value.replace(",", " ").split()) if isinstance(value, str) else value


def _texts(value: object) -> object:
    """The public format has texts only; what other programs nest there is theirs."""
    if not isinstance(value, Mapping):
        return value
    texts = {key: _as_text(inner) for key, inner in value.items()}
    return {key: inner for key, inner in texts.items() if isinstance(inner, str)}


def _is_name(text: str) -> str:
    if len(text) > 64 or not NAME.fullmatch(text):
        raise ValueError("must be at most 64 lower-case letters, digits and single hyphens between them")
    return text


def _is_line(text: str) -> str:
    line = " ".join(_LINE_BREAKS.sub(" ", text).split())
    if not line:
        raise ValueError("must not be empty")
    return line


def _is_requirement(text: str) -> str:
    """Only a name and versions: an address or an option would decide where the code comes from."""
    try:
        wanted = Requirement(text)
    except InvalidRequirement:
        raise ValueError(f"{text[:80]!r} is not a Python requirement, such as pypdf>=5") from None
    if wanted.url is not None:
        raise ValueError(f"{text[:80]!r} names an address; write the package's name and versions")
    return str(wanted)


def _is_binary(text: str) -> str:
    if not _BINARY.fullmatch(text):
        raise ValueError(f"{text[:80]!r} is not the name of a program")
    return text


def _is_variable(text: str) -> str:
    if not _VARIABLE.fullmatch(text):
        raise ValueError(f"{text[:80]!r} is not the name of an environment variable")
    return text


def _is_script(text: str) -> str:
    if problem := path_problem(text):
        raise ValueError(f"{text[:80]!r} {problem}")
    return text


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True)


class Dependencies(_Part):
    """What the scripts need: Python requirements, programs on PATH, names of environment variables."""

    model_config = ConfigDict(extra="forbid")

    python: tuple[Annotated[str, AfterValidator(_is_requirement)], ...] = ()
    binaries: tuple[Annotated[str, AfterValidator(_is_binary)], ...] = ()
    env: tuple[Annotated[str, AfterValidator(_is_variable)], ...] = ()


class Manifest(_Part):
    """The front matter. Keys of other programs are ignored, as the public format asks."""

    name: Annotated[str, AfterValidator(_is_name)]
    description: Annotated[str, Field(max_length=1024), AfterValidator(_is_line)]
    version: Annotated[str, BeforeValidator(_as_text), Field(max_length=64)] = ""
    license: Annotated[str, BeforeValidator(_as_text), Field(max_length=500)] = ""
    compatibility: Annotated[str, Field(max_length=500)] = ""
    scripts: dict[Annotated[str, AfterValidator(_is_script)], str] = Field(default_factory=dict)
    dependencies: Dependencies = Dependencies()
    allowed_tools: Annotated[tuple[str, ...], BeforeValidator(_words)] = Field((), alias="allowed-tools")
    metadata: Annotated[dict[str, str], BeforeValidator(_texts)] = Field(default_factory=dict)

    @property
    def shown_version(self) -> str:
        """The public format keeps the version among the metadata."""
        return self.version or self.metadata.get("version", "")


@lru_cache(maxsize=256)
def parse_skill(data: bytes, file: str) -> tuple[Manifest, str]:
    """The front matter and the body; the same bytes are read once. Raises SkillError with file and line."""
    if len(data) > MAX_SKILL_FILE_BYTES:
        raise SkillError(f"{file}: longer than {MAX_SKILL_FILE_BYTES // 1024} KiB; move parts to other files")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SkillError(f"{file}:{line}: not UTF-8 text") from None
    front, body = _split(text, file)
    try:
        tree = parse_yaml(front, file)
    except ConfigError as error:
        raise SkillError(str(error)) from None
    try:
        return Manifest.model_validate(dict(tree.values)), body
    except ValidationError as error:
        path, reason = complaints(error, Manifest)[0]
        line = tree.line_of(path) or 1
        raise SkillError(f"{file}:{line}: {'.'.join(map(str, path))}: {reason}") from None


def _split(text: str, file: str) -> tuple[str, str]:
    """The front matter, its opening line left blank so that line numbers are the file's, and the rest."""
    lines = text.splitlines(keepends=True)
    if not lines or not _FENCE.fullmatch(lines[0].rstrip("\r\n")):
        raise SkillError(f"{file}:1: a skill begins with a line --- and its front matter: name, description")
    for number, line in enumerate(lines[1:], 1):
        if _FENCE.fullmatch(line.rstrip("\r\n")):
            return "\n" + "".join(lines[1:number]), "".join(lines[number + 1 :]).strip()
    raise SkillError(f"{file}:1: the front matter has no end; close it with a line ---")
