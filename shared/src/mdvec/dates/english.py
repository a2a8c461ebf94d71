"""Turns English words for periods into the Japanese ones that the grammar knows."""

from __future__ import annotations

import re

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
