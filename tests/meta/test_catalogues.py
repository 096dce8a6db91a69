"""The message catalogues: complete in each language, and neither short of a message nor with one too many."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from fluent.syntax import FluentParser
from fluent.syntax import ast as ftl
from fluent.syntax.visitor import Visitor

from tests.meta.source import ROOT, parsed, place, python_files, text_constants

CATALOGUES = sorted((ROOT / "bot/locales").rglob("*.ftl"))
LANGUAGES = ("en", "ja", "zh")
ERRORS = {"UserError", "ModelUnavailable", "NotFound", "NotAllowed", "Refused"}
ID = re.compile(r"[a-z]+(-[a-z0-9]+)+")
# Arguments whose hyphenated strings are names for Discord, not messages.
NAMES = {"custom_id", "name"}


class _References(Visitor):
    """Collects what a pattern refers to. The methods are named after the syntax tree's classes."""

    def __init__(self) -> None:
        self.variables: set[str] = set()
        self.messages: set[str] = set()

    def visit_VariableReference(self, node: ftl.VariableReference) -> None:  # noqa: N802
        self.variables.add(node.id.name)

    def visit_MessageReference(self, node: ftl.MessageReference) -> None:  # noqa: N802
        self.messages.add(node.id.name)


@cache
def _resource(path: Path) -> ftl.Resource:
    return FluentParser().parse(path.read_text(encoding="utf-8"))


def _language(path: Path) -> str:
    """``ja`` for both ``ja.ftl`` and ``ja/anything.ftl``."""
    return path.stem if path.stem in LANGUAGES else path.parent.name


def _messages(language: str) -> dict[str, set[str]]:
    """Variables of each message of a language; an attribute is ``message.attribute``, and terms are left out."""
    found: dict[str, set[str]] = {}
    for path in CATALOGUES:
        if _language(path) != language:
            continue
        for entry in _resource(path).body:
            if isinstance(entry, ftl.Message):
                for name, node in [("", entry.value), *((f".{a.id.name}", a.value) for a in entry.attributes)]:
                    if node is not None:
                        references = _References()
                        references.visit(node)
                        found[entry.id.name + name] = references.variables
    return found


def _referenced_by_messages() -> set[str]:
    references = _References()
    for path in CATALOGUES:
        references.visit(_resource(path))
    return references.messages


def _error_codes() -> Iterator[tuple[str, str]]:
    for path in python_files("bot", "cogs"):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                called = getattr(node.func, "id", getattr(node.func, "attr", ""))
                if called in ERRORS and isinstance(node.args[0].value, str):
                    yield node.args[0].value, place(path, node.lineno)


def _ids_asked_for() -> Iterator[tuple[str, str]]:
    for path in python_files("cogs", "bot/client.py"):
        tree = parsed(path)
        skipped = {
            id(child)
            for node in ast.walk(tree)
            if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.keyword) and node.arg in NAMES)
            for child in ast.walk(node)
        }
        for node in text_constants(tree):
            if id(node) not in skipped and ID.fullmatch(str(node.value)):
                yield str(node.value), place(path, node.lineno)


def _used() -> re.Pattern[str]:
    """What the code could ask a catalogue for: its strings, and its f-strings with anything in their gaps."""
    patterns: set[str] = set()
    for path in python_files("bot", "cogs"):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                patterns.add(re.escape(node.value))
            elif isinstance(node, ast.JoinedStr):
                parts = [str(part.value) if isinstance(part, ast.Constant) else None for part in node.values]
                if re.search("[a-z]-|-[a-z]", "".join(part or "" for part in parts)):
                    patterns.add("".join(".+" if part is None else re.escape(part) for part in parts))
    return re.compile("|".join(sorted(patterns)))


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_catalogue_can_be_parsed_and_says_nothing_twice(path: Path) -> None:
    body = _resource(path).body
    names = [entry.id.name for entry in body if isinstance(entry, ftl.Message)]

    assert [entry.content for entry in body if isinstance(entry, ftl.Junk)] == []
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("language", LANGUAGES[1:])
def test_each_language_has_the_same_messages_with_the_same_variables(language: str) -> None:
    assert _messages(language) == _messages("en")


def test_every_message_that_the_code_asks_for_exists() -> None:
    known = {name.partition(".")[0] for name in _messages("en")}

    assert [(code, where) for code, where in [*_error_codes(), *_ids_asked_for()] if known and code not in known] == []


def test_no_message_is_unused() -> None:
    used, referenced = _used(), _referenced_by_messages()
    names = {name.partition(".")[0] for name in _messages("en")}

    assert {name for name in names if name not in referenced and not used.fullmatch(name)} == set()
