"""What of a story gives a person away: names as words and repeated words, in three languages."""

from __future__ import annotations

import pytest

from bot.memory.corrections import Correction, CorrectionError, CorrectionKind, corrected
from bot.memory.forgetting import Traces, after_forgetting, of_person, tellings_without, without
from bot.memory.markup import parse_reply, written
from bot.memory.memories import Chapter, Content, Memory, MemoryKind, MemoryStatus, SessionMemory, Version
from bot.memory.turns import Beat, BeatKind, Citation, Telling
from tests.store.tale import START

MIO = 1001
LIGHTHOUSE = "毎朝五時に起きて灯台の階段を三百段のぼってから朝ご飯を食べます"


@pytest.mark.parametrize(
    ("label", "text", "names"),
    [
        ("Mio", "Mio waves.", True),
        ("Mio", "mio's boat", True),
        ("Mio", "「Ｍｉｏ、おいで」", True),
        ("Mio", "Mioさんが来た", True),
        ("Mio", "Miora waves.", False),
        ("Mio", "the Romioli family", False),
        ("Mio", "Mio (2) waves.", False),
        ("Mio (2)", "Mio (2) waves.", True),
        ("Mio (2)", "Mio waves.", False),
        ("澪", "澪は歩いた。", True),
        ("美咲", "そこへ美咲さんが来た。", True),
        ("小雨", "小雨走过桥。", True),
        ("み", "みんなで海を見た。", False),
        ("み", "みさん、こちらへ。", True),
        ("Al", "all is well, al dente", False),
        ("Al", "Al is well.", True),
        ("?", "Who is there?", False),
        ("🦊", "The 🦊 laughs.", True),
        ("Ann  Lee", "Ann Lee nods.", True),
    ],
)
def test_a_name_is_found_as_a_word(label: str, text: str, names: bool) -> None:
    assert Traces([label], [], others=["Mio", "Mio (2)", "Kai"]).show_in(text) is names


@pytest.mark.parametrize(
    ("label", "text", "names"),
    [
        ("Mio Tanaka", "A nurse in Leeds, Mio?", True),
        ("Mio Tanaka", "Ms Tanaka smiles.", True),
        ("Mio Sato", "Mio and Sato", True),
        ("Tanaka Sato", "Sato laughs.", False),
        ("Mio ✨", "Mio laughs.", True),
        ("Mio (she/her)", "Mio laughs.", True),
        ("Mio (she/her)", "It is up to her.", False),
        ("mio_night", "Mio laughs.", True),
        ("mio_night", "The night falls.", False),
        ("Mio99", "Mio laughs.", True),
        ("Mio of the Sea", "The door opens. Of course.", False),
        ("Dr. J. Mio", "Dr. J is a bore.", False),
        ("田中美咲", "美咲さんは看護師だ。", True),
        ("田中美咲", "田中はどこだ。", True),
        ("田中 みさき", "みさきは看護師だ。", True),
        ("美咲さん", "ここにさんかくがある。", False),
        ("王小雨", "小雨走过桥。", True),
        ("김민지", "민지가 웃었다.", True),
        ("ミオ・タナカ", "ミオが笑う。", True),
        ("Rin Tanaka", "Rin lights the lamp.", False),
        ("Rin Tanaka", "Tanaka lights the lamp.", True),
        ("Rin", "Rin lights the lamp.", True),
    ],
)
def test_a_person_is_found_by_the_parts_of_their_name_that_nobody_else_has(label: str, text: str, names: bool) -> None:
    assert Traces([label], [], others=["Rin", "Kai (Rin)", "佐藤", "Ren Sato"]).name_in(text) is names


def test_a_name_from_elsewhere_counts_where_nobody_else_has_it() -> None:
    text = "Mio is a nurse, yes."

    assert Traces([], [], ["Kai"], called=["Mio"]).name_in(text)
    assert Traces([], [], ["Kai"], called=["Mio Tanaka"]).name_in(text)
    assert not Traces([], [], ["Mio Sato"], called=["Mio"]).name_in(text)
    assert not Traces([], [], ["Kai"], called=[""]).name_in(text)


@pytest.mark.parametrize(
    ("written_", "text", "repeats"),
    [
        ("I keep seven silver coins in a shoe.", "She said: “keep seven SILVER coins”!", True),
        ("I keep seven silver coins in a shoe.", "seven silver coins", False),
        ("I keep seven silver coins in a shoe.", "I keep seven copper coins in a boot.", False),
        ("I keep   seven silver\ncoins in a shoe.", "keep seven silver coins in", True),
        (LIGHTHOUSE, "「五時に起きて灯台の階段を三百段のぼってから」だって？", True),
        (LIGHTHOUSE, "五時に灯台の階段をのぼって、ご飯を食べて", False),
        ("我每天早上五点起床然后沿着河边跑十公里再去学校", "“早上五点起床然后沿着河边跑十公里再去学校”？", True),
        ("俺の電話番号は090-1234-5678だよ", "「090-1234-5678だな」", True),
        ("Call 09012345678!", "“Was it 090 1234 5678?”", True),
        ("Room 12345.", "“Room number 12345?”", False),
        ("私は看護師で夜勤が多いです", "「看護師で夜勤が多いなら、眠いだろう」", True),
        ("我在市立医院当护士", "“你在市立医院当护士，对吧”", True),
        ("今日は早起きしました。ありがとうございました。", "「ありがとうございました！」", False),
        ("妹はさくら", "「妹はさくら、か」", False),
        ("妹の名はさくら！", "「妹の名はさくら、か」", True),
        ("I'm gay.", "“I'm gay”, she says.", True),
        ("I'm gay.", "I'm gayer.", False),
        ("*smiles*", "She smiles.", False),
        ("aaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaa", False),
        ("", "Anything at all that is long enough to be looked at.", False),
    ],
)  # fmt: skip
def test_a_stretch_a_number_or_a_whole_message_to_the_letter_is_a_repetition(
    written_: str, text: str, repeats: bool
) -> None:
    assert Traces([], [written_]).show_in(text) is repeats


@pytest.mark.parametrize("start", range(0, 40, 7))
def test_a_repetition_is_found_wherever_it_begins(start: int) -> None:
    text = "The quick brown fox jumps over the lazy dog near the river."
    traces = Traces([], [text])

    assert traces.show_in(f"xx{text[start : start + 20]}yy")
    assert not traces.show_in(f"xx{text[start : start + 19]}yy")


def test_a_stock_phrase_in_many_texts_is_no_repetition() -> None:
    texts = [f"ありがとうございます、{number}番目の船長さん、また明日。" for number in range(3_000)]
    traces = Traces([], texts)

    assert not traces.show_in("ありがとうございます。" * 300)
    assert traces.show_in("ええと、ありがとうございます、77番目の船長さん、また、ね。")


def test_a_reply_keeps_the_beats_that_give_nobody_away() -> None:
    beats = (
        Beat(BeatKind.NARRATION, "Rin waits.", "Rin"),
        Beat(BeatKind.SPEECH, "Mio!", "Rin"),
        Beat(BeatKind.THOUGHT, "Late again.", "Rin"),
        Beat(BeatKind.SPEECH, "Coming.", "Mio"),
        Beat(BeatKind.SPEECH, "Good.", "Ana"),
        Beat(BeatKind.OOC, "brb", "Rin"),
    )

    cut = without(beats, Traces(["Mio"], []))

    assert cut is not None
    assert cut.places == {1: 1, 3: 2, 5: 3, 6: 4}
    raw = written(cut.beats, "Rin")
    assert raw == "*Rin waits.*\n`Late again.`\n**Ana** “Good.”\n((brb))"
    assert [beat.kind for beat in parse_reply(raw, "Rin")][:2] == [BeatKind.NARRATION, BeatKind.THOUGHT]
    assert without(cut.beats, Traces(["Mio"], [])) is None


def line(number: int, text: str, **rest: object) -> Memory:
    return Memory(number, Content(MemoryKind.EVENT, text), chapter=1, **rest)  # type: ignore[arg-type]


def test_memories_go_in_every_generation_and_what_else_they_stood_for_comes_back() -> None:
    memory = SessionMemory(
        (Chapter(1, 1, 9, absorbed=True),),
        (
            line(1, "A gull lands.", cites=(Citation(2, 1),), status=MemoryStatus.CONDENSED),
            line(2, "Coins.", cites=(Citation(1, 1),), status=MemoryStatus.CONDENSED),
            line(3, "Gulls and coins.", condenses=(1, 2), status=MemoryStatus.CONDENSED),
            line(4, "All of it.", condenses=(3,)),
            line(5, "A door opens.", cites=(Citation(4, 1),)),
            line(6, "Who knocked?", cites=(Citation(2, 1),), status=MemoryStatus.RESOLVED, resolved_by=1),
            line(7, "Fine.", cites=(Citation(2, 1),), corrected=True),
        ),
    )
    told = Version(1, Content(MemoryKind.EVENT, "Mio broke the mast."), MemoryStatus.ACTIVE, "fold", "", START)
    traces = Traces(["Mio"], [])

    numbers = of_person(memory, {7: (told,)}, MIO, {1}, [Citation(4, 2)], traces)
    changed = {m.number: m for m in after_forgetting(memory, numbers, frozenset({1}), frozenset({4}))}

    assert numbers == {2, 3, 4, 7}
    assert {n: changed[n].status for n in numbers} == dict.fromkeys(numbers, MemoryStatus.FORGOTTEN)
    assert all(changed[n].content == Content(MemoryKind.EVENT, "") and not changed[n].corrected for n in numbers)
    assert changed[1].status is MemoryStatus.ACTIVE
    assert changed[5].status is MemoryStatus.STALE, "the reply that it rests on was cut elsewhere"
    assert (changed[6].status, changed[6].resolved_by) == (MemoryStatus.ACTIVE, None)
    assert {m.version for m in changed.values()} == {2}


def test_what_is_forgotten_already_is_not_changed_again() -> None:
    memory = SessionMemory((), (line(1, "Coins.", cites=(Citation(1, 1),)),))
    (gone,) = after_forgetting(memory, {1}, frozenset({1}), frozenset())

    assert after_forgetting(memory.with_memory(gone), {1}, frozenset({1}), frozenset()) == ()


@pytest.mark.parametrize("kind", CorrectionKind)
def test_no_correction_brings_back_what_was_forgotten(kind: CorrectionKind) -> None:
    memory = line(1, "Coins.", cites=(Citation(1, 1),))
    (gone,) = after_forgetting(SessionMemory((), (memory,)), {1}, frozenset({1}), frozenset())
    history = [Version(1, Content(MemoryKind.EVENT, ""), MemoryStatus.ACTIVE, "fold", "", START)]
    history += [
        Version(2, gone.content, gone.status, "9", "", START),
        Version(3, gone.content, gone.status, "9", "", START),
    ]

    with pytest.raises(CorrectionError) as refusal:
        corrected(gone, Correction(kind, 9, "It was so.", text="Coins."), speaker="Mio", history=history)

    assert refusal.value.code == "correction-forgotten"


def telling(*texts: str, tokens: int = 10) -> Telling:
    beats = tuple(Beat(BeatKind.SPEECH, text, "Rin") for text in texts)
    return Telling(written(beats, "Rin"), beats, tokens, "stop", 500, 400, tokens, "small")


@pytest.mark.parametrize(
    ("told", "number", "left"),
    [
        ([["Hello."], ["Aye."]], 1, None),
        ([["Hello, Mio."], ["Aye."]], 2, (1, [["Aye."]])),
        ([["Hello."], ["Mio!"], ["Aye."]], 3, (2, [["Hello."], ["Aye."]])),
        ([["Hello."], ["Mio!"]], 2, (None, [["Hello."]])),
        ([["Hello.", "Mio!"], ["Aye."]], 1, (1, [["Hello."], ["Aye."]])),
        ([["Mio!"], ["Mio?"]], 1, (None, [])),
    ],
)
def test_tellings_lose_what_gives_the_person_away_and_are_numbered_anew(
    told: list[list[str]], number: int, left: tuple[int | None, list[list[str]]] | None
) -> None:
    found = tellings_without([telling(*texts) for texts in told], number, Traces(["Mio"], []), "Rin")

    texts = None if found is None else (found[0], [[beat.text for beat in one.beats] for one in found[1]])
    assert texts == left


def test_a_telling_that_was_cut_is_written_anew_and_keeps_what_it_cost() -> None:
    found = tellings_without([telling("Hello.", "Mio!", tokens=16)], 1, Traces(["Mio"], []), "Rin")

    assert found is not None
    ((cut,),) = found[1:]
    assert (cut.raw, cut.tokens) == ("“Hello.”", 8)
    assert (cut.finish_reason, cut.prompt_tokens, cut.completion_tokens, cut.model) == ("stop", 500, 16, "small")
