"""What the model is told about its task: the text of the configuration, or that of the file it names."""

from __future__ import annotations

import stat
from pathlib import Path

from echo_bot.config.model import Config
from echo_bot.errors import ConfigError

KEY = "models.system_prompt_file"
_MOST_BYTES = 200_000


def prompt_path(config: Config, config_path: Path | None) -> Path | None:
    """The file, absolute; relative ones count from the folder of the configuration, else the current one."""
    if not config.models.system_prompt_file:
        return None
    path = Path(config.models.system_prompt_file).expanduser()
    return (config_path.absolute().parent if config_path else Path.cwd()) / path


def prompt_files(config: Config, config_path: Path | None) -> tuple[Path, ...]:
    """What no model may write: who writes the file, writes the model's orders."""
    path = prompt_path(config, config_path)
    return () if path is None else (path,)


def system_prompt(config: Config, config_path: Path | None) -> str:
    """Raises ConfigError for a file that cannot be used, naming it and the key."""
    path = prompt_path(config, config_path)
    return config.models.system_prompt if path is None else _read(path)


def _read(path: Path) -> str:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise _refusal(path, "is no regular file")
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
        text = content.decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise _refusal(path, f"is not UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise _refusal(path, f"cannot be read: {error.strerror}") from None
    if len(content) > _MOST_BYTES:
        raise _refusal(path, f"is longer than {_MOST_BYTES:,} bytes")
    if not text:
        raise _refusal(path, "is empty")
    return text


def _refusal(path: Path, why: str) -> ConfigError:
    return ConfigError(f"the file {why}", file=str(path), key=KEY)
