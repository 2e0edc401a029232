"""Skills from an address and from a folder: the guard and the path policy say what is fetched and read."""

from __future__ import annotations

import asyncio
import io
import os
import tarfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from echo_bot.files import FileDoor, real_rules
from echo_bot.net.clients import GuardedClients
from echo_bot.policy.guards.network import NetworkRules, judge_address
from echo_bot.policy.guards.paths import PathRules
from echo_bot.skills.errors import SkillError
from echo_bot.skills.git import GitFetcher
from echo_bot.skills.sources import SkillSources, Source, skill_in

MakeFiles = Callable[..., dict[str, bytes]]
ALLOW = NetworkRules("allow")


class Names:
    async def resolve(self, host: str, port: int) -> tuple[str, ...]:
        return ("10.0.0.7",) if host.startswith("inner") else ("127.0.0.1",)


def loopback_is_public(address: str) -> str | None:
    return None if address == "127.0.0.1" else judge_address(address)


def sources(workspace: Path, rules: NetworkRules = ALLOW) -> SkillSources:
    clients = GuardedClients(rules, resolver=Names(), rule=loopback_is_public)
    return SkillSources(clients, GitFetcher(rules, os.environ["PATH"]), str(workspace))


def door(workspace: Path, **rules: object) -> FileDoor:
    return FileDoor(real_rules(PathRules(str(workspace), **rules)))  # type: ignore[arg-type]


def packed(files: Mapping[str, bytes], folder: str = "repo-main/") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(folder + name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


@asynccontextmanager
async def serving(body: bytes, status: str = "200 OK", *headers: str) -> AsyncIterator[int]:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        lines = [f"HTTP/1.1 {status}", f"content-length: {len(body)}", "connection: close", *headers, "", ""]
        writer.write("\r\n".join(lines).encode() + body)
        writer.close()

    async with await asyncio.start_server(handle, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


async def test_an_archive_is_fetched_and_its_top_folder_taken_off(
    tmp_path: Path, files_of: MakeFiles
) -> None:
    files = files_of(scripts__a_py="print()")
    async with serving(packed(files)) as port:
        url = f"http://site.example:{port}/s.tar.gz"
        found, _ = await sources(tmp_path).fetch(Source("url", url), door(tmp_path))
    assert found == files


@pytest.mark.parametrize(
    ("location", "kind", "says"),
    [
        ("http://inner.example:{port}/x.zip", "denied", "inner.example is refused"),
        ("http://127.0.0.1.nip.example@10.0.0.1/x", "denied", ""),
        ("http://169.254.169.254/x.zip", "denied", "metadata|link-local|refused|address"),
        ("file:///etc/passwd", "denied", "only http and https"),
        ("http://user:pass@site.example:{port}/x.zip", "business", "password"),
        ("http://site.example:{port}/x.zip", "dependency", "status 404"),
        ("not an address", "denied", ""),
    ],
)
async def test_an_address_that_leads_elsewhere_is_refused(
    location: str, kind: str, says: str, tmp_path: Path
) -> None:
    async with serving(b"", "404 Not Found") as port:
        with pytest.raises(SkillError, match=f"(?i){says}") as caught:
            await sources(tmp_path).fetch(Source("url", location.format(port=port)), door(tmp_path))
    assert caught.value.kind in (kind, "business" if "@10" in location else kind)


async def test_a_redirect_into_the_network_is_refused(tmp_path: Path) -> None:
    async with serving(b"", "302 Found", "location: http://inner.example/x.zip") as port:
        with pytest.raises(SkillError, match=r"inner\.example is refused"):
            await sources(tmp_path).fetch(Source("url", f"http://a.example:{port}/"), door(tmp_path))


async def test_without_network_nothing_is_fetched(tmp_path: Path) -> None:
    for kind in ("url", "git"):
        with pytest.raises(SkillError, match="network_policy"):
            await sources(tmp_path, NetworkRules("deny")).fetch(
                Source(kind, "https://a.example/x"), door(tmp_path)
            )


def place(folder: Path, files: Mapping[str, bytes]) -> Path:
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return folder


async def test_a_folder_is_read_as_it_is(tmp_path: Path, files_of: MakeFiles) -> None:
    files = files_of(scripts__a_py="print()")
    place(tmp_path / "it", {**files, ".git/config": b"x", ".gitignore": b"scripts"})
    found, _ = await sources(tmp_path).fetch(Source("local", "it"), door(tmp_path))
    assert found == files


def a_link(folder: Path) -> None:
    (folder / "data").symlink_to("/etc/passwd")


def a_link_to_a_folder(folder: Path) -> None:
    (folder / "data").symlink_to("/etc")


def a_pipe(folder: Path) -> None:
    os.mkfifo(folder / "data")


def hidden_settings(folder: Path) -> None:
    (folder / ".envrc").write_text("x")


def a_huge_file(folder: Path) -> None:
    with (folder / "data.md").open("wb") as file:
        file.truncate(1 << 33)


@pytest.mark.parametrize("spoil", [a_link, a_link_to_a_folder, a_pipe, hidden_settings, a_huge_file])
async def test_a_folder_with_what_must_not_be_taken_is_refused_whole(
    spoil: Callable[[Path], None], tmp_path: Path, files_of: MakeFiles
) -> None:
    spoil(place(tmp_path / "it", files_of()))
    with pytest.raises(SkillError):
        await sources(tmp_path).fetch(Source("local", "it"), door(tmp_path))


@pytest.mark.parametrize("location", ["state", "state/deeper", "../outside", "/proc/self", "none", "link"])
async def test_the_path_policy_says_which_folder(location: str, tmp_path: Path, files_of: MakeFiles) -> None:
    workspace = tmp_path / "workspace"
    place(workspace / "state" / "deeper", files_of())
    place(tmp_path / "outside", files_of())
    (workspace / "link").symlink_to(tmp_path / "outside")
    rules = door(workspace, restrict_to_workspace=True, protected=(str(workspace / "state"),))
    with pytest.raises(SkillError):
        await sources(workspace).fetch(Source("local", location), rules)


def test_of_several_skills_one_must_be_named() -> None:
    files = {"README.md": b"", "skills/a/SKILL.md": b"a", "skills/b/SKILL.md": b"b", "skills/b/x.md": b"x"}
    with pytest.raises(SkillError, match=r"say with path which skill.*skills/a, skills/b"):
        skill_in(files, "")
    assert skill_in(files, "skills/b/") == {"SKILL.md": b"b", "x.md": b"x"}
    for path in ("skills", "../b", "skills/c"):
        with pytest.raises(SkillError, match=r"no SKILL\.md in"):
            skill_in(files, path)


def test_the_only_skill_needs_no_name() -> None:
    assert skill_in({"top/README.md": b"", "top/s/SKILL.md": b"a"}, "") == {"SKILL.md": b"a"}
    with pytest.raises(SkillError, match="holds no skill"):
        skill_in({"top/README.md": b""}, "")
