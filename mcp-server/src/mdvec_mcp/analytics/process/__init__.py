"""The server's side of the query process: starting it, asking it, its files."""
