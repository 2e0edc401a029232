"""Facts: where a call lands, what it is bound to, what is offered, and that a failing guard denies."""

from __future__ import annotations

from dataclasses import replace

import pytest

from echo_bot.approval import looks
from echo_bot.approval.gather import (
    ASSUMED,
    Asked,
    Surroundings,
    answered,
    gather,
    offers,
    simple_commands,
)
from echo_bot.approval.request import Choice
from echo_bot.events import Address, Identity
from echo_bot.policy.call import BoundFile, Executor, JsonValue, digest
from echo_bot.policy.decision import StepName, Verdict
from echo_bot.policy.facts import Caller, Facts
from echo_bot.policy.guards.secrets import MASK
from echo_bot.policy.settings import PlaceSettings, PolicySettings, ToolSettings
from echo_bot.policy.steps import decide

CALLER = Caller(Identity("telegram", "42"), Address("telegram", "1000"))
PLACES = PlaceSettings(
    workspace="/srv/work", home="/home/ann", protected=("/srv/state",), spill="/srv/state/spill"
)
SETTINGS = PolicySettings(places=PLACES)
ONLY_ONCE = (Choice.ONCE, Choice.DENY, Choice.DENY_REASON)
LASTING = (Choice.ONCE, Choice.SESSION, Choice.HOUR, Choice.ALWAYS, Choice.DENY, Choice.DENY_REASON)


def facts(
    tool: str,
    args: dict[str, JsonValue],
    settings: PolicySettings = SETTINGS,
    surroundings: Surroundings = ASSUMED,
    caller: Caller = CALLER,
) -> Facts:
    return gather(Asked(tool, args), caller, settings, surroundings)


class TestCall:
    def test_an_alias_becomes_the_tool(self) -> None:
        assert facts("bash", {"command": "ls"}).call.tool == "exec"

    @pytest.mark.parametrize(
        ("cwd", "expected"),
        [("sub", "/srv/work/sub"), ("/tmp", "/tmp"), ("../x", "/srv/x"), (".", "/srv/work")],
    )
    def test_the_folder_is_absolute(self, cwd: str, expected: str) -> None:
        assert facts("exec", {"command": "ls", "cwd": cwd}).call.cwd == expected

    def test_the_environment_is_part_of_the_call(self) -> None:
        assert facts("exec", {"command": "ls", "env": {"A": "1"}}).call.env == {"A": "1"}

    @pytest.mark.parametrize(
        ("tool", "args", "lands"),
        [
            ("exec", {"command": "ls"}, True),
            ("execute_code", {"code": "1", "language": "python"}, True),
            ("skill_run", {"name": "a", "script": "b"}, True),
            ("process", {"action": "stop", "process_id": "p"}, True),
            ("process", {"action": "list"}, False),
            ("process", {"action": "poll", "process_id": "p"}, False),
            ("write_file", {"path": "a", "content": "b"}, False),
        ],
    )
    def test_where_it_lands(self, tool: str, args: dict[str, JsonValue], lands: bool) -> None:
        surroundings = Surroundings(auto_lands_on=Executor.CONTAINER)
        expected = Executor.CONTAINER if lands else Executor.NONE
        assert facts(tool, args, surroundings=surroundings).call.executor is expected

    def test_a_chosen_host_stays(self) -> None:
        chosen = replace(SETTINGS, exec_host=Executor.SANDBOX)
        landed = facts("exec", {"command": "ls"}, chosen, Surroundings(auto_lands_on=Executor.LOCAL))
        assert landed.call.executor is Executor.SANDBOX
        assert landed.soft_kinds == frozenset()

    def test_the_commands_are_for_the_card(self) -> None:
        assert simple_commands(facts("exec", {"command": "make a && ls"})) == ("make a", "ls")


class TestBinding:
    def bound(self, tool: str, args: dict[str, JsonValue], identity: str = "sha256:aa") -> Facts:
        surroundings = Surroundings(bind=lambda path: BoundFile(path, identity))
        return facts(tool, args, surroundings=surroundings)

    def paths(self, tool: str, args: dict[str, JsonValue]) -> list[str]:
        return [bound.path for bound in self.bound(tool, args).call.bound_files]

    def test_the_script_a_command_names(self) -> None:
        assert self.paths("exec", {"command": "./run.sh x", "cwd": "sub"}) == ["/srv/work/sub/./run.sh"]
        assert self.paths("exec", {"command": "python3 tool.py"}) == ["/srv/work/tool.py"]
        assert self.paths("exec", {"command": "make build"}) == []

    def test_the_file_a_diff_is_shown_against(self) -> None:
        assert self.paths("write_file", {"path": "a.txt", "content": "x"}) == ["/srv/work/a.txt"]
        patch = (
            "*** Begin Patch\n*** Update File: b.txt\n@@\n-x\n+y\n*** Add File: c.txt\n+z\n*** End Patch\n"
        )
        assert self.paths("patch", {"patch": patch}) == ["/srv/work/b.txt", "/srv/work/c.txt"]

    def test_a_file_that_is_only_read_binds_nothing(self) -> None:
        assert self.paths("read_file", {"path": "a.txt"}) == []

    def test_other_content_is_another_digest(self) -> None:
        one = self.bound("exec", {"command": "./run.sh"}, "sha256:aa")
        other = self.bound("exec", {"command": "./run.sh"}, "sha256:bb")
        assert digest(one.call) != digest(other.call)

    def test_a_file_that_was_not_read_whole_takes_grants_away(self) -> None:
        whole = self.bound("exec", {"command": "./run.sh"})
        unread = self.bound("exec", {"command": "./run.sh"}, "stat:1:2:3:4")
        assert (offers(whole), offers(unread)) == (LASTING, ONLY_ONCE)

    def test_without_a_reader_no_file_is_touched(self) -> None:
        assert facts("exec", {"command": "./run.sh"}).call.bound_files == ()


class TestOffers:
    @pytest.mark.parametrize(
        ("tool", "args", "expected"),
        [
            ("exec", {"command": "make"}, LASTING),
            ("exec", {"command": "rm -r build"}, LASTING),
            ("exec", {"command": "sh -c make"}, ONLY_ONCE),
            ("exec", {"command": "python3 -c 'print(1)'"}, ONLY_ONCE),
            ("exec", {"command": "env A=1 make"}, ONLY_ONCE),
            ("process", {"action": "start", "command": "make watch"}, LASTING),
            ("process", {"action": "write", "process_id": "p", "text": "y\n"}, ONLY_ONCE),
            ("cronjob", {"action": "create", "name": "n"}, ONLY_ONCE),
            ("skill_manage", {"action": "delete", "name": "n"}, ONLY_ONCE),
            ("message", {"text": "x", "target": "telegram:9"}, LASTING),
            ("delegate_task", {"goal": "x"}, LASTING),
        ],
    )
    def test_what_a_card_offers(
        self, tool: str, args: dict[str, JsonValue], expected: tuple[Choice, ...]
    ) -> None:
        assert offers(facts(tool, args)) == expected


class TestGuards:
    def test_a_guard_that_fails_denies(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def broken(at: looks.Look) -> tuple[()]:
            raise RuntimeError("no")

        monkeypatch.setattr(looks, "GUARDS", (broken,))
        decision = decide(facts("write_file", {"path": "a", "content": "b"}))
        assert (decision.verdict, decision.step) == (Verdict.DENY, StepName.HARD_GUARD)
        assert "guard failed" in decision.reason

    def test_what_was_typed_before_is_judged_together(self) -> None:
        surroundings = Surroundings(typed_before=lambda process: "rm -rf " if process == "p" else "")
        args: dict[str, JsonValue] = {"action": "write", "process_id": "p", "text": "/etc\n"}
        assert facts("process", args, surroundings=surroundings).hard_findings != ()
        assert facts("process", {**args, "process_id": "q"}, surroundings=surroundings).hard_findings == ()

    @pytest.mark.parametrize(
        ("tool", "args"),
        [
            ("write_file", {"path": "a", "content": f"key = {MASK}"}),
            ("edit_file", {"path": "a", "old_string": "x", "new_string": MASK}),
            ("memory", {"action": "add", "content": f"the key is {MASK}"}),
        ],
    )
    def test_a_masked_secret_is_never_written(self, tool: str, args: dict[str, JsonValue]) -> None:
        assert "masked_secret" in {finding.kind for finding in facts(tool, args).hard_findings}

    def test_a_masked_secret_may_be_said(self) -> None:
        assert facts("message", {"text": f"it is {MASK}"}).findings == ()

    def test_the_bot_state_is_closed_and_its_spill_is_the_tools_own_affair(self) -> None:
        assert facts("read_file", {"path": "/srv/state/spill/x"}).hard_findings != ()
        assert facts("read_spill", {"path": "/srv/state/spill/x"}).findings == ()
        assert facts("read_spill", {"path": "x"}).findings == ()
        assert facts("read_spill", {"path": "/srv/state/echo-bot.db"}).hard_findings != ()
        assert facts("read_spill", {"path": "/srv/state/spill/../echo-bot.db"}).hard_findings != ()

    def test_a_reading_call_has_no_soft_findings(self) -> None:
        assert facts("cronjob", {"action": "list", "target": "telegram:9"}).findings == ()

    def test_no_guard_is_asked_about_a_call_that_is_not_there(self) -> None:
        settings = replace(SETTINGS, tools=ToolSettings(profile="minimal"))
        filtered = facts("exec", {"command": "rm -rf /etc"}, settings)
        assert (filtered.filtered_by, filtered.findings) == ("tools.profile", ())

    def test_arguments_that_json_cannot_write_are_invalid(self) -> None:
        broken = gather(Asked("mine", {"x": float("nan")}, declared_risk="write"), CALLER, SETTINGS, ASSUMED)
        assert "cannot be written as JSON" in broken.arguments_error


def test_the_model_is_unavailable_without_an_answer() -> None:
    assert answered(facts("exec", {"command": "ls"}), None).smart is not None
