"""The one renderer: what a person sees of an open request, of a closed one, and of a question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, tzinfo

from echo_bot.approval.arguments import argument_blocks, argument_texts, plan_blocks
from echo_bot.approval.escape import escape_line, escape_lines
from echo_bot.approval.fallback import fallback_text
from echo_bot.approval.lookalike import lookalike_notes
from echo_bot.approval.names import named
from echo_bot.approval.request import ApprovalRequest, Choice, Outcome
from echo_bot.approval.words import APPROVED, EXECUTORS, GRANTS, OTHER_TITLE, RISKS, TITLES, Words
from echo_bot.events import Button, ButtonStyle, Card, CardBlock, CardState, CodeBlock, Fields, Paragraph
from echo_bot.policy.call import Executor
from echo_bot.policy.guards.secrets import SecretMask
from echo_bot.policy.quorum import Tally
from echo_bot.text.language import _, listed

__all__ = ["fallback_text", "render_closed", "render_open", "render_question"]

_DIFF_FIELDS = frozenset(("content", "old_string", "new_string", "patch"))
NOBODY_YET = Tally((), 0)
_STYLES = {Choice.ONCE: ButtonStyle.PRIMARY, Choice.DENY: ButtonStyle.DANGER}


def render_open(
    request: ApprovalRequest,
    tokens: Mapping[Choice, str],
    mask: SecretMask,
    deadline: datetime | None,
    timezone: tzinfo,
    *,
    approved: Tally = NOBODY_YET,
) -> Card:
    """The card that asks: the whole call, why it was flagged, facts, a button per choice that has a token.

    `approved` says who did so far, of the people that a call with a quorum needs.
    """
    card = Card(
        card_id=request.approval_id,
        title=call_title(request, mask),
        blocks=(
            *call_blocks(request, mask),
            *why_blocks(request, mask),
            _facts(request, mask, deadline, timezone, approved),
        ),
        buttons=tuple(_button(choice, tokens[choice]) for choice in request.offered if choice in tokens),
        short_id=request.short_id,
        deadline=deadline,
        risk=request.risk.value,
    )
    return replace(card, fallback=fallback_text(card, request.offered))


def render_closed(
    request: ApprovalRequest,
    outcome: Outcome,
    mask: SecretMask,
    timezone: tzinfo,
    *,
    ask_again_token: str = "",
) -> Card:
    """The card after the decision: who decided what and when, then the call; without decision buttons."""
    verdict = Paragraph(_outcome_sentence(outcome, mask, timezone), strong=True)
    reason = (Paragraph(_labelled(Words.reason, shown_line(outcome.reason, mask))),) if outcome.reason else ()
    again = (
        (_button(Choice.ASK_AGAIN, ask_again_token),) if ask_again_token and _may_ask_again(outcome) else ()
    )
    card = Card(
        card_id=request.approval_id,
        title=call_title(request, mask),
        blocks=(verdict, *reason, *call_blocks(request, mask), short_facts(request, mask)),
        buttons=again,
        state=_state(outcome),
        short_id=request.short_id,
        risk=request.risk.value,
    )
    return replace(card, fallback=fallback_text(card, ()))


def render_question(
    card_id: str,
    question: str,
    options: tuple[tuple[str, str], ...],
    mask: SecretMask,
    *,
    free_answer_token: str = "",
    deadline: datetime | None = None,
    timezone: tzinfo | None = None,
    answer: str = "",
) -> Card:
    """A question with a button per (label, token) and one for an own answer; with `answer` it is closed."""
    blocks: list[CardBlock] = [Paragraph(escape_lines(mask.mask(question)))]
    if answer:
        blocks.append(Paragraph(_labelled(Words.answered, shown_line(answer, mask)), strong=True))
    elif deadline is not None:
        blocks.append(Fields(((Words.answer_by, time_words(deadline, timezone)),)))
    buttons = [Button(shown_line(label, mask), token) for label, token in options]
    if free_answer_token:
        buttons.append(Button(Words.free_answer, free_answer_token, prompt=Words.answer_prompt))
    card = Card(
        card_id=card_id,
        title=Words.question,
        blocks=tuple(blocks),
        buttons=() if answer else tuple(buttons),
        state=CardState.CLOSED if answer else CardState.OPEN,
        short_id=card_id[-6:],
        deadline=None if answer else deadline,
    )
    return replace(card, fallback=fallback_text(card, ()))


def prompt_of(choice: Choice) -> str:
    """The question of a button that needs words; "" for one that needs none."""
    match choice:
        case Choice.DENY_REASON:
            return Words.deny_prompt
        case Choice.EDIT:
            return Words.edit_prompt
        case _other:
            return ""


def _labelled(label: str, text: str) -> str:
    return Words.labelled.format(label=label, text=text)


def shown_line(text: str, mask: SecretMask) -> str:
    return escape_line(mask.mask(text))


def call_title(request: ApprovalRequest, mask: SecretMask) -> str:
    question = _(TITLES.get(request.tool, "")) or _(OTHER_TITLE).format(tool=shown_line(request.tool, mask))
    return Words.title.format(question=question, risk=_(RISKS[request.risk]))


def call_blocks(request: ApprovalRequest, mask: SecretMask) -> Iterator[CardBlock]:
    hide = _shown_elsewhere(request)
    yield from argument_blocks(request.args, mask, hide=hide)
    if request.plan:
        yield from plan_blocks(request.plan, mask)
    if request.diff:
        yield CodeBlock(escape_lines(mask.mask(request.diff)), language="diff", label=Words.diff)
    if len(request.commands) > 1:
        commands = tuple(dict.fromkeys(request.commands))
        listing = "\n".join(
            f"{place}. {shown_line(command, mask)}" for place, command in enumerate(commands, 1)
        )
        is_whole = len(commands) == len(request.commands)
        yield CodeBlock(listing, label=Words.commands if is_whole else Words.commands_once)
    if request.env:
        changes = "\n".join(shown_line(f"{name}={value}", mask) for name, value in request.env.items())
        yield CodeBlock(changes, label=Words.environment)


def _shown_elsewhere(request: ApprovalRequest) -> frozenset[str]:
    """The arguments that a block or a fact of their own shows: as the diff, the environment, the folder."""
    hide = set(_DIFF_FIELDS if request.diff else ())
    env, cwd = request.args.get("env"), request.args.get("cwd")
    if request.env and isinstance(env, dict) and {k: str(v) for k, v in env.items()} == dict(request.env):
        hide.add("env")
    if request.cwd and isinstance(cwd, str) and (cwd == request.cwd or request.cwd.endswith(f"/{cwd}")):
        hide.add("cwd")
    return frozenset(hide)


def why_blocks(request: ApprovalRequest, mask: SecretMask) -> Iterator[CardBlock]:
    reasons = [_(request.reason), *(finding.sentence for finding in request.findings), *request.notes]
    lines = list(
        {line.rstrip("."): line for line in (shown_line(each, mask) for each in reasons if each)}.values()
    )
    if lines:
        yield Paragraph(Words.why, strong=True)
        yield Paragraph("\n".join(f"• {line}" for line in lines))
    said = (*argument_texts(request.args), *(text for _, text in request.plan))
    texts = (request.tool, request.cwd, *said, *(request.env or {}).values())
    notes = list(dict.fromkeys(note for text in texts for note in lookalike_notes(text)))
    if notes:
        yield Paragraph(Words.look_closely, strong=True)
        yield Paragraph("\n".join(f"• {shown_line(note, mask)}" for note in notes))


def _facts(
    request: ApprovalRequest,
    mask: SecretMask,
    deadline: datetime | None,
    timezone: tzinfo,
    approved: Tally,
) -> Fields:
    rows = list(short_facts(request, mask).rows[:-1])
    spans = [_(GRANTS[choice]).format(hours=1) for choice in request.offered if choice in GRANTS]
    if spans:
        rows.append((Words.grant, Words.grant_covers.format(spans=_one_of(spans))))
    if request.quorum > 1:
        rows.append((Words.approvals, _approvals(request.quorum, approved, mask)))
    if deadline is not None:
        rows.append((Words.answer_by, time_words(deadline, timezone)))
    rows.append((Words.id, request.short_id))
    return Fields(tuple(rows))


def short_facts(request: ApprovalRequest, mask: SecretMask) -> Fields:
    rows = [(Words.tool, shown_line(request.tool, mask))]
    if request.cwd:
        rows.append((Words.folder, shown_line(request.cwd, mask)))
    if request.executor is not Executor.NONE:
        rows.append((Words.runs_on, _(EXECUTORS[request.executor.value])))
    rows.append((Words.asked_by, _person(request.requester, request.requester_name, mask)))
    if request.edited_by:
        rows.append((Words.edited_by, _person(request.edited_by, request.edited_by_name, mask)))
    rows.append((Words.id, request.short_id))
    return Fields(tuple(rows))


def _approvals(quorum: int, approved: Tally, mask: SecretMask) -> str:
    names = listed(shown_line(voter, mask) for voter in approved.approved)
    count = len(approved.approved)
    missing = quorum - count
    return Words.approvals_so_far.format(
        count=count,
        quorum=quorum,
        names=_(" ({names})").format(names=names) if names else "",
        missing=missing,
    )


def _one_of(words: list[str]) -> str:
    """ "a", "a or b", "a, b, or c"."""
    if len(words) < 2:
        return "".join(words)
    template = Words.one_of_two if len(words) == 2 else Words.one_of_many
    return template.format(others=listed(words[:-1]), last=words[-1])


def _person(identity: str, name: str, mask: SecretMask) -> str:
    return shown_line(named(identity, name), mask)


def _button(choice: Choice, token: str) -> Button:
    return Button(choice.label, token, _STYLES.get(choice, ButtonStyle.PLAIN), prompt_of(choice))


def _outcome_sentence(outcome: Outcome, mask: SecretMask, timezone: tzinfo) -> str:
    by, at = shown_line(outcome.by, mask), time_words(outcome.at, timezone)
    if outcome.choice is None:
        return (Words.cancelled if outcome.is_cancelled else Words.expired).format(at=at)
    if outcome.choice is Choice.ASK_AGAIN:
        return Words.asked_again.format(by=by, at=at)
    if outcome.choice is Choice.EDIT:
        return Words.edited.format(by=by, at=at)
    approved = APPROVED.get(outcome.choice)
    return (_(approved) if approved else Words.denied).format(by=by, at=at)


def _state(outcome: Outcome) -> CardState:
    if outcome.choice is None:
        return CardState.CLOSED if outcome.is_cancelled else CardState.EXPIRED
    if outcome.choice in (Choice.ASK_AGAIN, Choice.EDIT):
        return CardState.CLOSED
    return CardState.APPROVED if outcome.choice.approves else CardState.DENIED


def _may_ask_again(outcome: Outcome) -> bool:
    """Only a request that nobody decided: a denial stands until the turn asks anew."""
    return outcome.choice is None


def time_words(moment: datetime, timezone: tzinfo | None) -> str:
    return moment.astimezone(timezone).strftime("%H:%M:%S %Z").strip()
