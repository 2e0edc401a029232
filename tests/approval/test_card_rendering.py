"""The card: what a person is shown, in which order, and that nothing in a call can hide or imitate."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_bot.approval.card import fallback_text, render_open
from echo_bot.approval.escape import escape_block, escape_line, is_hidden
from echo_bot.approval.lookalike import lookalike_notes, punycode
from echo_bot.approval.request import ApprovalRequest, Choice
from echo_bot.events import ApprovalId, ButtonStyle, Card, CodeBlock, Fields, Paragraph
from echo_bot.policy.call import Call, Executor, JsonValue, digest
from echo_bot.policy.decision import Finding, Verdict
from echo_bot.policy.guards.secrets import MASK, SecretMask
from echo_bot.policy.risk import RiskLevel

NOON = datetime(2026, 1, 2, 12, 0, tzinfo=UTC)
BERLIN = timezone(timedelta(hours=1), "CET")
REQUEST = ApprovalRequest(
    approval_id=ApprovalId("appr-00a1b2c3"),
    tool="exec",
    args={"timeout": 5, "command": "rm -r build"},
    risk=RiskLevel.EXEC,
    cwd="/home/ana/project",
    executor=Executor.SANDBOX,
    requester="telegram:42",
    requester_name="Ana",
    offered=(Choice.ONCE, Choice.SESSION, Choice.DENY, Choice.DENY_REASON),
    findings=(Finding("recursive_delete", Verdict.ASK, "Deletes a folder and everything in it."),),
)
TOKENS = {choice: f"token-{choice}" for choice in Choice}


def opened(request: ApprovalRequest, mask: SecretMask | None = None) -> Card:
    return render_open(request, TOKENS, mask or SecretMask(), NOON, BERLIN)


def with_command(command: JsonValue) -> Card:
    return opened(replace(REQUEST, args={"command": command}))


def rows(card: Card) -> dict[str, str]:
    return {label: value for block in card.blocks if isinstance(block, Fields) for label, value in block.rows}


def test_an_open_card_whole() -> None:
    assert opened(REQUEST).blocks == (
        CodeBlock("rm -r build", "bash", "command"),
        CodeBlock("timeout: 5", "", "arguments"),
        Paragraph("Why this asks", strong=True),
        Paragraph("• Deletes a folder and everything in it."),
        Fields(
            (
                ("Tool", "exec"),
                ("Folder", "/home/ana/project"),
                ("Runs on", "the sandbox"),
                ("Asked by", "Ana (telegram:42)"),
                ("A longer approval covers", "exactly this call, asked by this person, in this session"),
                ("Answer by", "13:00:00 CET"),
                ("Id", "a1b2c3"),
            )
        ),
    )


def test_buttons_follow_the_offer_and_a_reason_is_asked_for() -> None:
    once, session, deny, reason = opened(REQUEST).buttons
    assert (once.label, once.token, once.style) == ("Approve once", "token-once", ButtonStyle.PRIMARY)
    assert (session.label, deny.style) == ("For this session", ButtonStyle.DANGER)
    assert reason.prompt


def test_a_choice_without_a_token_has_no_button() -> None:
    card = render_open(REQUEST, {Choice.ONCE: "t"}, SecretMask(), None, UTC)
    assert [button.token for button in card.buttons] == ["t"]
    assert "Answer by" not in rows(card)


def test_the_fallback_ends_with_what_to_type() -> None:
    card = opened(REQUEST)
    assert card.fallback.endswith(
        "/approve a1b2c3 once\n/approve a1b2c3 session\n/deny a1b2c3\n/deny a1b2c3 <reason>"
    )
    assert fallback_text(card, ()) in card.fallback


def test_simple_commands_are_listed_when_there_are_several() -> None:
    card = opened(replace(REQUEST, commands=("cd build", "rm -r x")))
    assert CodeBlock("1. cd build\n2. rm -r x", "", "Runs, in order") in card.blocks


def test_what_a_loop_runs_again_is_listed_once() -> None:
    card = opened(replace(REQUEST, commands=("make a", "sleep 1") * 9))
    label = "Runs, in order; what comes again is listed once"
    assert CodeBlock("1. make a\n2. sleep 1", "", label) in card.blocks


def test_a_diff_stands_for_the_content_it_shows() -> None:
    request = replace(
        REQUEST, tool="write_file", args={"path": "a.txt", "content": "new\n"}, diff="-old\n+new\n"
    )
    card = opened(request)
    assert CodeBlock("-old\n+new\n", "diff", "Change") in card.blocks
    assert "content" not in rows(card)
    assert not any(isinstance(block, CodeBlock) and block.label == "content" for block in card.blocks)


def test_secrets_are_masked_in_every_place() -> None:
    secret = "top-secret-value-1"
    request = replace(
        REQUEST,
        args={"command": f"login {secret}", "note": secret},
        env={"TOKEN_OF_X": secret},
        cwd=f"/srv/{secret}",
        requester_name=secret,
        notes=(secret,),
        commands=(f"login {secret}", "ls"),
    )
    card = opened(request, SecretMask([secret]))
    assert secret not in card.fallback
    assert card.fallback.count(MASK) >= 6


def test_dangerous_fields_come_first_and_none_is_left_out() -> None:
    args: dict[str, JsonValue] = {f"k{n}": n for n in range(9)}
    card = opened(
        replace(
            REQUEST, args={**args, "env": {"LD_PRELOAD": "/tmp/x.so"}, "Command": "decoy", "command": "ls"}
        )
    )
    order = [card.fallback.index(text) for text in ("decoy", "| ls", "LD_PRELOAD", "k0: 0", "k8: 8")]
    assert order[2:] == sorted(order[2:])
    assert max(order[:2]) < order[2]


@pytest.mark.parametrize(
    ("char", "shown"),
    [
        ("\u202e", "\\u{202E}"),
        ("\u200b", "\\u{200B}"),
        ("\ufe0f", "\\u{FE0F}"),
        ("\u3164", "\\u{3164}"),
        ("\u2800", "\\u{2800}"),
        ("\u034f", "\\u{034F}"),
        ("\u00a0", "\\u{00A0}"),
        ("\u2028", "\\u{2028}"),
        ("\x1b", "\\u{001B}"),
        ("\x00", "\\u{0000}"),
        ("\ue000", "\\u{E000}"),
        ("\U000e0072", "\\u{E0072}"),
        ("\ud800", "\\u{D800}"),
        ("\t", "⇥"),
    ],
)
def test_what_cannot_be_seen_is_written_out(char: str, shown: str) -> None:
    assert f"rm {shown}x" in with_command(f"rm {char}x").fallback


@pytest.mark.parametrize("text", ["café naïve", "שלום עולם", "مرحبا", "项目 日本語", "🎉👍🏽", "नमस्ते", "ไทย"])
def test_ordinary_writing_stays_readable(text: str) -> None:
    assert text in with_command(f"echo {text}").fallback


@given(st.text(max_size=200))
def test_no_hidden_character_reaches_a_card(text: str) -> None:
    for escaped in (escape_line(text), escape_block(text).replace("\n", "")):
        assert not any(is_hidden(char) for char in escaped)
    assert "\n" not in escape_line(text)


@pytest.mark.parametrize(
    ("real", "literal"),
    [
        ("\u200b", "\\u{200B}"),
        ("\t", "⇥"),
        ("a\nb", "a⏎b"),
        ("x ", "x␣"),
        ("\u200b" * 4, "\u200b×4"),
        ("\t" * 5, "\t×5"),
        ("\\", "\\u{005C}"),
        ("a" + " " * 40, "a⟨40 spaces⟩"),
    ],
    ids=[
        "an escape",
        "a tab",
        "a line break",
        "a blank",
        "a count",
        "a count of tabs",
        "a backslash",
        "padding",
    ],
)
def test_a_text_that_spells_a_mark_looks_different_from_what_the_mark_stands_for(
    real: str, literal: str
) -> None:
    assert escape_line(real) != escape_line(literal)
    assert escape_block(f"{real}.") != escape_block(f"{literal}.")


_TRICKY = st.text(alphabet="a \t\n\\u{}0123456789ABCDEF⇥⏎␣×⟨⟩\u200b\u202e", max_size=12)


@given(_TRICKY, _TRICKY)
def test_no_two_texts_look_the_same(one: str, other: str) -> None:
    runs_of_blank_lines = max(one.count("\n"), other.count("\n")) > 2  # told by their number alone
    if one != other and not runs_of_blank_lines:
        assert escape_line(one) != escape_line(other)
        assert escape_block(one) != escape_block(other)


def test_padding_collapses_to_its_length() -> None:
    shown = with_command("echo ok" + " " * 300 + "; rm -r x" + "\n" * 40 + "rm -r y" + "\u3000" * 9).fallback
    assert "⟨300 spaces⟩" in shown
    assert "⟨39 blank lines⟩" in shown
    assert "\\u{3000}×9" in shown
    assert "rm -r y" in shown


def test_an_imitated_padding_mark_is_told_apart() -> None:
    assert "⟨300 spaces⟩" not in with_command("a ⟨300 spaces⟩ b").fallback


def test_a_line_break_in_a_command_is_marked_and_stays_inside_the_margin() -> None:
    shown = with_command("ls # list\nRisk: reads only").fallback
    assert "| ls # list⏎\n| Risk: reads only" in shown


def test_a_display_name_cannot_imitate_a_line_of_the_card() -> None:
    card = opened(replace(REQUEST, requester_name="Ana\n✅ Approved by owner"))
    assert rows(card)["Asked by"] == "Ana ✅ Approved by owner (telegram:42)"


def test_an_argument_cannot_imitate_a_fact_of_the_card() -> None:
    args: dict[str, JsonValue] = {"command": "ls", "Asked by": "web:local", "Environment": "x\n" * 3}
    card = opened(replace(REQUEST, args=args))
    assert rows(card)["Asked by"] == "Ana (telegram:42)"
    assert "| Asked by: web:local" in card.fallback
    assert "argument “Environment”:\n| x⏎" in card.fallback


def test_folder_and_environment_are_shown_once() -> None:
    args: dict[str, JsonValue] = {"command": "make", "cwd": "sub", "env": {"A": 1, "B": "x\nA=2"}}
    request = replace(REQUEST, args=args, cwd="/home/ana/project/sub", env={"A": "1", "B": "x\nA=2"})
    shown = opened(request).fallback
    assert shown.count("A=1") == 1
    assert "| A=1\n| B=x⏎A=2\n" in shown
    assert (shown.count("sub"), rows(opened(request))["Folder"]) == (1, "/home/ana/project/sub")


def test_a_folder_that_is_spelled_in_another_way_is_shown_as_both() -> None:
    card = opened(replace(REQUEST, args={"command": "ls", "cwd": "a/../b"}, cwd="/home/ana/project/b"))
    assert "cwd: a/../b" in card.fallback
    assert rows(card)["Folder"] == "/home/ana/project/b"


@pytest.mark.parametrize(
    ("offered", "covers"),
    [
        ((Choice.HOUR,), "for 1 hour"),
        ((Choice.SESSION, Choice.HOUR), "in this session or for 1 hour"),
        ((Choice.SESSION, Choice.HOUR, Choice.ALWAYS), "in this session, for 1 hour, or always"),
    ],
    ids=["one", "two", "three"],
)
def test_longer_approvals_are_alternatives(offered: tuple[Choice, ...], covers: str) -> None:
    card = opened(replace(REQUEST, offered=offered))
    assert rows(card)["A longer approval covers"].endswith(f"asked by this person, {covers}")


def test_a_reason_and_the_finding_it_repeats_are_one_line() -> None:
    request = replace(REQUEST, reason="Deletes a folder and everything in it")
    assert opened(request).fallback.count("Deletes a folder") == 1


def test_one_foreign_letter_looks_like_another() -> None:
    assert lookalike_notes("gоogle")[0].endswith("U+043E looks like another letter.")


def test_blanks_at_the_edges_of_a_value_are_seen() -> None:
    assert "path: a.txt␣␣" in opened(replace(REQUEST, args={"path": "a.txt  "})).fallback


def test_hosts_are_shown_in_punycode_and_mixed_alphabets_named() -> None:
    shown = with_command("curl https://gооgle.example/x").fallback
    assert "xn--ggle-55da.example" in shown
    assert "U+043E" in shown
    assert lookalike_notes("/etc/рasswd") != ()
    assert lookalike_notes("привет мир, hello") == ()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("сору a b", "U+0440"),
        ("ｒｍ -rf x", "U+FF52"),
        ("\U0001d5cb\U0001d5c6 x", "U+1D5CB"),
        ("ⓡⓜ x", "U+24DC"),
        ("config．yaml", "U+FF0E"),
        ("src／..／x", "U+FF0F"),
        ("curl https://ｅxample.org", "U+FF45"),
    ],
)
def test_what_only_looks_like_ascii_is_named_with_its_code_points(text: str, code: str) -> None:
    assert any(code in note for note in lookalike_notes(text))


@pytest.mark.parametrize(
    "text", ["хорошо, сор", "日本語、テスト。", "全角（括弧）！", "café – naïve", "Ωmega 5 µm"]
)
def test_ordinary_text_is_not_called_an_imitation(text: str) -> None:
    assert not any("only looks like" in note for note in lookalike_notes(text))


def test_punycode_agrees_with_the_lookup() -> None:
    assert punycode("bücher.example") == "bücher.example".encode("idna").decode()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"n": 1}, {"n": True}),
        ({"n": 1}, {"n": "1"}),
        ({"n": 1}, {"n": 1.0}),
        ({"env": {}}, {"env": {"TARGET": "prod"}}),
        ({"content": "echo 1"}, {"content": "echo 2"}),
    ],
    ids=[
        "a number and a truth value",
        "a number and a text",
        "two kinds of number",
        "an environment",
        "a content",
    ],
)
def test_twins_have_other_digests(one: dict[str, JsonValue], other: dict[str, JsonValue]) -> None:
    assert digest(Call("exec", one, "/w")) != digest(Call("exec", other, "/w"))


@given(
    st.dictionaries(
        st.text(max_size=12), st.text(max_size=60) | st.integers() | st.lists(st.text(max_size=9)), max_size=6
    ),
    st.text(max_size=20),
)
def test_rendering_never_raises(args: dict[str, JsonValue], tool: str) -> None:
    card = opened(replace(REQUEST, args=args, tool=tool or "x"))
    assert not any(is_hidden(char) for char in card.fallback if char != "\n")
