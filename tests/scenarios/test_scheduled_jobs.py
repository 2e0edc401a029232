"""Scheduled jobs from the press that makes one to the answer that arrives, and what they may not do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from echo_bot.events import CardState
from echo_bot.storage.job_record import JobRecord, JobState
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.clock import MovedClock
from echo_bot.testing.fake_channel import FakeChannel, FakeMessage
from echo_bot.testing.scripted_model import CallTool, Say, ScriptedModel

Config = dict[str, object]
Is = Callable[[FakeMessage], bool]
Says = Callable[[str], Is]

DAILY = "/tool cronjob action=create name=backup schedule=@daily timezone=UTC"


@pytest.fixture
def calm(local: Config) -> Config:
    """The clock is moved by days, and messages are still new."""
    return local | {"channels.max_backlog_minutes": 60 * 24 * 1000}


async def make(bot: RunningBot, words: str) -> JobRecord:
    """Say it, press, and wait until the job is there."""
    before = len(bot.channel.messages)
    await bot.channel.say(words)
    await bot.channel.wait_for_button("Approve once")
    assert (await bot.channel.press("Approve once")).ok
    await bot.channel.wait_for(
        lambda m: "Made: " in m.body and bot.channel.messages.index(m) >= before, "the job"
    )
    return (await bot.store.jobs.list())[-1]


async def stored(bot: RunningBot, job: JobRecord) -> JobRecord:
    found = await bot.store.jobs.get(job.job_id)
    assert found is not None
    return found


async def come(bot: RunningBot, clock: MovedClock, job: JobRecord) -> JobRecord:
    """Move the clock to the job's next run, and wait for its end."""
    before = await stored(bot, job)
    assert before.next_at is not None
    clock.move_to(before.next_at)
    bot.parts.scheduling.scheduler.wake()
    return await ended(bot, job, after=before)


async def ended(bot: RunningBot, job: JobRecord, after: JobRecord) -> JobRecord:
    """The job once a run other than the one in `after` is over."""
    while True:
        now = await stored(bot, job)
        if now.last.event_id != after.last.event_id and not now.is_running:
            return now
        await asyncio.sleep(0.01)


def texts(channel: FakeChannel) -> list[str]:
    return [message.body for message in channel.messages if message.card is None]


async def test_a_job_made_with_a_press_runs_code_at_its_time_and_answers_at_its_target(
    tmp_path: Path, calm: Config, is_open: Is
) -> None:
    clock, slack = MovedClock(), FakeChannel("slack")
    async with running_bot(tmp_path, calm, clock=clock, more_channels=[slack]) as bot:
        job = await make(
            bot, f"{DAILY} instruction='/run echo made > made; echo safe and sound' target=slack:C1"
        )
        assert job.authority is not None
        assert job.authority.by == "telegram:1"
        assert job.next_at is not None
        assert job.next_at.strftime("%H:%M") == "00:00"
        assert not (bot.workspace / "made").exists()
        after = await come(bot, clock, job)
        assert (bot.workspace / "made").exists()
        assert after.last.state == "done"
        message = await slack.wait_for_text("safe and sound")
        assert message.ref.address.chat_id == "C1"
        assert "safe and sound" not in " ".join(texts(bot.channel)[1:])
        assert not any(is_open(message) for message in bot.channel.messages)
        await come(bot, clock, job)
        assert len([text for text in texts(slack) if "safe and sound" in text]) == 2


async def test_the_card_says_what_is_authorised(tmp_path: Path, calm: Config, is_open: Is) -> None:
    async with running_bot(tmp_path, calm, clock=MovedClock()) as bot:
        await bot.channel.say(
            "/tool cronjob action=create name=morning schedule='每天8点' timezone=Asia/Shanghai "
            "instruction='say good morning' target=owner"
        )
        await bot.channel.wait_for(is_open)
        [card] = bot.channel.cards
        shown = str(card.blocks)
        for part in (
            "say good morning",
            "at 08:00 every day; as written: 每天8点; zone Asia/Shanghai",
            "08:00 CST",
            "answers go to: telegram:1",
            "owner: telegram:1",
            "Approving this authorises the job",
            "Dangerous calls stay denied",
        ):
            assert part in shown, part
        assert shown.count("08:00 CST") == 3


async def test_a_denied_job_is_not_made(tmp_path: Path, calm: Config, says: Says) -> None:
    async with running_bot(tmp_path, calm) as bot:
        await bot.channel.say(f"{DAILY} instruction='/run true'")
        await bot.channel.wait_for_button("Deny")
        await bot.channel.press("Deny")
        await bot.channel.wait_for(says("denied"))
        assert await bot.store.jobs.list() == ()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("schedule=whenever instruction=hi", "is no schedule"),
        ("schedule='0 0 30 2 *' instruction=hi", "never comes"),
        ("schedule='2020-01-01 10:00' instruction=hi", "in the past"),
        ("schedule=@daily timezone=Mars/Olympus instruction=hi", "no time zone"),
        ("schedule=@daily", "instruction is missing"),
        ("schedule=@daily instruction=hi target=discord:1", "does not run here"),
        ("schedule=@daily instruction=hi target=nobody", "is not a known target"),
    ],
)
async def test_nobody_is_asked_about_a_job_that_cannot_be(
    tmp_path: Path, calm: Config, says: Says, words: str, told: str
) -> None:
    async with running_bot(tmp_path, calm) as bot:
        await bot.channel.say(f"/tool cronjob action=create name=n {words}")
        await bot.channel.wait_for(says(told))
        assert bot.channel.cards == []


async def test_a_changed_job_loses_its_authority_and_its_failure_is_told_once(
    tmp_path: Path, calm: Config, says: Says
) -> None:
    clock = MovedClock()
    async with running_bot(tmp_path, calm, clock=clock) as bot:
        job = await make(bot, f"{DAILY} instruction='/run echo one'")
        await come(bot, clock, job)
        await bot.channel.wait_for_text("one")
        await bot.channel.say("/tool cronjob action=update name=backup instruction='/run echo two'")
        await bot.channel.wait_for_button("Approve once")
        await bot.channel.press("Approve once")
        await bot.channel.wait_for(says("Changed: "))
        assert (await stored(bot, job)).authority is None
        after = await come(bot, clock, job)
        assert after.last.state == "failed"
        assert "unattended_policy is deny" in after.last.error
        await bot.channel.wait_for_text("failed: exec was not run")
        await come(bot, clock, job)
        assert (await stored(bot, job)).failures == 2
        await bot.channel.say("/tool cronjob action=authorize name=backup")
        await bot.channel.wait_for_button("Approve once")
        await bot.channel.press("Approve once")
        await bot.channel.wait_for(says("backup is authorised"))
        after = await come(bot, clock, job)
        assert (after.last.state, after.failures, after.told) == ("done", 0, False)
        await bot.channel.wait_for(says("exit code 0\ntwo"), "the answer")
        assert len([text for text in texts(bot.channel) if "failed: " in text]) == 1


async def test_what_is_dangerous_stays_denied_for_an_authorised_job(tmp_path: Path, calm: Config) -> None:
    clock = MovedClock()
    async with running_bot(tmp_path, calm, clock=clock) as bot:
        inner = "/tool cronjob action=create name=more schedule=@daily instruction=x"
        job = await make(bot, f"{DAILY} instruction='{inner}'")
        after = await come(bot, clock, job)
        assert "a dangerous call never runs unattended" in after.last.error
        assert len(await bot.store.jobs.list()) == 1


async def test_a_model_is_told_that_nobody_is_there_and_may_have_nothing_to_report(
    tmp_path: Path, calm: Config
) -> None:
    clock = MovedClock()
    model = ScriptedModel(
        [
            Say("NOTHING"),
            CallTool("exec", {"command": "echo checked > checked"}, say="I look."),
            Say("The disk is full."),
        ]
    )
    async with running_bot(tmp_path, calm, clock=clock, model=model.model) as bot:
        job = await make(bot, f"{DAILY} instruction='look at the disk'")
        before = len(bot.channel.messages)
        await come(bot, clock, job)
        assert "It runs unattended" in str(model.seen[0][-1])
        assert "look at the disk" in str(model.seen[0][-1])
        assert "A person authorised this job" in str(model.seen[0][-1])
        assert len(bot.channel.messages) == before
        await come(bot, clock, job)
        await bot.channel.wait_for_text("The disk is full.")
        assert len(bot.channel.messages) == before + 1
        assert (bot.workspace / "checked").exists()


async def test_a_command_that_prints_nothing_has_nothing_to_report(tmp_path: Path, calm: Config) -> None:
    clock = MovedClock()
    async with running_bot(tmp_path, calm, clock=clock) as bot:
        job = await make(bot, f"{DAILY} instruction='/run true'")
        before = len(bot.channel.messages)
        assert (await come(bot, clock, job)).last.state == "done"
        assert len(bot.channel.messages) == before


async def test_without_a_model_a_task_in_words_fails_with_the_way_out(tmp_path: Path, calm: Config) -> None:
    clock = MovedClock()
    async with running_bot(tmp_path, calm, clock=clock) as bot:
        job = await make(bot, f"{DAILY} instruction='water the plants'")
        await come(bot, clock, job)
        await bot.channel.wait_for_text("set models.default")


async def test_one_time_jobs_count_from_when_they_were_asked_for_and_are_then_done(
    tmp_path: Path, calm: Config, says: Says
) -> None:
    clock = MovedClock()
    async with running_bot(tmp_path, calm, clock=clock) as bot:
        await bot.channel.say(
            "/tool cronjob action=create name=tea schedule='in 20 minutes' instruction='/run echo tea'"
        )
        await bot.channel.wait_for_button("Approve once")
        asked_at = clock()
        clock.move(seconds=60)
        await bot.channel.press("Approve once")
        await bot.channel.wait_for_text("Made: ")
        [job] = await bot.store.jobs.list()
        assert job.next_at is not None
        assert abs((job.next_at - asked_at).total_seconds() - 1200) < 30
        after = await come(bot, clock, job)
        assert (after.state, after.next_at) == (JobState.DONE, None)
        await bot.channel.wait_for(says("exit code 0\ntea"), "the tea")


async def test_a_job_runs_when_it_is_asked_to(tmp_path: Path, calm: Config, says: Says) -> None:
    async with running_bot(tmp_path, calm) as bot:
        job = await make(bot, f"{DAILY} instruction='/run echo now'")
        before = await stored(bot, job)
        await bot.channel.say("/tool cronjob action=trigger name=backup")
        await bot.channel.wait_for_button("Approve once")
        await bot.channel.press("Approve once")
        after = await ended(bot, job, after=before)
        assert after.next_at == before.next_at
        await bot.channel.wait_for(says("exit code 0\nnow"), "the answer")


async def test_jobs_of_others_are_as_if_not_there_and_an_admin_sees_them(
    tmp_path: Path, calm: Config, says: Says
) -> None:
    config = calm | {"channels.telegram.allow_from": ["1", "2"]}
    async with running_bot(tmp_path, config) as bot:
        await bot.channel.say(f"{DAILY} instruction='/run true'", sender_id="2", chat_id="2")
        await bot.channel.wait_for_button("Approve once")
        await bot.channel.press("Approve once", sender_id="2")
        await bot.channel.wait_for_text("Made: ")
        await bot.channel.say("/tool cronjob action=list", sender_id="1")
        await bot.channel.wait_for_text("of telegram:2")
        await make(bot, "/tool cronjob action=create name=mine schedule=@daily instruction='/run true'")
        await bot.channel.say("/tool cronjob action=list", sender_id="2", chat_id="2")
        await bot.channel.wait_for(lambda m: "backup (" in m.body and m.ref.address.chat_id == "2", "a list")
        for words in ("action=delete name=mine", "action=authorize name=mine"):
            seen = len(bot.channel.messages)
            await bot.channel.say(f"/tool cronjob {words}", sender_id="2", chat_id="2")
            await bot.channel.wait_for(
                lambda m, seen=seen: "there is no job" in m.body and bot.channel.messages.index(m) >= seen,  # type: ignore[misc]
                "a refusal",
            )
        await bot.channel.say("/tool cronjob action=delete name=backup", sender_id="1")
        await bot.channel.wait_for_button("Approve once")
        await bot.channel.press("Approve once", sender_id="1")
        await bot.channel.wait_for(says("Deleted backup"))


async def test_a_job_changed_while_somebody_is_asked_is_not_authorised_as_it_became(
    tmp_path: Path, calm: Config, says: Says
) -> None:
    async with running_bot(tmp_path, calm) as bot:
        job = await make(bot, f"{DAILY} instruction='/run true'")
        await bot.store.jobs.change(replace(job, authority=None))
        await bot.channel.say("/tool cronjob action=authorize name=backup")
        await bot.channel.wait_for(lambda m: m.card is not None and m.card.state is CardState.OPEN, "a card")
        now = await stored(bot, job)
        await bot.store.jobs.change(replace(now, instruction="/run rm -rf stuff"))
        await bot.channel.press("Approve once")
        await bot.channel.wait_for(says("was changed while somebody was being asked"))
        assert (await stored(bot, job)).authority is None


async def test_a_script_that_changed_since_is_not_run_and_takes_the_authority_along(
    tmp_path: Path, calm: Config, says: Says
) -> None:
    """Whoever may write the script would else say what the job does."""
    clock = MovedClock()
    (tmp_path / "workspace").mkdir()
    script = tmp_path / "workspace" / "backup.sh"
    script.write_text("echo backed up\n")
    async with running_bot(tmp_path, calm, clock=clock) as bot:
        job = await make(bot, f"{DAILY} instruction='/run bash backup.sh'")
        assert f"scripts: {script} (sha256:" in str(bot.channel.cards[0].blocks)
        await come(bot, clock, job)
        await bot.channel.wait_for(says("exit code 0\nbacked up"))
        script.write_text("touch stolen\n")
        after = await come(bot, clock, job)
        assert after.last.state == "failed"
        assert after.authority is None
        await bot.channel.wait_for(says("backup.sh changed since the job was authorised"))
        assert not (bot.workspace / "stolen").exists()
        await bot.channel.say("/tool cronjob action=authorize name=backup")
        await bot.channel.wait_for_button("Approve once")
        script.write_text("touch stolen again\n")
        await bot.channel.press("Approve once")
        await bot.channel.wait_for(says("was changed while somebody was being asked"))
        assert (await stored(bot, job)).authority is None


async def test_what_a_job_itself_writes_is_no_script(tmp_path: Path, calm: Config) -> None:
    clock = MovedClock()
    async with running_bot(tmp_path, calm, clock=clock) as bot:
        job = await make(bot, f"{DAILY} instruction='/tool write_file path=seen content=yes'")
        for _ in range(2):
            assert (await come(bot, clock, job)).last.state == "done"
