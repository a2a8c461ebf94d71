"""The text of hits keeps within its budget, and what it leaves out can be read on."""

import re

from hypothesis import given
from hypothesis import strategies as st
from mdvec.search.hits import Explanation, Hit
from mdvec.text.one_line import TextFence

from mdvec_mcp.search.answers import hit_texts

WORDS: dict[str, tuple[str, ...]] = {"matched_words": (), "matched_terms": ()}
WHY = Explanation(**dict.fromkeys(Explanation.__dataclass_fields__, 0) | WORDS)
FENCE = TextFence("0a1b2c")
DOCUMENT = "".join(f"{number} 行目の水。\n" for number in range(3_000))


def hit(length, start=0, *, truncated=False):
    end = start + length
    return Hit(
        tool="notes", file_path="家/水.md", title="水", tags=(), date=None, heading="水 > 備蓄",
        content=DOCUMENT[start:end], score=0.5, chunk_index=0, start_position=start,
        end_position=end, start_line=1, end_line=9, truncated=truncated,
        next_position=end if truncated else None, explanation=WHY,
    )  # fmt: skip


HITS = st.lists(
    st.builds(
        hit, st.integers(1, 9_000), st.integers(0, 500), truncated=st.booleans()
    ),
    max_size=50,
)  # fmt: skip


@given(hits=HITS, max_chars=st.integers(500, 12_000), wide=st.booleans())
def test_texts_of_any_hits_keep_within_the_budget(hits, max_chars, wide):
    texts = hit_texts(hits, [], max_chars, FENCE, wide=wide)
    assert len("\n\n".join(texts)) <= max_chars
    assert [text.partition("]")[0] for text in texts if text[0] == "["] == [
        f"[{number}" for number, text in enumerate(texts, 1) if text[0] == "["
    ]


@given(hits=HITS.filter(bool), max_chars=st.integers(500, 12_000))
def test_every_passage_is_exact_and_goes_on_where_it_was_cut(hits, max_chars):
    for one, text in zip(hits, hit_texts(hits, [], max_chars, FENCE, wide=False), strict=False):
        _, _, passage = text.partition("<text 0a1b2c>\n")
        if text.startswith("note: ") or not passage:
            continue
        shown, _, cut = passage.partition("\n</text 0a1b2c>")
        position = re.search(r"start_position=(\d+)", cut)
        end = int(position[1]) if position else one.end_position
        assert shown == DOCUMENT[one.start_position : end].strip()


def test_what_fits_is_shown_whole_and_without_a_note():
    hits = [hit(900, start) for start in (0, 300, 600)]
    texts = hit_texts(hits, [], 12_000, FENCE, wide=True)
    assert texts[1] == (
        '[2] notes: "家/水.md":1-9 (characters 300-1200) — "水 > 備蓄", score 0.50\n'
        f"<text 0a1b2c>\n{hits[1].content.strip()}\n</text 0a1b2c>"
    )
    assert len(texts) == 3


def test_hits_beyond_the_budget_are_named_without_their_text():
    texts = hit_texts([hit(240)] * 50, [], 12_000, FENCE, wide=False)
    shown = [text for text in texts if "\n" in text]
    assert texts[-1] == (
        f"note: the text of {50 - len(shown)} more passages does not fit; use a smaller k, "
        "or read on with get_document"
    )
    assert texts[49] == '[50] "家/水.md":1-9 (characters 0-240) — "水 > 備蓄", score 0.50'
    assert 25 < len(shown) < 50
