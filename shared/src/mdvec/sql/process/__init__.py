"""The server's side of the query process: the child, its requests, its files."""
