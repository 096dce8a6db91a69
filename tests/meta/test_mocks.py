"""A mock without a spec agrees to everything, so a test with one cannot fail."""

from __future__ import annotations

import ast

from tests.meta.source import parsed, place, python_files

MOCKS = {"Mock", "MagicMock", "AsyncMock", "NonCallableMock", "NonCallableMagicMock"}
SPECS = {"spec", "spec_set", "wraps", "autospec", "new", "new_callable"}


def _called(node: ast.Call) -> str:
    """The last two names of what is called: ``patch.object`` for ``mock.patch.object(…)``."""
    match node.func:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id=owner) | ast.Attribute(attr=owner), attr=name):
            return f"{owner}.{name}" if owner == "patch" else name
        case _:
            return ""


def _has_no_spec(node: ast.Call) -> bool:
    keywords = {keyword.arg for keyword in node.keywords}
    match _called(node):
        case name if name in MOCKS:
            return not keywords & SPECS and not node.args
        case "patch":
            return not keywords & SPECS and len(node.args) < 2
        case "patch.object":
            return not keywords & SPECS and len(node.args) < 3
        case _:
            return False


def test_no_mock_without_a_spec() -> None:
    found = [
        place(path, node.lineno)
        for path in python_files("tests")
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call) and _has_no_spec(node)
    ]

    assert found == []


def test_the_rule_sees_a_mock_without_a_spec() -> None:
    without = ["Mock()", "mock.AsyncMock(return_value=1)", "patch('a.b')", "mock.patch.object(a, 'b')"]
    source = "\n".join([*without, "Mock(spec=str)", "patch.object(a, 'b', c)"])

    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]

    assert sorted(node.lineno for node in calls if _has_no_spec(node)) == [1, 2, 3, 4]
