"""Patches: both forms are read into the same changes and applied by context. Pure."""

from echo_bot.files.patches.apply import apply_hunks, new_text
from echo_bot.files.patches.model import FileChange, Hunk, PatchError
from echo_bot.files.patches.parse import parse_patch

__all__ = ["FileChange", "Hunk", "PatchError", "apply_hunks", "new_text", "parse_patch"]
