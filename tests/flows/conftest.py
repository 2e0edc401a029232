"""Steps as a model writes them, and as they are read."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from echo_bot.flows.definition import Step, read_steps

Raw = dict[str, object]


@pytest.fixture
def read() -> Callable[..., tuple[Step, ...]]:
    def read(*raw: Raw) -> tuple[Step, ...]:
        return read_steps(list(raw))

    return read
