"""Every table and column can be found; a description has samples, keys, periods and joins."""

from dataclasses import replace

import pytest
from query_subject import Subject, parquet

from mdvec.analysis.exports import ExportFolder
from mdvec.sql.core.guard import AnswerGuard, size
from mdvec.sql.core.refusals import UnknownTable
from mdvec.sql.process.messages import QueryLimits
from mdvec.sql.table_description import TableDescriptions

MOST = 4_000
WIDE = [f"測定_{n:03}_{'x' * 30}" for n in range(90)]
TABLES = {
    "air__flights": "SELECT i AS id, ['AA', 'UA', 'ZZ', NULL][1 + i % 4] AS carrier, "
    "DATE '2025-01-01' + CAST(i % 90 AS INTEGER) AS day, i % 7 AS delay, "
    "repeat('長', 60) || i AS note FROM range(20000) t(i)",
    "air__airlines": "SELECT unnest(['AA', 'UA', 'DL']) AS Carrier, 'x' AS name",
    "air__days": "SELECT DATE '2025-01-01' + CAST(range AS INTEGER) AS day FROM range(31)",
    "air__delays": "SELECT 1 AS flight_id, 'never' AS delay, 99 AS other",
    "ledger__sales": "SELECT range + 1 AS receipt FROM range(100000)",
    "ledger__receipts": "SELECT range + 1 AS receipt FROM range(30000)",
    "wide": "SELECT " + ", ".join(f'{n} AS "{name}"' for n, name in enumerate(WIDE)),
}
MANY = [f"monthly__sales_of_shop_number_{n:03}" for n in range(150)]


@pytest.fixture(scope="module")
def subject(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    tables = []
    for name, query in TABLES.items():
        table = parquet(folder / f"{name}.parquet", query, name)
        names = [name, *(MANY if name == "air__days" else [])]
        tables += [replace(table, name=called) for called in names]
    queries = Subject(folder, *tables, limits=QueryLimits(5.0, 1024, 10**6)).process
    guard = AnswerGuard(MOST, 20)
    yield TableDescriptions(queries, ExportFolder(folder / "exports", 60, 10**9), guard)
    queries.close()


def pages(ask, key):
    """All entries of an answer, page by page; every page is small."""
    found, start = [], 1
    while start is not None:
        answer = ask(start)
        assert size(answer) <= MOST
        found += list(answer[key])
        start = answer.get("next")
    return found, answer.get("total", len(found))


def test_every_table_is_listed_page_by_page(subject):
    names, total = pages(lambda start: subject.handles(start=start), "tables")
    assert names == sorted([*TABLES, *MANY])
    assert total == len(names)


def test_tables_and_columns_are_found_by_part_of_a_name_in_any_spelling(subject):
    assert subject.handles("ＣＡＲＲ")["tables"] == {
        "air__airlines": ["Carrier"],
        "air__flights": ["carrier"],
    }
    assert subject.handles("air days")["tables"] == {"air__days": ["day"]}
    assert subject.handles("測定089")["tables"] == {"wide": [WIDE[89]]}
    assert subject.handles("nothing of the kind")["tables"] == {}
    names, total = pages(lambda start: subject.handles("shop", start), "tables")
    assert (len(names), total) == (150, 150)


def test_a_table_is_described_with_samples_keys_periods_and_joins(subject):
    told = subject.describe("AIR__FLIGHTS")
    assert (told["table"], told["rows"]) == ("air__flights", 20_000)
    id_, carrier, day, delay, note = told["columns"]
    assert id_["is_key"]
    assert set(carrier["samples"]) == {"AA", "UA", "ZZ"}
    assert day["period"] == ["2025-01-01", "2025-03-31"]
    assert delay["type"] == "BIGINT"
    assert note["samples"][0].startswith("長" * 40 + "…")
    assert not {"is_key"} & (carrier.keys() | day.keys() | delay.keys())
    airlines = {"column": "carrier", "to": "air__airlines.Carrier", "overlap": 0.67, "to_key": True}
    assert airlines in told["joins"]
    assert "air__delays.flight_id" not in [join["to"] for join in told["joins"]]
    assert told["joins"][-1]["overlap"] == 0.34
    assert "but not compared: " in told["warnings"][0]
    back = subject.describe("air__delays")["joins"]
    assert back == [
        {"column": "flight_id", "to": "air__flights.id", "overlap": 1.0, "to_key": True}
    ]


def test_serial_numbers_are_compared_all_along_and_not_only_the_first(subject):
    (told,) = subject.describe("ledger__sales")["joins"]
    assert (told["to"], told["to_key"]) == ("ledger__receipts.receipt", True)
    assert told["overlap"] == pytest.approx(0.3, abs=0.02)
    assert 15_000 < told["compared_values"] < 60_000
    assert subject.describe("ledger__receipts")["joins"] == [
        {"column": "receipt", "to": "ledger__sales.receipt", "overlap": 1.0, "to_key": True}
    ]


def test_every_column_is_described_page_by_page(subject):
    found, total = pages(lambda start: subject.describe("wide", start=start), "columns")
    assert [column["name"] for column in found] == WIDE
    assert total == len(WIDE)
    some = subject.describe("wide", "測定_08")
    assert [column["name"] for column in some["columns"]] == WIDE[80:]
    assert subject.describe("wide", start=1000)["columns"] == []


def test_an_empty_listing_says_why(subject):
    assert subject.handles("zzz")["warnings"][-1].endswith(' or of a column holds "zzz"')
    assert subject.handles(start=999)["warnings"][-1].endswith(
        " tables here; begin with a lower start"
    )


def test_an_unknown_table_and_a_query_are_refused(subject):
    for name in ("nothing", "SELECT 1"):
        with pytest.raises(UnknownTable, match="there is no table"):
            subject.describe(name)
