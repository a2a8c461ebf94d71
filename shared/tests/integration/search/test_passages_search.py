"""What a search returns of its finds: chunks, sections or documents, within a budget."""

import pytest
from collection import imported_notes
from table_of_cases import each

from mdvec.documents.reading import DocumentPart, read_document

LONG = "".join(f"{number} 番目の手順では、水を運んで棚に並べます。\r\n" for number in range(300))
GUIDE = f"""# 手引き\r
\r
はじめに、全体を説明します。家族のための覚え書きです。{"読んでください。" * 6}\r
\r
## 水\r
\r
水の備えについて。{"水は大切です。" * 8}\r
\r
### 運び方\r
\r
{LONG}\r
### 置き場所\r
\r
玄関の棚に置きます。{"棚は低いものを選びます。" * 6}\r
\r
## 米\r
\r
米は二合炊きます。{"水加減は少なめにします。" * 6}\r
"""
OTHER = f"# 別紙\n\n## 買い物\n\n棚と水を買います。{'店は駅前にあります。' * 6}\n"


guide = imported_notes({"guide.md": GUIDE, "other.md": OTHER})


def assert_exact(collection, answer, budget=12_000):
    """Every hit is what stands in its file, on the lines that it names."""
    assert sum(len(hit.content) for hit in answer.results) <= budget
    for hit in answer.results:
        text = (collection.folder / hit.file_path).read_bytes().decode()
        assert hit.content == text[hit.start_position : hit.end_position]
        assert hit.content
        assert hit.start_line == text[: hit.start_position].count("\n") + 1
        assert hit.end_line == text[: hit.end_position - 1].count("\n") + 1


@each("budget", [500, 3_000, 1_000_000])
@each("returning", ["chunk", "section", "document"])
def test_every_passage_is_exact_and_within_the_budget(guide, returning, budget):
    for query in ("水を棚に並べる手順", "299 番目", "駅前の店", "水加減"):
        answer = guide.search(query, k=10, returning=returning, max_chars=budget)
        assert answer.results
        assert_exact(guide, answer, budget)
        ends: dict[str, int] = {}
        for hit in sorted(answer.results, key=lambda hit: hit.start_position):
            assert hit.start_position >= ends.get(hit.file_path, 0)
            ends[hit.file_path] = hit.end_position


def test_a_section_is_returned_once_however_many_of_its_chunks_are_found(guide):
    question = "手順 水を運んで棚に並べます 水の備えは大切です"
    answer = guide.search(question, k=50, returning="section", max_chars=10**6)
    spans = [(hit.file_path, hit.start_position, hit.end_position) for hit in answer.results]
    assert not answer.truncated
    for file, start, end in spans:
        others = [other for other in spans if other != (file, start, end)]
        assert not any(
            file == name and start < last and first < end for name, first, last in others
        )
    steps = next(hit for hit in answer.results if "299 番目" in hit.content)
    # What stands above its heading was found too, so the wider section takes it in.
    assert steps.content.startswith("## 水")
    assert LONG.rstrip() in steps.content


def test_a_section_ends_where_it_ends_though_a_short_title_was_joined_to_its_first_part(collection):
    body = "".join(f"{number} 番目の手順を、落ち着いて行います。\n\n" for number in range(60))
    collection.write("a.md", f"# 鷹匠\n\n## 訓練\n\n{body}## 付録\n\n{'別の話です。' * 20}\n")
    collection.import_("new", size=64, overlap=0)
    (hit,) = collection.search("鷹匠の訓練", k=1, returning="section", max_chars=10**6).results
    assert (hit.truncated, hit.next_position) == (False, None)
    assert "59 番目" in hit.content
    assert "付録" not in hit.content


def test_what_was_found_is_shown_however_small_the_budget(collection):
    text = f"# 宿\n\n{'山の宿の紹介です。' * 80}\n\n## 幽霊船の伝説\n\n{'幽霊船が出ます。' * 10}\n"
    collection.write("a.md", text)
    collection.import_("new", size=64, overlap=0)
    (hit,) = collection.search("幽霊船の伝説", k=1, returning="document", max_chars=300).results
    assert "## 幽霊船の伝説" in hit.content
    assert hit.truncated
    assert hit.content == text[hit.start_position : hit.end_position]


def test_a_word_of_any_length_is_found_by_words(collection):
    digest = "0123456789abcdef" * 8
    collection.write("a.md", f"# 控え\n\n確かめる値は {digest} です。\n")
    collection.write("b.md", "# 別\n\n値はありません。\n")
    collection.import_("new")
    assert collection.places(digest, mode="lexical") == ["a.md"]


def test_a_document_is_returned_once_and_whole(guide):
    answer = guide.search("水加減", k=50, returning="document", max_chars=10**6)
    assert sorted(hit.content for hit in answer.results) == sorted([GUIDE, OTHER])
    assert [hit.truncated for hit in answer.results] == [False, False]


def test_a_cut_passage_holds_what_was_found_and_goes_on_to_its_very_end(guide):
    answer = guide.search("280 番目の手順", k=1, returning="section", max_chars=600)
    (hit,) = answer.results
    assert answer.truncated
    assert hit.truncated
    assert len(hit.content) <= 600
    pieces = [hit.content]
    position = hit.end_position
    while position < len(GUIDE):
        part = read_document(
            guide.database, "notes", "guide.md", DocumentPart(start_position=position), 600
        )
        assert part.start_position == position
        pieces.append(part.content)
        position = part.end_position
    assert not part.truncated
    assert "".join(pieces) == GUIDE[hit.start_position :]


def test_hits_that_do_not_fit_are_left_out_and_the_answer_says_so(guide):
    answer = guide.search("水", k=10, returning="section", max_chars=500)
    assert answer.truncated
    assert len(answer.results) == 1
    everything = guide.search("水", k=10, returning="section", max_chars=10**6)
    assert not everything.truncated
    assert everything.results[0].file_path == answer.results[0].file_path


@pytest.mark.parametrize("returning", ["chunk", "section", "document"])
def test_an_encoded_picture_is_in_no_passage_and_what_follows_it_is_named(collection, returning):
    picture = f"![](data:image/png;base64,{'iVBORw0KGgo8' * 300})"
    before, after = "給湯器の外し方を書く。\n" * 3, "給湯器の付け方を書く。\n" * 3
    collection.write("a.md", f"# 給湯器\n\n{before}\n{picture}\n\n{after}\n{picture}\n")
    collection.import_("new")
    answer = collection.search("給湯器の外し方と付け方", returning=returning)
    first, second = sorted(answer.results, key=lambda hit: hit.start_position)
    assert "外し方" in first.content
    assert "付け方" in second.content
    assert not any("base64" in hit.content for hit in answer.results)
    if returning == "chunk":
        assert first.goes_on == second.start_position
    else:
        assert (first.truncated, second.truncated) == (True, True)
        assert first.next_position < second.start_position + 3
        assert second.next_position is None


def test_k_counts_passages_and_not_chunks(guide):
    answer = guide.search("水を運んで棚に並べます", k=2, returning="section", max_chars=10**6)
    assert len(answer.results) == 2


def test_a_passage_whose_section_goes_on_says_so(guide):
    (first,) = guide.search("3 番目の手順", k=1).results
    assert (first.heading, first.next_position) == ("手引き > 水 > 運び方", None)
    assert first.goes_on == first.end_position
    assert not guide.search("玄関の棚", k=1).results[0].goes_on
