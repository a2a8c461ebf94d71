"""What a document says outside its text: a month in its file's name, descriptions, a summary."""

import pytest
from collection import Collection, filtered, imported_notes
from table_of_cases import each

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


notes = imported_notes(NOTES)


TALK = """---
田中: いつ始めますか
鈴木: 来週の火曜です
田中: 予算: 二百万円で足りますか
ふたりは工場へ向かった。
---

# 第一章

翌朝の話。
"""


def test_text_between_two_rules_is_found_however_much_it_looks_like_front_matter(tmp_path):
    talk = Collection.of(tmp_path, {"kaiwa.md": TALK, "b.md": "# 花\n\n水をやる。\n"})
    for words in ("いつ始めますか", "来週の火曜", "二百万円", "工場へ向かった"):
        (hit,) = talk.search(words, filters=filtered(exact=[words])).results
        assert (hit.file_path, hit.start_line) == ("kaiwa.md", 1)
    said = filtered(where={"田中": "予算: 二百万円で足りますか"})
    assert {hit.file_path for hit in talk.search("予算", filters=said).results} == {"kaiwa.md"}


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
        assert any("only in the front matter" in note for note in old.search("替え刃").notes)
    assert old.places("散歩", k=1, mode="lexical") == ["own.md"]
    assert old.import_().chunks_embedded == 0
    assert old.places("替え刃の選び方", k=1, mode="lexical") == ["saw.md"]
    assert not any("front matter" in note for note in old.search("替え刃").notes)


FILES = {
    "old/photo.txt": "A camera and a lens were bought in May.\n",
    "夏の見積_v2.txt": "庭の工事は三十万円です。\n",
    "trip.md": "# Trip\n\nThe sea near Shonan, 湘南の海。\n",
}


files = imported_notes(FILES)


@each(
    ("query", "denied"),
    [
        ("photo.txt", ""),
        ("PHOTO.TXT", ""),
        ("photo.txt はどこ", ""),
        ("見積_v2.txt", ""),
        ("見積_v2.txt の金額", '"金額"'),
        ("foo.txt", '"foo.txt"'),
        ("o.txt の地図", '"txt", "地図"'),
        ("請求.txt", '"txt", "請求"'),
        ("txt の書き方", '"txt"'),
        ("photo.txt と kubernetes の関係", '"kubernetes"'),
    ],
)
def test_the_ending_of_a_file_that_is_there_is_not_denied(files, query, denied):
    answer = files.search(query)
    notes = [note for note in answer.notes if "nothing here mentions" in note]
    assert notes == ([f"nothing here mentions {denied}"] if denied else [])
    assert answer.confident or denied


HEADS = {
    "meeting.md": "---\nauthor: 佐藤健司\nproject: ひばり計画\n---\n納期の変更を了承した。\n",
    "spaced.md": "---\nreviewer: 山本 花子\n---\n条件を確かめた。\n\n## 次回\n\n来月にする。\n",
    "mail.md": "---\nfrom: 田中 <tanaka@example.jp>\nto: a@b.jp, 林 <h@b.jp>\n---\n金額を見た。\n",
    "day.md": "---\n日付: 令和6年12月5日\nversion: 15.3.1\n---\n議題は三つあった。\n",
    "code.md": "---\nlang: C++\nproject: 計画999\n---\n障害を直した。\n",
    "other.md": "# 別のメモ\n\n電話番号を確認した。計画を立てた。版は 115.3.12。\n",
}


heads = imported_notes(HEADS)


@each(
    ("query", "word", "file"),
    [
        ("佐藤健司", "佐藤健司", "meeting.md"),
        ("佐藤健司が書いたメモ", "佐藤健司", "meeting.md"),
        ("山本花子", "山本花子", "spaced.md"),
        ("花子のメモ", "花子", "spaced.md"),
        ("田中さんからのメール", "田中", "mail.md"),
        ("tanaka@example.jp", "tanaka@example.jp", "mail.md"),
        ("15.3.1", "15.3.1", "day.md"),
        ("C++の話", "C++", "code.md"),
        ("計画999の障害", "計画999", "code.md"),
    ],
)
def test_what_front_matter_alone_has_whole_is_told_with_its_document(heads, query, word, file):
    notes = heads.search(query).notes
    assert f'"{word}": only in the front matter of {file}' in notes
    assert not any("nothing here mentions" in note for note in notes)


@each("query", ["電話番号", "令和6年12月5日", "example.jpの料金", "計画99の障害", "佐藤"])
def test_a_part_of_a_word_in_front_matter_is_not_told(heads, query):
    assert not any("front matter" in note for note in heads.search(query).notes)


def test_at_most_three_documents_are_named_for_a_word_of_front_matter(tmp_path):
    notes = {f"{number}.md": "---\nby: 佐藤健司\n---\n# 水\n" for number in range(5)}
    said = '"佐藤健司": only in the front matter of 0.md, 1.md, 2.md and 2 more'
    assert said in Collection.of(tmp_path, notes).search("佐藤健司").notes


def test_a_word_that_a_passage_has_too_is_not_only_in_front_matter(tmp_path):
    notes = {"a.md": "---\nby: 佐藤健司\n---\n# 水\n\n佐藤 健司に聞く。\n", "b.md": "# 湯\n"}
    assert not any(
        "front" in note for note in Collection.of(tmp_path, notes).search("佐藤健司").notes
    )


TEXTS = {
    "cook.md": "# 料理\n\nカレーの作り方。\n",
    "plan.md": "# 計画\n\n来月の予定を決めた。\n",
    "call.md": "# 電話\n\n障害の連絡を受けた。\n",
}
VALUES = (
    "url: https://example.com/kubernetes/setup", "cover: kubernetes.png", "project: 計画999",
    "author: 佐藤健司", "day: 2024-12-05", "lang: C++", "version: 15.3.1",
)  # fmt: skip


@pytest.fixture(scope="module")
def both(tmp_path_factory) -> tuple[Collection, Collection]:
    def with_values(name: str, mark: str) -> Collection:
        matter = "\n".join(["---", "layout: post", *(mark + value for value in VALUES), "---", ""])
        notes = TEXTS | {"cook.md": matter + TEXTS["cook.md"]}
        return Collection.of(tmp_path_factory.mktemp(name), notes)

    return with_values("values", ""), with_values("comments", "# ")


@each(
    "query",
    [
        "Kubernetesの設定方法", "example.comの料金", "計画999の障害", "佐藤健司の予定",
        "2024-12-05の連絡", "15.3.1の予定", "C++の連絡",
    ],
)  # fmt: skip
@each("mode", ["lexical", "hybrid"])
def test_a_value_in_front_matter_changes_no_score(both, query, mode):
    values, comments = (collection.search(query, k=9, mode=mode) for collection in both)
    assert values.evidence == comments.evidence
    assert [(hit.file_path, hit.score) for hit in values.results] == [
        (hit.file_path, hit.score) for hit in comments.results
    ]


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
