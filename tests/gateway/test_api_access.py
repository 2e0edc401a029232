"""The HTTP API: which token may do what, and what everybody else is told."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from structlog.testing import capture_logs

from echo_bot.errors import StorageError
from echo_bot.events import Identity
from echo_bot.gateway import Gateway, GatewaySettings
from echo_bot.gateway.tokens import Caller, Scope, Token, Tokens
from echo_bot.storage.store import open_store
from echo_bot.testing.api_bot import ApiBot

StartApi = Callable[..., AbstractAsyncContextManager[ApiBot]]

READ = [
    ("GET", "/whoami"),
    ("POST", "/messages"),
    ("POST", "/messages/stream"),
    ("GET", "/messages/unknown"),
    ("GET", "/sessions"),
    ("GET", "/sessions/transcript"),
    ("GET", "/approvals"),
    ("GET", "/approvals/unknown"),
    ("POST", "/approvals/unknown/answer"),
    ("GET", "/grants"),
    ("GET", "/tools"),
]
ADMIN_ONLY = [
    ("POST", "/approvals/unknown/approve"),
    ("POST", "/approvals/unknown/deny"),
    ("POST", "/approvals/unknown/edit"),
    ("DELETE", "/grants/unknown"),
    ("GET", "/status"),
    ("GET", "/audit"),
    ("GET", "/audit/verify"),
]


def code_of(answer: httpx.Response) -> str:
    """The error's code, of a body that holds an error and nothing else."""
    body = answer.json()
    assert set(body) == {"error"}
    assert set(body["error"]) == {"code", "message"}
    return str(body["error"]["code"])


async def test_the_tables_name_every_endpoint(api: ApiBot) -> None:
    paths = (await api.nobody.get("/openapi.json")).json()["paths"]
    documented = {
        (method.upper(), path.replace("{approval_id}", "unknown").replace("{grant_id}", "unknown"))
        for path, methods in paths.items()
        for method in methods
    }
    named = {(method, path.replace("/messages/unknown", "/messages/{message_id}")) for method, path in READ}
    assert documented == named | set(ADMIN_ONLY)


async def test_without_a_known_token_nothing_is_answered(api: ApiBot) -> None:
    for header in ("", "Bearer", "Bearer wrong", "Basic b3JkaW5hcnk="):
        sent = {"Authorization": header} if header else {}
        for method, path in (*READ, *ADMIN_ONLY, ("GET", "/nothing-there")):
            answer = await api.nobody.request(method, path, headers=sent)
            assert (answer.status_code, code_of(answer)) == (401, "unauthorized"), (header, path)


async def test_an_ordinary_token_gets_everything_but_what_is_for_admins(api: ApiBot) -> None:
    for method, path in READ:
        assert (await api.ci.request(method, path)).status_code in (200, 404, 422), path
    for method, path in ADMIN_ONLY:
        answer = await api.ci.request(method, path)
        assert (answer.status_code, code_of(answer)) == (403, "forbidden"), path


async def test_an_ordinary_token_is_refused_before_its_body_is_read(api: ApiBot) -> None:
    answer = await api.ci.post("/approvals/unknown/approve", content=b"{not json")
    assert answer.status_code == 403


async def test_an_admin_token_gets_everything(api: ApiBot) -> None:
    for method, path in (*READ, *ADMIN_ONLY):
        assert (await api.ops.request(method, path)).status_code in (200, 404, 422), path


async def test_two_headers_are_no_token(api: ApiBot) -> None:
    headers = [*api.ci.headers.multi_items(), ("Authorization", api.ci.headers["authorization"])]
    async with httpx.AsyncClient(trust_env=False, verify=False) as doubled:
        answer = await doubled.get(f"{api.bot.url}/api/v1/whoami", headers=headers)
    assert answer.status_code == 401


async def test_the_token_says_who_the_caller_is(api: ApiBot) -> None:
    mine, theirs = (await api.ci.get("/whoami")).json(), (await api.ops.get("/whoami")).json()
    assert mine == {"name": "ci", "identity": "api:ci", "scope": "read"}
    assert theirs == {"name": "ops", "identity": "api:ops", "scope": "admin"}


async def test_a_hashed_token_opens_as_the_token_does_and_its_hash_does_not(start_api: StartApi) -> None:
    digest = hashlib.sha256(b"only-the-holder-has-it").hexdigest()
    hashed = [{"name": "ci", "token": f"sha256:{digest}"}]
    async with start_api({"gateway.api_tokens": hashed}) as api:
        for token, status in (("only-the-holder-has-it", 200), (digest, 401), (f"sha256:{digest}", 401)):
            headers = {"Authorization": f"Bearer {token}"}
            assert (await api.nobody.get("/whoami", headers=headers)).status_code == status


async def test_with_ordinary_tokens_alone_nobody_is_an_admin(start_api: StartApi) -> None:
    everywhere = {"gateway.admin_tokens": [], "permissions.admin_users": ["api:ci", "ci"]}
    async with start_api(everywhere) as api:
        assert (await api.ci.get("/status")).status_code == 403
        assert (await api.ops.get("/status")).status_code == 401
        answer = await api.ci.post("/messages", json={"text": "/whoami"})
        assert answer.json()["reply"][0]["text"] == "You are `api:ci`. This chat is `api:ci`."


async def test_without_tokens_the_api_says_that_it_is_closed(tmp_path: Path) -> None:
    store = await open_store(f"sqlite+aiosqlite:///{tmp_path}/gateway.db")
    gateway = Gateway(GatewaySettings(port=0), store.logins, lambda: datetime.now(UTC), {})
    await gateway.start()
    async with httpx.AsyncClient(trust_env=False, verify=False) as nobody:
        for path in ("/whoami", "/openapi.json", "/status", "/nothing"):
            answer = await nobody.get(f"{gateway.url}/api/v1{path}")
            assert (answer.status_code, code_of(answer)) == (403, "closed")
            assert "gateway.api_tokens" in answer.text
    await gateway.stop()
    await store.close()


def test_every_token_is_compared_and_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []
    real = hmac.compare_digest

    def counted(known: str, given: str) -> bool:
        compared.append(known)
        return real(known, given)

    monkeypatch.setattr("echo_bot.gateway.tokens.hmac.compare_digest", counted)
    digests = [hashlib.sha256(word.encode()).hexdigest() for word in ("one", "two", "three")]
    tokens = Tokens(Token(str(place), Scope.READ, digest) for place, digest in enumerate(digests))
    assert tokens.caller("one") == Caller("0", Scope.READ)
    assert tokens.caller("four") is None
    assert compared == digests * 2


def test_a_token_is_nowhere_in_memory_but_as_a_hash() -> None:
    token = Token("ci", Scope.READ, hashlib.sha256(b"secret-word").hexdigest())
    assert "secret-word" not in repr(token)
    assert token.digest not in repr(token)
    assert Caller("ci", Scope.READ).identity == Identity("api", "ci")


async def test_who_guesses_tokens_is_slowed_and_who_has_one_is_not(start_api: StartApi) -> None:
    async with start_api({"rate_limit.per_minute": 60}) as api:
        seen = {(await api.nobody.get("/whoami")).status_code for _ in range(30)}
        assert seen == {401, 429}
        assert (await api.ci.get("/whoami")).status_code == 200


async def test_messages_have_the_rate_limit_of_every_sender(start_api: StartApi) -> None:
    async with start_api({"rate_limit.per_minute": 1, "rate_limit.burst": 2}) as api:
        answers = [await api.ci.post("/messages", json={"text": "/help"}) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [200, 200, 429]
        assert code_of(answers[-1]) == "too_many"
        assert "retry-after" in answers[-1].headers


async def test_every_answer_has_a_request_id_and_a_plain_one_is_kept(api: ApiBot) -> None:
    given = await api.ci.get("/whoami", headers={"X-Request-Id": "build-17"})
    made = await api.nobody.get("/whoami", headers={"X-Request-Id": "no good\x7f"})
    assert given.headers["x-request-id"] == "build-17"
    assert len(made.headers["x-request-id"]) == 16


WRONG: tuple[tuple[str, str, bytes | None, int, str], ...] = (
    ("GET", "/nothing-there", None, 404, "not_found"),
    ("PUT", "/messages", None, 405, "method_not_allowed"),
    ("POST", "/messages", b"{", 422, "invalid"),
    ("POST", "/messages", b'{"text": "hi", "secret-field": 1}', 422, "invalid"),
    ("POST", "/messages", b'{"text": "hi", "wait_seconds": NaN}', 422, "invalid"),
    ("POST", "/messages", b'{"text": 7}', 422, "invalid"),
    ("GET", "/sessions?limit=0", None, 422, "invalid"),
)


async def test_errors_have_one_form(api: ApiBot) -> None:
    headers = {"Content-Type": "application/json"}
    for method, path, body, status, code in WRONG:
        answer = await api.ci.request(method, path, content=body, headers=headers)
        assert (answer.status_code, code_of(answer)) == (status, code), (method, path, body)


async def test_an_error_repeats_nothing_of_what_was_sent(api: ApiBot) -> None:
    answer = await api.ci.post("/messages", json={"text": "hi", "wait_seconds": "hunter2-password"})
    assert answer.status_code == 422
    assert "hunter2" not in answer.text


async def test_a_body_over_the_limit_is_refused_in_the_same_form(api: ApiBot) -> None:
    big = b" " * (26 * 1024 * 1024)
    answer = await api.ci.post("/messages", content=big)
    assert (answer.status_code, code_of(answer)) == (413, "too_large")
    assert "gateway.max_body_mb" in answer.text


async def test_a_foreign_host_or_origin_is_refused_though_the_token_is_right(api: ApiBot) -> None:
    for header in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}):
        answer = await api.ci.post("/messages", json={"text": "hi"}, headers=header)
        assert (answer.status_code, code_of(answer)) == (403, "forbidden"), header


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [(RuntimeError("password=hunter2"), 500, "internal"), (StorageError("hunter2"), 503, "unavailable")],
)
async def test_a_fault_inside_is_told_without_its_details(
    api: ApiBot, monkeypatch: pytest.MonkeyPatch, error: Exception, status: int, code: str
) -> None:
    async def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(type(api.bot.store.grants), "list", fail)
    with capture_logs() as logged:
        answer = await api.ci.get("/grants", headers={"X-Request-Id": "build-17"})
    assert (answer.status_code, code_of(answer)) == (status, code)
    assert "hunter2" not in answer.text
    assert any(line["log_level"] == "error" for line in logged)


async def test_no_path_below_the_api_leads_past_its_door(api: ApiBot) -> None:
    for path in ("/approvals/a%0Ab", "/%0A", "/messages/%2e%2e%2fwhoami", "//whoami"):
        for holder, codes in ((api.nobody, ("unauthorized",)), (api.ops, ("not_found", "invalid"))):
            answer = await holder.get(f"{api.bot.url}/api/v1{path}")
            assert code_of(answer) in codes, path
