"""Zip and tar archives into a bundle. Nothing is written, and nothing but plain files is taken."""

from __future__ import annotations

import bz2
import io
import lzma
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from typing import Protocol

from echo_bot.skills.bundle import MAX_ENTRIES, MAX_TOTAL_BYTES, Bundle
from echo_bot.skills.errors import SkillError
from echo_bot.skills.paths import path_problem

MAX_RATIO = 200
_RATIO_COUNTS_FROM = 1024 * 1024
_TAR_OVERHEAD = 16 * 1024 * 1024
_XZ_MEMORY = 128 * 1024 * 1024


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


_COMPRESSIONS: tuple[tuple[bytes, Callable[[], _Decompressor]], ...] = (
    (b"\x1f\x8b", lambda: zlib.decompressobj(zlib.MAX_WBITS | 16)),
    (b"BZh", bz2.BZ2Decompressor),
    (b"\xfd7zXZ\x00", lambda: lzma.LZMADecompressor(memlimit=_XZ_MEMORY)),
)


def unpack(data: bytes) -> Bundle:
    """The files of an archive, whose kind its first bytes tell. Raises SkillError."""
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _unzip(data)
    for magic, make in _COMPRESSIONS:
        if data.startswith(magic):
            return _untar(_decompressed(data, make()))
    if data[257:262] == b"ustar":
        return _untar(data)
    raise SkillError("it is neither a zip nor a tar archive (plain, gzip, bzip2 or xz)")


def untar(data: bytes) -> Bundle:
    """The files of an uncompressed tar archive."""
    return _untar(data)


def _decompressed(data: bytes, stream: _Decompressor) -> bytes:
    most = MAX_TOTAL_BYTES + _TAR_OVERHEAD
    try:
        plain = stream.decompress(data, most + 1)
    except (zlib.error, OSError, EOFError, lzma.LZMAError) as error:
        raise SkillError(f"the archive is damaged: {error}") from None
    if len(plain) > most or _is_bomb(len(plain), len(data)):
        raise SkillError("the archive unpacks to far more than a skill may have", "denied")
    if not stream.eof:
        raise SkillError("the archive is damaged: it ends too early")
    return plain


def _is_bomb(unpacked: int, packed: int) -> bool:
    return unpacked > _RATIO_COUNTS_FROM and unpacked > MAX_RATIO * max(1, packed)


def _untar(data: bytes) -> Bundle:
    bundle = Bundle()
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for number, member in enumerate(archive):
                _check_count(number)
                _take_member(bundle, archive, member)
    except (tarfile.TarError, ValueError, OverflowError, EOFError, OSError) as error:
        raise SkillError(f"the archive is damaged: {error}") from None
    return bundle


def _take_member(bundle: Bundle, archive: tarfile.TarFile, member: tarfile.TarInfo) -> None:
    name = member.name.removeprefix("./")
    if member.isdir():
        if name not in ("", "."):
            _check_folder(name)
        return
    if not member.isreg() or member.issparse():
        raise _not_plain(name)
    if not bundle.admit(name):
        return
    bundle.left_bytes(name, member.size)
    file = archive.extractfile(member)
    content = b"" if file is None else file.read(member.size)
    if len(content) != member.size:
        raise SkillError("the archive is damaged: it ends too early")
    bundle.add(name, content)


def _unzip(data: bytes) -> Bundle:
    bundle = Bundle()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for number, member in enumerate(archive.infolist()):
                _check_count(number)
                _take_zipped(bundle, archive, member)
    except (zipfile.BadZipFile, NotImplementedError, zlib.error, lzma.LZMAError) as error:
        raise SkillError(f"the archive is damaged or of an unknown kind: {error}") from None
    except (ValueError, OverflowError, EOFError, OSError, UnicodeDecodeError) as error:
        raise SkillError(f"the archive is damaged: {error}") from None
    return bundle


def _take_zipped(bundle: Bundle, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    name = member.orig_filename.removeprefix("./")
    mode = member.external_attr >> 16
    if name.endswith("/"):
        _check_folder(name.rstrip("/"))
        return
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        raise _not_plain(name)
    if member.flag_bits & 0x1:
        raise SkillError(f"{name[:200]!r} is encrypted, which nobody can read", "denied")
    if not bundle.admit(name):
        return
    most = bundle.left_bytes(name, member.file_size)
    with archive.open(member) as file:
        content = file.read(most + 1)
    if _is_bomb(len(content), member.compress_size):
        raise SkillError(f"{name!r} unpacks to far more than it holds", "denied")
    bundle.add(name, content)


def _check_count(number: int) -> None:
    if number >= MAX_ENTRIES:
        raise SkillError(f"the archive has more than {MAX_ENTRIES} entries", "denied")


def _check_folder(name: str) -> None:
    if problem := path_problem(name.rstrip("/")):
        raise SkillError(f"{name[:200]!r} {problem}", "denied")


def _not_plain(name: str) -> SkillError:
    return SkillError(
        f"{name[:200]!r} is a link, a device or another special file; only plain files are taken", "denied"
    )
