"""Integer arithmetic as far as it is known: numbers, names, + - * / % and parentheses."""

from __future__ import annotations

import re

from echo_bot.policy.guards.shell.marks import UNKNOWN, is_open
from echo_bot.policy.guards.shell.state import State

_TOKENS = re.compile(r"\s*(?:(0[xX][0-9a-fA-F]+|\d+#\w+|\d+)|([A-Za-z_]\w*)|(.))", re.DOTALL)
_PLAIN = re.compile(r"\s*(-?)\s*(0|[1-9]\d{0,17})\s*\Z")
_SUM = re.compile(r"[\s\w+\-*/%#]{1,200}\Z")


def calculated(text: str, state: State) -> str:
    """The value of an arithmetic expression, or UNKNOWN."""
    found = _PLAIN.match(text)
    if found is not None:
        return found.group(1) + found.group(2)
    if is_open(text) or not _SUM.match(text):
        return UNKNOWN
    try:
        return str(_sum(_numbers(text, state)))
    except (ValueError, ZeroDivisionError, IndexError):
        return UNKNOWN


def _numbers(text: str, state: State) -> list[int | str]:
    items: list[int | str] = []
    for number, name, operator in _TOKENS.findall(text.rstrip()):
        if number:
            items.append(_number(number))
        elif name:
            value = state.lookup(name)
            items.append(_number(value) if isinstance(value, str) and value else _refuse())
        else:
            items.append(operator)
    return items


def _refuse() -> int:
    raise ValueError


def _number(text: str) -> int:
    if "#" in text:
        base, digits = text.split("#", 1)
        return int(digits, int(base))
    if text[:2].lower() == "0x":
        return int(text, 16)
    return int(text, 8) if text[:1] == "0" and len(text) > 1 else int(text)


def _sum(items: list[int | str]) -> int:
    """Products first, then sums; operators are left-associative."""
    terms: list[int] = []
    sign, index, factor, pending = 1, 0, None, "*"
    while index < len(items):
        item = items[index]
        index += 1
        if isinstance(item, int):
            factor = _apply(factor, pending, item)
            pending = ""
        elif item in "+-" and not pending:
            terms.append(sign * (factor or 0))
            sign, factor, pending = (1 if item == "+" else -1), None, "*"
        elif item in "+-":
            sign = sign if item == "+" else -sign
        elif item in "*/%" and not pending:
            pending = item
        else:
            raise ValueError
    if pending or factor is None:
        raise ValueError
    return sum(terms) + sign * factor


def _apply(factor: int | None, operator: str, value: int) -> int:
    if factor is None:
        return value
    if operator == "*":
        return factor * value
    if operator == "/":
        return int(factor / value)
    if operator == "%":
        return factor % value
    raise ValueError
