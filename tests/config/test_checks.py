"""Senders that a configuration lists and that cannot exist."""

from __future__ import annotations

import pytest

from echo_bot.channel import ChannelManifest, SenderIds
from echo_bot.config.checks import check_senders
from echo_bot.config.loader import config_from_keys


@pytest.mark.parametrize(
    ("listed", "warned"),
    [("123456789", False), ("*", False), ("Ada", True), ("@ada", True), ("12 34", True), ("１２", True)],
)
def test_a_name_where_a_sender_id_belongs_is_a_warning(listed: str, warned: bool) -> None:
    telegram = ChannelManifest("telegram", "Telegram", "x:y", sender_ids=SenderIds(r"\d+", "a number"))
    config = config_from_keys({"channels.telegram.allow_from": [listed]}, [telegram])
    found = check_senders(config, [telegram])
    assert [each.key for each in found] == (["channels.telegram.allow_from"] if warned else [])
    assert not any(each.refuses for each in found)
