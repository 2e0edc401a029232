"""The program that matches a regular expression against files, run as a child that can be killed.

It is started by path with nothing but the standard library and reads frames on standard input, 8 bytes of
length and then that many bytes: the pattern, the number of matches wanted, then one file after another. It
answers with lines of JSON: null for a good pattern or an error's text, then for each file a list of
[line number, line].
"""

from __future__ import annotations

import json
import re
import sys


def _frame() -> bytes | None:
    size = sys.stdin.buffer.read(8)
    return sys.stdin.buffer.read(int.from_bytes(size, "big")) if len(size) == 8 else None


def _answer(value: object) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def main() -> None:
    pattern, wanted = _frame(), _frame()
    if pattern is None or wanted is None:
        return
    try:
        expression = re.compile(pattern.decode("utf-8", "surrogatepass"))
    except (re.error, OverflowError, RecursionError) as error:
        _answer(str(error))
        return
    _answer(None)
    while (data := _frame()) is not None:
        found: list[tuple[int, str]] = []
        for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
            line = line.removesuffix("\r")
            if expression.search(line):
                found.append((number, line[:400]))
                if len(found) >= int(wanted):
                    break
        _answer(found)


if __name__ == "__main__":
    main()
