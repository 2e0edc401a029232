"""Where things are: the workspace, the bot's state and the files in it, the bot's own program."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from echo_bot.config.finding import user_config_path

if TYPE_CHECKING:
    from echo_bot.config.model import Config

DATABASE = "echo-bot.db"


def workspace(config: Config) -> Path:
    """The folder the bot works in, absolute."""
    return absolute(config.workspace or ".")


def data_dir(config: Config) -> Path:
    """Where the bot keeps its state, absolute."""
    return state_folder(config.data_dir)


def state_folder(configured: str) -> Path:
    """The configured `data_dir`, or the user data folder."""
    if configured:
        return absolute(configured)
    from platformdirs import user_data_path

    return user_data_path("echo-bot", appauthor=False)


def program_folders() -> tuple[str, ...]:
    """The folders that hold the bot's own program: its packages and its virtual environment."""
    folders = [Path(sys.prefix)] if sys.prefix != sys.base_prefix else []
    for package in ("echo_bot", "channels", "echo_agent"):
        spec = find_spec(package)
        folders += [Path(place) for place in (spec.submodule_search_locations or ())] if spec else []
    return tuple(dict.fromkeys(str(folder) for folder in folders))


def tool_files(config: Config) -> tuple[Path, ...]:
    """The files with the user's own tools, from the workspace where they are written without a folder."""
    base = workspace(config)
    return tuple(absolute(str(base / Path(path).expanduser())) for path in config.tools.paths)


def skills_dir(config: Config) -> Path:
    """Where installed skills are kept."""
    return data_dir(config) / "skills"


def skill_folders(config: Config) -> tuple[Path, ...]:
    """The operator's own skill folders, from the workspace where they are written without one."""
    base = workspace(config)
    return tuple(absolute(str(base / Path(path).expanduser())) for path in config.skills.paths)


def spill_dir(config: Config) -> Path:
    """Where long tool results are kept."""
    return data_dir(config) / "spill"


def state_places(config: Config, config_path: Path | None) -> tuple[Path, ...]:
    """The bot's own state: its data folder, its database wherever that is, and its configuration.

    The usual configuration counts also where there is none: whoever makes one decides the next start.
    """
    configuration = (user_config_path(), *([absolute(str(config_path))] if config_path else []))
    return (data_dir(config), *_database_files(config), *configuration)


def _database_files(config: Config) -> tuple[Path, ...]:
    """The file of `storage.url` and those that SQLite keeps beside it, when it is not in the data folder."""
    name = config.storage.url.get_secret_value().partition("://")[2].removeprefix("/")
    if not name:
        return ()
    from echo_bot.policy.guards.paths import DATABASE_SIBLINGS

    database = absolute(name)
    return (database, *(database.with_name(database.name + ending) for ending in DATABASE_SIBLINGS))


def database_url(config: Config) -> str:
    """The configured database, or the one in the data folder."""
    return config.storage.url.get_secret_value() or database_url_in(data_dir(config))


def database_url_in(folder: Path) -> str:
    """The database of a state folder."""
    return f"sqlite+aiosqlite:///{folder / DATABASE}"


def absolute(written: str) -> Path:
    """A path as it was written, from the current folder; links are kept."""
    return Path(os.path.abspath(Path(written).expanduser()))
