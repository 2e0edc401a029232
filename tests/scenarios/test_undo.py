"""/undo: each file of the last writing turn is put back whole, and only while it is as the bot left it."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from echo_bot.errors import StorageError
from echo_bot.events import SessionKey
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.cast import Cast
from echo_bot.testing.fake_channel import FakeChannel, FakeMessage
from echo_bot.testing.scripted_model import CallTool, Say, ScriptedModel
from echo_bot.testing.waiting import eventually

Config = dict[str, object]
Is = Callable[[FakeMessage], bool]
Says = Callable[[str], Is]

HERE = SessionKey("telegram:1")
NOTHING = "No file that this conversation wrote can be undone."

PATCH = """*** Begin Patch
*** Update File: changed.txt
@@
-before
+after
*** Add File: new/folder/added.txt
+added
*** Delete File: gone.txt
*** Update File: old.txt
*** Move to: moved.txt
@@
-here
+there
*** End Patch
"""


async def call(bot: RunningBot, tool: str, **arguments: str) -> None:
    """A direct call, and its end."""
    before = len(bot.channel.texts)
    words = " ".join(f"{name}={value!r}" for name, value in arguments.items())
    await bot.channel.say(f"/tool {tool} {words}")
    await eventually(lambda: len(bot.channel.texts) > before, "an answer")
    await eventually(lambda: bot.parts.queues.total() == (0, 0), "the end of the turn")


async def chat(bot: RunningBot, text: str, answer: Is) -> None:
    await bot.channel.say(text)
    await bot.channel.wait_for(answer)
    await eventually(lambda: bot.parts.queues.total() == (0, 0), "the end of the turn")


async def undo(bot: RunningBot, words: str = "", sender: str = "1") -> str:
    """Asked by somebody in their own chat."""
    return (await bot.channel.command(f"/undo {words}".strip(), sender_id=sender, chat_id=sender)).text


def tree(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


async def test_what_one_patch_did_to_several_files_is_undone_at_once(
    tmp_path: Path, local: Config, says: Says
) -> None:
    script = ScriptedModel([CallTool("patch", {"patch": PATCH}), Say("patched"), Say("I see")])
    async with running_bot(tmp_path, local, model=script.model) as bot:
        for name, text in (("changed", "before\n"), ("gone", "gone\n"), ("old", "here\n"), ("other", "x\n")):
            (bot.workspace / f"{name}.txt").write_text(text)
        (bot.workspace / "gone.txt").chmod(0o640)
        before = tree(bot.workspace)
        await chat(bot, "do it", says("patched"))
        patched = tree(bot.workspace)
        assert patched != before
        shown = await undo(bot, "show")
        assert ("would be removed" in shown, "would be created again" in shown) == (True, True)
        assert tree(bot.workspace) == patched
        answer = await undo(bot)
        assert tree(bot.workspace) == before
        assert not (bot.workspace / "new").exists()
        assert (bot.workspace / "gone.txt").stat().st_mode & 0o777 == 0o640
        for line in (
            "`changed.txt`: put back",
            "`new/folder/added.txt`: removed",
            "`gone.txt`: created again",
            "`moved.txt`: removed",
            "`old.txt`: created again",
        ):
            assert line in answer
        assert "also used" not in answer
        assert await undo(bot) == NOTHING
        await chat(bot, "and now?", says("I see"))
        assert "changed.txt put back" in str(script.seen[-1])
        assert [len(await bot.store.audit.of_kind(kind)) for kind in ("undo", "undone")] == [1, 1]


async def test_each_undo_goes_one_turn_further_back(tmp_path: Path, local: Config) -> None:
    async with running_bot(tmp_path, local) as bot:
        note = bot.workspace / "note.txt"
        note.write_text("one")
        for text in ("two", "three"):
            await call(bot, "write_file", path="note.txt", content=text)
        await call(bot, "read_file", path="note.txt")
        await call(bot, "write_file", path="note.txt", content="three")
        assert "put back" in await undo(bot)
        assert note.read_text() == "two"
        assert "put back" in await undo(bot)
        assert note.read_text() == "one"
        assert await undo(bot) == NOTHING


async def test_several_writes_to_one_file_are_one_step_back(
    tmp_path: Path, local: Config, says: Says
) -> None:
    script = ScriptedModel(
        [
            CallTool("write_file", {"path": "a.txt", "content": "one"}),
            CallTool("edit_file", {"path": "a.txt", "old_string": "one", "new_string": "two"}),
            Say("written"),
        ]
    )
    async with running_bot(tmp_path, local, model=script.model) as bot:
        await chat(bot, "write", says("written"))
        assert (bot.workspace / "a.txt").read_text() == "two"
        assert (await undo(bot)).count("a.txt") == 1
        assert tree(bot.workspace) == {}


async def test_a_file_that_was_changed_since_is_left_alone_and_named_and_the_others_go_back(
    tmp_path: Path, local: Config, says: Says
) -> None:
    calls = [CallTool("write_file", {"path": f"{name}.txt", "content": name}) for name in "abc"]
    script = ScriptedModel([*calls, Say("written")])
    async with running_bot(tmp_path, local, model=script.model) as bot:
        await chat(bot, "write", says("written"))
        (bot.workspace / "a.txt").write_text("mine")
        (bot.workspace / "b.txt").unlink()
        answer = await undo(bot)
        assert "`a.txt`: left alone, it was changed since" in answer
        assert "`b.txt`: already as it was" in answer
        assert "`c.txt`: removed" in answer
        assert tree(bot.workspace) == {"a.txt": "mine"}
        assert await undo(bot) == NOTHING


async def test_a_change_of_somebody_else_between_two_writes_is_not_lost(
    tmp_path: Path, local: Config, says: Says
) -> None:
    file = tmp_path / "workspace" / "a.txt"
    script = ScriptedModel(
        [
            CallTool("write_file", {"path": "a.txt", "content": "one"}),
            CallTool("exec", {"command": "echo mine > a.txt"}),
            CallTool("write_file", {"path": "a.txt", "content": "two"}),
            Say("written"),
        ]
    )
    config = local | {"permissions.approval.auto_approve": ["exec"]}
    async with running_bot(tmp_path, config, model=script.model) as bot:
        await chat(bot, "write", says("written"))
        answer = await undo(bot)
        assert "`a.txt`: left alone" in answer
        assert "also used `exec`: files that commands changed stay" in answer
        assert file.read_text() == "two"


@pytest.mark.parametrize("where", ["file", "folder"])
async def test_a_link_that_was_put_in_the_way_is_not_followed(
    tmp_path: Path, local: Config, where: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("written")
    async with running_bot(tmp_path, local) as bot:
        await call(bot, "write_file", path="folder/a.txt", content="written")
        folder = bot.workspace / "folder"
        (folder / "a.txt").unlink()
        if where == "file":
            (folder / "a.txt").symlink_to(outside / "a.txt")
        else:
            folder.rmdir()
            folder.symlink_to(outside)
        assert "left alone, a link stands on its way" in await undo(bot)
        assert (outside / "a.txt").read_text() == "written"


async def test_what_was_written_before_a_restart_is_undone_after_it(tmp_path: Path, local: Config) -> None:
    channel = FakeChannel("telegram")
    async with running_bot(tmp_path, local, channel=channel) as bot:
        (bot.workspace / "a.txt").write_text("before")
        await call(bot, "write_file", path="a.txt", content="after")
    async with running_bot(tmp_path, local, channel=channel) as bot:
        assert "put back" in await undo(bot)
        assert tree(bot.workspace) == {"a.txt": "before"}


async def test_another_conversation_sees_nothing_of_it(tmp_path: Path, local: Config) -> None:
    async with running_bot(tmp_path, local | {"channels.telegram.allow_from": ["1", "2"]}) as bot:
        await call(bot, "write_file", path="a.txt", content="after")
        for words in ("", "show"):
            assert await undo(bot, words, sender="2") == NOTHING
        assert "removed" in await undo(bot)


async def test_what_a_worker_wrote_belongs_to_the_conversation_that_started_it(
    tmp_path: Path, local: Config, says: Says
) -> None:
    cast = Cast(
        {
            "go": [CallTool("delegate_task", {"goal": "write it"}), Say("all done")],
            "write it": [CallTool("write_file", {"path": "a.txt", "content": "after"}), Say("written")],
        }
    )
    config = local | {"permissions.approval.mode": "off"}
    async with running_bot(tmp_path, config, model=cast.model) as bot:
        await chat(bot, "go", says("all done"))
        assert tree(bot.workspace) == {"a.txt": "after"}
        answer = await undo(bot)
        assert "`a.txt`: removed" in answer
        assert "also used `delegate_task`" in answer
        assert tree(bot.workspace) == {}


async def test_the_path_policy_of_whoever_asks_holds(tmp_path: Path, local: Config) -> None:
    """Somebody admitted by "*" is kept to the workspace, and sensitive names need an admin."""
    elsewhere = tmp_path / "elsewhere.txt"
    elsewhere.write_text("before")
    config = local | {
        "channels.telegram.allow_from": ["1", "*"],
        "session.group_scope": "shared",
        "permissions.approval.auto_approve": ["write_file"],
    }
    async with running_bot(tmp_path, config) as bot:
        for path in (str(elsewhere), "a.txt", ".env"):
            await bot.channel.say(
                f"/tool write_file path={path} content=after", chat_id="-7", is_group=True, mentioned=True
            )
        await eventually(
            lambda: len(bot.channel.texts) == 3 and bot.parts.queues.total() == (0, 0), "the writes"
        )
        ask = partial(bot.channel.command, "/undo", sender_id="9", chat_id="-7", is_group=True)
        answers = [(await ask()).text for _ in range(3)]
        assert "`.env`: left alone" in answers[0]
        assert "`a.txt`: removed" in answers[1]
        assert "left alone" in answers[2]
        assert elsewhere.read_text() == "after"
        assert tree(bot.workspace) == {".env": "after"}


async def test_an_admin_may_undo_a_write_to_a_sensitive_name(tmp_path: Path, local: Config) -> None:
    config = local | {"permissions.approval.auto_approve": ["write_file"]}
    async with running_bot(tmp_path, config) as bot:
        await call(bot, "write_file", path=".env", content="after")
        assert "`.env`: removed" in await undo(bot)


async def test_nothing_is_undone_while_a_turn_runs(tmp_path: Path, local: Config, is_open: Is) -> None:
    async with running_bot(tmp_path, local) as bot:
        await call(bot, "write_file", path="a.txt", content="after")
        await bot.channel.say("/run echo hi")
        await bot.channel.wait_for(is_open)
        assert "A turn is running here" in await undo(bot)
        assert tree(bot.workspace) == {"a.txt": "after"}
        assert "Write `/undo`" in await undo(bot, "everything")


async def test_a_redelivered_undo_undoes_one_turn(tmp_path: Path, local: Config) -> None:
    async with running_bot(tmp_path, local) as bot:
        for name in ("a", "b"):
            await call(bot, "write_file", path=f"{name}.txt", content=name)
        assert "removed" in (await bot.channel.command("/undo", event_id="once")).text
        assert (await bot.channel.command("/undo", event_id="once")).repeated
        assert tree(bot.workspace) == {"a.txt": "a"}


async def test_nothing_is_written_when_its_earlier_content_cannot_be_kept(
    tmp_path: Path, local: Config, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        (bot.workspace / "a.txt").write_text("before")
        (tmp_path / "state" / "checkpoints").write_text("a file where the folder belongs")
        await call(bot, "write_file", path="a.txt", content="after")
        assert "nothing was written" in bot.channel.texts[-1]
        assert tree(bot.workspace) == {"a.txt": "before"}
        await call(bot, "write_file", path="b.txt", content="new")
        assert "removed" in await undo(bot)


@pytest.mark.parametrize("area", ["audit", "checkpoints"])
async def test_a_database_that_refuses_is_said(
    tmp_path: Path, local: Config, monkeypatch: pytest.MonkeyPatch, area: str
) -> None:
    """Before the first file nothing is done; after the last one it is told what was done."""

    async def refuse(*_: object) -> None:
        raise StorageError("the disk is full")

    async with running_bot(tmp_path, local) as bot:
        await call(bot, "write_file", path="a.txt", content="after")
        with monkeypatch.context() as broken:
            broken.setattr(getattr(bot.store, area), "append" if area == "audit" else "drop", refuse)
            answer = await undo(bot)
        if area == "audit":
            assert "/undo did not work" in answer
            assert tree(bot.workspace) == {"a.txt": "after"}
        else:
            assert ("`a.txt`: removed" in answer, "took no note" in answer) == (True, True)
            assert tree(bot.workspace) == {}
            assert "already as it was" in await undo(bot)
            assert await undo(bot) == NOTHING


async def test_a_checkpoint_whose_write_never_came_undoes_nothing(
    tmp_path: Path, local: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a crash between the two; a later change of somebody else's is not touched."""

    def crash(*_: object) -> None:
        raise OSError("killed")

    async with running_bot(tmp_path, local) as bot:
        (bot.workspace / "a.txt").write_text("before")
        with monkeypatch.context() as killed:
            killed.setattr("echo_bot.tools.builtin.changes.carry_out", crash)
            await call(bot, "write_file", path="a.txt", content="after")
        assert len(await bot.store.checkpoints.last(HERE)) == 1
        assert "already as it was" in await undo(bot)
        with monkeypatch.context() as killed:
            killed.setattr("echo_bot.tools.builtin.changes.carry_out", crash)
            await call(bot, "write_file", path="a.txt", content="after")
        (bot.workspace / "a.txt").write_text("mine")
        assert "left alone" in await undo(bot)
        assert tree(bot.workspace) == {"a.txt": "mine"}


async def test_a_refused_write_leaves_no_checkpoint(tmp_path: Path, local: Config) -> None:
    async with running_bot(tmp_path, local) as bot:
        file = bot.workspace / "a.txt"
        file.write_text("before")
        os.link(file, bot.workspace / "b.txt")
        await call(bot, "write_file", path="a.txt", content="after")
        assert "hard links" in bot.channel.texts[-1]
        assert await undo(bot) == NOTHING


async def test_a_file_too_large_to_keep_is_written_and_the_result_says_so(
    tmp_path: Path, local: Config
) -> None:
    async with running_bot(tmp_path, local | {"checkpoints.max_file_mb": 1}) as bot:
        (bot.workspace / "big.txt").write_text("x" * (1024 * 1024 + 1))
        await call(bot, "write_file", path="big.txt", content="small")
        assert "/undo cannot take this back" in bot.channel.texts[-1]
        assert tree(bot.workspace) == {"big.txt": "small"}
        assert await undo(bot) == NOTHING


async def test_without_checkpoints_nothing_is_kept(tmp_path: Path, local: Config) -> None:
    async with running_bot(tmp_path, local | {"checkpoints.enabled": False}) as bot:
        await call(bot, "write_file", path="a.txt", content="after")
        assert await undo(bot) == NOTHING
        assert not (tmp_path / "state" / "checkpoints").exists()


async def test_what_is_kept_is_private_and_no_file_tool_reads_it(tmp_path: Path, local: Config) -> None:
    async with running_bot(tmp_path, local) as bot:
        (bot.workspace / "a.txt").write_text("before")
        await call(bot, "write_file", path="a.txt", content="after")
        [kept] = [path for path in (tmp_path / "state" / "checkpoints").rglob("*") if path.is_file()]
        assert (kept.read_text(), kept.stat().st_mode & 0o777) == ("before", 0o600)
        for tool in ("read_file", "list_dir"):
            await call(bot, tool, path=str(kept if tool == "read_file" else kept.parent))
            assert "bot" in bot.channel.texts[-1]
            assert "before" not in bot.channel.texts[-1]
        kept.write_text("forged")
        assert "its earlier content is not kept any more" in await undo(bot)
        assert tree(bot.workspace) == {"a.txt": "after"}
