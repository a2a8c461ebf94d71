"""What stands on a chart: sizes as people write them, amounts, shares, and slices put together."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.charts import units
from mdvec.charts.category_drawing import Entry, colored, members_note, merge_small
from mdvec.charts.colors import OTHERS_COLOR
from mdvec.charts.plot import ChartError, parse_size
from mdvec.charts.style import typeface


@each("text", ["800x600", " 800X600 ", "800×600", "８００ｘ６００", "800 x 600"])
def test_a_size_is_read_as_people_write_it(text):
    assert parse_size(text) == (800, 600)


@each("text", ["", "800", "x600", "800x", "800x600x2", "-800x600", "8e2x600", "大"])
def test_an_invalid_size_is_refused_with_an_example(text):
    with pytest.raises(ChartError, match="「800x600」のように"):
        parse_size(text)


@each("text", ["199x150", "200x149", "1921x1080", "1920x1081", "99999x99999", "0x0"])
def test_a_size_out_of_bounds_is_refused_with_the_bounds(text):
    with pytest.raises(ChartError, match="200x150 から 1920x1080 まで"):
        parse_size(text)


def test_the_largest_size_can_be_set_lower():
    assert parse_size("640x480", (640, 480)) == (640, 480)
    with pytest.raises(ChartError, match="640x480 まで"):
        parse_size("641x480", (640, 480))


def test_small_slices_are_merged_and_listed():
    items = (("大", 1000), ("中", 500), ("小", 3), ("微", 2))
    entries = colored(merge_small([Entry(*item, item[0]) for item in items], 8, min_value=20))
    assert [(entry.name, entry.value) for entry in entries] == [
        ("大", 1000), ("中", 500), ("その他（2項目）", 5),
    ]  # fmt: skip
    assert entries[-1].color == OTHERS_COLOR
    assert members_note(entries) == "その他: 小、微"


def test_a_single_small_slice_keeps_its_name():
    entries = merge_small([Entry("大", 1000), Entry("小", 3)], 8, min_value=20)
    assert [entry.name for entry in entries] == ["大", "小"]
    assert members_note(entries) == ""


def test_others_stay_under_15_percent_while_there_is_room():
    equal = [Entry(f"費目{number}", 100) for number in range(30)]
    assert [len(merge_small(equal, 8, room=room)) for room in (0, 12, 28)] == [9, 13, 27]
    assert merge_small(equal, 8, room=28)[-1].value == 400
    steep = [Entry("家", 900), *(Entry(f"小{number}", 10) for number in range(10))]
    assert [entry.value for entry in merge_small(steep, 8, 20, 28)] == [900, 100]


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.text(max_size=3), st.integers(-(10**9), 10**9)), max_size=30),
       st.integers(1, 12), st.integers(0, 10**6), st.integers(0, 15))  # fmt: skip
def test_merging_loses_no_yen(items, most, smallest, room):
    entries = merge_small([Entry(*item) for item in items], most, smallest, room)
    assert sum(entry.value for entry in entries) == sum(value for _, value in items)
    assert len(entries) <= max(most, room) + 1


def test_texts_are_cut_to_their_width_with_an_ellipsis():
    letters = typeface(None)
    assert letters.fit("食費", 10, 20) == "食費"
    assert letters.fit("水道・光熱費", 10, 40) == "水道・…"
    assert letters.fit_all(["水道・光熱費", "水道"], 10, 40) == ["水道・…", "水道"]
    assert letters.fit_all(["東京都の1号店", "東京都の12号店"], 10, 50) == [
        "東京…号店",
        "東京…号店",
    ]
    assert letters.wrap("水道・光熱費", 10, 30, 2) == ["水道・", "光熱費"]
    assert letters.wrap("水道・光熱費の支払い", 10, 30, 2) == ["水道・", "光熱…"]
    assert letters.wrap("", 10, 30, 2) == []


def test_amounts_are_shortened_with_one_decimal():
    assert [units.short(v) for v in (9999, 12_345, -12_500, 10**8, 15 * 10**12)] == [
        "9,999円", "1.2万円", "-1.3万円", "1.0億円", "15.0兆円",
    ]  # fmt: skip


def test_yen_are_written_in_full_and_on_axes_in_large_units():
    assert units.amount(-1234567) == "-1,234,567円"
    assert [units.tick(v, 50_000) for v in (0, 50_000, 150_000, -50_000)] == [
        "0円", "5万円", "15万円", "-5万円",
    ]  # fmt: skip
    large = ((2000, 500), (3 * 10**8, 10**8), (2 * 10**12, 10**12))
    assert [units.tick(*one) for one in large] == ["2,000円", "3億円", "2兆円"]


def test_shares_are_rounded_half_up_without_floats():
    pairs = ((1, 3), (1, 8), (1, 2000), (5, 5), (1, 10**30), (-1, 2000), (-5, 4))
    assert [units.share(*pair) for pair in pairs] == [
        "33.3%", "12.5%", "0.1%", "100.0%", "0.0%", "-0.1%", "-125.0%",
    ]  # fmt: skip


@given(st.integers(-(10**15), 0), st.integers(1, 10**15), st.integers(1, 8))
def test_an_axis_has_round_steps_around_its_values(low, high, most):
    ticks = [*units.value_labels(low, high, most, "yen")]
    step = ticks[1] - ticks[0]
    assert ticks[0] - step / 1e9 <= low <= high <= ticks[-1] + step / 1e9
    assert len(ticks) <= most + 3
    assert f"{step:.0f}".rstrip("0") in {"1", "2", "5"}
    assert 0 in ticks


@each(
    ("low", "high", "shown"),
    [
        (1735689600, 1735689690, ("00:00:00", "2025/1/1")),
        (1735689600, 1735689600 + 900 * 60, ("00:00", "2025/1/1")),
        (1735689600, 1735689600 + 9 * 86_400, ("1/1", "2025年")),
        (1735689600, 1735689600 + 200 * 86_400, ("1月", "2025年")),
        (1735689600, 1735689600 + 3_000 * 86_400, ("2026年", "")),
        (1735725600, 1735725600, ("10:00:00", "2025/1/1")),
        (1735689600, 1735689600, ("2025/1/1", "")),
        (-62_135_596_800, 253_402_300_799, ("0年", "")),
        (0, 1e13, ("0年", "")),
    ],
)
def test_times_are_labelled_by_their_span(low, high, shown):
    labels = units.time_labels(low, high, 8)
    assert labels[0][1:] == shown
    assert len(labels) <= 10
    assert all(low <= at <= max(high, low + 1) for at, _, _ in labels) or "年" in shown[0]


def test_numbers_have_the_decimals_that_an_axis_needs():
    assert list(units.value_labels(0, 1, 4, "").values()) == ["0", "0.25", "0.5", "0.75", "1"]
    assert list(units.value_labels(0, 1, 4, "", are_whole=True).values()) == ["0", "1"]
    assert list(units.value_labels(0, 2e6, 2, "").values()) == ["0", "1,000,000", "2,000,000"]
    assert units.value_labels(-250, 693, 3, "percent")[-500] == "-50.0%"
    shown = list(units.value_labels(1.736e12, 1.736e12 + 3e7, 4, "").values())
    assert shown == ["1.736e+12", "1.73601e+12", "1.73602e+12", "1.73603e+12"]
    assert list(units.value_labels(-0.3, 0.3, 6, "").values())[3] == "0"


@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=60))
@example([5e-118, -0.0])
def test_different_values_have_different_texts_and_only_zero_is_written_zero(values):
    texts = units.numbers(values, (max(values) - min(values)) / 200 or 1.0)
    assert len({*texts}) >= len({f"{value + 0.0:.10g}" for value in values})
    assert [text == "0" for text in texts] == [value == 0 for value in values]


def test_values_have_the_digits_that_tell_them_apart():
    written = {
        (0.4, 1_000_000): ["0.4", "1,000,000"],
        (114_381_200_000_000, 114_381_900_000_000, 3): ["1.14381e+14", "1.14382e+14", "3"],
        (0.1 + 0.2, 0.3): ["0.3", "0.3"],
        (-0.0, 0.0, 5): ["0", "0", "5"],
    }
    for values, texts in written.items():
        assert units.numbers(values, max(values) / 200) == texts


def test_a_label_of_a_bar_has_all_digits_of_its_value_or_says_that_it_is_rounded():
    values = [20000, 12.75, -5.5, 1500.5, 123456.789, 1 / 3, 0.1 + 0.2, 0, 1e16]
    assert units.labels(values, 100) == [
        "20,000", "12.75", "-5.5", "1,500.5", "123,456.789", "~0.33", "0.3", "0", "1e+16"
    ]  # fmt: skip
