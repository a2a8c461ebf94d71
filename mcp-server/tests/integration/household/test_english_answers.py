"""The household's answers in English: the same figures, and no Japanese but names from the data."""

import random
import re
import unicodedata
from datetime import date, datetime, timedelta

import pytest
from client_here import answers
from imported import imported
from mdvec.database import open_database
from mdvec.dates import Month

JAPANESE = re.compile(r"[ぁ-んァ-ヶ一-鿿、。（）※]")
HEADER = "計算対象,日付,内容,金額（円）,保有金融機関,大項目,中項目,メモ,振替,ID\n"
KEPT = (
    "収入・支出詳細", "資産推移月次.csv", "夫/", "妻/", "人:NAME", "固定費", "変動費", "医療費控除",
    "ふるさと納税", "チャージ", "振替", "振込", "ない銀行", "ないもの", "スーパー", "カフェ",
    "ポイント", "預金・現金・暗号資産",
)  # fmt: skip
"""Names that sentences have in both languages, and words of the calls below."""


def report(name, **arguments):
    return "household_report", {"report": name, **arguments}


def edit(what, **arguments):
    return "edit_household", {"what": what, **arguments}


def find(**arguments):
    return "find_transactions", arguments


def calls(period, before):
    """Calls of every tool, also refused ones; those that decide come in a sensible order."""
    return [
        ("get_monthly_household", {}),
        ("get_monthly_household", {"period": period, "page": 2}),
        ("get_monthly_household", {"period": period, "category": "food"}),
        ("get_monthly_household", {"period": period, "category": "savings rate", "limit": 0}),
        ("get_monthly_household", {"period": period, "output_format": "image"}),
        ("get_monthly_household", {"period": "some day", "category": "food"}),
        ("get_monthly_household", {"period": "1999"}),
        ("get_monthly_household", {"category": "ないもの"}),
        ("get_monthly_household", {"period": period, "page": 900}),
        ("get_monthly_household", {"year": 2025, "since": "2025-01"}),
        ("get_category_trend", {}),
        ("get_category_trend", {"category": "food", "output_format": "image"}),
        ("get_category_trend", {"category": "savings rate"}),
        ("get_category_trend", {"category": "balance", "since": "2025-01-10"}),
        find(query="スーパー", period=period),
        find(query="スーパー", exclude_shop=["カフェ"], min_amount=100, period=period, rows="all"),
        find(category=["food"], group_by="shop", period=period),
        find(group_by="weekday", period=period), find(group_by="month", limit=3),
        find(group_by="person"), find(group_by="account"), find(rows="left_out", limit=2),
        find(account="ない銀行"), find(min_amount=9, max_amount=1), find(sort="newest", limit=900),
        report("compare", period=period, base=before), report("compare", base="some day"),
        report("compare", period=period, base=before, detail="full", by="shop"),
        report("compare", period=period, base=before, output_format="image"),
        report("recurring"), report("forecast"), report("anomalies"),
        report("anomalies", period=period),
        report("costs", period=period), report("medical"), report("furusato"), report("rules"),
        report("budget"), edit("budget", category="food", amount=50_000),
        edit("budget", category="food", amount=60_000, per="year"),
        edit("budget", category="income", amount=5),
        report("budget", period=period), report("budget", output_format="image"),
        report("accounts"),
        edit("budget", category="food", amount=0), report("households"), report("net_worth"),
        edit("rule", action="try", shop="スーパー", category="food"),
        edit("rule", action="add", shop="カフェ", category="food"), report("rules"),
        edit("rule", action="remove", shop="カフェ"), edit("rule", action="remove", shop="カフェ"),
        edit("alias", action="try", shop="スーパー", spelling="カフェ"), edit("alias"),
        edit("note", transaction_id=3, note="ok", tags=["固定費"]), edit("note"),
        edit("note", note="x"), edit("note", transaction_id=4),
        edit("note", transaction_id=10**9, note="x"), report("notes"),
        report("costs", period=period),
        report("budget", category="food"), report("mapping"),
        ("detect_duplicates", {}), ("list_duplicate_candidates", {"limit": 40}),
        ("get_duplicate_candidate_detail", {"check_id": 1}),
        ("confirm_duplicate", {"check_id": 1, "decision": "maybe"}),
        ("confirm_duplicate", {"check_id": 1, "decision": "not_duplicate"}),
        ("confirm_duplicate", {"check_id": 1, "decision": "skip"}),
        ("confirm_duplicate", {"check_id": 1, "decision": "duplicate"}),
        ("confirm_duplicate", {"check_id": 1, "decision": "duplicate"}),
        ("get_monthly_household", {"period": period}), ("get_duplicate_stats", {}),
        ("restore_duplicate", {"transaction_id": 1}),
        ("restore_duplicate", {"transaction_id": 10**9}),
        ("confirm_duplicate", {"check_id": 10**6, "decision": "skip"}),
        ("confirm_duplicate", {"decision": "skip"}),
        ("detect_duplicates", {"date_tolerance_days": 90}),
        ("list_duplicate_candidates", {"limit": 0}),
        ("get_monthly_household", {"page": "one"}), ("get_monthly_household", {"nothing": 1}),
    ]  # fmt: skip


def generated(folder, seed, today):
    """A ledger of two people with purchases in both accounts, transfers and rows dated ahead.

    Both have contracts with the same companies, some of which have ended; shops have names in other
    letters, and categories are named like totals.
    """
    chance = random.Random(seed)
    shops = {"スーパー 北": "食費,食料品", "カフェ 南": "食費,カフェ", "薬局": "健康・医療,薬",
             "海の家": "趣味・娯楽,レジャー", "謎": "未分類,未分類", "AMAZON.CO.JP": "日用品,雑貨",
             "ｽｰﾊﾟｰ A&B": "食費,食料品", "ケーキ、パン（駅前）": "合計,平日",
             "Café": "固定費,なし"}  # fmt: skip
    contracts = {  # of each person: yen a month, and months without
        "ドコモ ケータイ": ((5_700, 4_500), ()), "Spotify": ((980, 980), (7,)),
        "ｼﾞﾑ「箱」": ((7_000, 7_000), range(6)), "ENEOS電気": ((3_100, 3_300), (4,)),
    }  # fmt: skip
    for at, person in enumerate(("夫", "妻")):
        rows: list[str] = []

        def add(day, shop, yen, account, category, mark="1", rows=rows, person=person):
            where = f"{person}{account},{category},,0,{person}{len(rows)}"
            rows.append(f"{mark},{day:%Y/%m/%d},{shop},{yen},{where}")

        for number in range(300):
            day = today + timedelta(days=20 - chance.randrange(700))
            shop = chance.choice([*shops])
            yen = -chance.randrange(1, 5) * 500 + chance.choice((0, 7))
            add(day, shop, yen, "カード", shops[shop], "1" if number % 9 else "0")
            if not number % 20:
                add(day, shop, yen, "財布", shops[shop])
                add(day, "送金", -70_000, "カード", "未分類,未分類")
                add(day, "入金", 70_000, "財布", "収入,その他")
        for back in range(24):
            add(today - timedelta(days=30 * back), "家賃", -80_000, "銀行", "住宅,家賃・地代")
            add(today - timedelta(days=30 * back), "給与", 300_000, "銀行", "収入,給与")
            for day, (name, (each, without)) in enumerate(contracts.items(), 3):
                if back not in without:
                    paid = -each[at] - (100 if name == "Spotify" and back < 12 else 0)
                    month = Month.of(today).plus(-back).first_day + timedelta(days=day)
                    add(min(month, today), name, paid, "銀行", "通信費,携帯電話")
        (folder / person).mkdir(parents=True)
        (folder / person / "明細.csv").write_text(HEADER + "\n".join(rows), encoding="utf-8")
    return folder


def names(database):
    """All names in a database, longest first."""
    with open_database(database, "read") as connection:
        columns = "description", "category_major", "category_minor", "account", "source_file"
        known = {
            name
            for column in columns
            for (name,) in connection.execute(f"SELECT DISTINCT {column} FROM transactions")
        }
    parts = {part for name in known for part in name.split("/")}
    spellings = {unicodedata.normalize("NFKC", name) for name in known}  # as several are shown
    return sorted((known | parts | spellings | {*KEPT}) - {""}, key=len)[::-1]


def figures(words):
    """The amounts in yen and the percentages of an answer, in their order."""
    amounts = re.findall(r"([+-]?)(?:¥(\d[\d,]*)|(\d[\d,]*)(?:円| → ))", words.replace(", ", " "))
    yen = sorted(sign + (english or japanese) for sign, english, japanese in amounts)
    return yen, sorted(re.findall(r"[\d.]+ ?%", words))


def test_every_answer_in_english_has_the_figures_of_the_japanese_one(tmp_path, samples):
    asked = calls("2025-06", "2025-05")
    check_english(asked, [samples(tmp_path / language) for language in ("ja", "en")])


@pytest.mark.parametrize(
    ("seed", "tools"),
    [(1, "household_report"), *(pytest.param(n, "", marks=pytest.mark.soak) for n in (1, 2))],
)
def test_so_it_has_of_a_couple_with_accounts_and_names_in_any_letters(tmp_path, seed, tools):
    asked = calls(*("2025-06", "2025-05") if tools else ("last month", "previous"))
    asked = [call for call in asked if call[0].startswith(tools)]
    databases = [tmp_path / "ja.sqlite", tmp_path / "en.sqlite"]
    today = date(2025, 6, 20) if tools else datetime.now().astimezone().date()
    folder = generated(tmp_path / "ledger", seed, today)
    for database in databases:
        imported(database, "kakeibo", folder, "household")
    check_english(asked, databases)


def check_english(asked, databases):
    """Asks two equal databases in Japanese and English: both answers have to say the same."""
    both = []
    for language, database in zip(("ja", "en"), databases, strict=True):
        chosen = [(tool, {**arguments, "language": language}) for tool, arguments in asked]
        both.append(answers(database, *chosen))
    known = names(databases[-1])
    unlike = []
    for call, japanese, english in zip(asked, *both, strict=True):
        rest = english.words
        for name in known:
            rest = rest.replace(name, "")
        is_alike = len(japanese.pictures) == len(english.pictures)
        is_alike &= japanese.is_error == english.is_error
        if (
            JAPANESE.search(rest)
            or figures(japanese.words) != figures(english.words)
            or not is_alike
        ):
            unlike.append((call, japanese.words, english.words))
    assert not unlike


def test_the_setting_answers_in_english_and_a_call_in_japanese(tmp_path, samples):
    database = samples(tmp_path)
    month = ("get_monthly_household", {"period": "June 2025"})
    english, japanese, refused = answers(
        database, month, (month[0], {**month[1], "language": "ja"}),
        (month[0], {"language": "fr"}), household={"language": "en"},
    )  # fmt: skip
    assert english.words.startswith("The household in 2025-06.\n- spending: ¥235,997\n")
    assert english.data["understood"] == '"June 2025" was read as 2025-06'
    assert english.data["spending"] == japanese.data["spending"] == 235_997
    assert japanese.words.startswith("2025年06月の家計簿です。\n- 支出: 235,997円\n")
    assert refused.is_error
    assert "'ja'" in refused.words
