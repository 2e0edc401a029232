"""Overwriting disks: dd, making file systems, partition editors and tools that wipe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from echo_bot.policy.guards.shell import effects
from echo_bot.policy.guards.shell.deletion import tree_tool
from echo_bot.policy.guards.shell.effects import spoken
from echo_bot.policy.guards.shell.marks import UNKNOWN_FIELDS
from echo_bot.policy.guards.shell.options import OptionTable, is_help, may_be_options, names, read_options
from echo_bot.policy.guards.shell.roots import Match, disk_match

if TYPE_CHECKING:
    from echo_bot.policy.guards.shell.invocation import Invocation
    from echo_bot.policy.guards.shell.machine import Machine


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


def wiper(machine: Machine, inv: Invocation) -> None:
    """Tools whose operand is overwritten: shred, blkdiscard, wipefs, partition editors."""
    if is_help(inv.args):
        return
    table, needed, harmless = WIPERS[inv.name]
    options = read_options(inv.args, table)
    words = [word.lower() for word in options.rest]
    if harmless and options.has(*harmless):
        return
    if needed and not options.has(*needed) and not any(word in needed for word in words):
        return
    if inv.name == "flashrom":
        machine.deny("block_device_write", "Overwrites the firmware.", inv)
        return
    if inv.name == "dmsetup" and not {"wipe_table", "remove_all"}.isdisjoint(words):
        machine.deny("block_device_write", "Makes devices unreadable with dmsetup.", inv)
        return
    operands = [f"/dev/{path}" if inv.name in _BARE_NAMES else path for path in options.rest]
    if inv.name == "fsarchiver":
        operands = [path.rpartition("=")[2] for path in operands]
    devices = [path for path in operands if (disk_match(path, inv.place)) is Match.YES]
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
_BARE_NAMES = names("gpart gmirror gstripe graid glabel gjournal geli disklabel bsdlabel")
"""BSD tools that take a disk's name without its folder."""
_WHOLE: tuple[OptionTable, frozenset[str], frozenset[str]] = (OptionTable(), _NONE, _NONE)
"""Every device among the operands is overwritten."""
WIPERS: dict[str, tuple[OptionTable, frozenset[str], frozenset[str]]] = {
    "shred": (OptionTable("ns", names("iterations size random-source")), _NONE, _NONE),
    "srm": (OptionTable(), _NONE, _NONE),
    "wipe": (OptionTable("QRSloP"), _NONE, _NONE),
    "scrub": (OptionTable("pbsXDd"), _NONE, _NONE),
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
    "flashrom": (OptionTable("pclinor"), names("w write E erase"), _NONE),
    "nandwrite": (OptionTable("s"), _NONE, _NONE),
    **dict.fromkeys(
        ("bcachefs", "integritysetup", "veritysetup", "geli"),
        (OptionTable(), names("format init label device-add"), _NONE),
    ),
    **dict.fromkeys(("make-bcache", "install-mbr", "dvd+rw-format", "fdformat", "floppy"), _WHOLE),
    "bcache": (OptionTable(), names("make register"), _NONE),
    "ms-sys": (OptionTable(), _NONE, names("p print-fat l")),
    **dict.fromkeys(("lilo", "mkusb", "dd-rescue", "sg_write_same", "sg_unmap"), _WHOLE),
    **dict.fromkeys(("syslinux", "extlinux"), (OptionTable("dt"), names("i install"), _NONE)),
    **dict.fromkeys(("disklabel", "bsdlabel"), (OptionTable("bm"), names("w B e R restore"), _NONE)),
    "debugfs": (OptionTable("bsfRdi"), names("w"), _NONE),
    **dict.fromkeys(("xfs_mdrestore", "xfs_copy"), (OptionTable("bL"), _NONE, _NONE)),
    "e2image": (OptionTable("bBoO"), names("r a I"), names("Q")),
    **dict.fromkeys(
        ("gmirror", "gstripe", "graid", "glabel", "gjournal"), (OptionTable(), names("label create"), _NONE)
    ),
    "systemd-repart": (OptionTable(), names("empty"), _NONE),
    "systemd-cryptenroll": (OptionTable(), names("wipe-slot"), _NONE),
    "dd_rescue": (OptionTable("sSbBmeyxlo"), _NONE, _NONE),
    **dict.fromkeys(("woeusb", "ventoy", "rpi-imager", "fsarchiver"), _WHOLE),
    "asr": (OptionTable("", names("source")), names("erase target"), _NONE),
}


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


def storage_command(machine: Machine, inv: Invocation) -> None:
    if inv.args:
        machine.deny("block_device_write", "Erases a disk or a partition.", inv)
