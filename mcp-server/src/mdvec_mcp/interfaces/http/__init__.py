"""The server's own web pages: charts for the user's browser, on this machine only."""
