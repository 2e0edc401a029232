"""Secret masking: its corpora, known values in every form, and what must stay."""

from __future__ import annotations

import base64
import html
import json
import re
import time
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_bot.policy.guards.secrets import MASK, SecretMask

DATA = Path(__file__).parents[2] / "data"
ROWS = [
    json.loads(line)
    for name in ("secrets.jsonl.b64", "secrets_unseen.jsonl.b64")
    for line in base64.decodebytes((DATA / name).read_bytes()).decode().split("\n")
    if line.strip()
]
SHAPES = SecretMask()
VALUE = "pa55/word+with spaces & signs"


def is_masked(row: dict[str, list[str]], output: str) -> bool:
    for secret in row["secrets"]:
        pieces = [secret[i : i + 12] for i in range(len(secret) - 11)] if len(secret) >= 20 else []
        if secret in output or any(piece in output for piece in pieces):
            return False
    return all(text in output for text in row.get("must_keep", []))


def test_at_least_97_percent_of_secrets_are_masked() -> None:
    rows = [row for row in ROWS if row["expect"] == "redact" and row["tier"] == "must"]
    assert sum(is_masked(row, SHAPES.mask(row["text"])) for row in rows) / len(rows) >= 0.97


@pytest.mark.parametrize("text", [row["text"] for row in ROWS if row["expect"] == "keep"])
def test_a_look_alike_stays_whole(text: str) -> None:
    assert SHAPES.mask(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "password: required",
        "password = input('Password: ')",
        "api_key=os.environ['API_KEY']",
        "next_page_token=CAoQAA1234567890",
        "mysql -P3306 -h db",
        "unzip -p archive12.zip file",
        "postgres://user:${PASSWORD}@host/db",
        "together_we_can_do_it_2024_long_name",
        "key-value-store-benchmarks-2024-results",
        "密码长度至少12位",
        "auth=oauth2-proxy",
        "pwd=/home/user12345",
    ],
)
def test_no_secret_is_seen_in(text: str) -> None:
    assert SHAPES.mask(text) == text


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("db_password='FAKE horse 9'", f"db_password='{MASK}'"),
        ("https://bob:p@ss:w0rd@host.example/x", f"https://bob:{MASK}@host.example/x"),
        ("curl -u admin:FAKEpass123 https://x.example", f"curl -u admin:{MASK} https://x.example"),
        ("sshpass -p 'FAKE-pw-1' ssh u@h", f"sshpass -p '{MASK}' ssh u@h"),
        ("Authorization: Bearer FAKE1example.FAKE2", f"Authorization: Bearer {MASK}"),
        ("machine h login bob password FAKEpw123", f"machine h login bob password {MASK}"),
        ("密码：FAKE12example", f"密码：{MASK}"),
    ],
)
def test_only_the_value_goes(text: str, masked: str) -> None:
    assert SHAPES.mask(text) == masked


@pytest.mark.parametrize(
    "form",
    [
        VALUE,
        quote(VALUE),
        quote(VALUE, safe=""),
        json.dumps(VALUE)[1:-1],
        "x" + base64.b64encode(VALUE.encode()).decode(),
    ],
    ids=["raw", "URL-encoded", "URL-encoded whole", "in JSON", "base64"],
)
def test_a_known_value_is_masked_in_every_form(form: str) -> None:
    mask = SecretMask([VALUE])
    for output in (mask.mask(f"see {form} here"), mask.mask_known(f"see {form} here")):
        assert form not in output
        assert MASK in output


WIDE = base64.b64encode(b"x" * 100 + VALUE.encode() + b"y" * 100).decode()


@pytest.mark.parametrize(
    "form",
    [
        VALUE.encode().hex(),
        VALUE.encode().hex().upper(),
        VALUE.encode().hex(":"),
        VALUE.encode().hex(" "),
        "".join(f"\\x{byte:02x}" for byte in VALUE.encode()),
        "".join(f"\\u{ord(char):04x}" for char in VALUE),
        "".join(f"%{byte:02X}" for byte in VALUE.encode()),
        "".join(f"&#{ord(char)};" for char in VALUE),
        html.escape(VALUE),
        re.sub(r"(\W)", r"\\\1", VALUE),
        VALUE[::-1],
        VALUE[:9] + "\n    " + VALUE[9:],
        VALUE[:9] + "=\r\n" + VALUE[9:],
        VALUE[:9] + "\\\n> " + VALUE[9:],
        " ".join(VALUE.replace(" ", "")),
        json.dumps(json.dumps(VALUE))[3:-3],
    ],
    ids=[
        *(
            "hex",
            "upper hex",
            "colons",
            "pairs",
            "byte escapes",
            "unicode escapes",
            "percents",
            "entities",
            "HTML",
        ),
        *(
            "backslashes",
            "backwards",
            "two lines",
            "soft line end",
            "quoted line end",
            "spelt out",
            "JSON twice",
        ),
    ],
)
def test_a_known_value_is_masked_escaped_or_broken_over_lines(form: str) -> None:
    assert SecretMask([VALUE]).mask_known(f"see {form} here") == f"see {MASK} here"


@pytest.mark.parametrize("width", [64, 76])
def test_a_known_value_in_wrapped_base64_is_masked(width: int) -> None:
    lines = "\n".join(WIDE[at : at + width] for at in range(0, len(WIDE), width))
    output = SecretMask([VALUE]).mask_known(lines)
    assert MASK in output
    assert len(output.replace(MASK, "").replace("\n", "")) < len(WIDE) - 35


def test_ordinary_lines_are_no_known_value() -> None:
    text = "the pass is open\nand words with spaces stay\n"
    assert SecretMask([VALUE, "open and words"]).mask_known(text) == text


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        " ",
        "%20",
        "\\x41",
        "key=",
        "://a:b",
        "-b sess",
        "/hooks/",
        "kind: secret\n a: ",
        "=\n",
        "a_b_c_",
        "0a",
        "\\\n",
        "ghp_\n",
    ],
)
def test_time_grows_with_length_alone(unit: str) -> None:
    mask = SecretMask([VALUE])

    def seconds(length: int) -> float:
        text = (unit * length)[:length]
        started = time.process_time()
        mask.mask(text)
        return time.process_time() - started

    assert min(seconds(40_000) for _ in range(2)) < 40 * min(seconds(4_000) for _ in range(3))


TOKEN = "ghp_" + "Fake4example" * 3


@pytest.mark.parametrize(
    "form",
    [
        base64.b64encode(f"bob:{TOKEN}".encode()).decode(),
        TOKEN.encode().hex(),
        "".join(f"%{byte:02X}" for byte in TOKEN.encode()),
        TOKEN[:9] + "\n" + TOKEN[9:],
        TOKEN[:9] + "\\\n  " + TOKEN[9:],
        TOKEN[:9] + "\x1b[1m" + TOKEN[9:],
        "%3D" + TOKEN,
        "\\n" + TOKEN,
    ],
    ids=["base64", "hex", "percents", "two lines", "continued line", "colour", "after %3D", "after \\n"],
)
def test_a_token_is_masked_encoded_or_broken(form: str) -> None:
    output = SHAPES.mask(f"see {form} here")
    assert MASK in output
    assert not any(TOKEN[at : at + 8] in output for at in range(1, len(TOKEN) - 8))
    assert (output[:4], output[-5:]) == ("see ", " here")


def test_a_colour_behind_a_token_stays() -> None:
    assert SHAPES.mask(f"\x1b[32m{TOKEN}\x1b[0m ok") == f"\x1b[32m{MASK}\x1b[0m ok"


def test_a_token_of_one_letter_is_an_example() -> None:
    text = "ghp_" + "x" * 36
    assert SHAPES.mask(text) == text


def test_the_line_below_a_whole_token_stays() -> None:
    assert SHAPES.mask(f"{TOKEN}\nbuild12345 done") == f"{MASK}\nbuild12345 done"


@pytest.mark.parametrize("shift", [0, 1, 2])
def test_a_known_value_inside_a_longer_base64_text_is_masked(shift: int) -> None:
    encoded = base64.b64encode(b"u" * shift + b":" + VALUE.encode() + b":tail").decode()
    output = SecretMask([VALUE]).mask_known(encoded)
    assert MASK in output
    assert encoded[6:30] not in output
    assert len(output) - len(MASK) < 20


def test_a_short_known_value_is_masked_only_where_it_stands_alone() -> None:
    assert SecretMask(["1234"]).mask_known("pin 1234, id 91234") == f"pin {MASK}, id 91234"


def test_the_models_copy_keeps_shapes_and_loses_known_values() -> None:
    text = "password='FAKE horse 9' and top-secret-value"
    assert SecretMask(["top-secret-value"]).mask_known(text) == f"password='FAKE horse 9' and {MASK}"


def test_full_width_and_invisible_characters_hide_nothing() -> None:
    known = SecretMask(["FAKEvalue-4711"])
    assert known.mask("ＦＡＫＥvalue-4711") == MASK
    assert known.mask("FAKEva\u200blue-4711") == MASK


@pytest.mark.parametrize("text", ["PRIVATE KEY", "-----END PRIVATE KEY-----", "no PRIVATE KEY here"])
def test_talk_about_private_keys_is_no_key(text: str) -> None:
    assert SHAPES.mask(text) == text


WRAPPERS = [
    "{}",
    "({})",
    "x={}",
    "'{}'",
    '{{"a": "{}"}}',
    "令牌{}。",
    "https://u:{}@h.example/",
    "see {}, please",
]


@given(st.sampled_from(WRAPPERS), st.text(max_size=60), st.text(max_size=60))
def test_no_wrapper_and_no_neighbour_lets_a_token_through(wrapper: str, before: str, after: str) -> None:
    token = "ghp_" + "Fake4example" * 3
    assert token not in SHAPES.mask(f"{before} {wrapper.format(token)} {after}")


@given(st.lists(st.sampled_from([VALUE, "a", " ", "\n", "key=", "://", "@", "'", "中"]), max_size=12))
def test_masking_a_joined_text_leaves_no_more_than_masking_its_lines(pieces: list[str]) -> None:
    text, known = "".join(pieces), SecretMask([VALUE])
    assert VALUE not in known.mask(text)
    assert VALUE not in "\n".join(map(known.mask, text.split("\n")))


@given(st.text(max_size=300))
def test_masking_twice_is_masking_once(text: str) -> None:
    mask = SecretMask([VALUE])
    once = mask.mask(text)
    assert mask.mask(once) == once


@given(st.text(alphabet="ab =:'\"\n", max_size=60), st.text(alphabet="ab =:'\"\n", max_size=60))
def test_a_known_value_never_survives(before: str, after: str) -> None:
    assert VALUE not in SecretMask([VALUE]).mask(before + VALUE + after)


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("ssh-keygen -t rsa -N Ab3dEf9hIj -f k", "ssh-keygen -t rsa -N {} -f k"),
        ("ssh-keygen -p -P Ab3dEf9hIj -f k", "ssh-keygen -p -P {} -f k"),
        ("openssl passwd -6 -salt x Ab3dEf9hIj", "openssl passwd -6 -salt x {}"),
        ("mkpasswd -m sha-512 Ab3dEf9hIj", "mkpasswd -m sha-512 {}"),
        ("doveadm pw -s PLAIN -p Ab3dEf9hIj", "doveadm pw -s PLAIN -p {}"),
        ("slappasswd -s Ab3dEf9hIj", "slappasswd -s {}"),
        ("pdftk a.pdf output b.pdf user_pw Ab3dEf9hIj", "pdftk a.pdf output b.pdf user_pw {}"),
        ("pdftotext -upw Ab3dEf9hIj a.pdf", "pdftotext -upw {} a.pdf"),
        ("veracrypt -t -p Ab3dEf9hIj v", "veracrypt -t -p {} v"),
        ("mkpasswd -m sha-512", "mkpasswd -m sha-512"),
        ("ssh-keygen -lf k.pub", "ssh-keygen -lf k.pub"),
    ],
)
def test_a_password_that_a_program_takes_as_an_argument_is_masked(command: str, shown: str) -> None:
    assert SHAPES.mask(command) == shown.format(MASK)
