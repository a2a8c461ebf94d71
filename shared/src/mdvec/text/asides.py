"""Finds the sentences of a question that ask nothing: background, attempts, pleasantries."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

Span = tuple[int, int]
_MAX_MEANT = 3
"""Each is a reading, and so a search of its own."""
_SENTENCE_ENDS = re.compile(
    r"[。\n]+|[!?]++(?![をがの]|って|という)"  # not in a name: 熱ラジ!が放送された
    r"|\.(?=\s)"
    r"|(?:です|でした|ます|ました|ません|のだ|ん?だ)(?:が|けど|けれども?)[、,]"
)
_WHAT_IS = r"(?<![こあ])とは(?!存|思|言|い[いうえっ]|限|別|異|違|な[らっ]|知らず)"
TOPIC_MARKS = re.compile(
    r"について|につきまして|につき[、,]|に関し|知りたいのは|の(?:こと|件)(?:は|って|で[、,])"
    rf"|{_WHAT_IS}"
    r"|書いてあ|書かれ[たて]|載[っせ]て|どこを読"
    r"|という(?:言葉|用語|単語|名前)|どの(?:ページ|章|節|記事|資料|文書|ドキュメント|セクション)"
    r"|\b(?:tell me (?:more )?|hear(?:d|ing)? )about\b"
    r"|\b(?:page|part|section|chapter)s? (?:on|about|that)\b"
    r"|\bwhich (?:page|section|chapter)\b|\b(?:docs|documentation|information|info) (?:on|about)\b"
)
"""What a question says along with its topic: 印刷について, どこに書いてある, the page about."""
_ASKS = re.compile(
    r"[?？]|教え(?!る(?:の|こと|側|立場))|おしえ|教示|説明して|知りた|見せて"
    r"|について|につきまして|につき[、,]|に関[しす]"
    rf"|{_WHAT_IS}"
    r"|て(?:もら[えいう]|いただ|頂|くれ(?!た))|(?:いただ|頂)[きけ][たまなれる]|賜"
    r"|ちょ[うー]だい|頂戴|(?<!よろしく)(?<!宜しく)お願い(?:し|致|いた|でき)"
    r"|ください|下さい|どこ|(?<![ほなのけも])どの|どうすれば|どうやって|なぜ"
    r"|か(?:な|しら)\W*$|(?:です|ます|でしょう|ません)か(?!\w)"
    r"|(?:どれ|どっち|どちら|いつ|誰|だれ|何|なに)\W*$"
    r"|\b(?:how|what|where|when|why|which|explain|tell me|show me)\b"
)
"""A question, or what is to be done for whoever asks."""
_WISHES = re.compile(
    r"(?<![たるいの]み)(?<![冷眠重平])たい(?:の|ん|な)?(?:です|だ|で)?(?:が|けど|けれど|から)?\W*$"
    r"|[がか][^、。はもが]{0,9}(?:(?:分か|わか)(?:ら(?!れ)|りませ)|ピンとこ|忘れ|知らな|知りませ)"
    r"|たかった[のん]で|たいと(?:思|考え)|て(?:ほし|欲し)|[がを](?:ほし|欲し)い|希望"
)
"""What is wanted, or not known: がよくわかりません, but not そのページは知りません."""
_REPORTS = re.compile(r"(?:た(?:[のん]?(?:です|だ))?(?:が|けど|けれども?)?|ございます)[。、,!\s]*$")
_ASKS_IN_PAST = re.compile(
    r"[?？]|ください|下さい|た[くい][、,と]|たかった|ほし[くい][、,と]|願い"
    r"|[がか][^、。はもが]{0,9}(?:忘れ|わから|分から|知り)"
)
"""What makes a sentence ask although it tells what was: 聞きたかったのですが."""
_REFERS_BACK = re.compile(
    r"(?:これ|それ|あれ)(?:は(?!さておき|そうと)|に(?![、,])|[がをって])"
    r"|(?:この|その)(?:こと|件|意味)|(?:こう|そう)いう"
    r"|(?:(?<!の)|(?<=その))(?:原因|理由|対処|対策|解決|直し方|治し方)"
    r"|(?<!\bis )\b(?:this|it)\b|\b(?:is|does|did|would) that\b"
    r"|\b(?:avoid|fix|stop|causes?|prevent|solve|do) (?:that|them)\b"
    r"|\bwhat(?:['’]s| is) (?:wrong|going on)\b"
)
"""In a sentence that asks about what the one directly before it says: これは何, 原因は何."""


def asides(folded_question: str, topics: Sequence[int]) -> list[list[Span]]:
    """The ranges of the sentences that ask nothing, in order, for each sentence that may be meant.

    ``topics`` are the places of the words that can be asked about. If no sentence that asks has
    one, any of the last few others may be meant: those that say that they are about something
    (という言葉が出ました) first, the last before the others. What the one that is meant refers
    back to (これは何ですか) is no aside. A clause that ends in ですが or けど counts as a sentence.

    Wishes count as asking, but may be background of the question behind them, so where there are
    both, the questions alone may be meant as well.
    """
    sentences = _sentences(folded_question)
    asking = _asking(folded_question, sentences)
    about = [one for one in sentences if any(place in range(*one) for place in topics)]
    meant = [[*asking, *_referred(folded_question, sentences, asking)]]
    if not any(one in about for one in meant[0]):
        marked = [one for one in about if TOPIC_MARKS.search(folded_question, *one)]
        others = [one for one in about if one not in marked]
        likeliest = [*reversed(marked), *reversed(others)][:_MAX_MEANT]
        meant = [[one, *_referred(folded_question, sentences, [one])] for one in likeliest]
    else:
        questions = [one for one in asking if _ASKS.search(folded_question, *one)]
        if any(one in about for one in questions):
            meant.append([*questions, *_referred(folded_question, sentences, questions)])
    return [[one for one in sentences if one not in central] for central in meant]


def asks(text: str) -> bool:
    """Whether anything is asked or wished in it."""
    return bool(_ASKS.search(text) or _WISHES.search(text))


def _asking(text: str, sentences: Sequence[Span]) -> list[Span]:
    """The sentences that ask or wish.

    One that tells what was does not (手伝ってもらった), nor does a wish after what was asked
    (元栓はどこですか。早く閉めたいです).
    """
    now = [one for one in sentences if not _is_report(text[slice(*one)])]
    asked = [one for one in now if _ASKS.search(text[slice(*one)])]
    return [
        one
        for one in now
        if one in asked or (_WISHES.search(text[slice(*one)]) and not (asked and one > asked[-1]))
    ]


def _is_report(sentence: str) -> bool:
    return bool(_REPORTS.search(sentence)) and not _ASKS_IN_PAST.search(sentence)


def _referred(text: str, sentences: Sequence[Span], central: Sequence[Span]) -> list[Span]:
    """The sentences that one of these, directly behind, refers back to."""
    return [
        before
        for before, one in pairwise(sentences)
        if one in central and _REFERS_BACK.search(text, *one)
    ]


def _sentences(text: str) -> list[Span]:
    ends = [0, *(found.end() for found in _SENTENCE_ENDS.finditer(text)), len(text)]
    return [(start, end) for start, end in pairwise(ends) if start < end]
