"""Which traits say the same: pairs in three languages, those that share words and mean another thing among them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.memory.likeness import alike, subject

SAME = [
    ("bakes bread on Sundays", "bakes her own bread on Sundays"),
    ("goes running every morning", "runs every morning"),
    ("is studying for the bar exam", "studies for the bar exam"),
    ("has two cats", "has two cats, Pip and Moss"),
    ("likes cats", "likes cats very much"),
    ("can't swim", "cannot swim"),
    ("LOVES  black coffee!", "loves black coffee"),
    ("is afraid of thunder", "afraid of thunder"),
    ("毎朝パンを焼く", "毎朝パンを焼いている"),
    ("ジョギングを続けている", "毎日ジョギングをしている"),
    ("司法試験の勉強をしている", "司法試験に向けて勉強している"),
    ("紅茶が好きだ", "紅茶が大好きである"),
    ("うどんが好き", "うどんが大好き"),
    ("雷が苦手", "雷が苦手である"),
    ("ｺｰﾋｰが好き", "コーヒーが好きだ"),
    ("每天早上烤面包", "每天早上自己烤面包"),
    ("最近在准备司法考试", "一直在准备司法考试"),
    ("养了一只橘猫", "养了一只橘猫，叫阿花"),
    ("喜欢猫", "很喜欢猫"),
    ("怕打雷", "很怕打雷"),
]
OTHER = [
    ("likes cats", "likes dogs"),
    ("likes cats", "dislikes cats"),
    ("bakes bread on Sundays", "bakes cakes on Saturdays"),
    ("runs every morning", "swims every morning"),
    ("is studying for the bar exam", "is studying for the driving test"),
    ("smokes a pipe", "stopped smoking a pipe"),
    ("eats meat", "doesn’t eat meat"),
    ("lives in Lyon with her brother", "lives in Oslo with her mother"),
    ("has seen Venice twice", "has a bakery with two branches in the west"),
    ("猫が好きだ", "犬が好きだ"),
    ("紅茶が好き", "紅茶が嫌い"),
    ("うどんが好きだ", "そばが好きだ"),
    ("毎朝パンを焼いている", "毎朝泳いでいる"),
    ("司法試験の勉強をしている", "運転免許の勉強をしている"),
    ("タバコを吸っている", "タバコをやめた"),
    ("肉を食べる", "肉を食べない"),
    ("姉がいる", "弟がいる"),
    ("喜欢猫", "喜欢狗"),
    ("喜欢猫", "不喜欢猫"),
    ("每天早上烤面包", "每天早上去游泳"),
    ("最近在准备司法考试", "最近在准备搬家"),
    ("每天抽烟", "戒烟了"),
    ("有一个姐姐", "有一个弟弟"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_in_much_the_same_words_is_alike(one: str, other: str) -> None:
    assert alike(one, other)
    assert alike(other, one)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_another_thing_or_its_opposite_is_not_alike(one: str, other: str) -> None:
    assert not alike(one, other)
    assert not alike(other, one)


def test_the_same_habit_in_other_words_is_left_to_the_judge() -> None:
    assert not alike("writes an app in Swift", "develops a program for telephones")
    assert not alike("夜更かしをする", "毎晩遅くまで起きている")


@pytest.mark.parametrize(("one", "other"), [("猫", "猫！"), ("ab", "AB")])
def test_equal_letters_are_alike_however_few(one: str, other: str) -> None:
    assert alike(one, other)


@pytest.mark.parametrize(("one", "other"), [("", ""), ("♪", "♪"), ("", "likes cats"), ("猫", "猫が好き"), ("!", "猫")])
def test_a_text_without_a_pair_of_letters_is_like_no_other(one: str, other: str) -> None:
    assert not alike(one, other)


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("She really likes running and runs daily", {"run", "dail"}),
        ("コーヒーが好き", {"コー", "ーヒ", "ヒー"}),
        ("毎日散歩に行く", {"散歩"}),
        ("我每天都喜欢喝茶", {"喝茶"}),
        ("It is what they do", set()),
    ],
)
def test_what_a_text_is_about(text: str, about: set[str]) -> None:
    assert subject(text) == about


@given(st.text(max_size=120), st.text(max_size=120))
def test_likeness_asks_for_no_order_and_holds_for_each_text_itself(one: str, other: str) -> None:
    assert alike(f"{one}x", f"{one}x")
    assert alike(one, other) == alike(other, one)
