"""Paths inside a skill: what may be installed, and what a call may name."""

from __future__ import annotations

import re
import unicodedata

MAX_PATH_CHARS = 200
MAX_DEPTH = 8

_DRIVE = re.compile(r"[A-Za-z]:")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)
_PYTHON_HOOKS = re.compile(r"(?:sitecustomize|usercustomize)(?:\..*)?|pyvenv\.cfg|.*\.pth", re.IGNORECASE)
_COMPILED = re.compile(r".*\.(?:pyc|pyo|pyd|so|dll|dylib|exe)|__pycache__", re.IGNORECASE)
_HOUSEKEEPING = frozenset(
    {
        ".git",
        ".gitattributes",
        ".gitignore",
        ".gitkeep",
        ".github",
        ".editorconfig",
        ".prettierrc",
        ".markdownlint.json",
        ".ds_store",
        "__macosx",
    }
)
"""What repositories and archives carry along for other programs. It is left out, not installed."""


def path_problem(path: str) -> str:
    """Why this is no relative path inside a skill, for a sentence after the path; "" when it is one."""
    if not path or len(path) > MAX_PATH_CHARS:
        return f"must have 1 to {MAX_PATH_CHARS} characters"
    if path.startswith("/") or _DRIVE.match(path):
        return "is an absolute path; name a file inside the skill"
    if "\\" in path:
        return "has a backslash; folders are separated by /"
    if any(_is_hidden(character) for character in path):
        return "has characters that hide or reorder text"
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        return "leaves the skill or has empty parts; name a file inside the skill"
    if len(parts) > MAX_DEPTH:
        return f"is more than {MAX_DEPTH} folders deep"
    if any(part != part.strip() or part.endswith(".") or _RESERVED.fullmatch(part) for part in parts):
        return "has a name that not every system can keep"
    return ""


def is_housekeeping(path: str) -> bool:
    """Does it belong to a repository or an archiver rather than to the skill?"""
    return any(part.casefold() in _HOUSEKEEPING for part in path.split("/"))


def content_problem(path: str) -> str:
    """Why a file of this name is not installed although its path is sound; "" when it may be."""
    for part in path.split("/"):
        if part.startswith("."):
            return "is hidden; settings of other programs are not installed"
        if _PYTHON_HOOKS.fullmatch(part):
            return "would be run by Python on its own"
        if _COMPILED.fullmatch(part):
            return "is compiled code, which nobody can read"
    return ""


def collision_key(path: str) -> str:
    """Equal for paths that one file system or another keeps as one file."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def _is_hidden(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
