"""Every tool's state while no bot runs: the registry's own rules, and what can be seen of this machine."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from echo_bot.policy.settings import ToolSettings
from echo_bot.tools.builtin.interpreters import languages_readiness
from echo_bot.tools.registry import Availability, Registry, ToolState

BUILT = frozenset(
    {
        "clarify",
        "edit_file",
        "exec",
        "execute_code",
        "list_dir",
        "message",
        "notify",
        "patch",
        "process",
        "read_file",
        "read_spill",
        "search_files",
        "todo",
        "write_file",
    }
)
"""The built-in tools of this version; the rest of the catalogue comes later."""

_RUN_CODE = frozenset({"exec", "execute_code", "process"})
READY = (True, "")


@dataclass(frozen=True, slots=True)
class Machine:
    """`path` is the PATH of programs; `executor`: can code run where the configuration sends it?"""

    path: str
    executor: tuple[bool, str] = READY


def tool_states(own: Registry, settings: ToolSettings, machine: Machine) -> tuple[ToolState, ...]:
    """`own` holds the user's own tools alone. Nothing is built and nothing is run."""
    return tuple(_judged(state, settings.code_languages, machine) for state in own.states(settings))


def _judged(state: ToolState, languages: Iterable[str], machine: Machine) -> ToolState:
    if state.state is not Availability.NOT_READY or state.name not in BUILT:
        return state
    ready, why = machine.executor if state.name in _RUN_CODE else READY
    if ready and state.name == "execute_code":
        ready, why = languages_readiness(languages, machine.path)
    return ToolState(state.name, Availability.AVAILABLE) if ready else replace(state, reason=why)
