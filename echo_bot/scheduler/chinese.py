"""Schedules as people write them in Chinese, turned into the English forms; other text stays as it is."""

from __future__ import annotations

import re

_DIGITS = {"零": 0, "〇": 0, "一": 1, "二": 2, "两": 2, "兩": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7}
_DIGITS |= {"八": 8, "九": 9}
_NUMBER = "[零〇一二两兩三四五六七八九十]+"
_DAYS = {"一": "monday", "二": "tuesday", "三": "wednesday", "四": "thursday", "五": "friday"}
_DAYS |= {"六": "saturday", "日": "sunday", "天": "sunday", "1": "monday", "2": "tuesday", "3": "wednesday"}
_DAYS |= {"4": "thursday", "5": "friday", "6": "saturday", "7": "sunday"}
_UNITS = {
    "分": "minutes",
    "小": "hours",
    "钟": "hours",
    "鐘": "hours",
    "天": "days",
    "周": "weeks",
    "星": "weeks",
}
_WORDS = {"今天": "today", "今日": "today", "今晚": "tonight", "明天": "tomorrow", "明日": "tomorrow"}
_WORDS |= {"明早": "tomorrow", "明晚": "tomorrow", "后天": "overmorrow", "後天": "overmorrow"}
_WORDS |= {"每天": "every day at", "每日": "every day at", "每晚": "every day at"}
_WORDS |= {"每个工作日": "every weekday at", "每個工作日": "every weekday at", "工作日": "every weekday at"}

_PIECE = r"\d+(?:个|個)?(?:分钟|分鐘|分|小时|小時|钟头|鐘頭|天|周|星期)"
_AFTER = re.compile(rf"(?:再过|过)?(?P<span>(?:{_PIECE})+)(?:后|後|之后|之後|以后|以後)")
_EVERY = re.compile(rf"每(?:隔)?(?P<span>{_PIECE})")
_AT = re.compile(
    rf"(?P<day>{'|'.join(sorted(_WORDS, key=len, reverse=True))}|"
    r"(?P<every>每)?(?P<next>下)?(?:个|個)?(?:周|星期|礼拜|禮拜)(?P<week>[一二三四五六日天1-7]))"
    r"(?P<part>凌晨|早上|早晨|上午|中午|下午|傍晚|晚上)?"
    r"(?P<hour>\d{1,2})(?:点|點|时|時|[:：])(?:(?P<half>半)|(?P<quarter>[13])刻|(?P<minute>\d{1,2})分?)?(?:整|钟|鐘)?"
)
_AFTERNOON = ("下午", "傍晚", "晚上")
_EVENING = ("今晚", "明晚", "每晚")


def in_english(text: str) -> str:
    """`明天上午9点` as `tomorrow 9:00`, and so on."""
    if text.isascii():
        return text
    written = "".join(text.split()).replace("半小时", "30分钟").replace("半小時", "30分钟")
    written = re.sub(rf"(?<!周)(?<!期)(?<!拜){_NUMBER}", lambda found: str(_number(found.group())), written)
    if written in ("每小时", "每小時", "每个小时", "每個小時"):
        return "every hour"
    if found := _AFTER.fullmatch(written):
        return f"in {_span(found['span'])}"
    if found := _EVERY.fullmatch(written):
        return f"every {_span(found['span'])}"
    if found := _AT.fullmatch(written):
        return f"{_day(found)} {_time(found)}"
    return text


def _number(written: str) -> int:
    """Up to 99: 二十五, 十五, 十, 两."""
    tens, ten, units = written.rpartition("十")
    if not ten:
        return int("".join(str(_DIGITS[each]) for each in units))
    return 10 * (_DIGITS.get(tens, 1) if tens else 1) + _DIGITS.get(units, 0)


def _span(written: str) -> str:
    pieces = re.findall(r"(\d+)(?:个|個)?(分|小|钟|鐘|天|周|星)", written)
    return " ".join(f"{number} {_UNITS[unit]}" for number, unit in pieces)


def _day(found: re.Match[str]) -> str:
    if not found["week"]:
        return _WORDS[found["day"]]
    head = "every " if found["every"] else "next " if found["next"] else ""
    return f"{head}{_DAYS[found['week']]} at"


def _time(found: re.Match[str]) -> str:
    hour, minute = int(found["hour"]), int(found["minute"] or 0)
    if found["half"]:
        minute = 30
    elif found["quarter"]:
        minute = 15 * int(found["quarter"])
    is_late = found["part"] in _AFTERNOON or found["day"] in _EVENING
    if (is_late and 1 <= hour < 12) or (found["part"] == "中午" and hour in (1, 2)):
        hour += 12
    return f"{hour}:{minute:02}"
