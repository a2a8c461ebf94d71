"""Finds the sentences of a question that ask nothing: background, attempts, pleasantries."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

Span = tuple[int, int]
_MAX_MEANT = 3
"""Each is a search of its own."""
_SENTENCE_ENDS = re.compile(
    r"[。\n]+|[!?]++(?![をがの]|って|という)|\.(?=\s)"  # not in a name: 熱ラジ!が放送された
    r"|(?:です|でした|ます|ました|ません|のだ|ん?だ)(?:が|けど|けれども?)[、,]"
)
TOPIC_MARKS = re.compile(
    r"について|につきまして|につき[、,]|に関し|知りたいのは"
    r"|(?<![こあ])とは(?!存|思|言|い[いうえっ]|限|別|異|違|な[らっ]|知らず)"
)
"""What follows the topic of a question: 印刷について, 元栓とは."""
_ASKS = re.compile(
    rf"[?？]|教え|おしえ|教示|説明して|知りた|見せて|に関する|{TOPIC_MARKS.pattern}"
    r"|て(?:ほし|欲し|もら[えいう]|いただ|頂|くれ(?!た))|(?:いただ|頂)[きけ][たまなれる]|賜"
    r"|ちょ[うー]だい|頂戴|(?<!よろしく)(?<!宜しく)お願い(?:し|致|いた|でき)|希望"
    r"|ください|下さい|どこ|どうすれば|どうやって|なぜ|(?:です|ます|でしょう|ません)か(?!\w)"
    r"|(?<![たるいの]み)(?<![冷眠重平])たい(?:の|ん|な)?(?:です|だ)?(?:が|けど|けれど)?\W*$"
    r"|たいと(?:思|考え)|[がを](?:ほし|欲し)い"
    r"|(?:どれ|どっち|どちら|いつ|誰|だれ|何|なに)\W*$"
    r"|\b(?:how|what|where|when|why|which|explain|tell me|show me)\b"
)
_REPORTS = re.compile(r"(?:た(?:[のん]?(?:です|だ))?(?:が|けど|けれども?)?|ございます)[。、,!\s]*$")
_ASKS_IN_PAST = re.compile(r"[?？]|ください|下さい|た[くい][、,と]|たかった|ほし[くい][、,と]|願い")
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
_MANNER = re.compile(
    r"順を?追って|一から|初歩から|例を(?:挙|あ)げて|手短に|噛み砕いて|(?:わ|分)かりやすく|もう少し"
    r"|(?:標記|表題|首題|掲題)の件"
    r"|(?:に関する|についての|に関しての|関連する)(?:情報|資料|記事|文書|ドキュメント|解説|説明)"
    r"|(?:ドキュメント|資料|文書|マニュアル|ガイド)の(?:中|どこか)(?:から|で|に)"
    r"|(?<![^をにがはのもで、。,\s])[おご御][^おご御をがはにでとのもて\W]{1,5}?"
    r"(?:(?:いただ|頂)(?:き|け[まなれたば])|(?:くださ|下さ)い|願い|いたしま|致しま|申し上|賜)"
    r"|(?:いただけ|頂け|賜れ|もらえ|くれ|くださ)(?:れば|る?と|ますと|(?:まし)?たら)(?:大変|とても|すごく)?"
    r"(?:嬉し|うれし|幸い|幸甚|ありがた|有り?難|助か)い?"
    r"|(?:説明|解説)を?(?:頼|たの)[むみ]"
    r"|(?:探|捜|さが)し(?:出して|出す|てい?(?:る|ます|た|ました)|たい)|申し上げ(?:ます|る)"
    r"|(?<![がはもの])悪いけど|差し支えな(?:ければ|くば)|よ(?:ろし)?ければ|可能(?:であれば|なら|な限り)|できれば|とりあえず"
    r"|ざっくり|なるべく|(?:誰|だれ|どなた)か(?:わかる|分かる|知ってい?る|詳しい)(?:人|方)"
    r"|\b(?:step by step|in detail|in (?:simple|plain) (?:words|terms|english))\b"
    r"|\b(?:i['’]?m|i am) (?:quite |very |totally )?new (?:to|at) (?:this|it|all this)\b"
    r"|\b(?:can['’]?t|cannot|couldn['’]?t) find\b|\b(?:look|search)ing for\b"
    r"|\bfor (?:someone|somebody|anyone|people|those) who(?:['’]s| is| are)?"
    r" (?:just|only|never|new)\b[^.?!]*|\b(?:would|do) you mind\b"
    r"|\b(?:docs?|documentation|information|info|articles?) (?:on|about|for)\b"
    r"|\b(?:please|kindly) (?:share|send|give|provide|list|point)\b"
    r"|\b(?:docs?|documentation) says? (?:on|about)\b|\bfill(?:ing)? me in on\b"
    r"|\b(?:(?:short|brief|quick) )?(?:summary|overview|explanation|description) (?:of|for)\b"
)
"""How something is to be explained, that it is sought, or to be served (お送りいただきたく)."""


def asides(folded_question: str, topics: Sequence[int]) -> list[list[Span]]:
    """The ranges of the sentences that ask nothing, in order, for each sentence that may be meant.

    ``topics`` are the places of the words that can be asked about. If no sentence asks, any of
    the last few with a topic may be meant, the very last first. What the one that is meant refers
    back to (これは何ですか) is no aside. A clause that ends in ですが or けど counts as a sentence.
    """
    sentences = _sentences(folded_question)
    asking = [one for one in sentences if _is_asking(folded_question[slice(*one)])]
    about = [one for one in sentences if any(place in range(*one) for place in topics)]
    meant = [asking] if asking else [[one] for one in about[: -_MAX_MEANT - 1 : -1]]
    return [_others(folded_question, sentences, central) for central in meant]


def _is_asking(sentence: str) -> bool:
    """Whether it asks or wishes; a sentence that tells what was does not (手伝ってもらった)."""
    is_report = _REPORTS.search(sentence) and not _ASKS_IN_PAST.search(sentence)
    return bool(_ASKS.search(sentence)) and not is_report


def _others(text: str, sentences: Sequence[Span], central: Sequence[Span]) -> list[Span]:
    referred = [
        before
        for before, one in pairwise(sentences)
        if one in central and _REFERS_BACK.search(text, *one)
    ]
    return [one for one in sentences if one not in central and one not in referred]


def manners(folded_question: str) -> list[Span]:
    """The ranges that say how something is to be explained, sought or served, in order.

    None if nothing is asked: コードをわかりやすく書く is a topic.
    """
    if not _ASKS.search(folded_question):
        return []
    return [found.span() for found in _MANNER.finditer(folded_question)]


def _sentences(text: str) -> list[Span]:
    ends = [0, *(found.end() for found in _SENTENCE_ENDS.finditer(text)), len(text)]
    return [(start, end) for start, end in pairwise(ends) if start < end]
