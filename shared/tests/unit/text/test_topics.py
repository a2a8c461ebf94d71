"""Phrases that a question calls its topic."""

import pytest

from mdvec.text.morphemes import morphemes
from mdvec.text.terms import folded
from mdvec.text.topics import named_topics


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("会議で年末調整という言葉が出た", ["年末調整"]),
        ("昨日、水道の元栓の話を聞いた", ["水道の元栓"]),
        ("帰りに「元栓」っていうもの を見た", ["元栓"]),
        ("i heard about water taps in the attic at work", ["water taps in the attic"]),
        ("元栓が固い", []),
        ("雪の話をして、栓の話をして、水の話をした", ["水", "栓"]),
        ("開くというのは大変だ", []),
    ],
)
def test_a_phrase_is_a_topic_where_it_is_called_one(question, expected):
    text = folded(question)
    assert [text[start:end] for start, end in named_topics(text, morphemes(question))] == expected
