"""The tools that reach beyond this machine, made from the configuration: pages, search, images, speech."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from echo_bot.agent.ledger import Ledger
from echo_bot.app.model import ModelChoice
from echo_bot.app.seeing import ModelEyes
from echo_bot.config.model import Config
from echo_bot.config.tools import MediaTool, Speech
from echo_bot.net import FetchLimits
from echo_bot.net.clients import GuardedClients
from echo_bot.policy.guards.network import NetworkRules
from echo_bot.policy.settings import ToolSettings
from echo_bot.tools.base import Tool
from echo_bot.tools.builtin.image_generate import ImageGenerateTool
from echo_bot.tools.builtin.speech import TextToSpeechTool
from echo_bot.tools.builtin.vision import MAX_IMAGE_BYTES, VisionTool
from echo_bot.tools.builtin.web_fetch import WebFetchTool
from echo_bot.tools.builtin.web_search import WebSearchTool
from echo_bot.tools.builtin.workspace import Workspace
from echo_bot.tools.media.drawing import OPENAI, Drawing
from echo_bot.tools.media.made import MadeFiles
from echo_bot.tools.media.seeing import Eyes, ServiceEyes
from echo_bot.tools.media.speaking import EdgeSpeaker, ServiceSpeaker, Speaker
from echo_bot.tools.search import Engine, api_engine
from echo_bot.tools.search.metasearch import MetaSearch
from echo_bot.tools.services import Service

SecretOf = Callable[[str], str]
"""A credential by its configuration key, as configured or stored; "" without one."""


@dataclass(frozen=True, slots=True)
class Reach:
    """Credentials, the model that answers in chats, and how to find another of its provider.

    `stored` are credentials by owner and field, for what the configuration has no keys for.
    """

    secret_of: SecretOf
    model: ModelChoice
    named: Callable[[str], ModelChoice]
    ledger: Ledger
    stored: Mapping[tuple[str, str], str] = field(default_factory=dict, repr=False)


def network_tools(
    config: Config,
    settings: ToolSettings,
    workspace: Workspace,
    files: MadeFiles,
    reach: Reach,
) -> tuple[Tool, ...]:
    """What is not configured is made all the same, and says what is missing."""
    web, secret_of = config.tools.web, reach.secret_of
    limits = FetchLimits(max_bytes=web.max_bytes, total_seconds=float(web.timeout_seconds))
    clients = GuardedClients(NetworkRules(settings.network_policy, settings.network_allow))
    image_limits = FetchLimits(max_bytes=MAX_IMAGE_BYTES, total_seconds=limits.total_seconds)
    image_gen = config.tools.image_gen
    drawing = Drawing(
        _service("tools.image_gen", image_gen, "the image service", secret_of), image_gen.model, clients
    )
    return (
        WebFetchTool(clients, limits),
        WebSearchTool(_engine(config, secret_of, clients, limits)),
        VisionTool(workspace, clients, _eyes(config, clients, reach), image_limits),
        ImageGenerateTool(drawing, files),
        TextToSpeechTool(_speakers(config, secret_of, clients), files),
    )


def _engine(config: Config, secret_of: SecretOf, clients: GuardedClients, limits: FetchLimits) -> Engine:
    web = config.tools.web
    if web.search_provider == "ddgs":
        return MetaSearch(clients, limits)
    key = secret_of("tools.web.search_api_key")
    return api_engine(web.search_provider, web.search_api_base, key, clients, limits)


def _eyes(config: Config, clients: GuardedClients, reach: Reach) -> Eyes:
    vision, seconds = config.tools.vision, float(config.models.limits.timeout_seconds)
    key = reach.secret_of("tools.vision.api_key")
    if vision.backend or vision.api_base or vision.model or key:
        service = _service("tools.vision", vision, "the vision service", reach.secret_of)
        return ServiceEyes(service, vision.model, clients, seconds)
    return ModelEyes(reach.model, reach.named, seconds, reach.ledger)


def _speakers(config: Config, secret_of: SecretOf, clients: GuardedClients) -> dict[str, Speaker]:
    """The configured one first; the other only where it is configured as well."""
    tts = config.tools.tts
    service = _service("tools.tts", tts, "the speech service", secret_of)
    by_service: dict[str, Speaker] = {"openai": ServiceSpeaker(service, tts.model, clients)}
    if tts.backend != "edge":
        return by_service
    edge: dict[str, Speaker] = {"edge": EdgeSpeaker(clients.rules)}
    return edge | (by_service if service.api_key or tts.api_base else {})


def _service(key: str, section: MediaTool | Speech, name: str, secret_of: SecretOf) -> Service:
    base = section.api_base or OPENAI
    return Service(name, base, f"{key}.api_base", f"{key}.api_key", secret_of(f"{key}.api_key"))
