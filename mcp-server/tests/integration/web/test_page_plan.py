"""The view of plans over a real port: budgets set and undone, habits, the forecast, net worth."""

import re
from html import unescape

import pytest
from hostile import PAYLOADS, harm_in, text_in
from mdvec.dates.months import Month
from page_ledger import ledger, quoted
from page_site import page_site, post, table_in, undone
from table_of_cases import each

from mdvec_mcp.household.context import today

NOW = Month.of(today())
ASSETS = "日付,合計（円）,預金・現金・暗号資産（円）\n"


def rows():
    """Two years up to last month: rent, a film club that became dearer, food; one hostile shop."""
    for back in range(24, 0, -1):
        month = NOW.plus(-back)
        day = f"{month.year}/{month.month:02}/{{:02}}"
        film = 1_000 if back > 6 else 1_500
        yield f"1,{day.format(1)},大家,-50000,銀行,住宅,家賃・地代,,0,r{back}"
        if back != 3:
            yield f"1,{day.format(5)},映画クラブ,-{film},銀行,趣味,映画,,0,f{back}"
        for account, yen in (("銀行", 5_700), ("財布", 4_500)):
            yield f"1,{day.format(10)},携帯,-{yen},{account},通信費,電話,,0,{account}{back}"
        yield f"1,{day.format(9)},スーパー,-{2_000 + 10 * back},財布,食費,食料品,,0,a{back}"
        name = quoted(PAYLOADS[back % len(PAYLOADS)])
        yield f"1,{day.format(12)},{quoted(PAYLOADS[0])},-300,財布,{name},{name},,0,h{back}"


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plan")
    assets = "".join(f"{NOW.plus(-back).last_day:%Y/%m/%d},{1000 - back},{1000 - back}\n"
                     for back in range(24, 0, -1))  # fmt: skip
    with page_site(ledger(folder, rows(), ASSETS + assets)) as site, site.client() as client:
        yield client


def plan(client, **query):
    answer = client.get("/money/plan", params={"all": "1", **query})
    assert answer.status_code == 200, text_in(answer.text)
    return answer.text


def test_a_budget_of_the_year_tells_what_is_free_beside_the_payments_to_come(client):
    shown = post(client, "/money/plan/budget", subject="住宅", amount="900000", per="year").text
    left = 13 - NOW.month if NOW.month > 1 else 0  # the ledger ends with the month before
    free = f"300,000 yen beside {left * 50_000:,} yen of payments to come"
    assert (free in text_in(shown)) is (left > 0)
    post(client, "/money/plan/budget", subject="住宅", amount="0", per="year")


def test_a_budget_is_set_changed_and_removed_and_each_is_undone(client):
    first = post(client, "/money/plan/budget", subject="食費", amount="３，０００円", per="month")
    assert "The budget of 食費 is now 3,000 yen." in text_in(first.text)
    assert "2,010 / 3,000" in text_in(first.text)
    more = post(client, "/money/plan/budget", subject="食費", amount="￥1,000", per="month")
    assert "1,010 yen over" in text_in(more.text)
    late = undone(client, first.text)
    assert (late.status_code, "changed elsewhere meanwhile" in late.text) == (400, True)
    assert "2,010 / 1,000" in text_in(plan(client))
    assert "2,010 / 3,000" in text_in(undone(client, more.text).text)
    assert "2,010 / 3,000" in text_in(plan(client))
    gone = post(client, "/money/plan/budget", subject="食費", amount="0", per="month")
    assert "There is no budget yet" in text_in(gone.text)
    assert "2,010 / 3,000" in text_in(undone(client, gone.text).text)
    spent = re.search(r'<a href="([^"]*)">2,010</a>', plan(client))[1].replace("&amp;", "&")
    listed = text_in(client.get(spent).text).partition("Transactions")[2]
    assert ("スーパー" in listed, "大家" in listed) == (True, False)
    post(client, "/money/plan/budget", subject="食費", amount="0", per="month")


@each(
    ("fields", "told"),
    [({"subject": "食費", "amount": "たくさん"}, "not a whole number"),
     ({"subject": "食費", "amount": "-1"}, "not a whole number"),
     ({"subject": "食費", "amount": "99999999999"}, "a budget cannot be"),
     ({"subject": "無い", "amount": "1"}, "no category fits"),
     ({"subject": "収入", "amount": "1"}, "a budget is for"),
     ({"subject": "食費", "amount": "1", "per": "week"}, "per cannot be"),
     ({"subject": "食費", "amount": "1", "household": "none"}, "there is no household")],
)  # fmt: skip
def test_a_wrong_budget_ends_in_one_sentence_and_changes_nothing(client, fields, told):
    answer = post(client, "/money/plan/budget", **fields)
    assert (answer.status_code, told in text_in(answer.text)) == (400, True)
    assert not re.search("[?&;]csrf=", answer.text)  # a token stays out of addresses
    assert "There is no budget yet" in text_in(plan(client))
    if "household" not in fields:
        assert f'value="{fields["amount"]}"' in answer.text  # what was typed stays
        assert told in re.search(r'id="refused" role="alert">(.*?)</p>', answer.text)[1]


def test_budgets_move_by_month(client):
    before = re.search(r'href="([^"]*)" rel="prev"', plan(client))[1].replace("&amp;", "&")
    assert f"◀ {NOW.plus(-2)} ▶" in text_in(client.get(before).text)


def test_a_recurring_payment_leads_to_all_its_rows(client):
    address = re.search(r'<a href="(/money/rows[^"]*)"><bdi>映画クラブ', plan(client))[1]
    assert client.get(unescape(address)).text.count("映画クラブ</bdi>") == 23 + 1  # and the filter


def test_a_recurring_payment_of_one_account_leads_to_the_rows_of_that_account(client):
    for account in ("銀行", "財布"):
        address = re.search(
            rf'<a href="(/money/rows[^"]*)"><bdi>携帯</bdi></a> <small><bdi>{account}', plan(client)
        )[1]
        assert client.get(unescape(address)).text.count("携帯</bdi>") == 24 + 1


def test_recurring_payments_show_what_became_dearer_and_what_was_missed(client):
    said = text_in(plan(client).partition('id="recurring"')[2])
    assert "1,000 → 1,500 yen" in said
    assert f"no payment around {NOW.plus(-3)}-05" in said
    assert "600,000" in said


def test_every_number_of_the_forecast_leads_to_its_rows(client):
    shown = plan(client)
    chart = shown.partition('id="forecast"')[2].partition("</svg>")[0]
    assert chart.count('class="ahead"') == 4
    assert chart.count('class="band"') == 4
    addresses = sorted(set(re.findall(r'href="(/money\?[^"]*)"', shown)))
    for address in addresses[:: len(addresses) // 10]:
        assert client.get(address.replace("&amp;", "&")).status_code == 200, address


def test_what_takes_long_to_compute_comes_later_and_is_kept(tmp_path):
    with page_site(ledger(tmp_path, rows())) as site, site.client() as client:
        place = re.compile(r'data-part="([^"]*)"')
        part = place.search(client.get("/money/plan").text)[1].replace("&amp;", "&")
        later = client.get(part).text
        assert "1,000 → 1,500 yen" in text_in(later)
        assert "part=" not in later  # its downloads are of the whole view
        again = client.get("/money/plan").text
        assert (place.search(again), 'id="recurring"' in again) == (None, True)


def test_net_worth_by_month_for_a_year_or_all(client):
    year = plan(client).partition('id="worth"')[2]
    assert (year.count('class="in"'), "999" in year) == (12, True)
    assert plan(client, worth="all").partition('id="worth"')[2].count('class="in"') == 24


@each(
    "address",
    ["/money/plan?subject=食費&per=month&amount=1&before=9", "/review?undo=1",
     "/review/categories?set=店", "/review/categories?again=店&category=食費"],
)  # fmt: skip
def test_a_link_elsewhere_cannot_offer_a_change(client, address):
    offered = "note actions"
    assert offered in client.get(address).text
    led = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate",
           "sec-fetch-dest": "document"}  # fmt: skip
    answer = client.get(address, headers=led)
    assert (answer.status_code, offered in answer.text) == (200, False)


@each(
    ("of", "columns"),
    [("budgets", "budget,per,yen"), ("recurring", "name,category,every"),
     ("forecast", "month,yen,spent"), ("worth", "month,yen,difference,預金・現金・暗号資産")],
)  # fmt: skip
def test_tables_and_charts_download(client, of, columns):
    table = table_in(client.get("/money/plan/table", params={"of": of}))
    assert ",".join(table[0]).startswith(columns)
    assert not [cell for row in table for cell in row if cell.startswith(("=", "@"))]
    chart = client.get("/money/plan/chart", params={"of": of, "format": "svg"})
    if of in ("forecast", "worth"):
        assert chart.headers["content-type"].startswith("image/svg+xml")
        same = {"params": {"of": of, "format": "svg"}, "headers": {"accept-language": "ja"}}
        assert client.get("/money/plan/chart", **same).content != chart.content
    else:
        assert (chart.status_code, 'role="alert"' in chart.text) == (400, True)


def test_hostile_questions_do_nothing(client):
    names = ("subject", "worth", "per", "amount", "before", "of")
    for first in range(0, len(PAYLOADS), len(names)):
        query = dict(zip(names, PAYLOADS[first:], strict=False))
        answer = client.get("/money/plan", params=query)
        assert (answer.status_code, harm_in(answer.text)) == (200, []), query


def test_a_new_household_has_no_habits_yet(tmp_path):
    day = f"{NOW.year}/{NOW.month:02}/01"
    with (
        page_site(ledger(tmp_path, [f"1,{day},店,-100,財布,食費,食料品,,0,a"])) as site,
        site.client() as client,
    ):
        said = text_in(plan(client))
        for told in ("no budget yet", "needs three whole months", "No recurring", "no asset"):
            assert told in said
        for of in ("budgets", "forecast", "worth"):
            refused = client.get("/money/plan/chart", params={"of": of})
            assert refused.status_code == 400
