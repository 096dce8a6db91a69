from __future__ import annotations

import logging
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import discord
import pytest

from bot import doctor
from bot.store.database import Database
from tests.support.databases import lay
from tests.support.model_server import ModelServer, Script
from tests.support.wire import DiscordWorld, discord_world, pointed_at

NOBODY = "http://127.0.0.1:9/v1"
TOKEN = "a.secret.token"


@pytest.fixture(autouse=True)
def _outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A working directory without settings, and a log that is as before afterwards."""
    monkeypatch.chdir(tmp_path)
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.captureWarnings(capture=False)


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    """A server that does everything well."""
    async with ModelServer() as server:
        server.on["doctor"] = lambda body: {"ready": "kataribe"}
        yield server


@pytest.fixture
async def world() -> AsyncIterator[DiscordWorld]:
    async with discord_world() as world:
        with pointed_at(world.server):
            yield world


@pytest.fixture
async def database(tmp_path: Path) -> str:
    return lay(tmp_path / "story.db")


class Report:
    """What the doctor said."""

    def __init__(self, code: int, lines: list[str]) -> None:
        self.code = code
        self.lines = lines
        self.text = "\n".join(lines)

    def of(self, mark: str) -> list[str]:
        return [line for line in self.lines if line.startswith(mark)]

    def one(self, part: str) -> str:
        """The only line with these words."""
        (line,) = [line for line in self.lines if part in line]
        return line


async def examined(monkeypatch: pytest.MonkeyPatch, **settings: object) -> Report:
    for name, value in settings.items():
        monkeypatch.setenv(name, str(value))
    lines: list[str] = []
    code = await doctor.examine(lines.append)
    assert all(re.match(r"[✓!✗] \S", line) and "\n" not in line for line in lines)
    return Report(code, lines)


def approve(world: DiscordWorld, *, content: bool = True) -> None:
    """Let the application have the Message Content Intent, which simcord does not tell."""
    me = world.backend.bot_user
    flags = discord.ApplicationFlags()
    flags.gateway_message_content_limited = content
    user = {"id": str(me.id), "username": me.name, "discriminator": "0", "avatar": None, "bot": True}
    app = {
        "id": str(world.backend.application_id),
        "name": me.name,
        "icon": None,
        "description": "",
        "summary": "",
        "bot_public": True,
        "bot_require_code_grant": False,
        "verify_key": "0" * 64,
        "owner": user,
        "flags": flags.value,
        "team": None,
    }
    world.server.fail("GET", "/oauth2/applications/@me", status=200, body=app, times=9)


async def test_a_bot_that_can_start_gets_a_line_for_everything(
    world: DiscordWorld, model: ModelServer, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    approve(world)
    report = await examined(
        monkeypatch, DISCORD_TOKEN=world.server.token, LLM_BASE_URL=model.base_url, DATABASE_URL=database
    )

    assert report.code == 0
    assert not report.of("✗")
    assert report.lines[0] == "✓ settings: all can be read"
    assert report.one("story.db").startswith("✓ database: sqlite+aiosqlite:///")
    assert "can be written and is up to date" in report.one("story.db")
    assert "✓ database: not damaged" in report.lines
    assert f"✓ model: llama.cpp with scripted at {model.base_url}" in report.text
    assert "✓ model: window 32,768 tokens: a fold is planned at 15,000, old turns are cut at 18,000" in report.text
    assert "✓ model: writes “Answer 1.”" in report.text
    assert report.one("JSON schema").startswith("✓ model: keeps to a JSON schema (")
    assert "✓ model: counts tokens itself" in report.text
    assert re.search(r"✓ model: reused [1-9]\d+ of \d{3,} tokens of a repeated prompt", report.text)
    assert "--cache-ram 0" in report.one("llama.cpp's prompt cache")
    assert "✓ Discord: the Message Content Intent is on" in report.lines
    link = report.one("the link to invite it")
    assert f"client_id={world.backend.application_id}" in link
    assert "scope=bot+applications.commands" in link
    assert all(request.body["max_tokens"] <= 32 for request in model.requests)
    assert world.server.gateway.identifies == 0
    assert [request.method for request in world.server.requests] == ["GET"] * len(world.server.requests)


async def test_with_nothing_set_it_goes_on_and_names_what_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    report = await examined(monkeypatch)

    assert report.code == 1
    assert [line.split(":")[0] for line in report.of("✗")] == ["✗ DISCORD_TOKEN", "✗ LLM_BASE_URL"]
    assert "kataribe.db is new; the first start sets it up" in report.one("✓")
    assert report.of("!") == [
        "! model: not looked at without an address",
        "! Discord: not looked at without a token",
    ]
    assert not Path("kataribe.db").exists()


async def test_wrong_settings_are_told_at_once_and_the_right_ones_are_still_used(
    model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = await examined(
        monkeypatch,
        DISCORD_TOKEN="two words",
        DATABASE_URL="story.db",
        LLM_BASE_URL=model.base_url,
        LLM_PARALLEL="many",
        FOLDER_BASE_URL="somewhere",
        FOLDER_MODEL="other",
    )

    assert report.code == 1
    told = [line.split(":")[0] for line in report.of("✗")]
    assert sorted(told) == ["✗ DATABASE_URL", "✗ DISCORD_TOKEN", "✗ FOLDER_BASE_URL", "✗ LLM_PARALLEL"]
    assert [line for line in report.of("!") if "is wrong" in line] == [
        "! not looked at, because DATABASE_URL is wrong",
        "! not looked at, because FOLDER_BASE_URL is wrong",
        "! not looked at, because DISCORD_TOKEN is wrong",
    ]
    assert "✓ model: keeps to a JSON schema" in report.text
    assert not Path("kataribe.db").exists()


async def test_no_secret_is_ever_told(world: DiscordWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    async with ModelServer(api_key="right", model="named-after-sk-very-secret") as server:
        address = server.base_url.replace("://", "://user:pass-word@")
        report = await examined(
            monkeypatch,
            DISCORD_TOKEN=TOKEN,
            LLM_BASE_URL=address,
            LLM_API_KEY="sk-very-secret",
            LLM_MODEL="named-after-sk-very-secret",
            DATABASE_URL="postgresql+nosuchdriver://me:pg-secret@127.0.0.1/x",
        )

    assert report.code == 1
    for secret in (TOKEN, "sk-very-secret", "pass-word", "pg-secret"):
        assert secret not in report.text
    assert "write the right one into LLM_API_KEY" in report.one("no answer (status 401")
    assert "✗ Discord: refuses DISCORD_TOKEN" in report.text
    assert "does not know" in report.one("✗ DATABASE_URL")


async def test_a_model_server_that_is_not_there(
    world: DiscordWorld, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    approve(world)
    report = await examined(
        monkeypatch, DISCORD_TOKEN=world.server.token, LLM_BASE_URL=NOBODY, FOLDER_MODEL="other", DATABASE_URL=database
    )

    assert report.code == 1
    assert len(report.of("✗")) == 2
    assert report.one("✗ model").startswith(f"✗ model: no server is ready at {NOBODY} (")
    assert "into LLM_BASE_URL" in report.one("✗ folding model")
    assert "✓ Discord: the Message Content Intent is on" in report.lines


async def test_a_hosted_server_that_can_do_less(monkeypatch: pytest.MonkeyPatch) -> None:
    async with ModelServer(
        llama_cpp=False,
        tokenizer=False,
        json_schema=False,
        unknown_fields=False,
        model_fields={"context_length": 8_192},
    ) as server:
        server.on["doctor"] = lambda body: "Yes, ready."
        report = await examined(monkeypatch, LLM_BASE_URL=server.base_url)

    assert f"✓ model: openai-compatible with scripted at {server.base_url}" in report.text
    assert "✓ model: window 8,192 tokens" in report.text
    assert "! model: the server refuses JSON schemas" in report.text
    assert "✓ model: tokens are estimated, and corrected by the usage that it reports" in report.lines
    assert report.one("repeated prompt").startswith("! model: does not say how much of a repeated prompt it reuses")
    assert "llama.cpp's prompt cache" not in report.text


async def test_an_unknown_window_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    async with ModelServer(llama_cpp=False, window=None) as server:
        report = await examined(monkeypatch, LLM_BASE_URL=server.base_url)

    assert report.one("does not tell its window").endswith("→ write the model's window into LLM_WINDOW, in tokens")


async def test_a_window_too_small_for_a_story(monkeypatch: pytest.MonkeyPatch) -> None:
    async with ModelServer(window=2_048) as server:
        report = await examined(monkeypatch, LLM_BASE_URL=server.base_url)

    assert report.one("too small").startswith("! model: this window is too small")


async def test_a_model_that_only_thinks_has_no_word(model: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    model.replies.append(Script("", finish_reason="length", reasoning="Let me think"))
    report = await examined(monkeypatch, LLM_BASE_URL=model.base_url)

    assert "switch the thinking off" in report.one("✗ model: no word came within 32 tokens")
    assert "✓ model: keeps to a JSON schema" in report.text


async def test_a_schema_that_is_taken_and_not_kept_to(model: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    model.on["doctor"] = lambda body: "Sure! I am ready."
    report = await examined(monkeypatch, LLM_BASE_URL=model.base_url)

    assert report.one("JSON schema").startswith("! model: takes a JSON schema and does not keep to it")


@pytest.mark.parametrize(
    ("chosen", "told"),
    [(8_192, []), (65_536, ["✗ model: LLM_WINDOW=65536 is more than the server's 32,768 tokens"])],
)
async def test_the_window_that_is_set_against_the_one_reported(
    model: ModelServer, monkeypatch: pytest.MonkeyPatch, chosen: int, told: list[str]
) -> None:
    report = await examined(monkeypatch, LLM_BASE_URL=model.base_url, LLM_WINDOW=chosen)

    assert f"✓ model: window {chosen:,} tokens" in report.text
    assert [line.split(" → ")[0] for line in report.of("✗") if "LLM_WINDOW" in line] == told


async def test_budgets_that_contradict_the_windows_profile(model: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    report = await examined(monkeypatch, LLM_BASE_URL=model.base_url, FOLD_TRIGGER="30000")

    assert report.one("FOLD_TRIGGER").startswith("✗ model: FOLD_TRIGGER=30000 is not below FOLD_CEILING=18000")


@pytest.mark.parametrize(
    ("slots", "parallel", "part"),
    [
        (1, 4, "set LLM_PARALLEL=1, or start the server with --parallel 4"),
        (4, 1, "4 slots share the memory"),
        (1, 1, "a fold takes the only slot"),
    ],
)
async def test_slots_that_do_not_fit(monkeypatch: pytest.MonkeyPatch, slots: int, parallel: int, part: str) -> None:
    async with ModelServer(slots=slots) as server:
        report = await examined(monkeypatch, LLM_BASE_URL=server.base_url, LLM_PARALLEL=parallel)

    assert report.one(part).startswith("! model: ")


async def test_another_folding_model_is_asked_too(model: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    async with ModelServer(model="folder", api_key="fold-key", json_schema=False) as other:
        other.on["doctor"] = lambda body: "no"
        report = await examined(
            monkeypatch,
            LLM_BASE_URL=model.base_url,
            LLM_API_KEY="not-for-others",
            FOLDER_BASE_URL=other.base_url,
            FOLDER_API_KEY="fold-key",
        )
        keys = {request.headers["Authorization"] for request in other.requests}

    assert f"✓ folding model: llama.cpp with folder at {other.base_url}" in report.text
    assert "! folding model: the server refuses JSON schemas" in report.text
    assert keys == {"Bearer fold-key"}


async def test_a_token_that_discord_refuses(world: DiscordWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    report = await examined(monkeypatch, DISCORD_TOKEN="wrong")

    assert report.one("Discord").startswith("✗ Discord: refuses DISCORD_TOKEN → copy it again")


async def test_an_intent_that_is_off(world: DiscordWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    approve(world, content=False)
    report = await examined(monkeypatch, DISCORD_TOKEN=world.server.token)

    assert f"applications/{world.backend.application_id}/bot" in report.one(
        "✗ Discord: the Message Content Intent is off"
    )


async def test_permissions_that_lack_are_named_guild_by_guild(
    world: DiscordWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.simulation.create_guild("Lagoon")
    guild = world.backend.guilds[world.guild.id]
    for role_id in [guild.id, *guild.members[world.backend.bot_user.id].role_ids]:
        role = guild.roles[role_id]
        role.permissions = discord.Permissions(view_channel=True, send_messages=True, embed_links=True).value
    report = await examined(monkeypatch, DISCORD_TOKEN=world.server.token)

    assert report.one("Harbour") == (
        f"! Discord: guild Harbour ({world.guild.id}): its role lacks Send Messages in Threads, Manage Webhooks, "
        "Read Message History → give them to the bot's role, or in each channel where stories are played"
    )
    assert report.one("Lagoon")[0] == "✓"


async def test_a_bot_in_no_guild_gets_its_invitation(world: DiscordWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    world.backend.guilds.clear()
    report = await examined(monkeypatch, DISCORD_TOKEN=world.server.token)

    line = report.one("is in no guild")
    (permissions,) = re.findall(r"permissions=(\d+)", line)
    wanted = discord.Permissions(int(permissions))
    assert wanted.manage_webhooks
    assert wanted.send_messages_in_threads
    assert not wanted.administrator


async def test_discord_out_of_order(world: DiscordWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    world.server.fail("GET", "/users/@me", status=403)
    report = await examined(monkeypatch, DISCORD_TOKEN=world.server.token)

    assert "✗ Discord: answers with status 403" in report.text


async def test_a_database_in_a_folder_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "no" / "such"
    report = await examined(monkeypatch, DATABASE_URL=f"sqlite+aiosqlite:///{folder}/story.db")

    assert (
        report.one("✗ DATABASE_URL") == f"✗ DATABASE_URL: there is no folder {folder}; make it, or write another path."
    )
    assert not folder.exists()


async def test_a_file_that_is_no_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "story.db").write_text("Dear diary, " * 100)
    report = await examined(monkeypatch, DATABASE_URL="sqlite+aiosqlite:///story.db")

    assert "story.db is no SQLite database" in report.one("✗ DATABASE_URL")


async def test_a_damaged_database(tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "story.db"
    data = bytearray(file.read_bytes())
    # Every page but the first three gets the header of a page that cannot be.
    for page in range(3 * 4096, len(data), 4096):
        data[page : page + 8] = b"\xff" * 8
    file.write_bytes(data)
    report = await examined(monkeypatch, DATABASE_URL=database)

    assert report.code == 1
    assert any("damaged" in line for line in report.of("✗"))


async def test_a_database_of_a_newer_version(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    await _revise(database, "UPDATE alembic_version SET version_num = '9999'")
    report = await examined(monkeypatch, DATABASE_URL=database)

    assert "written by a newer version of Kataribe" in report.one("story.db")
    assert report.code == 1


async def _revise(url: str, statement: str) -> None:
    database = Database.at(url)
    async with database.write() as connection:
        await connection.exec_driver_sql(statement)
    await database.close()
