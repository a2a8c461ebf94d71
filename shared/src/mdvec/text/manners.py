"""Phrases in a question that say how it is to be answered, not what it is about."""

from __future__ import annotations

import re

from mdvec.text.asides import TOPIC_MARKS, Span, asks

_TOLD = re.compile(
    r"順を?追って|(?:一|初歩|基礎|ゼロ)から|(?:最初|初め|はじめ)から(?=説明|解説|教え|おしえ|学|勉強)"
    r"|例を(?:挙|あ)げて|手短に|噛み砕いて|(?:わ|分)かりやすく|もう少し|もう一[回度]"
    r"|初心者(?:向け|でも|にも)(?:[にの]|わかる)?|基本的な(?:ところ|こと|部分)?"
    r"|(?<=か)(?:すっかり|もう|完全に)?忘れて(?:い|しま)\w*"
    r"|[^のは、。\s]{1,9}で(?=(?:説明|解説)して(?!あ|い|る)|教えて(?!も))"  # 図で説明して
    r"|ざっくり|なるべく|とりあえず|(?:説明|解説)を?(?:頼|たの)[むみ]"
    r"|(?:に関する|についての|に関しての|関連する)(?:情報|資料|記事|文書|ドキュメント|解説|説明)"
    r"|\b(?:step by step|in detail|in (?:simple|plain) (?:words|terms|english))\b"
    r"|\b(?:(?:short|brief|quick) )?(?:summary|overview|explanation|description) (?:of|for)\b"
)
"""The form in which something is to be told: 順を追って."""
_PLACES = (
    "ページ|章|節|箇所|場所|部分|項目|記事|資料|文書|ドキュメント|セクション|ところ|とこ|あたり"
)
_SOUGHT = re.compile(
    rf"(?:該当|関連|対応)する(?:{_PLACES})|読む(?:べき)?(?:{_PLACES})|読み(?:直し|返し)?(?:て?おき)?たい"
    rf"|(?<=の)(?:{_PLACES})(?=を?(?:探|捜|出し|見せ|開い|教え|読))"
    r"|役に?立[ちつてっ]|という(?:言葉|用語|単語|名前)"
    r"|(?:どんな|どのような|どういう|どういった)(?:場面|状況|目的)"
    rf"|(?:書いてあ|書かれ|載[っせ]て)[いたてまするりっ]*(?:{_PLACES})?"
    rf"|(?:どの(?:{_PLACES}|辺り?|へん)|どこ)"
    r"(?:を?(?:参照|確認|ご覧|見|読)\w{0,3}[ばら]|[にで]出て(?:くる|き(?:ます)?))"
    rf"|どの(?:{_PLACES}|へん)"
    r"|(?:ドキュメント|資料|文書|マニュアル|ガイド)(?:の中|のどこか|内)(?:から|で|に|の)"
    r"|(?:探|捜|さが)し(?:出して|出す|てい?(?:る|ます|た|ました)|たい)"
    r"|(?:誰|だれ|どなた)か(?:わかる|分かる|知ってい?る|詳しい)(?:人|方)"
    r"|\b(?:can['’]?t|cannot|couldn['’]?t) find\b|\b(?:look|search)ing for\b"
    r"|\b(?:docs?|documentation|information|info|articles?) (?:on|about|for)\b"
    r"|\b(?:section|chapter)s? (?:on|about)\b|\b(?:page|part)s? about\b|\b(?:the|a|any) page on\b"
    r"|\b(?:page|part|section|chapter)s? (?:that|which|where)"
    r" (?:talk|explain|cover|describe|mention|deal)\w*(?: about| with)?\b"
    r"|\bwhich (?:page|section|chapter)\b|\b(?:docs?|documentation) says? (?:on|about)\b"
)
"""That something is sought, and in what: どのページに書いてありますか."""
_SERVED = re.compile(
    r"(?:標記|表題|首題|掲題)の件|申し上げ(?:ます|る)|恐れ入り(?:ます|ました)?"
    r"|お世話になっております|お疲れ様(?:です|でございます)"
    r"|(?<![^をにがはのもでか、。,\s])[おご御][^おご御をがはにでとのもて\W]{1,5}?"
    r"(?:(?:いただ|頂)(?:き|け[まなれたば])|(?:くださ|下さ)い|願い|いたしま|致しま|申し上|賜)"
    r"|(?<=教えて)[ぁ-んーa-z]{1,7}(?=\W*$)"  # however it is spelled
    r"|(?<![がはもの])悪いけど|差し支えな(?:ければ|くば)|よ(?:ろし)?ければ"
    r"|可能(?:であれば|なら|な限り)|でき(?:れば|ましたら|たら)|急ぎ(?:です|ません|!)"
    r"|\b(?:i['’]?m|i am) (?:quite |very |totally )?new (?:to|at) (?:this|it|all this)\b"
    r"|\bfor (?:someone|somebody|anyone|people|those) who(?:['’]s| is| are)?"
    r" (?:just|only|never|new)\b[^.?!]*|\b(?:would|do) you mind\b|\bfill(?:ing)? me in on\b"
    r"|\bquick (?:one|question)\b|\bworks?(?=\W*$)|\bpoint me (?:to|at)\b"
    r"|\bhelp me (?:to )?(?:understand|learn)\b|\bpull (?:it|that|this) up\b"
    r"|\b(?:please|kindly) (?:share|send|give|provide|list|point)\b"
)
"""To whom, and the politeness of being served: お送りいただきたく."""
_GLAD = re.compile(
    r"(?:(?:いただ|頂)け|賜れ|もらえ|くれ|くださ)?(?:れば|る?と|ますと|(?:まし)?たら)"
    r"(?:大変|とても|すごく)?(?:嬉し|うれし|幸い|幸甚|ありがた|有り?難|助か)い?"
)
"""いただけますと幸いです."""
_ENDS_IN_A_PLACE = re.compile(rf"(?:{_PLACES}|もの|文章)\W*$")


def manners(folded_question: str) -> list[Span]:
    """The ranges that say how something is to be told, sought or served, in order.

    None if nothing is asked, nor a place to read sought (…を初めて学ぶときに読む資料):
    コードをわかりやすく書く is a topic.
    """
    of_asking = asks(folded_question) or TOPIC_MARKS.search(folded_question)
    if not (of_asking or _ENDS_IN_A_PLACE.search(folded_question)):
        return []
    phrases = (_TOLD, _SOUGHT, _SERVED, _GLAD)
    found = (match.span() for one in phrases for match in one.finditer(folded_question))
    return sorted(found)
