"""Something that happened between two turns, as a piece of the model's history."""

from __future__ import annotations

_READ = "I have read it."


def noted(text: str) -> str:
    """The messages of such a piece, serialised as the history keeps them."""
    from pydantic_ai.messages import (
        ModelMessage,
        ModelMessagesTypeAdapter,
        ModelRequest,
        ModelResponse,
        TextPart,
        UserPromptPart,
    )

    messages: list[ModelMessage] = [
        ModelRequest(parts=[UserPromptPart(f"[{text}]")]),
        ModelResponse(parts=[TextPart(_READ)]),
    ]
    return ModelMessagesTypeAdapter.dump_json(messages).decode()
