"""What a question asks about, and what only asks."""

from hypothesis import example, given, settings
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.text.fields import field_terms
from mdvec.text.index_terms import terms
from mdvec.text.questions import analyse_question

FRAMES = [
    "{}", "{}とは？", "{}とは何ですか？", "{}って何", "{}について教えてください",
    "{}の使い方を教えてください", "{}の使い方を知りたいです", "{}を使うにはどうすればいいですか？",
    "すみません、{}について教えていただけますか？", "{}について詳しく説明してもらえますか",
    "{}はどんなときに使いますか", "ちょっと聞きたいんだけど{}ってどうやるの？",
    "ねえ、{}のこと教えてよ", "{}ってなにｗｗ", "Tell me about {}", "What is {}?",
    "How do I get to the {}?", "Could you please explain what {} is for?",
    "Hi, I wonder if anyone could tell me something about {}, thanks",
]  # fmt: skip


@each("frame", FRAMES)
@each("term", ["createPortal", "サーバーコンポーネント", "年末調整"])
def test_a_polite_question_is_asked_by_the_same_terms_as_its_subject(term, frame):
    plain, framed = analyse_question(term), analyse_question(frame.format(term))
    without_edges = tuple(one for one in framed.plain if one not in framed.edges)
    assert (without_edges, framed.words) == (plain.plain, plain.words)
    assert not plain.edges


@each(
    ("question", "plain", "words"),
    [
        ("水をください", ["水"], ["=水"]),
        ("ごみの日は？", ["ごみ", "日"], ["=ごみ", "=日"]),
        ("www とは何ですかｗｗ", ["www"], ["www"]),
        ("venv まとめ", ["venv", "まと", "とめ"], ["venv", "=纏め"]),
        # Words of asking are asked for if there is nothing else.
        ("使い方", ["使い", "い方", "使", "方"], ["=使う", "=方"]),
        ("how to", ["how", "to"], ["how", "to"]),
        ("の", ["の"], []),
        ("", [], []),
    ],
)
def test_the_terms_of_a_question(question, plain, words):
    found = analyse_question(question)
    assert (sorted({*found.plain} - found.edges), list(found.words)) == (sorted(plain), words)


@each(
    ("question", "words"),
    [
        ("never型", ["never", "=型"]),
        ("on-callの手当", ["on", "=コール", "=手当"]),
        ("anyとunknownの違い", ["any", "unknown", "=違い"]),
        ("any と an の違い", ["any", "an", "=違い"]),
        ("if 文", ["if", "=文"]),
        ("US 休暇", ["us", "=休暇"]),
        ("US benefits", ["us", "benefits"]),
        ("`while`または「of」 文", ["while", "of", "=文"]),
        ("What does `this` mean?", ["this"]),
        # In an English sentence, also one with Japanese in it, they join and ask.
        ("What is this type?", ["=タイプ"]),
        ("how to 型", ["=型"]),
        ("HOW DO I GET THIS TYPE?", ["=タイプ"]),
        ("型 please", ["=型"]),
        ("ASAPで型を教えてlol", ["=型"]),
    ],
)
def test_an_english_word_that_joins_or_asks_in_english_is_content_where_it_is_meant(
    question, words
):
    assert list(analyse_question(question).words) == words


def test_a_pair_that_reaches_into_the_filler_is_an_edge():
    found = analyse_question("データを渡す方法について")
    assert found.edges == {"タを", "を渡", "す方"}
    assert not {"法に", "につ", "つい"} & set(found.plain)


def test_an_english_question_keeps_its_letters_to_tell_its_language():
    assert analyse_question("How do I save water?").letters == ("how", "do", "i", "save", "water")
    assert analyse_question("useStateとは").letters == ()
    assert analyse_question("Use `read-only-mode` now").letters == ("use", "read", "now")


def test_a_date_is_one_word_made_of_many_terms():
    found = analyse_question("2024年12月5日の会議")
    assert set(found.dates) == {"=20241205", "=202412"}
    assert found.dates["=20241205"] >= {"2024", "年", "12", "月", "5", "日"}
    assert "会議" not in found.dates["=20241205"]


@given(st.text(max_size=30))
@example("AA0")
@example("A#")
def test_a_questions_terms_are_its_texts_terms_and_none_only_where_there_is_none(text):
    found = analyse_question(text)
    parts = set().union(*found.numbered.values())
    assert set(found.plain) <= set(terms(text)) | parts | set(found.spellings("signed"))
    assert bool(found.plain) == bool(terms(text))
    assert set(found.words) <= set(field_terms(text).words) | set(found.dates) | parts
    assert set(found.words_of) <= set(found.plain)


@settings(max_examples=40)
@given(st.text("食費管理カナabあの。 ", min_size=1, max_size=8))
def test_a_text_is_found_by_every_term_of_a_question_that_repeats_it(text):
    asked, stored = analyse_question(text), field_terms(f"前。\n{text}\n。後")
    assert set(asked.plain) <= set(stored.plain)
    assert set(asked.words) <= set(stored.words)


def test_a_name_with_its_number_has_two_parts_but_those_that_are_asked_for_beside_it():
    found = analyse_question("React19 React の変更")
    assert found.numbered == {"react19": frozenset({"19"})}
    assert {"react19", "react", "19"} <= set(found.plain) & set(found.words)


@each(
    ("question", "background"),
    [
        ("水が止まりません。元栓はどこですか", {"=水", "=止まる"}),
        ("水が止まらない。元栓は閉まりますか", {"=水", "=止まる"}),
        ("水が止まらない。元栓はどこ", {"=水", "=止まる"}),
        ("元栓について教えてください。雪が降りました。", {"=雪", "=降る"}),
        ("The sink leaks. Where is the tap?", {"=シンク", "leaks"}),
        # What is named again where something is asked is no background.
        ("水が止まりません。水はどこですか", {"=止まる"}),
        # Where the sentences that ask have no content of their own, and where none asks, all count.
        ("水が止まりません。どうすればいいですか", set()),
        ("水が止まりません。雪も降りました。", set()),
        ("元栓はどこですか", set()),
    ],
)
def test_what_stands_only_in_sentences_that_ask_nothing_is_background(question, background):
    found = analyse_question(question)
    assert found.background & found.words.keys() == background


def test_a_name_in_the_background_is_not_asked_about():
    assert analyse_question("Foo を消した。Bar とは何ですか").spellings("name") == {"bar": "Bar"}
    assert analyse_question("Foo を消した。Bar も消した").spellings("name") == {
        "foo": "Foo",
        "bar": "Bar",
    }


def test_words_for_the_form_of_an_answer_may_be_its_subject():
    assert list(analyse_question("年末調整の基礎控除の資料").words) == [
        "=年末", "=調整", "=基礎", "=控除", "=資料",
    ]  # fmt: skip


@each(
    ("question", "named"),
    [
        ("お客さんの電話番号", {"電話番号"}),
        ("社員ごとの予算", {"社員", "予算"}),
        ("冷蔵庫ごとの電気代", {"冷蔵庫", "電気代"}),
        ("田中さんからのメール", {"田中", "メール"}),
        ("伊藤園の株価", {"伊藤園", "株価"}),
        ("中村屋の電話番号", {"中村屋", "電話番号"}),
        ("田中家のお墓", {"田中家"}),
        ("申し込み書の書き方", set()),
    ],
)
def test_a_noun_is_named_without_what_only_tells_how_one_speaks_of_it(question, named):
    assert {*analyse_question(question).spellings("name", "noun").values()} == named


@each(
    ("question", "joined"),
    [
        ("計画999の障害", {"計画999"}),
        ("example.comの料金", {"example.com"}),
        ("Kubernetesの設定方法", set()),
    ],
)
def test_a_noun_is_also_known_with_the_letters_and_digits_joined_to_it(question, joined):
    subjects = analyse_question(question).subjects.values()
    assert {subject.joined for subject in subjects if subject.joined} == joined
