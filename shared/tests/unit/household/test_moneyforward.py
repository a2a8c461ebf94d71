"""Money Forward's CSV: every dialect is read exactly, and what is refused."""

import csv
import io
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.household.core.cells import (
    BadCell,
    BadRow,
    CsvText,
    TransactionRow,
    parse_amount,
    parse_date,
    parse_flag,
)
from mdvec.household.core.identity import identities
from mdvec.household.core.moneyforward import (
    NotTransactions,
    ParsedFile,
    PassedOver,
    decode,
    read_rows,
)

HEADER = "計算対象,日付,内容,金額（円）,保有金融機関,大項目,中項目,メモ,振替,ID"
ROW = TransactionRow(
    date(2025, 7, 1), -1000, "物販 髙島屋", "未分類", "", "モバイルSuica", "", True, False, "a1", 2
)
LINE = "1,2025/07/01,物販 髙島屋,-1000,モバイルSuica,未分類,,,0,a1"
SPELLINGS = {
    "is_target": ["計算対象"],
    "date": ["日付"],
    "description": ["内容"],
    "amount": ["金額（円）", "金額(円)", "金額"],
    "account": ["保有金融機関", "口座"],
    "category_major": ["大項目", "大分類"],
    "category_minor": ["中項目", "中分類"],
    "memo": ["メモ"],
    "is_transfer": ["振替"],
    "mf_id": ["ID", "id", "ＩＤ"],
}
FULL_WIDTH = str.maketrans("0123456789-,", "０１２３４５６７８９－，")


def csv_of(*lines, header=HEADER):
    return "\r\n".join([header, *lines, ""]).encode("cp932")


def texts(encoding):
    if encoding == "cp932":
        letters = st.text("abc 　,\"'\t\n\r表ソ能髙①㈱～－∥ｼﾞ𠮷"[:-1], max_size=12)
    else:
        letters = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
    return letters.map(str.strip)


def amount_spellings(amount):
    if amount is None:
        return st.just("")
    size = abs(amount)
    sign = st.sampled_from(["-", "−", "－", "▲", "△"]) if amount < 0 else st.sampled_from(["", "+"])
    number = st.sampled_from([f"{size}", f"{size:,}", f"{size}.0", f"{size:,}.00"])
    plain = st.builds(
        "{}{}{}{}".format, sign, st.sampled_from(["", "¥", "￥", " "]), number,
        st.sampled_from(["", "円"]),
    )  # fmt: skip
    return plain | plain.map(lambda text: text.translate(FULL_WIDTH)) | st.just(str(amount))


@st.composite
def statement_files(draw):
    """A statement file's bytes in any dialect, with the rows that are in it."""
    encoding = draw(st.sampled_from(["cp932", "utf-8", "utf-8-sig", "utf-16"]))
    order = draw(st.permutations(sorted(SPELLINGS)))
    quoting = draw(st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]))
    days = st.dates(date(1990, 1, 1), date(2100, 1, 1))
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=quoting, lineterminator="\r\n")
    writer.writerow(draw(st.sampled_from(SPELLINGS[name])) for name in order)
    rows = []
    for _ in range(draw(st.integers(0, 6))):
        line = len(io.StringIO(out.getvalue(), newline="").readlines()) + 1
        words = [draw(texts(encoding)) for _ in range(5)]
        words.append(draw(texts(encoding).filter(lambda text: not text.startswith("#"))))
        amount = draw(st.none() | st.integers(-(10**12), 10**12))
        flags = draw(st.booleans()), draw(st.booleans())
        row = TransactionRow(
            draw(days), amount, words[0], words[1], words[2], words[3], words[4],
            flags[0], flags[1], words[5], line,
        )  # fmt: skip
        spelling = draw(
            st.sampled_from(["{:%Y/%m/%d}", "{:%Y-%m-%d}", "{0.year}/{0.month}/{0.day}"])
        )
        cells = {name: getattr(row, name) for name in SPELLINGS} | {
            "date": spelling.format(row.date),
            "amount": draw(amount_spellings(amount).filter(lambda text: can(text, encoding))),
            "is_target": draw(st.sampled_from(["1", "１"] if flags[0] else ["0", "０"])),
            "is_transfer": str(int(flags[1])),
        }
        writer.writerow(cells[name] for name in order)
        rows.append(row)
    return out.getvalue().encode(encoding), tuple(rows)


def can(text, encoding):
    return encoding != "cp932" or text == text.encode(encoding, "replace").decode(encoding)


@given(statement_files())
def test_what_a_file_of_any_dialect_holds_is_read_back_exactly(statement_file):
    data, rows = statement_file
    parsed = read_rows(data)
    assert parsed == ParsedFile((rows,), (), parsed.csv)
    assert parsed.csv == CsvText.of(decode(data))
    spans = parsed.csv.spans()
    header, *texts = (parsed.csv.text[start:end] for start, end, _ in spans.values())
    assert [*spans][1:] == [row.line for row in rows]
    assert [read_rows(f"{header}\r\n{text}".encode()).rows for text in texts] == [
        (replace(row, line=2),) for row in rows
    ]


@given(st.binary())
def test_no_bytes_after_a_header_are_lost_silently(junk):
    try:
        parsed = read_rows(csv_of(LINE) + junk)
    except NotTransactions:
        return
    assert parsed.passed_over is None
    assert parsed.rows[:1] == (ROW,)
    words = junk.decode("cp932").replace(",", " ").replace('"', " ").split()
    assert not words or parsed.rows[1:] or parsed.bad


@given(st.binary())
@example(b"\xef")
@example(b"\xef\xbb")
def test_any_bytes_are_read_or_refused_with_our_error(data):
    try:
        parsed = read_rows(data)
    except NotTransactions:
        return
    assert parsed.passed_over


@each(
    ("text", "amount"),
    [
        ("-1000", -1000), ("300000", 300000), ("1,234", 1234), ("-1,234,567", -1234567),
        ("¥1,000", 1000), ("￥－１，０００", -1000), ("-¥500", -500), ("\\500", 500), ("−5", -5),
        ("－5", -5), ("▲1,200", -1200), ("△1,200円", -1200), ("１２３", 123), ("100.0", 100),
        ("-100.00", -100), ("0", 0), ("-0", 0), ("+7", 7), ("1,000 円", 1000), ("", None),
        ("0.000", 0), ("-2000.00", -2000), ("1,234.000", 1234),
        ("9" * 15, 999_999_999_999_999),
    ],
)  # fmt: skip
def test_an_amount_is_whole_yen_however_it_is_written(text, amount):
    assert parse_amount(text) == amount


@each(
    ("text", "reason"),
    [
        ("100.5", "whole"), ("12,34", "number"), ("1,2345", "number"), ("abc", "number"),
        ("--1", "number"), ("-¥-1", "number"), ("-", "number"), ("1e3", "number"),
        ("10²", "number"), ("٣", "number"), ("1 000", "number"), ("9" * 16, "digits"),
        ("9" * 9000, "digits"), ("NaN", "number"), ("(100)", "number"),
        ("1.000", "thousands"), ("-2000.000", "thousands"), ("-¥100.250", "thousands"),
        ("１．０００円", "thousands"), ("1.234,00", "number"), ("1.234.567", "number"),
    ],
)  # fmt: skip
def test_an_invalid_amount_is_refused_without_quoting_it(text, reason):
    with pytest.raises(BadCell, match=reason) as refused:
        parse_amount(text)
    assert text == "-" or text not in str(refused.value)


@each(
    "text",
    [
        "2025/07/01", "2025-07-01", "2025/7/1", "２０２５／７／１", "2025.07.01", "2025年7月1日",
        "2025/07/01 0:00", "2025/7/1 0:00:00", "2025-07-01 00:00:00", "2025-07-01T00:00:00.000",
        "2025/07/01(火)", "２０２５／０７／０１　０：００", "2025/07/01 23:59",
        "20250701", "令和7年7月1日", "R7.7.1", "令和７年７月１日 10:00",
    ],
)  # fmt: skip
def test_a_date_is_read_with_either_sign_and_any_width(text):
    assert parse_date(text) == date(2025, 7, 1)


@each(
    "text",
    [
        "2025/02/29", "2025/13/01", "2025/07-01", "07/01/2025", "0000/01/01", "", "2025/7/001",
        "2025-07-01T00:00:00Z", "2025/07/01 24:00", "2025/07/01 0:00 x", "45839", "1-Jul-25",
        "25/7/1", "20251301", "R7.2.29", "7.7.1",
    ],
)  # fmt: skip
def test_an_invalid_date_is_refused(text):
    with pytest.raises(BadCell, match="日付"):
        parse_date(text)


def test_a_flag_is_zero_or_one_and_its_default_where_it_is_empty():
    assert [parse_flag(text, "振替", default=False) for text in ("0", "1", "１", "")] == [
        False, True, True, False,
    ]  # fmt: skip
    assert parse_flag("", "計算対象", default=True)
    with pytest.raises(BadCell, match="計算対象"):
        parse_flag("2", "計算対象", default=True)


HEADERS = st.sampled_from(
    [
        "金額（円）", "金額(円)", "金額 (円)", "金額　（円）", "金額（ 円 ）", "\ufeff金額(円)",
        "金額［円］", "金額\n（円）",
    ]
)  # fmt: skip
DAYS = ["{0.year}/{0.month}/{0.day}", "{:%Y/%m/%d} 0:00", "{:%Y-%m-%d} 00:00:00", "{:%Y/%m/%d}"]


@given(
    amount_name=HEADERS,
    padded=st.booleans(),
    day=st.sampled_from(DAYS),
    amount=st.sampled_from(["-1000", "-1,000", "△1,000", "▲1000", "−1,000", "¥-1,000", "-1,000円"]),
    delimiter=st.sampled_from(",\t;|"),
    quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
    spare=st.integers(0, 3),
    encoding=st.sampled_from(["utf-8-sig", "utf-8", "utf-16"]),
)
def test_rows_survive_being_saved_by_a_spreadsheet(
    amount_name, padded, day, amount, delimiter, quoting, spare, encoding
):
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, quoting=quoting, lineterminator="\r\n")
    names = HEADER.replace("金額（円）", amount_name).split(",")
    writer.writerow([f" {name} " if padded else name for name in names] + [""] * spare)
    cells = LINE.split(",")
    cells[1], cells[3] = day.format(ROW.date), amount
    writer.writerow(cells + [""] * spare)
    writer.writerow([""] * (len(cells) + spare))
    parsed = read_rows(out.getvalue().encode(encoding))
    line = 3 if "\n" in amount_name else 2
    assert (parsed.rows, parsed.bad) == ((replace(ROW, line=line),), ())


@each("broken", ["#NAME?", "#REF!", "#N/A", "#VALUE!", "#DIV/0!", "1.23E+15"])
def test_ids_damaged_by_a_spreadsheet_do_not_merge_rows(broken):
    parsed = read_rows(csv_of(LINE, LINE[:-2] + broken, LINE[:-2] + broken))
    assert parsed.rows == (ROW,)
    reason = "a spreadsheet has damaged the ID; download the file again"
    assert parsed.bad == (BadRow(3, reason), BadRow(4, reason))


def test_columns_that_are_missing_have_their_defaults():
    data = "日付,内容,金額\n2025/07/01,物販 髙島屋,-1000\n".encode()
    expected = replace(ROW, category_major="", account="", mf_id="")
    assert read_rows(data).rows == (expected,)


def test_a_bad_row_is_reported_by_line_and_parsing_continues():
    bad_date, bad_amount = LINE.replace("07/01", "02/30"), LINE.replace("-1000", "-100.5")
    parsed = read_rows(csv_of(LINE, bad_date, LINE, bad_amount, LINE + ",more", LINE[:-3], LINE))
    assert [row.line for row in parsed.rows] == [2, 4, 8]
    assert parsed.bad == (
        BadRow(3, "日付 is not a valid date"),
        BadRow(5, "金額 is not a whole number of yen"),
        BadRow(6, "it has 11 cells, the header 10"),
        BadRow(7, "it has 9 cells, the header 10"),
    )


def test_a_quote_that_is_never_closed_takes_only_its_own_row():
    torn = '"1","2025/07/01","物販'
    parsed = read_rows(csv_of(LINE, torn, LINE, LINE))
    assert [row.line for row in parsed.rows] == [2, 4, 5]
    assert parsed.bad == (BadRow(3, "its quotes do not match"),)


def test_a_file_truncated_within_its_last_id_loses_only_that_row():
    whole = csv_of('"1","2025/07/01","a","-1","b","c","d","","0","id-12345"')
    parsed = read_rows(whole[: whole.rindex(b"345")])
    assert (parsed.rows, parsed.bad) == ((), (BadRow(2, "its quotes do not match"),))


def test_a_nul_and_a_giant_cell_spoil_their_rows_only():
    nul, giant = LINE.replace("物販", "\0"), LINE.replace("物販", "あ" * 200_000)
    parsed = read_rows(csv_of(nul, LINE, giant, LINE))
    assert [row.line for row in parsed.rows] == [3, 5]
    assert parsed.bad == (BadRow(2, "it contains NUL characters"), BadRow(4, "a cell is too long"))


@each(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"\r\n\r\n", "empty"),
        ('"年月","合計（円）"\r\n"2025/07","1"\r\n'.encode("cp932"), "asset history"),
        ('"日付","合計（円）","年金（円）"\r\n'.encode("cp932"), "asset history"),
        (b"a,b\n1,2\n", "日付, 金額（円）, 内容"),
        ("日付,内容\n2025/07/01,a\n".encode(), "no column 金額（円）)"),
    ],
)
def test_another_file_is_skipped_and_named(data, reason):
    parsed = read_rows(data)
    assert (parsed.rows, parsed.bad) == ((), ())
    assert reason in parsed.passed_over.text
    assert PassedOver.stored(parsed.passed_over.text) == parsed.passed_over


def test_a_note_that_another_version_stored_stays_as_it_is():
    note = PassedOver.stored("it is a note of before")
    assert (note.text, note.may_have_rows) == ("it is a note of before", False)


@each("page", ["<!DOCTYPE html>\n<html>", " \r\n<HTML lang='ja'>", "\ufeff<html>"])
def test_a_login_page_saved_as_csv_is_reported_as_one(page):
    with pytest.raises(NotTransactions, match="login page"):
        read_rows(page.encode())


def test_a_damaged_file_is_named_by_the_line_of_the_damage():
    utf8 = f"{HEADER}\n{LINE}\n{LINE}\n".encode()
    for data in (utf8[:-1] + b"\xff\n", b"\xef\xbb\xbf" + utf8[:-1] + b"\xff\n"):
        with pytest.raises(NotTransactions, match="line 3"):
            read_rows(data)
    for damage in (b"\xfd\n", b"\x80\n", b"\x85\n"):
        with pytest.raises(NotTransactions, match="line 3 is neither"):
            read_rows(csv_of(LINE) + damage)


def test_two_rows_alike_without_an_id_are_two_purchases_in_every_file():
    bare = replace(ROW, mf_id="")
    first, second = identities([bare, replace(bare, line=3)])
    assert first != second
    assert identities([replace(bare, line=9, memo="x", category_major="食費"), ROW, bare]) == [
        first, "id:a1", second,
    ]  # fmt: skip


@each(
    ("one", "other"),
    [
        ("夏～祭り", "夏〜祭り"),
        ("カフェ　①", "ｶﾌｪ 1"),
        ("朝市\r\n実行委員会", "朝市\n実行委員会"),
        ("A－B", "A−B"),
    ],
)
def test_the_encoding_of_a_file_does_not_change_a_rows_identity(one, other):
    pair = [replace(ROW, mf_id="", description=text, account=text) for text in (one, other)]
    assert identities(pair[:1]) == identities(pair[1:])


@each(
    "change", [{"date": date(2025, 7, 2)}, {"amount": None}, {"description": "x"}, {"account": "x"}]
)
def test_another_day_amount_shop_or_account_is_another_purchase(change):
    bare = replace(ROW, mf_id="")
    assert identities([bare]) != identities([replace(bare, **change)])
