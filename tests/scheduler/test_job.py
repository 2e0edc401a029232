"""A run as an event: whose it is, what it may do, where its answer goes; and when a target is allowed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from echo_bot.events import Address, Identity
from echo_bot.inbox.incoming import without_trust
from echo_bot.policy.call import BoundFile
from echo_bot.policy.settings import AccessSettings, PolicySettings
from echo_bot.scheduler.job import (
    INSPECTION,
    authorised,
    event_of,
    is_authorised,
    occasion_of,
    run_of,
    target_problem,
)
from echo_bot.scheduler.making import Maker, new_job
from echo_bot.scheduler.telling import job_line, jobs_line, last_words, plan_of
from echo_bot.session import session_key, turn_id_of
from echo_bot.storage.job_record import JobRecord, JobState

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
OWNER = Identity("telegram", "1", "work")
MAKER = Maker(
    owner=OWNER,
    origin=Address("telegram", "100", "7", "work"),
    memory_scope="group:x",
    targets={"ops": "slack:C1"},
    channels=lambda address: True,
    default_zone="Europe/Berlin",
    asked_at=NOW,
    now=NOW,
)
WORDS = {"name": "n", "schedule": "@daily", "instruction": "look"}


def made(**more: str) -> JobRecord:
    """A job that is due, authorised by a person."""
    job = new_job("j1", {**WORDS, **more}, MAKER)
    job = authorised(job, by="telegram:9", at=NOW, approval_id="a")
    assert job.next_at is not None
    return replace(job, last=run_of(job, job.next_at))


def unmoved(address: Address) -> Address:
    return address


def test_a_run_is_its_owners_unattended_and_answers_at_the_target() -> None:
    job = made(target="ops")
    event = event_of(job, "look", unmoved)
    assert (event.sender, event.text) == (OWNER, "look")
    assert (event.unattended, event.cron_authorized, event.is_control) == (True, True, False)
    assert event.address == MAKER.origin
    assert event.answered_at == Address("slack", "C1")
    assert event.memory_scope == "group:x"
    assert session_key(event, shared_groups=False) == "job:j1"
    assert event.timestamp == datetime(2026, 11, 30, 23, tzinfo=UTC)


def test_a_run_has_one_turn_whoever_claims_it() -> None:
    job = made()
    assert job.last.due is not None
    same = turn_id_of(event_of(replace(job, instruction="other"), "other", unmoved))
    later = replace(job, last=run_of(job, job.last.due + timedelta(days=1)))
    asked = replace(job, last=run_of(job, job.last.due, is_asked=True))
    assert turn_id_of(event_of(job, "look", unmoved)) == same
    assert (
        len({same, turn_id_of(event_of(later, "", unmoved)), turn_id_of(event_of(asked, "", unmoved))}) == 3
    )


def test_nothing_of_it_can_come_from_a_channel() -> None:
    bare = without_trust(event_of(made(target="ops"), "look", unmoved))
    assert (bare.unattended, bare.cron_authorized) == (False, False)
    assert (bare.session_key_override, bare.memory_scope) == ("", "")
    assert (bare.deliver_to, bare.occasion) == (None, "")
    assert bare.answered_at == bare.address


def test_the_checklist_is_never_authorised() -> None:
    job = replace(made(), kind="inspection")
    again = authorised(job, by="telegram:9", at=NOW, approval_id="a")
    assert not is_authorised(again)
    assert not event_of(again, "look", unmoved).cron_authorized


def test_the_model_is_told_in_one_line_that_no_name_breaks() -> None:
    told = occasion_of(replace(made(), name="a\nb]"))
    assert "\n" not in told
    assert "NOTHING" in told
    assert "due Tue 2026-12-01 00:00 CET" in told


@pytest.mark.parametrize(
    ("target", "is_bound", "allowed", "is_fine"),
    [
        pytest.param("here", False, (), True, id="the chat where it was made"),
        pytest.param("owner", False, (), True, id="its owner's own chat"),
        pytest.param("ops", False, ("ops",), True, id="an allowed one"),
        pytest.param("ops", True, (), True, id="one that a person authorised"),
        pytest.param("ops", False, (), False, id="any other"),
        pytest.param("gone:1", True, (), False, id="one on a channel that is not there"),
    ],
)
def test_where_answers_may_go_when_it_fires(
    target: str, is_bound: bool, allowed: tuple[str, ...], is_fine: bool
) -> None:
    job = made(target=target)
    settings = PolicySettings(access=AccessSettings(), targets={"ops": "slack:C1"}, allowed_targets=allowed)
    found = target_problem(job if is_bound else replace(job, authority=None), settings, unmoved)
    assert bool(found) is not is_fine


@pytest.mark.parametrize("name", ["", "a\nb", "x" * 65, "a`b", INSPECTION])
def test_a_name_is_one_plain_line_that_is_free(name: str) -> None:
    with pytest.raises(ValueError, match="name"):
        new_job("j", {**WORDS, "name": name}, MAKER)


def test_a_job_of_a_zone_that_is_gone_is_still_listed() -> None:
    job = replace(made(), zone="Mars/Olympus")
    assert "cannot be read" in job_line(job)
    assert (
        last_words(replace(job, last=replace(job.last, ended_at=NOW))) == "running Mon 2026-11-30 12:00 UTC"
    )


def test_a_script_that_is_not_there_yet_is_named_as_such() -> None:
    files = (BoundFile("/srv/a.sh", "absent"), BoundFile("/srv/b.sh", f"sha256:{'0' * 64}"))
    shown = dict(plan_of(made(), NOW, files))["scripts"]
    assert shown == "/srv/a.sh (not there yet), /srv/b.sh (sha256:0000000000000000…)"


def test_jobs_are_counted_with_the_next_of_them() -> None:
    assert jobs_line(()) == ""
    later = replace(made(), name="later", next_at=NOW + timedelta(days=9), failures=1)
    paused = replace(made(), state=JobState.PAUSED, next_at=None)
    said = jobs_line((later, made(), paused))
    assert said.startswith("Jobs: 2 active, 1 paused, 1 of them failing. Next: n, at 00:00 every day")
