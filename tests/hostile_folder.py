"""A database in which everything that a person or a file can name is hostile."""

from __future__ import annotations

import csv
import json
from datetime import date
from decimal import Decimal
from pathlib import Path

from hostile import PAYLOADS
from imported import import_
from ledger_folder import HEADER
from mdvec.database.connection import open_database
from mdvec.embedding import catalog
from mdvec.files.scanning import ScanRules
from mdvec.household import Ledger, review, rules
from mdvec.household.budgeting import set_budget
from mdvec.household.core.pair import DetectionOptions
from mdvec.household.overview import category_hierarchy
from mdvec.manage.registering import add_tool, find_tool
from openpyxl import Workbook

NAMES = tuple(" ".join(payload.split()) for payload in PAYLOADS)
_ENDINGS = {"notes": (".md",), "kakeibo": (".csv",), "days": (".csv", ".json", ".xlsx")}
_KINDS = {"notes": "markdown", "kakeibo": "household", "days": "dataset"}
_NOT_IN_SHEETS = str.maketrans("", "", "[]:*?/\\'")
_SHEETS = 5
_BUDGETS = 8


def hostile_database(folder: Path) -> Path:
    """Notes, a household and data, imported with the embedded model."""
    database = folder / "data" / "v.sqlite"
    for number, name in enumerate(_KINDS):
        (folder / name).mkdir(parents=True)
        said = NAMES[number]
        add_tool(database, name, said, folder / name, _KINDS[name], said[:100])
    _write_notes(folder / "notes")
    _write_statements(folder / "kakeibo")
    _write_data(folder / "days")
    for name, endings in _ENDINGS.items():
        scanned = ScanRules(endings, (), 10 * 2**20)
        import_(database, name, "new", catalog.load, scanned, model="use")
    _decide(database)
    return database


def _write_notes(folder: Path) -> None:
    for number, name in enumerate(NAMES):
        said = json.dumps(name, ensure_ascii=False)
        (folder / f"{number} {name.replace('/', '_')[:60]}.md").write_text(
            f"---\ntitle: {said}\ntags: [{said}]\naliases: [{said}]\n---\n"
            f"# {name}\n\n水の備え {number}: {PAYLOADS[number]}\n\n{PAYLOADS[number]}\n",
            encoding="utf-8",
        )
    (folder / f"{NAMES[1]}.md").write_bytes(b"\0")  # which fails


def _write_statements(folder: Path) -> None:
    """Each shop twice, a day apart, on two accounts: candidates of one purchase."""
    with (folder / "収入・支出詳細_2025-07.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER.split(","))
        for number, name in enumerate(NAMES):
            for place in (0, 1):
                writer.writerow(
                    ["1", f"2025/0{5 + number % 3}/{1 + (number + place) % 28:02}", name,
                     -1000 - number, name + str(place), name, name, name, "0", f"{number}.{place}"]
                )  # fmt: skip
        for number, name in enumerate(NAMES[:9]):
            row = ["1", "2025/07/09", f"{name} 新店", -number - 1, "", "未分類", "未分類", name]
            writer.writerow([*row, "0", f"u{number}"])


def _write_data(folder: Path) -> None:
    with (folder / "evil.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([NAMES, NAMES, NAMES[::-1]])
    rows = [dict.fromkeys(NAMES[:20], name) for name in NAMES]
    (folder / "evil.json").write_text(json.dumps(rows), encoding="utf-8")
    book = Workbook()
    for name in NAMES[:_SHEETS]:
        sheet = book.create_sheet(name.translate(_NOT_IN_SHEETS)[:31])
        for row in (NAMES[:9], range(9), range(9)):
            sheet.append(list(row))
    book.save(folder / "evil.xlsx")


def _decide(database: Path) -> None:
    """Candidates, budgets and rules of hostile names."""
    household = find_tool(database, "kakeibo").id
    with open_database(database, "write") as connection:
        review.detect(
            Ledger.undated(connection, household), DetectionOptions(3, Decimal(0), Decimal(1))
        )
        # A ">" parts a category from its subcategory.
        known = [
            name
            for name in category_hierarchy(Ledger.undated(connection, household))
            if ">" not in name
        ]
        for number, name in enumerate(known[:_BUDGETS]):
            set_budget(
                Ledger(connection, household, date(2025, 7, 31)), category=name, amount=100 + number
            )
            rules.set_rule(Ledger.undated(connection, household), shop=NAMES[number], category=name)
