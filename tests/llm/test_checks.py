from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.llm.checks import Rejection, check_output, extract_json, is_refusal, is_repetition

SOURCE = {
    "en": "Rin: You came after all.\nMio: I promised. The bridge was cold, and the lanterns were out. " * 60,
    "ja": "凛「遅い。橋の上は寒かったんだからね」\nミオ「ごめん、電車が止まってて」 *凛はそっぽを向いた。*\n" * 60,
    "zh": "林：你终于来了。桥上很冷，灯笼也都灭了。\n小雨：对不起，电车停了，我等了很久。\n" * 60,
}
LINES = {
    "en": [
        "Mio kept the promise and came to the bridge.",
        "Rin claims to Mio that she was not cold.",
        "Trains stood still.",
    ],
    "ja": ["ミオは約束どおり橋に来た。", "凛は寒くなかったとミオに言った。", "電車が止まっていた。"],
    "zh": ["小雨遵守约定来到了桥上。", "林对小雨说她不冷。", "电车停了很久，她们都在等。"],
}
# A list on one pattern, as a long chapter may well be.
PLACES = """harbour mill chapel orchard well tower market stable cellar archive garden bridge ferry quarry forge bakery
library attic courtyard lighthouse kitchen armoury theatre graveyard vineyard observatory infirmary barn gatehouse
crypt""".split()
PATTERN = [f"Rin and Mio searched the {place} for the lost seal and found nothing." for place in PLACES]


def as_json(lines: list[str]) -> str:
    memories = [{"kind": "event", "text": line, "who": ["Rin"], "cites": ["1.1"]} for line in lines]
    return json.dumps({"memories": memories}, ensure_ascii=False)


def check(
    text: str, lines: list[str], language: str = "en", finish_reason: str | None = "stop", source: str | None = None
) -> Rejection | None:
    source = SOURCE[language] if source is None else source
    return check_output(text, finish_reason, source_characters=len(source), source_text=source, lines=lines)


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_good_memories_pass(language: str) -> None:
    assert check(as_json(LINES[language]), LINES[language], language) is None


def test_thirty_memories_on_one_pattern_pass() -> None:
    assert len(PATTERN) == 30
    assert check(as_json(PATTERN), PATTERN) is None


def test_many_short_memories_in_much_json_pass() -> None:
    lines = [f"Rin counted {number} lanterns." for number in range(3, 60)]
    assert check(as_json(lines), lines) is None


@pytest.mark.parametrize(
    ("finish_reason", "rejection"),
    [
        ("length", Rejection.CUT),
        (None, Rejection.CUT),
        ("content_filter", Rejection.FILTERED),
        ("stop", None),
        ("tool_calls", None),
    ],
)
def test_how_the_answer_ended_comes_first(finish_reason: str | None, rejection: Rejection | None) -> None:
    assert check(as_json(LINES["en"]), LINES["en"], finish_reason=finish_reason) is rejection


@pytest.mark.parametrize("text", ["", " \n\t", "{}", '{"memories": []}', '```json\n{"memories": []}\n```'])
def test_nothing_is_no_memory(text: str) -> None:
    assert check(text, []) is Rejection.EMPTY


# --- refusals -----------------------------------------------------------------------------------------------------

REFUSALS = [
    "I'm sorry, but I can't assist with that.",
    "I’m sorry, but I can’t help with this request.",
    "I cannot create a summary of this conversation, as it contains explicit content.",
    "Sorry, I am unable to provide a record of this story.",
    "As an AI language model, I don't feel comfortable writing this.",
    "This story goes against the content policy, so no record was made.",
    "**I must decline** to record this scene. I'm not able to continue with content of this kind.",
    "申し訳ありませんが、その記録を作成することはできません。",
    "申し訳ございません。この内容の要約には対応できません。別の話題でしたらお手伝いします。",
    "その記録は作成できません。",
    "この内容についてはお手伝いすることができません。",
    "ガイドラインに違反するため、記録を残せません。",
    "抱歉，我无法协助完成这个请求。",
    "很抱歉，我不能为您总结这段内容。",
    "作为一个AI语言模型，我无法生成这样的内容。",
    "对不起，该内容违反了内容政策，不能继续。",
    "抱歉，無法提供您要求的內容。",
]


@pytest.mark.parametrize("text", REFUSALS)
def test_a_refusal_is_no_memory(text: str) -> None:
    assert check(text, []) is Rejection.REFUSED
    assert check(as_json([text]), [text]) is Rejection.REFUSED
    assert check(as_json([text]), []) is Rejection.REFUSED


@pytest.mark.parametrize(
    "line",
    [
        "Rin says she is sorry, but she cannot help Mio with the seal.",
        "Mio apologised to Rin for what she could not do.",
        "凛は、申し訳ないが記録は見せられないとミオに断った。",
        "ミオは凛に、手伝いはできないと言った。",
        "駅長は「その記録は作成できません」とミオに答えた。",
        "林说她很抱歉，无法帮助小雨。",
        "Unit 7, an AI, told Mio that it cannot lie.",
        "Aria, as an assistant of the court, recorded every word.",
    ],
)
def test_a_character_who_declines_is_no_refusal(line: str) -> None:
    assert not is_refusal(as_json([line]), [line])


def test_one_declining_quote_among_memories_is_no_refusal() -> None:
    lines = ["Rin kept the seal.", "I'm sorry, I can't help you, Mio.", "Mio left the shrine."]
    assert not is_refusal(as_json(lines), lines)


def test_a_long_text_with_an_apology_is_no_refusal() -> None:
    assert not is_refusal("I'm sorry, but I can't assist with that. " + "Rin walked on through the rain. " * 20)


# --- repetition ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "Rin waited.\n" * 5000,
        "and then she turned around and " * 40,
        "凛は橋で待っていた。" * 60,
        "她又走了回来，" * 60,
        " ".join(PATTERN) + " she waited and waited" * 60,
        "ha" * 300,
    ],
)
def test_a_loop_is_no_memory(text: str) -> None:
    assert check(text, []) is Rejection.REPETITION
    assert check(as_json([text]), [text], source=SOURCE["en"] * 20) is Rejection.REPETITION


@pytest.mark.parametrize("count", [3, 30, 5000])
def test_the_same_memory_again_and_again_is_a_loop(count: int) -> None:
    lines = ["Rin waited at the bridge."] * count
    assert check(as_json(lines), lines, source=SOURCE["en"] * 30) is Rejection.REPETITION


def test_memories_that_differ_in_case_and_width_only_are_the_same() -> None:
    assert is_repetition("", ["Rin waited.", "RIN waited.", "Ｒｉｎ  waited."])


def test_a_memory_told_twice_is_no_loop() -> None:
    lines = [*LINES["en"], LINES["en"][0]]
    assert not is_repetition(as_json(lines), lines)


def test_short_laughter_is_no_loop() -> None:
    assert not is_repetition("あははははははははははははははは!" * 3)


# --- no JSON ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "Rin turned away. “You are late,” she said.",
        "*She smiles.* Come in.",
        "凛「遅い」\nミオ「ごめん」",
        "Rin: You came after all.",
        "<thought>He must not know.</thought>",
        "The lanterns went out one after another while the two of them crossed the old bridge without a single word.",
    ],
)
def test_a_story_that_goes_on_is_no_memory(text: str) -> None:
    assert check(text, []) is Rejection.CONTINUED_STORY


@pytest.mark.parametrize(
    "text",
    ['{"memories": [{"text": "Rin', '{"memories": [{"text": "Rin"} {"text": "Mio"}]}', "none", "[1.1], [2]"],
)
def test_what_cannot_be_parsed_is_named_so(text: str) -> None:
    assert check(text, []) is Rejection.NOT_JSON


# --- length and language ------------------------------------------------------------------------------------------


def test_memories_longer_than_their_source_are_refused() -> None:
    source = "Rin: You came after all, Mio. I had given up."
    lines = ["Rin said that Mio came after all.", "Rin had given up on Mio before."]
    assert check(as_json(lines), lines, source=source) is Rejection.TOO_LONG
    assert check(as_json(lines[:1]), lines[:1], source=source) is None


@pytest.mark.parametrize(
    ("source", "lines"),
    [("ja", "en"), ("ja", "zh"), ("zh", "en"), ("zh", "ja"), ("en", "ja"), ("en", "zh")],
)
def test_memories_in_another_language_are_refused(source: str, lines: str) -> None:
    assert check(as_json(LINES[lines]), LINES[lines], source) is Rejection.WRONG_LANGUAGE


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("en", ["神代凛 (Rin) gave 月読の鈴 to Mio."]),
        ("ja", ["RinはMioにTsukuyomi Bellを渡した。", "MioはRinに礼を言った。"]),
        ("zh", ["さくら把ツクヨミ的铃铛交给了小雨，她收下了。"]),
        ("ja", ["凛、橋上、美緒再会、約束履行、電車停止、灯籠消灯、帰路同行。"]),  # terse, without any kana
        ("ja", ["OK Computer"]),
    ],
)
def test_names_and_short_texts_of_another_script_pass(source: str, lines: list[str]) -> None:
    assert check(as_json(lines), lines, source) is None


def test_a_story_in_two_languages_may_be_remembered_in_either() -> None:
    source = SOURCE["ja"] + SOURCE["en"]
    assert check(as_json(LINES["ja"]), LINES["ja"], source=source) is None
    assert check(as_json(LINES["en"]), LINES["en"], source=source) is None
    assert check(as_json(LINES["zh"]), LINES["zh"], source=source) is Rejection.WRONG_LANGUAGE


# --- JSON out of its wrapping -------------------------------------------------------------------------------------

VALUE = {"memories": [{"text": "Rin {said} [so]", "cites": ["1.1"]}]}
PLAIN = json.dumps(VALUE)


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        f"\ufeff{PLAIN}\n",
        f"Certainly!\n\n{PLAIN}",
        f"Here are the memories of [312.2] and {{Rin}}:\n```json\n{PLAIN}\n```\nAnything else?",
        f"```\n{json.dumps(VALUE, indent=2)}\n```",
        f'<think>Maybe {{"memories": []}}?</think>\n{PLAIN}',
        f'[[Rin]] ["so" she said] [] {PLAIN}',
        "承知しました。以下が記録です。\n" + PLAIN,
    ],
)
def test_json_is_found_whole(text: str) -> None:
    assert extract_json(text) == VALUE


def test_a_list_is_taken_when_there_is_no_object() -> None:
    assert extract_json('Sure: [{"text": "a"}, {"text": "b"}]') == [{"text": "a"}, {"text": "b"}]


def test_a_line_break_within_a_string_is_forgiven() -> None:
    assert extract_json('{"text": "one\ntwo"}') == {"text": "one\ntwo"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "none",
        "[312.2 speech Rin]",
        "{Rin}",
        PLAIN[:-1],
        PLAIN[:-8],
        '{"a": [{"b": 1} {"c": 2}]}',
        '[{"a": 1}, {"b"',
    ],
)
def test_no_piece_of_broken_json_is_taken(text: str) -> None:
    assert extract_json(text) is None


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, '{"' * 50_000, "[]" * 50_000, "[[" * 20_000 + "]"])
def test_hostile_brackets_end_soon(text: str) -> None:
    began = time.process_time()
    assert not isinstance(extract_json(text), dict)
    assert time.process_time() - began < 5.0


@given(st.text(max_size=300), st.sampled_from(["stop", "length", None]))
def test_no_output_can_break_the_checks(text: str, finish_reason: str | None) -> None:
    assert check(text, [], finish_reason=finish_reason) is not None
    value = extract_json(text)
    assert value is None or isinstance(value, (dict, list))


@given(st.lists(st.text(max_size=40), max_size=8), st.text(max_size=200))
def test_no_memory_can_break_the_checks(lines: list[str], source: str) -> None:
    rejection = check(as_json(lines), lines, source=source)
    if rejection is None:
        assert any(line.strip() for line in lines)
        assert sum(map(len, lines)) <= len(source)
