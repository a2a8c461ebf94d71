"""Words with signs in them: invisible characters, variant kanji, groups of digits and units."""

import pytest
from collection import Collection, filtered, imported_notes
from table_of_cases import each

NOTES = {
    "unseen.md": "東京\u200b都庁と、ソフト\u00adウェア。"
    "国\ufeff税庁、運転\u2060免許、葛\U000e0100城市。\n",
    "person.md": "𠮷野さんは㈱ヤマネコに勤める。髙橋太郎氏が来た。\n",
    "car.md": "走行距離48,260kmで交換した。電池は10,000mAh、水は2,000ml、US$31,500だった。\n",
    "edge.md": "はLaravelの会費は１２３円で、振替はｶ)ﾔﾏﾄ、部屋は１０１号室。がHTTPである。\n",
    **{f"filler/{n}.md": f"# 雑記 {n}\n\n天気や旅行のことを書いた。\n" for n in range(30)},
}
WRITTEN = {
    "unseen.md": ["東京都庁", "ソフトウェア", "国税庁", "運転免許", "葛城市"],
    "person.md": ["吉野", "株式会社ヤマネコ", "高橋太郎", "橋太郎氏"],
    "car.md": ["48260", "48260km", "48,260km", "10000mAh", "2000", "31500"],
    "edge.md": ["はlaravel", "は123円", "カ)ヤマト", "は101", "がhttp"],
}
CASES = [(word, file) for file, words in WRITTEN.items() for word in words]


notes = imported_notes(NOTES)


@each(("word", "file"), CASES)
def test_a_word_with_signs_in_it_is_found_and_not_denied(notes, word, file):
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


def test_digits_between_commas_are_one_number_only_in_groups_of_thousands(collection):
    collection.write("a.md", "番号は 1,2,3,4,5,6 と 1,2,3 である。123456 ではない。\n")
    collection.import_("new")
    notes = collection.search("番号", filters=filtered(exact=["1,2,3,4"])).notes
    assert not notes
    answer = collection.search("番号", filters=filtered(exact=["1234"]))
    assert answer.results != ()  # inside 123456, as it is written
    answer = collection.search("番号", filters=filtered(exact=["123,45"]))
    assert answer.results == ()


def test_digits_after_letters_are_found_inside_longer_words_and_not_alone(collection):
    collection.write("a.md", "見出しは ｈ１ と `reuse2Foo`。\n")
    collection.write("b.md", "1 と 2 と h と use と foo、h-1、use 2。\n")
    collection.import_("new")
    for words in ("h1", "use2F", "e2foo", "H1 と"):
        assert collection.places("見出し", filters=filtered(exact=[words])) == ["a.md"]


def test_an_emoji_in_a_question_leaves_its_names_as_typed(collection):
    collection.write("a.md", "天気や旅行のことを書いた。\n")
    collection.import_("new")
    notes = collection.search("⚠️ Kubernetesの設定").notes
    assert any('"Kubernetes"' in note for note in notes)


def test_that_front_matter_has_an_exact_text_is_only_said_if_it_does(collection):
    collection.write("a.md", "---\n担当: 佐藤\n---\n\n申し込み書を出す。RUF A2405 を直す。\n")
    collection.import_("new")
    notes = {
        words: " ".join(collection.search("書く", filters=filtered(exact=[words])).notes)
        for words in ("佐藤", "申込書", "RUF-A2405")
    }
    assert "front matter, which where reads), it is in a.md" in notes.pop("佐藤")
    assert all("as it is written" in note for note in notes.values())


@pytest.fixture(scope="module")
def dotted(tmp_path_factory) -> Collection:
    notes = {
        "next.md": "next.config.ts の設定。config は js で書いた。\n",
        "node.md": "nodejs を入れる。Ｖｕｅ．ｊｓ と json も使う。ts の config は dry run。\n",
        **{f"filler/{n}.md": f"# 雑記 {n}\n\n天気や旅行のことを書いた。\n" for n in range(30)},
    }
    return Collection.of(tmp_path_factory.mktemp("dotted"), notes)


@each("asked", ["{}", "{}の設定", "How do I use {} here?"])
@each(
    ("name", "is_denied"),
    [
        ("Next.config.js", True), ("json.config", True),
        ("next.config.ts", False), ("Node.js", False), ("Vue.js", False), ("e.g", False),
        ("node.md", False), ("filler/Next.md", False), ("nodes.md", True), ("node.mdx", True),
    ],
)  # fmt: skip
def test_a_name_with_dots_that_no_note_has_is_named(dotted, name, is_denied, asked):
    notes = dotted.search(asked.format(name)).notes
    assert any(f'"{name}"' in note for note in notes) == is_denied


@each("asked", ["{}", "{}の設定", "{} json"])
@each(
    ("name", "is_denied"),
    [("json-config", True), ("ts-json", True), ("dry-run", False), ("next-config-ts", False)],
)
def test_a_name_with_hyphens_that_no_note_has_is_named(dotted, name, is_denied, asked):
    notes = dotted.search(asked.format(name)).notes
    assert any(f'"{name}"' in note for note in notes) == is_denied


@each("name", ["json-config", "json.config"])
def test_a_whole_name_is_not_answered_by_its_parts(dotted, name):
    answers = [dotted.search(question) for question in (name, f"{name}の設定", "jsonのconfig")]
    assert [answer.confident for answer in answers] == [False, False, True]
    asked = dotted.search(f"Is there a {name} file for json?")
    assert any(name in note for note in asked.notes) == ("." in name)


@each(
    ("version", "is_there"),
    [
        ("1.9", True), ("v1.9.2", True), ("3.14", True), ("8.10", True),
        ("9.2", False), ("10.1", False), ("2.71", False),
    ],
)  # fmt: skip
def test_a_version_is_there_as_itself_or_as_the_first_parts_of_another(tmp_path, version, is_there):
    notes = Collection(tmp_path / version, tmp_path / f"{version}.sqlite")
    notes.write("a.md", "Ruby 1.9.2 と Rails8.10.1 と Python3.14、定数は 2.71828。\n")
    notes.import_("new")
    answer = notes.search(f"Rails {version} の変更点")
    assert any(f'"{version}"' in note for note in answer.notes) != is_there


@each("question", ["How do I use Spark?", "Can I use Spark?", "Does Vue support Spark?"])
def test_a_name_in_a_short_english_question_is_missed_though_most_words_have_capitals(
    dotted, question
):
    assert dotted.search(question).notes[0] == 'nothing here mentions "Spark"'


@each("question", ["Is There a Spark Runner With useSpark?", "The Art of Spark Runners"])
def test_the_words_of_a_title_are_no_names(dotted, question):
    assert not any('"Spark"' in note for note in dotted.search(question).notes)
