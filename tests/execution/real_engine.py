"""A real container engine for the tests: Podman's own service with storage of its own, and a small image."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from echo_bot.execution.container import Known
from tests.execution.service import Service

IMAGE = "localhost/echo-bot-test:1"
_PROGRAMS = (
    *("bash", "sh", "cat", "chmod", "env", "grep", "head", "id", "ln", "ls", "mkdir", "mv", "printf", "rm"),
    *("seq", "setsid", "sleep", "stat", "tail", "touch", "tr", "true", "wc", "yes"),
)
_RUNTIMES = ("runc", "crun")


@dataclass(slots=True)
class RealEngine:
    """`known` is what an executor found out about it. `stop` leaves its containers running."""

    folder: Path
    environment: dict[str, str]
    known: Known | None = None
    _service: Service | None = None

    @property
    def socket(self) -> str:
        return str(self.folder / "engine.sock")

    def podman(self, *words: str) -> str:
        done = subprocess.run(
            ("podman", *words),
            env=self.environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        return done.stdout.strip()

    def start(self) -> None:
        words = ("podman", "system", "service", "--time", "0", f"unix://{self.socket}")
        self._service = Service.start(words, self.folder, self.environment, self._answers)

    def stop(self) -> None:
        if self._service is not None:
            self._service.stop()
            self._service = None

    def _answers(self) -> bool:
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(self.socket) == 0


def has_engine() -> bool:
    return shutil.which("podman") is not None and any(map(shutil.which, _RUNTIMES))


@contextlib.contextmanager
def real_engine() -> Iterator[RealEngine]:
    # A short path: that of a socket may have no more than a hundred characters.
    with tempfile.TemporaryDirectory(prefix="engine-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        engine = RealEngine(folder, _environment(folder))
        archive = folder / "image.tar"
        _pack(archive)
        engine.podman("import", str(archive), IMAGE)
        engine.start()
        try:
            yield engine
        finally:
            engine.stop()
            with contextlib.suppress(subprocess.CalledProcessError):
                engine.podman("rm", "--all", "--force")
            with contextlib.suppress(subprocess.CalledProcessError):
                engine.podman("image", "rm", "--all", "--force")


def _environment(folder: Path) -> dict[str, str]:
    runtime = next(name for name in _RUNTIMES if shutil.which(name))
    (folder / "storage.conf").write_text(
        f'[storage]\ndriver = "overlay"\ngraphroot = "{folder}/storage"\nrunroot = "{folder}/run"\n'
    )
    (folder / "containers.conf").write_text(
        f'[engine]\nruntime = "{runtime}"\ncgroup_manager = "cgroupfs"\nevents_logger = "none"\n'
        f'exit_command_delay = 1\ntmp_dir = "{folder}/tmp"\n'
    )
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "XDG_RUNTIME_DIR": str(folder),
        "CONTAINERS_STORAGE_CONF": str(folder / "storage.conf"),
        "CONTAINERS_CONF": str(folder / "containers.conf"),
    }


def _pack(archive: Path) -> None:
    """This machine's own programs with the libraries they need."""
    paths: dict[str, str] = {}
    for name in _PROGRAMS:
        program = shutil.which(name, path="/usr/bin:/bin")
        assert program is not None, f"{name} is not installed"
        paths[f"bin/{name}"] = program
        said = subprocess.run(("ldd", program), capture_output=True, text=True, check=False).stdout
        for word in said.split():
            if word.startswith("/"):
                paths[word.lstrip("/")] = word
    with tarfile.open(archive, "w") as tar:
        for inside, outside in paths.items():
            tar.add(os.path.realpath(outside), inside)
        for folder in ("tmp", "etc", "proc", "sys", "dev", "run", "usr"):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o1777 if folder == "tmp" else 0o755
            tar.addfile(entry)
