"""Which of the languages of the catalogues a text is written in, by its script and its smallest words.

Names, brand words and quotes of another script are common in every story, so a text is not judged by the scripts that
occur in it, but by which one carries its grammar.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

Language = Literal["ja", "zh", "en"]

_LONGEST = 6000
_LATIN_WORD = re.compile(r"[A-Za-zÀ-ɏ]+(?:['’\-][A-Za-zÀ-ɏ]+)*")
_OTHER_WORD = re.compile(r"[\u0370-\u06ff\u0900-\u0e7f\uac00-\ud7af]+")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_HIRAGANA = re.compile(r"[\u3041-\u309f]")
_KATAKANA = re.compile(r"[\u30a1-\u30fa\u30fd-\u30ff\uff66-\uff9d]")
# Characters that make up about a fifth of running Chinese and are rare or absent in Japanese.
_CHINESE_GRAMMAR = re.compile(r"[的了是这這那们們你您她它吗嗎呢吧么麼没沒说說很把被让讓给給还還就都哪谁誰啊呀嘛咱俩倆]")
_FULL_WIDTH_COMMA = re.compile(r"[，；：]")
_JAPANESE_MARKS = re.compile(r"[「」『』、〜]")


def detect_language(text: str) -> Language:
    """The language of ``text``: Japanese, Chinese, or English for everything else.

    Text of many thousands of characters is judged by its start, middle and end. A text without a single letter is
    judged by its punctuation.
    """
    sample = _sample(text)
    han, hiragana, katakana = (len(script.findall(sample)) for script in (_HAN, _HIRAGANA, _KATAKANA))
    grammar = len(_CHINESE_GRAMMAR.findall(sample))
    words = len(_LATIN_WORD.findall(sample)) + len(_OTHER_WORD.findall(sample))
    commas, marks = len(_FULL_WIDTH_COMMA.findall(sample)), len(_JAPANESE_MARKS.findall(sample))
    # A Latin word weighs as much as a character and a half of the East; what only grammar uses weighs more.
    eastern = 0.7 * (han + hiragana + katakana) + max(hiragana, grammar) + 0.5 * (commas + marks)
    if eastern < words or not eastern:
        return "en"
    if not han + hiragana + katakana:
        return "ja" if marks > commas else "zh"
    return "ja" if _is_japanese(han, hiragana, katakana, grammar, commas) else "zh"


def _is_japanese(han: int, hiragana: int, katakana: int, grammar: int, commas: int) -> bool:
    """Tell Japanese from Chinese with Japanese names in it.

    About half of running Japanese is hiragana, of which Chinese has none but names. So kana decide when they are many,
    and are weighed against Chinese grammar when they are few.
    """
    kana = hiragana + katakana
    if not kana or not han:
        return kana > 0
    if hiragana >= 0.3 * (han + hiragana):
        return hiragana >= 1.5 * grammar or grammar < 3
    if not grammar and not commas:
        return True
    return hiragana > 2 * (grammar + commas)


def language_shares(text: str) -> dict[Language, float]:
    """How much of ``text`` is in each language, as shares that add up to 1; empty for a text without letters.

    Each line counts for itself, by its length, so that a story told in two languages shows both.
    """
    weights: dict[Language, float] = {}
    for line in _lines(text):
        letters = letter_count(line)
        if letters:
            language = detect_language(line)
            weights[language] = weights.get(language, 0.0) + letters
    total = sum(weights.values())
    return {language: weight / total for language, weight in weights.items()}


def letter_count(text: str) -> int:
    """How many characters of ``text`` are letters of any script."""
    return sum(map(str.isalpha, text))


def has_chinese_grammar(text: str) -> bool:
    """Whether ``text`` holds words that only Chinese uses; Han characters alone may be terse Japanese."""
    return len(_CHINESE_GRAMMAR.findall(text)) >= 2


def _sample(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    part = _LONGEST // 3
    middle = len(text) // 2
    return f"{text[:part]}\n{text[middle : middle + part]}\n{text[-part:]}"


def _lines(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        if line.strip():
            yield line
