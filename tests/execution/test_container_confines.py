"""What a command in a real container cannot do, how containers come and go, and what is said without them."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from echo_bot.bus.process import ProcessId, here
from echo_bot.errors import StartError
from echo_bot.execution.container import ContainerExecutor, usual_sockets
from echo_bot.execution.container_body import LABEL, NOBODY, Nature, User, body, user_for
from echo_bot.execution.container_run import Frames
from echo_bot.execution.engine import Engine
from echo_bot.execution.layout import Kind, Mount, SandboxLayout
from echo_bot.execution.protocol import Chunk, CommandSpec, Outcome
from tests.execution.real_engine import IMAGE, RealEngine, real_engine

Run = Callable[..., Awaitable[tuple[str, Outcome]]]


@pytest.mark.parametrize(
    ("command", "says"),
    [
        pytest.param("touch /made", "Read-only file system", id="write the system"),
        pytest.param("cat /etc/shadow", "No such file", id="read the host's system"),
        pytest.param("echo >/dev/tcp/1.1.1.1/80", "Network is unreachable", id="use the network"),
        pytest.param("cat /proc/1/environ", "", id="see the host's processes"),
        pytest.param("chmod 4755 x; ls -l x", "-rw", id="gain rights by a file"),
    ],
)
async def test_it_cannot(
    command: str, says: str, container: ContainerExecutor, run: Run, workspace: Path
) -> None:
    text, _ = await run(container, command)
    assert says in text if says != "-rw" else "-rws" not in text
    assert "TOKEN" not in text


async def test_it_is_nobody_without_any_capability(container: ContainerExecutor, run: Run) -> None:
    text, _ = await run(container, "id -u; grep -E 'CapEff|CapBnd|NoNewPrivs|Seccomp:' /proc/self/status")
    facts = dict(line.split() for line in text.splitlines()[1:])
    assert text.splitlines()[0] == str(NOBODY if os.getuid() == 0 else os.getuid())
    assert set(facts.items()) >= {("CapEff:", "0" * 16), ("CapBnd:", "0" * 16), ("NoNewPrivs:", "1")}


async def test_the_workspace_is_written_and_nothing_else_of_the_host_is_there(
    container: ContainerExecutor, run: Run, workspace: Path, home: Path
) -> None:
    (home / "diary").write_text("PRIVATE")
    text, _ = await run(container, f"echo made > made; cat {home}/diary; ls -A {home}")
    assert (workspace / "made").read_text() == "made\n"
    assert text == f"cat: {home}/diary: No such file or directory\nwork\n"


async def test_state_and_credentials_in_the_workspace_are_hidden(
    engine: RealEngine, workspace: Path, environment: dict[str, str], run: Run
) -> None:
    state = workspace / ".state"
    state.mkdir()
    (state / "db").write_text("SECRET")
    (workspace / ".npmrc").write_text("SECRET")
    _open_to_nobody(workspace)
    executor = ContainerExecutor(
        IMAGE, [engine.socket], SandboxLayout(str(workspace), hidden=(str(state),)), environment
    )
    try:
        text, _ = await run(executor, "cat .npmrc .state/db; ls -A .state; echo x > .npmrc; rm -r .state")
    finally:
        await executor.close()
    assert "SECRET" not in text
    assert (workspace / ".npmrc").read_text() == (state / "db").read_text() == "SECRET"


async def test_what_runs_outside_later_cannot_be_planted(
    container: ContainerExecutor, run: Run, workspace: Path
) -> None:
    git = workspace / ".git"
    (git / "hooks").mkdir(parents=True)
    for name in ("HEAD", "config"):
        (git / name).write_text("")
    (workspace / ".envrc").write_text("")
    _open_to_nobody(workspace)
    text, _ = await run(
        container,
        "echo x > .git/hooks/pre-commit; echo x > .git/config; mv .git .old; echo x > .envrc; "
        "touch .git/index; ls .git",
    )
    assert "index" in text, "a commit can still be made"
    assert not list((git / "hooks").iterdir())
    assert (git / "config").read_text() == (workspace / ".envrc").read_text() == ""


async def test_a_folder_exchanged_for_a_link_starts_nothing(
    container: ContainerExecutor, run: Run, workspace: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine opens paths itself, after they were judged: inside it is compared what they led to."""
    git = workspace / ".git"
    (git / "hooks").mkdir(parents=True)
    (git / "HEAD").write_text("")
    (home / "other").mkdir()
    await container.ready()
    look = container._identities

    def exchanged(plan: tuple[Mount, ...]) -> dict[str, str]:
        found = look(plan)
        git.rename(workspace / "old")
        git.symlink_to(home / "other")
        (home / "other" / "hooks").mkdir()
        return found

    monkeypatch.setattr(container, "_identities", exchanged)
    text, outcome = await run(container, "touch .git/ran")
    assert (text, outcome.exit_code) == ("the workspace changed; try again\n", 125)
    assert not (home / "other" / "ran").exists()


async def test_a_folder_outside_the_workspace_starts_nothing(
    container: ContainerExecutor, home: Path
) -> None:
    with pytest.raises(StartError, match="not in the container"):
        await container.start(CommandSpec(("true",), str(home), 20))


async def test_no_container_is_left_after_a_run(
    container: ContainerExecutor, run: Run, engine: RealEngine
) -> None:
    await run(container, "true")
    await run(container, "sleep 60", timeout=0.2)
    assert engine.podman("ps", "--all", "--quiet") == ""


async def test_the_containers_of_a_bot_that_is_gone_are_removed(
    engine: RealEngine, workspace: Path, environment: dict[str, str]
) -> None:
    def leave(owner: str) -> str:
        return engine.podman("create", "--network", "none", "--label", f"{LABEL}={owner}", IMAGE, "true")

    gone, earlier_boot = ProcessId(4_000_000, "1", here()), ProcessId(1, "1", f"{os.uname().nodename} 0 x")
    elsewhere = ProcessId(1, "1", "another-machine 0 x")
    for owner in (gone, earlier_boot, "nonsense"):
        leave(str(owner))
    kept = {leave(str(owner)) for owner in (elsewhere, ProcessId.current())}
    _open_to_nobody(workspace)
    executor = ContainerExecutor(IMAGE, [engine.socket], SandboxLayout(str(workspace)), environment)
    try:
        assert (await executor.ready())[0]
        assert set(engine.podman("ps", "--all", "--quiet", "--no-trunc").split()) == kept
    finally:
        await executor.close()
        engine.podman("rm", "--force", *kept)


async def test_an_engine_that_goes_away_loses_the_run_and_removes_it_when_it_is_back(
    workspace: Path, environment: dict[str, str], run: Run
) -> None:
    _open_to_nobody(workspace)
    with real_engine() as engine:
        executor = ContainerExecutor(IMAGE, [engine.socket], SandboxLayout(str(workspace)), environment)
        process = await executor.start(CommandSpec(("sleep", "60"), str(workspace), 60))
        engine.stop()
        assert (await process.wait()).killed_by == "lost"
        with pytest.raises(StartError, match="not reached"):
            await executor.start(CommandSpec(("true",), str(workspace), 20))
        engine.start()
        assert (await run(executor, "echo again"))[0] == "again\n"
        assert engine.podman("ps", "--all", "--quiet") == ""
        await executor.close()


@pytest.mark.parametrize(
    ("image", "sockets", "says"),
    [
        pytest.param("", [], "execution.container.image is empty", id="no image named"),
        pytest.param(
            "any", ["/no/such.sock"], "no container engine listens at /no/such.sock", id="no socket"
        ),
        pytest.param(
            "any", ["/dev/null"], "the container engine at /dev/null is not reached", id="no engine"
        ),
    ],
)
async def test_what_is_missing_is_said(
    image: str, sockets: list[str], says: str, workspace: Path, environment: dict[str, str]
) -> None:
    executor = ContainerExecutor(image, sockets, SandboxLayout(str(workspace)), environment)
    ready, why = await executor.ready()
    assert not ready
    assert says in why
    with pytest.raises(StartError):
        await executor.start(CommandSpec(("true",), str(workspace), 5))


async def test_an_image_is_never_fetched_unasked(
    engine: RealEngine, workspace: Path, environment: dict[str, str]
) -> None:
    executor = ContainerExecutor(
        "localhost/absent:1", [engine.socket], SandboxLayout(str(workspace)), environment
    )
    ready, why = await executor.ready()
    assert not ready
    assert "run: podman pull localhost/absent:1" in why


async def test_a_workspace_that_its_user_cannot_write_is_said(
    engine: RealEngine, workspace: Path, environment: dict[str, str]
) -> None:
    if os.getuid() != 0:
        workspace.chmod(0o500)
    executor = ContainerExecutor(IMAGE, [engine.socket], SandboxLayout(str(workspace)), environment)
    ready, why = await executor.ready()
    await executor.close()
    assert ready
    assert "cannot write the workspace" in why


@pytest.mark.parametrize(
    ("nature", "own", "owner", "user"),
    [
        (Nature(), (1000, 100), (1000, 100), User(1000, 100)),
        (Nature(), (1000, 100), (0, 0), User(1000, 100)),
        (Nature(), (0, 0), (1000, 100), User(1000, 100)),
        (Nature(), (0, 0), (0, 0), User(NOBODY, NOBODY)),
        (Nature(is_podman=True), (0, 0), (0, 0), User(NOBODY, NOBODY)),
        (Nature(is_podman=True, is_rootless=True), (1000, 100), (1000, 100), User(1000, 100, True)),
        (Nature(is_rootless=True), (1000, 100), (1000, 100), User(0, 0)),
    ],
)
def test_whom_commands_run_as(
    nature: Nature, own: tuple[int, int], owner: tuple[int, int], user: User
) -> None:
    assert user_for(nature, own, owner) == user


def test_what_the_engine_is_asked_for() -> None:
    made = body(
        "image",
        Nature(is_podman=True, is_rootless=True, has_selinux=True),
        User(1000, 100, True),
        CommandSpec(("true",), "/work/in", 5, network=True),
        workspace="/work",
        plan=[Mount("/tmp", Kind.PRIVATE), Mount("/work", Kind.WRITABLE), Mount("/work/ro", Kind.READ_ONLY)],
        identities={"/work/ro": "1:2"},
        env={"PATH": "/bin"},
        owner="me",
        has_input=False,
    )
    host = made["HostConfig"]
    assert [(mount["Target"], mount["ReadOnly"]) for mount in host["Mounts"]] == [
        ("/work", False),
        ("/work/ro", True),
    ]
    assert (host["UsernsMode"], host["SecurityOpt"]) == ("keep-id", ["no-new-privileges", "label=disable"])
    assert host["CapDrop"] == ["ALL"]
    assert "NetworkMode" not in host, "the network was allowed"
    assert made["Cmd"][:3] == ["/work/ro", "1:2", "--"]


@pytest.mark.parametrize("size", [1, 3, 8, 1000])
def test_frames_may_be_split_anywhere(size: int) -> None:
    wire = b"\x01\0\0\0\0\0\0\x05hello\x02\0\0\0\0\0\0\x00\x02\0\0\0\0\0\0\x03err"
    frames, said = Frames(), {"stdout": b"", "stderr": b""}
    for start in range(0, len(wire), size):
        for chunk in frames.feed(wire[start : start + size]):
            assert isinstance(chunk, Chunk)
            said[chunk.stream] += chunk.data
    assert said == {"stdout": b"hello", "stderr": b"err"}


def test_the_usual_sockets_are_those_of_the_user_first() -> None:
    assert usual_sockets({"XDG_RUNTIME_DIR": "/run/user/5"})[0] == "/run/user/5/podman/podman.sock"
    assert usual_sockets({}) == ("/var/run/docker.sock", "/run/podman/podman.sock")


async def test_an_engine_without_an_answer_is_an_error(tmp_path: Path) -> None:
    engine = Engine(str(tmp_path / "none.sock"))
    with pytest.raises(StartError, match="not reached"):
        await engine.version()
    await engine.close()


def _open_to_nobody(workspace: Path) -> None:
    """Root's commands in a container are nobody's."""
    if os.getuid() == 0:
        for path in (workspace, *workspace.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
