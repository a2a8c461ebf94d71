"""The letters of a chart: drawn, normalised, or replaced and counted where its font lacks them."""

from pathlib import Path

import matplotlib as mpl
import pytest
from sample_charts import EVERY, category, months, title_of, written
from table_of_cases import each

from mdvec.charts.figure import draw
from mdvec.charts.plot import Plot, Series, category_plot, month_plot
from mdvec.charts.style import FontUnusable, typeface


def test_letters_are_drawn_and_not_boxes():
    # 〓 stands for a letter that no font has: were one a box, it would look like another, or this.
    titles = [title_of(letter * 6) for letter in "食住あい髙①㈱〜〓"]
    assert len({title.tobytes() for title in titles}) == len(titles)
    assert all((title < 128).sum() > 50 for title in titles)


def test_a_character_the_font_lacks_is_shown_as_a_stand_in_and_counted(caplog):
    draw(category(title="🍜と𠮷"), (800, 600), "png")
    assert "〓と〓" in written(category(title="🍜と𠮷"))
    assert "2 characters" in caplog.text
    assert "🍜" not in caplog.text


@each(
    "chart",
    [
        category_plot("bar", "店", (("𠮷野家", 800), ("食費", 5)), note="税込み"),
        Plot("bar", "", "names", (0.0,), (Series("円", (800,)),), ("𠮷野家",)),
    ],
)
def test_the_picture_says_that_its_font_lacks_a_character(chart):
    assert any(text.endswith("〓 はフォントにない文字です") for text in written(chart)[1:])
    assert not any("フォント" in text for text in written(category()))


def test_decomposed_letters_joiners_and_line_breaks_are_normalised():
    shown = typeface(None).legible("カ\u3099ス\ufe0f\u200d\n代\t 円\x00")
    assert shown == ("ガス 代 円", [])


SIGNS = ("$x_1^2$", "\\alpha", "a$b", "_食費", "^_^", "$\\frac{1}{0}$", "%{}#&")


def test_mathematical_signs_are_drawn_as_text(caplog):
    items = tuple((text, 9 - at) for at, text in enumerate(SIGNS))
    draw(category_plot("pie", SIGNS[0], items, note=SIGNS[-2]), (400, 300), "png")
    lines = tuple(Series(text, (1, 2)) for text in SIGNS)
    draw(month_plot("line", SIGNS[1], months(2), lines), (400, 300), "svg")
    assert "〓" not in caplog.text
    for text in (text for text in SIGNS if "$" in text):
        assert (title_of(text) != title_of(text.replace("$", ""))).any()


def test_a_dollar_sign_is_as_wide_as_it_is():
    plain, dollars = ((title_of(text) < 128).sum() for text in ("x12", "$x_1^2$"))
    assert dollars > plain * 1.5


def test_a_configured_font_is_used(tmp_path):
    own = tmp_path / "own.ttf"
    own.write_bytes(typeface(None).path.read_bytes())
    assert draw(EVERY[0], (300, 200), "png", font_path=str(own)).data


def test_a_missing_or_non_japanese_font_is_refused(tmp_path):
    text = tmp_path / "text.ttf"
    text.write_text("no font", encoding="utf-8")
    latin = Path(mpl.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"
    for path, reason in (
        (tmp_path / "none.ttf", "読み込めません"),
        (tmp_path, "読み込めません"),
        (text, "読み込めません"),
        (latin, "日本語の文字がありません"),
    ):
        with pytest.raises(FontUnusable, match=reason):
            draw(EVERY[0], (300, 200), "png", font_path=str(path))
