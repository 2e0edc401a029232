"""Halting or restarting the machine, and ending every process on it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from echo_bot.policy.guards.shell.marks import UNKNOWN, is_open
from echo_bot.policy.guards.shell.options import OptionTable, is_help, is_option, names, read_options

if TYPE_CHECKING:
    from echo_bot.policy.guards.shell.invocation import Invocation
    from echo_bot.policy.guards.shell.machine import Machine

_POWER_VERBS = names(
    "reboot poweroff halt kexec soft-reboot suspend hibernate hybrid-sleep "
    "suspend-then-hibernate exit emergency rescue"
)
_HALTING = names("reboot poweroff halt kexec soft-reboot exit emergency rescue")
_POWER_UNITS = re.compile(
    r"(?:reboot|poweroff|halt|shutdown|kexec|soft-reboot|runlevel[06]|emergency|rescue|"
    r"ctrl-alt-del|systemd-(?:reboot|poweroff|halt|kexec))(?:\.(?:target|service))?\Z"
)
POWER_TOOLS = names(
    "shutdown reboot halt poweroff openrc-shutdown fasthalt fastboot pm-reboot systemd-shutdown "
    "reboot-system uadmin s6-linux-init-hpr s6-linux-init-shutdown hpr shutdown.exe psshutdown psshutdown.exe"
)


def power(machine: Machine, inv: Invocation) -> None:
    name = inv.name
    if is_help(inv.args):
        return
    if name == "shutdown" and inv.args and inv.args[0] in ("-c", "--show"):
        machine.ask("service_control", "Cancels a planned shutdown.", inv)
        return
    if name in ("reboot", "halt", "poweroff") and inv.args and set(inv.args) <= {"-w", "--wtmp-only"}:
        return
    machine.deny("shutdown", f"Halts or restarts the machine with {name}.", inv)


def init(machine: Machine, inv: Invocation) -> None:
    levels = [arg for arg in inv.args if not is_option(arg)]
    if any(level in ("0", "6") for level in levels):
        machine.deny("shutdown", "Switches to a run level that halts or restarts the machine.", inv)
    elif any(is_open(level) for level in levels):
        machine.ask("shutdown", "Switches the run level to one that is not known before.", inv)
    elif any(level in ("1", "s", "S", "single", "u", "U", "q") for level in levels):
        machine.ask("service_control", "Switches the run level.", inv)


def systemctl(machine: Machine, inv: Invocation) -> None:
    options = read_options(
        inv.args,
        OptionTable("HMtpnso", names("host machine type property lines signal kill-who root state output")),
    )
    if options.has("help", "version", "h", "dry-run") or not options.rest:
        return
    verb = options.rest[0].lower()
    if verb in _HALTING or (
        verb in ("start", "isolate", "restart", "reload-or-restart", "try-restart", "enable")
        and options.has("now") | (verb != "enable")
        and any(_POWER_UNITS.match(unit.lower()) for unit in options.rest[1:])
    ):
        machine.deny("shutdown", "Halts or restarts the machine through systemd.", inv)
    elif verb in _POWER_VERBS:
        machine.ask("service_control", "Suspends the machine.", inv)
    elif is_open(verb):
        machine.ask("service_control", "What systemctl does is not known before.", inv)


def loginctl(machine: Machine, inv: Invocation) -> None:
    words = [arg.lower() for arg in inv.args if not is_option(arg)]
    if words and words[0] in ("reboot", "poweroff", "halt", "kexec"):
        machine.deny("shutdown", "Halts or restarts the machine.", inv)


_BUS_POWER = re.compile(
    r"(?:PowerOff|Reboot|Halt|KExec|Shutdown|Restart|SoftReboot|RebootWithFlags|logoutAnd(?:Reboot|Shutdown)|"
    r"PowerOffWithFlags|HaltWithFlags)(?:\(.*\))?\Z"
)


def bus(machine: Machine, inv: Invocation) -> None:
    """dbus-send, busctl, gdbus, qdbus to the log-in or session manager."""
    text = " ".join(inv.args)
    if not re.search(
        r"login1|systemd1|ConsoleKit|SessionManager|upower|ksmserver|kde\.Shutdown|LogoutPrompt",
        text,
        re.IGNORECASE,
    ):
        return
    is_power = any(_BUS_POWER.match(part) for arg in inv.args for part in re.split(r"[. ]", arg))
    is_power = is_power or re.search(r"(?:reboot|poweroff|halt|kexec)\.target", text) is not None
    if is_power and "introspect" not in text.lower():
        machine.deny("shutdown", "Halts or restarts the machine over the message bus.", inv)


def kexec(machine: Machine, inv: Invocation) -> None:
    options = read_options(inv.args, OptionTable("lpt", names("load initrd append command-line dtb type")))
    if options.has("e", "exec"):
        machine.deny("shutdown", "Boots into another kernel at once.", inv)
    elif options.has("l", "load", "p", "load-panic"):
        machine.ask("system_config", "Loads another kernel.", inv)


def kill(machine: Machine, inv: Invocation) -> None:
    args = list(inv.args)
    if not args or args[0] in ("-l", "-L", "--list", "--table", "--help"):
        return
    first = args[0]
    if first in ("-s", "-n", "--signal", "-q", "--queue"):
        args = args[2:]
    elif first.startswith("--signal=") or (is_option(first) and first != "--" and (len(args) > 1)):
        args = args[1:]
    if args[:1] == ["--"]:
        args = args[1:]
    if first == "-0" or inv.args[:2] in (["-s", "0"], ["-n", "0"]):
        return
    for target in args:
        if target in ("-1", "1"):
            machine.deny("shutdown", "Kills process 1 or every process.", inv)
        elif target.startswith(UNKNOWN) or is_open(target):
            continue


_MODES = OptionTable("mstdC", names("mode seconds time device date"))


def rtcwake(machine: Machine, inv: Invocation) -> None:
    modes = read_options(inv.args, _MODES).values("m", "mode")
    if "off" in modes:
        machine.deny("shutdown", "Halts the machine until the clock wakes it.", inv)
    elif modes and not {"show", "on", "no", "disable"} & set(modes):
        machine.ask("service_control", "Suspends the machine.", inv)


SESSION_TOOLS = names(
    "gnome-session-quit xfce4-session-logout mate-session-save lxqt-leave lxsession-logout "
    "cinnamon-session-quit"
)
_SESSION_FLAGS = names("power-off reboot halt shutdown shutdown-dialog h r")
CONTROLLERS = names("ipmitool ipmi-chassis ipmipower racadm ilorest launchctl dinitctl esxcli wmic upsmon")
_CONTROLLER_WORDS = re.compile(
    r"(?<![\w-])(?:(?:chassis )?power (?:off|cycle|reset|soft|diag)|"
    r"serveraction (?:powerdown|powercycle|hardreset|graceshutdown)|"
    r"reboot|system shutdown (?:poweroff|reboot)|os (?:where \S+ )?call (?:win32)?(?:shutdown|reboot)|"
    r"--(?:off|cycle|reset|soft)|--chassis-control=[\w-]+|-c fsd)\b"
)


def session(machine: Machine, inv: Invocation) -> None:
    """Desktop tools that end the session and may halt the machine with it."""
    options = read_options(inv.args, OptionTable())
    if any(options.has_exactly(flag) for flag in _SESSION_FLAGS):
        machine.deny("shutdown", f"Halts or restarts the machine with {inv.name}.", inv)


def controller(machine: Machine, inv: Invocation) -> None:
    """Management controllers and service managers: power verbs among other subcommands."""
    words = [arg.lower() for arg in inv.args]
    text = " ".join(words)
    start = next((index for index, word in enumerate(words) if not is_option(word)), 0)
    if inv.name == "launchctl":
        is_power = words[:1] == ["reboot"]
    elif inv.name == "dinitctl":
        is_power = "shutdown" in words[start : start + 1]
    else:
        is_power = _CONTROLLER_WORDS.search(text) is not None and " status" not in text
    if is_power:
        machine.deny("shutdown", f"Switches the machine off or restarts it with {inv.name}.", inv)


def kill_by_name(machine: Machine, inv: Invocation) -> None:
    """killall5 signals every process; init's name is process 1's."""
    if is_help(inv.args) or {"-0", "-l"} & set(inv.args):
        return
    targets = read_options(inv.args, OptionTable("sunoPtyFgGU", names("signal user"))).rest
    if inv.name == "killall5":
        machine.deny("shutdown", "Kills every process.", inv)
    elif any(target in ("systemd", "init", "launchd") for target in targets):
        machine.deny("shutdown", "Kills process 1.", inv)
