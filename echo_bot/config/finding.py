"""Where the configuration file is, the named one or the one in the user's config folder, and its content."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from echo_bot.errors import ConfigError

CONFIG_VARIABLE = "ECHO_BOT_CONFIG"


def find_config(path: Path | None, environ: Mapping[str, str]) -> Path | None:
    """The file to read. A named one must exist; the one in the user's config folder may."""
    named = path or (Path(environ[CONFIG_VARIABLE]) if environ.get(CONFIG_VARIABLE) else None)
    if named is not None:
        return named.expanduser()
    usual = user_config_path()
    return usual if usual.exists() else None


def user_config_path() -> Path:
    """`echo-bot/config.yaml` in the user's config folder."""
    from platformdirs import user_config_path as folder

    return folder("echo-bot", appauthor=False) / "config.yaml"


def read_config(file: Path) -> bytes:
    """Raises ConfigError naming the file."""
    try:
        return file.read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", file=str(file)) from None
