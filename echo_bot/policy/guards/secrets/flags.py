"""Secrets on a command line: long flags of any program, short ones of the programs that have them."""

# ruff: noqa: E501 - a pattern is read as one line

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from echo_bot.policy.guards.secrets.fold import Span
from echo_bot.policy.guards.secrets.hinted import Hinted, hinted
from echo_bot.policy.guards.secrets.values import is_secret

_VALUE = r"(?:\"(?P<double>[^\"\n]+)\"|'(?P<single>[^'\n]+)'|(?P<bare>[^\s\"'|;&<>]+))"
_REST = r"(?P<bare>[^\s\"'|;&]+)"
_SAME_COMMAND = r"[^\n|;&]{0,300}?"


def _after(program: str, flag: str, value: str = _VALUE, *, hints: str = "") -> Hinted:
    """Without `hints` the programs' names are those, and must be plain words."""
    return hinted(rf"(?<![\w-])(?:{program})(?![\w-]){_SAME_COMMAND}\s{flag}{value}", hints or program)


LONG_FLAGS = (
    hinted(
        rf"(?<![\w-])--(?:[a-z0-9]+-)?(?:password|token|secret)-(?:string|value|text)(?:[ \t]++|=){_VALUE}",
        "-string|-value|-text",
    ),
    hinted(
        r"(?<![\w-])--?[a-z0-9-]{0,40}?(?:password|passwd|passphrase|pass|token|secret|api-?key|access-?key|auth-?key"
        rf"|secret-?key|account-?key|credential)(?:[ \t]++|=){_VALUE}",
        "pass|token|secret|key|credential",
    ),
    hinted(
        r"\bset[xq]?[ \t]+[\w.-]{0,40}?(?:password|passwd|secret|token|(?:api|access|secret)[_-]?key)[ \t]+"
        + _VALUE,
        "set |set\t|setx|setq",
    ),
)
"""Over lower case: the flags and settings of any program."""

PROGRAMS = (
    _after(
        r"twine|evil-winrm|rdesktop|useradd|usermod|crackmapexec|netexec|nxc|hydra|medusa|ncrack", r"-p[ \t]+"
    ),
    _after(r"plink|psftp|pscp|putty|kitty", r"-pw[ \t]+"),
    _after(r"xfreerdp3?|wlfreerdp|wfreerdp", r"/p:", hints="freerdp"),
    _after(r"mosquitto_pub|mosquitto_sub|mqttx", r"-P[ \t]+"),
    _after(r"doctl", r"-t[ \t]+"),
    _after(r"openssl[ \t]+enc|openssl[ \t]+aes-[\w-]+", r"-[kK][ \t]+", hints="openssl"),
    _after(r"rar|unrar", r"-hp(?=\S)", hints="-hp"),
    _after(r"ssh-keygen|gpg-preset-passphrase", r"-P[ \t]+"),
    _after(r"ssh-keygen", r"-N[ \t]+"),
    hinted(rf"(?<![\w-])openssl[ \t]+passwd(?:[ \t]+-(?:salt[ \t]+\S+|\w+))*+[ \t]+(?!-){_VALUE}", "passwd"),
    hinted(
        rf"(?<![\w-])mkpasswd(?:[ \t]+(?:-[ms][ \t]+\S+|--?[\w-]+(?:=\S+)?))*+[ \t]+(?!-){_VALUE}", "mkpasswd"
    ),
    _after(r"doveadm[ \t]+pw", r"-p[ \t]+", hints="doveadm"),
    _after(r"slappasswd", r"-s[ \t]+"),
    _after(r"pdftk", r"(?:user|owner|input)_pw[ \t]+"),
    _after(r"pdftotext|pdfimages|pdfinfo|pdftoppm", r"-[uo]pw[ \t]+"),
    _after(r"veracrypt", r"-p[ \t]+"),
    hinted(
        rf"(?<![\w-])rabbitmqctl[ \t]+(?:add_user|change_password|authenticate_user)[ \t]+\S+[ \t]+{_VALUE}",
        "rabbitmqctl",
    ),
    hinted(
        rf"(?<![\w-])poetry[ \t]+config[ \t]+(?:pypi-token\.\S+|http-basic\.\S+[ \t]+\S+)[ \t]+{_VALUE}",
        "poetry",
    ),
    hinted(
        r"(?<![\w-])(?:impacket-\w+|psexec\.py|wmiexec\.py|secretsdump\.py)[ \t]+[\w./-]+:(?P<bare>[^\s@]{4,})@",
        "impacket|exec.py|dump.py",
    ),
    hinted(
        r"(?<![\w-])sqlplus[ \t]+(?:-\w+[ \t]+)*[\w.-]+/(?P<bare>[^\s@/]{4,})@",
        "sqlplus",
    ),
    hinted(
        rf"\b(?:secret|password)[ \t]+[057][ \t]+{_VALUE}",
        "secret |secret\t|password |password\t",
    ),
    hinted(
        rf"(?<![\w-])net[ \t]+use[ \t]+(?:\S+[ \t]+){{1,2}}(?=\S*(?:\d|[a-z][A-Z]|[A-Z][a-z]))(?![/*\\]|\S:(?:\s|$)){_VALUE}(?=[ \t]+/user:)",
        "net |net\t",
    ),
    hinted(
        rf"(?:password|passphrase|secret|token)-(?:command|cmd)[ \t=]+[\"']?(?:echo|printf)[ \t]+{_VALUE}",
        "-command|-cmd",
    ),
    hinted(
        r"\b(?:echo|printf)[ \t]+(?:-\w+[ \t]+)?[\"']?(?=\S*\d)(?=\S*[a-z])(?=\S*[A-Z])(?P<bare>[^\s\"'|$]{10,})[\"']?[ \t]*\|[ \t]*base64(?![ \t]+-[dD])",
        "base64",
    ),
    hinted(r"\bcommunity[ \t:=]+(?=\S*\d)(?=\S*[A-Za-z])(?P<bare>[^\s\"'|;]{6,})", "community"),
    hinted(rf"(?<![\w-])rclone[ \t]+obscure[ \t]+(?!-){_VALUE}", "rclone"),
    hinted(
        rf"(?<![\w-])ansible-vault[ \t]+encrypt_string[ \t]+(?:--?\S+[ \t]+\S+[ \t]+)*(?!-){_VALUE}",
        "encrypt_string",
    ),
    _after(r"ssm[ \t]+put-parameter", r"--value[ \t=]+", hints="put-parameter"),
    _after(r"keyvault[ \t]+secret[ \t]+set", r"--value[ \t=]+", hints="keyvault"),
    _after(
        r"(?:fly|flyctl|doppler|supabase|railway|netlify|infisical|modal)[ \t]+(?:secrets?|variables|env)[ \t:]+(?:set|create|import)",
        r"(?:--set[ \t]+)?[\"']?[A-Za-z_]\w*=",
        hints="secrets set|secrets:set|secrets import|secrets create|variables set|variables create|env:set|env set|secret create|secret set",
    ),
    _after(r"(?:vault|bao)[ \t]+(?:kv[ \t]+)?(?:put|write|patch)", r"[\w.-]+=(?!@)", hints="vault|bao"),
    hinted(
        rf"(?<![\w-])kubectl[ \t]+create[ \t]+secret{_SAME_COMMAND}--from-literal[ =][\"']?[\w.-]+={_REST}",
        "--from-literal",
    ),
    hinted(
        rf"(?<![\w-])pulumi[ \t]+config[ \t]+set{_SAME_COMMAND}--secret[ \t]+\S+[ \t]+(?!-){_VALUE}", "pulumi"
    ),
    hinted(rf"(?<![\w-])terraform[ \t]+login{_SAME_COMMAND}token[ \t]+{_VALUE}", "terraform"),
    _after(r"nmcli|iwctl|wpa_cli", r"(?:password|passphrase|psk)[ \t]+"),
    _after(r"snmpwalk|snmpget|snmpset|snmpbulkwalk", r"-[AX][ \t]+"),
    hinted(rf"(?<![\w-])wpa_passphrase[ \t]+\S+[ \t]+{_VALUE}", "wpa_passphrase"),
    hinted(rf"(?<![\w-])(?:bw|op|bitwarden)[ \t]+(?:unlock|signin)[ \t]+(?!-){_VALUE}", "unlock|signin"),
    hinted(
        rf"(?<![\w-])net[ \t]+user[ \t]+[\w.-]+[ \t]+(?=\S*(?:\d|[a-z][A-Z]|[A-Z][a-z]))(?![/*]){_VALUE}",
        "net |net\t",
    ),
    hinted(
        r"(?:--with-token|--password-stdin|--token-stdin|--stdin|\bkinit|\bcryptsetup|\bchpasswd|\bpass[ \t]+insert|\w*passwd|--passphrase-fd|\bsudo[ \t]+-S)[^\n|;]{0,80}?<<<[ \t]*"
        + _VALUE,
        "<<<",
    ),
    hinted(
        r"(?<![\w-])(?:config|configure|settings?)[ \t]+(?:set|create|add)[ \t][^\n|;&]{0,120}?(?i:_key|-key|token|secret|password|_pass)[ \t]+(?=\S*\d)"
        + _VALUE,
        "config |config\t|configure |configure\t|setting",
    ),
    _after(r"mysql|mysqldump|mysqladmin|mysqlimport|mysqlsh|mariadb|mariadb-dump|mariadb-admin", r"-p(?=\S)"),
    _after(r"vault", r"login[ \t]+(?=\S*\d)"),
    _after(r"redis-cli|valkey-cli", r"(?:-a|(?i:auth))[ \t]+"),
    hinted(
        rf"(?<![\w-])mc[ \t]+(?:alias[ \t]+set|config[ \t]+host[ \t]+add)[ \t]+\S+[ \t]+\S+[ \t]+\S+[ \t]+{_VALUE}",
        "alias set|host add",
    ),
    hinted(rf"(?<![\w-])mc[ \t]+alias[ \t]+set[ \t]+\S+[ \t]+\S+[ \t]+{_VALUE}", "alias set"),
    hinted(
        r"\bspawn\b[^\n]{0,200}?\bsend(?:line)?[ \t]+[\"'](?=[^\"'\s]*\d)(?P<bare>[^\"'\s\\]{6,})\\[rn]",
        "spawn",
    ),
    _after(r"sshpass", r"-p[ \t]*"),
    _after(
        r"(?:docker|podman|nerdctl|buildah|skopeo|oras|crane|az|helm registry|oc|vault)[ \t]+login",
        r"-p[ \t]+",
        hints="login",
    ),
    _after(r"mongo|mongosh|mongodump|mongorestore|mongoexport|mongoimport", r"-p[ \t]+"),
    _after(r"ldapsearch|ldapadd|ldapmodify|ldapdelete|ldapwhoami|ldappasswd", r"-w[ \t]+"),
    _after(r"sqlcmd|bcp|ipmitool|zip|unzip", r"-P[ \t]+"),
    _after(r"7z|7za|7zr|rar|unrar", r"-p(?=\S)", hints="-p"),
    _after(
        r"curl|wget|http|https|xh",
        r"(?:-u|--user|-U|--proxy-user|-a|--auth)[ \t=]*[\"']?[^\s:\"'$]+:",
        _REST,
        hints="-u|-a",
    ),
    _after(r"smbclient|smbmap|rpcclient|winexe|net rpc", r"-U[ \t]*[\"']?[^\s%\"']+%", _REST),
    _after(r"gh|glab|flyctl|fly|heroku|wrangler|vercel", r"(?:--body|-b)(?:[ \t]+|=)(?=\S*\d)", hints="-b"),
    _after(r"lftp|ncftpget|ncftpput", r"-u[ \t]*[\"']?[^\s,\"']+,", _REST),
    hinted(
        rf"\b(?:echo|printf)[ \t]+(?:-\w+[ \t]+)?[\"']?[\w.-]+:{_REST}[\"']?"
        r"[ \t]*\|[ \t]*(?:sudo[ \t]+)?chpasswd",
        "chpasswd",
    ),
    _after(r"openssl", r"-pass(?:in|out)?[ \t]+[\"']?pass:", _REST),
    _after(r"htpasswd|mosquitto_passwd", r"-\w*b\w*[ \t]+\S+[ \t]+\S+[ \t]+"),
    _after(r"htpasswd", r"-(?=\w*n)\w*b\w*[ \t]+\S+[ \t]+"),
    hinted(
        r"(?:password|passphrase|secret|token|key)[\w-]{0,12}[ \t=]+<\((?:echo|printf)[ \t]+(?:-\w+[ \t]+)?(?P<bare>[^\s\"'|;&<>()]{4,})",
        "<(",
    ),
    hinted(
        rf"\b(?:echo|printf)[ \t]+(?:-\w+[ \t]+)?(?:['\"]?%s(?:\\n)?['\"]?[ \t]+)?{_VALUE}[ \t]*"
        r"\|[^\n]{0,200}?"
        r"(?:--password-stdin|--with-token|--token-stdin|--stdin|sudo[ \t]+-\w*S|cryptsetup|kinit|--passphrase-fd|-pass[ \t]+stdin|secret[ \t]+(?:create|set)|smbpasswd)",
        "stdin|--with-token|sudo|cryptsetup|kinit|--passphrase-fd|secret create|secret set|smbpasswd",
    ),
)
"""Short flags of the programs that have them; `-p` alone may be a port or a folder."""


def flag_spans(text: str, lower: str, possible: Collection[Hinted]) -> Iterator[Span]:
    """The spans of values of secret flags; `lower` is `text` in lower case."""
    for each in LONG_FLAGS:
        if each in possible:
            yield from _values(text, each.pattern.finditer(lower))
    for each in PROGRAMS:
        if each in possible:
            yield from _values(text, each.pattern.finditer(text))


def _values(text: str, matches: Iterator[re.Match[str]]) -> Iterator[Span]:
    for found in matches:
        group = found.lastgroup
        if group is not None and is_secret(text[slice(*found.span(group))], strong=True):
            yield found.span(group)
