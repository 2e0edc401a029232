"""Turns with a model: tools behind the gate, several cards, revival from the journal, failures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pydantic_ai.exceptions import ModelHTTPError

from echo_bot.events import Identity, SessionKey
from echo_bot.storage.records import JournalEntry, TurnState
from echo_bot.testing.bot import running_bot
from echo_bot.testing.fake_channel import FakeChannel, FakeMessage
from echo_bot.testing.scripted_model import CallTool, Fail, Say, ScriptedModel
from echo_bot.testing.waiting import eventually

Config = dict[str, object]
Is = Callable[[FakeMessage], bool]
Says = Callable[[str], Is]


async def test_the_model_calls_a_tool_a_person_approves_and_the_answer_is_streamed(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    script = ScriptedModel(
        [CallTool("exec", {"command": "echo 42"}, say="Let me look."), Say("It is 42, done.")]
    )
    async with running_bot(tmp_path, local, model=script.model) as bot:
        await bot.channel.say("what is it?")
        await bot.channel.wait_for(says("Let me look."))
        await bot.channel.wait_for(is_open)
        await bot.channel.press("Approve once")
        await bot.channel.wait_for(says("It is 42, done."))
        assert "42" in str(script.seen[-1][-1])


async def test_a_denied_call_is_told_to_the_model_with_the_reason(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    script = ScriptedModel([CallTool("exec", {"command": "touch made"}), Say("Understood.")])
    async with running_bot(tmp_path, local, model=script.model) as bot:
        await bot.channel.say("do it")
        await bot.channel.wait_for(is_open)
        await bot.channel.press("Deny with reason", text="use the other folder")
        await bot.channel.wait_for(says("Understood."))
        assert "use the other folder" in str(script.seen[-1][-1])
        assert not (bot.workspace / "made").exists()


async def test_two_cards_of_one_answer_are_decided_in_any_order(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    script = ScriptedModel(
        [
            CallTool("exec", {"command": "echo a > a"}, also=(CallTool("exec", {"command": "echo b > b"}),)),
            Say("Both."),
        ]
    )
    async with running_bot(tmp_path, local, model=script.model) as bot:
        await bot.channel.say("both")
        await eventually(lambda: sum(is_open(m) for m in bot.channel.messages) == 2, "two cards")
        first, second = [m for m in bot.channel.messages if is_open(m)]
        await bot.channel.press("Approve once", message=second)
        await bot.channel.press("Deny", message=first)
        await bot.channel.wait_for(says("Both."))
        made = {name for name in ("a", "b") if (bot.workspace / name).exists()}
        assert len(made) == 1


async def test_a_turn_revived_after_a_restart_goes_on_where_its_journal_ends(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    channel = FakeChannel("telegram")
    first = ScriptedModel([CallTool("exec", {"command": "echo once >> log"}), Say("never said")])
    async with running_bot(tmp_path, local, model=first.model, channel=channel) as bot:
        await channel.say("go")
        await channel.wait_for(is_open)
    second = ScriptedModel([Say("All done.")])
    async with running_bot(tmp_path, local, model=second.model, channel=channel) as bot:
        await eventually(lambda: bot.parts.queues.total()[0] == 1, "the revived turn")
        await channel.press("Approve once")
        await channel.wait_for(says("All done."))
        assert (bot.workspace / "log").read_text() == "once\n"
        assert len(second.seen) == 1
        assert sum(m.card is not None for m in channel.messages) == 1


async def test_history_is_given_to_the_next_turn_and_ends_with_new(
    tmp_path: Path, local: Config, says: Says
) -> None:
    script = ScriptedModel([Say("I am Echo."), Say("As I said."), Say("Who?")])
    async with running_bot(tmp_path, local, model=script.model) as bot:
        await bot.channel.say("my name is Ada")
        await bot.channel.wait_for(says("I am Echo."))
        await bot.channel.say("and again")
        await bot.channel.wait_for(says("As I said."))
        assert "Ada" in str(script.seen[1])
        await bot.channel.say("/new")
        await bot.channel.wait_for(says("fresh"))
        await bot.channel.say("who am I?")
        await bot.channel.wait_for(says("Who?"))
        assert "Ada" not in str(script.seen[2])


async def test_a_model_that_fails_is_one_sentence_and_the_next_message_works(
    tmp_path: Path, local: Config, says: Says
) -> None:
    script = ScriptedModel([Fail(ModelHTTPError(400, "m", "boom")), Say("Back again.")])
    async with running_bot(tmp_path, local, model=script.model) as bot:
        await bot.channel.say("hello")
        await bot.channel.wait_for(says("The model did not get this done"))
        await bot.channel.say("hello?")
        await bot.channel.wait_for(says("Back again."))


async def test_nonsense_calls_are_refused_to_the_model_and_nothing_breaks(
    tmp_path: Path, local: Config, says: Says
) -> None:
    script = ScriptedModel(
        [
            CallTool("no_such_tool", {"x": 1}),
            CallTool("exec", {"command": 5}),
            CallTool("exec", {"command": "ls", "shell": True}),
            Say("I give up."),
        ]
    )
    async with running_bot(tmp_path, local, model=script.model) as bot:
        await bot.channel.say("go")
        await bot.channel.wait_for(says("I give up."))
        assert "command must be text" in str(script.seen[2])
        assert "shell" in str(script.seen[3][-1])


async def test_clarify_waits_for_the_asked_persons_button_and_survives_a_restart(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    channel = FakeChannel("telegram")
    ask = CallTool("clarify", {"question": "Which colour?", "options": ["red", "blue"]})
    async with running_bot(tmp_path, local, model=ScriptedModel([ask]).model, channel=channel):
        await channel.say("paint it")
        await channel.wait_for(is_open)
    second = ScriptedModel([Say("Blue it is.")])
    async with running_bot(tmp_path, local, model=second.model, channel=channel) as bot:
        await eventually(lambda: bot.parts.queues.total()[0] == 1, "the revived turn")
        assert not (await channel.press("blue", sender_id="9")).ok
        assert (await channel.press("blue")).ok
        await channel.wait_for(says("Blue it is."))
        assert "The person answered: blue" in str(second.seen[0])


async def test_clarify_takes_the_next_message_of_the_asked_person_as_the_answer(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    script = ScriptedModel([CallTool("clarify", {"question": "Which one?"}), Say("Thanks.")])
    async with running_bot(tmp_path, local, model=script.model) as bot:
        await bot.channel.say("pick")
        await bot.channel.wait_for(is_open)
        await bot.channel.say("the second")
        await bot.channel.wait_for(says("Thanks."))
        assert "The person answered: the second" in str(script.seen[-1])


async def test_a_question_is_answered_and_never_approved_or_denied(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    script = ScriptedModel([CallTool("clarify", {"question": "Which one?"}), Say("Thanks.")])
    async with running_bot(tmp_path, local, model=script.model) as bot:
        await bot.channel.say("do it")
        await bot.channel.wait_for(is_open)
        (question,) = await bot.store.approvals.pending()
        for command in ("approve", "deny"):
            await bot.channel.say(f"/{command} {question.approval_id}")
        await eventually(lambda: len([t for t in bot.channel.texts if "a question" in t]) == 2, "refusals")
        await bot.channel.say("/approvals")
        await bot.channel.wait_for(says("No open approvals"))
        await bot.channel.say("the left one")
        await bot.channel.wait_for(says("Thanks."))
        assert "the left one" in str(script.seen[-1][-1])


async def test_message_and_todo_run_without_a_card_and_give_receipts(
    tmp_path: Path, local: Config, says: Says
) -> None:
    script = ScriptedModel(
        [
            CallTool("message", {"text": "working on it"}),
            CallTool("todo", {"action": "add", "items": ["one", "two"]}),
            CallTool("todo", {"action": "update", "id": "1", "status": "done"}),
            Say("Listed."),
        ]
    )
    async with running_bot(tmp_path, local, model=script.model) as bot:
        await bot.channel.say("go")
        await bot.channel.wait_for(says("working on it"))
        await bot.channel.wait_for(says("Listed."))
        assert "delivered to telegram:1" in str(script.seen[1])
        assert "[x] 1. one" in str(script.seen[3])


async def test_a_foreign_target_asks_before_a_message_is_sent(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    script = ScriptedModel(
        [CallTool("message", {"text": "hi there", "target": "telegram:999"}), Say("Sent.")]
    )
    async with running_bot(tmp_path, local, model=script.model) as bot:
        await bot.channel.say("write to them")
        await bot.channel.wait_for(is_open)
        assert not any(says("hi there")(m) for m in bot.channel.messages)
        await bot.channel.press("Approve once")
        sent = await bot.channel.wait_for(says("hi there"))
        assert sent.ref.address.chat_id == "999"


async def test_a_file_write_shows_its_diff_when_it_asks(tmp_path: Path, local: Config, is_open: Is) -> None:
    script = ScriptedModel([CallTool("write_file", {"path": ".env", "content": "A=2\n"}), Say("ok")])
    async with running_bot(tmp_path, local, model=script.model) as bot:
        (bot.workspace / ".env").write_text("A=1\n")
        await bot.channel.say("set A")
        card = await bot.channel.wait_for(is_open)
        assert "-A=1" in card.body
        assert "+A=2" in card.body


async def test_a_configured_secret_never_reaches_the_chat_or_the_model(
    tmp_path: Path, local: Config, says: Says
) -> None:
    secret = "s3cr3t-value-of-the-operator"
    config = local | {"models.api_key": secret, "credentials.require_encryption": False}
    script = ScriptedModel([CallTool("read_file", {"path": "leak.txt"}), Say(f"It says {secret}!")])
    async with running_bot(tmp_path, config, model=script.model) as bot:
        (bot.workspace / "leak.txt").write_text(f"key={secret}\n")
        await bot.channel.say("read it")
        await bot.channel.wait_for(says("It says"))
        assert secret not in str(script.seen)
        assert all(secret not in message.body for message in bot.channel.messages)


async def test_a_crash_after_a_call_began_reports_it_unknown_and_does_not_run_it_again(
    tmp_path: Path, local: Config, says: Says
) -> None:
    channel = FakeChannel("telegram")
    config = local | {"permissions.approval.auto_approve": ["exec"]}
    async with running_bot(tmp_path, config, channel=channel) as bot:
        await bot.parts.pausing.pause(Identity("telegram", "1"), SessionKey("telegram:1"))
        await channel.say("/run touch made")
        [turn] = await bot.store.turns.unfinished()
        assert turn.state is TurnState.QUEUED
        await bot.store.turns.append(turn.turn_id, JournalEntry("call", "0", "{}"))
    async with running_bot(tmp_path, config, channel=channel) as bot:
        await channel.say("/resume")
        await channel.wait_for(says("Outcome unknown"))
        assert not (bot.workspace / "made").exists()
