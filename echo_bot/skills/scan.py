"""What a skill's texts and scripts say that a person should know, or that keeps it from being installed."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping

from echo_bot.policy.decision import Verdict
from echo_bot.policy.guards.memory import scan_memory
from echo_bot.policy.guards.shell import judge_code

_TEXTS = frozenset({".md", ".txt", ".rst"})
_LANGUAGES = {".sh": "bash", ".bash": "bash", ".py": "python", ".js": "javascript", ".mjs": "javascript"}
_SHELL_BLOCK = re.compile(r"^```[ \t]*(?:bash|sh|shell|console|zsh)\b[^\n]*\n(.*?)^```", re.M | re.S)
_MOST_JUDGED_CHARS = 100_000
_MOST_HINTS = 10


def injections(files: Mapping[str, bytes]) -> tuple[str, ...]:
    """Sentences on texts that would give the assistant orders against its person: such a skill is refused."""
    found: list[str] = []
    for path, data in sorted(files.items()):
        if posixpath.splitext(path)[1].lower() in _TEXTS:
            text = data.decode("utf-8", "replace")
            found += [f"{path}: {finding.sentence}" for finding in scan_memory(text, path)]
    return tuple(found)


def hints(files: Mapping[str, bytes]) -> tuple[str, ...]:
    """Sentences on what scripts and shell examples would do that the guards would stop or ask about."""
    judged = (sentence for path, data in sorted(files.items()) for sentence in _judged(path, data))
    listed = list(dict.fromkeys(judged))
    if len(listed) > _MOST_HINTS:
        return (*listed[:_MOST_HINTS], f"and {len(listed) - _MOST_HINTS} more")
    return tuple(listed)


def _judged(path: str, data: bytes) -> Iterator[str]:
    text = data.decode("utf-8", "replace")[:_MOST_JUDGED_CHARS]
    ending = posixpath.splitext(path)[1].lower()
    programs = [(language, text)] if (language := _LANGUAGES.get(ending)) else []
    if ending == ".md":
        programs = [("bash", block[1]) for block in _SHELL_BLOCK.finditer(text)]
    for language, program in programs:
        report = judge_code(program, language, cwd="/", home="/", env={})
        for finding in report.findings:
            if finding.verdict is Verdict.DENY or (language == "bash" and finding.kind != "unparsed"):
                yield f"{path}: {finding.sentence}"
