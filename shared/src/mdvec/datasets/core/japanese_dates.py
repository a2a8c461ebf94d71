"""The patterns of dates as Japanese texts write them, and the SQL that reads them."""

from __future__ import annotations

TIME = r"\d{1,2}:\d{2}(:\d{2}(\.\d{1,6})?)?"
JAPANESE_DATE = r"(\d{4}|(明治|大正|昭和|平成|令和)([1-9]\d|0?[1-9]|元))年\d{1,2}月\d{1,2}日"
JAPANESE_MOMENT = rf"{JAPANESE_DATE} ?(\d{{1,2}}時\d{{1,2}}分(\d{{1,2}}秒)?|{TIME})"
_YEAR = (
    "CASE substr({v}, 1, 2) WHEN '令和' THEN 2018 WHEN '平成' THEN 1988 WHEN '昭和' THEN 1925 "
    "WHEN '大正' THEN 1911 WHEN '明治' THEN 1867 ELSE 0 END "
    "+ TRY_CAST(replace(regexp_extract({v}, '([0-9]+|元)年', 1), '元', '1') AS INTEGER)"
)
ISO_DATE = (
    f"({_YEAR})::VARCHAR || '-' || regexp_extract({{v}}, '年([0-9]+)月', 1) || '-' || "
    "regexp_extract({v}, '月([0-9]+)日', 1)"
)
ISO_MOMENT = (
    f"{ISO_DATE} || ' ' || "
    "rtrim(translate(regexp_extract({v}, '日 ?(.*)', 1), '時分秒', '::'), ':')"
)
ERA_LETTER = r"[MTSHR]([1-9]\d|0?[1-9])[./-]\d{1,2}[./-]\d{1,2}"
ERA_LETTER_DATE = (
    "(CASE {v}[1] WHEN 'R' THEN 2018 WHEN 'H' THEN 1988 WHEN 'S' THEN 1925 WHEN 'T' THEN 1911 "
    "ELSE 1867 END + TRY_CAST(regexp_extract({v}, '[0-9]+') AS INTEGER))::VARCHAR || '-' || "
    "regexp_extract({v}, '[./-]([0-9]+)', 1) || '-' || regexp_extract({v}, '[0-9]+$')"
)
PAST_ERA = (
    r"^((明治|M)(4[6-9]|[5-9]\d)|(大正|T)(1[6-9]|[2-9]\d)|(昭和|S)(6[5-9]|[7-9]\d)"
    r"|(平成|H)(3[2-9]|[4-9]\d))"
)
"""Years that an era never had: plans made before its end name them, and slips of the pen."""
PAST_ERA_RULE = "years past an era's end go on, 昭和65年 is 1990"
