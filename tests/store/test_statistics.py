from __future__ import annotations

from bot.memory.tokens import Script, TokenRatio
from bot.store import Call, Store
from tests.store.tale import Tale, later


async def test_a_ratio_is_kept_for_each_model_and_script(store: Store) -> None:
    assert await store.ratio("small", Script.JAPANESE) == TokenRatio("small", Script.JAPANESE)
    first = TokenRatio("small", Script.JAPANESE).seen(100, 130)
    await store.save_ratio(first)
    await store.save_ratio(first.seen(200, 260))
    await store.save_ratio(TokenRatio("large", Script.JAPANESE, 10.5, 11.25))

    assert await store.ratio("small", Script.JAPANESE) == TokenRatio("small", Script.JAPANESE, 300.0, 390.0)
    assert await store.ratio("large", Script.JAPANESE) == TokenRatio("large", Script.JAPANESE, 10.5, 11.25)
    assert (await store.ratio("small", Script.LATIN)).factor == 1.0


async def test_calls_are_on_record_for_a_session_and_in_all(tale: Tale) -> None:
    store, session = tale.store, tale.session_id
    await store.record_calls(Call("reply", session, "small", 900, 850, 40, "ok", 1, 1_250, later(1)))
    await store.record_calls(Call("probe", None, "small", None, None, None, "timeout", 3, 9_000, later(2)))

    reply = Call("reply", session, "small", 900, 850, 40, "ok", 1, 1_250, later(1), id=1)
    probe = Call("probe", None, "small", None, None, None, "timeout", 3, 9_000, later(2), id=2)
    assert await store.calls(session) == (reply,)
    assert await store.calls(None) == (reply, probe)
    assert await store.calls(session + 1) == ()


async def test_own_webhooks_are_remembered_and_forgotten(store: Store) -> None:
    await store.add_webhook(1, 11)
    await store.add_webhook(1, 11)
    await store.add_webhook(2, 12)
    assert await store.own_webhooks() == {11, 12}

    await store.forget_webhook(11)
    await store.forget_webhook(99)
    assert await store.own_webhooks() == {12}
