"""Find the configuration, read it, lay the environment over it, check it: one `Loaded` or one ConfigError."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from echo_bot.channel import ChannelManifest
from echo_bot.config.availability import NOT_AVAILABLE, unavailable
from echo_bot.config.checks import check, check_senders
from echo_bot.config.complaint import complaints
from echo_bot.config.credentials import credential_keys
from echo_bot.config.environment import environment_values
from echo_bot.config.finding import find_config, read_config
from echo_bot.config.fingerprint import environment_digest, file_digest
from echo_bot.config.model import Config, config_model
from echo_bot.config.yaml_tree import Path as Place
from echo_bot.config.yaml_tree import Tree, parse_yaml
from echo_bot.errors import ConfigError


class ConfigErrors(ConfigError):
    """Several errors of one configuration and where they are; the text is that of the first."""

    def __init__(self, errors: tuple[ConfigError, ...], places: tuple[Place, ...]) -> None:
        self.errors, self.places = errors, places
        first = errors[0]
        super().__init__(first.reason, file=first.file, line=first.line, key=first.key)


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


@dataclass(frozen=True, slots=True)
class Examined:
    """A configuration with everything that is wrong with it. `loaded` is None when it cannot be used."""

    path: Path | None
    loaded: Loaded | None
    errors: tuple[ConfigError, ...] = ()


def load_config(
    path: Path | None, environ: Mapping[str, str], manifests: Iterable[ChannelManifest] = ()
) -> Loaded:
    """Load the file of `-c PATH`, ECHO_BOT_CONFIG or the user's config folder; the defaults without any.

    `manifests` are those of the installed channels. Raises ConfigError naming file, line and key.
    """
    examined = examine_config(path, environ, manifests)
    if examined.loaded is None:
        raise examined.errors[0]
    return examined.loaded


def examine_config(
    path: Path | None, environ: Mapping[str, str], manifests: Iterable[ChannelManifest] = ()
) -> Examined:
    """As `load_config`, with every error rather than the first."""
    file = find_config(path, environ)
    try:
        content = read_config(file) if file else b""
    except ConfigError as error:
        return Examined(file, None, (error,))
    return examine_content(content, file, environ, manifests)


def examine_content(
    content: bytes, file: Path | None, environ: Mapping[str, str], manifests: Iterable[ChannelManifest] = ()
) -> Examined:
    """As `examine_config`, of a file that would hold `content`."""
    manifests = tuple(manifests)
    model = config_model(manifests)
    try:
        tree = parse_yaml(_text(content, file), str(file)) if file else Tree({}, {})
        overrides = environment_values(environ, model)
        config = _validated(model, tree, overrides, str(file or ""))
    except ConfigErrors as several:
        rest = _rest_of(model, tree, overrides, several.places)
        refusals = tuple(_refusals(rest, tree, overrides, str(file or ""))) if rest else ()
        return Examined(file, None, (*several.errors, *refusals))
    except ConfigError as error:
        return Examined(file, None, (error,))
    errors = tuple(_refusals(config, tree, overrides, str(file or "")))
    if errors:
        return Examined(file, None, errors)
    keys = frozenset(".".join(key) for key in overrides)
    objections = (*check(config), *check_senders(config, manifests))
    loaded = Loaded(
        config=config,
        path=file,
        from_environment=tuple(sorted(keys)),
        yaml_credentials=tuple(key for key in credential_keys(config) if key not in keys),
        warnings=tuple(item.sentence for item in objections if not item.refuses),
        file_digest=file_digest(content) if file else "",
        environment_digest=environment_digest(environ),
    )
    return Examined(file, loaded)


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
    try:
        return model.model_validate(_values(tree, overrides))
    except ValidationError as error:
        found = complaints(error, model)
        errors = tuple(_error(sentence, place, tree, overrides, file) for place, sentence in found)
        raise ConfigErrors(errors, tuple(place for place, _ in found)) from None


def _values(tree: Tree, overrides: Mapping[tuple[str, ...], object]) -> dict[str, object]:
    values = _without_empty(tree.values)
    for key, value in overrides.items():
        values = _laid_over(values, key, value)
    return values


def _rest_of(
    model: type[Config],
    tree: Tree,
    overrides: Mapping[tuple[str, ...], object],
    wrong: tuple[Place, ...],
) -> Config | None:
    """The configuration without what is wrong with it, so that the rest can be looked at too."""
    values = _values(tree, overrides)
    for place in wrong:
        values = _without(values, place)
    try:
        return model.model_validate(values)
    except ValidationError:
        return None


def _without(values: Mapping[str, object], place: Place) -> dict[str, object]:
    """The values without what is at a place; of a list the whole list goes."""
    head, rest = str(place[0]), place[1:]
    below = values.get(head)
    if rest and isinstance(below, Mapping):
        return {**values, head: _without(below, rest)}
    return {key: value for key, value in values.items() if key != head}


def _refusals(
    config: Config, tree: Tree, overrides: Mapping[tuple[str, ...], object], file: str
) -> Iterator[ConfigError]:
    """Every setting that may not be: it is dangerous, or its feature is not built yet."""
    wrong = [(item.key, item.sentence) for item in check(config) if item.refuses]
    wrong += [(key, NOT_AVAILABLE) for key in unavailable(config)]
    for key, sentence in wrong:
        yield _error(sentence, tuple(key.split(".")), tree, overrides, file)


def _error(
    sentence: str,
    place: Place,
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
