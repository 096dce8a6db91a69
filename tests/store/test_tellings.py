from __future__ import annotations

import asyncio

import pytest

from bot.memory.turns import Telling, Turn
from bot.store.tables import tellings
from tests.store.tale import MIO, Tale, event, later, never, over, render, rows, said


def telling(text: str, tokens: int = 10, finish_reason: str = "stop") -> Telling:
    return Telling(text, said(text, "Rin"), tokens, finish_reason, 500, 490, tokens, "small")


async def told_anew(tale: Tale, turn: Turn, text: str) -> Turn:
    found = await tale.store.tell_anew(turn.id, turn.revision, telling(text), never())
    assert found is not None
    return found


async def test_a_reply_told_once_has_one_telling_and_no_row(tale: Tale) -> None:
    await tale.player()
    reply = await tale.reply("First.")

    number, known = await tale.store.tellings(reply.id)

    assert (number, [t.raw for t in known], known[0].prompt_tokens) == (1, ["First."], 500)
    assert await rows(tale.store, tellings) == []
    with pytest.raises(LookupError, match="no turn 99"):
        await tale.store.tellings(99)


async def test_each_telling_is_kept_with_its_costs_and_the_newest_stands(tale: Tale) -> None:
    await tale.player()
    reply = await tale.reply("First.")
    again = await tale.store.tell_anew(reply.id, 1, telling("Second.", 7, "length"), never())

    assert again is not None
    assert (again.raw, again.beats, again.tokens, again.revision) == ("Second.", said("Second.", "Rin"), 7, 2)
    number, (first, second) = await tale.store.tellings(reply.id)
    assert number == 2
    assert (first.raw, first.cached_tokens, first.was_cut) == ("First.", 400, False)
    assert (second.raw, second.cached_tokens, second.was_cut) == ("Second.", 490, True)
    assert await tale.store.turns(tale.session_id, 2, 2) == (again,)


async def test_a_chosen_telling_stands_again_and_the_next_has_a_number_of_its_own(tale: Tale) -> None:
    await tale.player()
    reply = await tale.reply("First.")
    await told_anew(tale, reply, "Second.")
    chosen = await tale.store.choose_telling(reply.id, 1)
    assert chosen is not None
    await told_anew(tale, chosen, "Third.")

    number, known = await tale.store.tellings(reply.id)
    assert (chosen.raw, chosen.revision) == ("First.", 3)
    assert (number, [t.raw for t in known]) == (3, ["First.", "Second.", "Third."])


async def test_of_two_who_read_the_same_telling_one_wins(tale: Tale) -> None:
    await tale.player()
    reply = await tale.reply("First.")
    texts = ("Second.", "Other.")
    both = await asyncio.gather(*(tale.store.tell_anew(reply.id, 1, telling(text), never()) for text in texts))

    assert [found is None for found in both].count(True) == 1
    assert len((await tale.store.tellings(reply.id))[1]) == 2


async def test_nothing_is_told_anew_that_something_follows(tale: Tale) -> None:
    player = await tale.player()
    reply = await tale.reply("First.")
    await told_anew(tale, reply, "Second.")
    await tale.player("((brb))")
    begun = await tale.store.begin_reply(tale.session_id, reply.at)
    assert begun is not None

    assert await tale.store.newest_turn(tale.session_id) is None
    assert await tale.store.tell_anew(reply.id, 2, telling("Third."), never()) is None
    assert await tale.store.choose_telling(reply.id, 1) is None
    assert await tale.store.tell_anew(player.id, 1, telling("Third."), never()) is None
    assert len(await rows(tale.store, tellings)) == 2


async def test_a_longer_telling_may_make_a_fold_due(tale: Tale) -> None:
    await tale.player(due=over(100))
    reply = await tale.reply("First.", due=over(100))
    await tale.store.tell_anew(reply.id, 1, telling("Second.", 95), over(100))

    assert len(await tale.open_folds()) == 1


async def test_what_is_set_aside_is_the_newest_no_more(tale: Tale) -> None:
    await tale.exchanges(2)
    await tale.store.rewind(tale.session_id, 2, by=MIO, at=later(), render=render)

    newest = await tale.store.newest_turn(tale.session_id)
    assert newest is not None
    assert newest.seq == 2
    assert (await told_anew(tale, newest, "Otherwise.")).raw == "Otherwise."


async def test_what_a_chapter_covers_is_not_told_anew(tale: Tale) -> None:
    await tale.player()
    reply = await tale.reply("First.")
    await told_anew(tale, reply, "Second.")
    await tale.chapter(1, 2, event("They met.", 2))

    assert await tale.store.tell_anew(reply.id, 2, telling("Third."), never()) is None
    assert await tale.store.choose_telling(reply.id, 1) is None


async def test_the_turn_that_a_story_is_rewound_to_may_be_told_anew_although_a_chapter_ended_there(tale: Tale) -> None:
    await tale.exchanges(2)
    await tale.chapter(1, 2, event("They met.", 2))
    await tale.store.rewind(tale.session_id, 2, by=MIO, at=later(), render=render)

    assert await tale.head() == "[] "
    assert [turn.seq for turn in (await tale.store.snapshot(tale.session_id)).turns] == [1, 2]
    (reply,) = await tale.store.turns(tale.session_id, 2, 2)
    assert (await told_anew(tale, reply, "Otherwise.")).raw == "Otherwise."
