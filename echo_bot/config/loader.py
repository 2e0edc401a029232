"""Find the configuration, read it, lay the environment over it, check it: one `Loaded` or one ConfigError."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from echo_bot.channel import ChannelManifest
from echo_bot.config.availability import NOT_AVAILABLE, unavailable
from echo_bot.config.checks import check
from echo_bot.config.complaint import complaint
from echo_bot.config.credentials import credential_keys
from echo_bot.config.environment import environment_values
from echo_bot.config.finding import find_config, read_config
from echo_bot.config.fingerprint import environment_digest, file_digest
from echo_bot.config.model import Config, config_model
from echo_bot.config.yaml_tree import Tree, parse_yaml
from echo_bot.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Loaded:
    """The configuration and where it came from.

    `path` is None without a file. `from_environment` are the dotted keys that variables set.
    `yaml_credentials` are the credentials that stand in the file itself. The digests tell a later change.
    """

    config: Config
    path: Path | None = None
    from_environment: tuple[str, ...] = ()
    yaml_credentials: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    file_digest: str = ""
    environment_digest: str = ""


def load_config(
    path: Path | None, environ: Mapping[str, str], manifests: Iterable[ChannelManifest] = ()
) -> Loaded:
    """Load the file of `-c PATH`, ECHO_BOT_CONFIG or the user's config folder; the defaults without any.

    `manifests` are those of the installed channels. Raises ConfigError naming file, line and key.
    """
    file = find_config(path, environ)
    content = read_config(file) if file else b""
    tree = parse_yaml(_text(content, file), str(file)) if file else Tree({}, {})
    model = config_model(manifests)
    overrides = environment_values(environ, model)
    config = _validated(model, tree, overrides, str(file or ""))
    _refuse(config, tree, overrides, str(file or ""))
    keys = frozenset(".".join(key) for key in overrides)
    return Loaded(
        config=config,
        path=file,
        from_environment=tuple(sorted(keys)),
        yaml_credentials=tuple(key for key in credential_keys(config) if key not in keys),
        warnings=tuple(item.sentence for item in check(config) if not item.refuses),
        file_digest=file_digest(content) if file else "",
        environment_digest=environment_digest(environ),
    )


def config_from_keys(keys: Mapping[str, object], manifests: Iterable[ChannelManifest] = ()) -> Config:
    """A configuration from dotted keys, for judging cases: every key counts, also of parts that come later.

    Raises ConfigError as loading does, but refuses nothing for being unavailable here.
    """
    overrides = {tuple(key.split(".")): value for key, value in keys.items()}
    return _validated(config_model(manifests), Tree({}, {}), overrides, "")


def _text(content: bytes, file: Path) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"is not UTF-8 text (byte {error.start})", file=str(file)) from None


def _validated(
    model: type[Config], tree: Tree, overrides: Mapping[tuple[str, ...], object], file: str
) -> Config:
    values = _without_empty(tree.values)
    for key, value in overrides.items():
        values = _laid_over(values, key, value)
    try:
        return model.model_validate(values)
    except ValidationError as error:
        place, sentence = complaint(error, model)
        raise _error(sentence, place, tree, overrides, file) from None


def _refuse(config: Config, tree: Tree, overrides: Mapping[tuple[str, ...], object], file: str) -> None:
    """Raise for the first setting that may not be: it is dangerous, or its feature is not built yet."""
    refusals = [item for item in check(config) if item.refuses]
    wrong = [(item.key, item.sentence) for item in refusals]
    wrong += [(key, NOT_AVAILABLE) for key in unavailable(config)]
    for key, sentence in wrong[:1]:
        raise _error(sentence, tuple(key.split(".")), tree, overrides, file)


def _error(
    sentence: str,
    place: tuple[str | int, ...],
    tree: Tree,
    overrides: Mapping[tuple[str, ...], object],
    file: str,
) -> ConfigError:
    key = ".".join(str(part) for part in place)
    set_by = next((o for o in overrides if tuple(map(str, place[: len(o)])) == o), None)
    if set_by is not None and file:
        return ConfigError(f"{sentence} (set by the environment)", key=key)
    return ConfigError(sentence, file=file, line=tree.line_of(place), key=key)


def _without_empty(values: Mapping[str, object]) -> dict[str, object]:
    """A section with nothing below it (`tools:`) counts as absent."""
    return {
        key: _without_empty(value) if isinstance(value, Mapping) else value
        for key, value in values.items()
        if value is not None
    }


def _laid_over(values: Mapping[str, object], key: tuple[str, ...], value: object) -> dict[str, object]:
    """The values with one key set, sections made as needed."""
    head, rest = key[0], key[1:]
    if not rest:
        return {**values, head: value}
    below = values.get(head, {})
    return {**values, head: _laid_over(below if isinstance(below, Mapping) else {}, rest, value)}
