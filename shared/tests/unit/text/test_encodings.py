"""Encodings: a Japanese text is read as itself or refused, and never becomes another."""

from functools import partial

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.files.problems import UnreadableFile
from mdvec.files.reading import decode_text, file_encoding
from mdvec.household.core.moneyforward import NotTransactions, decode
from mdvec.text.encoding import UnknownEncoding, encoding_of

HIRAGANA = "あいうえおかがきくけこさしすせただちっつてでとなにのはひほまみむもやよらりるれろわをん"
KATAKANA = (
    "アイウエオカガキクコサシスセタダチッツテデトナニノハバパピフホマミメモャュラリルレロワンー"
)
KANJI = "日本大学校国会人年月火水木金土電気代食費家計簿東京都市区駅店車社者質識池昼綻確認銀行口座"
MARKS = "、。「」・？！ 　\n1234ABCabc,.-()"
HALF_WIDTH = (
    "ﾃﾞﾝｷﾀﾞｲ", "ｽｲﾄﾞｳ", "ﾌﾘｺﾐ", "ﾃｽｳﾘﾖｳ", "ｶ)ｱﾏｿﾞﾝｼﾞﾔﾊﾟﾝ", "ｸﾚｼﾞｯﾄ", "ｷﾕｳﾖ", "ﾄｳｷﾖｳｶﾞｽ",
    "ﾌｱﾐﾘｰﾏｰﾄ", "ｾﾌﾞﾝｲﾚﾌﾞﾝ", "ATM", "1234", "ﾕ)ﾔﾏﾀﾞ", "ｾｲｶﾂ ｶ-ﾄﾞ", "ﾘｿｸ", "ﾈﾂﾄ",
)  # fmt: skip
BYTES = ("utf-8", "utf-8-sig", "cp932", "euc_jp", "iso2022_jp", "utf-16")

words = st.text(HIRAGANA, min_size=1, max_size=6) | st.text(KATAKANA, min_size=2, max_size=6)
words |= st.text(KANJI, min_size=1, max_size=4)
sentences = st.lists(words | st.sampled_from(MARKS), min_size=1, max_size=30).map("".join)
kanji = st.text(KANJI, min_size=3, max_size=40)
statements = st.lists(st.sampled_from(HALF_WIDTH), min_size=1, max_size=12).map("\n".join)


def readings(folder, data):
    """What each decoder makes of the bytes: documents, datasets, households; None: refused."""
    (folder / "a.txt").write_bytes(data)
    found = []
    for read in (
        lambda: decode_text(data),
        lambda: data.decode(file_encoding(folder / "a.txt")),
        lambda: decode(data),
    ):
        try:
            found.append(read())
        except (UnreadableFile, NotTransactions):
            found.append(None)
    return found


def has_three_letters(text):
    """Two in EUC-JP can be valid UTF-8: 認 is ǧ."""
    return sum(not letter.isascii() for letter in text.replace("\u3000", "")) >= 3


@settings(max_examples=40)
@given(text=sentences.filter(has_three_letters) | kanji | statements)
@example(text="これは短い文です。")
@example(text="かさ")
@example(text="学校")
@example(text="①番の店でした")
@example(text="ﾃｽﾄｶ")
def test_a_text_in_any_encoding_is_read_as_itself_or_refused(tmp_path_factory, text):
    folder = tmp_path_factory.getbasetemp()
    for encoding in BYTES:
        try:
            data = text.encode(encoding)
        except UnicodeEncodeError:
            continue
        assert set(readings(folder, data)) <= {text, None}, encoding


@settings(max_examples=20)
@given(text=st.lists(words, min_size=8, max_size=40).map("".join))
def test_a_sentence_that_has_kana_is_read_in_every_encoding(tmp_path_factory, text):
    text = f"今日は{text}のでした。"
    for encoding in set(BYTES) - {"utf-16"}:
        assert readings(tmp_path_factory.getbasetemp(), text.encode(encoding)) == [text] * 3


@pytest.mark.parametrize(
    "text",
    [
        "日付,摘要\n7/1,ﾃﾞﾝｷﾀﾞｲ\n",
        "1,ｶ)ｱﾏｿﾞﾝｼﾞﾔﾊﾟﾝ,1200\n2,ﾌｱﾐﾘｰﾏｰﾄ,300\n",
        "ﾌﾘｺﾐ ﾃｽｳﾘﾖｳ\nｾｲｶﾂ\nﾄｳｷﾖｳｶﾞｽ\nﾃﾞﾝｷﾀﾞｲ\n",
        "\n".join(["ﾌﾘｺﾐ", "ｶﾞｽﾘﾖｳｷﾝ", "ﾆﾎﾝ"] * 8),
        "PAYPAYﾏｰｹｯﾄ",
        "Aｺｰｽ",
        "ｱﾏｿﾞﾝJP",
        "x,5ｺ\nAﾀｲﾌﾟ,2ｺ",
    ],
)
def test_half_width_katakana_of_a_bank_are_read_as_what_they_are(tmp_path, text):
    assert readings(tmp_path, text.encode("cp932")) == [text] * 3


@each(
    "data",
    [
        "電気代は口座から引き落とします。".encode()[:-1],
        "中文网页，没有日文。".encode("gbk"),
        "한국어 문장입니다.".encode("euc_kr"),
        "東京都".encode("euc_jp"),
        *(
            text.encode("latin-1")
            for text in ("Ørsted", "Århus, Øst", "20°C\n" * 40, "5½", "3 × 4")
        ),
        "Zoë".encode() + b"\n\xd6sterreich",
        b"knowledge\xcaof",  # Mac OS Roman
        b"\x1b$B%F%9\x80\x1b(B",
        b"\x1b$B-!\x1b(B",
    ],
)
def test_what_cannot_be_told_or_is_damaged_is_refused(tmp_path, data):
    assert readings(tmp_path, data)[:2] == [None, None]


@each("text", ["café", "père et mère", "© 2024 §5 20°C ±5 £5", "Привет", "a", ""])
def test_utf8_of_other_languages_stays_what_it_is(text):
    assert encoding_of(lambda: (text.encode(),)) == "utf-8-sig"


@given(text=sentences, size=st.integers(1, 7))
def test_blocks_may_end_anywhere(text, size):
    for encoding in ("utf-8", "cp932", "iso2022_jp"):
        data = f"これは{text}".encode(encoding)
        parts = [data[at : at + size] for at in range(0, len(data), size)]
        assert outcome(partial(list, parts)) == outcome(partial(list, [data]))


@each(
    "data",
    [
        ("日本語の文です。\n" * 3).encode("cp932") + b"\x80\n",
        ("日本語の文です。\n" * 3).encode("iso2022_jp") + b"\x1b$B-!\x1b(B\n",
    ],
)
def test_a_damaged_line_has_its_number_wherever_blocks_end(data):
    for size in (1, 4, 30, 200):
        parts = [data[at : at + size] for at in range(0, len(data), size)]
        with pytest.raises(UnknownEncoding) as refused:
            encoding_of(partial(list, parts))
        assert refused.value.line == 4


def outcome(blocks):
    try:
        return encoding_of(blocks)
    except UnknownEncoding as error:
        return str(error)


@each(
    "data",
    [
        "한국어 문서".encode("iso2022_kr"),
        "한국어 문서".encode("iso2022_jp_2"),
        b"\x1b$)A\x0eVPND\x0f",  # ISO-2022-CN
        b"\x1b$AVPND\x1b(B",
        b"\x1b$)G\x0eGcGc\x0f",
    ],
)
def test_other_languages_of_iso_2022_are_refused(tmp_path, data):
    assert readings(tmp_path, data) == [None, None, None]
