"""The page in a real browser: every view in both languages, light and dark, narrow and wide.

`make test-ui` runs it; it needs chromium. Pictures are left in ``.ui-pictures``.
"""

import os
import shutil
from datetime import date
from decimal import Decimal
from importlib import resources
from pathlib import Path
from urllib.parse import quote

import pytest
from collection import RULES
from mdvec.database.connection import open_database
from mdvec.embedding import catalog
from mdvec.embedding.embedder import Embedder
from mdvec.files.scan import ScanRules
from mdvec.household import review
from mdvec.household.budgeting import set_budget
from mdvec.household.core.pairs import DetectionOptions
from mdvec.importing.options import ChunkingOverrides
from mdvec.importing.report import ImportRequest
from mdvec.manage.import_tool import import_tool
from mdvec.manage.page_opening import write_opening
from mdvec.manage.page_server import one_time_address
from mdvec.manage.registering import add_tool, find_tool
from page_ledger import ledger
from page_site import page_site
from PIL import Image
from playwright.sync_api import expect, sync_playwright
from tiny_embedder import TinyBackend

ROOT = Path(__file__).parents[2]
TODAY = date(2025, 9, 30)
"""The sample household ends then."""
EXAMPLES = ROOT / "docs" / "examples"
PICTURES = ROOT / ".ui-pictures"
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
WATER = "地震に備えて水はどれくらい"
SQL = (
    "SELECT month, sum(-amount) AS yen FROM transactions WHERE kind = 'expense' "
    "GROUP BY 1 ORDER BY 1"
)
VIEWS = {
    "search": f"/?q={WATER}",
    "document": "/document?tool=notes&path=README.md&start=3&end=5",
    "money": "/money",
    "category": "/money?category=食費&period=2025年",
    "trend": "/money/trend",
    "plan": "/money/plan",
    "review": "/review",
    "suggestions": "/review/categories",
    "data": f"/data?sql={SQL}",
    "tables": "/data",
    "table": "/data/table?name=transactions",
    "tools": "/tools",
    "health": "/tools/health?check=1",
    "folders": "/tools/folders",
    "trouble": "/nothing",
}
AXE = (resources.files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
RUN_AXE = """async () => (await axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21aa"]}))
    .violations.map(one => one.id + ": " + one.nodes.map(node => node.html).join(" | "))"""


def filled(folder):
    """A database of the sample notes and the sample household, with two budgets and candidates."""
    database = folder / "data" / "v.sqlite"
    statements = ScanRules((".csv",), (), 10**7)
    for name, kind, folder_name, rules in (
        ("notes", "markdown", "notes", RULES),
        ("kakeibo", "household", "household", statements),
    ):
        add_tool(database, name, f"the sample {name}", EXAMPLES / folder_name, kind)
        request = ImportRequest(database, name, "new", rules, ChunkingOverrides())
        import_tool(request, lambda _: Embedder(TinyBackend()))
    with open_database(database, "write") as connection:
        household = find_tool(database, "kakeibo").id
        review.detect(connection, household, DetectionOptions(3, Decimal(0), Decimal(1)))
        for category, amount in (("食費", 45_000), ("水道・光熱費", 20_000)):
            set_budget(connection, household, category=category, amount=amount, today=TODAY)
    return database


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ui")
    with page_site(filled(folder), analytics={"folder": str(folder / "exports")}) as site:
        yield site


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        started.close()


class Window:
    """A window of the browser that has opened the page."""

    def __init__(self, browser, site, **options):
        self.context = browser.new_context(base_url=site.address, bypass_csp=False, **options)
        self.page = self.context.new_page()
        self.said = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.goto(f"/open?code={site.key.one_time_code()}")
        self.page.wait_for_url("/")


@pytest.fixture
def window(browser, site):
    windows = []

    def opened(**options):
        windows.append(Window(browser, options.pop("site", site), **options))
        return windows[-1]

    yield opened
    for one in windows:
        one.context.close()


@pytest.mark.parametrize("width", [360, 1280, 1920])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("language", ["ja", "en"])
def test_every_view_fits_is_silent_and_accessible(window, language, theme, width):
    size = {"width": width, "height": 800}
    one = window(locale=language, color_scheme=theme, viewport=size)
    PICTURES.mkdir(exist_ok=True)
    wrong = []
    for name, address in VIEWS.items():
        one.page.goto(address)
        expect(one.page.locator("[data-part]")).to_have_count(0)
        picture = PICTURES / f"{name}-{language}-{theme}-{width}.png"
        one.page.screenshot(path=picture, full_page=True)
        over = one.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        one.page.evaluate(AXE)
        found = one.page.evaluate(RUN_AXE)
        said = [line for line in one.said if name != "trouble" or "404" not in line]
        wrong += [(name, what) for what in (*found, *said, *([f"{over} over"] if over else []))]
        one.said.clear()
    assert wrong == []


DOCUMENTED = {
    "search": (VIEWS["search"], 600),
    "money": ("/money?period=2024年", 880),
    "plan": ("/money/plan", 960),
    "review": ("/review", 645),
}
"""The views in the documentation, and how high their pictures are."""


@pytest.mark.parametrize("language", ["ja", "en"])
def test_pictures_for_the_documentation(window, language):
    """Left in ``.ui-pictures/docs``; copy them to docs/pictures when a view has changed."""
    page = window(locale=language).page
    folder = PICTURES / "docs"
    folder.mkdir(parents=True, exist_ok=True)
    for name, (address, height) in DOCUMENTED.items():
        assert page.goto(address).status == 200
        expect(page.locator("[data-part]")).to_have_count(0)
        file = folder / f"ui-{name}-{language}.png"
        page.set_viewport_size({"width": 960, "height": height})
        page.screenshot(path=file)
        Image.open(file).quantize(128).save(file, optimize=True)


def test_a_private_file_opens_the_page(browser, site, tmp_path):
    file = tmp_path / "page.html"
    write_opening(file, one_time_address(site.address, site.key))
    page = browser.new_context().new_page()
    page.goto(file.as_uri())
    expect(page.get_by_role("searchbox")).to_be_visible()
    assert page.url == f"{site.address}/"
    page.goto(file.as_uri())  # the code is used up, but there is a cookie
    expect(page.get_by_role("searchbox")).to_be_visible()
    page.context.close()


def test_hits_appear_as_one_types(window):
    page = window(locale="en").page
    page.goto("/")
    page.keyboard.type("git worktree")
    expect(page.locator("ol.hits > li").first).to_be_visible()
    assert "q=git" in page.url
    page.locator("ol.hits h2 a").first.click()
    expect(page.locator("#hit")).to_be_in_viewport()


def test_from_the_year_to_the_dearest_months_rows_and_back(window):
    page = window(locale="ja").page
    page.goto("/money?period=2025年")
    spent = page.locator(f'svg.chart a[href*="category={quote("支出")}"]')
    spent.nth(5).click()
    expect(page.locator("#rows")).to_be_in_viewport()
    expect(page.locator("h1")).to_contain_text("2025年06月")
    page.get_by_role("link", name="住宅", exact=True).click()
    expect(page.locator("h1")).to_contain_text("住宅")
    page.go_back()
    expect(page.locator("h1")).not_to_contain_text("住宅")


def test_a_newcomer_finds_the_dearest_month_its_reason_two_duplicates_and_a_passage(window):
    page = window(locale="ja").page
    page.goto("/")
    page.get_by_role("link", name="家計", exact=True).click()
    page.get_by_role("link", name="2025年", exact=True).click()
    sentence = page.locator(".glance")
    expect(sentence).to_contain_text("2025-08、280,916円")
    sentence.get_by_role("link").last.click()
    expect(page.locator("#rows")).to_be_in_viewport()
    expect(page.locator("#rows")).to_contain_text("民宿 なぎさ")
    page.get_by_role("link", name="重複の確認").click()
    first = page.locator("#pairs > li").first
    expect(first).to_contain_text("同じ買い物らしい")
    expect(first.locator("td:has-text('家具のとびら')")).to_have_count(2)
    page.get_by_role("link", name="検索", exact=True).click()
    page.keyboard.type("水の備蓄")
    expect(page.locator("ol.hits mark").first).to_be_visible()


def test_thirty_duplicates_are_decided_by_key_and_undone(window, tmp_path):
    rows = [
        f"1,2025/07/{1 + n % 28:02},店{n},-{1000 + n},{account},食費,食料品,,0,{n}{account}"
        for n in range(30)
        for account in ("カード", "銀行")
    ]
    with page_site(ledger(tmp_path, rows)) as site:
        page = window(site=site, locale="ja").page
        page.goto("/review")
        page.get_by_role("button", name="重複を探す").click()
        expect(page.locator("#open")).to_have_text("30")
        for number in range(30):
            page.keyboard.press("1" if number % 2 else "n")
            expect(page.locator("#open")).to_have_text(str(29 - number))
        for number in range(30):
            page.keyboard.press("u")
            expect(page.locator("#open")).to_have_text(str(number + 1))
        page.reload()
        expect(page.locator("#pairs > li")).to_have_count(30)


def test_shops_get_categories_by_key_which_are_undone(window, tmp_path):
    day = "1,2025/07/{:02},{},-1000,財布,{},,0,{}"
    rows = [day.format(1 + n, "青葉書店 本店", "教養・教育,書籍", f"a{n}") for n in range(6)] + [
        day.format(9, f"青葉書店 {n}", "未分類,未分類", n) for n in ("大宮", "渋谷", "上野")
    ]
    with page_site(ledger(tmp_path, rows)) as site:
        page = window(site=site, locale="ja").page
        page.goto("/review/categories")
        page.keyboard.press("1")
        expect(page.locator("#open")).to_have_text("2")
        page.keyboard.press("n")
        page.keyboard.type("教養・教育")
        page.keyboard.press("Enter")
        expect(page.locator("#open")).to_have_text("1")
        expect(page.locator(".state").nth(1)).to_contain_text("教養・教育")
        for left in ("2", "3"):
            page.keyboard.press("u")
            expect(page.locator("#open")).to_have_text(left)


def test_a_budget_is_set_and_undone(window):
    page = window(locale="ja").page
    page.goto("/money/plan")
    page.locator("select[name=subject]").select_option("交通費")
    page.locator("input[name=amount]:visible").fill("8,000")
    page.get_by_role("button", name="予算を決める").click()
    expect(page.locator(".budgets")).to_contain_text("交通費")
    page.get_by_role("button", name="取り消す").click()
    expect(page.locator(".budgets")).not_to_contain_text("交通費")


def test_a_query_that_the_sandbox_refuses_says_why(window):
    page = window(locale="ja").page
    page.goto("/data")
    page.get_by_role("textbox").fill("DROP TABLE transactions")
    page.get_by_role("button", name="実行する").click()
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_role("textbox")).to_have_value("DROP TABLE transactions")


def test_an_import_is_watched_to_its_end_in_two_windows(window, tmp_path, monkeypatch):
    home = tmp_path / "home"
    (home / "notes").mkdir(parents=True)
    (home / "notes" / "a.md").write_text("# 水\n\n水は三日分を備えます。\n")
    monkeypatch.setenv("HOME", str(home))
    with page_site(home / "data" / "v.sqlite", catalog.load, model={"name": "use"}) as site:
        first, second = window(site=site, locale="ja"), window(site=site, locale="ja")
        second.page.goto("/tools")
        first.page.goto("/")
        first.page.get_by_role("link", name="フォルダーを追加する").click()
        first.page.get_by_role("link", name="フォルダーを一覧から選ぶ").click()
        first.page.get_by_role("link", name="notes").click()
        first.page.get_by_role("link", name="このフォルダーを使う").click()
        first.page.get_by_role("button", name="追加して取り込む").click()
        for one in (first, second):
            expect(one.page.locator("#tool-notes .good")).to_be_visible(timeout=30_000)
        first.page.goto("/")
        first.page.keyboard.type("水の備え")
        expect(first.page.locator("mark").first).to_be_visible()


def test_an_open_page_survives_a_restart_of_the_server(browser, tmp_path):
    database = filled(tmp_path)
    with page_site(database) as site:
        one = Window(browser, site, locale="en")
        port = int(site.address.rpartition(":")[2])
        one.page.goto("/")
    with page_site(database, port=port):
        one.page.get_by_role("searchbox").fill("git worktree")
        expect(one.page.locator("ol.hits > li").first).to_be_visible()
    one.context.close()


def test_it_works_without_javascript(window):
    page = window(locale="en", java_script_enabled=False).page
    page.goto("/")
    page.get_by_role("searchbox").fill("git worktree")
    page.get_by_role("button", name="Search", exact=True).click()
    assert page.locator("ol.hits > li").count() > 0
    page.goto("/money?period=2025-06")
    page.get_by_role("link", name="食費", exact=True).click()
    expect(page.locator("h1")).to_contain_text("食費")
