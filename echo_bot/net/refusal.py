"""How a refusal travels through an HTTP client: as one of its own transport errors."""

from __future__ import annotations

import httpx

from echo_bot.policy.decision import Finding, Verdict


class NetRefused(httpx.TransportError):
    """The guard refused a request, or (`in_redirect`) the target that a server named; `finding` says why."""

    def __init__(self, finding: Finding, *, in_redirect: bool = False) -> None:
        self.finding, self.in_redirect = finding, in_redirect
        super().__init__(finding.sentence)


def refuse(kind: str, sentence: str, in_redirect: bool = False) -> NetRefused:
    return NetRefused(Finding(kind, Verdict.DENY, sentence, field="url"), in_redirect=in_redirect)
