"""Sentences of a question that do not ask."""

import itertools
import re

import pytest

from mdvec.text.asides import asides
from mdvec.text.manners import manners

TOPICS = re.compile("元栓|はがき|tap|call|水")


def spoken_asides(question: str) -> list[str]:
    topics = [found.start() for found in TOPICS.finditer(question)]
    likeliest = asides(question, topics)[:1]
    spans = sorted([*itertools.chain(*likeliest), *manners(question)])
    spoken = (question[start:end] for start, end in spans)
    return [one for one in spoken if one.strip()]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("水道の元栓はどこですか", []),
        ("冬の間、雪が積もるのはどこか？", []),
        (
            "昨日から調べています。元栓について教えてください。",
            ["昨日から調べています。", "ください"],
        ),
        ("引っ越したばかりですが、元栓はどこですか", ["引っ越したばかりですが、"]),
        ("元栓について確認したいのですが、よろしいでしょうか。", []),
        ("水が止まらない。元栓も固い。", ["水が止まらない。"]),
        ("元栓が固い。よろしくお願いします。", ["よろしくお願いします。"]),
        (
            "雪で凍りました。元栓を一から学ばせていただけますと幸いです。",
            ["雪で凍りました。", "一から", "いただけますと幸い"],
        ),
        (
            "水が凍るとは思いませんでした。元栓を見せてほしいです。",
            ["水が凍るとは思いませんでした。"],
        ),
        ("we moved in last week. i am supposed to close the tap.", ["we moved in last week."]),
        ("元栓の閉め方を順を追って教えてくdさい", ["順を追って", "くdさい"]),
        ("please explain the tap step by step", ["step by step"]),
        ("元栓なんだけど、誰かわかる人いますか🙏", ["誰かわかる人", "誰かわかる人いますか🙏"]),
        ("元栓ですから、誰かわかる人が見ました", []),
        ("元栓に関する情報を探しています", ["に関する情報", "探しています"]),
        ("where is the documentation on taps?", ["documentation on"]),
        ("what is a brief summary of the tap?", ["brief summary of"]),
        ("元栓の情報はどこですか", []),
        ("元栓だより!が載ったのは何号ですか", []),
        ("資料の中から元栓を探し出してください", ["資料の中から", "探し出して"]),
        ("元栓につきまして資料をお送りいただきたく存じます", ["お送りいただき"]),
        ("お薬お渡しいただける時間はいつですか", []),
        ("ごみ出してください、場所はどこですか", []),
        ("what is the rule for people who hold the tap?", []),
        ("凍りました。はがきはどこですか", ["凍りました。"]),
        ("旅行に行きます。それに、元栓はどこですか", ["旅行に行きます。"]),
        ("お茶をいただく時間はいつですか", []),
        ("夜分にすみません。元栓とありましたが、これは何ですか", ["夜分にすみません。"]),
        ("what do the docs say about taps?", ["docs say about"]),
        ("水が止まらない。原因はどれ", []),
        ("水が止まらない。元栓の原因はどれ", ["水が止まらない。"]),
        ("the tap drips. how do i stop it?", []),
        ("the tap drips. is it possible to call someone? where?", ["the tap drips."]),
        ("what is a tap, for someone who just moved in?", ["for someone who just moved in"]),
        ("i read the manual. where is the tap?", ["i read the manual."]),
        # What was, and what is wished after asking, asks nothing.
        ("友人に見てもらいました。元栓はどこですか", ["友人に見てもらいました。"]),
        ("水を飲みたかったのですが、元栓が固い。", ["元栓が固い。"]),
        ("元栓はどこですか。早く閉めたいです。", ["早く閉めたいです。"]),
        ("早く閉めたいです。元栓はどこですか", []),
        ("水は知らないのですが、元栓はどこですか", ["水は知らないのですが、"]),
        ("水がわからないのですが、元栓はどこですか", []),
        ("元栓を水のページで説明しているのはどこですか", []),
        ("水が冷たい。元栓はどこですか", ["水が冷たい。"]),
        ("雪が降るみたいだ。元栓が固いことはありますか", ["雪が降るみたいだ。"]),
        # Where it is to be found.
        ("元栓はどのページを見ればいい", ["どのページを見れば"]),
        ("元栓のことがどこに書かれていますか", ["書かれています"]),
        (
            "恐れ入ります、元栓のご教示をいただけますと幸いです",
            ["恐れ入ります", "いただけますと幸い"],
        ),
        ("which page is the section about taps?", ["which page", "section about"]),
        ("", []),
    ],
)
def test_what_does_not_ask_is_an_aside_where_something_else_asks(question, expected):
    assert spoken_asides(question) == expected


def test_what_is_wished_before_a_question_may_be_background():
    question = "水を飲みたいです。元栓はどこですか"
    wish = question.index("。") + 1
    topics = [found.start() for found in TOPICS.finditer(question)]
    assert asides(question, topics) == [[], [(0, wish)]]


def test_where_nothing_is_asked_any_sentence_with_a_topic_may_be_meant():
    question = "元栓のことが気になる。風が強い。元栓は古い。水も出ない。"
    topics = [found.start() for found in TOPICS.finditer(question)]
    meant = [[question[start:end] for start, end in spans] for spans in asides(question, topics)]
    first, wind, old, water = (f"{sentence}。" for sentence in question.split("。")[:-1])
    assert meant == [[first, wind, old], [first, wind, water], [wind, old, water]]
