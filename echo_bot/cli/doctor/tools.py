"""Tools that cannot be called for want of something, and what brings it."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel

from echo_bot.app.tool_states import tools_of_a_start
from echo_bot.cli.doctor.finding import Finding, Severity
from echo_bot.cli.doctor.scene import Scene
from echo_bot.policy.catalogue import CATALOGUE
from echo_bot.tools.media.hearing import Ears
from echo_bot.tools.registry import LATER, Availability, ToolState

AREA = "tools"


async def of_tools(scene: Scene) -> list[Finding]:
    """One finding for each reason. It weighs more where the operator switched the tool's part on."""
    async with scene.store() as (store, sealed):
        found = await tools_of_a_start(
            scene.place.loaded, scene.place.manifests, store, sealed, scene.environ
        )
    unready = [each for each in found.states if each.state is Availability.NOT_READY and each.reason != LATER]
    there = sum(each.state is Availability.AVAILABLE for each in found.states)
    runs_code = [Finding("sandbox", Severity.OK, found.runs_code)] if found.runs_code else []
    return [
        *runs_code,
        *_by_reason(unready, scene),
        Finding(AREA, Severity.OK, f"{there} tools can be called"),
        *_of_voices(found.ears, is_off=not scene.config.tools.stt.enabled),
    ]


def _by_reason(unready: list[ToolState], scene: Scene) -> Iterator[Finding]:
    for reason in dict.fromkeys(each.reason for each in unready):
        names = [each.name for each in unready if each.reason == reason]
        is_wanted = any(_is_wanted(name, scene.config) for name in names)
        severity = Severity.WEAK if is_wanted else Severity.NOTE
        yield Finding(AREA, severity, f"not ready: {', '.join(names)}", reason)


def _of_voices(ears: Ears | None, *, is_off: bool) -> Iterator[Finding]:
    """Are voice messages transcribed, and where?"""
    if is_off:
        return
    if ears is None:
        hint = "set tools.stt.api_key, or tools.stt.api_base to a server of your own"
        yield Finding("voice", Severity.NOTE, "voice messages stay files: nothing transcribes them", hint)
    elif problem := ears.problem():
        yield Finding("voice", Severity.WEAK, "voice messages cannot be transcribed", problem)
    else:
        yield Finding("voice", Severity.OK, f"voice messages are transcribed at {ears.where}")


def _is_wanted(name: str, config: BaseModel) -> bool:
    """Did somebody write the key that switches this tool's part on? A tool of somebody's own is wanted."""
    entry = CATALOGUE.get(name)
    if entry is None:
        return True
    section: object = config
    for part in entry.subsystem.split(".") if entry.subsystem else ():
        if not isinstance(section, BaseModel) or part not in section.model_fields_set:
            return False
        section = getattr(section, part)
    return bool(entry.subsystem)
