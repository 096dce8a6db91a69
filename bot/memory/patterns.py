"""Regular expressions that strangers wrote: run only when a bound on their work is known beforehand.

Python's engine tries again and again, and cannot be interrupted. So the pattern is read before it is compiled: each choice
multiplies the ways that may have to be tried behind it, each character costs a step. A pattern over the bound is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

LONGEST_PATTERN: Final = 400
"""Characters of a pattern that is read at all."""
LONGEST_TEXT: Final = 2_000
"""Characters of the text that are looked at, from its end: one message of Discord."""
MOST_STEPS: Final = 40_000_000
"""Steps of one search at worst; about a fifth of a second in CPython 3.11 (measured)."""
# How far an unbounded repeat reaches, in repeats: the first under which the pattern keeps to the bound.
_REACHES: Final = (200, 60)
_SLASHED: Final = re.compile(r"/(.+)/([a-zA-Z]*)", re.DOTALL)
_FLAGS: Final = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}
_TOKEN: Final = re.compile(
    r"""
    (?P<refused> \\[1-9] | \\k | \(\?P[=>] | \(\?[(&R0-9+] | \(\*  )
  | (?P<atomic> \(\?(?: [=!>] | <[=!] ) )
  | (?P<open> \((?: \?(?: P?<\w+> | [ims]*(?:-[ims]+)?: ) )? (?!\?) )
  | (?P<flags> \(\?[ims]+\) | \(\?\#[^)]*\) )
  | (?P<close> \) )
  | (?P<bar> \| )
  | (?P<repeat> (?P<sign> [*+?] | \{ (?P<least>\d+)? (?P<comma>,)? (?P<most>\d+)? \} ) (?P<mode> [?+]? ) )
  | (?P<atom> \[\^?\]?(?:\\.|[^\]\\])*\] | \\. | . )
    """,
    re.VERBOSE | re.DOTALL,
)
# What Python warns of within a set, since it may mean more one day.
_SET_MARK: Final = re.compile(r"(\\.)|(?<!\A)(?:[\[&|~]|(?<=-)-)", re.DOTALL)
_ENORMOUS: Final = 10**12


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled pattern and the most steps that a search from one place can take."""

    compiled: re.Pattern[str]
    steps: int

    def cost(self, text: str) -> int:
        """The most steps that a search of this text can take."""
        return self.steps * (min(len(text), LONGEST_TEXT) + 1)

    def is_in(self, text: str) -> bool:
        """Whether the pattern occurs in the last 2,000 characters of the text."""
        return self.compiled.search(text[-LONGEST_TEXT:]) is not None


def slashed(key: str) -> tuple[str, str] | None:
    """What stands between the slashes of ``/pattern/flags``, and the flags; None for a key of another form."""
    found = _SLASHED.fullmatch(key.strip())
    return (found[1], found[2]) if found else None


def read_pattern(source: str, flags: str = "") -> Pattern | None:
    """The pattern, or None for one that is broken, too long, needs more than 40,000,000 steps or looks back at a group.

    ``flags`` are JavaScript's: ``i``, ``m`` and ``s`` count. An unbounded repeat reaches 200 repeats, or 60 where the pattern
    has several.
    """
    if len(source) > LONGEST_PATTERN:
        return None
    for reach in _REACHES:
        reading = _read(source, reach)
        if reading is None:
            return None
        text, steps = reading
        if steps * LONGEST_TEXT <= MOST_STEPS:
            try:
                chosen = sum({_FLAGS[flag] for flag in flags.lower() if flag in _FLAGS}, re.RegexFlag(0))
                return Pattern(re.compile(text, chosen), steps)
            except (re.error, OverflowError, RecursionError):
                return None
    return None


@dataclass(slots=True)
class _Branch:
    """A sequence that is being read: the ways through it so far, the steps to try them all, and its last element."""

    ways: int = 1
    steps: int = 0
    before: tuple[int, int] = (1, 0)
    last: tuple[int, int] | None = None

    def add(self, ways: int, steps: int) -> None:
        self.before, self.last = (self.ways, self.steps), (ways, steps)
        self.steps = min(_ENORMOUS, self.steps + self.ways * steps)
        self.ways = min(_ENORMOUS, self.ways * ways)

    def repeat(self, least: int, most: int) -> bool:
        """Repeat the last element; False when there is none."""
        if self.last is None:
            return False
        ways, steps = self.last
        self.ways, self.steps = self.before
        self.add(*_repeated(ways, steps, least, most))
        self.last = None
        return True


@dataclass(slots=True)
class _Group:
    atomic: bool = False
    ways: int = 0
    steps: int = 0
    branch: _Branch = field(default_factory=_Branch)

    def end_branch(self) -> None:
        self.ways += self.branch.ways
        self.steps += self.branch.steps
        self.branch = _Branch()


def _repeated(ways: int, steps: int, least: int, most: int) -> tuple[int, int]:
    """Ways and steps of an element that may stand between ``least`` and ``most`` times."""
    if ways == 1:
        return most - least + 1, max(1, most * steps)
    all_ways, all_steps, power = 0 if least else 1, 0, 1
    for count in range(1, most + 1):
        all_steps += power * steps
        power *= ways
        all_ways += power if count >= least else 0
        if all_steps > _ENORMOUS or all_ways > _ENORMOUS:
            return _ENORMOUS, _ENORMOUS
    return all_ways, all_steps


def _read(source: str, reach: int) -> tuple[str, int] | None:
    """The pattern with its unbounded repeats bounded, and its steps; None when it is refused or broken."""
    groups, written = [_Group()], []
    for token in _TOKEN.finditer(source):
        branch, text = groups[-1].branch, token[0]
        match token.lastgroup:
            case "atomic" | "open":
                groups.append(_Group(atomic=token.lastgroup == "atomic"))
                text = re.sub(r"\A\(\?<(?=\w)", "(?P<", text)
            case "close":
                if len(groups) == 1:
                    return None
                group = groups.pop()
                group.end_branch()
                groups[-1].branch.add(1 if group.atomic else group.ways, group.steps)
            case "bar":
                groups[-1].end_branch()
            case "repeat" if token["sign"] != "{}":
                least, most = _bounds(token, reach)
                if most < least or not branch.repeat(least, most):
                    return None
                text = f"{{{least},{most}}}{token['mode']}"
            case "flags":
                pass
            case "atom":
                branch.add(1, 1)
                text = _SET_MARK.sub(lambda m: m[1] or f"\\{m[0]}", text) if text.startswith("[") else text
            case _:
                return None
        written.append(text)
    if len(groups) != 1:
        return None
    groups[0].end_branch()
    return "".join(written), groups[0].steps


def _bounds(token: re.Match[str], reach: int) -> tuple[int, int]:
    match token["sign"]:
        case "?":
            return 0, 1
        case "*":
            return 0, reach
        case "+":
            return 1, reach
    least = int((token["least"] or "0")[:6])
    if not token["comma"]:
        return least, least
    return least, int(token["most"][:6]) if token["most"] else max(least, reach)
