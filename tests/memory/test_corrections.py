"""What a moderator may do to a memory, and that it is final and can be undone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from bot.memory.corrections import Correction, CorrectionError, CorrectionKind, corrected, restated
from bot.memory.likeness import closeness, features, likeness
from bot.memory.memories import Content, Memory, MemoryKind, MemoryStatus, Version
from tests.memory.builders import NOON, memory


class Record:
    """A memory with its history, as the store keeps them."""

    def __init__(self, kind: MemoryKind = MemoryKind.FACT, text: str = "Rin is a pilot.") -> None:
        self.memory = replace(memory(4, text, kind), content=Content(kind, text, player_id=11))
        self.history = [Version(1, self.memory.content, self.memory.status, "fold", "", NOON)]

    def apply(self, kind: CorrectionKind, text: str = "", *, by: str = "500") -> Memory:
        changed = corrected(self.memory, Correction(kind, 500, "why", text), speaker="Rin", history=tuple(self.history))
        assert changed.version == self.memory.version + 1
        return self.put(changed, by)

    def put(self, changed: Memory, by: str) -> Memory:
        self.memory = changed
        self.history.append(Version(changed.version, changed.content, changed.status, by, "", NOON))
        return changed


def test_said_not_true_makes_a_fact_a_claim() -> None:
    record = Record()
    changed = record.apply(CorrectionKind.SAID_NOT_TRUE)
    assert changed.content == Content(MemoryKind.CLAIM, "Rin is a pilot.", "Rin")
    assert changed.corrected
    assert changed.is_active


def test_edit_and_retract() -> None:
    record = Record()
    assert record.apply(CorrectionKind.EDIT, " Rin is \n a cook. ").content.text == "Rin is a cook."
    assert record.memory.content.player_id == 11
    assert record.apply(CorrectionKind.RETRACT).status is MemoryStatus.RETRACTED
    assert record.apply(CorrectionKind.EDIT, "Rin is a smith.").status is MemoryStatus.ACTIVE
    assert len(record.apply(CorrectionKind.EDIT, "x" * 2_000).content.text) == 500


@pytest.mark.parametrize(
    ("kind", "of", "text", "code"),
    [
        (CorrectionKind.SAID_NOT_TRUE, MemoryKind.CLAIM, "", "correction-not-a-fact"),
        (CorrectionKind.SAID_NOT_TRUE, MemoryKind.LOOSE_END, "", "correction-not-a-fact"),
        (CorrectionKind.EDIT, MemoryKind.FACT, "  \n", "correction-needs-text"),
        (CorrectionKind.EDIT, MemoryKind.QUOTE, "other words", "correction-quote-is-verbatim"),
        (CorrectionKind.EDIT, MemoryKind.FACT, "Rin is a pilot.", "correction-changes-nothing"),
        (CorrectionKind.RESTORE, MemoryKind.FACT, "", "correction-nothing-to-restore"),
    ],
)
def test_a_correction_that_makes_no_sense(kind: CorrectionKind, of: MemoryKind, text: str, code: str) -> None:
    record = Record(of)
    with pytest.raises(CorrectionError, match=code) as caught:
        record.apply(kind, text)
    assert (caught.value.code, caught.value.number) == (code, 4)


def test_retracting_twice_changes_nothing() -> None:
    record = Record()
    record.apply(CorrectionKind.RETRACT)
    with pytest.raises(CorrectionError, match="changes-nothing"):
        record.apply(CorrectionKind.RETRACT)


CHANGES: list[Callable[[Record], Memory]] = [
    lambda record: record.apply(CorrectionKind.SAID_NOT_TRUE),
    lambda record: record.apply(CorrectionKind.EDIT, "Rin is a cook."),
    lambda record: record.apply(CorrectionKind.RETRACT),
]


@pytest.mark.parametrize("change", CHANGES)
def test_restore_undoes_and_again_redoes(change: Callable[[Record], Memory]) -> None:
    record = Record()
    before = record.memory
    after = change(record)
    for _ in range(2):
        undone = record.apply(CorrectionKind.RESTORE)
        assert (undone.content, undone.status, undone.corrected) == (before.content, before.status, False)
        redone = record.apply(CorrectionKind.RESTORE)
        assert (redone.content, redone.status, redone.corrected) == (after.content, after.status, True)


def test_restore_goes_back_one_correction_at_a_time_to_a_moderators_word() -> None:
    record = Record()
    record.apply(CorrectionKind.EDIT, "Rin is a cook.")
    record.apply(CorrectionKind.RETRACT)
    undone = record.apply(CorrectionKind.RESTORE)
    assert (undone.content.text, undone.status, undone.corrected) == ("Rin is a cook.", MemoryStatus.ACTIVE, True)


def test_restore_does_not_bring_back_what_an_edited_turn_took_out_of_sight() -> None:
    record = Record()
    record.apply(CorrectionKind.EDIT, "Rin is a cook.")
    record.put(replace(record.memory, status=MemoryStatus.STALE, version=3), "edit")
    assert record.apply(CorrectionKind.RESTORE).status is MemoryStatus.STALE
    assert record.memory.content.text == "Rin is a pilot."


# Retellings of what was set right


def settled(lie: str, truth: str | None = None, *, claim: bool = False) -> list[tuple[Memory, list[Version]]]:
    """A memory that an edit set right, that was retracted (no truth), or that became a claim."""
    record = Record(text=lie)
    if claim:
        record.apply(CorrectionKind.SAID_NOT_TRUE)
    elif truth is None:
        record.apply(CorrectionKind.RETRACT)
    else:
        record.apply(CorrectionKind.EDIT, truth)
    return [(record.memory, record.history)]


@pytest.mark.parametrize(
    ("lie", "truth", "retold"),
    [
        ("Rin is a licensed pilot.", "Rin is not a licensed pilot.", "Rin is a licensed pilot."),
        ("Rin is a licensed pilot.", "Rin failed the exam.", "Rin is a licensed pilot of the harbour."),
        ("The captain lies ill in the cabin with fever.", None, "The captain is ill with fever in the cabin."),
        ("磯村は四十年勤めた駅長である。", "磯村は売店の売り子だった。", "磯村は四十年勤めた駅長だ。"),
        ("磯村は駅長である。", "磯村は駅長ではない。", "磯村は駅長だ。"),
        ("柳七是天下第七剑。", "柳七是钱庄的账房。", "柳七乃天下第七剑。"),
        ("酒埋了二十年。", None, "那坛酒埋了二十年。"),
    ],
)
def test_a_retold_lie_is_known_again(lie: str, truth: str | None, retold: str) -> None:
    found = restated(retold, settled(lie, truth))
    assert found
    assert found.number == 4
    assert restated(retold, settled(lie, claim=True))


@pytest.mark.parametrize(
    ("lie", "truth", "text"),
    [
        ("Rin is a licensed pilot.", "Rin is not a licensed pilot.", "Rin is not a licensed pilot."),
        ("Rin is a licensed pilot.", "Rin is not a licensed pilot.", "Rin is not a licensed pilot at all."),
        ("Rin is thirty-four years old.", "Rin is twenty-three years old.", "Rin is twenty-three years old now."),
        ("磯村は駅長である。", "磯村は駅長ではない。", "磯村は駅長ではなかった。"),
        ("柳七今年六十三岁。", "柳七今年四十一岁。", "柳七今年四十一岁了。"),
        # Only names are shared.
        ("Rin Vale is the captain.", None, "Rin Vale hid from the captain behind the old boathouse."),
        ("Rin Vale is the captain of the ferry.", None, "Rin Vale met Ken Abe at the market."),
        ("磯村は四十年勤めた駅長である。", None, "磯村は猫に魚をやった。"),
        ("柳七是天下第七剑。", None, "柳七给驴喂了草。"),
        ("", None, "Rin sleeps."),
    ],
)
def test_the_truth_and_other_sentences_are_not_taken_for_the_lie(lie: str, truth: str | None, text: str) -> None:
    assert restated(text, settled(lie, truth)) is None


def test_the_truth_stays_the_truth_while_its_chapter_is_folded_again() -> None:
    ((stored, history),) = settled("Rin is a licensed pilot.", "Rin is a ship's cook.")
    stale = replace(stored, status=MemoryStatus.STALE)
    assert restated("Rin is a ship's cook.", [(stale, history)]) is None
    assert restated("Rin is a licensed pilot.", [(stale, history)]) is stale


def test_the_nearest_of_several_is_linked() -> None:
    one = settled("Rin won the winter race twice.")[0]
    other = settled("Rin won the winter race twice against Ken Abe.")[0]
    other = (replace(other[0], number=9), other[1])
    found = restated("Rin won the winter race twice against Ken Abe.", [one, other])
    assert found
    assert found.number == 9


# Likeness


def test_features_are_bigrams_in_wide_scripts_and_words_elsewhere() -> None:
    assert features("The pilots' ship isn't here, Rin's is") == {"pilot", "ship", "isn", "rin"}
    assert features("駅長だ") == {"駅長", "長だ"}
    assert features("ＲＩＮ Ⅳ") == {"rin", "iv"}
    assert features("…!?") == frozenset()


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("What is the matter with the captain?", "What is in the letter that she keeps?"),
        ("Where is Mio's spanner?", "Where is Mio's knife?"),
        ("Mio doesn't like the rain.", "Mio doesn't own a horse."),
        ("She said that he was there with her.", "They said it was here with them."),
        ("Who will dock the ship on Friday?", "Who will take the exam on Friday?"),
    ],
)
def test_small_words_do_not_make_english_alike(left: str, right: str) -> None:
    assert likeness(left, right) < 0.7


@pytest.mark.parametrize(
    ("left", "right", "share"),
    [
        ("Rin flew the mail ship", "The mail ship was flown: Rin flew it alone", 1.0),
        ("red blue green", "red blue green gold", 1.0),
        ("red blue green gold", "red blue green iron", 0.75),
        ("red blue", "red blue green gold", 0.0),
        ("red blue", "blue red", 1.0),
        ("", "red", 0.0),
        ("", "", 0.0),
    ],
)
def test_likeness_is_the_share_of_the_shorter(left: str, right: str, share: float) -> None:
    assert likeness(left, right) == likeness(right, left) == share


def test_closeness_is_the_share_of_both() -> None:
    assert closeness("red blue green", "red blue green gold") == 0.75
    assert closeness("red", "red") == 1.0
    assert closeness("", "red") == closeness("red", "blue") == 0.0
