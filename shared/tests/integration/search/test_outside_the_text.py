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
        assert old.search("替え刃の選び方", mode="lexical").results == ()
    assert old.places("散歩", k=1, mode="lexical") == ["own.md"]
    assert old.import_().chunks_embedded == 0
    assert old.places("替え刃の選び方", k=1, mode="lexical") == ["saw.md"]
