"""The node types of DuckDB's syntax tree that are allowed, and the functions that are denied.

Syntax has an allow-list: additions of a later DuckDB are refused until they are reviewed. Scalar
functions have a deny-list, because there are hundreds and nearly all only compute.
"""

from __future__ import annotations

QUERY_NODES = {"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"}
"""Allowed query nodes: DuckDB 2 also runs INSERT, UPDATE, DELETE and COPY inside a WITH."""

TABLES = {
    "BASE_TABLE", "EMPTY", "EXPRESSION_LIST", "JOIN", "PIVOT", "SHOW_REF", "SUBQUERY",
    "TABLE_FUNCTION",
}  # fmt: skip
"""The nodes allowed after FROM; an UNPIVOT is a PIVOT node, too."""

EXPRESSIONS = {
    "BETWEEN", "CASE", "CAST", "COLLATE", "COLUMN_REF", "COMPARISON", "CONJUNCTION",
    "CONSTANT", "FUNCTION", "LAMBDA", "LAMBDA_REF", "OPERATOR", "POSITIONAL_REFERENCE",
    "STAR", "SUBQUERY", "TYPE", "WINDOW",
}  # fmt: skip
"""The allowed classes of expressions; PARAMETER is checked separately, DEFAULT is useless here."""

PARTS = {
    "ASCENDING", "DESCENDING", "DISTINCT_MODIFIER", "LIMIT_MODIFIER",
    "LIMIT_PERCENT_MODIFIER", "ORDER_DEFAULT", "ORDER_MODIFIER",
}  # fmt: skip
"""The other nodes that have a type in the tree."""

DESCRIPTIONS = {"DESCRIBE", "SUMMARY"}
"""The kinds of SHOW that describe one query; the others list the contents of the process."""

TABLE_FUNCTIONS = {
    "generate_series", "json_each", "json_tree", "range", "repeat", "repeat_row", "unnest",
}  # fmt: skip
"""The functions after FROM that only compute; the others read files, settings or catalogs."""

_DENIED = {
    # They run, plan or read something named in a text, which is not checked.
    "it plans any SQL in a text, which opens the files that it names": "json_serialize_plan",
    "it runs SQL that is in a text": "json_execute_serialized_sql query",
    "it reads any table that a text names": "query_table",
    "it reads an index that a text names": "index_key",
    "it makes a type that a text names; write CAST (x AS type)": "make_type",
    # They reveal the process, its environment or its catalog (with the paths of files).
    "it reveals SQL of other queries": "current_query",
    "it reveals settings of the process, such as its folders": "current_setting",
    "it reads the catalog": "format_type get_block_size",
    "it reads environment variables": "getenv",
    "it reads variables of the process": "getvariable",
    "it reveals how data is stored": "stats vector_type",
    # They change something, in the process or beyond one query.
    "it reads a sequence": "currval",
    "it changes a sequence": "nextval setval",
    "it changes settings": "set_config",
    "it changes the random numbers of later queries": "setseed",
    "it writes a log": "write_log",
    "it only waits": "pg_sleep sleep_ms",
    # They assume that bytes are the output of another function.
    "it takes the inner state of an aggregate": "combine combine_aggr finalize to_aggregate_state",
    "it takes the inner form of a log": "parse_duckdb_log_message",
    "it takes the inner form of a value": "variant_bytes_to_variant variant_to_parquet_variant",
}
DENIED_FUNCTIONS = {name: why for why, names in _DENIED.items() for name in names.split()}
"""The denied scalar and aggregate functions, each with the reason."""

NAMING_FUNCTIONS = {"aggregate", "array_aggr", "array_aggregate", "list_aggr", "list_aggregate"}
"""Functions whose second argument is the name of the function that they call, as a text."""

DENIED_PREFIXES = {
    "__internal": "it is for DuckDB's own plans",
    "col_description": "it reads the catalog",
    "duckdb_": "it reads the catalog",
    "has_": "it asks for rights, of which there are none here",
    "inet_": "it asks for the address of the process",
    "obj_description": "it reads the catalog",
    "pg_get_": "it reads the catalog, with the paths of files",
    "pragma_": "it reads or changes settings",
    "read_": "it reads files",
    "shobj_description": "it reads the catalog",
}
"""Prefixes of denied function names, each with the reason."""


def why_denied(function: str) -> str | None:
    """The reason why a scalar function (in lower case) is denied; None when it is allowed."""
    if function in DENIED_FUNCTIONS:
        return DENIED_FUNCTIONS[function]
    reasons = (why for start, why in DENIED_PREFIXES.items() if function.startswith(start))
    return next(reasons, None)
