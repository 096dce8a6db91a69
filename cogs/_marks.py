"""The marks of a message: emphasis, spoilers, code, speech and quotations, and what is open at a place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_MARK: Final = re.compile(
    r"\\.|```(?:[\w+-]*\n)?|\*{1,3}|__|~~|\|\||`|(?<!\w)_|_(?!\w)|[“”「」『』]|(?<!\w)\"(?=\S)|(?<=\S)\"|\n", re.DOTALL
)
_CLOSING: Final = {"“": "”", "「": "」", "『": "』"}
_BLOCK_QUOTE: Final = re.compile(r"^>>> ", re.MULTILINE)


def open_marks(text: str, place: int) -> list[str]:
    """The marks that open before ``place`` and close after it, outermost first."""
    rest = text[place:]
    line = rest.partition("\n")[0]
    return [mark for mark in _open(text, place) if _closer(mark).strip() in (line if mark == '"' else rest)]


def closers(marks: list[str]) -> str:
    """What closes marks, given outermost first."""
    return "".join(_closer(mark) for mark in reversed(marks))


def closed(text: str) -> str:
    """A text that is still being written, with the marks that it leaves open closed."""
    return text + closers(_open(text, len(text)))


def quotation(text: str, cut: int) -> str:
    """What makes the text after a cut a quotation where the text before it is one."""
    if _BLOCK_QUOTE.search(text, 0, cut):
        return ">>> "
    line = text[text.rfind("\n", 0, cut) + 1 : cut]
    return "> " if line.startswith("> ") and text[cut : cut + 1] != "\n" else ""


def _closer(mark: str) -> str:
    return "\n```" if mark.startswith("```") else _CLOSING.get(mark, mark)


def _open(text: str, place: int) -> list[str]:
    """The marks that are open at a place, outermost first."""
    stack: list[str] = []
    for mark, at in _marks(text, place):
        opener = next((opener for opener, closer in _CLOSING.items() if closer == mark), mark)
        if mark == "\n":
            stack = [each for each in stack if each != '"']
        elif opener in stack and mark not in _CLOSING:
            del stack[stack.index(opener) :]
        elif mark.startswith("```") and stack[-1:] and stack[-1].startswith("```"):
            stack.pop()
        elif opener == mark and mark not in stack and (text[at : at + 1].strip() or mark.startswith("```")):
            stack.append(mark)
    return stack


def _marks(text: str, place: int) -> Iterator[tuple[str, int]]:
    """Each mark with the place where it ends. Within code, only what ends the code counts."""
    code = ""
    for match in _MARK.finditer(text, 0, place):
        mark = match[0]
        if mark.startswith("\\") or (code and not mark.startswith(code)):
            continue
        if mark.startswith("`"):
            kind = "```" if mark.startswith("```") else "`"
            code = "" if code else kind
        yield mark, match.end()
