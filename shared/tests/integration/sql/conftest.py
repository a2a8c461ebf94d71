"""Query processes, shared by a module or a test's own, and handlers of requests without one."""

import pytest
from query_subject import LIMITS, Subject, parquet

from mdvec.sql.child import loading
from mdvec.sql.child.handler import RequestHandler
from mdvec.sql.process.turns import in_session


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    """A process over one table."""
    folder = tmp_path_factory.mktemp("shared")
    query = "SELECT i, 'r' || i AS name, i * 0.5 AS pace FROM range(5000) AS t(i)"
    subject = Subject(folder, parquet(folder / "runs.parquet", query))
    yield subject
    subject.process.close()


@pytest.fixture
def shared(started, request):
    """A process whose data no test changes, in a session of the test's own."""
    started.process.take_warnings()
    with in_session(request.node.name):
        yield started


@pytest.fixture(scope="module")
def handler(request, tmp_path_factory):
    """Handles requests over the tables that the statements ``TABLES`` of the module make."""
    spool, made = tmp_path_factory.mktemp("spool"), request.module.TABLES
    connection = loading.connect(1024)
    for statement in made.values():
        connection.execute(statement)
    tables = {name: loading.columns_of(connection, f'FROM "{name}"') for name in made}
    loading.lock(connection, [], (spool,), 5.0)
    yield RequestHandler(connection, tables, spool, spool)
    connection.close()


@pytest.fixture
def start_process(tmp_path):
    """Starts processes of a test's own, and ends them."""
    made = []

    def make(*tables, limits=LIMITS):
        made.append(Subject(tmp_path, *tables, limits=limits))
        return made[-1]

    yield make
    for subject in made:
        subject.process.close()
