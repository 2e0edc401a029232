"""Pauses between tries: they double up to a limit, however long something goes on failing."""

from __future__ import annotations

from echo_bot.backoff import backoff


def test_it_doubles_up_to_the_limit_and_holds_there_for_thousands_of_failures() -> None:
    failures = (0, 1, 2, 5, 6, 1024, 100_000)
    pauses = [backoff(each, 1.0, 60.0) for each in failures]
    assert pauses == [1, 2, 4, 32, 60, 60, 60]
