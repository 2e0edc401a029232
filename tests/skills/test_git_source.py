"""Skills from git: the real git program and a real server with TLS on loopback, behind the guarded tunnel."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from echo_bot.policy.guards.network import NetworkRules, judge_address
from echo_bot.skills.errors import SkillError
from echo_bot.skills.git import GitFetcher
from echo_bot.testing.waiting import eventually

MakeFiles = Callable[..., dict[str, bytes]]
PATH = os.environ["PATH"]

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


class Names:
    async def resolve(self, host: str, port: int) -> tuple[str, ...]:
        return ("10.0.0.7",) if host.startswith("inner") else ("127.0.0.1",)


def loopback_is_public(address: str) -> str | None:
    return None if address == "127.0.0.1" else judge_address(address)


class Certificate(NamedTuple):
    file: Path
    context: ssl.SSLContext


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "git.example")])
    names = [x509.DNSName("git.example"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path_factory.mktemp("tls") / "certificate.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(private + signed.public_bytes(serialization.Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return Certificate(file, context)


class GitServer:
    """`git http-backend` behind TLS: one process a request, as a web server would run it."""

    def __init__(self, root: Path) -> None:
        self.root, self.port, self.requests = root, 0, 0
        self.redirect = ""

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            self.requests += 1
            line, *rest = head.split("\r\n")
            headers = {n.lower(): v.strip() for n, _, v in (each.partition(":") for each in rest)}
            method, target, _ = line.split(" ")
            if self.redirect:
                writer.write(f"HTTP/1.1 302 Found\r\nLocation: {self.redirect}{target}\r\n".encode())
                writer.write(b"Content-Length: 0\r\nConnection: close\r\n\r\n")
                return
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            writer.write(await self.backend(method, target, headers, body))
        except (asyncio.IncompleteReadError, ConnectionError, ValueError):
            return
        finally:
            writer.close()

    async def backend(self, method: str, target: str, headers: dict[str, str], body: bytes) -> bytes:
        path, _, query = target.partition("?")
        process = await asyncio.create_subprocess_exec(
            "git",
            "http-backend",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={
                "PATH": PATH,
                "GIT_PROJECT_ROOT": str(self.root),
                "GIT_HTTP_EXPORT_ALL": "1",
                "REQUEST_METHOD": method,
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "CONTENT_TYPE": headers.get("content-type", ""),
                "HTTP_CONTENT_ENCODING": headers.get("content-encoding", ""),
                "GIT_PROTOCOL": headers.get("git-protocol", ""),
                "GIT_CONFIG_NOSYSTEM": "1",
            },
        )
        said, _ = await process.communicate(body)
        head, _, content = said.partition(b"\r\n\r\n")
        lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"status:")]
        status = next((line[8:] for line in head.split(b"\r\n") if line.startswith(b"Status: ")), b"200 OK")
        length = f"Content-Length: {len(content)}".encode()
        return b"\r\n".join([b"HTTP/1.1 " + status, *lines, length, b"Connection: close", b"", content])


@pytest.fixture
async def server(tmp_path: Path, certificate: Certificate) -> AsyncIterator[GitServer]:
    server = GitServer(tmp_path / "served")
    async with await asyncio.start_server(server.handle, "127.0.0.1", 0, ssl=certificate.context) as running:
        server.port = running.sockets[0].getsockname()[1]
        yield server


@pytest.fixture
def fetcher(certificate: Certificate) -> GitFetcher:
    return GitFetcher(NetworkRules("allow"), PATH, Names(), loopback_is_public, str(certificate.file))


def git(folder: Path, *words: str) -> str:
    settings = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main")
    done = subprocess.run(["git", *settings, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def repository(server: GitServer, files_of: MakeFiles) -> Path:
    """A repository with a skill, a tag `v1`, and a later commit."""
    folder = server.root / "skill"
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet")
    for path, data in files_of(scripts__a_py="print('one')").items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_bytes(data)
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "one")
    git(folder, "tag", "v1")
    (folder / "scripts" / "a.py").write_text("print('two')")
    git(folder, "commit", "--quiet", "-am", "two")
    return folder


async def test_the_default_branch_is_fetched_over_the_tunnel(
    server: GitServer, repository: Path, fetcher: GitFetcher
) -> None:
    bundle, commit = await fetcher.fetch(f"https://git.example:{server.port}/skill/.git", "")
    assert bundle.files["scripts/a.py"] == b"print('two')"
    assert commit == git(repository, "rev-parse", "HEAD")
    assert server.requests > 0


async def test_a_tag_is_fetched(server: GitServer, repository: Path, fetcher: GitFetcher) -> None:
    bundle, commit = await fetcher.fetch(f"https://git.example:{server.port}/skill/.git", "v1")
    assert bundle.files["scripts/a.py"] == b"print('one')"
    assert commit == git(repository, "rev-parse", "v1")


@pytest.mark.parametrize(
    ("location", "kind"),
    [
        ("https://inner.example:{port}/skill/.git", "denied"),
        ("https://127.0.0.1:{port}/skill/.git", "denied"),
        ("https://[::1]:{port}/skill/.git", "denied"),
        ("http://git.example:{port}/skill/.git", "business"),
        ("ssh://git.example/skill", "business"),
        ("git@git.example:skill", "business"),
        ("file:///etc", "business"),
        ("ext::sh -c touch% x", "business"),
        ("--upload-pack=touch x", "business"),
    ],
)
async def test_other_places_and_ways_are_refused_without_a_request(
    location: str, kind: str, server: GitServer, repository: Path, fetcher: GitFetcher
) -> None:
    strict = replace(fetcher, rule=judge_address) if "127.0.0.1" in location else fetcher
    with pytest.raises(SkillError) as caught:
        await strict.fetch(location.format(port=server.port), "")
    assert (caught.value.kind, server.requests) == (kind, 0)


async def test_a_redirect_into_the_network_is_refused(
    server: GitServer, repository: Path, fetcher: GitFetcher
) -> None:
    server.redirect = f"https://inner.example:{server.port}"
    with pytest.raises(SkillError, match=r"inner\.example is refused") as caught:
        await fetcher.fetch(f"https://git.example:{server.port}/skill/.git", "")
    assert caught.value.kind == "denied"


@pytest.mark.parametrize("ref", ["--upload-pack=x", "-f", "a..b", "a b", "HEAD@{1}", "a:b", "+main", "a\nb"])
async def test_a_ref_that_is_none_is_refused(ref: str, fetcher: GitFetcher) -> None:
    with pytest.raises(SkillError, match="not the name of a branch"):
        await fetcher.fetch("https://git.example/skill", ref)


async def test_what_is_not_there_is_said(server: GitServer, repository: Path, fetcher: GitFetcher) -> None:
    with pytest.raises(SkillError, match="could not fetch nothing"):
        await fetcher.fetch(f"https://git.example:{server.port}/skill/.git", "nothing")
    with pytest.raises(SkillError, match="could not fetch HEAD"):
        await fetcher.fetch(f"https://git.example:{server.port}/other/.git", "")


async def test_an_unknown_certificate_is_refused(server: GitServer, fetcher: GitFetcher) -> None:
    with pytest.raises(SkillError, match="certificate"):
        await replace(fetcher, authorities="").fetch(f"https://git.example:{server.port}/skill/.git", "")


async def test_links_and_submodules_in_a_commit_are_refused(
    server: GitServer, repository: Path, fetcher: GitFetcher
) -> None:
    (repository / "data").symlink_to("/etc")
    git(repository, "add", "data")
    git(repository, "commit", "--quiet", "-m", "a link")
    with pytest.raises(SkillError, match="a link"):
        await fetcher.fetch(f"https://git.example:{server.port}/skill/.git", "")


async def test_hooks_and_filters_of_the_user_never_run(
    server: GitServer, repository: Path, fetcher: GitFetcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    git(home, "config", "--file", ".gitconfig", "filter.x.smudge", f"touch {tmp_path}/ran; cat")
    git(home, "config", "--file", ".gitconfig", "core.fsmonitor", f"touch {tmp_path}/ran")
    (repository / ".gitattributes").write_text("* filter=x\n")
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "-m", "attributes")
    monkeypatch.setenv("HOME", str(home))
    await fetcher.fetch(f"https://git.example:{server.port}/skill/.git", "")
    assert not (tmp_path / "ran").exists()


async def test_without_git_the_way_to_get_it_is_named(fetcher: GitFetcher, tmp_path: Path) -> None:
    with pytest.raises(SkillError, match="apt install git") as caught:
        await replace(fetcher, path=str(tmp_path)).fetch("https://git.example/skill", "")
    assert caught.value.kind == "dependency"


async def test_stopped_it_takes_git_along(
    server: GitServer, repository: Path, fetcher: GitFetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = asyncio.Event()

    async def silence(self: GitServer, *_: object) -> bytes:
        asked.set()
        await asyncio.Event().wait()
        return b""

    monkeypatch.setattr(GitServer, "backend", silence)
    fetching = asyncio.create_task(fetcher.fetch(f"https://git.example:{server.port}/skill/.git", ""))
    await asyncio.wait_for(asked.wait(), 10)
    assert git_processes()
    fetching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await fetching
    await eventually(lambda: not git_processes(), "git to be gone")


def git_processes() -> list[str]:
    """The command lines of children of this process, and theirs, that fetch."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            if b"GIT_CONFIG_KEY_0=protocol.allow" in entry.read_bytes():
                found.append((entry.parent / "cmdline").read_text())
        except OSError:
            continue
    return found
