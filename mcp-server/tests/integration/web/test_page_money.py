"""The view of money over a real port: figures, months, categories, shops, rows, downloads."""

import re
from urllib.parse import unquote

import pytest
from hostile import text_in
from mdvec.charts.colors import colors_of
from mdvec.dates import Month, today
from mdvec.manage.registering import add_tool
from page_ledger import ledger
from page_site import page_site, table_in
from table_of_cases import each


def rows():
    """Two years: 200,000 in and 50,000 of rent out each month, and food twice as dear in 2025."""
    for month in range(1, 25):
        year, of_year = 2024 + (month - 1) // 12, 1 + (month - 1) % 12
        if (year, of_year) > (2025, 6):
            break
        day, food = f"{year}/{of_year:02}/10", 1_000 if year == 2024 else 2_000
        yield f"1,{day},会社,200000,銀行,収入,給与,,0,i{month}"
        yield f"1,{day},大家,-50000,銀行,住宅,家賃・地代,,0,r{month}"
        yield f"1,{day},スーパー,-{food},財布,食費,食料品,牛乳,0,a{month}"
        yield f"1,{day},喫茶,-500,財布,食費,外食,,0,b{month}"
    for number, name in enumerate(("イオン 123", "ｲｵﾝ 456", "イオン")):
        yield f"1,2025/06/{12 + number},{name},-{100 * 10**number},財布,日用品,雑貨,,0,n{number}"
    yield "1,2025/06/11,引越し屋,-90000,銀行,特別な支出,引越し,,0,m"

    yield "1,2025/09/28,楽天 -マガジン,-700,カード,教養・教育,新聞・雑誌,,0,z"


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    database = ledger(tmp_path_factory.mktemp("money"), rows())
    with page_site(database) as site, site.client() as client:
        yield client


def money(client, **query):
    answer = client.get("/money", params=query)
    assert answer.status_code == 200, text_in(answer.text)
    return answer.text


def addresses(html):
    """The addresses that the numbers and names of a view lead to, by their text."""
    found = re.findall(r'<a href="(/money\?[^"]*)"[^>]*>(?:<bdi>)?([^<]+)</', html)
    return {text: address.replace("&amp;", "&") for address, text in found}


@each(
    ("ends", "period"),
    [({"since": "2025-06-11", "until": "2025-06-13"}, "2025-06-11..2025-06-13"),
     ({"since": "2025-06-11"}, "2025-06-11から"), ({"until": "2025-06-13"}, "2025-06-13まで")],
)  # fmt: skip
def test_days_from_the_calendar_are_a_period(client, ends, period):
    shown = client.get("/money", params={**ends, "category": "日用品"}, follow_redirects=True)
    assert shown.url.params["period"] == period
    assert text_in(shown.text) == text_in(money(client, period=period, category="日用品"))
    assert 'type="date" name="since"' in shown.text


def test_the_dearest_month_its_reason_and_back(client):
    year = money(client, period="2025年1月〜6月")
    assert re.search(r"<title>2025-06 153,600", year)
    told = (
        "The month with the most spending was 2025-06 with 153,600 yen. "
        "特別な支出 was 75,000 yen above its mean."
    )
    assert told in text_in(year)
    june = money(client, period="2025-06")
    assert "引越し屋" in text_in(june)
    category = client.get(addresses(june)["特別な支出"]).text
    assert "90,000" in text_in(category)
    back = client.get(addresses(category)["← All categories"])
    assert back.url.params["period"] == "2025-06"


def test_figures_are_the_tools_own_and_lead_to_their_rows(client):
    shown = money(client, period="2025-05")
    said = text_in(shown)
    for figure in ("200,000 yen", "52,500 yen", "147,500 yen", "73.8 %"):
        assert figure.replace(" ", "") in said.replace(" ", "")
    assert "in the sums: 4 rows; left out: 0" in said.partition("Transactions")[2]
    rows = text_in(client.get(addresses(shown)["52,500"]).text)
    assert "大家" in rows
    assert "会社" not in rows.partition("Transactions")[2]


def test_a_category_opens_to_shops_and_a_shop_to_its_rows(client):
    food = client.get(addresses(money(client, period="2025-05"))["食費"]).text
    assert {"食料品", "外食", "スーパー", "喫茶"} <= addresses(food).keys()
    market = client.get(addresses(food)["スーパー"]).text
    listed = text_in(market).partition("Transactions")[2]
    assert ("牛乳" in listed, "喫茶" in listed) == (True, False)
    inner = client.get(addresses(food)["食料品"])
    assert inner.status_code == 200
    assert "2,000 yen" in text_in(inner.text).replace("2,000yen", "2,000 yen")


def test_a_shop_in_several_spellings_is_one_sum_as_in_the_tools(client):
    june = money(client, period="2025-06")
    assert "イオン 11,100" in text_in(june)
    for address in (addresses(june)["イオン"], "/money?period=2025-06&shop=ｲｵﾝ 456"):
        listed = text_in(client.get(address).text).partition("Transactions")[2]
        assert [yen for yen in ("100", "1,000", "10,000") if f"−{yen}" not in listed] == []


@each("query", [{"shop": "楽天 -マガジン"}, {"category": "収支"}, {"category": "貯蓄率"}])
def test_the_rows_that_are_shown_can_be_searched_and_corrected(client, query):
    shown = money(client, period="2025年9月", **query)
    address = re.search('"(/money/rows[^"]*)">Search, sort and correct', shown)[1]
    rows = client.get(address.replace("&amp;", "&"))
    assert rows.status_code == 200
    said = text_in(rows.text)
    assert ("楽天 -マガジン" in said, "−700" in said) == (True, True)


def test_a_category_is_compared_with_its_mean_and_the_year_before(client):
    table = text_in(money(client, category="食費", period="2025-03"))
    assert "2025-03 2,500 1,750 1,500".replace(" ", "") in table.replace(" ", "")


def test_a_month_alone_is_a_line_of_figures_without_a_chart(client):
    alone = client.get("/money", params={"period": "2025-06", "category": "食費"}).text
    assert (alone.count('class="chart"'), "┄" in alone) == (0, False)
    assert re.search(r"<details open><summary>.*?2025-06.*?</details>", alone, re.DOTALL)


def test_months_that_run_or_have_no_rows_are_marked(client):
    shown = money(client, period="2025年6月〜9月")
    assert shown.count('class="empty"') == 2
    assert re.findall(r'<rect class="running"[^>]*><title>(2025-\d\d)', shown) == ["2025-09"] * 2
    said = text_in(shown)
    assert "pale: a month that is not complete yet" in said
    table = said.partition("As a table")[2].replace(" ", "")
    assert "2025-07nodata" in table.replace("\n", "")
    assert "2025-09sofar" in table.replace("\n", "")
    whole = money(client, period="2025年1月〜6月")
    assert ('class="empty"' in whole, 'class="running"' in whole) == (False, False)


def test_a_trend_marks_them_too_and_shows_a_month_that_stands_alone(client):
    query = {"category": "支出", "period": "2025年5月〜9月"}
    shown = client.get("/money/trend", params=query).text
    assert shown.count('class="empty"') == 2
    assert shown.count("<polyline") == 1
    alone = r'"point alone".*?<title>支出 (2025-\d\d) [^<]*?(\(so far\))?</title>'
    assert re.findall(alone, shown) == [("2025-09", "(so far)")]
    said = text_in(shown)
    assert "dotted: a month that is not complete yet · grey: a month without data" in said
    table = said.partition("Month")[2].replace(" ", "")
    assert ("2025-07nodata" in table, "2025-09sofar" in table) == (True, True)
    whole = client.get("/money/trend", params=query | {"period": "2025年1月〜6月"}).text
    assert ('class="empty"' in whole, "dotted" in whole, "alone" in whole) == (False, False, False)


def test_a_category_has_the_colour_of_its_pictures(client):
    (color,) = colors_of(("食費",))
    assert color in money(client, period="2025-05")
    assert f'fill="{color}"' in money(client, category="食費", period="2025-05")
    query = {"period": "2025-05", "of": "categories", "format": "svg"}
    assert color.lower() in client.get("/money/chart", params=query).text


def test_periods_move_by_their_own_length(client):
    shown = money(client, period="2025年4月〜6月")
    before = re.search(r'href="(/money\?[^"]*)" rel="prev"', shown)[1].replace("&amp;", "&")
    assert "2025-01 – 2025-03" in text_in(client.get(before).text)
    assert "2024" in text_in(money(client, period="2024年"))
    # Of the year asked for only the months with data are shown; the one before is a year too.
    assert 'period=2024%E5%B9%B4&amp;category=&amp;shop=" rel="prev"' in money(
        client, period="2025年"
    )


def test_months_categories_and_their_files_add_up_to_the_figures_of_a_period_with_planned_rows(
    tmp_path,
):
    now = Month.of(today())
    months = [now.plus(number) for number in (-2, -1, 0, 1)]
    rows = [
        f"1,{month.last_day:%Y/%m/%d},スーパー,-{10**number},財布,食費,食料品,,0,p{number}"
        for number, month in enumerate(months)
    ]
    period = {"period": f"{months[0]}〜{now.plus(3)}"}
    with page_site(ledger(tmp_path, rows)) as site, site.client() as client:
        shown = money(client, **period)
        assert "1,111 yen" in text_in(shown)
        assert re.findall(r"<title>(\S+) [\d,]+", shown)[-1] == str(months[-1])
        table = client.get("/money/months.csv", params=period).text.splitlines()
        assert [line.split(",")[2] for line in table[1:]] == ["1", "10", "100", "1000"]
        matrix = client.get("/money/matrix.csv", params=period).text.splitlines()
        assert matrix[1] == "食費,1,10,100,1000"
        assert "100" in text_in(money(client, **period, category="食費"))


def test_categories_stand_side_by_side_by_month_and_each_amount_opens_its_rows(client):
    shown = money(client, period="2025年1月〜6月")
    table = shown.partition('class="matrix"')[2].partition("</table>")[0]
    (cell,) = re.findall(r'heat-4"><a href="([^"]*)">90,000', table)
    assert "引越し屋" in text_in(client.get(cell.replace("&amp;", "&")).text)
    assert "heat" not in re.search(r"<tr><th[^>]*><a[^>]*>住宅.*?</tr>", table, re.DOTALL)[0]
    file = client.get("/money/matrix.csv", params={"period": "2025年1月〜6月"}).text
    assert "特別な支出,0,0,0,0,0,90000" in file


def test_periods_are_offered_from_what_the_ledger_has(client):
    shown = money(client)
    for name in ("2025-09", "2025", "2024"):
        assert client.get(addresses(shown)[name]).status_code == 200


@each(
    ("view", "field", "value"),
    [("/money", "period", "いつか"), ("/money/trend", "category", "無い"),
     ("/money/trend", "start_month", "2019-13"), ("/money/rows", "account", "無い"),
     ("/money/rows", "period", "いつか"), ("/money/accounts", "year", "いつか")],
)  # fmt: skip
def test_what_was_typed_stays_beside_why_it_is_refused(client, view, field, value):
    answer = client.get(view, params={field: value})
    typed = re.search(rf'<input[^>]*name="{field}"[^>]*value="{value}"[^>]*>', answer.text)
    assert (answer.status_code, 'aria-describedby="refused"' in typed[0]) == (400, True)
    assert value in text_in(re.search('<p[^>]*id="refused"[^>]*>([^<]+)', answer.text)[1])
    assert "YYYY-MM-DD" not in answer.text  # the form's own words instead
    others = [address for address in addresses(answer.text).values() if value in unquote(address)]
    assert others == []  # links lead on without it
    assert "<table" in answer.text  # the view is still there


@each("query", [{"period": "いつか"}, {"category": "無い"},
                                   {"period": "2019年"}, {"household": "none"}])  # fmt: skip
def test_what_is_not_there_ends_in_one_sentence(client, query):
    answer = client.get("/money", params=query)
    assert (answer.status_code, 'role="alert"' in answer.text) == (400, True)
    assert "Traceback" not in answer.text


@each("shop", [{}, {"category": "食費", "shop": "スーパー"}])
def test_a_page_of_rows_behind_the_last_is_the_last(client, shop):
    last, behind = (text_in(money(client, period="2025-06", page=n, **shop)) for n in (1, 999999))
    assert behind == last


def test_tables_download_as_csv(client):
    answer = client.get("/money/categories.csv", params={"period": "2025-05"})
    assert answer.headers["content-disposition"] == 'attachment; filename="mdvec-categories.csv"'
    assert table_in(answer)[:2] == [
        ["category", "yen", "percent", "rows"],
        ["住宅", "50000", "95.2", "1"],
    ]
    months = client.get("/money/months.csv", params={"period": "2025-05"}).text.splitlines()
    assert months[1] == "2025-05,200000,52500,147500"


@each(("of", "period"), [("months", "2025年"), ("months", "2025年9月"), ("categories", "2025年")])
def test_charts_download_as_pictures(client, of, period):
    query = {"period": period, "of": of}
    if of == "categories":
        png = client.get("/money/chart", params={**query, "format": "png"})
        assert (png.headers["content-type"], png.content[:4]) == ("image/png", b"\x89PNG")
    svg = client.get("/money/chart", params={**query, "format": "svg"})
    assert svg.headers["content-type"].startswith("image/svg+xml")
    assert "attachment" in svg.headers["content-disposition"]
    same = {"params": {**query, "format": "svg"}, "headers": {"accept-language": "ja"}}
    assert client.get("/money/chart", **same).content != svg.content


def test_a_household_without_rows_hides_no_other(tmp_path):
    database = ledger(tmp_path, list(rows()))
    (tmp_path / "new").mkdir()
    add_tool(database, "a-new-one", "just added", tmp_path / "new", "household")
    with page_site(database) as site, site.client("ja") as client:
        assert "スーパー" in money(client)
        assert 'href="/money?household=a-new-one"' in money(client)
        assert client.get("/money?household=a-new-one").status_code == 400


def test_without_a_household_the_view_says_what_to_do(tmp_path):
    with page_site(tmp_path / "v.sqlite") as site, site.client() as client:
        assert "No household is active" in client.get("/money").text
        assert client.get("/money/months.csv").status_code == 400
