"""SQL at random: queries as analysts and models write them, and as somebody who means harm does.

The same seed gives the same statements. Many cannot be read; most of the others are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from sql_ordinary import Ordinary

_SETTINGS = (
    "allowed_paths", "allowed_directories", "temp_directory", "home_directory", "secret_directory",
    "extension_directory", "search_path", "lock_configuration", "enable_external_access",
    "custom_user_agent", "memory_limit", "threads", "TimeZone", "file_search_path",
)  # fmt: skip
_VARIABLES = ("HOME", "PATH", "USER", "MDVEC_FUZZ", "PYTHONPATH")
_TYPES = ("INTEGER", "VARCHAR", "DATE", "DOUBLE[]", "BLOB", "JSON", "STRUCT(a INTEGER)", "BIGINT")
_SIGNS = ("+", "-", "*", "/", "||", "=", "<>", "<", "AND", "OR", "LIKE", "IN", "IS", "->", "^", "~")
_SPACES = (" ",) * 30 + (
    "\n", "\t", "/**/", "/* ' */", "-- x\n", "--'\n", " ", "　", "/* /* */ */", "\r\n",
    "\ufeff", "\u200b",
)  # fmt: skip
_JOINS = (", ", " JOIN ", " LEFT JOIN ", " CROSS JOIN ", " POSITIONAL JOIN ", " ASOF JOIN ")
_SET_OPERATIONS = ("UNION", "UNION ALL", "UNION ALL BY NAME", "EXCEPT", "INTERSECT")
_SYSTEM = (
    "information_schema.tables", "information_schema.columns", "pg_catalog.pg_settings",
    "pg_catalog.pg_views", "sqlite_master", "duckdb_settings", "duckdb_views", "duckdb_columns",
    "pragma_database_list", "system.main.duckdb_settings", "temp.runs", "other.main.words",
    "connection", "self",
)  # fmt: skip
_MARKS = ("'", '"', ";", "$$", "--", "/*", "*/", "(", ")", "\\", "\x00", "$1", "?", "{source}", "`")


@dataclass(frozen=True, slots=True)
class Names:
    """What statements may name.

    Attributes:
        tables: that are known, with their columns.
        files: paths that no statement may read.
        scalars: scalar, aggregate and macro functions, each with its number of arguments.
        table_functions: those that stand after FROM.
        pragmas: and settings' names.
    """

    tables: dict[str, tuple[str, ...]]
    files: tuple[str, ...]
    scalars: tuple[tuple[str, int], ...]
    table_functions: tuple[str, ...]
    pragmas: tuple[str, ...]


@dataclass
class Grammar:
    """Generates statements; no deeper than ``depth`` levels."""

    random: Random
    names: Names
    depth: int = 3
    _ctes: list[str] = field(default_factory=list)

    def statement(self) -> str:
        """One statement, perhaps changed until it can no longer be read."""
        self._ctes.clear()
        make = self._pick(
            *(self.query,) * 6,
            *(self._ordinary,) * 12,
            self.other_statement,
            self.hidden_statement,
            self.lone_name,
        )
        text = self._spaced(make())
        return self._spoilt(text) if self.random.random() < 0.12 else text

    def _ordinary(self) -> str:
        return Ordinary(self.random, self.names.scalars).query()

    def query(self, depth: int | None = None) -> str:
        """A SELECT, or a form that stands for one."""
        left = self.depth if depth is None else depth
        if left < 1:
            return f"SELECT {self.expression(0)}"
        make = self._pick(
            *(self._select,) * 8, self._with, self._set_operation, self._values, self._short_form
        )
        return make(left - 1)

    def other_statement(self) -> str:
        """A statement that is no SELECT."""
        path, table = self._text(self._file()), self._pick("runs", "x", self._name(self._file()))
        return self._pick(
            f"COPY {table} TO {path}", f"COPY ({self.query(1)}) TO {path} (FORMAT csv)",
            f"COPY {table} FROM {path}", f"ATTACH {path} AS x", f"DETACH {table}",
            f"EXPORT DATABASE {path}", f"IMPORT DATABASE {path}", f"LOAD {path}",
            f"INSTALL {path}", f"SET {self._pick(*_SETTINGS)} = {path}",
            f"RESET {self._pick(*_SETTINGS)}", f"PRAGMA {self._pick(*self.names.pragmas)}",
            f"PRAGMA {self._pick(*self.names.pragmas)}({path})",
            f"CALL {self._pick(*self.names.table_functions)}({path})",
            f"CREATE TABLE x AS {self.query(1)}", f"CREATE OR REPLACE VIEW runs AS {self.query(1)}",
            f"CREATE MACRO f() AS TABLE {self.query(1)}", f"DROP VIEW {table}",
            f"INSERT INTO {table} {self.query(1)}", f"UPDATE {table} SET i = {self.expression(1)}",
            f"DELETE FROM {table}", f"EXPLAIN ANALYZE {self.query(1)}", "SHOW ALL TABLES",
            f"PREPARE p AS {self.query(1)}", f"SET VARIABLE x = {self.expression(1)}", "CHECKPOINT",
            f"EXECUTE IMMEDIATE {self._text(self.query(1))}", f"VACUUM {table}", "SHOW DATABASES",
            f"MERGE INTO {table} USING runs AS r ON true WHEN MATCHED THEN DELETE",
            f"CREATE SECRET x (TYPE s3, KEY_ID {path})", f"USE {table}", "BEGIN",
        )  # fmt: skip

    def hidden_statement(self) -> str:
        """A statement inside, behind or around a query."""
        other, query = self.other_statement(), self.query(1)
        return self._pick(
            f"{query}; {other}", f"{other}; {query}", f"WITH x AS ({other}) SELECT * FROM x",
            f"SELECT * FROM ({other})", f"{query}) TO {self._text(self._file())}; --",
            f"SELECT ({other})", f"{query} /* ; */ ; -- \n{other}", f"{query} UNION {other}",
            f"WITH a AS ({query}), b AS ({other} RETURNING *) FROM a, b", f"({query}); ({other})",
            f"SELECT * FROM query({self._text(other)})", f"```sql\n{query};\n{other}\n```",
            f"SELECT json_execute_serialized_sql(json_serialize_sql({self._text(query)}))",
        )  # fmt: skip

    def lone_name(self) -> str:
        """A table's name, or what is none."""
        return self._pick(
            self._table_name(), self._file(), self._name(self._file()), self._text(self._file()),
            self._pick(*_SYSTEM), self._pick(*self.names.table_functions), self._pick(*_MARKS),
        )  # fmt: skip

    def text(self) -> str:
        """A short text for other parameters: a name, a word to look for, a value."""
        return self._pick(
            self.lone_name, lambda: self.expression(1), lambda: self._pick(*_MARKS) * 3,
            lambda: self._spoilt(self._table_name()), lambda: self._text(self._file()),
            lambda: f"{self._table_name()}{self._pick(*_MARKS)}{self.query(1)}",
            lambda: self._pick(*self._columns()), lambda: f"..%2F..{self._file()}",
        )()[:180]  # fmt: skip

    def expression(self, depth: int | None = None) -> str:
        """A value."""
        left = 2 if depth is None else depth
        makes: tuple[Callable[[int], str], ...] = (
            lambda _: self._column(), lambda _: self._column(), lambda _: self._literal(),
        )  # fmt: skip
        if left > 0:
            makes = (
                *makes, self._call, self._call, self._call, self._call, self._operation,
                self._operation, self._other_expression,
            )  # fmt: skip
        return self._pick(*makes)(left - 1)

    def _select(self, left: int) -> str:
        parts = [f"SELECT {self._pick('', '', '', 'DISTINCT ')}{self._list(left)}"]
        if self.random.random() < 0.85:
            parts.append(f"FROM {self._from(left)}")
        for clause, share in (
            ("WHERE", 0.3), ("GROUP BY", 0.2), ("HAVING", 0.08), ("QUALIFY", 0.04),
            ("ORDER BY", 0.2), ("LIMIT", 0.2), ("OFFSET", 0.05),
        ):  # fmt: skip
            if self.random.random() < share:
                is_all = clause in ("GROUP BY", "ORDER BY") and self.random.random() < 0.4
                parts.append(f"{clause} {'ALL' if is_all else self.expression(left)}")
        return " ".join(parts)

    def _list(self, left: int) -> str:
        if self.random.random() < 0.25:
            return self._pick(
                "*", "count(*)", "COLUMNS(*)", "* EXCLUDE (i)", "runs", "t.*", "i, kind"
            )
        items = [self.expression(left) for _ in range(self.random.randint(1, 3))]
        return ", ".join(
            f"{item} AS {self._name(self._pick('a', 'b', '名前'))}"
            if self.random.random() < 0.2
            else item
            for item in items
        )

    def _from(self, left: int) -> str:
        found = self._source(left)
        while self.random.random() < 0.2:
            on = f" ON {self.expression(1)}" if self.random.random() < 0.4 else ""
            found += self._pick(*_JOINS) + self._source(left) + on
        return found

    def _source(self, left: int) -> str:
        makes: list[Callable[[], str]] = [self._table_name] * 6
        makes += [lambda: self._name(self._file()), lambda: self._text(self._file())]
        makes += [lambda: self._pick(*_SYSTEM), lambda: self._table_call(left)]
        makes += [lambda: self._pick(*self._ctes, "runs")]
        if left > 0:
            makes += [lambda: f"({self.query(left)}) AS t"] * 2
        source = self._pick(*makes)()
        more = self._pick(
            "", "", "", "", " AS t", " AT (VERSION => 1)", " TABLESAMPLE 10%", " t(a, b)"
        )
        return source + (more if self.random.random() < 0.3 else "")

    def _table_call(self, left: int) -> str:
        name = self._pick(*self.names.table_functions, "range", "unnest", "generate_series")
        arguments = [
            self._pick(self._text(self._file()), self._literal(), self.expression(left), "[1, 2]")
            for _ in range(self.random.randint(0, 3))
        ]
        if self.random.random() < 0.2:
            arguments.append(
                f"{self._pick('filename', 'columns', 'x')} {self._pick(':=', '=>', '=')} 1"
            )
        return f"{self._cased(self._schema() + name)}({', '.join(arguments)})"

    def _with(self, left: int) -> str:
        name = self._pick("a", "b", "runs", self._file(), "Ａ", "recurring")
        inner = self.query(left)
        self._ctes.append(self._name(name))
        how = self._pick("", "", "RECURSIVE ")
        kept = self._pick("", "", "MATERIALIZED ", "NOT MATERIALIZED ")
        return f"WITH {how}{self._name(name)} AS {kept}({inner}) {self.query(left)}"

    def _set_operation(self, left: int) -> str:
        return f"{self.query(left)} {self._pick(*_SET_OPERATIONS)} {self.query(left)}"

    def _values(self, left: int) -> str:
        return f"VALUES ({self.expression(left)}, {self._literal()})"

    def _short_form(self, left: int) -> str:
        source = self._source(left)
        return self._pick(
            f"FROM {source}", f"TABLE {source}", f"DESCRIBE {source}", f"SUMMARIZE {source}",
            f"DESCRIBE {self.query(left)}", f"SUMMARIZE {self.query(left)}", f"SHOW {source}",
            f"PIVOT {source} ON kind IN (1, 2) USING {self.expression(1)}",
            f"UNPIVOT {source} ON i, kind", f"FROM {source} SELECT {self._list(left)}",
            f"EXPLAIN {self.query(left)}",
        )  # fmt: skip

    def _call(self, left: int) -> str:
        function, count = self._pick(*self.names.scalars)
        if self.random.random() < 0.2:
            count = self.random.randint(0, 3)
        makes = (self.expression, self.expression, self._reaching)
        arguments = [self._pick(*makes)(left) for _ in range(min(count, 4))]
        name = self._cased(self._schema() + function)
        if arguments and self.random.random() < 0.15:
            return f"({arguments[0]}).{name}({', '.join(arguments[1:])})"
        if arguments and self.random.random() < 0.08:
            arguments[-1] = f"{self._pick('x', 'function_name')} := {arguments[-1]}"
        over = self._pick(" OVER ()", " OVER (ORDER BY i)", " FILTER (WHERE true)")
        return f"{name}({', '.join(arguments)})" + (over if self.random.random() < 0.08 else "")

    def _reaching(self, _left: int) -> str:
        """A text that a function might take for a path, a setting or SQL."""
        return self._text(
            self._pick(
                self._file(),
                self._pick(*_SETTINGS),
                self._pick(*_VARIABLES),
                "runs",
                "getenv",
                f"SELECT * FROM '{self._file()}'",
                self._pick(*self.names.scalars)[0],
            )
        )

    def _operation(self, left: int) -> str:
        return f"({self.expression(left)} {self._pick(*_SIGNS)} {self.expression(left)})"

    def _other_expression(self, left: int) -> str:
        one, other = self.expression(left), self.expression(left)
        return self._pick(
            f"({self.query(min(left, 1))})", f"EXISTS ({self.query(min(left, 1))})",
            f"CAST({one} AS {self._pick(*_TYPES)})", f"{one}::{self._pick(*_TYPES)}",
            f"CASE WHEN {one} THEN {other} END", f"list_transform([1], lambda x: {one})",
            f"[{one}, {other}]", f"{{'a': {one}}}", f"MAP {{{one}: {other}}}",
            f"[{one} FOR x IN [1]]",
            f"COLUMNS(c -> {one})", f"{one} BETWEEN {other} AND 5", f"{one} COLLATE nocase",
            f"list_aggregate([1, 2], {self._reaching(0)})", f"getenv({self._reaching(0)})",
            f"current_setting({self._reaching(0)})", f"TRY({one})", "$since", "$1", "?",
            f"{one} = ANY ({self.query(min(left, 1))})",
        )  # fmt: skip

    def _literal(self) -> str:
        return self._pick(
            "1", "0", "-3", "1.5", "NULL", "true", "7", "100", "DATE '2025-06-01'", "'a'",
            "'%a_'", "[1, 2]", "INTERVAL 1 DAY", "'\\x00'::BLOB", "9223372036854775807",
            self._text(self._pick("名前", "x", "a'b", *_MARKS)), "{'a': 1}", "'[1]'::JSON",
        )  # fmt: skip

    def _text(self, text: str) -> str:
        """A text in quotes of one kind or another."""
        doubled = text.replace("'", "''")
        return self._pick(
            *(f"'{doubled}'",) * 4, f"E'{doubled}'", f"$${text}$$", f"$t${text}$t$", f'"{text}"',
            f"('{doubled[:3]}' || '{doubled[3:]}')", f"'{doubled[::-1]}'.reverse()", f"「{text}」",
            f"U&'{doubled}'", f"’{text}’", "chr(47) || 'etc'",
        )  # fmt: skip

    def _name(self, name: str) -> str:
        doubled = name.replace('"', '""')
        is_plain = name.isalnum()
        return self._pick(*(name if is_plain else f'"{doubled}"',) * 4, f'"{doubled}"', f"[{name}]")

    def _table_name(self) -> str:
        name = self._cased(self._pick(*self.names.tables))
        return self._pick("", "", "", "", "main.", "memory.main.", "temp.", "recurring.") + name

    def _schema(self) -> str:
        return self._pick("", "", "", "", "", "", "", "main.", "system.main.", '"main".')

    def _columns(self) -> Sequence[str]:
        return self._pick(*self.names.tables.values())

    def _column(self) -> str:
        name = self._pick(*self._columns())
        return self._pick("", "", "", "t.", "runs.", "main.runs.") + self._cased(name)

    def _file(self) -> str:
        return self._pick(*self.names.files)

    def _cased(self, name: str) -> str:
        return self._pick(*(name,) * 6, name.upper(), name.title(), f'"{name}"')

    def _spaced(self, text: str) -> str:
        if self.random.random() < 0.7:
            return text
        return "".join(self._pick(*_SPACES) if sign == " " else sign for sign in text)

    def _spoilt(self, text: str) -> str:
        at, until = sorted(self.random.randrange(len(text) + 1) for _ in range(2))
        mark = self._pick(*_MARKS)
        return self._pick(
            text[:at] + mark + text[at:], text[:at] + text[until:], text[:at], text[at:until] * 2,
            text[:at] + mark + text[at:until] + mark + text[until:], "(" * 60 + text,
            f"{text};{mark}",
        )  # fmt: skip

    def _pick(self, *options):
        return self.random.choice(options)
