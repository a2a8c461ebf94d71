"""Journeys in a real browser: what a person does on the page, from the first look to the end."""

from urllib.parse import quote

from collection import Collection
from mdvec.embedding import catalog
from mdvec.manage.page_server import one_time_address, write_opening
from page_ledger import ledger
from page_site import page_site
from playwright.sync_api import expect


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
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("git worktree")
    expect(page.locator("ol.hits > li").first).to_be_visible()
    assert "q=git" in page.url
    page.locator("ol.hits h2 a").first.click()
    expect(page.locator("#hit")).to_be_in_viewport()


def test_hits_are_walked_and_opened_by_keys_alone(window):
    page = window(locale="en").page
    page.goto("/")
    page.keyboard.press("Tab")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("the next or previous hit")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("git worktree")
    expect(page.locator("ol.hits mark").first).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(page.locator("ol.hits a").first).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_title("Git worktree · mdvec")
    page.go_back()
    expect(page.get_by_role("searchbox")).to_have_value("git worktree")


def test_three_links_of_notes_are_followed_and_led_back(window, tmp_path):
    notes = Collection(tmp_path / "notes", tmp_path / "v.sqlite")
    notes.write("a.md", "# 一\n\n[二へ](sub/b.md#先)、[[三]]、[根から](/sub/b.md)\n")
    notes.write("sub/b.md", "# 二\n\n前置き\n\n" + "段落\n\n" * 40 + "## 先\n\nここ\n")
    notes.write("sub/三.md", "# 三\n\n本文\n")
    notes.import_()
    with page_site(notes.database) as site:
        page = window(site=site, locale="ja").page
        page.goto("/document?tool=notes&path=a.md")
        for name, title in (("二へ", "二"), ("三", "三"), ("根から", "二")):
            page.locator("article").get_by_role("link", name=name, exact=True).click()
            expect(page).to_have_title(f"{title} · mdvec")
            if "#" in page.url:
                expect(page.get_by_role("heading", name="先")).to_be_in_viewport()
            page.go_back()
            expect(page).to_have_title("一 · mdvec")


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
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("水の備蓄")
    expect(page.locator("ol.hits mark").first).to_be_visible()


def test_a_row_of_may_is_found_corrected_ruled_and_all_of_it_undone(window, fill, tmp_path):
    with page_site(fill(tmp_path)) as site:
        page = window(site=site, locale="ja").page
        page.goto("/money")
        page.get_by_role("link", name="明細", exact=True).click()
        page.get_by_role("searchbox").fill("美容室")
        page.get_by_text("絞り込み").click()
        page.get_by_label("期間").fill("2025年")
        page.get_by_role("button", name="表示", exact=True).first.click()
        rows = page.locator("table tbody tr")
        before = rows.first.inner_text()
        rows.first.get_by_role("link").click()
        page.locator("#edit").get_by_label("カテゴリ").fill("食費")
        page.locator("#edit").get_by_label("メモ").fill("誕生日")
        page.get_by_role("button", name="この明細だけ").click()
        expect(rows.first).to_contain_text("手で分類")
        expect(rows.first).to_contain_text("誕生日")
        page.get_by_role("button", name="取り消す").click()
        assert rows.first.inner_text() == before
        rows.first.get_by_role("link").click()
        page.locator("#edit").get_by_label("カテゴリ").fill("食費")
        page.get_by_role("button", name="この店はいつも").click()
        expect(page.locator("#edit")).to_contain_text("まだ変えていません")
        assert rows.first.inner_text() == before
        page.get_by_role("button", name="規則にする").click()
        expect(rows.first).to_contain_text("食費")
        page.get_by_role("button", name="取り消す").click()
        assert rows.first.inner_text() == before


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
        page.wait_for_load_state()  # before it, the script that reads keys may not be there
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


def test_a_budget_is_set_after_a_wrong_value_that_stays_and_undone(window):
    page = window(locale="ja").page
    page.goto("/money/plan")
    page.locator("select[name=subject]").select_option("交通費")
    page.locator("input[name=amount]:visible").fill("八千")
    page.get_by_role("button", name="予算を決める").click()
    expect(page.get_by_role("alert")).to_contain_text("「八千」を読み取れません")
    expect(page.locator("select[name=subject]")).to_have_value("交通費")
    amount = page.locator("input[name=amount]:visible")
    expect(amount).to_be_focused()
    expect(amount).to_have_value("八千")
    amount.fill("8,000")
    page.get_by_role("button", name="予算を決める").click()
    expect(page.locator(".budgets")).to_contain_text("交通費")
    page.get_by_role("button", name="取り消す").click()
    expect(page.locator(".budgets")).not_to_contain_text("交通費")


def test_a_question_is_written_with_offered_names_saved_and_run_with_another_month(window):
    page = window(locale="ja").page
    page.goto("/data")
    expect(page.locator("[data-part]")).to_have_count(0)
    editor = page.get_by_role("textbox", name="SQLで調べる")
    editor.press_sequentially("SELECT sum(am")
    expect(page.locator("#names li").first).to_contain_text("amount")
    page.keyboard.press("Enter")
    editor.press_sequentially(") AS yen FROM trans")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Tab")
    editor.press_sequentially(" WHERE month = $m")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("status")).to_contain_text("下の値を入れて")
    page.get_by_label("m", exact=True).fill("2025-06")
    page.get_by_role("button", name="実行する").click()
    june = page.locator("#result td").inner_text()
    page.get_by_text("質問として保存する").click()
    page.get_by_label("質問の名前").fill("month_sum")
    page.get_by_role("button", name="保存する").click()
    page.get_by_role("link", name="month_sum").click()
    page.get_by_label("m", exact=True).fill("2025-07")
    page.get_by_role("button", name="実行する").click()
    expect(page.locator("#result td")).not_to_have_text(june)
    page.get_by_role("button", name="削除: month_sum").click()
    expect(page.get_by_role("status")).to_contain_text("削除しました")
    expect(page.get_by_role("link", name="month_sum")).to_have_count(0)


def test_a_query_that_is_refused_says_why_and_a_button_runs_what_was_meant(window):
    page = window(locale="ja").page
    page.goto("/data")
    editor = page.get_by_role("textbox", name="SQLで調べる")
    editor.fill("SELECT count(*) FROM transaction")
    page.get_by_role("button", name="実行する").click()
    expect(page.get_by_role("alert")).to_contain_text("表「transaction」はありません")
    expect(editor).to_have_value("SELECT count(*) FROM transaction")
    page.get_by_role("link", name="transactions", exact=True).first.click()
    expect(page.locator("#result td")).to_have_count(1)


def test_a_query_that_runs_long_is_stopped(window):
    page = window(locale="ja").page
    slow = "SELECT count(*) FROM range(10000000) a, range(10000000) b"
    page.goto("/data")
    editor = page.get_by_role("textbox", name="SQLで調べる")
    editor.fill(slow)
    with page.expect_request("**/data?sql=*"):
        page.keyboard.press("Control+Enter")
    page.keyboard.press("Escape")  # as the button does, whose click here would wait for the answer
    expect(editor).to_have_value(slow)
    expect(page.locator("#halt")).to_be_hidden()
    editor.fill("SELECT 42")
    page.get_by_role("button", name="実行する").click()
    expect(page.locator("#result td")).to_have_text("42")


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
        expect(first.page.get_by_role("searchbox")).to_be_focused()
        first.page.keyboard.type("水の備え")
        expect(first.page.locator("mark").first).to_be_visible()


def test_an_open_page_says_that_the_server_is_gone_and_goes_on_when_it_is_back(
    window, fill, tmp_path
):
    database = fill(tmp_path)
    with page_site(database) as site:
        search, review = (window(site=site, locale="ja").page for _ in range(2))
        port = int(site.address.rpartition(":")[2])
        review.goto("/review")
        search.goto("/")
    search.get_by_role("searchbox").fill("git worktree")
    review.keyboard.press("n")
    for page in (search, review):
        expect(page.get_by_role("alert")).to_contain_text("サーバーが応答しません")
    with page_site(database, port=port):
        search.get_by_role("searchbox").fill("git worktree add")
        expect(search.locator("ol.hits > li").first).to_be_visible()
        review.keyboard.press("n")
        expect(review.locator("#open")).to_have_text("2")
        for page in (search, review):
            expect(page.get_by_role("alert")).to_have_count(0)


COUNT_STREAMS = """globalThis.streams = 0;
globalThis.EventSource = class extends EventSource {
  constructor(address) { super(address); streams += 1; }
  close() { super.close(); streams -= 1; }
};"""
SEEN = """(seen) => {
  Object.defineProperty(document, "hidden", { value: !seen, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
  return streams;
}"""


def test_a_window_that_is_hidden_holds_no_connection(window):
    """A browser has few connections to a server for all its windows."""
    page = window(locale="ja").page
    page.add_init_script(COUNT_STREAMS)
    page.goto("/tools")
    assert page.evaluate("streams") == 1
    assert [page.evaluate(SEEN, seen) for seen in (False, False, True, True)] == [0, 0, 1, 1]
    with page.expect_response("**/tools?part=list"):
        page.evaluate(SEEN, arg=True)
    expect(page.locator("#tool-notes")).to_be_visible()


def test_it_works_without_javascript(window):
    page = window(locale="en", java_script_enabled=False).page
    page.goto("/")
    page.get_by_role("searchbox").fill("git worktree")
    page.get_by_role("button", name="Search", exact=True).click()
    assert page.locator("ol.hits > li").count() > 0
    page.goto("/money?period=2025-06")
    page.get_by_role("link", name="食費", exact=True).click()
    expect(page.locator("h1")).to_contain_text("食費")


def test_a_link_elsewhere_opens_its_view_after_one_visit_and_a_foreign_form_changes_nothing(
    window, site
):
    one = window()
    link = f"{site.address}/document?tool=notes&path=dev/git-worktree.md"
    elsewhere = (
        f'<a href="{link}">the note</a>'
        f'<form method="post" action="{site.address}/tools/active"><button>change</button></form>'
    )
    one.page.goto(f"data:text/html,{quote(elsewhere)}")
    one.page.get_by_role("link", name="the note").click()
    expect(one.page.locator("main")).to_contain_text("Git worktree")
    one.page.goto(f"data:text/html,{quote(elsewhere)}")
    one.page.get_by_role("button", name="change").click()
    expect(one.page.locator("body")).to_contain_text("web pages of that Origin may not speak")
