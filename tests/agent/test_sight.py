"""Images in a view: where they stand, and which failures are taken for a refusal of them."""

from __future__ import annotations

import pytest
from pydantic_ai.exceptions import ModelConnectionError, ModelHTTPError, UnexpectedModelBehavior
from pydantic_ai.messages import BinaryContent, ModelRequest, ModelResponse, TextPart, UserPromptPart

from echo_bot.agent.attempts import refuses_images
from echo_bot.agent.history import estimated_tokens
from echo_bot.agent.sight import with_images
from echo_bot.tools.media.kinds import PNG
from echo_bot.tools.media.seeing import Image

IMAGE = Image(bytes(100_000), PNG)


def test_images_stand_behind_the_prompt_of_their_message_and_what_was_given_stays_as_it_is() -> None:
    before = ModelRequest(parts=[UserPromptPart("earlier")])
    answer = ModelResponse(parts=[TextPart("yes")])
    asked = ModelRequest(parts=[UserPromptPart("what is it?")])
    shown = with_images([before, answer, asked], 2, [IMAGE, IMAGE])
    assert shown[:2] == [before, answer]
    (prompt,) = shown[2].parts
    assert isinstance(prompt, UserPromptPart)
    assert prompt.content == ["what is it?", *[BinaryContent(IMAGE.data, media_type="image/png")] * 2]
    assert asked.parts == [UserPromptPart("what is it?", timestamp=prompt.timestamp)]


def test_an_image_is_no_text_to_the_estimate() -> None:
    asked = [ModelRequest(parts=[UserPromptPart("what is it?")])]
    assert estimated_tokens(with_images(asked, 0, [IMAGE])) < estimated_tokens(asked) + 20


def http(status: int, message: str = "no") -> ModelHTTPError:
    return ModelHTTPError(status, "m", {"error": {"message": message}})


@pytest.mark.parametrize("status", [400, 404, 413, 415, 422])
def test_a_status_that_refuses_content_may_mean_the_images(status: int) -> None:
    assert refuses_images(http(status))


@pytest.mark.parametrize("status", [401, 403, 429, 500, 503])
def test_another_status_does_when_the_server_names_images(status: int) -> None:
    assert refuses_images(http(status, "Image input is not supported"))
    assert not refuses_images(http(status))


@pytest.mark.parametrize(
    "error", [ModelConnectionError("m", "gone"), UnexpectedModelBehavior("x"), OSError()]
)
def test_no_other_failure_does(error: Exception) -> None:
    assert not refuses_images(error)
