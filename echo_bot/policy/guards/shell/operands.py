"""How programs use their operands: which are read, which are written, which are no files at all."""

from __future__ import annotations

from dataclasses import dataclass

from echo_bot.policy.guards.shell.options import names

# Programs whose operands are text, names or places that are only looked at, not opened for their content.
UNTOUCHING = names(
    "echo printf print ls dir vdir ll stat test [ [[ man which whereis type command hash "
    "help info whatis apropos tldr file du df "
    "lsblk blkid findmnt lsof basename dirname realpath readlink pwd cd pushd popd mkdir "
    "rmdir true false : exit return "
    "sleep export declare typeset local readonly unset set alias unalias read let shift "
    "wait jobs fg bg umask ulimit times "
    "logger notify-send figlet cowsay toilet banner say espeak yes seq expr date cal rm "
    "unlink chmod chown chgrp chattr setfacl "
    "getfacl lsattr namei pathchk dpkg rpm apt apt-get yum dnf pacman brew pip npm yarn "
    "pnpm cargo go make cmake ninja systemctl service journalctl ssh-add exa eza lsd tree locate "
    "mlocate plocate updatedb ps kill pkill killall pgrep pidof "
    "log complete compgen bind trap shopt enable inotifywait watchman test-path dialog "
    "whiptail zenity kdialog gum osascript "
    "kubectl docker podman terraform helm ansible crontab getent sudo doas env time "
    "useradd usermod passwd restorecon chcon chsh mktemp touch "
    "svn hg ssh-keygen ssh mosh sestatus ausearch smartctl hdparm fdisk parted umount "
    "mount swapon sync fsck xfs_info dumpe2fs tune2fs"
)


@dataclass(frozen=True, slots=True)
class Operands:
    """How a program uses its operands.

    letters, long: options that take a value. writes: "last", "all", "none". skip: leading operands that are
    no paths (a pattern, a script). output: options whose value is written. target: options naming the target
    folder. pattern: options that replace the leading operands.
    """

    letters: str = ""
    long: frozenset[str] = frozenset()
    writes: str = "none"
    skip: int = 0
    output: frozenset[str] = frozenset()
    target: frozenset[str] = frozenset()
    pattern: frozenset[str] = frozenset()
    in_place: frozenset[str] = frozenset()
    single_dash: bool = False


def o(
    letters: str = "",
    long: str = "",
    writes: str = "none",
    skip: int = 0,
    output: str = "",
    target: str = "",
    pattern: str = "",
    in_place: str = "",
    single_dash: bool = False,
) -> Operands:
    return Operands(
        letters,
        names(long),
        writes,
        skip,
        names(output),
        names(target),
        names(pattern),
        names(in_place),
        single_dash,
    )


_GREP = o(
    "ABCDdefmg",
    "regexp file include exclude exclude-dir exclude-from context after-context "
    "before-context max-count label type glob color",
    skip=1,
    pattern="e f regexp file",
)
OPERANDS: dict[str, Operands] = {
    "cp": o("tS", "target-directory suffix", writes="last", target="t target-directory"),
    "mv": o("tS", "target-directory suffix", writes="last", target="t target-directory"),
    "ln": o("tS", "target-directory suffix", writes="last", target="t target-directory"),
    "link": o(writes="last"),
    "install": o(
        "gmotS",
        "group mode owner target-directory suffix strip-program context",
        writes="last",
        target="t target-directory",
    ),
    "ditto": o(writes="last"),
    "scp": o("cFiJloPSDX", writes="last"),
    "rcp": o(writes="last"),
    "pscp": o("PlpwiC", writes="last"),
    "cpio": o("FIOEHCDMR", "file", output="O"),
    "pax": o("fbsx", output="f"),
    "tee": o(writes="all"),
    "sponge": o("a", writes="all"),
    "truncate": o("srS", "size reference", writes="all"),
    "fallocate": o("lon", "length offset", writes="all"),
    "ed": o("p", writes="all"),
    "ex": o("c", writes="all"),
    "touch": o("drt", "date reference time", writes="all"),
    "patch": o("pdioDrVBzgY", "strip directory input output reject-file", writes="first", output="o output"),
    "dd_rescue": o(writes="last"),
    "ddrescue": o("bcimorsKTaEeLPv", writes="second"),
    "shred": o("ns", "iterations size random-source", writes="all"),
    "sort": o(
        "koStT",
        "key output field-separator temporary-directory buffer-size files0-from "
        "compress-program parallel random-source batch-size",
        output="o output",
    ),
    "uniq": o("fsw", writes="second"),
    "split": o("abClnt", "suffix-length bytes lines number", writes="second"),
    "csplit": o("fbn"),
    "sed": o(
        "ef", "expression file line-length", skip=1, pattern="e f expression file", in_place="i in-place"
    ),
    "gsed": o("ef", "expression file", skip=1, pattern="e f expression file", in_place="i in-place"),
    "perl_files": o(),
    "grep": _GREP,
    "egrep": _GREP,
    "fgrep": _GREP,
    "rg": _GREP,
    "ag": _GREP,
    "ack": _GREP,
    "zgrep": _GREP,
    "ggrep": _GREP,
    "ugrep": _GREP,
    "pcregrep": _GREP,
    "bzgrep": _GREP,
    "git-grep": _GREP,
    "jq": o("Lf", "arg argjson slurpfile rawfile from-file indent", skip=1, pattern="f from-file"),
    "yq": o("I", skip=1, in_place="i inplace"),
    "tr": o(skip=2),
    "awk": o("Ffv", "assign file field-separator", skip=1, pattern="f file"),
    "curl": o(
        "AbcCdDeEFhHKmoPQrtTuUwxXyYz",
        "output data data-binary data-raw data-urlencode form header user upload-file "
        "request url cookie cookie-jar config cert key cacert netrc-file json url-query "
        "referer user-agent max-time connect-timeout proxy resolve retry dump-header trace "
        "trace-ascii stderr write-out output-dir",
        output="o output c cookie-jar D dump-header trace trace-ascii stderr",
        skip=99,
    ),
    "wget": o(
        "aBeioOPQtTUwDGXAR",
        "output-document output-file append-output post-file body-file post-data header "
        "user-agent input-file directory-prefix user password timeout tries load-cookies "
        "save-cookies",
        output="O output-document o output-file a append-output save-cookies",
        skip=99,
    ),
    "openssl": o(
        "",
        "in out inkey passin pass k K iv keyout CAfile signkey key cert subj days connect "
        "newkey config extensions",
        output="out keyout",
        skip=99,
        single_dash=True,
    ),
    "gpg": o("oru", "output recipient local-user homedir", output="o output"),
    "age": o("roi", "recipient output identity", output="o output"),
    "zip": o("bntiTxO", writes="first", output="O"),
    "7z": o(skip=1, writes="first"),
    "7za": o(skip=1, writes="first"),
    "rar": o(skip=1),
    "unzip": o("dxP", ""),
    "tar": o(
        "fCTXbgHIKLNV",
        "file directory files-from exclude exclude-from transform owner group mode "
        "to-command checkpoint-action use-compress-program rsh-command",
        skip=0,
    ),
    "xxd": o("cgslo", "cols groupsize seek len", writes="second"),
    "base64": o("wo", "wrap", output="o"),
    "strings": o("nteTao"),
    "cmp": o("in"),
    "objcopy": o("OIBFjR", writes="last"),
    **dict.fromkeys(
        ("gcc", "g++", "cc", "c++", "clang", "clang++", "ld", "as", "rustc", "tcc"), o("o", output="o")
    ),
    "rsync": o(skip=99),
    "dd": o(skip=99),
    "ffmpeg": o(writes="last", single_dash=True),
    "convert": o(writes="last", single_dash=True),
    "pandoc": o("oft", "output from to", output="o output"),
    "wkhtmltopdf": o(writes="last"),
    "sqlite3": o(skip=9),
    "iconv": o("fto", "output from-code to-code", output="o output"),
    "vim": o("cSuUiTw", writes="all"),
    "vi": o("cSuUiTw", writes="all"),
    "nvim": o("cSuUiTw", writes="all"),
    "view": o("c"),
    "nano": o("", writes="all"),
    "emacs": o("", "eval", writes="all"),
    "micro": o(writes="all"),
    "code": o(skip=99),
    "pv": o("NLsDdFRXo", "output", output="o output"),
    "script": o("c", writes="all"),
    "hexedit": o(writes="all"),
    "qemu-img": o("fO", writes="last", skip=1),
    "partclone.restore": o("so", output="o"),
    "partclone.dd": o("so", output="o"),
    "pigz": o(),
    **dict.fromkeys(("zstd", "lz4", "brotli", "xz"), o("oDT", "output", output="o output")),
    "rename": o(skip=1),
    "mmv": o(),
    "dos2unix": o(),
    "tshark": o("w", output="w"),
    "tcpdump": o("wirFc", output="w", skip=99),
    "mail": o("Aasrbc", skip=99),
    "mutt": o("asbcFe", skip=99),
    "uuencode": o(),
    "logrotate": o("s"),
    "aws": o("", "region profile", skip=99),
    "minicom": o("CDS"),
    "nc": o("", skip=99),
    "dcfldd": o(skip=99),
    "dc3dd": o(skip=99),
    "dump": o("f", output="f"),
    "xfsdump": o("f", output="f"),
    "xorriso": o("", "outdev dev", output="outdev dev", single_dash=True),
    "wodim": o(),
    "unsquashfs": o("d"),
    "gunzip": o(),
    "python_files": o(),
    "diff": o("U"),
    "busybox": o(skip=99),
    "su": o(skip=99),
    "find": o(skip=99),
    "xargs": o(skip=99),
    "rm": o(skip=99),
    "bmaptool": o(skip=1, writes="last"),
    "etcher": o(writes="last"),
    "nwipe": o(writes="all"),
    "ntfsclone": o("O", "overwrite", output="O overwrite"),
    "restore": o(),
    "image_writer": o(writes="last"),
    "efibootmgr": o("d"),
    "sshfs": o(skip=99),
    "docker": o(skip=99),
}
