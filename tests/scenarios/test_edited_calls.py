"""Edit: a person changes the call; the changed one is judged from the beginning and runs at most once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from echo_bot.channel import Prompt
from echo_bot.events import CardState, PressReply
from echo_bot.storage.protocol import Store
from echo_bot.storage.records import ApprovalRecord, ApprovalStatus, GrantRecord
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.clock import MovedClock
from echo_bot.testing.fake_channel import FakeChannel, FakeMessage
from echo_bot.testing.scripted_model import CallTool, Say, ScriptedModel
from echo_bot.testing.waiting import eventually

Config = dict[str, object]
Is = Callable[[FakeMessage], bool]
Says = Callable[[str], Is]


async def pending(store: Store) -> ApprovalRecord:
    [record] = await store.approvals.pending()
    return record


def heard(script: ScriptedModel) -> str:
    """What the model was told last: a tool's result."""
    return str(getattr(script.seen[-1][-1].parts[-1], "content", ""))


async def edited_card(channel: FakeChannel) -> FakeMessage:
    """The open card of the changed call."""
    return await channel.wait_for(
        lambda m: m.card is not None and m.card.state is CardState.OPEN and "Edited by" in m.body,
        "the changed call's card",
    )


async def test_an_edited_call_asks_anew_with_a_card_of_its_own_and_runs_as_changed(
    tmp_path: Path, local: Config, is_open: Is, is_closed: Is, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/run touch wrong")
        await bot.channel.wait_for(is_open)
        first = await pending(bot.store)
        assert (await bot.channel.press("Edit", text="touch right")).ok
        card = await edited_card(bot.channel)
        second = await pending(bot.store)
        assert second.approval_id != first.approval_id
        assert second.digest != first.digest
        assert "touch right" in card.body
        assert "telegram:1" in card.body
        closed = await bot.channel.wait_for(is_closed)
        assert "Edited by telegram:1 at" in closed.body
        assert (closed.card and closed.card.state, closed.buttons) == (CardState.CLOSED, ())
        assert not (bot.workspace / "right").exists()
        await bot.channel.press("Approve once", message=card)
        reply = await bot.channel.wait_for(says("telegram:1 changed the arguments of this call"))
        assert 'exec {"command": "touch right"}' in reply.body
        assert (bot.workspace / "right").exists()
        assert not (bot.workspace / "wrong").exists()


async def test_an_edited_call_that_fails_says_its_exit_code_once(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/run true")
        await bot.channel.wait_for(is_open)
        await bot.channel.press("Edit", text="ls nowhere")
        await bot.channel.press("Approve once", message=await edited_card(bot.channel))
        reply = await bot.channel.wait_for(says("changed the arguments"))
        assert reply.body.count("exit code 2") == 1
        assert "nowhere" in reply.body.partition("exit code 2")[2]


async def test_the_model_learns_who_changed_its_call_and_into_what(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    script = ScriptedModel([CallTool("exec", {"command": "echo one"}), Say("Done.")])
    async with running_bot(tmp_path, local, model=script.model) as bot:
        await bot.channel.say("go")
        await bot.channel.wait_for(is_open)
        await bot.channel.press("Edit", text="echo two")
        await edited_card(bot.channel)
        await bot.channel.press("Approve once")
        await bot.channel.wait_for(says("Done."))
        told = heard(script)
        assert 'telegram:1 changed the arguments of this call. It is now exec {"command": "echo two"}' in told
        assert told.endswith("two\n")


async def test_a_denied_edit_tells_the_model_both(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    script = ScriptedModel([CallTool("exec", {"command": "echo one"}), Say("Done.")])
    async with running_bot(tmp_path, local, model=script.model) as bot:
        await bot.channel.say("go")
        await bot.channel.wait_for(is_open)
        await bot.channel.press("Edit", text="echo two")
        await edited_card(bot.channel)
        await bot.channel.press("Deny")
        await bot.channel.wait_for(says("Done."))
        told = heard(script)
        assert "changed the arguments" in told
        assert "Not executed: telegram:1 denied it." in told


async def test_an_edit_that_a_hard_guard_refuses_is_refused_and_everybody_hears_why(
    tmp_path: Path, local: Config, is_open: Is, is_closed: Is, says: Says
) -> None:
    script = ScriptedModel([CallTool("exec", {"command": "echo one"}), Say("Done.")])
    async with running_bot(tmp_path, local, model=script.model) as bot:
        await bot.channel.say("go")
        await bot.channel.wait_for(is_open)
        assert (await bot.channel.press("Edit", text="rm -rf /")).ok
        await bot.channel.wait_for(says("Done."))
        await bot.channel.wait_for(lambda m: is_closed(m) and "Reason: exec was not run: " in m.body)
        assert "rm -rf /" in heard(script)
        assert "exec was not run: " in heard(script)
        assert "Edited by" in (await bot.channel.wait_for(is_closed)).body
        assert not await bot.store.approvals.pending()


async def test_what_does_not_fit_decides_nothing_and_the_card_stays_open(
    tmp_path: Path, local: Config, is_open: Is
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/tool exec command=ls timeout=5")
        await bot.channel.wait_for(is_open)
        for text, part in (
            ('{"command": "ls"', "no JSON"),
            ('{"comand": "ls"}', "did you mean command?"),
            ('{"command": 5}', "command must be text"),
            ('{"timeout": 5, "command": "ls"}', "Nothing was changed"),
            ("", "Nothing was written"),
        ):
            reply = await bot.channel.press("Edit", text=text)
            assert not reply.ok
            assert part in reply.text
            assert "still open" in reply.text
        assert (await pending(bot.store)).status is ApprovalStatus.PENDING
        assert is_open(bot.channel.messages[-1])


async def test_an_edited_call_is_judged_by_the_rules_of_the_requester_never_of_the_editor(
    tmp_path: Path, is_open: Is, says: Says
) -> None:
    """The admin may write anywhere; the requester, admitted by the star, only in the workspace."""
    config = {"channels.telegram.allow_from": ["*"], "permissions.admin_users": ["telegram:7"]}
    async with running_bot(tmp_path, config) as bot:
        outside = tmp_path / "outside.txt"
        await bot.channel.say("/tool write_file path=.env content=x")
        await bot.channel.wait_for(is_open)
        text = f'{{"path": "{outside}", "content": "x"}}'
        assert (await bot.channel.press("Edit", sender_id="7", text=text)).ok
        reply = await bot.channel.wait_for(says("telegram:7 changed the arguments"))
        assert "write_file was not run: " in reply.body
        assert not outside.exists()


async def test_an_edit_survives_a_restart_before_its_card_was_decided(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    channel = FakeChannel("telegram")
    async with running_bot(tmp_path, local, channel=channel):
        await channel.say("/run echo wrong >> log")
        await channel.wait_for(is_open)
        await channel.press("Edit", text="echo right >> log")
        await edited_card(channel)
    async with running_bot(tmp_path, local, channel=channel) as bot:
        await eventually(lambda: bot.parts.queues.total() == (1, 0), "the turn to be revived")
        await channel.press("Approve once")
        await channel.wait_for(says("changed the arguments"))
        assert (bot.workspace / "log").read_text() == "right\n"
        assert sum(m.card is not None for m in channel.messages) == 2


async def test_an_edit_stored_just_before_a_crash_replaces_the_call_after_it(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    """Not even a grant that would pass the original by now brings it back."""
    channel = FakeChannel("telegram")
    async with running_bot(tmp_path, local, channel=channel) as bot:
        await channel.say("/run echo wrong >> log")
        card = await channel.wait_for(is_open)
        first = await pending(bot.store)
        token = next(b.token for b in card.buttons if b.label == "Edit")
        await bot.parts.queues.close()
        assert (await channel.press_token(token, card.ref, text="echo right >> log")).ok
        await bot.store.grants.add(
            GrantRecord(
                "g1", "telegram:1", first.digest, "exec", "s", "always", first.created_at, "telegram:1"
            )
        )
    async with running_bot(tmp_path, local, channel=channel) as bot:
        await edited_card(channel)
        await channel.press("Approve once")
        await channel.wait_for(says("changed the arguments"))
        assert (bot.workspace / "log").read_text() == "right\n"


async def test_an_edited_call_can_be_edited_again(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/run echo 1")
        await bot.channel.wait_for(is_open)
        await bot.channel.press("Edit", text="echo 2")
        card = await edited_card(bot.channel)
        await bot.channel.press("Edit", text="echo 3", message=card)
        await bot.channel.wait_for(lambda m: is_open(m) and "echo 3" in m.body)
        await bot.channel.press("Approve once")
        assert "3\n" in (await bot.channel.wait_for(says("changed the arguments"))).body


async def test_a_second_edit_of_the_same_card_is_answered_with_the_first(
    tmp_path: Path, local: Config, is_open: Is
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/run echo 1")
        card = await bot.channel.wait_for(is_open)
        token = next(b.token for b in card.buttons if b.label == "Edit")
        await bot.channel.press_token(token, card.ref, text="echo 2")
        late = await bot.channel.press_token(token, card.ref, text="echo 3")
        assert (late.ok, "Already changed by telegram:1" in late.text) == (False, True)


async def test_an_edit_that_the_operators_list_passes_runs_without_another_card(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    config = local | {"permissions.approval.allowlist": [{"tool": "exec", "args": {"command": "echo safe"}}]}
    async with running_bot(tmp_path, config) as bot:
        await bot.channel.say("/run echo risky")
        await bot.channel.wait_for(is_open)
        await bot.channel.press("Edit", text="echo safe")
        assert "safe\n" in (await bot.channel.wait_for(says("changed the arguments"))).body
        assert sum(m.card is not None for m in bot.channel.messages) == 1


async def test_edit_is_not_offered_where_a_secret_is_hidden_or_the_call_is_dangerous(
    tmp_path: Path, local: Config, is_open: Is
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/run curl -H 'Authorization: Bearer sk-proj-abcdefghijklmnopqrstuvwx' x")
        card = await bot.channel.wait_for(is_open)
        assert "Edit" not in [button.label for button in card.buttons]


class TestWhatAButtonAsksFor:
    async def test_edit_begins_with_the_call_and_a_denial_with_a_question(
        self, tmp_path: Path, local: Config, is_open: Is
    ) -> None:
        async with running_bot(tmp_path, local) as bot:
            await bot.channel.say("/run ls -la")
            await bot.channel.wait_for(is_open)
            edit = await bot.channel.ask("Edit")
            assert isinstance(edit, Prompt)
            assert (edit.initial, edit.title) == ("ls -la", "Edit exec")
            reason = await bot.channel.ask("Deny with reason")
            assert isinstance(reason, Prompt)
            assert (reason.initial, "Why not?" in reason.question) == ("", True)
            once = await bot.channel.ask("Approve once")
            assert isinstance(once, PressReply)
            assert not once.ok

    async def test_who_may_not_decide_is_told_before_writing_anything(
        self, tmp_path: Path, local: Config, is_open: Is
    ) -> None:
        async with running_bot(tmp_path, local) as bot:
            await bot.channel.say("/run ls")
            await bot.channel.wait_for(is_open)
            asked = await bot.channel.ask("Edit", sender_id="666")
            assert asked == PressReply("You may not decide this.", ok=False)

    async def test_after_a_restart_it_is_asked_and_after_the_decision_it_is_not(
        self, tmp_path: Path, local: Config, is_open: Is, says: Says
    ) -> None:
        channel = FakeChannel("telegram")
        async with running_bot(tmp_path, local, channel=channel):
            await channel.say("/run ls")
            await channel.wait_for(is_open)
        async with running_bot(tmp_path, local, channel=channel):
            await eventually(lambda: channel.health().state == "connected", "the channel")
            assert isinstance(await channel.ask("Edit"), Prompt)
            card = await channel.wait_for(is_open)
            token = next(b.token for b in card.buttons if b.label == "Edit")
            await channel.press("Deny")
            asked = await channel.ask_token(token, card.ref)
            assert isinstance(asked, PressReply)
            assert (asked.ok, "Already denied" in asked.text) == (False, True)
            unknown = await channel.ask_token("forged", card.ref)
            assert isinstance(unknown, PressReply)
            assert "no longer knows" in unknown.text

    async def test_an_expired_card_asks_for_nothing(
        self,
        tmp_path: Path,
        local: Config,
        is_open: Is,
        is_closed: Is,
        clock: MovedClock,
        expire: Callable[[RunningBot], Awaitable[None]],
    ) -> None:
        async with running_bot(tmp_path, local, clock=clock) as bot:
            await bot.channel.say("/run ls")
            card = await bot.channel.wait_for(is_open)
            token = next(b.token for b in card.buttons if b.label == "Edit")
            await expire(bot)
            await bot.channel.wait_for(is_closed)
            asked = await bot.channel.ask_token(token, card.ref)
            assert isinstance(asked, PressReply)
            assert "expired" in asked.text

    async def test_a_question_asks_only_whom_it_was_put_to(
        self, tmp_path: Path, local: Config, is_open: Is
    ) -> None:
        script = ScriptedModel(
            [CallTool("clarify", {"question": "Which one?", "options": ["a"]}), Say("Done.")]
        )
        async with running_bot(tmp_path, local, model=script.model) as bot:
            await bot.channel.say("go")
            await bot.channel.wait_for(is_open)
            asked = await bot.channel.ask("Other answer…")
            assert isinstance(asked, Prompt)
            assert asked.question == "Which one?"
            assert isinstance(await bot.channel.ask("Other answer…", sender_id="666"), PressReply)
