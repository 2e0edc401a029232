"""`echo-bot knowledge` indexes, shows and searches what the configuration names, a bot running or not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from echo_bot.storage.knowledge import KnowledgeIndex
from echo_bot.testing.command_line import CommandLine


@pytest.fixture
def documents(tmp_path: Path, command_line: CommandLine) -> Path:
    folder = tmp_path / "workspace" / "docs"
    folder.mkdir(parents=True)
    (folder / "install.md").write_text("# Install\n\nRun make.\n")
    command_line.environ |= {
        "ECHO_BOT_WORKSPACE": str(folder.parent),
        "ECHO_BOT_KNOWLEDGE__PATHS": '["docs"]',
    }
    return folder


def test_documents_are_indexed_shown_and_found(command_line: CommandLine, documents: Path) -> None:
    assert "0 documents" in command_line("knowledge").out
    assert "1 indexed" in command_line("knowledge", "rebuild").out
    assert "1 document, 1 passage," in command_line("knowledge", "status").out
    found = command_line("knowledge", "search", "installing")
    assert f"{documents}/install.md:1-3" in found.out
    assert command_line("knowledge", "search", "whales").code == 1


def test_without_any_place_the_key_is_named(command_line: CommandLine) -> None:
    answer = command_line("knowledge", "rebuild")
    assert (answer.code, "knowledge.paths" in answer.err) == (1, True)


def test_an_index_that_cannot_be_written_is_a_sentence(command_line: CommandLine, documents: Path) -> None:
    command_line.data_dir.parent.mkdir(exist_ok=True)
    command_line.data_dir.write_text("a file where the data folder belongs")
    answer = command_line("knowledge", "rebuild")
    assert answer.code == 2
    assert "knowledge.db" in answer.err


def test_two_programs_that_index_at_once_agree(command_line: CommandLine, documents: Path) -> None:
    for number in range(150):
        (documents / f"{number}.md").write_text(f"walnut {number}\n")
    program = "from echo_bot.cli import main; main()"
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(documents), **command_line.environ}
    both = [
        subprocess.Popen(
            [sys.executable, "-c", program, "knowledge", "rebuild"],
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(2)
    ]
    for each in both:
        _, complaint = each.communicate(timeout=60)
        assert each.returncode == 0, complaint.decode()
    state = KnowledgeIndex(command_line.data_dir / "knowledge.db").state()
    assert (state.files, state.passages) == (151, 151)
