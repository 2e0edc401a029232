"""Resource limits as a shell prefix: set by the child on itself, before the command takes its place."""

from __future__ import annotations

from echo_bot.execution.protocol import Limits

# Memory is RLIMIT_DATA, not RLIMIT_AS: Node, Go and Java reserve far more address space than they use.
# The kernel kills silently at the hard limit of CPU time, and says so at the soft one, which comes first.
# `-u` is bash's spelling and `-p` dash's for the number of processes; sizes are in KiB and 512-byte blocks.
_SET = (
    "ulimit -c 0; ulimit -d {data} && ulimit -t {hard_cpu} && ulimit -S -t {cpu} && ulimit -f {blocks} "
    '|| exit 126; {processes}exec "$@"'
)
_PROCESSES = "{{ ulimit -u {n} || ulimit -p {n}; }} 2>/dev/null; "


def limited(argv: tuple[str, ...], limits: Limits, *, count_processes: bool) -> tuple[str, ...]:
    """`argv` behind the limits. `count_processes` only where a sandbox is counted apart from its user."""
    script = _SET.format(
        data=limits.memory_mb * 1024,
        cpu=limits.cpu_seconds,
        hard_cpu=limits.cpu_seconds + 1,
        blocks=limits.file_mb * 2048,
        processes=_PROCESSES.format(n=limits.processes) if count_processes else "",
    )
    return ("/bin/sh", "-c", script, "sh", *argv)
