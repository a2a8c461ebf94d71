"""The view of accounts over a real port: balances, gaps, costs, lists, and renaming rules."""

import html
import re

import pytest
from hostile import text_in
from page_ledger import ledger
from page_site import page_site, post, table_in

BANK = """日付,摘要,摘要内容,支払い金額,預かり金額,差引残高,メモ
2025/6/25,給料,,,300000,400000,
2025/7/10,家賃,,90000,,310000,
"""
LATER = """日付,摘要,摘要内容,支払い金額,預かり金額,差引残高,メモ
2025/7/20,電気,,8000,,297000,
2025/7/25,給料,,,300000,597000,
"""


def rows():
    for month in (5, 6, 7):
        yield f"1,2025/{month:02}/03,映画クラブ,-1000,財布,趣味・娯楽,映画,,0,f{month}"
    yield "1,2025/07/04,みどり薬局,-3000,財布,健康・医療,医療費,,0,m1"
    yield "1,2025/07/05,さとふる,-20000,財布,税・社会保障,ふるさと納税,,0,s1"
    yield "1,2025/07/06,スーパー,-2000,財布,食料品,野菜,,0,a1"
    yield "1,2025/07/07,スーパー,-500,財布,食費,野菜,,0,a2"


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    banks = {"1111111_6.csv": BANK, "1111111_7.csv": LATER}
    database = ledger(tmp_path_factory.mktemp("accounts"), rows(), banks=banks)
    with page_site(database) as site, site.client() as client:
        yield client


def shown(client, **query):
    answer = client.get("/money/accounts", params=query)
    assert answer.status_code == 200, text_in(answer.text)
    return text_in(answer.text)


def table(client, of, **query):
    return table_in(client.get("/money/accounts/table", params={"of": of, **query}))


def test_each_account_has_its_balance_by_day_and_the_gaps_are_named(client):
    text = shown(client)
    assert "三菱UFJ銀行597,0002025-07-2542025-06-25 – 2025-07-25" in text
    assert "−5,000transactions between 2025-07-10 and 2025-07-20 are missing" in text
    assert table(client, "balances")[1:] == [
        ["三菱UFJ銀行", day, yen]
        for day, yen in (("2025-06-25", "400000"), ("2025-07-10", "310000"),
                         ("2025-07-20", "297000"), ("2025-07-25", "597000"))
    ]  # fmt: skip
    assert table(client, "gaps")[1:] == [["三菱UFJ銀行", "2025-07-10", "2025-07-20", "-5000"]]


def test_fixed_and_variable_costs_and_the_lists_are_those_of_the_rows(client):
    text = shown(client, period="2025-07", year="2025年")
    lines = table(client, "costs", period="2025-07")[1:]
    assert ["fixed", "映画クラブ（趣味・娯楽）", "1", "1000"] in lines
    for kind, title in (("fixed", "Fixed"), ("variable", "Variable")):
        total = sum(int(yen) for each, _, _, yen in lines if each == kind)
        assert f"{title} {total:,}" in text
    assert "1 rows, 3,000 yen" in text
    assert [row[3] for row in table(client, "furusato", year="2025年")[1:]] == ["さとふる"]
    assert "(nobody's in particular) 3,000" in text
    assert "人の区別なし" not in text
    assert "“いつか” is not a year" in text_in(client.get("/money/accounts?year=いつか").text)
    assert "there is no data in" in text_in(client.get("/money/accounts?year=1999年").text)


def test_a_renaming_rule_is_seen_and_removed(client):
    post(client, "/review/categories/decide", decision="set", shop="", category="食料品 = 食費")
    page = client.get("/review/categories").text
    assert "食料品 → 食費" in text_in(page)
    (rule,) = [card for card in page.split("<li") if "食料品 → " in card]
    fields = {name: html.unescape(value)
              for name, value in re.findall(r'name="(\w+)" value="([^"]*)"', rule)}  # fmt: skip
    assert fields["category"] == '"食料品" = "食費"'
    after = client.post("/review/categories/decide", data=fields)
    assert "食料品 → 食費" not in text_in(after.text)


def test_the_figures_of_accounts_and_costs_lead_to_their_rows(client):
    page = client.get("/money/accounts", params={"period": "2025-07"}).text
    links = re.findall(r'<a href="(/money/rows\?[^"]*)">(.*?)</a>', page, re.DOTALL)
    assert {"597,000", "4", "−5,000", "1,000", "500"} <= {text for _, text in links}
    address = next(address for address, text in links if text == "4")
    rows = text_in(client.get(html.unescape(address)).text)
    assert "Transactions 4" in rows.replace("Transactions4", "Transactions 4")
    for line in re.findall(r"<li><bdi>.*?</li>", page)[:9]:
        address, yen = re.search(r'<a href="([^"]*)">([\d,]+)', line).groups()
        assert f"Spending {yen}" in text_in(client.get(html.unescape(address)).text)
    assert (
        'name="without" value="映画クラブ"'
        in client.get(
            "/money/rows", params={"without": "映画クラブ", "category": "趣味・娯楽"}
        ).text
    )
