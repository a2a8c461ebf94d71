"""Migrations: a released step never changes."""

import hashlib

import apsw

from mdvec.database import migrations

RELEASED = {
    "m001_tools": "5ef6c1d77df24005",
    "m002_derived_indexes": "5ef6c1d77df24005",
    "m003_ledger": "2877952a3d33cf20",
    "m004_datasets": "4bc160e2d0577c68",
    "m005_statements": "304d5dfd1243af1f",
    "m006_scan_rules": "df31c7e2d8670771",
    "m007_cut": "df31c7e2d8670771",
    "m008_titles": "4a66b34ce4d0370a",
    "m009_failures": "31486e9da0f4f4a5",
    "m010_review": "01717138c2342019",
    "m011_subjects": "9ca15b94afee2477",
    "m012_plans": "f0953f092a94c9c1",
    "m013_transfers": "6106586b57fc6f1e",
    "m014_combined": "803331f4c5abb1be",
    "m015_decisions": "30313bb1b4b44fac",
    "m016_saved_queries": "9b7d7044da1e0d5e",
    "m017_choices": "a9d0a97962b7ac34",
    "m018_collections": "18d7e0af3502cc45",
}


def test_every_step_creates_the_schema_of_its_release():
    connection = apsw.Connection(":memory:")
    made = {}
    for step in migrations.STEPS:
        step(connection)
        schema = connection.execute(
            "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name"
        ).fetchall()
        made[step.__name__] = hashlib.sha256(repr(schema).encode()).hexdigest()[:16]
    assert made == RELEASED


def test_steps_are_numbered_in_their_order():
    numbers = [int(step.__name__[1:4]) for step in migrations.STEPS]
    assert numbers == list(range(1, migrations.LATEST + 1))


def test_decisions_of_one_second_become_one_batch():
    connection = apsw.Connection(":memory:")
    before = migrations.STEPS.index(migrations.m015_decisions)
    for step in migrations.STEPS[:before]:
        step(connection)
    connection.execute(
        "INSERT INTO tools (name, description, source_directory) VALUES ('a', '', '')"
    )
    decisions = ["duplicate 1", "duplicate 1", "duplicate 2", "not_duplicate 1", None]
    for number, decision in enumerate(decisions, 1):
        what, at = decision.split() if decision else (None, None)
        for row in (2 * number - 1, 2 * number):
            connection.execute(
                "INSERT INTO transactions (id, tool_id, identity, mf_id, source_file, row_number, "
                "date, amount, description, category_major, category_minor, account, memo, "
                "is_target, is_transfer) VALUES "
                "(?1, 1, ?1, '', 'a.csv', ?1, '2025-01-01', 1, '', '', '', '', '', 1, 0)",
                (row,),
            )
        connection.execute(
            "INSERT INTO duplicate_checks (transaction_id_1, transaction_id_2, tool_id, "
            "similarity_score, detection_date_tolerance, detection_amount_tolerance_abs, "
            "detection_amount_tolerance_pct, user_decision, decided_at) "
            "VALUES (?1 * 2 - 1, ?1 * 2, 1, 1, 0, '0', '0', ?2, ?3)",
            (number, what, at),
        )
    migrations.STEPS[before](connection)
    batches = [
        batch for (batch,) in connection.execute("SELECT batch FROM duplicate_checks ORDER BY id")
    ]
    assert batches == [1, 1, 2, 3, None]
