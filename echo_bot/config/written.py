"""A whole number from YAML that remembers how it was written: as an id, 0042 is not 42."""

from __future__ import annotations


class WrittenInt(int):
    """`text` is the spelling in the file."""

    text: str

    def __new__(cls, text: str) -> WrittenInt:
        number = super().__new__(cls, text.replace("_", ""), 0 if text[:2].lower() in ("0x", "0o") else 10)
        number.text = text
        return number
