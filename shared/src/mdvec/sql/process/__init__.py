"""The server's side of the query process: starts it, sends requests, manages its files."""
