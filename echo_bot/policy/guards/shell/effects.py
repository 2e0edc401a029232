"""What touching a path means: findings for reading, writing and deleting it, whatever program does it."""

from __future__ import annotations

from typing import Protocol

from echo_bot.policy.guards.shell import roots
from echo_bot.policy.guards.shell.invocation import Invocation
from echo_bot.policy.guards.shell.marks import HOME, UNKNOWN, UNKNOWN_FIELDS, is_open, unglobbed
from echo_bot.policy.guards.shell.paths import resolve
from echo_bot.policy.guards.shell.roots import Match


class Findings(Protocol):
    """Where an effect is told."""

    def ask(self, kind: str, sentence: str, inv: Invocation) -> None: ...

    def deny(self, kind: str, sentence: str, inv: Invocation) -> None: ...


def spoken(value: str) -> str:
    """A path as it can stand in a sentence."""
    text = unglobbed(value).replace(HOME, "~").replace(UNKNOWN, "…").replace(UNKNOWN_FIELDS, "…")
    return text if len(text) <= 80 else text[:77] + "…"


def secret(findings: Findings, inv: Invocation, path: str, verb: str) -> bool:
    """Findings for password tables, private keys and process environments; True when one was sure."""
    if (match := roots.proc_match(path, inv.place)) is not Match.NO:
        sentence = f"{verb} another process's environment or memory: {spoken(path)}."
        if match is Match.YES:
            findings.deny("proc_secrets", sentence, inv)
            return True
        findings.ask("proc_secrets", sentence, inv)
    match = roots.secret_match(path, inv.place)
    if match is Match.YES:
        findings.deny("sensitive_path", f"{verb} {spoken(path)}, which holds keys or passwords.", inv)
        return True
    if match is Match.MAYBE:
        findings.ask("sensitive_path", f"{verb} {spoken(path)}, which may hold keys or passwords.", inv)
    return False


def read(findings: Findings, inv: Invocation, path: str) -> None:
    """A file's content is read, copied, archived, linked or sent."""
    if roots.is_network_path(path):
        findings.ask("network_outbound", f"Opens a network connection through {spoken(path)}.", inv)
    elif not secret(findings, inv, path, "Reads") and roots.is_user_credential(path, inv.place):
        findings.ask("credential_read", f"Reads {spoken(path)}, which holds credentials.", inv)


def write(findings: Findings, inv: Invocation, path: str, unknown_asks: bool = False) -> None:
    """A file is made, replaced or changed."""
    place = inv.place
    if roots.is_network_path(path):
        findings.ask("network_outbound", f"Opens a network connection through {spoken(path)}.", inv)
        return
    match = roots.disk_match(path, place)
    if match is Match.YES:
        findings.deny("block_device_write", f"Writes to the device {spoken(path)}.", inv)
        return
    if match is Match.MAYBE and (unknown_asks or not is_open(path) or "/dev" in path):
        findings.ask(
            "block_device_write", f"Writes to {spoken(path)}, which may be a device or a protected file.", inv
        )
    if roots.is_power_switch(path, place):
        findings.deny("shutdown", f"Writes to {spoken(path)}, which can halt the findings.", inv)
        return
    if _is_own_key(path, inv):
        findings.ask("credential_write", f"Writes the private key {spoken(path)}.", inv)
        return
    if secret(findings, inv, path, "Writes"):
        return
    if roots.is_credential(path, place):
        findings.ask("credential_write", f"Writes {spoken(path)}, whose name says it holds credentials.", inv)
    if roots.is_system_setting(path, place):
        findings.ask("system_config", f"Changes {spoken(path)}, which the system or a tool acts on.", inv)


def delete(findings: Findings, inv: Invocation, path: str) -> None:
    """A file is deleted: nothing is told by that, but a log-in may depend on it."""
    if roots.secret_match(path, inv.place) is Match.YES:
        findings.ask("sensitive_path", f"Deletes {spoken(path)}, which holds keys or passwords.", inv)


def read_tree(findings: Findings, inv: Invocation, path: str) -> None:
    """A folder is copied or packed with everything in it."""
    if resolve(path, inv.place).lower().rstrip("/") in ("", "/root", "/etc", "/etc/ssh"):
        findings.ask("sensitive_path", f"Copies {spoken(path)} with the keys and passwords in it.", inv)


def unpack(findings: Findings, inv: Invocation, folder: str) -> None:
    """An archive's members, whose names nobody knows, are written into a folder."""
    write(findings, inv, folder.rstrip("/") + "/")
    if roots.is_system_folder(folder, inv.place):
        findings.ask(
            "system_config", f"Unpacks an archive into {spoken(folder)}, a folder of the system.", inv
        )


def _is_own_key(path: str, inv: Invocation) -> bool:
    """Replacing one's own key is a person's call; `/root/.ssh` spelled out never is."""
    if resolve(path, inv.place).lower().startswith("/root/"):
        return False
    name = path.rsplit("/", 1)[-1].lower()
    return name in ("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519")


def delete_tree(findings: Findings, inv: Invocation, path: str) -> None:
    """A folder is deleted with everything in it."""
    match = roots.root_match(path, inv.place)
    if match is Match.YES:
        findings.deny("root_rm", f"Deletes {spoken(path)}: a system folder or a whole home.", inv)
    else:
        findings.ask("recursive_delete", f"Deletes {spoken(path)} with everything in it.", inv)
