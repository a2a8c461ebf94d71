"""Org: its keywords, tags, tasks and links count as those of Markdown do, its blocks as fences."""

from dataclasses import replace

import pytest
from collection import RULES, Collection, filtered
from hypothesis import given
from hypothesis import strategies as st
from table_of_cases import each
from tiny_embedder import TinyBackend

from mdvec.documents.reading import DocumentPart, read_document
from mdvec.search.listing import list_documents
from mdvec.text.chunking import chunk_document
from mdvec.text.links import document_links
from mdvec.text.markdown import outline
from mdvec.text.org import org_headlines, org_links, org_matter
from mdvec.text.tokens import ChunkingOptions

PLAN = """# -*- mode: org -*-
:PROPERTIES:
:ID: 8F65-53
:END:
#+TITLE: 引っ越しの計画
#+date: <2025-06-01 Sun>
#+FILETAGS: :仕事:計画:
#+STATUS: open

* TODO [#A] 見積もりを取る :電話:
[[file:部屋/q.org::*寸法][寸法]] と [[./外.org]] を見る。 [[https://a.example][外]] [[見出し]]
* DONE 物件を選ぶ
- [ ] 鍵を受け取る
- [X] 契約する

#+BEGIN_SRC sh
#+TODO: 偽
* TODO これは命令
- [ ] 例
[[file:偽.org]]
#+END_SRC
# [[file:覚え書き.org]]
"""
ROOM = "* 寸法\n:PROPERTIES:\n:ID: in-room\n:END:\n縦横。[[id:8F65-53][計画]]\n"


@pytest.fixture(scope="module")
def notes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("org")
    collection = Collection(
        folder / "notes", folder / "v.sqlite", rules=replace(RULES, extensions=(".org",))
    )
    collection.write("計画.org", PLAN)
    collection.write("部屋/q.org", ROOM)
    collection.write("別.org", "[[id:in-room]]\n")
    collection.import_("new")
    return collection


def listed(notes, **said):
    found = list_documents(notes.database, None, filtered(**said))
    return [document.file_path for document in found.documents]


def test_keywords_give_title_date_tags_and_values(notes):
    found = list_documents(notes.database, None, filtered(tags=["計画"]))
    (plan,) = found.documents
    assert (plan.title, plan.date, plan.tags) == (
        "引っ越しの計画", "2025-06-01", ("仕事", "計画", "電話"),
    )  # fmt: skip
    assert listed(notes, tags=["電話"]) == listed(notes, where={"status": "open"}) == ["計画.org"]


def test_headings_to_do_and_unticked_items_are_open_tasks(notes):
    (plan,) = list_documents(notes.database, None, filtered(open_tasks=True)).documents
    assert plan.tasks == ((10, "見積もりを取る"), (13, "鍵を受け取る"))


def test_links_lead_to_files_and_to_ids(notes):
    def read(path):
        return read_document(notes.database, "notes", path, DocumentPart(), 10_000)

    assert listed(notes, links_to="部屋/q.org") == ["別.org", "計画.org"]
    assert read("計画.org").links_to == ("部屋/q.org#寸法",)
    assert read("計画.org").unresolved == ("/外.org",)
    assert read("部屋/q.org").links_to == ("計画.org",)


def test_what_org_says_about_its_own_use_is_no_value_and_what_follows_is_text():
    text = "#+TAGS: 家 職場\n#+TITLE: 一\n#+TITLE: 二\n\n#+CAPTION: 図\n| a |\n"
    matter = org_matter(text)
    assert dict(matter.entries) == {"title": "一 二"}
    assert text[matter.end :].lstrip().startswith("#+CAPTION")


@each(
    ("text", "values", "body"),
    [
        ("#+TITLE:議事録\n#+DATE:2025-06-01\n#+FILETAGS::会議:\n\n本文",
         {"title": "議事録", "date": "2025-06-01", "tags": ["会議"]}, "\n本文"),
        ("  #+title: 一\r\n  #+date: 二\r\n本文", {"title": "一", "date": "二"}, "本文"),
        ('#+HUGO_TAGS: emacs "org mode"\n', {"tags": ["emacs", "org mode"]}, ""),
        ("#+title: 一\n#+source: x\n#+filetags: :本:\n#+status: open\n本文",
         {"title": "一", "tags": ["本"], "status": "open"},
         "#+source: x\n#+filetags: :本:\n#+status: open\n本文"),
        ("-*- mode: org -*-\n#+title: 一\n", {"title": "一"}, "-*- mode: org -*-\n#+title: 一\n"),
        ("# 覚え書き\n#+begin_comment\n#+title: 偽\n#+end_comment\n:ID 1\n:ID: 2\n#+title: 一\n",
         {"title": "一"}, None),
        ("* 節\n:PROPERTIES:\n:ID: 1\n:END:\n#+begin_src\n#+title: 偽\n#+end_src\n", {}, None),
    ],
)  # fmt: skip
def test_keywords_count_wherever_they_stand_outside_blocks(text, values, body):
    matter = org_matter(text)
    assert dict(matter.entries) == values
    assert text[matter.end :] == (text if body is None else body)


@each(
    ("text", "links"),
    [
        ("[[file:][あとで書く]] [[id:]] [[file:::*節]]", []),
        ("[[id:a-1][Information Bottleneck in\nNetworks]]", ["id:a-1"]),
        ("[[file:c.org][【1】[重要]]] [[file:d.org][[[file:e.org]]]]", ["c.org", "d.org", "e.org"]),
        (r"[[file:a\[1\].org]]", ["a[1].org"]),
        ("[[file:a.org] と書く", []),
    ],
)
def test_a_link_has_a_target_and_any_description(text, links):
    assert [path for path, _ in org_links(text)] == links


@given(st.text("[]()/.#:|<>!\\ \nfileid:a日"), st.sampled_from(["a.md", "b/a.org"]))
def test_any_text_has_links(text, path):
    assert all(link.key for link in document_links(f"[[file:{text}]]", path))


@each("space", [" ", "\t", "\u3000", "  "])
def test_a_state_ends_at_any_space(space):
    (line,) = org_headlines(f"* TODO{space}[#A]{space}牛乳を買う")
    assert (line.words, line.is_open) == ("牛乳を買う", True)


@each(
    ("states", "is_open"),
    [
        ("", {"TODO": True, "DONE": False, "WAIT": None}),
        ("#+TODO: TODO(t) WAIT(w@/!) | DONE\n", {"TODO": True, "WAIT": True, "DONE": False}),
        ("#+SEQ_TODO: WAIT DONE\n", {"WAIT": True, "DONE": False, "TODO": None}),
    ],
)
def test_the_states_are_those_that_the_file_names(states, is_open):
    text = states + "".join(f"* {state} 買う :a:b:\n" for state in is_open)
    found = [(line.words, line.is_open, line.tags) for line in org_headlines(text)]
    assert found == [
        ("買う" if known is not None else f"{state} 買う", known is True, ("a", "b"))
        for state, known in is_open.items()
    ]


def passages(content):
    options = ChunkingOptions("heading", 64, 0, (1, 2, 3), 0)
    return [
        chunk.text
        for chunk in chunk_document(content, outline(content, "a.org"), options, TinyBackend())
    ]


def test_a_block_of_code_is_kept_whole_and_its_lines_are_no_headings():
    whole = f"#+begin_src sh\n* {'字' * 40}\n\n字\n#+end_src"
    content = f"* 一\n{'前の文。' * 10}\n\n{whole}\n\n{'後の文。' * 12}\n"
    assert [heading.words for heading in outline(content, "a.org").headings] == ["一"]
    assert [whole in passage for passage in passages(content)].count(True) == 1


def test_no_passage_ends_with_the_first_line_of_a_block_or_begins_with_its_last():
    for count in range(4, 30):
        quote = "#+begin_quote\n\n" + "文です。\n" * count + "\n#+end_quote"
        cut = passages(f"* 一\n{'前の文。' * count}\n{quote}\n\n{'後の文。' * 12}\n")
        assert not any(passage.endswith("#+begin_quote") for passage in cut)
        assert not any(passage.startswith("#+end_quote") for passage in cut)
