"""Finding channels and tools: entry points and tool files. The only dynamic imports of Echo Bot are here."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import EntryPoint, entry_points, packages_distributions
from pathlib import Path

from echo_bot.channel import Channel, ChannelCapabilities, ChannelManifest, ChannelSettings, ChannelSetup
from echo_bot.errors import StartError
from echo_bot.policy.settings import API
from echo_bot.tools.base import Tool
from echo_bot.tools.registry import Registry

CHANNELS_GROUP = "echo_bot.channels"
TOOLS_GROUP = "echo_bot.tools"


@dataclass(frozen=True, slots=True)
class Discovered:
    """The installed channels by name, and why each of the others cannot be loaded; none stops another."""

    manifests: Mapping[str, ChannelManifest]
    broken: Mapping[str, str]


def discover_channels() -> Discovered:
    """Every installed channel's manifest; no SDK is imported."""
    found: dict[str, ChannelManifest] = {}
    broken: dict[str, str] = {}
    for point in entry_points(group=CHANNELS_GROUP):
        try:
            manifest = _load(point)
        except StartError as error:
            broken[point.name] = str(error)
            continue
        if isinstance(manifest, ChannelManifest) and manifest.name == API:
            broken[point.name] = f"the channel plugin {point.value} takes the name of the HTTP API"
        elif isinstance(manifest, ChannelManifest):
            found[manifest.name] = manifest
        else:
            broken[point.name] = f"the channel plugin {point.value} is not a ChannelManifest"
    return Discovered(found, broken)


def build_channel(manifest: ChannelManifest, settings: ChannelSettings) -> Channel:
    """Import the adapter and make the channel. Raises StartError."""
    module_name, _, function = manifest.build.partition(":")
    try:
        build = getattr(importlib.import_module(module_name), function)
    except (ImportError, AttributeError) as error:
        raise StartError(
            f"the channel {manifest.name} cannot be loaded ({error}).{_foreign_channels(module_name)}"
        ) from error
    try:
        channel: Channel = build(settings)
    except StartError:
        raise
    except Exception as error:
        raise StartError(
            f"the channel {manifest.name} cannot be made: {type(error).__name__}: {error}"
        ) from error
    return channel


def capabilities_of(manifest: ChannelManifest) -> ChannelCapabilities:
    """The flags of a channel that is not set up. Raises StartError."""
    module_name = manifest.build.partition(":")[0]
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise StartError(f"the channel {manifest.name} cannot be loaded ({error})") from error
    own = (each for each in vars(module).values() if getattr(each, "__module__", "") == module_name)
    for channel in own:
        bears = getattr(channel, "capabilities", None)
        if isinstance(bears, ChannelCapabilities) and getattr(channel, "name", "") == manifest.name:
            return bears
    raise StartError(f"the channel {manifest.name} does not say what it can do")


def load_setup(manifest: ChannelManifest) -> ChannelSetup:
    """What helps to set this channel up. Raises StartError."""
    module_name, _, name = manifest.setup.partition(":")
    try:
        helper: ChannelSetup = getattr(importlib.import_module(module_name), name)
    except (ImportError, AttributeError) as error:
        raise StartError(
            f"the set-up of {manifest.name} cannot be loaded ({error}).{_foreign_channels(module_name)}"
        ) from error
    return helper


@dataclass(frozen=True, slots=True)
class OwnTools:
    """The user's tools, each with where it came from, and a sentence for each that cannot be used."""

    tools: tuple[tuple[Tool, str], ...]
    broken: tuple[str, ...]


def own_tools(files: Iterable[Path]) -> OwnTools:
    """Entry points, then the files of `tools.paths`. What is broken takes nothing else down."""
    sources: list[tuple[str, Callable[[], object]]] = [
        (point.value, partial(_load, point)) for point in entry_points(group=TOOLS_GROUP)
    ]
    sources += [(str(file), partial(_load_file, file, index)) for index, file in enumerate(files)]
    found = [(each, origin) for origin, load in sources for each in _tools_of(load, origin)]
    return OwnTools(
        tuple((each, origin) for each, origin in found if isinstance(each, Tool)),
        tuple(each for each, _ in found if isinstance(each, str)),
    )


def add_own_tools(registry: Registry, files: Iterable[Path]) -> tuple[str, ...]:
    """Register the user's own tools; a sentence for each that cannot be, which stops nothing else."""
    own = own_tools(files)
    broken = list(own.broken)
    for tool, origin in own.tools:
        try:
            registry.add(tool, origin)
        except StartError as error:
            broken.append(str(error))
    return tuple(broken)


def _tools_of(load: Callable[[], object], origin: str) -> Iterator[Tool | str]:
    """The tools of one source, and a sentence for what is broken in it."""
    try:
        makers = tuple(_makers(load(), origin))
    except StartError as error:
        yield str(error)
        return
    for make in makers:
        try:
            yield make()
        except StartError as error:
            yield str(error)


def _makers(thing: object, origin: str) -> Iterator[Callable[[], Tool]]:
    """A Tool class or object as it is; of a module every Tool class that it defines. Raises StartError."""
    if isinstance(thing, Tool):
        yield lambda: thing
        return
    classes = [thing] if inspect.isclass(thing) else [v for v in vars(thing).values() if inspect.isclass(v)]
    module = "" if inspect.isclass(thing) else getattr(thing, "__name__", "")
    own = [
        each
        for each in classes
        if issubclass(each, Tool) and not inspect.isabstract(each) and each.name
        if module in ("", each.__module__)
    ]
    if not own:
        raise StartError(f"{origin} defines no tool: a class derived from Tool, with a name and `execute`")
    for each in own:
        yield partial(_made, each, origin)


def _made(tool_class: type[Tool], origin: str) -> Tool:
    try:
        return tool_class()
    except Exception as error:
        raise StartError(f"{origin}: the tool {tool_class.name} cannot be made: {_told(error)}") from error


def _load(point: EntryPoint) -> object:
    try:
        return point.load()
    except Exception as error:
        raise StartError(
            f"the plugin {point.name} ({point.value}) cannot be loaded: {error}."
            f"{_foreign_channels(point.module)}"
        ) from error


def _load_file(path: Path, index: int) -> object:
    name = f"echo_bot_own_tools_{index}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise StartError(f"tools.paths names {path}, which is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise StartError(f"the tool file {path} cannot be loaded: {_told(error)}") from error
    return module


def _told(error: BaseException) -> str:
    """An error of somebody else's code in one line, with its kind: its text alone may say nothing."""
    return " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")


def foreign_channels() -> tuple[str, ...]:
    """Other distributions that also install a package named `channels`."""
    return tuple(sorted(set(packages_distributions().get("channels", ())) - {"echo-bot"}))


def _foreign_channels(module_name: str) -> str:
    """Another distribution (such as Django Channels) may also install a package named `channels`."""
    if module_name.partition(".")[0] != "channels":
        return ""
    others = foreign_channels()
    if not others:
        return ""
    return f" {', '.join(others)} installs a package named channels too: give Echo Bot its own environment."
