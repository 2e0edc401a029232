"""Where each account's files may be fetched, from the configuration."""

from __future__ import annotations

from echo_bot.agent.received import FileSources
from echo_bot.config.channels import accounts, sections
from echo_bot.config.model import Config


def file_sources(config: Config) -> FileSources:
    endpoints: dict[tuple[str, str], tuple[str, ...]] = {}
    proxies: dict[tuple[str, str], str] = {}
    for name, section in sections(config.channels).items():
        for account, settings in accounts(section).items():
            written = (settings.api_base, str(getattr(settings, "api_file_base", "")))
            endpoints[name, account] = tuple(each for each in written if each)
            if proxy := settings.proxy.get_secret_value():
                proxies[name, account] = proxy
    return FileSources(endpoints, proxies)
