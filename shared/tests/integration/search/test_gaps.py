"""Words with something amid them: spaces, line ends, readings, invisible characters, units."""

from datetime import date

import pytest
from collection import Collection
from table_of_cases import each

from mdvec.search.core.filters import filters_of

NOTES = {
    "notice.md": "日　時　令和7年5月1日\n\n場　所　集会室\n\n出　席　者：五名\n\n"
    "田　中　太郎\n\n議　事　録\n",
    "mail.txt": "当日は上履きかスリッ\nパを持参する。車はハイブリ\nッドで、マンシ\nョンの前に置く。"
    "春の定期総\n会に、委任\n状を出す。\n",
    "read.md": "避（ひ）難（なん）所（じょ）は小（しょう）学（がっ）校（こう）で、"
    "申《もう》し込《こ》みは要らない。\n",
    "ruby.md": "<ruby>手<rp>(</rp><rt>て</rt><rp>)</rp></ruby><ruby>水<rt>みず</rt></ruby>で"
    "<ruby>眼<rt>め</rt>鏡<rt>がね</rt></ruby>を洗う。\n",
    "unseen.md": "東京\u200b都庁と、ソフト\u00adウェア。"
    "国\ufeff税庁、運転\u2060免許、葛\U000e0100城市。\n",
    "person.md": "𠮷野さんは㈱ヤマネコに勤める。\n",
    "page.md": "問<br>診票を書き、待合&#8203;室で待つ。\n",
    "car.md": "走行距離48,260kmで交換した。電池は10,000mAh、水は2,000ml、US$31,500だった。\n",
    "edge.md": "はLaravelの会費は１２３円で、振替はｶ)ﾔﾏﾄ、部屋は１０１号室。がHTTPである。\n",
    **{f"filler/{n}.md": f"# 雑記 {n}\n\n天気や旅行のことを書いた。\n" for n in range(30)},
}
WRITTEN = {
    "notice.md": ["日時", "場所", "出席者", "田中", "議事録"],
    "mail.txt": ["スリッパ", "ハイブリッド", "マンション", "定期総会", "委任状"],
    "read.md": ["避難所", "申し込み", "小学校"],
    "ruby.md": ["手水", "眼鏡"],
    "unseen.md": ["東京都庁", "ソフトウェア", "国税庁", "運転免許", "葛城市"],
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
