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
    "m015_choices": "99fe15877ddcef16",
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
