"""The page's base and its search, over a real port, with a client that has cookies."""

import re

import pytest
from collection import Collection
from hostile import text_in
from page_site import page_site, post
from table_of_cases import each

WATER = """---
tags: [防災, 備え]
date: 2025-06-01
---
# 水

## 備蓄

水は1人1日3リットルを目安に、三日分を備えます。

## 置き場所

玄関と寝室に分けて置きます。
"""


@pytest.fixture(scope="module")
def notes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    collection = Collection(folder / "notes", folder / "data" / "v.sqlite")
    collection.write("water.md", WATER)
    sections = (
        f"## {name}\n\n避難所の{name}。{'くわしく書いておく。' * 12}\n"
        for name in ("持ち物", "道順")
    )
    collection.write("shelter.md", "---\ntags: [避難]\n---\n# 避難\n\n" + "\n".join(sections))
    collection.write("other.md", "# 文書\n\n避難所の文書はほかにもある。\n")
    collection.import_()
    return collection


@pytest.fixture(scope="module")
def site(notes):
    with page_site(notes.database) as site:
        yield site


@pytest.fixture(scope="module")
def client(site):
    with site.client() as client:
        yield client


def test_a_passage_is_found_and_read_in_its_document(client):
    shown = client.get("/", params={"q": "水の備蓄", "tags": "防災", "since": "2025-06-01"}).text
    assert "Probably answered" in shown
    assert "<mark>備蓄</mark>" in shown
    address = re.search(r'href="(/document\?[^"#]*)#hit"', shown)[1].replace("&amp;", "&")
    read = client.get(address).text
    assert 'class="hit" id="hit"' in read
    assert "3リットル" in read
    assert re.search(r'href="vscode://file/\S*/notes/water\.md:\d+"', read)


@each(
    ("filters", "found"),
    [
        ({"where": "tags=備え"}, True), ({"where": "tags=旅、status"}, False),
        ({"tasks": "1"}, False), ({"links_to": "water"}, False),
    ],
)  # fmt: skip
def test_links_front_matter_and_tasks_filter_the_hits(client, filters, found):
    shown = client.get("/", params={"q": "水の備蓄", **filters}).text
    assert ("<mark>備蓄</mark>" in shown) is found
    assert '<details class="filters" open>' in shown


def test_a_page_without_a_question_shows_sources_and_questions_from_headings(client):
    page = client.get("/").text
    assert "1," not in page.partition("Sources")[2][:20]
    assert "Last import: 20" in page
    question = re.search(r'For example:.*?href="([^"]+)"><bdi>水 備蓄</bdi>', page, re.DOTALL)[1]
    assert "<mark>備蓄</mark>" in client.get(question).text


def test_hits_are_grouped_by_document_with_filters_that_say_how_many_they_keep(client):
    shown = client.get("/", params={"q": "避難所の文書", "k": "20"}).text
    hits = shown.partition('<ol class="hits">')[2]
    assert hits.count("shelter.md</bdi>") == 1
    group = hits.partition("shelter.md</bdi>")[2].partition("</li>")[0]
    assert re.findall("<h3><a[^>]*><bdi>(.*?)</bdi>", group) == ["持ち物", "道順"]
    address, count = re.search(r'href="([^"]+)"><bdi>#避難</bdi> (\d+)', shown).groups()
    kept = client.get(address.replace("&amp;", "&")).text
    assert kept.count('class="passage"') == int(count) == 2


def test_the_script_gets_the_hits_alone(client):
    part = client.get("/", params={"q": "水の備蓄", "part": "hits"}).text
    assert part.lstrip().startswith('<p class="quiet">')
    assert "<mark>" in part


def test_the_language_is_the_browsers_until_one_is_chosen(site):
    with site.client("en-GB,en;q=0.9,ja;q=0.8") as client:
        assert '<html lang="en"' in client.get("/").text
        there = post(client, "/look", language="ja", theme="dark", here="/?q=水")
        assert '<html lang="ja" data-theme="dark">' in there.text
        assert there.url.params["q"] == "水"
        assert post(client, "/look", here="//evil.example/").url.host == "127.0.0.1"
        assert post(client, "/look", here="/\\evil.example/").url.host == "127.0.0.1"


@each(
    ("query", "told"),
    [({"since": "いつか"}, "not understood as a day"), ({"tool": "none"}, "there is no tool"),
     ({"tags": ",".join(["a"] * 99)}, "too many"), ({"path": "["}, "is not a path pattern")],
)  # fmt: skip
def test_a_wrong_filter_ends_in_one_sentence(client, query, told):
    answer = client.get("/", params={"q": "水", **query})
    assert (answer.status_code, told in answer.text) == (400, True)
    assert "Traceback" not in answer.text
    for name, value in [("q", "水"), *([] if "tool" in query else query.items())]:
        assert re.search(rf'name="{name}" value="{re.escape(value)}"', answer.text)


@each("path", ["../data/v.sqlite", "/etc/passwd", "notes/none.md", "a\0b", "\udcff", "x" * 15_000])
def test_a_document_is_read_from_the_database_only(client, path):
    given = {"tool": "notes", "path": path.encode(errors="surrogatepass")}
    answer = client.get("/document", params=given)
    assert (answer.status_code, "has no document" in text_in(answer.text)) == (400, True)


def test_without_a_cookie_nothing_is_shown(site):
    with site.client(is_open=False) as client:
        for path in ("/", "/document?tool=notes&path=water.md", "/tools", "/nothing"):
            answer = client.get(path)
            assert (answer.status_code, "mdvec ui" in answer.text) == (403, True)
            assert "water" not in answer.text
        assert client.get(f"/open?code={'0' * 64}").status_code == 403
        assert client.post("/look", data={}).status_code == 403


@each("query", ["page=999999", "page=0", "page=abc", "page=", "tool=", "path=&since=&tags="])
def test_a_page_behind_the_last_is_the_last_and_an_empty_field_is_none(client, query):
    answer = client.get(f"/?{query}")
    assert (answer.status_code, "other.md" in answer.text) == (200, True)


@each("query", ["", "tool=notes", "tool=notes&path=", "tool=&path=water.md"])
def test_an_address_that_names_no_document_is_no_page(client, query):
    assert client.get(f"/document?{query}").status_code == 404


def test_every_answer_forbids_what_the_page_does_not_do(client):
    styles = re.search(r'href="(/static/\S*page\.css)"', client.get("/").text)[1]
    for path in ("/", "/nothing", styles, "/open"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
    assert "immutable" in client.get(styles).headers["cache-control"]
    assert client.get("/").headers["cache-control"] == "no-store"


def test_a_first_start_without_data_says_what_to_do(tmp_path):
    with page_site(tmp_path / "none" / "v.sqlite") as site, site.client("ja") as client:
        assert "フォルダーを追加する" in client.get("/").text


def test_cookies_outlive_a_restarted_server(notes):
    with page_site(notes.database) as site, site.client() as client:
        cookies = dict(client.cookies)
    with page_site(notes.database) as site, site.client(is_open=False) as client:
        client.cookies.update(cookies)
        assert client.get("/").status_code == 200
