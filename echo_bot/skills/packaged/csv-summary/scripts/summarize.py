"""Summarise a CSV file: a block of figures for each column. Reads the file once, row by row."""

from __future__ import annotations

import argparse
import csv
import math
import os
import sys
from collections import Counter
from datetime import date, datetime

MOST_DISTINCT = 100_000


class Column:
    """What is known of one column so far."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.missing = self.numbers = self.dates = self.texts = 0
        self.total = 0.0
        self.low, self.high = math.inf, -math.inf
        self.first_date = self.last_date = ""
        self.values: Counter[str] = Counter()

    def add(self, value: str) -> None:
        value = value.strip()
        if not value:
            self.missing += 1
            return
        if value in self.values or len(self.values) < MOST_DISTINCT:
            self.values[value] += 1
        number = as_number(value)
        if number is not None:
            self.numbers += 1
            self.total += number
            self.low, self.high = min(self.low, number), max(self.high, number)
        elif is_date(value):
            self.dates += 1
            self.first_date = min(self.first_date or value, value)
            self.last_date = max(self.last_date, value)
        else:
            self.texts += 1

    def lines(self, top: int) -> list[str]:
        known = self.numbers + self.dates + self.texts
        kinds = [(self.numbers, "number"), (self.dates, "date"), (self.texts, "text")]
        present = [f"{kind} {count}" for count, kind in kinds if count]
        lines = [f"{self.name}: {', '.join(present) or 'empty'}; missing {self.missing}"]
        if self.numbers:
            mean = self.total / self.numbers
            lines.append(f"  minimum {self.low:g}, mean {mean:g}, maximum {self.high:g}")
        if self.dates:
            lines.append(f"  from {self.first_date} to {self.last_date}")
        if known:
            more = "or more " if len(self.values) >= MOST_DISTINCT else ""
            lines.append(f"  {len(self.values)} {more}different values")
        if self.texts:
            frequent = ", ".join(f"{value} ({count})" for value, count in self.values.most_common(top))
            lines.append(f"  most frequent: {frequent}")
        return lines


def as_number(text: str) -> float | None:
    try:
        number = float(text.replace("_", "x"))
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def is_date(text: str) -> bool:
    """ISO dates, which compare as texts."""
    try:
        date.fromisoformat(text[:10])
        if len(text) > 10:
            datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def summarize(path: str, delimiter: str, top: int) -> list[str]:
    with open(path, encoding="utf-8-sig", errors="replace", newline="") as file:
        sample = file.read(64 * 1024)
        file.seek(0)
        reader = csv.reader(file, delimiter=delimiter or sniffed(sample))
        header = next(reader, None)
        if header is None:
            return [f"{path} is empty"]
        columns = [Column(name.strip() or f"column {place}") for place, name in enumerate(header, 1)]
        rows = uneven = 0
        for row in reader:
            if not row:
                continue
            rows += 1
            uneven += len(row) != len(columns)
            for place, column in enumerate(columns):
                column.add(row[place] if place < len(row) else "")
    lines = [f"{rows} rows, {len(columns)} columns"]
    if uneven:
        lines.append(f"{uneven} rows have another number of fields than the header")
    return lines + [line for column in columns for line in column.lines(top)]


def sniffed(sample: str) -> str:
    """The separator that stands most often in the first line."""
    first = sample.splitlines()[0] if sample else ""
    return max(",;\t|", key=first.count)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--delimiter", default="")
    parser.add_argument("--top", type=int, default=5)
    options = parser.parse_args()
    path = os.path.join(os.environ.get("WORKSPACE", ""), options.file)
    try:
        lines = summarize(path, options.delimiter, options.top)
    except (OSError, csv.Error, TypeError) as error:
        sys.stderr.write(f"{options.file} cannot be summarised: {error}\n")
        return 1
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
