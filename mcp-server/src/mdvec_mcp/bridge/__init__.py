"""The bridge: hands a client that speaks only STDIO on to a server that runs already."""
