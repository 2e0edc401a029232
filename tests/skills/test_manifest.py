"""SKILL.md: the public format is read, ours beside it, and what is wrong is named with its line."""

from __future__ import annotations

import pytest

from echo_bot.skills.errors import SkillError
from echo_bot.skills.manifest import MAX_SKILL_FILE_BYTES, parse_skill

PUBLIC = """---
name: pdf-processing
description: >
  Extracts text from PDF files.
  Use it for forms.
license: Apache-2.0
compatibility: Needs network access
metadata:
  author: example-org
  version: "1.0"
  nested: {theirs: 1}
allowed-tools: Bash(git:*) Read
disable-model-invocation: true
---

# PDF

Body --- with dashes
---
and more
"""


def test_the_public_format_is_read() -> None:
    manifest, body = parse_skill(PUBLIC.encode(), "SKILL.md")
    assert manifest.name == "pdf-processing"
    assert manifest.description == "Extracts text from PDF files. Use it for forms."
    assert manifest.metadata == {"author": "example-org", "version": "1.0"}
    assert manifest.shown_version == "1.0"
    assert manifest.allowed_tools == ("Bash(git:*)", "Read")
    assert body == "# PDF\n\nBody --- with dashes\n---\nand more"


def test_our_own_fields_are_read_and_version_may_look_like_a_number() -> None:
    text = (
        "---\nname: a\ndescription: b\nversion: 1.2\nscripts:\n  scripts/x.py: does x\ndependencies:\n"
        "  python: [pypdf>=5]\n  binaries: [git]\n  env: [API_TOKEN]\n---\n"
    )
    manifest, body = parse_skill(text.encode(), "SKILL.md")
    assert (manifest.version, body) == ("1.2", "")
    assert manifest.scripts == {"scripts/x.py": "does x"}
    assert manifest.dependencies.python == ("pypdf>=5",)
    assert manifest.dependencies.env == ("API_TOKEN",)


def test_line_ends_of_other_systems_and_a_byte_order_mark_are_taken() -> None:
    manifest, body = parse_skill(b"\xef\xbb\xbf---\r\nname: a\r\ndescription: b\r\n---\r\nc\r\n", "f")
    assert (manifest.name, body) == ("a", "c")


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("# no front matter", 1, "begins with a line ---"),
        ("", 1, "begins with a line ---"),
        ("---\nname: a\n", 1, "has no end"),
        ("---\nname: a\ndescription: [unclosed\n---\n", 4, "not valid YAML"),
        ("---\nname: a\nname: b\ndescription: c\n---\n", 3, "stands here twice"),
        ("---\ndescription: c\n---\n", 1, "name: is missing"),
        ("---\nname: a\n---\n", 1, "description: is missing"),
        ("---\ndescription: b\nname: Not A Name\n---\n", 3, "lower-case letters"),
        ("---\ndescription: b\nname: ../up\n---\n", 3, "lower-case letters"),
        ("---\ndescription: b\nname: a--b\n---\n", 3, "lower-case letters"),
        (f"---\ndescription: b\nname: {'a' * 65}\n---\n", 3, "at most 64"),
        ('---\nname: a\ndescription: "  "\n---\n', 3, "must not be empty"),
        (f"---\nname: a\ndescription: {'x' * 1025}\n---\n", 3, "1024"),
        ("---\nname: a\ndescription: b\nversion: {}\n---\n", 4, "must be text"),
        ("---\nname: a\ndescription: b\nscripts:\n  ../x.py: c\n---\n", 5, "leaves the skill"),
        ("---\nname: a\ndescription: b\nscripts:\n  /x.py: c\n---\n", 5, "absolute"),
        ("---\nname: a\ndescription: b\ndependencies:\n  pip: [x]\n---\n", 5, "there is no such key"),
        ("---\nname: a\ndescription: b\ndependencies:\n  python:\n  - -r /etc/x\n---\n", 6, "requirement"),
        ("---\nname: a\ndescription: b\ndependencies:\n  python: ['x @ https://e.x/y']\n---\n", 5, "address"),
        ("---\nname: a\ndescription: b\ndependencies:\n  binaries: ['a; b']\n---\n", 5, "not the name of a"),
        ("---\nname: a\ndescription: b\ndependencies:\n  env: ['A=b']\n---\n", 5, "environment variable"),
        ("---\nname: &x a\ndescription: !!python/object:os.system b\n---\n", 3, "tag"),
    ],
)
def test_what_is_wrong_is_named_with_file_and_line(text: str, line: int, says: str) -> None:
    with pytest.raises(SkillError) as caught:
        parse_skill(text.encode(), "x/SKILL.md")
    assert str(caught.value).startswith(f"x/SKILL.md:{line}: ")
    assert says in str(caught.value)


def test_other_encodings_and_huge_files_are_refused() -> None:
    with pytest.raises(SkillError, match=r"SKILL\.md:2: not UTF-8"):
        parse_skill(b"---\nname: \xff\n---\n", "SKILL.md")
    with pytest.raises(SkillError, match="longer than"):
        parse_skill(b"-" * (MAX_SKILL_FILE_BYTES + 1), "SKILL.md")
