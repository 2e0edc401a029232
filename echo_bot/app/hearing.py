"""What voice messages are made into words with, from the configuration."""

from __future__ import annotations

from echo_bot.agent.ledger import UNPRICED_RECORDINGS, Ledger
from echo_bot.agent.received import FileSources, ReceivedFiles
from echo_bot.agent.received.hearing import Hearing
from echo_bot.agent.received.storing import Storing
from echo_bot.app.network_tools import SecretOf
from echo_bot.config.model import Config
from echo_bot.delivery import ChannelBook
from echo_bot.net.clients import GuardedClients
from echo_bot.policy.guards.network import NetworkRules
from echo_bot.policy.guards.secrets import SecretMask
from echo_bot.policy.settings import PlaceSettings
from echo_bot.storage.protocol import Store
from echo_bot.tools.media.drawing import OPENAI
from echo_bot.tools.media.hearing import Ears, ServiceEars
from echo_bot.tools.services import Service

_SECTION = "tools.stt"


def build_ears(config: Config, secret_of: SecretOf) -> ServiceEars | None:
    """The configured service; None where there is none, or it is switched off."""
    stt, key = config.tools.stt, secret_of(f"{_SECTION}.api_key")
    if not stt.enabled or not (stt.api_base or key):
        return None
    base = stt.api_base or OPENAI
    service = Service("the transcription service", base, f"{_SECTION}.api_base", f"{_SECTION}.api_key", key)
    is_unpriced = bool(config.models.limits.cost_per_day) and stt.price_per_minute is None
    # Rules that let nothing pass but the service itself: recordings go nowhere else.
    clients = GuardedClients(NetworkRules("deny"))
    return ServiceEars(
        service,
        stt.model,
        stt.language,
        clients,
        float(stt.timeout_seconds),
        UNPRICED_RECORDINGS if is_unpriced else "",
    )


def ears_warning(ears: Ears | None) -> str:
    problem = ears.problem() if ears else ""
    return f"voice messages cannot be transcribed: {problem}" if problem else ""


def build_received(
    book: ChannelBook,
    sources: FileSources,
    places: PlaceSettings,
    store: Store,
    ears: Ears | None,
    ledger: Ledger,
    mask: SecretMask,
) -> ReceivedFiles:
    hearing = None
    if ears is not None:
        hearing = Hearing(ears, ledger, Storing(places), store.sessions, mask.mask, mask.mask_known)
    return ReceivedFiles(book.get, sources, places, mask.mask, hearing)
