"""Ten small dialogues of one person with two others, and what they had said of themselves before."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

START = datetime(2026, 4, 1, 20, tzinfo=UTC)

PERSONAS = {
    "P": ("横浜に住んでいる", "ギターを弾くのが趣味", "納豆が苦手", "字がきれい"),
    "Q": ("旭川市の出身", "猫を三匹飼っている", "抹茶のお菓子が大好き"),
    "R": ("消防士として働いている",),
}

# Who speaks, and what; the other speaks first now and then, and the person last.
TALKS: tuple[tuple[tuple[str, str], ...], ...] = (
    (
        ("Q", "こんばんは。"),
        ("P", "こんばんは。私は横浜に住んでいます。"),
        ("Q", "私は旭川市の出身です。猫を三匹飼っています。"),
        ("P", "猫を三匹も飼っているんですね！"),
        ("Q", "毎朝猫に起こされています。ご趣味は何ですか？"),
        ("P", "趣味はギターを弾くことです。"),
        ("Q", "私は抹茶のお菓子が大好きです。"),
        ("P", "抹茶のお菓子、いいですね。私は納豆が苦手です。"),
        ("Q", "納豆は毎日食べています。"),
        ("P", "毎日食べるのはすごいです。"),
        ("Q", "ありがとうございます。"),
    ),
    (
        ("P", "毎朝六時に川沿いを走っています。"),
        ("Q", "早起きですね。私はいつも昼まで寝ています。"),
        ("P", "昼まで寝ているんですね。私は早寝です。"),
        ("Q", "私は夜中に映画を観るのが好きです。"),
        ("P", "私も映画を観るのが好きです。"),
        ("Q", "どんな映画ですか？"),
        ("P", "古い時代劇の映画をよく観ています。"),
        ("Q", "渋いですね。"),
        ("P", "祖父の影響です。"),
    ),
    (
        ("R", "はじめまして。消防士として働いています。"),
        ("P", "消防士さんなんですね。私は図書館で働いています。"),
        ("R", "図書館はよく通っています。"),
        ("P", "ぜひ来てください。"),
        ("R", "私は推理小説を集めています。"),
        ("P", "推理小説を集めているとは、本棚が大変そうです。"),
        ("R", "休みの日は釣りに行くのが好きです。"),
        ("P", "私は休みの日にギターを弾くことが多いです。"),
        ("R", "いい趣味ですね。"),
    ),
    (
        ("P", "こんばんは。今日は納豆が出て困りました。"),
        ("Q", "納豆は美味しいのに。"),
        ("P", "やっぱり納豆が苦手です。"),
        ("Q", "私は辛い物が苦手です。"),
        ("P", "辛い物が苦手な人は多いですよね。"),
        ("Q", "はい。"),
    ),
    (
        ("P", "横浜に住んでいて、中華街によく行きます。"),
        ("R", "中華街で小籠包を食べるのが好きです。"),
        ("P", "私は肉まんが好きです。"),
        ("R", "肉まんもいいですね。私は毎週ラーメンを食べています。"),
        ("P", "毎週ラーメンですか。"),
        ("R", "はい、塩ラーメン派です。"),
    ),
    (
        ("P", "毎朝六時に川沿いを走っていますが、今朝は雨でした。"),
        ("Q", "雨の日は私は家で編み物をしています。"),
        ("P", "編み物をしている人は尊敬します。"),
        ("Q", "マフラーをよく編んでいます。"),
        ("P", "手作りのマフラーは暖かそうです。"),
        ("Q", "暖かいです。"),
    ),
    (
        ("R", "お久しぶりです。"),
        ("P", "最近スペイン語を習っています。"),
        ("R", "私はドイツ語を習っています。"),
        ("P", "ドイツ語を習うのは難しそうです。"),
        ("R", "発音が好きです。"),
        ("P", "私はスペイン語の発音が好きです。"),
        ("R", "いいですね。"),
    ),
    (
        ("P", "趣味のギターを弾く動画を作りました。"),
        ("Q", "私は毎晩ピアノを弾いています。"),
        ("P", "毎晩ピアノを弾くと上達しそうです。"),
        ("Q", "まだまだです。"),
    ),
    (
        ("P", "図書館で働いているので、新刊をよく読んでいます。"),
        ("R", "私は漫画をよく読んでいます。"),
        ("P", "漫画も図書館にあります。"),
        ("R", "借りに行きます。"),
    ),
    (
        ("Q", "お久しぶりです。"),
        ("P", "お久しぶりです。ギターを弾くことは続けています。"),
        ("Q", "私も猫を三匹飼い続けています。"),
        ("P", "スペイン語を習っているので、来年は旅行したいです。"),
        ("Q", "私は旅行が苦手です。"),
        ("P", "旅行が苦手なんですね。私は肉まんが好きで、毎週食べています。"),
        ("Q", "肉まん、いいですね。"),
    ),
)


def records() -> list[dict[str, Any]]:
    """The dialogues in the form of the file, the newest first."""
    found = []
    for day, talk in enumerate(TALKS):
        began = START + timedelta(days=day)
        times = [(began + timedelta(minutes=place)).replace(tzinfo=None).isoformat() for place in range(len(talk))]
        lines = [
            {"interlocutor_id": speaker, "text": text, "timestamp": at}
            for (speaker, text), at in zip(talk, times, strict=True)
        ]
        lines[2]["timestamp"] = "NaT"
        found.append({"dialogue_id": day, "utterances": lines})
    return found[::-1]


def written(folder: Path, *, personas: bool = True) -> Path:
    """The file, with the personas beside it."""
    path = folder / "talks.jsonl"
    path.write_text("\n".join(json.dumps(record, ensure_ascii=False) for record in records()), encoding="utf-8")
    if personas:
        beside = {speaker: {"interlocutor_id": speaker, "persona": said} for speaker, said in PERSONAS.items()}
        (folder / "personas.json").write_text(json.dumps(beside, ensure_ascii=False), encoding="utf-8")
    return path
