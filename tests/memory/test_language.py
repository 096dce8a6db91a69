from __future__ import annotations

import time

import pytest

from bot.memory.language import Language, detect_language, has_chinese_grammar, language_shares, letter_count

JAPANESE = [
    "凛は橋で美緒と再会した。",
    "「遅い」とRinは言った。",
    "うん",
    "ミオ!",
    "ＯＫ、行こう。",
    "LINEで「OK」と返信してから、Bluetoothのスピーカーを切った。",
    "東京駅で待つ。",
    "ｶﾌｪで会う約束",
    "*目をそらして* ……べつに。",
    "Mio: 今日は「張偉」さんに会ったよ。他们って中国語で「彼ら」だって。",
]
CHINESE = [
    "嗯……！！",
    "好的，明天见。",
    "OK，好的",
    "Hi，我是Tom，你呢？",
    "她在橋上等了一整夜。",
    "さくら去了学校，她说ミオ不会来了。",
    "林小雨和ユキ一起去了神社，她们许了愿。",
    "柳三更拍了一下醒木，说道：“客官里边请！”",
    "今晚月色真美",
    "Rin把iPhone放在桌子上，没有说话。",
    "店名叫「の屋」，老板是北京人。",
]
ENGLISH = [
    "Rin smiles.",
    "",
    "…!? 123 :)",
    "The shrine maiden 神代凛 of 月読神社 bowed to Mio.",
    "She said 好き to him yesterday, and he didn't answer.",
    "¿Dónde está la biblioteca?",
    "Где ты был вчера вечером?",
    "I'm fine, y'know",
]


@pytest.mark.parametrize(
    ("text", "language"),
    [(text, "ja") for text in JAPANESE] + [(text, "zh") for text in CHINESE] + [(text, "en") for text in ENGLISH],
)
def test_languages_are_told_apart(text: str, language: Language) -> None:
    assert detect_language(text) == language


@pytest.mark.parametrize(("text", "language"), [("「……」", "ja"), ("……，……", "zh"), ("…", "en")])
def test_punctuation_decides_where_no_letters_are(text: str, language: Language) -> None:
    assert detect_language(text) == language


def test_a_long_text_is_judged_in_no_time() -> None:
    text = "Rin waited at the bridge. " * 40_000
    began = time.process_time()
    assert detect_language(text + "橋で待つ。") == "en"
    assert time.process_time() - began < 1.0


def test_a_long_text_is_not_judged_by_its_start_alone() -> None:
    assert detect_language("Chapter one. " * 10 + "凛は橋で待っていた。" * 2000) == "ja"


def test_each_line_of_a_text_counts_for_itself() -> None:
    shares = language_shares("凛は橋で待つ。\n\nRin waits.\n...\n她走了。")
    assert shares == {"ja": 6 / 17, "en": 8 / 17, "zh": 3 / 17}
    assert language_shares("...\n") == {}


def test_letters_of_every_script_count() -> None:
    assert letter_count("Rin、橋で 3 回!") == 6


@pytest.mark.parametrize(("text", "expected"), [("她走了", True), ("東京駅前再会", False), ("目的地", False)])
def test_han_alone_is_no_chinese(text: str, expected: bool) -> None:
    assert has_chinese_grammar(text) == expected
