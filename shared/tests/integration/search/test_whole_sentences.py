"""Questions as people ask them, over the sample notes with the real model."""

from contextlib import nullcontext

import pytest
from imported import imported
from table_of_cases import each

from mdvec.embedding import catalog
from mdvec.search.answer import Question, search
from mdvec.search.core.fusion import BOTH

FRAMES = (
    "{}", "{}とは何ですか？", "{}について教えてください", "{} の使い方を教えてください",
    "{}を使うべきでないときは？", "すみません、{}の使い方について教えていただけますか？",
)  # fmt: skip
KANA = {
    "ごみ.md": ("ごみ", "燃えるものは火曜と金曜の朝八時までに、ごみ置き場の網の下に置きます。"),
    "ふとん.md": ("ふとん", "晴れた日の午前に、ふとんを二時間干し、午後は取り込みます。"),
    "はちみつ.md": ("はちみつ", "はちみつは一歳になるまで与えません。固まったら湯煎で戻します。"),
    "こたつ.md": ("こたつ", "こたつの線は巻いたまま使わず、掛け布は押入れの上の段に置きます。"),
    "かび.md": ("かび", "浴室のかびは、換気扇を一晩回しておくと生えにくくなります。"),
}


@pytest.fixture(scope="module")
def answer(tmp_path_factory, samples):
    """Asks the sample notes, or a few notes on things that are written in hiragana."""
    folder = tmp_path_factory.mktemp("sentences")
    database = samples(folder)
    kana = folder / "kana"
    kana.mkdir()
    for number, (file, (_, text)) in enumerate(KANA.items()):
        (kana / file).write_text(f"# 覚え書き {number}\n\n{text}\n", encoding="utf-8")
    model = catalog.load("use")
    imported(database, "kana", kana, "markdown", load=lambda _: model)

    return lambda tool, query: search(
        database, Question(query, (tool,), 3), lambda _: nullcontext(model)
    )


@pytest.fixture(scope="module")
def ask(answer):
    return lambda tool, query: [hit.file_path for hit in answer(tool, query).results]


@each("frame", FRAMES)
@each(
    ("term", "file"),
    [
        ("venv", "dev/python-venv.md"), ("worktree", "dev/git-worktree.md"),
        ("WAL", "dev/sqlite-wal.md"), ("和暦", "dev/wareki.md"),
        ("正規表現", "dev/japanese-regex.md"), ("結露", "home/condensation.md"),
    ],
)  # fmt: skip
def test_a_sentence_around_a_term_finds_the_note_that_the_term_finds(ask, frame, term, file):
    assert ask("notes", frame.format(term))[0] == file


@each("frame", [*FRAMES[:3], "{}の日はいつですか", "{}はどこに置けばいいですか"])
@each("file", KANA)
def test_a_word_of_hiragana_that_a_question_begins_with_is_found(ask, frame, file):
    assert ask("kana", frame.format(KANA[file][0]))[0] == file


@pytest.mark.parametrize(
    ("question", "file"), [("ごみはいつだせばいいの", "ごみ.md"), ("かびをふせぐには", "かび.md")]
)
def test_a_question_of_hiragana_alone_is_answered(ask, question, file):
    assert ask("kana", question)[0] == file


def test_letters_inside_another_word_answer_nothing(answer):
    unanswered = answer("notes", "サーバのポートを調べる方法")  # パスポート is in the notes
    assert not unanswered.confident
    assert unanswered.results[0].score < BOTH.least
    answered = answer("notes", "パスポートの有効期間を調べる方法")
    assert answered.confident
    assert answered.results[0].file_path == "home/持ち物リスト.md"


@each(
    ("question", "file"),
    [
        ("冬の朝、窓に水滴がついてカーテンが濡れます。原因は何ですか", "home/condensation.md"),
        ("pip で入れたパッケージが見つかりません。理由を教えてください。", "dev/python-venv.md"),
        ("冬の朝は窓を拭いています。正規表現について教えてください。", "dev/japanese-regex.md"),
        ("worktree を消したのにブランチが残ります。今はどう書くんですか", "dev/git-worktree.md"),
        ("朝、窓の内側が濡れているのですが、何をすればいいでしょうか", "home/condensation.md"),
        ("Python を始めたばかりです。結露とは何ですか？", "home/condensation.md"),
        ("冬の朝、窓に水滴がつきカーテンが濡れます。原因について教えて", "home/condensation.md"),
        ("湿気で窓が濡れます。家具はどう置けばいいですか", "home/condensation.md"),
        ("venv のことが気になる。冬の朝、窓に水滴がついていた。", "home/condensation.md"),
        ("My venv does not see the packages. How can I fix this?", "dev/python-venv.md"),
        ("My venv does not see the packages. What should I try first?", "dev/python-venv.md"),
        ("友人に荷物を見てもらいました。結露はどう防ぎますか", "home/condensation.md"),
        (
            "The window is wet on winter mornings. Which furniture should I move?",
            "home/condensation.md",
        ),
        ("venv を作った。窓が濡れた。", "home/condensation.md"),
        ("和暦がよくわかりません。やさしい日本語で説明してください。", "dev/wareki.md"),
        ("旅行に行く前です。worktree のことを教えて", "dev/git-worktree.md"),
        ("コーヒーは淹れました。結露はいつ起きますか", "home/condensation.md"),
        ("正規表現のことはどのページを見れば書いてありますか", "dev/japanese-regex.md"),
    ],
)
def test_a_symptom_and_a_question_behind_background_find_their_note(ask, question, file):
    assert ask("notes", question)[0] == file


@each(
    ("question", "absent"),
    [
        ("venv と useFooBar の使い方を教えてください", '"useFooBar"'),
        ("How do I activate a venv with Fnord?", '"Fnord"'),
        ("worktree とは kwsk", None),
    ],
)
def test_a_name_that_no_note_mentions_is_named_and_leaves_no_answer(answer, question, absent):
    found = answer("notes", question)
    assert found.confident is (absent is None)
    assert found.notes == ((f"nothing here mentions {absent}",) if absent else ())
    assert absent is None or found.results[0].score < BOTH.least
