"""`echo-bot run` in a real terminal: help, a command, a card decided by key, a sane end."""

from __future__ import annotations

import os
import re
import signal
import socket
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pexpect  # type: ignore[import-untyped]  # it ships no types
import pytest

pytestmark = pytest.mark.e2e

CTRL_C, CTRL_D, CTRL_Z = "\x03", "\x04", "\x1a"
READY = "Write a message"
_SECONDS = 60
_COLOURS = re.compile(r"\x1b\[(?:[0-9]+;)*(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;[0-9]+)*m")
_HIDE_CURSOR, _SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"


class Person:
    """At the keys of one bot. `seen` is everything the terminal got."""

    def __init__(self, folder: Path, **variables: str) -> None:
        environ = {key: value for key, value in os.environ.items() if not key.startswith("ECHO_")}
        environ |= {
            "ECHO_BOT_DATA_DIR": str(folder / "state"),
            "ECHO_BOT_WORKSPACE": str(folder / "workspace"),
            "ECHO_BOT_CONFIG": str(folder / "config.yaml"),
            "ECHO_BOT_GATEWAY__PORT": "0",
            "ECHO_BOT_NO_BROWSER": "1",
            "TERM": "xterm-256color",
            **variables,
        }
        self._log = _Log()
        self.process = pexpect.spawn(
            sys.executable,
            ["-m", "echo_bot", "run"],
            env=environ,
            dimensions=(40, 100),
            encoding="utf-8",
            timeout=_SECONDS,
        )
        self.process.logfile_read = self._log
        self.before = termios.tcgetattr(self.process.child_fd)

    @property
    def seen(self) -> str:
        return self._log.text

    def type(self, text: str) -> None:
        self.process.send(text)

    def see(self, words: str) -> None:
        self.process.expect(re.escape(words))

    def leaves_the_terminal_sane(self) -> None:
        """Ended by itself with 0, in line mode with echo, the cursor visible."""
        self.process.expect(pexpect.EOF)
        self.process.wait()
        assert (self.process.exitstatus, self.process.signalstatus) == (0, None)
        assert self.seen.rfind(_SHOW_CURSOR) >= self.seen.rfind(_HIDE_CURSOR)


class _Log:
    def __init__(self) -> None:
        self.text = ""

    def write(self, data: str) -> None:
        self.text += data

    def flush(self) -> None:
        return


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Person]:
    (tmp_path / "workspace" / "build").mkdir(parents=True)
    (tmp_path / "config.yaml").write_text("tools: {exec: {host: local}}\n")
    person = Person(tmp_path)
    yield person
    person.process.close(force=True)


def test_a_chat_from_help_to_leaving(person: Person, tmp_path: Path) -> None:
    person.see("Open http://127.0.0.1:")
    person.see("Ctrl-D, or Ctrl-C twice, stops the bot")
    person.see(READY)
    person.type("/help\r")
    person.see("Open approvals you may decide")
    person.see(READY)
    person.type("/run rm -r build\r")
    person.see("Deletes build with everything in it")
    person.see("then Enter")
    assert (tmp_path / "workspace" / "build").is_dir()
    person.type("yes\r")
    person.see("Nothing was decided")
    person.see("then Enter")
    person.type("o\r")
    person.see("Approved once by cli:local")
    person.see("exit code 0")
    assert not (tmp_path / "workspace" / "build").exists()
    person.see(READY)
    in_prompt = _mode(person)
    person.type(CTRL_D)
    person.see("Stopping")
    person.leaves_the_terminal_sane()
    assert not in_prompt & termios.ICANON


def test_a_stop_from_outside_while_a_card_is_open(person: Person, tmp_path: Path) -> None:
    person.see(READY)
    person.type("/run rm -r build\r")
    person.see("then Enter")
    person.process.kill(signal.SIGTERM)
    person.leaves_the_terminal_sane()
    assert (tmp_path / "workspace" / "build").is_dir()


def test_ctrl_c_stops_the_turn_and_then_the_bot(person: Person) -> None:
    person.see(READY)
    person.type("/run sleep 60\r")
    person.see("working")
    person.type(CTRL_C)
    person.see("Stopped 1 turn")
    person.see(READY)
    person.type(CTRL_C)
    person.see("Press Ctrl-C again")
    person.type(CTRL_C)
    person.leaves_the_terminal_sane()


def test_no_color_is_heard_by_the_cards_and_by_the_prompts(tmp_path: Path) -> None:
    (tmp_path / "workspace" / "build").mkdir(parents=True)
    (tmp_path / "config.yaml").write_text("tools: {exec: {host: local}}\n")
    person = Person(tmp_path, NO_COLOR="1")
    try:
        person.see(READY)
        person.type(CTRL_Z + "/run rm -r build\r")
        person.see("then Enter")
        person.type("d\r")
        person.see("Denied by cli:local")
        person.see(READY)
        person.type(CTRL_D)
        person.leaves_the_terminal_sane()
    finally:
        person.process.close(force=True)
    assert _COLOURS.findall(person.seen) == []
    assert "^Z" not in person.seen


def test_a_page_that_is_not_served_is_told_before_the_chat(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    (tmp_path / "config.yaml").write_text("tools: {exec: {host: local}}\n")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        person = Person(tmp_path, ECHO_BOT_GATEWAY__PORT=str(port))
        try:
            person.see(f"The page is not served: port {port}")
            person.see(READY)
            person.type("/status\r")
            person.see("Channel web: failed")
            person.type(CTRL_D)
            person.leaves_the_terminal_sane()
        finally:
            person.process.close(force=True)
    assert "Open http" not in person.seen


def _mode(person: Person) -> int:
    """The local flags once the prompt reads keys; a redraw may hold line mode for a moment."""
    end = time.monotonic() + 5
    while (flags := int(termios.tcgetattr(person.process.child_fd)[3])) & termios.ICANON:
        if time.monotonic() > end:
            break
    return flags


def test_the_terminal_chat_in_chinese(tmp_path: Path) -> None:
    (tmp_path / "workspace" / "build").mkdir(parents=True)
    (tmp_path / "config.yaml").write_text("language: zh\ntools: {exec: {host: local}}\n")
    person = Person(tmp_path)
    try:
        person.see("输入消息")
        person.type("/run rm -r build\r")
        person.see("执行命令？")
        person.see("批准一次")
        person.see("输入按键后按 Enter")
        person.type("1\r")
        person.see("批准一次")
        person.see("exit code 0")
        person.type(CTRL_D)
        person.leaves_the_terminal_sane()
    finally:
        person.process.close(force=True)
    assert not (tmp_path / "workspace" / "build").exists()
