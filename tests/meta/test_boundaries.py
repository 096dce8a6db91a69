"""What a layer may touch, where an import contract alone cannot say it."""

from __future__ import annotations

import ast
import re
import statistics
import sys
import tomllib

import pytest

from tests.meta.source import ROOT, imports, is_within, parsed, place, python_files, text_constants

OURS = ("bot", "cogs", "migrations")
ENVIRONMENT = {"environ", "environb", "getenv", "getenvb", "putenv", "unsetenv"}
# With these a function is no longer a pure one of its arguments.
IMPURE = ("asyncio", "io", "logging", "os", "pathlib", "socket", "sqlite3", "subprocess", "threading", "time", "urllib")
CLOCK = {"now", "utcnow", "today"}
SQL = re.compile(
    r"\s*(SELECT\s|INSERT\s+INTO\s|UPDATE\s+\w+\s+SET\s|DELETE\s+FROM\s|(CREATE|DROP|ALTER)\s+TABLE\s|PRAGMA\s)"
)


def test_only_the_settings_read_the_environment() -> None:
    found = []
    for path in python_files(*OURS):
        if path == ROOT / "bot/settings.py":
            continue
        for node in ast.walk(parsed(path)):
            match node:
                case ast.Attribute(value=ast.Name(id="os"), attr=word) if word in ENVIRONMENT:
                    found.append(place(path, node.lineno))
        found += [place(path, line) for line, name in imports(path) if name in {f"os.{word}" for word in ENVIRONMENT}]

    assert found == []


def test_the_domain_is_pure_standard_library() -> None:
    found = []
    for path in python_files("bot/memory"):
        for line, name in imports(path):
            top = name.partition(".")[0]
            if not is_within(name, "bot.memory") and (top not in sys.stdlib_module_names or top in IMPURE):
                found.append(f"{place(path, line)} imports {name}")
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CLOCK:
                found.append(f"{place(path, node.lineno)} reads the clock")
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "open":
                found.append(f"{place(path, node.lineno)} opens a file")

    assert found == []


def test_sql_stays_in_the_store_and_the_migrations() -> None:
    found = []
    for path in python_files("bot", "cogs"):
        if path.is_relative_to(ROOT / "bot/store"):
            continue
        # The demo holds a lock on its folder by way of an SQLite file without a table.
        drivers = {"sqlalchemy", "sqlite3"} - ({"sqlite3"} if path.parent.name == "demo" else set())
        found += [place(path, line) for line, name in imports(path) if is_within(name, *drivers)]
        found += [place(path, node.lineno) for node in text_constants(parsed(path)) if SQL.match(str(node.value))]

    assert found == []


@pytest.mark.parametrize(
    "where",
    [
        "bot/memory",
        "bot/llm",
        "bot/store",
        "bot/engine.py",
        "bot/counting.py",
        "bot/rendering.py",
        "bot/pictures.py",
        "bot/core.py",
        "bot/folder.py",
        "bot/jobs.py",
        "bot/judging.py",
        "bot/metrics.py",
        "bot/sawtooth.py",
        "bot/statistics.py",
        "bot/time_zones.py",
        "bot/export.py",
        "bot/settings.py",
    ],
)
def test_discord_is_unknown_below_the_client(where: str) -> None:
    found = [
        place(path, line) for path in python_files(where) for line, name in imports(path) if is_within(name, "discord")
    ]

    assert found == []


def test_every_module_has_its_place_in_the_layers() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    placed = set(re.findall(r"[\w.]+", " ".join(contracts[0]["layers"])))
    modules = {
        f"bot.{path.stem}" for path in (ROOT / "bot").iterdir() if path.suffix == ".py" or any(path.rglob("*.py"))
    }

    assert modules - placed == {"bot.__init__"}


def test_nothing_swallows_cancellation() -> None:
    found = []
    for path in python_files(*OURS):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ExceptHandler):
                names = {name.id for name in ast.walk(node.type) if isinstance(name, ast.Name)} if node.type else {""}
                if names & {"", "BaseException"}:
                    found.append(place(path, node.lineno))

    assert found == []


def test_cogs_stay_small() -> None:
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for path in python_files("cogs")
        if path.name != "__init__.py"
    }

    # A file that begins with "_" is a helper of several cogs, not one of them.
    cogs = {name: length for name, length in lengths.items() if "/_" not in name}
    assert {name: length for name, length in cogs.items() if length > 120} == {}
    assert {name: length for name, length in lengths.items() if length > 200} == {}
    assert not cogs or statistics.median(cogs.values()) <= 75
