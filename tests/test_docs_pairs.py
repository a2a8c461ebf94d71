"""Pages in two languages: they have the same parts, and name the same commands and settings."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAIRS = ("README", "docs/household", "docs/analytics", "docs/datasets")
TERM = re.compile(r"`(?:\[\w+\]|[a-z]+(?:_[a-z]+)+|mdvec(?: [a-z]+)+)`|127\.0\.0\.1")


@pytest.fixture(params=PAIRS)
def pair(request):
    return [
        (ROOT / f"{request.param}{language}.md").read_text(encoding="utf-8")
        for language in ("", ".ja")
    ]


def test_both_have_the_same_sections_blocks_and_tables(pair):
    def shape(text):
        return re.findall(r"^(#+ |```\w+|\| ---|- )", text, re.MULTILINE)

    assert shape(pair[0]) == shape(pair[1])


def test_both_show_the_same_settings(pair):
    def settings(text):
        blocks = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
        return re.findall(
            r"^(?:# )?(\[\w+\]|\w+ = [^#\n]*?) *(?:#.*)?$", "".join(blocks), re.MULTILINE
        )

    assert settings(pair[0]) == settings(pair[1])


def test_what_the_english_page_names_the_japanese_page_names_too(pair):
    assert {
        term.strip("`") for term in TERM.findall(pair[0]) if term.strip("`") not in pair[1]
    } == set()
