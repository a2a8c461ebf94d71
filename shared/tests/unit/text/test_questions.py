"""What a question asks about, and what only asks."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mdvec.text.fields import field_terms
from mdvec.text.questions import analyse_question, readings
from mdvec.text.terms import terms

FRAMES = [
    "{}",
    "{}とは？",
    "{}とは何ですか？",
    "{}って何",
    "{}について教えてください",
    "{}の使い方を教えてください",
    "{}の使い方を知りたいです",
    "{}を使うにはどうすればいいですか？",
    "すみません、{}について教えていただけますか？",
    "{}について詳しく説明してもらえますか",
    "{}はどんなときに使いますか",
    "ちょっと聞きたいんだけど{}ってどうやるの？",
    "ねえ、{}のこと教えてよ",
    "{}ってなにｗｗ",
    "Tell me about {}",
    "What is {}?",
    "How do I get to the {}?",
    "Could you please explain what {} is for?",
    "Hi, I wonder if anyone could tell me something about {}, thanks",
]


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("term", ["createPortal", "サーバーコンポーネント", "年末調整"])
def test_a_polite_question_is_asked_by_the_same_terms_as_its_subject(term, frame):
    plain, framed = analyse_question(term), analyse_question(frame.format(term))
    without_edges = tuple(one for one in framed.plain if one not in framed.edges)
    assert (without_edges, framed.words) == (plain.plain, plain.words)
    assert not plain.edges


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    ("question", "aside"),
    [
        ("元栓の概要を教えて", {"=概要"}),
        ("元栓を理解したい", {"=理解"}),
        ("元栓のサンプルがあれば見せてください", {"=サンプル"}),
        ("元栓をもう一度確認したい", {"=もう", "=一度"}),
        ("元栓 まとめ 初心者", {"=纏め", "=初心"}),
        ("元栓をざっと確認したい", {"=ざっ"}),
        ("the basics of taps", {"basics"}),
        # They are what is asked about: alone, first, or in a compound.
        ("概要を教えて", set()),
        ("資料の整理について", set()),
        ("年末調整の基礎控除", set()),
        ("元栓の基本料金", set()),
        ("sample data of taps", set()),
    ],
)
def test_how_something_is_to_be_told_counts_little_beside_what_it_is(question, aside):
    found = analyse_question(question)
    assert {word for word in found.words if word in found.aside} == aside


def test_a_pair_that_reaches_into_the_filler_is_an_edge():
    found = analyse_question("データを渡す方法について")
    assert found.edges == {"タを", "を渡", "す方"}
    assert not {"法に", "につ", "つい"} & set(found.plain)


def test_an_english_question_keeps_its_letters_to_tell_its_language():
    assert analyse_question("How do I save water?").letters == ("how", "do", "i", "save", "water")
    assert analyse_question("useStateとは").letters == ()


def test_a_date_is_one_word_made_of_many_terms():
    found = analyse_question("2024年12月5日の会議")
    assert set(found.dates) == {"=20241205", "=202412"}
    assert found.dates["=20241205"] >= {"2024", "年", "12", "月", "5", "日"}
    assert "会議" not in found.dates["=20241205"]


@given(st.text(max_size=30))
def test_a_questions_terms_are_its_texts_terms_and_none_only_where_there_is_none(text):
    found = analyse_question(text)
    assert set(found.plain) <= set(terms(text)).union(*found.numbered.values())
    assert bool(found.plain) == bool(terms(text))
    assert set(found.words) <= set(field_terms(text).words) | set(found.dates)
    assert set(found.words_of) <= set(found.plain)


@settings(max_examples=40)
@given(st.text("食費管理カナabあの。 ", min_size=1, max_size=8))
def test_a_text_is_found_by_every_term_of_a_question_that_repeats_it(text):
    asked, stored = analyse_question(text), field_terms(f"前。\n{text}\n。後")
    assert set(asked.plain) <= set(stored.plain)
    assert set(asked.words) <= set(stored.words)


@pytest.mark.parametrize(
    ("question", "gist"),
    [
        ("ごみの日はいつですか", "ごみの日はいつですか"),
        ("すみません、元栓について教えていただけますか？", "元栓"),
        (
            "質問です。昨日から探しているのですが見つかりません。元栓について教えてください。",
            "元栓",
        ),
        (
            "水が止まらないときに閉める元栓の場所を教えて",
            "水が止まらないときに閉める元栓の場所を教えて",
        ),
        ("すみません、貢献の方法について教えていただけますか？", "貢献の方法"),
        ("Any docs on a leaking tap?", "leaking tap"),
        ("how to close a leaking tap in winter", "how to close a leaking tap in winter"),
        ("教えて", "教えて"),
        ("の", "の"),
    ],
)
def test_a_model_reads_the_gist_of_a_question_that_mostly_asks(question, gist):
    assert analyse_question(question).gist == gist


def test_a_name_with_its_number_has_two_parts_but_those_that_are_asked_for_beside_it():
    found = analyse_question("React19 React の変更")
    assert found.numbered == {"react19": frozenset({"19"})}
    assert {"react19", "react", "19"} <= set(found.plain) & set(found.words)


def test_what_is_sought_is_central_where_the_sentence_that_asks_has_no_content():
    (found,) = readings(
        "I'm new to this and can't find the docs on the tap. Where can I read of it?"
    )
    assert found.gist == "tap"
    assert {"tap"} == set(found.plain) - found.aside


def test_a_sentence_that_asks_without_a_name_leaves_the_others_in_the_middle():
    assert "=サーバー" not in analyse_question("サーバが落ちた。どこに書いてある？").aside
    assert "=サーバー" in analyse_question("サーバが落ちた。元栓はどこですか").aside


ALL = "the whole question"


@pytest.mark.parametrize(
    ("question", "gists"),
    [
        ("元栓はどこですか", ["元栓"]),
        ("元栓の閉め方を順を追って教えてください", ["元栓の閉め"]),
        ("水が止まりません。元栓はどこですか", ["元栓", ALL]),
        ("水が止まりません。原因は何ですか", [ALL]),
        ("荷造りを始めました。見積もりはどこですか", ["見積もり", ALL]),
        ("栓のことが気になる。雪が降りました。", ["雪が降り", "栓のことが気", ALL]),
        (
            "水が止まりません。図も見ました。何をすればいいですか",
            ["図", "水が止まり", "水が止まりません。図"],
        ),
        ("栓という言葉を聞きました。雪でした。説明はありますか", ["栓", "雪", ALL]),
        ("栓のことを読みたいのですが、雪が降りました。", ["栓のことを読み", ALL]),
        ("雪の日に栓を見ました。かみくだいて話していただけたら嬉しいです。", ["雪の日に栓"]),
    ],
)
def test_a_question_has_more_readings_where_a_sentence_of_it_asks_nothing(question, gists):
    found = readings(question)
    assert [one.gist for one in found] == [question if one is ALL else one for one in gists]
    assert [one.is_whole for one in found] == [*[False] * (len(found) - 1), True]
    assert len({tuple(one.all) for one in found}) == 1
