"""The deadly families: deleting roots, writing disks, making file systems, halting the machine."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from echo_bot.policy.guards.shell import effects
from echo_bot.policy.guards.shell.effects import spoken
from echo_bot.policy.guards.shell.marks import GLOB_STAR, UNKNOWN, UNKNOWN_FIELDS, is_open
from echo_bot.policy.guards.shell.options import OptionTable, is_option, may_be_options, names, read_options
from echo_bot.policy.guards.shell.roots import Match, disk_match, root_match

if TYPE_CHECKING:
    from echo_bot.policy.guards.shell.invocation import Invocation
    from echo_bot.policy.guards.shell.machine import Machine

_RM = OptionTable("", frozenset())
_HELP = ("help", "version")


def is_help(args: list[str]) -> bool:
    return bool(args) and (args[0] in ("--help", "--version", "--usage") or "--help" in args)


def rm(machine: Machine, inv: Invocation) -> None:
    if is_help(inv.args):
        return
    options = read_options(inv.args, _RM)
    if options.has("r", "R", "recursive"):
        for path in options.rest or [UNKNOWN]:
            effects.delete_tree(machine, inv, path)
        return
    before_end = inv.args[: inv.args.index("--")] if "--" in inv.args else inv.args
    if any(may_be_options(arg) for arg in before_end):
        machine.ask("recursive_delete", "What is deleted is not known before.", inv)
    else:
        _plain_rm(machine, inv, options.rest)


def _plain_rm(machine: Machine, inv: Invocation, paths: list[str]) -> None:
    """Without -r, only patterns reach many files: `rm /etc/*`, or everything that find named."""
    for path in paths:
        if path.endswith(f"{GLOB_STAR}/{GLOB_STAR}"):
            effects.delete_tree(machine, inv, path)
        elif path.endswith(GLOB_STAR) and root_match(path, inv.place) is Match.YES:
            machine.ask("recursive_delete", f"Deletes everything in {spoken(path)}.", inv)


def rsync(machine: Machine, inv: Invocation) -> None:
    table = OptionTable(
        "efTB@M",
        names(
            "rsh filter exclude include exclude-from include-from files-from rsync-path temp-dir backup-dir "
            "compare-dest copy-dest link-dest suffix chmod chown usermap groupmap bwlimit port "
            "log-file password-file out-format partial-dir max-size min-size timeout"
        ),
    )
    options = read_options(inv.args, table)
    if not options.rest:
        return
    remote = [path for path in options.rest if re.match(r"(?:[\w.@-]+|\[[^\]]*\]):", path) or "://" in path]
    if remote:
        machine.ask("network_outbound", "Copies to or from another machine.", inv)
    deletes = any(name.startswith("--del") for name, _ in options.given) or options.has("remove-source-files")
    deletes = deletes and not options.has("n", "dry-run")
    for source in options.rest[:-1]:
        if source not in remote:
            effects.read(machine, inv, source)
    if len(options.rest) > 1 and options.rest[-1] not in remote:
        target = options.rest[-1]
        if deletes:
            effects.delete_tree(machine, inv, target)
        effects.write(machine, inv, target)
    elif deletes:
        machine.ask("recursive_delete", "Deletes files on the other side.", inv)


def dd(machine: Machine, inv: Invocation) -> None:
    if is_help(inv.args):
        return
    for arg in inv.args:
        key, equals, value = arg.partition("=")
        if key.lower() in ("of", "wipe", "hof", "ofs", "hofs") and equals:
            effects.write(machine, inv, value, unknown_asks=True)
        elif key.lower() == "if" and equals:
            effects.read(machine, inv, value)
        elif may_be_options(arg):
            machine.ask("block_device_write", "Where dd writes is not known before.", inv)


def mkfs(machine: Machine, inv: Invocation) -> None:
    if is_help(inv.args) or inv.args == ["-V"] or not inv.args:
        return
    machine.deny("mkfs", f"Makes a new file system with {inv.name}: what was there is lost.", inv)


MKFS = re.compile(
    r"(?:mkfs(?:\.[\w+-]+)?|mke2fs|mkswap|newfs(?:_\w+)?|mkntfs|mkdosfs|mkreiserfs|"
    r"mkudffs|mkexfatfs|mkisofs_dev|mkbootdisk|format\.com|mkfs_\w+)\Z"
)


def wiper(machine: Machine, inv: Invocation) -> None:
    """Tools whose operand is overwritten: shred, blkdiscard, wipefs, partition editors."""
    if is_help(inv.args):
        return
    table, needed, harmless = _WIPERS[inv.name]
    options = read_options(inv.args, table)
    words = [word.lower() for word in options.rest]
    if harmless and options.has(*harmless):
        return
    if needed and not options.has(*needed) and not any(word in needed for word in words):
        return
    devices = [path for path in options.rest if (disk_match(path, inv.place)) is Match.YES]
    perhaps = [
        path for path in options.rest if disk_match(path, inv.place) is Match.MAYBE or path == UNKNOWN_FIELDS
    ]
    if devices:
        machine.deny("block_device_write", f"{inv.name} overwrites the device {spoken(devices[0])}.", inv)
    elif perhaps:
        machine.ask(
            "block_device_write", f"{inv.name} overwrites {spoken(perhaps[0])}, which may be a device.", inv
        )
    elif inv.name in ("srm", "wipe") and options.rest:
        tree_tool(machine, inv)
    elif inv.name in ("shred", "scrub") and options.rest:
        machine.ask("recursive_delete", f"Overwrites {spoken(options.rest[0])} for good.", inv)


_NONE: frozenset[str] = frozenset()
_WIPERS: dict[str, tuple[OptionTable, frozenset[str], frozenset[str]]] = {
    "shred": (OptionTable("ns", names("iterations size random-source")), _NONE, _NONE),
    "srm": (OptionTable(), _NONE, _NONE),
    "wipe": (OptionTable("qQkRSoP"), _NONE, _NONE),
    "scrub": (OptionTable("pbsXDr"), _NONE, _NONE),
    "nwipe": (OptionTable("mrpl"), _NONE, _NONE),
    "blkdiscard": (OptionTable("opls", names("offset length step")), _NONE, _NONE),
    "blkzone": (OptionTable("ocl"), names("reset finish"), _NONE),
    "wipefs": (
        OptionTable("tobO", names("types offset backup output")),
        names("a all o offset t types"),
        names("n no-act"),
    ),
    "sgdisk": (
        OptionTable(
            "aAbcdijklnNrRStTuU",
            names("attributes change-name delete new typecode load-backup replicate randomize-guids"),
        ),
        names(
            "Z zap-all z zap o clear d delete n new t typecode g mbrtogpt m gpttombr R replicate "
            "l load-backup G s sort r e E"
        ),
        names("p print P pretend i info b backup v verify"),
    ),
    "gdisk": (OptionTable(), _NONE, names("l")),
    "cgdisk": (OptionTable(), _NONE, _NONE),
    "sfdisk": (
        OptionTable("NXYoWw", names("part-type label label-nested wipe wipe-partitions backup-pt-sectors")),
        _NONE,
        names(
            "l list d dump J json s show-size V verify F list-free n no-act g show-geometry T list-types r"
        ),
    ),
    "fdisk": (OptionTable("bctuoCHSLwW"), _NONE, names("l list s getsz x v V list-details")),
    "cfdisk": (OptionTable("L"), _NONE, names("r read-only")),
    "parted": (
        OptionTable("a", names("align")),
        names("mklabel mktable mkpart rm resizepart mkpartfs set name toggle rescue disk_set resize move cp"),
        names("l list"),
    ),
    "badblocks": (OptionTable("bcdeiopt"), names("w"), _NONE),
    "hdparm": (
        OptionTable(),
        names(
            "security-erase security-erase-enhanced security-set-pass trim-sector-ranges "
            "write-sector make-bad-sector repair-sector dco-restore sanitize-block-erase "
            "sanitize-crypto-scramble sanitize-overwrite-passes sanitize-overwrite"
        ),
        _NONE,
    ),
    "nvme": (
        OptionTable("nsl", names("ses namespace-id lbaf")),
        names("format sanitize write write-zeroes delete-ns dsm"),
        _NONE,
    ),
    "cryptsetup": (
        OptionTable("chsSdil", names("cipher hash key-size key-file type")),
        names("luksformat erase reencrypt lukserase luksremovekey lukskillslot format luksheaderrestore"),
        _NONE,
    ),
    "mdadm": (OptionTable("lnxecf"), names("zero-superblock create build C B"), _NONE),
    "pvcreate": (OptionTable("u"), _NONE, names("t test")),
    "vgcreate": (OptionTable("s"), _NONE, names("t test")),
    "ddrescue": (OptionTable("bcimorsKTaEeLPv"), _NONE, _NONE),
    "dcfldd": (OptionTable(), _NONE, _NONE),
    "partclone.restore": (OptionTable("so"), _NONE, _NONE),
    "fsck": (OptionTable("t"), names("z_never"), _NONE),
    "ntfsclone": (OptionTable("O", names("overwrite")), _NONE, _NONE),
    "sg_format": (OptionTable(), _NONE, _NONE),
    "sg_sanitize": (OptionTable(), _NONE, _NONE),
    "tune2fs": (OptionTable(), names("z_never"), _NONE),
    "resize2fs": (OptionTable(), names("z_never"), _NONE),
    "zpool": (OptionTable("oOR"), names("create labelclear add replace attach"), names("n")),
    "btrfs": (OptionTable(), names("replace add"), _NONE),
    "bioctl": (OptionTable(), _NONE, _NONE),
    "dmsetup": (OptionTable(), names("remove wipe_table remove_all"), _NONE),
    "diskutil": (
        OptionTable(),
        names("erasedisk erasevolume partitiondisk zerodisk randomdisk secureerase eraseall reformat"),
        _NONE,
    ),
    "gpart": (OptionTable("tsi"), names("destroy create delete"), _NONE),
    "newfs_dev": (OptionTable(), _NONE, _NONE),
    "flashcp": (OptionTable(), _NONE, _NONE),
    "flash_erase": (OptionTable(), _NONE, _NONE),
    "mtd_debug": (OptionTable(), names("erase write"), _NONE),
    "partx": (OptionTable(), names("d delete"), _NONE),
    "dc3dd": (OptionTable(), _NONE, _NONE),
    "asr": (OptionTable("", names("source")), names("erase target"), _NONE),
}


def is_wiper(name: str) -> bool:
    return name in _WIPERS


def diskutil(machine: Machine, inv: Invocation) -> None:
    words = [arg.lower() for arg in inv.args]
    erasing = {
        "erasedisk",
        "erasevolume",
        "partitiondisk",
        "zerodisk",
        "randomdisk",
        "secureerase",
        "reformat",
    }
    if erasing & set(words):
        machine.deny("block_device_write", "Erases a disk.", inv)
    elif words[:1] == ["apfs"] and words[1:2] and words[1].startswith(("delete", "erase")):
        machine.deny("block_device_write", "Erases a volume.", inv)


_POWER_VERBS = names(
    "reboot poweroff halt kexec soft-reboot suspend hibernate hybrid-sleep "
    "suspend-then-hibernate exit emergency rescue"
)
_HALTING = names("reboot poweroff halt kexec soft-reboot exit emergency rescue")
_POWER_UNITS = re.compile(
    r"(?:reboot|poweroff|halt|shutdown|kexec|soft-reboot|runlevel[06]|emergency|rescue|"
    r"ctrl-alt-del|systemd-(?:reboot|poweroff|halt|kexec))(?:\.(?:target|service))?\Z"
)
_SHUTDOWN_TOOLS = names(
    "shutdown reboot halt poweroff openrc-shutdown fasthalt fastboot pm-reboot systemd-shutdown reboot-system"
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
    r"(?:PowerOff|Reboot|Halt|KExec|Shutdown|Restart|SoftReboot|RebootWithFlags|"
    r"PowerOffWithFlags|HaltWithFlags)(?:\(.*\))?\Z"
)


def bus(machine: Machine, inv: Invocation) -> None:
    """dbus-send, busctl, gdbus, qdbus to the log-in or session manager."""
    text = " ".join(inv.args)
    if not re.search(r"login1|systemd1|ConsoleKit|SessionManager|upower|ksmserver", text, re.IGNORECASE):
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


def tree_tool(machine: Machine, inv: Invocation) -> None:
    """rimraf, srm, trash: every operand goes with everything in it."""
    operands = [arg for arg in inv.args if not is_option(arg)]
    for path in operands if not is_help(inv.args) else []:
        effects.delete_tree(machine, inv, path)


def sysrq(machine: Machine, inv: Invocation) -> None:
    machine.deny("shutdown", "Uses the emergency keys of the kernel.", inv)


POWER_TOOLS = _SHUTDOWN_TOOLS
