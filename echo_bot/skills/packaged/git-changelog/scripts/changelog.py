"""Draft release notes from git commits: Markdown, grouped by kind. Reads the repository, changes nothing."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys

CONVENTIONAL = re.compile(r"(?P<kind>[a-z]+)(?:\((?P<scope>[^)]*)\))?(?P<breaking>!)?: (?P<text>.+)")
KINDS = {"feat": "Added", "fix": "Fixed", "perf": "Changed", "refactor": "Changed", "revert": "Changed"}
LEFT_OUT = {"chore", "ci", "build", "test", "tests", "style", "docs"}
WORDS = {"add": "Added", "adds": "Added", "added": "Added", "new": "Added", "fix": "Fixed", "fixes": "Fixed",
         "fixed": "Fixed", "remove": "Removed", "removes": "Removed", "removed": "Removed"}  # fmt: skip
ORDER = ("Breaking", "Added", "Changed", "Fixed", "Removed", "Other")


def git(folder: str, *words: str) -> str:
    """Ask git; hooks, pagers and file system monitors stay out of it."""
    settings = (
        "-c",
        "core.fsmonitor=false",
        "-c",
        "core.hooksPath=/dev/null",
        "-c",
        "log.showSignature=false",
    )
    command = ["git", "-C", folder, "--no-pager", *settings, *words]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "git failed")
    return done.stdout


def last_tag(folder: str, until: str) -> str:
    try:
        return git(folder, "describe", "--tags", "--abbrev=0", until).strip()
    except RuntimeError:
        return ""


def section_of(subject: str, body: str) -> tuple[str, str]:
    """The heading a commit belongs under, "" for none, and its line."""
    found = CONVENTIONAL.fullmatch(subject)
    if found is None:
        word = subject.split(" ", 1)[0].lower().rstrip(":")
        return WORDS.get(word, "Other"), subject
    scope = f"{found['scope']}: " if found["scope"] else ""
    line = f"{scope}{found['text']}"
    if found["breaking"] or "BREAKING CHANGE:" in body:
        return "Breaking", line
    if found["kind"] in LEFT_OUT:
        return "", line
    return KINDS.get(found["kind"], "Other"), line


def changelog(folder: str, since: str, until: str) -> str:
    for ref in (since, until):
        if ref.startswith("-"):
            raise RuntimeError(f"{ref} is no name of a commit")
    since = since or last_tag(folder, until)
    span = f"{since}..{until}" if since else until
    log = git(folder, "log", "--no-merges", "--format=%h%x1f%s%x1f%b%x1e", span, "--")
    sections: dict[str, list[str]] = {}
    count = 0
    for commit in filter(None, (part.strip("\n") for part in log.split("\x1e"))):
        short, subject, body = commit.split("\x1f", 2)
        count += 1
        heading, line = section_of(subject, body)
        if heading:
            sections.setdefault(heading, []).append(f"- {line} ({short})")
    lines = [f"## Changes {f'since {since}' if since else 'so far'}", ""]
    for heading in ORDER:
        if heading in sections:
            lines += [f"### {heading}", "", *sections[heading], ""]
    shown = sum(map(len, sections.values()))
    lines.append(f"{count} commits, {count - shown} left out as internal.")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", default="")
    parser.add_argument("--since", default="")
    parser.add_argument("--until", default="HEAD")
    options = parser.parse_args()
    folder = os.path.join(os.environ.get("WORKSPACE", "."), options.folder)
    try:
        text = changelog(folder, options.since, options.until)
    except (OSError, RuntimeError) as error:
        sys.stderr.write(f"no changelog: {error}\n")
        return 1
    sys.stdout.write(text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
