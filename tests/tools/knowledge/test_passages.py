"""Documents are cut into passages that hold everything, within the limit, with the right lines."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_bot.storage.knowledge import Passage
from echo_bot.tools.knowledge.markup import text_of_html
from echo_bot.tools.knowledge.passages import passages_of

LINES = st.lists(st.text(st.characters(exclude_characters="\n", codec="utf-8"), max_size=60), max_size=40)


def cut(text: str, chunk_chars: int = 100, name: str = "a.md") -> list[Passage]:
    return list(passages_of(name, text, chunk_chars))


@given(LINES, st.integers(1, 200))
def test_every_line_is_in_a_passage_that_names_it(lines: list[str], chunk_chars: int) -> None:
    passages = cut("\n".join(lines), chunk_chars)
    assert all(0 < len(passage.text) <= chunk_chars and passage.text.strip() for passage in passages)
    clean = [line.rstrip("\r") for line in lines]
    if clean:
        clean[0] = clean[0].removeprefix("\ufeff")
    for number, line in enumerate(clean, start=1):
        if line.strip():
            around = [p.text for p in passages if p.first_line <= number <= p.last_line]
            assert "".join(line.split()) in "".join("".join(around).split())


@given(LINES)
def test_passages_follow_one_another(lines: list[str]) -> None:
    passages = cut("\n".join(lines))
    places = [(passage.first_line, passage.last_line) for passage in passages]
    assert places == sorted(places)
    assert all(first <= last <= max(len(lines), 1) for first, last in places)


def test_a_section_begins_a_passage_and_a_paragraph_is_not_torn() -> None:
    text = "# One\nfirst part\n\n# Two\n" + "a b c d e f g h\n" * 4 + "\n" + "short paragraph\n" * 3
    passages = cut(text, 100)
    assert passages[0] == Passage("a.md", 1, 2, "# One\nfirst part")
    assert passages[1].text.startswith("# Two")
    assert passages[2] == Passage("a.md", 10, 12, "\n".join(["short paragraph"] * 3))


HOSTILE = (
    "\n",
    "x",
    "# \n",
    "<",
    "<p>",
    "<!--",
    "&",
    "<a ",
    "</",
    "<![",
    "<?",
    "<script>",
    "</script",
    "<a b='",
)


@pytest.mark.parametrize("piece", HOSTILE)
@pytest.mark.parametrize("name", ["a.md", "a.html"])
def test_a_hostile_document_takes_linear_time(piece: str, name: str) -> None:
    started = time.process_time()
    cut(piece * (300_000 // len(piece)), 1500, name)
    assert time.process_time() - started < 3


def test_html_is_read_as_a_browser_shows_it_on_the_lines_of_the_file() -> None:
    page = (
        "<html><head><title>Install</title><style>p {color: red}</style></head>\n"
        "<body>\n<script>var hidden = 1;</script>\n<h1>Set\nup</h1>\n<p>Run <b>make</b> &amp; wait</p></body>"
    )
    lines = text_of_html(page).split("\n")
    assert len(lines) == page.count("\n") + 1
    assert lines[0] == "Install"
    assert (lines[3], lines[4], lines[5]) == ("Set", "up", "Run make & wait")
    assert "hidden" not in text_of_html(page)


@given(st.text(max_size=300))
def test_no_markup_raises_or_changes_the_count_of_lines(markup: str) -> None:
    assert text_of_html(markup).count("\n") == markup.count("\n")
