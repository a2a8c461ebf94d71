"""Every view in a real browser: both languages, light and dark, narrow and wide.

`make test-ui` runs it; it needs chromium. Pictures are left in ``.ui-pictures``.
"""

import re
from importlib import resources
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
from mdvec.manage.page_server import PageKey
from mdvec.settings import Settings
from page_ledger import ledger
from page_site import page_site
from PIL import Image
from playwright.sync_api import expect

from mdvec_mcp.search.model_pool import ModelPool
from mdvec_mcp.server import wired_server
from mdvec_mcp.web.page.access import Access
from mdvec_mcp.web.page.app import page_views

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / ".ui-pictures"
WATER = "地震に備えて水はどれくらい"
SQL = (
    "SELECT month, sum(-amount) AS yen FROM transactions WHERE kind = 'expense' "
    "GROUP BY 1 ORDER BY 1"
)
VIEWS = {
    "welcome": "/",
    "search": f"/?q={WATER}",
    "nothing": "/?q=ぬ&path=none/&since=2025-01-01",
    "document": "/document?tool=notes&path=README.md&start=3&end=5",
    "code": "/document?tool=notes&path=dev/sqlite-wal.md",
    "money": "/money",
    "category": "/money?category=食費&period=2025年",
    "shop": "/money?shop=家賃&period=2025年",
    "rows": "/money/rows?q=駅前&period=2025年&edit=3",
    "rows-rule": "/money/rows?q=スーパー&edit=5&rule=日用品&sort=shop",
    "no-rows": "/money/rows?q=ぬぬぬ",
    "trend": "/money/trend",
    "trend-of-one": "/money/trend?category=食費&period=直近24か月",
    "plan": "/money/plan",
    "accounts": "/money/accounts",
    "review": "/review?decided=1",
    "suggestions": "/review/categories",
    "data": f"/data?sql={SQL}&chart=line",
    "question": "/data?sql=SELECT sum(amount) AS yen FROM transactions WHERE month = $month",
    "refused": "/data?sql=DROP TABLE transactions",
    "tables": "/data",
    "table": "/data/table?name=transactions",
    "tools": "/tools",
    "health": "/tools/health?check=1",
    "folders": "/tools/folders",
    "wrong": "/money/rows?period=いつか&q=水",
    "trouble": "/nothing",
}
BAD = {"trouble": "404", "refused": "400", "wrong": "400", "closed": "403"}
"""Views of something refused, whose status the browser's console repeats."""
DOWNLOADS = (
    "/tools/events", "/money/plan/table", "/money/plan/chart", "/money/accounts/table",
    "/money/chart", "/document/picture", "/open", "/data/file", "/data/chart",
)  # fmt: skip
"""What answers with something else than a view, beside CSV files."""
AXE = (resources.files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
RUN_AXE = """async () => (await axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21aa"]}))
    .violations.map(one => one.id + ": " + one.nodes.map(node => node.html).join(" | "))"""


OVER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
MAX_BYTES = 120_000
JAPANESE = re.compile(r"[ぁ-んァ-ヶ一-龠]")
LATIN = re.compile(r"[A-Za-z]{3,}(?: [A-Za-z]{2,}){3,}")
UNTRANSLATED = re.compile(r"\{\w+\}|\b[a-z]+_[a-z_]+\b")
WORDS = """(language) => [...document.querySelectorAll(
  "main h1, main h2, main label, main button, main th, main summary, main .quiet, main .note, "
  + "main legend, main .trouble, nav a, dt, dd")].filter((one) => !one.closest("article"))
  .map((one) => one.cloneNode(true)).map((one) => {
  for (const inner of one.querySelectorAll("code, pre, kbd, bdi, option, .tag, ul, table"))
    inner.remove();
  return one.textContent.trim();
}).filter(Boolean)"""


def untranslated(one, language):
    """Words of a view that are in the other language, or keys in place of words."""
    other = LATIN if language == "ja" else None
    return [
        words for words in one.page.evaluate(WORDS, language)
        if (other is not None and other.search(words) and not JAPANESE.search(words))
        or UNTRANSLATED.search(words)
    ]  # fmt: skip


def examined(one, name):
    """What is wrong with the view that a window shows; it is left as a picture."""
    expect(one.page.locator("[data-part]")).to_have_count(0)
    PICTURES.mkdir(exist_ok=True)
    one.page.screenshot(path=PICTURES / f"{name}.png", full_page=True)
    over = one.page.evaluate(OVER)
    one.page.evaluate(AXE)
    found = one.page.evaluate(RUN_AXE)
    said, expected = list(one.said), BAD.get(name.partition("-")[0])
    one.said.clear()
    said = [line for line in said if expected is None or expected not in line]
    return [(name, what) for what in (*found, *said, *([f"{over} over"] if over else []))]


LOOKS = [
    (language, theme, width)
    for language in ("ja", "en") for theme in ("light", "dark") for width in (360, 1280, 1920)
]  # fmt: skip


@pytest.mark.parametrize(("language", "theme", "width"), LOOKS)
def test_every_view_fits_is_silent_and_accessible_and_looks_as_stored(
    window, language, theme, width
):
    """At the greatest width only those that are stored."""
    size = {"width": width, "height": HEIGHT}
    one, look = window(locale=language, color_scheme=theme, viewport=size), (language, theme, width)
    wrong = []
    for name in VIEWS if width < LOOKS[-1][-1] else STORED:
        answer = one.page.goto(VIEWS[name])
        if len(answer.body()) > MAX_BYTES:
            wrong.append((name, len(answer.body())))
        wrong += [(name, words) for words in untranslated(one, language)]
        wrong += examined(one, "-".join(map(str, (name, *look))))
    assert wrong == []
    assert unlike_stored(look) == []


STORED = ("welcome", "search", "document", "money", "rows", "plan", "accounts", "review", "table",
          "tools")  # fmt: skip
"""The views of which the first screen is stored, small, beside one another in a file a look."""
HEIGHT, SMALL, CELLS = 800, (48, 40), (12, 10)
MOST_CHANGED, MOST_CELLS = 20, 0.15
"""A cell is changed if a colour is, by more than so many of 256, and a view if so many cells are.

Another font changed up to 0.10 of a view; hidden charts 0.18, hidden cards 0.21, no style 0.47.
"""


def unlike_stored(look):
    """The views that differ from their stored pictures by more than other fonts make them.

    If they are meant to, copy ``.ui-pictures/stored`` to the folder ``stored`` beside this file.
    """
    name = "-".join(map(str, look))
    new, folder = Image.new("RGB", (SMALL[0] * len(STORED), SMALL[1])), PICTURES / "stored"
    for number, view in enumerate(STORED):
        with Image.open(PICTURES / f"{view}-{name}.png") as whole:
            small = whole.convert("RGB").resize(
                SMALL, Image.Resampling.BOX, (0, 0, look[2], HEIGHT)
            )
        new.paste(small, (SMALL[0] * number, 0))
    folder.mkdir(exist_ok=True)
    new.save(folder / f"{name}.webp", quality=85)
    with Image.open(Path(__file__).parent / "stored" / f"{name}.webp") as stored:
        differences = abs(in_cells(new) - in_cells(stored)).max(axis=2) > MOST_CHANGED
    shares = differences.reshape(CELLS[1], len(STORED), CELLS[0]).mean(axis=(0, 2))
    return [(view, share) for view, share in zip(STORED, shares, strict=True) if share > MOST_CELLS]


def in_cells(strip):
    """The colours of the cells of a file's pictures."""
    size = (CELLS[0] * len(STORED), CELLS[1])
    return np.asarray(strip.convert("RGB").resize(size, Image.Resampling.BOX), dtype=int)


def test_every_view_is_among_those_examined(tmp_path):
    models = ModelPool(
        lambda _: None, idle_seconds=600, memory_threshold=1.0, memory_use=lambda: 0.0
    )
    wiring = wired_server(tmp_path / "v.sqlite", [], models, Settings())
    views, _ = page_views(wiring, Access(PageKey(bytes(32)), 0))
    wiring.server.close()
    known = {route.path for route in views.routes if "GET" in route.methods}
    shown = {urlsplit(address).path for address in VIEWS.values()}
    left = {path for path in known - shown if not path.endswith(".csv") and "{" not in path}
    assert left == set(DOWNLOADS)


EMPTY = ("/", "/money", "/money/rows", "/money/trend", "/money/plan", "/money/accounts", "/review",
         "/review/categories", "/data", "/tools", "/tools/health")  # fmt: skip


@pytest.mark.parametrize(("language", "width"), [("ja", 360), ("en", 1280)])
def test_a_page_without_data_or_cookie_fits_and_says_what_to_do(window, tmp_path, language, width):
    with page_site(tmp_path / "v.sqlite") as site:
        size = {"width": width, "height": HEIGHT}
        one = window(site=site, locale=language, viewport=size)
        wrong = []
        for address in EMPTY:
            one.page.goto(address)
            name = address.strip("/").replace("/", "-") or "search"
            wrong += examined(one, f"empty-{name}-{language}-{width}")
            assert one.page.locator("main :is(a, button, pre)").count() > 0
        one.context.clear_cookies()
        one.page.goto("/money")
        expect(one.page.locator("main pre")).to_have_text("mdvec ui")
        wrong += examined(one, f"closed-{language}-{width}")
    assert wrong == []


DOCUMENTED = {
    "search": (VIEWS["search"], 600),
    "money": ("/money?period=2024年", 880),
    "rows": ("/money/rows?period=2025-05&q=駅前|パン&sort=largest", 760),
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


RIGHT_TO_LEFT, LONG = "שלום (בית)", "長い名前" * 60
LINES = "main :is(p, li, h2, td, th, summary)"
MOVED = r"""(lines) => [...document.querySelectorAll(lines)].filter((line) => {
  const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
  let before = null, moved = false;
  while (walker.nextNode()) {
    for (const word of walker.currentNode.data.matchAll(/\S+/g)) {
      const range = document.createRange();
      range.setStart(walker.currentNode, word.index);
      range.setEnd(walker.currentNode, word.index + word[0].length);
      const box = range.getBoundingClientRect(), turned = /[\u0590-\u05ff]/.test(word[0]);
      moved ||= before && before.turned && !turned && box.bottom === before.box.bottom
        && box.height === before.box.height && box.left < before.box.left;
      before = { box, turned };
    }
  }
  return moved;
}).map((line) => line.textContent.trim())"""
"""The lines in which a word is drawn before the one from right to left that it follows."""


def test_names_from_right_to_left_and_long_ones_move_nothing_else(window, tmp_path):
    day = "1,2025/07/{:02},{},-{}000,{},{},,0,{}"
    rows = [
        day.format(1 + n, name, 3 + n, name, f"{name},{name}", f"{n}-{name[:3]}")
        for name in (RIGHT_TO_LEFT, LONG, RIGHT_TO_LEFT + LONG)
        for n in (0, 1)
    ]
    with page_site(ledger(tmp_path, rows)) as site:
        page = window(site=site, locale="en", viewport={"width": 1280, "height": 800}).page
        page.goto("/money/plan")
        page.locator("select[name=subject]").select_option(RIGHT_TO_LEFT)
        page.locator("input[name=amount]:visible").fill("4000")
        page.get_by_role("button", name="Set the budget").click()
        for width in (360, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            for view in EMPTY:
                page.goto(view)
                expect(page.locator("[data-part]")).to_have_count(0)
                assert (view, page.evaluate(OVER), page.evaluate(MOVED, LINES)) == (view, 0, [])
