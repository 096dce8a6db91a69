"""Who is spoken to: names as words in three languages; and what marks talk out of character."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.memory.manners import Marks, in_character, is_named, names_of
from bot.memory.markup import parse_player
from bot.memory.turns import BeatKind


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Rin", "Rin, are you there?"),
        ("Rin", "hey rin"),
        ("Rin", "Is that Rin's boat?"),
        ("Rin", "RIN!!!"),
        ("Rin", "Ｒｉｎ、待って"),
        ("Rin", "Rinは元気？"),
        ("Rin", "*She looks at Rin.*"),
        ("Will", "Will, come here."),
        ("Mara the Bold", "Mara?"),
        ("Mara the Bold", "I ask Mara  the\nbold."),
        ("Dr. Mara Voss", "So, Voss..."),
        ("Zoë", "Zoë?"),
        ("Иван", "Привет, иван!"),
        ("凛", "凛、どこにいるの？"),
        ("凛", "ねえ凛ちゃん"),
        ("凛", "凛先輩は強い"),
        ("橘 凛", "橘さん、こんにちは。"),
        ("小春", "小春は来ますか"),
        ("リン", "リン、行こう"),
        ("リン", "リンちゃんは?"),
        ("リン", "リンーー！"),
        ("リン", "ﾘﾝは?"),
        ("リン・タチバナ", "タチバナさん"),
        ("りん", "りん、おはよう"),
        ("りん", "りんちゃん！"),
        ("りん", "ねえりん、聞いて"),
        ("りん", "今日はりんと出かける"),
        ("小雨", "你好小雨你在吗"),
        ("小雨", "小雨，过来。"),
        ("凛", "凛，你在吗？"),
        ("凛", "阿凛呢？"),
        ("凛", "凛姑娘，请留步"),
        ("린", "린아, 어디야?"),
    ],
)
def test_a_name_is_a_word(name: str, text: str) -> None:
    assert is_named(text, names_of(name))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Rin", "The ring is in the spring."),
        ("Rin", "Rinse it."),
        ("Rin", "Ri n"),
        ("Will", "I will go."),
        ("Mara the Bold", "Who is the bold one? The captain."),
        ("the old ferryman", "the old man and a ferry"),
        ("Zoë", "Zo is here"),
        ("凛", "凛々しい人だ"),
        ("林", "森林の中、林檎を食べる"),
        ("小春", "小春日和だね"),
        ("リン", "プリンを食べる"),
        ("リン", "リンクを送る"),
        ("リン", "マリンさん"),
        ("りん", "りんごを食べる"),
        ("りん", "ふりんじゃない"),
        ("凛", "凛冽的风"),
        ("林", "他走进森林里"),
    ],
)
def test_what_only_contains_a_name_is_another_word(name: str, text: str) -> None:
    assert not is_named(text, names_of(name))


def test_a_nickname_and_the_parts_of_a_name_call_too() -> None:
    assert names_of("Captain Mara of the Reef", "Cap") == ("Captain Mara of the Reef", "Captain", "Mara", "Cap")
    assert names_of("橘・凛") == ("橘・凛", "橘", "凛")
    assert names_of("the ferryman") == ("the ferryman",)
    assert is_named("aye, cap", names_of("Captain Mara", "Cap"))


@given(st.text(max_size=20), st.text(max_size=60))
def test_any_name_is_found_where_it_stands_alone(name: str, text: str) -> None:
    names = names_of(name)
    is_named(text, names)
    assert not name.strip() or is_named(name, names)


def test_what_is_out_of_character_speaks_to_nobody() -> None:
    beats = parse_player("((Rin is fun to play with)) *waves* Hello!", "Mio")
    assert not is_named(in_character(beats), names_of("Rin"))


@pytest.mark.parametrize(
    ("marks", "out"),
    [
        (Marks.BOTH, {"((brb))", "（（離席）） ", "[OOC: brb]", "// brb"}),
        (Marks.BRACKETS, {"((brb))", "（（離席）） ", "[OOC: brb]"}),
        (Marks.SLASHES, {"// brb"}),
        (Marks.NONE, set()),
    ],
)
def test_the_marks_of_talk_out_of_character_are_a_setting(marks: Marks, out: set[str]) -> None:
    texts = ("((brb))", "（（離席）） ", "[OOC: brb]", "// brb")
    found = {text for text in texts if {beat.kind for beat in parse_player(text, "Mio", marks=marks)} == {BeatKind.OOC}}
    assert found == out
    assert all(parse_player(text, "Mio", marks=marks) for text in texts)


@pytest.mark.parametrize("marks", Marks)
def test_story_stays_story_under_all_marks(marks: Marks) -> None:
    text = "*She waves (once).* “Hello // there.” See https://example.org"
    assert parse_player(text, "Mio", marks=marks) == parse_player(text, "Mio")
