"""Words with something amid them: spaces, line ends, readings, invisible characters, units."""

from datetime import date

import pytest
from collection import Collection
from table_of_cases import each

from mdvec.search.core.filters import filters_of

NOTES = {
    "notice.md": "日　時　令和7年5月1日\n\n場　所　集会室\n\n出　席　者：五名\n\n"
    "田　中　太郎\n\n議　事　録\n",
    "mail.txt": "参加される方の当日の持ち物ですが、上履きかスリッ\n"
    "パと筆記用具です。駐車場には電気自動車とハイブリ\n"
    "ッドのための区画もあります。来られない方は春の定期総\n"
    "会までに、署名のある委任状を事務局に出してください。\n",
    "read.md": "避（ひ）難（なん）所（じょ）は小（しょう）学（がっ）校（こう）で、"
    "申《もう》し込《こ》みは要らない。\n",
    "ruby.md": "<ruby>手<rp>(</rp><rt>て</rt><rp>)</rp></ruby><ruby>水<rt>みず</rt></ruby>で"
    "<ruby>眼<rt>め</rt>鏡<rt>がね</rt></ruby>と<ruby>体育<rt>たいいく</rt></ruby>着を洗う。\n",
    "unseen.md": "東京\u200b都庁と、ソフト\u00adウェア。"
    "国\ufeff税庁、運転\u2060免許、葛\U000e0100城市。\n",
    "person.md": "𠮷野さんは㈱ヤマネコに勤める。\n",
    "longer.md": "髙橋太郎氏が来た。申請は西都庁舎で。⚠️を見る。\n",
    "page.md": "問<br>診票を書き、待合&#8203;室で待つ。\n",
    "car.md": "走行距離48,260kmで交換した。電池は10,000mAh、水は2,000ml、US$31,500だった。\n",
    "edge.md": "はLaravelの会費は１２３円で、振替はｶ)ﾔﾏﾄ、部屋は１０１号室。がHTTPである。\n",
    **{f"filler/{n}.md": f"# 雑記 {n}\n\n天気や旅行のことを書いた。\n" for n in range(30)},
}
WRITTEN = {
    "notice.md": ["日時", "場所", "出席者", "田中", "議事録"],
    "mail.txt": ["スリッパ", "ハイブリッド", "定期総会", "委任状"],
    "read.md": ["避難所", "申し込み", "小学校"],
    "ruby.md": ["手水", "眼鏡", "体育着"],
    "unseen.md": ["東京都庁", "ソフトウェア", "国税庁", "運転免許", "葛城市"],
    "longer.md": ["高橋太郎", "橋太郎氏", "都庁舎", "西都庁"],
    "person.md": ["吉野", "株式会社ヤマネコ"],
    "page.md": ["問診票", "待合室"],
    "car.md": ["48260", "48260km", "48,260km", "10000mAh", "2000", "31500"],
    "edge.md": ["はlaravel", "は123円", "カ)ヤマト", "は101", "がhttp"],
}
CASES = [(word, file) for file, words in WRITTEN.items() for word in words]


@pytest.fixture(scope="module")
def notes(tmp_path_factory) -> Collection:
    return Collection.of(tmp_path_factory.mktemp("gaps"), NOTES)


def filtered(**said):
    return filters_of(date(2026, 1, 1), **said)


@each(("word", "file"), CASES)
def test_a_word_with_something_amid_it_is_found_and_not_denied(notes, word, file):
    answer = notes.search(f"{word}について", mode="lexical")
    assert answer.results[0].file_path == file
    assert not any("mention" in note or "inside" in note for note in answer.notes)


@each(("word", "file"), CASES)
def test_such_a_word_is_an_exact_text_and_can_be_excluded(notes, word, file):
    answer = notes.search("書いたこと", k=40, filters=filtered(exact=[word]))
    assert {hit.file_path for hit in answer.results} == {file}
    rest = notes.search("書いたこと", k=60, filters=filtered(exclude=[word]))
    left = {hit.file_path for hit in rest.results}
    assert file not in left or word in ("48260", "2000", "31500")  # whole words end in a unit


NO_GAPS = {
    "table.md": "| 山本 | 中村 | 京都 |\n|---|---|---|\n| 川上 | 海 | 外務課 |\n| 日 | 月 | 火 |\n",
    "list.txt": "係\n佐川\n上\n海\n山\n",
    "heading.md": "# 親子\n遠足の日。\n\n## 今年度の定期総会の日程と会場と役員についての委員\n"
    "会計の報告と次の年度の予算について話し合いをする予定です。\n",
    "cells.tsv.txt": "秋\t田\t犬\n",
    "answers.md": "出欠：山本（あり）川田（なし）中野（あり）\n",
    "beside.txt": "姓 太田\n大沢 町\n",
    "digits.txt": "1,2,3,4,5,6\n",
}


@pytest.fixture(scope="module")
def apart(tmp_path_factory) -> Collection:
    return Collection.of(tmp_path_factory.mktemp("apart"), NO_GAPS)


@each(
    ("word", "file"),
    [
        ("上海", "table.md"),
        ("海外", "table.md"),
        ("本中", "table.md"),
        ("日月", "table.md"),
        ("上海", "list.txt"),
        ("親子遠足", "heading.md"),
        ("委員会", "heading.md"),
        ("秋田", "cells.tsv.txt"),
        ("田中", "answers.md"),
        ("本川", "answers.md"),
        ("沢町", "beside.txt"),
        ("123456", "digits.txt"),
    ],
)
def test_cells_items_headings_and_remarks_do_not_make_one_word(apart, word, file):
    assert apart.search("書いたこと", filters=filtered(exact=[word])).results == ()
    rest = apart.search("書いたこと", k=40, filters=filtered(exclude=[word]))
    assert file in {hit.file_path for hit in rest.results}
    assert f'nothing here mentions "{word}"' in apart.search(word, mode="lexical").notes


def test_an_emoji_in_a_question_leaves_its_names_as_typed(collection):
    collection.write("a.md", "天気や旅行のことを書いた。\n")
    collection.import_("new")
    notes = collection.search("⚠️ Kubernetesの設定").notes
    assert any('"Kubernetes"' in note for note in notes)


@each("word", ["避難署", "込み手", "日々時", "1,2,3"])
def test_other_letters_are_no_gap(notes, word):
    answer = notes.search("書いたこと", filters=filtered(exact=[word]))
    assert answer.results == ()
    assert f'nothing in notes says "{word}" as it is written' in answer.notes


def test_that_front_matter_has_an_exact_text_is_only_said_if_it_does(collection):
    collection.write("a.md", "---\n担当: 佐藤\n---\n\n申し込み書を出す。RUF A2405 を直す。\n")
    collection.import_("new")
    notes = {
        words: " ".join(collection.search("書く", filters=filtered(exact=[words])).notes)
        for words in ("佐藤", "申込書", "RUF-A2405")
    }
    assert "which a note has elsewhere, as in its front matter" in notes.pop("佐藤")
    assert all("as it is written" in note for note in notes.values())


def test_an_index_of_the_format_before_denies_no_word_with_a_gap(tmp_path, monkeypatch):
    from mdvec.index import tables
    from mdvec.text import fields

    with monkeypatch.context() as before:
        before.setattr(tables, "_WORDS_FORMAT", 6)
        before.setattr(fields, "gapped_runs", lambda text: [])
        old = Collection.of(tmp_path, {"a.md": NOTES["notice.md"], "b.txt": NOTES["mail.txt"]})
    for word in ("日時", "場所", "スリッパ", "定期総会"):
        assert not any("mention" in note for note in old.search(word).notes)
        answer = old.search("書く", filters=filtered(exact=[word]))
        assert len({hit.file_path for hit in answer.results}) == 1
