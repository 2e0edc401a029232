"""Names of received files: whatever a sender writes, one harmless component comes of it."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_bot.agent.received.names import candidates, clean_mime, clean_name, session_folder
from echo_bot.agent.received.storing import Storing
from echo_bot.events import BlockType, ContentBlock, SessionKey
from echo_bot.files import FileRefusal
from echo_bot.policy.settings import PlaceSettings


def block(name: str, kind: BlockType = BlockType.FILE, mime: str = "") -> ContentBlock:
    return ContentBlock(kind, ref="f1", name=name, mime=mime)


@pytest.mark.parametrize(
    ("given_name", "cleaned"),
    [
        ("report.pdf", "report.pdf"),
        ("Bericht März.pdf", "Bericht März.pdf"),
        ("../../etc/passwd", "_.._etc_passwd"),
        ("/etc/passwd", "_etc_passwd"),
        ("..\\..\\boot.ini", "_.._boot.ini"),
        (".env", "env"),
        (".git", "git"),
        ("..", "file"),
        ("", "file"),
        ("\u200b.env", "env"),
        ("a\nb\x00c.txt", "abc.txt"),
        ("invoice\u202efdp.exe", "invoicefdp.exe"),
        ("-rf", "rf"),
        ("~root", "root"),
        ("con.txt", "_con.txt"),
        ("NUL", "_NUL"),
        ("name. ", "name"),
        ("a  b\t.txt", "a b.txt"),
    ],
)
def test_a_name_loses_what_could_do_harm(given_name: str, cleaned: str) -> None:
    assert clean_name(block(given_name)) == cleaned


def test_a_nameless_photo_is_named_after_what_it_is() -> None:
    assert clean_name(block("", BlockType.IMAGE, "image/png")) == "image.png"


def test_a_long_name_keeps_its_ending() -> None:
    name = clean_name(block("ä" * 300 + ".tar"))
    assert name.endswith(".tar")
    assert len(name.encode()) <= 150


@given(st.text(max_size=400))
def test_any_name_becomes_one_visible_component(name: str) -> None:
    cleaned = clean_name(block(name))
    assert cleaned
    assert cleaned not in (".", "..")
    assert not set(cleaned) & set('/\\:*?"<>|')
    assert cleaned[0] not in ".-~ "
    assert len(cleaned.encode()) <= 151
    assert all(unicodedata.category(char)[0] != "C" for char in cleaned)
    assert clean_name(block(cleaned)) == cleaned


@given(st.text(), st.text())
def test_two_sessions_never_share_a_folder(one: str, other: str) -> None:
    folders = {session_folder(SessionKey(one)), session_folder(SessionKey(other))}
    assert len(folders) == (1 if one == other else 2)
    assert all("/" not in folder and not folder.startswith(".") for folder in folders)


def test_a_type_that_is_none_is_dropped() -> None:
    assert clean_mime("Text/Plain") == "text/plain"
    assert clean_mime("text/plain]\n[system") == ""


def test_numbers_stand_before_the_ending() -> None:
    names = candidates("a.tar.gz")
    assert [next(names) for _ in range(3)] == ["a.tar.gz", "a.tar-2.gz", "a.tar-3.gz"]
    assert list(candidates("plain"))[1] == "plain-2"


@pytest.mark.parametrize("name", ["id_rsa", "authorized_keys", "credentials.json", "Makefile", "conftest.py"])
def test_whatever_the_name_the_file_is_stored_as_one_that_nobody_has_to_be_asked_about(
    tmp_path: Path, name: str
) -> None:
    storing = Storing(PlaceSettings(workspace=str(tmp_path)))
    paths = [storing.store(SessionKey("telegram:1"), name, data) for data in (b"one", b"two")]
    assert not any(isinstance(path, FileRefusal) for path in paths)
    assert [(tmp_path / str(path)).read_bytes() for path in paths] == [b"one", b"two"]


def test_a_file_that_is_there_is_never_replaced(tmp_path: Path) -> None:
    storing = Storing(PlaceSettings(workspace=str(tmp_path)))
    folder = tmp_path / "incoming" / session_folder(SessionKey("telegram:1"))
    folder.mkdir(parents=True)
    (folder / "a.txt").write_text("mine")
    (folder / "a-2.txt").symlink_to(tmp_path / "nowhere")
    stored = storing.store(SessionKey("telegram:1"), "a.txt", b"theirs")
    assert stored == f"incoming/{folder.name}/a-3.txt"
    assert (folder / "a.txt").read_text() == "mine"
    assert not (tmp_path / "nowhere").exists()
    assert sorted(path.name for path in folder.iterdir()) == ["a-2.txt", "a-3.txt", "a.txt"]
