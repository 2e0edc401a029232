"""Find what was done to the audit afterwards.

Noticed: a changed row, a missing row, a row in another place, a lost tail or a lost chain (by the head beside
every chain, and by the opening rows of later chains, which name the ends of earlier ones), dropped rows that
no pruning row vouches for.

Not noticed: the whole database replaced by an older copy of itself; the newest rows cut off together with
their head before any later chain named them; the newest chain computed anew without a key (the report then
says that it was written without one). And with no key at all: rows computed anew by somebody who can write
the database. Keep the last line of `echo-bot audit verify` elsewhere now and then: an older copy then shows.
"""

from __future__ import annotations

import hmac
import itertools
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from echo_bot.audit.chain import ANCHOR, OPENED, PRUNED, Link, Seal, links_in
from echo_bot.storage.protocol import AuditRows
from echo_bot.storage.records import AuditHead, AuditRow


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong at one row. `breaks` is False for what only limits the check, such as an absent key."""

    writer: str
    seq: int
    sentence: str
    breaks: bool = True

    def __str__(self) -> str:
        return f"{self.writer} row {self.seq}: {self.sentence}"


@dataclass(frozen=True, slots=True)
class Report:
    """What a whole check came to. `newest` is the head to keep elsewhere."""

    problems: tuple[Problem, ...]
    chains: int
    rows: int
    newest: AuditHead | None

    @property
    def is_sound(self) -> bool:
        return not any(problem.breaks for problem in self.problems)


class Verifier:
    """Takes one whole chain after the other, then says what does not fit between them."""

    def __init__(self, key: bytes | None = None, heads: Iterable[AuditHead] = ()) -> None:
        self._seals = {seal.prefix: seal for seal in (Seal(), Seal(key))}
        self._keyed = key is not None
        self._heads = {head.writer: head for head in heads}
        self._macs: dict[str, dict[int, str]] = {}
        self._anchors: list[AuditRow] = []
        self._links: list[Link] = []
        self._vouched: set[Link] = set()
        self.rows = 0

    def add(self, chain: Sequence[AuditRow]) -> tuple[Problem, ...]:
        """One writer's rows in stored order. Returns the problems inside of it."""
        if not chain:
            return ()
        self.rows += len(chain)
        ordered = sorted(chain, key=lambda row: row.seq)
        writer = ordered[0].writer
        self._macs[writer] = {row.seq: row.mac for row in ordered}
        self._anchors.extend(row for row in ordered if row.kind == ANCHOR)
        for row in ordered:
            self._collect_links(row)
        problems = [_reordered(before, row) for before, row in _pairs(chain) if row.seq < before.seq]
        problems += self._check_start(ordered[0])
        problems += [p for before, row in _pairs(ordered) for p in _check_joint(before, row)]
        problems += [p for row in ordered if row.kind != ANCHOR for p in self._check_seal(row)]
        problems += self._check_schemes(ordered)
        return tuple(problems)

    def finish(self) -> tuple[Problem, ...]:
        """After the last chain: lost tails, lost chains, anchors without a pruning."""
        lost = [self._check_link(Link(h.writer, h.seq, h.mac), "its head") for h in self._heads.values()]
        lost += [self._check_link(link, "a later chain") for link in self._links]
        headless = [
            Problem(writer, max(macs), "the chain's head is missing: its tail may have been cut off")
            for writer, macs in self._macs.items()
            if self._heads and writer not in self._heads
        ]
        unvouched = [
            Problem(row.writer, row.seq, "earlier rows are gone and no pruning was recorded")
            for row in self._anchors
            if Link(row.writer, row.seq, row.mac) not in self._vouched
        ]
        found = [problem for problem in lost if problem is not None] + headless + unvouched
        return tuple(dict.fromkeys(found))

    def _collect_links(self, row: AuditRow) -> None:
        if row.kind not in (OPENED, PRUNED):
            return
        try:
            body = json.loads(row.body_json)
            if row.kind == OPENED:
                self._links.extend(links_in(body["heads"]))
            else:
                self._vouched.update(links_in(body["anchors"]))
        except (ValueError, KeyError, TypeError):
            # The seal of a row with such a body cannot be right: that is what is reported.
            return

    def _check_start(self, first: AuditRow) -> list[Problem]:
        if first.kind == ANCHOR or (first.seq == 1 and first.prev == ""):
            return []
        return [Problem(first.writer, first.seq, f"the rows before it are missing ({first.seq - 1})")]

    def _check_seal(self, row: AuditRow) -> list[Problem]:
        prefix = row.mac.partition(":")[0] + ":"
        seal = self._seals.get(prefix)
        if seal is None:
            sentence = f"sealed with another key ({prefix[:-1]}); set that key to check it"
            return [Problem(row.writer, row.seq, sentence, breaks=False)]
        if hmac.compare_digest(seal.mac(row), row.mac):
            return []
        return [Problem(row.writer, row.seq, "it was changed: its seal does not fit its contents")]

    def _check_schemes(self, ordered: Sequence[AuditRow]) -> list[Problem]:
        """One process seals all its rows alike: a plain row in a keyed chain was put there."""
        schemes = {row.mac.partition(":")[0] for row in ordered}
        if len(schemes) > 1:
            return [
                Problem(ordered[0].writer, ordered[0].seq, "the chain's rows are sealed in different ways")
            ]
        if self._keyed and schemes == {"sha256"}:
            sentence = "the chain was written without a key: only a careless change would be noticed"
            return [Problem(ordered[0].writer, ordered[0].seq, sentence, breaks=False)]
        return []

    def _check_link(self, link: Link, told_by: str) -> Problem | None:
        macs = self._macs.get(link.writer, {})
        if not macs:
            return Problem(link.writer, link.seq, f"the whole chain is missing; {told_by} names it")
        if link.seq > max(macs):
            return Problem(
                link.writer, link.seq, f"the rows after {max(macs)} are missing; {told_by} names it"
            )
        if link.seq in macs and macs[link.seq] != link.mac:
            return Problem(link.writer, link.seq, f"it was replaced; {told_by} names another seal")
        return None


def verify(
    rows: Iterable[AuditRow], *, key: bytes | None = None, heads: Iterable[AuditHead] = ()
) -> tuple[Problem, ...]:
    """Check whole chains of any number of writers, in stored order; lost tails only if `heads` are given."""
    chains: defaultdict[str, list[AuditRow]] = defaultdict(list)
    for row in rows:
        chains[row.writer].append(row)
    verifier = Verifier(key, heads)
    inside = [problem for chain in chains.values() for problem in verifier.add(chain)]
    return (*inside, *verifier.finish())


async def check_stored(rows: AuditRows, key: bytes | None) -> Report:
    """Check everything that is stored, one chain in memory at a time.

    Writers and heads are read before the chains, so that what a running bot appends meanwhile is no problem.
    """
    writers = await rows.writers()
    heads = await rows.heads()
    verifier = Verifier(key, heads)
    problems: list[Problem] = []
    for writer in dict.fromkeys((*writers, *(head.writer for head in heads))):
        problems.extend(verifier.add(await rows.chain(writer)))
    problems.extend(verifier.finish())
    return Report(tuple(problems), len(writers), verifier.rows, heads[-1] if heads else None)


def _pairs(rows: Sequence[AuditRow]) -> Iterable[tuple[AuditRow, AuditRow]]:
    return itertools.pairwise(rows)


def _reordered(before: AuditRow, row: AuditRow) -> Problem:
    return Problem(row.writer, row.seq, f"it stands after row {before.seq}: the order was changed")


def _check_joint(before: AuditRow, row: AuditRow) -> list[Problem]:
    if row.kind == ANCHOR:
        return [Problem(row.writer, row.seq, "it was emptied although earlier rows are there")]
    if row.seq == before.seq + 1 and row.prev == before.mac:
        return []
    if row.seq > before.seq + 1:
        missing = (
            f"row {row.seq - 1}" if row.seq == before.seq + 2 else f"rows {before.seq + 1} to {row.seq - 1}"
        )
        return [Problem(row.writer, row.seq, f"{missing} before it are missing")]
    return [Problem(row.writer, row.seq, "it does not follow the row before: one of them was replaced")]
