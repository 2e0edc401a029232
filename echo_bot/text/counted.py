"""A number of things in words."""


def counted(number: int, noun: str) -> str:
    """`1 file`, `2,000 files`: for nouns whose plural is formed by an s."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
