"""The views in a chat: a real client, and a host of a page around the app's sandboxed frame."""

import json
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pytest
from client_here import client_of
from mcp.client.extension import advertise
from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID
from mdvec.database.connection import open_database
from mdvec.household import Ledger, review
from mdvec.household.core.pair import DetectionOptions
from mdvec.manage.registering import find_tool
from page_ledger import ledger
from playwright.sync_api import expect

from mdvec_mcp.apps.offering import add_apps

ROWS = [
    f"1,2025/{month:02}/{1 + n:02},店{n}<b>,-{1000 + n},{account},食費,食料品,,0,{n}{account}"
    for n, month in ((0, 6), (1, 6), (2, 6), (3, 7), (4, 7), (5, 7))
    for account in ("カード", "銀行")
]
# The policy that a host has for apps that ask for no domains; the frame inherits it.
HOST = """<!doctype html><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none';
 script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:;
 frame-src 'self'; base-uri 'self'">
<iframe sandbox="allow-scripts" width="700" height="700"></iframe>
<script>
const frame = document.querySelector("iframe");
const post = (message) => frame.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");
addEventListener("message", async ({ data, source }) => {
  if (source !== frame.contentWindow) return;
  const { id, method, params } = data;
  if (method === "ui/initialize") {
    post({ id, result: { hostContext: { theme: "dark", locale: globalThis.locale } } });
  } else if (method === "ui/notifications/initialized") {
    post({ method: "ui/notifications/tool-result", params: globalThis.answer });
  } else if (method === "tools/call") {
    post({ id, result: JSON.parse(await globalThis.callTool(JSON.stringify(params))) });
  }
});
</script>"""


class Host:
    """A chat that shows the apps of a server's tools."""

    def __init__(self, page, client, run):
        self.page, self.client, self.run = page, client, run
        self.said, self.called = [], []
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.expose_function("callTool", self.call)
        page.set_content(HOST)

    def call(self, text):
        params = json.loads(text)
        self.called.append(params["name"])
        done = self.run(self.client.call_tool, params["name"], params["arguments"])
        return done.model_dump_json(by_alias=True, exclude_none=True)

    def show(self, tool, arguments, locale="en-US"):
        """The frame of a tool's app after a call with these arguments."""
        tools = {one.name: one for one in self.run(self.client.list_tools).tools}
        uri = tools[tool].meta["ui"]["resourceUri"]
        (file,) = self.run(self.client.read_resource, uri).contents
        assert file.mime_type == APP_MIME_TYPE
        answer = self.run(self.client.call_tool, tool, arguments)
        self.page.evaluate(
            "([answer, locale, html]) => { Object.assign(globalThis, { answer, locale });"
            " document.querySelector('iframe').srcdoc = html; }",
            [answer.model_dump(by_alias=True, exclude_none=True), locale, file.text],
        )
        return self.page.frame_locator("iframe")


@pytest.fixture
def host(browser, tmp_path):
    database = ledger(tmp_path, ROWS)
    with open_database(database, "write") as connection:
        kept = DetectionOptions(3, Decimal(0), Decimal(1))
        review.detect(Ledger.undated(connection, find_tool(database, "kakeibo").id), kept)
    apps = advertise(EXTENSION_ID, {"mimeTypes": [APP_MIME_TYPE]})
    page = browser.new_page()
    with closing(page), client_of(database, [apps], add_apps, charts={"port": 0}) as connected:
        yield Host(page, *connected)


def test_a_trend_hides_a_category_and_opens_the_rows_of_a_month(host):
    frame = host.show("get_category_trend", {"period": "2025年6月〜7月"})
    expect(frame.get_by_role("heading", level=1)).to_contain_text("Trend")
    expect(frame.locator("html")).to_have_attribute("data-theme", "dark")
    line = frame.locator("[data-of='1']")
    expect(line).to_be_visible()
    frame.get_by_role("button", name="食費").click()
    expect(line).to_be_hidden()
    frame.get_by_role("button", name="食費").click()
    frame.get_by_label("食費 2025-07").click()
    expect(frame.locator("#rows")).to_contain_text("店3<b>")
    assert set(host.called) == {"show_view"}
    assert host.said == []


def test_candidates_are_decided_by_button_and_by_key(host):
    frame = host.show("list_duplicate_candidates", {}, locale="ja")
    expect(frame.locator("#open")).to_have_text("6")
    frame.locator("#pairs > li").first.get_by_role("button").first.click()
    expect(frame.locator("#open")).to_have_text("5")
    frame.locator("#pairs > li").nth(1).press("n")
    expect(frame.locator("#open")).to_have_text("4")
    frame.locator("#pairs > li").nth(1).press("u")
    expect(frame.locator("#open")).to_have_text("5")
    stats = host.run(host.client.call_tool, "get_duplicate_stats", {})
    assert "5件" in stats.content[0].text
    assert host.said == []


def test_a_decision_that_is_refused_says_why(host):
    frame = host.show("list_duplicate_candidates", {})
    expect(frame.locator("#open")).to_have_text("6")
    frame.locator("#pairs input[name=check]").first.evaluate("field => { field.value = '99' }")
    frame.locator("#pairs > li").first.get_by_role("button").first.click()
    expect(frame.get_by_role("alert")).to_contain_text("99")
    assert host.said == []


PICTURES = Path(__file__).parents[2] / ".ui-pictures"
SHOWN = {
    "get_monthly_household": {"period": "2025年6月〜7月"},
    "get_category_trend": {"period": "2025年6月〜7月"},
    "household_report": {"report": "budget"},
    "list_duplicate_candidates": {},
    "profile": {"table_or_query": "transactions", "columns": ["amount", "date", "description"]},
    "query": {"query": "SELECT description, amount FROM transactions", "chart": "bar"},
}


@pytest.mark.parametrize("tool", SHOWN)
def test_views_fit_a_narrow_chat(host, tool):
    host.page.evaluate("document.querySelector('iframe').width = 400")
    host.page.set_viewport_size({"width": 420, "height": 720})
    frame = host.show(tool, SHOWN[tool], locale="ja")
    expect(frame.locator("h1")).to_be_visible()
    expect(frame.get_by_role("alert")).to_have_count(0)
    expect(frame.locator("[data-part]")).to_have_count(0)
    PICTURES.mkdir(exist_ok=True)
    host.page.screenshot(path=PICTURES / f"app-{tool}.png")
    wide = "node => node.scrollWidth - node.clientWidth"
    assert (frame.locator("html").evaluate(wide), host.said) == (0, [])


def test_the_query_of_a_chart_and_what_is_refused(host):
    frame = host.show("query", SHOWN["query"])
    expect(frame.locator("#result")).to_contain_text("店3<b>")
    frame.locator("#sql").fill("SELECT * FROM nothing")
    frame.get_by_role("button", name="Run").click()
    expect(frame.get_by_role("alert")).to_contain_text("nothing")
    assert host.said == []
