"""The model servers: each is asked a few words, to see what it really does."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from pydantic import SecretStr

from bot.doctor.findings import Finding, Findings, Mark, shown_address
from bot.errors import ModelUnavailable, SettingsError
from bot.llm.checks import extract_json
from bot.llm.client import ModelClient
from bot.llm.requests import Completion, ModelProfile, ModelRequest, Purpose
from bot.memory.messages import Message
from bot.memory.policy import Budgets
from bot.settings import Settings

T = TypeVar("T")

# A card of usual length with the rules, in tokens: what a window has to hold besides the story.
_USUAL_CARD: Final = 1_000
_ANSWER_TOKENS: Final = 32
# Hosted services reuse prompts from 1,024 tokens on (https://platform.openai.com/docs/guides/prompt-caching); a line
# of the test prompt has about 20. llama.cpp reuses any prompt, and may be slow to read one.
_LINES_LLAMA: Final = 15
_LINES_HOSTED: Final = 70
_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"ready": {"type": "string", "enum": ["kataribe"]}},
    "required": ["ready"],
    "additionalProperties": False,
}
_MODEL_ADVICE: Final = {
    "model-key": "the server refuses the key; write the right one into {key}",
    "model-missing": "the server knows no such model or address; look at {model}, and whether {url} ends where /chat/completions "
    "begins, mostly with /v1",
    "model-timeout": "no whole answer came within LLM_TIMEOUT_SECONDS; use a faster server or model, or raise it",
    "model-window": "even a short prompt does not fit; start the server with a larger window",
}


@dataclass(frozen=True, slots=True)
class Server:
    """A model server to look at, with the names of the settings that describe it."""

    label: str
    client: ModelClient
    address: str
    url: str
    key: str
    model: str


async def model(settings: Settings) -> Findings:
    """The model that plays the characters: reachable, its window with what follows from it, and what it can do."""
    if settings.llm_base_url is None:
        yield Finding(Mark.NOTE, "model: not looked at without an address")
        return
    async with _client(settings, settings.llm_base_url, settings.llm_api_key, settings.llm_model) as client:
        server = Server("model", client, settings.llm_base_url, "LLM_BASE_URL", "LLM_API_KEY", "LLM_MODEL")
        reached = await _reached(server)
        yield reached
        if reached.mark is Mark.BAD:
            return
        for finding in _window(settings, client.profile):
            yield finding
        async for finding in _abilities(server):
            yield finding
        for finding in _pitfalls(settings, client.profile):
            yield finding


async def folding_model(settings: Settings) -> Findings:
    """The model that folds, where it is another one."""
    own = settings.folder_base_url is not None
    address = settings.folder_base_url or settings.llm_base_url
    if address is None:
        return
    key = settings.folder_api_key if own else settings.llm_api_key
    async with _client(settings, address, key, settings.folder_model) as client:
        names = ("FOLDER_BASE_URL", "FOLDER_API_KEY") if own else ("LLM_BASE_URL", "LLM_API_KEY")
        server = Server("folding model", client, address, *names, "FOLDER_MODEL")
        reached = await _reached(server)
        yield reached
        if reached.mark is Mark.BAD:
            return
        async for finding in _abilities(server):
            yield finding


def _client(settings: Settings, address: str, key: SecretStr | None, model: str | None) -> ModelClient:
    return ModelClient(
        address,
        api_key=key.get_secret_value() if key else None,
        model=model,
        timeout_seconds=settings.llm_timeout_seconds,
        attempts=1,
    )


async def _reached(server: Server) -> Finding:
    profile, seconds = await _timed(server.client.probe())
    where = shown_address(server.address)
    if server.client.reached:
        return Finding(Mark.GOOD, f"{server.label}: {profile.server} with {profile.model} at {where} ({seconds:.1f} s)")
    advice = f"start it, wait until it has loaded its model, or write another address into {server.url}"
    return Finding(Mark.BAD, f"{server.label}: no server is ready at {where} ({seconds:.1f} s)", advice)


def _window(settings: Settings, profile: ModelProfile) -> Iterator[Finding]:
    reported, chosen = profile.window, settings.llm_window
    if reported is None and chosen is None:
        advice = "write the model's window into LLM_WINDOW, in tokens"
        yield Finding(Mark.NOTE, "model: the server does not tell its window; 65,536 tokens are assumed", advice)
    elif reported is not None and chosen is not None and chosen > reported:
        advice = "lower LLM_WINDOW, or start the server with a larger window"
        yield Finding(Mark.BAD, f"model: LLM_WINDOW={chosen} is more than the server's {reported:,} tokens", advice)
    try:
        budgets = settings.budgets(reported)
    except SettingsError as error:
        yield from (Finding(Mark.BAD, f"model: {line}") for line in error.lines)
        return
    yield Finding(Mark.GOOD, f"model: {_budgets(budgets)}")
    if budgets.prompt_limit(_USUAL_CARD) < budgets.trigger:
        advice = "start the server with a larger window; 32,768 tokens hold a good evening"
        yield Finding(Mark.NOTE, "model: this window is too small to hold a story until it is folded", advice)


def _budgets(budgets: Budgets) -> str:
    return (
        f"window {budgets.window:,} tokens: a fold is planned at {budgets.trigger:,}, old turns are cut at {budgets.ceiling:,}, "
        f"a fold leaves {budgets.floor:,} raw and makes room for {budgets.room:,}, a reply has up to {budgets.reply_output:,}"
    )


async def _abilities(server: Server) -> Findings:
    """What the model does when it is really asked; ends at the first answer that does not come."""
    try:
        word, seconds = await _timed(_ask(server.client, "Answer with one friendly word, nothing else."))
        yield _spoken(server, word, seconds)
        answer, seconds = await _timed(_ask(server.client, "Say that you are ready, as JSON.", schema=_SCHEMA))
        yield _held_to_schema(server, answer, seconds)
        count, seconds = await _timed(server.client.count_tokens("Kataribe, 語り部: the one who hands the tale on."))
        yield _counted(server, count, word, seconds)
        prompt = _long_prompt(server.client.profile)
        first, first_seconds = await _timed(_ask(server.client, prompt))
        again, seconds = await _timed(_ask(server.client, prompt))
        yield _reused(server, first, again, (first_seconds, seconds))
    except ModelUnavailable as error:
        yield _refused(server, error)


def _spoken(server: Server, word: Completion, seconds: float) -> Finding:
    if not word.text.strip():
        advice = "if it is a model that thinks before it answers, switch the thinking off on the server"
        return Finding(
            Mark.BAD, f"{server.label}: no word came within {_ANSWER_TOKENS} tokens ({seconds:.1f} s)", advice
        )
    return Finding(Mark.GOOD, f"{server.label}: writes “{' '.join(word.text.split())[:24]}” ({seconds:.1f} s)")


def _held_to_schema(server: Server, answer: Completion, seconds: float) -> Finding:
    took = f"({seconds:.1f} s)"
    if not server.client.profile.json_schema:
        advice = "it works with markup instead; folds are better on a server that takes one, such as llama.cpp"
        return Finding(Mark.NOTE, f"{server.label}: the server refuses JSON schemas {took}", advice)
    if extract_json(answer.text) != {"ready": "kataribe"}:
        advice = "expect more folds that fail; use a server that enforces schemas, such as llama.cpp"
        return Finding(Mark.NOTE, f"{server.label}: takes a JSON schema and does not keep to it {took}", advice)
    return Finding(Mark.GOOD, f"{server.label}: keeps to a JSON schema {took}")


def _counted(server: Server, count: int | None, word: Completion, seconds: float) -> Finding:
    if count is not None:
        return Finding(Mark.GOOD, f"{server.label}: counts tokens itself ({seconds:.1f} s)")
    if word.usage.prompt_tokens:
        return Finding(Mark.GOOD, f"{server.label}: tokens are estimated, and corrected by the usage that it reports")
    advice = "leave some of the window free: set LLM_WINDOW a tenth lower than it is"
    return Finding(
        Mark.NOTE, f"{server.label}: neither counts tokens nor reports its usage; they are estimated", advice
    )


def _reused(server: Server, first: Completion, again: Completion, seconds: tuple[float, float]) -> Finding:
    cached, prompt = again.usage.cached_tokens, again.usage.prompt_tokens
    took = f"({seconds[0]:.1f} s, then {seconds[1]:.1f} s)"
    if cached is None:
        advice = "without that figure, compare the two times: the second should be shorter"
        return Finding(
            Mark.NOTE, f"{server.label}: does not say how much of a repeated prompt it reuses {took}", advice
        )
    if not cached:
        advice = "switch the server's prompt cache on; else each reply reads the whole story again"
        return Finding(Mark.NOTE, f"{server.label}: nothing of a repeated prompt was reused {took}", advice)
    share = f"{cached:,} of {prompt:,}" if prompt else f"{cached:,}"
    return Finding(Mark.GOOD, f"{server.label}: reused {share} tokens of a repeated prompt {took}")


def _refused(server: Server, error: ModelUnavailable) -> Finding:
    advice = _MODEL_ADVICE.get(error.code, "look into the log of the model server")
    advice = advice.format(key=server.key, model=server.model, url=server.url)
    return Finding(Mark.BAD, f"{server.label}: no answer ({error.detail or error.code})", advice)


def _pitfalls(settings: Settings, profile: ModelProfile) -> Iterator[Finding]:
    """What is known to bite with llama.cpp and cannot be seen from outside."""
    if profile.server != "llama.cpp":
        return
    yield Finding(
        Mark.NOTE,
        "model: llama.cpp's prompt cache in RAM has been reported to restore another conversation (ggml-org/llama.cpp 27148)",
        "if a character ever speaks of another story, start the server with --cache-ram 0",
    )
    slots, parallel = profile.slots or 1, settings.llm_parallel
    if parallel > slots:
        advice = f"set LLM_PARALLEL={slots}, or start the server with --parallel {parallel}"
        yield Finding(
            Mark.NOTE, f"model: {parallel} requests at once for {slots} slot(s); folds may delay replies", advice
        )
    elif slots > 1:
        yield Finding(
            Mark.NOTE,
            f"model: {slots} slots share the memory, and stories that begin alike may push each other out of them",
            "keep one slot more than stories are played at once; a fold takes the one that was used longest ago",
        )
    else:
        yield Finding(
            Mark.NOTE,
            "model: a fold takes the only slot, and the next reply reads the whole story again where the server forgot it",
            "start it with --parallel 2 and leave LLM_PARALLEL=1: replies still go first, and the story stays in its slot",
        )


async def _ask(client: ModelClient, text: str, *, schema: dict[str, Any] | None = None) -> Completion:
    request = ModelRequest(
        (Message("user", text),), Purpose.PROBE, _ANSWER_TOKENS, schema=schema, schema_name="doctor", temperature=0.0
    )
    return await client.complete(request)


def _long_prompt(profile: ModelProfile) -> str:
    lines = _LINES_LLAMA if profile.server == "llama.cpp" else _LINES_HOSTED
    tale = (
        f"On day {day} the ferry left the harbour at noon with {day * 7} barrels and came home."
        for day in range(1, lines)
    )
    return "\n".join([*tale, "Answer with one word: did the ferry come home?"])


async def _timed(work: Awaitable[T]) -> tuple[T, float]:
    began = time.monotonic()
    return await work, time.monotonic() - began
