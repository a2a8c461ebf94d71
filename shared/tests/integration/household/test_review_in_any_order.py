"""Any sequence of searches, decisions, restorations and deletions leaves marks that agree."""

import apsw
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from review_ledger import EXACT, add, decide, make_household, marks, pairs

from mdvec.database import migrations
from mdvec.household import Ledger, deciding, review
from mdvec.household.core.pair import DetectionOptions
from mdvec.household.interfaces import duplicate_checks
from mdvec.household.interfaces.marks import update_marks


class Review(RuleBasedStateMachine):
    """Any sequence of searches, decisions, restorations and deletions."""

    @initialize(rows=st.lists(st.sampled_from(["2024-01-01", "2024-01-02"]), max_size=7))
    def start(self, rows):
        self.db = apsw.Connection(":memory:")
        self.db.transaction_mode = "IMMEDIATE"
        self.db.execute("PRAGMA foreign_keys = ON").fetchall()
        migrations.migrate(self.db)
        for name in ("one", "other"):
            add(self.db, make_household(self.db, name), date="2023-01-01")  # a row that stays
        for day in rows:
            add(self.db, 1, date=day)
            add(self.db, 2, date=day)
        review.detect(Ledger.undated(self.db, 1), EXACT)

    @rule(days=st.integers(0, 1), tool=st.sampled_from([1, 2]))
    def detect(self, days, tool):
        review.detect(Ledger.undated(self.db, tool), DetectionOptions(days))

    @rule(data=st.data(), decision=st.sampled_from(["duplicate", *deciding.DECISIONS]))
    def confirm(self, data, decision):
        known = self.db.execute("SELECT id, tool_id FROM duplicate_checks").fetchall()
        if known:
            check, tool = data.draw(st.sampled_from(known))
            assert decide(self.db, tool, check, decision).success
            assert (
                duplicate_checks.get_check(Ledger.undated(self.db, tool), check).decision
                == decision
            )

    @rule(data=st.data())
    def restore(self, data):
        known = self.db.execute("SELECT id, tool_id FROM transactions").fetchall()
        if known:
            transaction, tool = data.draw(st.sampled_from(known))
            assert deciding.restore(Ledger.undated(self.db, tool), transaction).success
            assert transaction not in marks(self.db)

    @rule(data=st.data())
    def delete(self, data):
        known = self.db.execute("SELECT id, tool_id FROM transactions WHERE id > 2").fetchall()
        if known:
            transaction, tool = data.draw(st.sampled_from(known))
            with self.db:
                self.db.execute("DELETE FROM transactions WHERE id = ?", (transaction,))
                update_marks(Ledger.undated(self.db, tool))

    @invariant()
    def a_row_is_marked_if_and_only_if_a_decision_marks_it(self):
        decided = self.db.execute(
            "SELECT transaction_id_2 FROM duplicate_checks WHERE user_decision = 'duplicate'"
        )
        assert set(marks(self.db)) == {row for (row,) in decided}

    @invariant()
    def a_marked_row_points_at_a_row_that_counts_of_the_same_household(self):
        owners = dict(self.db.execute("SELECT id, tool_id FROM transactions"))
        marked = marks(self.db)
        for row, original in marked.items():
            assert original < row
            assert original not in marked
            assert owners[row] == owners[original]

    @invariant()
    def the_numbers_agree(self):
        for tool in (1, 2):
            numbers = review.stats(Ledger.undated(self.db, tool))
            rows = dict(
                self.db.execute(
                    "SELECT id, is_duplicate FROM transactions WHERE tool_id = ?", (tool,)
                )
            )
            assert (numbers.total_transactions, numbers.marked_duplicates) == (
                len(rows),
                sum(rows.values()),
            )
            assert (
                numbers.pending_checks
                == review.list_candidates(Ledger.undated(self.db, tool)).total_count
            )
            decisions = [
                duplicate_checks.get_check(Ledger.undated(self.db, tool), check).decision
                for check in pairs(self.db, tool, skip_checked=False).values()
            ]
            assert numbers.confirmed_not_duplicate == decisions.count("not_duplicate")


TestReview = Review.TestCase
TestReview.settings = settings(max_examples=15, stateful_step_count=20, deadline=None)
