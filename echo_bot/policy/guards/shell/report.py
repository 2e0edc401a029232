"""What the shell guard hands back: findings, every simple command, and what the caller must bind or offer."""

from __future__ import annotations

from dataclasses import dataclass

from echo_bot.policy.decision import Finding, Verdict, strictest


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """One simple command as written, also from inside a substitution, a wrapper or a decoded payload.

    `text` shows its first 4,000 characters. A word is None when its value is not fully known. `plain` is
    False when the command has redirections or assignments.
    """

    words: tuple[str | None, ...]
    text: str
    plain: bool


@dataclass(frozen=True, slots=True)
class ShellReport:
    """The guard's whole answer on one command.

    `complete` is False when parsing failed or the step budget ended. `script_files` are script operands
    as written. `carries_code`: a shell or interpreter carries program text, so no grant may cover the call.
    """

    findings: tuple[Finding, ...] = ()
    commands: tuple[SimpleCommand, ...] = ()
    complete: bool = True
    needs_network: bool = False
    script_files: tuple[str, ...] = ()
    carries_code: bool = False

    @property
    def verdict(self) -> Verdict:
        return strictest(self.findings)
