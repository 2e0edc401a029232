"""The file door, under the rules of a call or of a person."""

from __future__ import annotations

from dataclasses import dataclass

from echo_bot.approval.approvers import read_paired
from echo_bot.events import Identity
from echo_bot.files import FileDoor, real_rules
from echo_bot.policy.access import is_admin, is_restricted_by_star
from echo_bot.policy.guards.paths import PathRules
from echo_bot.policy.settings import PolicySettings
from echo_bot.storage.protocol import People
from echo_bot.tools.base import ToolExecutionContext
from echo_bot.tools.sites import CallSite, CallSites


@dataclass(frozen=True, slots=True)
class Doors:
    """A sender admitted only by "*" is kept to the workspace."""

    settings: PolicySettings
    sites: CallSites
    people: People

    def door(self, ctx: ToolExecutionContext | None) -> FileDoor:
        site = self.sites.get(ctx.execution_id) if ctx is not None else None
        return self.for_site(site, unattended=ctx.unattended if ctx else False)

    def for_site(self, site: CallSite | None, *, unattended: bool = False) -> FileDoor:
        return self._opened(restricted=site is not None and site.restricted, unattended=unattended)

    async def of_person(self, sender: Identity) -> FileDoor:
        """For what they ask for themselves. No card is shown for it: what needs one is left to admins."""
        access, paired = self.settings.access, await read_paired(self.people)
        return self._opened(
            restricted=is_restricted_by_star(sender, access, paired),
            unattended=not is_admin(sender, access, paired),
        )

    def _opened(self, *, restricted: bool, unattended: bool) -> FileDoor:
        places = self.settings.places
        return FileDoor(
            real_rules(
                PathRules(
                    workspace=places.workspace,
                    restrict_to_workspace=places.restrict_to_workspace or restricted,
                    safe_write_root=places.safe_write_root,
                    home=places.home,
                    protected=places.protected,
                    protected_write=places.protected_write,
                    unattended=unattended,
                )
            )
        )
