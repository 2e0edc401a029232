from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
import structlog


@pytest.fixture
def own_logs() -> Iterator[None]:
    """A start configures the logs of its whole process: afterwards they are as they were."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    levels = {each: each.level for each in _loggers()}
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    for each in _loggers():
        each.setLevel(levels.get(each, logging.NOTSET))
    structlog.reset_defaults()


def _loggers() -> list[logging.Logger]:
    known = logging.Logger.manager.loggerDict.values()
    return [each for each in known if isinstance(each, logging.Logger)]
