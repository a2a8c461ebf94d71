"""The view of data over a real port: tables, profiles, queries through the sandbox, exports."""

import csv
import html
import re
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from hostile import PAYLOADS, text_in
from imported import imported
from page_site import page_site, post
from table_of_cases import each


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    source = folder / "csv"
    source.mkdir()
    (source / "days.csv").write_text(
        "day,km,weather\n2025-06-01,5,晴れ\n2025-06-02,7,雨\n2025-06-03,9,晴れ\n"
    )
    with (source / "evil.csv").open("w", encoding="utf-8", newline="") as file:
        flat = [" ".join(payload.split()) for payload in PAYLOADS]
        csv.writer(file).writerows([flat, flat, flat[::-1]])
    database = folder / "db" / "v.sqlite"
    assert not imported(database, "runs", source, "dataset", "invented runs").failed
    exports = {"folder": str(folder / "exports")}
    with page_site(database, analytics=exports) as site, site.client() as client:
        assert "runs__days" not in client.get("/data").text  # no process is started for a look
        yield client


def test_a_table_is_described_with_its_distributions(client):
    assert "runs__days" in text_in(client.get("/data?part=tables").text)
    assert "runs__days" in text_in(client.get("/data").text)
    shown = client.get("/data/table", params={"name": "runs__days"}).text
    assert shown.count('<td class="number">') == 3  # the first rows
    table = client.get(html.unescape(re.search('data-part="([^"]+)"', shown)[1])).text
    assert table in client.get("/data/table", params={"name": "runs__days", "all": "1"}).text
    assert "3 rows · 2025-06-01 – 2025-06-03" in text_in(table)
    assert table.count('class="histogram"') == 3
    assert "<title>晴れ: 2</title>" in table
    of_one = client.get("/data/table", params={"name": "runs__days", "column": "km"}).text
    assert of_one.count('class="histogram"') == 1
    assert re.search(r"<dt>Mean</dt><dd>7(\.0)?</dd>", table)


def test_a_query_is_answered_as_table_chart_and_files(client):
    sql = "SELECT weather, sum(km) AS km FROM runs__days GROUP BY ALL ORDER BY km DESC"
    answer = client.get("/data", params={"sql": sql, "chart": "bar"})
    assert answer.status_code == 200
    assert "bar chart of 2 names" in text_in(answer.text.replace('alt="', ">"))
    assert '<td class="number">14</td>' in answer.text
    assert "GROUP BY ALL" in answer.text
    chart = client.get("/data/chart", params={"sql": sql, "chart": "bar"})
    assert (chart.headers["content-type"], b"<svg" in chart.content) == ("image/svg+xml", True)
    refused = client.get("/data", params={"sql": "SELECT weather FROM runs__days", "chart": "bar"})
    assert ("numbers after it" in refused.text, refused.text.count("晴れ")) == (True, 2)
    file = client.get("/data/file", params={"sql": f"{sql}, 1", "format": "csv"})
    assert file.content.decode("utf-8-sig") == "weather,km\r\n晴れ,14\r\n雨,7\r\n"
    formulas = "SELECT '=1+1' AS a, '-x' AS b, -5 AS c, -1.5e-7 AS d"
    file = client.get("/data/file", params={"sql": formulas, "format": "csv"}).text
    assert file.splitlines()[1] == "'=1+1,'-x,-5,-1.5e-07"
    parquet = client.get("/data/file", params={"sql": sql, "format": "parquet"})
    assert parquet.content[:4] == parquet.content[-4:] == b"PAR1"


def test_a_question_is_saved_run_with_another_value_replaced_and_deleted(client):
    sql = "SELECT km FROM runs__days WHERE weather = $weather ORDER BY 1"
    asked = client.get("/data", params={"sql": sql})
    assert (asked.status_code, 'name="p.weather"' in asked.text) == (200, True)
    assert "Fill in the values" in asked.text
    rain, sun = (
        client.get("/data", params={"sql": sql, "p.weather": weather}).text
        for weather in ("雨", "晴れ")
    )
    assert [text.count('<td class="number">') for text in (rain, sun)] == [1, 2]
    saved = post(client, "/data/save", sql=sql, name="runs_by_weather", description="km of a day")
    assert (saved.status_code, "km of a day" in saved.text) == (200, True)
    again = post(client, "/data/save", sql=sql, name="runs_by_weather", **{"p.weather": "雨"})
    assert again.status_code == 400
    assert 'value="runs_by_weather"' in again.text  # what was typed stays
    assert re.search(r'id="not-saved" role="alert">[^<]*runs_by_weather', again.text)
    assert again.text.count('<td class="number">') == 1
    assert post(client, "/data/save", sql=sql, name="runs_by_weather", mode="replace").is_success
    by_name = client.get("/data", params={"sql": "runs_by_weather", "p.weather": "晴れ"})
    assert by_name.text.count('<td class="number">') == 2
    post(client, "/data/save", name="runs_by_weather", mode="delete")
    assert "runs_by_weather" not in client.get("/data").text
    trend = client.get("/data", params={"sql": "trend"}).text
    assert [f'name="p.{name}"' in trend for name in ("table", "measure", "period")] == [True] * 3


@each(
    ("sql", "instead"),
    [("SELECT wether FROM runs__days", "SELECT weather FROM runs__days"),
     ("SELECT xyz FROM runs__days", "SELECT day FROM runs__days"),
     ("SELECT d.wether FROM runs__days AS d", "SELECT d.weather FROM runs__days AS d"),
     ("SELECT o.wether FROM runs__days, (SELECT 1 AS one) AS o",
      "SELECT weather FROM runs__days, (SELECT 1 AS one) AS o"),
     ("SELECT wether FROM runs__days /* wether */ WHERE weather = 'wether'",
      "SELECT weather FROM runs__days /* wether */ WHERE weather = 'wether'"),
     ("SELECT * FROM runs_days", "SELECT * FROM runs__days"),
     ("SELECT km、day FROM runs__days", "SELECT km,day FROM runs__days")],
)  # fmt: skip
def test_what_a_refusal_names_is_a_button_that_runs_it(client, sql, instead):
    answer = client.get("/data", params={"sql": sql})
    links = re.findall(r'<p class="choice">.*?href="([^"]+)"', answer.text, re.DOTALL)
    assert parse_qs(urlsplit(html.unescape(links[0])).query)["sql"] == [instead]
    assert client.get(html.unescape(links[0])).status_code == 200


def test_each_column_that_a_refusal_lists_is_a_button_of_its_own(client):
    answer = client.get("/data", params={"sql": "SELECT xyz FROM runs__evil"})
    links = re.findall(r'href="(/data[?]sql=[^"]+)"><bdi>', answer.text)
    assert len(links) > 2
    assert {client.get(html.unescape(link)).status_code for link in links} == {200}


def test_a_query_that_no_browser_waits_for_ends(client):
    slow = "SELECT count(*) FROM range(10000000) a, range(10000000) b"
    with pytest.raises(httpx2.TimeoutException):
        client.get("/data", params={"sql": slow}, timeout=0.5)
    assert client.get("/data", params={"sql": "SELECT 42"}, timeout=5).status_code == 200


@each(
    "sql",
    ["SELECT * FROM read_csv('/etc/passwd')", "DROP TABLE runs__days", "SELECT 1; SELECT 2",
     "COPY runs__days TO '/tmp/x.csv'", "ATTACH '/tmp/x.db'", "SELECT * FROM nothing",
     "INSTALL httpfs", "SELECT", "'", "SELECT getenv('HOME')"],
)  # fmt: skip
def test_a_query_that_the_sandbox_refuses_says_why_and_stays_in_its_box(client, sql):
    answer = client.get("/data", params={"sql": sql})
    assert (answer.status_code, 'role="alert"' in answer.text) == (400, True)
    assert "root:" not in answer.text
    assert sql in text_in(answer.text)
    assert client.get("/data", params={"sql": "SELECT 42"}).status_code == 200


def test_a_result_is_exported_for_python(client):
    # Asked for all, as the query process may not run: it was ended, or no test has started it.
    assert "There are none." in client.get("/data", params={"all": "1"}).text
    done = post(client, "/data/export", sql="FROM runs__days")
    assert done.url.path == "/data"
    assert re.search(r"<code>[^<]+</code>", done.text)
    assert post(client, "/data/export", sql="DROP TABLE runs__days").status_code == 400


def test_an_unknown_table_is_refused(client):
    for name in ("nothing", '"; DROP TABLE runs__days; --', "a\0b", ""):
        assert client.get("/data/table", params={"name": name}).status_code == 400


def test_without_data_the_view_says_what_to_do(tmp_path):
    with page_site(tmp_path / "v.sqlite") as site, site.client() as client:
        assert "There is no data to query" in client.get("/data").text
