"""Imports whose model is behind an endpoint: asked first, batched, paid for once."""

import re
import signal
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import replace
from inspect import unwrap
from pathlib import Path
from random import Random
from threading import Timer

import pytest
from collection import Collection
from endpoint_stand_in import EndpointStandIn

from mdvec.database.connection import snapshot
from mdvec.embedding import EndpointFailure, catalog
from mdvec.embedding.endpoint_http import FIXED_WORD
from mdvec.embedding.options import BackendOptions, OpenAIOptions, RetryOptions
from mdvec.importing.endpoint_texts import EndpointStopped, SendingRefused
from mdvec.importing.job import ImportInterrupted
from mdvec.manage import registering
from mdvec.manage.tool_import import import_tool
from mdvec.search.answer import Question, search

FILES = 15
BATCH = 4


def options(endpoint, **of_openai):
    return BackendOptions(
        openai=OpenAIOptions(
            base_url=f"{endpoint.url}/v1", dimensions=16, batch=BATCH, **of_openai
        ),
        retry=RetryOptions(max_retries=5, base_delay=0.001),
        environment={},
    )


def run(notes, endpoint, mode="update", **more):
    """Import with the model behind ``endpoint``."""
    return import_tool(
        notes.request(mode, size=64), lambda _: catalog.load("openai:tiny", options(endpoint)),
        **more,
    )  # fmt: skip


@pytest.fixture
def endpoint():
    with EndpointStandIn().running() as stand_in:
        yield stand_in


@pytest.fixture
def notes(collection):
    for number in range(FILES):
        collection.write(f"{number:02}.md", note(number))
    return collection


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """What an import that nothing disturbs makes of the notes."""
    folder = tmp_path_factory.mktemp("whole")
    collection = Collection(folder / "notes", folder / "vectors.sqlite")
    for number in range(FILES):
        collection.write(f"{number:02}.md", note(number))
    with EndpointStandIn().running() as endpoint:
        run(collection, endpoint, "new")
    return collection.contents()


def note(number: int) -> str:
    """Two sections, each a chunk."""
    return "".join(
        f"# 見出し{number}の{part}\n\n{f'{number}番目のメモの第{part}節。' * 4}\n\n"
        for part in range(2)
    )


def test_batches_go_across_files_and_faults_pay_for_nothing_twice(notes, endpoint):
    endpoint.rate = 0.3
    report = run(notes, endpoint, "new")
    assert (report.added, report.failed, report.chunks_embedded) == (FILES, (), 2 * FILES)
    assert set(endpoint.paid.values()) == {1}
    assert sum(endpoint.paid.values()) == 2 * FILES
    sent = [body["input"] for body, _ in endpoint.requests if body["input"] != [FIXED_WORD]]
    assert {len(texts) for texts in sent} == {BATCH, 2 * FILES % BATCH}
    assert len(endpoint.requests) > 2 * FILES / BATCH + 1
    notes.check()


def test_what_an_endpoint_stops_in_the_middle_goes_on_without_paying_twice(notes, endpoint, whole):
    endpoint.faults.extend([None, None, "quota"])
    with pytest.raises(EndpointStopped, match=f"{2 * BATCH} texts were embedded and are kept"):
        run(notes, endpoint, "new")
    assert notes.rows("SELECT count(*) FROM paid_vectors") == [(2 * BATCH,)]
    report = run(notes, endpoint)  # two batches were the texts of BATCH files
    assert (report.added, report.unchanged) == (FILES - BATCH, BATCH)
    assert report.chunks_embedded == 2 * FILES - 2 * BATCH
    assert set(endpoint.paid.values()) == {1}
    assert notes.contents() == whole
    assert notes.rows("SELECT count(*) FROM paid_vectors") == [(0,)]


def test_a_rebuild_that_stops_leaves_the_tool_as_it_was_and_goes_on_likewise(notes, endpoint):
    run(notes, endpoint, "new")
    before = notes.contents()
    endpoint.paid.clear()
    endpoint.faults.extend([None, "quota"])
    with pytest.raises(EndpointStopped, match="--mode replace"):
        run(notes, endpoint, "replace")
    assert notes.contents() == before
    assert notes.rows("SELECT name FROM sqlite_schema WHERE name LIKE '%@%'") == []
    run(notes, endpoint, "replace")
    assert set(endpoint.paid.values()) == {1}
    assert notes.contents() == before


def test_a_rebuild_whose_key_is_refused_at_once_leaves_nothing(notes, endpoint):
    run(notes, endpoint, "new")
    endpoint.faults.append("key")
    backend = replace(options(endpoint), openai=OpenAIOptions(base_url=f"{endpoint.url}/v1"))
    with pytest.raises(EndpointFailure, match="key"):
        import_tool(notes.request("replace"), lambda _: catalog.load("openai:other", backend))
    assert notes.rows("SELECT name FROM sqlite_schema WHERE name LIKE '%@%'") == []


CHILD = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background ignores it
from pathlib import Path
from collection import Collection
from mdvec.embedding import catalog
from mdvec.embedding.options import BackendOptions, OpenAIOptions
from mdvec.manage.tool_import import import_tool
notes = Collection(Path(sys.argv[1]), Path(sys.argv[2]), is_new=False)
openai = OpenAIOptions(base_url=sys.argv[3], dimensions=16, batch=int(sys.argv[4]))
model = catalog.load("openai:tiny", BackendOptions(openai=openai, environment={}))
import_tool(notes.request("update", size=64), lambda _: model)
"""


def start_import(notes, endpoint, batch=BATCH):
    path = f"{Path(__file__).parents[4] / 'tests'}"
    arguments = [str(notes.folder), str(notes.database), f"{endpoint.url}/v1", str(batch)]
    return subprocess.Popen(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {path!r})\n{CHILD}", *arguments],
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


@pytest.mark.parametrize(
    ("at", "how"), [pytest.param(3, signal.SIGKILL, marks=pytest.mark.soak), (6, signal.SIGINT)]
)
def test_a_killed_import_has_kept_every_batch_it_paid_for(notes, endpoint, whole, at, how):
    child = start_import(notes, endpoint)

    def end(number):
        if number == at:
            if how is signal.SIGKILL:
                endpoint.faults.append("hang")
            child.send_signal(how)
            endpoint.seconds = 0.5  # so that it is stopped while it waits

    endpoint.on_request = end
    said = child.communicate(timeout=60)[1]
    assert child.returncode != 0
    if how is signal.SIGINT:
        assert re.search(rf"stopped after \d+ of {FILES} files, which are kept", said)
    asked = at if how is signal.SIGINT else at - 1  # Ctrl-C waits for what is under way
    assert sum(endpoint.paid.values()) == asked * BATCH
    endpoint.seconds = 0.0
    endpoint.on_request = lambda _: None
    run(notes, endpoint)
    assert set(endpoint.paid.values()) == {1}
    assert notes.contents() == whole
    notes.check()


@pytest.mark.parametrize("nth", [6, pytest.param(12, marks=pytest.mark.soak)])
def test_ctrl_c_as_a_snapshot_begins_loses_nothing_that_is_paid(notes, endpoint, nth):
    """Before Python has entered the block whose end would have ended the transaction."""
    code, begun = unwrap(snapshot).__code__, []

    def trace(frame, event, _):
        if frame.f_code is not code:
            return None
        if event == "line" and frame not in begun and frame.f_locals["connection"].in_transaction:
            begun.append(frame)
            if len(begun) == nth:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        with pytest.raises(ImportInterrupted):
            run(notes, endpoint, "new")
    finally:
        sys.settrace(before)
    assert 0 < sum(endpoint.paid.values()) < 2 * FILES
    run(notes, endpoint)
    assert set(endpoint.paid.values()) == {1}
    assert sum(endpoint.paid.values()) == 2 * FILES
    notes.check()


@pytest.mark.parametrize("kills", [1, pytest.param(30, marks=pytest.mark.soak)])
def test_kills_at_any_moment_cost_the_batch_under_way_at_most(notes, endpoint, kills):
    batch, random = 2, Random(20261122)
    for number in range(FILES, 7 * kills):  # more than are embedded before the last kill
        notes.write(f"{number:02}.md", note(number))
    whole = Collection(notes.folder, notes.database.with_name("whole.sqlite"))
    run(whole, endpoint, "new")
    endpoint.paid.clear()
    endpoint.seconds = 0.02
    for _ in range(kills):
        with start_import(notes, endpoint, batch) as child:
            moment = len(endpoint.requests) + random.randint(1, 3)
            after = random.uniform(0, 0.08)  # before, during or after the vectors are stored

            def end(number, child=child, moment=moment, after=after):
                if number == moment:
                    Timer(after, child.kill).start()
                elif number > moment + 3:  # a busy machine delays the timer
                    child.kill()

            endpoint.on_request = end
            child.communicate(timeout=60)
            assert child.returncode == -signal.SIGKILL
    endpoint.on_request = lambda _: None
    run(notes, endpoint)
    assert sum(endpoint.paid.values()) - len(endpoint.paid) <= batch * kills
    assert notes.contents() == whole.contents()
    notes.check()


@pytest.mark.parametrize("refusal", ["refused", "too large"])
@pytest.mark.parametrize("bad", [pytest.param("00.md", marks=pytest.mark.soak), "11.md"])
def test_a_text_that_the_endpoint_refuses_stops_only_its_file(notes, endpoint, bad, refusal):
    notes.write(bad, "# 長い\n\n毒の話。\n")
    endpoint.refuses, endpoint.refusal = "毒", refusal
    report = run(notes, endpoint, "new")
    assert [(one.file_path, "too long" in one.reason) for one in report.failed] == [(bad, True)]
    assert (report.added, set(endpoint.paid.values())) == (FILES - 1, {1})
    endpoint.refuses = None
    assert run(notes, endpoint).added == 1


def test_an_endpoint_that_refuses_everything_is_left_in_peace(notes, endpoint):
    endpoint.refuses = "節"
    with pytest.raises(EndpointStopped, match="too long"):
        run(notes, endpoint, "new")
    assert len(endpoint.requests) < 10


def test_a_fault_of_the_endpoint_itself_is_no_refusal_of_a_text(notes, endpoint):
    endpoint.faults += ["500"] * 1_000
    with pytest.raises(EndpointStopped, match="did not embed in 6 attempts"):
        run(notes, endpoint, "new")
    assert not endpoint.paid
    endpoint.faults.clear()
    assert run(notes, endpoint).added == FILES


def test_only_what_changed_is_sent_and_nothing_if_nothing_did(notes, endpoint):
    run(notes, endpoint, "new")
    sent = len(endpoint.requests)
    run(notes, endpoint)
    assert len(endpoint.requests) == sent
    notes.write("03.md", note(3).replace("第1節", "第一節"))
    report = run(notes, endpoint)
    assert (report.updated, report.chunks_embedded) == (1, 1)
    assert len(endpoint.requests[-1][0]["input"]) == 1


def test_nothing_leaves_for_another_machine_before_the_user_allows_it(notes, endpoint):
    elsewhere = _at(options(endpoint), _elsewhere(endpoint))
    asked = []

    def import_(answer):
        def may_send(sending):
            asked.append((sending.endpoint.host, len(endpoint.requests)))
            return answer

        return import_tool(
            notes.request("update", size=64), lambda _: catalog.load("openai:tiny", elsewhere),
            may_send=may_send,
        )  # fmt: skip

    with pytest.raises(SendingRefused, match=r"nothing was sent\. notes: its texts, .* go to 0"):
        import_(False)
    assert endpoint.requests == []
    assert import_(True).added == FILES
    host = f"0.0.0.0:{endpoint.url.rpartition(':')[2]}"
    assert asked == [(host, 0)] * 2
    notes.write("00.md", "# 新しい\n\n後から書いたメモ。\n")  # the answer holds for later texts
    assert [import_(False).updated, len(asked)] == [1, 2]
    registering.update_tool(notes.database, "notes", None, notes.folder)
    notes.write("00.md", "# さらに\n\n同じフォルダーの別のメモ。\n")
    assert [import_(False).updated, len(asked)] == [1, 2]
    other = notes.folder.parent / "diary"
    other.mkdir()
    (other / "diary.md").write_text("# 日記\n\n別のフォルダーのメモ。\n", encoding="utf-8")
    registering.update_tool(notes.database, "notes", None, other)
    with pytest.raises(SendingRefused):
        import_(False)
    assert [import_(True).added, len(asked)] == [1, 4]
    elsewhere = _at(elsewhere, "http://0.0.0.0:9/v1")
    (other / "diary.md").write_text("# 日記\n\n宛先の変わったメモ。\n", encoding="utf-8")
    with pytest.raises(SendingRefused):
        import_(False)


def test_questions_go_only_where_the_user_allowed_it(notes, endpoint):
    """Neither after a no, nor when the settings name another address later."""
    here, there = options(endpoint), _at(options(endpoint), _elsewhere(endpoint))

    def import_(chosen, *, answer):
        def may_send(sending):
            asked.append(sending.endpoint.host.partition(":")[0])
            return answer

        asked: list[str] = []
        import_tool(
            notes.request("update", size=64), lambda _: catalog.load("openai:tiny", chosen),
            may_send=may_send, on_notice=told.append,
        )  # fmt: skip
        return asked

    def ask(chosen):
        model = catalog.load("openai:tiny", chosen)
        before = len(endpoint.requests)
        answer = search(notes.database, Question("7番目のメモ"), lambda _: nullcontext(model))
        is_told = any("words alone: you have not allowed" in note for note in answer.notes)
        assert is_told is (len(endpoint.requests) == before)
        return not is_told

    told: list[str] = []
    with pytest.raises(SendingRefused):
        import_(there, answer=False)
    assert not ask(there)
    import_(here, answer=False)
    assert ask(here)
    assert not ask(there)
    sent = len(endpoint.requests)
    assert import_(there, answer=False) == ["0.0.0.0"]
    assert told[-1].startswith("questions about notes do not go to 0.0.0.0:")
    assert not ask(there)
    assert import_(there, answer=True) == ["0.0.0.0"]
    assert len(endpoint.requests) == sent
    assert ask(there)
    assert import_(there, answer=False) == []


def _at(chosen, url):
    return replace(chosen, openai=chosen.openai.model_copy(update={"base_url": url}))


def _elsewhere(endpoint):
    """The same server by an address that is not this machine's own."""
    return f"{endpoint.url.replace('127.0.0.1', '0.0.0.0')}/v1"


def test_a_household_sends_each_subject_once(tmp_path, endpoint):
    folder, database = tmp_path / "csv", tmp_path / "db.sqlite"
    folder.mkdir()
    head = "計算対象,日付,内容,金額（円）,保有金融機関,大項目,中項目,メモ,振替,ID"
    for month in ("06", "07"):
        rows = [f"1,2025/{month}/{day:02},店{day % 9},-100,財布,食費,食料品,,0,{month}{day}"
                for day in range(1, 28)]  # fmt: skip
        name = f"収入・支出詳細_2025-{month}-01_2025-{month}-28.csv"
        (folder / name).write_text("\n".join([head, *rows]), encoding="utf-8")
    registering.add_tool(database, "kakeibo", "d", folder, "household")
    home = Collection(folder, database, "kakeibo", is_new=False)
    request = replace(home.request("new"), rules=home.rules)
    import_tool(request, lambda _: catalog.load("openai:tiny", options(endpoint)))
    assert set(endpoint.paid.values()) == {1}
    assert len(endpoint.requests) == -(-len(endpoint.paid) // BATCH)

    def stop(_) -> None:
        raise KeyboardInterrupt

    with pytest.raises(ImportInterrupted):
        import_tool(
            replace(request, mode="replace"),
            lambda _: catalog.load("openai:tiny", options(endpoint)), on_progress=stop,
        )  # fmt: skip
    again = replace(request, mode="update")
    import_tool(again, lambda _: catalog.load("openai:tiny", options(endpoint)))
    assert home.rows("SELECT name FROM sqlite_schema WHERE name LIKE '%@%'") == []


def test_a_question_that_cannot_be_embedded_now_is_answered_by_words(notes, endpoint):
    run(notes, endpoint, "new")
    endpoint.faults.extend(["500"] * 9)

    def ask(mode="hybrid"):
        model = catalog.load("openai:tiny", options(endpoint))
        question = Question("7番目のメモ", ("notes",), mode=mode)
        return search(notes.database, question, lambda _: nullcontext(model))

    answer = ask()
    assert answer.results[0].file_path == "07.md"
    (note_,) = [one for one in answer.notes if "words alone" in one]
    assert note_.startswith("notes was searched by words alone: 127.0.0.1:")
    endpoint.faults.clear()
    assert [one for one in ask().notes if "words alone" in one] == []
