"""Settings that are well-formed and still wrong: some refuse the start, some are worth a warning."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from echo_bot.channel import ChannelManifest, SenderIds
from echo_bot.config.channels import accounts, is_enabled, sections
from echo_bot.config.mcp_checks import wrong_servers
from echo_bot.config.model import Config
from echo_bot.config.model_names import wrong_names
from echo_bot.config.places import skill_folders
from echo_bot.events import Identity
from echo_bot.policy.access import voter_of
from echo_bot.policy.settings import API
from echo_bot.policy.targets import HERE, OWNER, parse_address

NO_TENANTS = (
    "public_gateway is no wall between tenants: for people or organisations that do not trust one another, "
    "run one process each, with its own workspace, data_dir, credentials and port",
    "session keys and locks keep conversations and their order apart; they prove nobody's identity and give "
    "no right to anything",
    "gateway.api_tokens and gateway.admin_tokens prove a request and what it may do; they make no token a "
    "person and divide nothing of this instance",
    "public_gateway takes risky tools and capabilities away; it divides neither the database nor sessions, "
    "tasks and workspace",
)
"""What several clients of one instance are not, under public_gateway."""


EVERYBODY = "*"
_REQUESTER = "the requester"
_SHORTEST_TOKEN = 16
_ESCALATE = "permissions.approval.escalate_to"
_NO_TARGET = "must be channel:chat or a name from delivery.targets"
_LOCAL = ("group_policy", "proxy", "api_base")
_MEANINGLESS = {"web": _LOCAL, "cli": _LOCAL, "webhook": ("api_base",)}
_WHY_NOT = {
    "web": "the page has no groups and connects to nothing",
    "cli": "the terminal has no groups and connects to nothing",
    "webhook": "answers go to callback_url",
}


@dataclass(frozen=True, slots=True)
class Objection:
    """What is wrong with which key; without `refuses` it is a warning at the start."""

    key: str
    sentence: str
    refuses: bool = True


def check(config: Config) -> tuple[Objection, ...]:
    """All objections; nothing is read or changed."""
    found: list[Objection] = []
    for question in (
        _people,
        _places,
        _targets,
        _nowhere,
        _inspection,
        _approval,
        _models,
        _profile,
        _channels,
        _without_effect,
        _tokens,
        _mcp,
    ):
        found.extend(question(config))
    return tuple(found)


def check_senders(config: Config, manifests: Iterable[ChannelManifest]) -> tuple[Objection, ...]:
    """A warning for each listed person that can never be one on its platform: a name, mostly."""
    ids = {each.name: each.sender_ids for each in manifests if each.sender_ids}
    return (*_wrong_senders(config, ids), *_wrong_people(config, ids))


def _wrong_senders(config: Config, ids: Mapping[str, SenderIds]) -> Iterator[Objection]:
    return (
        Objection(
            key, f"{key} lists {sender!r}, which lets nobody in: an id is {kind.looks_like}", refuses=False
        )
        for name, channel in sections(config.channels).items()
        if (kind := ids.get(name))
        for account, section in accounts(channel).items()
        for sender in section.allow_from
        if sender != EVERYBODY and not kind.fits(sender)
        for key in (f"channels.{name}" + (f".accounts.{account}" if account else "") + ".allow_from",)
    )


def _wrong_people(config: Config, ids: Mapping[str, SenderIds]) -> Iterator[Objection]:
    permissions = config.permissions
    lists = {
        "permissions.admin_users": permissions.admin_users or (),
        "permissions.approval.approvers": permissions.approval.approvers,
    }
    for key, entries in lists.items():
        for entry in entries:
            channel, _, sender = entry.partition(":")
            kind = ids.get(channel.partition("/")[0])
            if kind and sender and not kind.fits(sender):
                sentence = f"{key} names {entry}, which has no effect: an id is {kind.looks_like}"
                yield Objection(key, sentence, refuses=False)


def _people(config: Config) -> Iterator[Objection]:
    approval = config.permissions.approval
    lists: dict[str, tuple[str, ...]] = {
        "permissions.admin_users": config.permissions.admin_users or (),
        "permissions.approval.approvers": approval.approvers,
        _ESCALATE: approval.escalate_to,
    }
    holders = {f"{API}:{token.name}" for token in config.gateway.admin_tokens}
    for key, entries in lists.items():
        if "*" in entries:
            yield Objection(key, '"*" would name everybody; list ids as channel:id')
        for entry in entries:
            if key == _ESCALATE or entry == EVERYBODY:
                continue
            if why := _is_nobody(entry, holders, config):
                yield Objection(key, f"{key} names {entry}, which has no effect: {why}", refuses=False)


def _is_nobody(entry: str, holders: Collection[str], config: Config) -> str:
    """Why nobody can be meant by this; "" where somebody may be."""
    try:
        person = Identity.parse(entry)
    except ValueError:
        return "a person is written as channel:id, such as telegram:123456789"
    if person.channel == API:
        return "" if entry in holders else "no token of gateway.admin_tokens is it"
    known = sections(config.channels)
    return "" if person.channel in known else _no_channel(person.channel, known)


def _no_channel(name: str, known: Collection[str]) -> str:
    nearest = get_close_matches(name, known, n=1)
    hint = f"did you mean {nearest[0]}?" if nearest else f"there are: {', '.join(sorted(known))}"
    return f"there is no channel {name}; {hint}"


def _places(config: Config) -> Iterator[Objection]:
    workspace = Path(os.path.abspath(Path(config.workspace or ".").expanduser()))
    if workspace == Path(workspace.anchor):
        yield Objection("workspace", "the whole file system cannot be the workspace; choose a folder")
    elif workspace == Path.home():
        sentence = "workspace is the home folder: the bot may read and write everything in it"
        yield Objection("workspace", sentence, refuses=False)
    elif not workspace.is_dir():
        sentence = f"workspace is {workspace}, and there is no such folder: make it, or name another"
        yield Objection("workspace", sentence, refuses=False)
    for folder in skill_folders(config):
        if workspace.is_relative_to(folder):
            sentence = f"{folder} holds the workspace, and skill folders cannot be written; name another"
            yield Objection("skills.paths", sentence)
    if config.timezone:
        try:
            ZoneInfo(config.timezone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            yield Objection("timezone", "there is no such time zone; write it like Europe/Berlin")


def _targets(config: Config) -> Iterator[Objection]:
    delivery = config.delivery
    for alias, target in delivery.targets.items():
        if alias in (HERE, OWNER) or ":" in alias:
            yield Objection(f"delivery.targets.{alias}", "this name has a meaning of its own; choose another")
        elif not _is_address(target):
            yield Objection(f"delivery.targets.{alias}", "must be written as channel:chat")
    for index, entry in enumerate(delivery.allowed_targets):
        if not _is_target(entry, config):
            yield Objection(f"delivery.allowed_targets.{index}", _NO_TARGET)


def _nowhere(config: Config) -> Iterator[Objection]:
    """Targets on a channel or an account that there is none of: misspelt, mostly."""
    known = {
        f"{name}/{account}" if account else name
        for name, section in sections(config.channels).items()
        for account in accounts(section)
    }
    approval = config.permissions.approval
    lists = {
        "delivery.allowed_targets": config.delivery.allowed_targets,
        "permissions.approval.route": () if isinstance(approval.route, str) else approval.route,
        _ESCALATE: approval.escalate_to,
    }
    written = {f"delivery.targets.{alias}": target for alias, target in config.delivery.targets.items()}
    written |= {
        f"{key}.{index}": entry for key, entries in lists.items() for index, entry in enumerate(entries)
    }
    for key, target in {**written, "inspection.target": config.inspection.target}.items():
        channel = target.partition(":")[0]
        if _is_address(target) and channel not in known:
            sentence = f"{key} is {target}, where nothing arrives: {_no_channel(channel, known)}"
            yield Objection(key, sentence, refuses=False)


def _inspection(config: Config) -> Iterator[Objection]:
    inspection = config.inspection
    if not inspection.enabled:
        return
    if not inspection.file:
        yield Objection("inspection.file", "name the text that says what to look at")
    if inspection.target == HERE or (inspection.target and not _is_target(inspection.target, config)):
        yield Objection("inspection.target", _NO_TARGET)


def _approval(config: Config) -> Iterator[Objection]:
    approval = config.permissions.approval
    route = () if isinstance(approval.route, str) else approval.route
    for key, entries in {"route": route, "escalate_to": approval.escalate_to}.items():
        for index, entry in enumerate(entries):
            if entry != EVERYBODY and not _is_target(entry, config):
                yield Objection(f"permissions.approval.{key}.{index}", _NO_TARGET)
    yield from _quorum(config)
    longest = max((approval.wait_timeout_seconds, *approval.timeouts.values()))
    if approval.remind_after_seconds >= longest:
        key = "permissions.approval.remind_after_seconds"
        sentence = f"{key} is not below any waiting time: every card expires before its reminder"
        yield Objection(key, sentence, refuses=False)
    if approval.mode == "smart" and not (approval.smart_model or config.models.default):
        sentence = "permissions.approval.mode is smart and no model is configured: exec calls will be denied"
        yield Objection("permissions.approval.mode", sentence, refuses=False)


def _models(config: Config) -> Iterator[Objection]:
    for key, sentence in wrong_names(config.models, config.permissions.approval.smart_model):
        yield Objection(key, sentence)


def _quorum(config: Config) -> Iterator[Objection]:
    """People who are paired as approvers are not in the file, so this can only warn."""
    permissions = config.permissions
    approval = permissions.approval
    for risk, quorum in approval.quorum.items():
        named = set(approval.approvers)
        if not named:
            named = set(_admins(config))
            named |= {_REQUESTER} if approval.requester_may_approve.get(risk, True) else set()
        people = len({_person(each) for each in named})
        if quorum > max(people, 1):
            key = f"permissions.approval.quorum.{risk}"
            sentence = (
                f"{key} is {quorum}, and {people} may approve by this file: such calls will be denied unless "
                "more people are named in permissions.approval.approvers or paired with --approver"
            )
            yield Objection(key, sentence, refuses=False)


def _admins(config: Config) -> tuple[str, ...]:
    """The admins by the file or, where it names none, by the profile; and the holders of admin tokens."""
    holders = tuple(f"api:{token.name}" for token in config.gateway.admin_tokens)
    named = config.permissions.admin_users
    if named is not None:
        return (*named, *holders)
    local = ("cli:local", "web:local") if config.security.profile == "personal_cli" else ()
    return (*local, *holders)


def _person(entry: str) -> str:
    try:
        return voter_of(Identity.parse(entry))
    except ValueError:
        return entry


def _profile(config: Config) -> Iterator[Objection]:
    if config.security.profile == "public_gateway":
        yield from (Objection("security.profile", each, refuses=False) for each in NO_TENANTS)


def _channels(config: Config) -> Iterator[Objection]:
    if config.security.profile == "public_gateway":
        return
    for name, section in sections(config.channels).items():
        for account_name, account in accounts(section).items():
            if "*" in account.allow_from and (is_enabled(account) or name in ("web", "cli")):
                key = f"channels.{name}" + (f".accounts.{account_name}" if account_name else "")
                sentence = (
                    f'{key}.allow_from holds "*": anybody may chat; consider security.profile public_gateway'
                )
                yield Objection(f"{key}.allow_from", sentence, refuses=False)


def _without_effect(config: Config) -> Iterator[Objection]:
    """Keys that every channel has and that mean nothing on some."""
    for name, keys in _MEANINGLESS.items():
        channel = sections(config.channels)[name]
        for account_name, account in accounts(channel).items():
            for key in keys:
                if getattr(account, key) != type(account).model_fields[key].default:
                    place = f"channels.{name}" + (f".accounts.{account_name}" if account_name else "")
                    sentence = f"{place}.{key} has no effect: {_WHY_NOT[name]}; leave it out"
                    yield Objection(f"{place}.{key}", sentence, refuses=False)


def _tokens(config: Config) -> Iterator[Objection]:
    """Each name means one holder, and no token is both an ordinary and an admin one."""
    names: set[str] = set()
    digests: set[str] = set()
    for key in ("api_tokens", "admin_tokens"):
        for index, token in enumerate(getattr(config.gateway, key)):
            place = f"gateway.{key}.{index}"
            if token.name in names:
                yield Objection(f"{place}.name", f"another token is named {token.name}; choose another name")
            elif token.digest in digests:
                yield Objection(f"{place}.token", "the same token stands in another entry; make one for each")
            elif not token.is_hashed and len(token.token.get_secret_value()) < _SHORTEST_TOKEN:
                sentence = f"{place}.token is short enough to be guessed; make one of 32 random characters"
                yield Objection(f"{place}.token", sentence, refuses=False)
            names.add(token.name)
            digests.add(token.digest)


def _mcp(config: Config) -> Iterator[Objection]:
    for key, sentence in wrong_servers(config):
        yield Objection(key, sentence)


def _is_target(entry: str, config: Config) -> bool:
    return entry in (HERE, OWNER) or entry in config.delivery.targets or _is_address(entry)


def _is_address(text: str) -> bool:
    try:
        parse_address(text)
    except ValueError:
        return False
    return True
