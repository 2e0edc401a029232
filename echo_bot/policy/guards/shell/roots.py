"""Protected places: system roots, disks, secrets, credential names and system settings."""

from __future__ import annotations

import re
from enum import Enum

from echo_bot.policy.guards.shell.marks import HOME, UNKNOWN, UNKNOWN_FIELDS, has_glob, is_open, is_plain
from echo_bot.policy.guards.shell.paths import Place, can_be_any, is_everything, matches, parts_of, resolve

SYSTEM_ROOTS = frozenset(
    [
        "bin",
        "boot",
        "dev",
        "etc",
        "home",
        "lib",
        "lib32",
        "lib64",
        "libx32",
        "proc",
        "root",
        "sbin",
        "sys",
        "usr",
        "var",
        "users",
        "system",
        "library",
        "applications",
    ]
)
_HOME_PARENTS = frozenset({"home", "users"})
_SAFE_DEVICES = frozenset(
    [
        "null",
        "zero",
        "full",
        "random",
        "urandom",
        "stdin",
        "stdout",
        "stderr",
        "tty",
        "ptmx",
        "console",
        "kmsg",
        "log",
        "shm",
        "fd",
        "pts",
        "mqueue",
        "hugepages",
    ]
)
_DISK = re.compile(
    r"(?:[shv]d[a-z]+\d*|xvd[a-z]+\d*|nvme\d+(?:n\d+(?:p\d+)?)?|mmcblk\d+(?:p\d+|boot\d+|"
    r"rpmb)?|md_?d?\d+(?:p\d+)?"
    r"|dm-\d+|r?disk\d+(?:s\d+)*|nbd\d+(?:p\d+)?|zd\d+|ram\d+|pmem\d+\w*|dasd[a-z]+\d*|"
    r"mtd\w*\d+|ada\d+\w*|da\d+\w*"
    r"|nvd\d+\w*|loop\d+(?:p\d+)?|sr\d+|sg\d+|bcache\d+|drbd\d+|ubi\w+|mem|kmem|port|root|rootfs"
    r"|zram\d+|fd\d+(?:[a-z]\d+)?|ubd[a-z]+\d*|rbd\d+(?:p\d+)?|nullb\d+|ublkb\d+(?:p\d+)?|scd\d+|n?st\d+[alm]?|"
    r"cdrom|cdrw|dvd|dvdrw|xd[a-z]\d*|r?[sw]d\d+[a-p]|nda\d+\w*|vtbd\d+\w*|mfid\d+\w*|aacd\d+\w*|acd\d+|cd\d+|"
    r"vblk\d+\w*|ploop\d+(?:p\d+)?)\Z",
    re.IGNORECASE,
)
_SAMPLE_DISKS = tuple(
    "/dev/" + name
    for name in [
        "sda",
        "sdb",
        "sda1",
        "sdb1",
        "vda",
        "vda1",
        "hda",
        "xvda",
        "nvme0n1",
        "nvme0n1p1",
        "nvme0",
        "mmcblk0",
        "mmcblk0p1",
        "md0",
        "dm-0",
        "disk0",
        "disk2",
        "rdisk2",
        "mapper/root",
        "mapper/vg-root",
        "disk/by-id/ata-x",
        "disk/by-uuid/x",
        "md/0",
        "block/8:0",
    ]
)
_HARMLESS_DEVICE = re.compile(
    r"(?:tty\w*|pty\w*|video\d+|snd|input|dri|usb|bus|ttys\d+|cu\..*|tcp|udp|vhost.*|net|kvm)\Z",
    re.IGNORECASE,
)


class Match(Enum):
    """Whether a value names a protected place: surely, perhaps (a part is not known), or not."""

    NO = 0
    MAYBE = 1
    YES = 2


def root_match(value: str, place: Place) -> Match:
    """Does deleting this recursively take a system root or a whole home with it?"""
    path = resolve(value, place)
    parts = parts_of(path)
    while parts and is_everything(parts[-1]):
        parts.pop()
    if not parts:
        return Match.YES
    if is_open(path):
        return Match.MAYBE
    if parts == [HOME] or [part.lower() for part in parts] == parts_of(place.home.lower()):
        return Match.YES
    if len(parts) == 1 and _is_system_root(parts[0]):
        return Match.YES
    if len(parts) == 2 and is_plain(parts[1]) and parts[0].lower() in _HOME_PARENTS:
        return Match.YES
    return Match.NO


def _is_system_root(part: str) -> bool:
    return part.lower() in SYSTEM_ROOTS if is_plain(part) else can_be_any(part, SYSTEM_ROOTS)


_FILE_NAME = re.compile(r"\.(?!d(?:/|\Z))[A-Za-z]{1,5}\d?\Z")
"""An ending that no device has."""


def disk_match(value: str, place: Place) -> Match:
    """Is this a disk, a partition or another block device?"""
    path = resolve(value, place)
    parts = parts_of(path)
    if is_open(path) or not is_plain(path):
        if path[:1] == "/" and has_glob(path.split("/")[1]) and not is_open(path):
            return Match.YES if can_be_any(path, _SAMPLE_DISKS) else Match.NO
        if not path.lower().startswith("/dev") or path[4:5] not in ("/", UNKNOWN):
            named = _FILE_NAME.search(path) is not None
            return Match.MAYBE if path.startswith((UNKNOWN, UNKNOWN_FIELDS)) and not named else Match.NO
        if is_open(path):
            return Match.MAYBE if can_be_any(path, _SAMPLE_DISKS) else Match.NO
        return Match.YES if can_be_any(path, _SAMPLE_DISKS) else Match.NO
    if len(parts) < 2 or parts[0].lower() != "dev" or parts[1].lower() in _SAFE_DEVICES:
        return Match.NO
    if len(parts) == 2:
        if _DISK.match(parts[1]):
            return Match.YES
        return Match.NO if _HARMLESS_DEVICE.match(parts[1]) else Match.MAYBE
    if _HARMLESS_DEVICE.match(parts[1]) or parts[1:] == ["mapper", "control"]:
        return Match.NO
    return Match.YES


_PUBLIC_SSH = re.compile(
    r"(?:config(?:\.d)?|known_hosts.*|.*\.pub|rc|sockets|allowed_signers)\Z", re.IGNORECASE
)
_PRIVATE_SSH = re.compile(
    r"(?:id_.*|identity|.*\.pem|.*\.key|.*_key|.*_rsa|.*_ed25519|.*_ecdsa)\Z", re.IGNORECASE
)
_SECRET_FILES = re.compile(
    r"/etc/(?:g?shadow[-~]?|sudoers[-~]?|sudoers\.d(?:/.*)?|security/opasswd|master\.passwd|spwd\.db)\Z"
    r"|/root/\.(?:ssh|gnupg)(?:/.*)?\Z"
    r"|/etc/ssh/ssh_host_[^/]*_key\Z",
    re.IGNORECASE | re.DOTALL,
)
_SAMPLE_SECRETS = (
    *(
        "/etc/shadow",
        "/etc/shadow-",
        "/etc/gshadow",
        "/etc/sudoers",
        "/etc/sudoers.d",
        "/etc/sudoers.d/x",
        "/root/.ssh",
        "/root/.ssh/id_rsa",
        "/root/.ssh/id_ed25519",
        "/root/.ssh/authorized_keys",
        "/root/.gnupg",
        "/etc/ssh/ssh_host_rsa_key",
        "/etc/ssh/ssh_host_ed25519_key",
        "/etc/ssh/ssh_host_ecdsa_key",
    ),
    *(
        HOME + tail
        for tail in (
            "/.ssh",
            "/.ssh/id_rsa",
            "/.ssh/id_ed25519",
            "/.ssh/id_ecdsa",
            "/.ssh/id_dsa",
            "/.ssh/authorized_keys",
            "/.gnupg",
            "/.gnupg/secring.gpg",
            "/.gnupg/private-keys-v1.d",
            "/.gnupg/private-keys-v1.d/x.key",
        )
    ),
)
_PROC_SECRETS = re.compile(r"/proc/(?:[^/]+|[^/]+/task/[^/]+)/(?:environ|mem)\Z", re.IGNORECASE)


def proc_match(value: str, place: Place) -> Match:
    """Another process's environment or memory."""
    if "environ" not in value.lower() and "mem" not in value.lower() and is_plain(value):
        return Match.NO
    path = resolve(value, place)
    if _PROC_SECRETS.match(path) and path.lower().startswith("/proc/"):
        return Match.YES
    samples = ("/proc/self/environ", "/proc/1/environ", "/proc/self/mem", "/proc/1/mem")
    if path.lower().startswith("/proc/") and not is_plain(path) and can_be_any(path, samples):
        return Match.MAYBE if is_open(path) else Match.YES
    return Match.NO


def secret_match(value: str, place: Place) -> Match:
    """A password table, a private key, or a folder of them."""
    path = resolve(value, place)
    parts = parts_of(path)
    if not parts:
        return Match.NO
    last = parts[-1].lower()
    if last in ("authorized_keys", "authorized_keys2"):
        return Match.YES
    if not is_plain(path):
        if path.startswith((UNKNOWN, UNKNOWN_FIELDS)) and not _tail_is_telling(path):
            return Match.NO
        spelled = path.replace(place.home, HOME, 1) if path.startswith(place.home + "/") else path
        if parts[0].lower() in _HOME_PARENTS and len(parts) > 2:
            spelled = HOME + "/" + "/".join(parts[2:])
        if len(parts) < 2 or not can_be_any(spelled, _SAMPLE_SECRETS):
            return Match.NO
        return Match.MAYBE if is_open(path) else Match.YES
    if _SECRET_FILES.match(path):
        return Match.YES
    return _key_match(parts)


def _key_match(parts: list[str]) -> Match:
    lowered = [part.lower() for part in parts]
    if ".ssh" in lowered:
        below = lowered[lowered.index(".ssh") + 1 :]
        if not below or (_PRIVATE_SSH.match(below[-1]) and not _PUBLIC_SSH.match(below[-1])):
            return Match.YES
        return Match.NO if _PUBLIC_SSH.match(below[-1]) else Match.MAYBE
    if ".gnupg" in lowered:
        below = lowered[lowered.index(".gnupg") + 1 :]
        if not below or below[0] in ("private-keys-v1.d", "secring.gpg"):
            return Match.YES
    return Match.NO


def _tail_is_telling(path: str) -> bool:
    """An unknown folder with a known end: `$x/shadow` is worth a question, `$x` alone is not."""
    tail = path.rsplit("/", 1)[-1].lower()
    return tail in ("shadow", "gshadow", "sudoers", "id_rsa", "id_ed25519", "id_ecdsa", ".ssh", ".gnupg")


_CREDENTIAL = re.compile(
    r"(?:\.env(?:\.(?!example\Z|sample\Z|template\Z|dist\Z|tpl\Z|schema\Z|defaults?\Z|md\Z)[\w.-]+)?"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?|\.?credentials(?:\.(?:json|ya?ml|toml|ini|csv|xml|db|enc))?"
    r"|\.?secrets?\.(?:json|ya?ml|toml|env|ini|txt|enc|properties|xml|conf|cfg|tfvars|db|py|js|ts)"
    r"|[._]netrc|\.npmrc|\.pypirc|\.pgpass|\.git-credentials|\.dockercfg|\.htpasswd|"
    r"\.vault-token|\.boto|\.s3cfg)\Z",
    re.IGNORECASE,
)
_CREDENTIAL_TAILS = (
    ".aws/credentials",
    ".aws/config",
    ".docker/config.json",
    ".kube/config",
    ".config/gh/hosts.yml",
    ".config/gcloud/application_default_credentials.json",
    ".config/gcloud/credentials.db",
    ".azure/accesstokens.json",
    ".azure/msal_token_cache.json",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".terraform.d/credentials.tfrc.json",
)


def is_credential(value: str, place: Place) -> bool:
    """A file whose name says that it holds credentials."""
    path = resolve(value, place).lower()
    return _CREDENTIAL.match(path.rsplit("/", 1)[-1]) is not None or path.endswith(_CREDENTIAL_TAILS)


def is_user_credential(value: str, place: Place) -> bool:
    """A credential file of the user's account, not of a project."""
    path = resolve(value, place)
    own = path.startswith((HOME + "/", place.home.rstrip("/") + "/.")) or path.lower().startswith("/root/.")
    names = (
        ".netrc",
        "_netrc",
        ".npmrc",
        ".pypirc",
        ".pgpass",
        ".git-credentials",
        ".vault-token",
        ".s3cfg",
        ".boto",
    )
    return own and (
        path.lower().endswith(_CREDENTIAL_TAILS) or path.lower().endswith(tuple("/" + n for n in names))
    )


_SYSTEM_WRITES = re.compile(
    r"/(?:etc|boot|usr|lib|lib32|lib64|bin|sbin|sys|system|library)/.+|/proc/.+|"
    r"/var/spool/cron.*|/var/lib/.+|/etc\Z",
    re.IGNORECASE | re.DOTALL,
)
_PROC_HARMLESS = re.compile(
    r"/proc/(?:self|\d+|thread-self)/(?:fd|fdinfo)/.*|/usr/local/.*|/usr/src/.*|/sys/fs/cgroup/.*",
    re.IGNORECASE,
)
_PERSISTENCE = re.compile(
    r"(?:\.bashrc|\.bash_profile|\.bash_login|\.bash_logout|\.profile|\.zshrc|\.zshenv|"
    r"\.zprofile|\.zlogin|\.kshrc"
    r"|\.xinitrc|\.xsession|\.xprofile|\.inputrc|\.vimrc|\.gitconfig|\.ssh/(?:config|rc|environment)"
    r"|\.config/(?:autostart|systemd|fish)/.+|library/launch(?:agents|daemons)/.+|"
    r"\.git/(?:hooks/.+|config))\Z",
    re.IGNORECASE,
)


def is_system_setting(value: str, place: Place) -> bool:
    """A file that the system, a log-in or a tool acts on by itself."""
    path = resolve(value, place)
    if _SYSTEM_WRITES.match(path):
        return _PROC_HARMLESS.match(path) is None
    tail = path.lower()
    for start in (".config/", "library/", ".git/", ".ssh/"):
        at = tail.find("/" + start)
        if at >= 0 and _PERSISTENCE.match(tail[at + 1 :]):
            return True
    return _PERSISTENCE.match(tail.rsplit("/", 1)[-1]) is not None


def is_system_folder(value: str, place: Place) -> bool:
    """A folder in which new files would be part of the system, or the root of all."""
    return resolve(value, place) == "/" or is_system_setting(f"{value.rstrip('/')}/x", place)


_POWER_SWITCHES = ("/proc/sysrq-trigger",)


def is_power_switch(value: str, place: Place) -> bool:
    path = resolve(value, place)
    return not is_open(path) and any(matches(path, known) for known in _POWER_SWITCHES)


def is_network_path(value: str) -> bool:
    return value.lower().startswith(("/dev/tcp/", "/dev/udp/"))
