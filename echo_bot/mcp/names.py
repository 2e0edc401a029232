"""What a server's tools are called here: `mcp_<server>_<tool>`, of the allowed characters, all different."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable

MOST_CHARS = 64
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")


def prefix_of(server: str) -> str:
    return f"mcp_{server}_"


def tool_names(server: str, spelt: Iterable[str]) -> dict[str, str]:
    """The name of each tool by the server's own spelling. It depends on the whole set, not on its order.

    A name that has to be changed and then is another's too ends in a part of its hash. A tool is left out
    when even that is taken.
    """
    plain = {each: _cleaned(server, each) for each in sorted(set(spelt)) if each}
    shared = Counter(plain.values())
    exact = {each: name for each, name in plain.items() if name == prefix_of(server) + each}
    taken = set(exact.values())
    names = dict(exact)
    for each, name in plain.items():
        if each in exact:
            continue
        told = name if shared[name] == 1 else _told_apart(name, each)
        if told not in taken:
            names[each] = told
            taken.add(told)
    return names


def _cleaned(server: str, spelt: str) -> str:
    name = prefix_of(server) + _FOREIGN.sub("_", spelt)
    return name if len(name) <= MOST_CHARS else _told_apart(name, spelt)


def _told_apart(name: str, spelt: str) -> str:
    mark = hashlib.sha256(spelt.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{name[: MOST_CHARS - 9]}_{mark}"
