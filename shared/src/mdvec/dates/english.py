"""Brings phrases for periods to one form: widths, numerals, and English words as Japanese ones."""

from __future__ import annotations

import re
import unicodedata

_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
_NAMES = "|".join(f"{name[:3]}(?:{name[3:]})?" if len(name) > 3 else name for name in _MONTHS)
_MONTH = rf"\b(?P<name>sept|{_NAMES})\b\.?"
_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3}
_ORDINAL = rf"(?P<ordinal>{'|'.join(_ORDINALS)}|4th)"
_COUNTED = {"day": "日", "week": "週間", "month": "か月", "year": "年"}
_SEASONS = {"spring": "春", "summer": "夏", "autumn": "秋", "fall": "秋", "winter": "冬"}
_UNITS = {"week": "週", "weekend": "週末", "month": "月", "quarter": "q", "year": "年"}
_SHIFTED = {
    "last year": "昨年", "last fiscal year": "昨年度", "next fiscal year": "来年度",
    "this fiscal year": "今年度", "last quarter": "前q",
}  # fmt: skip
_WHOLE = (
    (r"(?:the )?(?:day before yesterday)", "おととい"),
    (r"(?:the )?week before last", "先々週"), (r"(?:the )?month before last", "先々月"),
    (r"(?:the )?year before last", "おととし"),
    (r"(?:this )?fiscal year(?: so far|[ -]to[ -]date)", "年度初来"),
    (r"quarter[ -]to[ -]date|\bqtd\b|this quarter so far", "今qこれまで"),
    (r"year[ -]to[ -]date|\bytd\b|this year so far|so far this year|"
     r"since the (?:start|beginning) of (?:the|this) year", "年初来"),
    (r"month[ -]to[ -]date|\bmtd\b|this month so far|so far this month", "今月これまで"),
    (r"week[ -]to[ -]date|this week so far|so far this week", "今週これまで"),
    (r"(?:the )?same (?:month|time) (?:last year|a year (?:ago|before))|this time last year",
     "前年同月"),
    (r"^(?:all|all time|everything|so far|until now|to date)$", "全期間"),
    (r"\b(?:excluding|except|without|not counting|not including) (?:the )?(?:current|this) month",
     "今月を除く"),
    (r"\b(?:last|past) (\w+) (?:full|complete|whole) months", r"今月を除く last \1 months"),
    (r"half a year|half year|half-year", "半年"), (r"a couple of", "2"),
    (r"golden week", "gw"), (r"new year(?:'s)? holidays?", "年末年始"),
    (r"christmas", "クリスマス"),
    (r"(?:since )?payday to (?:next )?payday", "給料日から給料日まで"), (r"payday", "給料日"),
    (r"yesterday", "昨日"), (r"today", "今日"), (r"tomorrow", "明日"),
)  # fmt: skip
_WHOLE_FORMS = tuple((re.compile(form), japanese) for form, japanese in _WHOLE)
_NUMBER_BEFORE_UNIT = re.compile(
    rf"\b({'|'.join(_NUMBERS)}) (?=(?:full )?(?:day|week|month|year)s?\b)"
)


def with_japanese_words(text: str) -> str:
    """A casefolded phrase with its English words in Japanese; words it does not know stay."""
    for form, japanese in _WHOLE_FORMS:
        text = form.sub(japanese, text)
    text = _NUMBER_BEFORE_UNIT.sub(lambda match: f"{_NUMBERS[match[1]]} ", text)
    text = re.sub(r"\b(?:the|in|for|during|of) ", "", re.sub(r"\s+", " ", text)).strip()
    for rewrite in (_dates, _parts_of_a_year, _counted, _shifted, _ranges):
        text = rewrite(text)
    return text


def _dates(text: str) -> str:
    """June 15, 2025 · 15 June 2025 · June 2025 · June 15 · June last year · June."""
    day, year = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?\b", r"(?P<year>(?:19|20)\d\d)\b"
    forms = (
        rf"{_MONTH} (?P<from>\d{{1,2}}) ?[-–] ?{day},? {year}",
        rf"{_MONTH} {day},? {year}", rf"{day} {_MONTH},? {year}", rf"{_MONTH},? {year}",
        rf"{year} {_MONTH}", rf"{_MONTH} {day}(?!\d)", rf"{day} {_MONTH}",
        rf"{_MONTH} (?P<last>last|this) year", _MONTH,
    )  # fmt: skip
    for form in forms:
        text = re.sub(form, _date, text)
    return text


def _date(match: re.Match[str]) -> str:
    parts = {"from": None, "day": None, "year": None, "last": None} | match.groupdict()
    said = match["name"][:3]
    month = next(n for n, name in enumerate(_MONTHS, 1) if name[:3] == said)
    year = f"{parts['year']}年" if parts["year"] else ""
    year = {"last": "昨年", "this": "今年", None: year}[parts["last"]]
    begins = f"{parts['from']}日から" if parts["from"] else ""
    return f"{year}{month}月{begins}" + (f"{parts['day']}日" if parts["day"] else "")


def _parts_of_a_year(text: str) -> str:
    """Q3 2025 · 2025 H1 · third quarter 2025 · summer 2025 · fiscal year 2025."""
    year = r"(?P<year>fy ?'?\d{2,4}|\d{4}|last year|this year)"
    text = re.sub(r"\bfiscal(?: year)? ?'?(\d{4}|\d{2})\b", r"fy\1", text)
    text = re.sub(rf"\b{_ORDINAL} quarter", lambda m: f"q{_number(m['ordinal'])}", text)
    text = re.sub(r"\bh([12])(?= (?:fy|\d{4}|last|this))|(?<=\d{4})(?: |-)?h([12])\b", _half, text)
    text = re.sub(r"\b(first|second) half\b", _half, text)
    for season, japanese in _SEASONS.items():
        text = re.sub(rf"\b{season}\b", japanese, text)
    text = re.sub(
        rf"\b(?P<part>q[1-4]|上半期|下半期|[春夏秋冬]) {year}", r"\g<year> \g<part>", text
    )
    return re.sub(r"(?<=\d)[ -](q[1-4]|[春夏秋冬])", r"\1", text)


def _number(ordinal: str) -> int:
    return _ORDINALS.get(ordinal, 4)


def _half(match: re.Match[str]) -> str:
    said = next(group for group in match.groups() if group)
    return "上半期" if said in ("1", "first") else "下半期"


def _counted(text: str) -> str:
    """3 months ago · last 3 months · past year."""
    unit = r"(?P<unit>day|week|month|year)s?\b"
    text = re.sub(rf"\b(?P<n>\d+) {unit} ago", lambda m: f"{m['n']}{_COUNTED[m['unit']]}前", text)
    text = re.sub(r"半年 ago", "半年前", text)
    text = re.sub(
        rf"\b(?:last|past|previous|latest|recent) (?P<n>\d+) {unit}",
        lambda m: f"直近{m['n']}{_COUNTED[m['unit']]}", text,
    )  # fmt: skip
    text = re.sub(rf"\bpast {unit}", lambda m: f"直近1{_COUNTED[m['unit']]}", text)
    text = re.sub(rf"(?<!近)\b(?P<n>\d+) {unit}", lambda m: f"{m['n']}{_COUNTED[m['unit']]}", text)
    return re.sub(r"\b(?:last|past) 半年", "直近半年", text)


def _shifted(text: str) -> str:
    """Last month · this quarter · next week · last winter."""
    for english, japanese in _SHIFTED.items():
        text = re.sub(rf"\b{english}\b", japanese, text)
    said = r"(?P<when>last|previous|this|current|next) (?P<unit>week(?:end)?|month|quarter|year)\b"
    text = re.sub(said, lambda m: _when(m["when"]) + _UNITS[m["unit"]], text)
    season = r"(?P<when>last|this) (?P<season>[春夏秋冬])"
    return re.sub(season, lambda m: f"{'昨' if m['when'] == 'last' else '今'}{m['season']}", text)


def _when(word: str) -> str:
    return {"this": "今", "current": "今", "next": "来"}.get(word, "先")


def _ranges(text: str) -> str:
    """From A to B · between A and B · A through B · since A · until B."""
    text = re.sub(r"^between (.+) and (.+)$", r"\1から\2", text)
    text = re.sub(r"^from (.+?) (?:to|through|until|till) (.+)$", r"\1から\2", text)
    text = re.sub(r"^(.+) (?:through|until|till|to) (.+)$", r"\1から\2", text)
    text = re.sub(r"^(?:since|from) (.+)$", r"\1から", text)
    text = re.sub(r"^(.+) (?:onwards?|on)$", r"\1から", text)
    return re.sub(r"^(?:until|till|up to|through|to) (.+)$", r"\1まで", text)


_DIGITS = {kanji: str(digit) for digit, kanji in enumerate("〇一二三四五六七八九")} | {"零": "0"}
_SPELLINGS = (
    ("四半期", "q"), ("一昨々日", "さきおととい"), ("一昨昨日", "さきおととい"),
    ("一昨年", "おととし"), ("一昨日", "おととい"), ("昨々日", "おととい"), ("きのう", "昨日"),
    ("元年", "1年"), ("昨年末", "昨年年末"), ("去年末", "去年年末"), ("今年末", "今年年末"),
    ("ゴールデンウィーク", "gw"), ("ゴールデンウイーク", "gw"),
    ("三が日", "正月三日間"), ("三ヶ日", "正月三日間"), ("正月三日間", "さんがにち"),
    ("ひと月", "1か月"), ("ふた月", "2か月"), ("今ごろ", "今頃"), ("いまごろ", "今頃"),
    ("いままで", "今まで"), ("前々", "先々"), ("前前", "先々"), ("先先", "先々"),
    ("’", "'"), ("‘", "'"), ("′", "'"),
)  # fmt: skip
_WEEKDAY = re.compile(r"\([月火水木金土日](?:曜日?)?\)")
_DAYS_OF_MONTHS = re.compile(r"\([0-9/]+[〜~][0-9/]+\)$")
"""What our own answers write after months that do not start on the 1st."""
_WHOLE_OF_IT = re.compile(r"(?<=[年月度])1(?:年|か月)間?$")
"""去年1年間, 先月1か月."""
_ENDING = re.compile(r"(?:分|(?<!今)頃|ごろ|(?<=[月週年日])中|(?<=月)度|いっぱい|は|[。、?!])+$")


def normalised(said: str) -> str:
    """A phrase in the one spelling that the grammar knows; English becomes Japanese."""
    text = " ".join(unicodedata.normalize("NFKC", said).casefold().split())
    for spelling, replacement in _SPELLINGS:
        text = text.replace(spelling, replacement)
    if re.search(r"[a-z]", text):
        text = with_japanese_words(text)
    text = re.sub(r"[〇零一二三四五六七八九十]+", _digits, "".join(text.split()))
    text = re.sub(r"(?<=[0-9])[かヵケけ箇個ヶカ]月", "か月", text)
    text = _DAYS_OF_MONTHS.sub("", _WEEKDAY.sub("", text))
    text = _ENDING.sub("", text.replace("この", "").replace("の", "").strip("「」『』"))
    return _WHOLE_OF_IT.sub("", text)


def _digits(match: re.Match[str]) -> str:
    kanji = match[0]
    if split := re.fullmatch(r"([^十]?)十([^十]?)", kanji):
        tens, ones = split.groups()
        return _DIGITS.get(tens, "1") + _DIGITS.get(ones, "0")
    return "".join(_DIGITS.get(sign, sign) for sign in kanji)
