"""The load benchmark: a small run goes through on the real bot, and its counting sees what it is there for."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from bot.evals import load
from bot.evals.light_discord import Said
from bot.evals.tally import Rows, Tally, mistakes, number_in

CHANNEL = 7


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="what another process uses is read from /proc")
async def test_a_small_run_loses_and_doubles_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cheap = await load.run(sessions=5, rate=10, seconds=2, as_json=False, out=tmp_path / "run")

    printed = capsys.readouterr().out
    assert printed.count("20, 20 (0 answered along with a later one)") == 2, "both bots answered each message"
    assert printed.count("none") == 4
    assert cheap == ("(at most 3)" in printed and float(printed.split(" times the echo")[0].split()[-1]) <= 3)
    assert (tmp_path / "run/load.png").read_bytes().startswith(b"\x89PNG")
    assert '"echo"' in (tmp_path / "run/result.json").read_text(encoding="utf-8")


def said(number: int, message_id: int, *, channel: int = CHANNEL) -> Said:
    return Said(message_id, channel, f"I heard of m{number}.", by_webhook=True)


def tally(*numbers: int, together: bool = True) -> Tally:
    counted = Tally(together=together)
    for number in numbers:
        counted.send(number, CHANNEL, float(number))
    return counted


def rows(*, heard: tuple[int, ...], replies: tuple[tuple[int, int], ...], unanswered: int = 0) -> Rows:
    return Rows(Counter(heard), tuple((number, (message_id,)) for number, message_id in replies), unanswered)


def test_an_answer_to_the_newest_message_answers_those_before_it() -> None:
    counted = tally(1, 2, 3)
    counted.hear(said(2, 71), 5.0)

    assert counted.answered == {1: 5.0, 2: 5.0}
    assert counted.left == 1


def test_each_message_of_the_echo_bot_is_answered_by_itself() -> None:
    counted = tally(1, 2, together=False)
    counted.hear(said(2, 71), 5.0)

    assert mistakes(counted, [said(2, 71)], None).lost == {"without an answer": 1}


def test_another_channel_answers_nothing() -> None:
    counted = tally(1)
    counted.hear(said(1, 71, channel=CHANNEL + 1), 5.0)

    assert counted.left == 1


def test_what_is_well_is_no_mistake() -> None:
    counted = tally(1, 2)
    counted.hear(said(2, 71), 5.0)

    assert mistakes(counted, [said(2, 71)], rows(heard=(1, 2), replies=((2, 71),))).none


@pytest.mark.parametrize(
    ("standing", "kept", "kind"),
    [
        ([said(1, 71)], rows(heard=(), replies=((1, 71),)), "not committed"),
        ([said(1, 71)], rows(heard=(1,), replies=((1, 71),), unanswered=1), "committed without a reply"),
        ([], rows(heard=(1,), replies=((1, 71),)), "replies not in the channel"),
    ],
)
def test_a_loss_is_seen(standing: list[Said], kept: Rows, kind: str) -> None:
    counted = tally(1)
    counted.hear(said(1, 71), 5.0)

    found = mistakes(counted, standing, kept)

    assert {name: count for name, count in found.lost.items() if count} == {kind: 1}
    assert not found.none


@pytest.mark.parametrize(
    ("standing", "kept", "kinds"),
    [
        ([said(1, 71), said(1, 72)], rows(heard=(1,), replies=((1, 71), (1, 72))), {"answered again": 1}),
        ([said(1, 71)], rows(heard=(1, 1), replies=((1, 71),)), {"committed again": 1}),
        (
            [said(1, 71), said(2, 72)],
            rows(heard=(1,), replies=((1, 71),)),
            {"answers without a row": 1},
        ),
        ([said(1, 71)], rows(heard=(1,), replies=((1, 71), (1, 71))), {"messages of two replies": 1}),
    ],
)
def test_a_double_is_seen(standing: list[Said], kept: Rows, kinds: dict[str, int]) -> None:
    counted = tally(1)
    counted.hear(said(1, 71), 5.0)

    found = mistakes(counted, standing, kept)

    assert {name: count for name, count in found.doubled.items() if count} == kinds
    assert not found.none


def test_the_newest_number_of_a_text_counts() -> None:
    assert number_in("m1, and then m22.") == 22
    assert number_in("them1 and 5m") is None
