"""`mdvec household expenses`: the lists of a year, as text and as JSON."""

import json

from ledger_folder import HEADER


def test_a_years_list_is_printed_with_its_sum_and_what_looks_near(mdvec):
    rows = [
        "1,2025/07/01,山田病院,-3200,財布,健康・医療,医療費,,0,a",
        "1,2025/07/02,山田歯科,-40,財布,未分類,,,0,b",
        "1,2024/07/02,山田病院,-5,財布,健康・医療,医療費,,0,c",
    ]
    (mdvec.docs / "妻").mkdir()
    mdvec.write("妻/明細.csv", "\n".join([HEADER, *rows]))
    folder = ("-d", "家計簿", "-s", str(mdvec.docs))
    assert mdvec("tool", "add", "-n", "kakeibo", *folder, "--kind", "household").code == 0
    assert mdvec("import", "-n", "kakeibo").code == 0
    listed = ("household", "expenses", "medical", "-n", "kakeibo", "--format", "table")
    done = mdvec(*listed)
    assert (done.code, done.err) == (0, "")
    assert "妻: 1 row, ¥3,200" in done.out.splitlines()
    in_japanese = mdvec(*listed, MDVEC_DISPLAY_LANGUAGE="ja").out
    assert "妻: 1件 3,200円" in in_japanese.splitlines()
    assert "- 山田歯科（未分類）1件 40円 [2]" in in_japanese
    none = (*listed, "--year", "1999")
    assert mdvec(*none).err == (
        "error: there is no data in 1999-01 to 1999-12; there is data in 2024-07 to 2025-07.\n"
    )
    assert "データが不足しています" in mdvec(*none, MDVEC_DISPLAY_LANGUAGE="ja").err
    earlier = mdvec(
        "household", "expenses", "medical", "-n", "kakeibo", "--year", "2024", "--format", "json"
    )
    assert earlier.err == ""
    assert json.loads(earlier.out)["by_person"] == {"妻": 5}
