"""Two graders of an answer: the model as a judge, and plain text for short answers; and how well they agree.

The plain text: both answers in lower case, without punctuation and articles, number words as digits, dates of any form as day,
month and year; a character of Japanese or Chinese is a word. An answer is right when it has all words of the right one, or when
the F1 of the words both have is 0.5 or more. Right answers of more than twelve words (24 characters) are not graded so.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from bot.evals.asking import Asker, Said
from bot.memory.forms import object_form
from bot.memory.messages import Message

GRADE_FORM: Final = "recall_grade"
_GRADE_TOKENS: Final = 40
_GRADE: Final = (
    "You grade an answer to a question about a long talk. It is right when it says what the right answer says, in whatever "
    "words or language; more detail is no fault. It is wrong when a name, number, date or fact differs, or when it does not "
    'answer. Write JSON: {"right": true} or {"right": false}.'
)
_LONGEST: Final = 12
_LONGEST_WIDE: Final = 24
# An answer that lists everything has every right one in it.
_RAMBLING: Final = 40
_ENOUGH: Final = 0.5
_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul",
            "august aug", "september sept sep", "october oct", "november nov", "december dec",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
_MONTH: Final = "|".join(sorted(_MONTHS, key=len, reverse=True))
_ORDINAL: Final = r"(?:st|nd|rd|th)?"
_DATES: Final = (
    re.compile(rf"\b(?P<d>\d{{1,2}}){_ORDINAL}\s+(?:of\s+)?(?P<m>{_MONTH})\b\.?,?(?:\s+(?P<y>\d{{4}}))?"),
    re.compile(rf"\b(?P<m>{_MONTH})\b\.?\s+(?P<d>\d{{1,2}}){_ORDINAL}\b,?(?:\s+(?P<y>\d{{4}}))?"),
    re.compile(rf"\b(?P<m>{_MONTH})\b\.?,?\s+(?P<y>\d{{4}})(?P<d>)"),
    re.compile(r"(?P<y>\d{4})[-/年](?P<m>\d{1,2})[-/月](?P<d>\d{1,2})日?"),
    re.compile(r"(?P<m>\d{1,2})月(?P<d>\d{1,2})日(?P<y>)"),
)
_NUMBERS: Final = {
    word: str(number)
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
        "eighteen nineteen twenty".split()
    )
} | {"once": "1", "twice": "2"}
_ARTICLES: Final = frozenset({"a", "an", "the"})
_WIDE: Final = re.compile(r"[぀-ヿ㐀-鿿豈-﫿]")
_WORD: Final = re.compile(r"[぀-ヿ㐀-鿿豈-﫿]|[^\W_]+")
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}\b)")
_DECLINES: Final = re.compile(
    r"""
    \A\W*(?:it\ is\ |it's\ |that\ is\ |the\ answer\ is\ )? (?:unknown|not\ known|n/a|no\ answer|i\ don'?t\ know)\b
    | \b(?:not|isn'?t|wasn'?t|never)\ (?:\w+\ )?
      (?:mentioned|stated|specified|said|remembered|recorded|given|known|in\ (?:the|my)\ memory)\b
    | \bno\ (?:information|mention|memory|record)\b
    | \bdo(?:es)?\ ?n[o']t\ (?:say|know|remember|mention)\b | \bcan(?:not|'?t)\ (?:say|know|tell|answer)\b
    | 不明|わかりません|分かりません|わからない|分からない|知りません|覚えていない|覚えていません|記録(?:に|が)(?:ない|ありません)
    | 不知道|不清楚|未知|没有(?:提到|提及|记录|说)|沒有(?:提到|提及|記錄|說)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_YES: Final = re.compile(r"\b(?:yes|true|right|correct)\b", re.IGNORECASE)
_NO: Final = re.compile(r"\b(?:no|not|false|wrong|incorrect)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How two graders judged the same answers: both right, both wrong, only the model right, only the plain text right."""

    both_right: int = 0
    both_wrong: int = 0
    only_model: int = 0
    only_text: int = 0

    @property
    def total(self) -> int:
        """How many answers both graded."""
        return self.both_right + self.both_wrong + self.only_model + self.only_text

    @property
    def share(self) -> float | None:
        """The share on which they agree; None where both graded nothing."""
        return (self.both_right + self.both_wrong) / self.total if self.total else None

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa: agreement beyond chance, 1 at most; None where chance alone explains all of it, or nothing was graded."""
        if self.share is None:
            return None
        model, text = (self.both_right + self.only_model) / self.total, (self.both_right + self.only_text) / self.total
        chance = model * text + (1 - model) * (1 - text)
        return None if chance == 1 else (self.share - chance) / (1 - chance)


def agreement(pairs: Iterable[tuple[bool | None, bool | None]]) -> Agreement:
    """Of verdicts of the model and the plain text; pairs in which one of them has none are left out."""
    counted = Counter((model, text) for model, text in pairs if model is not None and text is not None)
    return Agreement(counted[True, True], counted[False, False], counted[True, False], counted[False, True])


def declines(answer: str) -> bool:
    """Whether an answer says that it is not known, or nothing at all."""
    return not answer.strip() or bool(_DECLINES.search(answer))


def text_grade(right: str, given: str) -> bool | None:
    """The verdict of the plain text; None where the right answer is too long for it."""
    wanted, found = words_of(right), words_of(given)
    if not wanted or len(wanted) > (_LONGEST_WIDE if _WIDE.search(right) else _LONGEST):
        return None
    shared = sum((Counter(wanted) & Counter(found)).values())
    if set(wanted) <= set(found) and len(found) <= max(_RAMBLING, 2 * len(wanted)):
        return True
    return 2 * shared / (len(wanted) + len(found)) >= _ENOUGH


def words_of(text: str) -> list[str]:
    """The words of an answer as they are compared."""
    plain = _THOUSANDS.sub("", unicodedata.normalize("NFKC", text).casefold())
    for form in _DATES:
        plain = form.sub(_as_date, plain)
    return [_NUMBERS.get(word, word) for word in _WORD.findall(plain) if word not in _ARTICLES]


async def model_grade(asker: Asker, question: str, right: str, given: str) -> bool | None:
    """The verdict of the model; None where it gave none. Raises ModelGone."""
    shown = f"Question: {question}\nRight answer: {right}\nAnswer to grade: {given}"
    schema = object_form(right={"type": "boolean"})
    messages = (Message("system", _GRADE), Message("user", shown))
    return _verdict(asker, await asker.json("grades", messages, schema, _GRADE_TOKENS, name=GRADE_FORM))


def _verdict(asker: Asker, said: Said) -> bool | None:
    """What a judge said, in JSON or, if it is plain, in words."""
    verdict: Any = said.value.get("right") if said.value is not None else None
    if isinstance(verdict, bool):
        return verdict
    yes, no = bool(_YES.search(said.text)), bool(_NO.search(said.text))
    if said.value is None and yes != no:
        return yes
    asker.wrong["grades: no verdict"] += 1
    return None


def _as_date(found: re.Match[str]) -> str:
    month = _MONTHS.get(found["m"], found["m"])
    parts = [str(int(found["d"]))] if found["d"] else []
    return " ".join([" ", *parts, f"m{int(month)}", found["y"] or "", " "])
