"""The one SQLite file: connections, migrations and the SQL of each table."""
