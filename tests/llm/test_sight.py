"""Pictures on the wire: to a model that can see, and never in the way of an answer."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest

from bot.llm import ModelClient, ModelRequest, ModelUnavailable, Purpose, WindowExceeded
from bot.memory.messages import Message, Picture
from tests.support.model_server import Body, ModelServer, Script

Connect = Callable[..., ModelClient]

MAP = Picture(b"\xff\xd8 a map", "[shows a picture: map.png]")
FACE = Picture(b"\xff\xd8 a face", "[Haru looks like this]")
SCHEMA = {"type": "object"}


def asked(*pictures: Picture, schema: dict[str, Any] | None = SCHEMA) -> ModelRequest:
    messages = (Message("system", "You are Rin."), Message("user", "Mio: look"))
    return ModelRequest(messages, Purpose.REPLY, 500, schema=schema, schema_name="reply", pictures=pictures)


def refusing(**answer: Any) -> Callable[[Body], Script]:
    """A host that answers so whenever it is shown a picture."""

    def answered(body: Body) -> Script:
        has_pictures = any(not isinstance(message["content"], str) for message in body["messages"])
        return Script.failure(**answer) if has_pictures else Script("I see nothing.")

    return answered


def shown(server: ModelServer) -> list[int]:
    """How many pictures each request had."""
    return [len(request.pictures) for request in server.requests]


async def test_pictures_stand_behind_the_words_of_the_last_message(server: ModelServer, client: ModelClient) -> None:
    server.vision = True

    await client.complete(asked(MAP, FACE))

    (request,) = server.requests
    assert request.body["messages"][0] == {"role": "system", "content": "You are Rin."}
    assert request.body["messages"][1] == {
        "role": "user",
        "content": [
            {"type": "text", "text": "Mio: look"},
            {"type": "text", "text": "\n[shows a picture: map.png]\n"},
            {
                "type": "image_url",
                "image_url": {"url": "data:image/jpeg;base64," + base64.b64encode(MAP.jpeg).decode()},
            },
            {"type": "text", "text": "\n[Haru looks like this]\n"},
            {
                "type": "image_url",
                "image_url": {"url": "data:image/jpeg;base64," + base64.b64encode(FACE.jpeg).decode()},
            },
        ],
    }
    assert client.profile.vision is True


async def test_a_request_without_pictures_is_what_it_always_was(server: ModelServer, client: ModelClient) -> None:
    server.vision = True
    await client.complete(asked())
    assert server.requests[0].body["messages"][1] == {"role": "user", "content": "Mio: look"}


async def test_a_model_that_cannot_see_gets_the_words_alone(server: ModelServer, client: ModelClient) -> None:
    server.vision = False

    await client.complete(asked(MAP))

    assert shown(server) == [0]
    assert client.profile.vision is False


@pytest.mark.parametrize(
    ("fields", "vision"),
    [
        ({"architecture": {"input_modalities": ["text", "image"]}}, True),
        ({"architecture": {"input_modalities": ["text"]}}, False),
        ({"input_modalities": ["image"]}, True),
        ({"input_modalities": "image"}, None),
        ({"architecture": None}, None),
        ({}, None),
    ],
)
async def test_hosts_that_list_what_a_model_takes(fields: Body, vision: bool | None) -> None:
    async with ModelServer(llama_cpp=False, model_fields=fields) as server, ModelClient(server.base_url) as client:
        assert (await client.probe()).vision is vision


@pytest.mark.parametrize("vision", [True, False])
async def test_the_setting_wins_over_what_the_server_says(server: ModelServer, connect: Connect, vision: bool) -> None:
    server.vision = not vision
    client = connect(vision=vision)
    assert (await client.probe()).vision is vision
    server.vision = None

    await client.complete(asked(MAP))

    assert shown(server) == [int(vision)]


@pytest.mark.parametrize(
    ("answer", "attempts"),
    [
        ({"status": 500, "message": "image input is not supported - hint: provide the mmproj"}, 2),  # llama.cpp
        ({"status": 404, "message": "No endpoints found that support image input"}, 2),  # OpenRouter
        ({"status": 400, "message": "Invalid content type. image_url is only supported by certain models."}, 2),
        ({"status": 422, "message": "messages.1.content: Input should be a valid string"}, 4),
    ],
)
async def test_a_server_that_refuses_a_picture_is_asked_again_without_and_shown_none_from_then_on(
    server: ModelServer, client: ModelClient, answer: dict[str, Any], attempts: int
) -> None:
    server.on_reply = refusing(**answer)
    heard: list[str] = []

    first = await client.complete(asked(MAP))
    await client.complete(asked(MAP))

    assert first.text == "I see nothing."
    assert shown(server) == [1] * (attempts - 1) + [0, 0]
    assert client.profile.vision is False
    assert client.profile.json_schema, "the schema had no part in it"
    assert "response_format" in server.requests[-1].body
    assert heard == []


async def test_a_schema_that_is_refused_costs_no_sight(server: ModelServer, client: ModelClient) -> None:
    server.json_schema = False

    await client.complete(asked(MAP))

    assert shown(server) == [1, 1]
    assert (client.profile.vision, client.profile.json_schema) == (None, False)


async def test_a_failure_that_has_nothing_to_do_with_pictures_stays_one(server: ModelServer, connect: Connect) -> None:
    client = connect(attempts=1)
    server.on_reply = refusing(status=401, message="no images for you")

    with pytest.raises(ModelUnavailable, match="model-key"):
        await client.complete(asked(MAP))

    assert shown(server) == [1]
    assert client.profile.vision is None


async def test_a_failure_that_passes_is_tried_again_with_the_picture(server: ModelServer, connect: Connect) -> None:
    async def at_once(_: float) -> None: ...

    client = connect(sleep=at_once)
    server.replies.extend([Script.failure(503, message="busy"), "A map."])

    assert (await client.complete(asked(MAP))).text == "A map."

    assert shown(server) == [1, 1]


async def test_a_window_that_is_too_small_is_reported_and_costs_no_sight(
    server: ModelServer, client: ModelClient
) -> None:
    server.window = 5
    with pytest.raises(WindowExceeded):
        await client.complete(asked(MAP))
    assert shown(server) == [1]
    assert client.profile.vision is None


async def test_another_model_is_shown_pictures_again(server: ModelServer, client: ModelClient) -> None:
    server.on_reply = refusing(status=400, message="image_url is not supported")
    await client.complete(asked(MAP))
    assert (await client.probe()).vision is False

    server.model = "sharper"

    assert (await client.probe()).vision is None


def test_the_bytes_of_a_picture_are_in_no_log() -> None:
    assert "a map" not in repr(asked(MAP))
