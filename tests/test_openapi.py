"""The judge of requests, on a small document of our own, and Discord's own where it is found."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest

from tests.support.openapi import Document, discords_own, document_path
from tests.support.wire import discord_world

BOAT = {"$ref": "#/components/schemas/Boat"}
RAFT = {"type": "object", "properties": {"logs": {"type": "integer"}}, "required": ["logs"]}
CONTENTS: dict[str, Any] = {
    "openapi": "3.1.0",
    "paths": {
        "/harbours/{harbour_id}/boats": {
            "parameters": [{"name": "harbour_id", "in": "path", "schema": {"$ref": "#/components/schemas/Id"}}],
            "get": {
                "parameters": [
                    {"name": "limit", "in": "query", "schema": {"type": "integer", "maximum": 100}},
                    {"name": "moored", "in": "query", "schema": {"type": "boolean"}},
                    {"name": "ids", "in": "query", "schema": {"type": "array", "items": {"type": "string"}}},
                ]
            },
            "post": {
                "requestBody": {
                    "required": True,
                    "content": {
                        "multipart/form-data": {"schema": {"not": {}}},
                        "application/json": {"schema": {"anyOf": [BOAT, RAFT]}},
                    },
                }
            },
            "delete": {"parameters": [{"name": "why", "in": "query", "required": True, "schema": {"type": "string"}}]},
        },
        "/harbours/{harbour_id}/boats/{boat_id}": {"get": {}, "parameters": []},
        "/harbours/@mine/boats": {"get": {}},
    },
    "components": {
        "schemas": {
            "Id": {"type": "string", "pattern": "^[0-9]+$", "format": "snowflake"},
            "Boat": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "maxLength": 10},
                    "owner": {"$ref": "#/components/schemas/Id"},
                    "sails": {"type": "array", "items": {"type": "object", "properties": {"area": {"type": "number"}}}},
                    "names": {"type": "object", "additionalProperties": {"type": "string"}},
                },
                "required": ["name"],
            },
        }
    },
}


@pytest.fixture(scope="module")
def document() -> Document:
    return Document(CONTENTS)


@pytest.mark.parametrize(
    "body",
    [
        {"name": "Gull"},
        {"name": "Gull", "owner": "17", "sails": [{"area": 4.5}], "names": {"ja": "かもめ"}},
        {"name": "Gull", "owner": 17},
        {"logs": 5},
    ],
)
def test_a_right_body_passes(document: Document, body: Any) -> None:
    assert document.problems("POST", "/harbours/1/boats", query={}, body=body) == []


@pytest.mark.parametrize(
    ("body", "where", "what"),
    [
        ({"name": "Gull", "sail": []}, "body", "'sail' was unexpected"),
        ({"name": "Gull", "sails": [{"aera": 1}]}, "body.sails[0]", "'aera' was unexpected"),
        ({"name": "The Old Gull"}, "body.name", "'The Old Gull' is too long"),
        ({"name": "Gull", "owner": "Mio"}, "body.owner", "'Mio' does not match"),
        ({"name": "Gull", "names": {"ja": 1}}, "body.names.ja", "1 is not of type 'string'"),
        (None, "body", "it is missing"),
    ],
)
def test_a_wrong_body_is_named_with_its_place(document: Document, body: Any, where: str, what: str) -> None:
    (problem,) = document.problems("POST", "/harbours/1/boats", query={}, body=body)

    assert problem.startswith(f"{where}: ")
    assert what in problem


def test_what_one_side_of_a_union_forbids_the_other_does_not_let_pass(document: Document) -> None:
    assert document.problems("POST", "/harbours/1/boats", query={}, body={"name": "The Old Gull", "logs": 5}) != []


def test_a_body_where_none_belongs(document: Document) -> None:
    assert document.problems("GET", "/harbours/1/boats", query={}, body={}) == ["body: there should be none"]


@pytest.mark.parametrize(
    "query", [{}, {"limit": "100"}, {"moored": "true"}, {"moored": "0"}, {"limit": "1", "moored": "1"}, {"ids": "5"}]
)
def test_right_parameters_pass(document: Document, query: dict[str, str]) -> None:
    assert document.problems("GET", "/harbours/1/boats", query=query, body=None) == []


@pytest.mark.parametrize(
    ("method", "path", "query", "problem"),
    [
        ("GET", "/harbours/1/boats", {"limt": "5"}, "query: unknown parameter 'limt'"),
        ("GET", "/harbours/1/boats", {"limit": "101"}, "query: limit cannot be '101'"),
        ("GET", "/harbours/1/boats", {"moored": "yes"}, "query: moored cannot be 'yes'"),
        ("DELETE", "/harbours/1/boats", {}, "query: 'why' is missing"),
        ("GET", "/harbours/here/boats", {}, "path: harbour_id cannot be 'here'"),
        ("GET", "/harbours/1/ships", {}, "no such path"),
        ("GET", "/harbours/1/boats/", {}, "no such path"),
        ("PUT", "/harbours/1/boats", {}, "no such path"),
    ],
)
def test_a_wrong_parameter_or_path_is_named(
    document: Document, method: str, path: str, query: dict[str, str], problem: str
) -> None:
    assert document.problems(method, path, query=query, body=None) == [problem]


def test_a_path_in_words_goes_before_a_variable(document: Document) -> None:
    assert document.problems("GET", "/harbours/@mine/boats", query={}, body=None) == []


def test_the_given_document_stays_as_it_was(document: Document) -> None:
    assert CONTENTS["components"]["schemas"]["Id"]["type"] == "string"
    assert "additionalProperties" not in RAFT


def test_the_document_is_named_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCORD_OPENAPI", "somewhere/else.json")

    assert str(document_path()).replace("\\", "/") == "somewhere/else.json"


async def ask_for_the_gateway() -> None:
    async with discord_world() as world, aiohttp.ClientSession() as session:
        headers = {"Authorization": f"Bot {world.server.token}"}
        async with session.get(f"{world.server.api}/gateway", headers=headers) as answer:
            assert answer.status == 200


async def test_a_wrong_request_on_the_wire_fails_the_test(document: Document, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.support.wire.discords_own", lambda: document)

    with pytest.raises(AssertionError, match=r"^GET /gateway: no such path$"):
        await ask_for_the_gateway()


async def test_without_a_document_nothing_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.support.wire.discords_own", lambda: None)

    await ask_for_the_gateway()


def test_discords_own_document_tells_right_from_wrong() -> None:
    own = discords_own()
    if own is None:
        pytest.skip("requests on the wire are not checked: Discord's OpenAPI document is not here (CONTRIBUTING.md)")

    def judged(body: Any) -> list[str]:
        return own.problems("POST", "/webhooks/1/token", query={"wait": "1"}, body=body)

    assert judged({"content": "Hello", "username": "Rin"}) == []
    assert [problem.partition(":")[0] for problem in judged({"content": "Hello", "username": "R" * 81})] == [
        "body.username"
    ]
    assert judged({"contents": "Hello"}) != []
