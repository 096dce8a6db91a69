"""Roleplay markup: one parser for what players type and what characters answer.

Actions stand in ``*…*`` or ``_…_``, speech in the quotes of English, Japanese (「」『』) and Chinese (“”), thoughts in
backticks or, from a character, in full-width parentheses; talk out of character in ``((…))``, ``（（…））``,
``[OOC: …]`` or on a line that starts with ``//``.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any, Final

from bot.memory.manners import Marks
from bot.memory.turns import Beat, BeatKind

_OUT_LONGEST: Final = 2_000
_BRACKETS: Final = rf"""
    \(\( (?: .{{0,{_OUT_LONGEST}}}? \)\)+ | [^\n]* ) | （（ (?: .{{0,{_OUT_LONGEST}}}? ））+ | [^\n]* )
  | [\[(（] \s* ooc \b (?: .{{0,{_OUT_LONGEST}}}? [\])）] | [^\n]* )
"""
_SLASHES: Final = r"^[ \t]*// [^\n]*"
_NOTHING: Final = r"(?!)"


def _spans(out_of_character: str) -> re.Pattern[str]:
    return re.compile(
        rf"""
    (?P<ooc> {out_of_character} )
  | (?P<fence> ``` .{{0,4000}}? ``` )
  | (?P<bold> \*\* [^*\n]+ \*\* | __ [^_\n]+ __ )
  | (?P<narration> \* (?=[^\s*]) [^*]{{1,4000}} \* | (?<![\w_]) _ (?=[^\s_]) [^_\n]+ _ (?![\w_]) )
  | (?P<thought> ` [^`\n]+ ` | （ (?: [^（）] | （ [^（）]* ） )+ ） )
  | (?P<speech> " [^"\n]+ " | “ [^“”]{{1,4000}} ” | 「 (?: [^「」] | 「 [^「」]* 」 )* 」 | 『 (?: [^『』] | 『 [^『』]* 』 )* 』 )
    """,
        re.VERBOSE | re.DOTALL | re.MULTILINE | re.IGNORECASE,
    )


_SPANS: Final = {
    Marks.BOTH: _spans(f"{_BRACKETS} | {_SLASHES}"),
    Marks.BRACKETS: _spans(_BRACKETS),
    Marks.SLASHES: _spans(_SLASHES),
    Marks.NONE: _spans(_NOTHING),
}
_SPAN: Final = _SPANS[Marks.BOTH]
_TRIM: Final = {
    "ooc": "()（）[]/ \t\n",
    "narration": "*_ \t\n",
    "thought": "`（） \t\n",
}
# A quoted word or title is no speech: an utterance ends like a sentence and follows no noun, or stands on a line of its own,
# or is quoted by と.
_ENDS_LIKE_SPEECH: Final = re.compile(r"[,.!?…—~;、。，！？～][\s\"”」』]*\Z")
_SAYING: Final = (
    r"said|says?|saying|asks?|asked|repl\w+|answer\w*|whisper\w*|goes|shout\w*|mutter\w*|adds?|added|calls? out"
)
_NAMED: Final = re.compile(rf"(?<![A-Za-z])(?!(?:{_SAYING})\b)[A-Za-z]+ \Z")
_LINE_BEFORE: Final = re.compile(r"(?:\A|[\n*_。！？!?.…:：`）」』”])[ \t]*\Z")
_LINE_AFTER: Final = re.compile(r"[ \t]*(?:\Z|[\n*_`（「『“\"]|と(?!いう))")
_JSON_START: Final = re.compile(
    r"""\{\s*"beats"\s*: | \A\s*(?=\{\s*"text"\s*:) | \A\s*```\w*\s*(?=\{\s*"text"\s*:)
    | (?=\[\s*\{\s*"(?:kind|speaker|text)"\s*: | \{\s*"(?:kind|speaker)"\s*:)""",
    re.VERBOSE,
)
_JSON_BEAT: Final = re.compile(r'\{(?=\s*"(?:kind|speaker|text)"\s*:)')
_JSON_KIND: Final = re.compile(r'"kind"\s*:\s*"([^"]*)"')
_CUT_TEXT: Final = re.compile(r'"text"\s*:\s*("(?:[^"\\]|\\.)*)\\?\Z', re.DOTALL)
_CUT_ESCAPE: Final = re.compile(r"\\u[0-9a-fA-F]{0,3}\Z")
_DECODER: Final = json.JSONDecoder(strict=False)
_SENTENCE_END: Final = re.compile(r"[.!?…。！？][\"”」』)*_]*(?=\s|$)|[。！？…][”」』）]*")
# At the end of what is written so far: marks that may grow, and what may yet open a thought, a remark or JSON.
_GROWING: Final = "*_`~|/([（ \t\n"
_OPENED: Final = re.compile(
    r"`(?=[^\n]*\Z)|（|[\[(]\s*o{0,2}c?\Z|(?:```\w*\s*)?(?:\[\s*)?\{\s*(?:\"\w{0,8}\"?\s*)?\Z",
    re.IGNORECASE,
)
_STRAY: Final = re.compile(r"^[\W_]+$")
_COLONS: Final = re.compile("[:：﹕︰∶꞉ː]")
# Fillers of Hangul and Braille are letters to Unicode and blank to the eye.
_BLANKS: Final = "\u115f\u1160\u2800\u3164\uffa0"
_MARK: Final = "[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]"
_MARKS: Final = re.compile(f"({_MARK}){_MARK}+")
_ROLES: Final = frozenset("system assistant user moderator admin narrator ooc システム 運営 管理者 系统 管理员".split())


def parse_player(text: str, speaker: str, *, marks: Marks = Marks.BOTH) -> tuple[Beat, ...]:
    """The beats of a player's message. Words without any mark are speech; ``marks`` are those of talk out of character."""
    return _parse(text, speaker, is_reply=False, marks=marks)


@lru_cache(maxsize=64)
def parse_reply(raw: str, character: str) -> tuple[Beat, ...]:
    """The beats of a character's reply: JSON by the reply schema, whole or broken off, else markup.

    Text that nothing marks as narration counts as speech, which proves nothing, so that a model that ignores the format
    cannot turn a lie into a fact. Only prose without any marks but quotes is narration where it stands outside them.
    """
    found = _json_beats(raw)
    if found is None:
        return _parse(_closed(raw), character, is_reply=True)
    beats = []
    for item in found:
        text = item.get("text")
        if isinstance(text, str) and _is_visible(text):
            beats.append(Beat(_kind(item.get("kind")), text.strip(), _speaker(item.get("speaker"), character)))
    return tuple(beats)


def shown(raw: str, beats: tuple[Beat, ...], character: str) -> str:
    """What players see of a reply: never a thought, never talk out of character.

    Markup stays as the model wrote it, less those spans; beats that came as JSON are set in the same markup.
    """
    if json_part(raw) is None:
        visible = _SPAN.sub(lambda m: "" if m["ooc"] or m["thought"] else m[0], _closed(raw))
        return re.sub(r"\n{3,}", "\n\n", visible).strip()
    return written(tuple(beat for beat in beats if beat.kind in (BeatKind.NARRATION, BeatKind.SPEECH)), character)


def written(beats: tuple[Beat, ...], character: str) -> str:
    """Beats as a character's reply in markup, one to a line."""
    return "\n".join(_marked(beat, character) for beat in beats)


def _marked(beat: Beat, character: str) -> str:
    match beat.kind:
        case BeatKind.NARRATION:
            return f"*{beat.text.strip('*')}*" if "*" not in beat.text.strip("*") else beat.text
        case BeatKind.THOUGHT:
            return f"`{beat.text}`"
        case BeatKind.OOC:
            return f"(({beat.text}))"
        case BeatKind.SPEECH:
            return ("" if beat.speaker == character else f"**{beat.speaker}** ") + _quoted(beat.text)


def json_part(raw: str) -> str | None:
    """A reply from where its JSON begins, to its end; None when it is no JSON by the reply schema."""
    start = _JSON_START.search(raw)
    return raw[start.start() if start[0].startswith("{") else start.end() :] if start else None


def settled(raw: str) -> str:
    """The head of a reply that is still being written, up to the first mark of which it is not known yet what it becomes.

    So nothing of it can turn out to be a thought, talk out of character, or JSON.
    """
    text = raw.rstrip(_GROWING)
    opened = _OPENED.search(text)
    for match in _SPAN.finditer(text):
        if opened and opened.start() < match.start():
            break
        if not _is_closed(match):
            return text[: match.start()]
        if opened and opened.start() < match.end():
            opened = _OPENED.search(text, match.end())
    return text[: opened.start()] if opened else text


def has_sentence(text: str) -> bool:
    """Whether a text holds a whole sentence."""
    return _SENTENCE_END.search(text) is not None


@lru_cache(maxsize=1_024)
def plain_name(name: str) -> str:
    """A display name that can label a line of a prompt: one line, no colon or bracket, nothing invisible or reordering.

    At most 32 characters, the length Discord allows for a nickname. The name of a role of the prompt is put in
    parentheses; a name of which nothing is left becomes ``?``.
    """
    spaced = _COLONS.sub(" ", re.sub(r"[\s\[\]【】]+", " ", name))
    kept = "".join(c for c in spaced if c.isprintable() and c not in _BLANKS)
    kept = re.sub(r"\s+", " ", _MARKS.sub(r"\1", kept)).strip(" #*_`>")[:32].strip(" #*_`>")
    if kept.casefold() in _ROLES:
        return f"({kept})"
    return kept or "?"


def _parse(text: str, speaker: str, *, is_reply: bool, marks: Marks = Marks.BOTH) -> tuple[Beat, ...]:
    pieces: list[tuple[BeatKind | None, str]] = []
    plain: list[str] = []
    end = 0

    def close_plain() -> None:
        words = "".join(plain).strip()
        plain.clear()
        if words and not _STRAY.match(words):
            pieces.append((None, words))

    for match in _SPANS[marks].finditer(text):
        plain.append(text[end : match.start()])
        end = match.end()
        name = match.lastgroup or "bold"
        if name in ("bold", "fence") or (name == "speech" and not _is_utterance(match)):
            plain.append(match[0])
            continue
        close_plain()
        words = match[0][1:-1].strip() if name == "speech" else match[0].strip(_TRIM[name])
        words = re.sub(r"^ooc\b[:：\s]*", "", words, flags=re.IGNORECASE) if name == "ooc" else words
        is_action = name == "thought" and match[0].startswith("（") and not is_reply
        if words:
            pieces.append((BeatKind.NARRATION if is_action else BeatKind(name), words))
    plain.append(text[end:])
    close_plain()
    kinds = {kind for kind, _ in pieces}
    is_prose = BeatKind.SPEECH in kinds and not (is_reply and BeatKind.NARRATION in kinds)
    unmarked = BeatKind.NARRATION if is_prose else BeatKind.SPEECH
    beats = tuple(Beat(kind or unmarked, words, speaker) for kind, words in pieces)
    return beats or ((Beat(BeatKind.SPEECH, text.strip(), speaker),) if _is_visible(text) else ())


def utterances(text: str) -> tuple[str, ...]:
    """The speech that stands in quotes inside a text; words that are only named do not count."""
    return tuple(m[0] for m in _SPAN.finditer(text) if m.lastgroup == "speech" and _is_utterance(m))


def _is_utterance(match: re.Match[str]) -> bool:
    """Whether quotes hold speech rather than a word that is only named."""
    text = match.string
    before = text[max(0, match.start() - 16) : match.start()]
    if _ENDS_LIKE_SPEECH.search(match[0]):
        return not _NAMED.search(before)
    return bool(_LINE_AFTER.match(text, match.end())) and (
        bool(_LINE_BEFORE.search(before)) or text.startswith("と", match.end())
    )


def _is_closed(match: re.Match[str]) -> bool:
    """Whether the end of talk out of character was written, rather than taken to be the end of its line."""
    if not match["ooc"]:
        return True
    if match[0].lstrip().startswith("//"):
        return match.end() < len(match.string)
    return match[0].endswith(("))", "））") if match[0].startswith(("((", "（（")) else ("]", ")", "）"))


def _closed(raw: str) -> str:
    """A reply whose last thought was left open, as one that was cut off leaves it, with the mark that closes it."""
    last = raw[raw.rfind("\n") + 1 :]
    if "```" not in last and last.count("`") % 2:
        return raw + "`"
    return raw + "）" if raw.rfind("（") > raw.rfind("）") else raw


def _json_beats(raw: str) -> list[dict[str, Any]] | None:
    """The beats of a JSON reply, whatever stands around it; of one that was cut, those that are known to be whole enough.

    None when the reply is no such JSON.
    """
    text = json_part(raw)
    if text is None:
        return None
    try:
        return _items(_DECODER.raw_decode(text)[0])
    except (ValueError, RecursionError):
        return _broken(text)


def _items(value: object) -> list[dict[str, Any]]:
    if isinstance(value, dict):
        value = value.get("beats", [value])
    if isinstance(value, str):
        try:
            value = _DECODER.decode(value)
        except (ValueError, RecursionError):
            value = [value]
    if isinstance(value, dict):
        value = [value]
    listed = value if isinstance(value, list) else []
    return [{"text": item} if isinstance(item, str) else item for item in listed if isinstance(item, str | dict)]


def _broken(text: str) -> list[dict[str, Any]]:
    """The whole beats of a JSON text that was cut or is ill-formed, and the last one if its kind was written already."""
    found: list[dict[str, Any]] = []
    starts = [match.start() for match in _JSON_BEAT.finditer(text)]
    for place in starts:
        try:
            found.append(_DECODER.raw_decode(text, place)[0])
        except (ValueError, RecursionError):
            if place != starts[-1]:
                continue
            kind, cut = _JSON_KIND.search(text, place), _CUT_TEXT.search(text, place)
            if kind and cut:
                words = _CUT_ESCAPE.sub("", cut[1])
                found.append({"kind": kind[1], "text": _DECODER.decode(words + '"')})
    return found


def _kind(value: object) -> BeatKind:
    """The kind that a model named; a kind that it made up is speech, unless it says that nobody hears it."""
    name = value.strip().casefold() if isinstance(value, str) else ""
    if name in (kind.value for kind in BeatKind):
        return BeatKind(name)
    return BeatKind.THOUGHT if re.search(r"thought|think|inner|monolog|mind|心", name) else BeatKind.SPEECH


def _is_visible(text: str) -> bool:
    return any(c.isprintable() and not c.isspace() and c not in _BLANKS for c in text)


def _speaker(value: object, character: str) -> str:
    name = plain_name(value) if isinstance(value, str) and value.strip() else character
    return character if name == "?" else name


def _quoted(text: str) -> str:
    if text[:1] in '"“「『':
        return text
    if re.search(r"[぀-ヿ]", text):
        return f"「{text}」"
    return f"“{text}”"


def ended_at_sentence(text: str) -> str:
    """A text that was cut off, up to its last whole sentence; all of it when it has none."""
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    kept = text[: ends[-1]].rstrip() if ends else text
    return kept + "*" if kept.count("*") % 2 else kept
