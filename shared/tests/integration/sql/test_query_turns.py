"""Several queries of a process at once: their turns, the second child, and cancelled ones."""

import threading
import time

import pytest
from query_subject import (
    FOREVER,
    LIMITS,
    Endless,
    busy,
    in_thread,
    is_gone,
    parquet,
    read,
    two_endless_queries,
)

from mdvec.cancelling import Cancelled
from mdvec.sql.process.messages import Data
from mdvec.sql.process.turns import NoTurn, Turns, in_session
from mdvec.text.one_line import literal


def test_sessions_take_turns_and_none_has_two_while_others_wait(shared):
    with two_endless_queries(shared, sessions=("busy", "busy")) as (first, _):
        order, threads = [], []

        def ask(session):
            with in_session(session):
                shared.value("SELECT 1")
                order.append(session)

        for session in ("busy", "busy", "a", "b"):
            threads.append(threading.Thread(target=ask, args=(session,)))
            threads[-1].start()
            while len(shared.process._turns._queue) < len(threads):
                time.sleep(0.005)
        first.set()
        for thread in threads[2:]:
            thread.join(60)
        assert order[:2] == ["a", "b"]
    for thread in threads:
        thread.join(60)
    assert order == ["a", "b", "busy", "busy"]


def test_requests_of_a_program_share_its_turns_and_a_place_waits_for_the_other_program():
    turns = Turns()
    with in_session("request 1", "agent"), turns.turn([0, 1], 0):
        with in_session("request 2", "desk"), turns.turn([0, 1], 0):
            pass
        with in_session("request 3", "agent"), pytest.raises(NoTurn), turns.turn([0, 1], 0):
            pass
        with in_session("request 4", "desk"), turns.turn([0, 1], 0) as place:
            assert place == 1


def test_a_program_that_shares_its_name_waits_for_one_slow_query_not_for_ten():
    turns, order = Turns(), []

    def ask(name, begun, end):
        with in_session(f"request {name}", "agent"), turns.turn([0, 1], 60):
            order.append(name)
            begun.set()
            end.wait(60)

    asked: dict[str, tuple[threading.Event, threading.Event, threading.Thread]] = {}
    for name in ("slow", *(f"slow {number}" for number in range(8)), "a count"):
        begun, end = threading.Event(), threading.Event()
        thread = threading.Thread(target=ask, args=(name, begun, end))
        thread.start()
        while len(turns._queue) + len(order) < len(asked) + 1:
            time.sleep(0.005)
        asked[name] = begun, end, thread
    for _, end, _ in list(asked.values())[:2]:
        end.set()
    assert asked["a count"][0].wait(60)
    assert "slow 7" not in order[:4]
    for _, end, thread in asked.values():
        end.set()
        thread.join(60)


def test_one_who_queried_before_waits_for_no_session_that_begins_after_it():
    turns, order = Turns(), list[str]()
    ends: dict[str, threading.Event] = {}

    def ask(session):
        with in_session(session), turns.turn([0, 1], 60):
            order.append(session)
            ends[session].wait(60)

    threads = []
    with in_session("desk"), turns.turn([0, 1], 0):
        pass
    for session in ("script 1", "script 2", "script 3", "desk", "script 4", "script 5"):
        ends[session] = threading.Event()
        threads.append(threading.Thread(target=ask, args=(session,)))
        threads[-1].start()
        while len(turns._queue) + len(order) < len(threads):
            time.sleep(0.005)
    for ended in ("script 1", "script 2"):
        ends[ended].set()
        while len(order) < 3 + (ended == "script 2"):
            time.sleep(0.005)
    assert order == ["script 1", "script 2", "script 3", "desk"]
    for end in ends.values():
        end.set()
    for thread in threads:
        thread.join(60)


def test_a_cancelled_query_leaves_its_turn_and_every_table(shared):
    shared.process.materialize("kept", "SELECT 7 AS n")
    cancellation = threading.Event()
    thread, raised = in_thread(cancellation, lambda: shared.value(FOREVER))
    busy(shared.pid)
    cancellation.set()
    assert shared.value("kept") == 7
    thread.join()
    assert raised == [Cancelled]


def test_a_query_in_the_queue_can_be_cancelled_or_takes_the_place_of_one_that_was(shared):
    with two_endless_queries(shared) as (first, _):
        waits = threading.Event()
        waiting, raised = in_thread(waits, lambda: shared.value("SELECT 2"))
        waits.set()
        waiting.join(60)
        assert raised == [Cancelled]
        answers = []
        waiting = threading.Thread(target=lambda: answers.append(shared.value("SELECT 7")))
        waiting.start()
        first.set()
        waiting.join(60)
        assert answers == [7]


def test_a_second_query_runs_beside_a_slow_one_until_nobody_asks_two(start_process, tmp_path):
    table = parquet(tmp_path / "runs.parquet", "SELECT range AS i FROM range(10)")
    subject = start_process(table)
    subject.process.materialize("kept", "SELECT 7 AS n")
    running = Endless()
    slow, _ = in_thread(running, lambda: subject.value(FOREVER))
    running.sleep(subject.pid)
    assert subject.value("SELECT sum(i) FROM runs") == 45
    exported = subject.process.export("runs", fmt="csv", max_rows=10)
    assert len(read(exported.path)) == 10
    assert slow.is_alive()
    running.set()
    slow.join()
    assert subject.value("SELECT n FROM Kept") == 7
    with two_endless_queries(subject):
        assert list(subject.process.tables()) == ["runs", "kept"]
        assert subject.materialized() == {"kept": 1}
        # Its tables have changed, and no child is free to look at them.
        subject.data = Data((), tmp_path / "none.sqlite", ())
        assert list(subject.process.tables()) == ["runs", "kept"]
        (warning,) = subject.process.take_warnings()
        assert "from before they began" in warning
    second = subject.process._children[1]
    pid = second.pid
    subject.process.rest()
    assert second.pid == pid
    second.last_used -= 3_600
    subject.process.rest()
    assert is_gone(pid)


def test_a_cancelled_query_that_nothing_interrupts_ends_with_its_process(shared):
    shared.process.materialize("kept", "SELECT 7 AS n")
    text = "repeat({}, (1000000 + range)::INTEGER)"
    deaf = f"SELECT levenshtein({text.format(literal('a'))}, {text.format(literal('b'))})"
    pid, cancellation = shared.pid, threading.Event()
    thread, raised = in_thread(cancellation, lambda: shared.value(f"{deaf} FROM range(9)"))
    busy(pid)
    cancellation.set()
    thread.join(LIMITS.seconds / 2)  # not when its time is over
    assert raised == [Cancelled]
    assert is_gone(pid)
    assert shared.value("kept") == 7
