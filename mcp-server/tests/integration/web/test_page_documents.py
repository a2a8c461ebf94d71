"""The view of a document over a real port: its links lead on, and its pictures are the folder's."""

import re

import pytest
from collection import Collection
from hostile import harm_in
from page_site import page_site

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 20


@pytest.fixture
def client(tmp_path):
    folder = tmp_path / "notes"
    notes = Collection(folder, tmp_path / "v.sqlite")
    notes.write("家/給湯器.md", "# 給湯器\n\n## 点検\n\n型番は [[一覧#型番|一覧]]にある。")
    notes.write("一覧.md", "# 一覧\n\n[家](家/給湯器.md#点検) と ![図](img/a.png)\n\n## 型番\n")
    (folder / "img").mkdir()
    (folder / "img/a.png").write_bytes(PNG)
    (folder / "img/a.log").write_text("secret", encoding="utf-8")
    (tmp_path / "outside.png").write_bytes(PNG)
    (folder / "img/link.png").symlink_to(tmp_path / "outside.png")
    notes.import_()
    with page_site(notes.database) as site, site.client() as client:
        yield client


def test_links_are_followed_and_lead_back(client):
    page = client.get("/document", params={"tool": "notes", "path": "家/給湯器.md"})
    assert harm_in(page.text) == []
    (link,) = re.findall(r'<a href="([^"]*)">一覧</a>', page.text)
    there = client.get(link.replace("&amp;", "&"))
    assert (there.status_code, there.url.params["path"]) == (200, "一覧.md")
    assert 'id="s-型番"' in there.text
    (back,) = re.findall(r'<a href="([^"]*)">家</a>', there.text)
    assert back.endswith("#s-点検")
    assert client.get(back.replace("&amp;", "&")).url.params["path"] == "家/給湯器.md"
    assert "What links here" in page.text
    missing = client.get("/document", params={"tool": "notes", "path": "給湯機.md"})
    assert missing.status_code == 400
    assert "給湯器.md" in missing.text  # the nearest


def test_a_link_by_name_leads_to_the_note_beside_its_own(tmp_path):
    notes = Collection(tmp_path / "notes", tmp_path / "v.sqlite")
    for folder in "ab":
        notes.write(f"{folder}/dup.md", f"# {folder} の記録")
    notes.write("b/from.md", "[[dup|その記録]]")
    notes.import_()
    with page_site(notes.database) as site, site.client() as client:
        page = client.get("/document", params={"tool": "notes", "path": "b/from.md"}).text
        (link,) = re.findall(r'<a href="([^"]*)">その記録</a>', page)
        assert client.get(link.replace("&amp;", "&")).url.params["path"] == "b/dup.md"


def test_a_markdown_link_as_obsidian_writes_it_leads_to_the_note(tmp_path):
    notes = Collection(tmp_path / "notes", tmp_path / "v.sqlite")
    notes.write("T/目標.md", "# 目標の記録")
    notes.write("L/T/計画.md", "# 計画")
    notes.write("T/計画.md", "# 別の計画")
    notes.write(
        "L/from.md", "[短い](目標.md) [根から](T/目標.md) [下へ](T/計画.md) [無い](無い.md)"
    )
    notes.import_()
    with page_site(notes.database) as site, site.client() as client:
        page = client.get("/document", params={"tool": "notes", "path": "L/from.md"}).text
        for words, path in (
            ("短い", "T/目標.md"),
            ("根から", "T/目標.md"),
            ("下へ", "L/T/計画.md"),
        ):
            (link,) = re.findall(rf'<a href="([^"]*)">{words}</a>', page)
            assert client.get(link.replace("&amp;", "&")).url.params["path"] == path
        (link,) = re.findall(r'<a href="([^"]*)">無い</a>', page)
        assert client.get(link.replace("&amp;", "&")).status_code == 400


def test_pictures_of_the_folder_are_shown_and_nothing_else(client):
    page = client.get("/document", params={"tool": "notes", "path": "一覧.md"}).text
    (source,) = re.findall(r'<img src="([^"]*)"', page)
    picture = client.get(source.replace("&amp;", "&"))
    assert (picture.content, picture.headers["content-type"]) == (PNG, "image/png")
    above = client.get("/document/picture", params={"tool": "notes", "path": "家/a.png"})
    assert (
        above.content == PNG
    )  # a note may name the picture alone, which lies in a folder for such
    for path in ("img/a.log", "../outside.png", "img/link.png", "img", "img/b.png", "", "\0.png"):
        answer = client.get("/document/picture", params={"tool": "notes", "path": path})
        assert answer.status_code in (400, 404), path
        assert PNG not in answer.content
    of_none = client.get("/document/picture", params={"tool": "none", "path": "a.png"})
    assert of_none.status_code == 400


def test_without_a_question_the_documents_are_listed_with_folders_and_tags(client):
    page = client.get("/").text
    assert harm_in(page) == []
    assert re.findall(r"<bdi>(.*?)</bdi></a>", page)[-2:] == ["一覧", "給湯器"]
    (folder,) = re.findall(r'<a href="([^"]*)">家/</a>', page)
    inside = client.get(folder.replace("&amp;", "&")).text
    assert re.findall(r"<bdi>(.*?)</bdi></a>", inside) == ["給湯器"]
    assert "<h2>" in client.get("/", params={"part": "hits", "q": ""}).text
    assert "no note of notes has a path" in client.get("/", params={"path": "none/"}).text
