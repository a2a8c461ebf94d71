"""Comparisons, budgets, habits and rules as a client sees them, over the sample household."""

from pathlib import Path

import pytest
from household_client import answers, import_household

SAMPLES = Path(__file__).parents[4] / "docs" / "examples" / "household"


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    path = tmp_path_factory.mktemp("household") / "vectors.sqlite"
    import_household(path, SAMPLES)
    return path


def test_two_periods_stand_side_by_side(database):
    year, month = answers(
        database,
        ("compare_periods", {"period": "2025年", "base": "2024年1月〜9月"}),
        ("get_monthly_household", {"period": "2025年"}),
    )
    assert year.words.startswith("2024年01月〜2024年09月と 2025年01月〜2025年09月の比較です。")
    assert year.data["spending"][1] == month.data["spending"]
    assert year.data["income"][1] == month.data["income"]
    assert year.data["after"] == ["2025-01", "2025-09"]
