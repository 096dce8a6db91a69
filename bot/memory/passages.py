"""What a cited beat can show: its sentences, less what is only imagined and what gives orders to the record.

Sentences are told apart by their words, so this catches the plain cases in English, Japanese and Chinese; what it misses
is still only as good as the beat it stands in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from bot.memory.likeness import features
from bot.memory.markup import utterances
from bot.memory.turns import Beat, BeatKind, Citation, Turn

_SENTENCE: Final = re.compile(r"[^.!?…。！？\n]*[.!?…。！？\n]+[\"”」』]*|[^.!?…。！？\n]+")
_CLAUSE: Final = r"(?:^|[,;:、，；：—–-])\W*(?:(?:so|and|but|ok|okay|well|right|now|just|hey|那|我是说|じゃあ?)\W*)?"
# From here on to the end of the beat everything is imagined.
_IMAGINE_ON: Final = re.compile(
    _CLAUSE + r"(?:imagine\b|suppose\b|what if\b|let'?s (?:pretend|imagine)\b|hypothetically\b|picture this\b"
    r"|仮に|仮の話|例えばの話|たとえばの話|想像して|もしもの話|假如|假设|设想|想象一下|比方说)",
    re.IGNORECASE,
)
# Imagined for this sentence only.
_UNREAL: Final = re.compile(
    r"\bif only\b|\bif (?:\w+ ){1,2}(?:were|had been)\b|\bif \w+ (?:was|had)\b.*(?:\b(?:would|could)\b|'d\b)"
    r"|" + _CLAUSE + r"もし(?!か|もし|[もそ]?よ[かけろ]|[もそ]?良|ご)"
    r"|" + _CLAUSE + r"(?:要是|如果说?|倘若|若是?)(?:我|咱|他|她|在下|这|那)\S{0,4}?(?:是|有|当上|成了|真)",
    re.IGNORECASE,
)
_ORDER: Final = re.compile(
    r"\b(?:system|admin|moderator|assistant|instructions?|note to (?:the )?(?:ai|bot|model))"
    r"\s*(?:message|prompt|note)?\s*[:：]"
    r"|(?:システム|管理者|運営|指示|系统|管理员|指令)\s*(?:メッセージ|通知|消息|提示)?\s*[:：]"
    r"|\bfrom now on,? (?:record|remember|note|store|write down|treat)\b"
    r"|\b(?:ignore|disregard|forget) (?:all |any |the )*(?:previous|above|earlier|prior) "
    r"|(?:今後|これから|以後)[^。]*(?:記録|記憶)(?:する|し|せよ)|(?:従前|以前|これまで|上記)の指示"
    r"|(?:从此|今后|从现在)[^。]*(?:记录|记住|记下)|忽略(?:之前|以上|上面|先前)",
    re.IGNORECASE,
)
# What others said, gave or owe, told to their face.
_OF_YOU: Final = re.compile(
    r"\byou(?:'ve|'d| have| had| already| did| do| still)*(?: \w+ly)? "
    r"(?:promis|ow(?:e|ed)\b|said\b|told\b|gave\b|agreed\b|swore\b|made me\b|let me\b|named me\b|appointed\b|offered\b)"
    r"|(?:約束|言(?:った|いました|ってた|ってくれ)|くれるって|くれると).*(?:よね|でしょ|じゃ|はず|覚え)"
    r"|[你您]\S{0,6}(?:答应|(?<!哈)欠|说过|许了|许过|给了|让我)",
    re.IGNORECASE,
)
# One kiss refused is not every kiss.
_SWEEPING: Final = re.compile(
    r"\b(?:always|never|every ?time|each time|whenever|invariably)\b"
    r"|いつも|必ず|決して|絶対に|毎回|总是|从来|从不|永远|每次|一向|绝不",
    re.IGNORECASE,
)


def sentences(text: str) -> list[str]:
    """The sentences of a text; a line break ends one too."""
    return [piece for piece in _SENTENCE.findall(text) if piece.strip()]


def is_of_you(sentence: str) -> bool:
    """Whether a sentence reminds another of their word, gift or debt."""
    return bool(_OF_YOU.search(sentence))


def is_sweeping(text: str, shown: Iterable[str]) -> bool:
    """Whether a text says of all times what no passage that shows it says so."""
    return bool(_SWEEPING.search(text)) and not any(_SWEEPING.search(passage) for passage in shown)


def is_unreal(text: str) -> bool:
    """Whether a text itself imagines something, or orders the record about."""
    return any(pattern.search(text) for pattern in (_IMAGINE_ON, _UNREAL, _ORDER))


@dataclass(frozen=True)
class Cited:
    """A cited beat with its turn."""

    citation: Citation
    turn: Turn
    beat: Beat

    @property
    def is_solid(self) -> bool:
        """Narration or a thought in a character's turn: what the story itself tells."""
        return not self.turn.author.is_player and self.beat.kind in (BeatKind.NARRATION, BeatKind.THOUGHT)

    @property
    def is_spoken(self) -> bool:
        """Whether somebody says it aloud."""
        return self.beat.kind is BeatKind.SPEECH

    @property
    def is_act(self) -> bool:
        """Whether a player narrates it: what they do in the scene."""
        return self.turn.author.is_player and self.beat.kind is BeatKind.NARRATION

    @property
    def is_told(self) -> bool:
        """Whether a character's narration tells it."""
        return not self.turn.author.is_player and self.beat.kind is BeatKind.NARRATION

    @cached_property
    def quoted(self) -> str:
        """The speech that stands in quotes inside a narration: said, not told."""
        return "\n".join(utterances(self.beat.text)) if self.is_told else ""

    @cached_property
    def real(self) -> str:
        """The sentences that can show something, less quoted speech."""
        return "\n".join(piece for piece, is_real in self._marked if is_real)

    @cached_property
    def unreal(self) -> str:
        """The sentences out of character, imagined, or ordering the record about: they show nothing."""
        return "\n".join(piece for piece, is_real in self._marked if not is_real)

    @cached_property
    def _marked(self) -> list[tuple[str, bool]]:
        """Each sentence with whether it is real. What a character narrates is real, whatever words it uses."""
        marked = []
        imagining = False
        text = self.beat.text
        for speech in self.quoted.splitlines():
            text = text.replace(speech, " ")
        for piece in sentences(text):
            imagining = imagining or bool(_IMAGINE_ON.search(piece))
            ordering = self.turn.author.is_player and bool(_ORDER.search(piece))
            doubtful = self.beat.kind is BeatKind.OOC or imagining or ordering or _UNREAL.search(piece)
            marked.append((piece, self.is_told or not doubtful))
        return marked

    def nearest(self, text: str) -> str:
        """The real sentence that shares most with a text."""
        return max(sentences(self.real), key=lambda piece: len(features(piece) & features(text)), default="")
