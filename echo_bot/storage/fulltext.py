"""Full-text search in SQLite: the index beside a table of texts, and queries that no wording can break.

A table with the columns `id` and `text` gets two indexes of FTS5, which triggers keep up to date: one of
words, reduced to their stems, and one of every three characters for scripts without spaces. Hits are ranked
by BM25; where both indexes find something, the places in both lists count together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from echo_bot.text.terms import UNSPACED, Terms

Run = Callable[[str, tuple[Any, ...]], Iterable[Sequence[Any]]]
"""Executes one statement with `?` parameters and gives its rows."""

_INDEXES = (
    ("words", "porter unicode61 remove_diacritics 2", "1"),
    ("grams", "trigram", f"{{row}}.text GLOB '*[{UNSPACED}]*'"),
)
_FUSION = 60
"""How little the first places of two lists outweigh the later ones (reciprocal rank fusion)."""


def full_text_ddl(table: str) -> tuple[str, ...]:
    """The statements that make the indexes of `table` and their triggers, on an empty table."""
    return tuple(statement for index in _INDEXES for statement in _index_ddl(table, *index))


def _index_ddl(table: str, name: str, tokenizer: str, condition: str) -> tuple[str, ...]:
    """A change is one trigger: the old text has to leave the index before the new one comes."""
    index = f"{table}_{name}"
    if_new, if_old = (condition.format(row=row) for row in ("new", "old"))
    add = f"INSERT INTO {index} (rowid, text) SELECT new.id, new.text WHERE {if_new};"
    drop = f"INSERT INTO {index} ({index}, rowid, text) SELECT 'delete', old.id, old.text WHERE {if_old};"
    return (
        f"CREATE VIRTUAL TABLE {index} USING fts5 "
        f"(text, content='{table}', content_rowid='id', tokenize='{tokenizer}')",
        f"CREATE TRIGGER {index}_added AFTER INSERT ON {table} BEGIN {add} END",
        f"CREATE TRIGGER {index}_dropped AFTER DELETE ON {table} BEGIN {drop} END",
        f"CREATE TRIGGER {index}_changed AFTER UPDATE OF text ON {table} BEGIN {drop} {add} END",
    )


def search(
    run: Run, table: str, terms: Terms, limit: int, where: str = "1", parameters: tuple[Any, ...] = ()
) -> tuple[int, ...]:
    """The ids of the rows that fit best, best first. `where` narrows the rows of `table`, named `t`."""
    lists = [
        _ranked(run, table, "words", terms.words, limit, where, parameters),
        _ranked(run, table, "grams", _grams(terms), limit, where, parameters),
    ]
    found = _fused(lists)
    if terms.pairs and len(found) < limit:
        held = _holding(run, table, terms.pairs, limit, where, parameters)
        found += [row for row in held if row not in found]
    return tuple(found[:limit])


def _grams(terms: Terms) -> tuple[str, ...]:
    """Words stand inside unspaced text without spaces around them; three letters are the least it knows."""
    return (*terms.triples, *(word for word in terms.words if len(word) > 2))


def _ranked(
    run: Run,
    table: str,
    name: str,
    wanted: Sequence[str],
    limit: int,
    where: str,
    parameters: tuple[Any, ...],
) -> list[int]:
    if not wanted:
        return []
    index = f"{table}_{name}"
    expression = " OR ".join(f'"{each}"' for each in wanted)
    rows = run(
        f"SELECT t.id FROM {index} JOIN {table} AS t ON t.id = {index}.rowid "
        f"WHERE {index} MATCH ? AND {where} ORDER BY bm25({index}), t.id DESC LIMIT ?",
        (expression, *parameters, limit),
    )
    return [int(row[0]) for row in rows]


def _holding(
    run: Run, table: str, pairs: Sequence[str], limit: int, where: str, parameters: tuple[Any, ...]
) -> list[int]:
    """Words of two characters are too short for the index: the rows that hold most pairs, by looking."""
    held = " + ".join("(instr(t.text, ?) > 0)" for _ in pairs)
    rows = run(
        f"SELECT id FROM (SELECT t.id AS id, {held} AS held FROM {table} AS t WHERE {where}) "
        "WHERE held > 0 ORDER BY held DESC, id DESC LIMIT ?",
        (*pairs, *parameters, limit),
    )
    return [int(row[0]) for row in rows]


def _fused(lists: Sequence[Sequence[int]]) -> list[int]:
    scores: dict[int, float] = {}
    for ranked in lists:
        for place, row in enumerate(ranked):
            scores[row] = scores.get(row, 0.0) + 1 / (_FUSION + place)
    return sorted(scores, key=lambda row: -scores[row])
