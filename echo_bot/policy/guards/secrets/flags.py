"""Secrets on a command line: long flags of any program, short ones of the programs that have them."""

# ruff: noqa: E501 - a pattern is read as one line

from __future__ import annotations

import re
from collections.abc import Iterator

from echo_bot.policy.guards.secrets.fold import Span
from echo_bot.policy.guards.secrets.values import is_secret

_VALUE = r"(?:\"(?P<double>[^\"\n]+)\"|'(?P<single>[^'\n]+)'|(?P<bare>[^\s\"'|;&<>]+))"
_REST = r"(?P<bare>[^\s\"'|;&]+)"
_SAME_COMMAND = r"[^\n|;&]{0,300}?"


def _after(program: str, flag: str, value: str = _VALUE) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{program})(?![\w-]){_SAME_COMMAND}\s{flag}{value}")


_LONG_FLAGS = (
    re.compile(
        r"(?<![\w-])--?[a-z0-9-]{0,40}?(?:password|passwd|passphrase|pass|token|secret|api-?key|access-?key|auth-?key"
        rf"|secret-?key|account-?key|credential)(?:[ \t]++|=){_VALUE}"
    ),
    re.compile(
        r"\bsetx?[ \t]+[\w.-]{0,40}?(?:password|passwd|secret|token|(?:api|access|secret)[_-]?key)[ \t]+"
        + _VALUE
    ),
)
"""Over lower case: the flags and settings of any program."""

PROGRAMS = (
    _after(r"twine|evil-winrm|rdesktop|useradd|usermod", r"-p[ \t]+"),
    _after(r"plink|psftp|pscp|putty|kitty", r"-pw[ \t]+"),
    _after(r"xfreerdp3?|wlfreerdp|wfreerdp", r"/p:"),
    _after(r"mosquitto_pub|mosquitto_sub|mqttx", r"-P[ \t]+"),
    _after(r"doctl", r"-t[ \t]+"),
    _after(r"openssl[ \t]+enc|openssl[ \t]+aes-[\w-]+", r"-[kK][ \t]+"),
    _after(r"rar|unrar", r"-hp(?=\S)"),
    re.compile(
        rf"(?<![\w-])rabbitmqctl[ \t]+(?:add_user|change_password|authenticate_user)[ \t]+\S+[ \t]+{_VALUE}"
    ),
    re.compile(
        rf"(?<![\w-])poetry[ \t]+config[ \t]+(?:pypi-token\.\S+|http-basic\.\S+[ \t]+\S+)[ \t]+{_VALUE}"
    ),
    re.compile(
        r"(?<![\w-])(?:impacket-\w+|psexec\.py|wmiexec\.py|secretsdump\.py)[ \t]+[\w./-]+:(?P<bare>[^\s@]{4,})@"
    ),
    re.compile(r"(?<![\w-])sqlplus[ \t]+(?:-\w+[ \t]+)*[\w.-]+/(?P<bare>[^\s@/]{4,})@"),
    re.compile(rf"\b(?:secret|password)[ \t]+[057][ \t]+{_VALUE}"),
    _after(r"nmcli|iwctl|wpa_cli", r"(?:password|passphrase|psk)[ \t]+"),
    _after(r"snmpwalk|snmpget|snmpset|snmpbulkwalk", r"-[AX][ \t]+"),
    re.compile(rf"(?<![\w-])wpa_passphrase[ \t]+\S+[ \t]+{_VALUE}"),
    re.compile(rf"(?<![\w-])(?:bw|op|bitwarden)[ \t]+(?:unlock|signin)[ \t]+(?!-){_VALUE}"),
    re.compile(
        rf"(?<![\w-])net[ \t]+user[ \t]+[\w.-]+[ \t]+(?=\S*(?:\d|[a-z][A-Z]|[A-Z][a-z]))(?![/*]){_VALUE}"
    ),
    re.compile(
        r"(?:--with-token|--password-stdin|--token-stdin|--stdin|\bkinit|\bcryptsetup|\bchpasswd|\bpasswd|\bsudo[ \t]+-S)[^\n|;]{0,80}?<<<[ \t]*"
        + _VALUE
    ),
    re.compile(
        r"(?<![\w-])(?:config|configure|settings?)[ \t]+(?:set|create|add)[ \t][^\n|;&]{0,120}?(?i:_key|-key|token|secret|password|_pass)[ \t]+(?=\S*\d)"
        + _VALUE
    ),
    _after(r"mysql|mysqldump|mysqladmin|mysqlimport|mysqlsh|mariadb|mariadb-dump|mariadb-admin", r"-p(?=\S)"),
    _after(r"vault", r"login[ \t]+(?=\S*\d)"),
    _after(r"redis-cli|valkey-cli", r"-a[ \t]+"),
    _after(r"sshpass", r"-p[ \t]*"),
    _after(
        r"(?:docker|podman|nerdctl|buildah|skopeo|oras|crane|az|helm registry|oc|vault)[ \t]+login",
        r"-p[ \t]+",
    ),
    _after(r"mongo|mongosh|mongodump|mongorestore|mongoexport|mongoimport", r"-p[ \t]+"),
    _after(r"ldapsearch|ldapadd|ldapmodify|ldapdelete|ldapwhoami|ldappasswd", r"-w[ \t]+"),
    _after(r"sqlcmd|bcp|ipmitool|zip|unzip", r"-P[ \t]+"),
    _after(r"7z|7za|7zr|rar|unrar", r"-p(?=\S)"),
    _after(
        r"curl|wget|http|https|xh",
        r"(?:-u|--user|-U|--proxy-user|-a|--auth)[ \t=]*[\"']?[^\s:\"'$]+:",
        _REST,
    ),
    _after(r"smbclient|smbmap|rpcclient|winexe|net rpc", r"-U[ \t]*[\"']?[^\s%\"']+%", _REST),
    _after(r"gh|glab|flyctl|fly|heroku|wrangler|vercel", r"(?:--body|-b)(?:[ \t]+|=)(?=\S*\d)"),
    _after(r"lftp|ncftpget|ncftpput", r"-u[ \t]*[\"']?[^\s,\"']+,", _REST),
    re.compile(
        rf"\b(?:echo|printf)[ \t]+(?:-\w+[ \t]+)?[\"']?[\w.-]+:{_REST}[\"']?"
        r"[ \t]*\|[ \t]*(?:sudo[ \t]+)?chpasswd"
    ),
    _after(r"openssl", r"-pass(?:in|out)?[ \t]+[\"']?pass:", _REST),
    _after(r"htpasswd", r"-\w*b\w*[ \t]+\S+[ \t]+\S+[ \t]+"),
    re.compile(
        rf"\b(?:echo|printf)[ \t]+(?:-\w+[ \t]+)?(?:['\"]?%s(?:\\n)?['\"]?[ \t]+)?{_VALUE}[ \t]*"
        r"\|[^\n]{0,200}?"
        r"(?:--password-stdin|--with-token|--token-stdin|--stdin|sudo[ \t]+-\w*S)"
    ),
)
"""Short flags of the programs that have them; `-p` alone may be a port or a folder."""

PROGRAM_WORDS = (
    *("mysql", "mariadb", "vault", "redis", "valkey", "sshpass", "login", "mongo", "ldap", "sqlcmd"),
    *("bcp", "ipmitool", "zip", "7z", "rar", "curl", "wget", "http", "xh", "smb", "rpcclient", "openssl"),
    *("htpasswd", "stdin", "with-token", "sudo", "chpasswd", "twine", "winrm", "rdesktop", "useradd"),
    *("usermod", "plink", "psftp", "pscp", "putty", "kitty", "freerdp", "mosquitto", "mqttx", "doctl"),
    *("rabbitmq", "poetry", "impacket", "exec.py", "dump.py", "sqlplus", "winexe", "nmcli", "iwctl"),
    *("wpa_", "snmp", "unlock", "signin", "net user", "<<<", "lftp", "ncftp", "glab", "fly", "heroku"),
    *("wrangler", "vercel"),
)
PROGRAM_LINES = re.compile(
    r"(?:secret|password) [057]|(?:config|configure|settings?)[ \t]+(?:set|create|add)|\bgh\b"
)
"""Where neither such a word nor such a line stands, none of the programs is called."""


def flag_spans(text: str, lower: str) -> Iterator[Span]:
    """The spans of values of secret flags; `lower` is `text` in lower case."""
    for pattern in _LONG_FLAGS:
        yield from _values(text, pattern.finditer(lower))
    if any(word in lower for word in PROGRAM_WORDS) or PROGRAM_LINES.search(lower):
        for pattern in PROGRAMS:
            yield from _values(text, pattern.finditer(text))


def _values(text: str, matches: Iterator[re.Match[str]]) -> Iterator[Span]:
    for found in matches:
        group = found.lastgroup
        if group is not None and is_secret(text[slice(*found.span(group))], strong=True):
            yield found.span(group)
