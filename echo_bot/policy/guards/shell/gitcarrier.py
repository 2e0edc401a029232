"""Commands that git is told to start: settings, aliases, hooks of its verbs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from echo_bot.policy.guards.shell.options import OptionTable, is_option, names, read_options
from echo_bot.policy.guards.shell.started import started
from echo_bot.policy.guards.shell.trampoline import Steps, call

if TYPE_CHECKING:
    from echo_bot.policy.guards.shell.invocation import Invocation
    from echo_bot.policy.guards.shell.machine import Machine

_GIT_CONFIG = re.compile(
    r"(?:core\.(?:pager|editor|sshcommand|fsmonitor|askpass|gitproxy|hookspath)|"
    r"alias\.[^=]+|diff\.external|diff\.[^=]+\.(?:command|textconv)|merge\.[^=]+\.driver|"
    r"sequence\.editor|credential\.(?:[^=]*\.)?helper|pager\.[^=]+|"
    r"filter\.[^=]+\.(?:clean|smudge|process)|gpg\.(?:[^=]*\.)?program|"
    r"uploadpack\.packobjectshook|"
    r"difftool\.[^=]+\.cmd|mergetool\.[^=]+\.cmd|interactive\.difffilter|"
    r"browser\.[^=]+\.cmd|man\.[^=]+\.cmd|sendemail\.[^=]+|trailer\.[^=]+\.(?:command|"
    r"cmd)|remote\.[^=]+\.(?:uploadpack|receivepack)|imap\.tunnel|ssh\.variant)=(.*)\Z",
    re.IGNORECASE | re.DOTALL,
)


def git_commands(machine: Machine, inv: Invocation) -> Steps[None]:
    args = inv.args
    index = 0
    while index < len(args) and is_option(args[index]):
        value = args[index + 1] if index + 1 < len(args) else ""
        if args[index] in ("-c", "--config-env"):
            found = _GIT_CONFIG.match(value)
            if found is not None:
                text = found.group(1)
                runs = text.lstrip().startswith("!") or not value.lower().startswith("alias.")
                text = text.lstrip().removeprefix("!")
                yield from started(machine, inv, text if runs else "git " + text)
        index += (
            2
            if args[index]
            in ("-c", "-C", "--git-dir", "--work-tree", "--namespace", "--config-env", "--exec-path")
            else 1
        )
    words = args[index:]
    if not words:
        return
    verb = words[0].lower()
    if verb == "checkout" and "--" in words[:-1]:
        machine.ask("git_destructive", "Overwrites changed files.", inv)
    if words[:3][:2] == ["bisect", "run"]:
        yield from call(machine.dispatch(machine, inv.inner(words[2:])))
    elif verb == "submodule" and "foreach" in words:
        rest = [
            word
            for word in words[words.index("foreach") + 1 :]
            if word not in ("--recursive", "--quiet", "-q")
        ]
        yield from started(machine, inv, " ".join(rest))
    elif verb == "rebase":
        options = read_options(words[1:], OptionTable("xsX", names("exec strategy strategy-option onto")))
        for text in options.values("x", "exec"):
            yield from started(machine, inv, text)
    elif verb == "filter-branch":
        for at, word in enumerate(words[:-1]):
            if word.endswith("-filter"):
                yield from started(machine, inv, words[at + 1])
    elif verb == "config":
        operands = [word for word in words[1:] if not is_option(word)]
        if len(operands) >= 2 and (found := _GIT_CONFIG.match(f"{operands[0]}={operands[1]}")):
            yield from started(
                machine,
                inv,
                found.group(1).lstrip().removeprefix("!")
                if found.group(1).lstrip().startswith("!") or not operands[0].startswith("alias.")
                else "git " + found.group(1),
            )
    elif verb in ("clone", "fetch", "pull", "ls-remote", "remote", "push"):
        for word in words[1:]:
            if word.startswith("ext::"):
                yield from started(machine, inv, word[5:])
        options = read_options(
            words[1:], OptionTable("cuob", names("config upload-pack receive-pack exec origin branch"))
        )
        for setting in options.values("c", "config"):
            if found := _GIT_CONFIG.match(setting):
                yield from started(machine, inv, found.group(1).lstrip("!"))
        for text in options.values("u", "upload-pack", "receive-pack", "exec"):
            yield from started(machine, inv, text)
    elif verb in ("difftool", "mergetool"):
        options = read_options(words[1:], OptionTable("xt", names("extcmd tool")))
        for text in options.values("x", "extcmd"):
            yield from started(machine, inv, text)
    elif verb == "grep":
        for word in words:
            if word.startswith("-O") and len(word) > 2:
                yield from started(machine, inv, word[2:])
            elif word.startswith("--open-files-in-pager="):
                yield from started(machine, inv, word.partition("=")[2])
