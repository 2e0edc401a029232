"""Database clients: statements that drop, truncate or delete without a bound."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from echo_bot.policy.guards.shell.marks import UNKNOWN, UNKNOWN_FIELDS
from echo_bot.policy.guards.shell.options import names

if TYPE_CHECKING:
    from echo_bot.policy.guards.shell.invocation import Invocation
    from echo_bot.policy.guards.shell.machine import Machine

CLIENTS = names(
    "psql mysql mariadb sqlite3 sqlite sqlcmd osql isql sqlplus mongosh mongo redis-cli "
    "valkey-cli cqlsh clickhouse-client clickhouse duckdb "
    "bq cockroach pgcli mycli litecli usql db2 hive beeline impala-shell spark-sql trino "
    "presto snowsql influx dbt neo4j-shell cypher-shell "
    "keydb-cli memcached-tool turso wrangler psql.exe mysql.exe tsql surreal rqlite dolt mssql-cli"
)
_HOST_CLIENTS = names(
    "psql mysql mariadb redis-cli valkey-cli keydb-cli pgcli mycli clickhouse-client mongosh mongo"
)
_LOCAL = names("localhost 127.0.0.1 ::1 . /tmp /var/run/postgresql /run/postgresql")
_HOST_OPTION = re.compile(r"--host(?:name)?(?:=(?P<long>.*))?\Z|-h(?P<short>.*)\Z", re.DOTALL)
_ADDRESS = re.compile(
    r"(?:postgres(?:ql)?|mysql|mariadb|mongodb(?:\+srv)?|rediss?)://(?:[^/@]*@)?(?P<host>[^/:?]*)|host=(?P<key>\S+)"
)
_COMMENTS = re.compile(r"/\*.*?\*/|--[^\n]*\n", re.DOTALL)
_STRINGS = re.compile(r"'(?:[^']|'')*'")
_DESTRUCTIVE = re.compile(
    r"\b(?:drop\s+(?:table|database|schema|index|view|user|role|keyspace|collection|"
    r"column|owned|materialized|function|sequence|type|trigger|extension|tablespace|if)"
    r"|truncate\b(?!\s*\()|delete\s+from\s+[\w.\"`\[\]]+\s*(?:;|$|\Z|\")|flushall|flushdb|"
    r"dropdatabase|alter\s+table\s+\S+\s+drop"
    r"|(?:\.|\b)drop\s*\(|deletemany\s*\(\s*(?:\{\s*\})?\s*\)|"
    r"remove\s*\(\s*(?:\{\s*\})?\s*\)|drop\s+\w+|"
    r"update\s+[\w.\"`]+\s+set\s+(?:(?!\bwhere\b).)*$)",
    re.IGNORECASE | re.DOTALL,
)
_READS_KEY = re.compile(
    r"(?:^|\s)(?:m?get|hget|hgetall|keys|exists|ttl|type|scan|lrange|smembers)\s+\S+$",
    re.IGNORECASE,
)
_ALWAYS_TRUE = re.compile(r"\bdelete\s+from\s+\S+\s+where\s+(?:1\s*=\s*1|true|1)\b", re.IGNORECASE)


def judge_database(machine: Machine, inv: Invocation) -> None:
    if inv.name not in CLIENTS:
        return
    _reaches(machine, inv)
    texts = list(inv.args)
    if inv.stdin.text:
        texts.append(inv.stdin.text)
    if inv.name.endswith("-cli") and _READS_KEY.search(" ".join(inv.args)):
        return
    for text in (
        [*texts, " ".join(inv.args)] if inv.name in ("redis-cli", "valkey-cli", "keydb-cli") else texts
    ):
        text = re.sub(r"(?i)\beval\s+['\"]?(?=.*\bflush(?:all|db)\b).*", "flushall", text)
        plain = _STRINGS.sub("''", _COMMENTS.sub(" ", text[:200_000]))
        for statement in plain.split(";"):
            if _DESTRUCTIVE.search(statement.strip()) or _ALWAYS_TRUE.search(statement):
                machine.ask("sql_destructive", "Drops, empties or deletes data in a database.", inv)
                return
    if any(text[:1] in (UNKNOWN, UNKNOWN_FIELDS) for text in texts):
        machine.ask("sql_destructive", "What the database is told is not known before.", inv)


def _reaches(machine: Machine, inv: Invocation) -> None:
    """A client that is given another machine's name connects to it."""
    hosts: list[str] = []
    takes_host = inv.name in _HOST_CLIENTS
    for arg, following in zip(inv.args, [*inv.args[1:], ""], strict=False):
        if takes_host and (option := _HOST_OPTION.match(arg)) is not None:
            hosts.append(option["long"] or option["short"] or following)
        elif (address := _ADDRESS.match(arg)) is not None:
            hosts.append(address["host"] or address["key"] or "localhost")
    if any(host and not host.startswith(("-", "/")) and host not in _LOCAL for host in hosts):
        machine.ask("network_outbound", "Connects to a database on another machine.", inv)
