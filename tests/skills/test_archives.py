"""Hostile archives: none of them writes, and each says why it is refused."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_bot.skills.archives import unpack
from echo_bot.skills.bundle import MAX_ENTRIES, MAX_FILE_BYTES, MAX_FILES
from echo_bot.skills.errors import SkillError


def tar_of(*members: tuple[str, bytes] | tarfile.TarInfo) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                archive.addfile(member, io.BytesIO(b"\0" * member.size))
            else:
                info = tarfile.TarInfo(member[0])
                info.size = len(member[1])
                archive.addfile(info, io.BytesIO(member[1]))
    return buffer.getvalue()


def special(name: str, kind: bytes, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


def zip_of(*members: tuple[str, bytes], mode: int = 0, compress: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compress) as archive:
        for name, data in members:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            info.compress_type = compress
            archive.writestr(info, data)
    return buffer.getvalue()


def declared(name: str, size: int) -> bytes:
    """A tar whose member says it is larger than what follows."""
    info = tarfile.TarInfo(name)
    info.size = size
    return info.tobuf(tarfile.USTAR_FORMAT) + b"\0" * 1024


def encrypted() -> bytes:
    data = bytearray(zip_of(("a.md", b"x")))
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


def many(count: int) -> Iterable[tuple[str, bytes]]:
    return ((f"f{number}.md", b"") for number in range(count))


GOOD = (("SKILL.md", b"hello"), ("scripts/a.py", b"print()"))


@pytest.mark.parametrize(
    "pack",
    [
        lambda: zip_of(*GOOD),
        lambda: zip_of(*GOOD, mode=stat.S_IFREG | 0o4755),
        lambda: tar_of(*GOOD),
        lambda: gzip.compress(tar_of(*GOOD)),
        lambda: bz2.compress(tar_of(*GOOD)),
        lambda: lzma.compress(tar_of(*GOOD)),
        lambda: tar_of(special("scripts", tarfile.DIRTYPE), *GOOD),
        lambda: tar_of(("./SKILL.md", b"hello"), ("./scripts/a.py", b"print()")),
        lambda: tar_of(*GOOD, (".gitignore", b"x"), (".github/x.yml", b"x")),
        lambda: zip_of(*GOOD, ("__MACOSX/._a", b"x"), ("scripts/.DS_Store", b"x")),
    ],
)
def test_ordinary_archives_give_their_files(pack: Callable[[], bytes]) -> None:
    assert unpack(pack()).files == dict(GOOD)


@pytest.mark.parametrize(
    ("pack", "says"),
    [
        pytest.param(lambda: tar_of(("../evil.md", b"x")), "leaves", id="tar: up"),
        pytest.param(lambda: zip_of(("../evil.md", b"x")), "leaves", id="zip: up"),
        pytest.param(lambda: tar_of(("a/../../evil.md", b"x")), "leaves", id="tar: up in the middle"),
        pytest.param(lambda: tar_of(("/etc/evil", b"x")), "absolute", id="tar: absolute"),
        pytest.param(lambda: zip_of(("/etc/evil", b"x")), "absolute", id="zip: absolute"),
        pytest.param(lambda: zip_of(("C:/evil", b"x")), "absolute", id="zip: drive"),
        pytest.param(lambda: zip_of(("..\\evil", b"x")), "backslash", id="zip: backslash"),
        pytest.param(lambda: tar_of(("a\u202eb", b"x")), "reorder", id="tar: text that reorders"),
        pytest.param(lambda: zip_of(("../x/", b"")), "leaves", id="zip: folder up"),
        pytest.param(lambda: tar_of(special("../x", tarfile.DIRTYPE)), "leaves", id="tar: folder up"),
        pytest.param(lambda: tar_of(special("a", tarfile.SYMTYPE, "/etc")), "a link", id="tar: symlink"),
        pytest.param(
            lambda: tar_of(special("a", tarfile.SYMTYPE, "/tmp"), ("a/b", b"x")), "a link", id="tar: through"
        ),
        pytest.param(
            lambda: tar_of(special("a", tarfile.LNKTYPE, "SKILL.md")), "a link", id="tar: hard link"
        ),
        pytest.param(lambda: tar_of(special("a", tarfile.CHRTYPE)), "a device", id="tar: device"),
        pytest.param(lambda: tar_of(special("a", tarfile.BLKTYPE)), "a device", id="tar: block device"),
        pytest.param(lambda: tar_of(special("a", tarfile.FIFOTYPE)), "special", id="tar: pipe"),
        pytest.param(lambda: zip_of(("a", b"/etc"), mode=stat.S_IFLNK | 0o777), "a link", id="zip: symlink"),
        pytest.param(lambda: zip_of(("a", b""), mode=stat.S_IFIFO | 0o777), "special", id="zip: pipe"),
        pytest.param(lambda: tar_of(("a.md", b"x"), ("A.md", b"y")), "twice", id="case collision"),
        pytest.param(lambda: zip_of(("é.md", b"x"), ("e\u0301.md", b"y")), "twice", id="unicode collision"),
        pytest.param(lambda: tar_of(("a.md", b"x"), ("a.md", b"y")), "twice", id="doubled"),
        pytest.param(lambda: tar_of(("a", b"x"), ("A/b", b"y")), "file and a folder", id="file and folder"),
        pytest.param(lambda: tar_of(("a/b", b"x"), ("A", b"y")), "twice", id="folder and file"),
        pytest.param(lambda: tar_of((".env", b"x")), "hidden", id="hidden settings"),
        pytest.param(lambda: zip_of((".vscode/tasks.json", b"x")), "hidden", id="editor tasks"),
        pytest.param(lambda: tar_of(("sitecustomize.py", b"x")), "on its own", id="start-up code"),
        pytest.param(lambda: tar_of(("scripts/x.pth", b"x")), "on its own", id="path file"),
        pytest.param(lambda: tar_of(("a.so", b"x")), "compiled", id="compiled"),
        pytest.param(lambda: tar_of(("a.md", bytes(MAX_FILE_BYTES + 1))), "too big", id="a big file"),
        pytest.param(lambda: declared("a.md", (1 << 33) - 1), "too big", id="declared huge"),
        pytest.param(
            lambda: tar_of(*((f"{n}.md", bytes(MAX_FILE_BYTES)) for n in range(4))),
            "too big",
            id="all too big",
        ),
        pytest.param(lambda: tar_of(*many(MAX_FILES + 1)), "more than", id="too many files"),
        pytest.param(
            lambda: tar_of(*((f".github/{n}", b"") for n in range(MAX_ENTRIES + 1))), "entries", id="entries"
        ),
        pytest.param(lambda: gzip.compress(bytes(9_000_000)), "far more", id="gzip bomb"),
        pytest.param(lambda: gzip.compress(bytes(64 << 20)), "far more", id="big gzip bomb"),
        pytest.param(lambda: bz2.compress(bytes(9_000_000)), "far more", id="bzip2 bomb"),
        pytest.param(lambda: lzma.compress(bytes(9_000_000)), "far more", id="xz bomb"),
        pytest.param(lambda: zip_of(("a.md", bytes(9_000_000))), "far more", id="zip bomb"),
        pytest.param(encrypted, "encrypted", id="encrypted"),
        pytest.param(lambda: gzip.compress(tar_of(*GOOD))[:-20], "ends too early", id="cut gzip"),
        pytest.param(lambda: zip_of(*GOOD)[:-10], "damaged", id="cut zip"),
        pytest.param(lambda: b"Rar!\x1a\x07\x00", "neither a zip nor a tar", id="another kind"),
        pytest.param(lambda: b"", "neither a zip nor a tar", id="nothing"),
        pytest.param(lambda: b"<html>not found</html>", "neither a zip nor a tar", id="a web page"),
    ],
)
def test_hostile_archives_are_refused(pack: Callable[[], bytes], says: str) -> None:
    with pytest.raises(SkillError, match=says):
        unpack(pack())


def test_a_zip_that_lies_about_a_size_is_no_way_around_the_limit() -> None:
    data = bytearray(zip_of(("a.md", bytes(9_000_000))))
    place = data.index(b"PK\x01\x02") + 24
    data[place : place + 4] = (10).to_bytes(4, "little")
    with pytest.raises(SkillError):
        unpack(bytes(data))


@given(
    st.binary(max_size=2000), st.sampled_from([b"", b"PK\x03\x04", b"\x1f\x8b\x08", b"BZh9", b"\xfd7zXZ\0"])
)
def test_no_bytes_crash_the_reader(data: bytes, magic: bytes) -> None:
    with pytest.raises(SkillError):
        unpack(magic + data)


@given(st.integers(0, 3000), st.integers(0, 255), st.booleans())
def test_a_changed_byte_gives_files_inside_or_a_refusal(place: int, value: int, zipped: bool) -> None:
    data = bytearray(zip_of(*GOOD) if zipped else tar_of(*GOOD))
    data[place % len(data)] = value
    try:
        files = unpack(bytes(data)).files
    except SkillError:
        return
    assert all(not path.startswith("/") and ".." not in path.split("/") for path in files)
