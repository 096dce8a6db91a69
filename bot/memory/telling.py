"""What persons tell of themselves: which of their sentences do, and whether these show a text.

Sentences are told apart by their words, so this catches the plain cases in English, Japanese and Chinese. Where the subject is
left out, as mostly in Japanese, a statement is about who makes it, and a question about who is asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from bot.memory.likeness import alike, likeness, subject
from bot.memory.passages import Cited, sentences

# With a third, three of four observations of LoCoMo hold for whom they are about, and 7 % for the other speaker.
_LEAST_SHARE: Final = 1 / 3
_LEAST_LIKENESS: Final = 0.7
_HAN: Final = re.compile(r"[㐀-鿿豈-﫿]+\Z")
_WIDE: Final = re.compile(r"[぀-ヿ㐀-鿿豈-﫿]")

_I: Final = re.compile(
    r"\b(?:i|me|my|mine|myself|we|us|our|ours|ourselves)\b"
    r"|私|わたし|わたくし|あたし|僕|ぼく|俺|おれ|自分|うちの|我(?![慢が])|咱|本人",
    re.IGNORECASE,
)
_YOU: Final = re.compile(
    r"\byou(?:r|rs|rself)?\b|[你您]|(?:あなた|貴方|きみ|君|お前|おまえ|あんた|そちら)(?:は|が|も|って)"
    r"|お好き|お持ち|お住まい|いらっしゃ|なさ(?:る|って|い)|(?:ん|の)(?:です|だ)ね\W*\Z",
    re.IGNORECASE,
)
# Said to the face of whoever made up a name for the speaker.
_YOU_CALL_ME: Final = re.compile(
    r"(?<!can )(?<!could )(?<!will )(?<!would )\byou(?:['’][rv]e| are| have| all| always| just| keep| still)* "
    r"call(?:ed|ing|s)? me\b|[你您](?!可以|就|能|以后)\S{0,4}叫我|呼(?:ぶ|んで(?:る|いる|た|いた))[のん]",
    re.IGNORECASE,
)
# What one would do if things were otherwise shows nothing of what one does.
_IF: Final = re.compile(
    r"\bif (?:i|we)\b.*(?:\b(?:would|could|might)\b|['’]d\b)|(?:\b(?:would|could|might)\b|['’]d\b).*\bif (?:i|we)\b"
    r"|\bi wish i\b|もし(?![かよ良]).*[たなれ]ら|(?:要是|如果|假如|倘若)(?:我|能)",
    re.IGNORECASE,
)
_QUESTION: Final = re.compile(r"(?:[?？]|か[。．！!]|[吗嗎][。！!]?)[\s\"”」』)）]*\Z")
_THEY: Final = re.compile(
    r"^\W*(?:(?:he|she|it|they|his|her|its|their)\b|彼女?|あの[人子]|他们?(?![のにはも])|[她它]们?)", re.IGNORECASE
)
_RELATIVE: Final = re.compile(
    r"^\W*(?:(?:and|but|so|well)\W+)?(?:my|our) (?:\w+ ){0,2}?(?P<en>(?:(?:grand)?(?:mother|father|son|daughter|parent|child)"
    r"|brother|sister|mom|mum|dad|wife|husband|partner|kid|baby|uncle|aunt|cousin|friend|boyfriend|girlfriend|boss|colleague"
    r"|coworker|neighbou?r|roommate|teacher|dog|cat)(?:s|ren)?)\b"
    r"|^\W*(?:[私僕俺]の|うちの)?(?P<ja>祖父|祖母|両親|[兄姉]|[弟妹]|[父母]|息子|娘|夫|妻|旦那|嫁|彼氏|友達|友人|同僚|上司|先輩|犬|猫)"
    r"(?:さん|ちゃん)?[はがも](?![好大])"
    r"|^\W*(?:我们?的?)?(?P<zh>[哥姐弟妹爸妈爷奶]{1,2}|父母|父亲|母亲|丈夫|妻子|老公|老婆|儿子|女儿|孩子|朋友|同事|老板|室友|老师)"
    r"(?![,，、：:])",
    re.IGNORECASE,
)
_SOMEBODY: Final = "(?:the )?(?:player|user)|she|he|they|プレイヤー|ユーザー|玩家|用户"
_TITLE: Final = "(?:さん|ちゃん|くん|君|様|先生)?"


def substance(text: str) -> frozenset[str]:
    """The words of a text that say what it is about, Han characters one by one."""
    return frozenset(part for word in subject(text) for part in (word if _HAN.match(word) else (word,)))


def is_shown(text: str, shown: str, names: frozenset[str] = frozenset()) -> bool:
    """Whether a third of a text's substance, that of ``names`` apart, stands in what shall show it.

    A text that has none must share seven tenths of its features.
    """
    words = substance(text) - names
    if not words:
        return likeness(text, shown) >= _LEAST_LIKENESS
    return len(words & substance(shown)) >= _LEAST_SHARE * len(words)


def is_related(left: str, right: str) -> bool:
    """Whether two texts are about the same thing at all."""
    one, two = substance(left), substance(right)
    return not one.isdisjoint(two) if one and two else alike(left, right)


@dataclass(frozen=True, slots=True)
class Names:
    """What the person is called in a talk, and what everybody else there is."""

    own: frozenset[str]
    others: frozenset[str]

    @property
    def substance(self) -> frozenset[str]:
        """What names share with a text shows nothing."""
        return frozenset(word for name in self.own | self.others for word in substance(name))

    def another(self, sentence: str) -> str:
        """Whoever else is the subject of a sentence, as it names them; empty when nobody is. Who is only spoken to is not."""
        parts = "|".join(_parts(self.others - self.own))
        start = r"(?:^|[,;，、。]\s*|\b(?:and|but|so)\s|でも|但是)\W*(?:the\s)?"
        pattern = rf"{start}(?P<name>{parts}){_TITLE}(?:'s|’s)?(?!\w*\s*[,，、!！?？:：])(?=[\s\w])"
        found = re.search(pattern, sentence, re.IGNORECASE) if parts else None
        return found["name"] if found else ""

    def without(self, text: str) -> str:
        """A text less the person's name where it is the subject at its start: whose it is is told elsewhere."""
        parts = "|".join([*_parts(self.own), _SOMEBODY])
        pattern = rf"^(?:{parts})(?:\s+(?!(?:and|or|&)\b)|{_TITLE}[はがも：:、,]\s*|(?=[㐀-鿿])(?![的和与跟]))"
        return re.sub(pattern, "", text, count=1, flags=re.IGNORECASE) or text


def own_sentences(cited: Cited, text: str, names: Names) -> list[str]:
    """The sentences of a person's own beat that can show a text about them."""
    return [piece for piece in sentences(cited.real) if _is_own(piece, text, names)]


def _is_own(sentence: str, text: str, names: Names) -> bool:
    if _IF.search(sentence) or _YOU_CALL_ME.search(sentence):
        return False
    if names.another(sentence).casefold() not in text.casefold():
        return False
    relative = _RELATIVE.search(sentence)
    if relative and not substance(relative[relative.lastgroup or 0]) & substance(text):
        return False
    if _I.search(sentence) or any(name in sentence for name in names.own):
        return True
    return not (_YOU.search(sentence) or _QUESTION.search(sentence) or _THEY.search(sentence))


def _parts(names: Iterable[str]) -> list[str]:
    """Names and the parts of names that people are called by, as patterns, the longest first."""
    found: set[str] = set()
    for name in names:
        words = [word for word in re.findall(r"[\w'’-]+", name) if len(word) > 1]
        halves = [half for word in words if _WIDE.search(word) and len(word) > 3 for half in (word[:2], word[-2:])]
        found.update([name, *words, *halves])
    return [re.escape(part) for part in sorted(found, key=len, reverse=True) if part.strip()]
