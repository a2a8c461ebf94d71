"""What a document says outside its text: a month in its file's name, descriptions, a summary."""

from datetime import date

import pytest
from collection import Collection
from table_of_cases import each

from mdvec.search.core.filters import filters_of


def filtered(**said):
    return filters_of(date(2026, 1, 1), **said)


NOTICE = "# お知らせ\n\n駐車場の工事があります。ご協力をお願いします。\n"


@pytest.mark.parametrize(
    "name", ["news{y}{m}.md", "oshirase_{y}_{m}.md", "お知らせ{y}{m}.md", "お知らせ２０{yy}{m}.md"]
)
def test_a_month_only_in_a_files_name_is_found_but_filters_nothing(collection, name):
    for year, month in ((2023, 6), (2023, 7), (2022, 7)):
        collection.write(name.format(y=year, m=f"{month:02}", yy=year % 100), NOTICE)
    collection.import_("new")
    wanted = name.format(y=2023, m="07", yy=23)
    for query in ("2023年7月のお知らせ", "令和5年7月のお知らせ", "2023-07 お知らせ"):
        for mode in ("lexical", "hybrid"):
            answer = collection.search(query, k=3, mode=mode)
            assert answer.results[0].file_path == wanted
            assert answer.results[0].date is None
    assert collection.search("お知らせ", filters=filtered(since="2023-07")).results == ()


NOTES = {
    "saw.md": (
        "---\ntitle: 道具\ndescription: 電動ノコギリの替え刃の選び方\nkeywords: [DIY, 木工]\n"
        "---\n\n# 道具\n\n長さは二種類ある。\n\n## 厚み\n\n薄いほうがよく切れる。\n"
    ),
    "own.md": "---\nsummary: 毎朝の散歩の記録\n---\n\n# 散歩\n\n毎朝の散歩の記録。川まで歩いた。\n",
    "other.md": "---\nauthor: 木村\nlayout: post\n---\n\n# 花\n\n水をやる。木村さんにもらった。\n",
    "another.md": "---\nauthor: 木村\n---\n\n# 鉢\n\n大きい鉢に移す。\n",
}


@pytest.fixture(scope="module")
def notes(tmp_path_factory) -> Collection:
    return Collection.of(tmp_path_factory.mktemp("described"), NOTES)


@each("query", ["電動ノコギリの替え刃", "替え刃の選び方は？", "木工"])
@each("mode", ["lexical", "hybrid"])
def test_a_description_in_front_matter_finds_the_note_and_is_shown_as_such(notes, query, mode):
    answer = notes.search(query, k=1, mode=mode)
    hit = answer.results[0]
    assert hit.file_path == "saw.md"
    assert hit.description in ("電動ノコギリの替え刃の選び方", "DIY 木工")
    assert f"({hit.description})" in hit.about
    assert not any("nothing here mentions" in note for note in answer.notes)


def test_a_summary_that_the_passage_has_is_not_shown_twice(notes):
    hit = notes.search("毎朝の散歩", k=1).results[0]
    assert (hit.file_path, hit.description) == ("own.md", "")


def test_who_wrote_each_note_hides_none_that_names_somebody(notes):
    assert notes.places("木村さん", k=1) == ["other.md"]


@each(("said", "files"), [("ノコギリの替え刃", ["saw.md"]), ("替え刃", ["saw.md"])])
def test_an_exact_text_may_stand_in_a_description(notes, said, files):
    answer = notes.search("道具", k=9, filters=filtered(exact=[said]))
    assert sorted({hit.file_path for hit in answer.results}) == files
    without = notes.search("道具と散歩", k=9, filters=filtered(exclude=[said]))
    assert "saw.md" not in {hit.file_path for hit in without.results}


def test_an_index_without_descriptions_has_them_after_an_import_that_embeds_nothing(
    tmp_path, monkeypatch
):
    from mdvec.index import properties, tables

    with monkeypatch.context() as before:
        before.setattr(tables, "_WORDS_FORMAT", 5)
        before.setattr(properties, "described", lambda values: ())
        old = Collection.of(tmp_path, NOTES)
        assert any("only in front matter" in note for note in old.search("替え刃").notes)
    assert old.places("散歩", k=1, mode="lexical") == ["own.md"]
    assert old.import_().chunks_embedded == 0
    assert old.places("替え刃の選び方", k=1, mode="lexical") == ["saw.md"]
    assert not any("only in front matter" in note for note in old.search("替え刃").notes)


HEADS = {
    "meeting.md": "---\nauthor: 佐藤健司\nproject: ひばり計画\n---\n納期の変更を了承した。\n",
    "spaced.md": "---\nreviewer: 山本 花子\n---\n条件を確かめた。\n\n## 次回\n\n来月にする。\n",
    "mail.md": "---\nfrom: 田中 <tanaka@example.jp>\nto: a@b.jp, 林 <h@b.jp>\n---\n金額を見た。\n",
    "day.md": "---\n日付: 令和6年12月5日\nversion: 15.3.1\n---\n議題は三つあった。\n",
    "other.md": "# 別のメモ\n\n電話番号を確認した。計画を立てた。版は 115.3.12。\n",
}


@pytest.fixture(scope="module")
def heads(tmp_path_factory) -> Collection:
    return Collection.of(tmp_path_factory.mktemp("heads"), HEADS)


@each(
    ("query", "file"),
    [
        ("佐藤健司", "meeting.md"),
        ("佐藤健司が書いたメモ", "meeting.md"),
        ("ひばり計画", "meeting.md"),
        ("山本花子", "spaced.md"),
        ("田中さんからのメール", "mail.md"),
        ("tanaka@example.jp", "mail.md"),
        ("令和6年12月5日", "day.md"),
        ("2024-12-05", "day.md"),
        ("2024年12月の議題", "day.md"),
        ("15.3.1", "day.md"),
    ],
)
@each("mode", ["lexical", "hybrid"])
def test_what_front_matter_alone_has_finds_the_first_passage_of_its_note(heads, query, file, mode):
    answer = heads.search(query, k=1, mode=mode)
    assert answer.results[0].file_path == file
    assert answer.results[0].start_line <= 6
    assert not any("nothing here mentions" in note for note in answer.notes)


def test_an_answer_says_what_stands_in_front_matter_alone(heads):
    assert '"佐藤健司": only in front matter' in heads.search("佐藤健司").notes
    for query in ("電話番号", "令和6年12月5日"):
        assert not any("front matter" in note for note in heads.search(query).notes)


def test_front_matter_is_searched_within_filters(heads):
    assert (
        heads.search("佐藤健司", filters=filtered(path="day.md")).results[0].file_path == "day.md"
    )


def test_what_a_passage_has_is_found_there_alone(notes):
    answer = notes.search("木村", k=9, mode="lexical")
    assert answer.results[0].file_path == "other.md"
    assert "another.md" not in {hit.file_path for hit in answer.results}
    assert not answer.notes or "front matter" not in answer.notes[0]


@each(
    ("entry", "value", "files"),
    [
        ("from", "田中", ["mail.md"]),
        ("from", "Tanaka@example.jp", ["mail.md"]),
        ("from", "田中 <tanaka@example.jp>", ["mail.md"]),
        ("to", "林", ["mail.md"]),
        ("to", "a@b.jp", ["mail.md"]),
        ("from", "田", []),
    ],
)
def test_where_has_each_name_and_address_of_a_line_of_them(heads, entry, value, files):
    answer = heads.search("金額", k=9, filters=filtered(where={entry: value}))
    assert [hit.file_path for hit in answer.results] == files
