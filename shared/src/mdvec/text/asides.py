"""Finds the sentences of a question that ask nothing: background, attempts, pleasantries."""

from __future__ import annotations

import re
from itertools import pairwise

_SENTENCE_ENDS = re.compile(
    r"[。\n]+|[!?]++(?![をがの]|って|という)|\.(?=\s)"  # not in a name: 熱ラジ!が放送された
    r"|(?:です|でした|ます|ました|ません|のだ|ん?だ)(?:が|けど|けれども?)[、,]"
)
_ASKS = re.compile(
    r"[?？]|教え|おしえ|教示|説明して|知りた|について|につきまして|につき[、,]|に関し|に関する|とは|見せて"
    r"|ください|下さい|どこ|どうすれば|どうやって|なぜ|(?:です|ます|でしょう|ません)か(?!\w)"
    r"|(?:どれ|どっち|どちら|いつ|誰|だれ|何|なに)\W*$"
    r"|\b(?:how|what|where|when|why|which|explain|tell me|show me)\b"
)
_REFERS_BACK = re.compile(
    r"(?:これ|それ|あれ)(?:は(?!さておき|そうと)|に(?![、,])|[がをって])"
    r"|(?:この|その)(?:こと|件|意味)|(?:こう|そう)いう"
)
"""In a sentence that asks about what the one directly before it says."""
_MANNER = re.compile(
    r"順を?追って|一から|初歩から|例を(?:挙|あ)げて|手短に|噛み砕いて|(?:わ|分)かりやすく|もう少し"
    r"|(?:に関する|についての|に関しての)(?:情報|資料|記事|文書|ドキュメント|解説|説明)"
    r"|(?:ドキュメント|資料|文書|マニュアル|ガイド)の(?:中|どこか)(?:から|で|に)"
    r"|(?<![^をにがはのもで、。,\s])[おご御][^おご御をがはにでとのもて\W]{1,5}?"
    r"(?:(?:いただ|頂)(?:き|け[まなれたば])|(?:くださ|下さ)い|願い|いたしま|致しま|申し上)"
    r"|(?:説明|解説)を?(?:頼|たの)[むみ]"
    r"|(?:探|捜|さが)し(?:出して|出す|てい?(?:る|ます|た|ました)|たい)|申し上げ(?:ます|る)"
    r"|できれば|とりあえず|ざっくり|なるべく|(?:誰|だれ|どなた)か(?:わかる|分かる|知ってい?る|詳しい)(?:人|方)"
    r"|\b(?:step by step|in detail|in (?:simple|plain) (?:words|terms|english))\b"
    r"|\b(?:i['’]?m|i am) (?:quite |very |totally )?new (?:to|at) (?:this|it|all this)\b"
    r"|\b(?:can['’]?t|cannot|couldn['’]?t) find\b|\b(?:look|search)ing for\b"
    r"|\bfor (?:someone|somebody|anyone|people|those) who(?:['’]s| is| are)?"
    r" (?:just|only|never|new)\b[^.?!]*|\b(?:would|do) you mind\b"
    r"|\b(?:docs?|documentation|information|info|articles?) (?:on|about|for)\b"
    r"|\b(?:docs?|documentation) says? (?:on|about)\b|\bfill(?:ing)? me in on\b"
    r"|\b(?:(?:short|brief|quick) )?(?:summary|overview|explanation|description) (?:of|for)\b"
)
"""How something is to be explained, that it is sought, or served (お送りいただきたく)."""


def asides(folded_question: str, *, manners_only: bool = False) -> list[tuple[int, int]]:
    """The ranges of the sentences that ask nothing, in order; none if no sentence asks.

    What a sentence that asks refers back to (これは何ですか) is no aside. A clause that ends in
    ですが or けど counts as a sentence; so does the manner in which something is to be explained
    (順を追って), sought (に関する情報) or served (お送りいただきたく). With ``manners_only``, only
    these manners.
    """
    sentences: list[tuple[int, int]] = []
    start = 0
    for found in _SENTENCE_ENDS.finditer(folded_question):
        sentences.append((start, found.end()))
        start = found.end()
    sentences.append((start, len(folded_question)))
    asking = [one for one in sentences if _ASKS.search(folded_question[slice(*one)])]
    if not asking:
        return []
    central = set(asking)
    for before, one in pairwise(sentences):
        if one in central and _REFERS_BACK.search(folded_question[slice(*one)]):
            central.add(before)
    manner = [found.span() for found in _MANNER.finditer(folded_question)]
    if manners_only:
        return manner
    return sorted([one for one in sentences if one not in central] + manner)
