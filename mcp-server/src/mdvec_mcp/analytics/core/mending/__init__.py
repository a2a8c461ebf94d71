"""Mends a query that failed: proposes the form that DuckDB runs. Nothing here runs SQL."""
