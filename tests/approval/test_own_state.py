"""Code on the local host does not name the bot's own files, however the name is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from echo_bot.approval.gather import Asked, Surroundings, gather
from echo_bot.config.loader import config_from_keys
from echo_bot.config.policy import policy_settings
from echo_bot.events import Address, Identity
from echo_bot.policy.call import Executor
from echo_bot.policy.facts import Caller, Facts
from echo_bot.skills.sight import SkillSight

ADA = Caller(Identity("telegram", "1"), Address("telegram", "1"))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with the bot's state in it, a database elsewhere, and a link into the state."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / ".config"))
    (tmp_path / ".local/share/echo-bot").mkdir(parents=True)
    (tmp_path / "ws/sub").mkdir(parents=True)
    (tmp_path / "ws/link").symlink_to(tmp_path / ".local/share/echo-bot")
    return tmp_path


def facts(home: Path, tool: str, host: Executor = Executor.LOCAL, **args: object) -> Facts:
    keys = {
        "workspace": str(home / "ws"),
        "data_dir": str(home / ".local/share/echo-bot"),
        "storage.url": f"sqlite+aiosqlite:///{home}/db/mine.db",
    }
    settings = policy_settings(config_from_keys(keys), config_path=home / "own.yaml")
    return gather(Asked(tool, args), ADA, settings, Surroundings(auto_lands_on=host))


def is_refused(found: Facts) -> bool:
    return "protected_path" in {finding.kind for finding in found.hard_findings}


OWN = [
    "cat ~/.local/share/echo-bot/echo-bot.db",
    "cat $HOME/.local/share/echo-bot/spill/x",
    "cat {home}/.local/share/echo-bot/x",
    "cat ../.local/share/echo-bot/x",
    "cat link/echo-bot.db",
    "cp -r link /tmp/x",
    "cat ~/.local/share/echo-*/*.db",
    "cat ~/.local/share/ECHO-BOT/x",
    'cat "$HOME"/".local/share/echo"-bot/x',
    "echo 'permissions: {{}}' >> ~/.config/echo-bot/config.yaml",
    "echo x>~/.config/echo-bot/config.yaml",
    "tee {home}/own.yaml < x",
    "dd if=x of={home}/own.yaml",
    "sqlite3 ~/db/mine.db .dump",
    "cat ~/db/mine.db-wal",
    "p={home}/own.yaml; cat $p",
    "bash -c 'cat ~/db/mine.db'",
    "sed -i s/a/b/ ~/own.yaml",
    "cd; cat own.yaml",
    "cd ~/.config && cat echo-bot/config.yaml",
    "pushd ../.local/share; cat echo-bot/x",
    ": " + "a/b/c{{1..9}} " * 3000 + "~/own.yaml",
]


@pytest.mark.parametrize("command", OWN)
def test_a_command_that_names_the_state_is_refused(home: Path, command: str) -> None:
    assert is_refused(facts(home, "exec", command=command.format(home=home)))


OTHERS = [
    "ls -la",
    "cat README.md sub/x.txt",
    "ls ~/.local/share ~/.config",
    "cat ~/.config/echo-bot.md",
    "git commit -m 'the echo-bot/config.yaml is documented'",
    "curl https://example.com/own.yaml",
    "cat ~/db/mine.dbx",
    "ls *.py sub/*",
    "ls */*/*/*",
    "cd sub && ls */*/*/*",
]


@pytest.mark.parametrize("command", OTHERS)
def test_other_commands_are_left_alone(home: Path, command: str) -> None:
    assert not is_refused(facts(home, "exec", command=command))


def test_the_folder_to_run_in_and_typed_text_and_code_count_too(home: Path) -> None:
    assert is_refused(facts(home, "exec", command="ls", cwd="link"))
    assert is_refused(facts(home, "exec", command="ls", cwd="../.local/share/echo-bot"))
    assert is_refused(facts(home, "process", action="write", process_id="p1", text="cat ~/own.yaml\n"))
    code = f"print(open('{home}/own.yaml').read())"
    assert is_refused(facts(home, "execute_code", language="python", code=code))


def test_in_the_sandbox_there_is_nothing_to_name(home: Path) -> None:
    assert not is_refused(facts(home, "exec", host=Executor.SANDBOX, command="cat ~/own.yaml"))


@pytest.mark.parametrize(
    ("args", "refused"),
    [
        (["a.csv", "../x", "--top", "5"], False),
        (["references/x.md"], False),
        (["{home}/.local/share/echo-bot/skills/greeting/data.csv"], False),
        (["{home}/.local/share/echo-bot/echo-bot.db"], True),
        (["--file={home}/.local/share/echo-bot/skills.json"], True),
        (["~/.local/share/echo-bot/echo-bot.db"], True),
        (["../../echo-bot.db"], True),
        (["link/echo-bot.db"], True),
        (["{home}/own.yaml"], True),
        (["{home}/db/mine.db-wal"], True),
    ],
)
def test_a_skills_script_is_given_no_state_by_name(home: Path, args: list[str], refused: bool) -> None:
    folder = home / ".local/share/echo-bot/skills/greeting"
    folder.mkdir(parents=True)
    keys = {
        "workspace": str(home / "ws"),
        "data_dir": str(home / ".local/share/echo-bot"),
        "storage.url": f"sqlite+aiosqlite:///{home}/db/mine.db",
    }
    settings = policy_settings(config_from_keys(keys), config_path=home / "own.yaml")
    surroundings = Surroundings(
        auto_lands_on=Executor.LOCAL, look_at_skill=lambda tool, args: SkillSight(folder=str(folder))
    )
    call = {"name": "greeting", "script": "a.py", "args": [each.format(home=home) for each in args]}
    assert is_refused(gather(Asked("skill_run", call), ADA, settings, surroundings)) is refused
