"""Every tool's state while no bot runs: asked of the parts of a start, or by hand for the defaults."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from echo_bot.app.unconfigured import UNCONFIGURED
from echo_bot.policy.call import Executor
from echo_bot.policy.catalogue import CATALOGUE
from echo_bot.policy.settings import ToolSettings
from echo_bot.tools.builtin.interpreters import languages_readiness
from echo_bot.tools.registry import Availability, Registry, ToolState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from echo_bot.app.parts import Parts
    from echo_bot.channel import ChannelManifest
    from echo_bot.config.loader import Loaded
    from echo_bot.storage.protocol import SealedValues
    from echo_bot.storage.store import SqlStore
    from echo_bot.tools.media.hearing import Ears

_WHERE = {
    Executor.SANDBOX: "code runs in a sandbox (bubblewrap)",
    Executor.LOCAL: "code runs on this computer itself, without a sandbox",
    Executor.CONTAINER: "code runs in a container",
    Executor.REMOTE: "code runs on another computer",
}


@dataclass(frozen=True, slots=True)
class ToolsOfAStart:
    """`broken`: a sentence for each of the user's own tools that a start would leave out.

    `runs_code`: where commands and code run, "" where they do not, or where a person is asked about it.
    `ears` are what voice messages are transcribed with.
    """

    states: tuple[ToolState, ...]
    broken: tuple[str, ...]
    runs_code: str
    ears: Ears | None


def default_states(path: str) -> tuple[ToolState, ...]:
    """The tools of a start without any configuration, where `path` is the PATH. Nothing is built or run."""
    settings = ToolSettings()
    return tuple(_by_default(each, settings, path) for each in Registry(()).states(settings))


async def tools_of_a_start(
    loaded: Loaded,
    manifests: tuple[ChannelManifest, ...],
    store: SqlStore,
    sealed: SealedValues,
    environ: Mapping[str, str],
) -> ToolsOfAStart:
    """Build what a start would build, start none of it, and ask every tool. The store is not opened."""
    from echo_bot.app.toolbox import where_code_runs

    parts = await unstarted_parts(loaded, manifests, store, sealed, environ)
    where, executors = where_code_runs(loaded.config), parts.toolbox.executors
    await executors.probe()
    await executors.close()
    return ToolsOfAStart(
        parts.toolbox.registry.states(parts.settings.tools),
        parts.toolbox.broken,
        _WHERE[where] if executors.readiness(where)[0] else "",
        parts.ears,
    )


async def unstarted_parts(
    loaded: Loaded,
    manifests: tuple[ChannelManifest, ...],
    store: SqlStore,
    sealed: SealedValues,
    environ: Mapping[str, str],
) -> Parts:
    """The parts of a start, to be looked at: nothing is opened, run or written."""
    from echo_bot.app.parts import build_parts
    from echo_bot.app.rehearsal import secrets_or_names
    from echo_bot.app.setting import Setting, utc_now

    secrets, _ = await secrets_or_names(loaded, sealed, environ)
    return build_parts(
        Setting(
            loaded,
            manifests,
            store,
            secrets,
            writer="",
            is_interactive=False,
            clock=utc_now,
            rehearses=True,
        )
    )


def _by_default(state: ToolState, settings: ToolSettings, path: str) -> ToolState:
    if state.state is not Availability.NOT_READY or state.name not in CATALOGUE:
        return state
    ready, why = state.name not in UNCONFIGURED, UNCONFIGURED.get(state.name, "")
    if state.name == "execute_code":
        ready, why = languages_readiness(settings.code_languages, path)
    return ToolState(state.name, Availability.AVAILABLE) if ready else replace(state, reason=why)
