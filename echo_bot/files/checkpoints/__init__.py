"""Checkpoints: what a file held before a tool wrote it, and how it is put back."""

from echo_bot.files.checkpoints.blobs import Blobs
from echo_bot.files.checkpoints.keeping import CheckpointLimits, FileWrite, Keeper, Kept
from echo_bot.files.checkpoints.restoring import FileUndo, Outcome, Undone, carry_out, undos_of

__all__ = [
    "Blobs",
    "CheckpointLimits",
    "FileUndo",
    "FileWrite",
    "Keeper",
    "Kept",
    "Outcome",
    "Undone",
    "carry_out",
    "undos_of",
]
