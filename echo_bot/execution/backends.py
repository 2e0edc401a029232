"""Which executor a call lands on, and the executors there are, by kind."""

from __future__ import annotations

from collections.abc import Sequence

from echo_bot.errors import StartError
from echo_bot.execution.protocol import CommandSpec, ExecutorBackend, RunningProcess
from echo_bot.policy.call import Executor

NOT_PROBED = "not probed yet; it is at the start of the bot"


def choose(host: str, sandbox_ready: bool) -> Executor:
    """Where `tools.exec.host` sends code. Raises ValueError for a host that is none."""
    if host == "auto":
        return Executor.SANDBOX if sandbox_ready else Executor.LOCAL
    executor = Executor(host)
    if executor is Executor.NONE:
        raise ValueError("code has to run somewhere: auto, sandbox, local, container or remote")
    return executor


class Executors:
    """The backends by kind, and what each said when it was asked whether it works."""

    def __init__(self, backends: Sequence[ExecutorBackend]) -> None:
        self._backends = {backend.kind: backend for backend in backends}
        self._readiness: dict[Executor, tuple[bool, str]] = {}

    async def probe(self) -> None:
        """Ask every backend; the answers are then at hand without waiting."""
        for kind, backend in self._backends.items():
            self._readiness[kind] = await backend.ready()

    def readiness(self, kind: Executor) -> tuple[bool, str]:
        """Ready or not, and a sentence."""
        if kind not in self._backends:
            return False, f"there is no {kind} executor in use; set tools.exec.host to {kind}"
        return self._readiness.get(kind, (False, NOT_PROBED))

    async def close(self) -> None:
        """Let go of connections; whatever is started afterwards makes new ones."""
        for backend in self._backends.values():
            await backend.close()

    def chosen(self, host: str) -> Executor:
        """Where `host` sends code on this machine, by the last probe."""
        return choose(host, self.readiness(Executor.SANDBOX)[0])

    def get(self, kind: Executor) -> ExecutorBackend:
        """Raises StartError for a kind that has no backend."""
        backend = self._backends.get(kind)
        if backend is None:
            raise StartError(self.readiness(kind)[1])
        return backend

    async def start(
        self, kind: Executor, spec: CommandSpec, *, keep_stdin_open: bool = False
    ) -> RunningProcess:
        """Raises StartError when there is no such executor or it cannot start the command."""
        return await self.get(kind).start(spec, keep_stdin_open=keep_stdin_open)
