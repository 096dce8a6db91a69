"""Pictures in a story: the note that stands in a turn for each, which is all that later prompts and the memory know of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from bot.memory import markup
from bot.memory.language import detect_language, letter_count
from bot.memory.manners import Marks
from bot.memory.turns import Beat, BeatKind
from bot.memory.wording import Language

MOST_PICTURES: Final = 4
"""Pictures of one message that are noted, and of one reply that a model is shown."""
LONGEST_LABEL: Final = 100
"""Characters; Discord's texts for those who cannot see a picture may have 1,024."""
_NOTES: Final[Mapping[Language, str]] = {
    "en": "[shows a picture: {label}]",
    "ja": "[画像を見せている: {label}]",
    "zh": "[展示了一张图片: {label}]",
}
_LOOKS: Final[Mapping[Language, str]] = {
    "en": "[{name} looks like this]",
    "ja": "[{name}の外見]",
    "zh": "[{name}的样子]",
}
_NOTE: Final = re.compile(
    "|".join(re.escape(note).replace(re.escape("{label}"), r"[^\[\]\n]+") for note in _NOTES.values())
)


def written(
    text: str, speaker: str, labels: Sequence[str], language: Language, *, marks: Marks = Marks.BOTH
) -> tuple[str, tuple[Beat, ...]]:
    """A player's text with a note below it for each of the pictures that came with it, and its beats.

    ``labels`` are what the player says the pictures show, or the names of their files. The notes are in the language of the
    text, in ``language`` where it has no words. Always the same for the same message. What comes with talk out of character
    is out of character too.
    """
    beats = markup.parse_player(text, speaker, marks=marks)
    if not labels:
        return text, beats
    spoken = detect_language(text) if letter_count(text) else language
    notes = [_NOTES[spoken].format(label=_plain(label)) for label in labels[:MOST_PICTURES]]
    is_aside = bool(beats) and all(beat.kind is BeatKind.OOC for beat in beats)
    kind = BeatKind.OOC if is_aside else BeatKind.NARRATION
    raw = "\n".join([text, *notes] if text.strip() else notes)
    return raw, (*beats, *(Beat(kind, note, speaker) for note in notes))


def notes_in(raw: str) -> tuple[str, ...]:
    """The lines of a player's turn that are notes of pictures, or read like them."""
    return tuple(line for line in raw.split("\n") if _NOTE.fullmatch(line))


def looks(name: str, language: Language) -> str:
    """What is said of a picture of somebody."""
    return _LOOKS[language].format(name=_plain(name))


def _plain(label: str) -> str:
    """On one line, bounded and without the brackets of a note, so that it cannot pose as anything else."""
    spaced = " ".join(label.replace("[", "(").replace("]", ")").split())
    kept = "".join(c for c in spaced if c.isprintable())
    return (kept if len(kept) <= LONGEST_LABEL else kept[:LONGEST_LABEL].rstrip() + "…").strip() or "?"
