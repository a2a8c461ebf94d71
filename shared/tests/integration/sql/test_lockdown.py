"""The second barrier: the rights of the child's connection and process for unchecked SQL."""

import json
import subprocess
import sys
import textwrap

import pytest
from query_subject import CANARY, parquet, put_secrets

SCRIPT = textwrap.dedent(
    """
    import json, sys
    from mdvec.sql.child.main import prepare

    config, attempts = json.load(sys.stdin)
    handler = prepare(config)
    outcomes = []
    for way, attempt in attempts:
        try:
            if way == "sql":
                said = handler.connection.execute(attempt).fetchmany(3)
            else:
                said = eval(attempt)
            outcomes.append([True, str(said)])
        except BaseException as error:
            outcomes.append([False, f"{type(error).__name__}: {error}"])
    json.dump(outcomes, sys.stdout)
    """
)


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    folder = tmp_path_factory.mktemp("house")
    spool = folder / "spool" / "work"
    spool.mkdir(parents=True)
    parquet(folder / "runs.parquet", "SELECT range AS i FROM range(9)")
    put_secrets(folder)
    (folder / "spool" / "other.csv").write_text(f"word\n{CANARY}\n")
    (spool / "link.csv").symlink_to(folder / "secret.csv")
    (spool / "out").symlink_to(folder)
    return folder


def outcomes(house, attempts, seconds=1.0):
    config = {
        "limits": {
            "seconds": seconds,
            "memory_mb": 1024,
            "export_bytes": 2**20,
            "time_zone": "UTC",
        },
        "spool": str(house / "spool" / "work"),
        "shown": str(house / "spool" / "tables"),
        "database": str(house / "none.sqlite"),
        "tables": [["runs", str(house / "runs.parquet"), str(house)]],
        "households": [],
        "month_starts_on": 1,
    }
    attempts = [(way, attempt.replace("{folder}", str(house))) for way, attempt in attempts]
    done = subprocess.run(
        [sys.executable, "-P", "-c", SCRIPT],
        input=json.dumps([config, attempts]), capture_output=True, text=True, timeout=60,
        check=True,
    )  # fmt: skip
    return [tuple(outcome) for outcome in json.loads(done.stdout)]


def files(folder):
    return {
        str(path): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.parent.name != "work"
    }


IMPOSSIBLE_SQL = [
    "COPY (SELECT 1) TO '{folder}/out.csv'", "COPY (SELECT 1) TO '{folder}/spool/out.csv'",
    "COPY (SELECT 1) TO '{folder}/spool/work/../out.csv'",
    "COPY (SELECT 1) TO '{folder}/spool/work/out/out.csv'",
    "COPY (SELECT 1) TO '{folder}/runs.parquet'", "ATTACH '{folder}/secret.db' AS other",
    "ATTACH '{folder}/new.db' AS other", "EXPORT DATABASE '{folder}/out'",
    "SELECT * FROM '{folder}/secret.csv'", "SELECT * FROM read_csv('{folder}/spool/other.csv')",
    "SELECT * FROM read_text('{folder}/secret.csv')",
    "SELECT * FROM read_parquet('{folder}/*.parquet')",
    "SELECT * FROM read_csv('{folder}/spool/work/link.csv')",
    "SELECT * FROM read_csv('{folder}/spool/work/out/secret.csv')",
    "SELECT * FROM glob('{folder}/*')", "SELECT * FROM read_text('/proc/self/environ')",
    "SELECT * FROM read_csv('http://127.0.0.1:9/x.csv')",
    "SELECT json_serialize_plan('SELECT * FROM read_csv(''{folder}/secret.csv'')')::JSON -> 'x'",
    "INSTALL httpfs", "LOAD httpfs", "LOAD '{folder}/secret.csv'",
    "SET enable_external_access = true", "SET lock_configuration = false",
    "SET allowed_directories = ['/']", "SET max_execution_time = 0", "SET memory_limit = '1TB'",
    "SET python_enable_replacements = true", "RESET memory_limit", "PRAGMA memory_limit = '1TB'",
    "SET temp_directory = '{folder}'", "SET log_query_path = '{folder}/log'",
    "CALL enable_logging(storage = 'file', storage_path = '{folder}')",
    "CREATE PERSISTENT SECRET s (TYPE http)", "SELECT * FROM config", "SELECT * FROM attempts",
    "SELECT * FROM outcomes", "INSERT INTO runs VALUES (1)", "DELETE FROM runs",
    "SELECT count(*) FROM range(1000000000000) a WHERE a.range % 7 = 8",
    "SELECT list(range) FROM range(2000000000)",
]  # fmt: skip
# DuckDB's allowed_paths are for writing as well as for reading: here the system has to refuse.
IMPOSSIBLE_FOR_THE_SYSTEM = [
    ("sql", "COPY (SELECT 1 AS i) TO '{folder}/runs.parquet' (USE_TMP_FILE false)"),
    ("python", "open('{folder}/runs.parquet', 'r+b')"),
    ("python", "open('{folder}/secret.csv').read()"),
    ("python", "open('{folder}/out.txt', 'w')"),
    ("python", "open('/etc/passwd').read()"),
    ("python", "open('/proc/self/root/etc/passwd').read()"),
    ("python", "open(f'/proc/{__import__(\"os\").getppid()}/environ').read()"),
    ("python", "open('/proc/self/environ').read()"),
    ("python", "open(f'/proc/{__import__(\"os\").getpid()}/environ').read()"),
    ("python", "open('/proc/thread-self/environ').read()"),
    ("python", "open('/proc/self/mem', 'rb')"),
    ("python", "open('/proc/self/maps').read()"),
    ("python", "__import__('os').unlink('{folder}/runs.parquet')"),
    ("python", "__import__('os').rename('{folder}/runs.parquet', '{folder}/spool/work/x')"),
    ("python", "__import__('os').symlink('/etc', '{folder}/spool/work/etc')"),
    ("python", "__import__('os').mkdir('{folder}/spool/work/folder')"),
    ("python", "__import__('os').listdir('{folder}')"),
    ("python", "__import__('subprocess').run(['/bin/true'])"),
    ("python", "__import__('subprocess').run([sys.executable, '--version'])"),
    ("python", "__import__('socket').create_connection(('127.0.0.1', 9), 1)"),
    ("python", "__import__('socket').socket(2, 2)"),  # UDP
    ("python", "__import__('socket').socket(__import__('socket').AF_UNIX, 2)"),
    ("python", "__import__('socket').socketpair()"),
    ("python", "__import__('os').kill(__import__('os').getppid(), 0)"),
    ("python", "__import__('os').killpg(__import__('os').getpgid(0), 0)"),
    ("python", "__import__('signal').pidfd_send_signal(0, 9)"),
    ("python", "__import__('os').fork()"),
    ("python", "__import__('os').execv('/bin/true', ['true'])"),
    ("python", "__import__('os').posix_spawn('/bin/true', ['true'], {})"),
    ("python", "__import__('os').pidfd_open(__import__('os').getppid())"),
    ("python", "bytearray(3 * 2**30)"),
]


def test_duckdb_refuses_what_the_check_would_have_refused(house):
    before = files(house)
    found = outcomes(house, [("sql", sql) for sql in IMPOSSIBLE_SQL], seconds=0.3)
    done = [sql for sql, (worked, said) in zip(IMPOSSIBLE_SQL, found, strict=True) if worked]
    assert done == [IMPOSSIBLE_SQL[17]]  # a plan that failed is text, too
    assert CANARY not in str(found)
    assert files(house) == before


@pytest.mark.skipif(sys.platform != "linux", reason="Landlock is Linux's")
def test_the_system_refuses_what_duckdb_would_allow(house):
    before = files(house)
    found = outcomes(house, IMPOSSIBLE_FOR_THE_SYSTEM)
    assert [worked for worked, _ in found] == [False] * len(IMPOSSIBLE_FOR_THE_SYSTEM), found
    assert [said.split(":")[0] for _, said in found][1:3] == ["PermissionError"] * 2
    assert files(house) == before


def test_the_child_can_do_what_it_needs(house):
    found = outcomes(
        house,
        [
            ("sql", "SELECT sum(i) FROM runs"),
            ("sql", "CREATE TABLE kept AS SELECT * FROM runs"),
            ("sql", "COPY (SELECT 1) TO '{folder}/spool/work/a.parquet' (USE_TMP_FILE false)"),
            ("sql", "SELECT timezone('Asia/Tokyo', now()) IS NOT NULL"),
            ("python", "__import__('decimal').Decimal('1.5')"),
            ("python", "__import__('os').unlink('{folder}/spool/work/a.parquet')"),
        ],
    )
    assert all(worked for worked, _ in found), found
    assert found[0] == (True, "[(36,)]")
