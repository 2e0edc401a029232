"""A real OpenSSH server on loopback for the tests, with a configuration, keys and a port of its own."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from echo_bot.execution.remote import RemoteHost
from tests.execution.service import Service

_SERVER = "/usr/sbin/sshd"


@dataclass(slots=True)
class RealServer:
    """`stop` ends it with every connection, `start` starts it again on the same port."""

    folder: Path
    port: int
    _service: Service | None = None

    @property
    def remote(self) -> RemoteHost:
        user = pwd.getpwuid(os.getuid()).pw_name
        return RemoteHost(
            f"127.0.0.1:{self.port}", user, str(self.folder / "key"), str(self.folder / "known_hosts")
        )

    def start(self) -> None:
        words = (_SERVER, "-D", "-E", str(self.folder / "log"), "-f", str(self.folder / "config"))
        self._service = Service.start(words, self.folder, {"PATH": os.environ["PATH"]}, self._answers)

    def stop(self) -> None:
        """Its children, one for each connection, go with it; what they started is the product's to end."""
        if self._service is not None:
            self._service.stop(with_children=True)
            self._service = None

    def _answers(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0


def has_server() -> bool:
    return os.path.exists(_SERVER)


@contextlib.contextmanager
def real_server() -> Iterator[RealServer]:
    if os.getuid() == 0:
        os.makedirs("/run/sshd", exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="sshd-") as name:
        server = RealServer(Path(name), _free_port())
        for key in ("key", "host_key", "other_key"):
            _make_key(server.folder / key)
        shutil.copy(server.folder / "key.pub", server.folder / "authorized_keys")
        host_key = " ".join((server.folder / "host_key.pub").read_text().split()[:2])
        (server.folder / "known_hosts").write_text(f"[127.0.0.1]:{server.port} {host_key}\n")
        (server.folder / "config").write_text(
            f"Port {server.port}\nListenAddress 127.0.0.1\nHostKey {name}/host_key\nPidFile none\n"
            f"AuthorizedKeysFile {name}/authorized_keys\nStrictModes no\nUsePAM no\n"
            "PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n"
        )
        server.start()
        try:
            yield server
        finally:
            server.stop()


def _make_key(path: Path) -> None:
    subprocess.run(("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)), check=True)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
