"""What the gateway serves for the channels: pages behind the log-in, and paths that platforms call."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from echo_bot.app.enabled import title_of
from echo_bot.channel import AsgiApp, Channel
from echo_bot.gateway import hook_problem


@dataclass(slots=True)
class Served:
    """`paths` are the hooks of each channel by its title, `problems` the channels whose hooks cannot be."""

    mounts: dict[str, AsgiApp] = field(default_factory=dict)
    hooks: dict[str, AsgiApp] = field(default_factory=dict)
    pages: list[str] = field(default_factory=list)
    paths: dict[str, tuple[str, ...]] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)

    @property
    def titles(self) -> tuple[str, ...]:
        """The channels that nobody reaches while nothing is served."""
        return (*self.pages, *self.paths)


def served_for(channels: Iterable[Channel]) -> Served:
    """Whoever comes first has a path; a channel whose path is taken gets none at all."""
    served = Served()
    every = tuple(channels)
    for channel in every:
        if (routes := getattr(channel, "routes", None)) is not None:
            served.mounts["/" if channel.name == "web" else f"/{channel.name}"] = routes()
            served.pages.append(title_of(channel.name, channel.account))
    for channel in every:
        hooks: dict[str, AsgiApp] = dict(own()) if (own := getattr(channel, "hooks", None)) else {}
        title = title_of(channel.name, channel.account)
        problems = (hook_problem(path, served.hooks, served.mounts) for path in hooks)
        if problem := next((each for each in problems if each), ""):
            served.problems[title] = problem
        elif hooks:
            served.hooks |= hooks
            served.paths[title] = tuple(hooks)
    return served
