"""Tools that are there and cannot work without a configuration."""

from __future__ import annotations

from collections.abc import Mapping

from echo_bot.text.language import N_

UNCONFIGURED: Mapping[str, str] = {
    "delegate_task": "a worker needs a model: set models.default",
    "spawn_task": "a worker needs a model: set models.default",
    "knowledge_search": "nothing is indexed: set knowledge.paths, or name paths to knowledge_index rebuild",
    "vision_analyze": N_("no model that sees: set models.default, or tools.vision.api_key"),
}
"""What each tool says that is there and cannot work without a configuration."""
