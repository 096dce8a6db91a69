"""The cast of a story in the rows: who joins and leaves, whose reply it is, and what each of them has of the memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import pytest
from sqlalchemy import select

from bot.errors import NotFound, Refused
from bot.memory.cast import seen_by
from bot.memory.memories import Content, MemoryKind, NewMemory, SessionMemory
from bot.memory.policy import Stretch
from bot.memory.prompt import Card
from bot.memory.story import Head, Member, Place, Scope, Tail
from bot.memory.turn_taking import Scene
from bot.memory.turns import Beat, BeatKind, Citation, Telling, Turn, TurnState
from bot.store import Store
from bot.store.cast_tables import addressed, cast, heads, tails
from bot.store.people import drop_tails_of_character
from bot.store.people_tables import acquaintances, exchanges
from bot.store.tables import turns
from tests.store import tale as plain
from tests.store.tale import KAI, MIO, START, Tale, begin, later, never, rows, said

HEAD = Head("[] ", 3)
_IDS = count(70_000)


def render(memory: SessionMemory) -> Head:
    """As each has it, in a form that shows in a test what was seen."""
    if memory.voices is None:
        return plain.render(memory)
    lead, *others = [(one.character_id, plain.render(seen_by(memory, one))) for one in memory.voices.viewers]
    return replace(lead[1], others=tuple(others))


def _choosing(character_id: int) -> Callable[[Scene], Member]:
    """Whoever is that character; where it is not there, whose turn it is."""
    return lambda scene: next((m for m in scene.cast if m.character.id == character_id), scene.next_speaker())


@dataclass
class Company:
    """A story of Rin, whom Brom joined."""

    tale: Tale
    store: Store
    rin: int
    brom: int

    @property
    def id(self) -> int:
        return self.tale.session_id

    async def reply(
        self, character_id: int, text: str = "Yes.", *, thought: str = "", tail: Tail | None = None
    ) -> Turn:
        begun = await self.store.begin_reply(self.id, later(2), unasked=True, choose=_choosing(character_id))
        assert begun is not None
        beats = (*said(text, "?"), *((Beat(BeatKind.THOUGHT, thought, "?"),) if thought else ()))
        telling = Telling(f"{text} `{thought}`", beats, 10, "stop")
        turn = await self.store.finish_reply(begun.turn.id, telling, never(), tail)
        await self.store.tie_messages(turn.id, self.tale.channel_id, [next(_IDS)])
        return turn

    async def fold(self, first: int, last: int, *found: NewMemory) -> None:
        revisions = await self.tale.revisions(first, last)
        stretch = Stretch(first, last)
        assert await self.store.commit_chapter(
            None, self.id, stretch, revisions, found, {}, by="fold", at=later(30), render=render
        )

    async def head_of(self, character_id: int) -> str:
        return (await self.store.snapshot(self.id, character_id)).memory_text

    async def tail_before(self, turn: Turn, text: str) -> Tail:
        session = await self.store.session(self.id)
        assert session is not None
        return Tail(turn.id, text, 5, session.epoch)


async def members(company: Company) -> tuple[Member, ...]:
    session = await company.store.session(company.id)
    assert session is not None
    return session.cast


async def stranger(store: Store, name: str) -> int:
    return (await store.add_character(Scope(plain.PLACE.channel_id, 20), Card(name, "A cook."), "", START)).id


@pytest.fixture
async def company(tale: Tale) -> Company:
    session = await tale.store.session(tale.session_id)
    assert session is not None
    brom = await stranger(tale.store, "Brom")
    await tale.player("Before.")
    await tale.reply("Long before.")
    await tale.store.add_member(tale.session_id, brom, HEAD, later())
    return Company(tale, tale.store, session.character.id, brom)


def fact(text: str, *cites: str, kind: MemoryKind = MemoryKind.FACT, actual: str = "") -> NewMemory:
    found = tuple(citation for cite in cites if (citation := Citation.parse(cite)))
    return NewMemory(Content(kind, text, "Rin" if actual else "", actual=actual), found)


async def test_a_story_of_one_has_no_rows_of_its_cast(tale: Tale) -> None:
    await tale.exchanges(2)
    await tale.chapter(1, 2, plain.event("They met.", 1))
    session = await tale.store.session(tale.session_id)
    assert session is not None
    assert (session.others, len(session.cast), session.cast[0].since) == ((), 1, 0)
    assert (await tale.store.snapshot(tale.session_id)).viewer_id is None
    assert (await tale.store.memory(tale.session_id)).voices is None
    for table in (cast, heads, tails, addressed):
        assert await rows(tale.store, table) == []


async def test_who_joins_is_there_from_the_next_turn_on(company: Company) -> None:
    rin, brom = await members(company)
    assert (rin.character.id, rin.since, brom.character.card.name, brom.since) == (company.rin, 0, "Brom", 3)
    assert (await company.tale.player("Now.")).seq == 3, "joining takes no place in the story"
    snapshot = await company.store.snapshot(company.id, company.brom)
    assert (snapshot.memory_text, snapshot.character.card.name) == ("[] ", "Brom")
    assert [turn.seq for turn in snapshot.turns] == [3]
    assert [turn.seq for turn in (await company.store.snapshot(company.id)).turns] == [1, 2, 3]
    found = await company.store.running_session(company.tale.channel_id)
    assert found is not None
    assert found.others == (brom,)


async def test_nobody_joins_twice_nor_too_many_nor_who_is_unknown(company: Company) -> None:
    for character_id in (company.rin, company.brom):
        with pytest.raises(Refused) as refused:
            await company.store.add_member(company.id, character_id, HEAD, later())
        assert refused.value.code == "cast-there-already"
    third = await stranger(company.store, "Kai")
    with pytest.raises(Refused) as refused:
        await company.store.add_member(company.id, third, HEAD, later(), most=2)
    assert refused.value.code == "cast-full"
    with pytest.raises(LookupError):
        await company.store.add_member(999, third, HEAD, later())
    with pytest.raises(LookupError):
        await company.store.add_member(company.id, 999, HEAD, later())
    assert len(await rows(company.store, cast)) == 1


async def test_a_greeting_is_a_turn_of_who_joins_but_answers_nobody(company: Company) -> None:
    kai, asa = await stranger(company.store, "Kai"), await stranger(company.store, "Asa")
    greeting = ("Ahoy!", said("Ahoy!", "Kai"), 4)
    session, turn = await company.store.add_member(company.id, kai, HEAD, later(), greeting=greeting)
    assert turn is not None
    assert (turn.author.id, turn.author.name, turn.seq, session.others[-1].since) == (kai, "Kai", 3, 3)
    assert [found.id for _, found in await company.store.undelivered()] == [turn.id]
    await company.tale.player("Who is that?")
    _, kept_back = await company.store.add_member(company.id, asa, HEAD, later(), greeting=greeting)
    assert kept_back is None
    assert await company.store.begin_reply(company.id, later()) is not None, "the player still waits"


async def test_who_leaves_is_gone_but_what_they_said_stays(company: Company) -> None:
    turn = await company.reply(company.brom)
    session = await company.store.remove_member(company.id, company.brom, later(3))
    assert ([m.character.id for m in session.cast], session.author(turn).card.name) == ([company.rin], "Brom")
    assert await rows(company.store, heads) == []
    assert [found.seq for found in (await company.store.snapshot(company.id)).turns] == [1, 2, 3]
    with pytest.raises(LookupError):
        await company.store.snapshot(company.id, company.brom)
    assert (await company.reply(company.brom)).author.id == company.rin, "who left a moment ago is stood in for"
    with pytest.raises(NotFound):
        await company.store.remove_member(company.id, company.brom, later(3))
    with pytest.raises(Refused) as refused:
        await company.store.remove_member(company.id, company.rin, later(3))
    assert refused.value.code == "cast-lead"
    await company.store.add_member(company.id, company.brom, HEAD, later(4))
    assert [m.since for m in await members(company)] == [0, 5], "of what was before they know nothing"


async def test_each_has_the_memory_that_is_theirs(company: Company) -> None:
    await company.tale.player("Look.")  # 3
    await company.reply(company.rin, "The hold is empty.", thought="It is full.")  # 4
    await company.reply(company.brom, "I see.", thought="She lies.")  # 5
    await company.fold(
        1, 5,
        fact("They met.", "1"),
        fact("The hold is empty.", "4.1", "4.2", kind=MemoryKind.SECRET, actual="It is full of salt."),
        fact("Brom sees through her.", "5.2"),
        fact("Mio looked.", "3"),
    )  # fmt: skip
    assert await company.head_of(company.rin) == "[1] 1:They met. | 2:The hold is empty. | 4:Mio looked."
    assert await company.head_of(company.brom) == "[1] 2:The hold is empty. | 3:Brom sees through her. | 4:Mio looked."
    voices = (await company.store.memory(company.id)).voices
    assert voices is not None
    assert (dict(voices.authors), set(voices.thoughts)) == (
        {4: company.rin, 5: company.brom},
        {Citation(4, 2), Citation(5, 2)},
    )
    session = await company.store.session(company.id)
    assert session is not None
    assert session.memory_tokens == 30


async def test_what_some_lines_rest_on_decides_who_knows_them_as_the_whole_memory_does(company: Company) -> None:
    await company.tale.player("Look.")  # 3
    await company.reply(company.rin, "The hold is empty.", thought="It is full.")  # 4
    await company.reply(company.brom, "I see.", thought="She lies.")  # 5
    events = MemoryKind.EVENT
    await company.fold(
        1, 5,
        fact("They met.", "1", kind=events),
        fact("The hold is full.", "4.2", kind=events),
        fact("Brom sees through her.", "5.2", kind=events),
        fact("Mio looked.", "3", kind=events),
        fact("The hold is empty.", "4.1", "4.2", kind=MemoryKind.SECRET, actual="It is full of salt."),
    )  # fmt: skip
    await company.tale.synopsis(
        [], plain.condensed("So it is full.", 2, 3), plain.condensed("They met, Mio looked.", 1, 4)
    )
    await company.tale.synopsis([], plain.condensed("All of it.", 6, 7))
    whole = await company.store.memory(company.id)
    assert whole.voices is not None
    for viewer in whole.voices.viewers:
        known = {m.number: m.content for m in seen_by(whole, viewer).memories}
        for numbers in ([8], [7, 6], [5], [2, 4], [1, 3, 5, 8], []):
            some = seen_by(await company.store.with_sources(company.id, numbers), viewer)
            seen = {m.number: m.content for m in some.memories if m.number in numbers}
            assert seen == {n: content for n, content in known.items() if n in numbers}
    assert [m.number for m in (await company.store.with_sources(company.id, [7])).memories] == [1, 4, 7]


async def test_the_size_of_the_memory_is_that_of_the_largest(company: Company) -> None:
    await company.tale.player("Look.")
    sizes = Head("small", 7, ((company.brom, Head("large", 90)),))
    await company.store.render_again(company.id, lambda _: sizes)
    session = await company.store.session(company.id)
    assert session is not None
    assert session.memory_tokens == 90
    assert [await company.head_of(one) for one in (company.rin, company.brom)] == ["small", "large"]


async def test_each_has_the_tails_that_stood_in_their_own_prompts(company: Company) -> None:
    asked = await company.tale.player("Look.")
    rins = await company.reply(company.rin, tail=await company.tail_before(asked, "[to Rin]"))
    await company.reply(company.brom, tail=await company.tail_before(rins, "[to Brom]"))

    async def told(character_id: int) -> list[str]:
        return [turn.tail for turn in (await company.store.snapshot(company.id, character_id)).turns if turn.seq > 2]

    assert (await told(company.rin), await told(company.brom)) == (["[to Rin]", "", ""], ["", "[to Brom]", ""])
    stale = replace(await company.tail_before(asked, "[late]"), epoch=-1)
    await company.reply(company.brom, tail=stale)
    assert await told(company.brom) == ["", "[to Brom]", "", ""]
    await company.store.delete_turns(await company.store.messages_of(rins.id), later(5), render)
    assert await rows(company.store, tails) == []
    await company.reply(company.brom, tail=await company.tail_before(asked, "[again]"))
    await company.fold(1, 3, fact("They met.", "1"))
    assert await rows(company.store, tails) == []
    assert {row.tail for row in await rows(company.store, turns)} == {None}


async def test_what_one_of_them_forgets_of_a_person_leaves_the_tails(company: Company) -> None:
    asked = await company.tale.player("Look.")
    await company.reply(company.brom, tail=await company.tail_before(asked, "[Mio: cooks.]"))
    async with company.store._database.write() as connection:
        await drop_tails_of_character(connection, company.brom)
    assert await rows(company.store, tails) == []


async def test_a_reply_is_its_authors_and_so_are_the_exchanges(company: Company) -> None:
    await company.tale.player("Brom?", by=KAI, name="Kai")
    turn = await company.reply(company.brom)
    assert (turn.author.id, turn.author.name) == (company.brom, "Brom")
    statement = select(acquaintances.c.character_id, acquaintances.c.player_id, exchanges.c.reply).join(exchanges)
    assert set(await rows(company.store, statement)) == {(company.rin, MIO, 2), (company.brom, KAI, 3 + 1)}
    known: Any = await company.store.portraits(company.id, [KAI], since=START, character_id=company.brom)
    assert [one.acquaintance.character_name for one in known] == ["Brom"]
    assert await company.store.portraits(company.id, [KAI], since=START) == ()
    await company.reply(company.rin)
    assert len(await rows(company.store, exchanges)) == 2, "a reply to another character is no exchange with a person"


async def test_what_a_reply_showed_of_a_person_goes_with_their_turn(company: Company) -> None:
    asked = await company.tale.player("Brom?", by=KAI, name="Kai")
    await company.reply(company.brom)
    await company.store.delete_turns(await company.store.messages_of(asked.id), later(5), render)
    statement = select(exchanges.c.reply)
    assert [row.reply for row in await rows(company.store, statement)] == [2]


async def test_it_is_on_record_to_whose_words_a_player_replied(company: Company) -> None:
    message = company.tale.message("And you?")
    turn = await company.store.add_player_turn(
        company.id, message, said("And you?"), 5, never(), addressed=company.brom
    )
    await company.tale.player("Hm.")
    assert turn is not None
    assert (await company.store.scene(company.id))[1].addressed == {turn.id: company.brom}


async def test_a_character_in_a_cast_is_in_use_until_it_leaves(company: Company) -> None:
    assert await company.store.stories_of(company.brom) == 1
    assert not await company.store.remove_character(company.brom, later(), stop_stories=False)
    await company.store.remove_character(company.brom, later(), stop_stories=True)
    session = await company.store.session(company.id)
    assert session is not None
    assert (session.running, len(session.cast), len(session.others)) == (True, 1, 1)
    assert (await rows(company.store, heads), await company.store.stories_of(company.brom)) == ([], 0)


async def test_a_person_forgotten_is_in_nobodys_memory_and_a_lone_story_goes_whole(company: Company) -> None:
    await company.tale.player("I fear the sea.", by=KAI, name="Kai")
    asked = await company.tale.player("Me too.")
    await company.reply(company.brom, tail=await company.tail_before(asked, "[Kai fears the sea.]"))
    await company.fold(1, 4, fact("Kai fears the sea.", "3"), fact("Mio too.", "4"))
    await company.reply(company.brom, tail=await company.tail_before(asked, "[Kai fears the sea.]"))
    await company.store.forget_in_story(company.id, KAI, later(9), render)
    assert await company.head_of(company.brom) == "[1] 2:Mio too."
    assert await rows(company.store, tails) == []
    done = await company.store.forget_in_story(company.id, MIO, later(9), render)
    assert done is not None
    assert done.removed
    for table in (cast, heads, tails, addressed):
        assert await rows(company.store, table) == []


async def test_a_character_of_direct_messages_goes_from_every_cast(store: Store) -> None:
    lead = await store.add_character(Scope(None, MIO), Card("Vex", ""), "", START)
    other = await store.add_character(Scope(None, MIO), Card("Nix", ""), "", START)
    session, _ = await store.start_session(Place(None, 900), lead.id, "en", None, HEAD, START)
    await store.add_member(session.id, other.id, HEAD, START)
    await store.forget_person(MIO, later(), asked_at=START)
    assert await store.session(session.id) is None
    assert await rows(store, cast) == []


async def test_the_way_a_rewound_story_goes_is_known_to_each(company: Company) -> None:
    await company.tale.player("Look.")
    await company.reply(company.brom, thought="Hm.")
    await company.fold(1, 4, fact("Mio looked.", "3"))
    await company.store.rewind(company.id, 2, by=MIO, at=later(6), render=render)
    assert await company.head_of(company.brom) == "[] "
    assert [t.seq for t in (await company.store.snapshot(company.id, company.brom)).turns] == []
    (branch,) = await company.store.branches(company.id)
    await company.store.take_up(company.id, branch.id, by=MIO, at=later(7), render=render)
    assert await company.head_of(company.brom) == "[1] 1:Mio looked."


async def test_the_casts_of_stories_stay_apart(company: Company) -> None:
    other = await begin(company.store, channel_id=300, name="Vex")
    assert len((await company.store.scene(other.session_id))[1].cast) == 1
    found = {s.id: len(s.cast) for channel in (100, 300) for s in await company.store.sessions_in(channel)}
    assert found == {company.id: 2, other.session_id: 1}
    begun = await company.store.begin_reply(company.id, later(), unasked=True, choose=_choosing(company.brom))
    assert begun is not None
    ((session, turn),) = await company.store.unfinished()
    assert (session.author(turn).card.name, turn.state) == ("Brom", TurnState.WRITING)
