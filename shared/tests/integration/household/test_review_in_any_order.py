"""Any sequence of searches, decisions, restorations and deletions leaves marks that agree."""

import apsw
from hypothesis import assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from review_ledger import EXACT, add, decide, make_household, marks, pairs

from mdvec.database import migrations
from mdvec.household import deciding, review
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
        self.ledgers = [make_household(self.db, name) for name in ("one", "other")]
        for ledger in self.ledgers:
            add(ledger, date="2023-01-01")  # a row that stays
        for day in rows:
            for ledger in self.ledgers:
                add(ledger, date=day)
        review.detect(self.ledgers[0], EXACT)

    def drawn(self, data, table):
        """The ids of some row and its household's ledger."""
        known = self.db.execute(f"SELECT id, tool_id FROM {table}").fetchall()
        assume(known)
        row_id, tool_id = data.draw(st.sampled_from(known))
        return row_id, next(each for each in self.ledgers if each.tool_id == tool_id)

    @rule(days=st.integers(0, 1), which=st.sampled_from([0, 1]))
    def detect(self, days, which):
        review.detect(self.ledgers[which], DetectionOptions(days))

    @rule(data=st.data(), decision=st.sampled_from(["duplicate", *deciding.DECISIONS]))
    def confirm(self, data, decision):
        check, ledger = self.drawn(data, "duplicate_checks")
        assert decide(ledger, check, decision).success
        assert duplicate_checks.get_check(ledger, check).decision == decision

    @rule(data=st.data())
    def restore(self, data):
        transaction, ledger = self.drawn(data, "transactions")
        assert deciding.restore(ledger, transaction).success
        assert transaction not in marks(ledger)

    @rule(data=st.data())
    def delete(self, data):
        transaction, ledger = self.drawn(data, "transactions")
        assume(transaction > len(self.ledgers))
        with self.db:
            self.db.execute("DELETE FROM transactions WHERE id = ?", (transaction,))
            update_marks(ledger)

    @invariant()
    def a_row_is_marked_if_and_only_if_a_decision_marks_it(self):
        decided = self.db.execute(
            "SELECT transaction_id_2 FROM duplicate_checks WHERE user_decision = 'duplicate'"
        )
        assert set(marks(self.ledgers[0])) == {row for (row,) in decided}

    @invariant()
    def a_marked_row_points_at_a_row_that_counts_of_the_same_household(self):
        owners = dict(self.db.execute("SELECT id, tool_id FROM transactions"))
        marked = marks(self.ledgers[0])
        for row, original in marked.items():
            assert original < row
            assert original not in marked
            assert owners[row] == owners[original]

    @invariant()
    def the_numbers_agree(self):
        for ledger in self.ledgers:
            numbers = review.stats(ledger)
            marked = ledger.column("SELECT is_duplicate FROM transactions WHERE tool_id = ?")
            shown = numbers.total_transactions, numbers.marked_duplicates
            assert shown == (len(marked), sum(marked))
            assert numbers.pending_checks == review.list_candidates(ledger).total_count
            decisions = [
                duplicate_checks.get_check(ledger, check).decision
                for check in pairs(ledger, decided=True).values()
            ]
            assert numbers.confirmed_not_duplicate == decisions.count("not_duplicate")


TestReview = Review.TestCase
TestReview.settings = settings(max_examples=15, stateful_step_count=20, deadline=None)
