"""Discord's OpenAPI document as a judge of requests: paths, query parameters and bodies.

The document lies beside the project or nowhere: without it nothing is checked, and `tests/test_openapi.py` says so.
"""

from __future__ import annotations

import copy
import json
import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, ValidationError
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from tests.meta.source import ROOT

URI = "urn:openapi"
METHODS = ("delete", "get", "patch", "post", "put")
# discord.py 2.7 sends these and Discord takes them; its document does not have them.
UNDOCUMENTED = {
    "ApplicationCommandUpdateRequest": ("nsfw",),
    "IncomingWebhookUpdateRequestPartial": ("tts",),
    "MessageEditRequestPartial": ("tts",),
    "RichEmbed": ("flags",),
}


class Document:
    """An OpenAPI 3.1 document whose objects take the properties that they list, and no other."""

    def __init__(self, contents: Mapping[str, Any]) -> None:
        document = copy.deepcopy(dict(contents))
        schemas = document.get("components", {}).get("schemas", {})
        for name, properties in UNDOCUMENTED.items():
            if name in schemas:
                schemas[name]["properties"].update(dict.fromkeys(properties, True))
        _tighten(document)
        self._registry: Registry[Any] = Registry().with_resource(URI, DRAFT202012.create_resource(document))
        self._operations = sorted(_operations(document), key=lambda operation: operation.variables)
        self._validators: dict[str, Draft202012Validator] = {}
        self._judged: dict[tuple[str, str], list[str]] = {}

    def problems(self, method: str, path: str, *, query: Mapping[str, str], body: Any) -> list[str]:
        """What is wrong with a request; empty if it is right. ``path`` begins behind the version of the API."""
        for operation in self._operations:
            if operation.method == method.lower() and (found := operation.pattern.fullmatch(path)):
                values = found.groupdict()
                return [*self._in_parameters(operation, values, dict(query)), *self._in_body(operation, body)]
        return ["no such path"]

    def _in_parameters(self, operation: _Operation, path: dict[str, str], query: dict[str, str]) -> Iterator[str]:
        known = operation.parameters
        for place, values in (("path", path), ("query", query)):
            for name, text in values.items():
                if (place, name) not in known:
                    yield f"{place}: unknown parameter {name!r}"
                elif not any(self._validator(known[place, name]).is_valid(value) for value in _readings(text)):
                    yield f"{place}: {name} cannot be {text!r}"
        yield from (f"query: {name!r} is missing" for name in sorted(operation.required - query.keys()))

    def _in_body(self, operation: _Operation, body: Any) -> Iterator[str]:
        if operation.body is None:
            if body is not None:
                yield "body: there should be none"
        elif body is None:
            if operation.body_required:
                yield "body: it is missing"
        else:
            yield from self._in_json(operation.body, body)

    def _in_json(self, pointer: str, body: Any) -> list[str]:
        # Each start of the bot publishes the same commands, and judging them takes a tenth of a second.
        key = pointer, json.dumps(body, sort_keys=True)
        if key not in self._judged:
            error = next(self._validator(pointer).iter_errors(body), None)
            clearest = error and _clearest(error)
            self._judged[key] = [f"body{clearest.json_path[1:]}: {clearest.message}"] if clearest else []
        return self._judged[key]

    def _validator(self, pointer: str) -> Draft202012Validator:
        if pointer not in self._validators:
            self._validators[pointer] = Draft202012Validator({"$ref": f"{URI}#{pointer}"}, registry=self._registry)
        return self._validators[pointer]


class _Operation:
    """One method of one path; its schemas are JSON pointers into the document."""

    def __init__(self, method: str, template: str, item: Mapping[str, Any]) -> None:
        here = f"/paths/{_escaped(template)}"
        details = item[method]
        self.method = method
        self.variables = template.count("{")
        self.pattern = re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(template)))
        self.parameters: dict[tuple[str, str], str] = {}
        self.required: set[str] = set()
        for where, listed in ((here, item), (f"{here}/{method}", details)):
            for number, parameter in enumerate(listed.get("parameters", [])):
                self.parameters[parameter["in"], parameter["name"]] = f"{where}/parameters/{number}/schema"
                if parameter["in"] == "query" and parameter.get("required"):
                    self.required.add(parameter["name"])
        body = details.get("requestBody", {})
        self.body_required = bool(body.get("required"))
        # The JSON of a multipart request is what the JSON body would be; the files beside it are no part of it.
        kinds = sorted(body.get("content", ()), key=lambda kind: kind != "application/json")
        self.body = f"{here}/{method}/requestBody/content/{_escaped(kinds[0])}/schema" if kinds else None


def _operations(document: Mapping[str, Any]) -> Iterator[_Operation]:
    for template, item in document["paths"].items():
        yield from (_Operation(method, template, item) for method in METHODS if method in item)


def _escaped(text: str) -> str:
    return text.replace("~", "~0").replace("/", "~1")


def _tighten(node: Any) -> None:
    """Close each object that lists its properties: otherwise misspelt names pass, and so does what one side of a union
    forbids and another does not know. Discord takes ids as numbers too."""
    if isinstance(node, list):
        for each in node:
            _tighten(each)
    elif isinstance(node, dict):
        for each in node.values():
            _tighten(each)
        if node.get("type") == "object" and "properties" in node:
            node.setdefault("additionalProperties", False)
        if node.get("format") == "snowflake" and node.get("type") == "string":
            node["type"] = ["string", "integer"]


def _clearest(error: ValidationError) -> ValidationError:
    """What is wrong with a body that fits no side of a union: what the side says that it comes nearest to."""
    while error.context:
        sides: dict[Any, list[ValidationError]] = {}
        for each in error.context:
            sides.setdefault(each.schema_path[0], []).append(each)
        error = min(sides.values(), key=lambda errors: (any(map(_is_of_another_kind, errors)), len(errors)))[0]
    return error


def _is_of_another_kind(error: ValidationError) -> bool:
    return len(error.path) <= 1 and error.validator in ("const", "enum", "type")


def _readings(text: str) -> list[Any]:
    """What a parameter may stand for: addresses have texts only."""
    single: list[Any] = [text]
    if re.fullmatch(r"-?\d+", text):
        single.append(int(text))
    if text in ("true", "1", "false", "0"):
        single.append(text in ("true", "1"))
    return single + [[each] for each in single]


def document_path() -> Path | None:
    """Where Discord's document is: named by DISCORD_OPENAPI, else in a folder beside the project; None if nowhere."""
    if named := os.environ.get("DISCORD_OPENAPI"):
        return Path(named)
    return min(ROOT.parent.glob("*/discord/openapi.json"), default=None)


@cache
def discords_own() -> Document | None:
    """Discord's own document, read once; None where there is none. A named document that is missing is an OSError."""
    path = document_path()
    return None if path is None else Document(json.loads(path.read_text(encoding="utf-8")))
