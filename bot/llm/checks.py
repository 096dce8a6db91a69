"""The checks that a model's output passes before it may become memory.

What fails here is never stored. The checks look at form only; whether a memory is true is decided from its evidence.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from enum import StrEnum

from bot.memory.language import detect_language, has_chinese_grammar, language_shares, letter_count


class Rejection(StrEnum):
    """Why an output must not become memory."""

    EMPTY = "empty"
    CUT = "cut"
    REFUSED = "refused"
    FILTERED = "filtered"
    REPETITION = "repetition"
    TOO_LONG = "too_long"
    WRONG_LANGUAGE = "wrong_language"
    CONTINUED_STORY = "continued_story"
    NOT_JSON = "not_json"


def check_output(
    text: str,
    finish_reason: str | None,
    *,
    source_characters: int,
    source_text: str,
    lines: Sequence[str],
) -> Rejection | None:
    """The reason to reject a memory output, or None when it may be used.

    ``source_text`` is what the memories were made from, ``source_characters`` its length; ``lines`` are the texts of
    the parsed memories, and empty if the output could not be parsed or holds none. An output without a finish reason
    counts as cut.
    """
    if finish_reason == "content_filter":
        return Rejection.FILTERED
    if finish_reason is None or finish_reason == "length":
        return Rejection.CUT
    if not text.strip():
        return Rejection.EMPTY
    if is_refusal(text, lines):
        return Rejection.REFUSED
    if is_repetition(text, lines):
        return Rejection.REPETITION
    if not any(line.strip() for line in lines):
        return _unparsed(text)
    if _is_wrong_language(lines, source_text):
        return Rejection.WRONG_LANGUAGE
    if sum(map(len, lines)) > source_characters:
        return Rejection.TOO_LONG
    return None


def check_form(text: str, finish_reason: str | None, has_form: bool) -> Rejection | None:
    """The same for an output of numbers only, of which no text becomes memory; ``has_form`` says whether it parsed."""
    if finish_reason == "content_filter":
        return Rejection.FILTERED
    if finish_reason is None or finish_reason == "length":
        return Rejection.CUT
    if not text.strip():
        return Rejection.EMPTY
    if has_form:
        return None
    return Rejection.REFUSED if is_refusal(text) else Rejection.NOT_JSON


# --- JSON ---------------------------------------------------------------------------------------------------------

_DECODER = json.JSONDecoder(strict=False)
_THINKING = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
_VALUE_START = re.compile(r'(?=\{\s*["}]|\[\s*\{)(?P<opening>[{\[])|\[(?=\s*[\]"])')


def extract_json(text: str) -> object | None:
    """The JSON object in an output, whatever stands around it: a preamble, a fence, thinking; None without one.

    The outermost value is taken or none at all: from a JSON text that was cut or is broken no inner piece is
    returned. An object goes before a list.
    """
    text = _THINKING.sub("", text.lstrip("\ufeff"), count=1)
    found: object | None = None
    position = 0
    while start := _VALUE_START.search(text, position):
        try:
            value, position = _DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            if start["opening"]:  # an object, or a list of them, that is cut or broken
                return found
            position = start.end()
            continue
        if isinstance(value, dict) and value:
            return value
        found = value if found is None else found
    return found


def _unparsed(text: str) -> Rejection:
    """What to call an output that holds no memory."""
    if extract_json(text) is not None:
        return Rejection.EMPTY
    if _VALUE_START.search(text):
        return Rejection.NOT_JSON
    return Rejection.CONTINUED_STORY if _reads_like_story(text) else Rejection.NOT_JSON


_STORY_MARKS = re.compile(
    r"[「『“”]|\"[^\"\n]{2,}\"|\*[^*\n]{2,}\*|^[^\n:：]{1,24}[:：]\s*\S|<\s*(?:thought|inner|speech|narration)",
    re.MULTILINE,
)
_STORY_LETTERS = 80


def _reads_like_story(text: str) -> bool:
    return _STORY_MARKS.search(text) is not None or letter_count(text) >= _STORY_LETTERS


# --- refusals -----------------------------------------------------------------------------------------------------

# Of 18 observed Japanese outputs two were refusals, of 101 characters; the shortest real summary had 519.
_REFUSAL_CHARACTERS = 400
# How a refusal begins. A memory may speak of a character who cannot help, but does not begin in the first person.
_OPENINGS = re.compile(
    r"""(?:
    (?:i(?:'m|\ am)\ (?:really\ |very\ |so\ )?sorry|(?:my\ )?apologies|i\ apologi[sz]e|sorry)
        \b.{0,40}?\b(?:can(?:no|')t|can\ not|unable|won't|not\ able|not\ comfortable)
    |(?:unfortunately,?\ )?i\ (?:can(?:no|')t|can\ not|won't|must\ decline|am\ unable|am\ not\ able)
        \ (?:to\ )?(?:\w+\ )?(?:help|assist|fulfill?|provide|create|generate|continue|comply|summari[sz]e|produce
            |record|engage|write|process|complete|do|that|this)
    |i'm\ (?:not\ able|unable|not\ comfortable)\b
    |as\ an?\ (?:ai|language\ model)\b.{0,60}?\bi\b
    |(?:ai|人工知能)(?:アシスタント|言語モデル|モデル)?(?:として|なので).{0,60}?(?:でき(?:ません|かねます|ない)|控え|お断り)
    |作[为為](?:一[个個名])?(?:ai|人工智能|人工智慧|语言模型|語言模型).{0,40}?(?:无法|無法|不能|不便)
    |(?:大変)?(?:申し訳(?:あり|ござい)ません|申し訳ない|すみません|恐れ入りますが|ごめんなさい).{0,60}?
        (?:でき(?:ません|かねます|ない)|応じられ|お答え|対応|お手伝い|控え|お断り)
    |(?:很)?(?:抱歉|对不起|對不起|不好意思).{0,40}?(?:无法|無法|不能|不便|没办法|沒辦法|拒绝|拒絕)
    |我(?:无法|無法|不能)(?:为您|為您|协助|協助|提供|生成|继续|繼續|完成|满足|滿足|总结|總結|处理|處理|创建|建立|记录|記錄|帮助|幫助)
    )""",
    re.VERBOSE | re.DOTALL,
)
# What only a model says, wherever it stands.
_CONFESSIONS = re.compile(
    r"""as\ an?\ (?:ai|large)\ (?:language\ )?(?:model|assistant)\b
    |\b(?:content|usage|safety)\ (?:policy|policies|guidelines)\b
    |(?:i\ (?:can(?:no|')t|can\ not|am\ unable\ to|won't))\ (?:help|assist|comply)\ with\ (?:that|this|your)
    |(?:記録|要約|内容|リクエスト|ご要望|ご依頼)(?:\w{0,6})(?:は|を|に|には)(?:\w{0,6})
        (?:作成できません|お受けできません|対応できません|応じられません|お手伝いできません|提供できません|生成できません|応じかねます)
    |(?:お手伝い|お応え|回答|対応|作成|要約|生成|提供)(?:する)?(?:こと)?[はがも]?でき(?:ません|かねます)
    |(?:利用規約|コンテンツポリシー|ガイドライン)に(?:反|違反|抵触)
    |(?:无法|無法|不能)(?:为您|為您)?(?:协助|協助|提供|生成|处理|處理|满足|滿足|完成|创建|建立)
        (?:您的|你的|这个|這個|该|該|此类|此類|这类|這類|相关|相關)
    |(?:内容|內容)(?:政策|规范|規範|安全)""",
    re.VERBOSE | re.DOTALL,
)

_QUOTED = re.compile(r"「[^」]*」|『[^』]*』|“[^”]*”|\"[^\"]*\"")


def is_refusal(text: str, lines: Sequence[str] = ()) -> bool:
    """Whether a model declined: its own words, in Japanese, English or Chinese, in fewer than 400 characters.

    Of parsed ``lines`` at least half must decline, and outside of quotation marks: a character who declines is part
    of the story. Without, every text in the output's JSON is judged, or else the output itself.
    """
    if lines:
        declining = sum(_declines(_plain(_QUOTED.sub("", line))) for line in lines)
        return sum(map(len, lines)) < _REFUSAL_CHARACTERS and declining * 2 >= len(lines)
    plain = _plain(text)
    if len(plain) >= _REFUSAL_CHARACTERS:
        return False
    value = extract_json(text)
    if value is not None and any(_declines(_plain(piece)) for piece in _texts(value)):
        return True
    return _declines(plain.lstrip("\"'>「『“ "))


def _declines(plain: str) -> bool:
    return _OPENINGS.match(plain) is not None or _CONFESSIONS.search(plain) is not None


def _texts(value: object) -> Iterator[str]:
    """Every string in a JSON value, keys left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


def _plain(text: str) -> str:
    """One form for what may be written in several: width, case, apostrophes, emphasis, white space."""
    text = unicodedata.normalize("NFKC", text).replace("’", "'").replace("‘", "'").casefold()
    return re.sub(r"\s+", " ", re.sub(r"[*_#`]+", "", text)).strip()


# --- repetition ---------------------------------------------------------------------------------------------------

_SHINGLE = 12
_SHORTEST_LOOP = 200
_WINDOW = 480


def is_repetition(text: str, lines: Sequence[str] = ()) -> bool:
    """Whether a model ran in circles: the same memories again and again, or a phrase that does not end.

    Measured by the share of distinct lines, and of distinct runs of 12 characters. Of these a text keeps nearly all,
    and a loop loses nearly all, in the whole or in one stretch of 480. Different lines on one pattern keep about a
    quarter, so across lines less is asked for.
    """
    if not lines:
        return _loops(_plain(text))
    plain = [_plain(line) for line in lines]
    if len(plain) >= 3 and len(set(plain)) * 2 <= len(plain):
        return True
    return _distinct_share("\n".join(plain)) < 0.12 or any(map(_loops, plain))


def _loops(plain: str) -> bool:
    stretches = (plain[start : start + _WINDOW] for start in range(0, len(plain), _WINDOW // 2))
    return _distinct_share(plain) < 0.35 or any(_distinct_share(stretch) < 0.25 for stretch in stretches)


def _distinct_share(text: str) -> float:
    """The share of distinct shingles, 1 for a text too short to loop."""
    if len(text) < _SHORTEST_LOOP:
        return 1.0
    total = len(text) - _SHINGLE + 1
    return len({text[start : start + _SHINGLE] for start in range(total)}) / total


# --- language -----------------------------------------------------------------------------------------------------

_FEWEST_LETTERS = 20
_SPOKEN_SHARE = 0.2


def _is_wrong_language(lines: Sequence[str], source_text: str) -> bool:
    """Whether the memories are in a language that hardly occurs in their source.

    Texts too short to tell are let through, and so are Han characters without any Chinese grammar in them: they may
    be terse Japanese.
    """
    joined = "\n".join(lines)
    if letter_count(joined) < _FEWEST_LETTERS:
        return False
    shares = language_shares(source_text)
    language = detect_language(joined)
    if letter_count(source_text[:200]) < _FEWEST_LETTERS or shares.get(language, 0.0) >= _SPOKEN_SHARE:
        return False
    return not (language == "zh" and "ja" in shares and not has_chinese_grammar(joined))
