"""Finds which row says a transaction's category, account, memo and marks, if not its newest one."""

from __future__ import annotations

import json

import apsw

from mdvec.household.core.cells import Unsaid

SHIFT = 1 << 40
"""Position × this + row id is a number that sorts by statement position, then by row id."""
AND_ROW = (
    "JOIN statement_rows AS r ON r.id = d.row_id "
    "JOIN ranked_statements AS q ON q.statement_id = r.statement_id"
)
_ABOVE = 1 << 61
"""More than any place, so that marks come first."""
MARKS = Unsaid.IS_TRANSFER | Unsaid.IS_TARGET
_IS_MARK = (
    f"CASE flag WHEN {Unsaid.IS_TRANSFER:d} THEN is_transfer "
    f"WHEN {Unsaid.IS_TARGET:d} THEN NOT is_target ELSE 0 END"
)


def find_sources(connection: apsw.Connection) -> None:
    """Find the newest row that says what a transaction's newest row does not say.

    What a path held before says nothing of the rows that it has now, nor does a possible old copy
    of rows that were held back. Deleted files go on saying what they said as long as their rows
    stay. A mark (振替 1, 計算対象 0) in the newest file of one kind holds whatever another kind of
    file has there: a person made it, or stated it in a mapping, and the other is a default.
    """
    lacks = "FROM derived AS d CROSS JOIN statement_rows AS r ON r.id = d.row_id"
    several = "(SELECT count(DISTINCT kind) FROM ranked_statements) > 1"
    if not connection.execute(f"SELECT {several} OR EXISTS (SELECT 1 {lacks} WHERE r.unsaid)").get:
        return
    connection.execute("DELETE FROM sources")
    newest = f"max(position * {SHIFT} + id)"
    connection.execute(
        "INSERT INTO sources SELECT identity, row_id, sum(flag) FROM (SELECT identity, flag, "
        f"max(is_mark * {_ABOVE} + place) % {SHIFT} AS row_id "
        f"FROM (SELECT identity, flag, {newest} AS place, lacks & flag AS is_open, {_IS_MARK} "
        "AS is_mark FROM (SELECT m.*, r.unsaid AS lacks, q.kind AS own_kind, "
        "max(m.position) OVER (PARTITION BY m.identity, m.path) AS last FROM mentions AS m "
        f"CROSS JOIN derived AS d ON d.identity = m.identity AND d.statements > 1 {AND_ROW} "
        "WHERE (r.unsaid OR m.kind <> q.kind) AND (m.position <= q.position "
        "OR (m.statement_id, r.statement_id) NOT IN (SELECT newer, older FROM replacers))) "
        "JOIN (SELECT value AS flag FROM json_each(?)) ON NOT unsaid & flag AND (lacks & flag "
        f"OR kind <> own_kind AND flag & {MARKS:d}) WHERE position = last AND position AND stays "
        "GROUP BY identity, flag, kind) WHERE is_open OR is_mark GROUP BY 1, 2) GROUP BY 1, 2",
        (json.dumps(list(Unsaid)),),
    )
