"""The knowledge index: private, shared between processes, and made anew when it is damaged."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from echo_bot.errors import StorageError
from echo_bot.storage.knowledge import IndexedFile, IndexLost, IndexState, KnowledgeIndex, Passage
from echo_bot.text.terms import terms_of


@pytest.fixture
def index(tmp_path: Path) -> KnowledgeIndex:
    return KnowledgeIndex(tmp_path / "state" / "knowledge.db")


def document(path: str, *texts: str, digest: str = "1") -> IndexedFile:
    passages = tuple(Passage(path, number, number, text) for number, text in enumerate(texts, start=1))
    return IndexedFile(path, digest, passages)


def paths(index: KnowledgeIndex, query: str) -> list[str]:
    return [passage.path for passage in index.search(terms_of(query), 10)]


def test_an_index_that_was_never_written_is_empty_and_no_file(index: KnowledgeIndex) -> None:
    assert index.state() == IndexState()
    assert paths(index, "x") == []
    assert not index.exists()


def test_a_file_is_replaced_as_a_whole_and_forgotten_as_a_whole(index: KnowledgeIndex) -> None:
    index.put([document("/a", "walnut cake", "hazelnut pie"), document("/b", "walnut bread")])
    assert set(paths(index, "walnut")) == {"/a", "/b"}
    index.put([document("/a", "almond cake", digest="2")])
    assert paths(index, "walnut hazelnut") == ["/b"]
    assert index.digests() == {"/a": "2", "/b": "1"}
    index.remove(["/b"])
    assert paths(index, "walnut") == []
    assert (index.state().files, index.state().passages) == (1, 1)


def test_the_file_is_private(index: KnowledgeIndex) -> None:
    index.put([document("/a", "x")])
    modes = {stat.S_IMODE(path.stat().st_mode) for path in index.path.parent.iterdir()}
    assert modes == {0o600}


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def scramble(path: Path) -> None:
    contents = bytearray(path.read_bytes())
    contents[4096:] = os.urandom(len(contents) - 4096)
    path.write_bytes(contents)


def scramble_all(path: Path) -> None:
    path.write_bytes(os.urandom(10_000))


def other_version(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()


def use(index: KnowledgeIndex) -> None:
    index.search(terms_of("walnut"), 5)
    index.put([document("/new", "x")])


@pytest.mark.parametrize("damage", [cut_short, scramble, scramble_all, other_version])
def test_a_damaged_index_is_lost_once_and_then_works(
    index: KnowledgeIndex, damage: Callable[[Path], None]
) -> None:
    index.put([document(f"/{n}", f"walnut {n}", digest=str(n)) for n in range(50)])
    damage(index.path)
    with pytest.raises(IndexLost, match="made anew"):
        use(index)
    index.put([document("/a", "walnut")])
    assert paths(index, "walnut") == ["/a"]


def test_a_place_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    index = KnowledgeIndex(tmp_path / "file" / "knowledge.db")
    with pytest.raises(StorageError, match=r"knowledge\.db"):
        index.put([document("/a", "x")])


def test_programs_that_write_at_once_lose_nothing(index: KnowledgeIndex) -> None:
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from echo_bot.storage.knowledge import *\n"
        "index = KnowledgeIndex(Path(sys.argv[1]))\n"
        "for n in range(20):\n"
        "    path = f'/{sys.argv[2]}/{n}'\n"
        "    index.put([IndexedFile(path, '1', (Passage(path, 1, 1, 'walnut'),))])\n"
        "    index.put([IndexedFile('/both', str(n), (Passage('/both', 1, 1, 'walnut'),))])\n"
    )
    programs = [
        subprocess.Popen([sys.executable, "-c", script, str(index.path), name], stderr=subprocess.PIPE)
        for name in ("a", "b", "c")
    ]
    for program in programs:
        _, complaint = program.communicate(timeout=60)
        assert program.returncode == 0, complaint.decode()
    state = index.state()
    assert (state.files, state.passages) == (61, 61)
