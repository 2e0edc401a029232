"""A call's result as text and files."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_bot.mcp.content import MOST_CHARS, MOST_FILES, Content, SentFile, content_of

DATA = base64.b64encode(b"bytes").decode()


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "a\nb"),
        ({"content": [], "structuredContent": {"a": 1}}, '{"a": 1}'),
        ({"content": [{"type": "text", "text": '{ "a": 1 }'}], "structuredContent": {"a": 1}}, '{ "a": 1 }'),
        ({"content": [{"type": "resource", "resource": {"uri": "x://y", "text": "t"}}]}, "x://y:\nt"),
        ({"content": [{"type": "resource_link", "uri": "x://y", "name": "n"}]}, "link to n: x://y"),
        (
            {"content": [{"type": "video", "data": "x"}]},
            "(content of the kind 'video', which is not understood)",
        ),
        ({"content": [7]}, "(something that is no content)"),
        ({"content": "text"}, ""),
        ({}, ""),
    ],
)
def test_text(result: dict[str, Any], text: str) -> None:
    assert content_of(result) == Content(text, (), False)


def test_failures_say_so() -> None:
    assert content_of({"content": [], "isError": True}).is_error


@pytest.mark.parametrize(
    ("block", "extension"),
    [
        ({"type": "image", "data": DATA, "mimeType": "image/png"}, ".png"),
        ({"type": "audio", "data": DATA, "mimeType": "audio/x-wav; rate=1"}, ".wav"),
        ({"type": "image", "data": DATA, "mimeType": "../../etc/passwd"}, ".bin"),
        ({"type": "image", "data": DATA}, ".bin"),
        ({"type": "resource", "resource": {"uri": "u", "blob": DATA, "mimeType": "application/pdf"}}, ".pdf"),
    ],
)
def test_files(block: dict[str, Any], extension: str) -> None:
    found = content_of({"content": [block]})
    assert found.text == ""
    ((data, named, _),) = [(each.data, each.extension, each.kind) for each in found.files]
    assert (data, named) == (b"bytes", extension)


def test_too_much_is_left_out_and_said() -> None:
    image = {"type": "image", "data": DATA, "mimeType": "image/png"}
    found = content_of({"content": [image] * (MOST_FILES + 1)})
    assert len(found.files) == MOST_FILES
    assert "left out" in found.text
    assert "larger than" in content_of({"content": [{**image, "data": "A" * 17_000_000}]}).text
    assert "no" in content_of({"content": [{**image, "data": "?"}]}).text
    long = content_of({"content": [{"type": "text", "text": "x" * (MOST_CHARS + 5)}]}).text
    assert long.endswith(f"(cut: it sent {MOST_CHARS + 5:,} characters)")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=6) | st.sampled_from(["image", "text"]),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["content", "type", "text", "data", "resource", "structuredContent", "uri"]),
                inner,
            )
        ),
        max_leaves=10,
    )
)
def test_nothing_that_a_server_sends_is_an_error_of_ours(value: Any) -> None:
    found = content_of(value if isinstance(value, dict) else {"content": value})
    assert isinstance(found.text, str)
    assert all(isinstance(each, SentFile) for each in found.files)
