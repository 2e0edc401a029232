"""Who may speak, who is an admin, who is elevated, who may decide."""

from __future__ import annotations

import pytest

from echo_bot.events import Identity
from echo_bot.policy.access import (
    NOBODY_PAIRED,
    Paired,
    is_admin,
    is_elevated,
    is_restricted_by_star,
    listed_ids,
    may_decide,
    may_speak,
)
from echo_bot.policy.risk import RiskLevel
from echo_bot.policy.settings import AccessSettings, ApprovalSettings

ANN = Identity("telegram", "1")
BOB = Identity("telegram", "2")
HOOK = Identity("webhook", "1")
LOCAL = Identity("cli", "local")
PAGE = Identity("web", "local")
LISTED = AccessSettings(allow_from={"telegram": ("1",)}, admin_users=())
STAR = AccessSettings(allow_from={"telegram": ("*", "1")}, admin_users=())


class TestSpeaking:
    def test_an_empty_list_is_nobody(self) -> None:
        assert not may_speak(ANN, AccessSettings())

    def test_a_star_is_everybody(self) -> None:
        assert may_speak(BOB, STAR)

    def test_the_terminal_and_the_page_need_no_list(self) -> None:
        assert may_speak(LOCAL, AccessSettings())
        assert may_speak(PAGE, AccessSettings())

    def test_somebody_else_at_the_terminal_does(self) -> None:
        assert not may_speak(Identity("cli", "other"), AccessSettings())

    def test_a_list_is_of_one_account(self) -> None:
        assert not may_speak(Identity("telegram", "1", "work"), LISTED)
        work = AccessSettings(allow_from={"telegram/work": ("1",)})
        assert may_speak(Identity("telegram", "1", "work"), work)
        assert not may_speak(ANN, work)

    def test_an_id_is_compared_exactly(self) -> None:
        assert not may_speak(Identity("telegram", "11"), LISTED)
        assert not may_speak(Identity("Telegram", "1"), LISTED)

    def test_a_sender_named_star_is_nobody(self) -> None:
        access = AccessSettings(allow_from={"telegram": ("1",)})
        assert not may_speak(Identity("telegram", "*"), access)

    def test_a_paired_sender(self) -> None:
        assert may_speak(BOB, LISTED, Paired(senders=frozenset({"telegram:2"})))

    def test_who_is_known_by_name_is_listed_or_paired_on_the_account(self) -> None:
        paired = Paired(senders=frozenset({"telegram:3", "telegram/work:4", "slack:U5"}))
        listed = ("*", "telegram:1", "2", "telegram:3")
        access = AccessSettings(allow_from={"telegram": listed, "telegram/work": ("6",)})
        assert listed_ids("telegram", "", access, paired) == ("1", "2", "3")
        assert listed_ids("telegram", "work", access, paired) == ("6", "4")

    def test_only_who_comes_by_the_star_is_restricted(self) -> None:
        assert is_restricted_by_star(BOB, STAR)
        assert not is_restricted_by_star(ANN, STAR)
        assert not is_restricted_by_star(BOB, STAR, Paired(senders=frozenset({"telegram:2"})))
        assert not is_restricted_by_star(ANN, LISTED)


class TestAdmins:
    @pytest.mark.parametrize(
        ("sender", "entry", "expected"),
        [
            (ANN, "telegram:1", True),
            (ANN, "1", True),
            (ANN, "*", False),
            (ANN, "slack:1", False),
            (HOOK, "webhook:1", False),
            (HOOK, "1", False),
            (Identity("api", "1"), "api:1", False),
            (Identity("telegram", "1", "w"), "telegram:1", False),
            (Identity("telegram", "1", "w"), "telegram/w:1", True),
            (Identity("telegram", "slack:1"), "slack:1", False),
            (Identity("telegram", "*"), "*", False),
        ],
    )
    def test_an_entry(self, sender: Identity, entry: str, expected: bool) -> None:
        assert is_admin(sender, AccessSettings(admin_users=(entry,))) is expected

    def test_pairing_makes_an_admin_only_when_it_says_so(self) -> None:
        assert not is_admin(ANN, LISTED, Paired(senders=frozenset({"telegram:1"})))
        assert is_admin(ANN, LISTED, Paired(admins=frozenset({"telegram:1"})))

    def test_an_admin_is_elevated_while_elevation_is_off(self) -> None:
        assert is_elevated(ANN, AccessSettings(admin_users=("telegram:1",), elevated=False))

    def test_elevation_by_account(self) -> None:
        sender = Identity("telegram", "1", "w")
        for key in ("telegram", "telegram/w", "*"):
            access = AccessSettings(admin_users=(), elevated=True, elevated_from={key: ("1",)})
            assert is_elevated(sender, access)


class TestTokens:
    """The holders of API tokens: the token proves them, and its scope alone makes them admins."""

    CI, OPS = Identity("api", "ci"), Identity("api", "ops")
    TOKENS = AccessSettings(
        known_channels=frozenset({"api"}),
        allow_from={"api": ("ci", "ops")},
        admin_users=("api:ci", "ci", "ops", "cli:local"),
        api_admins=frozenset({"api:ops"}),
    )

    def test_both_speak(self) -> None:
        assert may_speak(self.CI, self.TOKENS)
        assert may_speak(self.OPS, self.TOKENS)
        assert not may_speak(Identity("api", "other"), self.TOKENS)

    def test_without_tokens_nobody_comes_that_way(self) -> None:
        assert not may_speak(self.CI, AccessSettings(allow_from={"api": ("ci",)}))

    def test_an_ordinary_token_is_no_admin_whatever_the_lists_say(self) -> None:
        paired = Paired(admins=frozenset({"api:ci"}), approvers=frozenset({"api:ci"}))
        assert not is_admin(self.CI, self.TOKENS, paired)
        assert not is_elevated(self.CI, self.TOKENS, paired)
        assert is_admin(self.OPS, self.TOKENS)
        assert is_elevated(self.OPS, self.TOKENS)

    def test_the_same_name_elsewhere_is_somebody_else(self) -> None:
        assert not is_admin(Identity("webhook", "ops"), self.TOKENS)
        assert not is_admin(Identity("api", "ops", "other"), self.TOKENS)

    @pytest.mark.parametrize(
        ("decider", "approvers", "expected"),
        [
            ("ci", (), False),
            ("ci", ("api:ci",), False),
            ("ops", (), True),
            ("ops", ("telegram:1",), False),
            ("ops", ("ops",), False),
            ("ops", ("api:ops",), True),
        ],
    )
    def test_who_decides_a_call_of_the_ordinary_token(
        self, decider: str, approvers: tuple[str, ...], expected: bool
    ) -> None:
        approval = ApprovalSettings(approvers=approvers)
        by = Identity("api", decider)
        assert may_decide(by, self.CI, RiskLevel.EXEC, self.TOKENS, approval) is expected


class TestDeciding:
    def may(
        self, decider: Identity, access: AccessSettings, paired: Paired = NOBODY_PAIRED, **approval: object
    ) -> bool:
        settings = ApprovalSettings(**approval)  # type: ignore[arg-type]  # each test names its own field
        return may_decide(decider, ANN, RiskLevel.EXEC, access, settings, paired)

    def test_a_listed_requester_decides_for_themselves(self) -> None:
        assert self.may(ANN, LISTED)

    def test_a_requester_admitted_by_the_star_does_not(self) -> None:
        assert not self.may(ANN, AccessSettings(allow_from={"telegram": ("*",)}, admin_users=()))

    def test_another_listed_person_does_not(self) -> None:
        assert not self.may(BOB, AccessSettings(allow_from={"telegram": ("1", "2")}, admin_users=()))

    def test_an_admin_does(self) -> None:
        assert self.may(BOB, AccessSettings(admin_users=("telegram:2",)))

    def test_approvers_replace_the_default(self) -> None:
        assert not self.may(ANN, LISTED, approvers=("telegram:2",))
        assert self.may(BOB, LISTED, approvers=("telegram:2",))
        assert not self.may(BOB, AccessSettings(admin_users=("telegram:2",)), approvers=("telegram:3",))

    def test_a_star_is_no_approver(self) -> None:
        assert not self.may(BOB, LISTED, approvers=("*",))

    def test_a_webhook_never_decides(self) -> None:
        assert not self.may(HOOK, LISTED, approvers=("webhook:1", "1"))

    def test_a_person_paired_as_approver_does(self) -> None:
        assert self.may(BOB, LISTED, Paired(approvers=frozenset({"telegram:2"})))

    def test_the_requester_may_be_taken_out(self) -> None:
        forbidden = {RiskLevel.EXEC: False}
        assert not self.may(ANN, LISTED, requester_may_approve=forbidden)
        assert not self.may(ANN, LISTED, approvers=("telegram:1",), requester_may_approve=forbidden)
        assert self.may(ANN, LISTED, requester_may_approve={RiskLevel.WRITE: False})
