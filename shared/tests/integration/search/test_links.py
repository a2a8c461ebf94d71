"""Links, front matter, tasks and listings: what connects notes, and which notes there are."""

from dataclasses import replace
from itertools import count

import pytest
from collection import Collection, filtered, imported_notes
from imported import RULES
from source_folder import SourceFolder
from table_of_cases import each

from mdvec.database.connection import open_database
from mdvec.documents.reading import DocumentPart, read_document
from mdvec.index.properties import links_of
from mdvec.japanese import in_japanese
from mdvec.search.answer import SearchRefused, query_like
from mdvec.search.listing import list_documents
from mdvec.text.links import document_keys, document_links, is_list_of_links
from mdvec.tools.registry import get_tool

NOTES = {
    "家/給湯器.md": "---\naliases: [ボイラー]\nstatus: open\n---\n# 給湯器\n\n## 型番\n\nRUF。\n",
    "家/修理.md": "---\nstatus: [done, ok]\n---\n# 修理\n\n[[給湯器#型番|型番]] を見る。\n",
    "買い物.md": "# 買い物\n\n- [ ] [[ボイラー]] の部品\n- [x] 電池\n* [ ] 水\n",
    "手順/index.md": "# 手順\n\n[給湯器](../家/給湯器.md) と [修理](/家/修理) と [外](https://a.example)\n",
    "数.md": "---\npriority: 3.0\nversion: 1.10\n---\n",
    "家/古い/給湯器.md": "# 給湯器\n\n前のもの。[[../../手順]] [[無い]]\n",
    "家/写真.md": "# 写真\n\n`[[給湯器]]`\n\n```\n[[給湯器]]\n```\n\n![[給湯器#^abc]]\n",
    "2024-05-01.md": "---\ntags: [Jenkins]\nStatus: Open\n---\n日報。\n",
    "空.md": "---\ntags: Jenkins\n---\n",
    "様式.md": "# 様式\n\n```\n- [ ] 例\n```\n\n<!--\n- [ ] 雛形\n-->\n\n- [ ] `make` を試す\n",
}


notes = imported_notes(NOTES)


def read(notes, path):
    return read_document(notes.database, "notes", path, DocumentPart(), 10_000)


def listed(notes, **said):
    sort = said.pop("sort", "relevance")
    filters = filtered(**said)
    return list_documents(notes.database, None, filters, sort=sort)


def test_links_resolve_by_path_name_alias_and_folder_in_both_directions(notes):
    heater = read(notes, "家/給湯器.md")
    assert heater.linked_from == (
        "家/修理.md", "家/写真.md", "手順/index.md", "買い物.md",
    )  # fmt: skip
    assert heater.links_to == ()
    assert read(notes, "手順/index.md").links_to == ("家/修理.md", "家/給湯器.md")
    assert read(notes, "家/古い/給湯器.md").unresolved == ("無い",)
    assert read(notes, "家/古い/給湯器.md").links_to == ("手順/index.md",)


def test_markdown_links_as_obsidian_writes_them_lead_to_the_note_unless_one_lies_where_they_say(
    collection,
):
    collection.write("T/目標 1.md", "# 目標\n")
    collection.write("L/short.md", "[目標](目標%201.md#型)")
    collection.write("L/absolute.md", "[目標](T/目標%201.md)")
    collection.write("L/wiki.md", "[[目標 1]]")
    collection.write("L/relative.md", "[目標](../T/目標%201.md)")
    collection.write(
        "L/elsewhere.md", "[a](./目標%201.md) [b](目標%201) [c](/目標%201.md) [d](x.md)"
    )
    collection.import_("new")
    linking = ("L/absolute.md", "L/relative.md", "L/short.md", "L/wiki.md")
    assert read(collection, "T/目標 1.md").linked_from == linking
    assert read(collection, "L/short.md").links_to == ("T/目標 1.md#型",)
    assert read(collection, "L/elsewhere.md").links_to == ()
    listing = listed(collection, links_to="目標 1")
    assert {document.file_path for document in listing.documents} == {*linking}
    assert listed(collection, links_to="x").documents[0].file_path == "L/elsewhere.md"
    collection.write("L/目標 1.md", "# 別の目標\n")
    collection.import_()
    assert read(collection, "L/short.md").links_to == ("L/目標 1.md#型",)
    assert read(collection, "L/absolute.md").links_to == ("T/目標 1.md",)


@each(
    "link",
    ["props.html", "./props.html", "/src/guide/props.html", "/guide/props", "/guide/props.html"],
)
def test_a_link_as_a_site_writes_it_leads_to_the_note_of_the_page(tmp_path_factory, link):
    page = "src/guide/props.md"
    texts = {page: "# 渡す値\n", "src/guide/a.md": f"[値]({link})\n"}
    notes = Collection.of(tmp_path_factory.mktemp("site"), texts)
    assert read(notes, "src/guide/a.md").links_to == (page,)
    (linking,) = listed(notes, links_to=page).documents
    assert linking.file_path == "src/guide/a.md"


def test_a_link_from_the_root_of_one_of_several_sites_stays_in_it_or_leads_to_none(collection):
    sites = ["a/guide/props.md", "b/guide/props.md"]
    for page in (*sites, "b/inner/guide/props.md"):
        collection.write(page, f"# {page}\n")
    linking = {"a/x.md": "/guide/props.html", "b/y/x.md": "/guide/props", "z.md": "/guide/props#h"}
    for file, link in linking.items():
        collection.write(file, f"[値]({link})\n")
    collection.write("b/inner/x.md", "[値](/guide/props)\n")
    collection.import_("new")
    assert [read(collection, file).links_to for file in linking] == [(sites[0],), (sites[1],), ()]
    assert read(collection, sites[0]).linked_from == ("a/x.md",)
    outside, inner = read(collection, "z.md"), read(collection, "b/inner/x.md")
    assert (outside.unresolved, inner.links_to) == (("/guide/props",), (sites[1],))
    assert outside.ambiguous == {"/guide/props": (*sites, "b/inner/guide/props.md")}
    listing = listed(collection, links_to=sites[1]).documents
    assert [document.file_path for document in listing] == ["b/inner/x.md", "b/y/x.md", "z.md"]


def test_links_between_sites_of_the_same_pages_are_read_in_steps_in_proportion_to_them(tmp_path):
    def steps(sites):
        pages = [f"{site}/guide/{page}.md" for site in range(sites) for page in "ab"]
        texts = dict.fromkeys(pages, "[値](/guide/a) [値](/guide/b)\n")
        notes, passed = Collection.of(tmp_path / str(sites), texts), count()
        with open_database(notes.database, "read") as connection:
            connection.set_progress_handler(lambda: next(passed) < 0, 20)
            links = links_of(get_tool(connection, "notes").tables_in(connection), [1])[1]
        assert (len(links.to), len(links.back), links.unresolved) == (1, 1, ())
        return next(passed)

    assert steps(40) < 6 * steps(10)


def test_a_page_beside_a_note_takes_none_of_its_links_and_is_in_its_own_folder(tmp_path):
    rules = replace(RULES, extensions=(".md", ".html"))
    notes = Collection(tmp_path / "notes", tmp_path / "pages.sqlite", rules=rules)
    notes.write("page.html", "<html><body><h1>頁</h1><p>本文</p></body></html>")
    notes.write("page.md", "# 頁\n")
    links = {"a.md": "page.md", "b.md": "page.html", "deep/c.md": "page.html"}
    for file, link in links.items():
        notes.write(file, f"[頁]({link})\n")
    notes.import_("new")
    leading = [read(notes, file).links_to for file in links]
    assert leading == [("page.md",), ("page.html",), ()]


def test_a_hit_says_what_its_note_links_to_and_what_links_to_it(notes):
    hit = notes.search("修理", k=1, mode="lexical").results[0]
    assert (hit.links_to, hit.linked_from) == (("家/給湯器.md",), ("手順/index.md",))


def test_links_follow_a_file_that_comes_changes_or_goes(collection):
    collection.write("a.md", "[[b]]")
    collection.import_("new")
    assert read(collection, "a.md").unresolved == ("b",)
    collection.write("b.md", "本文")
    collection.import_()
    assert read(collection, "a.md").links_to == ("b.md",)
    assert read(collection, "b.md").linked_from == ("a.md",)
    collection.write("a.md", "何もない")
    collection.import_()
    assert read(collection, "b.md").linked_from == ()


def test_only_notes_that_link_to_one_are_searched(notes):
    linking = {"家/修理.md", "家/写真.md", "手順/index.md", "買い物.md"}
    listing = listed(notes, links_to="家/給湯器.md")
    assert {document.file_path for document in listing.documents} == linking
    found = notes.places("給湯器", k=10, filters=filtered(links_to="家/給湯器.md"))
    assert "家/修理.md" in found
    assert set(found) <= linking
    none = notes.search("給湯器", filters=filtered(links_to="家/写真.md"))
    assert none.results == ()
    assert any("links to" in note for note in none.notes)


@each("name", ["家/給湯器", "ボイラー", "給湯器", "/家/給湯器.MD"])
def test_a_note_is_named_as_links_name_it_and_one_that_is_not_there_is_said(notes, name):
    linking = {document.file_path for document in listed(notes, links_to=name).documents}
    assert linking >= {"家/修理.md", "家/写真.md", "手順/index.md", "買い物.md"}
    none = notes.search("給湯器", filters=filtered(links_to="どこにも"))
    assert any("is called, or links to" in note for note in none.notes)


@each(
    ("where", "files"),
    [
        ({"status": "open"}, ["2024-05-01.md", "家/給湯器.md"]),
        ({"STATUS": ["ＯＫ", "none"]}, ["家/修理.md"]),
        ({"status": None}, ["2024-05-01.md", "家/修理.md", "家/給湯器.md"]),
        ({"status": "open", "tags": "Jenkins"}, ["2024-05-01.md"]),
        ({"priority": 3}, ["数.md"]),
        ({"priority": 3.0, "version": "1.10"}, ["数.md"]),
        ({"version": ["1.1", 110, 1.0]}, []),
    ],
)
def test_front_matter_is_data_to_filter_by(notes, where, files):
    assert [document.file_path for document in listed(notes, where=where).documents] == files


def test_a_value_that_no_note_has_names_those_there_are(notes):
    (note,) = listed(notes, where={"status": "closed"}).notes
    assert 'the most frequent values of "status"' in note
    assert '"done"' in note


def test_open_tasks_are_a_filter_and_listed(notes):
    listing = listed(notes, open_tasks=True)
    assert [(document.file_path, document.tasks) for document in listing.documents] == [
        ("様式.md", ((11, "`make` を試す"),)),
        ("買い物.md", ((3, "[[ボイラー]] の部品"), (5, "水"))),
    ]
    found = notes.places("給湯器", filters=filtered(open_tasks=True))
    assert sorted(found) == ["様式.md", "買い物.md"]


def test_a_listing_says_how_many_open_tasks_a_page_has(collection):
    for number in range(51):
        collection.write(f"{number:02}.md", "- [ ] 買う\n" * (1 + (number == 3)))
    collection.import_("new")
    pages = [
        list_documents(collection.database, ["notes"], filtered(open_tasks=True), page)
        for page in (1, 2)
    ]
    assert [page.first_sentence for page in pages] == [
        "51 documents of notes, page 1 of 2, here with 51 open tasks",
        "51 documents of notes, page 2 of 2, here with 1 open task",
    ]
    assert [in_japanese(page.first_sentence) for page in pages] == [
        "notes の文書 51 件（2 ページ中の 1 ページ目）、ここに済んでいないタスク 51 件",
        "notes の文書 51 件（2 ページ中の 2 ページ目）、ここに済んでいないタスク 1 件",
    ]


def test_a_task_in_indented_code_is_none_and_one_below_an_item_is_one(collection):
    collection.write(
        "a.md",
        "---\nk: v\n---\n# a\n\n- [ ] 上\n    - [ ] 中\n\n    - [ ] 下\n\t- [ ] 横\n\n段落\n\n"
        "    - [ ] 例 1\n    - [ ] 例 2\n\n```\nx\n```\n    - [ ] 例 3\n\n段落\n    - [ ] 続き\n",
    )
    collection.write("b.txt", "段落\n\n    - [ ] 本文\n")
    collection.import_("new")
    tasks = [document.tasks for document in listed(collection, open_tasks=True).documents]
    assert tasks == [((6, "上"), (7, "中"), (9, "下"), (10, "横"), (23, "続き")), ((3, "本文"),)]


def test_a_task_in_a_code_block_that_is_cut_in_two_is_none(collection):
    code = "".join(f"- [ ] 例 {number}: 手順を一つずつ書いて確かめること\n" for number in range(80))
    collection.write("a.md", f"# 書き方\n\n```\n{code}```\n\n- [ ] 本物\n")
    collection.import_("new", size=64)
    found = collection.search("手順", k=50, filters=filtered(open_tasks=True)).results
    assert ["本物" in hit.content for hit in found] == [True]


@pytest.mark.parametrize(
    "fences",
    ["```\nnever closed\n", "````\n```\ninner\n````\n", "~~~\n```\n~~~\n"],
    ids=["open", "nested", "of tildes"],
)
def test_what_stands_before_fences_of_an_odd_number_is_no_code(collection, fences):
    collection.write("給湯器.md", "# 給湯器\n")
    collection.write("a.md", f"# a\n\n[[給湯器]]\n\n- [ ] 電話する\n\n{fences}")
    collection.import_("new")
    assert read(collection, "給湯器.md").linked_from == ("a.md",)
    (document,) = listed(collection, open_tasks=True).documents
    assert document.tasks == ((5, "電話する"),)


def test_a_listing_without_a_text_has_no_document_that_says_it_anywhere(collection):
    collection.write("a.md", "# a\n\n## 水\n\n水の備蓄を書く。\n\n## 米\n\n米の備蓄を書く。\n")
    collection.write("b.md", "# b\n\n米の備蓄だけ。\n")
    collection.write("空.md", "")
    collection.import_("new", min_chars=0)
    listing = listed(collection, exclude=["水"])
    assert [document.file_path for document in listing.documents] == ["b.md", "空.md"]
    assert listing.notes == ('"水" excluded 1 document of notes',)
    assert listed(collection, exclude=["酒"]).notes == ('"酒" excluded nothing',)
    assert [d.file_path for d in listed(collection, exact=["米"], exclude=["水"]).documents] == [
        "b.md"
    ]
    assert listed(collection, exclude=["備蓄"], exact=["米"]).documents == ()
    both = {"exact": ["水の備蓄", "米の備蓄"]}  # of a listing's document, of a search's passage
    assert [document.file_path for document in listed(collection, **both).documents] == ["a.md"]
    assert collection.search("備蓄", filters=filtered(**both)).results == ()


def test_who_links_to_a_note_that_nobody_wrote_yet_is_found(notes):
    for name in ("無い", "無い.md"):
        (linking,) = listed(notes, links_to=name).documents
        assert linking.file_path == "家/古い/給湯器.md"
    (why,) = listed(notes, links_to="どこにも").notes
    assert why == 'no note of notes is called, or links to, "どこにも"'


def test_a_listing_of_rows_alone_says_what_they_have_not(tmp_path):
    source = SourceFolder(tmp_path / "kakeibo", tmp_path / "v.sqlite", name="kakeibo")
    listing = list_documents(source.database, ("kakeibo",), filtered())
    assert (listing.total, listing.tools) == (0, ("kakeibo",))
    assert listing.notes == (
        "kakeibo was left out: these filters are for notes and documents; the household's own "
        "tools find rows by words, days and amounts",
    )


def test_a_listing_has_titles_dates_and_the_full_count_also_of_empty_notes(notes):
    listing = listed(notes, tags=["jenkins"])
    assert [(document.file_path, document.date) for document in listing.documents] == [
        ("2024-05-01.md", "2024-05-01"), ("空.md", None),
    ]  # fmt: skip
    assert (listing.total, listing.page, listing.pages) == (2, 1, 1)
    assert listed(notes).total == len(NOTES)
    assert listed(notes, sort="newest").documents[0].file_path == "2024-05-01.md"


def test_a_long_listing_comes_in_pages(collection):
    for number in range(120):
        collection.write(f"{number:03}.md", f"---\ntags: 会議\n---\n議事録 {number}\n")
    collection.import_("new")
    filters = filtered(tags=["会議"])
    pages = [list_documents(collection.database, None, filters, page) for page in (1, 2, 3)]
    assert [len(page.documents) for page in pages] == [50, 50, 20]
    assert {page.total for page in pages} == {120}
    paths = [document.file_path for page in pages for document in page.documents]
    assert paths == sorted(set(paths))
    with pytest.raises(SearchRefused, match="no page 4; the last is 3"):
        list_documents(collection.database, None, filters, 4)


def test_notes_like_a_note_are_found_without_itself(notes):
    source, like = query_like(notes.database, None, "家/給湯器.md")
    found = notes.places(like, k=3, related_to=source.file_path)
    assert "家/給湯器.md" not in found
    assert "家/古い/給湯器.md" in found
    assert query_like(notes.database, None, "給湯器") == (source, like)


def test_what_is_like_a_note_without_text_is_looked_for_by_its_title_which_the_answer_says(notes):
    notes.write("予定.md", "---\ntags: [家]\n---\n\n")
    notes.import_()
    assert notes.search("", related_to="予定").notes[0] == (
        '"予定.md" has no text, so only its title was looked for'
    )
    for others in ({"related_to": "家/給湯器"}, {"query": "給湯器", "related_to": "予定"}):
        assert not any("no text" in note for note in notes.search(**{"query": ""} | others).notes)


def test_a_note_is_called_by_its_title_too_where_no_link_would_name_it(collection):
    collection.write("notes/2025.md", "# 給湯器の記録\n\n点火が悪い。\n")
    collection.write("b.md", "[[2025]] の続き。\n")
    collection.import_("new")
    assert [d.file_path for d in listed(collection, links_to="給湯器の記録").documents] == ["b.md"]
    assert query_like(collection.database, None, "給湯器の記録")[0].file_path == "notes/2025.md"
    assert read(collection, "notes/2025.md").linked_from == ("b.md",)


def test_links_by_a_title_that_is_no_notes_name_lead_nowhere_and_are_found_beside_those_that_lead(
    collection,
):
    collection.write("notes/2025.md", "# 給湯器の記録\n\n点火が悪い。\n")
    collection.write("a.md", "[[給湯器の記録]] を見る。\n")
    collection.write("b.md", "[[2025]] の続き。\n")
    collection.write("c.md", "[[家/買い物]] と [次](家/計画.md) はまだない。\n")
    collection.import_("new")

    def linking(name):
        return [document.file_path for document in listed(collection, links_to=name).documents]

    assert linking("給湯器の記録") == ["a.md", "b.md"]
    assert linking("2025") == ["b.md"]
    assert linking("買い物") == linking("家/買い物") == linking("計画") == ["c.md"]
    assert linking("物") == linking("買い") == []


@pytest.mark.parametrize("index", ["_index.md", "index.md", "README.md"])
def test_links_to_a_folder_are_found_by_the_path_of_its_index(collection, index):
    collection.write(f"報酬/福利/{index}", "# 福利\n\n[ここ](/手引/報酬/福利/)\n")
    collection.write("外.md", "[福利](/手引/報酬/福利/)\n")
    collection.write("中.md", "[福利](報酬/福利/)\n")
    collection.write(
        "別/報酬/福利/index.md", "[別](/別/報酬/福利/) と [福利](../../../報酬/福利)\n"
    )
    collection.write("別.md", "[別](/別/報酬/福利/)\n")
    collection.import_("new")
    path = f"報酬/福利/{index}"
    linking = [document.file_path for document in listed(collection, links_to=path).documents]
    assert linking == ["中.md", "別/報酬/福利/index.md", "外.md"]
    assert read(collection, path).linked_from == ("中.md", "別/報酬/福利/index.md")
    assert read(collection, "中.md").links_to == (path,)


def test_a_long_notes_own_passages_crowd_out_none_of_its_relatives(collection):
    section = "## 給湯器の交換\n\n給湯器の交換の手順と費用を書く。配管を外して付け替える。\n\n"
    collection.write("長い.md", "# 給湯器の交換\n\n" + section * 90)
    collection.write("親戚.md", "# 風呂\n\n給湯器の交換を頼んだ店の連絡先。\n")
    for number in range(20):
        collection.write(
            f"{number}.md", f"# 献立 {number}\n\n今週は魚を焼く。{number} 回目。\n" * 5
        )
    collection.import_("new")
    for mode in ("hybrid", "lexical"):
        source, like = query_like(collection.database, None, "長い.md")
        assert "親戚.md" in collection.places(like, k=3, related_to=source.file_path, mode=mode)
    alone = collection.search(like, related_to="長い.md", filters=filtered(path="長い.md"))
    assert alone.results == ()


def test_a_list_of_links_is_never_above_the_text_that_says_it(collection):
    links = "- [給湯器の交換の手順](a.md)\n- [給湯器の交換の費用](b.md)\n- [給湯器](c.md)\n"
    text = "給湯器の交換は、まず元栓を閉めてから配管を外し、新しい本体を据え付けるという手順です。"
    collection.write("参照.md", f"# 給湯器の交換の手順\n\n## 参照\n\n{links}")
    collection.write("本文.md", f"# 住まい\n\n## 設備\n\n{text * 3}\n")
    collection.import_("new")
    for query in ("給湯器の交換", "給湯器の交換の手順"):
        assert collection.places(query, mode="lexical")[0] == "本文.md"


@each(
    ("text", "is_list"),
    [
        ("## 参照\n\n- [a の話](a.md)\n- [[b の話]]\n", True),
        ("- [a](a.md): これは a の話で、長い説明が付く。\n- [b](b.md): これも説明。\n", False),
        ("## 参照\n\n- [Deployments](https://example.com/deployments/)\n", True),
        ("## 参照\n\n- https://example.com/deployment\n- <https://example.com/pod>\n", True),
        ("設定は [公式][1] を見る。\n\n[1]: https://example.com/a/rather/long/address\n", False),
        ("[手順](a.md)\n\n```sh\nkubectl apply -f https://example.com/a.yaml\n```\n", False),
        ("[a](a.md) だけ", False),
        ("本文。" * 5, False),
    ],
)
def test_a_list_of_links_is_one_that_says_little_else(text, is_list):
    assert is_list_of_links(text) is is_list


@each(
    ("text", "links"),
    [
        ("[[a|b]] [[C/d#e]] ![[f.png]]", [("a", ""), ("c/d", "e"), ("f.png", "")]),
        ("[x](b.md) [y](../c%20d.md#h) [z](#here) [m](mailto:a@b.example)",
         [("/n/b", ""), ("/c d", "h")]),
        ("[x]: <e.md>\n[q](//host/x) [up](../../out.md)", [("/n/e", "")]),
        ("`[[a]]` [[  ]]", []),
    ],
)  # fmt: skip
def test_links_are_read_outside_code_and_addresses(text, links):
    found = document_links(text, "n/note.md")
    assert [(link.key, link.fragment) for link in found] == links


def test_a_document_is_named_by_every_end_of_its_path_and_its_aliases():
    assert document_keys("A/b/Index.md", ["別名"]) == [
        "/a/b/index", "a/b/index", "b/index", "index", "/a/b", "別名",
    ]  # fmt: skip
